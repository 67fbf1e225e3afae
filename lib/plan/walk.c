/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/walk.h"

#include "cost/strategies.h"

struct descent {
    struct walk *walk;
    const struct strategy *strategy;
    struct cost_pricer *pricer;
};

/* Everything below the prefix that uses more memory than there is, whatever it chooses: counted. */
static int count_below(const struct descent *descent, int32_t level, const struct kerf_layout *prefix) {
    struct walk *walk = descent->walk;
    const struct strategy *strategy = descent->strategy;
    int32_t num_choices, num_variants;
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
        if (bound.memory_bytes > walk->capacity_bytes) continue;
        walk->feasible += num_variants;
        if (walk->sink.take == NULL) {
            walk->stopped = 1;
            return 1;
        }
        if (bound.step_time_s > walk->sink.cutoff_s) continue;
        if (!walk->cost_model->price(descent->pricer, &walk->sink)) return 0;
    }
    return 1;
}

static int descend(const struct descent *descent, int32_t level, const struct kerf_layout *prefix) {
    struct walk *walk = descent->walk;
    struct cost_bound bound;
    if (walk->stopped || (walk->stopped = walk->should_stop(walk->context))) return 1;
    if (!walk->cost_model->enter(descent->pricer, level, prefix, &bound)) return 0;
    if (bound.memory_bytes > walk->capacity_bytes) return count_below(descent, level + 1, prefix);
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

int walk_below(struct walk *walk, const struct kerf_layout *root) {
    struct descent descent = {walk, strategy_of(walk->space.problem->strategy),
                              walk->cost_model->begin(&walk->space, walk->arena)};
    assert(descent.strategy->num_levels >= 2);
    return descent.pricer != NULL && descend(&descent, 0, root);
}

int walk_all(struct walk *walk) {
    struct arena own = {NULL};
    int32_t count;
    const struct kerf_layout *roots = walk_roots(&walk->space, &own, &count);
    int good = roots != NULL;
    for (int32_t i = 0; good && i < count && !walk->stopped; i++) {
        arena_reset(walk->arena);
        good = walk_below(walk, &roots[i]);
    }
    arena_free(&own);
    return good;
}
