/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which layouts exist: the candidate sets of the reference (execution.py), level by level. A layout is a choice
 * on each level:
 *
 *   tensor parallelism (tp1, tp2)  ->  pipeline stages pp, and with them dp  ->  micro-batch
 *                                  ->  SUMMA blocks  ->  placement in the scale-up domain
 *
 * The last three are independent of each other, so that a search can count and price them apart.
 */
#ifndef KERF_PLAN_SPACE_H
#define KERF_PLAN_SPACE_H

#include "base/arena.h"
#include "kerf/spec.h"
#include "plan/divisors.h"

struct space_tensor {
    int64_t tp1, tp2;
};

/* How many of each kind are neighbours in a scale-up domain. */
struct space_placement {
    int64_t tp1, tp2, dp, pp;
};

/* All lists are taken from the arena; NULL with *ret_count > 0 means that memory ran out. */
struct space_tensor *space_tensors(const struct kerf_problem *problem, struct arena *arena, int32_t *ret_count);

/* The numbers of stages, rising; dp is gpus / (tp1 tp2 pp). */
int32_t space_stages(const struct kerf_problem *problem, const struct space_tensor *tensor, int64_t pps[DIVISORS_MAX]);

/* Whether the tokens of a micro-batch, which divides the samples of a replica, can be cut as they must be. */
int space_has_micro_batch(const struct kerf_problem *problem, const struct space_tensor *tensor, int64_t micro_batch);

/* The numbers of SUMMA blocks, rising; the one number 0 for other strategies. */
enum { SUMMA_BLOCKS_MAX = 32 };
int32_t space_summa_blocks(const struct kerf_problem *problem, const struct space_tensor *tensor,
                           int64_t blocks[SUMMA_BLOCKS_MAX]);

/* The placements that fill the domain exactly, or the one that holds everything when it is large enough. */
struct space_placement *space_placements(const struct kerf_problem *problem, const struct space_tensor *tensor,
                                         int64_t dp, int64_t pp, struct arena *arena, int32_t *ret_count);

#endif
