/* SPDX-License-Identifier: Apache-2.0 */
/* What all policies share. */
#include "tune/tune_policy.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include "tune/param.h"

int32_t policy_unbounded(const struct kerf_tune_study *study) {
    (void)study;
    return INT32_MAX;
}

void policy_measure(struct kerf_tune_decision *ret_decision, int32_t setting, double limit, const char *format, ...) {
    va_list arguments;
    assert(setting >= 0 && limit >= 0);
    *ret_decision = (struct kerf_tune_decision){.action = KERF_TUNE_MEASURE, .setting = setting, .limit = limit};
    va_start(arguments, format);
    vsnprintf(ret_decision->reason, sizeof ret_decision->reason, format, arguments);
    va_end(arguments);
}

void policy_stop(struct kerf_tune_decision *ret_decision, int32_t stop, const char *format, ...) {
    va_list arguments;
    *ret_decision = (struct kerf_tune_decision){.action = KERF_TUNE_STOP, .setting = -1, .stop = stop};
    va_start(arguments, format);
    vsnprintf(ret_decision->reason, sizeof ret_decision->reason, format, arguments);
    va_end(arguments);
}

const char *policy_chance(double probability, char buffer[CHANCE_SIZE]) {
    assert(probability >= 0 && probability <= 1);
    snprintf(buffer, CHANCE_SIZE, "%s%.1f %%", probability > 0.999 ? ">" : "", 100 * fmin(probability, 0.999));
    return buffer;
}

int policy_is_pending(int32_t setting, const int32_t *pending, int32_t num_pending) {
    for (int32_t k = 0; k < num_pending; k++)
        if (pending[k] == setting) return 1;
    return 0;
}

int32_t policy_tries(const struct kerf_tune_study *study, int32_t setting, const int32_t *pending,
                     int32_t num_pending) {
    int32_t tries = study->tallies[setting].tries;
    for (int32_t k = 0; k < num_pending; k++) tries += pending[k] == setting;
    return tries;
}

void policy_try_anything(const struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending,
                         struct kerf_tune_decision *ret_decision) {
    struct pcg64 rng = history_random(study);
    int32_t best = -1, best_tries = INT32_MAX, ties = 0, sampled = tune_space_sampled(study->space);
    for (int32_t i = 0; i < study->num_known && (i < sampled || best < 0); i++) {
        int32_t tries = study->tallies[i].tries + policy_is_pending(i, pending, num_pending);
        if (!history_is_open(study, i)) continue;
        if (tries < best_tries) best_tries = tries, ties = 0;
        if (tries == best_tries && random_to(&rng, (uint32_t)ties++) == 0) best = i;
    }
    if (study->num_observations == 0)
        policy_measure(ret_decision, best, 0, "the first setting: nothing is known yet");
    else
        policy_measure(ret_decision, best, 0, "nothing has worked yet");
}
