/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules as pictures, from libkerf's charts.
 *
 *   one schedule       its timeline, and what each device holds over time
 *   a comparison       the timelines one above the other on one axis, and the memory that each needs
 *   a sweep            the time of a step over the memory cap, or over the micro-batches; a curve for each schedule
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "base/quantity.h"
#include "call/ranges.h"
#include "call/pictures.h"

enum { TIMELINES_MAX = 16, CURVES_MAX = 12, SHADES = 4, PARTS = KERF_OP_KINDS };

static const char *const part_names[PARTS] = {[KERF_OP_F] = "forward",
                                              [KERF_OP_B] = "backward",
                                              [KERF_OP_I] = "backward of the input",
                                              [KERF_OP_W] = "backward of the weights",
                                              [KERF_OP_R] = "recomputation",
                                              [KERF_OP_O] = "offload",
                                              [KERF_OP_L] = "load"}; /* FB has the first two */
static const char *const part_letters[PARTS] = {
    [KERF_OP_F] = "F", [KERF_OP_B] = "B", [KERF_OP_I] = "I", [KERF_OP_W] = "W",
    [KERF_OP_R] = "R", [KERF_OP_O] = "O", [KERF_OP_L] = "L"};
static const char *const chunk_names[SHADES] = {"chunk 0", "chunk 1", "chunk 2", "chunk 3"};
static const char *const replica_names[] = {"from device 0", "from the last device"};

/* ---- A timeline as lanes ---------------------------------------------------------------------------------- */

/* The kinds of operations in the schedule, for the legend. */
struct kinds {
    int32_t part[KERF_OP_KINDS]; /* of each kind */
    const char *names[PARTS], *letters[PARTS];
    int32_t count;
};

static void mark_kinds(const struct kerf_schedule *schedule, int there[KERF_OP_KINDS]) {
    for (int32_t i = 0; schedule && i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) there[schedule->ops[i][k].kind] = 1;
}

static void look_at_kinds(struct kinds *kinds, const struct schedule_answers *answers) {
    int there[KERF_OP_KINDS] = {0};
    for (int32_t a = 0; a < answers->count; a++) mark_kinds(answers->items[a].schedule, there);
    if (answers->trace) mark_kinds(answers->trace->schedule, there);
    if (there[KERF_OP_FB]) there[KERF_OP_F] = there[KERF_OP_B] = 1;
    for (int kind = 0; kind < PARTS; kind++) {
        if (!there[kind] || part_names[kind] == NULL) continue;
        kinds->part[kind] = kinds->count;
        kinds->names[kinds->count] = part_names[kind];
        kinds->letters[kinds->count++] = part_letters[kind];
    }
}

/* Which chunk of its device each stage is. */
static int32_t *list_chunks(struct sketch *sketch, const struct kerf_schedule *schedule) {
    int32_t *chunk_of = sketch_alloc(sketch, (size_t)schedule->stages, sizeof *chunk_of);
    int32_t *stages_on = sketch_alloc(sketch, (size_t)schedule->devices, sizeof *stages_on);
    for (int32_t k = 0; chunk_of && stages_on && k < schedule->stages; k++)
        chunk_of[k] = stages_on[schedule->device_of[k]]++;
    return chunk_of;
}

static int16_t shade(const struct kerf_schedule *schedule, const int32_t *chunk_of, int32_t stage, int32_t microbatch) {
    const int64_t replica = (((int64_t)microbatch + 1) * schedule->replicas - 1) / schedule->microbatches;
    if (schedule->replicas > 1) return (int16_t)(replica % 2); /* down, or up */
    return (int16_t)(chunk_of[stage] % SHADES);
}

static struct kerf_lane_bar bar(const struct kerf_schedule *schedule, const struct kinds *kinds,
                                const int32_t *chunk_of, const struct kerf_op *op, double start, double end) {
    struct kerf_lane_bar bar = {.start = start,
                                .end = end,
                                .number = op->microbatch,
                                .with_number = -1,
                                .part = (int16_t)kinds->part[op->kind == KERF_OP_FB ? KERF_OP_F : op->kind],
                                .with_part = -1,
                                .series = op->stage,
                                .with_series = -1,
                                .shade = shade(schedule, chunk_of, op->stage, op->microbatch)};
    if (op->kind == KERF_OP_FB) {
        bar.with_number = op->with_microbatch;
        bar.with_part = (int16_t)kinds->part[KERF_OP_B];
        bar.with_series = op->with_stage;
        bar.with_shade = shade(schedule, chunk_of, op->with_stage, op->with_microbatch);
    }
    return bar;
}

/* Copies run beside the operations: they have lanes of their own, behind those of the devices. */
static int32_t num_lanes(const struct kerf_schedule *schedule) {
    for (int32_t i = 0; schedule->moves && i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++)
            if (schedule->ops[i][k].kind == KERF_OP_O) return 2 * schedule->devices;
    return schedule->devices;
}

static int is_copy(const struct kerf_op *op) { return op->kind == KERF_OP_O || op->kind == KERF_OP_L; }

static struct kerf_lane copies_lane(struct sketch *sketch, const struct schedule_answer *answer,
                                    const struct kinds *kinds, const int32_t *chunk_of, int32_t device,
                                    struct kerf_lane_bar *bars, int32_t room) {
    const struct kerf_schedule *schedule = answer->schedule;
    struct kerf_text label = {0};
    int32_t count = 0;
    for (int32_t k = 0; k < schedule->num_ops[device]; k++)
        if (is_copy(&schedule->ops[device][k])) {
            assert(count < room);
            bars[count++] = bar(schedule, kinds, chunk_of, &schedule->ops[device][k],
                                answer->timeline->start_s[device][k], answer->timeline->end_s[device][k]);
        }
    (void)room;
    kerf_text_printf(&label, "copies %d", device);
    return (struct kerf_lane){.label = sketch_text(sketch, &label), .bars = bars, .num_bars = count};
}

/* Lanes of one answer, the memory held as their curves; NULL when memory ran out. */
static struct kerf_lane *lanes_of(struct sketch *sketch, const struct schedule_answer *answer,
                                  const struct kinds *kinds) {
    const struct kerf_schedule *schedule = answer->schedule;
    const struct kerf_timeline *timeline = answer->timeline;
    const int32_t *chunk_of = list_chunks(sketch, schedule);
    const int32_t rows = num_lanes(schedule);
    struct kerf_lane *lanes = sketch_alloc(sketch, (size_t)rows, sizeof *lanes);
    for (int32_t i = 0; i < schedule->devices && !sketch->failed; i++) {
        size_t count = (size_t)schedule->num_ops[i];
        struct kerf_lane_bar *bars = sketch_alloc(sketch, count, sizeof *bars);
        double *x = sketch_alloc(sketch, 2 * count, sizeof *x), *y = sketch_alloc(sketch, 2 * count, sizeof *y);
        struct kerf_text label = {0};
        if (sketch->failed) return NULL;
        int32_t num_bars = 0;
        double done = 0; /* what was measured may overlap, by what clocks round or a thread that ran beside */
        for (size_t k = 0; k < count; k++) {
            if (is_copy(&schedule->ops[i][k])) continue;
            double start = fmax(timeline->start_s[i][k], done), end = fmax(timeline->end_s[i][k], start);
            bars[num_bars++] = bar(schedule, kinds, chunk_of, &schedule->ops[i][k], start, end);
            done = end;
        }
        if (rows > schedule->devices)
            lanes[schedule->devices + i] =
                copies_lane(sketch, answer, kinds, chunk_of, i, bars + num_bars, (int32_t)count - num_bars);
        kerf_text_printf(&label, "device %d", i);
        lanes[i] = (struct kerf_lane){
            .label = sketch_text(sketch, &label), .bars = bars, .num_bars = num_bars, .curve_x = x, .curve_y = y};
        lanes[i].num_curve =
            kerf_timeline_memory(schedule, answer->times, timeline, i, answer->times->activation_bytes != NULL, x, y);
    }
    return sketch->failed ? NULL : lanes;
}

static struct kerf_panel lanes_panel(const struct schedule_answers *answers, const struct schedule_answer *answer,
                                     const struct kerf_lane *lanes, const struct kinds *kinds, const char *title) {
    const struct kerf_schedule *schedule = answer->schedule;
    struct kerf_panel panel = {.kind = KERF_PANEL_LANES,
                               .title = title,
                               .unit = KERF_UNIT_SECONDS,
                               .parts = kinds->names,
                               .num_parts = kinds->count,
                               .part_letters = kinds->letters,
                               .lanes = lanes,
                               .num_lanes = num_lanes(schedule),
                               .x_from = answers->from,
                               .x_to = answers->to,
                               .series_name = "stage"};
    if (schedule->replicas > 1) {
        panel.shades = replica_names;
        panel.num_shades = 2;
    } else if (schedule->chunks > 1) {
        panel.shades = chunk_names;
        panel.num_shades = schedule->chunks < SHADES ? schedule->chunks : SHADES;
    }
    return panel;
}

/* The cap where it is the same for all devices, else 0. */
static double common_cap(const struct schedule_answer *answer) {
    const struct kerf_schedule_times *times = answer->times;
    if (times->cap == NULL || (times->cap_in_bytes != 0) != (times->activation_bytes != NULL)) return 0;
    for (int32_t i = 1; i < answer->schedule->devices; i++)
        if (times->cap[i] != times->cap[0]) return 0;
    return times->cap[0];
}

static struct kerf_panel memory_panel(const struct schedule_answers *answers, const struct schedule_answer *answer,
                                      const struct kerf_lane *lanes) {
    int in_bytes = answer->times->activation_bytes != NULL;
    return (struct kerf_panel){.kind = KERF_PANEL_STEPS,
                               .title = in_bytes ? "Activations held by each device"
                                                 : "Activations held by each device, in micro-batches",
                               .unit = in_bytes ? KERF_UNIT_BYTES : KERF_UNIT_COUNT,
                               .x_unit = KERF_UNIT_SECONDS,
                               .lanes = lanes,
                               .num_lanes = answer->schedule->devices,
                               .x_from = answers->from,
                               .x_to = answers->to,
                               .limit = common_cap(answer),
                               .limit_label = "memory cap"};
}

/* ", 50 % recomputed": where shares are said. */
static void words_shares(struct kerf_text *out, const struct schedule_answer *answer) {
    if (answer->recompute > 0) kerf_text_printf(out, ", %.4g %% recomputed", 100 * answer->recompute);
    if (answer->offload > 0) kerf_text_printf(out, ", %.4g %% offloaded", 100 * answer->offload);
}

/* "117 s, 22.2 % idle, 8 micro-batches held at most" */
static void words_figures(struct kerf_text *out, const struct schedule_answer *answer) {
    quantity_seconds(out, answer->timeline->makespan_s);
    kerf_text_add(out, ", ");
    words_percent(out, kerf_timeline_bubble(answer->timeline).of_makespan, 1, 0);
    kerf_text_add(out, " idle, ");
    if (answer->timeline->peak_bytes)
        quantity_bytes(out, answer_peak_bytes(answer));
    else
        words_microbatches(out, answer_peak(answer), 4);
    kerf_text_add(out, " held at most");
}

static int32_t draw(struct kerf_text *out, const char *title, const char *subtitle, const struct kerf_panel *panels,
                    int32_t num_panels, enum kerf_picture_format format, struct sketch *sketch,
                    struct kerf_error *err) {
    struct kerf_text footer = {0};
    kerf_text_printf(&footer, "kerf %s", kerf_version());
    const struct kerf_figure figure = {title, subtitle, panels, num_panels, sketch_text(sketch, &footer)};
    if (sketch->failed) return error_no_memory(err, "the picture");
    return kerf_figure_draw(&figure, format, out, err);
}

/* The trace as an answer of its own; without a timeline where there is none. */
static struct schedule_answer measured_answer(const struct schedule_answers *answers) {
    struct schedule_answer answer = {.timeline = NULL};
    if (answers->trace == NULL) return answer;
    answer.schedule = answers->trace->schedule;
    answer.times = answers->trace_fit->times;
    answer.timeline = answers->trace->timeline;
    return answer;
}

/* "Measured (PyTorch profiler): 1.2 s, 12.0 % idle" */
static const char *measured_title(struct sketch *sketch, const struct schedule_answer *measured,
                                  const struct kerf_trace *trace) {
    struct kerf_text title = {0};
    kerf_text_printf(&title, "Measured (%s): ", trace->source);
    words_figures(&title, measured);
    return sketch_text(sketch, &title);
}

static int32_t draw_one(struct kerf_text *out, struct sketch *sketch, const struct schedule_answers *answers,
                        enum kerf_picture_format format, struct kerf_error *err) {
    const struct schedule_answer *answer = &answers->items[0];
    const struct kerf_schedule *schedule = answer->schedule;
    struct kinds kinds = {.count = 0};
    struct kerf_text title = {0}, subtitle = {0};
    look_at_kinds(&kinds, answers);
    kerf_text_printf(&title, "%s: ", schedule->name);
    words_size(&title, schedule);
    words_figures(&subtitle, answer);
    const struct kerf_lane *lanes = lanes_of(sketch, answer, &kinds);
    const struct schedule_answer measured = measured_answer(answers);
    struct kerf_panel panels[3];
    int32_t count = 0;
    if (measured.timeline)
        panels[count++] = lanes_panel(answers, &measured, lanes_of(sketch, &measured, &kinds), &kinds,
                                      measured_title(sketch, &measured, answers->trace));
    panels[count++] = lanes_panel(answers, answer, lanes, &kinds, measured.timeline ? "Simulated" : "Timeline");
    panels[count++] = memory_panel(answers, answer, lanes);
    return draw(out, sketch_text(sketch, &title), sketch_text(sketch, &subtitle), panels, count, format, sketch, err);
}

void schedule_timeline(struct kerf_text *out, const struct schedule_answers *answers,
                       const struct schedule_answer *answer, int32_t columns, int32_t colour) {
    struct sketch sketch = {0};
    struct kinds kinds = {.count = 0};
    const struct schedule_answer measured = measured_answer(answers);
    const struct schedule_answer *const shown[] = {measured.timeline ? &measured : answer, answer};
    double to = answers->to; /* both as far as the longer one */
    if (to == 0 && measured.timeline) to = fmax(measured.timeline->makespan_s, answer->timeline->makespan_s);
    look_at_kinds(&kinds, answers);
    for (int32_t i = measured.timeline == NULL; i < 2; i++) {
        const struct kerf_lane *lanes = lanes_of(&sketch, shown[i], &kinds);
        struct kerf_panel panel = lanes_panel(answers, shown[i], lanes, &kinds, NULL);
        panel.x_to = to;
        if (measured.timeline) kerf_text_add(out, i == 0 ? "measured\n" : "\nsimulated\n");
        if (lanes)
            kerf_lanes_terminal(out, &panel, columns, colour);
        else
            out->failed = 1;
    }
    sketch_free(&sketch);
}

/* ---- Several schedules ------------------------------------------------------------------------------------ */

static int32_t draw_timelines(struct kerf_text *out, struct sketch *sketch, const struct schedule_answers *answers,
                              enum kerf_picture_format format, struct kerf_error *err) {
    struct kerf_panel panels[TIMELINES_MAX + 1];
    struct kerf_chart_row rows[TIMELINES_MAX];
    struct kinds kinds = {.count = 0};
    struct kerf_text subtitle = {0};
    static const char *const peak_part[] = {"activations"};
    int32_t count = 0;
    look_at_kinds(&kinds, answers);
    for (int32_t i = 0; i < answers->count && count < TIMELINES_MAX && !sketch->failed; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        struct kerf_text title = {0};
        if (answer->timeline == NULL) continue;
        kerf_text_add(&title, answer->schedule->name);
        words_shares(&title, answer);
        kerf_text_add(&title, ": ");
        words_figures(&title, answer);
        const struct kerf_lane *lanes = lanes_of(sketch, answer, &kinds);
        double *peak = sketch_alloc(sketch, 1, sizeof *peak);
        if (sketch->failed) break;
        *peak = answer_peak(answer);
        rows[count] = (struct kerf_chart_row){.label = answer->schedule->name, .values = peak};
        panels[count++] = lanes_panel(answers, answer, lanes, &kinds, sketch_text(sketch, &title));
        if (count == 1) {
            kerf_text_printf(&subtitle, "%d device%s, ", answer->schedule->devices,
                             answer->schedule->devices == 1 ? "" : "s");
            words_microbatches(&subtitle, answer->schedule->microbatches, 7);
        }
    }
    panels[count] = (struct kerf_panel){.kind = KERF_PANEL_BARS,
                                        .title = "Activations of the fullest device, in micro-batches",
                                        .unit = KERF_UNIT_COUNT,
                                        .rows = rows,
                                        .num_rows = count,
                                        .parts = peak_part,
                                        .num_parts = 1};
    return draw(out, "Comparison of schedules", sketch_text(sketch, &subtitle), panels, count + 1, format, sketch, err);
}

/* ---- Sweeps ----------------------------------------------------------------------------------------------- */

struct sweep {
    int frontier;         /* 1: one curve of the best, and one of its bounds */
    int over_caps;        /* 1: x is the memory cap; 0: the number of micro-batches */
    double xs[RANGE_MAX]; /* different ones, rising */
    int32_t num_xs;
};

static double x_of(const struct sweep *sweep, const struct schedule_answer *answer) {
    return sweep->over_caps ? answer->cap : answer->microbatches;
}

static int compare_numbers(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void list_xs(struct sweep *sweep, const struct schedule_answers *answers) {
    double *all = sweep->xs;
    int32_t count = 0;
    for (int32_t i = 0; i < answers->count && count < RANGE_MAX; i++) {
        double x = x_of(sweep, &answers->items[i]);
        int32_t at = 0;
        while (at < count && all[at] != x) at++;
        if (at == count && !isnan(x)) all[count++] = x;
    }
    qsort(all, (size_t)count, sizeof *all, compare_numbers);
    sweep->num_xs = count;
}

static int same_share(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static int same_curve(const struct sweep *sweep, const struct schedule_answer *a, const struct schedule_answer *b) {
    if (sweep->over_caps && a->microbatches != b->microbatches) return 0;
    return sweep->frontier || (strcmp(a->name, b->name) == 0 && same_share(a->recompute, b->recompute) &&
                               same_share(a->offload, b->offload));
}

static struct kerf_chart_row curve(struct sketch *sketch, const struct sweep *sweep,
                                   const struct schedule_answers *answers, const struct schedule_answer *first,
                                   int several_sizes, int of_bounds) {
    double *values = sketch_alloc(sketch, (size_t)sweep->num_xs, sizeof *values);
    struct kerf_text label = {0};
    for (int32_t x = 0; values && x < sweep->num_xs; x++) {
        values[x] = NAN;
        for (int32_t i = 0; i < answers->count; i++) {
            const struct schedule_answer *answer = &answers->items[i];
            if (!same_curve(sweep, answer, first) || x_of(sweep, answer) != sweep->xs[x]) continue;
            if (answer->timeline == NULL || answer->timeline->over_cap >= 0) continue;
            const double step_s = of_bounds ? answer->bound.step_s : answer->timeline->step_s;
            values[x] = step_s / (sweep->over_caps ? 1 : answer->microbatches);
        }
    }
    kerf_text_add(&label, !sweep->frontier ? first->name : of_bounds ? "lower bound" : "shortest step found");
    if (!sweep->frontier) words_shares(&label, first);
    if (several_sizes) {
        kerf_text_add(&label, ", ");
        words_microbatches(&label, first->microbatches, 7);
    }
    return (struct kerf_chart_row){.label = sketch_text(sketch, &label), .values = values};
}

static int32_t draw_sweep(struct kerf_text *out, struct sketch *sketch, const struct schedule_answers *answers,
                          enum kerf_picture_format format, struct kerf_error *err) {
    struct sweep *sweep = sketch_alloc(sketch, 1, sizeof *sweep);
    struct kerf_chart_row rows[CURVES_MAX];
    const struct schedule_answer *first_of[CURVES_MAX];
    int32_t count = 0;
    int several_sizes = 0, in_bytes = answers->items[0].cap_in_bytes;
    if (sweep == NULL) return error_no_memory(err, "the picture");
    sweep->frontier = answers->frontier;
    for (int32_t i = 1; i < answers->count; i++) {
        sweep->over_caps |= answers->items[i].cap != answers->items[0].cap && !isnan(answers->items[0].cap);
        several_sizes |= answers->items[i].microbatches != answers->items[0].microbatches;
    }
    list_xs(sweep, answers);
    for (int32_t i = 0; i < answers->count && count < CURVES_MAX; i++) {
        int32_t at = 0;
        while (at < count && !same_curve(sweep, first_of[at], &answers->items[i])) at++;
        if (at == count) first_of[count++] = &answers->items[i];
    }
    for (int32_t k = 0; k < count; k++)
        rows[k] = curve(sketch, sweep, answers, first_of[k], sweep->over_caps && several_sizes, 0);
    for (int32_t k = 0, points = count; sweep->frontier && k < points && count < CURVES_MAX; k++)
        rows[count++] = curve(sketch, sweep, answers, first_of[k], sweep->over_caps && several_sizes, 1);
    const struct kerf_panel panel = {.kind = KERF_PANEL_CURVES,
                                     .title = sweep->over_caps ? "Time of a step within a cap of memory"
                                                               : "Time of a step for each micro-batch",
                                     .x_label = !sweep->over_caps ? "micro-batches of a step"
                                                : in_bytes        ? "activations that a device may hold"
                                                           : "activations that a device may hold, in micro-batches",
                                     .unit = KERF_UNIT_SECONDS,
                                     .x_unit = sweep->over_caps && in_bytes ? KERF_UNIT_BYTES : KERF_UNIT_NONE,
                                     .linear = sweep->over_caps,
                                     .rows = rows,
                                     .num_rows = count,
                                     .xs = sweep->xs,
                                     .num_xs = sweep->num_xs};
    struct kerf_text subtitle = {0};
    for (int32_t i = 0; i < answers->count; i++)
        if (answers->items[i].schedule && subtitle.length == 0)
            kerf_text_printf(&subtitle, "%d device%s", answers->items[i].schedule->devices,
                             answers->items[i].schedule->devices == 1 ? "" : "s");
    if (!several_sizes) {
        kerf_text_add(&subtitle, ", ");
        words_microbatches(&subtitle, answers->items[0].microbatches, 7);
    }
    return draw(out, sweep->over_caps ? "Time against memory" : "Time against the number of micro-batches",
                sketch_text(sketch, &subtitle), &panel, 1, format, sketch, err);
}

int32_t schedule_picture(struct kerf_text *out, const struct schedule_answers *answers, enum kerf_picture_format format,
                         struct kerf_error *err) {
    struct sketch sketch = {0};
    int sweeps = 0;
    for (int32_t i = 1; i < answers->count; i++)
        sweeps |= answers->items[i].microbatches != answers->items[0].microbatches ||
                  (answers->items[i].cap != answers->items[0].cap && !isnan(answers->items[0].cap));
    int32_t code = !answers->several ? draw_one(out, &sketch, answers, format, err)
                   : sweeps          ? draw_sweep(out, &sketch, answers, format, err)
                                     : draw_timelines(out, &sketch, answers, format, err);
    sketch_free(&sketch);
    return code;
}
