/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grid over the shape of the surface: for each axis a length from "every value for itself" to "has no effect", its
 * amplitude, the kind of drift, and whether what was expected of it is a help. Each choice is as likely as its
 * neighbours but for the drift, of which there is none in half of all cases. The scale of the noise is no axis: it is
 * integrated in closed form (tune/gaussian_process.h), which is what makes the grid small.
 *
 * A point of best evidence is not enough: from a dozen runs it is sure of a shape that two more would have denied.
 */
#include "tune/hyper_grid.h"

#include <math.h>
#include "base/random.h"

const double hyper_lengths[HYPER_LENGTHS] = {0.12, 0.45, 1.7, 40};

static const double amplitudes[HYPER_AMPLITUDES] = {4, 16, 64, 256};

static const struct {
    double sd, runs, share;
} drifts[HYPER_DRIFTS] = {{0, 1, 0.5}, {1, 8, 1.0 / 6}, {3, 10, 1.0 / 6}, {8, 40, 1.0 / 6}};

/* The point with this number: digits of mixed base. */
static int write_point(struct hyper *point, int64_t number, int32_t num_axes, int32_t has_prior, struct arena *arena) {
    int8_t *lengths = arena_alloc(arena, (size_t)num_axes + 1, sizeof *lengths);
    if (lengths == NULL) return 0;
    for (int32_t k = 0; k < num_axes; k++, number /= HYPER_LENGTHS) lengths[k] = (int8_t)(number % HYPER_LENGTHS);
    int64_t amplitude = number % HYPER_AMPLITUDES, drift = number / HYPER_AMPLITUDES % HYPER_DRIFTS;
    point->lengths = lengths;
    point->amplitude = amplitudes[amplitude];
    point->drift = drifts[drift].sd;
    point->drift_runs = drifts[drift].runs;
    point->log_prior = log(drifts[drift].share);
    point->with_prior = has_prior && number / (HYPER_AMPLITUDES * HYPER_DRIFTS) % 2 == 0;
    return 1;
}

/* A random point: for spaces of so many axes that the points cannot be counted. */
static int draw_point(struct hyper *point, int32_t num_axes, int32_t has_prior, struct pcg64 *rng,
                      struct arena *arena) {
    int64_t rest = random_to(rng, HYPER_AMPLITUDES * HYPER_DRIFTS * (has_prior ? 2 : 1) - 1);
    if (!write_point(point, 0, num_axes, 0, arena)) return 0;
    const int8_t *lengths = point->lengths;
    if (!write_point(point, rest, 0, has_prior, arena)) return 0;
    for (int32_t k = 0; k < num_axes; k++) ((int8_t *)lengths)[k] = (int8_t)random_to(rng, HYPER_LENGTHS - 1);
    point->lengths = lengths;
    return 1;
}

struct hyper *hyper_grid(int32_t num_axes, int32_t has_prior, int32_t most, struct arena *arena, int32_t *ret_count) {
    int64_t whole = (int64_t)HYPER_AMPLITUDES * HYPER_DRIFTS * (has_prior ? 2 : 1);
    for (int32_t k = 0; k < num_axes && whole <= HYPER_MOST; k++) whole *= HYPER_LENGTHS;
    int32_t count = (int32_t)(whole < most ? whole : most);
    struct hyper *points = arena_alloc(arena, (size_t)count, sizeof *points);
    struct pcg64 rng = random_seed(0);
    for (int32_t i = 0; points && i < count; i++) {
        int good = whole <= most ? write_point(&points[i], i, num_axes, has_prior, arena)
                                 : draw_point(&points[i], num_axes, has_prior, &rng, arena);
        if (!good) return NULL;
    }
    *ret_count = count;
    return points;
}
