/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan has for a job that is launched already: what its layout takes, what the best one saves, and which keys of the
 * launch change. */
#ifndef KERF_CALL_LAUNCH_BETTER_H
#define KERF_CALL_LAUNCH_BETTER_H

#include "base/arena.h"
#include "kerf/kerf.h"
#include "kerf/launch.h"

struct launch_key_change {
    const char *key, *before, *after; /* before or after NULL: it is not there; "": a flag */
};

struct launch_better {
    const struct kerf_launch *launch;
    const struct kerf_search *search; /* of the plan; NULL: nothing fits */
    struct kerf_estimate today;       /* on the search's system; without its pipeline */
    int32_t is_today_best;            /* 1: no layout is faster */
    struct launch_key_change *changes;
    int32_t num_changes, room;
    int32_t failed; /* memory ran out */
    struct arena arena;
};

/* today is the launch's layout. The plan has searches of the launch's job alone; the best of all is compared. Given back with
 * launch_better_free; it points into launch and plan. */
int32_t launch_better_find(const struct kerf_launch *launch, const struct kerf_layout *today,
                           const struct kerf_cost_model *cost_model, const struct kerf_plan *plan,
                           struct launch_better *ret_better, struct kerf_error *err);
void launch_better_free(struct launch_better *better);

/* "launch":{...},"changes":[...] into the object that is open. */
void launch_better_json(struct kerf_json *json, const struct launch_better *better);
void launch_better_text(struct kerf_text *out, const struct launch_better *better);

#endif
