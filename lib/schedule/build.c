/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/build.h"

#include <stdlib.h>

const struct placement placements[KERF_PLACEMENTS] = {
    [KERF_PLACE_LOOP] = {"loop", 0, 1, 1, 0},     [KERF_PLACE_V] = {"v", 1, 1, 2, 0},
    [KERF_PLACE_BOTH] = {"both", 0, 2, 1, 1},     [KERF_PLACE_ANY] = {NULL, 0, 1, 1, 0},
    [KERF_PLACE_BOTH_V] = {"both_v", 1, 2, 2, 1}, [KERF_PLACE_RING] = {"ring", 0, 0, 1, 1},
};

int32_t placement_device(enum kerf_placement placement, int32_t devices, int32_t replicas, int32_t replica,
                         int32_t stage) {
    const int32_t back = placements[placement].zigzag && stage / devices % 2 == 1;
    int32_t device = back ? devices - 1 - stage % devices : stage % devices;
    if (replicas > 2) device = (device + replica / 2 * (devices / (replicas / 2))) % devices;
    return replica % 2 == 1 ? devices - 1 - device : device;
}

void placement_fill(enum kerf_placement placement, int32_t devices, int32_t chunks, int32_t replicas,
                    int32_t *device_of) {
    const int32_t stages = devices * chunks;
    assert(placements[placement].word && devices >= 1 && chunks >= 1 && stages <= STAGES_MAX);
    assert(!placements[placement].fixed_chunks || chunks == placements[placement].default_chunks);
    for (int32_t k = 0; k < replicas * stages; k++)
        device_of[k] = placement_device(placement, devices, replicas, k / stages, k % stages);
}

struct kerf_schedule *kerf_schedule_free(struct kerf_schedule *schedule) {
    if (schedule == NULL) return NULL;
    struct owned_schedule *owned = (struct owned_schedule *)(void *)schedule;
    arena_free(&owned->arena);
    kerf_text_free(&owned->certificate);
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
