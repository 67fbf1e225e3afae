/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which parameters matter: a functional analysis of variance of the surface (Hutter, Hoos and Leyton-Brown, "An Efficient
 * Approach for Assessing Hyperparameter Importance", 2014), of joint draws from the model instead of a forest's trees, so
 * that each share has an interval.
 *
 * For a surface y on a set of settings, all of the same weight, the sum of one effect for each parameter
 *
 *     y = mean + f1(x1) + f2(x2) + ... + r
 *
 * is fitted by least squares. A parameter's share is cov(fp, y) / var(y) (the structural and correlative share of Li et
 * al., "Global Sensitivity Analysis for Systems with Independent and/or Correlated Inputs", 2010). A pair's share is
 * var(gpq) / var(y), with gpq the mean of r over the settings that have both values in common. On a full grid these are
 * the main effects and interactions of the textbook, and cov(fp, y) = var(fp). Where constraints leave a part of the grid,
 * means over the settings that exist would give a parameter what belongs to another one that it is bound to; least
 * squares does not. A parameter's effect is 0 at settings that do not use it, with a mean of 0 over those that do.
 * Of the solutions, where effects cannot be told apart, the least one is taken, so that the order of parameters does not
 * matter.
 *
 * Of a space of more than WHOLE_MAX settings so many are drawn at random and modelled with those that were measured: the
 * active set is crowded around the best, and a share in it would say little about the space. There the effects of one
 * random half are counted by the covariance with the other half, both ways, so that a chance agreement within few settings
 * counts for nothing, on average; and each group of draws has halves of its own, so that the interval has the chance of the
 * sample in it.
 *
 * Costs, beside the model's, POINTS * n^3 / 6 + DRAWS * (n^2 + n pairs) operations.
 */
#include "tune/importance.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "tune/kernel.h"
#include "tune/param.h"
#include "tune/statistics.h"
#include "tune/surface_model.h"
#include "tune/tune_policy.h"

enum { WHOLE_MAX = 256, MODELLED_MAX = 480, GROUPS = 16 };
enum { TELLING = 16 }; /* settings of the other half with an effect that is estimated: with fewer, nothing is told */
enum { POINTS = 32, NORMALS = CHOLESKY_LANES, PER_POINT = 2 * NORMALS, DRAWS = POINTS * PER_POINT };
static const double RIDGE = 1e-6;  /* which of many solutions: far below any level's count */
static const double LEAST = 1e-18; /* a variance that is rounding */
static const double TOLD = 0.5;    /* the share of draws that have to tell of an effect */

/* ---- Settings with values in common ------------------------------------------------------------------------------- */

/* Numbers the values of one parameter from 0. Returns how many there are; -1: no memory. */
static int32_t write_levels(const struct kerf_tune_space *space, const int32_t *settings, int32_t num, int32_t param,
                            int32_t groups, int32_t *levels) {
    const struct kerf_tune_param *of = &space->params[param];
    int32_t *number = malloc((size_t)of->num_values * sizeof *number), distinct = 0, count = 0;
    if (number == NULL) return -1;
    for (int32_t v = 0; v < of->num_values; v++) number[v] = -1;
    for (int32_t i = 0; i < num; i++) {
        int32_t value = setting_values(space, settings[i])[param];
        levels[i] = kerf_tune_setting_uses(space, settings[i], param) ? value : -1;
        if (levels[i] >= 0 && number[value] < 0) number[value] = distinct++;
    }
    int grouped = groups > 0 && distinct > groups && kernel_is_ordered(of);
    for (int32_t v = 0; v < of->num_values; v++) number[v] = -1;
    for (int32_t i = 0; i < num; i++) {
        if (levels[i] < 0) continue;
        int32_t key = grouped ? (int32_t)((int64_t)levels[i] * groups / of->num_values) : levels[i];
        if (number[key] < 0) number[key] = count++;
        levels[i] = number[key];
    }
    free(number);
    return count;
}

static int write_axes(const struct kerf_tune_space *space, const int32_t *settings, int32_t groups, struct arena *arena,
                      struct variance_parts *parts) {
    size_t params = (size_t)space->num_params, num = (size_t)parts->num;
    parts->axes = arena_alloc(arena, params, sizeof *parts->axes);
    parts->num_levels = arena_alloc(arena, params, sizeof *parts->num_levels);
    parts->levels = arena_alloc(arena, params, sizeof *parts->levels);
    parts->weights = arena_alloc(arena, params, sizeof *parts->weights);
    if (!parts->axes || !parts->num_levels || !parts->levels || !parts->weights) return 0;
    for (int32_t p = 0; p < space->num_params; p++) {
        int32_t k = parts->num_axes, *levels = arena_alloc(arena, num, sizeof *levels);
        int32_t count = levels ? write_levels(space, settings, parts->num, p, groups, levels) : -1;
        if (count < 0) return 0;
        if (count < 2) continue;
        parts->axes[k] = p;
        parts->num_levels[k] = count;
        parts->levels[k] = levels;
        if ((parts->weights[k] = arena_alloc(arena, (size_t)count, sizeof(double))) == NULL) return 0;
        parts->num_axes++;
    }
    return 1;
}

/* table: [num_levels of the one * num_levels of the other] to work in. Returns how many cells there are. */
static int32_t write_cells(const struct variance_parts *parts, int32_t a, int32_t b, int32_t *table, int32_t *cells) {
    int32_t wide = parts->num_levels[b], count = 0;
    for (int32_t k = 0; k < parts->num_levels[a] * wide; k++) table[k] = -1;
    for (int32_t i = 0; i < parts->num; i++) {
        int32_t of = parts->levels[a][i], to = parts->levels[b][i];
        cells[i] = -1;
        if (of < 0 || to < 0) continue;
        int32_t *number = &table[of * wide + to];
        if (*number < 0) *number = count++;
        cells[i] = *number;
    }
    return count;
}

static int write_pairs(struct arena *arena, struct variance_parts *parts) {
    size_t axes = (size_t)parts->num_axes, pairs = axes * (axes - (axes > 0)) / 2, num = (size_t)parts->num;
    parts->pairs = arena_alloc(arena, pairs + 1, sizeof *parts->pairs);
    parts->num_cells = arena_alloc(arena, pairs + 1, sizeof *parts->num_cells);
    parts->cells = arena_alloc(arena, pairs + 1, sizeof *parts->cells);
    int32_t *table = malloc((num * num + 1) * sizeof *table);
    int good = parts->pairs && parts->num_cells && parts->cells && table;
    for (int32_t a = 0; good && a < parts->num_axes; a++)
        for (int32_t b = a + 1; good && b < parts->num_axes; b++) {
            int32_t k = parts->num_pairs++, *cells = arena_alloc(arena, num, sizeof *cells);
            if ((parts->cells[k] = cells) == NULL) {
                good = 0;
                break;
            }
            parts->pairs[k][0] = a;
            parts->pairs[k][1] = b;
            parts->num_cells[k] = write_cells(parts, a, b, table, cells);
        }
    free(table);
    return good;
}

int variance_parts_make(const struct kerf_tune_space *space, const int32_t *settings, int32_t num, int32_t groups,
                        struct arena *arena, struct variance_parts *ret_parts) {
    size_t count = (size_t)num;
    *ret_parts = (struct variance_parts){.num = num};
    ret_parts->fitted = arena_alloc(arena, count, sizeof *ret_parts->fitted);
    ret_parts->counted = arena_alloc(arena, count, sizeof *ret_parts->counted);
    ret_parts->matrix = arena_alloc(arena, count * (size_t)cholesky_stride(num), sizeof *ret_parts->matrix);
    ret_parts->solved = arena_alloc(arena, count, sizeof *ret_parts->solved);
    ret_parts->rest = arena_alloc(arena, count, sizeof *ret_parts->rest);
    ret_parts->effects = arena_alloc(arena, count, sizeof *ret_parts->effects);
    ret_parts->sums = arena_alloc(arena, count, sizeof *ret_parts->sums);
    ret_parts->tallies = arena_alloc(arena, count, sizeof *ret_parts->tallies);
    if (!ret_parts->fitted || !ret_parts->counted || !ret_parts->matrix || !ret_parts->solved || !ret_parts->rest ||
        !ret_parts->effects || !ret_parts->sums || !ret_parts->tallies)
        return 0;
    return write_axes(space, settings, groups, arena, ret_parts) && write_pairs(arena, ret_parts);
}

/* ---- The fit ------------------------------------------------------------------------------------------------------ */

/* Of an axis: how often each level is among the fitted settings that use it, as shares. */
static void write_weights(struct variance_parts *parts, int32_t axis) {
    double *weights = parts->weights[axis], used = 0;
    memset(weights, 0, (size_t)parts->num_levels[axis] * sizeof *weights);
    for (int32_t i = 0; i < parts->num_fitted; i++) {
        int32_t level = parts->levels[axis][parts->fitted[i]];
        if (level >= 0) weights[level]++, used++;
    }
    for (int32_t l = 0; l < parts->num_levels[axis]; l++) weights[l] /= used > 0 ? used : 1;
}

/* Adds X X' of the axis's centred indicators X to the matrix of the fitted settings. */
static void add_axis(const struct variance_parts *parts, int32_t axis) {
    const double *weights = parts->weights[axis];
    const int32_t *levels = parts->levels[axis], stride = cholesky_stride(parts->num_fitted);
    double squares = 0;
    for (int32_t l = 0; l < parts->num_levels[axis]; l++) squares += weights[l] * weights[l];
    for (int32_t i = 0; i < parts->num_fitted; i++) {
        int32_t own = levels[parts->fitted[i]];
        double *row = parts->matrix + (int64_t)i * stride;
        if (own < 0) continue;
        for (int32_t j = i; j < parts->num_fitted; j++) {
            int32_t other = levels[parts->fitted[j]];
            if (other >= 0) row[j] += (own == other) - weights[own] - weights[other] + squares;
        }
    }
}

void variance_parts_fit(struct variance_parts *parts, const unsigned char *fit) {
    parts->num_fitted = parts->num_counted = 0;
    for (int32_t i = 0; i < parts->num; i++) {
        if (fit == NULL || fit[i]) parts->fitted[parts->num_fitted++] = i;
        if (fit == NULL || !fit[i]) parts->counted[parts->num_counted++] = i;
    }
    int32_t n = parts->num_fitted, stride = cholesky_stride(n);
    memset(parts->matrix, 0, (size_t)n * (size_t)stride * sizeof *parts->matrix);
    for (int32_t k = 0; k < parts->num_axes; k++) {
        write_weights(parts, k);
        add_axis(parts, k);
    }
    for (int32_t i = 0; i < n; i++) parts->matrix[(int64_t)i * stride + i] += RIDGE;
    cholesky(parts->matrix, n, RIDGE * RIDGE);
}

/* solved [num_fitted] becomes the solution of U' U x = solved. */
static void solve(const struct variance_parts *parts) {
    int32_t n = parts->num_fitted, stride = cholesky_stride(n);
    double *x = parts->solved;
    for (int32_t i = 0; i < n; i++) {
        const double *row = parts->matrix + (int64_t)i * stride;
        x[i] /= row[i];
        for (int32_t j = i + 1; j < n; j++) x[j] -= row[j] * x[i];
    }
    for (int32_t i = n; i-- > 0;) {
        const double *row = parts->matrix + (int64_t)i * stride;
        for (int32_t j = i + 1; j < n; j++) x[i] -= row[j] * x[j];
        x[i] /= row[i];
    }
}

/* effects [num_levels] of an axis by what was solved; 0 where no fitted setting has the level. */
static void write_effects(const struct variance_parts *parts, int32_t axis) {
    const double *weights = parts->weights[axis];
    double used = 0, mean = 0;
    memset(parts->effects, 0, (size_t)parts->num_levels[axis] * sizeof *parts->effects);
    for (int32_t i = 0; i < parts->num_fitted; i++) {
        int32_t level = parts->levels[axis][parts->fitted[i]];
        if (level >= 0) parts->effects[level] += parts->solved[i], used += parts->solved[i];
    }
    for (int32_t l = 0; l < parts->num_levels[axis]; l++) {
        parts->effects[l] -= weights[l] * used;
        mean += weights[l] * parts->effects[l];
    }
    for (int32_t l = 0; l < parts->num_levels[axis]; l++)
        parts->effects[l] = weights[l] > 0 ? parts->effects[l] - mean : 0;
}

static double mean_of(const double *y, const int32_t *at, int32_t num) {
    double sum = 0;
    for (int32_t i = 0; i < num; i++) sum += y[at[i]];
    return num > 0 ? sum / num : 0;
}

static int is_told(int32_t known, int32_t counted) { return known > 0 && (known == counted || known >= TELLING); }

/* cov(effect of the axis, y) over the counted settings that it is known at; takes the effect off the rest. */
static double axis_part(const struct variance_parts *parts, int32_t axis, const double *y, double counted_mean) {
    const int32_t *levels = parts->levels[axis];
    double sum = 0;
    int32_t known = 0;
    write_effects(parts, axis);
    for (int32_t i = 0; i < parts->num; i++)
        if (levels[i] >= 0) parts->rest[i] -= parts->effects[levels[i]];
    for (int32_t k = 0; k < parts->num_counted; k++) {
        int32_t i = parts->counted[k], level = levels[i];
        if (level >= 0 && !(parts->weights[axis][level] > 0)) continue;
        if (level >= 0) sum += parts->effects[level] * (y[i] - counted_mean);
        known++;
    }
    return is_told(known, parts->num_counted) ? sum / known : NAN;
}

/* The covariance of the rest's means over the cells of fitted settings with the rest at the counted ones. */
static double pair_part(const struct variance_parts *parts, int32_t pair) {
    const int32_t *cells = parts->cells[pair];
    double *sums = parts->sums, fitted_sum = 0, counted_sum = 0, sum = 0;
    int32_t *tallies = parts->tallies, fitted = 0, counted = 0, known = 0;
    memset(sums, 0, (size_t)parts->num_cells[pair] * sizeof *sums);
    memset(tallies, 0, (size_t)parts->num_cells[pair] * sizeof *tallies);
    for (int32_t k = 0; k < parts->num_fitted; k++) {
        int32_t i = parts->fitted[k];
        if (cells[i] < 0) continue;
        sums[cells[i]] += parts->rest[i];
        tallies[cells[i]]++;
        fitted_sum += parts->rest[i];
        fitted++;
    }
    for (int32_t k = 0; k < parts->num_counted; k++)
        if (cells[parts->counted[k]] >= 0) counted_sum += parts->rest[parts->counted[k]], counted++;
    for (int32_t k = 0; k < parts->num_counted; k++) {
        int32_t i = parts->counted[k], cell = cells[i];
        if (cell < 0 || tallies[cell] == 0) continue;
        sum += (sums[cell] / tallies[cell] - fitted_sum / fitted) * (parts->rest[i] - counted_sum / counted);
        known++;
    }
    if (counted == 0) return 0; /* no setting uses both */
    return is_told(known, counted) ? sum / known * counted / parts->num_counted : NAN;
}

double variance_parts_of(const struct variance_parts *parts, const double *y, double *ret_shares) {
    double mean = 0, variance = 0, fitted_mean = mean_of(y, parts->fitted, parts->num_fitted),
           counted_mean = mean_of(y, parts->counted, parts->num_counted);
    for (int32_t i = 0; i < parts->num; i++) mean += y[i] / parts->num;
    for (int32_t i = 0; i < parts->num; i++) variance += (y[i] - mean) * (y[i] - mean) / parts->num;
    for (int32_t i = 0; i < parts->num_fitted; i++) parts->solved[i] = y[parts->fitted[i]] - fitted_mean;
    for (int32_t i = 0; i < parts->num; i++) parts->rest[i] = y[i] - fitted_mean;
    solve(parts);
    for (int32_t k = 0; k < parts->num_axes; k++)
        ret_shares[k] = variance > LEAST ? axis_part(parts, k, y, counted_mean) / variance : NAN;
    for (int32_t k = 0; k < parts->num_pairs; k++)
        ret_shares[parts->num_axes + k] = variance > LEAST ? pair_part(parts, k) / variance : NAN;
    return variance;
}

/* ---- Settings to look at ------------------------------------------------------------------------------------------ */

struct importance_draws {
    struct arena arena;
    const struct kerf_tune_study *study;
    int32_t num, *settings, *at; /* [num] settings, in the order of the grid, and where they are in the model */
    int32_t is_sample;
    struct kerf_tune_study part; /* the study with other active settings */
    struct surface_model *model;
    double *y;       /* [DRAWS][num] */
    double *squares; /* [DRAWS] variances */
    double *shares;  /* [effects][DRAWS] */
};

static int by_place(const void *a, const void *b, void *context) {
    return tune_space_compare(context, *(const int32_t *)a, *(const int32_t *)b);
}

/* All settings that may be measured, or so many of them at random: each is as likely as any other (Vitter's algorithm R,
 * "Random Sampling with a Reservoir", 1985). */
static int choose_settings(struct importance_draws *draws) {
    const struct kerf_tune_study *study = draws->study;
    struct pcg64 rng = random_seed((uint64_t)study->question.seed);
    int32_t seen = 0;
    draws->settings = arena_alloc(&draws->arena, WHOLE_MAX, sizeof *draws->settings);
    draws->at = arena_alloc(&draws->arena, WHOLE_MAX, sizeof *draws->at);
    if (draws->settings == NULL || draws->at == NULL) return 0;
    for (int32_t i = 0; i < tune_space_sampled(study->space); i++) {
        if (!history_is_open(study, i)) continue;
        int32_t to = seen < WHOLE_MAX ? seen : (int32_t)random_to(&rng, (uint32_t)seen);
        if (to < WHOLE_MAX) draws->settings[to] = i;
        seen++;
    }
    draws->num = seen < WHOLE_MAX ? seen : WHOLE_MAX;
    draws->is_sample = seen > WHOLE_MAX;
    qsort_r(draws->settings, (size_t)draws->num, sizeof *draws->settings, by_place, (void *)(uintptr_t)study->space);
    return 1;
}

/* The active settings: these, and what was measured. */
static int choose_active(struct importance_draws *draws) {
    const struct kerf_tune_study *study = draws->study;
    const struct kerf_tune_observation *of[2] = {study->observations, study->earlier};
    int32_t num[2] = {study->num_observations, study->num_earlier}, count = draws->num, kept = 0;
    int32_t *active = arena_alloc(&draws->arena, MODELLED_MAX, sizeof *active);
    unsigned char *taken = calloc((size_t)study->space->num_settings, 1);
    if (active == NULL || taken == NULL) {
        free(taken);
        return 0;
    }
    for (int32_t i = 0; i < count; i++) taken[active[i] = draws->settings[i]] = 1;
    for (int k = 0; k < 2; k++)
        for (int32_t i = 0; i < num[k] && count < MODELLED_MAX; i++)
            if (observation_is_informative(&of[k][i]) && !taken[of[k][i].setting])
                taken[active[count++] = of[k][i].setting] = 1;
    qsort_r(active, (size_t)count, sizeof *active, by_place, (void *)(uintptr_t)study->space);
    for (int32_t i = 0; i < count; i++)
        if (kept < draws->num && active[i] == draws->settings[kept]) draws->at[kept++] = i;
    assert(kept == draws->num);
    free(taken);
    draws->part = *study;
    draws->part.active = active;
    draws->part.num_active = count;
    return 1;
}

/* ---- Drawing ------------------------------------------------------------------------------------------------------ */

/* A run that was stopped was surely longer: what a draw has below is mirrored, as in posterior_draws.c. */
static double above_floor(const struct surface_model *model, const struct gp *gp, int32_t at, double y) {
    double floor = model->floors[at];
    return y < floor && gp->mean[at] >= floor ? 2 * floor - y : y;
}

/* PER_POINT surfaces, pairs of opposite sign. factored and work: [num][cholesky_stride(num)], [num][NORMALS] */
static void draw_point(const struct importance_draws *draws, const struct gp *gp, const double *const *normals,
                       const double *noise, double *factored, double *work, double *ret_y) {
    const struct surface_model *model = draws->model;
    int32_t n = draws->num, stride = cholesky_stride(n);
    for (int32_t i = 0; i < n; i++) {
        const double *row = gp->cov + (int64_t)draws->at[i] * model->dims;
        for (int32_t j = i; j < n; j++) factored[(int64_t)i * stride + j] = row[draws->at[j]];
    }
    cholesky(factored, n, 1e-12);
    cholesky_times(factored, n, normals, NORMALS, work);
    double stretch[SCORE_KINDS] = {surface_model_stretch(model, SCORE_NEW), surface_model_stretch(model, SCORE_AGAIN)};
    for (int32_t i = 0; i < n; i++) {
        const struct tally *tally = &model->study->tallies[draws->settings[i]];
        double by = stretch[tally->values > 0 ? SCORE_AGAIN : SCORE_NEW], middle, sd;
        surface_model_moments(model, draws->at[i], &middle, &sd);
        for (int32_t k = 0; k < PER_POINT; k++) {
            double sign = k % 2 ? -1 : 1, s = sqrt(gp_noise_variance(gp, sign * noise[k / 2]));
            double y = gp->mean[draws->at[i]] + sign * s * work[i * NORMALS + k / 2];
            ret_y[(int64_t)k * n + i] = above_floor(model, gp, draws->at[i], middle + by * (y - middle));
        }
    }
}

/* The normal numbers of a setting depend on the seed and the setting alone: shares change with what is known. */
static void write_normals(const struct importance_draws *draws, double **normals, double *noise) {
    uint64_t seed = (uint64_t)draws->study->question.seed * 0x9E3779B97F4A7C15;
    for (int32_t i = 0; i <= draws->num; i++) {
        struct pcg64 rng =
            random_seed(seed + (i < draws->num ? tune_space_place(draws->study->space, draws->settings[i]) + 1 : 0));
        double *to = i < draws->num ? normals[i] : noise;
        for (int32_t k = 0; k < POINTS * NORMALS; k++) to[k] = random_normal(&rng, 0, 1);
    }
}

static int draw(struct importance_draws *draws) {
    size_t n = (size_t)draws->num;
    struct arena *arena = &draws->arena;
    double *factored = arena_alloc(arena, n * (size_t)cholesky_stride(draws->num), sizeof *factored);
    double *work = arena_alloc(arena, n, NORMALS * sizeof *work);
    double *noise = arena_alloc(arena, POINTS, NORMALS * sizeof *noise);
    double *all = arena_alloc(arena, n, POINTS * NORMALS * sizeof *all);
    double **normals = arena_alloc(arena, n, sizeof *normals);
    const double **columns = arena_alloc(arena, n, sizeof *columns);
    draws->y = arena_alloc(arena, n, DRAWS * sizeof *draws->y);
    if (!factored || !work || !noise || !all || !normals || !columns || !draws->y) return 0;
    for (size_t i = 0; i < n; i++) normals[i] = all + i * POINTS * NORMALS;
    write_normals(draws, normals, noise);
    for (int32_t k = 0; k < POINTS; k++) {
        int32_t point = surface_model_point(draws->model, (k + 0.5) / POINTS);
        for (size_t i = 0; i < n; i++) columns[i] = normals[i] + k * NORMALS;
        draw_point(draws, &draws->model->points[point], columns, noise + k * NORMALS, factored, work,
                   draws->y + (int64_t)k * PER_POINT * draws->num);
    }
    return 1;
}

/* ---- Shares ------------------------------------------------------------------------------------------------------- */

/* fit [num]: a random half is 1. */
static void halve(struct pcg64 *rng, unsigned char *fit, int32_t num) {
    for (int32_t i = 0, left = num / 2; i < num; i++) {
        fit[i] = (int32_t)random_to(rng, (uint32_t)(num - i - 1)) < left;
        left -= fit[i];
    }
}

/* shares [effects][DRAWS] get the mean of both ways. */
static void share_out(struct importance_draws *draws, struct variance_parts *parts, double *work, unsigned char *fit) {
    struct pcg64 rng = random_seed((uint64_t)draws->study->question.seed + 1);
    int32_t effects = parts->num_axes + parts->num_pairs, ways = draws->is_sample ? 2 : 1;
    if (!draws->is_sample) variance_parts_fit(parts, NULL);
    for (int32_t from = 0; from < DRAWS; from += PER_POINT) {
        if (draws->is_sample) halve(&rng, fit, parts->num);
        for (int way = 0; way < ways; way++) {
            for (int32_t i = 0; way > 0 && i < parts->num; i++) fit[i] = !fit[i];
            if (draws->is_sample) variance_parts_fit(parts, fit);
            for (int32_t k = from; k < from + PER_POINT; k++) {
                draws->squares[k] = variance_parts_of(parts, draws->y + (int64_t)k * parts->num, work);
                for (int32_t e = 0; e < effects; e++) draws->shares[(int64_t)e * DRAWS + k] += work[e] / ways;
            }
        }
    }
}

/* The mean of the draws [DRAWS] that tell, and what leaves 5 % of them on either side. Changes their order. */
static int summarize(double *of, double *ret_mean, double ret_interval[2]) {
    int32_t count = 0;
    double sum = 0;
    *ret_mean = ret_interval[0] = ret_interval[1] = NAN;
    for (int32_t k = 0; k < DRAWS; k++)
        if (isfinite(of[k])) sum += of[k], of[count++] = of[k];
    if (count < TOLD * DRAWS) return 0;
    *ret_mean = sum / count;
    ret_interval[0] = order_statistic(of, count, (int32_t)(0.05 * (count - 1)));
    ret_interval[1] = order_statistic(of, count, (int32_t)(0.95 * (count - 1)));
    return 1;
}

/* The estimate from halves may leave 0 .. 1 by chance. */
static double to_share(double share) { return isnan(share) ? share : fmin(fmax(share, 0), 1); }

static void summarize_share(double *of, double *ret_share, double ret_interval[2]) {
    summarize(of, ret_share, ret_interval);
    *ret_share = to_share(*ret_share);
    for (int i = 0; i < 2; i++) ret_interval[i] = to_share(ret_interval[i]);
}

/* Parameters before pairs, the larger share first; unknown ones last. */
static int by_share(const void *a, const void *b) {
    const struct kerf_tune_effect *x = a, *y = b;
    int x_pair = x->params[1] >= 0, y_pair = y->params[1] >= 0;
    if (x_pair != y_pair) return x_pair - y_pair;
    double u = isnan(x->share) ? -1 : x->share, v = isnan(y->share) ? -1 : y->share;
    if (u != v) return u > v ? -1 : 1;
    for (int i = 0; i < 2; i++)
        if (x->params[i] != y->params[i]) return x->params[i] < y->params[i] ? -1 : 1;
    return 0;
}

/* What three or more parameters do together, by draw, into the place behind the effects. */
static double *write_remainder(const struct importance_draws *draws, int32_t effects) {
    double *remainder = draws->shares + (int64_t)effects * DRAWS;
    for (int32_t k = 0; k < DRAWS; k++) {
        remainder[k] = 1;
        for (int32_t e = 0; e < effects; e++) remainder[k] -= draws->shares[(int64_t)e * DRAWS + k];
    }
    return remainder;
}

static int write_effects_of(struct importance_draws *draws, const struct variance_parts *parts, struct arena *arena,
                            struct kerf_tune_importance *ret_importance) {
    int32_t effects = parts->num_axes + parts->num_pairs;
    struct kerf_tune_effect *of = arena_alloc(arena, (size_t)effects + 1, sizeof *of);
    if (of == NULL) return 0;
    double spread;
    summarize_share(write_remainder(draws, effects), &ret_importance->rest, ret_importance->rest_interval);
    for (int32_t e = 0; e < effects; e++) {
        const int32_t *pair = e < parts->num_axes ? NULL : parts->pairs[e - parts->num_axes];
        of[e].params[0] = parts->axes[pair ? pair[0] : e];
        of[e].params[1] = pair ? parts->axes[pair[1]] : -1;
        summarize_share(draws->shares + (int64_t)e * DRAWS, &of[e].share, of[e].interval);
    }
    qsort(of, (size_t)effects, sizeof *of, by_share);
    double unit = draws->model->scale.logarithmic ? 1 : draws->model->scale.unit;
    for (int32_t k = 0; k < DRAWS; k++) draws->squares[k] = unit * sqrt(draws->squares[k]);
    summarize(draws->squares, &spread, ret_importance->spread_interval);
    ret_importance->spread = spread;
    ret_importance->is_ratio = draws->model->scale.logarithmic;
    ret_importance->effects = of;
    ret_importance->num_effects = effects;
    return 1;
}

static int32_t analyse(struct importance_draws *draws, struct arena *arena, struct kerf_tune_importance *ret_importance,
                       struct kerf_error *err) {
    struct variance_parts parts;
    if (!choose_active(draws)) return error_no_memory(err, "a study");
    if (!variance_parts_make(draws->study->space, draws->settings, draws->num, draws->is_sample ? GROUPS : 0,
                             &draws->arena, &parts))
        return error_no_memory(err, "a study");
    if (parts.num_axes == 0) return KERF_OK;
    size_t effects = (size_t)(parts.num_axes + parts.num_pairs);
    draws->shares = arena_alloc(&draws->arena, effects + 1, DRAWS * sizeof *draws->shares);
    draws->squares = arena_alloc(&draws->arena, DRAWS, sizeof *draws->squares);
    double *work = arena_alloc(&draws->arena, effects, sizeof *work);
    unsigned char *fit = arena_alloc(&draws->arena, (size_t)draws->num, 1);
    if (!draws->shares || !draws->squares || !work || !fit) return error_no_memory(err, "a study");
    int32_t code = surface_update(&draws->part, draws->study->policy->surface, &draws->model, err);
    if (code != KERF_OK) return code;
    if (!draw(draws)) return error_no_memory(err, "a study");
    share_out(draws, &parts, work, fit);
    return write_effects_of(draws, &parts, arena, ret_importance) ? KERF_OK : error_no_memory(err, "a study");
}

int32_t kerf_tune_study_importance(struct kerf_tune_study *study, struct kerf_tune_importance *ret_importance,
                                   struct kerf_error *err) {
    struct importance_draws draws = {.study = study};
    struct kerf_tune_importance importance = {
        .rest = NAN, .rest_interval = {NAN, NAN}, .spread = NAN, .spread_interval = {NAN, NAN}};
    if (ret_importance->size < sizeof importance)
        return kerf_error_set(err, KERF_EINVALID, "the importance has no size");
    arena_reset(&study->importance);
    int32_t code = choose_settings(&draws) ? KERF_OK : error_no_memory(err, "a study");
    importance.size = ret_importance->size;
    importance.settings = draws.num;
    importance.is_sample = draws.is_sample;
    if (code == KERF_OK && draws.num > 1 && history_informative(study) + study->num_earlier > 0)
        code = analyse(&draws, &study->importance, &importance, err);
    if (code == KERF_OK) memcpy(ret_importance, &importance, sizeof importance);
    surface_model_free(draws.model);
    arena_free(&draws.arena);
    return code;
}

/* ---- As JSON ------------------------------------------------------------------------------------------------------ */

static void write_interval(struct kerf_json *json, const char *key, const double interval[2]) {
    if (!isfinite(interval[0])) {
        kerf_json_null(json, key);
        return;
    }
    kerf_json_open(json, key, '[');
    for (int i = 0; i < 2; i++) kerf_json_number(json, NULL, interval[i]);
    kerf_json_close(json, ']');
}

void kerf_tune_importance_write(const struct kerf_tune_importance *importance, const struct kerf_tune_space *space,
                                struct kerf_json *json) {
    kerf_json_open(json, "importance", '[');
    for (int32_t k = 0; k < importance->num_effects; k++) {
        const struct kerf_tune_effect *of = &importance->effects[k];
        kerf_json_open(json, NULL, '{');
        kerf_json_open(json, "parameters", '[');
        for (int i = 0; i < 2; i++)
            if (of->params[i] >= 0) kerf_json_string(json, NULL, space->params[of->params[i]].name);
        kerf_json_close(json, ']');
        kerf_json_number(json, "share", of->share);
        write_interval(json, "interval", of->interval);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    kerf_json_open(json, "importance_of", '{');
    kerf_json_integer(json, "settings", importance->settings);
    kerf_json_boolean(json, "sample", importance->is_sample);
    kerf_json_boolean(json, "ratio", importance->is_ratio);
    kerf_json_number(json, "spread", importance->spread);
    write_interval(json, "spread_interval", importance->spread_interval);
    kerf_json_number(json, "rest", importance->rest);
    write_interval(json, "rest_interval", importance->rest_interval);
    kerf_json_close(json, '}');
}
