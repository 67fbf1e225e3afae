/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bergstra et al., "Algorithms for Hyper-Parameter Optimization", 2011, with the choices that Optuna made: each trial
 * is a normal kernel, cut at the ends of the range, whose width is the larger distance to its neighbours but no less
 * than the range / min(100, 1 + trials), beside one wide kernel for what is not known; of CANDIDATES draws from the
 * good the one with the largest ratio good / bad is taken. On words a kernel is a count with one wide kernel beside it.
 *
 * It is an approximation of Optuna's: the random numbers are others.
 */
#include "tune/parzen.h"

#include <math.h>
#include "tune/normal.h"

enum { CANDIDATES = 24 };

static double width_of(int32_t num_values, const int32_t *trials, int32_t count, int32_t i) {
    double low = -0.5, high = num_values - 0.5, left = low, right = high;
    for (int32_t k = 0; k < count; k++) {
        if (trials[k] < trials[i]) left = fmax(left, trials[k]);
        if (trials[k] > trials[i]) right = fmin(right, trials[k]);
    }
    double least = (high - low) / fmin(100, 1 + count);
    return fmin(fmax(fmax(trials[i] - left, right - trials[i]), least), high - low);
}

/* Adds a kernel of this centre and width, cut to the range, to density [num_values]. */
static void add_kernel(double *density, int32_t num_values, double centre, double width) {
    double whole = normal_cdf((num_values - 0.5 - centre) / width) - normal_cdf((-0.5 - centre) / width);
    for (int32_t v = 0; v < num_values; v++)
        density[v] += (normal_cdf((v + 0.5 - centre) / width) - normal_cdf((v - 0.5 - centre) / width)) / whole;
}

static void fill(double *density, int32_t num_values, int32_t unordered, const int32_t *trials, int32_t count) {
    for (int32_t v = 0; v < num_values; v++) density[v] = unordered ? 1.0 / num_values : 0;
    if (!unordered) add_kernel(density, num_values, 0.5 * (num_values - 1), num_values);
    for (int32_t i = 0; i < count; i++) {
        if (unordered)
            density[trials[i]] += 1;
        else
            add_kernel(density, num_values, trials[i], width_of(num_values, trials, count, i));
    }
    for (int32_t v = 0; v < num_values; v++) density[v] /= count + 1;
}

int32_t parzen_suggest(int32_t num_values, int32_t unordered, const int32_t *good, int32_t num_good, const int32_t *bad,
                       int32_t num_bad, struct pcg64 *rng, double *work) {
    double *of_good = work, *of_bad = work + num_values, best_ratio = -1;
    int32_t best = 0;
    fill(of_good, num_values, unordered, good, num_good);
    fill(of_bad, num_values, unordered, bad, num_bad);
    for (int32_t k = 0; k < CANDIDATES; k++) {
        double share = random_double(rng);
        int32_t v = 0;
        while (v < num_values - 1 && (share -= of_good[v]) > 0) v++;
        double ratio = of_good[v] / fmax(of_bad[v], 1e-300);
        if (ratio > best_ratio) best_ratio = ratio, best = v;
    }
    return best;
}
