/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which settings outside of the active set should be in it. The model knows the n settings that were measured: their
 * mean m and covariance V. For any other setting x, with k its prior covariance with these and K theirs among each other,
 *
 *     mean(x) = k' K^-1 m          var(x) = k(x, x) - k' (K^-1 - K^-1 V K^-1) k
 *
 * (Rasmussen and Williams, 2.2; V = 0 where noise is 0). Promise is the probability to be below the least mean of what was
 * measured, over the most probable points of the grid of hyperparameters. A space of up to POOL_MAX settings is looked at
 * whole. Of a larger one the pool is: settings at random; all values of one axis, or SWEEP of them, from each of the
 * leaders; and the same again from the most promising ones, ROUNDS times. That climbs the model's surface along its axes,
 * jumps included, as from one multiple of 16 to another.
 *
 * Costs points * pool * n^2 operations, and is done when the active set is chosen anew.
 */
#include "tune/surface_model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "tune/known_settings.h"
#include "tune/statistics.h"

enum {
    POOL_MAX = 6000,
    AT_RANDOM = 1500,
    SWEEP = 96,
    LEADERS = 3,
    ROUNDS = 3,
    CLIMBERS = 6,
    KNOWN_MAX = 128,
    POINTS = 6
};

/* The prediction of a point of the grid for any setting. */
struct predictor {
    const struct hyperparameters *hyper;
    double weight, noise2;
    double *alpha; /* [n] K^-1 (m - prior mean) */
    double *less;  /* [n][n] K^-1 - K^-1 V K^-1 */
};

struct search {
    const struct surface_model *model;
    struct kerf_tune_study *study; /* the model's, which takes in what is met of a large grid */
    struct arena arena;
    int32_t n, *known;    /* [n] active indexes of what was measured */
    double **rows;        /* [num_params * KERNEL_LENGTHS] of each axis and length: [n][num_values]; NULL: no axis */
    double **coordinates; /* [num_params] of kernel_coordinates */
    double **divided;     /* [num_params] [n][num_values]; NULL: not divided */
    int32_t num_axes;
    struct predictor points[POINTS];
    int32_t num_points;
    double least, apart;  /* the least mean that was measured, and how much less is better: `within` */
    double prior_mean;    /* of what was expected of the active settings */
    unsigned char *taken; /* [the space's capacity] in the pool, or measured */
    int32_t *pool, count; /* [POOL_MAX] */
    double *promise;      /* [POOL_MAX] */
    int32_t num_random;   /* the first ones of the pool: at random */
    double *k, *product;  /* [n] */
};

static const int32_t *values_of(const struct search *search, int32_t setting) {
    return setting_values(search->model->study->space, setting);
}

/* ---- What was measured ------------------------------------------------------------------------------------------- */

static int find_known(struct search *search) {
    const struct surface_model *model = search->model;
    double mean, sd;
    search->known = arena_alloc(&search->arena, KNOWN_MAX, sizeof *search->known);
    search->least = INFINITY;
    for (int32_t i = 0; search->known && i < model->num_active && search->n < KNOWN_MAX; i++) {
        const struct tally *tally = &model->study->tallies[model->active[i]];
        if (tally->values + tally->censored == 0) continue;
        search->known[search->n++] = i;
        surface_model_moments(model, i, &mean, &sd);
        if (tally->values > 0) search->least = fmin(search->least, mean);
    }
    return search->known != NULL;
}

/* Correlations of what was measured with every value of each axis. */
static int find_rows(struct search *search) {
    const struct kerf_tune_space *space = search->model->study->space;
    size_t params = (size_t)space->num_params, n = (size_t)search->n;
    search->rows = arena_alloc(&search->arena, params * KERNEL_LENGTHS, sizeof *search->rows);
    search->divided = arena_alloc(&search->arena, params, sizeof *search->divided);
    search->coordinates = arena_alloc(&search->arena, params, sizeof *search->coordinates);
    if (search->rows == NULL || search->divided == NULL || search->coordinates == NULL) return 0;
    for (int32_t p = 0; p < space->num_params; p++) {
        const struct kerf_tune_param *param = &space->params[p];
        size_t width = (size_t)param->num_values;
        double *coordinates = kernel_coordinates(param, &search->arena);
        if ((search->coordinates[p] = coordinates) == NULL) return 0;
        if (!kernel_is_axis(param)) continue;
        search->num_axes++;
        for (int32_t length = 0; length <= KERNEL_LENGTHS; length++) {
            if (length == KERNEL_LENGTHS && !kernel_is_divided(param)) break;
            double *row = arena_take(&search->arena, n + 1, width * sizeof *row);
            if (row == NULL) return 0;
            if (length < KERNEL_LENGTHS)
                search->rows[p * KERNEL_LENGTHS + length] = row;
            else
                search->divided[p] = row;
            for (int32_t i = 0; i < search->n; i++) {
                int32_t own = values_of(search, search->model->active[search->known[i]])[p];
                for (int32_t v = 0; v < param->num_values; v++)
                    row[(int64_t)i * param->num_values + v] =
                        length < KERNEL_LENGTHS ? kernel_correlation(param, coordinates, own, v, kernel_lengths[length])
                                                : kernel_divisibility(param, own, v);
            }
        }
    }
    return 1;
}

/* k [n]: prior covariance of a setting with what was measured; returns its own. */
static double covariances(const struct search *search, const struct hyperparameters *hyper, const int32_t *values,
                          double *k) {
    const struct kerf_tune_space *space = search->model->study->space;
    double variance = hyper->amplitude * hyper->amplitude, textures = 0;
    for (int32_t i = 0; i < search->n; i++) k[i] = variance;
    for (int32_t p = 0, axis = 0; p < space->num_params; p++) {
        if (!kernel_is_axis(&space->params[p])) continue;
        const double *row = search->rows[p * KERNEL_LENGTHS + hyper->lengths[axis++]] + values[p];
        for (int32_t i = 0; i < search->n; i++) k[i] *= row[(int64_t)i * space->params[p].num_values];
    }
    for (int32_t p = 0; p < space->num_params && hyper->texture > 0; p++) {
        if (search->divided[p] == NULL) continue;
        const double *row = search->divided[p] + values[p];
        for (int32_t i = 0; i < search->n; i++)
            k[i] += variance * hyper->texture * row[(int64_t)i * space->params[p].num_values];
        textures += variance * hyper->texture;
    }
    for (int32_t i = 0; i < search->n; i++) k[i] += variance * SURFACE_CONSTANT;
    return variance * (1 + SURFACE_CONSTANT) + textures;
}

/* ---- Points of the grid ------------------------------------------------------------------------------------------ */

/* inverse [n][n] of the matrix that is factored in `factor` as U' U; column [n] to work in */
static void invert(const double *factor, int32_t n, double *inverse, double *column) {
    int32_t stride = cholesky_stride(n);
    for (int32_t c = 0; c < n; c++) {
        for (int32_t i = 0; i < n; i++) { /* U' z = e */
            double sum = i == c;
            for (int32_t j = c; j < i; j++) sum -= factor[(int64_t)j * stride + i] * column[j];
            column[i] = i < c ? 0 : sum / factor[(int64_t)i * stride + i];
        }
        for (int32_t i = n; i-- > 0;) { /* U x = z */
            double sum = column[i];
            for (int32_t j = i + 1; j < n; j++) sum -= factor[(int64_t)i * stride + j] * inverse[(int64_t)j * n + c];
            inverse[(int64_t)i * n + c] = sum / factor[(int64_t)i * stride + i];
        }
    }
}

static double expected_of(const struct search *search, const struct hyperparameters *hyper, int32_t setting) {
    const double *prior = search->model->study->question.prior_log;
    if (!hyper->with_prior || prior == NULL || !isfinite(prior[setting])) return 0;
    return search->model->scale.sign * (prior[setting] - search->prior_mean);
}

static int make_predictor(struct search *search, int32_t point, struct predictor *predictor) {
    const struct surface_model *model = search->model;
    const struct gp *gp = &model->points[point];
    size_t n = (size_t)search->n, cells = n * n;
    int32_t count = search->n, stride = cholesky_stride(count);
    struct arena *arena = &search->arena;
    double *factor = arena_alloc(arena, n * (size_t)stride, sizeof *factor),
           *inverse = arena_alloc(arena, cells, sizeof *inverse), *times = arena_alloc(arena, cells, sizeof *times);
    *predictor = (struct predictor){&model->hypers[point], model->weights[point], gp->beta / gp->alpha,
                                    arena_alloc(arena, n, sizeof(double)), arena_alloc(arena, cells, sizeof(double))};
    if (!factor || !inverse || !times || !predictor->alpha || !predictor->less) return 0;
    for (int32_t i = 0; i < count; i++) {
        covariances(search, predictor->hyper, values_of(search, model->active[search->known[i]]), search->k);
        memcpy(factor + (int64_t)i * stride, search->k, n * sizeof *factor);
        factor[(int64_t)i * stride + i] += surface_model_own(model, search->known[i]);
    }
    cholesky(factor, count, 1e-9);
    invert(factor, count, inverse, search->k);
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < count; j++) {
            double sum = 0;
            const double *cov = gp->cov + (int64_t)search->known[j] * model->dims;
            for (int32_t l = 0; l < count; l++) sum += inverse[(int64_t)i * count + l] * cov[search->known[l]];
            times[(int64_t)i * count + j] = sum; /* K^-1 V */
        }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j < count; j++) {
            double sum = 0;
            for (int32_t l = 0; l < count; l++) sum += times[(int64_t)i * count + l] * inverse[(int64_t)l * count + j];
            predictor->less[(int64_t)i * count + j] = inverse[(int64_t)i * count + j] - sum;
        }
        for (int32_t j = 0; j < count; j++) {
            int32_t setting = model->active[search->known[j]];
            predictor->alpha[i] += inverse[(int64_t)i * count + j] *
                                   (gp->mean[search->known[j]] - expected_of(search, predictor->hyper, setting));
        }
    }
    return 1;
}

static int find_points(struct search *search) {
    const struct surface_model *model = search->model;
    double before = INFINITY, sum = 0;
    for (int32_t last = -1; search->num_points < POINTS;) {
        int32_t best = -1;
        for (int32_t i = 0; i < model->num_points; i++) {
            if (model->weights[i] > before || (model->weights[i] == before && i <= last)) continue;
            if (best < 0 || model->weights[i] > model->weights[best]) best = i;
        }
        if (best < 0 || model->weights[best] <= 0) break;
        before = model->weights[best];
        last = best;
        if (!make_predictor(search, best, &search->points[search->num_points])) return 0;
        sum += search->points[search->num_points++].weight;
    }
    for (int32_t k = 0; k < search->num_points; k++) search->points[k].weight /= sum;
    return 1;
}

/* The probability that a setting is less than `than`. */
static double chance_below(struct search *search, int32_t setting, double than) {
    double chance = 0;
    for (int32_t p = 0; p < search->num_points; p++) {
        const struct predictor *point = &search->points[p];
        double own = covariances(search, point->hyper, values_of(search, setting), search->k), less = 0;
        double mean = expected_of(search, point->hyper, setting);
        for (int32_t i = 0; i < search->n; i++) mean += search->k[i] * point->alpha[i];
        if (mean - than > 5 * sqrt(own * point->noise2)) continue;
        for (int32_t i = 0; i < search->n; i++) {
            const double *row = point->less + (int64_t)i * search->n;
            double sum = 0;
            for (int32_t j = 0; j < search->n; j++) sum += row[j] * search->k[j];
            less += search->k[i] * sum;
        }
        double sd = sqrt(fmax(own - less, 1e-4) * point->noise2);
        chance += point->weight * normal_cdf((than - mean) / sd);
    }
    return chance;
}

/* ---- The pool ---------------------------------------------------------------------------------------------------- */

static void put(struct search *search, int32_t setting) {
    if (setting < 0 || search->taken[setting] || !history_is_open(search->study, setting) || search->count >= POOL_MAX)
        return;
    search->taken[setting] = 1;
    search->promise[search->count] = chance_below(search, setting, search->least - search->apart);
    search->pool[search->count++] = setting;
}

static void put_at_random(struct search *search, struct pcg64 *rng) {
    int32_t num = search->model->study->space->num_settings;
    for (int32_t i = 0; i < num && num <= POOL_MAX; i++) put(search, i);
    for (int32_t i = 0; i < AT_RANDOM && num > POOL_MAX; i++)
        put(search, known_settings_meet_at_random(search->study, rng));
    search->num_random = search->count;
}

/* All values of each axis, or of a long one what is near and the rest at random, with the other axes as they are. */
static void sweep(struct search *search, int32_t setting, struct pcg64 *rng) {
    const struct kerf_tune_space *space = search->model->study->space;
    int32_t values[64];
    assert(space->num_params <= 64);
    memcpy(values, values_of(search, setting), (size_t)space->num_params * sizeof *values);
    for (int32_t p = 0; p < space->num_params; p++) {
        int32_t own = values[p], num = space->params[p].num_values, near = SWEEP / 4;
        for (int32_t i = 0; i < num && i < SWEEP; i++) {
            values[p] = num <= SWEEP ? i : i < near ? own - near / 2 + i : (int32_t)random_to(rng, (uint32_t)num - 1);
            if (values[p] >= 0 && values[p] < num) put(search, known_settings_meet(search->study, values));
        }
        values[p] = own;
    }
}

/* The most promising of the pool from `from` on that comes behind the promise `before`, -1: none. */
static int32_t next_promising(const struct search *search, double before, int32_t last) {
    int32_t best = -1;
    for (int32_t i = 0; i < search->count; i++) {
        if (search->promise[i] > before || (search->promise[i] == before && i <= last)) continue;
        if (best < 0 || search->promise[i] > search->promise[best]) best = i;
    }
    return best;
}

static void climb(struct search *search, struct pcg64 *rng) {
    int32_t from[CLIMBERS], count = 0;
    double before = INFINITY;
    for (int32_t last = -1; count < CLIMBERS && (last = next_promising(search, before, last)) >= 0;) {
        before = search->promise[last];
        from[count++] = search->pool[last];
    }
    for (int32_t i = 0; i < count; i++) sweep(search, from[i], rng);
}

static void fill_pool(struct search *search) {
    const struct surface_model *model = search->model;
    struct pcg64 rng = random_seed((uint64_t)model->study->question.seed * 7368787 + (uint64_t)model->informative);
    double before = -INFINITY, mean, sd;
    put_at_random(search, &rng);
    if (model->study->space->num_settings <= POOL_MAX) return;
    for (int32_t leader = 0; leader < LEADERS; leader++) {
        int32_t best = -1;
        double least = INFINITY;
        for (int32_t k = 0; k < search->n; k++) {
            surface_model_moments(model, search->known[k], &mean, &sd);
            if (mean > before && mean < least) least = mean, best = search->known[k];
        }
        if (best < 0) break;
        before = least;
        sweep(search, model->active[best], &rng);
    }
    for (int32_t round = 0; round < ROUNDS; round++) climb(search, &rng);
}

static int begin(struct search *search) {
    const struct surface_model *model = search->model;
    const struct kerf_tune_study *study = model->study;
    struct arena *arena = &search->arena;
    size_t most = (size_t)kerf_tune_space_capacity(study->space);
    int32_t count = 0;
    search->apart = log1p(study->question.within);
    search->taken = arena_alloc(arena, most, 1);
    search->pool = arena_alloc(arena, POOL_MAX, sizeof *search->pool);
    search->promise = arena_alloc(arena, POOL_MAX, sizeof *search->promise);
    search->k = arena_alloc(arena, KNOWN_MAX, sizeof *search->k);
    if (!search->taken || !search->pool || !search->promise || !search->k || !find_known(search)) return 0;
    for (int32_t i = 0; i < search->n; i++) search->taken[model->active[search->known[i]]] = 1;
    for (int32_t i = 0; study->question.prior_log && i < model->num_active; i++) {
        double prior = study->question.prior_log[model->active[i]];
        if (isfinite(prior)) search->prior_mean += prior, count++;
    }
    if (count) search->prior_mean /= count;
    return search->n == 0 || (find_rows(search) && find_points(search));
}

/* ---- What is left out -------------------------------------------------------------------------------------------- */

/*
 * How probable it is that a setting which is neither modelled nor taken is better by more than `within`: of OUTSIDE such
 * settings, the most promising ones and others at random, the share of joint draws in which one is. Neighbours are
 * correlated, so that their chances do not add up, and these stand for the rest.
 */
enum { OUTSIDE = 96, OUTSIDE_DRAWS = 256 };

static double covariance_of(const struct search *search, const struct hyperparameters *hyper, const int32_t *a,
                            const int32_t *b) {
    const struct kerf_tune_space *space = search->model->study->space;
    double product = 1, alike = 0;
    for (int32_t p = 0, axis = 0; p < space->num_params; p++) {
        const struct kerf_tune_param *param = &space->params[p];
        if (!kernel_is_axis(param)) continue;
        product *=
            kernel_correlation(param, search->coordinates[p], a[p], b[p], kernel_lengths[hyper->lengths[axis++]]);
        if (hyper->texture > 0 && search->divided[p]) alike += hyper->texture * kernel_divisibility(param, a[p], b[p]);
    }
    return hyper->amplitude * hyper->amplitude * (product + alike + SURFACE_CONSTANT);
}

static int32_t choose_outside(const struct search *search, const struct proposals *proposals, int32_t *ret_outside) {
    int32_t count = 0, pick;
    for (int32_t i = PROPOSALS_TAKEN; i < proposals->num && count < OUTSIDE / 3; i++)
        ret_outside[count++] = proposals->settings[i];
    for (pick = 0; pick < search->num_random && count < OUTSIDE; pick++) {
        int32_t setting = search->pool[(int64_t)pick * 7919 % search->num_random], is_new = 1;
        for (int32_t k = 0; k < proposals->num; k++) is_new &= proposals->settings[k] != setting;
        if (is_new && surface_model_find(search->model, setting) < 0) ret_outside[count++] = setting;
    }
    return count;
}

/* Share of draws by one point in which one of the settings is less than `than`; -1: no memory. */
static double share_of_draws(struct search *search, const struct predictor *point, const int32_t *outside,
                             int32_t count, double than) {
    int32_t n = search->n, stride = cholesky_stride(count), hits = 0;
    struct arena *arena = &search->arena;
    double *k = arena_alloc(arena, (size_t)count * 2, (size_t)n * sizeof *k), *less = k ? k + (int64_t)count * n : NULL;
    double *factor = arena_alloc(arena, (size_t)count, (size_t)stride * sizeof *factor), mean[OUTSIDE], z[OUTSIDE];
    struct pcg64 rng = random_seed(1);
    if (k == NULL || factor == NULL) return -1;
    for (int32_t a = 0; a < count; a++) {
        double *own = k + (int64_t)a * n;
        covariances(search, point->hyper, values_of(search, outside[a]), own);
        mean[a] = expected_of(search, point->hyper, outside[a]);
        for (int32_t i = 0; i < n; i++) {
            mean[a] += own[i] * point->alpha[i];
            for (int32_t j = 0; j < n; j++) less[(int64_t)a * n + i] += point->less[(int64_t)i * n + j] * own[j];
        }
    }
    for (int32_t a = 0; a < count; a++)
        for (int32_t b = a; b < count; b++) {
            double sum =
                covariance_of(search, point->hyper, values_of(search, outside[a]), values_of(search, outside[b]));
            for (int32_t i = 0; i < n; i++) sum -= k[(int64_t)a * n + i] * less[(int64_t)b * n + i];
            factor[(int64_t)a * stride + b] = sum;
        }
    cholesky(factor, count, 1e-4);
    for (int32_t draw = 0; draw < OUTSIDE_DRAWS; draw++) {
        int32_t hit = 0;
        for (int32_t a = 0; a < count; a++) z[a] = random_normal(&rng, 0, 1);
        for (int32_t b = 0; b < count && !hit; b++) {
            double y = 0;
            for (int32_t a = 0; a <= b; a++) y += factor[(int64_t)a * stride + b] * z[a];
            hit = mean[b] + sqrt(point->noise2) * y < than;
        }
        hits += hit;
    }
    return (double)hits / OUTSIDE_DRAWS;
}

static double unseen_of(struct search *search, const struct proposals *proposals) {
    int32_t outside[OUTSIDE], count = choose_outside(search, proposals, outside);
    double chance = 0;
    for (int32_t p = 0; p < search->num_points && count > 0; p++) {
        double share = share_of_draws(search, &search->points[p], outside, count, search->least - search->apart);
        if (share < 0) return NAN;
        chance += search->points[p].weight * share;
    }
    return chance;
}

int32_t proposals_find(const struct surface_model *model, struct kerf_tune_study *study,
                       struct proposals *ret_proposals, struct kerf_error *err) {
    struct search search = {.model = model, .study = study};
    ret_proposals->num = 0;
    ret_proposals->unseen = NAN;
    if (model->num_active == model->study->space->num_settings || model->setup.kind != SURFACE_CORRELATED)
        return KERF_OK;
    int good = begin(&search);
    if (good && search.n > 0) {
        double before = INFINITY;
        fill_pool(&search);
        for (int32_t last = -1;
             ret_proposals->num < PROPOSALS_MAX && (last = next_promising(&search, before, last)) >= 0;) {
            before = search.promise[last];
            ret_proposals->settings[ret_proposals->num++] = search.pool[last];
        }
    }
    if (good && search.n > 0) ret_proposals->unseen = unseen_of(&search, ret_proposals);
    arena_free(&search.arena);
    return good ? KERF_OK : error_no_memory(err, "a study");
}
