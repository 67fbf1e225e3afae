/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matern's correlation of order 3/2, (1 + r) exp(-r) with r = sqrt(3) distance / length: once differentiable, so that
 * the valleys of a surface may have kinks (Rasmussen and Williams, 4.2.1). Batch sizes, threads and the like act by
 * their ratio, which is why axes are logarithmic. Words have no order: two that differ are one width apart.
 *
 * KINK of the variance is each value's own, whatever its neighbours are: kernels that switch at a size make steps that
 * no smooth process expects, and without it a valley behind one is taken for settled by what lies beside it.
 */
#include "tune/likeness.h"

#include <math.h>

static const double KINK = 0.003;

int likeness_matters(const struct kerf_tune_param *param) { return param->num_values > 1; }

double *likeness_places(const struct kerf_tune_param *param, struct arena *arena) {
    double *places = arena_alloc(arena, (size_t)param->num_values, sizeof *places);
    if (places == NULL || param->kind != KERF_TUNE_INTEGER || param->num_values < 2) return places;
    int logarithmic = param->integers[0] > 0;
    for (int32_t i = 0; i < param->num_values; i++) {
        double value = (double)param->integers[i];
        places[i] = logarithmic ? log2(value) : value;
    }
    double low = places[0], width = places[param->num_values - 1] - low;
    for (int32_t i = 0; i < param->num_values; i++) places[i] = (places[i] - low) / width;
    return places;
}

double likeness(const struct kerf_tune_param *param, const double *places, int32_t a, int32_t b, double length) {
    if (a == b) return 1;
    double distance = param->kind == KERF_TUNE_INTEGER ? fabs(places[a] - places[b]) : 1,
           r = sqrt(3) * distance / length;
    return (1 - KINK) * (1 + r) * exp(-r);
}
