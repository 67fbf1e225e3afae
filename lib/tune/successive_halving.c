/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy `halving`: everything once, the best third twice more, the best third of that four times, and so on, each
 * round interleaved (Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization",
 * 2016, with eta = 3). A setting that failed or was stopped early is out.
 */
#include <math.h>
#include <string.h>
#include "base/error_fill.h"
#include "tune/tune_policy.h"

enum { ETA = 3 };

struct state {
    int32_t *in;              /* [count] settings of this round */
    double *mean;             /* [num_settings] over the study */
    int32_t *runs;            /* [num_settings] */
    int32_t count, round, at; /* `at` of count << round runs of this round are done */
    int32_t seen;
    int32_t over;
};

static int32_t begin(struct kerf_tune_study *study, struct kerf_error *err) {
    size_t n = (size_t)study->space->num_settings;
    struct state *state = arena_alloc(&study->arena, 1, sizeof *state);
    study->state = state;
    if (state == NULL) return error_no_memory(err, "a study");
    state->in = arena_alloc(&study->arena, n, sizeof *state->in);
    state->mean = arena_alloc(&study->arena, n, sizeof *state->mean);
    state->runs = arena_alloc(&study->arena, n, sizeof *state->runs);
    if (!state->in || !state->mean || !state->runs) return error_no_memory(err, "a study");
    state->count = (int32_t)n;
    for (int32_t i = 0; i < state->count; i++) state->in[i] = i;
    return KERF_OK;
}

/* Keeps the best third, at least one, of the settings that did not fail and were not stopped: selection by
 * insertion. */
static void next_round(struct state *state, double sign) {
    int32_t keep = (state->count + ETA - 1) / ETA, alive = 0;
    for (int32_t i = 0; i < state->count; i++)
        if (!isnan(state->mean[state->in[i]])) state->in[alive++] = state->in[i];
    for (int32_t i = 1; i < alive; i++) {
        int32_t setting = state->in[i], j = i;
        for (; j > 0 && sign * state->mean[state->in[j - 1]] > sign * state->mean[setting]; j--)
            state->in[j] = state->in[j - 1];
        state->in[j] = setting;
    }
    state->over = keep <= 1 || alive == 0;
    state->count = alive < keep ? alive : keep;
    state->at = 0;
    state->round++;
}

static void take_observation(struct state *state, const struct kerf_tune_observation *o) {
    double *mean = &state->mean[o->setting];
    if (o->disturbed || o->warmup) return;
    if (o->outcome == KERF_TUNE_VALUE)
        *mean += (o->value - *mean) / ++state->runs[o->setting];
    else
        *mean = NAN;
    state->at++;
}

static int32_t next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    struct state *state = study->state;
    double sign = study->question.maximize ? -1 : 1;
    (void)pending;
    (void)slot;
    (void)err;
    for (;;) {
        if (!state->over && state->at >= state->count << state->round) {
            next_round(state, sign);
        } else if (!state->over && !history_is_open(study, state->in[state->at % state->count])) {
            state->mean[state->in[state->at % state->count]] = NAN;
            state->at++;
        } else if (state->seen < study->num_observations) {
            take_observation(state, &study->observations[state->seen++]);
        } else {
            break;
        }
    }
    if (state->over) {
        policy_stop(ret_decision, KERF_TUNE_NOTHING_LEFT, "%d rounds are over", (int)state->round);
        return KERF_OK;
    }
    int32_t at = state->at + num_pending, runs = state->count << state->round;
    policy_measure(ret_decision, state->in[(at < runs ? at : runs - 1) % state->count], 0, "round %d of %d settings",
                   (int)state->round + 1, (int)state->count);
    if (!history_is_open(study, ret_decision->setting)) ret_decision->setting = state->in[state->at % state->count];
    return KERF_OK;
}

const struct tune_policy tune_policy_halving = {
    .about = {"halving", "everything once, the best third twice more, the best third of that four times, ...",
              "Jamieson and Talwalkar, Non-stochastic Best Arm Identification, 2016"},
    .looks_at_all = 1,
    .max_observations = policy_unbounded,
    .begin = begin,
    .next = next,
};
