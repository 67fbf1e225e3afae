/* SPDX-License-Identifier: Apache-2.0 */
/* The policies, each a file of its own; the first is the default. */
#include <string.h>
#include "tune/tune_policy.h"

static const struct tune_policy *const policies[] = {&tune_policy_kerf,   &tune_policy_race,    &tune_policy_exhaustive,
                                                     &tune_policy_random, &tune_policy_halving, &tune_policy_best_bub,
                                                     &tune_policy_null};
enum { POLICIES = sizeof policies / sizeof policies[0] };

const struct tune_policy *tune_policy_find(const char *name) {
    if (name == NULL) return policies[0];
    for (int i = 0; i < POLICIES; i++)
        if (strcmp(policies[i]->about.name, name) == 0) return policies[i];
    return NULL;
}

const struct kerf_tune_policy *kerf_tune_policy_at(size_t index) {
    return index < POLICIES ? &policies[index]->about : NULL;
}
