/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs priced by constants: one system for each device, one stack for each framework. */
#ifndef KERF_SCORE_PRICE_H
#define KERF_SCORE_PRICE_H

#include "cost/analytic/stack.h"
#include "kerf/cost.h"
#include "score/run_question.h"

enum { CONSTANTS_SYSTEMS_MAX = 64, CONSTANTS_STACKS_MAX = 48 };

/* All figures of the systems are given: where a file has none, a default stands there. */
struct score_constants {
    int32_t num_systems, num_stacks;
    struct kerf_system systems[CONSTANTS_SYSTEMS_MAX];
    struct kerf_stack stacks[CONSTANTS_STACKS_MAX];
    uint8_t fitted_systems[CONSTANTS_SYSTEMS_MAX],
        fitted_stacks[CONSTANTS_STACKS_MAX]; /* since those of the catalogue */
};

/* Those of the catalogue. */
int32_t constants_load(struct score_constants *ret_constants, struct kerf_error *err);

/* The efficiencies that a job of this kind is priced with. */
double *constants_attention(struct kerf_system *system, enum job_attention attention);
double *constants_products(struct kerf_system *system, enum job_precision precision);

/* KERF_EUNKNOWN where there are no constants of that name. */
int32_t price_check_system(const struct score_constants *constants, const char *system, struct kerf_error *err);
int32_t price_check_stack(const struct score_constants *constants, const char *stack, struct kerf_error *err);

/* Where the job's constants are; 0 where there are none. */
int price_find(const struct score_constants *constants, const struct job *job, int32_t *ret_system, int32_t *ret_stack);

/* 0 when memory ran out. The arena is scratch: it is not reset. */
int price_job(const struct score_constants *constants, const struct job *job, struct arena *arena,
              struct kerf_estimate *ret_estimate);

#endif
