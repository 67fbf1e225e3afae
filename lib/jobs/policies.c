/* SPDX-License-Identifier: Apache-2.0 */
/* The policies, each a file of its own; the first is the default. */
#include "jobs/policies.h"

#include <string.h>

static const struct policy *const policies[] = {&policy_zeus, &policy_kerf};
enum { POLICIES = sizeof policies / sizeof policies[0] };

const struct policy *policy_find(const char *name) {
    if (name == NULL) return policies[0];
    for (int i = 0; i < POLICIES; i++)
        if (strcmp(policies[i]->about.name, name) == 0) return policies[i];
    return NULL;
}

const struct kerf_job_policy *kerf_job_policy_at(size_t index) {
    return index < POLICIES ? &policies[index]->about : NULL;
}
