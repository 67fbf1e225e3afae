/* SPDX-License-Identifier: Apache-2.0 */
/* The normal distribution, Student's t and order statistics. Errors of probabilities are at most 1e-12, relative to the
 * smaller of value and 1 - value. */
#ifndef KERF_TUNE_STATISTICS_H
#define KERF_TUNE_STATISTICS_H

#include <stdint.h>

double normal_density(double x);
double normal_cdf(double x);
double normal_quantile(double p); /* 0 < p < 1; -INFINITY and INFINITY at the ends */

/* log P(X > x), and the mean of X given X > x, which is the hazard density(x) / (1 - cdf(x)). */
double normal_log_above(double x);
double normal_hazard(double x);

/* The logarithm of the gamma function, x > 0. lgamma would write a variable that all threads share. */
double log_gamma(double x);

double student_cdf(double x, double freedom);
double student_quantile(double p, double freedom);

/* The value at index k of values [n], 0 <= k < n, none of them NAN, if they were sorted ascending. Reorders them: those
 * before k are at most that, those behind it at least that. About 3 n steps. */
double order_statistic(double *values, int32_t n, int32_t k);

#endif
