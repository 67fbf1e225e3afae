/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as both databases take and give them: values, one after the other. And the columns of all tables that decisions
 * change, each said once, in the order in which statements (below) have them:
 *
 *     X(kind, name, place)    the column `name` holds `place` of the struct that the list is of; a kind that may be NULL
 *                             has two places, the first of which says whether there is a value
 *
 * SEP stands between two of them. The tables themselves are made by sqlite.c and postgresql.c, whose released
 * steps never change.
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
        const char *text; /* or bytes; owned by the caller */
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

/* ---- Statements ------------------------------------------------------------------------------------------------ */

/*
 * Those that both databases have, each said once: X(name, SQL). T is what stands before the names of tables
 * ("kerf_" in PostgreSQL), BY_COST how SQLite is told which index to use.
 *
 * ?1 is the first value. A bare ? is the one behind the last that was named, as SQLite has it; postgresql_session.c makes
 * $1 and so on of both. Each database adds statements of its own, whose numbers go on from these.
 */

/* Lists of columns as text: JOB_COLUMNS(COLUMN_NAME, ",") */
#define COLUMN_NAME(kind, name, ...)     #name
#define COLUMN_MARK(kind, name, ...)     "?"
#define COLUMN_SET(kind, name, ...)      #name "=?"
#define COLUMN_TAKE_NEW(kind, name, ...) #name "=excluded." #name

#define JOB_QUERY(T)                                                                                                   \
    "SELECT job, version," JOB_COLUMNS(COLUMN_NAME, ",") "," STATE_COLUMNS(COLUMN_NAME, ",") " FROM " T "job"          \
                                                                                             " JOIN " T                \
                                                                                             "job_state USING (job)"
#define TRIAL_QUERY(T) "SELECT reason," TRIAL_COLUMNS(COLUMN_NAME, ",") " FROM " T "trial"
#define ARM_INSERT(T)  "INSERT INTO " T "arm (job," ARM_COLUMNS(COLUMN_NAME, ",") ")"
#define ARM_REPLACES   " ON CONFLICT (job, batch_size) DO UPDATE SET " ARM_CHANGING_COLUMNS(COLUMN_TAKE_NEW, ",")

/* 1: KERF_TRIAL_SUCCEEDED, 0: KERF_TRIAL_EXPLORATION and KERF_JOB_PRUNING, as the indexes have them. Lists are
 * ordered. */
#define STORE_STATEMENTS(X, T, BY_COST)                                                                                \
    X(SQL_PING, "SELECT job FROM " T "job_state LIMIT 1")                                                              \
    X(SQL_FIND_JOB, "SELECT job, version, created_s FROM " T "job JOIN " T "job_state USING (job) WHERE job_id=?")     \
    X(SQL_LOAD_JOB, JOB_QUERY(T) " WHERE job=?")                                                                       \
    X(SQL_LIST_JOBS, JOB_QUERY(T) " WHERE job_id>? ORDER BY job_id LIMIT ?")                                           \
    X(SQL_COUNT_JOBS, "SELECT count(*) FROM " T "job_state")                                                           \
    X(SQL_LOAD_TRIAL, TRIAL_QUERY(T) " WHERE job=? AND number=?")                                                      \
    X(SQL_LIST_TRIALS, TRIAL_QUERY(T) " WHERE job=? AND number>? ORDER BY number LIMIT ?")                             \
    X(SQL_LIST_NEWEST_TRIALS, TRIAL_QUERY(T) " WHERE job=? AND number<? ORDER BY number DESC LIMIT ?")                 \
    X(SQL_LOAD_EXPLORATIONS, /* none once the job exploits */                                                          \
      TRIAL_QUERY(T) " WHERE job=?1 AND type=0 AND (SELECT stage FROM " T "job_state WHERE job=?1)=0 ORDER BY number") \
    X(SQL_LOAD_COSTS, /* each part by its index */                                                                     \
      "SELECT number, energy_j, time_s FROM (SELECT number, energy_j, time_s FROM " T "trial" BY_COST                  \
      " WHERE job=?1 AND batch_size=?2 AND status=1 ORDER BY number DESC LIMIT ?3) AS kept"                            \
      " UNION ALL SELECT number, energy_j, time_s FROM (SELECT number, energy_j, time_s FROM " T "cost"                \
      " WHERE job=?1 AND batch_size=?2 ORDER BY number DESC LIMIT ?3) AS forgotten ORDER BY number DESC LIMIT ?3")     \
    X(SQL_LIST_COSTS, "SELECT number, batch_size, energy_j, time_s FROM " T "cost WHERE job=? AND number>?"            \
                      " ORDER BY number LIMIT ?")                                                                      \
    X(SQL_LOAD_ARMS, "SELECT " ARM_COLUMNS(COLUMN_NAME, ",") " FROM " T "arm WHERE job=? ORDER BY batch_size")         \
    X(SQL_LIST_TOKENS, "SELECT name, role, hash, created_s, expires_s FROM " T "token ORDER BY name")                  \
    X(SQL_GET_META, "SELECT value FROM " T "meta WHERE key=?")                                                         \
    X(SQL_UPDATE_STATE, "UPDATE " T "job_state SET version=?," STATE_COLUMNS(COLUMN_SET, ",") " WHERE job=?")          \
    X(SQL_INSERT_TRIAL,                                                                                                \
      "INSERT INTO " T                                                                                                 \
      "trial (job, reason," TRIAL_COLUMNS(COLUMN_NAME, ",") ")"                                                        \
                                                            " VALUES (?,?," TRIAL_COLUMNS(COLUMN_MARK, ",") ")")       \
    X(SQL_UPDATE_TRIAL, "UPDATE " T "trial SET " TRIAL_CHANGING_COLUMNS(COLUMN_SET, ",") " WHERE job=? AND number=?")  \
    X(SQL_EXPIRE_TRIAL, "UPDATE " T "trial SET status=?, lease_ended=? WHERE job=? AND number=?")                      \
    X(SQL_SEE_TRIAL, "UPDATE " T "trial SET seen_s=? WHERE job=? AND number=?")                                        \
    X(SQL_KEEP_COST, "INSERT INTO " T "cost (job, batch_size, number, energy_j, time_s)"                               \
                     " SELECT job, batch_size, number, energy_j, time_s FROM " T "trial"                               \
                     " WHERE job=? AND number=? AND status=1")                                                         \
    X(SQL_FORGET_TRIAL, "DELETE FROM " T "trial WHERE job=? AND number=?")                                             \
    X(SQL_INSERT_COST, "INSERT INTO " T "cost (job, number, batch_size, energy_j, time_s) VALUES (?,?,?,?,?)")         \
    X(SQL_DELETE_ARMS, "DELETE FROM " T "arm WHERE job=?")                                                             \
    X(SQL_PUT_ARM, ARM_INSERT(T) " VALUES (?," ARM_COLUMNS(COLUMN_MARK, ",") ")" ARM_REPLACES)                         \
    X(SQL_ADD_TOKEN, /* the name of one that has expired is free again */                                              \
      "INSERT INTO " T "token (name, role, hash, created_s, expires_s) VALUES (?,?,?,?,?) ON CONFLICT (name) DO"       \
      " UPDATE SET role=excluded.role, hash=excluded.hash, created_s=excluded.created_s,"                              \
      " expires_s=excluded.expires_s WHERE " T "token.expires_s>0 AND " T "token.expires_s<=excluded.created_s"        \
      " RETURNING name")                                                                                               \
    X(SQL_REVOKE_TOKEN, "DELETE FROM " T "token WHERE name=? RETURNING name")                                          \
    X(SQL_SET_META, "INSERT INTO " T "meta (key, value) VALUES (?,?) ON CONFLICT (key) DO UPDATE SET"                  \
                    " value=excluded.value")

enum store_statement {
#define STORE_NAME(name, sql) name,
    STORE_STATEMENTS(STORE_NAME, "", "")
#undef STORE_NAME
        STORE_STATEMENTS_COUNT
};

#endif
