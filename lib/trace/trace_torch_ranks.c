/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a folder of PyTorch traces says together: a process with ranges is a rank; a rank with other stages than those
 * before it is a device, else a replica; devices are in the order of their first stages; and a step ends where
 * ProfilerStep#N says so or an operation comes again.
 *
 * Which of a trace's ranges count. Those of the GPU where a file has some, for those of the CPU tell when kernels were
 * launched and not when they ran; of a range that is on several streams the one on the stream that has most of the
 * rank's time; and of one operation within another, as in OVERLAP_F_B, the outer.
 */
#include "trace/trace_events.h"

#include <stdlib.h>
#include "base/error_fill.h"

static int32_t out_of_memory(struct kerf_error *err) { return error_no_memory(err, "the trace"); }

/* ---- Which ranges count ----------------------------------------------------------------------------------- */

static int is_compute(const struct trace_event *event) {
    return trace_is_operation(event) || event->op.kind == TRACE_OLD_WHOLE;
}

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
        if (event->on_gpu && is_compute(event)) has_gpu[reading->ranks[event->rank].file_index] = 1;
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
        double compute_s = is_compute(event) ? event->end_s - event->start_s : 0;
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

/* Leaves out what happened on another side, stream or within another operation, and sorts by rank and time. 0 when
 * memory runs out. */
static int choose_lanes(struct trace_reading *reading) {
    if (!choose_side(reading) || !choose_streams(reading)) return 0;
    if (reading->num_events) qsort(reading->events, reading->num_events, sizeof *reading->events, by_time);
    drop_parts(reading);
    return 1;
}

/* ---- Letters ---------------------------------------------------------------------------------------------- */

/* Older letters are B for the input and BW for the whole: those of a trace that has BW, or W without I. */
static void read_letters(struct trace_reading *reading) {
    int has[TRACE_NOTHING + 1] = {0};
    for (size_t i = 0; i < reading->num_events; i++) has[reading->events[i].op.kind] = 1;
    int old = has[TRACE_OLD_WHOLE] || (has[KERF_OP_W] && has[KERF_OP_B] && !has[KERF_OP_I]);
    for (size_t i = 0; i < reading->num_events && old; i++) {
        int16_t *kind = &reading->events[i].op.kind;
        if (*kind == KERF_OP_B)
            *kind = KERF_OP_I;
        else if (*kind == TRACE_OLD_WHOLE)
            *kind = KERF_OP_B;
    }
}

/* ---- Ranks ------------------------------------------------------------------------------------------------ */

/* The events of a rank, which are sorted by rank. */
struct span {
    size_t first, count, operations;
};

struct ranks {
    struct trace_reading *reading;
    struct span *spans; /* [num_ranks] */
    int32_t *order;     /* [num_active] those with operations, by their number in the job */
    int32_t num_active;
    int32_t *owner; /* [stages] */
};

static int by_number(const void *a, const void *b, void *context) {
    const struct trace_rank *ranks = context;
    int32_t i = *(const int32_t *)a, k = *(const int32_t *)b;
    const struct trace_rank *x = &ranks[i], *y = &ranks[k];
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->file_index != y->file_index) return x->file_index < y->file_index ? -1 : 1;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    return i < k ? -1 : i > k;
}

/* Two processes of one file or two unnamed files make the files' numbers useless; two files of one rank are too many.
 */
static int32_t number_ranks(struct ranks *ranks, struct kerf_error *err) {
    struct trace_rank *all = ranks->reading->ranks;
    int32_t count = ranks->num_active, renumber = 0;
    qsort_r(ranks->order, (size_t)count, sizeof *ranks->order, by_number, all);
    for (int32_t i = 0; i < count; i++) {
        const struct trace_rank *rank = &all[ranks->order[i]], *before = i ? &all[ranks->order[i - 1]] : NULL;
        if (rank->number < 0 || (before && before->file_index == rank->file_index)) renumber = 1;
    }
    for (int32_t i = 0; i < count; i++) {
        struct trace_rank *rank = &all[ranks->order[i]];
        const struct trace_rank *before = i ? &all[ranks->order[i - 1]] : NULL;
        if (renumber) {
            rank->number = i;
        } else if (before && before->number == rank->number) {
            kerf_error_set(err, KERF_EINVALID, "rank %d is in %.200s too: keep one file for each rank", rank->number,
                           before->file);
            error_set_file(err, rank->file);
            return KERF_EINVALID;
        }
    }
    return KERF_OK;
}

static int32_t survey(struct ranks *ranks, struct kerf_error *err) {
    struct trace_reading *reading = ranks->reading;
    ranks->spans = calloc(reading->num_ranks + 1, sizeof *ranks->spans);
    ranks->order = calloc(reading->num_ranks + 1, sizeof *ranks->order);
    ranks->owner = malloc(((size_t)reading->stages + 1) * sizeof *ranks->owner);
    if (!(ranks->spans && ranks->order && ranks->owner)) return out_of_memory(err);
    for (size_t i = 0; i < reading->num_events; i++) {
        struct span *span = &ranks->spans[reading->events[i].rank];
        if (span->count++ == 0) span->first = i;
        span->operations += (size_t)trace_is_operation(&reading->events[i]);
    }
    for (size_t r = 0; r < reading->num_ranks; r++)
        if (ranks->spans[r].operations) ranks->order[ranks->num_active++] = (int32_t)r;
    return number_ranks(ranks, err);
}

/* ---- Devices ---------------------------------------------------------------------------------------------- */

static int32_t two_owners(const struct ranks *ranks, int32_t rank, int32_t shared, int32_t own,
                          struct kerf_error *err) {
    const struct trace_rank *all = ranks->reading->ranks;
    kerf_error_set(err, KERF_EINVALID,
                   "rank %d runs stage %d, as rank %d does, and also stage %d, which the other does not: keep only the files of one trace",
                   all[rank].number, shared, all[ranks->owner[shared]].number, own);
    error_set_file(err, all[rank].file);
    return KERF_EINVALID;
}

/* Takes the rank's stages, all of which are free, or all another rank's. */
static int32_t take_stages(struct ranks *ranks, int32_t rank, struct kerf_error *err) {
    const struct span *span = &ranks->spans[rank];
    const struct trace_event *events = ranks->reading->events + span->first;
    int32_t shared = -1, own = -1;
    for (size_t i = 0; i < 2 * span->count; i++) {
        const struct kerf_op *op = &events[i / 2].op;
        int32_t stage = i % 2 ? op->with_stage : op->stage;
        if (!trace_is_operation(&events[i / 2]) || stage < 0) continue;
        if (ranks->owner[stage] >= 0 && ranks->owner[stage] != rank) {
            shared = stage;
        } else {
            own = stage;
            ranks->owner[stage] = rank;
        }
    }
    if (shared >= 0 && own >= 0) return two_owners(ranks, rank, shared, own, err);
    ranks->reading->ranks_left_out += shared >= 0;
    return KERF_OK;
}

static int32_t missing_stage(const struct ranks *ranks, int32_t stage, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID,
                          "stage %d is in none of the %d files: the file of its rank is missing; give a folder with one file for each rank",
                          stage, ranks->reading->traces);
}

static int32_t find_devices(struct ranks *ranks, struct kerf_error *err) {
    struct trace_reading *reading = ranks->reading;
    for (int32_t s = 0; s < reading->stages; s++) ranks->owner[s] = -1;
    for (int32_t i = 0; i < ranks->num_active; i++) {
        int32_t code = take_stages(ranks, ranks->order[i], err);
        if (code != KERF_OK) return code;
    }
    for (int32_t s = 0; s < reading->stages; s++) {
        if (ranks->owner[s] < 0) return missing_stage(ranks, s, err);
        struct trace_rank *rank = &reading->ranks[ranks->owner[s]];
        if (rank->device < 0) rank->device = reading->devices++;
    }
    if (reading->next_stage >= reading->stages) return missing_stage(ranks, reading->next_stage, err);
    if (reading->devices > TRACE_DEVICES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "%d devices: there may be at most %d", reading->devices, TRACE_DEVICES_MAX);
    return KERF_OK;
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

struct counter {
    const struct trace_reading *reading;
    int64_t *seen; /* [cells][4] of F, B, I, W: the step's stamp */
    int64_t stamp;
};

/* Whether the stamp is new there. */
static int stamp(struct counter *counter, int32_t kind, int32_t stage, int32_t microbatch) {
    int64_t *place = &counter->seen[4 * ((int64_t)stage * counter->reading->microbatches + microbatch) + kind];
    int fresh = *place != counter->stamp;
    *place = counter->stamp;
    return fresh;
}

static int stamp_op(struct counter *counter, const struct kerf_op *op) {
    if (op->kind != KERF_OP_FB) return stamp(counter, op->kind, op->stage, op->microbatch);
    int fresh = stamp(counter, KERF_OP_F, op->stage, op->microbatch);
    return stamp(counter, KERF_OP_B, op->with_stage, op->with_microbatch) && fresh;
}

static void number_steps(struct counter *counter, struct trace_event *events, size_t count, int numbered) {
    int32_t number = -1, repetition = 0;
    counter->stamp++;
    for (size_t i = 0; i < count; i++) {
        if (events[i].op.kind == TRACE_STEP && numbered) {
            number = events[i].op.microbatch;
            repetition = 0;
            counter->stamp++;
        }
        if (!trace_is_operation(&events[i])) continue;
        if (!stamp_op(counter, &events[i].op)) {
            repetition++;
            counter->stamp++;
            stamp_op(counter, &events[i].op);
        }
        events[i].step = trace_step_key(number, repetition);
    }
}

/* Numbers count when every device has them. */
static int all_numbered(const struct ranks *ranks) {
    const struct trace_reading *reading = ranks->reading;
    for (size_t r = 0; r < reading->num_ranks; r++) {
        const struct span *span = &ranks->spans[r];
        size_t steps = 0;
        for (size_t i = 0; i < span->count; i++) steps += reading->events[span->first + i].op.kind == TRACE_STEP;
        if (reading->ranks[r].device >= 0 && steps == 0) return 0;
    }
    return 1;
}

static int32_t find_steps(struct ranks *ranks, struct kerf_error *err) {
    struct trace_reading *reading = ranks->reading;
    size_t cells = (size_t)reading->stages * (size_t)reading->microbatches;
    struct counter counter = {.reading = reading, .seen = calloc(cells, 4 * sizeof *counter.seen)};
    if (counter.seen == NULL) return out_of_memory(err);
    int numbered = all_numbered(ranks);
    for (size_t r = 0; r < reading->num_ranks; r++)
        if (reading->ranks[r].device >= 0)
            number_steps(&counter, reading->events + ranks->spans[r].first, ranks->spans[r].count, numbered);
    free(counter.seen);
    return KERF_OK;
}

int32_t torch_finish(struct trace_reading *reading, struct kerf_error *err) {
    struct ranks ranks = {.reading = reading};
    size_t operations = 0, on_gpu = 0;
    if (!choose_lanes(reading)) return out_of_memory(err);
    read_letters(reading);
    for (size_t i = 0; i < reading->num_events; i++) {
        operations += (size_t)trace_is_operation(&reading->events[i]);
        on_gpu += (size_t)reading->events[i].on_gpu;
    }
    if (on_gpu < reading->num_events)
        kerf_text_add(&reading->notes, "ranges are those of the CPU, which only launches the GPU's work\n");
    if (operations == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "no ranges like \"PP:1F3\" in %d file%s: PyTorch's schedules of several stages a rank "
                              "record them, and those that _PipelineScheduleRuntime runs",
                              reading->traces, reading->traces == 1 ? "" : "s");
    int32_t code = trace_measure(reading, err);
    if (code == KERF_OK) code = survey(&ranks, err);
    if (code == KERF_OK) code = find_devices(&ranks, err);
    if (code == KERF_OK) code = find_steps(&ranks, err);
    free(ranks.spans);
    free(ranks.order);
    free(ranks.owner);
    return code;
}
