/* SPDX-License-Identifier: Apache-2.0 */
#include "quantile.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double quantile_of(double *times, int32_t count, double share) {
    assert(count > 0 && share > 0 && share <= 1);
    qsort(times, (size_t)count, sizeof *times, compare);
    return times[(int32_t)ceil(share * count) - 1];
}
