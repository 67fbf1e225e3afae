/* SPDX-License-Identifier: Apache-2.0 */
/* A job in memory - sizes with their explorations and costs, arms, leases -, and the table of functions that a policy
 * is. All files of this room share it. */
#ifndef KERF_JOBS_JOB_STATE_H
#define KERF_JOBS_JOB_STATE_H

#include "base/arena.h"
#include "base/random.h"
#include "kerf/jobs.h"

/* ---- Costs ----------------------------------------------------------------------------------------------------- */

/*
 * The costs of a size's ended trials, packed and by descending trial number, which is the order in which the reference
 * adds them up. New ones come in front, so that is where the spare room is; one place is kept free behind the last.
 */
struct costs {
    int32_t held; /* 0: not in memory */
    int64_t start, count, room;
    double *cost;     /* [room + 1]; cost[start .. start + count - 1] are there */
    uint32_t *number; /* [room + 1] */
};

#define COSTS_ALL INT64_MAX

/* Room for one more; so that costs_insert cannot fail. */
int32_t costs_reserve(struct costs *costs, int64_t more, struct kerf_error *err);

/* Puts a cost in its place and forgets what is older than the `most` newest. */
void costs_insert(struct costs *costs, int64_t number, double cost, int64_t most);
void costs_forget(struct costs *costs);

static inline double *costs_newest(const struct costs *costs) { return costs->cost + costs->start; }

/* ---- A job ----------------------------------------------------------------------------------------------------- */

struct exploration { /* a trial of type Exploration that did not fail */
    int64_t trial;
    double cost;   /* once it ended */
    double seen_s; /* while it runs */
    int32_t running;
    int32_t converged;
};

struct size {
    int64_t batch_size;
    struct exploration *explorations; /* by ascending trial number; the r-th is of round r */
    int32_t num_explorations, room;
    int32_t arm;        /* index among the arms, -1: none */
    struct costs costs; /* of the ended trials of this size */
};

struct policy;

struct kerf_job {
    struct arena arena; /* the spec's text, and all arrays by size */
    struct kerf_job_spec spec;
    struct kerf_job_row row;
    const struct policy *policy;
    int32_t compat;
    int32_t num_arms;
    struct size *sizes;    /* [spec.num_batch_sizes], ascending */
    struct kerf_arm *arms; /* [num_arms], ascending; room for every size */

    /* Room to work in, one for each size. */
    int32_t *alive, *good, *order;
    unsigned char *taken;
    struct kerf_trial *expired; /* told in the last decision */
    int32_t num_expired, room_expired;
    double *window; /* for a fit of the newest costs */
    int64_t room_window;
};

/* ---- Policies ----------------------------------------------------------------------------------------------- */

/* What exploring says next: a size to run, a status other than ANSWERED, or neither: then the arms are job->good. */
struct next {
    int32_t status; /* enum kerf_job_status */
    int32_t fault;  /* enum kerf_job_fault */
    int32_t size;   /* index; -1: exploration is over */
    int32_t num_arms;
};

/* A file of functions behind this table, registered in job_spec.c. */
struct policy {
    struct kerf_job_policy about;

    /* Which size is explored next, and why. Where one runs already, ret_reason->why is CONCURRENT. */
    struct next (*explore)(struct kerf_job *job, struct kerf_job_reason *ret_reason);

    /* Fills the arms from the explorations; they are there, with no observations. */
    void (*fit)(struct kerf_job *job);

    /* Fills what arms have from each other, after one was restored. NULL: nothing. */
    void (*settle)(struct kerf_job *job);

    /* Which arm runs next. Returns its index; the generator may move. */
    int32_t (*pick)(struct kerf_job *job, double now_s, struct kerf_job_reason *ret_reason);

    /* How many of a size's newest costs `learn` looks at. */
    int64_t (*costs_wanted)(const struct kerf_job *job);

    /* One more result for an arm: cost, not yet among the size's costs, which has room for one more behind them. */
    void (*learn)(struct kerf_job *job, struct kerf_arm *arm, const struct costs *costs, double cost,
                  int32_t converged);
};

extern const struct policy policy_zeus, policy_kerf; /* job_spec.c lists them */

/* ---- What a job has ------------------------------------------------------------------------------------------ */

/* The place of a size; -1: the job does not have it. */
int32_t job_find_size(const struct kerf_job *job, int64_t batch_size);

/* The job's generator. Without a seed it is that of the second, as the reference has it, or, where faults are mended, of the
 * second and the trial. */
struct pcg64 job_random(const struct kerf_job *job, double now_s);
void job_keep_random(struct kerf_job *job, const struct pcg64 *rng);

/* The exploration that this trial is, if it is one that counts and runs. */
struct exploration *job_running_exploration(struct kerf_job *job, int64_t batch_size, int64_t trial);
int32_t job_reserve_exploration(struct kerf_job *job, int32_t size, struct kerf_error *err); /* room for one more */
void job_add_exploration(struct kerf_job *job, int32_t size, const struct exploration *exploration);
void job_drop_exploration(struct kerf_job *job, int64_t batch_size, int64_t trial);

/* Room for so many costs in job->window. */
int32_t job_reserve_window(struct kerf_job *job, int64_t count, struct kerf_error *err);

/* Begins the stage MAB with these sizes as arms, whose numbers the policy fills in. */
void job_begin_arms(struct kerf_job *job, const int32_t *sizes, int32_t count);
void job_drop_arms(struct kerf_job *job); /* back to the stage Pruning */

/* With compat: whether the reference could not store this arm, as its columns take no NaN. enum kerf_job_fault. */
int32_t job_fault_of_arm(const struct kerf_job *job, const struct kerf_arm *arm);

/* ---- What decisions do with leases (leases.c); kerf/jobs.h says what they are ---------------------------------- */

int32_t lease_is_over(const struct kerf_job *job, double seen_s, double now_s);
void lease_note_sign_of_life(struct kerf_job *job, struct kerf_trial *trial, double now_s);

/* Drops the explorations whose lease has ended, and lists them in job->expired. */
int32_t lease_end_explorations(struct kerf_job *job, double now_s, struct kerf_error *err);

/* ---- The policies there are (job_spec.c) ---------------------------------------------------------------------- */

const struct policy *policy_find(const char *name); /* NULL: there is none; of NULL the default */

#endif
