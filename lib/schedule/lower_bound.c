/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds on the makespan and the span of every order of the same operations, for any placement; linear in the stages.
 *
 * A stream is a stage of a replica, and a unit of it is one of its micro-batches, or a slice of one. Of stream k on
 * device d: F, I and W are its times; entry_k the least time from the first start until a unit can be there; trip_k the
 * time of a unit from F on k to I on k through all stages behind, latencies included; back_k the time after I on k
 * until W of stage 0 has ended. places_d is how many units the device may hold.
 *
 *   load        a device cannot start before the least entry of its streams, entry_d, nor stop before all of its
 *               operations are done: entry_d + load_d
 *   chain       a micro-batch goes through every stage and back: trip_0 + W_0; on the device of stream k it is there
 *               for trip_k + W_k
 *   residence   a unit of stream k occupies one of the places of its device for at least trip_k + W_k, and all of them
 *               must pass through: entry_d + sum over k of units_k (trip_k + W_k) / places_d   (Little's law)
 *   round trip  one stream on the device: at most n = min(places_d, units) forwards run before the first I can, and the
 *               device is idle for the rest of that time: entry_d + load_d + max(0, trip - n F - I)
 *   way back    one stream on the device: the last I follows all F and I, and has to go back to stage 0, whose W
 *               follows: entry_d + units (F + I) + back_k
 *
 * Load, residence and round trip without entry_d are of the time from the device's own first start to its own last end,
 * and so bound the span; so does the chain of each stream.
 *
 * With whole backward passes B stands for I, and W is 0; with both kinds in one schedule the shorter one stands for
 * both. Where activations are freed by I, W is left out of the residence. A fused pair may be shorter than its parts,
 * so that only the loads count then. Blocking sends and shared links only add to all this.
 */
#include "schedule/lower_bound.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "schedule/order.h"

/* What the operations are, and how long one takes of each stage. */
struct work {
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    int whole, split, fused; /* whether there are B, W, FB */
};

static struct work look(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times) {
    struct work work = {.schedule = schedule, .times = times};
    for (int32_t i = 0; i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            work.whole |= schedule->ops[i][k].kind == KERF_OP_B;
            work.split |= schedule->ops[i][k].kind == KERF_OP_W;
            work.fused |= schedule->ops[i][k].kind == KERF_OP_FB;
        }
    return work;
}

static double one(const struct work *work, double whole_s) {
    return whole_s / work->schedule->slices + work->times->overhead_s;
}
static double forward(const struct work *work, int32_t stage) { return one(work, work->times->forward_s[stage]); }

static double backward(const struct work *work, int32_t stage) {
    double whole = work->times->backward_s[stage], input = work->times->backward_input_s[stage];
    return one(work, !work->split ? whole : !work->whole ? input : fmin(whole, input));
}
static double weight(const struct work *work, int32_t stage) {
    return work->split && !work->whole ? one(work, work->times->backward_weight_s[stage]) : 0;
}

static double latency(const struct work *work, int32_t from, int32_t to) {
    if (from == to) return 0;
    return work->times->p2p_of_s ? work->times->p2p_of_s[from * work->schedule->devices + to] : work->times->p2p_s;
}

/* The units of a replica's streams. */
static double units_of(const struct work *work, int32_t replica) {
    const struct kerf_schedule *schedule = work->schedule;
    int32_t half = schedule->microbatches / 2, own = replica ? schedule->microbatches - half : half;
    return (double)schedule->slices * (schedule->replicas == 1 ? schedule->microbatches : own);
}

/* ---- Streams and devices ---------------------------------------------------------------------------------- */

struct stream {
    double entry, trip, back;
};

/* What a device has of its streams. */
struct device {
    double entry, load, residence;
    double least_amount, most_amount; /* of one unit: bytes, or 1 */
    int32_t streams, only;            /* how many; the last of them */
    int32_t chunks[2];                /* of each replica */
};

static void measure_replica(const struct work *work, int32_t replica, struct stream *streams) {
    const int32_t stages = work->schedule->stages, *at = work->schedule->device_of + replica * stages;
    streams[0] = (struct stream){.back = weight(work, 0)};
    for (int32_t k = 1; k < stages; k++) {
        streams[k].entry = streams[k - 1].entry + forward(work, k - 1) + latency(work, at[k - 1], at[k]);
        streams[k].back = streams[k - 1].back + backward(work, k - 1) + latency(work, at[k], at[k - 1]);
    }
    for (int32_t k = stages; k-- > 0;) {
        streams[k].trip = forward(work, k) + backward(work, k);
        if (k + 1 < stages)
            streams[k].trip += latency(work, at[k], at[k + 1]) + latency(work, at[k + 1], at[k]) + streams[k + 1].trip;
    }
}

static void add_stream(const struct work *work, int32_t replica, int32_t stage, const struct stream *stream,
                       struct device *device) {
    const double amount = work->times->cap_in_bytes ? work->times->activation_bytes[stage] : 1;
    const double units = units_of(work, replica), w = weight(work, stage);
    device->chunks[replica]++;
    if (units <= 0) return;
    device->least_amount = device->streams ? fmin(device->least_amount, amount) : amount;
    device->most_amount = fmax(device->most_amount, amount);
    device->entry = device->streams ? fmin(device->entry, stream->entry) : stream->entry;
    device->load += units * (forward(work, stage) + backward(work, stage) + w);
    device->residence += units * amount * (stream->trip + (work->times->free_at_input ? 0 : w));
    device->streams++;
    device->only = replica * work->schedule->stages + stage;
}

/* What a device may hold, in amounts of its units; whole units where all are alike. */
static double room_of(const struct work *work, const struct device *device, int32_t d, double most) {
    const struct kerf_schedule_times *times = work->times;
    const int32_t chunks = device->chunks[0] > device->chunks[1] ? device->chunks[0] : device->chunks[1];
    double room = fmin(times->cap ? times->cap[d] : INFINITY, most) * work->schedule->slices * (1 + 1e-12);
    if (!times->cap_in_bytes) room *= chunks;
    if (device->least_amount > 0 && device->least_amount == device->most_amount && isfinite(room))
        room = device->least_amount * floor(room / device->least_amount);
    return fmax(room, device->most_amount); /* one unit at least, or there is no order at all */
}

static void bound_device(const struct work *work, const struct stream *streams, const struct device *device, int32_t d,
                         double most, struct kerf_schedule_bound *bound) {
    if (device->streams == 0) return;
    double room = room_of(work, device, d, most), within = device->load;
    assert(device->load >= 0 && device->entry >= 0 && room >= 0);
    if (!work->fused && room > 0) within = fmax(within, device->residence / room);
    if (!work->fused && device->streams == 1) {
        const int32_t stage = device->only % work->schedule->stages;
        const struct stream *stream = &streams[device->only];
        const double f = forward(work, stage), b = backward(work, stage);
        const double units = units_of(work, device->only / work->schedule->stages);
        const double places = device->most_amount > 0 ? floor(room / device->most_amount) : INFINITY;
        within = fmax(within, device->load + stream->trip - fmin(places, units) * f - b);
        bound->makespan_s = fmax(bound->makespan_s, device->entry + units * (f + b) + stream->back);
    }
    bound->span_s = fmax(bound->span_s, within);
    bound->makespan_s = fmax(bound->makespan_s, device->entry + within);
}

/* load_s: [devices], NULL: of the operations that all units have. */
static int32_t bounds_of(const struct work *work, double most, const double *load_s,
                         struct kerf_schedule_bound *ret_bound) {
    const struct kerf_schedule *schedule = work->schedule;
    const int32_t stages = schedule->stages, replicas = schedule->replicas;
    struct arena arena = {NULL};
    struct stream *streams = arena_alloc(&arena, (size_t)(stages * replicas), sizeof *streams);
    struct device *devices = arena_alloc(&arena, (size_t)schedule->devices, sizeof *devices);
    struct kerf_schedule_bound bound = {0, 0, 0};
    assert(replicas == 1 || replicas == 2);
    if (streams == NULL || devices == NULL) {
        arena_free(&arena);
        return KERF_ENOMEM;
    }
    for (int32_t r = 0; r < replicas; r++) {
        measure_replica(work, r, streams + r * stages);
        for (int32_t k = 0; k < stages; k++) {
            const struct stream *stream = &streams[r * stages + k];
            add_stream(work, r, k, stream, &devices[schedule->device_of[r * stages + k]]);
            if (work->fused || units_of(work, r) <= 0) continue;
            bound.span_s = fmax(bound.span_s, stream->trip + weight(work, k));
            bound.makespan_s = fmax(bound.makespan_s, stream->entry + stream->trip + stream->back);
        }
    }
    for (int32_t d = 0; d < schedule->devices; d++) {
        if (load_s) devices[d].load = load_s[d];
        bound_device(work, streams, &devices[d], d, most, &bound);
    }
    arena_free(&arena);
    *ret_bound = bound;
    return KERF_OK;
}

int32_t lower_bound_of_split(const struct kerf_schedule *frame, const struct kerf_schedule_times *times, double most,
                             struct kerf_schedule_bound *ret_bound) {
    const struct work work = {.schedule = frame, .times = times, .split = 1};
    return bounds_of(&work, most, NULL, ret_bound);
}

/* ---- Of simulated schedules ------------------------------------------------------------------------------- */

/* The most that a device of the timeline holds, in the unit of the caps. */
static double fullest(const struct kerf_schedule_run *run) {
    const double *peaks = run->times->cap_in_bytes ? run->timeline->peak_bytes : run->timeline->peak_activations;
    double most = 0;
    for (int32_t d = 0; d < run->schedule->devices; d++) most = fmax(most, peaks[d]);
    return most;
}

static void raise(struct kerf_schedule_bound *bound, double makespan_s, double span_s) {
    bound->makespan_s = fmax(bound->makespan_s, makespan_s);
    bound->span_s = fmax(bound->span_s, span_s);
}

static int is_proved(const struct kerf_schedule_run *run) {
    const struct kerf_schedule *schedule = run->schedule;
    if (!(schedule->proof.makespan_s > 0 || schedule->proof.span_s > 0)) return 0;
    return schedule->proof.of_times == kerf_schedule_times_fingerprint(run->times, schedule->devices, schedule->stages);
}

/* The same sum in another order may round up. */
static double not_above(double bound, double value) {
    return bound <= value * (1 + 1e-12) ? fmin(bound, value) : bound;
}

static void finish(const struct kerf_schedule_run *run, struct kerf_schedule_bound *bound) {
    bound->makespan_s = not_above(bound->makespan_s, run->timeline->makespan_s);
    bound->span_s = not_above(bound->span_s, run->timeline->span_s);
    bound->step_s = (run->times->unsynchronised ? bound->span_s : bound->makespan_s) + run->times->optimizer_s;
}

/* Of the run by itself, what a search proved left out. Without enough memory nothing is known. */
static struct kerf_schedule_bound own_bound(const struct kerf_schedule_run *run, const struct work *work) {
    struct kerf_schedule_bound bound = {0, 0, 0};
    struct arena arena = {NULL};
    double *load_s = arena_alloc(&arena, (size_t)run->schedule->devices, sizeof *load_s);
    for (int32_t i = 0; load_s && i < run->schedule->devices; i++)
        for (int32_t k = 0; k < run->schedule->num_ops[i]; k++)
            load_s[i] += run->timeline->end_s[i][k] - run->timeline->start_s[i][k];
    if (load_s) bounds_of(work, run->times->cap ? INFINITY : fullest(run), load_s, &bound);
    arena_free(&arena);
    return bound;
}

struct kerf_schedule_bound kerf_schedule_lower_bound(const struct kerf_schedule *schedule,
                                                     const struct kerf_schedule_times *times,
                                                     const struct kerf_timeline *timeline) {
    const struct kerf_schedule_run run = {schedule, times, timeline};
    struct kerf_schedule_bound bound;
    kerf_schedule_lower_bounds(&run, 1, &bound);
    return bound;
}

/* ---- Of several ------------------------------------------------------------------------------------------- */

/* What is asked once of each run of a comparison. */
struct member {
    struct kerf_schedule_bound own;
    uint64_t times;
    double most; /* what its orders may hold */
    int same;    /* its operations are all of one sort: whole, or split */
    int whole, proved;
};

static int same_problem(const struct kerf_schedule_run *a, const struct member *x, const struct kerf_schedule_run *b,
                        const struct member *y) {
    const struct kerf_schedule *s = a->schedule, *t = b->schedule;
    if (!x->same || !y->same || x->whole != y->whole || x->times != y->times) return 0;
    if (s->devices != t->devices || s->stages != t->stages || s->microbatches != t->microbatches ||
        s->replicas != t->replicas || s->slices != t->slices)
        return 0;
    return memcmp(s->device_of, t->device_of, (size_t)(s->stages * s->replicas) * sizeof *s->device_of) == 0;
}

void kerf_schedule_lower_bounds(const struct kerf_schedule_run *runs, size_t count,
                                struct kerf_schedule_bound *ret_bounds) {
    struct arena arena = {NULL};
    struct member *members = arena_alloc(&arena, count, sizeof *members);
    memset(ret_bounds, 0, count * sizeof *ret_bounds);
    for (size_t i = 0; members && i < count; i++) {
        const struct kerf_schedule *schedule = runs[i].schedule;
        const struct work work = look(schedule, runs[i].times);
        members[i] = (struct member){
            .own = own_bound(&runs[i], &work),
            .times = kerf_schedule_times_fingerprint(runs[i].times, schedule->devices, schedule->stages),
            .most = runs[i].times->cap ? INFINITY : fullest(&runs[i]),
            .same = !work.fused && work.whole != work.split,
            .whole = work.whole,
            .proved = is_proved(&runs[i])};
    }
    for (size_t i = 0; members && i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            const struct kerf_schedule_proof *proof = &runs[k].schedule->proof;
            if (i != k && !same_problem(&runs[i], &members[i], &runs[k], &members[k])) continue;
            if (members[k].proved) raise(&ret_bounds[i], proof->makespan_s, proof->span_s);
            if (members[k].most >= members[i].most)
                raise(&ret_bounds[i], members[k].own.makespan_s, members[k].own.span_s);
        }
        finish(&runs[i], &ret_bounds[i]);
    }
    arena_free(&arena);
}
