/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/ticks.h"

#include <float.h>
#include <math.h>

enum { LONGEST_DIGITS = 10 };

static double latency(const struct kerf_schedule_times *times, int32_t devices, int32_t from, int32_t to) {
    if (from < 0 || from >= devices) return 0;
    return times->p2p_of_s ? times->p2p_of_s[from * devices + to] : times->p2p_s;
}

static double longest(const struct kerf_schedule_times *times, int32_t devices, int32_t stages) {
    double most = 0;
    for (int32_t k = 0; k < stages; k++)
        most = fmax(most, fmax(times->forward_s[k], fmax(times->backward_input_s[k], times->backward_weight_s[k])));
    most += times->overhead_s;
    for (int32_t i = 0; i < devices; i++)
        most = fmax(most, fmax(latency(times, devices, i - 1, i), latency(times, devices, i + 1, i)));
    return most;
}

int ticks_make(struct ticks *ret_ticks, struct arena *arena, const struct kerf_schedule_times *times, int32_t devices,
               int32_t stages) {
    int64_t **const arrays[] = {&ret_ticks->forward, &ret_ticks->input, &ret_ticks->weight};
    const double *const seconds[] = {times->forward_s, times->backward_input_s, times->backward_weight_s};
    double most = longest(times, devices, stages);
    double scale = most > 0 ? pow(10, fmin(LONGEST_DIGITS - 1 - floor(log10(most)), DBL_MAX_10_EXP)) : 1;
    for (int kind = 0; kind < 3; kind++) {
        int64_t *ticks = arena_alloc(arena, (size_t)stages, sizeof *ticks);
        if (ticks == NULL) return 0;
        for (int32_t k = 0; k < stages; k++) ticks[k] = llround((seconds[kind][k] + times->overhead_s) * scale);
        *arrays[kind] = ticks;
    }
    ret_ticks->from_before = arena_alloc(arena, (size_t)devices, sizeof(int64_t));
    ret_ticks->from_behind = arena_alloc(arena, (size_t)devices, sizeof(int64_t));
    if (ret_ticks->from_before == NULL || ret_ticks->from_behind == NULL) return 0;
    for (int32_t i = 0; i < devices; i++) {
        ret_ticks->from_before[i] = llround(latency(times, devices, i - 1, i) * scale);
        ret_ticks->from_behind[i] = llround(latency(times, devices, i + 1, i) * scale);
    }
    return 1;
}
