/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would mend a search in which nothing fits, or which has no layout: each restriction of its space given up alone;
 * where that does not help, all of them; then the wide space, and gradients in bf16.
 */
#include <stddef.h>
#include <string.h>
#include "base/error_fill.h"
#include "plan/ask_again.h"

#define LIST(key)                                                                                                      \
    { #key, offsetof(struct kerf_space, key) }
static const struct {
    const char *name;
    size_t offset; /* of its values in struct kerf_space */
} lists[] = {
    LIST(tp), LIST(cp),   LIST(pp),          LIST(vpp),       LIST(ep),    LIST(etp),
    LIST(dp), LIST(zero), LIST(micro_batch), LIST(recompute), LIST(order), LIST(cp_comm),
};
enum { LISTS = sizeof lists / sizeof *lists, MENDS_MAX = LISTS + 5 };

struct mending {
    struct asker *asker;
    struct kerf_problem problem; /* the search's, to be changed */
    struct kerf_space space;     /* its space, to be changed */
    struct kerf_mend *mends;
    int32_t count;
};

static int32_t try_change(struct mending *mending, const char *change, struct kerf_error *err) {
    struct kerf_mend *mend = &mending->mends[mending->count];
    int32_t found;
    mending->problem.space = &mending->space;
    ask_step(mending->asker);
    int32_t code = ask_best(mending->asker, &mending->problem, &mend->estimate, &found, err);
    mend->change = change;
    mending->count += code == KERF_OK && found > 0;
    return code;
}

static int32_t give_up_one(struct mending *mending, const struct kerf_space *asked, int32_t *ret_restrictions,
                           struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (size_t i = 0; i < LISTS && code == KERF_OK; i++) {
        struct kerf_values *values = (struct kerf_values *)(void *)((char *)&mending->space + lists[i].offset);
        if (values->count == 0) continue;
        ++*ret_restrictions;
        memset(values, 0, sizeof *values);
        code = try_change(mending, lists[i].name, err);
        mending->space = *asked;
    }
    if (asked->num_schedules && code == KERF_OK) {
        ++*ret_restrictions;
        mending->space.num_schedules = 0;
        code = try_change(mending, "schedules", err);
        mending->space = *asked;
    }
    if (asked->stage_layers && code == KERF_OK) {
        ++*ret_restrictions;
        mending->space.stage_layers = NULL, mending->space.num_stage_layers = 0;
        code = try_change(mending, "stage_layers", err);
        mending->space = *asked;
    }
    return code;
}

static int32_t mend(struct asker *asker, struct kerf_search *search, struct arena *arena, struct kerf_error *err) {
    struct mending mending = {.asker = asker,
                              .problem = search->problem,
                              .space = ask_space(&search->problem),
                              .mends = arena_alloc(arena, MENDS_MAX, sizeof *mending.mends)};
    const struct kerf_space asked = mending.space;
    int32_t restrictions = 0;
    if (mending.mends == NULL) return error_no_memory(err, "what would help");
    int32_t code = give_up_one(&mending, &asked, &restrictions, err);
    if (code == KERF_OK && mending.count == 0 && restrictions > 1) {
        memset(&mending.space, 0, sizeof mending.space);
        mending.space.is_wide = asked.is_wide;
        mending.space.runner = asked.runner; /* which is no restriction that could be given up */
        code = try_change(&mending, "restrictions", err);
        mending.space = asked;
    }
    if (code == KERF_OK && mending.count == 0 && !asked.is_wide) {
        mending.space.is_wide = 1;
        code = try_change(&mending, "space", err);
        mending.space = asked;
    }
    if (code == KERF_OK && !search->problem.has_bf16_gradients) {
        mending.problem.has_bf16_gradients = 1;
        code = try_change(&mending, "gradients", err);
    }
    search->mends = mending.mends;
    search->num_mends = mending.count;
    return code;
}

int32_t kerf_plan_mend(struct kerf_plan *plan, const struct kerf_plan_options *options, struct kerf_error *err) {
    struct owned_plan *owned = owned_of(plan);
    struct asker asker;
    int32_t code = KERF_OK;
    ask_begin(&asker, options, owned, 1, (double)plan->num_searches * MENDS_MAX);
    for (size_t i = 0; i < plan->num_searches && code == KERF_OK && !asker.stopped; i++) {
        struct kerf_search *search = &owned->searches[i];
        ask_share(&asker, (double)i / (double)plan->num_searches);
        if (search->num_plans == 0 && search->complete && search->problem.strategy == KERF_STRATEGY_HYBRID)
            code = mend(&asker, search, &owned->arena, err);
    }
    return code;
}
