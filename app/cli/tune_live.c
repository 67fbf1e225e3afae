/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal shows while a study runs: the settings that may be the best, what is being measured, the time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "cli/terminal.h"
#include "cli/tune_print.h"

enum { SHOWN = 6, NARROW = 40, WIDE = 100 };

static int32_t columns_of_stderr(void) {
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < NARROW) return NARROW;
    return size.ws_col < WIDE ? size.ws_col : WIDE;
}

/* Cut to the width of the terminal: a line that wraps could not be drawn over. */
static void add_line(struct kerf_text *out, const struct kerf_text *line, int32_t columns) {
    const char *c = line->data ? line->data : "";
    kerf_text_add(out, "\033[K");
    for (int32_t shown = 0; *c; c++) {
        int begins = ((unsigned char)*c & 0xC0) != 0x80;
        if (begins && ++shown > columns - 1) break;
        kerf_text_write(out, c, 1);
    }
    kerf_text_add(out, "\n");
}

static void add_rows(struct kerf_text *cells, const struct tune_report *report) {
    const struct study_request *request = report->state->request;
    int32_t *order = tune_order(report), rows = 0;
    kerf_text_printf(cells, "setting\tmean\tinterval\truns\twithin %.6g %%\n", 100 * request->within);
    for (int32_t i = 0; order && i < report->state->space->num_settings && rows < SHOWN; i++) {
        const struct kerf_tune_estimate *estimate = &report->answer.settings[order[i]];
        if (estimate->status != KERF_TUNE_MEASURED) break;
        kerf_tune_setting_write(report->state->space, order[i], cells);
        kerf_text_add(cells, "\t");
        words_objective(cells, request, estimate->mean);
        kerf_text_add(cells, "\t");
        words_objective(cells, request, estimate->interval[0]);
        kerf_text_add(cells, " - ");
        words_objective(cells, request, estimate->interval[1]);
        kerf_text_printf(cells, "\t%d\t", estimate->observations);
        if (!isnan(estimate->probability_within))
            kerf_text_printf(cells, "%.0f %%", 100 * estimate->probability_within);
        kerf_text_add(cells, "\n");
        rows++;
    }
    free(order);
}

static void add_state(struct kerf_text *out, const struct tune_live *live, const struct study_state *state,
                      int32_t columns) {
    struct kerf_text line = {0};
    kerf_text_printf(&line, "%d measurements, ", state->num_entries);
    kerf_text_seconds(&line, state->elapsed_s);
    if (live->budget_s > 0) {
        kerf_text_add(&line, ", at most ");
        kerf_text_seconds(&line, fmax(live->budget_s - state->elapsed_s, 0));
        kerf_text_add(&line, " left");
    }
    kerf_text_add(&line, " (Ctrl-C prints what is known)");
    add_line(out, &line, columns);
    kerf_text_clear(&line);
    kerf_text_add(&line, state->measuring);
    add_line(out, &line, columns);
    kerf_text_free(&line);
}

static void go_back(const struct tune_live *live, struct kerf_text *out) {
    if (live->lines) kerf_text_printf(out, "\r\033[%dA", live->lines);
}

static void write_stderr(const struct kerf_text *text) {
    if (text->data && !text->failed) fwrite(text->data, 1, text->length, stderr);
    fflush(stderr);
}

void tune_live_show(void *context, struct study_state *state) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {0, 2}, {1, 1}, {1, 0}};
    struct tune_live *live = context;
    struct tune_report report;
    struct kerf_text out = {0}, cells = {0}, table = {0};
    if (tune_report_make(state, &report, NULL) != KERF_OK) return;
    int32_t width = columns_of_stderr(), lines = 0;
    add_rows(&cells, &report);
    terminal_table(&table, &cells, columns, width - 1, 0, -1);
    go_back(live, &out);
    for (const char *c = table.data ? table.data : ""; *c; lines++) {
        struct kerf_text line = {0};
        for (; *c && *c != '\n'; c++) kerf_text_write(&line, c, 1);
        if (*c) c++;
        add_line(&out, &line, width);
        kerf_text_free(&line);
    }
    add_state(&out, live, state, width);
    kerf_text_add(&out, "\033[J");
    live->lines = lines + 2;
    write_stderr(&out);
    kerf_text_free(&out);
    kerf_text_free(&cells);
    kerf_text_free(&table);
}

void tune_live_end(struct tune_live *live) {
    struct kerf_text out = {0};
    go_back(live, &out);
    if (live->lines) kerf_text_add(&out, "\033[J");
    live->lines = 0;
    write_stderr(&out);
    kerf_text_free(&out);
}
