/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of a study:
 *
 *     y = c + p + f(setting) + d(time) + o(slot) + u(earlier study, or level of the machine) + e
 *
 * Times, rates and sizes are compared by their ratio: y = ln value (-ln value where more is better), and "within 3 %" is
 * y <= best + ln 1.03. An objective that takes values of 0 or less has no ratio: y = value / unit, and "within 3 %" is
 * 3 % of the best's size.
 *
 * f is a Gaussian process whose covariance is a product over parameters (kernel.c) with an amplitude, c a constant
 * within a few amplitudes of the first observation, p the expected value of the setting (where the hyperparameters
 * say that it helps, f is the error of that), d an Ornstein-Uhlenbeck process, o and u constant offsets (of levels
 * before the last changepoint), and each setting adds a little variance of its own (OWN noises). e has one unknown
 * variance with an inverse gamma prior worth 2 FREEDOM observations of about NOISE.
 *
 * Each point of the grid of hyperparameters is a process of its own; they are mixed by their evidence
 * (surface_learn.c). Spaces of more than ACTIVE_MAX settings are modelled on a part of them (active_set.c).
 *
 * The prior costs points * dims^2 operations.
 */
#include "tune/surface_model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "tune/kernel.h"
#include "tune/param.h"

enum { CELLS_MAX = 1 << 22, EARLIER_MAX = 8, POINTS_MIN = 24 };
static const double OFFSET = 0.25; /* variance of o and u, likewise */
static const double OWN = 0.15;
static const double ISOLATED = 64; /* the variance of an isolated value, in noises */
static const double RARE = 0.1;    /* noise that is wider than the rest: gaussian_process.h */
static const double SPIKES = 0.02; /* runs far longer than expected, which say little */
static const double FREEDOM = 0.75, NOISE = 0.018;

/* ---- The scale --------------------------------------------------------------------------------------------- */

double scale_to(const struct scale *scale, double value) {
    return scale->sign * (scale->logarithmic ? log(value) : value / scale->unit) - scale->origin;
}

double scale_from(const struct scale *scale, double y) {
    double value = scale->sign * (y + scale->origin);
    return scale->logarithmic ? exp(value) : value * scale->unit;
}

double scale_within(const struct scale *scale, double best, double share) {
    return best + (scale->logarithmic ? log1p(share) : share * fabs(best + scale->origin));
}

/* ---- The prior --------------------------------------------------------------------------------------------- */

int32_t surface_model_find(const struct surface_model *model, int32_t setting) {
    int32_t low = 0, high = model->num_active;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (tune_space_compare(model->study->space, model->active[middle], setting) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < model->num_active && model->active[low] == setting ? low : -1;
}

int32_t surface_model_pending(const struct surface_model *model, int32_t setting) {
    int32_t runs = 0;
    for (int32_t k = 0; k < model->num_pending; k++) runs += model->pending[k] == setting;
    return runs;
}

static void set_scale(struct surface_model *model) {
    const struct kerf_tune_question *question = &model->study->question;
    const struct kerf_tune_observation *of[2] = {model->setup.earlier, model->study->observations};
    int32_t num[2] = {model->setup.num_earlier, model->study->num_observations};
    double first = NAN, unit = 0;
    int32_t logarithmic = 1;
    for (int k = 0; k < 2; k++)
        for (int32_t i = 0; i < num[k]; i++) {
            if (!observation_is_informative(&of[k][i])) continue;
            double value = of[k][i].value;
            if (isnan(first)) first = value;
            if (unit == 0) unit = fabs(value);
            if (value <= 0) logarithmic = 0;
        }
    model->scale = (struct scale){logarithmic, question->maximize ? -1 : 1, unit > 0 ? unit : 1, 0};
    model->has_unit = unit > 0;
    if (!isnan(first)) model->scale.origin = scale_to(&model->scale, first);
}

int32_t surface_model_level(const struct changepoints *changepoints, int32_t index) {
    int32_t level = 0;
    while (level < changepoints->num && changepoints->starts[level] <= index) {
        assert(level == 0 || changepoints->starts[level - 1] < changepoints->starts[level]);
        level++;
    }
    return level;
}

/* The last ones share an offset. */
int32_t surface_model_earlier_study(const struct surface_model *model, int32_t index) {
    assert(0 <= index && index < model->setup.num_earlier);
    int32_t study = model->setup.earlier[index].slot;
    return study < EARLIER_MAX ? study : EARLIER_MAX - 1;
}

static void count_offsets(struct surface_model *model) {
    const struct kerf_tune_study *study = model->study;
    model->num_slots = 1;
    for (int32_t i = 0; i < study->num_observations; i++)
        if (observation_is_informative(&study->observations[i]) && study->observations[i].slot >= model->num_slots &&
            study->observations[i].slot < SURFACE_SLOTS_MAX)
            model->num_slots = study->observations[i].slot + 1;
    model->num_earlier_studies = 0;
    for (int32_t i = 0; i < model->setup.num_earlier; i++) {
        int32_t from = surface_model_earlier_study(model, i);
        if (from >= model->num_earlier_studies) model->num_earlier_studies = from + 1;
    }
    model->dims =
        model->num_active + 1 + (model->num_slots - 1) + model->num_earlier_studies + model->changepoints.num + 1;
}

/* The expected values of the active settings on the model's scale, without their mean; 0 where none is known. */
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
static void write_table(const struct surface_model *model, int32_t axis, const double *coordinates, double length,
                        double *table) {
    const struct kerf_tune_space *space = model->study->space;
    int32_t n = model->num_active;
    for (int32_t i = 0; i < n; i++) {
        const int32_t *of = setting_values(space, model->active[i]);
        for (int32_t j = 0; j <= i; j++) {
            const int32_t *to = setting_values(space, model->active[j]);
            table[(int64_t)i * n + j] =
                kernel_correlation(&space->params[axis], coordinates, of[axis], to[axis], length);
            table[(int64_t)j * n + i] = table[(int64_t)i * n + j];
        }
    }
}

/* tables[axis][length][num_active][num_active] */
static double *axis_tables(struct surface_model *model, const int32_t *axes, int32_t num_axes) {
    int64_t cells = (int64_t)model->num_active * model->num_active;
    double *tables = arena_take(&model->arena, (size_t)(num_axes + 1) * KERNEL_LENGTHS, (size_t)cells * sizeof(double));
    for (int32_t k = 0; tables && k < num_axes; k++) {
        double *coordinates = kernel_coordinates(&model->study->space->params[axes[k]], &model->arena);
        if (coordinates == NULL) return NULL;
        for (int length = 0; length < KERNEL_LENGTHS; length++)
            write_table(model, axes[k], coordinates, kernel_lengths[length],
                        tables + (k * KERNEL_LENGTHS + length) * cells);
    }
    return tables;
}

/* What divides the values of two settings, the sum over axes: table [num_active][num_active]; NULL: no axis is divided,
 * or no memory. */
static double *divisibility_table(struct surface_model *model, const int32_t *axes, int32_t num_axes) {
    const struct kerf_tune_space *space = model->study->space;
    int32_t n = model->num_active;
    double *table = NULL;
    for (int32_t k = 0; k < num_axes; k++) {
        const struct kerf_tune_param *param = &space->params[axes[k]];
        if (!kernel_is_divided(param)) continue;
        if (table == NULL) table = arena_alloc(&model->arena, (size_t)n * (size_t)n, sizeof *table);
        for (int32_t i = 0; table && i < n; i++)
            for (int32_t j = 0; j < n; j++) {
                int32_t of = setting_values(space, model->active[i])[axes[k]];
                int32_t to = setting_values(space, model->active[j])[axes[k]];
                table[(int64_t)i * n + j] += kernel_divisibility(param, of, to);
            }
    }
    return table;
}

struct tables {
    double *axes;         /* [num_axes][length][num_active][num_active] */
    double *divisibility; /* [num_active][num_active] or NULL */
    int32_t num_axes;
};

static int is_isolated(const struct surface_model *model, int32_t i) {
    for (int32_t k = 0; k < model->isolated.num; k++)
        if (model->isolated.settings[k] == model->active[i]) return 1;
    return 0;
}

double surface_model_own(const struct surface_model *model, int32_t i) {
    return OWN * OWN + (is_isolated(model, i) ? ISOLATED * ISOLATED : 0);
}

/* row[num_active]: covariance of setting i with all, of the surface alone */
static void write_row(const struct surface_model *model, const struct hyperparameters *hyper,
                      const struct tables *tables, int32_t i, double *restrict row) {
    int32_t n = model->num_active;
    double variance = hyper->amplitude * hyper->amplitude;
    int is_unrelated = model->setup.kind == SURFACE_UNRELATED;
    for (int32_t j = 0; j < n; j++) row[j] = is_unrelated ? 0 : variance;
    row[i] = variance;
    for (int32_t k = 0; k < tables->num_axes; k++) {
        const double *restrict correlation =
            tables->axes + (((int64_t)k * KERNEL_LENGTHS + hyper->lengths[k]) * n + i) * n;
        for (int32_t j = 0; j < n; j++) row[j] *= correlation[j];
    }
    if (hyper->texture > 0 && !is_unrelated) {
        const double *restrict alike = tables->divisibility + (int64_t)i * n;
        for (int32_t j = 0; j < n; j++) row[j] += variance * hyper->texture * alike[j];
    }
    for (int32_t j = 0; j < n; j++) row[j] += variance * SURFACE_CONSTANT;
    row[i] += surface_model_own(model, i);
}

static void write_prior(const struct surface_model *model, const struct hyperparameters *hyper,
                        const struct tables *tables, const double *means, struct gp *gp) {
    int32_t n = model->num_active, dims = model->dims;
    double variance = hyper->amplitude * hyper->amplitude;
    for (int32_t i = 0; i < dims; i++) {
        double *row = gp->cov + (int64_t)i * dims;
        memset(row, 0, (size_t)dims * sizeof *row);
        gp->mean[i] = i < n && hyper->with_prior ? means[i] : 0;
        if (i < n) write_row(model, hyper, tables, i, row);
    }
    gp->cov[(int64_t)n * dims + n] = hyper->drift * hyper->drift;
    for (int32_t i = n + 1; i < dims; i++) gp->cov[(int64_t)i * dims + i] = OFFSET * variance;
    gp->alpha = FREEDOM;
    gp->beta = FREEDOM * NOISE * NOISE;
    gp->rare = RARE;
    gp->spikes = SPIKES;
    gp->slow = model->modes.share;
    gp->slower = model->modes.slower;
    gp->log_evidence = hyper->log_prior;
}

static int write_points(struct surface_model *model, int32_t max_points) {
    const struct kerf_tune_space *space = model->study->space;
    struct arena *arena = &model->arena;
    int32_t num_axes = 0;
    int32_t *axes = arena_alloc(arena, (size_t)space->num_params + 1, sizeof *axes);
    double *means = arena_alloc(arena, (size_t)model->num_active, sizeof *means);
    if (axes == NULL || means == NULL) return 0;
    for (int32_t k = 0; model->setup.kind == SURFACE_CORRELATED && k < space->num_params; k++)
        if (kernel_is_axis(&space->params[k])) axes[num_axes++] = k;
    int32_t has_prior = prior_means(model, means);
    int64_t cells = (int64_t)model->dims * model->dims, most = CELLS_MAX / cells;
    most = most < POINTS_MIN ? POINTS_MIN : most > max_points ? max_points : most;
    struct tables tables = {axis_tables(model, axes, num_axes), divisibility_table(model, axes, num_axes), num_axes};
    struct kernel_choices choices = {num_axes, tables.divisibility != NULL, has_prior};
    model->hypers = kernel_grid(&choices, (int32_t)most, arena, &model->num_points);
    if (model->hypers == NULL || tables.axes == NULL) return 0;
    model->points = arena_alloc(arena, (size_t)model->num_points, sizeof *model->points);
    model->weights = arena_alloc(arena, (size_t)model->num_points, sizeof *model->weights);
    model->work = arena_alloc(arena, (size_t)model->dims, sizeof *model->work);
    double *mean = arena_take(arena, (size_t)model->num_points, (size_t)model->dims * sizeof *mean);
    double *cov = arena_take(arena, (size_t)model->num_points, (size_t)cells * sizeof *cov);
    model->normals = arena_alloc(arena, (size_t)model->num_active + 3, sizeof *model->normals);
    if (!model->points || !model->weights || !model->work || !mean || !cov || !model->normals) return 0;
    double *normals = arena_take(arena, (size_t)model->num_active + 2, SURFACE_DRAWS / 2 * sizeof *normals);
    if ((model->normals[model->num_active + 2] = normals) == NULL) return 0;
    for (int32_t i = 0; i < model->num_points; i++) {
        model->points[i].mean = mean + (int64_t)i * model->dims;
        model->points[i].cov = cov + i * cells;
        write_prior(model, &model->hypers[i], &tables, means, &model->points[i]);
    }
    return 1;
}

static int copy_active(struct surface_model *model) {
    size_t count = (size_t)model->num_active;
    model->active = arena_take(&model->arena, count, sizeof *model->active);
    model->last = arena_take(&model->arena, count, sizeof *model->last);
    model->floors = arena_take(&model->arena, count, sizeof *model->floors);
    if (!model->active || !model->last || !model->floors) return 0;
    memcpy(model->active, model->study->active, count * sizeof *model->active);
    for (int32_t i = 0; i < model->num_active; i++) {
        assert(i == 0 || tune_space_compare(model->study->space, model->active[i - 1], model->active[i]) < 0);
        model->floors[i] = -INFINITY;
        model->last[i].y = NAN;
    }
    return 1;
}

struct surface_model *surface_model_free(struct surface_model *model) {
    if (model == NULL) return NULL;
    arena_free(&model->arena);
    free(model);
    return NULL;
}

int32_t surface_model_create(const struct kerf_tune_study *study, const struct surface_setup *setup,
                             struct surface_model **ret_model, struct kerf_error *err) {
    struct surface_model *model = calloc(1, sizeof *model);
    if (model == NULL) return error_no_memory(err, "a study");
    model->study = study;
    model->setup = *setup;
    model->changepoints = setup->changepoints;
    model->changepoints.suspected = 0;
    model->isolated = setup->isolated;
    model->isolated.suspected = 0;
    model->steady = setup->steady;
    model->modes = setup->modes;
    set_scale(model);
    model->generation = study->generation;
    model->num_active = study->num_active;
    int good = copy_active(model);
    if (good) count_offsets(model);
    if (!good || !write_points(model, setup->max_points)) {
        surface_model_free(model);
        return error_no_memory(err, "a study");
    }
    *ret_model = model;
    return KERF_OK;
}

/* ---- Scores ------------------------------------------------------------------------------------------------------ */

/* The variance of z with a prior worth SCORES predictions that it is 1. Below `chance` it may be chance, or slightly
 * heavier tails, which hardly change the mean of several runs. */
double surface_model_stretch(const struct surface_model *model, enum score_of kind) {
    static const double SCORES = 16, chance[SCORE_KINDS] = {[SCORE_NEW] = 1.2, [SCORE_AGAIN] = 1.4};
    const struct scores *scores = &model->scores;
    double stretch = sqrt((SCORES + scores->squares[kind]) / (SCORES + scores->num[kind]));
    return stretch > chance[kind] ? stretch : 1;
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

static const double FLAT = 0.08; /* of a logarithm, between the best and the worst */

/* As far as the model has seen: a study that is played again is judged as it was. */
static int was_measured(const struct surface_model *model, int32_t setting) {
    const struct kerf_tune_study *study = model->study;
    for (int32_t i = 0; i <= model->seen && i < study->num_observations; i++)
        if (study->observations[i].setting == setting && study->observations[i].outcome == KERF_TUNE_VALUE &&
            observation_is_informative(&study->observations[i]))
            return 1;
    return 0;
}

/* The means of the settings that were measured, but one: returns the setting with the least, -1: there is none. */
static int32_t range_of_tried(const struct surface_model *model, int32_t but, double *ret_range) {
    double least = INFINITY, most = -INFINITY, mean, sd;
    int32_t best = -1;
    for (int32_t i = 0; i < model->num_active; i++) {
        if (model->active[i] == but || !was_measured(model, model->active[i])) continue;
        surface_model_moments(model, i, &mean, &sd);
        if (mean < least) least = mean, best = model->active[i];
        most = fmax(most, mean);
    }
    *ret_range = most - least;
    return best;
}

/* From 1, where all that was tried but one setting is alike, to 0. */
static double alikeness(const struct surface_model *model, int32_t but) {
    double range;
    if (range_of_tried(model, but, &range) < 0) return 0;
    return exp(-range * range / (FLAT * FLAT));
}

static int is_compared(const struct surface_model *model) {
    return model->setup.kind == SURFACE_CORRELATED && model->scale.logarithmic;
}

double surface_model_flatness(const struct surface_model *model, int32_t but) {
    return kernel_has_divided(model->study->space) && is_compared(model) ? alikeness(model, but) : 0;
}

double surface_model_has_isolated(const struct surface_model *model) {
    double range;
    int32_t best = range_of_tried(model, -1, &range);
    if (model->setup.num_earlier > 0) return 0;
    for (int32_t k = 0; k < model->isolated.num; k++)
        if (model->isolated.settings[k] == best) return 1;
    return best < 0 ? 0 : surface_model_flatness(model, best) * (1 - surface_model_flatness(model, -1));
}

/* Neighbours that are correlated by less tell little of each other; by the shortest length, for which no other stands in, also
 * those of up to 20 values. */
static const double LOOSE = 0.5, LOOSE_SHORTEST = 0.8;

/* How many parameters are loose, of all that are axes. */
static int32_t loose_axes(const struct surface_model *model, const struct hyperparameters *hyper, double shortest,
                          int32_t *ret_axes) {
    const struct kerf_tune_space *space = model->study->space;
    int32_t loose = 0, axis = 0;
    for (int32_t k = 0; k < space->num_params; k++) {
        if (!kernel_is_axis(&space->params[k])) continue;
        int8_t length = hyper->lengths[axis++];
        loose += kernel_is_loose(&space->params[k], kernel_lengths[length], length == 0 ? shortest : LOOSE);
    }
    *ret_axes = axis;
    return loose;
}

double surface_model_looseness(const struct surface_model *model) {
    double sum = 0;
    int32_t axes;
    for (int32_t i = 0; i < model->num_points && model->setup.kind == SURFACE_CORRELATED; i++)
        if (loose_axes(model, &model->hypers[i], LOOSE, &axes) > 0) sum += model->weights[i];
    return sum;
}

/* All parameters are loose; or none has an effect, and the nugget is what varies. Not where something was expected of each
 * setting. */
static int has_no_order(const struct surface_model *model, const struct hyperparameters *hyper) {
    int32_t axes, idle = 0, loose = loose_axes(model, hyper, LOOSE_SHORTEST, &axes);
    for (int32_t k = 0; k < axes; k++) idle += hyper->lengths[k] == KERNEL_LENGTHS - 1;
    return !hyper->with_prior && (loose == axes || (idle == axes && hyper->texture == 0));
}

double surface_model_disorder(const struct surface_model *model) {
    double sum = 0, range;
    if (!is_compared(model) || model->setup.num_earlier > 0) return 0;
    for (int32_t i = 0; i < model->num_points; i++)
        if (model->weights[i] > 0 && has_no_order(model, &model->hypers[i])) sum += model->weights[i];
    /* One that is better than all others, which are alike, is isolated. */
    int32_t best = range_of_tried(model, -1, &range);
    return best < 0 ? 0 : fmin(sum, 1) * (1 - alikeness(model, best));
}

int32_t surface_model_point(const struct surface_model *model, double share) {
    double sum = 0;
    int32_t last = 0;
    for (int32_t i = 0; i < model->num_points; i++) {
        if (model->weights[i] == 0) continue;
        last = i;
        if ((sum += model->weights[i]) > share) return i;
    }
    return last;
}

double surface_model_noise(const struct surface_model *model) {
    double sum = 0;
    for (int32_t i = 0; i < model->num_points; i++)
        if (model->weights[i] > 0) sum += model->weights[i] * sqrt(model->points[i].beta / model->points[i].alpha);
    return sum;
}

double surface_model_deviation(const struct surface_model *model, double repeats) {
    double noise = surface_model_noise(model);
    return fmin(fmax(repeats, noise), noise * sqrt(1 + RARE * (GP_WIDE - 1)));
}

double surface_model_drift(const struct surface_model *model) {
    const struct changepoints *changes = &model->changepoints;
    int32_t levels = model->num_active + model->num_slots + model->num_earlier_studies;
    int32_t is_cold = changes->num > 0 && changes->starts[0] == 1; /* the first run alone: no level of the machine */
    double now, first = 0, level = 0, sd;
    if (!model->scale.logarithmic) return 1;
    surface_model_moments(model, model->num_active, &now, &sd);
    if (!is_cold) surface_model_moments(model, model->dims - 1, &first, &sd);
    if (changes->num > is_cold) surface_model_moments(model, levels + is_cold, &level, &sd);
    return exp(model->scale.sign * (now - first - level));
}

int32_t surface_model_suspect(const struct surface_model *model, int32_t slot) {
    if (model->changepoints.suspected && model->changepoints.slot == slot) return model->changepoints.setting;
    return model->isolated.suspected && model->isolated.slot == slot ? model->isolated.setting : -1;
}
