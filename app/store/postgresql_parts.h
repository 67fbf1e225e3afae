/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the PostgreSQL store tell each other. */
#ifndef KERF_STORE_POSTGRESQL_PARTS_H
#define KERF_STORE_POSTGRESQL_PARTS_H

#include <pthread.h>
#include "store/postgresql_library.h"
#include "store/store.h"

#define PG_JOB_COLUMNS                                                                                                 \
    "SELECT job, job_id, created_s, max_power, number_of_gpus, gpu_model, job_id_prefix, batch_sizes,"                 \
    " default_batch_size, eta_knob, beta_knob, target_metric, higher_is_better_metric, max_epochs,"                    \
    " num_pruning_rounds, window_size, mab_prior_mean, mab_prior_precision, mab_num_explorations, mab_seed, policy,"   \
    " lease_s, stage, min_cost, min_cost_batch_size, last_trial_number, trials_ended, longest_gap_s, random"           \
    " FROM kerf_job JOIN kerf_job_state USING (job)"
#define PG_TRIAL_COLUMNS                                                                                               \
    "SELECT number, batch_size, type, status, converged, lease_ended, time_s, energy_j, dispatched_s, seen_s, reason"  \
    " FROM kerf_trial"

#define PG_STATE_SETS                                                                                                  \
    "UPDATE kerf_job_state SET version=$1::bigint, stage=$2, min_cost=$3, min_cost_batch_size=$4,"                     \
    " last_trial_number=$5, trials_ended=$6, longest_gap_s=$7, random=$8 WHERE job="
/* A decision on what was assumed, in one statement: nothing happens when the version is another, or is about to be. $1
 * to $9 are those of PG_UPDATE_STATE, and $10 is the trial's number. */
#define PG_IF_SO                                                                                                       \
    "WITH so AS (" PG_STATE_SETS "(SELECT job FROM kerf_job_state WHERE job=$9 AND version=$1::bigint-1"               \
    " FOR UPDATE SKIP LOCKED) RETURNING job)"
#define PG_ARM_SETS                                                                                                    \
    " ON CONFLICT (job, batch_size) DO UPDATE SET param_mean=excluded.param_mean,"                                     \
    " param_precision=excluded.param_precision, reward_precision=excluded.reward_precision,"                           \
    " num_observations=excluded.num_observations"
#define PG_TRIAL_ENDS                                                                                                  \
    " UPDATE kerf_trial t SET status=$11, converged=$12, lease_ended=$13, time_s=$14, energy_j=$15, seen_s=$16"        \
    " FROM so WHERE t.job=so.job AND number=$10 RETURNING number"

/* X(name, SQL): prepared when a session begins. Integers are bigint and reals double precision throughout, and go over
 * the wire as they are. Every list has an order. */
#define PG_STATEMENTS(X)                                                                                               \
    X(PG_BEGIN, "BEGIN")                                                                                               \
    X(PG_BEGIN_READING, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")                                             \
    X(PG_COMMIT, "COMMIT")                                                                                             \
    X(PG_ROLLBACK, "ROLLBACK")                                                                                         \
    X(PG_PING, "SELECT 1")                                                                                             \
    X(PG_TURN, "SELECT job, version FROM kerf_job JOIN kerf_job_state s USING (job) WHERE job_id=$1 FOR UPDATE OF s")  \
    X(PG_LOCK_JOB, "SELECT version FROM kerf_job_state WHERE job=$1 FOR UPDATE")                                       \
    X(PG_VERSION, "SELECT version FROM kerf_job_state WHERE job=$1")                                                   \
    X(PG_INSERT_JOB,                                                                                                   \
      "WITH made AS (INSERT INTO kerf_job (job_id, created_s, max_power, number_of_gpus, gpu_model, job_id_prefix,"    \
      " batch_sizes, default_batch_size, eta_knob, beta_knob, target_metric, higher_is_better_metric, max_epochs,"     \
      " num_pruning_rounds, window_size, mab_prior_mean, mab_prior_precision, mab_num_explorations, mab_seed,"         \
      " policy, lease_s)"                                                                                              \
      " VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21)"                           \
      " ON CONFLICT (job_id) DO NOTHING RETURNING job)"                                                                \
      " INSERT INTO kerf_job_state (job, version, stage, min_cost, min_cost_batch_size, last_trial_number,"            \
      " trials_ended, longest_gap_s, random) SELECT job, $22::bigint, $23::bigint, $24::float8, $25::bigint,"          \
      " $26::bigint, $27::bigint, $28::float8, $29::text FROM made RETURNING job")                                     \
    X(PG_DELETE_TRIALS, "DELETE FROM kerf_trial WHERE job=$1")                                                         \
    X(PG_DELETE_COSTS, "DELETE FROM kerf_cost WHERE job=$1")                                                           \
    X(PG_FORGET_TRIAL, "DELETE FROM kerf_trial WHERE job=$1 AND number=$2")                                            \
    X(PG_KEEP_COST, "WITH gone AS (DELETE FROM kerf_trial WHERE job=$1 AND number=$2 AND status=1"                     \
                    " RETURNING job, batch_size, number, energy_j, time_s) INSERT INTO kerf_cost SELECT * FROM gone")  \
    X(PG_DELETE_ARMS, "DELETE FROM kerf_arm WHERE job=$1")                                                             \
    X(PG_DELETE_JOB, "DELETE FROM kerf_job WHERE job=$1")                                                              \
    X(PG_UPDATE_STATE, PG_STATE_SETS "$9")                                                                             \
    X(PG_NEW_TRIAL_IF_SO,                                                                                              \
      PG_IF_SO " INSERT INTO kerf_trial (job, number, batch_size, type, status, converged, lease_ended, time_s,"       \
               " energy_j, dispatched_s, seen_s, reason)"                                                              \
               " SELECT job, $10::bigint, $11::bigint, $12::bigint, $13::bigint, $14::bigint, $15::bigint,"            \
               " $16::float8, $17::float8, $18::float8, $19::float8, $20::text FROM so RETURNING number")              \
    X(PG_TRIAL_IF_SO, PG_IF_SO PG_TRIAL_ENDS)                                                                          \
    X(PG_TRIAL_AND_ARM_IF_SO,                                                                                          \
      PG_IF_SO ", arm AS (INSERT INTO kerf_arm (job, batch_size, param_mean, param_precision, reward_precision,"       \
               " num_observations)"                                                                                    \
               " SELECT job, $17::bigint, $18::float8, $19::float8, $20::float8, $21::bigint FROM so" PG_ARM_SETS      \
               ")" PG_TRIAL_ENDS)                                                                                      \
    X(PG_SEEN_IF_SO, PG_IF_SO " UPDATE kerf_trial t SET seen_s=$11 FROM so WHERE t.job=so.job AND number=$10"          \
                              " RETURNING number")                                                                     \
    X(PG_INSERT_TRIAL,                                                                                                 \
      "INSERT INTO kerf_trial (job, number, batch_size, type, status, converged, lease_ended, time_s, energy_j,"       \
      " dispatched_s, seen_s, reason) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)")                                \
    X(PG_UPDATE_TRIAL,                                                                                                 \
      "UPDATE kerf_trial SET status=$3, converged=$4, lease_ended=$5, time_s=$6, energy_j=$7, seen_s=$8"               \
      " WHERE job=$1 AND number=$2")                                                                                   \
    X(PG_EXPIRE_TRIAL, "UPDATE kerf_trial SET status=$3, lease_ended=$4 WHERE job=$1 AND number=$2")                   \
    X(PG_SEEN_TRIAL, "UPDATE kerf_trial SET seen_s=$3 WHERE job=$1 AND number=$2")                                     \
    X(PG_PUT_ARM,                                                                                                      \
      "INSERT INTO kerf_arm (job, batch_size, param_mean, param_precision, reward_precision, num_observations)"        \
      " VALUES ($1,$2,$3,$4,$5,$6)" PG_ARM_SETS)                                                                       \
    X(PG_FIND_JOB, "SELECT job, version, created_s FROM kerf_job JOIN kerf_job_state USING (job) WHERE job_id=$1")     \
    X(PG_LOAD_JOB, PG_JOB_COLUMNS " WHERE job=$1")                                                                     \
    X(PG_LIST_JOBS, PG_JOB_COLUMNS " WHERE job_id>$1 ORDER BY job_id LIMIT $2")                                        \
    X(PG_LOAD_TRIAL, PG_TRIAL_COLUMNS " WHERE job=$1 AND number=$2")                                                   \
    X(PG_LOAD_EXPLORATIONS,                                                                                            \
      PG_TRIAL_COLUMNS " WHERE job=$1 AND type=0 AND (SELECT stage FROM kerf_job_state WHERE job=$1)=0"                \
                       " ORDER BY number")                                                                             \
    X(PG_LIST_TRIALS, PG_TRIAL_COLUMNS " WHERE job=$1 AND number>$2 ORDER BY number LIMIT $3")                         \
    X(PG_LIST_NEWEST, PG_TRIAL_COLUMNS " WHERE job=$1 AND number<$2 ORDER BY number DESC LIMIT $3")                    \
    X(PG_LOAD_COSTS, /* each part by its index */                                                                      \
      "(SELECT number, energy_j, time_s FROM kerf_trial WHERE job=$1 AND batch_size=$2 AND status=1"                   \
      " ORDER BY number DESC LIMIT $3) UNION ALL"                                                                      \
      " (SELECT number, energy_j, time_s FROM kerf_cost WHERE job=$1 AND batch_size=$2"                                \
      " ORDER BY number DESC LIMIT $3) ORDER BY number DESC LIMIT $3")                                                 \
    X(PG_LOAD_ARMS,                                                                                                    \
      "SELECT batch_size, param_mean, param_precision, reward_precision, num_observations FROM kerf_arm WHERE job=$1"  \
      " ORDER BY batch_size")                                                                                          \
    X(PG_COUNT_JOBS, "SELECT count(*) FROM kerf_job_state")                                                            \
    X(PG_ADD_TOKEN, "INSERT INTO kerf_token (name, role, hash, created_s, expires_s) VALUES ($1,$2,$3,$4,$5)"          \
                    " ON CONFLICT (name) DO NOTHING RETURNING id")                                                     \
    X(PG_REVOKE_TOKEN, "DELETE FROM kerf_token WHERE name=$1 RETURNING id")                                            \
    X(PG_LIST_TOKENS, "SELECT id, name, role, hash, created_s, expires_s FROM kerf_token ORDER BY name")               \
    X(PG_GET_META, "SELECT value FROM kerf_meta WHERE key=$1")                                                         \
    X(PG_SET_META,                                                                                                     \
      "INSERT INTO kerf_meta (key, value) VALUES ($1,$2) ON CONFLICT (key) DO UPDATE SET value=excluded.value")

enum pg_statement {
#define PG_NAME(name, sql) name,
    PG_STATEMENTS(PG_NAME)
#undef PG_NAME
        PG_NUM_STATEMENTS
};

/* ---- Sessions (postgresql_session.c) ----------------------------------------------------------------------- */

/* A connection in pipeline mode, used by one thread at a time: questions are sent one after the other, and their
 * answers collected at once, so that a decision takes two round trips. */
struct pg_session {
    PGconn *connection;
    struct pg_session *next;
    int is_used;   /* it came out of the pool: the database may have gone away since */
    int is_broken; /* nothing more can be had from it */
    int sent;      /* questions without an answer yet */
    int owes_sync; /* a rollback is on its way, whose answer nobody waited for */
};

struct pg_store {
    struct store store;
    char *url;
    pthread_mutex_t lock;
    struct pg_session *idle; /* under lock, as all that follows */
    double refuses_until_s;  /* a connection just failed: the next ones would too */
    struct kerf_error refusal;
    struct store_counts counts;
    struct pg_batches *batches; /* of a server */
};

enum { PG_VALUES = 29 };

struct pg_values { /* of a statement's $1, $2, ... */
    int count;
    const char *values[PG_VALUES];
    int lengths[PG_VALUES], formats[PG_VALUES];
    unsigned char room[PG_VALUES][8];
};

void pg_add_integer(struct pg_values *values, int64_t value);
void pg_add_real(struct pg_values *values, double value); /* a NaN becomes NULL */
void pg_add_null(struct pg_values *values);
void pg_add_text(struct pg_values *values, const char *text); /* NULL: NULL */
void pg_add_wanted(struct pg_values *values,
                   const char *text); /* NULL, which nothing is equal to, where it is no UTF-8 */
void pg_add_bytes(struct pg_values *values, const void *bytes, int length);

double pg_clock_s(void); /* only goes up */
int32_t pg_connect(const char *url, int prepares, struct pg_session **ret_session, struct kerf_error *err);
void pg_disconnect(struct pg_session *session);
int32_t pg_take(struct pg_store *store, struct pg_session **ret_session, struct kerf_error *err);
/* Ends what is open in it first. NULL is fine. */
void pg_give_back(struct pg_store *store, struct pg_session *session);

/* values NULL: there are none. What goes wrong is told by pg_collect. */
void pg_send(struct pg_session *session, enum pg_statement which, const struct pg_values *values);
/* The answers to all that was sent; the first `room` of them go to ret_results, even when this fails. */
int32_t pg_collect(struct pg_session *session, PGresult **ret_results, int room, struct kerf_error *err);
void pg_clear(PGresult **results, int count);
/* One question outside of decisions, or inside of the turn's. Asked again when the database was away meanwhile. */
int32_t pg_ask(struct pg_store *store, const struct store_turn *turn, enum pg_statement which,
               const struct pg_values *values, PGresult **ret_result, struct kerf_error *err);

int pg_is_null(const PGresult *result, int row, int column);
int64_t pg_integer(const PGresult *result, int row, int column); /* 0 for NULL */
double pg_real(const PGresult *result, int row, int column, double otherwise);
const char *pg_text(const PGresult *result, int row, int column); /* NULL for NULL */

/* ---- The rest ---------------------------------------------------------------------------------------------- */

int32_t pg_migrate(PGconn *connection, struct kerf_error *err); /* postgresql_schema.c */
int32_t pg_fail(PGconn *connection, const PGresult *result, struct kerf_error *err);

/* postgresql_write.c */
int32_t pg_begin(struct store *base, const char *job_id, const struct store_turn *known, struct store_turn *ret_turn,
                 struct kerf_error *err);
int32_t pg_confirm(struct store *base, const struct store_turn *turn, int32_t *ret_is_stale, struct kerf_error *err);
void pg_cancel(struct store *base, struct store_turn *turn);
void pg_submit(struct store *base, struct store_turn *turn, struct store_write *write);

/* One statement for a decision on an assumed turn; it has no row when that was stale. */
int32_t pg_send_if_so(struct pg_session *session, const struct store_write *write, struct kerf_error *err);

/* postgresql_batch.c */
int32_t pg_batch_start(struct pg_store *store, struct kerf_error *err);
void pg_batch_stop(struct pg_store *store);
void pg_batch_add(struct pg_store *store, struct store_write *write); /* what pg_send_if_so takes */
void pg_note_queued(struct pg_store *store);
void pg_note_done(struct pg_store *store, int writes, int failed, double took_s);

/* postgresql_read.c */
int32_t pg_load_job(struct store *base, struct store_turn *turn, int32_t flags, struct kerf_job **ret_job,
                    struct kerf_error *err);
int32_t pg_load_trial(struct store *base, struct store_turn *turn, int64_t number, struct kerf_trial *ret_trial,
                      struct kerf_error *err);
int32_t pg_load_costs(struct store *base, struct store_turn *turn, const struct kerf_job_spec *spec, int64_t batch_size,
                      int64_t most, struct store_costs *ret_costs, struct kerf_error *err);
int32_t pg_find_job(struct store *base, const char *job_id, struct store_turn *ret_turn, double *ret_created_s,
                    struct kerf_error *err);
int32_t pg_list_jobs(struct store *base, const struct store_page *page, store_visit_job visit, void *context,
                     struct kerf_error *err);
int32_t pg_list_trials(struct store *base, int64_t job, const struct store_page *page, store_visit_trial visit,
                       void *context, struct kerf_error *err);
int32_t pg_count_jobs(struct store *base, int64_t *ret_count, struct kerf_error *err);

/* postgresql_token.c */
int32_t pg_add_token(struct store *base, const struct store_token *token, struct kerf_error *err);
int32_t pg_revoke_token(struct store *base, const char *name, struct kerf_error *err);
int32_t pg_list_tokens(struct store *base, store_visit_token visit, void *context, struct kerf_error *err);
int32_t pg_get_meta(struct store *base, const char *key, struct kerf_text *out, struct kerf_error *err);
int32_t pg_set_meta(struct store *base, const char *key, const char *value, struct kerf_error *err);

#endif
