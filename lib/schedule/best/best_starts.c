/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders to start from: those of other rules, one micro-batch after the other, and those made by list scheduling, where
 * the device that can start something first decides what. A policy says which kind it prefers, how many units it takes
 * in at most, and for how long it rather waits for an input that is known to come than fill the time with weights. A
 * device never takes in so much that a later chunk of what it holds would find no place.
 *
 * A run is O(ops (log devices + streams of a device)). Every order is offered to the search, so that a bad policy
 * only costs time.
 */
#include <math.h>
#include <string.h>
#include "schedule/best/best_search.h"
#include "schedule/rules/rule.h"

/* ---- List scheduling --------------------------------------------------------------------------------------------- */

/* How it decides. */
enum prefer { PREFER_I, PREFER_F, PREFER_OTHER, PREFER_PAIRS, PREFERS };
struct policy {
    int32_t prefer;     /* enum prefer: I, F, the one that was not last, or two of a kind each time */
    int32_t deep_first; /* of chunks that are ready, F of the last one first */
    double fill;        /* a W starts before a wait of at least so much of its time */
    double patience;    /* for the preferred kind, as a share of the other's time */
    double *share;      /* [streams] of a device's cap that each takes in at most */
    double *limit;      /* [devices] amount that it takes in at most */
    int32_t *lag;       /* [devices] more weights than this may not wait */
};
struct list {
    int32_t *order; /* [ops] what came of it */
    double *end;    /* [ops] by output */
    int32_t *done;  /* [lanes] */
    int64_t *at;    /* [devices] */
    double *free_s, *held;
    int32_t *run; /* [devices] the last so many of F and I were I; below 0: F */
    double *tree; /* [2 leaves] of the devices' next starts, each node the least of its two */
    size_t leaves;
};

static int list_make(struct list *list, const struct best_problem *problem, struct arena *arena) {
    size_t devices = (size_t)problem->devices, lanes = LANE_KINDS * (size_t)problem->streams, leaves = 1;
    while (leaves < devices) leaves *= 2;
    *list = (struct list){.leaves = leaves};
    list->order = arena_alloc(arena, (size_t)problem->ops, sizeof *list->order);
    list->end = arena_alloc(arena, (size_t)problem->ops, sizeof *list->end);
    list->done = arena_alloc(arena, lanes, sizeof *list->done);
    list->at = arena_alloc(arena, devices, sizeof *list->at);
    list->free_s = arena_alloc(arena, devices, sizeof *list->free_s);
    list->held = arena_alloc(arena, devices, sizeof *list->held);
    list->run = arena_alloc(arena, devices, sizeof *list->run);
    list->tree = arena_alloc(arena, 2 * leaves, sizeof *list->tree);
    int good =
        list->order && list->end && list->done && list->at && list->free_s && list->held && list->run && list->tree;
    return good;
}

/* When the next unit of a lane could start but for its device; INFINITY while an input is missing. */
static double ready(const struct best_problem *problem, const struct list *list, int32_t lane) {
    int32_t kind = lane_kind(lane), unit = list->done[lane], from = problem->from[lane];
    if (unit >= problem->units[lane_stream(lane)]) return INFINITY;
    if (kind != LANE_F && list->done[lane - 1] <= unit) return INFINITY;
    if (from < 0) return 0;
    if (list->done[from] <= unit) return INFINITY;
    return list->end[problem->output[from] + unit] + problem->come[lane];
}

/* The room that later chunks of accepted units need. */
static double reserve(const struct best_problem *problem, int32_t device, int32_t stream) {
    double sum = 0;
    for (int32_t k = problem->on_begin[device]; k < problem->on_begin[device + 1]; k++) {
        int32_t other = problem->on[k];
        if (problem->replica[other] == problem->replica[stream] && problem->stage[other] > problem->stage[stream])
            sum += problem->amount[other];
    }
    return sum;
}

static int may_take_in(const struct best_problem *problem, const struct list *list, const struct policy *policy,
                       int32_t device, int32_t stream) {
    double needed = problem->amount[stream] + reserve(problem, device, stream);
    double most = fmin(problem->cap[device], fmax(policy->limit[device], needed));
    int32_t here = list->done[lane_of(stream, LANE_F)] - list->done[lane_of(stream, problem->free_kind)];
    if (here > 0 && (here + 1) * problem->amount[stream] > policy->share[stream]) return 0;
    return list->held[device] + needed <= most;
}

/* Whether the device's turn is for F rather than I. */
static int wants_forward(const struct policy *policy, int32_t run) {
    switch (policy->prefer) {
    case PREFER_F: return 1;
    case PREFER_I: return 0;
    case PREFER_OTHER: return run > 0;
    default: return run >= 2 || run == -1;
    }
}

/* The device's next operation and when it starts; -1: none can be done yet. */
static int32_t decide(const struct best_problem *problem, const struct list *list, const struct policy *policy,
                      int32_t device, double *ret_start) {
    double free_s = list->free_s[device], start[LANE_KINDS] = {INFINITY, INFINITY, INFINITY};
    int32_t lane[LANE_KINDS] = {-1, -1, -1}, waiting = 0;
    for (int32_t k = problem->on_begin[device]; k < problem->on_begin[device + 1]; k++) {
        for (int32_t kind = 0; kind < LANE_KINDS; kind++) {
            int32_t here = lane_of(problem->on[k], kind);
            double at = fmax(free_s, ready(problem, list, here));
            if (at == INFINITY) continue;
            if (kind == LANE_F && !may_take_in(problem, list, policy, device, problem->on[k])) continue;
            int preferred = kind == LANE_F && !policy->deep_first ? 0 : 1; /* streams are by stage */
            if (at < start[kind] || (at <= start[kind] && preferred)) start[kind] = at, lane[kind] = here;
            if (kind == LANE_W) waiting += list->done[here - 1] - list->done[here];
        }
    }
    int32_t first = wants_forward(policy, list->run[device]) ? LANE_F : LANE_I, second = LANE_I - first;
    int32_t choice = first;
    if (lane[first] < 0 ||
        (lane[second] >= 0 && start[first] > start[second] + policy->patience * problem->time[lane[second]]))
        choice = second;
    if (lane[LANE_W] >= 0) {
        double gap = start[choice] - free_s;
        if (waiting > policy->lag[device] || lane[choice] < 0 ||
            (gap > 0 && gap >= policy->fill * problem->time[lane[LANE_W]] * (1 - 1e-9)))
            choice = LANE_W;
    }
    if (lane[choice] >= 0) *ret_start = start[choice];
    return lane[choice];
}

static void set_key(struct list *list, int32_t device, double key) {
    size_t node = list->leaves + (size_t)device;
    list->tree[node] = key;
    for (node /= 2; node > 0; node /= 2) list->tree[node] = fmin(list->tree[2 * node], list->tree[2 * node + 1]);
}

static void look(const struct best_problem *problem, struct list *list, const struct policy *policy, int32_t device) {
    double start = INFINITY;
    int32_t lane = decide(problem, list, policy, device, &start);
    set_key(list, device, lane < 0 ? INFINITY : start);
}

static void run_one(const struct best_problem *problem, struct list *list, const struct policy *policy,
                    int32_t device) {
    double start = 0;
    int32_t lane = decide(problem, list, policy, device, &start), s = lane_stream(lane), kind = lane_kind(lane);
    double end = start + problem->time[lane];
    list->order[list->at[device]++] = lane;
    list->end[problem->output[lane] + list->done[lane]++] = end;
    list->free_s[device] = end + problem->hold[lane];
    if (kind == LANE_F) list->held[device] += problem->amount[s];
    if (kind == problem->free_kind) list->held[device] -= problem->amount[s];
    if (kind == LANE_F) list->run[device] = list->run[device] < 0 ? list->run[device] - 1 : -1;
    if (kind == LANE_I) list->run[device] = list->run[device] > 0 ? list->run[device] + 1 : 1;
    look(problem, list, policy, device);
    int32_t to = problem->to[lane];
    if (to >= 0 && problem->device[lane_stream(to)] != device)
        look(problem, list, policy, problem->device[lane_stream(to)]);
}

/* 0 when the policy comes to a stop. */
static int list_run(const struct best_problem *problem, struct list *list, const struct policy *policy) {
    memset(list->done, 0, LANE_KINDS * (size_t)problem->streams * sizeof *list->done);
    for (size_t node = 0; node < 2 * list->leaves; node++) list->tree[node] = INFINITY;
    for (int32_t d = 0; d < problem->devices; d++) {
        list->at[d] = problem->begin[d];
        list->free_s[d] = list->held[d] = 0;
        list->run[d] = 0;
    }
    for (int32_t d = 0; d < problem->devices; d++) look(problem, list, policy, d);
    for (int64_t k = 0; k < problem->ops; k++) {
        if (list->tree[1] == INFINITY) return 0; /* nobody can go on */
        size_t node = 1;
        while (node < list->leaves) node = list->tree[2 * node] <= list->tree[node] ? 2 * node : 2 * node + 1;
        run_one(problem, list, policy, (int32_t)(node - list->leaves));
    }
    return 1;
}

/* ---- Policies --------------------------------------------------------------------------------------------- */

/* Runs the policy and offers its order. */
static void try_policy(struct best_search *search, struct list *list, const struct policy *policy) {
    const struct best_problem *problem = &search->problem;
    best_spend(search->budget, 2 * problem->ops * problem->streams / problem->devices);
    if (list_run(problem, list, policy)) best_offer(search, list->order);
}

/* How long a unit of each stream stays: to the last stage and back, and until it is freed. */
static void measure_stays(const struct best_problem *problem, double *stay) {
    for (int32_t s = problem->streams; s-- > 0;) {
        int32_t forward = lane_of(s, LANE_F), input = lane_of(s, LANE_I), next = problem->to[forward];
        stay[s] = problem->time[forward] + problem->time[input];
        if (next >= 0) stay[s] += problem->come[next] + problem->come[input] + stay[lane_stream(next)];
    }
    for (int32_t s = 0; s < problem->streams && problem->free_kind == LANE_W; s++)
        stay[s] += problem->time[lane_of(s, LANE_W)];
}

/* Shares of the cap for the streams of a device: any, or as their stays ask for when all pass at one rate, rounded up
 * or to the nearest unit. */
static void set_shares(const struct best_problem *problem, struct policy *policy, const double *stay, int32_t shape) {
    for (int32_t d = 0; d < problem->devices; d++) {
        double sum = 0;
        for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++)
            sum += stay[problem->on[k]] * problem->amount[problem->on[k]];
        for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++) {
            int32_t s = problem->on[k];
            double units = sum > 0 ? problem->cap[d] * stay[s] / sum : INFINITY;
            policy->share[s] =
                shape == 0 ? INFINITY : problem->amount[s] * (shape == 1 ? ceil(units) : floor(units + 0.5));
        }
    }
}

/* Limits that fall from the first device to the last, as in 1F1B, or the cap alone. */
static void set_limits(const struct best_problem *problem, struct policy *policy, int32_t shape, int32_t lag) {
    for (int32_t d = 0; d < problem->devices; d++) {
        double unit = 0, left = problem->devices - d;
        for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++)
            unit += problem->amount[problem->on[k]];
        policy->limit[d] = shape == 0 ? INFINITY : shape == 1 ? unit * left : unit * (2 * left - 1);
        policy->lag[d] = lag == 0 ? 1 << 30 : lag == 1 ? d : 2 * d;
    }
}

/* Operations of a device's streams that a run looks at, over all policies. */
static const double LOOKS_MAX = 6e7;

void best_starts(struct best_search *search) {
    enum { SINGLE = 3 * 3 * 2 * 3 * 3 * PREFERS, STRIDE = 389 }; /* so that the first ones differ in everything */
    static const double fills[] = {0, 0.5, 1}, patiences[] = {0, 0.5, 1};
    const struct best_problem *problem = &search->problem;
    struct arena arena = {NULL};
    struct list list;
    struct policy policy = {.limit = arena_alloc(&arena, (size_t)problem->devices, sizeof *policy.limit),
                            .share = arena_alloc(&arena, (size_t)problem->streams, sizeof *policy.share),
                            .lag = arena_alloc(&arena, (size_t)problem->devices, sizeof *policy.lag)};
    double *stay = arena_alloc(&arena, (size_t)problem->streams, sizeof *stay);
    int good = list_make(&list, problem, &arena) && policy.limit && policy.share && policy.lag && stay;
    int32_t policies = problem->streams > problem->devices ? 3 * SINGLE : SINGLE;
    if (good) measure_stays(problem, stay);
    double streams = (double)problem->streams / problem->devices;
    double runs = LOOKS_MAX / ((double)problem->ops * streams * streams);
    for (int32_t at = 0; good && at < policies && at < runs && !best_is_done(search); at++) {
        int32_t rest = (int32_t)((int64_t)at * STRIDE % policies);
        policy.prefer = rest % PREFERS, rest /= PREFERS;
        policy.fill = fills[rest % 3], rest /= 3;
        set_limits(problem, &policy, rest % 3, rest / 3 % 3), rest /= 9;
        policy.deep_first = 1 - rest % 2, rest /= 2;
        policy.patience = patiences[rest % 3], rest /= 3;
        set_shares(problem, &policy, stay, rest);
        try_policy(search, &list, &policy);
    }
    arena_free(&arena);
}

/* ---- Those of all other rules with the same placement, and one micro-batch after the other ----------------------- */

static int same_frame(const struct kerf_schedule *a, const struct kerf_schedule *b) {
    size_t size = (size_t)(a->replicas * a->stages) * sizeof *a->device_of;
    return a->slices == 1 && a->stages == b->stages && a->replicas == b->replicas &&
           a->microbatches == b->microbatches && memcmp(a->device_of, b->device_of, size) == 0;
}

/* The lanes of a schedule's operations, its backwards split. */
static void to_order(const struct best_problem *problem, const struct kerf_schedule *schedule, int32_t *order) {
    for (int32_t d = 0; d < schedule->devices; d++) {
        int64_t at = problem->begin[d];
        for (int32_t k = 0; k < schedule->num_ops[d]; k++) {
            const struct kerf_op *op = &schedule->ops[d][k];
            int second = schedule->replicas == 2 && op->microbatch >= schedule->microbatches / 2;
            int with = schedule->replicas == 2 && op->with_microbatch >= schedule->microbatches / 2;
            int32_t stream = second * schedule->stages + op->stage;
            if (op->kind == KERF_OP_F || op->kind == KERF_OP_FB) order[at++] = lane_of(stream, LANE_F);
            if (op->kind == KERF_OP_FB) stream = with * schedule->stages + op->with_stage;
            if (op->kind == KERF_OP_I || op->kind == KERF_OP_B || op->kind == KERF_OP_FB)
                order[at++] = lane_of(stream, LANE_I);
            if (op->kind == KERF_OP_W || op->kind == KERF_OP_B || op->kind == KERF_OP_FB)
                order[at++] = lane_of(stream, LANE_W);
        }
    }
}

static double held_by(const struct kerf_schedule_times *times, const struct kerf_schedule *schedule,
                      const struct kerf_timeline *timeline) {
    double most = 0;
    for (int32_t d = 0; d < schedule->devices; d++)
        most = fmax(most,
                    times->cap_in_bytes ? timeline->peak_bytes[d] : timeline->peak_activations[d] * schedule->chunks);
    return most;
}

static void try_rule(struct best_search *search, const struct kerf_schedule *frame, const struct rule *rule,
                     const struct kerf_schedule_request *request, int32_t *order, struct best_rule *best) {
    enum { MAKING = 8 }; /* steps an operation, in the mean of the rules */
    struct kerf_schedule *schedule = NULL;
    struct kerf_timeline *timeline = NULL;
    best_spend(search->budget, MAKING * search->problem.ops);
    if (rule_make(rule, request, NULL, &schedule, NULL) != KERF_OK) return;
    if (same_frame(schedule, frame) && kerf_schedule_check(schedule, NULL) == KERF_OK &&
        kerf_schedule_simulate(schedule, request->times, &timeline, NULL) == KERF_OK) {
        const double value = search->problem.objective == KERF_OBJECTIVE_SPAN ? timeline->span_s : timeline->makespan_s;
        const double held = held_by(request->times, schedule, timeline);
        to_order(&search->problem, schedule, order);
        best_offer(search, order);
        if (best && timeline->over_cap < 0 && (value < best->value || (value <= best->value && held < best->held))) {
            kerf_schedule_free(best->schedule);
            *best = (struct best_rule){schedule, value, held};
            schedule = NULL;
        }
    }
    kerf_timeline_free(timeline);
    kerf_schedule_free(schedule);
}

void best_rules(struct best_search *search, const struct kerf_schedule *frame,
                const struct kerf_schedule_request *request, struct best_rule *best) {
    const struct rule *rule;
    struct arena arena = {NULL};
    int32_t *order = arena_alloc(&arena, (size_t)search->problem.ops, sizeof *order);
    for (size_t i = 0; order && (rule = rules_at(i)); i++) {
        struct kerf_schedule_request other = *request;
        other.chunks = 0; /* its own first, since those that have one number refuse any other */
        other.progress = NULL;
        int32_t stages = 0;
        if (rule_stages(rule, &other, &stages, NULL) != KERF_OK) continue;
        if (stages != frame->stages) other.chunks = frame->chunks;
        try_rule(search, frame, rule, &other, order, best);
    }
    arena_free(&arena);
}

/* One micro-batch after the other, which fits whenever anything does. */
void best_one_by_one(struct best_search *search) {
    const struct best_problem *problem = &search->problem;
    struct arena arena = {NULL};
    int32_t *order = arena_alloc(&arena, (size_t)problem->ops, sizeof *order);
    if (order == NULL) return;
    for (int32_t d = 0; d < problem->devices; d++) {
        int64_t at = problem->begin[d];
        int32_t begin = problem->on_begin[d], end = problem->on_begin[d + 1], most = 0;
        for (int32_t k = begin; k < end; k++)
            most = most > problem->units[problem->on[k]] ? most : problem->units[problem->on[k]];
        for (int32_t replica = 0; replica < problem->replicas; replica++)
            for (int32_t unit = 0; unit < most; unit++) {
                for (int32_t k = begin; k < end; k++) {
                    int32_t s = problem->on[k];
                    if (problem->replica[s] == replica && unit < problem->units[s]) order[at++] = lane_of(s, LANE_F);
                }
                for (int32_t k = end; k-- > begin;) {
                    int32_t s = problem->on[k];
                    if (problem->replica[s] != replica || unit >= problem->units[s]) continue;
                    order[at++] = lane_of(s, LANE_I);
                    order[at++] = lane_of(s, LANE_W);
                }
            }
    }
    best_offer(search, order);
    arena_free(&arena);
}
