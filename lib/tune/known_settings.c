/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/known_settings.h"

#include "tune/exclusion.h"
#include "tune/param.h"

void known_settings_grow(struct kerf_tune_study *study) {
    const int32_t from = study->num_known;
    study->num_open += study->space->num_settings - from;
    study->num_known = study->space->num_settings;
    exclusion_of_met(study, from);
    for (int32_t i = from; i < study->num_known; i++) study->estimates[i] = history_estimate(study, i);
}

int32_t known_settings_meet(struct kerf_tune_study *study, const int32_t *values) {
    int32_t setting = tune_space_meet(study->space, values);
    known_settings_grow(study);
    return setting;
}

int32_t known_settings_meet_at_random(struct kerf_tune_study *study, struct pcg64 *rng) {
    int32_t setting = tune_space_at_random(study->space, rng);
    known_settings_grow(study);
    return setting;
}
