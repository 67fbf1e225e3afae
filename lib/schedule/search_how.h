/* SPDX-License-Identifier: Apache-2.0 */
/* How a search for an order is run: what does not change its answer. */
#ifndef KERF_SCHEDULE_SEARCH_HOW_H
#define KERF_SCHEDULE_SEARCH_HOW_H

#include "kerf/schedule.h"

struct search_how {
    int32_t threads; /* at most; 0: all processors */
    /* NULL, or told as often as progress is, on the thread that asked: the objective of the best order found, INFINITY:
     * none yet, and what no order is below. The first never rises, the second never falls. */
    void (*tell)(void *context, double found_s, double bound_s);
    void *context;
};

/* How the error begins where the search found no order, and did not prove that there is none. */
#define NO_ORDER_FOUND "no order was found that keeps every device within its cap"

/* kerf_schedule_make_timed in such a way. Only the search of one placement without recomputation and offload, whose
 * figures are those of the answer, tells anything. */
int32_t schedule_make_how(const struct kerf_schedule_request *request, const struct kerf_schedule_times_request *times,
                          const struct search_how *how, struct kerf_schedule **ret_schedule,
                          struct kerf_schedule_times **ret_times, struct kerf_error *err);

#endif
