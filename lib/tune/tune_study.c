/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study in memory: it takes observations and says what to do next. Its decisions depend only on the question and on
 * the observations in their order; so a study is restored by giving all observations to a new one.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/characters.h"
#include "tune/active_set.h"
#include "tune/exclusion.h"
#include "tune/history.h"
#include "tune/known_settings.h"
#include "tune/pareto.h"
#include "tune/statistics.h"
#include "tune/tune_policy.h"

/* ---- Policies ---------------------------------------------------------------------------------------------------- */

/* The policies, each a file of its own; the first is the default. */
static const struct tune_policy *const policies[] = {&tune_policy_kerf,   &tune_policy_race,    &tune_policy_exhaustive,
                                                     &tune_policy_random, &tune_policy_halving, &tune_policy_best_bub,
                                                     &tune_policy_null};
enum { POLICIES = sizeof policies / sizeof policies[0] };

/* name NULL: the default. NULL: unknown. */
static const struct tune_policy *tune_policy_find(const char *name) {
    if (name == NULL) return policies[0];
    for (int i = 0; i < POLICIES; i++)
        if (strcmp(policies[i]->about.name, name) == 0) return policies[i];
    return NULL;
}

const struct kerf_tune_policy *kerf_tune_policy_at(size_t index) {
    return index < POLICIES ? &policies[index]->about : NULL;
}

/* The machine is called too noisy after so many times the bound on observations (at most BOUND_MAX) were disturbed. */
enum { BUSY_FACTOR = 3, BOUND_MAX = 1000 };

void kerf_tune_question_defaults(struct kerf_tune_question *ret_question) {
    *ret_question = (struct kerf_tune_question){.within = 0.03, .margin = 0.05, .confidence = 0.95};
}

/* ---- Making one -------------------------------------------------------------------------------------------------- */

static int32_t check_share(const char *name, double value, struct kerf_error *err) {
    if (value >= 0 && value < 1) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "'%s' must be from 0 to below 1, not %g", name, value);
}

static int32_t check_observation(const struct kerf_tune_question *question, const struct kerf_tune_observation *o,
                                 struct kerf_error *err) {
    if (o->setting < 0 || o->setting >= question->space->num_settings)
        return kerf_error_set(err, KERF_EINVALID, "an observation of setting %d; there are %d settings",
                              (int)o->setting, (int)question->space->num_settings);
    if (o->outcome < KERF_TUNE_VALUE || o->outcome > KERF_TUNE_FAILED)
        return kerf_error_set(err, KERF_EINVALID, "%d is not an observation's outcome", (int)o->outcome);
    if ((uint32_t)o->failure >= KERF_TUNE_FAILURE_COUNT)
        return kerf_error_set(err, KERF_EINVALID, "%d is not an observation's failure", (int)o->failure);
    if (!isfinite(o->start_s) || !isfinite(o->end_s))
        return kerf_error_set(err, KERF_EINVALID, "an observation's times are not finite");
    if (o->slot < 0) return kerf_error_set(err, KERF_EINVALID, "an observation's slot must not be negative");
    if (o->outcome == KERF_TUNE_FAILED) return KERF_OK;
    if (!isfinite(o->value)) return kerf_error_set(err, KERF_EINVALID, "an observation's value is not finite");
    if (question->is_time && !(o->value > 0))
        return kerf_error_set(err, KERF_EINVALID, "a time must be above 0, not %g", o->value);
    if (o->outcome == KERF_TUNE_CENSORED && question->maximize)
        return kerf_error_set(err, KERF_EINVALID, "a run cannot be stopped early if more is better");
    return KERF_OK;
}

static int32_t check_question(const struct kerf_tune_question *question, struct kerf_error *err) {
    int32_t code = check_share("within", question->within, err);
    if (code == KERF_OK) code = check_share("margin", question->margin, err);
    if (code != KERF_OK) return code;
    if (!(question->confidence >= 0.5 && question->confidence < 1))
        return kerf_error_set(err, KERF_EINVALID, "'confidence' must be from 0.5 to below 1, not %g",
                              question->confidence);
    if (question->is_time && question->maximize)
        return kerf_error_set(err, KERF_EINVALID, "a time cannot be maximized");
    if (question->max_observations < 0 || question->num_earlier < 0)
        return kerf_error_set(err, KERF_EINVALID, "numbers of observations must not be negative");
    for (int32_t i = 0; i < question->num_earlier; i++)
        if ((code = check_observation(question, &question->earlier[i], err)) != KERF_OK) return code;
    return KERF_OK;
}

static int copy_question(struct kerf_tune_study *study, const struct kerf_tune_question *question) {
    struct kerf_tune_question *own = &study->question;
    struct arena *arena = &study->arena;
    size_t settings = (size_t)question->space->num_settings, earlier = (size_t)question->num_earlier;
    size_t most = (size_t)kerf_tune_space_capacity(question->space);
    *own = *question;
    study->space = question->space;
    study->tallies = arena_alloc(arena, most, sizeof *study->tallies);
    study->estimates = arena_alloc(arena, most, sizeof *study->estimates);
    if (!study->tallies || !study->estimates) return 0;
    known_settings_grow(study);
    study->unseen = NAN;
    own->policy = own->prefer = NULL;
    if (question->policy && (own->policy = arena_strdup(arena, question->policy)) == NULL) return 0;
    if (question->prefer && (own->prefer = arena_strdup(arena, question->prefer)) == NULL) return 0;
    if (question->prior_log) {
        double *prior = arena_take(arena, most, sizeof *prior);
        if (prior == NULL) return 0;
        for (size_t i = settings; i < most; i++) prior[i] = NAN;
        own->prior_log = memcpy(prior, question->prior_log, settings * sizeof *prior);
    }
    if (earlier > 0) {
        struct kerf_tune_observation *copy = arena_take(arena, earlier, sizeof *copy);
        if (copy == NULL) return 0;
        own->earlier = study->earlier = memcpy(copy, question->earlier, earlier * sizeof *copy);
        study->num_earlier = question->num_earlier;
    }
    return 1;
}

static int32_t unknown_policy(const char *name, struct kerf_error *err) {
    const char *names[16];
    size_t count = 0;
    for (const struct kerf_tune_policy *policy; count < 16 && (policy = kerf_tune_policy_at(count));)
        names[count++] = policy->name;
    const char *nearest = nearest_name(name, names, count);
    return kerf_error_set(err, KERF_EUNKNOWN, "no policy is called '%.100s'%s%s%s", name,
                          nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

int32_t kerf_tune_study_create(const struct kerf_tune_question *question, struct kerf_tune_study **ret_study,
                               struct kerf_error *err) {
    const struct tune_policy *policy = tune_policy_find(question->policy);
    if (policy == NULL) return unknown_policy(question->policy, err);
    int32_t code = check_question(question, err);
    if (code == KERF_OK && policy->looks_at_all && question->space->has_unused == KERF_TUNE_GROWS)
        code = kerf_error_set(err, KERF_EINVALID,
                              "the policy %s looks at every setting; a grid of %.3g settings is for kerf and random",
                              policy->about.name, kerf_tune_space_size(question->space));
    if (code != KERF_OK) return code;
    struct kerf_tune_study *study = calloc(1, sizeof *study);
    if (study == NULL) return error_no_memory(err, "a study");
    study->policy = policy;
    code = copy_question(study, question) ? KERF_OK : error_no_memory(err, "a study");
    if (code == KERF_OK)
        code = preference_read(study->question.prefer, study->space, &study->arena, &study->preference, err);
    if (code == KERF_OK && !active_set_update(study)) code = error_no_memory(err, "a study");
    if (code == KERF_OK && policy->begin) code = policy->begin(study, err);
    if (code == KERF_OK)
        *ret_study = study;
    else
        kerf_tune_study_free(study);
    return code;
}

struct kerf_tune_study *kerf_tune_study_free(struct kerf_tune_study *study) {
    if (study == NULL) return NULL;
    pareto_free(study->pareto);
    kerf_tune_study_free(study->second);
    if (study->policy->end) study->policy->end(study);
    free(study->observations);
    arena_free(&study->importance);
    arena_free(&study->arena);
    free(study);
    return NULL;
}

/* ---- Observations ------------------------------------------------------------------------------------------------ */

/* An observation that was checked. */
static int32_t take(struct kerf_tune_study *study, const struct kerf_tune_observation *observation,
                    struct kerf_error *err) {
    int32_t code = KERF_OK;
    known_settings_grow(study);
    if (!history_add(study, observation)) return error_no_memory(err, "a study");
    if (!observation->disturbed && !observation->warmup) exclusion_update(study);
    if (study->policy->propose && active_set_is_due(study) && history_informative(study) > 0)
        code = study->policy->propose(study, err);
    if (code != KERF_OK) return code;
    if (!active_set_update(study)) return error_no_memory(err, "a study");
    return study->policy->observed ? study->policy->observed(study, err) : KERF_OK;
}

int32_t kerf_tune_study_observe(struct kerf_tune_study *study, const struct kerf_tune_observation *observation,
                                struct kerf_error *err) {
    int32_t code = check_observation(&study->question, observation, err);
    if (code == KERF_OK && study->second)
        code =
            kerf_error_set(err, KERF_EINVALID, "this study has two objectives, and an observation has a value of each");
    return code == KERF_OK ? take(study, observation, err) : code;
}

void kerf_tune_study_skip(struct kerf_tune_study *study, int32_t setting, const char *reason) {
    if (setting < 0 || setting >= study->space->num_settings) return;
    known_settings_grow(study);
    char *copy = arena_strdup(&study->arena, reason ? reason : "");
    history_exclude(study, setting, copy ? copy : "skipped");
    if (study->second) kerf_tune_study_skip(study->second, setting, reason);
}

int32_t kerf_tune_study_sizes(struct kerf_tune_study *study, const int64_t *sizes, int32_t num_sizes,
                              struct kerf_error *err) {
    int64_t *copy = num_sizes > 0 ? arena_alloc(&study->arena, (size_t)num_sizes, sizeof *copy) : NULL;
    if (num_sizes > 0 && copy == NULL) return error_no_memory(err, "a study");
    for (int32_t i = 0; i < num_sizes; i++) copy[i] = sizes[i];
    study->sizes = copy;
    study->num_sizes = num_sizes > 0 ? num_sizes : 0;
    return study->second ? kerf_tune_study_sizes(study->second, sizes, num_sizes, err) : KERF_OK;
}

/* ---- Two objectives ---------------------------------------------------------------------------------------------- */

static int32_t make_second(struct kerf_tune_study *study, int32_t maximize, struct kerf_error *err) {
    struct kerf_tune_question question = study->question;
    study->question.is_time = 0; /* no run is stopped: a slow one may be the best by the other objective */
    question.policy = study->policy->about.name;
    question.maximize = maximize;
    question.is_time = 0;
    question.prior_log = NULL;
    question.seed = study->question.seed + 1;
    int32_t code = kerf_tune_study_create(&question, &study->second, err);
    if (code == KERF_OK) code = kerf_tune_study_sizes(study->second, study->sizes, study->num_sizes, err);
    if (code != KERF_OK) return code;
    for (int32_t i = 0; i < study->space->num_settings; i++)
        if (study->tallies[i].skipped) kerf_tune_study_skip(study->second, i, study->tallies[i].skipped);
    study->pareto = pareto_create(study);
    if (study->pareto) return KERF_OK;
    study->second = kerf_tune_study_free(study->second);
    return error_no_memory(err, "a study");
}

int32_t kerf_tune_study_trade(struct kerf_tune_study *study, int32_t maximize, struct kerf_error *err) {
    const struct tune_policy *policy = study->policy;
    if (study->num_observations > 0 || study->second)
        return kerf_error_set(err, KERF_EINVALID, "a second objective comes before the first observation, and once");
    if (study->num_earlier > 0 || study->preference.num > 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "a study of two objectives has no earlier observations and no preference");
    if (policy != &tune_policy_kerf && policy != &tune_policy_exhaustive && policy != &tune_policy_random)
        return kerf_error_set(err, KERF_EINVALID,
                              "the policy %s has one objective; kerf, exhaustive and random may have two",
                              policy->about.name);
    if (study->space->num_settings > ACTIVE_MAX)
        return kerf_error_set(
            err, KERF_EINVALID,
            "a Pareto front is sought among at most %d settings, not %.10g: leave values or parameters out",
            (int)ACTIVE_MAX, kerf_tune_space_size(study->space));
    return make_second(study, maximize, err);
}

int32_t kerf_tune_study_observe_both(struct kerf_tune_study *study, const struct kerf_tune_observation *observation,
                                     double second, struct kerf_error *err) {
    struct kerf_tune_observation other = *observation;
    if (study->second == NULL)
        return kerf_error_set(err, KERF_EINVALID, "this study has one objective; kerf_tune_study_trade gives it two");
    other.value = observation->outcome == KERF_TUNE_VALUE ? second : 0;
    int32_t code = check_observation(&study->question, observation, err);
    if (code == KERF_OK && observation->outcome == KERF_TUNE_CENSORED)
        code = kerf_error_set(err, KERF_EINVALID, "a run with two objectives is not stopped early");
    if (code == KERF_OK) code = check_observation(&study->second->question, &other, err);
    if (code == KERF_OK) code = take(study, observation, err);
    return code == KERF_OK ? take(study->second, &other, err) : code;
}

int32_t kerf_tune_study_front(struct kerf_tune_study *study, struct kerf_tune_front *ret_front,
                              struct kerf_error *err) {
    struct kerf_tune_front front;
    size_t size = ret_front->size < sizeof front ? ret_front->size : sizeof front;
    if (size < sizeof ret_front->size) return kerf_error_set(err, KERF_EINVALID, "struct kerf_tune_front has no size");
    if (study->second == NULL) return kerf_error_set(err, KERF_EINVALID, "a study of one objective has no front");
    struct kerf_tune_answer second;
    int32_t code = kerf_tune_study_answer(study->second, &second, err);
    if (code == KERF_OK) code = pareto_front(study->pareto, &front, err);
    if (code != KERF_OK) return code;
    front.second = second.settings;
    front.noise = second.noise;
    front.size = ret_front->size;
    memcpy(ret_front, &front, size);
    return KERF_OK;
}

/* ---- What to do -------------------------------------------------------------------------------------------------- */

int32_t kerf_tune_study_max_observations(const struct kerf_tune_study *study) {
    if (study->question.max_observations) return study->question.max_observations;
    int32_t bound = study->policy->max_observations(study);
    return study->second && bound < INT32_MAX / 2 ? 2 * bound : bound; /* a front is several answers */
}

static void stop_at_bound(const struct kerf_tune_study *study, int32_t used, struct kerf_tune_decision *ret_decision) {
    policy_stop(ret_decision, KERF_TUNE_TOO_NOISY, "%d observation%s, and no answer with %g %% confidence", (int)used,
                used == 1 ? "" : "s", 100 * study->question.confidence);
}

/* Where an answer has the confidence that was asked for, something else remains that would have been run. */
static int32_t stop_instead(struct kerf_tune_study *study, int32_t used, struct kerf_tune_decision *decision,
                            struct kerf_error *err) {
    struct kerf_tune_answer answer;
    int32_t code = kerf_tune_study_answer(study, &answer, err);
    if (code != KERF_OK) return code;
    const struct kerf_tune_decision wanted = *decision;
    if (study->second || answer.best < 0 ||
        !(study->estimates[answer.best].probability_within >= study->question.confidence))
        stop_at_bound(study, used, decision);
    else
        policy_stop(decision, KERF_TUNE_TOO_NOISY, "%d observations, and one was still to come: %.140s", (int)used,
                    wanted.reason);
    return KERF_OK;
}

int32_t kerf_tune_study_next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                             struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    int32_t bound = kerf_tune_study_max_observations(study), used = study->num_observations - study->num_disturbed;
    for (int32_t i = 0; i < num_pending; i++)
        if (pending[i] < 0 || pending[i] >= study->space->num_settings)
            return kerf_error_set(err, KERF_EINVALID, "setting %d is pending, of %d", (int)pending[i],
                                  (int)study->space->num_settings);
    known_settings_grow(study);
    if (study->num_open == 0) {
        policy_stop(ret_decision, KERF_TUNE_NOTHING_LEFT, "every setting failed or was skipped");
        return KERF_OK;
    }
    int has_front = study->pareto && study->policy == &tune_policy_kerf;
    if (used >= bound && study->policy != &tune_policy_kerf) {
        stop_at_bound(study, used, ret_decision);
        return KERF_OK;
    }
    if (study->num_disturbed >= BUSY_FACTOR * (bound < BOUND_MAX ? bound : BOUND_MAX)) {
        policy_stop(ret_decision, KERF_TUNE_TOO_NOISY, "%d observations were disturbed by other work on the machine",
                    (int)study->num_disturbed);
        return KERF_OK;
    }
    int32_t code = has_front ? pareto_next(study->pareto, pending, num_pending, slot, bound, ret_decision, err)
                             : study->policy->next(study, pending, num_pending, slot, ret_decision, err);
    assert(code != KERF_OK || ret_decision->action == KERF_TUNE_STOP || history_is_open(study, ret_decision->setting) ||
           exclusion_is_presumed(study, ret_decision->setting));
    int is_over = code == KERF_OK && used >= bound && ret_decision->action == KERF_TUNE_MEASURE;
    return is_over ? stop_instead(study, used, ret_decision, err) : code;
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

/*
 * The answer of a study: the plain statistics of all measurements; the policy's model, if it has one, then overwrites
 * what it knows better.
 */

/* Among settings that were not excluded meanwhile because they began to fail; if all were, among all but those that
 * broke a limit. */
static int32_t best_mean(const struct kerf_tune_study *study) {
    int32_t best = -1, is_best_open = 0;
    double sign = study->question.maximize ? -1 : 1;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        int32_t is_open = history_is_open(study, i);
        if (study->tallies[i].values == 0 || is_open < is_best_open) continue;
        if (!is_open && study->tallies[i].failure == KERF_TUNE_FAILURE_LIMIT) continue;
        if (best < 0 || is_open > is_best_open || sign * study->tallies[i].mean < sign * study->tallies[best].mean) {
            best = i;
            is_best_open = is_open;
        }
    }
    return best;
}

static void plain_gain(const struct kerf_tune_study *study, struct kerf_tune_answer *answer) {
    int32_t first = study->space->default_setting;
    if (first < 0 || answer->best < 0 || study->tallies[first].values == 0) return;
    double of_default = study->tallies[first].mean, of_best = study->tallies[answer->best].mean;
    answer->default_gain = study->question.maximize ? of_best / of_default : of_default / of_best;
}

static void write_reason(const struct kerf_tune_study *study, struct kerf_tune_answer *answer) {
    char best[90], recommended[90], chance[CHANCE_SIZE];
    if (answer->best < 0) {
        snprintf(answer->reason, sizeof answer->reason, "nothing was measured");
        return;
    }
    history_setting(study, answer->best, best, sizeof best);
    history_setting(study, answer->recommended, recommended, sizeof recommended);
    const struct kerf_tune_estimate *of = &study->estimates[answer->recommended];
    if (answer->recommended != answer->best)
        snprintf(answer->reason, sizeof answer->reason, "preferred to %s and within %g %% of the best with %s", best,
                 100 * study->question.margin, policy_chance(of->probability_within_margin, chance));
    else if (isnan(of->probability_within))
        snprintf(answer->reason, sizeof answer->reason, "the best mean of %d observation%s", (int)answer->observations,
                 answer->observations == 1 ? "" : "s");
    else
        snprintf(answer->reason, sizeof answer->reason, "within %g %% of the best with %s",
                 100 * study->question.within, policy_chance(of->probability_within, chance));
}

/* Corrects what a model says against known facts: a setting that does not run has no time, and a stopped one takes no
 * less than it ran. */
static void keep_to_what_is_known(struct kerf_tune_estimate *of) {
    if (of->status == KERF_TUNE_SKIPPED || of->status == KERF_TUNE_ALL_FAILED) {
        of->mean = of->interval[0] = of->interval[1] = NAN;
        of->probability_within = of->probability_within_margin = NAN;
    } else if (of->status == KERF_TUNE_ALL_CENSORED) {
        of->mean = fmax(of->mean, of->bound); /* the bound, too, where there is no mean */
        for (int i = 0; i < 2; i++)
            if (!isnan(of->interval[i])) of->interval[i] = fmax(of->interval[i], of->bound);
    }
}

static int is_above_zero(const struct kerf_tune_observation *observations, int32_t count) {
    for (int32_t i = 0; i < count; i++)
        if (observation_is_informative(&observations[i]) && observations[i].value <= 0) return 0;
    return 1;
}

/* A mean of values that were all above 0 is not taken to be below it: the model computes with their logarithms. */
static void keep_above_zero(struct kerf_tune_study *study) {
    if (!is_above_zero(study->earlier, study->num_earlier)) return;
    if (!is_above_zero(study->observations, study->num_observations)) return;
    for (int32_t i = 0; i < study->space->num_settings; i++)
        if (study->estimates[i].interval[0] < 0) study->estimates[i].interval[0] = 0;
}

/* How much worse an exact value is than that of the best measured setting, as a share of the better one. */
static double worse_by(const struct kerf_tune_study *study, double value, int32_t best) {
    double than = best < 0 ? value : study->tallies[best].mean;
    if (!(value > 0 && than > 0)) return 0; /* the policy's draws are exact, then */
    return study->question.maximize ? than / value - 1 : value / than - 1;
}

/* Repeated runs that agree to the last bit have no noise: the observed value is exact, without an interval and without
 * drift, and not within a share of the best where another one is better by more. */
static void keep_to_what_was_observed(struct kerf_tune_study *study, struct kerf_tune_answer *answer) {
    int32_t first = study->space->default_setting, best = best_mean(study);
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        struct kerf_tune_estimate *of = &study->estimates[i];
        if (of->status != KERF_TUNE_MEASURED) continue;
        of->mean = of->interval[0] = of->interval[1] = of->observed_mean;
        double worse = worse_by(study, of->mean, best);
        if (worse > study->question.within && of->probability_within > 0) of->probability_within = 0;
        if (worse > study->question.margin && of->probability_within_margin > 0) of->probability_within_margin = 0;
    }
    answer->noise = 0;
    answer->drift = 1;
    if (first < 0 || answer->best < 0 || study->estimates[first].status != KERF_TUNE_MEASURED ||
        study->estimates[answer->best].status != KERF_TUNE_MEASURED)
        return;
    plain_gain(study, answer);
    answer->gain_interval[0] = answer->gain_interval[1] = answer->default_gain;
}

int32_t kerf_tune_study_answer(struct kerf_tune_study *study, struct kerf_tune_answer *ret_answer,
                               struct kerf_error *err) {
    known_settings_grow(study);
    struct kerf_tune_answer answer = {.best = best_mean(study),
                                      .observations = study->num_observations,
                                      .censored = study->num_censored,
                                      .failed = study->num_failed,
                                      .disturbed = study->num_disturbed,
                                      .earlier = study->num_earlier,
                                      .earlier_dropped = study->num_dropped,
                                      .open = study->num_open,
                                      .looked_at = study->space->num_settings,
                                      .chance_unseen = NAN,
                                      .widened = 1,
                                      .noise = history_noise(study),
                                      .drift = 1,
                                      .default_gain = NAN,
                                      .gain_interval = {NAN, NAN},
                                      .settings = study->estimates};
    study->modes = (struct kerf_tune_modes){.slower = 1};
    for (int32_t i = 0; i < study->space->num_settings; i++) study->estimates[i] = history_estimate(study, i);
    answer.recommended = answer.best;
    plain_gain(study, &answer);
    int32_t code = study->policy->estimate ? study->policy->estimate(study, &answer, err) : KERF_OK;
    if (code != KERF_OK) return code;
    if (history_is_exact(study)) keep_to_what_was_observed(study, &answer);
    keep_above_zero(study);
    for (int32_t i = 0; i < study->space->num_settings; i++) keep_to_what_is_known(&study->estimates[i]);
    write_reason(study, &answer);
    *ret_answer = answer;
    return KERF_OK;
}

int32_t kerf_tune_study_modes(const struct kerf_tune_study *study, struct kerf_tune_modes *ret_modes,
                              struct kerf_error *err) {
    if (ret_modes->size < sizeof *ret_modes) return kerf_error_set(err, KERF_EINVALID, "the modes have no size");
    ret_modes->share = study->modes.share;
    ret_modes->slower = study->modes.share > 0 ? study->modes.slower : 1;
    return KERF_OK;
}
