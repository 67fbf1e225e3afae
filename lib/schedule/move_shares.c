/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shares of the activations that are recomputed, and offloaded: R makes recompute_share of a stage's activations again,
 * and O and L move offload_share of the rest. In an order that has R, or O, a share that is not said is all.
 */
#include "schedule/move_shares.h"

#include <stddef.h>

double move_shares_kept(const struct kerf_schedule_times *times, int32_t stage, int recomputes, int offloads) {
    const double again = times->recompute_share ? times->recompute_share[stage] : 1;
    const double away = times->offload_share ? times->offload_share[stage] : 1;
    return (recomputes ? 1 - again : 1) * (offloads ? 1 - away : 1);
}

double move_shares_recompute_s(const struct kerf_schedule_times *times, int32_t stage) {
    const double share = times->recompute_share ? times->recompute_share[stage] : 1;
    return times->recompute_s ? times->recompute_s[stage] : share * times->forward_s[stage];
}

int move_shares_asked(const struct kerf_schedule_times *times, int32_t stages) {
    for (int32_t k = 0; k < stages; k++)
        if ((times->recompute_share && times->recompute_share[k] > 0) ||
            (times->offload_share && times->offload_share[k] > 0))
            return 1;
    return 0;
}
