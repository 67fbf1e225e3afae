/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of a study:
 *
 *     y = c + p + f(setting) + d(time) + o(slot) + u(earlier study, or level of the machine) + e
 *
 * on the scale of tune/scale.h. f is a Gaussian process whose covariance is a product over parameters (tune/likeness.h)
 * with an amplitude, c a constant within a few amplitudes of the first observation, p what was expected of the setting
 * (where the hyperparameters say that it helps, f is how far that is wrong), d an Ornstein-Uhlenbeck process, o and u
 * constant offsets (of levels before the last jump of the machine: tune/jumps.h), and each setting has in addition a
 * little of its own (OWN noises). e has one unknown variance with an inverse gamma prior worth 2 FREEDOM observations
 * of about NOISE.
 *
 * Each point of tune/hyper_grid.h is a process of its own; they are mixed by their evidence to the power of TRUST: no
 * surface is a Gaussian process, and a posterior that takes the model at its word is too sure of its lengths
 * (Gruenwald, "The Safe Bayesian", 2012). A point that takes a run that was stopped for a spike, where the mixture as a
 * whole has judged that it was none (floors), has no weight. A point whose weight has fallen below e^-FORGET of the
 * best's after FORGET_AFTER observations is no longer brought up to date.
 *
 * An observation costs points * dims^2 operations. Spaces of more than ACTIVE_MOST settings are modelled on a part of
 * them (tune/active.h), chosen anew as the study goes on.
 */
#include "tune/surface_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tune/likeness.h"

enum { CELLS_MOST = 1 << 22, FORGET_AFTER = 8, SLOTS_MOST = 64, EARLIER_MOST = 8, STARTS_MOST = 64, FEW_POINTS = 24 };
static const double FORGET = 20;
static const double TRUST = 0.75;
static const double CONSTANT = 4;  /* variance of c, in variances of f */
static const double OFFSET = 0.25; /* variance of o and u, likewise */
static const double OWN = 0.15;
static const double ANEW = 1e9;                      /* runs after which no drift is what it was */
static const double RARE = 0.1;                      /* noise that is wider than the rest: tune/gaussian_process.h */
static const double SPIKES = 0.02, SPIKE_OVER = 0.2; /* runs over a fifth longer than expected that say little */
static const double FREEDOM = 0.75, NOISE = 0.018;
static const double DOUBT = 0.1;   /* a run that was stopped and is more probably a spike than this makes no floor */
static const double FLOOR_SDS = 2; /* of the noise and the drift together, that a floor stays below what was seen */

int32_t surface_model_find(const struct surface_model *model, int32_t setting) {
    int32_t low = 0, high = model->num_active;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (model->active[middle] < setting)
            low = middle + 1;
        else
            high = middle;
    }
    return low < model->num_active && model->active[low] == setting ? low : -1;
}

/* ---- Making it --------------------------------------------------------------------------------------------- */

static int counts(const struct kerf_tune_observation *o) {
    return !o->warmup && !o->disturbed && o->outcome != KERF_TUNE_FAILED;
}

static void set_scale(struct surface_model *model) {
    const struct kerf_tune_question *question = &model->study->question;
    const struct kerf_tune_observation *of[2] = {question->earlier, model->study->observations};
    int32_t num[2] = {question->num_earlier, model->study->num_observations};
    double first = NAN, unit = 0;
    int32_t logarithmic = 1;
    for (int k = 0; k < 2; k++)
        for (int32_t i = 0; i < num[k]; i++) {
            if (!counts(&of[k][i])) continue;
            double value = of[k][i].value;
            if (isnan(first)) first = value;
            if (unit == 0) unit = fabs(value);
            if (value <= 0) logarithmic = 0;
        }
    model->scale = (struct scale){logarithmic, question->maximize ? -1 : 1, unit > 0 ? unit : 1, 0};
    model->has_unit = unit > 0;
    if (!isnan(first)) model->scale.origin = scale_to(&model->scale, first);
}

/* Whether one more observation leaves the scale, the slots and the settings as they are. */
static int still_fits(const struct surface_model *model) {
    const struct kerf_tune_study *study = model->study;
    int32_t before = 0;
    for (int32_t i = 0; i < model->seen; i++) before += counts(&study->observations[i]);
    if (before + study->question.num_earlier == 0) return 0;
    if (model->generation != study->generation) return 0;
    for (int32_t i = model->seen; i < study->num_observations; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        if (!counts(o)) continue;
        if (model->scale.logarithmic && o->value <= 0) return 0;
        if (!model->has_unit && o->value != 0) return 0;
        if (o->slot >= model->num_slots && o->slot < SLOTS_MOST) return 0;
        if (surface_model_find(model, o->setting) < 0) return 0;
    }
    return 1;
}

/* Which earlier study an observation is of; the last ones share an offset. */
static int32_t earlier_study(const struct kerf_tune_question *question, int32_t index) {
    int32_t study = question->earlier[index].slot;
    return study < EARLIER_MOST ? study : EARLIER_MOST - 1;
}

static void count_offsets(struct surface_model *model) {
    const struct kerf_tune_study *study = model->study;
    model->num_slots = 1;
    for (int32_t i = 0; i < study->num_observations; i++)
        if (counts(&study->observations[i]) && study->observations[i].slot >= model->num_slots &&
            study->observations[i].slot < SLOTS_MOST)
            model->num_slots = study->observations[i].slot + 1;
    model->num_earlier = 0;
    for (int32_t i = 0; i < study->question.num_earlier; i++) {
        int32_t from = earlier_study(&study->question, i);
        if (from >= model->num_earlier) model->num_earlier = from + 1;
    }
    model->dims = model->num_active + 1 + (model->num_slots - 1) + model->num_earlier + model->jumps.num + 1;
}

/* What was expected of the active settings on the model's scale, without its mean; 0 where nothing was. */
static int prior_means(struct surface_model *model, double *ret_means) {
    const double *prior = model->study->question.prior_log;
    double sum = 0;
    int32_t count = 0;
    if (prior == NULL || !model->scale.logarithmic) return 0;
    for (int32_t i = 0; i < model->num_active; i++)
        if (isfinite(prior[model->active[i]])) sum += prior[model->active[i]], count++;
    for (int32_t i = 0; i < model->num_active; i++) {
        double value = prior[model->active[i]];
        ret_means[i] = isfinite(value) ? model->scale.sign * (value - sum / count) : 0;
    }
    return count > 0;
}

/* One axis at one length: table[num_active][num_active] */
static void write_table(const struct surface_model *model, int32_t axis, const double *places, double length,
                        double *table) {
    const struct kerf_tune_space *space = model->study->space;
    int32_t n = model->num_active;
    for (int32_t i = 0; i < n; i++) {
        const int32_t *of = space->values + (int64_t)model->active[i] * space->num_params;
        for (int32_t j = 0; j <= i; j++) {
            const int32_t *to = space->values + (int64_t)model->active[j] * space->num_params;
            table[(int64_t)i * n + j] = likeness(&space->params[axis], places, of[axis], to[axis], length);
            table[(int64_t)j * n + i] = table[(int64_t)i * n + j];
        }
    }
}

/* tables[axis][length][num_active][num_active] */
static double *axis_tables(struct surface_model *model, const int32_t *axes, int32_t num_axes) {
    int64_t cells = (int64_t)model->num_active * model->num_active;
    double *tables = arena_take(&model->arena, (size_t)(num_axes + 1) * HYPER_LENGTHS, (size_t)cells * sizeof(double));
    for (int32_t k = 0; tables && k < num_axes; k++) {
        double *places = likeness_places(&model->study->space->params[axes[k]], &model->arena);
        if (places == NULL) return NULL;
        for (int length = 0; length < HYPER_LENGTHS; length++)
            write_table(model, axes[k], places, hyper_lengths[length], tables + (k * HYPER_LENGTHS + length) * cells);
    }
    return tables;
}

/* row[num_active]: covariance of setting i with all, of the surface alone */
static void write_row(const struct surface_model *model, const struct hyper *hyper, const double *tables,
                      int32_t num_axes, int32_t i, double *restrict row) {
    int32_t n = model->num_active;
    double variance = hyper->amplitude * hyper->amplitude;
    int is_unrelated = model->kind == SURFACE_UNRELATED;
    for (int32_t j = 0; j < n; j++) row[j] = is_unrelated ? 0 : variance;
    row[i] = variance;
    for (int32_t k = 0; k < num_axes; k++) {
        const double *restrict alike = tables + (((int64_t)k * HYPER_LENGTHS + hyper->lengths[k]) * n + i) * n;
        for (int32_t j = 0; j < n; j++) row[j] *= alike[j];
    }
    for (int32_t j = 0; j < n; j++) row[j] += variance * CONSTANT;
    row[i] += OWN * OWN;
}

static void write_prior(const struct surface_model *model, const struct hyper *hyper, const double *tables,
                        int32_t num_axes, const double *means, struct gp *gp) {
    int32_t n = model->num_active, dims = model->dims;
    double variance = hyper->amplitude * hyper->amplitude;
    for (int32_t i = 0; i < dims; i++) {
        double *row = gp->cov + (int64_t)i * dims;
        memset(row, 0, (size_t)dims * sizeof *row);
        gp->mean[i] = i < n && hyper->with_prior ? means[i] : 0;
        if (i < n) write_row(model, hyper, tables, num_axes, i, row);
    }
    gp->cov[(int64_t)n * dims + n] = hyper->drift * hyper->drift;
    for (int32_t i = n + 1; i < dims; i++) gp->cov[(int64_t)i * dims + i] = OFFSET * variance;
    gp->alpha = FREEDOM;
    gp->beta = FREEDOM * NOISE * NOISE;
    gp->rare = RARE;
    gp->spikes = SPIKES;
    gp->log_evidence = hyper->log_prior;
}

static int write_points(struct surface_model *model, int32_t most_points) {
    const struct kerf_tune_space *space = model->study->space;
    struct arena *arena = &model->arena;
    int32_t num_axes = 0;
    int32_t *axes = arena_alloc(arena, (size_t)space->num_params + 1, sizeof *axes);
    double *means = arena_alloc(arena, (size_t)model->num_active, sizeof *means);
    if (axes == NULL || means == NULL) return 0;
    for (int32_t k = 0; model->kind == SURFACE_ALIKE && k < space->num_params; k++)
        if (likeness_matters(&space->params[k])) axes[num_axes++] = k;
    int32_t has_prior = prior_means(model, means);
    int64_t cells = (int64_t)model->dims * model->dims, most = CELLS_MOST / cells;
    most = most < FEW_POINTS ? FEW_POINTS : most > most_points ? most_points : most;
    model->hypers = hyper_grid(num_axes, has_prior, (int32_t)most, arena, &model->num_points);
    double *tables = axis_tables(model, axes, num_axes);
    if (model->hypers == NULL || tables == NULL) return 0;
    model->points = arena_alloc(arena, (size_t)model->num_points, sizeof *model->points);
    model->weights = arena_alloc(arena, (size_t)model->num_points, sizeof *model->weights);
    model->work = arena_alloc(arena, (size_t)model->dims, sizeof *model->work);
    double *mean = arena_take(arena, (size_t)model->num_points, (size_t)model->dims * sizeof *mean);
    double *cov = arena_take(arena, (size_t)model->num_points, (size_t)cells * sizeof *cov);
    model->normals = arena_alloc(arena, (size_t)model->num_active + 3, sizeof *model->normals);
    if (!model->points || !model->weights || !model->work || !mean || !cov || !model->normals) return 0;
    double *normals = arena_take(arena, (size_t)model->num_active + 2, DRAWS / 2 * sizeof *normals);
    if ((model->normals[model->num_active + 2] = normals) == NULL) return 0;
    for (int32_t i = 0; i < model->num_points; i++) {
        model->points[i].mean = mean + (int64_t)i * model->dims;
        model->points[i].cov = cov + i * cells;
        write_prior(model, &model->hypers[i], tables, num_axes, means, &model->points[i]);
    }
    return 1;
}

/* ---- Learning ---------------------------------------------------------------------------------------------- */

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
        if (below >= FORGET && model->told >= FORGET_AFTER)
            model->weights[i] = 0, model->points[i].log_evidence = -INFINITY;
        else if (model->weights[i] > 0)
            model->weights[i] = exp(-TRUST * below);
        sum += model->weights[i];
    }
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

/* The setting, the drift and the offsets that an observation is the sum of; the setting is -1 if it is not modelled. */
static struct gp_datum datum_of(const struct surface_model *model, const struct kerf_tune_observation *o,
                                int32_t earlier) {
    int32_t n = model->num_active;
    struct gp_datum datum = {.at = {surface_model_find(model, o->setting), n}, .num_at = 2};
    datum.above = o->outcome == KERF_TUNE_CENSORED;
    datum.y = scale_to(&model->scale, o->value);
    datum.spike = model->scale.logarithmic ? SPIKE_OVER : INFINITY;
    if (o->slot > 0 && o->slot < model->num_slots) datum.at[datum.num_at++] = n + o->slot;
    if (earlier >= 0) datum.at[datum.num_at++] = n + model->num_slots + earlier;
    return datum;
}

static void learn(struct surface_model *model, const struct gp_datum *datum, double runs) {
    for (int32_t i = 0; i < model->num_points; i++) {
        struct gp *gp = &model->points[i];
        const struct hyper *hyper = &model->hypers[i];
        if (gp->log_evidence == -INFINITY) continue;
        if (runs > 0)
            gp_drift(gp, model->dims, model->num_active, exp(-runs / hyper->drift_runs), hyper->drift * hyper->drift);
        if (model->told == 0) gp_keep(gp, model->dims, model->num_active, model->dims - 1);
        if (datum->at[0] >= 0) gp_learn(gp, model->dims, datum, model->work);
    }
}

static void learn_earlier(struct surface_model *model) {
    const struct kerf_tune_question *question = &model->study->question;
    for (int32_t i = 0; i < question->num_earlier; i++) {
        const struct kerf_tune_observation *o = &question->earlier[i];
        int32_t from = earlier_study(question, i), begins = i == 0 || earlier_study(question, i - 1) != from;
        if (!counts(o)) continue;
        double runs = passed(model, o);
        struct gp_datum datum = datum_of(model, o, from);
        learn(model, &datum, begins ? ANEW : runs);
    }
    if (question->num_earlier) model->clock = -INFINITY;
}

/* What an observation came out as without the offset of its slot. */
static double without_slot(const struct surface_model *model, const struct kerf_tune_observation *o) {
    double offset = 0, sd;
    if (o->slot > 0 && o->slot < model->num_slots)
        surface_model_moments(model, model->num_active + o->slot, &offset, &sd);
    return scale_to(&model->scale, o->value) - offset;
}

/* Looks at the observation `seen` before it is learnt. 1: it seems that the machine has jumped. */
static int has_jumped(struct surface_model *model, const struct kerf_tune_observation *o) {
    int32_t at = surface_model_find(model, o->setting);
    if (o->outcome != KERF_TUNE_VALUE || !model->scale.logarithmic || at < 0 || isnan(model->last[at].y)) return 0;
    const struct last_run *last = &model->last[at];
    double noise = fmin(last->noise, surface_model_noise(model));
    struct jump_run run = {o->setting, o->slot, model->seen, last->index, without_slot(model, o), last->y, noise};
    return jumps_see(&model->jumps, &run);
}

static void note_last(struct surface_model *model, const struct kerf_tune_observation *o) {
    int32_t at = surface_model_find(model, o->setting);
    if (o->outcome == KERF_TUNE_VALUE && at >= 0)
        model->last[at] = (struct last_run){model->seen, without_slot(model, o), surface_model_noise(model)};
}

/* What a run that was stopped rules out, whatever the normal distribution that stands for it has below. 1: that is more
 * than it was. */
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
    floor -= FLOOR_SDS * sqrt(unsure);
    if (!(floor > model->floors[datum->at[0]])) return 0;
    model->floors[datum->at[0]] = floor;
    return 1;
}

static void forget_last(struct surface_model *model) {
    for (int32_t i = 0; i < model->num_active; i++) model->last[i].y = NAN;
}

/* Points are forgotten after each observation, so that it does not matter when the model is asked. 0: it seems that the
 * machine has jumped by `seen`. */
static int learn_until(struct surface_model *model, int32_t num_observations) {
    const struct kerf_tune_study *study = model->study;
    for (; model->seen < num_observations; model->seen++) {
        const struct kerf_tune_observation *o = &study->observations[model->seen];
        int32_t level = jumps_level(&model->jumps, model->seen), newest = model->jumps.num;
        if (!counts(o)) continue;
        if (has_jumped(model, o)) return 0;
        int begins = level > 0 && model->jumps.starts[level - 1] == model->seen;
        double runs = passed(model, o);
        if (begins) forget_last(model);
        struct gp_datum datum = datum_of(model, o, level < newest ? model->num_earlier + level : -1);
        learn(model, &datum, begins ? ANEW : runs);
        model->told++;
        weigh(model);
        if (raise_floor(model, &datum)) weigh(model);
        note_last(model, o);
    }
    return 1;
}

static int32_t make(const struct kerf_tune_study *study, int32_t kind, const struct jumps *jumps, int32_t most_points,
                    struct surface_model **ret_model, struct kerf_error *err) {
    struct surface_model *model = calloc(1, sizeof *model);
    if (model == NULL) return tune_no_memory(err);
    model->study = study;
    model->kind = kind;
    model->jumps = *jumps;
    model->jumps.suspected = 0;
    set_scale(model);
    model->generation = study->generation;
    model->num_active = study->num_active;
    model->active = arena_take(&model->arena, (size_t)study->num_active, sizeof *model->active);
    if (model->active) memcpy(model->active, study->active, (size_t)study->num_active * sizeof *model->active);
    model->last = arena_take(&model->arena, (size_t)study->num_active, sizeof *model->last);
    model->floors = arena_take(&model->arena, (size_t)study->num_active, sizeof *model->floors);
    if (model->active) count_offsets(model);
    if (model->active == NULL || model->last == NULL || model->floors == NULL || !write_points(model, most_points)) {
        surface_model_free(model);
        return tune_no_memory(err);
    }
    for (int32_t i = 0; i < model->num_active; i++) model->floors[i] = -INFINITY;
    forget_last(model);
    learn_earlier(model);
    weigh(model);
    *ret_model = model;
    return KERF_OK;
}

/* log of how probable all that was seen up to `model`'s present is with these jumps. */
static int32_t evidence_with(const struct surface_model *model, const struct jumps *jumps, double *ret_evidence,
                             struct kerf_error *err) {
    struct surface_model *trial;
    int32_t code = make(model->study, model->kind, jumps, FEW_POINTS, &trial, err);
    double most = -INFINITY, sum = 0;
    if (code != KERF_OK) return code;
    learn_until(trial, model->seen + 1);
    for (int32_t i = 0; i < trial->num_points; i++) most = fmax(most, trial->points[i].log_evidence);
    for (int32_t i = 0; i < trial->num_points; i++) sum += exp(trial->points[i].log_evidence - most);
    *ret_evidence = most + log(sum);
    surface_model_free(trial);
    return KERF_OK;
}

static int same_kind(const struct kerf_tune_observation *a, const struct kerf_tune_observation *b) {
    return counts(a) && a->outcome == KERF_TUNE_VALUE && a->setting == b->setting && a->slot == b->slot;
}

/* Whether the level that is suspected cannot have begun with this run: a setting came out before it as it did after it.
 */
static int is_spanned(const struct surface_model *model, int32_t start) {
    const struct kerf_tune_observation *of = model->study->observations;
    for (int32_t i = start; i <= model->seen; i++) {
        int32_t before = start - 1;
        if (!same_kind(&of[i], &of[i])) continue;
        while (before >= 0 && !same_kind(&of[before], &of[i])) before--;
        if (before < 0) continue;
        double change = scale_to(&model->scale, of[i].value) - scale_to(&model->scale, of[before].value);
        if (fabs(change) < 0.5 * fabs(model->jumps.off)) return 1;
    }
    return 0;
}

/* Whether the machine has jumped, as it seems, and with which run: what makes all that was seen most probable. */
static int32_t judge_jump(const struct surface_model *model, struct jumps *ret_jumps, struct kerf_error *err) {
    struct jumps jumps = model->jumps;
    int32_t earliest = jumps.earliest, latest = jumps.latest;
    double most, evidence;
    jumps.judged = model->seen + 1;
    *ret_jumps = jumps;
    int32_t code = evidence_with(model, &jumps, &most, err);
    if (earliest <= latest - STARTS_MOST) earliest = latest - STARTS_MOST + 1;
    for (int32_t start = latest; start >= earliest && code == KERF_OK; start--) {
        if (is_spanned(model, start)) continue;
        jumps.num = model->jumps.num + 1;
        jumps.starts[jumps.num - 1] = start;
        code = evidence_with(model, &jumps, &evidence, err);
        if (code == KERF_OK && evidence > most) most = evidence, *ret_jumps = jumps;
    }
    return code;
}

int32_t surface_model_update(const struct kerf_tune_study *study, int32_t kind, struct surface_model **model,
                             struct kerf_error *err) {
    struct jumps jumps = *model ? (*model)->jumps : (struct jumps){0};
    int32_t fits = *model && still_fits(*model), code = KERF_OK;
    while (!fits || !learn_until(*model, study->num_observations)) {
        if (fits) code = judge_jump(*model, &jumps, err);
        *model = surface_model_free(*model);
        if (code == KERF_OK) code = make(study, kind, &jumps, HYPER_MOST, model, err);
        if (code != KERF_OK) return code;
        fits = 1;
    }
    return KERF_OK;
}

struct surface_model *surface_model_free(struct surface_model *model) {
    if (model == NULL) return NULL;
    arena_free(&model->arena);
    free(model);
    return NULL;
}

/* ---- What others are measuring ----------------------------------------------------------------------------- */

int32_t surface_model_pretend(const struct surface_model *model, const int32_t *pending, int32_t num_pending,
                              struct surface_model **ret_model, struct kerf_error *err) {
    struct surface_model *copy = calloc(1, sizeof *copy);
    size_t dims = (size_t)model->dims, points = (size_t)model->num_points;
    if (copy == NULL) return tune_no_memory(err);
    *copy = *model;
    copy->arena = (struct arena){0};
    copy->points = arena_take(&copy->arena, points, sizeof *copy->points);
    copy->work = arena_take(&copy->arena, dims, sizeof *copy->work);
    double *mean = arena_take(&copy->arena, points, dims * sizeof *mean);
    double *cov = arena_take(&copy->arena, points, dims * dims * sizeof *cov);
    if (!copy->points || !copy->work || !mean || !cov) {
        surface_model_free(copy);
        return tune_no_memory(err);
    }
    for (size_t i = 0; i < points; i++) {
        copy->points[i] = model->points[i];
        copy->points[i].mean = memcpy(mean + i * dims, model->points[i].mean, dims * sizeof *mean);
        copy->points[i].cov = cov + i * dims * dims;
        if (model->weights[i] == 0) continue;
        memcpy(copy->points[i].cov, model->points[i].cov, dims * dims * sizeof *cov);
        for (int32_t k = 0; k < num_pending; k++) {
            struct gp_datum datum = {.at = {surface_model_find(model, pending[k]), model->num_active}, .num_at = 2};
            if (datum.at[0] >= 0) gp_pretend(&copy->points[i], model->dims, &datum, copy->work);
        }
    }
    *ret_model = copy;
    return KERF_OK;
}

/* ---- What it says ------------------------------------------------------------------------------------------ */

void surface_model_moments(const struct surface_model *model, int32_t which, double *ret_mean, double *ret_sd) {
    double mean = 0, square = 0;
    for (int32_t i = 0; i < model->num_points; i++) {
        const struct gp *gp = &model->points[i];
        double weight = model->weights[i], own = gp->mean[which];
        if (weight == 0) continue;
        mean += weight * own;
        square += weight * (own * own + gp->cov[(int64_t)which * model->dims + which] * gp->beta / gp->alpha);
    }
    *ret_mean = mean;
    *ret_sd = sqrt(fmax(square - mean * mean, 0));
}

double surface_model_noise(const struct surface_model *model) {
    double sum = 0;
    for (int32_t i = 0; i < model->num_points; i++)
        if (model->weights[i] > 0) sum += model->weights[i] * sqrt(model->points[i].beta / model->points[i].alpha);
    return sum;
}

double surface_model_drift(const struct surface_model *model) {
    const struct jumps *jumps = &model->jumps;
    int32_t levels = model->num_active + model->num_slots + model->num_earlier;
    int32_t is_cold =
        jumps->num > 0 && jumps->starts[0] == 1; /* the first run, and it alone: no level of the machine */
    double now, first = 0, level = 0, sd;
    if (!model->scale.logarithmic) return 1;
    surface_model_moments(model, model->num_active, &now, &sd);
    if (!is_cold) surface_model_moments(model, model->dims - 1, &first, &sd);
    if (jumps->num > is_cold) surface_model_moments(model, levels + is_cold, &level, &sd);
    return exp(model->scale.sign * (now - first - level));
}

int32_t surface_model_suspect(const struct surface_model *model, int32_t slot) {
    return model->jumps.suspected && model->jumps.slot == slot ? model->jumps.setting : -1;
}
