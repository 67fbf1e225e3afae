/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/no_answer.h"

#include <math.h>
#include "cost/strategy.h"
#include "plan/pipeline_rules.h"
#include "plan/ranking.h"

static struct walk walk_of(const struct no_answer *with, const struct kerf_problem *problem, double capacity_bytes) {
    return (struct walk){
        .sink = {.capacity_bytes = capacity_bytes, .cutoff_s = INFINITY},
        .cost_model = with->cost_model,
        .space = {.problem = problem, .batches = with->batches, .pipeliner = &pipeline_rules},
        .arena = with->scratch,
        .should_stop = with->should_stop,
        .context = with->context,
    };
}

/* ---- Least memory ------------------------------------------------------------------------------------------- */

struct nearest {
    struct walk walk;
    int found;
    struct ranked best;
};

static void keep_nearest(struct cost_sink *sink, const struct kerf_layout *layout, double memory_bytes,
                         double step_time_s) {
    struct nearest *nearest = (struct nearest *)(void *)sink;
    struct ranked one = {(double)nearest->walk.space.problem->global_batch / step_time_s, memory_bytes, *layout};
    assert(memory_bytes <= nearest->walk.sink.capacity_bytes);
    if (nearest->found && memory_bytes == nearest->best.memory_bytes && ranked_compare(&one, &nearest->best) > 0)
        return;
    nearest->found = 1;
    nearest->best = one;
    nearest->walk.sink.capacity_bytes = memory_bytes; /* no more than this is of interest */
}

int no_answer_nearest(struct no_answer *with, const struct kerf_problem *problem, struct kerf_layout *ret_nearest) {
    struct nearest nearest = {.walk = walk_of(with, problem, INFINITY)};
    nearest.walk.sink.take = keep_nearest;
    if (!walk_all(&nearest.walk)) with->out_of_memory = 1;
    if (nearest.found) *ret_nearest = nearest.best.layout;
    return nearest.found;
}

/* ---- More accelerators -------------------------------------------------------------------------------------- */

/* Whether some layout needs at most this memory. */
static int has_layout(struct no_answer *with, const struct kerf_problem *problem, double capacity_bytes) {
    struct walk walk = walk_of(with, problem, capacity_bytes);
    if (!walk_all(&walk)) with->out_of_memory = 1;
    return walk.feasible > 0;
}

int64_t no_answer_least_gpus(struct no_answer *with, const struct kerf_problem *problem) {
    struct kerf_problem larger = *problem;
    for (larger.gpus = problem->gpus * 2; larger.gpus <= KERF_LEAST_GPUS_MAX; larger.gpus *= 2)
        if (has_layout(with, &larger, problem_memory(problem))) return larger.gpus;
    return 0;
}

/* ---- No candidates ------------------------------------------------------------------------------------------ */

/* The deepest level at which some prefix has no choices; num_levels: it has no variants. */
static int32_t deepest_dead_end(struct no_answer *with, const struct space *space, int32_t level,
                                const struct kerf_layout *prefix) {
    const struct strategy *strategy = strategy_of(space->problem->strategy);
    int32_t count = 0, deepest = level;
    const struct kerf_layout *choices = level == strategy->num_levels
                                            ? strategy->variants(space, prefix, with->scratch, &count)
                                            : strategy->choices(space, level, prefix, with->scratch, &count);
    if (choices == NULL) with->out_of_memory = 1;
    if (level == strategy->num_levels || choices == NULL) return level;
    for (int32_t i = 0; i < count && deepest < strategy->num_levels && !with->should_stop(with->context); i++) {
        int32_t below = deepest_dead_end(with, space, level + 1, &choices[i]);
        if (below > deepest) deepest = below;
    }
    return deepest;
}

void no_answer_reason(struct no_answer *with, const struct kerf_problem *problem, struct kerf_text *out,
                      int64_t ret_gpus[2]) {
    enum { STEPS_MAX = 512 };
    static const struct kerf_layout nothing_chosen;
    const struct space space = {.problem = problem, .batches = with->batches, .pipeliner = &pipeline_rules};
    arena_reset(with->scratch);
    int32_t level = deepest_dead_end(with, &space, 0, &nothing_chosen);
    strategy_of(problem->strategy)->explain(&space, level, out);
    ret_gpus[0] = ret_gpus[1] = 0;
    for (int side = 0; side < 2; side++) {
        struct kerf_problem other = *problem;
        for (int step = 1; step <= STEPS_MAX && ret_gpus[side] == 0; step++) {
            other.gpus = problem->gpus + (side ? step : -step);
            if (other.gpus < 1 || other.gpus > KERF_COUNT_MAX) break;
            if (has_layout(with, &other, INFINITY)) ret_gpus[side] = other.gpus;
        }
    }
}
