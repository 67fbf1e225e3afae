/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of a trace's ranges count. Those of the GPU where a file has some, for those of the CPU tell when kernels were
 * launched and not when they ran; of a range that is on several streams the one on the stream that has most of the
 * rank's time; and of one operation within another, as in OVERLAP_F_B, the outer.
 */
#include <stdlib.h>
#include "trace/trace_torch.h"

static void drop_nothings(struct trace_reading *reading) {
    size_t kept = 0;
    for (size_t i = 0; i < reading->num_events; i++)
        if (reading->events[i].op.kind != TRACE_NOTHING) reading->events[kept++] = reading->events[i];
    reading->num_events = kept;
}

/* On the CPU a receive is the call that posts it, which says nothing of the message. */
static int choose_side(struct trace_reading *reading) {
    unsigned char *has_gpu = calloc((size_t)reading->files + 1, 1);
    if (has_gpu == NULL) return 0;
    for (size_t i = 0; i < reading->num_events; i++) {
        const struct trace_event *event = &reading->events[i];
        if (event->on_gpu && torch_is_compute(event)) has_gpu[reading->ranks[event->rank].file_index] = 1;
    }
    for (size_t i = 0; i < reading->num_events; i++) {
        struct trace_event *event = &reading->events[i];
        int receive = event->op.kind == TRACE_RECEIVE_F || event->op.kind == TRACE_RECEIVE_B;
        if (event->on_gpu != has_gpu[reading->ranks[event->rank].file_index] || (receive && !event->on_gpu))
            event->op.kind = TRACE_NOTHING;
    }
    free(has_gpu);
    drop_nothings(reading);
    return 1;
}

/* ---- Streams ---------------------------------------------------------------------------------------------- */

struct lane {
    int32_t rank, lane;
    int32_t place; /* among the rank's, the one with most time first */
    double compute_s;
};

static int by_lane(const void *a, const void *b) {
    const struct lane *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

static int by_compute(const void *a, const void *b) {
    const struct lane *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->compute_s != y->compute_s) return x->compute_s > y->compute_s ? -1 : 1;
    return by_lane(a, b);
}

/* The lanes of all ranks, sorted by lane; returns how many. */
static size_t list_lanes(const struct trace_reading *reading, struct lane *lanes) {
    size_t count = 0;
    for (size_t i = 0; i < reading->num_events; i++) {
        const struct trace_event *event = &reading->events[i];
        double compute_s = torch_is_compute(event) ? event->end_s - event->start_s : 0;
        lanes[i] = (struct lane){event->rank, event->lane, 0, compute_s};
    }
    qsort(lanes, reading->num_events, sizeof *lanes, by_lane);
    for (size_t i = 0; i < reading->num_events; i++) {
        if (count && by_lane(&lanes[count - 1], &lanes[i]) == 0)
            lanes[count - 1].compute_s += lanes[i].compute_s;
        else
            lanes[count++] = lanes[i];
    }
    qsort(lanes, count, sizeof *lanes, by_compute);
    for (size_t i = 1; i < count; i++) lanes[i].place = lanes[i].rank == lanes[i - 1].rank ? lanes[i - 1].place + 1 : 0;
    qsort(lanes, count, sizeof *lanes, by_lane);
    return count;
}

static int compare_actions(const struct trace_event *x, const struct trace_event *y) {
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->op.kind != y->op.kind) return x->op.kind < y->op.kind ? -1 : 1;
    if (x->op.stage != y->op.stage) return x->op.stage - y->op.stage;
    if (x->op.microbatch != y->op.microbatch) return x->op.microbatch < y->op.microbatch ? -1 : 1;
    if (x->op.with_stage != y->op.with_stage) return x->op.with_stage - y->op.with_stage;
    return x->op.with_microbatch < y->op.with_microbatch ? -1 : x->op.with_microbatch > y->op.with_microbatch;
}

static int by_action(const void *a, const void *b) {
    const struct trace_event *x = a, *y = b;
    int order = compare_actions(x, y);
    return order ? order : x->lane < y->lane ? -1 : x->lane > y->lane;
}

static int choose_streams(struct trace_reading *reading) {
    struct trace_event *events = reading->events;
    if (reading->num_events == 0) return 1;
    struct lane *lanes = calloc(reading->num_events, sizeof *lanes);
    if (lanes == NULL) return 0;
    size_t count = list_lanes(reading, lanes);
    for (size_t i = 0; i < reading->num_events; i++) {
        const struct lane wanted = {.rank = events[i].rank, .lane = events[i].lane};
        events[i].lane = ((struct lane *)bsearch(&wanted, lanes, count, sizeof *lanes, by_lane))->place;
    }
    free(lanes);
    qsort(events, reading->num_events, sizeof *events, by_action);
    for (size_t i = 0, first = 0; i < reading->num_events; i++) {
        if (compare_actions(&events[first], &events[i]) != 0) first = i;
        if (events[i].lane != events[first].lane)
            events[i].rank = -1 - events[i].rank; /* the order stays until the end */
    }
    size_t kept = 0;
    for (size_t i = 0; i < reading->num_events; i++)
        if (events[i].rank >= 0) events[kept++] = events[i];
    reading->num_events = kept;
    return 1;
}

/* ---- Within another --------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b) {
    const struct trace_event *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->start_s != y->start_s) return x->start_s < y->start_s ? -1 : 1;
    if (x->end_s != y->end_s) return x->end_s > y->end_s ? -1 : 1; /* what holds another comes first */
    if (x->op.kind != y->op.kind) return x->op.kind > y->op.kind ? -1 : 1;
    if (x->op.microbatch != y->op.microbatch) return x->op.microbatch < y->op.microbatch ? -1 : 1;
    return x->op.stage - y->op.stage;
}

static int is_part(const struct kerf_op *op, const struct kerf_op *whole) {
    return (op->kind == KERF_OP_F && op->stage == whole->stage && op->microbatch == whole->microbatch) ||
           (op->kind == KERF_OP_B && op->stage == whole->with_stage && op->microbatch == whole->with_microbatch);
}

static void drop_parts(struct trace_reading *reading) {
    const struct trace_event *whole = NULL;
    for (size_t i = 0; i < reading->num_events; i++) {
        struct trace_event *event = &reading->events[i];
        if (event->op.kind == KERF_OP_FB)
            whole = event;
        else if (whole && event->rank == whole->rank && event->start_s <= whole->end_s &&
                 is_part(&event->op, &whole->op))
            event->op.kind = TRACE_NOTHING;
    }
    drop_nothings(reading);
}

int torch_choose_lanes(struct trace_reading *reading) {
    if (!choose_side(reading) || !choose_streams(reading)) return 0;
    if (reading->num_events) qsort(reading->events, reading->num_events, sizeof *reading->events, by_time);
    drop_parts(reading);
    return 1;
}
