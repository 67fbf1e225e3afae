/* SPDX-License-Identifier: Apache-2.0 */
/* The policies, each a file of its own; the first is the default. And the names of stages, types and statuses. */
#include <string.h>
#include "jobs/policy.h"

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

static const char *name_at(const char *const *names, int32_t count, int32_t index) {
    return index >= 0 && index < count ? names[index] : "?";
}

const char *kerf_job_stage_name(int32_t stage) {
    static const char *const names[] = {"Pruning", "MAB"};
    return name_at(names, KERF_JOB_STAGES, stage);
}

const char *kerf_trial_type_name(int32_t type) {
    static const char *const names[] = {"Exploration", "Concurrent", "MAB"};
    return name_at(names, KERF_TRIAL_TYPES, type);
}

const char *kerf_trial_status_name(int32_t status) {
    static const char *const names[] = {"Dispatched", "Succeeded", "Failed"};
    return name_at(names, KERF_TRIAL_STATUSES, status);
}

void kerf_job_random_write(const struct kerf_job_random *random, struct kerf_text *out) {
    struct pcg64 rng = {(unsigned __int128)random->state_high << 64 | random->state_low,
                        (unsigned __int128)random->increment_high << 64 | random->increment_low, random->has_uint32,
                        random->uinteger};
    random_write(&rng, out);
}

int32_t kerf_job_random_read(const char *text, struct kerf_job_random *ret_random, struct kerf_error *err) {
    struct pcg64 rng;
    int32_t code = random_read(text, &rng, err);
    if (code != KERF_OK) return code;
    *ret_random =
        (struct kerf_job_random){(uint64_t)(rng.state >> 64), (uint64_t)rng.state, (uint64_t)(rng.increment >> 64),
                                 (uint64_t)rng.increment,     rng.has_uint32,      rng.uinteger};
    return KERF_OK;
}
