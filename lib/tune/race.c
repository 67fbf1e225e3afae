/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `race`: settings that have nothing to do with each other, measured in rounds of all that may still win.
 *
 * Settings are independent (SURFACE_UNRELATED): no correlation is assumed between them. Drift is common to all. The
 * next run goes to the setting with the fewest runs among those that are within `within` of the best with a
 * probability above OUT, in an order drawn anew for each round. It ends as the policy `kerf` does. A race needs at
 * least one run of everything.
 */
#include "base/error_fill.h"
#include "tune/posterior_draws.h"
#include "tune/posterior.h"
#include "tune/tune_policy.h"

enum { MAX_EACH = 40 };
static const double OUT = 0.01;

static int32_t max_observations(const struct kerf_tune_study *study) {
    int64_t bound = 100 + (int64_t)MAX_EACH * study->space->num_settings;
    return (int32_t)(bound < 100000 ? bound : 100000);
}

static int32_t begin(struct kerf_tune_study *study, struct kerf_error *err) {
    study->state = arena_alloc(&study->arena, 1, sizeof(struct posterior));
    return study->state ? KERF_OK : error_no_memory(err, "a study");
}

static void end(struct kerf_tune_study *study) { posterior_free(study->state); }

/* The allowed setting with the fewest runs; ties are drawn. -1: none is allowed. */
static int32_t least_run(const struct kerf_tune_study *study, const struct posterior_draws *draws,
                         const int32_t *pending, int32_t num_pending) {
    struct pcg64 rng = history_random(study);
    int32_t best = -1, least = INT32_MAX, ties = 0, count = draws ? draws->num : study->space->num_settings;
    for (int32_t i = 0; i < count; i++) {
        int32_t setting = draws ? posterior_draws_setting(draws, i) : i;
        int32_t runs = policy_tries(study, setting, pending, num_pending);
        if (!history_is_open(study, setting) || (draws && draws->within[i] < OUT)) continue;
        if (runs < least) least = runs, ties = 0;
        if (runs == least && random_to(&rng, (uint32_t)ties++) == 0) best = setting;
    }
    return best;
}

/* An open setting that was never tried: the default, then at random. */
static int32_t untried(const struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending) {
    int32_t first = study->space->default_setting;
    if (first >= 0 && history_is_open(study, first) && policy_tries(study, first, pending, num_pending) == 0)
        return first;
    int32_t setting = least_run(study, NULL, pending, num_pending);
    return policy_tries(study, setting, pending, num_pending) == 0 ? setting : -1;
}

static void decide(const struct kerf_tune_study *study, const struct posterior_draws *draws, const int32_t *pending,
                   int32_t num_pending, struct kerf_tune_decision *ret_decision) {
    int32_t leader = posterior_leader(draws), setting = posterior_draws_setting(draws, leader);
    int32_t candidate = study->preference.num ? posterior_candidate(draws, leader) : -1, again;
    char words[120], chance[CHANCE_SIZE];
    history_setting(study, setting, words, sizeof words);
    if (draws->within[leader] < study->question.confidence || study->tallies[setting].values == 0) {
        int32_t rival = least_run(study, draws, pending, num_pending);
        policy_measure(ret_decision, rival >= 0 ? rival : setting, posterior_limit(draws),
                       "it may still be the best; %s leads", words);
    } else if ((again = acquisition_repeat(draws, leader)) >= 0) {
        policy_measure(ret_decision, again, posterior_limit(draws),
                       "once more: how much do runs of one setting differ?");
    } else if (candidate < 0 || posterior_accepted(draws, leader) == candidate) {
        policy_stop(ret_decision, KERF_TUNE_CONFIDENT, "%s is within %g %% of the best with %s", words,
                    100 * study->question.within, policy_chance(draws->within[leader], chance));
    } else {
        int32_t other = posterior_draws_setting(draws, candidate);
        int32_t behind =
            policy_tries(study, other, pending, num_pending) <= policy_tries(study, setting, pending, num_pending);
        policy_measure(ret_decision, behind ? other : setting, posterior_limit(draws), "is it as good as %s?", words);
    }
}

static int32_t next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    struct posterior *posterior = study->state;
    int32_t fresh = untried(study, pending, num_pending), code = KERF_OK;
    (void)slot;
    if (fresh < 0 && posterior_is_empty(study)) fresh = least_run(study, NULL, pending, num_pending);
    if (!posterior_is_empty(study)) code = posterior_update(posterior, study, SURFACE_UNRELATED, err);
    if (code != KERF_OK) return code;
    if (fresh >= 0)
        policy_measure(ret_decision, fresh, posterior->draws ? posterior_limit(posterior->draws) : 0,
                       "the first round");
    else
        decide(study, posterior->draws, pending, num_pending, ret_decision);
    return KERF_OK;
}

static int32_t observed(struct kerf_tune_study *study, struct kerf_error *err) {
    return posterior_observed(study->state, study, SURFACE_UNRELATED, err);
}

static int32_t estimate(struct kerf_tune_study *study, struct kerf_tune_answer *answer, struct kerf_error *err) {
    return posterior_answer(study->state, study, SURFACE_UNRELATED, answer, err);
}

const struct tune_policy tune_policy_race = {
    .about = {"race",
              "rounds of all settings that may still be the best, each independent of the others: for choices without "
              "an order",
              "Maron and Moore, Hoeffding Races, 1994; Birattari et al., F-Race, 2002", 1},
    .surface = SURFACE_UNRELATED,
    .looks_at_all = 1,
    .max_observations = max_observations,
    .begin = begin,
    .end = end,
    .observed = observed,
    .next = next,
    .estimate = estimate,
};
