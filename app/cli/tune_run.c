/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tune_run.h"

#include <stdio.h>
#include <unistd.h>
#include "cli/command.h"
#include "cli/interrupt.h"

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
