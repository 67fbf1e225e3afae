/* SPDX-License-Identifier: Apache-2.0 */
/* The scale on which objectives are compared: less is better, and the first observation is 0. */
#ifndef KERF_TUNE_SCALE_H
#define KERF_TUNE_SCALE_H

#include <stdint.h>

struct scale {
    int32_t logarithmic;
    double sign;   /* -1 where more is better */
    double unit;   /* of a linear scale */
    double origin; /* what the first observation would be without it */
};

double scale_to(const struct scale *scale, double value);
double scale_from(const struct scale *scale, double y);

/* What is within a share of the best: all that is at most this. */
double scale_within(const struct scale *scale, double best, double share);

#endif
