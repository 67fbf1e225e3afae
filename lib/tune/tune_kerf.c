/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `kerf`: a model of the whole surface, a leader, and runs that tell most about whether it is the answer.
 *
 * The leader is the setting that is most probably within `within` of the best of all (joint_draws.h). When that is as
 * probable as was asked, runs were repeated (replicates.h), and on both sides of it on each axis something was tried,
 * the question is answered. Where
 * something is preferred, `margin` is enough for the leader, and then the question of equivalence.h begins. Until then
 * the next run is the one that tells most about it (informative.h). The first run is the default's.
 *
 * The random numbers behind the draws are fixed by the seed, so that the same observations give the same decisions.
 */
#include "tune/beliefs.h"
#include "tune/equivalence.h"
#include "tune/informative.h"
#include "tune/replicates.h"

enum { MOST = 200, STOPPED_MOST = 3, ANCHOR_TRIES = 2 };

static int32_t most(const struct kerf_tune_study *study) {
    (void)study;
    return MOST;
}

static int32_t begin(struct kerf_tune_study *study, struct kerf_error *err) {
    study->state = arena_alloc(&study->arena, 1, sizeof(struct beliefs));
    return study->state ? KERF_OK : tune_no_memory(err);
}

static void end(struct kerf_tune_study *study) { beliefs_free(study->state); }

static int is_pending(int32_t setting, const int32_t *pending, int32_t num_pending) {
    for (int32_t k = 0; k < num_pending; k++)
        if (pending[k] == setting) return 1;
    return 0;
}

/* Nothing worked yet: the model has nothing to go by, and any setting that failed least is as good as another. */
static void try_anything(const struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending,
                         struct kerf_tune_decision *ret_decision) {
    struct pcg64 rng = tune_random(study);
    int32_t best = -1, best_tries = INT32_MAX, ties = 0;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        int32_t tries = study->tallies[i].tries + is_pending(i, pending, num_pending);
        if (!tune_is_open(study, i)) continue;
        if (tries < best_tries) best_tries = tries, ties = 0;
        if (tries == best_tries && random_to(&rng, (uint32_t)ties++) == 0) best = i;
    }
    tune_measure(ret_decision, best, 0, "nothing has worked yet");
}

/* Where something is preferred, `margin` is what it has to keep to, and it is enough for the leader too. */
static double share_of(const struct kerf_tune_study *study) {
    int settled = study->num_preferred > 0 && study->question.margin > study->question.within;
    return settled ? study->question.margin : study->question.within;
}

static double probability_of(const struct joint_draws *draws, int32_t leader) {
    const struct kerf_tune_question *question = &draws->model->study->question;
    return share_of(draws->model->study) > question->within ? draws->within_margin[leader] : draws->within[leader];
}

/* The draws in which a setting is within a share of the best. */
static void statement(const struct joint_draws *draws, int32_t i, double share, unsigned char *ret_holds) {
    for (int32_t k = 0; k < DRAWS; k++)
        ret_holds[k] = draws->y[(int64_t)i * DRAWS + k] <= scale_within(&draws->model->scale, draws->best[k], share);
}

static void seek(const struct joint_draws *draws, int32_t leader, struct kerf_tune_decision *ret_decision) {
    const struct kerf_tune_study *study = draws->model->study;
    unsigned char holds[DRAWS];
    char words[120], chance[CHANCE_SIZE];
    double share = share_of(study), probability = probability_of(draws, leader);
    int32_t setting = beliefs_setting(draws, leader), pick = leader;
    if (probability < study->question.confidence) {
        statement(draws, leader, share, holds);
        pick = most_informative(draws, holds, NULL, beliefs_cut(draws));
    }
    tune_words(study, setting, words, sizeof words);
    int32_t picked = beliefs_setting(draws, pick);
    if (pick == leader)
        tune_measure(ret_decision, picked, beliefs_limit(draws), "the leader: within %g %% of the best with %s",
                     100 * share, tune_chance(probability, chance));
    else
        tune_measure(ret_decision, picked, beliefs_limit(draws), "%s %s",
                     study->tallies[picked].tries ? "a rival of" : "it may be better than", words);
}

static void compare(const struct joint_draws *draws, int32_t candidate, int32_t leader,
                    struct kerf_tune_decision *ret_decision) {
    const struct kerf_tune_study *study = draws->model->study;
    unsigned char holds[DRAWS], may[DRAW_SETTINGS_MOST + 2] = {0};
    char words[120], chance[CHANCE_SIZE];
    may[candidate] = may[leader] = 1;
    statement(draws, candidate, study->question.margin, holds);
    int32_t pick = most_informative(draws, holds, may, beliefs_cut(draws));
    if (study->tallies[beliefs_setting(draws, candidate)].tries == 0) pick = candidate;
    tune_words(study, beliefs_setting(draws, pick == leader ? candidate : leader), words, sizeof words);
    tune_measure(ret_decision, beliefs_setting(draws, pick), beliefs_limit(draws), "%s %s: within %g %% with %s",
                 pick == leader ? "the leader, beside" : "whether it is as good as", words,
                 100 * study->question.margin, tune_chance(draws->within_margin[candidate], chance));
}

/* A setting one step beside the leader on an axis, at whose value nothing was tried; -1: there is none. A surface may
 * have a kink there that no smooth model expects, and to look costs one run. */
static int32_t unseen_neighbour(const struct joint_draws *draws, int32_t leader) {
    const struct surface_model *model = draws->model;
    const struct kerf_tune_study *study = model->study;
    const struct kerf_tune_space *space = study->space;
    const int32_t *from = space->values + (int64_t)beliefs_setting(draws, leader) * space->num_params;
    for (int32_t k = 0; k < space->num_params; k++)
        for (int32_t step = -1; step <= 1 && space->params[k].kind == KERF_TUNE_INTEGER; step += 2) {
            int32_t beside = -1, tried = 0;
            for (int32_t i = 0; i < model->num_active; i++) {
                int32_t setting = model->active[i], same = tune_is_open(study, setting);
                const int32_t *values = space->values + (int64_t)setting * space->num_params;
                if (values[k] != from[k] + step) continue;
                tried |= study->tallies[setting].tries > 0;
                for (int32_t j = 0; j < space->num_params && same; j++) same = j == k || values[j] == from[j];
                if (same) beside = setting;
            }
            if (!tried && beside >= 0) return beside;
        }
    return -1;
}

static int tells_value(const struct kerf_tune_study *study, const struct kerf_tune_observation *o) {
    return o->outcome == KERF_TUNE_VALUE && !o->warmup && !o->disturbed && tune_is_open(study, o->setting);
}

/* The setting that was measured first, the default, if it was not again since the leader was: a machine that got faster
 * in between makes whatever came after look best, and a gain over one run, the first and perhaps a cold one, is none.
 * -1: it was, or that was tried often enough. */
static int32_t anchor_wanted(const struct kerf_tune_study *study, int32_t leader) {
    int32_t anchor = -1, led = 0, tries = 0;
    for (int32_t i = 0; i < study->num_observations; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        int tells = tells_value(study, o);
        if (led && o->setting == anchor) tries += tells ? ANCHOR_TRIES : 1;
        if (tells && anchor < 0) anchor = o->setting;
        led |= tells && o->setting == leader;
    }
    return tries >= ANCHOR_TRIES || anchor == leader ? -1 : anchor;
}

static void decide(const struct joint_draws *draws, struct kerf_tune_decision *ret_decision) {
    const struct kerf_tune_study *study = draws->model->study;
    int32_t leader = beliefs_leader(draws), setting = beliefs_setting(draws, leader);
    int32_t bound = study->question.max_observations ? study->question.max_observations : MOST;
    double noise, probability = probability_of(draws, leader);
    int unsure = probability < study->question.confidence;
    char words[120], chance[CHANCE_SIZE];
    if (unsure && beliefs_hopeless(draws, share_of(study), bound, &noise)) {
        tune_stop(ret_decision, KERF_TUNE_TOO_NOISY, "runs of one setting differ by %.3g %%: too much to tell %g %%",
                  100 * noise, 100 * share_of(study));
        return;
    }
    if (unsure || study->tallies[setting].values == 0) {
        seek(draws, leader, ret_decision);
        return;
    }
    int32_t again = replicates_wanted(draws, leader);
    if (again >= 0) {
        tune_measure(ret_decision, again, beliefs_limit(draws), "once more: how much do runs of one setting differ?");
        return;
    }
    int32_t anchor = anchor_wanted(study, setting);
    if (anchor >= 0) {
        tune_measure(ret_decision, anchor, 0, "the first one again: is the machine as it was?");
        return;
    }
    int32_t beside = unseen_neighbour(draws, leader);
    if (beside >= 0) {
        tune_measure(ret_decision, beside, beliefs_limit(draws), "beside the leader, where nothing was tried");
        return;
    }
    int32_t candidate = study->num_preferred ? equivalence_candidate(draws, leader) : -1;
    if (candidate >= 0 && equivalence_accepted(draws, leader) != candidate) {
        compare(draws, candidate, leader, ret_decision);
        return;
    }
    tune_stop(ret_decision, KERF_TUNE_CONFIDENT, "%s is within %g %% of the best with %s",
              tune_words(study, setting, words, sizeof words), 100 * share_of(study), tune_chance(probability, chance));
}

/* Runs that were all stopped, STOPPED_MOST with one setting twice or twice as many, say little, and perhaps that the
 * machine has slowed down: then the fastest setting that was measured is measured once more, to its end. Returns how
 * many they are, 0: not so. */
static int32_t only_stopped(const struct kerf_tune_study *study) {
    int32_t stopped = 0, again = 0;
    for (int32_t i = study->num_observations - 1; i >= 0; i--) {
        const struct kerf_tune_observation *last = &study->observations[i];
        if (last->warmup || last->disturbed || last->outcome == KERF_TUNE_FAILED) continue;
        if (last->outcome != KERF_TUNE_CENSORED) return 0;
        again |= study->tallies[last->setting].censored > 1;
        stopped++;
        if (stopped == 2 * STOPPED_MOST || (stopped == STOPPED_MOST && again)) return stopped;
    }
    return 0;
}

static int32_t fastest_measured(const struct kerf_tune_study *study) {
    int32_t fastest = -1;
    for (int32_t i = 0; i < study->space->num_settings; i++)
        if (study->tallies[i].values > 0 && tune_is_open(study, i) &&
            (fastest < 0 || study->tallies[i].mean < study->tallies[fastest].mean))
            fastest = i;
    return fastest;
}

static int32_t next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    struct beliefs *beliefs = study->state;
    int32_t first = study->space->default_setting;
    if (first >= 0 && tune_is_open(study, first) && study->tallies[first].tries == 0 &&
        !is_pending(first, pending, num_pending)) {
        tune_measure(ret_decision, first, 0, "the default");
        return KERF_OK;
    }
    if (beliefs_none(study)) {
        try_anything(study, pending, num_pending, ret_decision);
        return KERF_OK;
    }
    int32_t stopped = only_stopped(study), anchor = stopped ? fastest_measured(study) : -1;
    if (anchor >= 0) {
        tune_measure(ret_decision, anchor, 0, "the last %d were stopped: is the machine as it was?", (int)stopped);
        return KERF_OK;
    }
    int32_t code = beliefs_update(beliefs, study, SURFACE_ALIKE, err);
    if (code != KERF_OK) return code;
    int32_t suspect = surface_model_suspect(beliefs->model, slot);
    if (suspect >= 0 && tune_is_open(study, suspect) && !is_pending(suspect, pending, num_pending)) {
        tune_measure(ret_decision, suspect, 0, "that was odd: a hitch, or is the machine another one by now?");
        return KERF_OK;
    }
    if (num_pending == 0) {
        decide(beliefs->draws, ret_decision);
        return KERF_OK;
    }
    struct surface_model *model = NULL;
    struct joint_draws *draws = NULL;
    code = beliefs_pretend(beliefs, pending, num_pending, &model, &draws, err);
    if (code == KERF_OK) decide(draws, ret_decision);
    joint_draws_free(draws);
    surface_model_free(model);
    return code;
}

static int32_t estimate(struct kerf_tune_study *study, struct kerf_tune_answer *answer, struct kerf_error *err) {
    return beliefs_answer(study->state, study, SURFACE_ALIKE, answer, err);
}

const struct tune_policy tune_policy_kerf = {
    .about =
        {"kerf", "a model of the whole surface; runs what tells most about its leader; stops when sure enough",
         "Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006; Russo, Simple Bayesian Algorithms for "
         "Best-Arm Identification, 2020",
         1},
    .most = most,
    .begin = begin,
    .end = end,
    .next = next,
    .estimate = estimate,
};
