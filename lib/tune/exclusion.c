/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a failure rules out. Out of memory: the setting, and all that have no integer smaller and the same choices, as
 * memory grows with every integer there is (batch, micro-batch, layers on the accelerator, threads). A load or a run
 * that hangs: the setting, as it is not worth another time-out. Anything else: the setting, once it has failed TWICE
 * and never worked.
 */
#include "tune/exclusion.h"

enum { TWICE = 2 };

int dominates(const struct kerf_tune_space *space, int32_t a, int32_t b) {
    const int32_t *of_a = space->values + (int64_t)a * space->num_params;
    const int32_t *of_b = space->values + (int64_t)b * space->num_params;
    for (int32_t k = 0; k < space->num_params; k++) {
        int ordered = space->params[k].kind == KERF_TUNE_INTEGER;
        if (ordered ? of_a[k] < of_b[k] : of_a[k] != of_b[k]) return 0;
    }
    return 1;
}

void exclude(struct kerf_tune_study *study, int32_t setting, const char *reason) {
    struct tally *tally = &study->tallies[setting];
    if (tally->skipped == NULL) study->num_open--;
    if (tally->skipped == NULL) tally->skipped = reason;
}

static void exclude_larger(struct kerf_tune_study *study, int32_t setting) {
    char words[120];
    const char *reason = arena_printf(&study->arena, "needs no less memory than %s, for which there was too little",
                                      tune_words(study, setting, words, sizeof words));
    exclude(study, setting, "out of memory");
    for (int32_t i = 0; i < study->space->num_settings; i++)
        if (dominates(study->space, i, setting) && study->tallies[i].values == 0)
            exclude(study, i, reason ? reason : "needs too much memory");
}

void exclude_after_failure(struct kerf_tune_study *study, const struct kerf_tune_observation *failed) {
    const struct tally *tally = &study->tallies[failed->setting];
    switch (failed->failure) {
    case KERF_TUNE_FAILURE_MEMORY: exclude_larger(study, failed->setting); return;
    case KERF_TUNE_FAILURE_LOAD: exclude(study, failed->setting, "was not ready in time"); return;
    case KERF_TUNE_FAILURE_HANG: exclude(study, failed->setting, "gave no answer in time"); return;
    default: break;
    }
    if (tally->failed < TWICE || tally->values + tally->censored > 0) return;
    const char *word = kerf_tune_failure_word(failed->failure);
    const char *reason = arena_printf(&study->arena, "failed twice (%s)", word);
    exclude(study, failed->setting, reason ? reason : "failed twice");
}
