/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/ask_again.h"

#include <assert.h>
#include <string.h>
#include "base/error_fill.h"

static int32_t tell(void *context, double done) {
    struct asker *asker = context;
    if (asker->asked->progress == NULL) return 0;
    asker->stopped |= asker->asked->progress(asker->asked->progress_context, asker->share_before + asker->share * done);
    return asker->stopped;
}

void ask_begin(struct asker *asker, const struct kerf_plan_options *options, struct owned_plan *plan, int32_t top,
               double num_steps) {
    *asker = (struct asker){.options = *options, .asked = options, .share = 1 / num_steps, .arena = &plan->arena};
    asker->options.top = top;
    asker->options.exhaustive = 0;
    asker->options.is_brief = 1;
    asker->options.progress = tell;
    asker->options.progress_context = asker;
}

void ask_share(struct asker *asker, double done) { asker->begun = done; }

void ask_step(struct asker *asker) {
    asker->share_before = asker->begun;
    asker->begun += asker->share;
    assert(asker->begun <= 1 + 1e-9);
}

struct kerf_estimate ask_kept(const struct asker *asker, const struct kerf_estimate *estimate, int *good) {
    struct kerf_estimate copy = *estimate;
    const struct kerf_layout *layout = &estimate->layout;
    size_t stages = (size_t)(layout->pp * layout->vpp);
    copy.pipeline = NULL;
    copy.layout.stage_layers = NULL;
    if (layout->stage_layers == NULL || layout->has_best_split) return copy;
    int32_t *layers = arena_take(asker->arena, stages, sizeof *layers);
    *good &= layers != NULL;
    if (layers) memcpy(layers, layout->stage_layers, stages * sizeof *layers);
    copy.layout.stage_layers = layers;
    return copy;
}

int32_t ask_best(struct asker *asker, const struct kerf_problem *problem, struct kerf_estimate *ret_best,
                 int32_t *ret_count, struct kerf_error *err) {
    struct kerf_plan *plan;
    *ret_count = 0;
    if (asker->stopped) return KERF_OK;
    int32_t code = kerf_plan_search(problem, 1, &asker->options, &plan, err);
    if (code != KERF_OK) return code;
    const struct kerf_search *search = &plan->searches[0];
    int good = 1;
    if (search->complete)
        for (; *ret_count < search->num_plans; ++*ret_count)
            ret_best[*ret_count] = ask_kept(asker, &search->plans[*ret_count], &good);
    kerf_plan_free(plan);
    return good ? KERF_OK : error_no_memory(err, "the layouts that were found");
}

struct kerf_space ask_space(const struct kerf_problem *problem) {
    struct kerf_space space;
    if (problem->space) return *problem->space;
    memset(&space, 0, sizeof space);
    return space;
}
