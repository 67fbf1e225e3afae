/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exploring with pruning, after zeus/optimizer/batch_size/server/explorer.py (PruningExploreManager): each round runs
 * the sizes from the default downwards and then those above it upwards, and ends a direction at the first size that
 * doesn't converge. The next round has the sizes that converged, and the cheapest of them as its default. What is known
 * is walked through anew at every request, which costs O(sizes * rounds).
 *
 * Mended where not compat: a round after the first in which nothing converges ends exploring with the sizes it began
 * with; without rounds every size becomes an arm; and a cost that is no finite number can be the cheapest.
 */
#include <math.h>
#include "jobs/policy.h"

struct round {
    int64_t number;
    int32_t count;    /* of job->alive, the sizes of this round */
    int32_t start;    /* the default's place among them */
    int32_t num_good; /* sizes that converged; they are marked in job->taken */
    int32_t best;     /* the size that was cheapest, -1: none */
    double best_cost;
    struct next next; /* what to do, once it is known */
    int32_t decided;
};

static void decide(struct round *round, int32_t size) {
    round->decided = 1;
    round->next = (struct next){.status = KERF_JOB_ANSWERED, .size = size};
}

static void note_good(const struct kerf_job *job, struct round *round, int32_t size, double cost) {
    job->taken[size] = 1;
    round->num_good++;
    if (cost < round->best_cost || (round->best < 0 && !job->compat)) {
        round->best = size;
        round->best_cost = cost;
    }
}

/* From the place `at` in steps of one, until a size fails, runs or has not run. */
static void walk(struct kerf_job *job, struct round *round, int32_t at, int32_t by, struct kerf_job_reason *reason) {
    for (int32_t before = round->start; at >= 0 && at < round->count; before = at, at += by) {
        int32_t size = job->alive[at];
        const struct size *of = &job->sizes[size];
        if (of->num_explorations <= round->number) {
            int why = at == round->start ? KERF_WHY_EXPLORE_DEFAULT
                      : by < 0           ? KERF_WHY_EXPLORE_DOWN
                                         : KERF_WHY_EXPLORE_UP;
            *reason = (struct kerf_job_reason){.why = why,
                                               .batch_size = of->batch_size,
                                               .from = job->sizes[job->alive[before]].batch_size,
                                               .round = round->number + 1,
                                               .num_rounds = job->spec.num_pruning_rounds};
            decide(round, size);
            return;
        }
        const struct exploration *exploration = &of->explorations[round->number];
        if (exploration->running) {
            *reason = (struct kerf_job_reason){
                .why = KERF_WHY_CONCURRENT, .waiting_for = exploration->trial, .waiting_size = of->batch_size};
            decide(round, size);
            return;
        }
        if (!exploration->converged) return;
        note_good(job, round, size, exploration->cost);
    }
}

/* The sizes marked in job->taken, still ascending. */
static void keep_good(struct kerf_job *job, struct round *round) {
    int32_t kept = 0;
    for (int32_t i = 0; i < round->count; i++)
        if (job->taken[job->alive[i]]) job->alive[kept++] = job->alive[i];
    round->count = kept;
}

static struct next failed(int32_t status, int32_t fault) {
    return (struct next){.status = status, .fault = fault, .size = -1};
}

static struct next survivors(struct kerf_job *job, int32_t count) {
    for (int32_t i = 0; i < count; i++) job->good[i] = job->alive[i];
    return (struct next){.status = KERF_JOB_ANSWERED, .size = -1, .num_arms = count};
}

/* The reference looks for the best size's number, which is 0 where no cost was below infinity. */
static int find_start(const struct kerf_job *job, struct round *round) {
    int64_t wanted = round->best >= 0 ? job->sizes[round->best].batch_size : 0;
    for (round->start = 0; round->start < round->count; round->start++)
        if (job->sizes[job->alive[round->start]].batch_size == wanted) return 1;
    return 0;
}

struct next explore_rounds(struct kerf_job *job, struct kerf_job_reason *ret_reason) {
    struct round round = {.count = job->spec.num_batch_sizes, .best = job_find_size(job, job->spec.default_batch_size)};
    for (int32_t i = 0; i < round.count; i++) job->alive[i] = i;
    for (; round.number < job->spec.num_pruning_rounds; round.number++) {
        if (!find_start(job, &round)) return failed(KERF_JOB_WEDGED, KERF_FAULT_NO_START);
        round.best = -1;
        round.best_cost = INFINITY;
        round.num_good = 0;
        for (int32_t i = 0; i < round.count; i++) job->taken[job->alive[i]] = 0;
        walk(job, &round, round.start, -1, ret_reason);
        if (!round.decided) walk(job, &round, round.start + 1, 1, ret_reason);
        if (round.decided) return round.next;
        if (round.num_good == 0 && (round.number == 0 || job->compat))
            return failed(KERF_JOB_NOTHING_CONVERGED, KERF_FAULT_NONE);
        if (round.num_good == 0) break;
        keep_good(job, &round);
    }
    if (job->spec.num_pruning_rounds == 0 && job->compat) return failed(KERF_JOB_WEDGED, KERF_FAULT_NO_ROUNDS);
    return survivors(job, round.count);
}
