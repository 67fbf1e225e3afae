/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matern's kernel of order 3/2, (1 + r) exp(-r) with r = sqrt(3) distance / length: once differentiable, so that the
 * valleys of a surface may have kinks (Rasmussen and Williams, 4.2.1). Batch sizes, threads and the like act by their
 * ratio, which is why axes are logarithmic. Words have no order: two that differ are one width apart.
 *
 * NUGGET of the variance is each value's own, whatever its neighbours are: programs that switch at a size make steps
 * that no smooth process expects, and without it a valley behind a step is taken for settled by what lies beside it.
 *
 * Hyperparameters are averaged over a grid: for each axis a length from "every value for itself" to "has no effect", the
 * amplitude, the kind of drift, and whether what was expected of the surface helps. Each choice is as probable as its
 * neighbours, but for the drift, of which there is none in half of all cases. The scale of the noise is no axis: it is
 * integrated in closed form (gaussian_process.c), which keeps the grid small. The point of the best evidence alone would
 * be too sure: from a dozen runs it is certain of a shape that two more runs would have denied.
 */
#include "tune/kernel.h"

#include <assert.h>
#include <math.h>
#include "base/random.h"

static const double NUGGET = 0.003;

int kernel_is_axis(const struct kerf_tune_param *param) { return param->num_values > 1; }

/* Of the value at index i, before it is scaled to 0 .. 1. */
static double position(const struct kerf_tune_param *param, int32_t i) {
    double value = (double)param->integers[i];
    return param->integers[0] > 0 ? log2(value) : value;
}

double *kernel_coordinates(const struct kerf_tune_param *param, struct arena *arena) {
    double *coordinates = arena_alloc(arena, (size_t)param->num_values, sizeof *coordinates);
    if (coordinates == NULL || param->kind != KERF_TUNE_INTEGER || param->num_values < 2) return coordinates;
    double low = position(param, 0), width = position(param, param->num_values - 1) - low;
    assert(width > 0);
    for (int32_t i = 0; i < param->num_values; i++) coordinates[i] = (position(param, i) - low) / width;
    return coordinates;
}

double kernel_correlation(const struct kerf_tune_param *param, const double *coordinates, int32_t a, int32_t b,
                          double length) {
    if (a == b) return 1;
    double distance = param->kind == KERF_TUNE_INTEGER ? fabs(coordinates[a] - coordinates[b]) : 1,
           r = sqrt(3) * distance / length;
    return (1 - NUGGET) * (1 + r) * exp(-r);
}

double kernel_distance(const struct kerf_tune_space *space, int32_t a, int32_t b) {
    const int32_t *of_a = space->values + (int64_t)a * space->num_params;
    const int32_t *of_b = space->values + (int64_t)b * space->num_params;
    double sum = 0;
    for (int32_t k = 0; k < space->num_params; k++) {
        const struct kerf_tune_param *param = &space->params[k];
        if (of_a[k] == of_b[k]) continue;
        double width =
            param->kind == KERF_TUNE_INTEGER ? position(param, param->num_values - 1) - position(param, 0) : 1;
        sum += param->kind == KERF_TUNE_INTEGER ? fabs(position(param, of_a[k]) - position(param, of_b[k])) / width : 1;
    }
    return sum;
}

/* ---- Hyperparameters --------------------------------------------------------------------------------------- */

const double kernel_lengths[KERNEL_LENGTHS] = {0.12, 0.45, 1.7, 40};

static const double amplitudes[KERNEL_AMPLITUDES] = {4, 16, 64, 256};

static const struct {
    double sd, runs, share; /* the shares add up to 1 */
} drifts[KERNEL_DRIFTS] = {{0, 1, 0.5}, {1, 8, 1.0 / 6}, {3, 10, 1.0 / 6}, {8, 40, 1.0 / 6}};

/* The point with this number: digits of mixed base, the axes' lengths first. */
static int write_point(struct hyperparameters *point, int64_t number, int32_t num_axes, int32_t has_prior,
                       struct arena *arena) {
    int8_t *lengths = arena_alloc(arena, (size_t)num_axes + 1, sizeof *lengths);
    if (lengths == NULL) return 0;
    for (int32_t k = 0; k < num_axes; k++, number /= KERNEL_LENGTHS) lengths[k] = (int8_t)(number % KERNEL_LENGTHS);
    int64_t amplitude = number % KERNEL_AMPLITUDES, drift = number / KERNEL_AMPLITUDES % KERNEL_DRIFTS;
    point->lengths = lengths;
    point->amplitude = amplitudes[amplitude];
    point->drift = drifts[drift].sd;
    point->drift_runs = drifts[drift].runs;
    point->log_prior = log(drifts[drift].share);
    point->with_prior = has_prior && number / (KERNEL_AMPLITUDES * KERNEL_DRIFTS) % 2 == 0;
    return 1;
}

/* A random point: for spaces of so many axes that the points cannot be counted. */
static int draw_point(struct hyperparameters *point, int32_t num_axes, int32_t has_prior, struct pcg64 *rng,
                      struct arena *arena) {
    int64_t rest = random_to(rng, KERNEL_AMPLITUDES * KERNEL_DRIFTS * (has_prior ? 2 : 1) - 1);
    int8_t *lengths = arena_take(arena, (size_t)num_axes + 1, sizeof *lengths);
    if (lengths == NULL || !write_point(point, rest, 0, has_prior, arena)) return 0;
    for (int32_t k = 0; k < num_axes; k++) lengths[k] = (int8_t)random_to(rng, KERNEL_LENGTHS - 1);
    point->lengths = lengths;
    return 1;
}

struct hyperparameters *kernel_grid(int32_t num_axes, int32_t has_prior, int32_t max_points, struct arena *arena,
                                    int32_t *ret_count) {
    assert(max_points > 0 && max_points <= KERNEL_POINTS_MAX);
    int64_t whole = (int64_t)KERNEL_AMPLITUDES * KERNEL_DRIFTS * (has_prior ? 2 : 1);
    for (int32_t k = 0; k < num_axes && whole <= KERNEL_POINTS_MAX; k++) whole *= KERNEL_LENGTHS;
    int32_t count = (int32_t)(whole < max_points ? whole : max_points);
    struct hyperparameters *points = arena_alloc(arena, (size_t)count, sizeof *points);
    struct pcg64 rng = random_seed(0);
    for (int32_t i = 0; points && i < count; i++) {
        int good = whole <= max_points ? write_point(&points[i], i, num_axes, has_prior, arena)
                                       : draw_point(&points[i], num_axes, has_prior, &rng, arena);
        if (!good) return NULL;
    }
    *ret_count = count;
    return points;
}
