/* SPDX-License-Identifier: Apache-2.0 */
/* A model for a person: what it consists of, and what its sizes cost at a shard. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/quantity.h"
#include "cli/cells.h"
#include "cli/plan_print.h"
#include "cli/terminal.h"

/* 7.06e10 as "70.6 billion". */
static void amount(struct kerf_text *out, double value) {
    static const struct {
        double one;
        const char *name;
    } units[] = {{1e15, "quadrillion"}, {1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (value >= units[i].one) {
            kerf_text_printf(out, value < 100 * units[i].one ? "%.3g %s" : "%.0f %s", value / units[i].one,
                             units[i].name);
            return;
        }
    quantity_count(out, (int64_t)value);
}

/* 1.41e11 as "141 GFLOP". */
static void flops(struct kerf_text *out, double value) {
    static const char *const units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"};
    size_t i = 0;
    for (; value >= 1000 && i + 1 < sizeof units / sizeof *units; i++) value /= 1000;
    kerf_text_printf(out, value < 100 ? "%.3g %s" : "%.0f %s", value, units[i]);
}

/* The words as lines of the terminal; they are given back. */
static void say(struct kerf_text *out, struct kerf_text *words) {
    const struct print_style style = {.columns = terminal_columns()};
    table_words(out, words, 0, &style);
    kerf_text_free(words);
}

/* A number of a kind of layers; the column is left out where it is 0 in all kinds. */
struct kind_column {
    const char *title;
    int64_t values[KERF_KINDS_MAX];
};

static void add_column(struct kerf_text cells[KERF_KINDS_MAX + 1], const struct kerf_model *model,
                       const struct kind_column *column) {
    int64_t most = 0;
    for (int32_t k = 0; k < model->num_kinds; k++) most |= column->values[k];
    if (most == 0) return;
    kerf_text_printf(&cells[0], "\t%s", column->title);
    for (int32_t k = 0; k < model->num_kinds; k++) {
        kerf_text_add(&cells[k + 1], "\t");
        if (column->values[k] > 0)
            quantity_count(&cells[k + 1], column->values[k]);
        else
            kerf_text_add(&cells[k + 1], "-");
    }
}

/* A line for each kind of layer. */
static void kinds(struct kerf_text *out, const struct kerf_model *model) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{1, 0}, {0, 0}, {0, 0}, {1, 1}, {1, 2}, {1, 3},
                                                                   {1, 4}, {1, 5}, {1, 6}, {1, 7}, {1, 8}};
    enum { HEADS, KV_HEADS, HEAD_SIZE, WINDOW, WIDTH, EXPERTS, PER_TOKEN, SHARED, COLUMNS };
    struct kind_column column[COLUMNS] = {{"heads", {0}}, {"kv_heads", {0}}, {"head_size", {0}}, {"window", {0}},
                                          {"width", {0}}, {"experts", {0}},  {"per_token", {0}}, {"shared", {0}}};
    struct kerf_text cells[KERF_KINDS_MAX + 1] = {{0}}, all = {0};
    kerf_text_add(&cells[0], "layers\tattention\tmlp");
    for (int32_t k = 0; k < model->num_kinds; k++) {
        const struct kerf_layer_kind *kind = &model->kinds[k];
        int64_t layers = 0;
        for (int32_t i = 0; i < model->num_runs; i++) layers += model->runs[i].kind == k ? model->runs[i].count : 0;
        quantity_count(&cells[k + 1], layers);
        kerf_text_printf(&cells[k + 1], "\t%s\t%s%s", kerf_attention_kind(kind),
                         kind->mlp.experts > 0 ? "moe" : "dense", kind->mlp.is_gated ? ", gated" : "");
        column[HEADS].values[k] = kind->attention.heads;
        column[KV_HEADS].values[k] = kind->attention.kv_heads;
        column[HEAD_SIZE].values[k] = kind->attention.qk_size;
        column[WINDOW].values[k] = kind->attention.window;
        column[WIDTH].values[k] = kind->mlp.experts > 0 ? kind->mlp.expert_width : kind->mlp.width;
        column[EXPERTS].values[k] = kind->mlp.experts;
        column[PER_TOKEN].values[k] = kind->mlp.top_k;
        column[SHARED].values[k] = kind->mlp.shared_width;
    }
    for (int i = 0; i < COLUMNS; i++) add_column(cells, model, &column[i]);
    for (int32_t k = 0; k <= model->num_kinds; k++) {
        kerf_text_printf(&all, "%s\n", cells[k].data ? cells[k].data : "");
        kerf_text_free(&cells[k]);
    }
    terminal_table(out, &all, columns, terminal_columns(), terminal_colour(), -1);
    kerf_text_free(&all);
    if (model->num_runs <= model->num_kinds) return;
    kerf_text_printf(&all, "The kinds alternate in %d runs of equal layers; --format json lists them.",
                     model->num_runs);
    say(out, &all);
}

static void components(struct kerf_text *out, const struct kerf_model_counts *counts) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 0}};
    struct kerf_text cells = {0};
    kerf_text_add(&cells, "component\tparameters\tshare\n");
    for (int i = 0; i < KERF_COMPONENT_COUNT; i++) {
        if (counts->components[i] == 0) continue;
        kerf_text_printf(&cells, "%s\t", kerf_component_name((enum kerf_component)i));
        quantity_count(&cells, counts->components[i]);
        kerf_text_printf(&cells, "\t%.1f %%\n", 100 * (double)counts->components[i] / (double)counts->parameters);
    }
    terminal_table(out, &cells, columns, terminal_columns(), terminal_colour(), -1);
    kerf_text_free(&cells);
}

void model_table(struct kerf_text *out, const struct kerf_model *model, int64_t seq_length) {
    struct kerf_model_counts counts;
    struct kerf_text words = {0};
    kerf_model_count(model, &counts);
    kerf_text_printf(&words, "%s: %s", model->name, model->architecture);
    say(out, &words);
    quantity_count(&words, counts.parameters);
    kerf_text_add(&words, " parameters");
    if (counts.parameters >= 1000000) {
        kerf_text_add(&words, " (");
        amount(&words, (double)counts.parameters);
        kerf_text_add(&words, ")");
    }
    if (counts.active_parameters < counts.parameters) {
        kerf_text_add(&words, ", of which a token uses ");
        amount(&words, (double)counts.active_parameters);
    }
    say(out, &words);
    kerf_text_add(&words, "hidden size ");
    quantity_count(&words, model->hidden_size);
    kerf_text_add(&words, ", vocabulary ");
    quantity_count(&words, model->vocab_size);
    kerf_text_add(&words, model->vocab_size == 0 ? "" : model->is_tied ? ", tied head" : ", untied head");
    say(out, &words);
    if (seq_length > 0) {
        double forward = kerf_model_flops(model, seq_length, 0);
        flops(&words, forward);
        kerf_text_add(&words, " a token forward, ");
        flops(&words, 3 * forward);
        kerf_text_add(&words, " a token and step, at ");
        quantity_count(&words, seq_length);
        kerf_text_add(&words, " tokens");
        say(out, &words);
    }
    if (model->mtp_layers > 0) {
        kerf_text_printf(&words, "multi-token prediction: %lld layer%s, ", (long long)model->mtp_layers,
                         model->mtp_layers == 1 ? "" : "s");
        amount(&words, (double)counts.mtp_parameters);
        kerf_text_add(&words, " parameters, not counted above");
        say(out, &words);
    }
    kerf_text_add(out, "\n");
    kinds(out, model);
    kerf_text_add(out, "\n");
    components(out, &counts);
}

void model_notes(const struct kerf_model *model, const struct kerf_cost_model *cost_model) {
    struct kerf_text notes = {0}, gaps = {0};
    kerf_model_notes(model, &notes);
    if (cost_model) kerf_cost_model_gaps(cost_model, model, &gaps);
    if (gaps.length > 0 && !gaps.failed)
        kerf_text_printf(&notes,
                         "%s: not priced by this cost model, so that times and memory are of a plainer model: %s\n",
                         model->name, gaps.data);
    kerf_text_free(&gaps);
    if (notes.length > 0 && !notes.failed) fwrite(notes.data, 1, notes.length, stderr);
    kerf_text_free(&notes);
}

void calibration_notes(const struct software *software, struct software_uses uses) {
    struct kerf_text notes = {0};
    software_notes(software, uses, &notes);
    if (notes.length > 0 && !notes.failed) fprintf(stderr, "kerf: %s", notes.data);
    kerf_text_free(&notes);
}

void set_notes(const struct kerf_text *ignored) {
    if (ignored->length == 0 || ignored->failed) return;
    fprintf(stderr, "kerf: --set: the answer is the same without %s\n", ignored->data);
}

/* ---- Sizes at a shard -------------------------------------------------------------------------------------------- */

/* Each size of a model, what is wrong with it, and what would be faster. */

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
        if (size->rows < 100)
            kerf_text_printf(out, "%.3g", size->rows);
        else
            quantity_count(out, (int64_t)round(size->rows));
        kerf_text_add(out, " tokens each");
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
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 4}, {0, 3},
                                                                   {1, 2}, {1, 0}, {1, 1}};
    struct kerf_text cells = {0}, words = {0};
    const struct kerf_size *most = NULL;
    int has_cost = 0;
    kerf_text_printf(&words, "At tp %lld", (long long)layout->tp1);
    if (layout->ep > 1) kerf_text_printf(&words, ", ep %d", layout->ep);
    if (layout->etp > 1) kerf_text_printf(&words, ", etp %d", layout->etp);
    kerf_text_printf(&words, " on %s in %s, a micro-batch of ", problem->system.name,
                     kerf_precision_name(problem->precision));
    quantity_count(&words, layout->micro_batch);
    kerf_text_add(&words, " x ");
    quantity_count(&words, problem->seq_length);
    kerf_text_add(&words, " tokens takes ");
    quantity_seconds(&words, advice->micro_batch_s);
    kerf_text_add(&words, " through all layers, forward and backward.");
    say(out, &words);
    kerf_text_add(out, "\n");
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
    kerf_text_add(out, "\n");
    kerf_text_printf(&words, "Most to gain: %s ", most->name);
    quantity_count(&words, most->better);
    kerf_text_printf(&words, ", %.3g s less on each accelerator for a million tokens.",
                     most->saved_s / advice->tokens * 1e6);
    say(out, &words);
}
