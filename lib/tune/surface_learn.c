/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditioning the model on observations, one after another. The points of the grid of hyperparameters are mixed by
 * their evidence to the power of TRUST: a real surface is not a Gaussian process, and a posterior that trusts the
 * model fully is too sure of its lengths (Gruenwald, "The Safe Bayesian", 2012). A point that takes a stopped run for
 * a spike, where the whole mixture has decided that it was not one (floors), has no weight. A point whose weight has
 * fallen below e^-FORGET of the best's after FORGET_AFTER observations is no longer brought up to date.
 *
 * An observation costs points * dims^2 operations.
 */
#include <assert.h>
#include <math.h>
#include "base/error_fill.h"
#include "tune/statistics.h"
#include "tune/surface_model.h"

enum { SCORED_AFTER = 4, ISOLATED_AFTER = 6, FORGET_AFTER = 8, GIVEN_UP_EVERY = 8 };
static const double FORGET = 20;
static const double TRUST = 0.75;
static const double SCORE_MAX = 16;   /* of z squared: one run alone does not decide */
static const double ANEW = 1e9;       /* runs after which the drift is forgotten */
static const double SPIKE_OVER = 0.2; /* a run may be a spike when it is longer by this than expected */
static const double DOUBT = 0.1;      /* a stopped run that is a spike with a higher probability makes no floor */
static const double FLOOR_SDS =
    2; /* how far a floor is below an observed time, in standard deviations of noise and drift */

/* ---- Odd runs ---------------------------------------------------------------------------------------------------- */

/*
 * If a run takes far more or less than the run before it of the same setting, it is a hitch, or the machine is on
 * another level by now. One more run of the setting decides: if it is as far off to the same side, a new level may have
 * begun, with the first of the two or with a run of a setting that was not known before. Which of these it was, if any,
 * is judged by the evidence (surface_judge.c). Where runs have two modes, a step from one to the other is nothing odd.
 */

static const double LEAST = 0.2, NOISES = 6; /* not noise: over a fifth, and so many standard deviations */

struct changepoint_run {
    int32_t setting, slot;
    int32_t index;      /* of the observation */
    int32_t before;     /* the last observation of this setting */
    double y, expected; /* logarithms: of this run and of that one */
    double noise;       /* standard deviation */
};

static void suspect(struct changepoints *changepoints, const struct changepoint_run *run) {
    changepoints->suspected = 1;
    changepoints->setting = run->setting;
    changepoints->slot = run->slot;
    changepoints->earliest = run->before < changepoints->judged ? changepoints->judged : run->before + 1;
    changepoints->latest = run->index;
    changepoints->expected = run->expected;
    changepoints->off = run->y - run->expected;
    assert(changepoints->earliest <= changepoints->latest);
}

/* Looks at the next observation. 1: a level may have begun, with `earliest` .. `latest`. */
static int changepoint_look(struct changepoints *changepoints, const struct modes *modes,
                            const struct changepoint_run *run) {
    assert(run->before < run->index);
    if (run->index < changepoints->judged || changepoints->num == CHANGEPOINTS_MAX) return 0;
    int is_second = changepoints->suspected && changepoints->setting == run->setting && changepoints->slot == run->slot;
    double off = run->y - (is_second ? changepoints->expected : run->expected);
    double least = fmax(LEAST, NOISES * run->noise);
    int is_odd = fabs(off) > least && (modes->share == 0 || fabs(fabs(off) - modes->slower) > least);
    if (is_odd && !changepoints->suspected) suspect(changepoints, run);
    if (is_second) changepoints->suspected = 0;
    return is_second && is_odd && off * changepoints->off > 0;
}

/* ---- Isolated values --------------------------------------------------------------------------------------------- */

/*
 * A setting whose first run is far better than expected is run once more. Where the second run is as good, the first was
 * not a hitch, and either the hyperparameters explain it or the value is isolated: the evidence decides.
 */
static const double FAR_SIZE = 2.5, FAR = 4; /* standard deviations of what was expected, noise included */
static const double BETTER = 0.03;           /* and by so much, as a logarithm */

static int isolated_has(const struct isolated *isolated, int32_t setting) {
    for (int32_t k = 0; k < isolated->num; k++)
        if (isolated->settings[k] == setting) return 1;
    return 0;
}

/* Looks at the next observation, for which `mean` was expected; from `least` on the difference is large. is_first: the
 * setting has no other run. 1: it seems to be isolated. */
static int isolated_look(struct isolated *isolated, const struct kerf_tune_observation *o, int32_t index, int is_first,
                         double y, double mean, double least) {
    if (index < isolated->judged || isolated->num == ISOLATED_MAX || isolated_has(isolated, o->setting)) return 0;
    if (isolated->suspected) {
        if (isolated->setting != o->setting || isolated->slot != o->slot) return 0;
        isolated->suspected = 0;
        return y - isolated->y < 0.5 * (isolated->expected - isolated->y);
    }
    double better = mean - y;
    if (!is_first || better < fmax(BETTER, least)) return 0;
    isolated->suspected = 1;
    isolated->setting = o->setting;
    isolated->slot = o->slot;
    isolated->y = y;
    isolated->expected = mean;
    return 0;
}

/* ---- Steady settings --------------------------------------------------------------------------------------------- */

static int steady_has(const struct steady *steady, int32_t setting) {
    for (int32_t k = 0; k < steady->num; k++)
        if (steady->settings[k] == setting) return 1;
    return 0;
}

/* ---- Learning ---------------------------------------------------------------------------------------------------- */

static double time_of(const struct kerf_tune_observation *o) { return 0.5 * (o->start_s + o->end_s); }

static int denies_floors(const struct surface_model *model, int32_t point) {
    const double *mean = model->points[point].mean;
    for (int32_t i = 0; i < model->num_active; i++)
        if (mean[i] < model->floors[i]) return 1;
    return 0;
}

static int all_deny_floors(const struct surface_model *model) {
    for (int32_t i = 0; i < model->num_points; i++)
        if (model->points[i].log_evidence > -INFINITY && !denies_floors(model, i)) return 0;
    return 1;
}

static void weigh(struct surface_model *model) {
    double most = -INFINITY, sum = 0;
    int all_deny = all_deny_floors(model);
    for (int32_t i = 0; i < model->num_points; i++) {
        model->weights[i] = all_deny || !denies_floors(model, i);
        if (model->weights[i] > 0) most = fmax(most, model->points[i].log_evidence);
    }
    for (int32_t i = 0; i < model->num_points; i++) {
        double below = most - model->points[i].log_evidence;
        if (below >= FORGET && model->informative >= FORGET_AFTER)
            model->weights[i] = 0, model->points[i].log_evidence = -INFINITY;
        else if (model->weights[i] > 0)
            model->weights[i] = exp(-TRUST * below);
        sum += model->weights[i];
    }
    assert(sum > 0);
    for (int32_t i = 0; i < model->num_points; i++) model->weights[i] /= sum;
}

/* Runs that drift has had since the last observation. */
static double passed(struct surface_model *model, const struct kerf_tune_observation *o) {
    if (model->run_s == 0) model->run_s = o->end_s > o->start_s ? o->end_s - o->start_s : -1;
    if (model->run_s < 0) return 1;
    double now = time_of(o), runs = (now - model->clock) / model->run_s;
    model->clock = now;
    return runs > 0 ? runs : 0;
}

/* The setting, the drift and the offsets that an observation is the sum of; the setting is -1 if it is not modelled, or left
 * out: then only time passes. */
static struct gp_datum datum_of(const struct surface_model *model, const struct kerf_tune_observation *o,
                                int32_t earlier) {
    int32_t n = model->num_active;
    struct gp_datum datum = {.at = {surface_model_find(model, o->setting), n}, .num_at = 2};
    if (model->setup.leaves_out && o->setting == model->setup.left_out) datum.at[0] = -1;
    datum.above = o->outcome == KERF_TUNE_CENSORED;
    datum.y = scale_to(&model->scale, o->value);
    datum.spike = model->scale.logarithmic && !steady_has(&model->steady, o->setting) ? SPIKE_OVER : INFINITY;
    if (o->slot > 0 && o->slot < model->num_slots) datum.at[datum.num_at++] = n + o->slot;
    if (earlier >= 0) datum.at[datum.num_at++] = n + model->num_slots + earlier;
    return datum;
}

static void condition(struct surface_model *model, const struct gp_datum *datum, double runs) {
    for (int32_t i = 0; i < model->num_points; i++) {
        struct gp *gp = &model->points[i];
        const struct hyperparameters *hyper = &model->hypers[i];
        if (gp->log_evidence == -INFINITY) continue;
        if (runs > 0)
            gp_drift(gp, model->dims, model->num_active, exp(-runs / hyper->drift_runs), hyper->drift * hyper->drift);
        if (model->informative == 0) gp_keep(gp, model->dims, model->num_active, model->dims - 1);
        if (datum->at[0] >= 0) gp_condition(gp, model->dims, datum, model->work);
    }
}

static void condition_on_earlier(struct surface_model *model) {
    for (int32_t i = 0; i < model->setup.num_earlier; i++) {
        const struct kerf_tune_observation *o = &model->setup.earlier[i];
        int32_t from = surface_model_earlier_study(model, i);
        int begins = i == 0 || surface_model_earlier_study(model, i - 1) != from;
        if (!observation_is_informative(o)) continue;
        double runs = passed(model, o);
        struct gp_datum datum = datum_of(model, o, from);
        condition(model, &datum, begins ? ANEW : runs);
    }
    if (model->setup.num_earlier) model->clock = -INFINITY;
}

/* The value of an observation without the offset of its slot. */
static double without_slot(const struct surface_model *model, const struct kerf_tune_observation *o) {
    double offset = 0, sd;
    if (o->slot > 0 && o->slot < model->num_slots)
        surface_model_moments(model, model->num_active + o->slot, &offset, &sd);
    return scale_to(&model->scale, o->value) - offset;
}

/* Whether to ask for modes at a repeat: the more there are the seldomer it is worth while to ask again. */
static int seems_to_have_modes(struct surface_model *model) {
    struct modes suggested;
    int32_t round = ++model->num_repeats;
    while (round > 4 && round % 2 == 0) round /= 2;
    return model->seen >= model->modes.judged && round <= 4 && modes_suggested(model, model->seen + 1, &suggested);
}

/* Whether the mode of an earlier run of the setting, which was unknown, is known by the observation `seen`. */
static int seems_relabelled(const struct surface_model *model) {
    const struct kerf_tune_observation *of = model->study->observations;
    if (model->modes.share == 0 || model->seen < model->modes.labelled) return 0;
    for (int32_t i = 0; i < model->seen; i++)
        if (of[i].setting == of[model->seen].setting && modes_label_of(model, i) == GP_MODE_UNKNOWN &&
            modes_label(model, i, model->seen + 1) != modes_label_of(model, i))
            return 1;
    return 0;
}

/* Looks at the observation `seen` before the model is conditioned on it: does it differ from the last of its setting? */
static enum learnt seems_changed(struct surface_model *model, const struct kerf_tune_observation *o) {
    int32_t at = surface_model_find(model, o->setting);
    if (o->outcome != KERF_TUNE_VALUE || !model->scale.logarithmic || at < 0 || isnan(model->last[at].y)) return LEARNT;
    const struct last_run *last = &model->last[at];
    double noise = fmin(last->noise, surface_model_noise(model));
    struct changepoint_run run = {o->setting, o->slot, model->seen, last->index, without_slot(model, o),
                                  last->y,    noise};
    int to_judge = seems_to_have_modes(model);
    if (changepoint_look(&model->changepoints, &model->modes, &run)) return CHANGED;
    return to_judge ? HAS_MODES : LEARNT;
}

static void note_last(struct surface_model *model, const struct kerf_tune_observation *o) {
    int32_t at = surface_model_find(model, o->setting);
    if (o->outcome == KERF_TUNE_VALUE && at >= 0)
        model->last[at] = (struct last_run){model->seen, without_slot(model, o), surface_model_noise(model)};
}

/* A run that was stopped is surely not below this floor, although the normal distribution that stands for it has some
 * mass there. 1: the floor was raised. */
static int raise_floor(struct surface_model *model, const struct gp_datum *datum) {
    double noise = surface_model_noise(model), floor = datum->y, unsure = noise * noise, spike = 0, mean, sd;
    for (int32_t i = 0; i < model->num_points; i++)
        if (model->weights[i] > 0) spike += model->weights[i] * model->points[i].spike;
    if (!datum->above || datum->at[0] < 0 || spike > DOUBT) return 0;
    for (int32_t k = 1; k < datum->num_at; k++) {
        surface_model_moments(model, datum->at[k], &mean, &sd);
        floor -= mean;
        unsure += sd * sd;
    }
    floor -= FLOOR_SDS * sqrt(unsure) + model->modes.slower;
    if (!(floor > model->floors[datum->at[0]])) return 0;
    model->floors[datum->at[0]] = floor;
    return 1;
}

static void forget_last(struct surface_model *model) {
    for (int32_t i = 0; i < model->num_active; i++) model->last[i].y = NAN;
}

/* The same for an isolated value. */
static int seems_isolated(struct surface_model *model, const struct kerf_tune_observation *o) {
    int32_t at = surface_model_find(model, o->setting);
    double mean, sd, drift, unused;
    if (o->outcome != KERF_TUNE_VALUE || !model->scale.logarithmic || at < 0 || model->informative < ISOLATED_AFTER)
        return 0;
    if (model->setup.kind != SURFACE_CORRELATED) return 0;
    surface_model_moments(model, at, &mean, &sd);
    surface_model_moments(model, model->num_active, &drift, &unused);
    double far = kernel_has_divided(model->study->space) ? FAR_SIZE : FAR;
    return isolated_look(&model->isolated, o, model->seen, isnan(model->last[at].y), without_slot(model, o) - drift,
                         mean, far * hypot(sd, surface_model_noise(model)));
}

/* All runs of the setting so far, two or more of them, are better than this (side -1), or worse (1). */
static int are_beyond(const struct surface_model *model, int32_t setting, int side, double than) {
    int32_t count = 0;
    for (int32_t i = 0; i < model->seen; i++) {
        const struct kerf_tune_observation *o = &model->study->observations[i];
        if (o->setting != setting || !observation_is_informative(o)) continue;
        if (o->outcome != KERF_TUNE_VALUE || side * (without_slot(model, o) - than) < 0) return 0;
        count++;
    }
    return count > 1;
}

/* This run and all others of the setting, two or more, were taken for spikes. */
static int seems_steady(struct surface_model *model, const struct kerf_tune_observation *o) {
    int32_t at = surface_model_find(model, o->setting);
    double mean, sd, drift;
    if (model->seen < model->steady.judged || model->steady.num == STEADY_MAX || at < 0) return 0;
    if (o->outcome != KERF_TUNE_VALUE || !model->scale.logarithmic || isnan(model->last[at].y)) return 0;
    if (steady_has(&model->steady, o->setting)) return 0;
    surface_model_moments(model, at, &mean, &sd);
    surface_model_moments(model, model->num_active, &drift, &sd);
    double than = mean + drift + SPIKE_OVER;
    return without_slot(model, o) > than && are_beyond(model, o->setting, 1, than);
}

/* A value that was found before much was known, and that the model gave up for noise since all others came out alike. Asked
 * for at every GIVEN_UP_EVERY-th run, each time from another setting on, as it may be denied again and again. */
static int has_given_up(struct surface_model *model) {
    struct isolated *isolated = &model->isolated;
    double noise = surface_model_noise(model), mean, sd;
    if (model->seen < isolated->judged || isolated->num == ISOLATED_MAX || isolated->suspected) return 0;
    if (!model->scale.logarithmic || model->setup.kind != SURFACE_CORRELATED) return 0;
    if (model->informative < ISOLATED_AFTER || model->informative % GIVEN_UP_EVERY != 0) return 0;
    for (int32_t k = 0; k < model->num_active; k++) {
        int32_t i = (model->informative / GIVEN_UP_EVERY + k) % model->num_active;
        if (isnan(model->last[i].y) || isolated_has(isolated, model->active[i])) continue;
        surface_model_moments(model, i, &mean, &sd);
        double than = mean - fmax(BETTER, FAR * hypot(sd, noise));
        if (model->last[i].y > than || !are_beyond(model, model->active[i], -1, than)) continue;
        isolated->setting = model->active[i];
        return 1;
    }
    return 0;
}

/* Scores a run by the prediction of the mixture as it was before: z = quantile of the normal distribution at the
 * probability integral transform (Dawid, "Statistical Theory: The Prequential Approach", 1984). */
static void score(struct surface_model *model, const struct kerf_tune_observation *o, const struct gp_datum *datum) {
    int32_t at = datum->at[0], kind = SCORE_AGAIN;
    double below = 0;
    if (at < 0 || datum->above || model->informative < SCORED_AFTER) return;
    if (model->study->tallies[o->setting].values > 0 && isnan(model->last[at].y)) kind = SCORE_NEW;
    for (int32_t i = 0; i < model->num_points; i++) {
        const struct gp *gp = &model->points[i];
        double mean = 0, var = 1;
        if (model->weights[i] == 0) continue;
        for (int32_t k = 0; k < datum->num_at; k++) {
            mean += gp->mean[datum->at[k]];
            for (int32_t l = 0; l < datum->num_at; l++)
                var += gp->cov[(int64_t)datum->at[k] * model->dims + datum->at[l]];
        }
        double off = (datum->y - mean) / sqrt(gp->beta / gp->alpha), wide = var - 1 + GP_WIDE;
        double slow = off - gp->slower / sqrt(gp->beta / gp->alpha);
        below += model->weights[i] * ((1 - gp->rare - gp->slow) * student_cdf(off / sqrt(var), 2 * gp->alpha) +
                                      gp->slow * student_cdf(slow / sqrt(var), 2 * gp->alpha) +
                                      gp->rare * student_cdf(off / sqrt(wide), 2 * gp->alpha));
    }
    double z = normal_quantile(fmin(fmax(below, 1e-9), 1 - 1e-9));
    model->scores.num[kind]++;
    model->scores.missed[kind] += fabs(z) > 1.96;
    model->scores.squares[kind] += fmin(z * z, SCORE_MAX);
}

/* Points are forgotten after each observation, so that it does not matter when the model is asked. */
enum learnt surface_learn(struct surface_model *model, int32_t num_observations) {
    const struct kerf_tune_study *study = model->study;
    for (; model->seen < num_observations; model->seen++) {
        const struct kerf_tune_observation *o = &study->observations[model->seen];
        int32_t level = surface_model_level(&model->changepoints, model->seen), newest = model->changepoints.num;
        if (!observation_is_informative(o)) continue;
        enum learnt seems = seems_changed(model, o);
        if (seems == LEARNT && (seems_isolated(model, o) || has_given_up(model))) seems = IS_ISOLATED;
        if (seems == LEARNT && seems_steady(model, o)) seems = IS_STEADY;
        if (seems == LEARNT && seems_relabelled(model)) seems = RELABELLED;
        if (seems != LEARNT) return seems;
        int begins = level > 0 && model->changepoints.starts[level - 1] == model->seen;
        double runs = passed(model, o);
        if (begins) forget_last(model);
        struct gp_datum datum = datum_of(model, o, level < newest ? model->num_earlier_studies + level : -1);
        datum.mode = modes_label_of(model, model->seen);
        if (!begins) score(model, o, &datum);
        condition(model, &datum, begins ? ANEW : runs);
        model->informative++;
        weigh(model);
        if (raise_floor(model, &datum)) weigh(model);
        note_last(model, o);
    }
    return LEARNT;
}

static int write_labels(struct surface_model *model) {
    int32_t count = model->modes.labelled;
    if (model->modes.share == 0 || count == 0) return 1;
    model->labels = arena_alloc(&model->arena, (size_t)count, 1);
    for (int32_t i = 0; model->labels && i < count; i++) model->labels[i] = (int8_t)modes_label(model, i, count);
    return model->labels != NULL;
}

int32_t surface_begin(const struct kerf_tune_study *study, const struct surface_setup *setup,
                      struct surface_model **ret_model, struct kerf_error *err) {
    int32_t code = surface_model_create(study, setup, ret_model, err);
    if (code != KERF_OK) return code;
    if (!write_labels(*ret_model)) {
        surface_model_free(*ret_model);
        return error_no_memory(err, "a study");
    }
    condition_on_earlier(*ret_model);
    weigh(*ret_model);
    return KERF_OK;
}

double surface_log_evidence(const struct surface_model *model) {
    double most = -INFINITY, sum = 0;
    for (int32_t i = 0; i < model->num_points; i++) most = fmax(most, model->points[i].log_evidence);
    for (int32_t i = 0; i < model->num_points; i++) sum += exp(model->points[i].log_evidence - most);
    return most + log(sum);
}
