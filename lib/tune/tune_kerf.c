/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `kerf`: a model of the whole surface, a leader, and runs that tell most about whether it is the answer.
 *
 * The leader is the setting that is most probably within `within` of the best of all (posterior_draws.h). The
 * question is answered when that is as probable as was asked, runs were repeated (acquisition_repeat), and a setting
 * was tried on both sides of the leader on each axis. Where the question has a preference, `margin` is enough for the
 * leader, and candidates are then compared with it (posterior_candidate). Until then the next run is the one that
 * tells most about it (acquisition.c). The first run is the default's.
 *
 * The random numbers behind the draws are fixed by the seed, so that the same observations give the same decisions.
 */
#include "base/error_fill.h"
#include "tune/posterior.h"
#include "tune/precautions.h"
#include "tune/tune_policy.h"

enum { OBSERVATIONS_MAX = 200, STOPPED = 3 };

static int32_t max_observations(const struct kerf_tune_study *study) {
    (void)study;
    return OBSERVATIONS_MAX;
}

static int32_t begin(struct kerf_tune_study *study, struct kerf_error *err) {
    study->state = arena_alloc(&study->arena, 1, sizeof(struct posterior));
    return study->state ? KERF_OK : error_no_memory(err, "a study");
}

static void end(struct kerf_tune_study *study) { posterior_free(study->state); }

/* With a preference, the preferred setting has to be within `margin`, and so has the leader. */
static double share_of(const struct kerf_tune_study *study) {
    int settled = study->preference.num > 0 && study->question.margin > study->question.within;
    return settled ? study->question.margin : study->question.within;
}

static double probability_of(const struct posterior_draws *draws, int32_t leader) {
    const struct kerf_tune_question *question = &draws->model->study->question;
    return share_of(draws->model->study) > question->within ? draws->within_margin[leader] : draws->within[leader];
}

/* The draws in which a setting is within a share of the best. */
static void statement(const struct posterior_draws *draws, int32_t i, double share, unsigned char *ret_holds) {
    for (int32_t k = 0; k < SURFACE_DRAWS; k++)
        ret_holds[k] =
            draws->y[(int64_t)i * SURFACE_DRAWS + k] <= scale_within(&draws->model->scale, draws->best[k], share);
}

static void seek(const struct posterior_draws *draws, int32_t leader, struct kerf_tune_decision *ret_decision) {
    const struct kerf_tune_study *study = draws->model->study;
    unsigned char holds[SURFACE_DRAWS];
    char words[120], chance[CHANCE_SIZE];
    double share = share_of(study), probability = probability_of(draws, leader);
    int32_t setting = posterior_draws_setting(draws, leader), pick = leader;
    int32_t fresh =
        probability >= study->question.confidence * (1 - draws->isolated) ? precaution_untried(draws->model) : -1;
    if (fresh >= 0 && probability < study->question.confidence) {
        policy_measure(ret_decision, fresh, posterior_limit(draws), "nothing tells of a value that was not tried");
        return;
    }
    if (probability < study->question.confidence && draws->num > 1) {
        statement(draws, leader, share, holds);
        pick = acquisition_best(draws, holds, NULL, posterior_cut(draws));
    }
    if (pick < 0) pick = leader;
    history_setting(study, setting, words, sizeof words);
    int32_t picked = posterior_draws_setting(draws, pick);
    if (pick == leader)
        policy_measure(ret_decision, picked, posterior_limit(draws), "the leader: within %g %% of the best with %s",
                       100 * share, policy_chance(probability, chance));
    else
        policy_measure(ret_decision, picked, posterior_limit(draws), "%s %s",
                       study->tallies[picked].tries ? "a rival of" : "it may be better than", words);
}

static void compare(const struct posterior_draws *draws, int32_t candidate, int32_t leader,
                    struct kerf_tune_decision *ret_decision) {
    const struct kerf_tune_study *study = draws->model->study;
    unsigned char holds[SURFACE_DRAWS], may[DRAWN_MAX + 2] = {0};
    char words[120], chance[CHANCE_SIZE];
    may[candidate] = may[leader] = 1;
    statement(draws, candidate, study->question.margin, holds);
    int32_t pick = acquisition_best(draws, holds, may, posterior_cut(draws));
    if (study->tallies[posterior_draws_setting(draws, candidate)].tries == 0) pick = candidate;
    history_setting(study, posterior_draws_setting(draws, pick == leader ? candidate : leader), words, sizeof words);
    policy_measure(ret_decision, posterior_draws_setting(draws, pick), posterior_limit(draws),
                   "%s %s: within %g %% with %s", pick == leader ? "the leader, beside" : "whether it is as good as",
                   words, 100 * study->question.margin, policy_chance(draws->within_margin[candidate], chance));
}

static void decide(struct kerf_tune_study *study, const struct posterior_draws *draws,
                   struct kerf_tune_decision *ret_decision) {
    int32_t leader = posterior_leader(draws), setting = posterior_draws_setting(draws, leader);
    int32_t bound = study->question.max_observations ? study->question.max_observations : OBSERVATIONS_MAX;
    double noise, probability = probability_of(draws, leader);
    int unsure = probability < study->question.confidence;
    char words[120], chance[CHANCE_SIZE];
    if (unsure && posterior_hopeless(draws, share_of(study), bound, &noise)) {
        policy_stop(ret_decision, KERF_TUNE_TOO_NOISY, "runs of one setting differ by %.3g %%: too much to tell %g %%",
                    100 * noise, 100 * share_of(study));
        return;
    }
    if (unsure || study->tallies[setting].values == 0) {
        seek(draws, leader, ret_decision);
        return;
    }
    int32_t again = acquisition_repeat(draws, leader);
    if (again >= 0) {
        policy_measure(ret_decision, again, posterior_limit(draws),
                       "once more: how much do runs of one setting differ?");
        return;
    }
    int32_t anchor = precaution_anchor(draws->model, setting);
    if (anchor >= 0) {
        policy_measure(ret_decision, anchor, 0, "the first setting again: has the machine changed?");
        return;
    }
    if (precaution_is_outdated(draws->model, setting)) {
        policy_measure(ret_decision, setting, 0, "the leader again: the machine has changed since it was measured");
        return;
    }
    int32_t beside = precaution_beside(draws->model, setting);
    if (beside >= 0) {
        policy_measure(ret_decision, beside, posterior_limit(draws), "beside the leader, where nothing was measured");
        return;
    }
    const char *why;
    int32_t doubtful = precaution_at(study, draws->model, setting, &why);
    if (doubtful >= 0) {
        policy_measure(ret_decision, doubtful, posterior_limit(draws), "%s", why);
        return;
    }
    int32_t candidate = study->preference.num ? posterior_candidate(draws, leader) : -1;
    if (candidate >= 0 && posterior_accepted(draws, leader) != candidate) {
        compare(draws, candidate, leader, ret_decision);
        return;
    }
    policy_stop(ret_decision, KERF_TUNE_CONFIDENT, "%s is within %g %% of the best with %s",
                history_setting(study, setting, words, sizeof words), 100 * share_of(study),
                policy_chance(probability, chance));
}

/* After many stopped runs (STOPPED, with one setting twice, or twice as many) the machine may have slowed down: then
 * the fastest measured setting is measured once more, to its end. Returns their number; 0: too few. */
static int32_t only_stopped(const struct kerf_tune_study *study) {
    int32_t stopped = 0, again = 0;
    for (int32_t i = study->num_observations - 1; i >= 0; i--) {
        const struct kerf_tune_observation *last = &study->observations[i];
        if (last->warmup || last->disturbed || last->outcome == KERF_TUNE_FAILED) continue;
        if (last->outcome != KERF_TUNE_CENSORED) return 0;
        again |= study->tallies[last->setting].censored > 1;
        stopped++;
        if (stopped == 2 * STOPPED || (stopped == STOPPED && again)) return stopped;
    }
    return 0;
}

static int32_t fastest_measured(const struct kerf_tune_study *study) {
    int32_t fastest = -1;
    for (int32_t i = 0; i < study->space->num_settings; i++)
        if (study->tallies[i].values > 0 && history_is_open(study, i) &&
            (fastest < 0 || study->tallies[i].mean < study->tallies[fastest].mean))
            fastest = i;
    return fastest;
}

static int32_t next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    struct posterior *posterior = study->state;
    int32_t first = study->space->default_setting;
    if (first >= 0 && history_is_open(study, first) && study->tallies[first].tries == 0 &&
        !policy_is_pending(first, pending, num_pending)) {
        policy_measure(ret_decision, first, 0, "the default");
        return KERF_OK;
    }
    if (posterior_is_empty(study)) {
        policy_try_anything(study, pending, num_pending, ret_decision);
        return KERF_OK;
    }
    int32_t stopped = only_stopped(study), anchor = stopped ? fastest_measured(study) : -1;
    if (anchor >= 0) {
        policy_measure(ret_decision, anchor, 0, "the last %d runs were stopped: has the machine changed?",
                       (int)stopped);
        return KERF_OK;
    }
    int32_t code = posterior_update(posterior, study, SURFACE_CORRELATED, err);
    if (code != KERF_OK) return code;
    int32_t suspect = surface_model_suspect(posterior->model, slot);
    if (suspect >= 0 && history_is_open(study, suspect) && !policy_is_pending(suspect, pending, num_pending)) {
        policy_measure(ret_decision, suspect, 0,
                       "an unusual time: was it a single slow run, or has the machine changed?");
        return KERF_OK;
    }
    int32_t test = earlier_test_setting(study);
    if (test >= 0 && !policy_is_pending(test, pending, num_pending)) {
        policy_measure(ret_decision, test, posterior_limit(posterior->draws),
                       "far from the first setting: do earlier studies still hold?");
        return KERF_OK;
    }
    if (num_pending == 0) {
        decide(study, posterior->draws, ret_decision);
        return KERF_OK;
    }
    struct surface_model *model = NULL;
    struct posterior_draws *draws = NULL;
    code = posterior_fantasize(posterior, pending, num_pending, &model, &draws, err);
    if (code == KERF_OK) decide(study, draws, ret_decision);
    posterior_draws_free(draws);
    surface_model_free(model);
    return code;
}

static int32_t observed(struct kerf_tune_study *study, struct kerf_error *err) {
    return posterior_observed(study->state, study, SURFACE_CORRELATED, err);
}

static int32_t propose(struct kerf_tune_study *study, struct kerf_error *err) {
    struct posterior *posterior = study->state;
    struct proposals proposals;
    int32_t code = surface_update(study, SURFACE_CORRELATED, &posterior->model, err);
    if (code == KERF_OK) code = proposals_find(posterior->model, study, &proposals, err);
    if (code != KERF_OK) return code;
    if (study->proposed == NULL) study->proposed = arena_alloc(&study->arena, PROPOSALS_MAX, sizeof *study->proposed);
    if (study->proposed == NULL) return error_no_memory(err, "a study");
    study->num_proposed = proposals.num;
    study->unseen = proposals.unseen;
    for (int32_t i = 0; i < proposals.num; i++) study->proposed[i] = proposals.settings[i];
    return KERF_OK;
}

static int32_t estimate(struct kerf_tune_study *study, struct kerf_tune_answer *answer, struct kerf_error *err) {
    return posterior_answer(study->state, study, SURFACE_CORRELATED, answer, err);
}

const struct tune_policy tune_policy_kerf = {
    .about =
        {"kerf",
         "a model of the whole surface; measures the setting that tells most about the leader; stops when sure enough",
         "Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006; Russo, Simple Bayesian Algorithms for "
         "Best-Arm Identification, 2020",
         1},
    .max_observations = max_observations,
    .begin = begin,
    .end = end,
    .observed = observed,
    .propose = propose,
    .next = next,
    .estimate = estimate,
};
