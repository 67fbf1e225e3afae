/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers: reading, and adding up. */
#ifndef KERF_BASE_NUMBER_H
#define KERF_BASE_NUMBER_H

#include <stdint.h>

/* strtod with a decimal point, whatever the program's locale is. */
double number_read(const char *text, char **ret_end);

/* Sums of doubles that are those of NumPy's np.sum and np.var, bit for bit. */
double pairwise_sum(const double *values, int64_t n);
double pairwise_sum_squares(const double *values, int64_t n, double center); /* of (values - center)^2 */

#endif
