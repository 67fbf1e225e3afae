/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where many settings lie on a smooth surface, their distance from it tells how large the noise is. A few settings,
 * each run once, tell nothing of it: a model would be as sure as its prior of the noise was. So OF_FEW runs of few
 * settings, and OF_MANY of many, have to be repetitions: of the leader and its nearest rival in turn.
 */
#include "tune/replicates.h"

#include "tune/beliefs.h"

enum { FEW = 12, OF_FEW = 3, OF_MANY = 1 };

static int32_t nearest_rival(const struct joint_draws *draws, int32_t leader) {
    int32_t rival = leader;
    for (int32_t i = 0; i < draws->num; i++) {
        if (i == leader || draws->model->study->tallies[beliefs_setting(draws, i)].values == 0) continue;
        if (rival == leader || draws->within[i] > draws->within[rival]) rival = i;
    }
    return rival;
}

int32_t replicates_wanted(const struct joint_draws *draws, int32_t leader) {
    const struct kerf_tune_study *study = draws->model->study;
    int32_t wanted = study->num_open <= FEW ? OF_FEW : OF_MANY;
    for (int32_t i = 0; i < study->space->num_settings; i++)
        if (study->tallies[i].values > 1) wanted -= study->tallies[i].values - 1;
    if (wanted <= 0) return -1;
    int32_t setting = beliefs_setting(draws, leader), rival = beliefs_setting(draws, nearest_rival(draws, leader));
    return study->tallies[rival].values < study->tallies[setting].values ? rival : setting;
}
