/* SPDX-License-Identifier: Apache-2.0 */
/*
 * best: kerf's own search for the shortest order of operations, for any placement, times, latencies and caps.
 *
 *   1. every other rule that has the same placement and keeps the caps; as it is, and with its backwards split
 *                                                                                         best_starts.c
 *   2. patterns that repeat, and list scheduling by many policies         best_patterns.c, best_starts.c
 *   3. side by side                                                                           best_rounds.c
 *      the exact search, which improves the order or proves that nothing is shorter; the same question from below
 *                                                                                           best_exact.c
 *      windows of time, of the best order and of others to start from                       best_windows.c
 *      other neighbourhoods of the best order                                               best_neighbours.c
 *   4. an order as short that holds less                                                    best_thin.c
 *
 * Phases 1 to 3 take the best order known and stop at once when its objective is that of a bound, which is a proof. All
 * are deterministic: with a limit in steps there is one answer, and with a clock there is one where the search ends
 * before its time. The answer is never worse than any of the rules of phase 1.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "schedule/best/best_search.h"
#include "schedule/lower_bound.h"
#include "schedule/proof/proof_write.h"
#include "schedule/rules/rule.h"

/* ---- The answer ------------------------------------------------------------------------------------------- */

/* A device holds all chunks of a micro-batch when its way back begins: the largest sum of a replica. */
static double least_cap(const struct best_problem *problem, int32_t device) {
    double least = 0, sum = 0;
    for (int32_t k = problem->on_begin[device]; k < problem->on_begin[device + 1]; k++) {
        int32_t s = problem->on[k], other = k > problem->on_begin[device] ? problem->on[k - 1] : s;
        if (problem->replica[other] != problem->replica[s]) sum = 0;
        if (problem->units[s] > 0) sum += problem->amount[s];
        least = fmax(least, sum);
    }
    return least;
}

static int32_t check_caps(const struct best_problem *problem, const struct kerf_schedule_times *times,
                          struct kerf_error *err) {
    for (int32_t d = 0; d < problem->devices; d++) {
        double least = least_cap(problem, d);
        if (least <= problem->cap[d]) continue;
        if (times->cap_in_bytes)
            return kerf_error_set(err, KERF_EINFEASIBLE,
                                  "no order keeps device %d within its cap of %g bytes: one micro-batch takes %g bytes "
                                  "there, which is the smallest cap that works",
                                  d, times->cap[d], least);
        return kerf_error_set(
            err, KERF_EINFEASIBLE,
            "no order keeps device %d within its cap of %g micro-batches; the smallest cap that works is 1", d,
            times->cap[d]);
    }
    return KERF_OK;
}

static void answer_order(struct builder *builder, const struct best_search *search) {
    static const enum kerf_op_kind kinds[LANE_KINDS] = {
        [LANE_F] = KERF_OP_F, [LANE_I] = KERF_OP_I, [LANE_W] = KERF_OP_W};
    const struct best_problem *problem = &search->problem;
    int32_t *done = search->run.done;
    memset(done, 0, LANE_KINDS * (size_t)problem->streams * sizeof *done);
    for (int32_t d = 0; d < problem->devices; d++)
        for (int64_t k = problem->begin[d]; k < problem->begin[d + 1]; k++) {
            int32_t lane = search->order[k], s = lane_stream(lane);
            assert(done[lane] < problem->units[s]);
            add(builder, d, kinds[lane_kind(lane)], problem->stage[s], problem->first[s] + done[lane]++);
        }
    const int optimal = !best_less(search->makespan_bound, search->makespan);
    builder->proof.makespan_s = optimal ? search->makespan : search->makespan_bound;
    if (problem->objective == KERF_OBJECTIVE_SPAN)
        builder->proof.span_s = best_is_optimal(search) ? search->value : search->bound;
}

static int32_t refuse_certificate(struct kerf_error *err) {
    return kerf_error_set(
        err, KERF_EINVALID,
        "the shortest order found has whole or fused passes, which are shorter here than their parts; "
        "a certificate is of orders of the parts, so leave --certificate out");
}

static void answer_rule(struct builder *builder, const struct kerf_schedule *schedule) {
    for (int32_t d = 0; d < schedule->devices; d++) {
        memcpy(builder->ops[d], schedule->ops[d], (size_t)schedule->num_ops[d] * sizeof **schedule->ops);
        builder->num_ops[d] = schedule->num_ops[d];
    }
}

/* The certificate of the proof, where the request asks for it. */
static void write_certificate(const struct best_search *search, const struct kerf_schedule *frame,
                              const struct kerf_schedule_request *request, const struct lower_bound *known,
                              struct kerf_text *out) {
    const int span = search->problem.objective == KERF_OBJECTIVE_SPAN;
    const int with_order = isfinite(search->value) && !search->problem.shared_link;
    struct proof_claim claim = {.frame = frame,
                                .times = request->times,
                                .objective = span ? KERF_OBJECTIVE_SPAN : KERF_OBJECTIVE_MAKESPAN,
                                .bound_s = span ? known->bound.span_s : known->bound.makespan_s,
                                .reason = span ? known->span : known->makespan,
                                .order = with_order ? search->order : NULL,
                                .begin = search->problem.begin,
                                .takes_s = search->value};
    if (search->refuted > claim.bound_s && !search->refutation->failed) {
        claim.bound_s = search->refuted;
        claim.refutation = search->refutation;
    }
    proof_write(out, &claim);
}

enum { POOL = 64, POOL_OPS = 100000 }; /* more would take much memory */

static int32_t search_all(struct best_search *search, const struct kerf_schedule *frame, struct builder *builder,
                          const struct kerf_schedule_request *request, enum kerf_objective objective,
                          struct kerf_error *err) {
    const struct best_problem *problem = &search->problem;
    struct lower_bound known;
    if (best_problem_make(&search->problem, frame, request->times, objective) != KERF_OK)
        return error_no_memory(err, "the search");
    int32_t code = check_caps(problem, request->times, err);
    if (code != KERF_OK) return code;
    if (best_search_make(search) != KERF_OK || lower_bound_of_split(frame, request->times, INFINITY, &known) != KERF_OK)
        return error_no_memory(err, "the search");
    search->makespan_bound = known.bound.makespan_s * (1 - 1e-12); /* the same sums in another order may round up */
    search->bound = objective == KERF_OBJECTIVE_SPAN ? known.bound.span_s * (1 - 1e-12) : search->makespan_bound;
    struct best_rule rule = {NULL, INFINITY, INFINITY};
    struct kerf_text refutation = {0};
    if (request->certificate) search->refutation = &refutation;
    best_budget_allow(search->budget, 7. / 8, INFINITY, 0); /* the rest is for best_thin */
    if (problem->ops <= POOL_OPS) best_pool_make(search, POOL);
    best_one_by_one(search);
    best_rules(search, frame, request, &rule);
    search->rule_value = rule.value;
    if (!best_is_done(search)) best_patterns(search);
    if (!best_is_done(search)) best_starts(search);
    if (!best_is_done(search)) best_rounds(search);
    if (best_less(rule.value, search->value)) {
        if (request->certificate)
            code = refuse_certificate(err);
        else
            answer_rule(builder, rule.schedule);
    } else {
        best_budget_allow(search->budget, 1, 4, 100000000);
        best_thin(search, frame, request);
        /* a certificate has the search's own order, which is then the answer */
        if (!request->certificate && rule.value <= search->value && rule.held < search->held)
            answer_rule(builder, rule.schedule);
        else
            answer_order(builder, search);
    }
    kerf_schedule_free(rule.schedule);
    if (request->certificate && code == KERF_OK)
        write_certificate(search, frame, request, &known, &builder->certificate);
    kerf_text_free(&refutation);
    if (code != KERF_OK) return code;
    return builder->certificate.failed ? error_no_memory(err, "the certificate") : KERF_OK;
}

static enum kerf_objective objective_of(const struct kerf_schedule_request *request) {
    if (request->objective != KERF_OBJECTIVE_STEP) return request->objective;
    return request->times->unsynchronised ? KERF_OBJECTIVE_SPAN : KERF_OBJECTIVE_MAKESPAN;
}

static int32_t search_best(struct builder *builder, const struct kerf_schedule_request *request,
                           struct kerf_error *err) {
    struct arena arena = {NULL};
    struct best_budget budget;
    struct best_search search = {.budget = &budget};
    const int32_t p = builder->p, stages = p * builder->v, replicas = placement_replicas(request->placement, 0);
    int32_t *device_of = arena_alloc(&arena, (size_t)(replicas * stages), sizeof *device_of);
    if (device_of == NULL) return error_no_memory(err, "the search");
    placement_fill(request->placement, p, builder->v, replicas, device_of);
    const struct kerf_schedule frame = {.name = rule_best.shown.name,
                                        .devices = p,
                                        .stages = stages,
                                        .microbatches = builder->m,
                                        .chunks = builder->v,
                                        .replicas = replicas,
                                        .slices = 1,
                                        .device_of = device_of};
    best_budget_start(&budget, request);
    budget.how = builder->how;
    budget.watched = &search;
    int32_t code = search_all(&search, &frame, builder, request, objective_of(request), err);
    arena_free(&search.arena);
    arena_free(&search.problem.arena);
    arena_free(&arena);
    return code;
}

static int32_t check(const struct kerf_schedule_request *request, struct kerf_error *err) {
    enum { PASSES_MAX = 1 << 23 };
    int64_t chunks = request->chunks ? request->chunks : placements[request->placement].default_chunks;
    int64_t passes = chunks * request->devices * request->microbatches;
    if (passes <= PASSES_MAX) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "best searches among at most %d operations of a kind, not %lld",
                          PASSES_MAX, (long long)passes);
}

const struct rule rule_best = {
    .shown =
        {
            .name = "best",
            .summary = "kerf's own search; never worse than another rule with its placement that keeps within the caps",
            .constraint = "up to 8,388,608 operations of a kind",
            .bubble = "the smallest found",
            .memory = "within --memory-cap",
            .source = "kerf",
        },
    .any_placement = 1,
    .default_chunks = 1,
    .check = check,
    .search = search_best,
};
