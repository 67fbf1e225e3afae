/* SPDX-License-Identifier: Apache-2.0 */
/* What the sizes of a model cost at a shard, for a person: each size, what is wrong with it, and what would be faster. */
#include <math.h>
#include <string.h>
#include "base/quantity.h"
#include "cli/plan_print.h"
#include "cli/cells.h"
#include "cli/terminal.h"

static const double COST_TOLD = 5e-4; /* of the micro-batch */

static void share(struct kerf_text *out, double part_s, double whole_s) {
    quantity_seconds(out, part_s);
    double percent = 100 * part_s / whole_s;
    kerf_text_printf(out, percent < 9.95 ? " (%.1f %%)" : " (%.0f %%)", percent);
}

static int is_multiple(double value, double of) { return value == of * floor(value / of); }

/* What kernels make of the size; nothing where its shape is good. */
static void remark(struct kerf_text *out, const struct kerf_size *size, const struct kerf_layout *layout) {
    if (size->rows > 0) {
        kerf_text_printf(out, "%.3g tokens each", size->rows);
    } else if (strcmp(size->name, "head_dim") == 0) {
        kerf_text_add(out, size->value % 8 != 0    ? "no multiple of 8"
                           : size->value == 64     ? "slower than 128"
                           : size->value % 64 != 0 ? "no multiple of 64"
                                                   : "");
    } else if (strcmp(size->name, "num_attention_heads") == 0) {
        kerf_text_add(out, size->better == 0            ? ""
                           : size->better < size->value ? "as wide, fewer heads"
                                                        : "as wide, more heads");
    } else if (strcmp(size->name, "vocab_size") == 0) {
        int64_t step = 128 * layout->tp1, padded = (size->value + step - 1) / step * step;
        if (padded == size->value) return;
        kerf_text_add(out, "padded to ");
        quantity_count(out, padded);
    } else if (!is_multiple(size->of_shard, 1)) {
        kerf_text_add(out, "does not divide");
    } else if (!is_multiple(size->of_shard, 64)) {
        kerf_text_add(out, "no multiple of 64");
    } else if (!is_multiple(size->of_shard, 128)) {
        kerf_text_add(out, "no multiple of 128");
    }
}

static void add_row(struct kerf_text *cells, const struct kerf_size *size, const struct kerf_advice *advice,
                    const struct kerf_layout *layout) {
    kerf_text_printf(cells, "%s\t", size->name);
    quantity_count(cells, size->value);
    if (is_multiple(size->of_shard, 1))
        kerf_text_add(cells, "\t"), quantity_count(cells, (int64_t)size->of_shard);
    else
        kerf_text_printf(cells, "\t%.2f", size->of_shard);
    kerf_text_add(cells, "\t");
    remark(cells, size, layout);
    kerf_text_add(cells, "\t");
    if (size->cost_s >= COST_TOLD * advice->micro_batch_s)
        share(cells, size->cost_s, advice->micro_batch_s);
    else
        kerf_text_add(cells, "-");
    if (size->better > 0) {
        kerf_text_add(cells, "\t");
        quantity_count(cells, size->better);
        kerf_text_add(cells, "\t");
        share(cells, size->saved_s, advice->micro_batch_s);
        kerf_text_add(cells, "\n");
    } else {
        kerf_text_add(cells, "\t-\t-\n");
    }
}

void size_table(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout,
                const struct kerf_advice *advice) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 1}, {0, 0},
                                                                   {1, 0}, {1, 0}, {1, 0}};
    struct kerf_text cells = {0};
    const struct kerf_size *most = NULL;
    int has_cost = 0;
    kerf_text_printf(out, "At tp %lld", (long long)layout->tp1);
    if (layout->ep > 1) kerf_text_printf(out, ", ep %d", layout->ep);
    if (layout->etp > 1) kerf_text_printf(out, ", etp %d", layout->etp);
    kerf_text_printf(out, " on %s in %s, a micro-batch of ", problem->system.name,
                     kerf_precision_name(problem->precision));
    quantity_count(out, layout->micro_batch);
    kerf_text_add(out, " x ");
    quantity_count(out, problem->seq_length);
    kerf_text_add(out, " tokens takes ");
    quantity_seconds(out, advice->micro_batch_s);
    kerf_text_add(out, " through all layers, forward and backward.\n\n");
    kerf_text_add(&cells, "size\tvalue\ton a shard\tshape\tcosts\tfaster\tsaves\n");
    for (int32_t i = 0; i < advice->num_sizes; i++) {
        add_row(&cells, &advice->sizes[i], advice, layout);
        has_cost |= advice->sizes[i].cost_s >= COST_TOLD * advice->micro_batch_s;
        if (advice->sizes[i].better > 0 && (most == NULL || advice->sizes[i].saved_s > most->saved_s))
            most = &advice->sizes[i];
    }
    terminal_table(out, &cells, columns, terminal_columns(), terminal_colour(), -1);
    kerf_text_free(&cells);
    if (most == NULL) {
        kerf_text_add(out, has_cost ? "\nNo size near these is faster.\n" : "\nAll sizes have a good shape.\n");
        return;
    }
    kerf_text_printf(out, "\nMost to gain: %s ", most->name);
    quantity_count(out, most->better);
    kerf_text_printf(out, ", %.3g s less on each accelerator for a million tokens.\n",
                     most->saved_s / advice->tokens * 1e6);
}
