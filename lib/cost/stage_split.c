/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/stage_split.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "cost/split_contiguous.h"
#include "cost/split_equal.h"
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

/* ---- A long run between a few other layers ----------------------------------------------------------------------- */

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

/* ---- Where no formula helps -------------------------------------------------------------------------------------- */

/*
 * From the best split of as many mean layers, and from one by times, a local search moves single layers between
 * neighbouring stages; then, where there are few splits, all are gone through in lexicographic order. A branch ends where
 * a device takes longer than the best split, where devices that are done leave more time unused than the best split has,
 * and, once the best time is proved, where evenness or memory are worse.
 */
enum {
    FEW_LAYERS = 16,  /* of so many all splits are gone through, however long that takes */
    STEPS_MAX = 1024, /* else stages that are filled on the way */
    ROUNDS_MAX = 64
};

struct search {
    const struct stage_split_question *question;
    int8_t *kinds;                /* [num_layers] */
    struct split_device *devices; /* [num_devices] of the branch */
    struct split_device *scratch; /* [num_devices] */
    int32_t *stages_left;         /* [num_devices] that are not filled yet */
    int32_t *layers, *best;       /* [num_stages] */
    struct split_value value;     /* of best */
    int32_t num_layers, steps, steps_max, is_proved;
    int32_t *ends;                    /* [num_stages] */
    double least_s, all_s, slowest_s; /* all_s: of all devices together */
};

/* Whether one layer more or less on a stage of the device leaves it as even as it must be. */
static int stays_even(const struct search *search, const int32_t *layers, int32_t stage, int32_t step) {
    const struct stage_split_question *q = search->question;
    int32_t now = layers[stage] + step;
    if (now < 1) return 0;
    for (int32_t k = 0; q->is_even && k < q->num_stages; k++)
        if (k != stage && q->device_of[k] == q->device_of[stage] && (layers[k] > now + 1 || layers[k] < now - 1))
            return 0;
    return 1;
}

/* Moves a layer's worth of work from stage k to a stage beyond its neighbours, each stage between passing one on, where
 * that makes the slowest device faster and none as slow. ends: [num_stages] layers up to the end of each. */
static int shift(struct search *search, int32_t *layers, int32_t *ends, int32_t k, int32_t step) {
    const struct stage_split_question *q = search->question;
    const double limit_s = search->slowest_s * (1 - SPLIT_TOLERANCE);
    if (!stays_even(search, layers, k, -1)) return 0;
    for (int32_t j = k + step, moved = 1; moved < q->num_devices && j >= 0 && j < q->num_stages; j += step, moved++) {
        /* the layer that crosses into stage j comes from the stage before it on the way */
        int32_t edge = step > 0 ? ends[j - 1] - 1 : ends[j];
        int32_t leaving = step > 0 ? ends[j] - 1 : (j > 0 ? ends[j - 1] : 0);
        double in_s = q->layer_s[search->kinds[edge]], out_s = q->layer_s[search->kinds[leaving]];
        double here_s = search->devices[q->device_of[j]].s;
        if (moved == 1 && search->devices[q->device_of[k]].s - in_s > limit_s) return 0;
        if (q->device_of[j] == q->device_of[k]) return 0;
        if (here_s + in_s <= limit_s && stays_even(search, layers, j, 1)) {
            layers[k]--, layers[j]++;
            for (int32_t i = step > 0 ? k : j; i < (step > 0 ? j : k); i++) ends[i] -= step;
            return 1;
        }
        if (here_s + in_s - out_s > limit_s) return 0;
    }
    return 0;
}

static void improve(struct search *search, int32_t *layers) {
    const struct stage_split_question *q = search->question;
    for (int round = 0, is_better = 1; is_better && round < ROUNDS_MAX; round++) {
        search->slowest_s = split_value_of(q, search->devices, layers).s;
        if (search->slowest_s <= search->least_s * (1 + SPLIT_TOLERANCE)) return;
        int32_t end = 0;
        for (int32_t k = 0; k < q->num_stages; k++) search->ends[k] = end += layers[k];
        is_better = 0;
        for (int32_t k = 0; k < q->num_stages && !is_better; k++)
            if (search->devices[q->device_of[k]].s >= search->slowest_s * (1 - SPLIT_TOLERANCE))
                is_better = shift(search, layers, search->ends, k, 1) || shift(search, layers, search->ends, k, -1);
    }
}

/* Stages of equal times, as near as whole layers allow: what a device's time leaves beside its fixed one, in equal parts. */
static void cut_by_time(struct search *search, int32_t *layers) {
    const struct stage_split_question *q = search->question;
    double wanted_s = 0, cut_s = 0; /* up to the end of stage k, and of the layers so far */
    int32_t at = 0;
    split_devices_begin(q, search->devices);
    memset(search->stages_left, 0, (size_t)q->num_devices * sizeof *search->stages_left);
    for (int32_t k = 0; k < q->num_stages; k++) search->stages_left[q->device_of[k]]++;
    for (int32_t k = 0; k < q->num_stages; k++) {
        int32_t d = q->device_of[k], from = at, most = search->num_layers - (q->num_stages - 1 - k);
        double free_s = search->least_s - search->devices[d].s;
        if (free_s > 0) wanted_s += free_s / search->stages_left[d];
        while (at < most) {
            double layer_s = q->layer_s[search->kinds[at]];
            if (at > from && k < q->num_stages - 1 && cut_s + layer_s / 2 > wanted_s) break;
            cut_s += layer_s;
            at++;
        }
        layers[k] = at - from;
    }
}

/* ---- All splits ------------------------------------------------------------------------------------------------- */

static void compare_with_best(struct search *search) {
    const struct stage_split_question *q = search->question;
    struct split_value value = split_value_of(q, search->scratch, search->layers);
    int order = split_value_compare(&value, &search->value);
    if (order == 0) order = split_order(search->layers, search->best, q->num_stages);
    if (order >= 0) return;
    search->value = value;
    memcpy(search->best, search->layers, (size_t)q->num_stages * sizeof *search->best);
    search->is_proved = value.s <= search->least_s * (1 + SPLIT_TOLERANCE);
}

/* Whether a device that looks so can be part of a better split, or of one as good. */
static int may_be_better(const struct search *search, const struct split_device *device) {
    if (search->question->is_even && device->high - device->low > 1) return 0;
    if (device->s > search->value.s * (1 + SPLIT_TOLERANCE)) return 0;
    return !search->is_proved || device->bytes <= search->value.bytes * (1 + SPLIT_TOLERANCE);
}

/* Whether the devices whose stages are all filled leave more time unused than the best split does. */
static int wastes_time(const struct search *search, int32_t num_done, double done_s) {
    double allowed_s = search->value.s * (1 + 2 * SPLIT_TOLERANCE);
    return num_done * search->value.s - done_s > allowed_s * search->question->num_devices - search->all_s;
}

/* Fills stage k with 1, 2, ... layers from `from` on, and those behind it. num_done devices are filled, done_s in all. */
static void fill_stages(struct search *search, int32_t k, int32_t from, int32_t num_done, double done_s) {
    const struct stage_split_question *q = search->question;
    struct split_device *device = &search->devices[q->device_of[k]];
    const struct split_device before = *device;
    int32_t most = search->num_layers - from - (q->num_stages - 1 - k), is_last = k == q->num_stages - 1;
    double s = before.s, bytes = before.bytes;
    if (search->steps > search->steps_max) return;
    search->stages_left[q->device_of[k]]--;
    for (int32_t count = 1; count <= most; count++) {
        int32_t kind = search->kinds[from + count - 1];
        s += q->layer_s[kind];
        bytes += split_layer_bytes(q, k, kind);
        if (s > search->value.s * (1 + SPLIT_TOLERANCE)) break;
        if (q->is_even && before.high && count > before.low + 1) break;
        if (is_last && count < most) continue;
        *device = (struct split_device){s, bytes, count < before.low ? count : before.low,
                                        count > before.high ? count : before.high};
        search->layers[k] = count;
        search->steps++;
        if (!may_be_better(search, device)) continue;
        if (is_last) {
            compare_with_best(search);
            continue;
        }
        int is_done = search->stages_left[q->device_of[k]] == 0;
        if (is_done && wastes_time(search, num_done + 1, done_s + s)) continue;
        fill_stages(search, k + 1, from + count, num_done + is_done, is_done ? done_s + s : done_s);
    }
    search->stages_left[q->device_of[k]]++;
    *device = before;
}

static void try_all(struct search *search) {
    const struct stage_split_question *q = search->question;
    search->value = split_value_of(q, search->scratch, search->best);
    search->is_proved = search->value.s <= search->least_s * (1 + SPLIT_TOLERANCE);
    split_devices_begin(q, search->devices);
    search->all_s = 0;
    search->steps_max = search->num_layers <= FEW_LAYERS ? INT32_MAX : STEPS_MAX;
    for (int32_t d = 0; d < q->num_devices; d++) {
        search->all_s += search->devices[d].s;
        search->stages_left[d] = 0;
    }
    for (int32_t i = 0; i < search->num_layers; i++) search->all_s += q->layer_s[search->kinds[i]];
    for (int32_t k = 0; k < q->num_stages; k++) search->stages_left[q->device_of[k]]++;
    fill_stages(search, 0, 0, 0, 0);
}

/* ---- The door --------------------------------------------------------------------------------------------------- */

/* Makes the split in ret_layers better: the best of all where so many can be looked at, else one that is no faster for
 * either device when a single layer moves between neighbouring stages. least_s: what any split takes. 0 when memory ran
 * out. */
static int search_split(const struct stage_split_question *question, double least_s, struct arena *arena,
                        int32_t *ret_layers, int32_t *ret_is_exact) {
    struct search search = {.question = question, .best = ret_layers, .least_s = least_s};
    int32_t at = 0;
    for (int32_t r = 0; r < question->num_runs; r++) search.num_layers += question->runs[r].count;
    search.devices = arena_take(arena, (size_t)question->num_devices * 2, sizeof *search.devices);
    search.stages_left = arena_take(arena, (size_t)question->num_devices, sizeof *search.stages_left);
    search.layers = arena_take(arena, (size_t)question->num_stages, sizeof *search.layers);
    search.kinds = arena_take(arena, (size_t)search.num_layers, sizeof *search.kinds);
    search.ends = arena_take(arena, (size_t)question->num_stages, sizeof *search.ends);
    if (!search.devices || !search.stages_left || !search.layers || !search.kinds || !search.ends) return 0;
    search.scratch = search.devices + question->num_devices;
    for (int32_t r = 0; r < question->num_runs; r++)
        for (int32_t i = 0; i < question->runs[r].count; i++) search.kinds[at++] = (int8_t)question->runs[r].kind;
    improve(&search, ret_layers);
    if (!question->is_even) {
        cut_by_time(&search, search.layers);
        improve(&search, search.layers);
        struct split_value value = split_value_of(question, search.scratch, ret_layers);
        struct split_value other = split_value_of(question, search.scratch, search.layers);
        if (split_value_compare(&other, &value) < 0)
            memcpy(ret_layers, search.layers, (size_t)question->num_stages * sizeof *ret_layers);
    }
    try_all(&search);
    *ret_is_exact = search.steps <= search.steps_max;
    return 1;
}

/* ---- All of it -------------------------------------------------------------------------------------------------- */

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
               search_split(question, stage_split_least_s(question, arena), arena, ret_layers, &is_exact);
    }
    struct split_device *room = arena_take(arena, (size_t)question->num_devices, sizeof *room);
    if (!good || room == NULL) return 0;
    struct split_value value = split_value_of(question, room, ret_layers);
    *ret_split = (struct stage_split){value.s, value.bytes, is_exact};
    return 1;
}
