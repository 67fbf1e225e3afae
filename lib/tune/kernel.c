/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matern's kernel of order 3/2, (1 + r) exp(-r) with r = sqrt(3) distance / length: once differentiable, so that the
 * valleys of a surface may have kinks (Rasmussen and Williams, 4.2.1). Batch sizes, threads and the like act by their
 * ratio, which is why axes are logarithmic. Words have no order: two that differ are one width apart.
 *
 * NUGGET of the variance is each value's own, whatever its neighbours are: programs that switch at a size make steps
 * that no smooth process expects, and without it a valley behind a step is taken for settled by what lies beside it.
 *
 * Hyperparameters are averaged over a grid: for each axis a length from "every value for itself" to "has no effect",
 * the amplitude, the kind of drift, and whether the expected surface helps. All choices are equally probable, except
 * that half of the probability goes to no drift. The scale of the noise is not an axis: it is integrated in closed
 * form (gaussian_process.c), which keeps the grid small. The point with the best evidence alone would be too sure:
 * after a dozen runs it is certain of a shape that two more runs would refute.
 */
#include "tune/kernel.h"

#include <assert.h>
#include <math.h>
#include "base/random.h"
#include "tune/param.h"

static const double NUGGET = 0.003;

int kernel_is_axis(const struct kerf_tune_param *param) { return param->num_values > 1; }

int kernel_is_ordered(const struct kerf_tune_param *param) {
    return param->kind == KERF_TUNE_INTEGER || param->numbers != NULL;
}

double kernel_position(const struct kerf_tune_param *param, int32_t i) {
    double value = param->numbers ? param->numbers[i] : (double)param->integers[i];
    double first = param->numbers ? param->numbers[0] : (double)param->integers[0];
    return first > 0 ? log2(value) : value;
}

double *kernel_coordinates(const struct kerf_tune_param *param, struct arena *arena) {
    double *coordinates = arena_alloc(arena, (size_t)param->num_values, sizeof *coordinates);
    if (coordinates == NULL || !kernel_is_ordered(param) || param->num_values < 2) return coordinates;
    double low = kernel_position(param, 0), width = kernel_position(param, param->num_values - 1) - low;
    assert(width > 0);
    for (int32_t i = 0; i < param->num_values; i++) coordinates[i] = (kernel_position(param, i) - low) / width;
    return coordinates;
}

static double matern(double distance, double length) {
    double r = sqrt(3) * distance / length;
    return (1 + r) * exp(-r);
}

double kernel_correlation(const struct kerf_tune_param *param, const double *coordinates, int32_t a, int32_t b,
                          double length) {
    if (a == b) return 1;
    return (1 - NUGGET) * matern(kernel_is_ordered(param) ? fabs(coordinates[a] - coordinates[b]) : 1, length);
}

int kernel_is_loose(const struct kerf_tune_param *param, double length, double least) {
    return matern(kernel_is_ordered(param) ? 1.0 / (param->num_values - 1) : 1, length) < least;
}

double kernel_distance(const struct kerf_tune_space *space, int32_t a, int32_t b) {
    const int32_t *of_a = setting_values(space, a);
    const int32_t *of_b = setting_values(space, b);
    double sum = 0;
    for (int32_t k = 0; k < space->num_params; k++) {
        const struct kerf_tune_param *param = &space->params[k];
        if (of_a[k] == of_b[k]) continue;
        double width =
            kernel_is_ordered(param) ? kernel_position(param, param->num_values - 1) - kernel_position(param, 0) : 1;
        sum += kernel_is_ordered(param)
                   ? fabs(kernel_position(param, of_a[k]) - kernel_position(param, of_b[k])) / width
                   : 1;
    }
    return sum;
}

/* ---- What divides a value ---------------------------------------------------------------------------------------- */

/*
 * Tiles, warps, pages and cores make a program faster where a size is a multiple of them. f has an effect for each
 * divisor m, of which m of the value is 1 where it divides it; all effects have one variance, and the covariance of two
 * values is the share of divisors that divide both or neither. So a value resembles a distant one with the same
 * divisors, and a sum of a few effects is learnt from a few values.
 */
static const struct {
    int32_t by;
    double weight;
} divisors[] = {{2, 1},   {4, 1},    {8, 1},    {16, 1},   {32, 1},    {64, 1},
                {128, 1}, {3, 0.25}, {5, 0.25}, {6, 0.25}, {10, 0.25}, {12, 0.25}};
enum { DIVISORS = sizeof divisors / sizeof *divisors };

static int divides(const struct kerf_tune_param *param, int32_t i, int d) {
    return param->integers[i] % divisors[d].by == 0;
}

int kernel_is_divided(const struct kerf_tune_param *param) {
    if (param->kind != KERF_TUNE_INTEGER) return 0;
    for (int d = 0; d < DIVISORS; d++)
        for (int32_t i = 1; i < param->num_values; i++)
            if (divides(param, i - 1, d) && !divides(param, i, d)) return 1;
    return 0;
}

int kernel_has_divided(const struct kerf_tune_space *space) {
    int has = 0;
    for (int32_t k = 0; k < space->num_params; k++) has |= kernel_is_divided(&space->params[k]);
    return has;
}

double kernel_divisibility(const struct kerf_tune_param *param, int32_t a, int32_t b) {
    double sum = 0, alike = 0;
    for (int d = 0; d < DIVISORS; d++) {
        sum += divisors[d].weight;
        if (divides(param, a, d) == divides(param, b, d)) alike += divisors[d].weight;
    }
    return alike / sum;
}

/* ---- Hyperparameters --------------------------------------------------------------------------------------- */

const double kernel_lengths[KERNEL_LENGTHS] = {0.12, 0.45, 1.7, 40};

static const double textures[KERNEL_TEXTURES] = {0, 0.02, 0.3};

/* The least one is for a single axis alone, where values may differ by as much as their runs do: of several axes, points
 * are drawn, and each that explains nothing takes the place of one that does. */
static const double amplitudes[KERNEL_AMPLITUDES] = {4, 16, 64, 256, 1};

static const struct {
    double sd, runs, share; /* the shares add up to 1 */
} drifts[KERNEL_DRIFTS] = {{0, 1, 0.5}, {1, 8, 1.0 / 6}, {3, 10, 1.0 / 6}, {8, 40, 1.0 / 6}};

static int32_t num_amplitudes(const struct kernel_choices *choices) {
    return choices->num_axes == 1 ? KERNEL_AMPLITUDES : KERNEL_AMPLITUDES - 1;
}

/* The point with this number: digits of mixed base, the axes' lengths first. */
static int write_point(struct hyperparameters *point, int64_t number, int32_t num_axes,
                       const struct kernel_choices *choices, struct arena *arena) {
    int8_t *lengths = arena_alloc(arena, (size_t)num_axes + 1, sizeof *lengths);
    if (lengths == NULL) return 0;
    for (int32_t k = 0; k < num_axes; k++, number /= KERNEL_LENGTHS) lengths[k] = (int8_t)(number % KERNEL_LENGTHS);
    int64_t of = num_amplitudes(choices), amplitude = number % of, drift = number / of % KERNEL_DRIFTS;
    point->lengths = lengths;
    point->amplitude = amplitudes[amplitude];
    point->drift = drifts[drift].sd;
    point->drift_runs = drifts[drift].runs;
    point->log_prior = log(drifts[drift].share);
    number /= of * KERNEL_DRIFTS;
    point->texture = choices->is_divided ? textures[number % KERNEL_TEXTURES] : 0;
    if (choices->is_divided) number /= KERNEL_TEXTURES;
    point->with_prior = choices->has_prior && number % 2 == 0;
    return 1;
}

static int32_t points_without_lengths(const struct kernel_choices *choices) {
    return num_amplitudes(choices) * KERNEL_DRIFTS * (choices->is_divided ? KERNEL_TEXTURES : 1) *
           (choices->has_prior ? 2 : 1);
}

/* A random point: for spaces of so many axes that the points cannot be counted. */
static int draw_point(struct hyperparameters *point, const struct kernel_choices *choices, struct pcg64 *rng,
                      struct arena *arena) {
    int64_t rest = random_to(rng, (uint32_t)points_without_lengths(choices) - 1);
    int8_t *lengths = arena_take(arena, (size_t)choices->num_axes + 1, sizeof *lengths);
    if (lengths == NULL || !write_point(point, rest, 0, choices, arena)) return 0;
    for (int32_t k = 0; k < choices->num_axes; k++) lengths[k] = (int8_t)random_to(rng, KERNEL_LENGTHS - 1);
    point->lengths = lengths;
    return 1;
}

struct hyperparameters *kernel_grid(const struct kernel_choices *choices, int32_t max_points, struct arena *arena,
                                    int32_t *ret_count) {
    assert(max_points > 0 && max_points <= KERNEL_POINTS_MAX);
    int64_t whole = points_without_lengths(choices);
    for (int32_t k = 0; k < choices->num_axes && whole <= KERNEL_POINTS_MAX; k++) whole *= KERNEL_LENGTHS;
    int32_t count = (int32_t)(whole < max_points ? whole : max_points);
    struct hyperparameters *points = arena_alloc(arena, (size_t)count, sizeof *points);
    struct pcg64 rng = random_seed(0);
    for (int32_t i = 0; points && i < count; i++) {
        int good = whole <= max_points ? write_point(&points[i], i, choices->num_axes, choices, arena)
                                       : draw_point(&points[i], choices, &rng, arena);
        if (!good) return NULL;
    }
    *ret_count = count;
    return points;
}
