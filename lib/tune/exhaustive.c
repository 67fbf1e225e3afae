/* SPDX-License-Identifier: Apache-2.0 */
/* The policy `exhaustive`: every setting REPEATS times, one after the other in the order of the grid, as a shell loop.
 */
#include "tune/study.h"

enum { REPEATS = 5 };

static int32_t most(const struct kerf_tune_study *study) {
    (void)study;
    return INT32_MAX; /* it ends by itself: a setting fails, or is measured */
}

static int32_t next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    (void)slot;
    (void)err;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        int32_t runs = study->tallies[i].tries; /* failed ones, too: a setting may have worked once and never again */
        for (int32_t k = 0; k < num_pending; k++) runs += pending[k] == i;
        if (runs >= REPEATS || !tune_is_open(study, i)) continue;
        tune_measure(ret_decision, i, 0, "run %d of %d", (int)runs + 1, REPEATS);
        return KERF_OK;
    }
    tune_stop(ret_decision, KERF_TUNE_NOTHING_LEFT, "every setting was measured %d times", REPEATS);
    return KERF_OK;
}

const struct tune_policy tune_policy_exhaustive = {
    .about = {"exhaustive", "every setting five times, in order", "llama-bench"}, .most = most, .next = next};
