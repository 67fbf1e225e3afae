/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule_figure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int next_row(FILE *file, struct row *row, int count) {
    while (fgets(row->line, sizeof row->line, file)) {
        if (row->line[0] == '#') continue;
        row->line[strcspn(row->line, "\n")] = 0;
        char *rest = row->line;
        for (int k = 0; k < count; k++) {
            if (rest == NULL) fail_msg("'%s' has fewer than %d cells", row->line, count);
            row->cells[k] = k + 1 < count ? strsep(&rest, ",") : rest;
        }
        return 1;
    }
    return 0;
}

double number_in(const struct row *row, int cell) {
    char *end;
    double value = strtod(row->cells[cell], &end);
    if (end == row->cells[cell] || (*end && *end != ',')) fail_msg("'%s' is no number", row->cells[cell]);
    return value;
}

int32_t integer_in(const struct row *row, int cell) { return (int32_t)number_in(row, cell); }

struct outcome simulate_figure(const struct figure *figure) {
    struct kerf_schedule *schedule = NULL;
    struct kerf_schedule_times *times = NULL;
    struct kerf_timeline *timeline = NULL;
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_schedule_times_request said;
    struct kerf_schedule_request request = {.rule = figure->rule,
                                            .devices = figure->devices,
                                            .microbatches = figure->microbatches,
                                            .chunks = figure->chunks};
    int32_t stages;
    kerf_schedule_times_unsaid(&said);
    said.forward_s = figure->forward, said.backward_input_s = figure->input, said.backward_weight_s = figure->weight;
    said.fused_s = figure->fused, said.p2p_s = figure->p2p, said.free_at_input = figure->free_at_input;
    int32_t code = kerf_schedule_stages(&request, &stages, &err);
    if (code == KERF_OK) code = kerf_schedule_times_make(figure->devices, stages, &said, &times, &err);
    request.times = times;
    if (code == KERF_OK) code = kerf_schedule_make(&request, &schedule, &err);
    if (code == KERF_OK) code = kerf_schedule_check(schedule, &err);
    if (code == KERF_OK) code = kerf_schedule_simulate(schedule, times, &timeline, &err);
    if (code != KERF_OK) fail_msg("%s %dx%d: %s", figure->rule, figure->devices, figure->microbatches, err.message);
    struct outcome outcome = {timeline->makespan_s, timeline->span_s, 0, INFINITY, kerf_timeline_bubble(timeline)};
    for (int32_t d = 0; d < schedule->devices; d++) {
        outcome.peak = fmax(outcome.peak, timeline->peak_activations[d] * schedule->chunks);
        outcome.least_peak = fmin(outcome.least_peak, timeline->peak_activations[d] * schedule->chunks);
    }
    kerf_timeline_free(timeline);
    kerf_schedule_free(schedule);
    kerf_schedule_times_free(times);
    return outcome;
}
