/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recurring jobs: which batch size the next run of a training job is to use, and when a run may stop.
 *
 * A job is trained again and again, on new data. Each run, a trial, asks for a batch size (predict), reports time,
 * energy and metric after each epoch (report), and is told when to stop. The cost of a run is
 *     eta_knob * energy + (1 - eta_knob) * max_power * time.
 * At first the job explores its sizes and prunes those that cost too much or do not converge (the stage Pruning), then a
 * bandit picks one of those that are left (MAB). The rules are those of Zeus (You et al., NSDI 2023; ml-energy/zeus,
 * zeus/optimizer/batch_size/server), to the last bit of the posteriors and the random numbers.
 *
 * What is here only decides: there is no clock, file, socket or lock in it. A job in memory, struct kerf_job, is the
 * part of a job's history that decisions need; each decision costs O(sizes), however long the history is. A service
 * does this, in one transaction under the job's lock:
 *
 *     job = the one kept from the last request, or kerf_job_create / kerf_job_restore and the calls after it
 *     kerf_job_predict, kerf_job_report, kerf_job_end or kerf_job_expire
 *     store what `changes` names, commit, answer
 *
 * A decision changes the job at once. When the commit fails, free the job and restore it from what is stored. A job
 * kept from an earlier request is good as long as nobody else changed its rows, the seen_s of running explorations
 * included.
 *
 * Tables. The service stores four kinds of rows; where each comes from:
 *     job     the spec, and kerf_job_row
 *     trial   struct kerf_trial, by job and number; made by predict, changed by the others
 *     arm     struct kerf_arm, by job and batch size; kerf_job_arms
 *     cost    none: a job's costs by size are read from its trials (kerf_job_costs_wanted); of trials that are removed
 *             they may have to be kept (kerf_job_need)
 *
 * Times are seconds since 1970 of a clock that all servers of a database share roughly; it may step back.
 * One thread at a time may use a job; different jobs are independent.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         const int64_t sizes[] = {64, 128, 256};
 *         struct kerf_job_spec spec;
 *         struct kerf_decision decision;
 *         struct kerf_text why = {0};
 *         struct kerf_error err;
 *         struct kerf_job *job;
 *         kerf_job_spec_defaults(&spec);
 *         spec.job_id = "nightly";
 *         spec.batch_sizes = sizes;
 *         spec.num_batch_sizes = 3;
 *         spec.default_batch_size = 128;
 *         spec.max_power = 300;
 *         spec.number_of_gpus = 4;
 *         spec.gpu_model = "A100";
 *         spec.job_id_prefix = "";
 *         if (kerf_job_create(&spec, 0, &job, &err) != KERF_OK) return 1;
 *         if (kerf_job_predict(job, 0, &decision, &err) != KERF_OK) return 1;
 *         kerf_job_reason_text(&decision.reason, &why);
 *         printf("%ld: %s\n", (long)decision.trial.batch_size, why.data);
 *         kerf_text_free(&why);
 *         kerf_job_free(job);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     128: exploring 128: round 1 of 2, the default
 */
#ifndef KERF_JOBS_H
#define KERF_JOBS_H

#include "kerf/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a job is ---------------------------------------------------------------------------------------- */

/** As POST /jobs has it. The first eighteen make two specs equal or not. */
struct kerf_job_spec {
    const char *job_id;        /* UTF-8, as all text */
    const char *job_id_prefix; /* "": none */
    const char *gpu_model;
    const int64_t *batch_sizes; /* ascending */
    int32_t num_batch_sizes;    /* 1 or more */
    int32_t has_beta_knob;      /* 0: runs are never stopped for their cost */
    int32_t higher_is_better_metric;
    int32_t has_mab_seed; /* 0: random numbers come from the time in seconds */
    int64_t default_batch_size;
    int64_t number_of_gpus;
    int64_t max_epochs;
    int64_t num_pruning_rounds;
    int64_t window_size; /* the newest runs of a size that count; 0 or less: all */
    int64_t mab_num_explorations;
    int64_t mab_seed;      /* 0 or more */
    double max_power;      /* watts of all GPUs together */
    double eta_knob;       /* 0 .. 1: the share of energy in the cost */
    double beta_knob;      /* a run ends when it costs more than this many times the cheapest */
    double target_metric;  /* what a run has to reach */
    double mab_prior_mean; /* of the reward, which is minus the cost */
    double mab_prior_precision;

    const char *policy; /* a name of kerf_job_policy_at; NULL: not said, "zeus" */
    double lease_s;     /* 0: not said, learnt from the job's trials */
};

/** The defaults of what POST /jobs may leave out; strings, sizes and required numbers are 0. */
KERF_API void kerf_job_spec_defaults(struct kerf_job_spec *ret_spec);

/** 1 when registering `again` is the job `known` once more: eighteen equal fields, and policy and lease_s where
 * `again` says them. */
KERF_API int32_t kerf_job_spec_same(const struct kerf_job_spec *known, const struct kerf_job_spec *again);

/** KERF_OK when kerf takes such a job. Else KERF_EINVALID, a message, and in *ret_field (may be NULL) the field at
 * fault, as POST /jobs names it: numbers that are not finite, sizes below 1 or given twice, a default that is not one of them,
 * mab_seed < 0, an unknown policy, lease_s < 0. Zeus's server takes several of these; kerf_job_create does with
 * KERF_JOB_COMPAT. */
KERF_API int32_t kerf_job_spec_check(const struct kerf_job_spec *spec, const char **ret_field, struct kerf_error *err);

KERF_API double kerf_job_cost(const struct kerf_job_spec *spec, double energy_j, double time_s);

/* ---- Policies --------------------------------------------------------------------------------------------- */

struct kerf_job_policy {
    const char *name;
    const char *summary;
    const char *source;
};

/** One after the other, the default first; NULL behind the last. */
KERF_API const struct kerf_job_policy *kerf_job_policy_at(size_t index);

/* ---- Rows ------------------------------------------------------------------------------------------------- */

enum kerf_job_stage { KERF_JOB_PRUNING, KERF_JOB_MAB, KERF_JOB_STAGES };
KERF_API const char *kerf_job_stage_name(int32_t stage); /* "Pruning", "MAB" */

/** NumPy's PCG64 between two draws: all that numpy.random.default_rng(seed).bit_generator.state says. */
struct kerf_job_random {
    uint64_t state_high, state_low;
    uint64_t increment_high, increment_low;
    uint32_t has_uint32; /* half of an earlier draw is left, in uinteger */
    uint32_t uinteger;
};

/** To and from the text that Zeus's server keeps (Python's json.dumps of bit_generator.state, to the byte). */
KERF_API void kerf_job_random_write(const struct kerf_job_random *random, struct kerf_text *out);
KERF_API int32_t kerf_job_random_read(const char *text, struct kerf_job_random *ret_random, struct kerf_error *err);

/** What the job's row holds beside its spec. */
struct kerf_job_row {
    int32_t stage; /* enum kerf_job_stage */
    int32_t has_min_cost;
    double min_cost; /* of all ended runs, converged or not */
    int64_t min_cost_batch_size;
    int64_t last_trial_number; /* 0 before the first */
    int64_t trials_ended;      /* by a report or a PATCH: what leases are learnt from */
    double longest_gap_s;      /* between a trial's dispatch, its reports and its end */
    int32_t has_random;        /* 1 with mab_seed */
    struct kerf_job_random random;
};

enum kerf_trial_type { KERF_TRIAL_EXPLORATION, KERF_TRIAL_CONCURRENT, KERF_TRIAL_MAB, KERF_TRIAL_TYPES };
enum kerf_trial_status { KERF_TRIAL_DISPATCHED, KERF_TRIAL_SUCCEEDED, KERF_TRIAL_FAILED, KERF_TRIAL_STATUSES };
KERF_API const char *kerf_trial_type_name(int32_t type);     /* "Exploration", "Concurrent", "MAB" */
KERF_API const char *kerf_trial_status_name(int32_t status); /* "Dispatched", "Succeeded", "Failed" */

struct kerf_trial {
    int64_t number; /* from 1, in the job; never twice while the job lives */
    int64_t batch_size;
    int32_t type;        /* enum kerf_trial_type */
    int32_t status;      /* enum kerf_trial_status; Succeeded: a final report came, converged or not */
    int32_t converged;   /* 1, 0, or -1 while unknown (Zeus: null) */
    int32_t lease_ended; /* 1: its lease ended before its result came; it is no exploration any more. While it is Failed
                            a result is still welcome; one that is Failed with 0 here was given up */
    double time_s;       /* of the final report; 0 before (Zeus: null unless Succeeded) */
    double energy_j;
    double dispatched_s; /* when it was dispatched */
    double seen_s;       /* its latest sign of life: dispatch or report */
};

/** One size that the bandit may pick. Precisions may be infinite, or NAN where costs were. */
struct kerf_arm {
    int64_t batch_size;
    double param_mean, param_precision; /* of the reward's mean, as known so far */
    double reward_precision;            /* of single rewards */
    int64_t num_observations;
};

/* ---- A job in memory -------------------------------------------------------------------------------------- */

struct kerf_job;

enum kerf_job_flags {
    KERF_JOB_COMPAT = 1 /* Zeus's server with its faults; without it those that lose a result, wedge a job or answer
                           500 are mended, and leases are on. docs/jobs.md lists the differences */
};

/** A job as POST /jobs makes it. The spec is copied. KERF_EINVALID as kerf_job_spec_check; with KERF_JOB_COMPAT only
 * for what Zeus's server refuses. */
KERF_API int32_t kerf_job_create(const struct kerf_job_spec *spec, int32_t flags, struct kerf_job **ret_job,
                                 struct kerf_error *err);

/** A job as it was stored. Then its explorations while in the stage Pruning, its arms in the stage MAB, both in any
 * order. */
KERF_API int32_t kerf_job_restore(const struct kerf_job_spec *spec, const struct kerf_job_row *row, int32_t flags,
                                  struct kerf_job **ret_job, struct kerf_error *err);

/** Trials of type Exploration, Dispatched or Succeeded, whose lease did not end; others are passed over. There are at
 * most a few a size. */
KERF_API int32_t kerf_job_restore_exploration(struct kerf_job *job, const struct kerf_trial *trial,
                                              struct kerf_error *err);
KERF_API int32_t kerf_job_restore_arm(struct kerf_job *job, const struct kerf_arm *arm, struct kerf_error *err);

KERF_API struct kerf_job *kerf_job_free(struct kerf_job *job); /* always NULL */
KERF_API size_t kerf_job_memory(const struct kerf_job *job);   /* bytes it holds */

KERF_API int32_t kerf_job_flags_of(const struct kerf_job *job); /* enum kerf_job_flags */
KERF_API const struct kerf_job_spec *kerf_job_spec_of(const struct kerf_job *job);
KERF_API const struct kerf_job_row *kerf_job_row_of(const struct kerf_job *job);

/** The arms, by ascending batch size; none while pruning. They stay where they are until the next decision. */
KERF_API const struct kerf_arm *kerf_job_arms(const struct kerf_job *job, int32_t *ret_count);

/**
 * How many costs of this size a report that ends a trial may need and the job does not hold: 0, most often; or the
 * window; or INT64_MAX for all. That many of the newest Succeeded trials of the size, of any type, are then given to
 * kerf_job_restore_costs before kerf_job_report, by descending trial number; count may be less when there are no more.
 * A created job holds its costs from the start. After that kerf_job_report keeps them up to date.
 */
KERF_API int64_t kerf_job_costs_wanted(const struct kerf_job *job, int64_t batch_size);
KERF_API int32_t kerf_job_restore_costs(struct kerf_job *job, int64_t batch_size, const int64_t *trial_numbers,
                                        const double *costs, int64_t count, struct kerf_error *err);

/** Forgets the costs; they are wanted again at the next report. To save memory, or when another server reported. */
KERF_API void kerf_job_forget_costs(struct kerf_job *job);

/* ---- What is needed of the past ----------------------------------------------------------------------------- */

/** How many of the newest costs of this size decisions look at, now or later: 0, the window, or INT64_MAX for all. */
KERF_API int64_t kerf_job_costs_counted(const struct kerf_job *job, int64_t batch_size);

enum kerf_job_need {
    KERF_NEED_NOTHING, /* the row may go; a repeat of its report is then answered as the service likes */
    KERF_NEED_COST,    /* number, size, time and energy, if it is among the kerf_job_costs_counted newest of its size */
    KERF_NEED_TRIAL    /* the row, as it is */
};

/** What decisions may still need of a trial, so that a service may remove old ones without changing any decision. The
 * row is needed while a result may come, also after its lease ended, and of explorations while the job is in the stage
 * Pruning. What is not needed once never is again. */
KERF_API int32_t kerf_job_need(const struct kerf_job *job, const struct kerf_trial *trial);

/* ---- Decisions -------------------------------------------------------------------------------------------- */

/** What a decision changed, for the service to store. */
enum kerf_job_changes {
    KERF_JOB_CHANGED_ROW = 1,   /* kerf_job_row_of */
    KERF_JOB_CHANGED_TRIAL = 2, /* the trial of the call: a new row after predict */
    KERF_JOB_CHANGED_ARMS = 4,  /* all of kerf_job_arms are new: stage MAB began */
    KERF_JOB_CHANGED_ARM = 8,   /* the arm of the trial's size */
    KERF_JOB_CHANGED_SEEN = 16  /* no more than the trial's seen_s, and the row's longest_gap_s: may be stored late */
};

/** How a question was answered. All but ANSWERED refuse it. */
enum kerf_job_status {
    KERF_JOB_ANSWERED,
    KERF_JOB_UNKNOWN_TRIAL,     /* the job has no such trial */
    KERF_JOB_TRIAL_FAILED,      /* a report on a trial that kerf_job_end has ended */
    KERF_JOB_INVALID_RESULT,    /* kerf_answer.invalid says which numbers are invalid */
    KERF_JOB_NOTHING_CONVERGED, /* no batch size converged: the job needs other sizes */
    KERF_JOB_WEDGED,            /* with KERF_JOB_COMPAT alone: kerf_job_fault says where Zeus's server fails */
    KERF_JOB_NO_ARM,            /* with KERF_JOB_COMPAT alone: a report in the stage MAB on a size without an arm */
    KERF_JOB_NOT_FROM_MAB,      /* with KERF_JOB_COMPAT alone: such a report on a trial of the stage Pruning */
    KERF_JOB_STATUSES_COUNT
};

/** KERF_JOB_WEDGED: where Zeus's server fails at each request. The job does not change. */
enum kerf_job_fault {
    KERF_FAULT_NONE,
    KERF_FAULT_NO_START,        /* every cost of the round before is infinite: no size begins the next round */
    KERF_FAULT_NO_ROUNDS,       /* num_pruning_rounds is 0 */
    KERF_FAULT_PARAM_MEAN,      /* an arm's param_mean would be NaN, */
    KERF_FAULT_PARAM_PRECISION, /* its param_precision, */
    KERF_FAULT_REWARD_PRECISION /* or its reward_precision */
};

/** Why a batch size was picked. */
enum kerf_job_why {
    KERF_WHY_EXPLORE_DEFAULT, /* a round begins with the default, or with the best of the round before */
    KERF_WHY_EXPLORE_DOWN,    /* the next smaller size, as the one before converged */
    KERF_WHY_EXPLORE_UP,      /* the next larger */
    KERF_WHY_CONCURRENT,      /* an exploration is still running; meanwhile the cheapest size known */
    KERF_WHY_TOO_FEW,         /* an arm with fewer observations than asked for */
    KERF_WHY_SAMPLED,         /* the highest of the rewards drawn */
    KERF_WHY_COUNT
};

struct kerf_job_reason {
    int32_t why; /* enum kerf_job_why */
    int32_t num_arms;
    int64_t batch_size;
    int64_t from;              /* EXPLORE_DOWN, EXPLORE_UP: the size before */
    int64_t round, num_rounds; /* EXPLORE_...: from 1 */
    int64_t waiting_for;       /* CONCURRENT: the trial that runs, */
    int64_t waiting_size;      /* and its size */
    int64_t observations;      /* TOO_FEW, SAMPLED: of this arm */
    int64_t wanted;            /* TOO_FEW */
    double sample;             /* SAMPLED: this arm's draw, */
    double mean;               /* around this mean, */
    int64_t second_size;       /* and the next best's; 0: there is none */
    double second_sample;
    int32_t log_scale; /* SAMPLED: 1 when rewards are minus the logarithm of the cost */
};

/** One line without a full stop: "exploring 64: round 1 of 2, down from 128 which converged". */
KERF_API void kerf_job_reason_text(const struct kerf_job_reason *reason, struct kerf_text *out);

struct kerf_decision {
    int32_t status;          /* enum kerf_job_status: ANSWERED, NOTHING_CONVERGED or WEDGED */
    int32_t changes;         /* enum kerf_job_changes; also where status is not ANSWERED */
    int32_t fault;           /* enum kerf_job_fault */
    struct kerf_trial trial; /* when ANSWERED: the new row */
    struct kerf_job_reason reason;
    const struct kerf_trial *expired; /* explorations whose lease ended, now Failed: store status and lease_ended of */
    int32_t num_expired;              /* these rows; they stay until the next call with this job */
};

/** Which batch size the next run uses. Fails with KERF_ENOMEM, and with KERF_EINVALID where the job is in the stage MAB
 * and no arm was restored. */
KERF_API int32_t kerf_job_predict(struct kerf_job *job, double now_s, struct kerf_decision *ret_decision,
                                  struct kerf_error *err);

/** As POST /report has it. */
struct kerf_report {
    int64_t batch_size;
    int64_t trial_number;
    double time_s; /* since the run began, as energy */
    double energy_j;
    double metric;
    int64_t current_epoch;
};

/** Why a run is to stop. */
enum kerf_run_end {
    KERF_END_NONE,      /* it goes on */
    KERF_END_CONVERGED, /* the metric has reached its target */
    KERF_END_EPOCHS,    /* max_epochs have passed */
    KERF_END_COST,      /* its cost is above beta_knob * min_cost */
    KERF_END_BEFORE     /* it had ended before this report */
};

/** The numbers of a report, as a set. */
enum kerf_report_number { KERF_REPORT_TIME = 1, KERF_REPORT_ENERGY = 2, KERF_REPORT_METRIC = 4 };

struct kerf_answer {
    int32_t status;  /* enum kerf_job_status */
    int32_t changes; /* enum kerf_job_changes */
    int32_t stop_train;
    int32_t converged;
    int32_t end;          /* enum kerf_run_end */
    int32_t invalid;      /* INVALID_RESULT: a set of enum kerf_report_number */
    int32_t fault;        /* enum kerf_job_fault */
    int32_t has_min_cost; /* END_COST: 1 when min_cost is known */
    double cost;          /* END_COST: of the run, */
    double min_cost;      /* and the least of the job before this report */
};

/**
 * Whether the run goes on. trial is the stored row with the report's job, number and size, and is changed in place;
 * NULL when there is none. A repeat of a final report changes nothing. Fails with KERF_ENOMEM, and with KERF_EINVALID
 * where costs were wanted and not restored.
 *
 * A trial whose lease has ended is answered like any other. Its result lowers min_cost and counts for the arm of its size;
 * as an exploration it stays failed.
 */
KERF_API int32_t kerf_job_report(struct kerf_job *job, struct kerf_trial *trial, const struct kerf_report *report,
                                 double now_s, struct kerf_answer *ret_answer, struct kerf_error *err);

/** The run was given up. trial as above; NULL answers UNKNOWN_TRIAL. A trial that has ended already does not change. */
KERF_API struct kerf_answer kerf_job_end(struct kerf_job *job, struct kerf_trial *trial, double now_s);

/**
 * Leases, off with KERF_JOB_COMPAT: how long a trial of this job may be silent before it counts as failed. It is the
 * spec's lease_s; or 24 h until three trials of the job have ended, then 5 times the longest gap seen, from 10 minutes
 * to 30 days. INFINITY when leases are off.
 */
KERF_API double kerf_job_lease_s(const struct kerf_job *job);

/** Marks the trial as failed when its lease has ended, and returns what changed (enum kerf_job_changes). No decision
 * needs it: predict and report see for themselves whose lease has ended. It is for lists that show trials. */
KERF_API int32_t kerf_job_expire(struct kerf_job *job, struct kerf_trial *trial, double now_s);

#ifdef __cplusplus
}
#endif
#endif
