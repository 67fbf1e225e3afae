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
 *               must pass through: entry_d + sum over k of units_k (trip_k + W_k) / places_d   (Little's law). Where all
 *               units are alike, the places fill and empty one after the other, n = min(places_d, units of all streams):
 *               + (n - 1) / 2 (least F + least W)
 *   rounds      one stream on the device, in whose n places fewer than all units fit: unit i + n cannot enter before unit i
 *               is freed, so that each of q rounds takes a unit's whole stay, trip_k + W_k. They begin with F of unit
 *               j = units - 1 - q n, which j F come before, and for j >= n the I and W of j - n + 1 units and the idle time
 *               before the first I: entry_d + trip_k - I + (j - n) F + (j - n + 1) (I + W) + q (trip_k + W_k) + trip_k
 *               + back_k
 *   ends        the device is idle at its beginning and at its end, and is loaded between: head + load_d + tail
 *   way back    one stream on the device: the last I follows all F and I, and has to go back to stage 0, whose W
 *               follows: entry_d + units (F + I) + back_k
 *
 * A head is the idle time before the first F or I of a stream k of the device: that operation cannot start before
 * entry_k, or entry_k + trip_k - I_k, and until then the device can run few others. Of the streams up to k only F, which
 * hold what they make; all of a deeper stream i, but only for as many units as are held by the streams up to k with
 * room for one of a deeper stream. A tail is the idle time behind the last I or F of a stream k: until the end pass at
 * least back_k, or trip_k - F_k + back_k, and the device can run I and W of what it still holds, W alone of what has its
 * I behind it, and all of a deeper stream for as many units as in a head. With activations that I frees, any number of
 * W can be left, and tails are nothing. Head and tail are both counted when the head's operation comes before the
 * tail's in every order: by the way of one unit, or because the units of a stream do not all fit in.
 *
 * Load, residence, rounds and ends without entry_d are of the time from the device's own first start to its own last end,
 * and so bound the span; so does the chain of each stream. With one replica all begins with F of stage 0: way back, and
 * ends whose tail goes back to W of stage 0, bound the span of that stage's device as they are.
 *
 * Where activations are recomputed or offloaded, what a unit surely occupies is the share that is neither, and R is
 * counted in the load alone: an order without its R, O and L is one of the problem without them, and no longer.
 *
 * With whole backward passes B stands for I, and W is 0; with both kinds in one schedule the shorter one stands for
 * both. Where activations are freed by I, W is left out of the residence. A fused pair may be shorter than its parts,
 * so that only the loads count then. Ends are for one replica, and operations all of one sort. Blocking sends and shared
 * links only add to all this.
 *
 * Of slices that are unequal the shortest stands for a unit. The first to be anywhere is slice 0 of a micro-batch, which
 * the others follow, and so is the last on its way back: entry and back are its. What needs units that are alike - filling
 * and emptying places, ends - is left out.
 */
#include "schedule/lower_bound.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "schedule/move_shares.h"
#include "schedule/order.h"
#include "schedule/slices.h"

/* What the operations are, and how long one takes of each stage. */
struct work {
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    int whole, split, fused;  /* whether there are B, W, FB */
    int recomputes, offloads; /* whether R, O */
    int uneven;               /* whether slices are unequal */
    double first[KERF_OP_R];  /* of each kind slice 0, as a share, where they are, */
    double least[KERF_OP_R];  /* and the shortest */
};

static struct work look(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times) {
    struct work work = {.schedule = schedule, .times = times};
    for (int32_t i = 0; i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            work.whole |= schedule->ops[i][k].kind == KERF_OP_B;
            work.split |= schedule->ops[i][k].kind == KERF_OP_W;
            work.fused |= schedule->ops[i][k].kind == KERF_OP_FB;
            work.recomputes |= schedule->ops[i][k].kind == KERF_OP_R;
            work.offloads |= schedule->ops[i][k].kind == KERF_OP_O;
        }
    return work;
}

static void look_at_slices(struct work *work, const struct kerf_schedule_slices *slices) {
    static const enum kerf_op_kind kinds[] = {KERF_OP_F, KERF_OP_B, KERF_OP_I, KERF_OP_W};
    work->uneven = slices != NULL;
    for (size_t i = 0; slices && i < sizeof kinds / sizeof *kinds; i++) {
        work->first[kinds[i]] = slices_shares(slices, kinds[i])[0];
        work->least[kinds[i]] = slices_least(slices, kinds[i]);
    }
}

/* One slice of a kind; shares: which of unequal ones, NULL: their mean. */
static double one(const struct work *work, const double *shares, enum kerf_op_kind kind, double whole_s) {
    const double part_s = work->uneven && shares ? whole_s * shares[kind] : whole_s / work->schedule->slices;
    return part_s + work->times->overhead_s;
}
static double forward_of(const struct work *work, const double *shares, int32_t stage) {
    return one(work, shares, KERF_OP_F, work->times->forward_s[stage]);
}
static double backward_of(const struct work *work, const double *shares, int32_t stage) {
    const double whole = one(work, shares, KERF_OP_B, work->times->backward_s[stage]);
    const double input = one(work, shares, KERF_OP_I, work->times->backward_input_s[stage]);
    return !work->split ? whole : !work->whole ? input : fmin(whole, input);
}
static double weight_of(const struct work *work, const double *shares, int32_t stage) {
    return work->split && !work->whole ? one(work, shares, KERF_OP_W, work->times->backward_weight_s[stage]) : 0;
}

/* Of the shortest slice. */
static double forward(const struct work *work, int32_t stage) { return forward_of(work, work->least, stage); }
static double backward(const struct work *work, int32_t stage) { return backward_of(work, work->least, stage); }
static double weight(const struct work *work, int32_t stage) { return weight_of(work, work->least, stage); }

static double latency(const struct work *work, int32_t from, int32_t to) {
    if (from == to) return 0;
    return work->times->p2p_of_s ? work->times->p2p_of_s[from * work->schedule->devices + to] : work->times->p2p_s;
}

/* The units of a replica's streams. */
static double units_of(const struct work *work, int32_t replica) {
    const struct kerf_schedule *schedule = work->schedule;
    return (double)schedule->slices * (order_first(schedule, replica + 1) - order_first(schedule, replica));
}

/* ---- Streams and devices ---------------------------------------------------------------------------------- */

struct stream {
    double entry, trip, back;
};

/* What a device has of its streams. */
struct device {
    double entry, load, residence;
    double again;                        /* all R */
    double least_amount, most_amount;    /* of one unit: bytes, or 1 */
    double least_forward, least_freeing; /* the shortest F, and operation that frees */
    double units, amounts;               /* of all streams together */
    int32_t streams, only;               /* how many; the last of them */
    int32_t chunks, replica;             /* most of a replica; of the one at hand */
    int32_t of_replica;                  /* of each replica */
};

static void measure_replica(const struct work *work, int32_t replica, struct stream *streams) {
    const int32_t stages = work->schedule->stages, *at = work->schedule->device_of + replica * stages;
    streams[0] = (struct stream){.back = weight_of(work, work->first, 0)};
    for (int32_t k = 1; k < stages; k++) {
        const double down = latency(work, at[k - 1], at[k]), up = latency(work, at[k], at[k - 1]);
        streams[k].entry = streams[k - 1].entry + forward_of(work, work->first, k - 1) + down;
        streams[k].back = streams[k - 1].back + backward_of(work, work->first, k - 1) + up;
    }
    for (int32_t k = stages; k-- > 0;) {
        streams[k].trip = forward(work, k) + backward(work, k);
        if (k + 1 < stages)
            streams[k].trip += latency(work, at[k], at[k + 1]) + latency(work, at[k + 1], at[k]) + streams[k + 1].trip;
    }
}

static double amount_of(const struct work *work, int32_t stage) {
    const double kept = move_shares_kept(work->times, stage, work->recomputes, work->offloads);
    return kept * (work->times->cap_in_bytes ? work->times->activation_bytes[stage] : 1);
}

static void add_stream(const struct work *work, int32_t replica, int32_t stage, const struct stream *stream,
                       struct device *device) {
    const double amount = amount_of(work, stage), units = units_of(work, replica), w = weight(work, stage);
    const double f = forward(work, stage),
                 frees = work->times->free_at_input || !work->split ? backward(work, stage) : w;
    if (device->replica != replica) device->of_replica = 0;
    device->replica = replica;
    device->chunks = device->chunks > ++device->of_replica ? device->chunks : device->of_replica;
    if (units <= 0) return;
    device->least_amount = device->streams ? fmin(device->least_amount, amount) : amount;
    device->most_amount = fmax(device->most_amount, amount);
    device->least_forward = device->streams ? fmin(device->least_forward, f) : f;
    device->least_freeing = device->streams ? fmin(device->least_freeing, frees) : frees;
    device->units += units;
    device->amounts += units * amount;
    device->entry = device->streams ? fmin(device->entry, stream->entry) : stream->entry;
    device->load += units * (f + backward(work, stage) + w);
    device->residence += units * amount * (stream->trip + (work->times->free_at_input ? 0 : w));
    device->streams++;
    device->only = replica * work->schedule->stages + stage;
}

/* What a device may hold, in amounts of its units; whole units where all are alike. */
static double room_of(const struct work *work, const struct device *device, int32_t d, double most) {
    const struct kerf_schedule_times *times = work->times;
    double room = fmin(times->cap ? times->cap[d] : INFINITY, most) * work->schedule->slices * (1 + 1e-12);
    if (!times->cap_in_bytes) room *= device->chunks;
    if (device->least_amount > 0 && device->least_amount == device->most_amount && isfinite(room))
        room = device->least_amount * floor(room / device->least_amount);
    return fmax(room, device->most_amount); /* one unit at least, or there is no order at all */
}

/* Keeps the largest value and where it comes from. */
static void keep(double *value, struct lower_bound_reason *reason, double other, struct lower_bound_reason why) {
    if (!(other > *value)) return;
    *value = other;
    *reason = why;
}

static void keep_makespan(struct lower_bound *known, double makespan_s, struct lower_bound_reason why) {
    keep(&known->bound.makespan_s, &known->makespan, makespan_s, why);
}
static void keep_span(struct lower_bound *known, double span_s, struct lower_bound_reason why) {
    keep(&known->bound.span_s, &known->span, span_s, why);
}

/* ---- Ends ------------------------------------------------------------------------------------------------- */

/* What bounds the work that a device can run before a stream's first operations and behind its last ones. */
struct around {
    double forward_rate, input_rate, weight_rate; /* most F, I + W of the streams up to it, W of those from it on, per
                                                     amount of memory */
    double forward, input;                        /* sums of F, I + W of the streams up to it */
    double deep, deep_amount;                     /* all work of deeper streams; the least amount of one */
    double amount;                                /* sum of the streams up to it */
};

/* The streams of a device, one replica, are at stages on[0] < on[1] < ... */
static struct around look_around(const struct work *work, const int32_t *on, int32_t count, int32_t at) {
    struct around around = {.deep_amount = INFINITY};
    for (int32_t i = 0; i < count; i++) {
        const double f = forward(work, on[i]), b = backward(work, on[i]), w = weight(work, on[i]);
        const double amount = amount_of(work, on[i]);
        if (i <= at) {
            around.forward += f, around.input += b + w, around.amount += amount;
            around.forward_rate = fmax(around.forward_rate, f / amount);
        } else {
            around.deep += f + b + w;
            around.deep_amount = fmin(around.deep_amount, amount);
        }
        around.input_rate = fmax(around.input_rate, (b + w) / amount);
        around.weight_rate = fmax(around.weight_rate, (i < at ? b + w : w) / amount);
    }
    return around;
}

static double at_most(double room, double rate) { return rate > 0 ? room * rate : 0; }

/* Units of which the deeper streams' work is done while all are held by those up to one. */
static double deep_units(const struct around *around, double room, double units) {
    if (around->deep <= 0) return 0;
    const double places = (room - around->deep_amount) / around->amount * (1 + 1e-9);
    return places < 0 ? 0 : fmin(units, floor(places));
}

/* How long a device is idle before the first F or I (back 1) of its stream on[at]. */
static double head_of(const struct work *work, const struct stream *streams, const int32_t *on, int32_t count,
                      double room, double units, int32_t at, int back) {
    const struct around around = look_around(work, on, count, at);
    const struct stream *stream = &streams[on[at]];
    const double f = forward(work, on[at]);
    if (!back) {
        const double before = around.forward - f;
        return stream->entry - fmin(at_most(room, around.forward_rate), units * before);
    }
    return stream->entry + stream->trip - backward(work, on[at]) -
           fmin(at_most(room, around.forward_rate), units * around.forward) -
           deep_units(&around, room, units) * around.deep;
}

enum until { UNTIL_ALL, UNTIL_OWN, UNTIL_FIRST }; /* all ends, or the device's own work, or that of the first stage */

/* How long it is idle behind the last F or I (back 1). */
static double tail_of(const struct work *work, const struct stream *streams, const int32_t *on, int32_t count,
                      double room, double units, int32_t at, int back, enum until until) {
    const struct around around = look_around(work, on, count, at);
    const struct stream *stream = &streams[on[at]];
    const double own = stream->back - streams[on[0]].back + weight(work, on[0]);
    const double way = until == UNTIL_OWN ? own : until == UNTIL_FIRST ? stream->back : fmax(own, stream->back);
    double all = 0;
    if (work->times->free_at_input) return until == UNTIL_FIRST ? -INFINITY : 0; /* any number of W may be left */
    for (int32_t i = 0; i < count; i++)
        all += i < at || !back ? backward(work, on[i]) + weight(work, on[i]) : weight(work, on[i]);
    if (back) return way - fmin(at_most(room, around.weight_rate), units * all);
    return stream->trip - forward(work, on[at]) + way - fmin(at_most(room, around.input_rate), units * all) -
           deep_units(&around, room, units) * around.deep;
}

/* Whether the first F or I of one stream comes before the last of another in every order. */
static int is_before(const struct work *work, const int32_t *on, double room, double units, int32_t head, int head_back,
                     int32_t tail, int tail_back) {
    const double head_needs = units * amount_of(work, on[head]), tail_needs = units * amount_of(work, on[tail]);
    if (!head_back) return tail_back || head <= tail || tail_needs > room;
    if (tail_back) return head >= tail || head_needs > room;
    return head >= tail ? tail_needs > room : head_needs > room;
}

static void bound_ends(const struct work *work, const struct stream *streams, const struct device *device, int32_t d,
                       double room, struct lower_bound *known) {
    enum { CHUNKS_MAX = 8 }; /* more would take long, and say little */
    const double units = units_of(work, 0);
    int32_t on[CHUNKS_MAX], count = 0;
    if (work->fused || (work->whole && work->split) || work->schedule->replicas != 1 || work->uneven) return;
    if (device->streams > CHUNKS_MAX || !(device->least_amount > 0)) return;
    for (int32_t k = 0; k < work->schedule->stages; k++)
        if (work->schedule->device_of[k] == d) on[count++] = k;
    for (int32_t head = 0; head < 2 * count; head++) {
        const double idle = head_of(work, streams, on, count, room, units, head / 2, head % 2);
        struct lower_bound_reason why = {LOWER_BOUND_ENDS, d, on[head / 2], -1, head % 2, 0, 0};
        keep_makespan(known, device->load + idle, why);
        keep_span(known, device->load + idle - device->entry, why);
        for (int32_t tail = 0; tail < 2 * count; tail++) {
            if (!is_before(work, on, room, units, head / 2, head % 2, tail / 2, tail % 2)) continue;
            double behind[3];
            for (int until = UNTIL_ALL; until <= UNTIL_FIRST; until++)
                behind[until] = tail_of(work, streams, on, count, room, units, tail / 2, tail % 2, (enum until)until);
            why.tail = on[tail / 2], why.tail_back = tail % 2;
            keep_makespan(known, device->load + idle + behind[UNTIL_ALL], why);
            keep_span(known, device->load + idle - device->entry + behind[UNTIL_OWN], why);
            keep_span(known, device->load + idle + behind[UNTIL_FIRST], why);
        }
    }
}

/* By how much the filling and emptying of alike places lengthens the residence. */
static double ramps_of(const struct work *work, const struct device *device, double room) {
    if ((work->whole && work->split) || work->uneven) return 0;
    if (device->least_amount < device->most_amount || !(device->least_amount > 0)) return 0;
    const double places = fmin(device->units, floor(room / device->least_amount * (1 + 1e-9)));
    return places > 1 ? (places - 1) / 2 * (device->least_forward + device->least_freeing) : 0;
}

/* Of a device with one stream: the last units wait for places, one stay after the other. */
static void bound_rounds(const struct work *work, const struct stream *stream, const struct device *device, int32_t d,
                         double room, struct lower_bound *known) {
    const int32_t stage = device->only % work->schedule->stages;
    const double f = forward(work, stage), b = backward(work, stage), w = weight(work, stage);
    const double freeing = work->times->free_at_input ? b : b + w, stay = stream->trip + freeing - b;
    if (work->uneven || work->schedule->slices > 1 || (work->whole && work->split)) return;
    if (!(device->most_amount > 0) || !(room < device->amounts)) return;
    const int64_t units = (int64_t)device->units, n = (int64_t)floor(room / device->most_amount * (1 + 1e-9));
    if (n < 1 || n >= units) return;
    const int64_t tried[] = {1, (units - 1 - n) / n, (units - 1) / n}; /* it is linear in q up to the second */
    for (int k = 0; k < 3; k++) {
        const int64_t q = tried[k], j = units - 1 - q * n;
        if (q < 1 || j < 0) continue;
        double begin = (double)j * f;
        if (j >= n) begin += fmax(0, stream->trip - b - (double)n * f) + (double)(j - n + 1) * freeing;
        const double all = begin + (double)q * stay + stream->trip;
        const struct lower_bound_reason why = {LOWER_BOUND_ROUNDS, d, -1, -1, 0, 0, (int32_t)q};
        keep_makespan(known, device->entry + all + stream->back, why);
        keep_span(known, all + w, why);
    }
}

static void bound_device(const struct work *work, const struct stream *streams, const struct device *device, int32_t d,
                         double most, struct lower_bound *known) {
    const struct lower_bound_reason load = {LOWER_BOUND_ENDS, d, -1, -1, 0, 0, 0};
    struct lower_bound_reason why = {LOWER_BOUND_RESIDENCE, d, -1, -1, 0, 0, 0};
    if (device->streams == 0) return;
    const double room = room_of(work, device, d, most);
    assert(device->load >= 0 && device->entry >= 0 && room >= 0);
    keep_span(known, device->load + device->again, load);
    keep_makespan(known, device->entry + device->load + device->again, load);
    if (!work->fused && room > 0) {
        const double held = device->residence / fmin(room, device->amounts) + ramps_of(work, device, room);
        keep_span(known, held, why);
        keep_makespan(known, device->entry + held, why);
    }
    if (!work->fused && device->streams == 1) {
        const int32_t stage = device->only % work->schedule->stages;
        const struct stream *stream = &streams[device->only];
        const double f = forward(work, stage), b = backward(work, stage);
        const double units = units_of(work, device->only / work->schedule->stages);
        const double places = device->most_amount > 0 ? floor(room / device->most_amount * (1 + 1e-9)) : INFINITY;
        const double within = device->load + stream->trip - fmin(places, units) * f - b;
        why.kind = LOWER_BOUND_WAY_BACK;
        const double all = units * (forward_of(work, NULL, stage) + backward_of(work, NULL, stage));
        keep_makespan(known, device->entry + all + stream->back, why);
        if (work->schedule->replicas == 1) keep_span(known, device->entry + all + stream->back, why);
        why = (struct lower_bound_reason){LOWER_BOUND_ENDS, d, stage, -1, 1, 0, 0};
        const int ends = !work->uneven && work->schedule->replicas == 1; /* nothing checks ends of two replicas */
        if (ends) keep_span(known, within, why);
        if (ends) keep_makespan(known, device->entry + within, why);
        bound_rounds(work, stream, device, d, room, known);
    }
    bound_ends(work, streams, device, d, room, known);
}

/* load_s: [devices], NULL: of the operations that all units have; again_s: [devices] of R, NULL: none. */
static int32_t bounds_of(const struct work *work, double most, const double *load_s, const double *again_s,
                         struct lower_bound *ret_known) {
    const struct kerf_schedule *schedule = work->schedule;
    const int32_t stages = schedule->stages, replicas = schedule->replicas;
    struct arena arena = {NULL};
    struct stream *streams = arena_alloc(&arena, (size_t)(stages * replicas), sizeof *streams);
    struct device *devices = arena_alloc(&arena, (size_t)schedule->devices, sizeof *devices);
    struct lower_bound known = {.bound = {0, 0, 0}};
    assert(replicas >= 1);
    if (streams == NULL || devices == NULL) {
        arena_free(&arena);
        return KERF_ENOMEM;
    }
    for (int32_t r = 0; r < replicas; r++) {
        measure_replica(work, r, streams + r * stages);
        for (int32_t k = 0; k < stages; k++) {
            const struct stream *stream = &streams[r * stages + k];
            const struct lower_bound_reason chain = {LOWER_BOUND_CHAIN, r * stages + k, -1, -1, 0, 0, 0};
            add_stream(work, r, k, stream, &devices[schedule->device_of[r * stages + k]]);
            if (work->fused || units_of(work, r) <= 0) continue;
            keep_span(&known, stream->trip + weight(work, k), chain);
            keep_makespan(&known, stream->entry + stream->trip + stream->back, chain);
        }
    }
    for (int32_t d = 0; d < schedule->devices; d++) {
        if (load_s) devices[d].load = load_s[d];
        if (again_s) devices[d].again = again_s[d];
        bound_device(work, streams, &devices[d], d, most, &known);
    }
    arena_free(&arena);
    *ret_known = known;
    return KERF_OK;
}

int32_t lower_bound_of_split(const struct kerf_schedule *frame, const struct kerf_schedule_times *times, double most,
                             struct lower_bound *ret_bound) {
    const struct work work = {.schedule = frame, .times = times, .split = 1};
    return bounds_of(&work, most, NULL, NULL, ret_bound);
}

/* ---- Of simulated schedules ------------------------------------------------------------------------------- */

/* The most that a device of the timeline holds, in the unit of the caps. */
static double fullest(const struct kerf_schedule_run *run) {
    const double *peaks = run->times->cap_in_bytes ? run->timeline->peak_bytes : run->timeline->peak_activations;
    double most = 0;
    for (int32_t d = 0; d < run->schedule->devices; d++) most = fmax(most, peaks[d]);
    return most;
}

int lower_bound_is_of_any_memory(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times) {
    return times->cap == NULL && strcmp(schedule->name, "best") == 0;
}

/* What the orders that bound a run may hold beside its caps. */
static double most_of(const struct kerf_schedule_run *run) {
    const int is_free = run->times->cap || lower_bound_is_of_any_memory(run->schedule, run->times);
    return is_free ? INFINITY : fullest(run);
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
    struct lower_bound known = {.bound = {0, 0, 0}};
    struct arena arena = {NULL};
    double *load_s = arena_alloc(&arena, (size_t)run->schedule->devices, sizeof *load_s);
    double *again_s = arena_alloc(&arena, (size_t)run->schedule->devices, sizeof *again_s);
    for (int32_t i = 0; load_s && again_s && i < run->schedule->devices; i++)
        for (int32_t k = 0; k < run->schedule->num_ops[i]; k++) {
            const int16_t kind = run->schedule->ops[i][k].kind;
            const double took = run->timeline->end_s[i][k] - run->timeline->start_s[i][k];
            if (kind <= KERF_OP_FB) load_s[i] += took;
            if (kind == KERF_OP_R) again_s[i] += took;
        }
    if (load_s && again_s) bounds_of(work, most_of(run), load_s, again_s, &known);
    arena_free(&arena);
    return known.bound;
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
    int whole, proved, moves;
};

static int same_problem(const struct kerf_schedule_run *a, const struct member *x, const struct kerf_schedule_run *b,
                        const struct member *y) {
    const struct kerf_schedule *s = a->schedule, *t = b->schedule;
    if (!x->same || !y->same || x->whole != y->whole || x->times != y->times) return 0;
    if (x->moves || y->moves) return 0; /* which of them have R may differ */
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
        struct work work = look(schedule, runs[i].times);
        look_at_slices(&work, runs[i].timeline->slices);
        members[i] = (struct member){
            .own = own_bound(&runs[i], &work),
            .times = kerf_schedule_times_fingerprint(runs[i].times, schedule->devices, schedule->stages),
            .most = most_of(&runs[i]),
            .same = !work.fused && work.whole != work.split && !work.uneven,
            .whole = work.whole,
            .moves = schedule->moves,
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
