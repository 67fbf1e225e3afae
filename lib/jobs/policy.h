/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy is: one file of functions behind this table, registered in policies.c. */
#ifndef KERF_JOBS_POLICY_H
#define KERF_JOBS_POLICY_H

#include "jobs/job.h"

/* What exploring says next: a size to run, a status other than ANSWERED, or neither: then the arms are job->good. */
struct next {
    int32_t status; /* enum kerf_job_status */
    int32_t fault;  /* enum kerf_job_fault */
    int32_t size;   /* index; -1: exploration is over */
    int32_t num_arms;
};

struct policy {
    struct kerf_job_policy about;

    /* Which size is explored next, and why. Where one runs already, ret_reason->why is CONCURRENT. */
    struct next (*explore)(struct kerf_job *job, struct kerf_job_reason *ret_reason);

    /* Fills the arms from the explorations; they are there, with no observations. */
    void (*fit)(struct kerf_job *job);

    /* Which arm runs next. Returns its index; the generator may move. */
    int32_t (*pick)(struct kerf_job *job, double now_s, struct kerf_job_reason *ret_reason);

    /* How many of a size's newest costs `learn` looks at. */
    int64_t (*costs_wanted)(const struct kerf_job *job);

    /* One more result for an arm: cost, not yet among the size's costs, which has room for one more behind them. */
    void (*learn)(struct kerf_job *job, struct kerf_arm *arm, const struct costs *costs, double cost,
                  int32_t converged);
};

const struct policy *policy_find(const char *name); /* NULL: there is none; of NULL the default */

extern const struct policy policy_zeus, policy_kerf;

/* Both policies explore this way: down from the default and then up, each until a size fails. */
struct next explore_rounds(struct kerf_job *job, struct kerf_job_reason *ret_reason);

#endif
