/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/walk.h"

#include "cost/strategy.h"

struct descent {
    struct walk *walk;
    const struct strategy *strategy;
    struct cost_pricer *pricer;
};

/* Everything below the prefix that is beyond the limits, whatever it chooses: counted. */
static int count_below(const struct descent *descent, int32_t level, const struct kerf_layout *prefix) {
    struct walk *walk = descent->walk;
    const struct strategy *strategy = descent->strategy;
    int32_t num_choices, num_variants;
    if (walk->uncounted) return 1;
    if (strategy->count) {
        walk->candidates += strategy->count(&walk->space, level, prefix);
        return 1;
    }
    const struct kerf_layout *choices = strategy->choices(&walk->space, level, prefix, walk->arena, &num_choices);
    if (choices == NULL) return 0;
    if (level + 1 == strategy->num_levels) {
        if (!strategy->variants(&walk->space, prefix, walk->arena, &num_variants)) return 0;
        walk->candidates += (int64_t)num_choices * num_variants;
        return 1;
    }
    for (int32_t i = 0; i < num_choices; i++)
        if (!count_below(descent, level + 1, &choices[i])) return 0;
    return 1;
}

/* The choices of the last level: each is a whole prefix, with all its variants. */
static int price_below(const struct descent *descent, const struct kerf_layout *prefix,
                       const struct cost_bound *least) {
    struct walk *walk = descent->walk;
    const struct strategy *strategy = descent->strategy;
    const int32_t level = strategy->num_levels - 1;
    (void)least; /* looked at where asserts are */
    int32_t num_choices, num_variants;
    const struct kerf_layout *choices = strategy->choices(&walk->space, level, prefix, walk->arena, &num_choices);
    const struct kerf_layout *variants = strategy->variants(&walk->space, prefix, walk->arena, &num_variants);
    if (choices == NULL || variants == NULL) return 0;
    if (num_choices == 0 || num_variants == 0) return 1;
    if (!walk->cost_model->prepare(descent->pricer, variants, num_variants)) return 0;
    for (int32_t i = 0; i < num_choices; i++) {
        struct cost_bound bound;
        if (!walk->cost_model->enter(descent->pricer, level, &choices[i], &bound)) return 0;
        assert(bound.memory_bytes >= least->memory_bytes && bound.step_time_s >= least->step_time_s);
        walk->candidates += num_variants;
        if (bound.memory_bytes > walk->sink.capacity_bytes) continue;
        if (bound.step_time_s > walk->sink.cutoff_s) continue;
        walk->feasible += num_variants;
        if (walk->sink.take == NULL) {
            walk->stopped = 1;
            return 1;
        }
        walk->priced += num_variants;
        if (!walk->cost_model->price(descent->pricer, &walk->sink)) return 0;
    }
    return 1;
}

static int descend(const struct descent *descent, int32_t level, const struct kerf_layout *prefix) {
    struct walk *walk = descent->walk;
    struct cost_bound bound;
    if (walk->stopped || (walk->stopped = walk->should_stop(walk->context))) return 1;
    if (!walk->cost_model->enter(descent->pricer, level, prefix, &bound)) return 0;
    if (bound.memory_bytes > walk->sink.capacity_bytes || bound.step_time_s > walk->sink.cutoff_s)
        return count_below(descent, level + 1, prefix);
    if (level + 2 == descent->strategy->num_levels) return price_below(descent, prefix, &bound);
    int32_t count;
    const struct kerf_layout *choices =
        descent->strategy->choices(&walk->space, level + 1, prefix, walk->arena, &count);
    if (choices == NULL) return 0;
    for (int32_t i = 0; i < count; i++)
        if (!descend(descent, level + 1, &choices[i])) return 0;
    return 1;
}

struct kerf_layout *walk_roots(const struct space *space, struct arena *arena, int32_t *ret_count) {
    static const struct kerf_layout nothing_chosen;
    return strategy_of(space->problem->strategy)->choices(space, 0, &nothing_chosen, arena, ret_count);
}

int walk_on(struct walk *walk, struct cost_pricer *pricer, int32_t level, const struct kerf_layout *prefix) {
    struct descent descent = {walk, strategy_of(walk->space.problem->strategy), pricer};
    assert(descent.strategy->num_levels >= 2 && level + 2 <= descent.strategy->num_levels);
    return descend(&descent, level, prefix);
}

int walk_below(struct walk *walk, int32_t level, const struct kerf_layout *prefix) {
    const struct strategy *strategy = strategy_of(walk->space.problem->strategy);
    if (strategy->remember && !(walk->space.memory = strategy->remember(&walk->space, walk->arena))) return 0;
    struct cost_pricer *pricer = walk->cost_model->begin(&walk->space, &walk->sink, walk->arena);
    int good = pricer != NULL && walk_on(walk, pricer, level, prefix);
    if (pricer && walk->cost_model->end) walk->cost_model->end(pricer);
    return good;
}

int walk_all(struct walk *walk) {
    struct arena own = {NULL};
    int32_t count;
    const struct kerf_layout *roots = walk_roots(&walk->space, &own, &count);
    int good = roots != NULL;
    for (int32_t i = 0; good && i < count && !walk->stopped; i++) {
        arena_reset(walk->arena);
        good = walk_below(walk, 0, &roots[i]);
    }
    arena_free(&own);
    return good;
}
