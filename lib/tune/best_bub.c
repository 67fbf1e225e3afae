/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `best_bub`: how the program best_bub searches. The default first, then suggestions of a tree-structured
 * Parzen estimator, a parameter at a time; CHUNKS runs of each setting one after the other, stopped as soon as the best
 * of them is worse than the median of the trials before at the same run, and each run at CUT times the mean of the best
 * trial; the answer is the lowest mean. The number of its trials is
 *
 *     v = n_1 (n_2 / 2),    trials = max(min(10, v), min(5 log2 v, v)),    suggestions <= 10 trials
 *
 * where n_1 and n_2 are the numbers of values of its two parameters. Kept as it is: a pruned trial is told to the
 * estimator as infinitely bad, a forbidden suggestion counts as a trial, a setting suggested again is answered from
 * what is known, and the default is never told to the estimator.
 *
 * The estimator is Bergstra et al., "Algorithms for Hyper-Parameter Optimization", 2011, with the choices that Optuna made:
 * each trial is a normal kernel, cut at the ends of the range, whose width is the larger distance to its neighbours but
 * no less than the range / min(100, 1 + trials), beside one wide kernel for what is not known; of CANDIDATES draws from
 * the good the one with the largest ratio good / bad is taken. On words a kernel is a count with one wide kernel beside
 * it. It is an approximation of Optuna's: the random numbers are others.
 *
 * Its history is worked through in the order of the observations, so that a restored study goes on as it would have.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "tune/statistics.h"
#include "tune/tune_policy.h"

enum { CHUNKS = 5, STARTUP = 10, ATTEMPTS = 10, CANDIDATES = 24, TRIALS_MAX = 2048 };
static const double CUT = 2.5;

struct trial {
    const int32_t *values; /* of the parameters, indexes; NULL: the estimator does not get it */
    int32_t setting;       /* -1: forbidden */
    int32_t runs, complete;
    double run[CHUNKS], mean; /* INFINITY: pruned or failed */
};

struct state {
    struct trial *trials; /* [num_trials], the last one is running unless `idle` */
    int32_t num_trials, capacity, wanted, idle, seen;
    int32_t *values;     /* [capacity][num_params] */
    int32_t *good, *bad; /* [capacity] */
    double *work;
};

static int32_t trials_wanted(const struct kerf_tune_space *space) {
    double grid = 1;
    for (int32_t k = 0; k < space->num_params; k++)
        grid *= space->num_params == 2 && k == 1 ? space->params[k].num_values / 2 : space->params[k].num_values;
    double v = fmax(floor(grid), 1);
    return (int32_t)fmax(fmin(10, v), fmin(floor(5 * log2(v)), v));
}

static int32_t begin(struct kerf_tune_study *study, struct kerf_error *err) {
    struct arena *arena = &study->arena;
    const struct kerf_tune_space *space = study->space;
    struct state *state = arena_alloc(arena, 1, sizeof *state);
    study->state = state;
    if (state == NULL) return error_no_memory(err, "a study");
    state->wanted = trials_wanted(space);
    state->capacity = ATTEMPTS * state->wanted + 1;
    size_t capacity = (size_t)state->capacity, widest = 1;
    for (int32_t k = 0; k < space->num_params; k++)
        if ((size_t)space->params[k].num_values > widest) widest = (size_t)space->params[k].num_values;
    state->trials = arena_alloc(arena, capacity, sizeof *state->trials);
    state->values = arena_alloc(arena, capacity, (size_t)space->num_params * sizeof *state->values);
    state->good = arena_alloc(arena, capacity, sizeof *state->good);
    state->bad = arena_alloc(arena, capacity, sizeof *state->bad);
    state->work = arena_alloc(arena, 2 * widest, sizeof *state->work);
    state->idle = 1;
    return state->trials && state->values && state->good && state->bad && state->work ? KERF_OK
                                                                                      : error_no_memory(err, "a study");
}

/* ---- Trials ------------------------------------------------------------------------------------------------ */

static double signed_value(const struct kerf_tune_study *study, double value) {
    return study->question.maximize ? -value : value;
}

/* Median over earlier trials of what they showed at this run; NAN: none got so far. */
static double median_at(const struct state *state, int32_t run) {
    double of[TRIALS_MAX];
    int32_t count = 0;
    for (int32_t i = 0; i + 1 < state->num_trials && count < TRIALS_MAX; i++)
        if (state->trials[i].runs > run) of[count++] = state->trials[i].run[run];
    if (count == 0) return NAN;
    return 0.5 * (order_statistic(of, count, (count - 1) / 2) + order_statistic(of, count, count / 2));
}

static const struct trial *best_trial(const struct state *state) {
    const struct trial *best = NULL;
    for (int32_t i = 0; i < state->num_trials; i++)
        if (state->trials[i].complete && isfinite(state->trials[i].mean) &&
            (best == NULL || state->trials[i].mean < best->mean))
            best = &state->trials[i];
    return best;
}

static void complete(struct state *state, struct trial *trial, double mean) {
    trial->complete = 1;
    trial->mean = mean;
    state->idle = 1;
}

static void take_observation(const struct kerf_tune_study *study, struct state *state,
                             const struct kerf_tune_observation *o) {
    struct trial *trial = &state->trials[state->num_trials - 1];
    double least = INFINITY, sum = 0;
    if (o->disturbed || o->warmup) return;
    if (o->outcome != KERF_TUNE_VALUE) {
        complete(state, trial, INFINITY);
        return;
    }
    double median = median_at(state, trial->runs);
    trial->run[trial->runs++] = signed_value(study, o->value);
    for (int32_t k = 0; k < trial->runs; k++) {
        least = fmin(least, trial->run[k]);
        sum += trial->run[k];
    }
    if (trial->runs == CHUNKS)
        complete(state, trial, sum / CHUNKS);
    else if (least > median)
        complete(state, trial, INFINITY);
}

/* ---- The Parzen estimator ------------------------------------------------------------------------------------ */

static double width_of(int32_t num_values, const int32_t *trials, int32_t count, int32_t i) {
    double low = -0.5, high = num_values - 0.5, left = low, right = high;
    for (int32_t k = 0; k < count; k++) {
        if (trials[k] < trials[i]) left = fmax(left, trials[k]);
        if (trials[k] > trials[i]) right = fmin(right, trials[k]);
    }
    double least = (high - low) / fmin(100, 1 + count);
    return fmin(fmax(fmax(trials[i] - left, right - trials[i]), least), high - low);
}

/* Adds a kernel of this centre and width, cut to the range, to density [num_values]. */
static void add_kernel(double *density, int32_t num_values, double centre, double width) {
    double whole = normal_cdf((num_values - 0.5 - centre) / width) - normal_cdf((-0.5 - centre) / width);
    for (int32_t v = 0; v < num_values; v++)
        density[v] += (normal_cdf((v + 0.5 - centre) / width) - normal_cdf((v - 0.5 - centre) / width)) / whole;
}

static void fill(double *density, int32_t num_values, int32_t unordered, const int32_t *trials, int32_t count) {
    for (int32_t v = 0; v < num_values; v++) density[v] = unordered ? 1.0 / num_values : 0;
    if (!unordered) add_kernel(density, num_values, 0.5 * (num_values - 1), num_values);
    for (int32_t i = 0; i < count; i++) {
        if (unordered)
            density[trials[i]] += 1;
        else
            add_kernel(density, num_values, trials[i], width_of(num_values, trials, count, i));
    }
    for (int32_t v = 0; v < num_values; v++) density[v] /= count + 1;
}

/* The index 0 .. num_values - 1 that is likelier among good [num_good] than among bad [num_bad], both indexes; work
 * [2 * num_values]. unordered: words, of which none is near another. */
static int32_t parzen_suggest(int32_t num_values, int32_t unordered, const int32_t *good, int32_t num_good,
                              const int32_t *bad, int32_t num_bad, struct pcg64 *rng, double *work) {
    double *of_good = work, *of_bad = work + num_values, best_ratio = -1;
    int32_t best = 0;
    fill(of_good, num_values, unordered, good, num_good);
    fill(of_bad, num_values, unordered, bad, num_bad);
    for (int32_t k = 0; k < CANDIDATES; k++) {
        double share = random_double(rng);
        int32_t v = 0;
        while (v < num_values - 1 && (share -= of_good[v]) > 0) v++;
        double ratio = of_good[v] / fmax(of_bad[v], 1e-300);
        if (ratio > best_ratio) best_ratio = ratio, best = v;
    }
    return best;
}

/* ---- Suggestions ------------------------------------------------------------------------------------------- */

static int by_mean(const struct trial *a, const struct trial *b) {
    return a->mean < b->mean || (a->mean == b->mean && a < b);
}

/* How many trials are better than this one, of those that the estimator knows. */
static int32_t rank_of(const struct state *state, const struct trial *trial) {
    int32_t rank = 0;
    for (int32_t i = 0; i < state->num_trials; i++)
        rank += state->trials[i].values && by_mean(&state->trials[i], trial);
    return rank;
}

static void suggest(const struct kerf_tune_study *study, struct state *state, int32_t *ret_values) {
    const struct kerf_tune_space *space = study->space;
    struct pcg64 rng = random_seed((uint64_t)study->question.seed * 1000003 + (uint64_t)state->num_trials);
    int32_t known = 0;
    for (int32_t i = 0; i < state->num_trials; i++) known += state->trials[i].values != NULL;
    int32_t tenth = (known + 9) / 10, gamma = tenth < 25 ? tenth : 25;
    for (int32_t k = 0; k < space->num_params; k++) {
        int32_t count = space->params[k].num_values, num_good = 0, num_bad = 0;
        if (known < STARTUP) {
            ret_values[k] = (int32_t)random_to(&rng, (uint32_t)count - 1);
            continue;
        }
        for (int32_t i = 0; i < state->num_trials; i++) {
            const struct trial *trial = &state->trials[i];
            if (trial->values == NULL) continue;
            if (rank_of(state, trial) < gamma)
                state->good[num_good++] = trial->values[k];
            else
                state->bad[num_bad++] = trial->values[k];
        }
        ret_values[k] = parzen_suggest(count, space->params[k].kind != KERF_TUNE_INTEGER, state->good, num_good,
                                       state->bad, num_bad, &rng, state->work);
    }
}

static const struct trial *same_trial(const struct state *state, int32_t setting) {
    for (int32_t i = 0; i < state->num_trials; i++)
        if (state->trials[i].complete && state->trials[i].setting == setting) return &state->trials[i];
    return NULL;
}

/* Begins the next trial. One that is forbidden or known is over at once. */
static void ask(const struct kerf_tune_study *study, struct state *state) {
    const struct kerf_tune_space *space = study->space;
    struct trial *trial = &state->trials[state->num_trials];
    int32_t *values = state->values + (int64_t)state->num_trials * space->num_params;
    *trial = (struct trial){.setting = -1, .mean = INFINITY};
    if (state->num_trials == 0 && space->default_setting >= 0) {
        trial->setting = space->default_setting;
    } else {
        suggest(study, state, values);
        trial->values = values;
        trial->setting = kerf_tune_space_find(space, values);
    }
    const struct trial *before = trial->setting >= 0 ? same_trial(state, trial->setting) : NULL;
    state->num_trials++;
    state->idle = 0;
    if (before)
        complete(state, trial, before->mean);
    else if (trial->setting < 0 || !history_is_open(study, trial->setting))
        complete(state, trial, INFINITY);
}

static int32_t trials_run(const struct state *state) {
    int32_t count = 0;
    for (int32_t i = 0; i < state->num_trials; i++) count += state->trials[i].setting >= 0;
    return count;
}

static int32_t next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    struct state *state = study->state;
    (void)pending;
    (void)num_pending;
    (void)slot;
    (void)err;
    for (;;) {
        if (state->idle && (trials_run(state) >= state->wanted || state->num_trials >= state->capacity)) break;
        if (state->idle)
            ask(study, state);
        else if (state->seen < study->num_observations)
            take_observation(study, state, &study->observations[state->seen++]);
        else
            break;
    }
    if (state->idle) {
        policy_stop(ret_decision, KERF_TUNE_NOTHING_LEFT, "%d trials are over", (int)trials_run(state));
        return KERF_OK;
    }
    const struct trial *trial = &state->trials[state->num_trials - 1], *best = best_trial(state);
    double limit = best && study->question.is_time ? CUT * best->mean : 0;
    policy_measure(ret_decision, trial->setting, limit, "trial %d of %d, run %d of %d", (int)trials_run(state),
                   (int)state->wanted, (int)trial->runs + 1, CHUNKS);
    return KERF_OK;
}

static int32_t estimate(struct kerf_tune_study *study, struct kerf_tune_answer *answer, struct kerf_error *err) {
    const struct trial *best = best_trial(study->state);
    (void)err;
    if (best) answer->best = answer->recommended = best->setting;
    return KERF_OK;
}

const struct tune_policy tune_policy_best_bub = {
    .about = {"best_bub", "Parzen estimator, five runs of each setting in a row, median pruning, lowest mean",
              "best_bub; Akiba et al., Optuna, 2019"},
    .looks_at_all = 1,
    .max_observations = policy_unbounded,
    .begin = begin,
    .next = next,
    .estimate = estimate,
};
