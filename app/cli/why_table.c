/* SPDX-License-Identifier: Apache-2.0 */
/* Why the best layout is the best, for a person: the runner-up, other values of each dimension, what would turn the
 * answer. And where nothing fits, what would help. */
#include <math.h>
#include <string.h>
#include "base/quantity.h"
#include "cli/cells.h"
#include "cli/plan_print.h"

enum { TRADES = 2 }; /* parts of the time that are named, at most */

static void more_bytes(struct kerf_text *out, double bytes) {
    kerf_text_add(out, bytes < 0 ? "-" : "+");
    quantity_bytes(out, fabs(bytes));
}

static void add_row(struct kerf_text *cells, const struct kerf_search *search, const char *what,
                    const struct kerf_estimate *other) {
    const struct kerf_estimate *best = &search->plans[0];
    kerf_text_printf(cells, "%s\t+%.1f %%\t", what, 100 * (other->step_time_s / best->step_time_s - 1));
    more_bytes(cells, other->memory_bytes - best->memory_bytes);
    kerf_text_add(cells, "\t");
    words_trade(cells, best, other, TRADES);
    kerf_text_add(cells, "\t");
    kerf_layout_text(cells, &search->problem, &other->layout);
    kerf_text_add(cells, "\n");
}

static void print_reasons(struct kerf_text *out, const struct kerf_text *cells, const struct table_column *columns,
                          const struct print_style *style) {
    int32_t width = style->is_whole ? terminal_table_width(cells) : style->columns;
    terminal_table(out, cells, columns, width, style->colour, -1);
}

static void others(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 2}, {0, 1}, {0, TABLE_WHOLE}};
    const struct kerf_why *why = search->why;
    struct kerf_text cells = {0}, what = {0};
    kerf_text_add(&cells, "with\tslower\tmemory\twhere\tlayout\n");
    if (why->has_runner_up) add_row(&cells, search, "the runner-up", &why->runner_up);
    for (int32_t i = 0; i < why->num_others; i++) {
        const struct kerf_other *other = &why->others[i];
        kerf_text_clear(&what);
        kerf_text_printf(&what, "%s ", other->dimension);
        kerf_layout_value(&what, &other->estimate.layout, other->dimension);
        kerf_text_add(&what, ", not ");
        kerf_layout_value(&what, &search->plans[0].layout, other->dimension);
        add_row(&cells, search, what.failed ? "" : what.data, &other->estimate);
    }
    print_reasons(out, &cells, columns, style);
    kerf_text_free(&cells);
    kerf_text_free(&what);
}

static void quantity(struct kerf_text *out, const struct kerf_turn *turn, double value) {
    if (strcmp(turn->quantity, "global_batch") == 0) {
        quantity_count(out, (int64_t)value);
        return;
    }
    if (fabs(turn->at / turn->now - 1) < 0.01 && value >= 1e9) /* three digits would not tell them apart */
        kerf_text_printf(out, "%.6g GB", round(value / 1e6) / 1e3);
    else
        quantity_bytes(out, value);
    if (strstr(turn->quantity, "bandwidth")) kerf_text_add(out, "/s");
}

/* "With 48.0 GB or less", "Up to 7.2 TB/s" */
static void turn_words(struct kerf_text *out, const struct kerf_search *search, const struct kerf_turn *turn) {
    static const struct {
        const char *quantity, *words;
    } names[] = {{"memory_capacity_bytes", "memory"},
                 {"scale_up.bandwidth_bytes_per_s", "scale-up bandwidth"},
                 {"scale_out.bandwidth_bytes_per_s", "scale-out bandwidth of a card"},
                 {"global_batch", "global batch"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].quantity, turn->quantity) == 0) kerf_text_printf(out, "%s\t", names[i].words);
    quantity(out, turn, turn->now);
    kerf_text_add(out, "\t");
    int is_less = turn->limit < turn->now;
    if (turn->at == 0) {
        kerf_text_add(out, is_less ? "down to " : "up to ");
        quantity(out, turn, turn->limit);
        kerf_text_add(out, "\tnothing changes\n");
        return;
    }
    kerf_text_add(out, is_less ? "at most " : "at least ");
    quantity(out, turn, turn->at);
    if (turn->is_end) {
        kerf_text_add(out, "\tnothing fits\n");
        return;
    }
    kerf_text_add(out, "\t");
    kerf_layout_text(out, &search->problem, &turn->winner.layout);
    kerf_text_add(out, "\n");
}

void table_why(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 1}, {0, 0}, {0, TABLE_WHOLE}};
    const struct kerf_why *why = search->why;
    struct kerf_text words = {0}, cells = {0};
    int32_t told = 0;
    if (why->num_others > 0 || why->has_runner_up) {
        kerf_text_add(out, "\n");
        kerf_text_add(&words, "Why not otherwise? The best layout with another value of each dimension:");
        table_headline(out, &words, style);
        others(out, search, style);
    }
    kerf_text_add(&cells, "quantity\tnow\tfrom\twins\n");
    for (int32_t i = 0; i < why->num_turns; i++) {
        if (why->turns[i].at == 0 && why->turns[i].limit == why->turns[i].now) continue;
        turn_words(&cells, search, &why->turns[i]);
        told++;
    }
    if (told) {
        kerf_text_add(out, "\n");
        kerf_text_add(&words, "What would change the answer?");
        table_headline(out, &words, style);
        print_reasons(out, &cells, columns, style);
    }
    kerf_text_free(&cells);
    if (why->complete) return;
    kerf_text_add(&words, "Interrupted: there may be more to say.");
    table_words(out, &words, 0, style);
    kerf_text_free(&words);
}

/* ---- Nothing fits -------------------------------------------------------------------------------------------- */

/* "without --tp", "with --space wide" */
static void mend_words(struct kerf_text *out, const char *change) {
    static const struct {
        const char *change, *words;
    } all[] = {{"restrictions", "without these options"},
               {"space", "with --space wide"},
               {"gradients", "with --gradients bf16"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].change, change) == 0) {
            kerf_text_add(out, all[i].words);
            return;
        }
    kerf_text_add(out, "without --");
    for (; *change; change++) kerf_text_printf(out, "%c", *change == '_' ? '-' : *change);
}

void table_mends(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 1}, {0, TABLE_WHOLE}};
    struct kerf_text words = {0}, cells = {0};
    if (search->num_mends == 0) return;
    kerf_text_add(&words, "What would help:");
    table_headline(out, &words, style);
    kerf_text_add(&cells, "change\tstep\tmemory\tbest layout\n");
    for (int32_t i = 0; i < search->num_mends; i++) {
        const struct kerf_mend *mend = &search->mends[i];
        mend_words(&cells, mend->change);
        kerf_text_add(&cells, "\t");
        quantity_seconds(&cells, mend->estimate.step_time_s);
        kerf_text_add(&cells, "\t");
        quantity_bytes(&cells, mend->estimate.memory_bytes);
        kerf_text_add(&cells, "\t");
        kerf_layout_text(&cells, &search->problem, &mend->estimate.layout);
        kerf_text_add(&cells, "\n");
    }
    print_reasons(out, &cells, columns, style);
    kerf_text_free(&cells);
}
