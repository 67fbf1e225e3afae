/* SPDX-License-Identifier: Apache-2.0 */
/* Events and ranks as files name them, the sizes that they say, and the steps that they make. */
#include "trace/trace_events.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "base/error_fill.h"

int trace_add_event(struct trace_reading *reading, const struct trace_event *event) {
    if (reading->num_events == reading->events_room) {
        size_t room = reading->events_room ? 2 * reading->events_room : 256;
        struct trace_event *more = reallocarray(reading->events, room, sizeof *more);
        if (more == NULL) return 0;
        reading->events = more, reading->events_room = room;
    }
    reading->events[reading->num_events++] = *event;
    return 1;
}

int32_t trace_add_rank(struct trace_reading *reading, const struct trace_rank *rank) {
    if (reading->num_ranks == reading->ranks_room) {
        size_t room = reading->ranks_room ? 2 * reading->ranks_room : 16;
        struct trace_rank *more = reallocarray(reading->ranks, room, sizeof *more);
        if (more == NULL) return -1;
        reading->ranks = more, reading->ranks_room = room;
    }
    reading->ranks[reading->num_ranks] = *rank;
    return (int32_t)reading->num_ranks++;
}

void trace_reading_free(struct trace_reading *reading) {
    free(reading->events);
    free(reading->ranks);
    kerf_text_free(&reading->notes);
    arena_free(&reading->arena);
    *reading = (struct trace_reading){.source = NULL};
}

int32_t trace_measure(struct trace_reading *reading, struct kerf_error *err) {
    int64_t ops = 0, stages = reading->stages, microbatches = 0;
    for (size_t i = 0; i < reading->num_events; i++) {
        const struct kerf_op *op = &reading->events[i].op;
        if (!trace_is_operation(&reading->events[i])) continue;
        ops += op->kind == KERF_OP_FB ? 2 : 1;
        if (op->stage >= stages) stages = op->stage + 1;
        if (op->with_stage >= stages) stages = op->with_stage + 1;
        if (op->microbatch >= microbatches) microbatches = op->microbatch + 1;
        if (op->with_microbatch >= microbatches) microbatches = op->with_microbatch + 1;
    }
    /* What is allocated follows what was read. */
    if (stages * microbatches > 16 * ops + 4096)
        return kerf_error_set(err, KERF_EINVALID,
                              "%lld operations that reach stage %lld and micro-batch %lld: most are missing",
                              (long long)ops, (long long)stages - 1, (long long)microbatches - 1);
    assert(stages <= TRACE_STAGES_MAX && microbatches <= TRACE_MICROBATCHES_MAX); /* as the readers allow */
    reading->stages = (int32_t)stages;
    reading->microbatches = (int32_t)microbatches;
    return KERF_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------------------------- */

enum { SEEN_F = 1, SEEN_B = 2, SEEN_I = 4, SEEN_W = 8, SEEN_TWICE = 16 };

/* ---- Order ------------------------------------------------------------------------------------------------ */

static int32_t device_of(const struct trace_reading *reading, const struct trace_event *event) {
    return reading->ranks[event->rank].device;
}

/* A total order, so that results do not depend on that of the files. */
static int compare(const void *a, const void *b, void *context) {
    const struct trace_event *x = a, *y = b;
    const struct trace_reading *reading = context;
    int receive_x = !trace_is_operation(x), receive_y = !trace_is_operation(y);
    int32_t device_x = device_of(reading, x), device_y = device_of(reading, y);
    if (receive_x != receive_y) return receive_x - receive_y;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    if (device_x != device_y) return device_x < device_y ? -1 : 1;
    if (x->start_s != y->start_s) return x->start_s < y->start_s ? -1 : 1;
    if (x->end_s != y->end_s) return x->end_s < y->end_s ? -1 : 1;
    if (x->op.microbatch != y->op.microbatch) return x->op.microbatch < y->op.microbatch ? -1 : 1;
    return x->op.stage != y->op.stage ? x->op.stage - y->op.stage : x->op.kind - y->op.kind;
}

/* What is no operation or receive of a device of the pipeline is left out. */
static size_t keep_and_sort(struct trace_reading *reading) {
    size_t kept = 0, num_operations = 0;
    for (size_t i = 0; i < reading->num_events; i++) {
        const struct trace_event *event = &reading->events[i];
        int receive = event->op.kind == TRACE_RECEIVE_F || event->op.kind == TRACE_RECEIVE_B;
        if (device_of(reading, event) < 0 || !(trace_is_operation(event) || receive)) continue;
        num_operations += (size_t)!receive;
        reading->events[kept++] = *event;
    }
    reading->num_events = kept;
    if (kept) qsort_r(reading->events, kept, sizeof *reading->events, compare, reading);
    return num_operations;
}

/* ---- Cells ------------------------------------------------------------------------------------------------ */

static int is_complete(int have) { return have == (SEEN_F | SEEN_B) || have == (SEEN_F | SEEN_I | SEEN_W); }

static unsigned char *cell(struct trace_steps *steps, int32_t stage, int32_t microbatch) {
    return &steps->seen[(int64_t)stage * steps->reading->microbatches + microbatch];
}

static void mark(unsigned char *cell_seen, int kind) {
    *cell_seen |= (unsigned char)(*cell_seen & kind ? SEEN_TWICE : kind);
}

/* Marks the cells of a step, or with clear 1 forgets them. */
static void mark_step(struct trace_steps *steps, const struct trace_step *step, int clear) {
    static const int kinds[KERF_OP_MEASURED] = {SEEN_F, SEEN_B, SEEN_I, SEEN_W, SEEN_F};
    for (size_t i = 0; i < step->count; i++) {
        const struct kerf_op *op = &steps->reading->events[step->first + i].op;
        unsigned char *one = cell(steps, op->stage, op->microbatch);
        unsigned char *two = op->kind == KERF_OP_FB ? cell(steps, op->with_stage, op->with_microbatch) : NULL;
        if (clear) *one = 0;
        if (clear && two) *two = 0;
        if (!clear) mark(one, kinds[op->kind]);
        if (!clear && two) mark(two, SEEN_B);
    }
}

static void survey(struct trace_steps *steps, struct trace_step *step) {
    const struct trace_event *events = steps->reading->events + step->first;
    double first = INFINITY, last = -INFINITY;
    mark_step(steps, step, 0);
    for (size_t i = 0; i < step->count; i++) {
        const struct kerf_op *op = &events[i].op;
        first = fmin(first, events[i].start_s);
        last = fmax(last, events[i].end_s);
        /* each cell has one F, alone or in an FB */
        if (op->kind == KERF_OP_F || op->kind == KERF_OP_FB)
            step->complete += is_complete(*cell(steps, op->stage, op->microbatch));
    }
    mark_step(steps, step, 1);
    step->makespan_s = last - first;
    steps->num_complete += step->complete == steps->cells;
}

int trace_steps_find(struct trace_steps *steps, struct trace_reading *reading) {
    *steps = (struct trace_steps){.reading = reading, .cells = (int64_t)reading->stages * reading->microbatches};
    size_t num_operations = steps->num_operations = keep_and_sort(reading), count = 0;
    const struct trace_event *events = reading->events;
    for (size_t i = 0; i < num_operations; i++) count += i == 0 || events[i].step != events[i - 1].step;
    struct trace_step *list = steps->steps = calloc(count + 1, sizeof *list), *step = list;
    steps->seen = calloc((size_t)steps->cells + 1, 1);
    if (list == NULL || steps->seen == NULL) return 0;
    for (size_t i = 0; i < num_operations; i++) {
        if (i > 0 && events[i].step != events[i - 1].step) (++step)->first = i;
        step->count++;
    }
    steps->num_steps = count;
    for (size_t s = 0; s < count; s++) survey(steps, &list[s]);
    return 1;
}

void trace_steps_free(struct trace_steps *steps) {
    free(steps->steps);
    free(steps->seen);
    *steps = (struct trace_steps){.reading = NULL};
}

/* ---- Which step ------------------------------------------------------------------------------------------- */

static int by_makespan(const void *a, const void *b, void *context) {
    const struct trace_step *steps = context, *x = &steps[*(const size_t *)a], *y = &steps[*(const size_t *)b];
    if (x->makespan_s != y->makespan_s) return x->makespan_s < y->makespan_s ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Of the complete steps the one at this place, or for -1 of median makespan; of two the shorter. */
static const struct trace_step *complete_step(struct trace_steps *steps, int32_t number, int32_t *ret_number) {
    size_t count = 0, *complete = calloc(steps->num_complete, sizeof *complete);
    if (complete == NULL) return NULL;
    for (size_t s = 0; s < steps->num_steps; s++)
        if (steps->steps[s].complete == steps->cells) complete[count++] = s;
    if (number < 0) qsort_r(complete, count, sizeof *complete, by_makespan, steps->steps);
    size_t taken = complete[number < 0 ? (count - 1) / 2 : (size_t)number];
    free(complete);
    *ret_number = 0;
    for (size_t s = 0; s < taken; s++) *ret_number += steps->steps[s].complete == steps->cells;
    return &steps->steps[taken];
}

const struct trace_step *trace_steps_take(struct trace_steps *steps, int32_t number, struct kerf_trace *trace,
                                          struct kerf_error *err) {
    trace->steps = (int32_t)steps->num_complete;
    trace->steps_left_out = (int32_t)(steps->num_steps - steps->num_complete);
    trace->step = -1;
    if (number < -1 || number >= trace->steps) {
        if (trace->steps > 0)
            kerf_error_set(err, KERF_EINVALID, "step %d: the trace has complete steps 0 to %d", number,
                           trace->steps - 1);
        else if (number != -1)
            kerf_error_set(err, KERF_EINVALID,
                           "step %d: no step of the trace is complete; without a number kerf takes the most complete one",
                           number);
        if (trace->steps > 0 || number != -1) return NULL;
    }
    if (trace->steps > 0) {
        const struct trace_step *taken = complete_step(steps, number, &trace->step);
        if (taken == NULL) error_no_memory(err, "the trace");
        return taken;
    }
    const struct trace_step *fullest = steps->steps;
    for (size_t s = 1; s < steps->num_steps; s++)
        if (steps->steps[s].complete > fullest->complete) fullest = &steps->steps[s];
    return fullest;
}

int32_t trace_steps_complete(struct trace_steps *steps, const struct trace_step *step, int32_t *complete) {
    int32_t microbatches = steps->reading->microbatches, count = 0;
    for (int32_t mb = 0; mb < microbatches; mb++) complete[mb] = 1;
    mark_step(steps, step, 0);
    for (int64_t at = 0; at < steps->cells; at++)
        if (!is_complete(steps->seen[at])) complete[at % microbatches] = 0;
    mark_step(steps, step, 1);
    for (int32_t mb = 0; mb < microbatches; mb++) count += complete[mb];
    return count;
}

void trace_steps_missing(struct trace_steps *steps, const struct trace_step *step, struct kerf_text *out) {
    mark_step(steps, step, 0);
    for (int64_t at = 0; at < steps->cells; at++) {
        int have = steps->seen[at], microbatch = (int)(at % steps->reading->microbatches);
        int stage = (int)(at / steps->reading->microbatches);
        if (is_complete(have)) continue;
        if (!(have & SEEN_F))
            kerf_text_printf(out, "%dF%d is missing", stage, microbatch);
        else if (have & (SEEN_TWICE | SEEN_B))
            kerf_text_printf(out, "micro-batch %d runs twice on stage %d", microbatch, stage);
        else
            kerf_text_printf(out, "%d%c%d is missing", stage,
                             have & SEEN_I   ? 'W'
                             : have & SEEN_W ? 'I'
                                             : 'B',
                             microbatch);
        break;
    }
    mark_step(steps, step, 1);
}
