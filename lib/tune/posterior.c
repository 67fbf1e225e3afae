/* SPDX-License-Identifier: Apache-2.0 */
/* The posterior kept up to date: its leader, where a run is stopped, what is equivalent, and the answer. */
#include "tune/posterior.h"

#include <assert.h>
#include <math.h>
#include "tune/kernel.h"
#include "tune/neighbours.h"
#include "tune/statistics.h"
#include "tune/surface_model.h"

enum { NOISE_AFTER = 24, RUNS_MAX = 12 };
static const double DROP = 0.05;
static const double CUT = 2.25;
static const double SLOWED = 1.3;                     /* times as long as before: not noise */
static const double SLOW_OVER = 0.2, SLOW_NOISES = 6; /* likewise, of a logarithm, and standard deviations */

int posterior_is_empty(const struct kerf_tune_study *study) {
    return history_informative(study) + study->num_earlier == 0;
}

void posterior_free(struct posterior *posterior) {
    if (posterior == NULL) return;
    posterior->draws = posterior_draws_free(posterior->draws);
    posterior->model = surface_model_free(posterior->model);
}

/* The measured setting that is the fastest by the model, an active index; -1: none was measured. */
static int32_t fastest_measured(const struct surface_model *model) {
    int32_t fastest = -1;
    double least = INFINITY, mean, sd;
    for (int32_t i = 0; i < model->num_active; i++) {
        if (model->study->tallies[model->active[i]].values == 0) continue;
        surface_model_moments(model, i, &mean, &sd);
        if (mean < least) least = mean, fastest = i;
    }
    return fastest;
}

static int32_t draw(const struct surface_model *model, struct posterior_draws **ret_draws, struct kerf_error *err) {
    int32_t first = model->study->space->default_setting;
    int32_t also[2] = {first >= 0 ? surface_model_find(model, first) : -1, fastest_measured(model)};
    return posterior_draws_make(model, also, 2, ret_draws, err);
}

int32_t posterior_update(struct posterior *posterior, const struct kerf_tune_study *study, int32_t kind,
                         struct kerf_error *err) {
    int32_t told = history_informative(study);
    if (posterior->draws && posterior->drawn == told && posterior->drawn_open == study->num_open &&
        posterior->drawn_earlier == study->num_earlier)
        return KERF_OK;
    posterior->draws = posterior_draws_free(posterior->draws);
    int32_t code = surface_update(study, kind, &posterior->model, err);
    if (code == KERF_OK) code = draw(posterior->model, &posterior->draws, err);
    posterior->drawn = told;
    posterior->drawn_open = study->num_open;
    posterior->drawn_earlier = study->num_earlier;
    return code;
}

int32_t posterior_fantasize(const struct posterior *posterior, const int32_t *pending, int32_t num_pending,
                            struct surface_model **ret_model, struct posterior_draws **ret_draws,
                            struct kerf_error *err) {
    struct surface_model *model = NULL;
    int32_t code = surface_fantasize(posterior->model, pending, num_pending, &model, err);
    if (code == KERF_OK) code = draw(model, ret_draws, err);
    if (code == KERF_OK)
        *ret_model = model;
    else
        surface_model_free(model);
    return code;
}

static double mean_of(const struct posterior_draws *draws, int32_t i) {
    double mean, sd;
    surface_model_moments(draws->model, draws->at[i], &mean, &sd);
    return mean;
}

static int leads(const struct posterior_draws *draws, int32_t i, int32_t before) {
    if (before < 0 || draws->within[i] != draws->within[before])
        return before < 0 || draws->within[i] > draws->within[before];
    return mean_of(draws, i) < mean_of(draws, before);
}

int32_t posterior_leader(const struct posterior_draws *draws) {
    int32_t leader = 0;
    for (int32_t i = 1; i < draws->num; i++)
        if (leads(draws, i, leader)) leader = i;
    return leader;
}

/* What a run would take now: drift shifts all alike. */
static double drift_now(const struct posterior_draws *draws) {
    double sum = 0;
    for (int32_t k = 0; k < SURFACE_DRAWS; k++) sum += draws->drift[k];
    return sum / SURFACE_DRAWS;
}

/* Whether each of its runs was taken for a slow one, while another setting was faster in all of its runs, of two or more:
 * where the model fits badly, what was seen counts. */
static int is_contradicted(const struct posterior_draws *draws, int32_t i) {
    const struct surface_model *model = draws->model;
    struct setting_runs own = setting_runs(model, posterior_draws_setting(draws, i));
    double fast = own.least - fmax(SLOW_OVER, SLOW_NOISES * surface_model_noise(model)) - fabs(drift_now(draws));
    if (!model->scale.logarithmic || own.num == 0 || fast <= mean_of(draws, i)) return 0;
    for (int32_t k = 0; k < model->num_active; k++) {
        struct setting_runs other = setting_runs(model, model->active[k]);
        if (other.num > 1 && other.most < fast) return 1;
    }
    return 0;
}

/* An answer is a setting that was measured, even if another one is expected to be better; where all runs were stopped,
 * or belong to earlier studies, it is any setting that did not fail. */
static int32_t measured_leader(const struct posterior_draws *draws) {
    const struct kerf_tune_study *study = draws->model->study;
    int32_t leader = -1, any = -1;
    for (int32_t i = 0; i < draws->num; i++) {
        const struct tally *tally = &study->tallies[posterior_draws_setting(draws, i)];
        if (tally->values > 0 && leads(draws, i, leader) && !is_contradicted(draws, i)) leader = i;
        if (tally->failed == 0 && leads(draws, i, any)) any = i;
    }
    return leader >= 0 ? leader : any;
}

/* By how much runs take longer now than the model says, on its scale: by its drift, or by the last run that ended,
 * because a machine may slow down at once. 0 where noise explains it. */
static double slowness_now(const struct posterior_draws *draws) {
    const struct surface_model *model = draws->model;
    const struct kerf_tune_study *study = model->study;
    double drift = drift_now(draws), mean, sd;
    for (int32_t i = study->num_observations - 1; i >= 0; i--) {
        const struct kerf_tune_observation *last = &study->observations[i];
        int32_t active = surface_model_find(model, last->setting);
        if (last->outcome != KERF_TUNE_VALUE || last->warmup || last->disturbed || active < 0) continue;
        surface_model_moments(model, active, &mean, &sd);
        drift = fmax(drift, scale_to(&model->scale, last->value) - mean);
        break;
    }
    return drift > log(SLOWED) ? drift : 0;
}

double posterior_cut(const struct posterior_draws *draws) {
    const struct kerf_tune_study *study = draws->model->study;
    double least = INFINITY;
    if (!study->question.is_time || study->num_values == 0) return INFINITY;
    for (int32_t i = 0; i < draws->num; i++)
        if (study->tallies[posterior_draws_setting(draws, i)].values > 0) least = fmin(least, mean_of(draws, i));
    return least + log(CUT) + slowness_now(draws);
}

double posterior_limit(const struct posterior_draws *draws) {
    double cut = posterior_cut(draws);
    return isfinite(cut) ? scale_from(&draws->model->scale, cut) : 0;
}

/* To tell two settings so far apart takes about (2 s / share)^2 runs of each. */
int posterior_hopeless(const struct posterior_draws *draws, double share, int32_t bound, double *ret_noise) {
    const struct kerf_tune_study *study = draws->model->study;
    *ret_noise = surface_model_deviation(draws->model, history_noise(study));
    if (study->num_observations < NOISE_AFTER || !draws->model->scale.logarithmic) return 0;
    double runs = 2 * surface_model_noise(draws->model) / log1p(share);
    return runs * runs > 2 * (double)bound;
}

/* ---- What is preferred ------------------------------------------------------------------------------------------- */

/*
 * The search for the fastest setting measures slower ones badly, so that it does not tell which preferred setting is
 * good enough. That is decided afterwards: the candidates are the settings that are preferred to the leader, in the
 * order of the preference. Candidate and leader are measured in turn until the candidate is within the margin of the
 * best with the confidence asked, or is dropped: when that has become less probable than DROP, or after RUNS_MAX runs of
 * the candidate without a decision.
 */
static int is_accepted(const struct posterior_draws *draws, int32_t i) {
    const struct kerf_tune_study *study = draws->model->study;
    return draws->within_margin[i] >= study->question.confidence &&
           study->tallies[posterior_draws_setting(draws, i)].values > 0;
}

static int is_dropped(const struct posterior_draws *draws, int32_t i) {
    const struct tally *tally = &draws->model->study->tallies[posterior_draws_setting(draws, i)];
    return !is_accepted(draws, i) && (draws->within_margin[i] < DROP || tally->values + tally->censored >= RUNS_MAX);
}

static int is_before(const struct posterior_draws *draws, int32_t i, int32_t j) {
    const struct kerf_tune_study *study = draws->model->study;
    return preference_compare(&study->preference, study->space, posterior_draws_setting(draws, i),
                              posterior_draws_setting(draws, j)) < 0;
}

int32_t posterior_candidate(const struct posterior_draws *draws, int32_t leader) {
    int32_t candidate = -1;
    for (int32_t i = 0; i < draws->num; i++)
        if (is_before(draws, i, leader) && !is_dropped(draws, i) && (candidate < 0 || is_before(draws, i, candidate)))
            candidate = i;
    return candidate;
}

int32_t posterior_accepted(const struct posterior_draws *draws, int32_t leader) {
    int32_t best = leader;
    for (int32_t i = 0; i < draws->num; i++)
        if (is_accepted(draws, i) && is_before(draws, i, best)) best = i;
    return best;
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

/* The interval of the draws without a tail of (1 - confidence) / 2 on either side. Changes their order. */
static void interval_of(const struct posterior_draws *draws, double *of, double *ret_low, double *ret_high) {
    double tail = 0.5 * (1 - draws->model->study->question.confidence);
    *ret_low = order_statistic(of, SURFACE_DRAWS, (int32_t)(tail * (SURFACE_DRAWS - 1)));
    *ret_high = order_statistic(of, SURFACE_DRAWS, (int32_t)((1 - tail) * (SURFACE_DRAWS - 1)));
}

static void write_gain(const struct posterior_draws *draws, int32_t leader, struct kerf_tune_answer *answer) {
    const struct kerf_tune_study *study = draws->model->study;
    int32_t first = study->space->default_setting;
    int32_t active = first >= 0 ? surface_model_find(draws->model, first) : -1;
    int32_t at = active >= 0 ? posterior_draws_find(draws, active) : -1;
    if (at < 0 || !draws->model->scale.logarithmic) return;
    double gains[SURFACE_DRAWS], sum = 0, low, high;
    for (int32_t k = 0; k < SURFACE_DRAWS; k++) {
        gains[k] = draws->y[(int64_t)at * SURFACE_DRAWS + k] - draws->y[(int64_t)leader * SURFACE_DRAWS + k];
        sum += gains[k];
    }
    interval_of(draws, gains, &low, &high);
    answer->default_gain = exp(sum / SURFACE_DRAWS);
    answer->gain_interval[0] = exp(low);
    answer->gain_interval[1] = exp(high);
}

/* Where all runs of a setting may have been slow ones, so far below them it may be; INFINITY where that is too improbable. */
static double low_if_slow(const struct surface_model *model, int32_t i, double reach) {
    const struct modes *modes = &model->modes;
    double upper, beyond = 0.5 * (1 - model->study->question.confidence);
    int32_t runs = modes->share > 0 ? modes_unknown(model, model->active[i], &upper) : 0;
    if (runs == 0 || pow(modes_share(modes), runs) < beyond) return INFINITY;
    return upper - modes->slower - reach * modes->noise / sqrt(runs);
}

static void write_estimate(const struct posterior_draws *draws, int32_t i, double reach, double drift,
                           struct kerf_tune_estimate *of) {
    const struct surface_model *model = draws->model;
    double mean, sd;
    surface_model_moments(model, i, &mean, &sd);
    double low = fmin(mean - reach * sd, low_if_slow(model, i, reach)) + drift;
    mean += drift;
    double a = scale_from(&model->scale, low), b = scale_from(&model->scale, mean + reach * sd);
    of->mean = scale_from(&model->scale, mean);
    of->interval[0] = fmin(a, b);
    of->interval[1] = fmax(a, b);
    of->probability_within = posterior_draws_outside(draws, i, model->study->question.within);
    of->probability_within_margin = posterior_draws_outside(draws, i, model->study->question.margin);
}

/* For a setting that was drawn together with the drift: their sum is better known than each alone. */
static void write_drawn(const struct posterior_draws *draws, int32_t i, struct kerf_tune_estimate *of) {
    const struct scale *scale = &draws->model->scale;
    double now[SURFACE_DRAWS], sum = 0, low, high;
    for (int32_t k = 0; k < SURFACE_DRAWS; k++) {
        now[k] = draws->y[(int64_t)i * SURFACE_DRAWS + k] + draws->drift[k];
        sum += now[k];
    }
    interval_of(draws, now, &low, &high);
    double a = scale_from(scale, low), b = scale_from(scale, high);
    of->mean = scale_from(scale, sum / SURFACE_DRAWS);
    of->interval[0] = fmin(a, b);
    of->interval[1] = fmax(a, b);
    of->probability_within = draws->within[i];
    of->probability_within_margin = draws->within_margin[i];
}

/* Student's t with the degrees of freedom of the noise's variance. */
static double reach_of(const struct surface_model *model) {
    double freedom = 0, confidence = model->study->question.confidence;
    for (int32_t i = 0; i < model->num_points; i++) freedom += model->weights[i] * 2 * model->points[i].alpha;
    return student_quantile(0.5 + 0.5 * confidence, freedom);
}

/* A setting that always failed has no time. */
static void forget_failed(struct kerf_tune_estimate *of) {
    if (of->status == KERF_TUNE_ALL_FAILED) of->mean = of->interval[0] = of->interval[1] = NAN;
}

int32_t posterior_answer(struct posterior *posterior, struct kerf_tune_study *study, int32_t kind,
                         struct kerf_tune_answer *answer, struct kerf_error *err) {
    if (study->num_open == 0 || study->num_values + study->num_earlier == 0)
        return KERF_OK; /* no run ended by itself */
    int32_t code = posterior_update(posterior, study, kind, err);
    if (code != KERF_OK) return code;
    const struct posterior_draws *draws = posterior->draws;
    const struct surface_model *model = posterior->model;
    double reach = reach_of(model), drift = drift_now(draws);
    for (int32_t i = 0; i < model->num_active; i++)
        write_estimate(draws, i, reach, drift, &study->estimates[model->active[i]]);
    for (int32_t i = 0; i < draws->num; i++)
        write_drawn(draws, i, &study->estimates[posterior_draws_setting(draws, i)]);
    double most = acquisition_supported(study);
    for (int32_t i = 0; i < model->num_active; i++) {
        struct kerf_tune_estimate *of = &study->estimates[model->active[i]];
        of->probability_within = fmin(of->probability_within, most);
        of->probability_within_margin = fmin(of->probability_within_margin, most);
        forget_failed(of);
    }
    int32_t leader = measured_leader(draws);
    if (leader < 0) return KERF_OK;
    answer->looked_at = model->num_active;
    for (int k = 0; k < SCORE_KINDS; k++) {
        answer->predictions += model->scores.num[k];
        answer->predictions_missed += model->scores.missed[k];
    }
    answer->widened = fmax(surface_model_stretch(model, SCORE_NEW), surface_model_stretch(model, SCORE_AGAIN));
    answer->chance_isolated = draws->isolated;
    if (model->modes.share > 0) {
        study->modes.share = model->modes.share;
        study->modes.slower = exp(model->scale.sign * model->modes.slower);
    }
    if (model->num_active < study->space->num_settings) answer->chance_unseen = study->unseen;
    answer->best = posterior_draws_setting(draws, leader);
    answer->recommended =
        posterior_draws_setting(draws, study->preference.num ? posterior_accepted(draws, leader) : leader);
    if (isfinite(answer->noise)) answer->noise = surface_model_deviation(model, answer->noise);
    answer->drift = surface_model_drift(model);
    answer->default_gain = answer->gain_interval[0] = answer->gain_interval[1] = NAN;
    write_gain(draws, leader, answer);
    return KERF_OK;
}

/* ---- Earlier studies --------------------------------------------------------------------------------------------- */

/*
 * Earlier studies are of the same command, files and machine, as far as kerf can see. What it cannot see - a variable
 * of the environment, a library, another input - may have changed the whole surface since. Then the model, with many old
 * observations and few new ones, is sure of what was true.
 *
 * An earlier study holds unless what was observed since is more probable, by e^MARGIN, without its observations, or if each
 * setting has changed since by about CHANGE_SD of a logarithm: the ratio of two evidences is a Bayes factor (Kass and Raftery,
 * "Bayes Factors", 1995), which knows of noise, drift and an offset common to all settings. Without an offset one setting can
 * tell; with it two are needed, and the farther they are from each other the more of the surface they compare. So the study
 * measures, soon, a setting far from the first one, where earlier studies have a value. Each earlier study is judged alone, as
 * one of them may be of something else, and all that are left together, as each may say too little: after the second
 * observation and from then on as observations come, up to CHECK_EACH after each, later at twice the number.
 *
 * Most of what has changed since is still similar, and explained better than by nothing; and a study that holds by chance looks
 * a little worse than none (docs/tune-policy.md has the figures).
 */

enum { CHECK_EACH = 12, CHECK_FROM = 2 };
static const double CHANGE_SD = 0.1, MARGIN = 2;
static const double SLOWER = 2; /* a setting that took more times the least is not worth its time as a test */

static int32_t first_measured(const struct kerf_tune_study *study) {
    for (int32_t i = 0; i < study->num_observations; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        if (observation_is_informative(o) && o->outcome == KERF_TUNE_VALUE) return o->setting;
    }
    return -1;
}

static int is_candidate(const struct kerf_tune_study *study, const struct kerf_tune_observation *o, double least) {
    if (o->outcome != KERF_TUNE_VALUE || !observation_is_informative(o) || !history_is_open(study, o->setting))
        return 0;
    return !study->question.is_time || o->value <= SLOWER * least;
}

int32_t earlier_test_setting(const struct kerf_tune_study *study) {
    int32_t first = first_measured(study), farthest = -1;
    double least = INFINITY, far = 0;
    if (first < 0) return -1;
    for (int32_t i = 0; i < study->num_earlier; i++)
        if (study->earlier[i].outcome == KERF_TUNE_VALUE) least = fmin(least, study->earlier[i].value);
    for (int32_t i = 0; i < study->num_earlier; i++) {
        if (!is_candidate(study, &study->earlier[i], least)) continue;
        double distance = kernel_distance(study->space, first, study->earlier[i].setting);
        if (distance > far) far = distance, farthest = study->earlier[i].setting;
    }
    return farthest >= 0 && study->tallies[farthest].tries == 0 ? farthest : -1;
}

/* After how many informative observations earlier studies are judged: 2, 3, .. 12, 24, 48, .. */
static int is_check(int32_t informative) {
    while (informative > CHECK_EACH && informative % 2 == 0) informative /= 2;
    return informative >= CHECK_FROM && informative <= CHECK_EACH;
}

/* How many observations the earlier study that begins at `at` has; they come one after the other. */
static int32_t study_at(const struct kerf_tune_study *study, int32_t at) {
    int32_t count = 1;
    while (at + count < study->num_earlier && study->earlier[at + count].slot == study->earlier[at].slot) count++;
    return count;
}

static void drop(struct kerf_tune_study *study, int32_t at, int32_t count) {
    assert(0 <= at && 0 < count && at + count <= study->num_earlier);
    for (int32_t i = at; i + count < study->num_earlier; i++) study->earlier[i] = study->earlier[i + count];
    study->num_earlier -= count;
    study->num_dropped++;
}

/* What the study's own observations speak against most, of the earlier studies left. */
struct contradicted {
    int32_t at, count; /* observations of that study */
    double against;    /* log of a Bayes factor */
};

/* By how much they speak against these earlier observations: for that they say nothing, or that settings have changed since.
 * without: the evidence without any; changepoints: of the study so far. */
static int32_t contradict(const struct kerf_tune_study *study, int32_t kind, const struct changepoints *changepoints,
                          double without, struct contradicted *of, struct kerf_error *err) {
    const struct kerf_tune_observation *earlier = study->earlier + of->at;
    double with, changed;
    int32_t code = surface_evidence(study, kind, changepoints, earlier, of->count, 0, &with, err);
    if (code == KERF_OK)
        code = surface_evidence(study, kind, changepoints, earlier, of->count, CHANGE_SD, &changed, err);
    if (code == KERF_OK) of->against = fmax(without, changed) - with;
    return code;
}

/* Each alone; where none is contradicted enough, all together. */
static int32_t find_contradicted(const struct kerf_tune_study *study, int32_t kind,
                                 const struct changepoints *changepoints, double without,
                                 struct contradicted *ret_worst, struct kerf_error *err) {
    struct contradicted of, all = {0, study->num_earlier, -INFINITY};
    int32_t code = KERF_OK;
    *ret_worst = (struct contradicted){0, 0, -INFINITY};
    for (int32_t at = 0; at < study->num_earlier && code == KERF_OK; at += of.count) {
        of = (struct contradicted){at, study_at(study, at), -INFINITY};
        code = contradict(study, kind, changepoints, without, &of, err);
        if (of.against > ret_worst->against) *ret_worst = of;
    }
    if (code != KERF_OK || ret_worst->against > MARGIN || ret_worst->count == study->num_earlier) return code;
    code = contradict(study, kind, changepoints, without, &all, err);
    ret_worst->against = fmax(ret_worst->against, all.against);
    return code;
}

/* Drops, for good, those earlier studies that the study's own observations contradict. */
static int32_t earlier_check(struct kerf_tune_study *study, int32_t kind, const struct changepoints *changepoints,
                             struct kerf_error *err) {
    struct contradicted worst;
    double without;
    if (study->num_earlier == 0 || !is_check(history_informative(study))) return KERF_OK;
    int32_t code = surface_evidence(study, kind, changepoints, NULL, 0, 0, &without, err);
    while (code == KERF_OK && study->num_earlier > 0) {
        code = find_contradicted(study, kind, changepoints, without, &worst, err);
        if (code != KERF_OK || worst.against <= MARGIN) return code;
        drop(study, worst.at, worst.count);
    }
    return code;
}

int32_t posterior_observed(struct posterior *posterior, struct kerf_tune_study *study, int32_t kind,
                           struct kerf_error *err) {
    if (study->num_earlier == 0 || history_informative(study) == 0) return KERF_OK;
    int32_t code = surface_update(study, kind, &posterior->model, err);
    return code == KERF_OK ? earlier_check(study, kind, &posterior->model->changepoints, err) : code;
}
