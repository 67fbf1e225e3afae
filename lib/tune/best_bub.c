/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `best_bub`: how the program best_bub searches. The default first, then suggestions of a tree-structured
 * Parzen estimator, a parameter at a time; CHUNKS runs of each setting one after the other, stopped as soon as the best
 * of them is worse than the median of the trials before at the same run, and each run at CUT times the mean of the best
 * trial; the answer is the lowest mean. Out of sqrt-like care for small grids it takes
 *
 *     v = n_1 (n_2 / 2),    trials = max(min(10, v), min(5 log2 v, v)),    suggestions <= 10 trials
 *
 * where n_1 and n_2 are the numbers of values of its two parameters. Kept as it is: a pruned trial is told to the
 * estimator as infinitely bad, a forbidden suggestion counts as a trial, a setting suggested again is answered from
 * what is known, and the default is never told to the estimator.
 *
 * Its history is worked through in the order of the observations, so that a restored study goes on as it would have.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tune/order_statistic.h"
#include "tune/parzen.h"
#include "tune/study.h"

enum { CHUNKS = 5, STARTUP = 10, ATTEMPTS = 10 };
static const double CUT = 2.5;

struct trial {
    const int32_t *values; /* of the parameters, indexes; NULL: the estimator does not learn from it */
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

static int32_t most(const struct kerf_tune_study *study) {
    (void)study;
    return INT32_MAX;
}

static int32_t begin(struct kerf_tune_study *study, struct kerf_error *err) {
    struct arena *arena = &study->arena;
    const struct kerf_tune_space *space = study->space;
    struct state *state = arena_alloc(arena, 1, sizeof *state);
    study->state = state;
    if (state == NULL) return tune_no_memory(err);
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
    return state->trials && state->values && state->good && state->bad && state->work ? KERF_OK : tune_no_memory(err);
}

/* ---- Trials ------------------------------------------------------------------------------------------------ */

static double signed_value(const struct kerf_tune_study *study, double value) {
    return study->question.maximize ? -value : value;
}

/* Median over earlier trials of what they showed at this run; NAN: none got so far. */
static double median_at(const struct state *state, int32_t run) {
    double of[2048];
    int32_t count = 0;
    for (int32_t i = 0; i + 1 < state->num_trials && count < 2048; i++)
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

static void learn(const struct kerf_tune_study *study, struct state *state, const struct kerf_tune_observation *o) {
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
    else if (trial->setting < 0 || !tune_is_open(study, trial->setting))
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
            learn(study, state, &study->observations[state->seen++]);
        else
            break;
    }
    if (state->idle) {
        tune_stop(ret_decision, KERF_TUNE_NOTHING_LEFT, "%d trials are over", (int)trials_run(state));
        return KERF_OK;
    }
    const struct trial *trial = &state->trials[state->num_trials - 1], *best = best_trial(state);
    double limit = best && study->question.is_time ? CUT * best->mean : 0;
    tune_measure(ret_decision, trial->setting, limit, "trial %d of %d, run %d of %d", (int)trials_run(state),
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
    .most = most,
    .begin = begin,
    .next = next,
    .estimate = estimate,
};
