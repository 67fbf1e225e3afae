/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the order with the least memory among equally short ones: the limit of each device is halved towards the
 * least with which the bounds allow the value at all, and within each limit an order of that value is looked for:
 *
 *   1. the order known, each F put off until there is room, what needs it behind it
 *   2. the other rules, with the limit as a cap
 *   3. patterns and list scheduling within the limit
 *   4. where there are not too many operations, the exact search, within a number of conflicts
 *
 * A limit for which none is found is not proved to be impossible; the answer is the least that was found.
 */
#include "schedule/best/best_search.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "schedule/lower_bound.h"

/* The known order within a limit, in which a unit's I stays behind its F. */
struct put_off {
    int32_t *order; /* [ops] */
    int32_t *done;  /* [lanes] */
    char *late;     /* [ops of the largest device] put off, and not run yet */
};

static int may_run(const struct best_problem *problem, const struct put_off *put_off, int32_t lane, double held,
                   double limit) {
    if (lane_kind(lane) != LANE_F) return put_off->done[lane - 1] > put_off->done[lane];
    return held + problem->amount[lane_stream(lane)] <= limit;
}

/* Runs each operation of a device's part as early as its place, the limit and its lane allow. 0: it comes to a stop. */
static int put_off_device(const struct best_problem *problem, const int32_t *part, int32_t device, double limit,
                          struct put_off *put_off) {
    const int64_t count = problem->begin[device + 1] - problem->begin[device];
    int32_t *order = put_off->order + problem->begin[device];
    int64_t first = 0, at = 0; /* the first that has not run; how many have */
    double held = 0;
    memset(put_off->late, 1, (size_t)count);
    while (at < count) {
        int64_t k = first;
        while (k < count && (!put_off->late[k] || !may_run(problem, put_off, part[k], held, limit))) k++;
        if (k == count) return 0;
        const int32_t lane = part[k], stream = lane_stream(lane);
        put_off->late[k] = 0;
        put_off->done[lane]++;
        order[at++] = lane;
        if (lane_kind(lane) == LANE_F) held += problem->amount[stream];
        if (lane_kind(lane) == problem->free_kind) held -= problem->amount[stream];
        while (first < count && !put_off->late[first]) first++;
    }
    return 1;
}

static void try_put_off(struct best_search *within, const int32_t *order, double limit, struct put_off *put_off) {
    const struct best_problem *problem = &within->problem;
    memset(put_off->done, 0, LANE_KINDS * (size_t)problem->streams * sizeof *put_off->done);
    best_spend(within->budget, problem->ops);
    for (int32_t d = 0; d < problem->devices; d++)
        if (!put_off_device(problem, order + problem->begin[d], d, limit, put_off)) return;
    best_offer(within, put_off->order);
}

/* The rules' orders, for the caps of the problem. */
static void offer_rules(struct best_search *within, const struct kerf_schedule *frame,
                        const struct kerf_schedule_request *request) {
    struct kerf_schedule_request asked = *request;
    struct kerf_schedule_times times = *request->times;
    struct arena arena = {NULL};
    double *cap = arena_alloc(&arena, (size_t)frame->devices, sizeof *cap);
    for (int32_t d = 0; cap && d < frame->devices; d++)
        cap[d] = within->problem.cap[d] / (times.cap_in_bytes ? 1 : frame->chunks);
    times.cap = cap;
    asked.times = &times;
    if (cap) best_rules(within, frame, &asked, NULL);
    arena_free(&arena);
}

/* Looks for an order of the search's value within a limit, and takes it over. */
static void try_limit(struct best_search *search, const struct kerf_schedule *frame,
                      const struct kerf_schedule_request *request, double limit, double *cap, struct put_off *put_off) {
    enum { CONFLICTS = 20000, EXACT_OPS = 1600 };
    struct best_search within = {.problem = search->problem, .budget = search->budget, .bound = search->value};
    within.problem.arena = (struct arena){NULL}; /* its arrays are the search's */
    within.problem.cap = cap;
    for (int32_t d = 0; d < within.problem.devices; d++) cap[d] = fmin(search->problem.cap[d], limit * (1 + 1e-12));
    if (best_search_make(&within) == KERF_OK) {
        try_put_off(&within, search->order, limit * (1 + 1e-12), put_off);
        if (!best_is_done(&within)) offer_rules(&within, frame, request);
        if (!best_is_done(&within)) best_patterns(&within);
        if (!best_is_done(&within)) best_starts(&within);
        if (!best_is_done(&within) && within.problem.ops <= EXACT_OPS) best_exact(&within, CONFLICTS);
        if (within.value <= search->value * (1 + 1e-12)) {
            assert(within.held <= limit * (1 + 1e-11));
            search->value = fmin(search->value, within.value);
            search->held = within.held;
            search->makespan = within.makespan;
            memcpy(search->order, within.order, (size_t)search->problem.ops * sizeof *search->order);
        }
    }
    arena_free(&within.arena);
}

/* Whether the bounds allow the value within a limit. */
static int is_possible(const struct best_search *search, const struct kerf_schedule *frame,
                       const struct kerf_schedule_times *times, double limit) {
    struct lower_bound known;
    const double most = times->cap_in_bytes ? limit : limit / frame->chunks;
    if (lower_bound_of_split(frame, times, most, &known) != KERF_OK) return 1;
    const double least = search->problem.objective == KERF_OBJECTIVE_SPAN ? known.bound.span_s : known.bound.makespan_s;
    return least * (1 - 1e-12) <= search->value;
}

void best_thin(struct best_search *search, const struct kerf_schedule *frame,
               const struct kerf_schedule_request *request) {
    const struct kerf_schedule_times *times = request->times;
    const struct best_problem *problem = &search->problem;
    struct arena arena = {NULL};
    const size_t ops = (size_t)problem->ops;
    enum { THIN_OPS_MAX = 200000 }; /* what is put off is looked at again and again */
    if (problem->ops > THIN_OPS_MAX) return;
    struct put_off put_off = {
        .order = arena_alloc(&arena, ops, sizeof *put_off.order),
        .done = arena_alloc(&arena, LANE_KINDS * (size_t)problem->streams, sizeof *put_off.done),
        .late = arena_alloc(&arena, ops, sizeof *put_off.late),
    };
    double *cap = arena_alloc(&arena, (size_t)problem->devices, sizeof *cap);
    const double whole = times->cap_in_bytes ? 0 : 1; /* amounts are numbers of micro-batches, or bytes */
    double low = 0;                                   /* nothing is found at this or below */
    const struct best_budget whole_budget = *search->budget;
    int good = put_off.order && put_off.done && put_off.late && cap;
    while (good && search->held > 0) {
        const double high = search->held, slack = whole > 0 ? whole : 0.005 * high;
        if (high - low <= slack * (1 + 1e-9) || best_budget_divide(search->budget, &whole_budget, 1)) break;
        const double middle = whole > 0 ? floor((low + high) / 2) : (low + high) / 2;
        best_budget_divide(search->budget, &whole_budget, 1. / 3); /* so that one limit does not use up all */
        if (is_possible(search, frame, times, middle)) try_limit(search, frame, request, middle, cap, &put_off);
        if (search->held > middle * (1 + 1e-11)) low = middle;
    }
    arena_free(&arena);
}
