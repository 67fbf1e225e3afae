/* SPDX-License-Identifier: Apache-2.0 */
/* Two objectives: which settings no other one beats in both, and what to run next to be sure of it. */
#ifndef KERF_TUNE_PARETO_H
#define KERF_TUNE_PARETO_H

#include "tune/history.h"

struct pareto;

/* Of a study that has a `second`. pareto_free gives it back; NULL: no memory. */
struct pareto *pareto_create(struct kerf_tune_study *study);
struct pareto *pareto_free(struct pareto *pareto);

/* As tune_policy has it, for both objectives together; bound: on observations. */
int32_t pareto_next(struct pareto *pareto, const int32_t *pending, int32_t num_pending, int32_t slot, int32_t bound,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err);

/* The members of the front, and how sure they are. Of ret_front the rest is left as it is. */
int32_t pareto_front(struct pareto *pareto, struct kerf_tune_front *ret_front, struct kerf_error *err);

#endif
