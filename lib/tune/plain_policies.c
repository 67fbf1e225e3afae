/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies without a model, to compare with: `exhaustive` measures every setting REPEATS times in the order of the grid,
 * as a shell loop does; `random` does so with SETTINGS of them in an order drawn from the seed; `null` measures the
 * default and stops, to test everything around policies.
 */
#include <stdlib.h>
#include "base/error_fill.h"
#include "tune/param.h"
#include "tune/tune_policy.h"

enum { SETTINGS = 27, REPEATS = 5 };

/* ---- exhaustive -------------------------------------------------------------------------------------------------- */

static int32_t next_exhaustive(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                               struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    (void)slot;
    (void)err;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        int32_t runs = policy_tries(study, i, pending, num_pending); /* with failures, after which it may never work */
        if (runs >= REPEATS || !history_is_open(study, i)) continue;
        policy_measure(ret_decision, i, 0, "run %d of %d", (int)runs + 1, REPEATS);
        return KERF_OK;
    }
    policy_stop(ret_decision, KERF_TUNE_NOTHING_LEFT, "every setting was measured %d times", REPEATS);
    return KERF_OK;
}

const struct tune_policy tune_policy_exhaustive = {
    .about = {"exhaustive", "every setting five times, in order", "llama-bench"},
    .looks_at_all = 1,
    .max_observations = policy_unbounded,
    .next = next_exhaustive};

/* ---- random ------------------------------------------------------------------------------------------------------ */

/* Of a large grid the first settings are at random already. */
static int32_t begin_random(struct kerf_tune_study *study, struct kerf_error *err) {
    int32_t n = tune_space_sampled(study->space);
    int32_t *order = arena_take(&study->arena, (size_t)n, sizeof *order);
    unsigned char *taken = malloc((size_t)n);
    struct pcg64 rng = random_seed((uint64_t)study->question.seed);
    if (order && taken) random_order(&rng, n, order, taken);
    free(taken);
    study->state = order;
    return order && taken ? KERF_OK : error_no_memory(err, "a study");
}

static int32_t next_random(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                           struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    const int32_t *order = study->state;
    (void)slot;
    (void)err;
    int32_t count = study->num_open < SETTINGS ? study->num_open : SETTINGS;
    for (int32_t i = 0, used = 0; i < tune_space_sampled(study->space) && used < count; i++) {
        int32_t runs = policy_tries(study, order[i], pending, num_pending);
        if (!history_is_open(study, order[i])) continue;
        used++;
        if (runs >= REPEATS) continue;
        policy_measure(ret_decision, order[i], 0, "setting %d of %d, run %d of %d", (int)used, (int)count,
                       (int)runs + 1, REPEATS);
        return KERF_OK;
    }
    policy_stop(ret_decision, KERF_TUNE_NOTHING_LEFT, "%d setting%s measured %d times", (int)count,
                count == 1 ? " was" : "s were", REPEATS);
    return KERF_OK;
}

const struct tune_policy tune_policy_random = {
    .about = {"random", "27 settings at random, five runs each",
              "Bergstra and Bengio, Random Search for Hyper-Parameter Optimization, 2012"},
    .max_observations = policy_unbounded,
    .begin = begin_random,
    .next = next_random,
};

/* ---- null -------------------------------------------------------------------------------------------------------- */

static int32_t max_null(const struct kerf_tune_study *study) {
    (void)study;
    return 2;
}

static int32_t next_null(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                         struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    int32_t first = study->space->default_setting;
    (void)pending;
    (void)num_pending;
    (void)slot;
    (void)err;
    if (first < 0 || !history_is_open(study, first) || study->tallies[first].tries > 0)
        policy_stop(ret_decision, KERF_TUNE_NOTHING_LEFT, "this policy measures the default and nothing else");
    else
        policy_measure(ret_decision, first, 0, "the default");
    return KERF_OK;
}

const struct tune_policy tune_policy_null = {
    .about = {"null", "measures the default once, and stops", "kerf"}, .max_observations = max_null, .next = next_null};
