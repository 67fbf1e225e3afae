/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as both databases take and give them: values, one after the other. And the columns of all tables that decisions
 * change, each said once, in the order in which statements (store_sql.h) have them:
 *
 *     X(kind, name, place)    the column `name` holds `place` of the struct that the list is of; a kind that may be NULL
 *                             has two places, the first of which says whether there is a value
 *
 * SEP stands between two of them. The tables themselves are made by sqlite_schema.c and postgresql_schema.c, whose
 * released steps never change.
 */
#ifndef KERF_STORE_STORE_ROW_H
#define KERF_STORE_STORE_ROW_H

#include "kerf/jobs.h"

/* ---- Columns ------------------------------------------------------------------------------------------------ */

/* clang-format off */
/* Of the table job, which never changes. In struct job_row. */
#define JOB_COLUMNS(X, SEP)                                                          \
    X(TEXT, job_id, spec.job_id) SEP                                                 \
    X(REAL, created_s, created_s) SEP                                                \
    X(REAL, max_power, spec.max_power) SEP                                           \
    X(INTEGER, number_of_gpus, spec.number_of_gpus) SEP                              \
    X(TEXT, gpu_model, spec.gpu_model) SEP                                           \
    X(TEXT, job_id_prefix, spec.job_id_prefix) SEP                                   \
    X(SIZES, batch_sizes, spec) SEP                                                  \
    X(INTEGER, default_batch_size, spec.default_batch_size) SEP                      \
    X(REAL, eta_knob, spec.eta_knob) SEP                                             \
    X(OPTIONAL_REAL, beta_knob, spec.has_beta_knob, spec.beta_knob) SEP              \
    X(REAL, target_metric, spec.target_metric) SEP                                   \
    X(INTEGER, higher_is_better_metric, spec.higher_is_better_metric) SEP            \
    X(INTEGER, max_epochs, spec.max_epochs) SEP                                      \
    X(INTEGER, num_pruning_rounds, spec.num_pruning_rounds) SEP                      \
    X(INTEGER, window_size, spec.window_size) SEP                                    \
    X(REAL, mab_prior_mean, spec.mab_prior_mean) SEP                                 \
    X(REAL, mab_prior_precision, spec.mab_prior_precision) SEP                       \
    X(INTEGER, mab_num_explorations, spec.mab_num_explorations) SEP                  \
    X(OPTIONAL_INTEGER, mab_seed, spec.has_mab_seed, spec.mab_seed) SEP              \
    X(TEXT, policy, spec.policy) SEP                                                 \
    X(REAL, lease_s, spec.lease_s)

/* Of the table job_state, which every decision changes, beside its version. In struct job_row. */
#define STATE_COLUMNS(X, SEP)                                                        \
    X(INTEGER, stage, state.stage) SEP                                               \
    X(OPTIONAL_REAL, min_cost, state.has_min_cost, state.min_cost) SEP               \
    X(INTEGER, min_cost_batch_size, state.min_cost_batch_size) SEP                   \
    X(INTEGER, last_trial_number, state.last_trial_number) SEP                       \
    X(INTEGER, trials_ended, state.trials_ended) SEP                                 \
    X(REAL, longest_gap_s, state.longest_gap_s) SEP                                  \
    X(RANDOM, random, state.has_random, state.random)

/* Of the table trial, beside its job and its reason. In struct kerf_trial. */
#define TRIAL_COLUMNS(X, SEP)                                                        \
    X(INTEGER, number, number) SEP                                                   \
    X(INTEGER, batch_size, batch_size) SEP                                           \
    X(INTEGER, type, type) SEP                                                       \
    X(REAL, dispatched_s, dispatched_s) SEP                                          \
    TRIAL_CHANGING_COLUMNS(X, SEP)

/* Those of them that a report or an end changes. */
#define TRIAL_CHANGING_COLUMNS(X, SEP)                                               \
    X(INTEGER, status, status) SEP                                                   \
    X(YES_NO, converged, converged) SEP                                              \
    X(INTEGER, lease_ended, lease_ended) SEP                                         \
    X(RESULT, time_s, status, time_s) SEP                                            \
    X(RESULT, energy_j, status, energy_j) SEP                                        \
    X(REAL, seen_s, seen_s)

/* Of the table arm, beside its job. In struct kerf_arm. */
#define ARM_COLUMNS(X, SEP)                                                          \
    X(INTEGER, batch_size, batch_size) SEP                                           \
    ARM_CHANGING_COLUMNS(X, SEP)

/* Those of them that change. */
#define ARM_CHANGING_COLUMNS(X, SEP)                                                 \
    X(REAL_OR_NAN, param_mean, param_mean) SEP                                       \
    X(REAL_OR_NAN, param_precision, param_precision) SEP                             \
    X(REAL_OR_NAN, reward_precision, reward_precision) SEP                           \
    X(INTEGER, num_observations, num_observations)
/* clang-format on */

/* ---- Values ------------------------------------------------------------------------------------------------- */

enum value_kind { VALUE_NULL, VALUE_INTEGER, VALUE_REAL, VALUE_TEXT, VALUE_BYTES };

struct value {
    enum value_kind kind;
    int32_t length; /* VALUE_BYTES */
    union {
        int64_t integer;
        double real;
        const char *text; /* or bytes; somebody else's */
    };
};

enum { ROW_VALUES_MAX = 32 };

struct row { /* all zeros at first */
    int32_t count;
    struct value values[ROW_VALUES_MAX];
    struct kerf_text sizes, random; /* texts that were made for its values */
};

void row_clear(struct row *row); /* keeps the memory of its texts */
void row_free(struct row *row);

void row_add_null(struct row *row);
void row_add_integer(struct row *row, int64_t value);
void row_add_real(struct row *row, double value);     /* a NaN becomes NULL */
void row_add_text(struct row *row, const char *text); /* NULL becomes NULL */
void row_add_bytes(struct row *row, const void *bytes, int32_t length);

/* Text of a request, to be looked for: NULL, which nothing is equal to, where it is no UTF-8. */
void row_add_wanted(struct row *row, const char *text);

/* The value at a place; 0 and NULL where there is none. */
int64_t row_integer(const struct row *row, int32_t at);
double row_real(const struct row *row, int32_t at, double otherwise);
const char *row_text(const struct row *row, int32_t at);

/* ---- Jobs, trials and arms as rows -------------------------------------------------------------------------- */

enum { JOB_ROW_SIZES = 32 };

struct job_row { /* all zeros at first; its texts are the database's, and stay as long as its answer does */
    int64_t job, version;
    double created_s;
    struct kerf_job_spec spec;
    struct kerf_job_row state;
    int64_t *sizes, room[JOB_ROW_SIZES];
};

/* What SQL_LOAD_JOB and SQL_LIST_JOBS give. The batch sizes, one text there ("32,64,128"), are job_row_free's. */
int32_t job_row_read(const struct row *row, struct job_row *ret_job, struct kerf_error *err);
void job_row_free(struct job_row *job);

/* Each appends values in the order of its columns. KERF_ENOMEM where a text could not be made. */
int32_t row_add_job(struct row *row, const struct kerf_job *job, double created_s, struct kerf_error *err);
int32_t row_add_state(struct row *row, const struct kerf_job *job, int64_t version, struct kerf_error *err);
void row_add_trial(struct row *row, const struct kerf_trial *trial);
void row_add_trial_changes(struct row *row, const struct kerf_trial *trial);
void row_add_arm(struct row *row, const struct kerf_arm *arm);

struct kerf_trial row_trial(const struct row *row, int32_t at); /* from this place on */
struct kerf_arm row_arm(const struct row *row);

#endif
