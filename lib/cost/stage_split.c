/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/stage_split.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "cost/split_contiguous.h"
#include "cost/split_equal.h"
#include "cost/split_search.h"
#include "cost/split_value.h"

enum { OTHERS_MAX = 7 /* layers that are not of the longest run, each way of which is tried */ };

static int32_t layers_of(const struct stage_split_question *question) {
    int32_t layers = 0;
    for (int32_t r = 0; r < question->num_runs; r++) layers += question->runs[r].count;
    return layers;
}

static int32_t kind_at(const struct stage_split_question *question, int32_t layer) {
    int32_t run = 0;
    while (layer >= question->runs[run].count) layer -= question->runs[run++].count;
    return question->runs[run].kind;
}

/* Whether all layers cost the same. */
static int are_equal(const struct stage_split_question *question, int with_bytes) {
    const int32_t first = question->runs[0].kind;
    for (int32_t r = 1; r < question->num_runs; r++) {
        int32_t kind = question->runs[r].kind;
        if (question->layer_s[kind] != question->layer_s[first]) return 0;
        if (with_bytes && (question->layer_bytes[kind] != question->layer_bytes[first] ||
                           question->activation_bytes[kind] != question->activation_bytes[first]))
            return 0;
    }
    return 1;
}

/* ---- Equal layers ----------------------------------------------------------------------------------------------- */

/* All stages open, nothing held; bytes where there are any. */
static int begin_equal(const struct stage_split_question *question, int with_bytes, struct arena *arena,
                       struct equal_split *split) {
    const int32_t kind = question->runs[0].kind;
    if (!equal_split_begin(split, question->num_stages, question->num_devices, arena)) return 0;
    split->layer_s = question->layer_s[kind];
    split->num_layers = layers_of(question);
    split->is_even = question->is_even;
    for (int32_t d = 0; d < question->num_devices; d++) {
        split->devices[d].fixed_s = 0;
        split->devices[d].fixed_bytes = with_bytes ? question->device_bytes[d] : 0;
    }
    for (int32_t k = 0; k < question->num_stages; k++) {
        split->stages[k] = (struct equal_stage){.device = question->device_of[k], .least = 1, .is_open = 1};
        if (with_bytes) split->stages[k].layer_bytes = split_layer_bytes(question, k, kind);
        split->devices[question->device_of[k]].fixed_s += split_fixed_s(question, k);
    }
    return 1;
}

static int find_equal(const struct stage_split_question *question, struct arena *arena, int32_t *ret_layers) {
    struct equal_split split;
    if (!begin_equal(question, 1, arena, &split)) return 0;
    equal_split_least_s(&split);
    int found = equal_split_find(&split);
    assert(found);
    (void)found;
    for (int32_t k = 0; k < question->num_stages; k++) ret_layers[k] = split.stages[k].layers;
    return 1;
}

/* The mean of all layers for each of them: where to start from. */
static int find_mean(const struct stage_split_question *question, struct arena *arena, int32_t *ret_layers) {
    struct stage_split_question mean = *question;
    const struct kerf_layer_run all = {layers_of(question), 0};
    mean.runs = &all, mean.num_runs = 1;
    mean.layer_s[0] = mean.layer_bytes[0] = mean.activation_bytes[0] = 0;
    for (int32_t r = 0; r < question->num_runs; r++) {
        double share = (double)question->runs[r].count / all.count;
        mean.layer_s[0] += share * question->layer_s[question->runs[r].kind];
        mean.layer_bytes[0] += share * question->layer_bytes[question->runs[r].kind];
        mean.activation_bytes[0] += share * question->activation_bytes[question->runs[r].kind];
    }
    return find_equal(&mean, arena, ret_layers);
}

/* ---- A long run between a few other layers ------------------------------------------------------------------------ */

/* How the other layers lie: cuts has a bit for each pair of neighbours, 1: the second begins a new stage. */
struct others {
    int32_t before, after; /* layers in front of the longest run, and behind it */
    uint32_t cuts_before, cuts_after;
    int32_t kind; /* of the longest run */
};

static struct others others_of(const struct stage_split_question *question, int32_t layers) {
    struct others others = {0, 0, 0, 0, 0};
    int32_t longest = 0, start = 0;
    for (int32_t r = 0; r < question->num_runs; r++) {
        int32_t count = question->runs[r].count;
        if (count > longest) {
            longest = count;
            others.before = start, others.after = layers - start - count, others.kind = question->runs[r].kind;
        }
        start += count;
    }
    return others;
}

static void hold(const struct stage_split_question *question, struct equal_split *split, int32_t stage, int32_t kind) {
    struct equal_device *device = &split->devices[question->device_of[stage]];
    split->stages[stage].held++;
    split->stages[stage].least = 0;
    device->fixed_s += question->layer_s[kind];
    device->fixed_bytes += split_layer_bytes(question, stage, kind);
}

/* Lays the others as their cuts say; 0 where there are not enough stages. */
static int lay_others(const struct stage_split_question *question, const struct others *others, int32_t layers,
                      struct equal_split *split) {
    int32_t first = __builtin_popcount(others->cuts_before), last = __builtin_popcount(others->cuts_after);
    int32_t end =
        question->num_stages - 1; /* first: the last stage with one from before; end - last: the first of after */
    if (others->before && others->after && first > end - last) return 0;
    if (first > end || last > end) return 0;
    for (int32_t i = 0, stage = 0; i < others->before; i++) {
        hold(question, split, stage, kind_at(question, i));
        stage += others->cuts_before >> i & 1;
    }
    for (int32_t i = 0, stage = end; i < others->after; i++) {
        hold(question, split, stage, kind_at(question, layers - 1 - i));
        stage -= others->cuts_after >> i & 1;
    }
    for (int32_t k = 0; others->before && k < first; k++) split->stages[k].is_open = 0;
    for (int32_t k = 0; others->after && k < last; k++) split->stages[end - k].is_open = 0;
    return 1;
}

/* Tries every way to lay the others. */
static int find_among_others(const struct stage_split_question *question, struct others others, struct arena *arena,
                             int32_t *ret_layers) {
    const int32_t layers = layers_of(question), stages = question->num_stages;
    const size_t devices = (size_t)question->num_devices;
    struct equal_split begun, split;
    struct split_value best = {INFINITY, INFINITY, INT32_MAX};
    if (!begin_equal(question, 1, arena, &begun) || !equal_split_begin(&split, stages, question->num_devices, arena))
        return 0;
    begun.layer_s = question->layer_s[others.kind];
    begun.num_layers = layers - others.before - others.after;
    for (int32_t k = 0; k < stages; k++) begun.stages[k].layer_bytes = split_layer_bytes(question, k, others.kind);
    struct split_device *room = arena_take(arena, devices, sizeof *room);
    int32_t *tried = arena_take(arena, (size_t)stages, sizeof *tried);
    if (room == NULL || tried == NULL) return 0;
    const uint32_t ways_before = others.before ? 1u << (others.before - 1) : 1;
    const uint32_t ways_after = others.after ? 1u << (others.after - 1) : 1;
    for (others.cuts_before = 0; others.cuts_before < ways_before; others.cuts_before++)
        for (others.cuts_after = 0; others.cuts_after < ways_after; others.cuts_after++) {
            split.layer_s = begun.layer_s, split.num_layers = begun.num_layers, split.is_even = begun.is_even;
            memcpy(split.stages, begun.stages, (size_t)stages * sizeof *split.stages);
            memcpy(split.devices, begun.devices, devices * sizeof *split.devices);
            if (!lay_others(question, &others, layers, &split)) continue;
            if (equal_split_least_s(&split) > best.s * (1 + SPLIT_TOLERANCE) || !equal_split_find(&split)) continue;
            for (int32_t k = 0; k < stages; k++) tried[k] = split.stages[k].held + split.stages[k].layers;
            struct split_value value = split_value_of(question, room, tried);
            int order = isfinite(best.s) ? split_value_compare(&value, &best) : -1;
            if (order == 0) order = split_order(tried, ret_layers, stages);
            if (order >= 0) continue;
            best = value;
            memcpy(ret_layers, tried, (size_t)stages * sizeof *tried);
        }
    assert(isfinite(best.s));
    return 1;
}

/* ---- The doors -------------------------------------------------------------------------------------------------- */

static double mean_s(const struct stage_split_question *question) {
    double sum = question->first_s + question->last_s + question->stage_s * question->num_stages;
    for (int32_t r = 0; r < question->num_runs; r++)
        sum += question->runs[r].count * question->layer_s[question->runs[r].kind];
    return sum / question->num_devices;
}

/* The kind whose layers take longest, all together. */
static int32_t longest_kind(const struct stage_split_question *question, int32_t *ret_layers) {
    int32_t layers[KERF_KINDS_MAX] = {0}, longest = question->runs[0].kind;
    for (int32_t r = 0; r < question->num_runs; r++) layers[question->runs[r].kind] += question->runs[r].count;
    for (int32_t kind = 0; kind < KERF_KINDS_MAX; kind++)
        if (layers[kind] * question->layer_s[kind] > layers[longest] * question->layer_s[longest]) longest = kind;
    *ret_layers = layers[longest];
    return longest;
}

double stage_split_least_s(const struct stage_split_question *question, struct arena *arena) {
    double least_s = mean_s(question), layer_s = INFINITY;
    struct equal_split split;
    int good = begin_equal(question, 0, arena, &split);
    if (good && are_equal(question, 0)) {
        least_s = equal_split_least_s(&split);
    } else { /* the first and the last stage have a layer; and those of one kind alone need room */
        for (int32_t r = 0; r < question->num_runs; r++)
            if (question->layer_s[question->runs[r].kind] < layer_s)
                layer_s = question->layer_s[question->runs[r].kind];
        double first_s = split_fixed_s(question, 0) + layer_s;
        double last_s = split_fixed_s(question, question->num_stages - 1) + layer_s;
        if (first_s > least_s) least_s = first_s;
        if (last_s > least_s) least_s = last_s;
        if (good) {
            split.layer_s = question->layer_s[longest_kind(question, &split.num_layers)];
            double alone_s = equal_split_bound_s(&split);
            if (alone_s > least_s) least_s = alone_s;
        }
    }
    return least_s * (1 - SPLIT_TOLERANCE); /* sums in another order may be less */
}

int stage_split_find(const struct stage_split_question *question, struct arena *arena, int32_t *ret_layers,
                     struct stage_split *ret_split) {
    const int32_t layers = layers_of(question);
    struct others others;
    int32_t is_exact = 1, good;
    assert(layers >= question->num_stages && question->num_stages >= question->num_devices);
    if (are_equal(question, 1)) {
        good = find_equal(question, arena, ret_layers);
    } else if (question->num_stages == question->num_devices) {
        good = split_contiguous(question, arena, ret_layers, &is_exact);
    } else if (others = others_of(question, layers), others.before + others.after <= OTHERS_MAX) {
        good = find_among_others(question, others, arena, ret_layers);
    } else {
        good = find_mean(question, arena, ret_layers) &&
               split_search(question, stage_split_least_s(question, arena), arena, ret_layers, &is_exact);
    }
    struct split_device *room = arena_take(arena, (size_t)question->num_devices, sizeof *room);
    if (!good || room == NULL) return 0;
    struct split_value value = split_value_of(question, room, ret_layers);
    *ret_split = (struct stage_split){value.s, value.bytes, is_exact};
    return 1;
}
