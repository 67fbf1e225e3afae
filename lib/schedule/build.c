/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/build.h"

#include <stdlib.h>

void placement_fill(enum kerf_placement placement, int32_t devices, int32_t chunks, int32_t *device_of) {
    const int32_t stages = devices * chunks;
    assert(placement != KERF_PLACE_ANY && devices >= 1 && chunks >= 1 && stages <= STAGES_MAX);
    assert(placement != KERF_PLACE_BOTH || chunks == 1);
    for (int32_t k = 0; k < placement_replicas(placement) * stages; k++)
        device_of[k] = placement_device(placement, devices, k / stages, k % stages);
}

struct kerf_schedule *kerf_schedule_free(struct kerf_schedule *schedule) {
    if (schedule == NULL) return NULL;
    struct owned_schedule *owned = (struct owned_schedule *)(void *)schedule;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

struct kerf_timeline *kerf_timeline_free(struct kerf_timeline *timeline) {
    if (timeline == NULL) return NULL;
    struct owned_timeline *owned = (struct owned_timeline *)(void *)timeline;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}
