/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From events to a trace: the operations of one step in order on each device, with their times, what waited for which
 * message, and what is missing.
 */
#include "trace/trace_events.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/quantity.h"
#include "schedule/memory.h"
#include "schedule/order.h"
#include "trace/trace_owned.h"

/* ---- Operations ------------------------------------------------------------------------------------------- */

/* The stages' devices. A stage that no operation of the step names keeps what finish found: none, device 0. */
static void place_stages(struct owned_trace *owned, const struct trace_steps *steps, int32_t *device_of) {
    const struct trace_reading *reading = steps->reading;
    struct kerf_schedule *schedule = &owned->schedule;
    for (size_t i = 0; i < steps->num_operations; i++) {
        const struct trace_event *event = &reading->events[i];
        device_of[event->op.stage] = reading->ranks[event->rank].device;
        if (event->op.kind == KERF_OP_FB) device_of[event->op.with_stage] = reading->ranks[event->rank].device;
    }
    schedule->device_of = device_of;
}

static int32_t most_chunks(const struct kerf_schedule *schedule, int32_t *count) {
    int32_t most = 1;
    for (int32_t s = 0; s < schedule->stages; s++) {
        int32_t chunks = ++count[schedule->device_of[s]];
        if (chunks > most) most = chunks;
    }
    return most;
}

/* Events of a step are sorted by device and start. */
static int place_operations(struct owned_trace *owned, const struct trace_reading *reading,
                            const struct trace_step *step) {
    struct arena *arena = &owned->arena;
    size_t p = (size_t)reading->devices;
    const struct kerf_op **ops = arena_alloc(arena, p, sizeof *ops);
    int32_t *num_ops = arena_alloc(arena, p, sizeof *num_ops);
    struct kerf_op *all = arena_take(arena, step->count, sizeof *all);
    double *start = arena_take(arena, step->count, sizeof *start), *end = arena_take(arena, step->count, sizeof *end);
    owned->start = arena_alloc(arena, p, sizeof *owned->start);
    owned->end = arena_alloc(arena, p, sizeof *owned->end);
    if (!(ops && num_ops && all && start && end && owned->start && owned->end)) return 0;
    for (size_t i = 0; i < step->count; i++) {
        const struct trace_event *event = &reading->events[step->first + i];
        all[i] = event->op;
        start[i] = event->start_s;
        end[i] = event->end_s;
        num_ops[reading->ranks[event->rank].device]++;
    }
    size_t at = 0;
    for (size_t d = 0; d < p; at += (size_t)num_ops[d++]) {
        ops[d] = all + at;
        owned->start[d] = start + at;
        owned->end[d] = end + at;
    }
    assert(at == step->count);
    owned->schedule.ops = ops;
    owned->schedule.num_ops = num_ops;
    return 1;
}

/* The first maker of each output counts. */
static void set_maker(struct owned_trace *owned, int backward, int32_t stage, int32_t microbatch, int32_t device,
                      int32_t at) {
    struct trace_place *maker = &owned->maker[order_output(&owned->schedule, backward, stage, microbatch, 0)];
    if (maker->device < 0) *maker = (struct trace_place){device, at};
}

static int find_makers(struct owned_trace *owned) {
    const struct kerf_schedule *schedule = &owned->schedule;
    size_t outputs = order_outputs(&owned->schedule);
    owned->maker = arena_take(&owned->arena, outputs, sizeof *owned->maker);
    if (owned->maker == NULL) return 0;
    for (size_t i = 0; i < outputs; i++) owned->maker[i].device = -1;
    for (int32_t d = 0; d < schedule->devices; d++)
        for (int32_t k = 0; k < schedule->num_ops[d]; k++) {
            const struct kerf_op *op = &schedule->ops[d][k];
            if (op->kind == KERF_OP_F || op->kind == KERF_OP_FB) set_maker(owned, 0, op->stage, op->microbatch, d, k);
            if (op->kind == KERF_OP_B || op->kind == KERF_OP_I) set_maker(owned, 1, op->stage, op->microbatch, d, k);
            if (op->kind == KERF_OP_FB) set_maker(owned, 1, op->with_stage, op->with_microbatch, d, k);
        }
    return 1;
}

/* ---- Receives --------------------------------------------------------------------------------------------- */

/* Of a message's receives in all steps the last that was over when its user began: [2 * cells] indices by end. */
static int compare_receives(const void *a, const void *b, void *context) {
    const struct trace_event *x = a, *y = b;
    const struct trace_reading *reading = context;
    if (x->op.stage != y->op.stage) return x->op.stage - y->op.stage;
    if (x->op.microbatch != y->op.microbatch) return x->op.microbatch < y->op.microbatch ? -1 : 1;
    if (x->op.kind != y->op.kind) return x->op.kind - y->op.kind;
    if (x->end_s != y->end_s) return x->end_s < y->end_s ? -1 : 1;
    return reading->ranks[x->rank].device - reading->ranks[y->rank].device;
}

static struct trace_receive find_receive(struct trace_reading *reading, size_t first, int backward, int32_t stage,
                                         int32_t microbatch, double start_s) {
    const struct trace_event wanted = {
        .end_s = start_s,
        .op = {microbatch, -1, (int16_t)stage, -1, (int16_t)(backward ? TRACE_RECEIVE_B : TRACE_RECEIVE_F), 0},
        .rank = 0};
    size_t low = first, high = reading->num_events;
    while (low < high) { /* the first behind the wanted */
        size_t middle = low + (high - low) / 2;
        const struct trace_event *event = &reading->events[middle];
        struct trace_event probe = wanted;
        probe.rank = event->rank;
        if (compare_receives(event, &probe, reading) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct trace_event *found = low > first ? &reading->events[low - 1] : NULL;
    if (found && found->op.stage == stage && found->op.microbatch == microbatch && found->op.kind == wanted.op.kind)
        return (struct trace_receive){found->start_s, found->end_s};
    return (struct trace_receive){NAN, NAN};
}

static int place_receives(struct owned_trace *owned, struct trace_reading *reading, size_t first) {
    const struct kerf_schedule *schedule = &owned->schedule;
    if (first == reading->num_events) return 1;
    qsort_r(reading->events + first, reading->num_events - first, sizeof *reading->events, compare_receives, reading);
    owned->receives = arena_alloc(&owned->arena, (size_t)schedule->devices, sizeof *owned->receives);
    for (int32_t d = 0; owned->receives && d < schedule->devices; d++) {
        struct trace_receive *receives =
            arena_take(&owned->arena, 2 * (size_t)schedule->num_ops[d] + 1, sizeof *receives);
        owned->receives[d] = receives;
        if (receives == NULL) return 0;
        for (int32_t k = 0; k < schedule->num_ops[d]; k++) {
            const struct kerf_op *op = &schedule->ops[d][k];
            int fused = op->kind == KERF_OP_FB;
            double start_s = owned->start[d][k];
            receives[2 * k] = find_receive(reading, first, 0, op->stage, op->microbatch, start_s);
            receives[2 * k + 1] = find_receive(reading, first, 1, fused ? op->with_stage : op->stage,
                                               fused ? op->with_microbatch : op->microbatch, start_s);
        }
    }
    return owned->receives != NULL;
}

/* ---- The whole -------------------------------------------------------------------------------------------- */

static void sum_up(struct owned_trace *owned) {
    const struct kerf_schedule *schedule = &owned->schedule;
    struct kerf_timeline *timeline = &owned->timeline;
    double first = INFINITY, last = 0, busy_sum = 0;
    struct trace_input inputs[2];
    for (int32_t d = 0; d < schedule->devices; d++)
        for (int32_t k = 0; k < schedule->num_ops[d]; k++) first = fmin(first, owned->start[d][k]);
    for (int32_t d = 0; d < schedule->devices; d++) {
        double busy = 0, own_last = 0;
        if (schedule->num_ops[d] == 0) continue;
        trace_shift(owned, d, first);
        for (int32_t k = 0; k < schedule->num_ops[d]; k++) {
            busy += owned->end[d][k] - owned->start[d][k];
            own_last = fmax(own_last, owned->end[d][k]);
            timeline->messages += trace_inputs(owned, d, k, inputs);
        }
        busy_sum += busy;
        last = fmax(last, own_last);
        timeline->busy_max_s = fmax(timeline->busy_max_s, busy);
        timeline->span_s = fmax(timeline->span_s, own_last - owned->start[d][0]);
    }
    timeline->busy_mean_s = busy_sum / schedule->devices;
    timeline->makespan_s = timeline->step_s = last;
    timeline->over_cap = -1;
    timeline->start_s = (const double *const *)owned->start;
    timeline->end_s = (const double *const *)owned->end;
}

static int sum_up_memory(struct owned_trace *owned) {
    const struct kerf_schedule_times nothing = {.forward_s = NULL};
    double *peaks = arena_alloc(&owned->arena, (size_t)owned->schedule.devices, sizeof *peaks);
    for (int32_t d = 0; peaks && d < owned->schedule.devices; d++)
        peaks[d] = memory_peak(&owned->schedule, &nothing, NULL, d, 0);
    owned->timeline.peak_activations = peaks;
    return peaks != NULL;
}

static void tell_missing(struct owned_trace *owned, struct trace_steps *steps, const struct trace_step *taken,
                         struct kerf_text *notes) {
    const struct kerf_trace *trace = &owned->trace;
    int32_t microbatches = owned->schedule.microbatches, lost = microbatches - trace->microbatches_complete;
    if (lost > 0) {
        kerf_text_printf(notes, "%d of %d micro-batches are incomplete: ", lost, microbatches);
        trace_steps_missing(steps, taken, notes);
        kerf_text_add(notes, "\n");
    } else if (trace->steps_left_out > 0) {
        const struct trace_step *first = steps->steps;
        while (first->complete == steps->cells) first++;
        kerf_text_printf(notes, "%d of %d steps are incomplete and left out: ", trace->steps_left_out,
                         trace->steps_left_out + trace->steps);
        trace_steps_missing(steps, first, notes);
        kerf_text_add(notes, "\n");
    }
}

/* The operation of a device that starts the longest before one in front of it ends. */
static void tell_overlap(const struct owned_trace *owned, struct kerf_text *notes) {
    const struct kerf_schedule *schedule = &owned->schedule;
    const double rounding_s = 1e-9 * owned->timeline.makespan_s + 5e-7;
    const struct kerf_op *early = NULL, *late = NULL;
    double most_s = rounding_s;
    int32_t device = 0;
    for (int32_t d = 0; d < schedule->devices; d++)
        for (int32_t k = 1, last = 0; k < schedule->num_ops[d]; k++) {
            const double overlap_s = owned->end[d][last] - owned->start[d][k];
            if (overlap_s > most_s)
                most_s = overlap_s, early = &schedule->ops[d][last], late = &schedule->ops[d][k], device = d;
            if (owned->end[d][k] > owned->end[d][last]) last = k;
        }
    if (early == NULL) return;
    kerf_text_add(notes, "operations overlap, and are simulated one after the other: ");
    kerf_op_text(notes, late);
    kerf_text_printf(notes, " on device %d starts ", device);
    quantity_seconds(notes, most_s);
    kerf_text_add(notes, " before ");
    kerf_op_text(notes, early);
    kerf_text_add(notes, " ends\n");
}

/* The job's rank of each device, the lowest where replicas share it. */
static int name_ranks(struct owned_trace *owned, const struct trace_reading *reading) {
    int32_t *rank_of = arena_alloc(&owned->arena, (size_t)reading->devices, sizeof *rank_of);
    for (size_t i = 0; rank_of && i < reading->num_ranks; i++)
        if (reading->ranks[i].device >= 0) rank_of[reading->ranks[i].device] = reading->ranks[i].number;
    owned->trace.rank_of = rank_of;
    return rank_of != NULL;
}

/* 1, 0 when memory runs out, or -1 with err. */
static int fill(struct owned_trace *owned, struct trace_steps *steps, const struct trace_step *taken,
                struct kerf_error *err) {
    struct trace_reading *reading = steps->reading;
    struct kerf_schedule *schedule = &owned->schedule;
    struct kerf_trace *trace = &owned->trace;
    struct arena *arena = &owned->arena;
    *schedule = (struct kerf_schedule){.name = "measured",
                                       .devices = reading->devices,
                                       .stages = reading->stages,
                                       .microbatches = reading->microbatches,
                                       .replicas = 1,
                                       .slices = 1};
    int32_t *device_of = arena_alloc(arena, (size_t)reading->stages, sizeof *device_of);
    int32_t *complete = arena_alloc(arena, (size_t)reading->microbatches, sizeof *complete);
    int32_t *chunks = arena_alloc(arena, (size_t)reading->devices, sizeof *chunks);
    if (!(device_of && complete && chunks)) return 0;
    place_stages(owned, steps, device_of);
    schedule->chunks = most_chunks(schedule, chunks);
    trace->complete = complete;
    trace->microbatches_complete = trace_steps_complete(steps, taken, complete);
    if (trace->microbatches_complete == 0) {
        struct kerf_text missing = {0};
        trace_steps_missing(steps, taken, &missing);
        kerf_error_set(err, KERF_EINVALID, "no micro-batch went through all %d stages: %s", reading->stages,
                       missing.data ? missing.data : "?");
        kerf_text_free(&missing);
        return -1;
    }
    tell_missing(owned, steps, taken, &reading->notes);
    trace->step_number = (int32_t)(reading->events[taken->first].step >> 32);
    if (!(place_operations(owned, reading, taken) && find_makers(owned))) return 0;
    if (!place_receives(owned, reading, steps->num_operations) || !name_ranks(owned, reading)) return 0;
    if (!trace_align_clocks(owned, &reading->notes)) return 0;
    sum_up(owned);
    tell_overlap(owned, &reading->notes);
    return sum_up_memory(owned);
}

int32_t trace_build(struct trace_reading *reading, int32_t step, struct kerf_trace **ret_trace,
                    struct kerf_error *err) {
    struct trace_steps steps = {.reading = NULL};
    struct owned_trace *owned = calloc(1, sizeof *owned);
    const struct trace_step *taken = NULL;
    int done = owned && trace_steps_find(&steps, reading);
    if (done) {
        taken = trace_steps_take(&steps, step, &owned->trace, err);
        done = taken ? fill(owned, &steps, taken, err) : -1;
    }
    trace_steps_free(&steps);
    if (done > 0) {
        const char *source = reading->source ? reading->source : "";
        owned->trace.source = arena_strdup(&owned->arena, source);
        owned->trace.notes = arena_strdup(&owned->arena, reading->notes.data ? reading->notes.data : "");
        done = owned->trace.source && owned->trace.notes && !reading->notes.failed;
    }
    if (done <= 0) {
        int32_t code = done < 0 && err ? err->code : KERF_EINVALID;
        if (owned) kerf_trace_free(&owned->trace);
        return done == 0 ? error_no_memory(err, "the trace") : code;
    }
    owned->trace.schedule = &owned->schedule;
    owned->trace.timeline = &owned->timeline;
    owned->trace.ranks_left_out = reading->ranks_left_out;
    *ret_trace = &owned->trace;
    return KERF_OK;
}
