/* SPDX-License-Identifier: Apache-2.0 */
/* The normal distribution and Student's t. Errors are at most 1e-12, relative to the smaller of value and 1 - value. */
#ifndef KERF_TUNE_NORMAL_H
#define KERF_TUNE_NORMAL_H

double normal_density(double x);
double normal_cdf(double x);
double normal_quantile(double p); /* 0 < p < 1; -INFINITY and INFINITY at the ends */

/* Of a normal variable that is known to be above x: log of the probability of that, and how far its mean is, which is
 * the hazard density(x) / (1 - cdf(x)). */
double normal_log_above(double x);
double normal_hazard(double x);

double student_cdf(double x, double freedom);
double student_quantile(double p, double freedom);

#endif
