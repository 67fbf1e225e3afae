/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strategy is a family of layouts: one file with a row like those of strategy_1d.c, and a line in strategies.c. Nothing
 * else asks which strategy it is. How layouts are read and written is in spec/layout.c, one row for each member.
 *
 * The space of a strategy is a tree. Each level chooses some members of the layout; what is chosen so far is a prefix.
 * Below the last level lie the variants: layouts that differ in time alone, because they use the same memory. A walk
 * (plan/walk.h) goes down the levels, and a cost model prices the variants of a prefix together (cost_model.h).
 */
#ifndef KERF_COST_STRATEGY_H
#define KERF_COST_STRATEGY_H

#include "base/arena.h"
#include "cost/divisors.h"
#include "cost/operation.h"
#include "cost/pipeliner.h"
#include "spec/layout.h"

/* What a walk has looked up of a space; each strategy has its own. */
struct space_memory;

/* What all levels of one problem need. */
struct space {
    const struct kerf_problem *problem;
    const struct divisors *batches;    /* of the global batch */
    const struct pipeliner *pipeliner; /* of hybrid layouts alone; NULL: there are 1f1b and interleaved_1f1b alone */
    struct space_memory *memory;       /* what `remember` returned for this problem; NULL: all is found anew */
};

struct strategy {
    const char *name;
    enum layout_kind layouts; /* which members they have */
    int32_t num_levels;       /* 2 or more */
    int32_t task_level;       /* prefixes of this level are what threads share out; where it is above 0, the cost model
                                 bounds their time, and those that may be fastest come first */

    /* Lists the choices of a level below a prefix, which has those of all levels before: the prefix with this level's
     * members chosen, members of later levels untouched. All lists are taken from the arena, without doubles and in the
     * order of kerf_layout_compare as far as they are chosen; NULL when memory ran out. */
    struct kerf_layout *(*choices)(const struct space *space, int32_t level, const struct kerf_layout *prefix,
                                   struct arena *arena, int32_t *ret_count);
    /* Lists the variants of all prefixes that agree in every level but the last. */
    struct kerf_layout *(*variants)(const struct space *space, const struct kerf_layout *prefix, struct arena *arena,
                                    int32_t *ret_count);
    /* Lists the ways to place the layout in scale-up domains: who are neighbours; NULL: the layout says it all. */
    struct kerf_layout *(*neighbours)(const struct space *space, const struct kerf_layout *layout, struct arena *arena,
                                      int32_t *ret_count);

    /* Begins a walk by one thread: what its later questions look up. NULL when memory ran out. The row has NULL where
     * nothing is remembered. */
    struct space_memory *(*remember)(const struct space *space, struct arena *arena);
    /* How many layouts are below a prefix of levels 0 .. level - 1, all variants counted; NULL: they are enumerated. */
    int64_t (*count)(const struct space *space, int32_t level, const struct kerf_layout *prefix);

    /* Says which rule leaves a level without choices; num_levels: without variants. */
    void (*explain)(const struct space *space, int32_t level, struct kerf_text *out);

    /* Whether problems like this one can have layouts of this strategy, and whether what their space names can occur. */
    int32_t (*check_problem)(const struct kerf_problem *problem, struct kerf_error *err);
    /* The rules for a layout whose members are within their ranges. */
    int32_t (*check)(const struct kerf_problem *problem, const struct kerf_layout *layout, struct kerf_error *err);
    /* 1: the strategy cuts nothing that 1d would not cut as well, so that it is not worth recommending. */
    int (*is_plain)(const struct kerf_layout *layout);
    /* 1: attention can be computed so. */
    int (*has_attention)(enum kerf_attention attention);

    /* 1: the accelerators of tp2 hold the same weights, and exchange gradients as replicas do. */
    int32_t replicas_over_tp2;
    /* The operations of one layer for one micro-batch; NULL: cost models find them themselves. */
    void (*describe)(const struct kerf_problem *problem, const struct kerf_layout *layout,
                     struct cost_operations *ret_operations);
};

/* Bytes that a layout may be predicted to need. */
static inline double problem_memory(const struct kerf_problem *problem) {
    return problem->system.memory_capacity_bytes * (problem->memory_share > 0 ? problem->memory_share : 1);
}

/* The row of a strategy (strategies.c). */
const struct strategy *strategy_of(enum kerf_strategy strategy);

/* Every range that spec.h promises, and that the strategy can compute attention so: for structs that a program filled
 * in itself. What follows relies on it. */
int32_t problem_rules(const struct kerf_problem *problem, struct kerf_error *err);

#endif
