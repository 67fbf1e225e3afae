/* SPDX-License-Identifier: Apache-2.0 */
/* Who is told what a search for an order knows, while it goes on. */
#ifndef KERF_SCHEDULE_SEARCH_WATCH_H
#define KERF_SCHEDULE_SEARCH_WATCH_H

#include "kerf/schedule.h"

/* Told as often as progress is, on the thread of the search: the objective of the best order found, INFINITY: none yet,
 * and what no order is below. The first never rises, the second never falls. */
struct search_watch {
    void (*tell)(void *context, double found_s, double bound_s);
    void *context;
};

/* kerf_schedule_make_timed, where somebody watches: the search of one placement without recomputation and offload, whose
 * figures are those of the answer. watch may be NULL. */
int32_t schedule_make_watched(const struct kerf_schedule_request *request,
                              const struct kerf_schedule_times_request *times, const struct search_watch *watch,
                              struct kerf_schedule **ret_schedule, struct kerf_schedule_times **ret_times,
                              struct kerf_error *err);

#endif
