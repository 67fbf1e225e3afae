/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times, rates and sizes are compared by their ratio: y = ln value (-ln value where more is better), and "within 3 %"
 * is y <= best + ln 1.03. An objective that takes values of 0 or less has no ratio: y = value / unit, and "within 3 %"
 * is 3 % of the best's size.
 */
#include "tune/scale.h"

#include <math.h>

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
