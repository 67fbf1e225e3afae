/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study in memory: made, told observations, asked what to do. What it decides depends on the question and on the
 * observations in their order, and on nothing else; so a study is restored by telling a new one all of them.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/nearest.h"
#include "tune/active_set.h"
#include "tune/exclusion.h"
#include "tune/tune_policy.h"

/* So many times the bound on observations, which counts as BOUND_MAX at the most, may be disturbed before the machine is
 * called too noisy. */
enum { BUSY_FACTOR = 3, BOUND_MAX = 1000 };

void kerf_tune_question_defaults(struct kerf_tune_question *ret_question) {
    *ret_question = (struct kerf_tune_question){.within = 0.03, .margin = 0.05, .confidence = 0.95};
}

/* ---- Making one -------------------------------------------------------------------------------------------- */

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
    if (o->slot < 0) return kerf_error_set(err, KERF_EINVALID, "an observation's slot must not be negative");
    if (o->outcome == KERF_TUNE_FAILED) return KERF_OK;
    if (!isfinite(o->value)) return kerf_error_set(err, KERF_EINVALID, "an observation's value is not finite");
    if (question->is_time && !(o->value > 0))
        return kerf_error_set(err, KERF_EINVALID, "a time must be above 0, not %g", o->value);
    if (o->outcome == KERF_TUNE_CENSORED && question->maximize)
        return kerf_error_set(err, KERF_EINVALID, "no run can be stopped early where more is better");
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
    *own = *question;
    study->space = question->space;
    study->tallies = arena_alloc(arena, settings, sizeof *study->tallies);
    study->estimates = arena_alloc(arena, settings, sizeof *study->estimates);
    if (!study->tallies || !study->estimates) return 0;
    study->num_open = question->space->num_settings;
    own->policy = own->prefer = NULL;
    if (question->policy && (own->policy = arena_strdup(arena, question->policy)) == NULL) return 0;
    if (question->prefer && (own->prefer = arena_strdup(arena, question->prefer)) == NULL) return 0;
    if (question->prior_log) {
        double *prior = arena_take(arena, settings, sizeof *prior);
        if (prior == NULL) return 0;
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
    if (study->policy->end) study->policy->end(study);
    free(study->observations);
    arena_free(&study->arena);
    free(study);
    return NULL;
}

/* ---- Observations ------------------------------------------------------------------------------------------ */

int32_t kerf_tune_study_observe(struct kerf_tune_study *study, const struct kerf_tune_observation *observation,
                                struct kerf_error *err) {
    int32_t code = check_observation(&study->question, observation, err);
    if (code != KERF_OK) return code;
    if (!history_add(study, observation)) return error_no_memory(err, "a study");
    if (!observation->disturbed && !observation->warmup) exclusion_update(study);
    if (!active_set_update(study)) return error_no_memory(err, "a study");
    return study->policy->observed ? study->policy->observed(study, err) : KERF_OK;
}

void kerf_tune_study_skip(struct kerf_tune_study *study, int32_t setting, const char *reason) {
    if (setting < 0 || setting >= study->space->num_settings) return;
    char *copy = arena_strdup(&study->arena, reason ? reason : "");
    history_exclude(study, setting, copy ? copy : "skipped");
}

/* ---- What to do -------------------------------------------------------------------------------------------- */

int32_t kerf_tune_study_max_observations(const struct kerf_tune_study *study) {
    return study->question.max_observations ? study->question.max_observations : study->policy->max_observations(study);
}

int32_t kerf_tune_study_next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                             struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    int32_t bound = kerf_tune_study_max_observations(study), used = study->num_observations - study->num_disturbed;
    for (int32_t i = 0; i < num_pending; i++)
        if (pending[i] < 0 || pending[i] >= study->space->num_settings)
            return kerf_error_set(err, KERF_EINVALID, "setting %d is pending, of %d", (int)pending[i],
                                  (int)study->space->num_settings);
    if (study->num_open == 0) {
        policy_stop(ret_decision, KERF_TUNE_NOTHING_LEFT, "every setting failed or was skipped");
        return KERF_OK;
    }
    if (used >= bound) {
        policy_stop(ret_decision, KERF_TUNE_TOO_NOISY, "%d observation%s, and no answer with %g %% confidence",
                    (int)used, used == 1 ? "" : "s", 100 * study->question.confidence);
        return KERF_OK;
    }
    if (study->num_disturbed >= BUSY_FACTOR * (bound < BOUND_MAX ? bound : BOUND_MAX)) {
        policy_stop(ret_decision, KERF_TUNE_TOO_NOISY, "%d observations were disturbed by other work on the machine",
                    (int)study->num_disturbed);
        return KERF_OK;
    }
    int32_t code = study->policy->next(study, pending, num_pending, slot, ret_decision, err);
    assert(code != KERF_OK || ret_decision->action == KERF_TUNE_STOP || history_is_open(study, ret_decision->setting));
    return code;
}
