/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_TESTS_PLAIN_SIMULATE_H
#define KERF_TESTS_PLAIN_SIMULATE_H

#include "kerf/schedule.h"

/* The simulator as one would write it down: an operation starts when the one before it on its device is over and what
 * it needs has arrived, each found by looking through all operations of a device. Quadratic. slices NULL: equal ones.
 * start_s and end_s are [devices][num_ops]; 0 when memory runs out. The schedule must pass kerf_schedule_check. */
int plain_simulate(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                   const struct kerf_schedule_slices *slices, double **start_s, double **end_s);

#endif
