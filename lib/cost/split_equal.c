/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With equal layers a device's time depends on how many it has alone, so that the least largest time gives each device a
 * cap. Memory is then the largest first: what the caps allow too much is taken from the fullest device, again and again.
 * Last come the virtual stages in their order, each with as few layers as leave room for the rest elsewhere.
 *
 * What a device can still take once some of its virtual stages are chosen is an interval [fewest, most]. With evenness
 * all of its stages lie within a window [a, a + 1]; without it the window has no upper end. Devices that hold no other
 * layers have formulas for all of this; the few that do are gone through stage by stage.
 */
#include "cost/split_equal.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { ANY = INT32_MAX / 4 };

int equal_split_begin(struct equal_split *split, int32_t num_stages, int32_t num_devices, struct arena *arena) {
    size_t stages = (size_t)num_stages, devices = (size_t)num_devices;
    size_t of_stage = sizeof *split->stages + sizeof *split->first_bytes + sizeof *split->by_bytes;
    size_t of_device = sizeof *split->devices + sizeof *split->heap;
    char *room = arena_take(arena, 1, devices * of_device + stages * of_stage);
    memset(split, 0, sizeof *split);
    if (room == NULL) return 0;
    split->devices = (struct equal_device *)(void *)room;
    split->stages = (struct equal_stage *)(void *)(split->devices + devices);
    split->first_bytes = (double *)(void *)(split->stages + stages);
    split->by_bytes = (int32_t *)(void *)(split->first_bytes + stages);
    split->heap = split->by_bytes + stages;
    split->num_stages = num_stages, split->num_devices = num_devices;
    return 1;
}

/* ---- Windows ---------------------------------------------------------------------------------------------------- */

/* Nothing is chosen but what other layers decide. */
static void choose_nothing(struct equal_split *split) {
    for (int32_t d = 0; d < split->num_devices; d++) {
        struct equal_device *device = &split->devices[d];
        device->bytes = device->fixed_bytes, device->chosen = 0;
        device->low = ANY, device->high = 0;
        device->num_left = 0;
    }
    for (int32_t k = 0; k < split->num_stages; k++) {
        struct equal_stage *stage = &split->stages[k];
        struct equal_device *device = &split->devices[stage->device];
        stage->layers = stage->is_open ? -1 : 0; /* -1: not chosen yet */
        device->num_left += stage->is_open;
        if (stage->is_open) continue;
        if (stage->held < device->low) device->low = stage->held;
        if (stage->held > device->high) device->high = stage->held;
    }
}

/* The values that a may have. */
struct window {
    int32_t lowest, highest, sum_held;
};

static struct window window_of(const struct equal_split *split, const struct equal_device *device) {
    struct window window = {0, 0, 0};
    int32_t needed = device->high;
    if (device->is_pure) {
        if (needed < 1) needed = 1;
    } else {
        for (int32_t i = 0; i < device->num_stages; i++) {
            const struct equal_stage *stage = &split->stages[split->by_bytes[device->from + i]];
            if (stage->layers >= 0) continue;
            window.sum_held += stage->held;
            if (stage->held + stage->least > needed) needed = stage->held + stage->least;
        }
    }
    if (!split->is_even) return window;
    window.lowest = needed > 1 ? needed - 1 : 0;
    window.highest = device->low;
    return window;
}

/* Layers of a stage that is not chosen, at the lower end of the window, and how many more it may have. */
static int32_t at_least(const struct equal_stage *stage, int32_t a) {
    int32_t total = stage->held + stage->least;
    return (total > a ? total : a) - stage->held;
}

static int32_t more_than_least(const struct equal_split *split, const struct equal_stage *stage, int32_t a) {
    return split->is_even ? a + 1 - stage->held - at_least(stage, a) : ANY;
}

static int32_t quotient(double bytes, double of, int32_t most) {
    if (bytes <= 0) return bytes == 0 && of <= 0 ? most : 0;
    return of > 0 && bytes / of < most ? (int32_t)(bytes / of) : most;
}

/* With the window at a: the fewest layers, and the most that cap and bytes allow; 0 where not even the fewest are. */
static int fill(const struct equal_split *split, const struct equal_device *device, int32_t a, double most_bytes,
                int32_t *ret_fewest, int32_t *ret_most) {
    int32_t room = device->cap - device->chosen, count = 0;
    double bytes = device->bytes;
    const int32_t *list = split->by_bytes + device->from;
    for (int32_t i = 0; i < device->num_stages; i++) {
        const struct equal_stage *stage = &split->stages[list[i]];
        if (stage->layers >= 0) continue;
        int32_t layers = at_least(stage, a);
        if (layers > room - count) return 0;
        count += layers;
        bytes += layers * stage->layer_bytes;
    }
    if (bytes > most_bytes) return 0;
    *ret_fewest = count;
    for (int32_t i = 0; i < device->num_stages && count < room; i++) {
        const struct equal_stage *stage = &split->stages[list[i]];
        if (stage->layers >= 0) continue;
        int32_t more = more_than_least(split, stage, a);
        if (more > room - count) more = room - count;
        more = quotient(most_bytes - bytes, stage->layer_bytes, more);
        count += more;
        bytes += more * stage->layer_bytes;
    }
    *ret_most = count;
    return 1;
}

/* The same of a device without other layers and with enough memory. */
static int find_free_range(const struct equal_split *split, struct equal_device *device) {
    int32_t room = device->cap - device->chosen, a = device->high > 1 ? device->high - 1 : 1;
    if (split->is_even && device->high > 0) {
        if (device->high > device->low + 1) return 0;
        int64_t most = (int64_t)device->num_left * (device->low + 1);
        device->most = most < room ? (int32_t)most : room;
    } else {
        a = 1;
        device->most = device->num_left ? room : 0;
    }
    device->fewest = device->num_left * a;
    return device->fewest <= room;
}

/* Fills in fewest and most of the device; 0 where what is chosen leaves nothing. */
static int find_range(const struct equal_split *split, struct equal_device *device, double most_bytes) {
    if (device->is_free) return find_free_range(split, device);
    const struct window window = window_of(split, device);
    int32_t ignored, most;
    if (window.lowest > window.highest) return 0;
    if (device->num_left == 0) {
        device->fewest = device->most = 0;
        return device->bytes <= most_bytes && device->chosen <= device->cap;
    }
    if (!fill(split, device, window.lowest, most_bytes, &device->fewest, &device->most)) return 0;
    /* windows above a possible one have more, and the one below it as many at most */
    int32_t highest = (device->cap - device->chosen + window.sum_held) / device->num_left;
    if (highest > window.highest) highest = window.highest;
    for (int32_t a = highest; a > window.lowest; a--)
        if (fill(split, device, a, most_bytes, &ignored, &most)) {
            if (most > device->most) device->most = most;
            break;
        }
    return 1;
}

/* ---- Time ------------------------------------------------------------------------------------------------------- */

/* The most layers that take at most this time beside fixed_s, and at least `least`. */
static int32_t cap_of(double fixed_s, double layer_s, double largest_s, int32_t least, int32_t most) {
    if (layer_s <= 0) return most;
    double room = (largest_s - fixed_s) / layer_s;
    int32_t cap = room >= most ? most : room > least ? (int32_t)room : least;
    while (cap < most && fixed_s + (cap + 1) * layer_s <= largest_s) cap++;
    return cap;
}

/* Which stages each device has; and how many layers it has at least and, whatever the time, at most. */
static int begin_devices(struct equal_split *split) {
    int32_t from = 0;
    int are_pure = 1;
    for (int32_t d = 0; d < split->num_devices; d++) split->devices[d].num_stages = 0, split->devices[d].is_pure = 1;
    for (int32_t k = 0; k < split->num_stages; k++) {
        const struct equal_stage *stage = &split->stages[k];
        split->devices[stage->device].num_stages++;
        if (!stage->is_open || stage->held) split->devices[stage->device].is_pure = are_pure = 0;
    }
    for (int32_t d = 0; d < split->num_devices; d++) {
        struct equal_device *device = &split->devices[d];
        device->from = from, from += device->num_stages;
        device->fewest = device->num_stages, device->most = split->num_layers;
        device->num_left = device->num_stages;
    }
    if (are_pure) return 1;
    for (int32_t d = 0; d < split->num_devices; d++) split->devices[d].num_stages = 0;
    for (int32_t k = 0; k < split->num_stages; k++) {
        struct equal_device *device = &split->devices[split->stages[k].device];
        split->by_bytes[device->from + device->num_stages++] = k;
    }
    choose_nothing(split);
    for (int32_t d = 0; d < split->num_devices; d++) {
        struct equal_device *device = &split->devices[d];
        device->cap = split->num_layers, device->is_free = device->is_pure;
        if (!find_range(split, device, INFINITY)) return 0;
    }
    return 1;
}

/* Fills in caps between fewest and most of each device. */
static double find_caps(struct equal_split *split) {
    const double layer_s = split->layer_s;
    double sum_s = 0, least_s = 0;
    int32_t num_open = 0;
    int64_t fewest = 0, most = 0, total = 0;
    for (int32_t d = 0; d < split->num_devices; d++) {
        const struct equal_device *device = &split->devices[d];
        double needed_s = device->fixed_s + device->fewest * layer_s;
        fewest += device->fewest, most += device->most;
        if (needed_s > least_s) least_s = needed_s;
        if (device->most == 0) continue;
        num_open++;
        sum_s += device->fixed_s;
    }
    if (fewest > split->num_layers || most < split->num_layers) return split->largest_s = INFINITY;
    double mean_s = num_open ? (sum_s + split->num_layers * layer_s) / num_open : 0;
    double largest_s = mean_s > least_s ? mean_s : least_s, found_s = least_s;
    for (int32_t d = 0; d < split->num_devices; d++) {
        struct equal_device *device = &split->devices[d];
        device->cap = cap_of(device->fixed_s, layer_s, largest_s * (1 + SPLIT_TOLERANCE), device->fewest, device->most);
        total += device->cap;
        double device_s = device->fixed_s + device->cap * layer_s;
        if (device_s > found_s) found_s = device_s;
    }
    if (total == split->num_layers) return split->largest_s = found_s;
    while (total < split->num_layers) { /* the least time at which some device takes one more */
        largest_s = INFINITY;
        for (int32_t d = 0; d < split->num_devices; d++) {
            const struct equal_device *device = &split->devices[d];
            double more_s = device->fixed_s + (device->cap + 1) * layer_s;
            if (device->cap < device->most && more_s < largest_s) largest_s = more_s;
        }
        for (int32_t d = 0; d < split->num_devices; d++) {
            struct equal_device *device = &split->devices[d];
            double more_s = device->fixed_s + (device->cap + 1) * layer_s;
            int takes = device->cap < device->most && more_s <= largest_s * (1 + SPLIT_TOLERANCE);
            device->cap += takes, total += takes;
        }
    }
    return split->largest_s = largest_s;
}

double equal_split_least_s(struct equal_split *split) {
    return begin_devices(split) ? find_caps(split) : (split->largest_s = INFINITY);
}

double equal_split_bound_s(struct equal_split *split) {
    for (int32_t d = 0; d < split->num_devices; d++)
        split->devices[d].fewest = 0, split->devices[d].most = split->num_layers;
    return find_caps(split);
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

/* The virtual stages of each device, the cheapest layers first. */
static void sort_stages(struct equal_split *split) {
    for (int32_t d = 0; d < split->num_devices; d++) split->devices[d].num_stages = 0;
    for (int32_t k = 0; k < split->num_stages; k++) {
        struct equal_device *device = &split->devices[split->stages[k].device];
        int32_t *list = split->by_bytes + device->from, at = device->num_stages++;
        for (; at > 0 && split->stages[list[at - 1]].layer_bytes > split->stages[k].layer_bytes; at--)
            list[at] = list[at - 1];
        list[at] = k;
    }
    for (int32_t d = 0; d < split->num_devices; d++) {
        struct equal_device *device = &split->devices[d];
        device->all_bytes = 0;
        for (int32_t i = device->from; i < device->from + device->num_stages; i++) {
            split->first_bytes[i] = device->all_bytes;
            device->all_bytes += split->stages[split->by_bytes[i]].layer_bytes;
        }
    }
}

/* The least and the most bytes of a pure device with so many layers. */
static double pure_bytes(const struct equal_split *split, const struct equal_device *device, int32_t layers) {
    const int32_t n = device->num_stages, *list = split->by_bytes + device->from;
    double bytes = device->fixed_bytes;
    if (n == 1) return bytes + layers * device->all_bytes;
    if (split->is_even) return bytes + layers / n * device->all_bytes + split->first_bytes[device->from + layers % n];
    return bytes + device->all_bytes + (layers - n) * split->stages[list[0]].layer_bytes;
}

static double most_pure_bytes(const struct equal_split *split, const struct equal_device *device, int32_t layers) {
    const int32_t n = device->num_stages, dearest = split->by_bytes[device->from + n - 1];
    double bytes = device->fixed_bytes;
    if (split->is_even) return bytes + (layers + n - 1) / n * device->all_bytes;
    return bytes + device->all_bytes + (layers - n) * split->stages[dearest].layer_bytes;
}

/* The least bytes of a device with so many layers, where nothing is chosen. */
static double least_bytes(const struct equal_split *split, const struct equal_device *device, int32_t layers) {
    const int32_t *list = split->by_bytes + device->from;
    double least = INFINITY;
    if (device->is_pure) return pure_bytes(split, device, layers);
    if (device->num_left == 0) return device->fixed_bytes;
    const struct window window = window_of(split, device);
    int32_t highest = (layers + window.sum_held) / device->num_left;
    if (highest > window.highest) highest = window.highest;
    int32_t lowest = !split->is_even || highest - 1 < window.lowest ? window.lowest : highest - 1;
    for (int32_t a = highest; a >= lowest; a--) {
        double bytes = device->fixed_bytes;
        int32_t left = layers;
        for (int32_t i = 0; i < device->num_stages; i++) {
            const struct equal_stage *stage = &split->stages[list[i]];
            if (stage->layers >= 0) continue;
            left -= at_least(stage, a);
            bytes += at_least(stage, a) * stage->layer_bytes;
        }
        for (int32_t i = 0; i < device->num_stages && left > 0; i++) {
            const struct equal_stage *stage = &split->stages[list[i]];
            if (stage->layers >= 0) continue;
            int32_t more = more_than_least(split, stage, a);
            if (more > left) more = left;
            left -= more;
            bytes += more * stage->layer_bytes;
        }
        if (left == 0 && bytes < least) least = bytes;
    }
    return least;
}

/* The ranges of all devices with so much memory; 0 where the layers do not lie so. */
static int find_ranges(struct equal_split *split, double most_bytes) {
    int64_t fewest = 0, most = 0;
    for (int32_t d = 0; d < split->num_devices; d++) {
        struct equal_device *device = &split->devices[d];
        device->is_free =
            device->is_pure && (isinf(most_bytes) || most_pure_bytes(split, device, device->cap) <= most_bytes);
        if (!find_range(split, device, most_bytes)) return 0;
        fewest += device->fewest, most += device->most;
    }
    return fewest <= split->num_layers && most >= split->num_layers;
}

static void sift_down(struct equal_split *split, int32_t at) {
    int32_t *heap = split->heap;
    for (;;) {
        int32_t fullest = at;
        for (int32_t child = 2 * at + 1; child <= 2 * at + 2 && child < split->num_devices; child++)
            if (split->devices[heap[child]].bytes > split->devices[heap[fullest]].bytes) fullest = child;
        if (fullest == at) return;
        int32_t other = heap[at];
        heap[at] = heap[fullest], heap[fullest] = other;
        at = fullest;
    }
}

/* Each device has as many layers as it may; then the fullest one has one less, until all others fit. */
static double least_largest_bytes(struct equal_split *split) {
    int64_t excess = -split->num_layers;
    for (int32_t d = 0; d < split->num_devices; d++) {
        struct equal_device *device = &split->devices[d];
        device->bytes = least_bytes(split, device, device->most);
        device->chosen = device->most; /* for now */
        split->heap[d] = d;
        excess += device->most;
    }
    for (int32_t at = split->num_devices / 2 - 1; at >= 0; at--) sift_down(split, at);
    for (;; excess--) {
        struct equal_device *fullest = &split->devices[split->heap[0]];
        if (excess == 0 || fullest->chosen == fullest->fewest) return fullest->bytes;
        fullest->chosen--;
        fullest->bytes = least_bytes(split, fullest, fullest->chosen);
        sift_down(split, 0);
    }
}

/* ---- Order ------------------------------------------------------------------------------------------------------ */

static void choose(struct equal_split *split, int32_t k, int32_t layers) {
    struct equal_stage *stage = &split->stages[k];
    struct equal_device *device = &split->devices[stage->device];
    int32_t total = stage->held + layers;
    stage->layers = layers;
    device->chosen += layers;
    device->num_left--;
    device->bytes += layers * stage->layer_bytes;
    if (total < device->low) device->low = total;
    if (total > device->high) device->high = total;
}

/* The least that this stage can have, its device still having to take `needed` at least. */
static int32_t start_of(const struct equal_split *split, int32_t k, int32_t needed) {
    const struct equal_stage *stage = &split->stages[k];
    const struct equal_device *device = &split->devices[stage->device];
    int32_t start = stage->least;
    if (split->is_even && device->high - 1 - stage->held > start) start = device->high - 1 - stage->held;
    if (device->num_left == 1) return needed > start ? needed : start;
    if (!split->is_even) return start;
    /* all others of the device have at most one more */
    int32_t sum_held = device->is_pure ? 0 : window_of(split, device).sum_held;
    int32_t even = (needed + sum_held - (device->num_left - 1)) / device->num_left - stage->held;
    return even > start ? even : start;
}

/* Stage after stage the least number that leaves the others possible. */
static int choose_in_order(struct equal_split *split, double most_bytes) {
    int64_t fewest = 0, most = 0, left = split->num_layers;
    for (int32_t d = 0; d < split->num_devices; d++) {
        fewest += split->devices[d].fewest;
        most += split->devices[d].most;
    }
    for (int32_t k = 0; k < split->num_stages; k++) {
        if (!split->stages[k].is_open) continue;
        struct equal_device *device = &split->devices[split->stages[k].device];
        const struct equal_device before = *device;
        fewest -= before.fewest, most -= before.most;
        int64_t needed = left - most;
        int32_t layers = start_of(split, k, needed > 0 ? (int32_t)needed : 0);
        for (;; layers++) {
            if (layers > before.most) return 0;
            choose(split, k, layers);
            if (find_range(split, device, most_bytes) && layers + fewest + device->fewest <= left &&
                layers + most + device->most >= left)
                break;
            *device = before;
        }
        left -= layers;
        fewest += device->fewest, most += device->most;
    }
    return left == 0;
}

/* The same for one virtual stage a device: every stage has what those behind it cannot take. */
static int choose_singles(struct equal_split *split, double most_bytes) {
    int64_t behind = 0, left = split->num_layers;
    for (int32_t d = 0; d < split->num_devices; d++) {
        struct equal_device *device = &split->devices[d];
        device->most = quotient(most_bytes - device->fixed_bytes, device->all_bytes, device->cap);
        behind += device->most;
    }
    for (int32_t k = 0; k < split->num_stages; k++) {
        const struct equal_device *device = &split->devices[split->stages[k].device];
        behind -= device->most;
        split->stages[k].layers = left - behind > 1 ? (int32_t)(left - behind) : 1;
        left -= split->stages[k].layers;
        if (split->stages[k].layers > device->most) return 0;
    }
    return left == 0;
}

static int find_singles(struct equal_split *split) {
    for (int32_t k = 0; k < split->num_stages; k++) {
        struct equal_device *device = &split->devices[split->stages[k].device];
        device->all_bytes = split->stages[k].layer_bytes;
        device->fewest = 1, device->most = device->cap;
    }
    split->largest_bytes = least_largest_bytes(split);
    return choose_singles(split, split->largest_bytes * (1 + SPLIT_TOLERANCE));
}

int equal_split_find(struct equal_split *split) {
    int are_pure = 1;
    for (int32_t d = 0; d < split->num_devices; d++) are_pure &= split->devices[d].is_pure;
    if (are_pure && split->num_stages == split->num_devices) return find_singles(split);
    sort_stages(split);
    choose_nothing(split);
    if (!find_ranges(split, INFINITY)) return 0;
    split->largest_bytes = least_largest_bytes(split);
    choose_nothing(split);
    double most_bytes = split->largest_bytes * (1 + SPLIT_TOLERANCE);
    return find_ranges(split, most_bytes) && choose_in_order(split, most_bytes);
}
