/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `zeus`: rounds of pruning, then Gaussian Thompson sampling, after zeus/optimizer/batch_size/server of
 * ml-energy/zeus (You, Chung and Chowdhury, Zeus, NSDI 2023).
 *
 * Pruning (explorer.py, PruningExploreManager). Each round runs the sizes from the default downwards and then those above
 * it upwards, and ends a direction at the first size that does not converge. The next round has the sizes that converged,
 * and the cheapest of them as its default. What is known is walked through anew at every request: O(sizes * rounds).
 *
 * Arms (mab.py, GaussianTS). The reward of a run is minus its cost. For the rewards r_1 .. r_n of an arm, those in the
 * window,
 *
 *     reward_precision = 1 / var(r)                                      infinite where all are equal
 *     param_precision  = prior_precision + n * reward_precision
 *     param_mean       = (prior_precision * prior_mean + reward_precision * sum(r)) / param_precision
 *
 * which is the posterior of a normal mean whose precision is known (Gelman et al., Bayesian Data Analysis, 3rd edition,
 * section 2.5), with the sample's own variance, over n, taken for the known one. Each pick shuffles the arms and takes
 * the first with fewer than mab_num_explorations observations; without one, the arm with the highest draw from
 * N(param_mean, 1 / param_precision) (Thompson sampling). Sums are NumPy's, over the history in the reference's order:
 * results are equal to the last bit.
 *
 * Mended where not compat: a round after the first in which nothing converges ends exploring with the sizes it began
 * with; without rounds every size becomes an arm; and a cost that is no finite number can be the cheapest.
 */
#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/number.h"
#include "jobs/job_state.h"

/* ---- Pruning ------------------------------------------------------------------------------------------------- */

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

static struct next zeus_explore(struct kerf_job *job, struct kerf_job_reason *ret_reason) {
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

/* ---- Arms ---------------------------------------------------------------------------------------------------- */

/* The arm for these costs. 0 - sum, not -sum: NumPy's sums are never -0. */
static void learn_costs(const struct kerf_job_spec *spec, struct kerf_arm *arm, const double *costs, int64_t n) {
    double count = (double)n, sum = 0 - pairwise_sum(costs, n), mean = sum / count;
    double variance = pairwise_sum_squares(costs, n, -mean) / count;
    arm->num_observations = n;
    if (variance == 0) {
        arm->reward_precision = arm->param_precision = INFINITY;
        arm->param_mean = mean;
        return;
    }
    arm->reward_precision = 1 / variance;
    if (arm->reward_precision == INFINITY) { /* of a variance that is almost 0 */
        arm->param_precision = INFINITY;
        arm->param_mean = mean;
        return;
    }
    arm->param_precision = spec->mab_prior_precision + count * arm->reward_precision;
    arm->param_mean =
        (spec->mab_prior_precision * spec->mab_prior_mean + arm->reward_precision * sum) / arm->param_precision;
}

static void zeus_fit(struct kerf_job *job) {
    for (int32_t i = 0; i < job->spec.num_batch_sizes; i++) {
        const struct size *size = &job->sizes[i];
        if (size->arm < 0) continue;
        struct kerf_arm *arm = &job->arms[size->arm];
        arm->param_mean = job->spec.mab_prior_mean; /* what is known of an arm without a run */
        arm->param_precision = job->spec.mab_prior_precision;
        int32_t n = 0;
        for (int32_t k = 0; k < size->num_explorations; k++)
            if (!size->explorations[k].running) job->window[n++] = size->explorations[k].cost;
        if (n > 0) learn_costs(&job->spec, arm, job->window, n);
    }
}

static int64_t zeus_costs_wanted(const struct kerf_job *job) {
    return job->spec.window_size > 0 ? job->spec.window_size : COSTS_ALL;
}

/* With a window that is full: the oldest goes, and the others follow in the order of their trials. Else newest first.
 * The result at hand is the last in both. */
static void zeus_learn(struct kerf_job *job, struct kerf_arm *arm, const struct costs *costs, double cost,
                       int32_t converged) {
    (void)converged;
    double *newest = costs_newest(costs);
    int64_t window = job->spec.window_size, n = costs->count;
    if (window > 0 && n >= window) {
        n = window - 1;
        for (int64_t i = 0; i < n; i++) job->window[i] = newest[n - 1 - i];
        newest = job->window;
    }
    assert(newest == job->window || costs->start + n <= costs->room);
    newest[n] = cost;
    learn_costs(&job->spec, arm, newest, n + 1);
}

static double deviation(double precision) { return precision >= 0 ? sqrt(1 / precision) : NAN; }

/* In the reference every draw of a job without a seed is the first of a new generator: all arms get the same standard
 * normal, so that a slightly worse arm is never drawn. */
static double draw(const struct kerf_job *job, struct pcg64 *rng, double now_s, const struct kerf_arm *arm) {
    if (!job->row.has_random && job->compat) *rng = job_random(job, now_s);
    return random_normal(rng, arm->param_mean, deviation(arm->param_precision));
}

static int32_t zeus_pick(struct kerf_job *job, double now_s, struct kerf_job_reason *ret_reason) {
    struct pcg64 rng = job_random(job, now_s);
    random_order(&rng, job->num_arms, job->order, job->taken);
    job_keep_random(job, &rng);
    for (int32_t i = 0; i < job->num_arms; i++) {
        const struct kerf_arm *arm = &job->arms[job->order[i]];
        int64_t wanted = job->spec.mab_num_explorations;
        if (wanted == 0 && arm->num_observations == 0) wanted = 1; /* there are such arms without pruning rounds */
        if (arm->num_observations >= wanted) continue;
        *ret_reason =
            (struct kerf_job_reason){.why = KERF_WHY_TOO_FEW, .observations = arm->num_observations, .wanted = wanted};
        return job->order[i];
    }
    int32_t best = 0, second = -1;
    double best_draw = 0, second_draw = 0;
    for (int32_t i = 0; i < job->num_arms; i++) {
        double x = draw(job, &rng, now_s, &job->arms[i]);
        if (i == 0 || x > best_draw || (isnan(best_draw) && !isnan(x) && !job->compat)) {
            second = i == 0 ? -1 : best;
            second_draw = best_draw;
            best = i;
            best_draw = x;
        } else if (second < 0 || x > second_draw) {
            second = i;
            second_draw = x;
        }
    }
    job_keep_random(job, &rng);
    *ret_reason = (struct kerf_job_reason){.why = KERF_WHY_SAMPLED,
                                           .observations = job->arms[best].num_observations,
                                           .sample = best_draw,
                                           .mean = job->arms[best].param_mean,
                                           .second_size = second >= 0 ? job->arms[second].batch_size : 0,
                                           .second_sample = second >= 0 ? second_draw : 0};
    return best;
}

const struct policy policy_zeus = {
    .about = {"zeus", "rounds of pruning, then Gaussian Thompson sampling with each size's own variance",
              "You, Chung and Chowdhury, Zeus, NSDI 2023; ml-energy/zeus, zeus/optimizer/batch_size/server"},
    .explore = zeus_explore,
    .fit = zeus_fit,
    .pick = zeus_pick,
    .costs_wanted = zeus_costs_wanted,
    .learn = zeus_learn,
};
