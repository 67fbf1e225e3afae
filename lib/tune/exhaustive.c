/* SPDX-License-Identifier: Apache-2.0 */
/* The policy `exhaustive`: every setting REPEATS times, one after the other in the order of the grid, as a shell loop.
 */
#include "tune/tune_policy.h"

enum { REPEATS = 5 };

static int32_t next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
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
    .max_observations = policy_unbounded,
    .next = next};
