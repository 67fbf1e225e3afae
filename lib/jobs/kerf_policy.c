/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `kerf`: one exploring run a size, as long as they get no worse, and Thompson sampling on the logarithm of
 * the cost with one variance for all arms.
 *
 * Exploring takes the cost to have one valley (Combes and Proutiere, "Unimodal Bandits", 2014): it goes up from the
 * default until a size fails or costs more than WORSE times the best so far, and then down, unless going up has shown
 * already that the default is on the slope. Up comes first because a step too far up costs less than one too far down:
 * there, epochs take longer. What converged within WORSE times the best becomes an arm.
 *
 * The spread of costs is much the same for all sizes of a job when it is taken relative to the cost. So one variance is
 * learnt from all arms, with a prior, and an arm seen once is no longer sure of itself. For arms a, with n_a runs of
 * mean m_a and variance v_a of x = -ln(cost),
 *     s^2 = (PRIOR_RUNS PRIOR_SD^2 + sum n_a v_a) / (PRIOR_RUNS + sum (n_a - 1)),   draw_a ~ N(m_a, s^2 / n_a).
 * A run that failed is followed by another try, which is added to its cost: the cheapest run known. With a window w,
 * n_a stops at w, which forgets older runs little by little.
 *
 * bench/jobs compares it with `zeus` on the published traces. Not looked at: num_pruning_rounds beyond 0, the priors,
 * mab_num_explorations. Arms are kept as the rows that all policies have; param_precision is for people, and follows
 * from the rows of all arms.
 */
#include <float.h>
#include <math.h>
#include "jobs/job_state.h"

static const double WORSE = 1.5;     /* times the best: too much to go on, or to keep */
static const double ON_SLOPE = 1.25; /* times the best: the default's other side need not be looked at */
static const double PRIOR_SD = 0.05;
static const double PRIOR_RUNS = 4;

/* ---- Exploring --------------------------------------------------------------------------------------------- */

struct valley {
    double best; /* INFINITY: no size converged yet */
    struct next next;
    int decided;
};

static void decide(struct valley *valley, int32_t size, struct kerf_job_reason *reason, struct kerf_job_reason why) {
    *reason = why;
    valley->decided = 1;
    valley->next = (struct next){.status = KERF_JOB_ANSWERED, .size = size};
}

/* Whether going on beyond this size may help; in any case what is known of it is noted, or asked for. */
static int look(struct kerf_job *job, struct valley *valley, int32_t size, int32_t before,
                struct kerf_job_reason *reason) {
    const struct size *of = &job->sizes[size];
    const struct exploration *exploration = of->explorations; /* the first counts */
    if (of->num_explorations == 0) {
        int why = size == before  ? KERF_WHY_EXPLORE_DEFAULT
                  : size < before ? KERF_WHY_EXPLORE_DOWN
                                  : KERF_WHY_EXPLORE_UP;
        decide(
            valley, size, reason,
            (struct kerf_job_reason){.why = why, .from = job->sizes[before].batch_size, .round = 1, .num_rounds = 1});
        return 0;
    }
    if (exploration->running) {
        decide(valley, size, reason,
               (struct kerf_job_reason){
                   .why = KERF_WHY_CONCURRENT, .waiting_for = exploration->trial, .waiting_size = of->batch_size});
        return 0;
    }
    if (!exploration->converged) return 0;
    job->taken[size] = 1;
    if (exploration->cost < valley->best) valley->best = exploration->cost;
    return exploration->cost <= WORSE * valley->best;
}

static void walk(struct kerf_job *job, struct valley *valley, int32_t from, int32_t by,
                 struct kerf_job_reason *reason) {
    for (int32_t before = from, at = from + by; at >= 0 && at < job->spec.num_batch_sizes; before = at, at += by)
        if (!look(job, valley, at, before, reason)) return;
}

static struct next arms_of(struct kerf_job *job, const struct valley *valley) {
    int32_t count = 0;
    for (int32_t i = 0; i < job->spec.num_batch_sizes; i++)
        if (job->taken[i] && !(job->sizes[i].explorations->cost > WORSE * valley->best)) job->good[count++] = i;
    if (count > 0) return (struct next){.status = KERF_JOB_ANSWERED, .size = -1, .num_arms = count};
    return (struct next){.status = KERF_JOB_NOTHING_CONVERGED, .size = -1};
}

static struct next kerf_explore(struct kerf_job *job, struct kerf_job_reason *ret_reason) {
    struct valley valley = {.best = INFINITY};
    int32_t start = job_find_size(job, job->spec.default_batch_size);
    for (int32_t i = 0; i < job->spec.num_batch_sizes; i++) {
        job->taken[i] = 0;
        job->good[i] = i;
    }
    if (job->spec.num_pruning_rounds == 0)
        return (struct next){.status = KERF_JOB_ANSWERED, .size = -1, .num_arms = job->spec.num_batch_sizes};
    look(job, &valley, start, start, ret_reason);
    if (!valley.decided) walk(job, &valley, start, 1, ret_reason);
    if (valley.decided) return valley.next;
    int on_slope = job->taken[start] && job->sizes[start].explorations->cost > ON_SLOPE * valley.best;
    if (!on_slope) walk(job, &valley, start, -1, ret_reason);
    return valley.decided ? valley.next : arms_of(job, &valley);
}

/* ---- Arms -------------------------------------------------------------------------------------------------- */

static double runs(const struct kerf_job *job, const struct kerf_arm *arm) {
    int64_t window = job->spec.window_size, n = arm->num_observations;
    return (double)(window > 0 && n > window ? window : n);
}

/* Of x in all arms. An arm's own variance is kept as reward_precision. */
static double pooled_variance(const struct kerf_job *job) {
    double sum = PRIOR_RUNS * PRIOR_SD * PRIOR_SD, freedom = PRIOR_RUNS;
    for (int32_t i = 0; i < job->num_arms; i++) {
        const struct kerf_arm *arm = &job->arms[i];
        if (arm->num_observations < 2) continue;
        sum += runs(job, arm) / arm->reward_precision;
        freedom += runs(job, arm) - 1;
    }
    return sum / freedom;
}

/* Welford's update; with n at the window, one that forgets. */
static void observe(const struct kerf_job *job, struct kerf_arm *arm, double cost) {
    double x = -log(fmin(fmax(cost, DBL_MIN), DBL_MAX)); /* of any cost, 0 and infinity too */
    double variance = arm->num_observations > 0 ? 1 / arm->reward_precision : 0;
    arm->num_observations++;
    double n = runs(job, arm), difference = x - arm->param_mean;
    arm->param_mean += difference / n;
    variance = (1 - 1 / n) * (variance + difference * difference / n);
    arm->reward_precision = 1 / variance;
}

/* The precision of what is drawn: each run tells of the variance of all arms. */
static void kerf_settle(struct kerf_job *job) {
    double variance = pooled_variance(job);
    for (int32_t i = 0; i < job->num_arms; i++) job->arms[i].param_precision = runs(job, &job->arms[i]) / variance;
}

static void kerf_fit(struct kerf_job *job) {
    for (int32_t i = 0; i < job->spec.num_batch_sizes; i++) {
        const struct size *size = &job->sizes[i];
        for (int32_t k = 0; size->arm >= 0 && k < size->num_explorations; k++)
            if (!size->explorations[k].running) observe(job, &job->arms[size->arm], size->explorations[k].cost);
    }
    kerf_settle(job);
}

static void kerf_learn(struct kerf_job *job, struct kerf_arm *arm, const struct costs *costs, double cost,
                       int32_t converged) {
    (void)costs;
    observe(job, arm, converged || !job->row.has_min_cost ? cost : cost + job->row.min_cost);
    kerf_settle(job);
}

static int64_t kerf_costs_wanted(const struct kerf_job *job) {
    (void)job;
    return 0;
}

/* Without a seed each trial has a generator of its own, so that requests within a second differ. */
static struct pcg64 generator(const struct kerf_job *job, double now_s) {
    if (job->row.has_random) return job_random(job, now_s);
    uint64_t second = now_s > 0 && now_s < 0x1p63 ? (uint64_t)now_s : 0;
    return random_seed(second << 20 ^ (uint64_t)job->row.last_trial_number);
}

static int32_t kerf_pick(struct kerf_job *job, double now_s, struct kerf_job_reason *ret_reason) {
    struct pcg64 rng = generator(job, now_s);
    double variance = pooled_variance(job), best_draw = -INFINITY, second_draw = -INFINITY;
    int32_t best = 0, second = -1;
    for (int32_t i = 0; i < job->num_arms; i++) {
        const struct kerf_arm *arm = &job->arms[i];
        double n = runs(job, arm), x = random_normal(&rng, arm->param_mean, n > 0 ? sqrt(variance / n) : 0);
        if (n == 0) x = INFINITY; /* there are such arms without pruning rounds */
        if (i == 0 || x > best_draw) {
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
    const struct kerf_arm *arm = &job->arms[best];
    *ret_reason = (struct kerf_job_reason){.why = arm->num_observations > 0 ? KERF_WHY_SAMPLED : KERF_WHY_TOO_FEW,
                                           .observations = arm->num_observations,
                                           .wanted = 1,
                                           .sample = best_draw,
                                           .mean = arm->param_mean,
                                           .second_size = second >= 0 ? job->arms[second].batch_size : 0,
                                           .second_sample = second >= 0 ? second_draw : 0,
                                           .log_scale = 1};
    return best;
}

const struct policy policy_kerf = {
    .about =
        {"kerf",
         "one run of each size down both slopes of the valley, then Thompson sampling with one variance for all sizes",
         "Combes and Proutiere, Unimodal Bandits, ICML 2014; Paladino et al., Unimodal Thompson Sampling, AAAI 2017"},
    .explore = kerf_explore,
    .fit = kerf_fit,
    .settle = kerf_settle,
    .pick = kerf_pick,
    .costs_wanted = kerf_costs_wanted,
    .learn = kerf_learn,
};
