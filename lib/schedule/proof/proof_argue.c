/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds by argument, calculated from the problem alone; docs/schedule-proofs.md gives the reasons. Each is of one
 * device or stream that the certificate names, so that little is to be done and little can go wrong.
 */
#include <math.h>
#include "schedule/proof/proof.h"

double proof_entry(const struct proof *proof, int32_t stream) {
    double entry = 0;
    for (int32_t s = stream; proof_stage(proof, s) > 0; s--)
        entry += proof->time[0][proof_stage(proof, s - 1)] +
                 proof_latency(proof, proof->device_of[s - 1], proof->device_of[s]);
    return entry;
}

/* From the start of a stream's F to the end of its I. */
static double trip(const struct proof *proof, int32_t stream) {
    const int32_t stage = proof_stage(proof, stream);
    double sum = 0;
    for (int32_t k = stage; k < proof->stages; k++) {
        const int32_t here = proof->device_of[stream - stage + k];
        sum += proof->time[0][k] + proof->time[1][k];
        if (k + 1 == proof->stages) break;
        const int32_t next = proof->device_of[stream - stage + k + 1];
        sum += proof_latency(proof, here, next) + proof_latency(proof, next, here);
    }
    return sum;
}

/* From the end of a stream's I to the end of the I of an earlier stage of its replica. */
static double climb(const struct proof *proof, int32_t stream, int32_t stage) {
    double sum = 0;
    for (int32_t s = stream; proof_stage(proof, s) > stage; s--)
        sum += proof_latency(proof, proof->device_of[s], proof->device_of[s - 1]) +
               proof->time[1][proof_stage(proof, s - 1)];
    return sum;
}

/* A device's streams, and what it may hold. */
struct place {
    int32_t *on, count; /* streams, shallow ones first */
    double room, units; /* in amounts; of all streams */
    double load, amounts, least, most;
};

static struct place place_of(const struct proof *proof, struct arena *arena, int32_t device) {
    struct place place = {.room = proof->cap[device], .least = INFINITY};
    place.on = arena_alloc(arena, (size_t)proof->streams, sizeof *place.on);
    for (int32_t s = 0; place.on && s < proof->streams; s++) {
        const int32_t k = proof_stage(proof, s);
        if (proof->device_of[s] != device || proof->units[s] == 0) continue;
        place.on[place.count++] = s;
        place.units += proof->units[s];
        place.amounts += proof->units[s] * proof->amount[k];
        place.load += proof->units[s] * (proof->time[0][k] + proof->time[1][k] + proof->time[2][k]);
        place.least = fmin(place.least, proof->amount[k]);
        place.most = fmax(place.most, proof->amount[k]);
    }
    if (place.count > 0 && place.least == place.most && place.least > 0)
        place.room = place.least * floor(place.room / place.least * (1 + 1e-9));
    place.room = fmax(place.room, place.most);
    return place;
}

/* Little's law, and what filling and emptying of alike places adds. */
static double residence(const struct proof *proof, const struct place *place) {
    double sum = 0, first = INFINITY, last = INFINITY;
    for (int32_t i = 0; i < place->count; i++) {
        const int32_t s = place->on[i], k = proof_stage(proof, s);
        const double w = proof->frees == 2 ? proof->time[2][k] : 0;
        sum += proof->units[s] * proof->amount[k] * (trip(proof, s) + w);
        first = fmin(first, proof->time[0][k]);
        last = fmin(last, proof->time[proof->frees][k]);
    }
    const double room = fmin(place->room, place->amounts);
    if (!(room > 0)) return 0;
    double bound = sum / room;
    if (place->least == place->most && isfinite(room)) {
        const double places = floor(room / place->least * (1 + 1e-9));
        if (places > 1) bound += (places - 1) / 2 * (first + last);
    }
    return bound;
}

/* Units whose deeper work on the device can be done while those up to on[at] hold them all. */
static double deep_work(const struct proof *proof, const struct place *place, int32_t at) {
    double held = 0, deep = 0, least = INFINITY;
    for (int32_t i = 0; i < place->count; i++) {
        const int32_t k = proof_stage(proof, place->on[i]);
        if (i <= at) {
            held += proof->amount[k];
        } else {
            deep += proof->time[0][k] + proof->time[1][k] + proof->time[2][k];
            least = fmin(least, proof->amount[k]);
        }
    }
    if (deep <= 0) return 0;
    const double fit = floor((place->room - least) / held * (1 + 1e-9));
    return fit < 0 ? 0 : deep * fmin(fit, proof->units[place->on[at]]);
}

/* What the memory or the number of units allows of work with so much of an amount, or so much of a unit. */
static double allowed(double room, double rate, double all) { return rate > 0 ? fmin(room * rate, all) : 0; }

static double head(const struct proof *proof, const struct place *place, int32_t at, int32_t kind) {
    const int32_t s = place->on[at], k = proof_stage(proof, s);
    double rate = 0, all = 0;
    for (int32_t i = 0; i < at + kind; i++) { /* before F of on[at] only those of shallower streams can run */
        const int32_t other = proof_stage(proof, place->on[i]);
        rate = fmax(rate, proof->time[0][other] / proof->amount[other]);
        all += proof->units[place->on[i]] * proof->time[0][other];
    }
    const double before = allowed(place->room, rate, all);
    if (kind == 0) return proof_entry(proof, s) - before;
    return proof_entry(proof, s) + trip(proof, s) - proof->time[1][k] - before - deep_work(proof, place, at);
}

/* Behind it until all ends, of the span until the device's own end or, back 1, that of stage 0. */
static double tail(const struct proof *proof, const struct place *place, int32_t at, int32_t kind, int back) {
    const int32_t s = place->on[at], first = proof_stage(proof, place->on[0]);
    double rate = 0, all = 0;
    if (proof->frees == 1) return back ? -INFINITY : 0; /* any number of W may be left */
    for (int32_t i = 0; i < place->count; i++) {
        const int32_t other = proof_stage(proof, place->on[i]);
        const double input = kind == 0 || i < at ? proof->time[1][other] : 0;
        rate = fmax(rate, (input + proof->time[2][other]) / proof->amount[other]);
        all += proof->units[place->on[i]] * (input + proof->time[2][other]);
    }
    const double to_own = climb(proof, s, first) + proof->time[2][first];
    const double to_first = climb(proof, s, 0) + proof->time[2][0];
    double way = !proof->span ? fmax(to_own, to_first) : back ? to_first : to_own;
    way -= allowed(place->room, rate, all);
    if (kind == 1) return way;
    return way + trip(proof, s) - proof->time[0][proof_stage(proof, s)] - deep_work(proof, place, at);
}

/* Whether the head's operation comes before the tail's in every order. */
static int in_turn(const struct proof *proof, const struct place *place, int32_t head_at, int32_t tail_at) {
    const double room = place->room * (1 + 1e-9);
    const int32_t h = place->on[head_at], t = place->on[tail_at];
    const int head_waits = proof->units[h] * proof->amount[proof_stage(proof, h)] > room;
    const int tail_waits = proof->units[t] * proof->amount[proof_stage(proof, t)] > room;
    if (proof->head_kind == 0) return proof->tail_kind == 1 || head_at <= tail_at || tail_waits;
    if (proof->tail_kind == 1) return head_at >= tail_at || head_waits;
    return head_at >= tail_at ? tail_waits : head_waits;
}

static double ends(const struct proof *proof, const struct place *place) {
    int32_t head_at = -1, tail_at = -1;
    const double entry = proof_entry(proof, place->on[0]);
    if (proof->replicas != 1) return 0;
    for (int32_t i = 0; i < place->count; i++) {
        if (place->on[i] == proof->head) head_at = i;
        if (place->on[i] == proof->tail) tail_at = i;
    }
    if ((proof->head >= 0) != (head_at >= 0) || (proof->tail >= 0) != (tail_at >= 0)) return 0;
    if ((head_at >= 0 || tail_at >= 0) && !(place->least > 0)) return 0;
    if (head_at >= 0 && tail_at >= 0 && !in_turn(proof, place, head_at, tail_at)) return 0;
    const double before = head_at >= 0 ? head(proof, place, head_at, proof->head_kind) : entry;
    const double behind = tail_at >= 0 ? tail(proof, place, tail_at, proof->tail_kind, 0) : 0;
    if (!proof->span) return before + place->load + behind;
    const double own = before - entry + place->load + behind;
    if (tail_at < 0) return own;
    return fmax(own, before + place->load + tail(proof, place, tail_at, proof->tail_kind, 1));
}

/* One stay after the other, each for a place that the one before leaves. */
static double rounds(const struct proof *proof, const struct place *place) {
    const int32_t s = place->on[0], k = proof_stage(proof, s);
    const double f = proof->time[0][k], b = proof->time[1][k], w = proof->time[2][k], through = trip(proof, s);
    const double freed = proof->frees == 2 ? w : 0;
    if (place->count != 1 || !(proof->amount[k] > 0) || !(place->room < place->amounts)) return 0;
    const double places = floor(place->room / proof->amount[k] * (1 + 1e-9));
    const double first = proof->units[s] - 1 - proof->rounds * places; /* the unit whose stay is the first */
    if (places < 1 || first < 0) return 0;
    double begin = first * f;
    if (first >= places) begin += fmax(0, through - b - places * f) + (first - places + 1) * (b + freed);
    const double all = begin + proof->rounds * (through + freed) + through;
    if (proof->span) return all + w;
    return proof_entry(proof, s) + all + climb(proof, s, 0) + proof->time[2][0];
}

double proof_argue(const struct proof *proof, struct arena *arena) {
    if (proof->argument == PROOF_CHAIN) {
        const int32_t s = proof->at, k = proof_stage(proof, s);
        if (proof->units[s] == 0) return 0;
        if (proof->span) return trip(proof, s) + proof->time[2][k];
        return proof_entry(proof, s) + trip(proof, s) + climb(proof, s, 0) + proof->time[2][0];
    }
    const struct place place = place_of(proof, arena, proof->at);
    double entry = INFINITY;
    if (place.count == 0) return 0;
    for (int32_t i = 0; i < place.count; i++) entry = fmin(entry, proof_entry(proof, place.on[i]));
    switch (proof->argument) {
    case PROOF_RESIDENCE: return residence(proof, &place) + (proof->span ? 0 : entry);
    case PROOF_ENDS:
        if (proof->replicas == 2 && proof->head < 0 && proof->tail < 0) return place.load + (proof->span ? 0 : entry);
        return ends(proof, &place);
    case PROOF_ROUNDS: return rounds(proof, &place);
    case PROOF_WAY_BACK: {
        const int32_t s = place.on[0], k = proof_stage(proof, s);
        if (place.count != 1 || (proof->span && proof->replicas != 1)) return 0;
        return entry + proof->units[s] * (proof->time[0][k] + proof->time[1][k]) + climb(proof, s, 0) +
               proof->time[2][0];
    }
    case PROOF_CHAIN:
    case PROOF_REFUTATION: break;
    }
    return 0;
}
