/* SPDX-License-Identifier: Apache-2.0 */
/* Seconds of single operations on one accelerator. */
#ifndef KERF_COST_ANALYTIC_KERNELS_H
#define KERF_COST_ANALYTIC_KERNELS_H

#include "cost/analytic/device.h"

struct pass_seconds {
    double of[ANALYTIC_PASSES];
};

/* y = x w of rows x k by k x n, and the two products of its backward pass, added to the sums. */
void product_add(const struct analytic_device *device, const struct analytic_rate *rate, double rows, double n,
                 double k, struct pass_seconds *sums);

/* `groups` such products in one kernel, of `rows` rows together. How many rows each has takes the place of k0/m: the
 * kernel reaches `grouped_efficiency` of one product's rate with many, half of that with `grouped_rows`. */
void grouped_product_add(const struct analytic_device *device, const struct analytic_rate *rate, double groups,
                         double rows, double n, double k, struct pass_seconds *sums);

/* The core of attention, forward and backward, of so many queries that each meet all their keys, `heads` heads. */
void attention_s(const struct analytic_device *device, const struct analytic_layer *layer, double queries, double heads,
                 double *ret_forward_s, double *ret_backward_s);

/* What a pass takes whose kernels run work_s on the device and are launched in host_s: (work^6 + host^6)^(1/6). */
double launched_s(double work_s, double host_s);

#endif
