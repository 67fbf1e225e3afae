/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a study: what a terminal shows meanwhile - the settings that may be the best, what is being measured, the time
 * -, then its report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/quantity.h"
#include "cli/cells.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/tune_print.h"

/* ---- While it runs --------------------------------------------------------------------------------------------- */

struct tune_live {
    double budget_s; /* 0: none */
    int32_t lines;   /* that stand on the terminal now */
};

enum { SHOWN = 6, NARROW = 20, WIDE = 100 };

/* A setting's values alone: "2048,512", below "batch,ubatch". */
static void add_values(struct kerf_text *cells, const struct kerf_tune_space *space, int32_t setting) {
    for (int32_t p = 0; p < space->num_params; p++) {
        kerf_text_printf(cells, "%s%s", p ? "," : "",
                         setting < 0 ? space->params[p].name : kerf_tune_setting_word(space, setting, p));
    }
}

/* The mean with its interval; where room is short "398 ms ±1.6 %", by half the interval's width. */
static void add_short_interval(struct kerf_text *cells, const struct kerf_study_request *request,
                               const struct kerf_tune_estimate *estimate) {
    double half = (estimate->interval[1] - estimate->interval[0]) / 2;
    if (!tune_is_interval(estimate->interval)) return;
    kerf_text_add(cells, " ±");
    if (estimate->mean > 0)
        words_deviation(cells, half / estimate->mean);
    else
        words_objective(cells, request, half);
}

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

/* Of two objectives the front, without intervals. */
static void add_front_rows(struct kerf_text *cells, const struct tune_report *report) {
    kerf_text_printf(cells, "front\tfirst\t%s\truns\n", report->second);
    for (int32_t m = 0; m < report->front.num && m < SHOWN; m++) {
        int32_t setting = report->front.settings[m];
        kerf_tune_setting_write(report->state->space, setting, cells);
        kerf_text_add(cells, "\t");
        words_objective(cells, report->state->request, report->answer.settings[setting].mean);
        kerf_text_add(cells, "\t");
        words_second(cells, report, report->front.second[setting].mean);
        kerf_text_printf(cells, "\t%d\n", report->answer.settings[setting].observations);
    }
}

/* One row a setting that may be the best. is_short: for a terminal that has no room for the whole. */
static void add_rows(struct kerf_text *cells, const struct tune_report *report, int is_short) {
    const struct kerf_study_request *request = report->state->request;
    int32_t *order = tune_order(report), rows = 0;
    if (report->has_front) {
        free(order);
        add_front_rows(cells, report);
        return;
    }
    if (is_short)
        add_values(cells, report->state->space, -1);
    else
        kerf_text_add(cells, "setting");
    kerf_text_printf(cells, "\tmean\t%sruns\twithin ", is_short ? "" : "interval\t");
    words_share(cells, request->within);
    kerf_text_add(cells, "\n");
    for (int32_t i = 0; order && i < report->state->space->num_settings && rows < SHOWN; i++) {
        const struct kerf_tune_estimate *estimate = &report->answer.settings[order[i]];
        if (estimate->status != KERF_TUNE_MEASURED) break;
        if (is_short)
            add_values(cells, report->state->space, order[i]);
        else
            kerf_tune_setting_write(report->state->space, order[i], cells);
        kerf_text_add(cells, "\t");
        words_objective(cells, request, estimate->mean);
        if (is_short) {
            add_short_interval(cells, request, estimate);
        } else {
            kerf_text_add(cells, "\t");
            words_interval(cells, request, estimate->interval, " - ");
        }
        kerf_text_printf(cells, "\t%d\t", estimate->observations);
        if (!isnan(estimate->probability_within)) words_chance(cells, estimate->probability_within);
        kerf_text_add(cells, "\n");
        rows++;
    }
    free(order);
}

/* Until when it ends in any case: by the budget, or by the measurements that are left, which take as long as those
 * before. When the study will be sure is unknown. */
static double most_left_s(const struct tune_live *live, const struct kerf_study_state *state) {
    double left_s = live->budget_s > 0 ? fmax(live->budget_s - state->run_s, 0) : INFINITY;
    int32_t most = kerf_tune_study_max_observations(state->study), counted = state->num_entries - state->num_disturbed;
    if (most < INT32_MAX && state->num_entries > 0)
        left_s = fmin(left_s, fmax((double)most - counted, 0) * state->elapsed_s / state->num_entries);
    return left_s;
}

static void add_state(struct kerf_text *out, const struct tune_live *live, const struct kerf_study_state *state,
                      int32_t columns) {
    struct kerf_text line = {0};
    kerf_text_printf(&line, "%d run%s, ", state->num_entries, state->num_entries == 1 ? "" : "s");
    quantity_seconds(&line, state->elapsed_s);
    double left_s = most_left_s(live, state);
    if (isfinite(left_s)) {
        kerf_text_add(&line, ", at most ");
        quantity_seconds(&line, left_s);
        kerf_text_add(&line, " left");
    }
    kerf_text_add(&line, " (Ctrl-C prints the results so far)");
    add_line(out, &line, columns);
    kerf_text_clear(&line);
    kerf_text_add(&line, state->measuring);
    add_line(out, &line, columns);
    kerf_text_free(&line);
}

static void go_back(const struct tune_live *live, struct kerf_text *out) {
    if (live->lines) kerf_text_printf(out, "\r\033[%dA", live->lines);
}

static void write_stderr(struct kerf_text *text) {
    terminal_plain(text);
    if (text->data && !text->failed) fwrite(text->data, 1, text->length, stderr);
    fflush(stderr);
}

/* As struct kerf_study_plan has it: a small table on standard error, drawn over itself. */
static void tune_live_show(void *context, struct kerf_study_state *state) {
    static const struct table_column whole[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {0, 0}, {1, 1}, {1, 0}};
    static const struct table_column narrow[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 1}, {1, 0}};
    enum { RUNS_COLUMN = 6 }; /* "runs" and the gap, which may go first */
    struct tune_live *live = context;
    struct tune_report report;
    struct kerf_text out = {0}, cells = {0}, table = {0};
    if (tune_report_make(state, &report, NULL) != KERF_OK) return;
    int32_t width = columns_of_stderr(), lines = 0;
    add_rows(&cells, &report, 0);
    int is_short = terminal_table_width(&cells) - RUNS_COLUMN > width - 1;
    if (is_short) {
        kerf_text_clear(&cells);
        add_rows(&cells, &report, 1);
    }
    terminal_rows(&table, &cells, is_short ? narrow : whole, width - 1);
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

static void tune_live_end(struct tune_live *live) {
    struct kerf_text out = {0};
    go_back(live, &out);
    if (live->lines) kerf_text_add(&out, "\033[J");
    live->lines = 0;
    write_stderr(&out);
    kerf_text_free(&out);
}

/* ---- Its forms --------------------------------------------------------------------------------------------------- */

const struct render_format tune_formats[] = {
    {.name = "table", .ending = "txt"},
    {.name = "json", .ending = "json"},
    {.name = "csv", .ending = "csv"},
    {.name = "markdown", .ending = "md"},
    RENDER_PICTURES,
    {.name = NULL},
};

int32_t print_tune(void *context, struct kerf_text *out, const struct render_format *format,
                   const struct render_style *style, struct kerf_error *err) {
    const struct tune_report *report = context;
    if (format->is_picture) return print_tune_picture(out, report, format->picture, err);
    if (strcmp(format->name, "json") == 0)
        print_tune_json(out, report);
    else if (strcmp(format->name, "csv") == 0)
        print_tune_csv(out, report);
    else if (strcmp(format->name, "markdown") == 0)
        print_tune_markdown(out, report);
    else
        print_tune_table(out, report, style);
    return KERF_OK;
}

/* ---- Running it ------------------------------------------------------------------------------------------------- */

static int status_of(const struct kerf_study_state *state) {
    if (state->broke_off) return EXIT_FAILED;
    switch (state->stop) {
    case KERF_STUDY_CONFIDENT: return EXIT_ANSWERED;
    case KERF_STUDY_INTERRUPTED: return EXIT_INTERRUPTED;
    case KERF_STUDY_NOTHING: return EXIT_FAILED;
    default: return EXIT_NO_ANSWER;
    }
}

/* The table that stands on the terminal is drawn anew below the line. */
static void warn(void *live, const char *line) {
    tune_live_end(live);
    fprintf(stderr, "kerf: %s\n", line);
}

/* Before anything is run. */
static int32_t read_slice(const struct tune_run *asked, const struct render *render, int32_t **ret_slice,
                          struct kerf_error *err) {
    struct kerf_tune_space *space = NULL;
    if (asked->slice == NULL) return KERF_OK;
    int32_t code = kerf_study_request_space(asked->plan.request, &space, err);
    if (code == KERF_OK) code = tune_slice_read(asked->slice, space, render, ret_slice, err);
    kerf_tune_space_free(space);
    return code;
}

int32_t tune_run(const struct tune_run *asked, int *ret_status, struct kerf_error *err) {
    struct tune_report report = {0};
    struct kerf_study_state *state = NULL;
    struct kerf_study_plan plan = asked->plan;
    struct tune_live live = {.budget_s = plan.budget_s};
    const struct render render = {tune_formats, asked->format, asked->outputs, print_tune, &report};
    plan.warn = warn;
    plan.show_context = &live;
    plan.interrupted = interrupted;
    plan.wake_fd = interrupt_fd();
    if (isatty(STDERR_FILENO)) plan.show = tune_live_show;
    int32_t *slice = NULL, code = render_check(&render, err);
    if (code == KERF_OK) code = read_slice(asked, &render, &slice, err);
    if (code == KERF_OK) code = kerf_study_run(&plan, &state, err);
    tune_live_end(&live);
    if (code == KERF_OK) code = tune_report_make(state, &report, err);
    if (code == KERF_OK) code = tune_report_weigh(&report, err);
    report.journal = asked->journal;
    report.llama = asked->llama;
    report.slice = slice;
    if (code == KERF_OK) code = render_all(&render, err);
    if (code == KERF_OK) {
        *ret_status = status_of(report.state);
        if (report.state->broke_off) fprintf(stderr, "kerf: %s\n", report.state->reason);
    }
    kerf_study_state_free(state);
    free(slice);
    return code;
}
