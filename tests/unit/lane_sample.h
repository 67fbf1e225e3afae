/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines to test the drawings with: those of real schedules, as the program makes them. Memory is counted in
 * micro-batches: a forward adds one when it starts, the last of its backward passes takes it away when it ends.
 */
#ifndef KERF_TESTS_LANE_SAMPLE_H
#define KERF_TESTS_LANE_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerf/draw.h"
#include "kerf/schedule.h"

static const char *const sample_parts[] = {"forward", "backward", "input gradient", "weight gradient"};

struct sample {
    struct kerf_lane *lanes;
    int32_t num_lanes;
    int64_t num_bars;
};

static inline int32_t sample_part(int32_t kind) {
    return kind == KERF_OP_F || kind == KERF_OP_FB ? 0 : kind == KERF_OP_B ? 1 : kind == KERF_OP_I ? 2 : 3;
}

static inline void sample_free(struct sample *sample) {
    for (int32_t d = 0; d < sample->num_lanes; d++) {
        free((void *)sample->lanes[d].label);
        free((void *)sample->lanes[d].bars);
        free((void *)sample->lanes[d].curve_x);
        free((void *)sample->lanes[d].curve_y);
    }
    free(sample->lanes);
    *sample = (struct sample){0};
}

static inline void sample_lane(struct kerf_lane *lane, const struct kerf_schedule *schedule,
                               const struct kerf_timeline *timeline, int32_t d) {
    int32_t count = schedule->num_ops[d];
    struct kerf_lane_bar *bars = calloc((size_t)count, sizeof *bars);
    double *x = calloc((size_t)count, sizeof *x), *y = calloc((size_t)count, sizeof *y), held = 0;
    char *label = malloc(32);
    snprintf(label, 32, "device %d", d);
    int32_t steps = 0;
    for (int32_t i = 0; i < count; i++) {
        const struct kerf_op *op = &schedule->ops[d][i];
        int fused = op->kind == KERF_OP_FB;
        int32_t shade = op->stage >= schedule->devices || schedule->device_of[op->stage] != d;
        bars[i] = (struct kerf_lane_bar){.start = timeline->start_s[d][i],
                                         .end = timeline->end_s[d][i],
                                         .number = op->microbatch,
                                         .with_number = fused ? op->with_microbatch : -1,
                                         .part = (int16_t)sample_part(op->kind),
                                         .with_part = fused ? 1 : -1,
                                         .series = op->stage,
                                         .with_series = fused ? op->with_stage : -1,
                                         .shade = (int16_t)shade,
                                         .with_shade = fused ? (int16_t)(op->with_stage >= schedule->devices) : 0};
        if (op->kind == KERF_OP_I || fused) continue;
        held += op->kind == KERF_OP_F ? 1 : -1;
        x[steps] = op->kind == KERF_OP_F ? bars[i].start : bars[i].end;
        y[steps++] = held;
    }
    *lane = (struct kerf_lane){label, bars, count, x, y, steps};
}

static inline struct sample sample_make(const char *rule, int32_t devices, int32_t microbatches, double forward_s,
                                        double backward_s) {
    struct kerf_schedule_request request = {.rule = rule, .devices = devices, .microbatches = microbatches};
    if (strstr(rule, "interleaved")) request.chunks = 2;
    struct kerf_schedule_times_request asked;
    kerf_schedule_times_unsaid(&asked);
    asked.forward_s = forward_s, asked.backward_s = backward_s;
    struct kerf_schedule *schedule = NULL;
    struct kerf_schedule_times *times = NULL;
    struct kerf_timeline *timeline = NULL;
    struct kerf_error err;
    struct sample sample = {.num_lanes = devices};
    if (kerf_schedule_make(&request, &schedule, &err) != KERF_OK ||
        kerf_schedule_times_make(devices, schedule->stages, &asked, &times, &err) != KERF_OK ||
        kerf_schedule_simulate(schedule, times, &timeline, &err) != KERF_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    sample.lanes = calloc((size_t)devices, sizeof *sample.lanes);
    for (int32_t d = 0; d < devices; d++) {
        sample_lane(&sample.lanes[d], schedule, timeline, d);
        sample.num_bars += sample.lanes[d].num_bars;
    }
    kerf_timeline_free(timeline), kerf_schedule_times_free(times), kerf_schedule_free(schedule);
    return sample;
}

static inline struct kerf_panel sample_panel(const struct sample *sample, enum kerf_panel_kind kind) {
    return (struct kerf_panel){.kind = kind,
                               .title = kind == KERF_PANEL_LANES ? "Timeline" : "Activations held (micro-batches)",
                               .x_label = "time",
                               .unit = kind == KERF_PANEL_LANES ? KERF_UNIT_SECONDS : KERF_UNIT_COUNT,
                               .parts = kind == KERF_PANEL_LANES ? sample_parts : NULL,
                               .num_parts = kind == KERF_PANEL_LANES ? 4 : 0,
                               .lanes = sample->lanes,
                               .num_lanes = sample->num_lanes,
                               .series_name = "stage"};
}

#endif
