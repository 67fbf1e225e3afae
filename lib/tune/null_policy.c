/* SPDX-License-Identifier: Apache-2.0 */
/* The policy `null`: stops at once, or measures the default and stops. It tests what is around policies. */
#include "tune/tune_policy.h"

static int32_t max_observations(const struct kerf_tune_study *study) {
    (void)study;
    return 2;
}

static int32_t next(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
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

const struct tune_policy tune_policy_null = {.about = {"null", "measures the default once, and stops", "kerf"},
                                             .max_observations = max_observations,
                                             .next = next};
