/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `race`: settings that have nothing to do with each other, measured in rounds of all that may still win.
 *
 * Every setting is for itself (SURFACE_UNRELATED), so that no likeness is assumed that is not there; drift is common to
 * all. Whoever has run least among those that are within `within` of the best with more than OUT of probability is
 * next, in an order drawn anew for each round. It ends as the policy `kerf` does. A race needs at least one run of
 * everything.
 */
#include "tune/beliefs.h"
#include "tune/equivalence.h"
#include "tune/replicates.h"

enum { MOST_EACH = 40 };
static const double OUT = 0.01;

static int32_t most(const struct kerf_tune_study *study) {
    int64_t bound = 100 + (int64_t)MOST_EACH * study->space->num_settings;
    return (int32_t)(bound < 100000 ? bound : 100000);
}

static int32_t begin(struct kerf_tune_study *study, struct kerf_error *err) {
    study->state = arena_alloc(&study->arena, 1, sizeof(struct beliefs));
    return study->state ? KERF_OK : tune_no_memory(err);
}

static void end(struct kerf_tune_study *study) { beliefs_free(study->state); }

static int32_t runs_of(const struct kerf_tune_study *study, int32_t setting, const int32_t *pending,
                       int32_t num_pending) {
    int32_t runs = study->tallies[setting].tries;
    for (int32_t k = 0; k < num_pending; k++) runs += pending[k] == setting;
    return runs;
}

/* Of those that may, the one that has run least; ties are drawn. -1: none may. */
static int32_t least_run(const struct kerf_tune_study *study, const struct joint_draws *draws, const int32_t *pending,
                         int32_t num_pending) {
    struct pcg64 rng = tune_random(study);
    int32_t best = -1, least = INT32_MAX, ties = 0, count = draws ? draws->num : study->space->num_settings;
    for (int32_t i = 0; i < count; i++) {
        int32_t setting = draws ? beliefs_setting(draws, i) : i;
        int32_t runs = runs_of(study, setting, pending, num_pending);
        if (!tune_is_open(study, setting) || (draws && draws->within[i] < OUT)) continue;
        if (runs < least) least = runs, ties = 0;
        if (runs == least && random_to(&rng, (uint32_t)ties++) == 0) best = setting;
    }
    return best;
}

/* An open setting that was never tried: the default, then at random. */
static int32_t untried(const struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending) {
    int32_t first = study->space->default_setting;
    if (first >= 0 && tune_is_open(study, first) && runs_of(study, first, pending, num_pending) == 0) return first;
    int32_t setting = least_run(study, NULL, pending, num_pending);
    return runs_of(study, setting, pending, num_pending) == 0 ? setting : -1;
}

static void decide(const struct kerf_tune_study *study, const struct joint_draws *draws, const int32_t *pending,
                   int32_t num_pending, struct kerf_tune_decision *ret_decision) {
    int32_t leader = beliefs_leader(draws), setting = beliefs_setting(draws, leader);
    int32_t candidate = study->num_preferred ? equivalence_candidate(draws, leader) : -1, again;
    char words[120], chance[CHANCE_SIZE];
    tune_words(study, setting, words, sizeof words);
    if (draws->within[leader] < study->question.confidence || study->tallies[setting].values == 0) {
        int32_t rival = least_run(study, draws, pending, num_pending);
        tune_measure(ret_decision, rival >= 0 ? rival : setting, beliefs_limit(draws), "it may still win; %s leads",
                     words);
    } else if ((again = replicates_wanted(draws, leader)) >= 0) {
        tune_measure(ret_decision, again, beliefs_limit(draws), "once more: how much do runs of one setting differ?");
    } else if (candidate < 0 || equivalence_accepted(draws, leader) == candidate) {
        tune_stop(ret_decision, KERF_TUNE_CONFIDENT, "%s is within %g %% of the best with %s", words,
                  100 * study->question.within, tune_chance(draws->within[leader], chance));
    } else {
        int32_t other = beliefs_setting(draws, candidate);
        int32_t behind = runs_of(study, other, pending, num_pending) <= runs_of(study, setting, pending, num_pending);
        tune_measure(ret_decision, behind ? other : setting, beliefs_limit(draws), "whether it is as good as %s",
                     words);
    }
}

static int32_t next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    struct beliefs *beliefs = study->state;
    int32_t fresh = untried(study, pending, num_pending), code = KERF_OK;
    (void)slot;
    if (fresh < 0 && beliefs_none(study)) fresh = least_run(study, NULL, pending, num_pending);
    if (!beliefs_none(study)) code = beliefs_update(beliefs, study, SURFACE_UNRELATED, err);
    if (code != KERF_OK) return code;
    if (fresh >= 0)
        tune_measure(ret_decision, fresh, beliefs->draws ? beliefs_limit(beliefs->draws) : 0, "the first round");
    else
        decide(study, beliefs->draws, pending, num_pending, ret_decision);
    return KERF_OK;
}

static int32_t estimate(struct kerf_tune_study *study, struct kerf_tune_answer *answer, struct kerf_error *err) {
    return beliefs_answer(study->state, study, SURFACE_UNRELATED, answer, err);
}

const struct tune_policy tune_policy_race = {
    .about = {"race", "rounds of all settings that may still win, none like another: for choices without an order",
              "Maron and Moore, Hoeffding Races, 1994; Birattari et al., F-Race, 2002", 1},
    .most = most,
    .begin = begin,
    .end = end,
    .next = next,
    .estimate = estimate,
};
