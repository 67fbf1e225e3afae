/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `zeus`: Gaussian Thompson sampling, after zeus/optimizer/batch_size/server/mab.py (GaussianTS). Rewards
 * are minus the costs. For the rewards r_1 .. r_n of an arm, in the window, reward precision  1 / var(r) (infinite
 * where all are equal) precision         prior_precision + n / var(r) mean              (prior_precision prior_mean +
 * sum(r) / var(r)) / precision Each pick shuffles the arms and takes the first with fewer than mab_num_explorations
 * observations; without one, the arm with the highest draw from N(mean, 1 / precision). Both draws happen at every pick
 * where none was taken first. Sums are NumPy's, over the history in the reference's order: the results are equal to the
 * last bit.
 */
#include <math.h>
#include <string.h>
#include "base/pairwise_sum.h"
#include "jobs/policy.h"

/* The arm for these costs. 0 - sum, not -sum: NumPy's sums are never -0. */
static void fit(const struct kerf_job_spec *spec, struct kerf_arm *arm, const double *costs, int64_t n) {
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

static void fit_explorations(struct kerf_job *job) {
    for (int32_t i = 0; i < job->spec.num_batch_sizes; i++) {
        const struct size *size = &job->sizes[i];
        if (size->arm < 0) continue;
        struct kerf_arm *arm = &job->arms[size->arm];
        arm->param_mean = job->spec.mab_prior_mean; /* what is known of an arm without a run */
        arm->param_precision = job->spec.mab_prior_precision;
        int32_t n = 0;
        for (int32_t k = 0; k < size->num_explorations; k++)
            if (!size->explorations[k].running) job->window[n++] = size->explorations[k].cost;
        if (n > 0) fit(&job->spec, arm, job->window, n);
    }
}

static int64_t costs_wanted(const struct kerf_job *job) {
    return job->spec.window_size > 0 ? job->spec.window_size : COSTS_ALL;
}

/* With a window that is full: the oldest goes, and the others follow in the order of their trials. Else newest first.
 * The result at hand is the last in both. */
static void learn(struct kerf_job *job, struct kerf_arm *arm, const struct costs *costs, double cost,
                  int32_t converged) {
    (void)converged;
    double *newest = costs_newest(costs);
    int64_t window = job->spec.window_size, n = costs->count;
    if (window > 0 && n >= window) {
        n = window - 1;
        for (int64_t i = 0; i < n; i++) job->window[i] = newest[n - 1 - i];
        newest = job->window;
    }
    newest[n] = cost;
    fit(&job->spec, arm, newest, n + 1);
}

static double deviation(double precision) { return precision >= 0 ? sqrt(1 / precision) : NAN; }

/* Where the job has no seed every draw is the first of a new generator, as in the reference: within a second all arms
 * get the same standard normal. */
static double draw(const struct kerf_job *job, struct pcg64 *rng, double now_s, const struct kerf_arm *arm) {
    if (!job->row.has_random) *rng = job_random(job, now_s);
    return random_normal(rng, arm->param_mean, deviation(arm->param_precision));
}

static int32_t pick(struct kerf_job *job, double now_s, struct kerf_job_reason *ret_reason) {
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
    .explore = explore_rounds,
    .fit = fit_explorations,
    .pick = pick,
    .costs_wanted = costs_wanted,
    .learn = learn,
};
