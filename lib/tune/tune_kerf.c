/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `kerf`: a model of the whole surface, a leader, and runs that tell most about whether it is the answer.
 *
 * The leader is the setting that is most probably within `within` of the best of all (joint_draws.h). When that is as
 * probable as was asked the question is answered, and where something is preferred its own question begins
 * (equivalence.h). Until then the next run is the one that tells most about it (informative.h). The first run is the
 * default's. A run is stopped at CUT times what the leader takes: what is so slow need not be known better.
 *
 * The random numbers behind the draws are fixed by the seed, so that the same observations give the same decisions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tune/equivalence.h"
#include "tune/informative.h"

enum { MOST = 200, NOISE_AFTER = 24, FAILED_FIRST = 1 };
static const double CUT = 2.5;

struct state {
    struct surface_model *model;
    struct joint_draws *draws; /* of the model at `drawn` observations, open settings as they were */
    int32_t drawn, drawn_open;
};

static int32_t most(const struct kerf_tune_study *study) {
    (void)study;
    return MOST;
}

static int32_t begin(struct kerf_tune_study *study, struct kerf_error *err) {
    study->state = arena_alloc(&study->arena, 1, sizeof(struct state));
    return study->state ? KERF_OK : tune_no_memory(err);
}

static void end(struct kerf_tune_study *study) {
    struct state *state = study->state;
    if (state == NULL) return;
    joint_draws_free(state->draws);
    surface_model_free(state->model);
}

/* ---- What is known ----------------------------------------------------------------------------------------- */

static int32_t draw(const struct kerf_tune_study *study, const struct surface_model *model,
                    struct joint_draws **ret_draws, struct kerf_error *err) {
    int32_t also = study->space->default_setting >= 0 ? surface_model_find(model, study->space->default_setting) : -1;
    return joint_draws_make(model, &also, 1, ret_draws, err);
}

static int32_t look(struct kerf_tune_study *study, struct kerf_error *err) {
    struct state *state = study->state;
    if (state->draws && state->drawn == study->num_observations && state->drawn_open == study->num_open) return KERF_OK;
    state->draws = joint_draws_free(state->draws);
    int32_t code = surface_model_update(study, SURFACE_ALIKE, &state->model, err);
    if (code == KERF_OK) code = draw(study, state->model, &state->draws, err);
    state->drawn = study->num_observations;
    state->drawn_open = study->num_open;
    return code;
}

static int32_t setting_of(const struct joint_draws *draws, int32_t i) { return draws->model->active[draws->at[i]]; }

static double mean_of(const struct joint_draws *draws, int32_t i) {
    double mean, sd;
    surface_model_moments(draws->model, draws->at[i], &mean, &sd);
    return mean;
}

static int32_t leader_of(const struct joint_draws *draws) {
    int32_t leader = 0;
    for (int32_t i = 1; i < draws->num; i++) {
        if (draws->within[i] < draws->within[leader]) continue;
        if (draws->within[i] > draws->within[leader] || mean_of(draws, i) < mean_of(draws, leader)) leader = i;
    }
    return leader;
}

/* ---- What to do -------------------------------------------------------------------------------------------- */

/* On the model's scale; INFINITY: no run is stopped. */
static double cut_of(const struct joint_draws *draws) {
    const struct kerf_tune_study *study = draws->model->study;
    double least = INFINITY;
    if (!study->question.is_time || study->num_values == 0) return INFINITY;
    for (int32_t i = 0; i < draws->num; i++)
        if (study->tallies[setting_of(draws, i)].values > 0) least = fmin(least, mean_of(draws, i));
    return least + log(CUT);
}

static double limit_of(const struct joint_draws *draws) {
    double cut = cut_of(draws);
    return isfinite(cut) ? scale_from(&draws->model->scale, cut) : 0;
}

/* Nothing worked yet: the model has nothing to go by, and any setting that failed least is as good as another. */
static void anything(const struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending,
                     struct kerf_tune_decision *ret_decision) {
    struct pcg64 rng = tune_random(study);
    int32_t best = -1, best_tries = INT32_MAX, ties = 0;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        int32_t tries = study->tallies[i].tries;
        if (!tune_is_open(study, i)) continue;
        for (int32_t k = 0; k < num_pending; k++) tries += pending[k] == i;
        if (tries < best_tries) best_tries = tries, ties = 0;
        if (tries == best_tries && random_to(&rng, (uint32_t)ties++) == 0) best = i;
    }
    tune_measure(ret_decision, best, 0, "nothing has worked yet");
}

static int is_pending(int32_t setting, const int32_t *pending, int32_t num_pending) {
    for (int32_t k = 0; k < num_pending; k++)
        if (pending[k] == setting) return 1;
    return 0;
}

static void statement(const struct joint_draws *draws, int32_t i, double share, unsigned char *ret_holds) {
    for (int32_t k = 0; k < DRAWS; k++)
        ret_holds[k] = draws->y[(int64_t)k * draws->num + i] <= scale_within(&draws->model->scale, draws->best[k], share);
}

static void seek(const struct joint_draws *draws, int32_t leader, struct kerf_tune_decision *ret_decision) {
    const struct kerf_tune_study *study = draws->model->study;
    unsigned char holds[DRAWS];
    char words[120];
    int32_t setting = setting_of(draws, leader), pick = leader;
    if (study->tallies[setting].values > 0 || draws->within[leader] < study->question.confidence) {
        statement(draws, leader, study->question.within, holds);
        pick = most_informative(draws, holds, NULL, cut_of(draws));
    }
    tune_words(study, setting, words, sizeof words);
    int32_t picked = setting_of(draws, pick);
    if (pick == leader)
        tune_measure(ret_decision, picked, limit_of(draws), "the leader, which is within %g %% of the best with %.1f %%",
                     100 * study->question.within, 100 * draws->within[leader]);
    else
        tune_measure(ret_decision, picked, limit_of(draws), "%s of %s",
                     study->tallies[picked].tries ? "rival" : "possible rival", words);
}

static void compare(const struct joint_draws *draws, int32_t candidate, int32_t leader,
                    struct kerf_tune_decision *ret_decision) {
    const struct kerf_tune_study *study = draws->model->study;
    unsigned char holds[DRAWS], may[DRAW_SETTINGS_MOST + 2] = {0};
    char words[120];
    may[candidate] = may[leader] = 1;
    statement(draws, candidate, study->question.margin, holds);
    int32_t pick = most_informative(draws, holds, may, cut_of(draws));
    if (study->tallies[setting_of(draws, candidate)].tries == 0) pick = candidate;
    tune_words(study, setting_of(draws, pick == leader ? candidate : leader), words, sizeof words);
    tune_measure(ret_decision, setting_of(draws, pick), limit_of(draws), "%s %s: within %g %% with %.1f %%",
                 pick == leader ? "the leader beside" : "whether it is as good as", words, 100 * study->question.margin,
                 100 * draws->within_margin[candidate]);
}

static void stop_confident(const struct joint_draws *draws, int32_t leader, struct kerf_tune_decision *ret_decision) {
    const struct kerf_tune_study *study = draws->model->study;
    char words[120];
    tune_words(study, setting_of(draws, leader), words, sizeof words);
    tune_stop(ret_decision, KERF_TUNE_CONFIDENT, "%s is within %g %% of the best with %.1f %%", words,
              100 * study->question.within, 100 * draws->within[leader]);
}

/* Two settings as far apart as `within` need about (2 s / within)^2 runs each. */
static int is_hopeless(const struct joint_draws *draws, double *ret_noise) {
    const struct kerf_tune_study *study = draws->model->study;
    int32_t bound = study->question.max_observations ? study->question.max_observations : MOST;
    *ret_noise = surface_model_noise(draws->model);
    if (study->num_observations < NOISE_AFTER || !draws->model->scale.logarithmic) return 0;
    double runs = 2 * *ret_noise / log1p(study->question.within);
    return runs * runs > 2 * bound;
}

static void decide(const struct joint_draws *draws, struct kerf_tune_decision *ret_decision) {
    const struct kerf_tune_study *study = draws->model->study;
    int32_t leader = leader_of(draws);
    double noise;
    if (study->tallies[setting_of(draws, leader)].values == 0 || draws->within[leader] < study->question.confidence) {
        if (is_hopeless(draws, &noise))
            tune_stop(ret_decision, KERF_TUNE_TOO_NOISY, "runs of one setting differ by %.3g %%: too much to tell %g %%",
                      100 * noise, 100 * study->question.within);
        else
            seek(draws, leader, ret_decision);
        return;
    }
    int32_t candidate = study->num_preferred ? equivalence_candidate(draws, leader) : -1;
    if (candidate < 0 || equivalence_accepted(draws, leader) == candidate)
        stop_confident(draws, leader, ret_decision);
    else
        compare(draws, candidate, leader, ret_decision);
}

static int32_t next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    struct state *state = study->state;
    int32_t first = study->space->default_setting;
    (void)slot;
    if (first >= 0 && tune_is_open(study, first) && study->tallies[first].tries < FAILED_FIRST &&
        !is_pending(first, pending, num_pending)) {
        tune_measure(ret_decision, first, 0, "the default");
        return KERF_OK;
    }
    if (study->num_values + study->num_censored + study->question.num_earlier == 0) {
        anything(study, pending, num_pending, ret_decision);
        return KERF_OK;
    }
    int32_t code = look(study, err);
    if (code != KERF_OK) return code;
    if (num_pending == 0) {
        decide(state->draws, ret_decision);
        return KERF_OK;
    }
    struct surface_model *pretended = NULL;
    struct joint_draws *draws = NULL;
    code = surface_model_pretend(state->model, pending, num_pending, &pretended, err);
    if (code == KERF_OK) code = draw(study, pretended, &draws, err);
    if (code == KERF_OK) decide(draws, ret_decision);
    joint_draws_free(draws);
    surface_model_free(pretended);
    return code;
}

/* ---- The answer -------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void estimate_gain(const struct joint_draws *draws, int32_t leader, struct kerf_tune_answer *answer) {
    const struct kerf_tune_study *study = draws->model->study;
    int32_t first = study->space->default_setting;
    int32_t at = first >= 0 ? joint_draws_find(draws, surface_model_find(draws->model, first)) : -1;
    if (at < 0 || !draws->model->scale.logarithmic) return;
    double gains[DRAWS], sum = 0, tail = 0.5 * (1 - study->question.confidence);
    for (int32_t k = 0; k < DRAWS; k++) {
        const double *y = draws->y + (int64_t)k * draws->num;
        sum += y[at] - y[leader];
        gains[k] = y[at] - y[leader];
    }
    qsort(gains, DRAWS, sizeof *gains, by_value);
    answer->default_gain = exp(sum / DRAWS);
    answer->gain_interval[0] = exp(gains[(int32_t)(tail * (DRAWS - 1))]);
    answer->gain_interval[1] = exp(gains[(int32_t)((1 - tail) * (DRAWS - 1))]);
}

static int32_t estimate(struct kerf_tune_study *study, struct kerf_tune_answer *answer, struct kerf_error *err) {
    struct state *state = study->state;
    if (study->num_open == 0 || study->num_values + study->num_censored + study->question.num_earlier == 0)
        return KERF_OK;
    int32_t code = look(study, err);
    if (code != KERF_OK) return code;
    const struct joint_draws *draws = state->draws;
    const struct surface_model *model = state->model;
    double z = 0, mean, sd;
    z = -0.67; /* replaced below */
    (void)z;
    for (int32_t i = 0; i < model->num_active; i++) {
        struct kerf_tune_estimate *of = &study->estimates[model->active[i]];
        surface_model_moments(model, i, &mean, &sd);
        of->mean = scale_from(&model->scale, mean);
        double a = scale_from(&model->scale, mean - 2 * sd), b = scale_from(&model->scale, mean + 2 * sd);
        of->interval[0] = fmin(a, b);
        of->interval[1] = fmax(a, b);
        of->probability_within = of->probability_within_margin = 0;
    }
    for (int32_t i = 0; i < draws->num; i++) {
        struct kerf_tune_estimate *of = &study->estimates[setting_of(draws, i)];
        of->probability_within = draws->within[i];
        of->probability_within_margin = draws->within_margin[i];
    }
    int32_t leader = leader_of(draws), accepted = leader;
    if (study->num_preferred) accepted = equivalence_accepted(draws, leader);
    answer->best = setting_of(draws, leader);
    answer->recommended = setting_of(draws, accepted);
    answer->noise = surface_model_noise(model);
    estimate_gain(draws, leader, answer);
    return KERF_OK;
}

const struct tune_policy tune_policy_kerf = {
    .about = {"kerf", "a Gaussian process over the settings; runs what tells most; stops when sure enough",
              "Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006; Russo, Simple Bayesian Algorithms for "
              "Best-Arm Identification, 2020"},
    .most = most,
    .begin = begin,
    .end = end,
    .next = next,
    .estimate = estimate,
};
