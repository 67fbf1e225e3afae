/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tune_run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/tune_picture.h"

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
    int32_t code = render_check(&render, err);
    if (code == KERF_OK) code = kerf_study_run(&plan, &state, err);
    tune_live_end(&live);
    if (code == KERF_OK) code = tune_report_make(state, &report, err);
    report.llama = asked->llama;
    if (code == KERF_OK) code = render_all(&render, err);
    if (code == KERF_OK) {
        *ret_status = status_of(report.state);
        if (report.state->broke_off) fprintf(stderr, "kerf: %s\n", report.state->reason);
    }
    kerf_study_state_free(state);
    return code;
}
