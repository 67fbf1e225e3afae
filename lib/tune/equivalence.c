/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever looks for the fastest setting has no reason to measure the slower ones well, so that what is known at the end
 * of that does not tell which smaller setting would do as well. This is asked afterwards: the candidates are those that
 * are preferred to the leader, in the order of the preference; candidate and leader are measured in turn until the
 * candidate is within the margin of the best with the confidence asked, or is dropped: when that has become less
 * probable than DROP, or after RUNS_MOST runs of the candidate which have not decided it.
 */
#include "tune/equivalence.h"

static const double DROP = 0.05;
enum { RUNS_MOST = 12 };

static int is_accepted(const struct joint_draws *draws, int32_t i) {
    const struct kerf_tune_study *study = draws->model->study;
    return draws->within_margin[i] >= study->question.confidence &&
           study->tallies[draws->model->active[draws->at[i]]].values > 0;
}

static int is_dropped(const struct joint_draws *draws, int32_t i) {
    const struct tally *tally = &draws->model->study->tallies[draws->model->active[draws->at[i]]];
    return !is_accepted(draws, i) && (draws->within_margin[i] < DROP || tally->values + tally->censored >= RUNS_MOST);
}

static int is_before(const struct joint_draws *draws, int32_t i, int32_t j) {
    const struct surface_model *model = draws->model;
    return tune_prefers(model->study, model->active[draws->at[i]], model->active[draws->at[j]]) < 0;
}

int32_t equivalence_candidate(const struct joint_draws *draws, int32_t leader) {
    int32_t candidate = -1;
    for (int32_t i = 0; i < draws->num; i++)
        if (is_before(draws, i, leader) && !is_dropped(draws, i) && (candidate < 0 || is_before(draws, i, candidate)))
            candidate = i;
    return candidate;
}

int32_t equivalence_accepted(const struct joint_draws *draws, int32_t leader) {
    int32_t best = leader;
    for (int32_t i = 0; i < draws->num; i++)
        if (is_accepted(draws, i) && is_before(draws, i, best)) best = i;
    return best;
}
