/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits where no formula helps. From the best split of as many mean layers, and from one by times, a local search moves
 * single layers between neighbouring stages; then, where there are
 * few splits, all are gone through in lexicographic order. A branch ends where a device takes longer than the best split,
 * where devices that are done leave more time unused than the best split has, and, once the best time is proved, where
 * evenness or memory are worse.
 */
#include "cost/split_search.h"

#include <assert.h>
#include <string.h>
#include "cost/split_equal.h"
#include "cost/split_value.h"

enum {
    FEW_LAYERS = 16, /* of so many all splits are gone through, however long that takes */
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

/* ---- Local search ----------------------------------------------------------------------------------------------- */

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

int split_search(const struct stage_split_question *question, double least_s, struct arena *arena, int32_t *ret_layers,
                 int32_t *ret_is_exact) {
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
