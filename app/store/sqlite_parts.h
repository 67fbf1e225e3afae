/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the SQLite store tell each other. */
#ifndef KERF_STORE_SQLITE_PARTS_H
#define KERF_STORE_SQLITE_PARTS_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include "store/store.h"

/* X(name, SQL): prepared once a session, on first use. */
#define SQLITE_STATEMENTS(X)                                                                                           \
    X(SQL_BEGIN, "BEGIN IMMEDIATE")                                                                                    \
    X(SQL_COMMIT, "COMMIT")                                                                                            \
    X(SQL_ROLLBACK, "ROLLBACK")                                                                                        \
    X(SQL_PING, "SELECT 1 FROM job_state LIMIT 1")                                                                     \
    X(SQL_INSERT_JOB,                                                                                                  \
      "INSERT INTO job (job_id, created_s, max_power, number_of_gpus, gpu_model, job_id_prefix, batch_sizes,"          \
      " default_batch_size, eta_knob, beta_knob, target_metric, higher_is_better_metric, max_epochs,"                  \
      " num_pruning_rounds, window_size, mab_prior_mean, mab_prior_precision, mab_num_explorations, mab_seed,"         \
      " policy, lease_s) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21)"          \
      " ON CONFLICT (job_id) DO NOTHING")                                                                              \
    X(SQL_DELETE_JOB, "UPDATE job SET job_id=NULL WHERE job=?1")                                                       \
    X(SQL_DELETE_STATE, "DELETE FROM job_state WHERE job=?1")                                                          \
    X(SQL_FIND_DELETED, "SELECT job FROM job WHERE job_id IS NULL LIMIT 1")                                            \
    X(SQL_PURGE_TRIALS, "DELETE FROM trial WHERE job=?1 AND number<=(SELECT max(number) FROM"                          \
                        " (SELECT number FROM trial WHERE job=?1 ORDER BY number LIMIT 500))")                         \
    X(SQL_PURGE_COSTS, "DELETE FROM cost WHERE job=?1 AND (batch_size, number) IN"                                     \
                       " (SELECT batch_size, number FROM cost WHERE job=?1 LIMIT 500)")                                \
    X(SQL_KEEP_COST, "INSERT INTO cost SELECT job, batch_size, number, energy_j, time_s FROM trial"                    \
                     " WHERE job=?1 AND number=?2 AND status=1")                                                       \
    X(SQL_FORGET_TRIAL, "DELETE FROM trial WHERE job=?1 AND number=?2")                                                \
    X(SQL_PURGE_JOB, "DELETE FROM job WHERE job=?1")                                                                   \
    X(SQL_INSERT_STATE,                                                                                                \
      "INSERT INTO job_state (version, stage, min_cost, min_cost_batch_size, last_trial_number, trials_ended,"         \
      " longest_gap_s, random, job) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)")                                              \
    X(SQL_UPDATE_STATE,                                                                                                \
      "UPDATE job_state SET version=?1, stage=?2, min_cost=?3, min_cost_batch_size=?4, last_trial_number=?5,"          \
      " trials_ended=?6, longest_gap_s=?7, random=?8 WHERE job=?9")                                                    \
    X(SQL_INSERT_TRIAL,                                                                                                \
      "INSERT INTO trial (job, number, batch_size, type, status, converged, lease_ended, time_s, energy_j,"            \
      " dispatched_s, seen_s, reason) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)")                                \
    X(SQL_UPDATE_TRIAL, "UPDATE trial SET status=?3, converged=?4, lease_ended=?5, time_s=?6, energy_j=?7, seen_s=?8"  \
                        " WHERE job=?1 AND number=?2")                                                                 \
    X(SQL_EXPIRE_TRIAL, "UPDATE trial SET status=?3, lease_ended=?4 WHERE job=?1 AND number=?2")                       \
    X(SQL_SEEN_TRIAL, "UPDATE trial SET seen_s=?3 WHERE job=?1 AND number=?2")                                         \
    X(SQL_PUT_ARM,                                                                                                     \
      "INSERT INTO arm (job, batch_size, param_mean, param_precision, reward_precision, num_observations)"             \
      " VALUES (?1,?2,?3,?4,?5,?6) ON CONFLICT (job, batch_size) DO UPDATE SET param_mean=excluded.param_mean,"        \
      " param_precision=excluded.param_precision, reward_precision=excluded.reward_precision,"                         \
      " num_observations=excluded.num_observations")                                                                   \
    X(SQL_DELETE_ARMS, "DELETE FROM arm WHERE job=?1")                                                                 \
    X(SQL_FIND_JOB, "SELECT job, version, created_s FROM job JOIN job_state USING (job) WHERE job_id=?1")              \
    X(SQL_LOAD_JOB, SQLITE_JOB_COLUMNS " WHERE job=?1")                                                                \
    X(SQL_LIST_JOBS, SQLITE_JOB_COLUMNS " WHERE job_id>?1 ORDER BY job_id LIMIT ?2")                                   \
    X(SQL_LOAD_TRIAL, SQLITE_TRIAL_COLUMNS " WHERE job=?1 AND number=?2")                                              \
    X(SQL_LOAD_EXPLORATIONS, SQLITE_TRIAL_COLUMNS " WHERE job=?1 AND type=0 ORDER BY number")                          \
    X(SQL_LIST_TRIALS, SQLITE_TRIAL_COLUMNS " WHERE job=?1 AND number>?2 ORDER BY number LIMIT ?3")                    \
    X(SQL_LIST_NEWEST, SQLITE_TRIAL_COLUMNS " WHERE job=?1 AND number<?2 ORDER BY number DESC LIMIT ?3")               \
    X(SQL_LOAD_COSTS, "SELECT number, energy_j, time_s FROM trial INDEXED BY trial_cost"                               \
                      " WHERE job=?1 AND batch_size=?2 AND status=1"                                                   \
                      " UNION ALL SELECT number, energy_j, time_s FROM cost WHERE job=?1 AND batch_size=?2"            \
                      " ORDER BY number DESC LIMIT ?3")                                                                \
    X(SQL_LOAD_ARMS,                                                                                                   \
      "SELECT batch_size, param_mean, param_precision, reward_precision, num_observations FROM arm WHERE job=?1"       \
      " ORDER BY batch_size")                                                                                          \
    X(SQL_COUNT_JOBS, "SELECT count(*) FROM job_state")                                                                \
    X(SQL_ADD_TOKEN, "INSERT INTO token (name, role, hash, created_s, expires_s) VALUES (?1,?2,?3,?4,?5)")             \
    X(SQL_REVOKE_TOKEN, "DELETE FROM token WHERE name=?1")                                                             \
    X(SQL_LIST_TOKENS, "SELECT id, name, role, hash, created_s, expires_s FROM token ORDER BY name")                   \
    X(SQL_GET_META, "SELECT value FROM meta WHERE key=?1")                                                             \
    X(SQL_SET_META, "INSERT INTO meta (key, value) VALUES (?1,?2) ON CONFLICT (key) DO UPDATE SET "                    \
                    "value=excluded.value")

#define SQLITE_JOB_COLUMNS                                                                                             \
    "SELECT job, job_id, created_s, max_power, number_of_gpus, gpu_model, job_id_prefix, batch_sizes,"                 \
    " default_batch_size, eta_knob, beta_knob, target_metric, higher_is_better_metric, max_epochs,"                    \
    " num_pruning_rounds, window_size, mab_prior_mean, mab_prior_precision, mab_num_explorations, mab_seed, policy,"   \
    " lease_s, stage, min_cost, min_cost_batch_size, last_trial_number, trials_ended, longest_gap_s, random"           \
    " FROM job JOIN job_state USING (job)"
#define SQLITE_TRIAL_COLUMNS                                                                                           \
    "SELECT number, batch_size, type, status, converged, lease_ended, time_s, energy_j, dispatched_s, seen_s, reason"  \
    " FROM trial"

enum sqlite_statement {
#define SQLITE_NAME(name, sql) name,
    SQLITE_STATEMENTS(SQLITE_NAME)
#undef SQLITE_NAME
        SQLITE_NUM_STATEMENTS
};

/* A connection, used by one thread at a time. */
struct sqlite_session {
    sqlite3 *db;
    sqlite3_stmt *statements[SQLITE_NUM_STATEMENTS];
    struct sqlite_session *next;
};

struct sqlite_checkpoint {
    struct sqlite_session session; /* the thread's own */
    sqlite3 *writer;
    pthread_t thread;
    int has_thread;
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    int is_wanted, is_over;
    int is_moved; /* the thread is done, the writer's turn */
};

struct sqlite_store {
    struct store store;
    char *path;
    int lock; /* held by the one server of this file */

    pthread_mutex_t readers_lock;
    struct sqlite_session *readers; /* those that nobody uses now */

    struct sqlite_session writer; /* the thread's own */
    struct kerf_text random;      /* the writer's room */
    struct sqlite_checkpoint checkpoint;
    pthread_t thread;
    int has_thread;
    pthread_mutex_t queue_lock;
    pthread_cond_t queue_filled;
    struct store_write *first, **last;
    int stopping;
    int purges;                 /* the writer's own: deleted jobs may have left something */
    struct store_counts counts; /* under queue_lock */
};

/* The database's words in err; KERF_EIO. */
int32_t sqlite_fail(sqlite3 *db, struct kerf_error *err);
int32_t sqlite_run(sqlite3 *db, const char *sql, struct kerf_error *err);
int32_t sqlite_check(sqlite3 *db, const char *path, struct kerf_error *err); /* whether it is one of kerf's */
int32_t sqlite_migrate(sqlite3 *db, const char *path, struct kerf_error *err);

/* sqlite.c */
int32_t sqlite_connect(const char *path, int writes, struct sqlite_session *ret_session, struct kerf_error *err);
void sqlite_disconnect(struct sqlite_session *session);
/* Ready to be bound; NULL with err set. */
sqlite3_stmt *sqlite_statement(struct sqlite_session *session, enum sqlite_statement which, struct kerf_error *err);
/* Runs a statement that gives no rows, and makes it ready for its next use. */
int32_t sqlite_finish(struct sqlite_session *session, sqlite3_stmt *statement, struct kerf_error *err);
struct sqlite_session *sqlite_reader(struct sqlite_store *store, struct kerf_error *err);
void sqlite_give_back(struct sqlite_store *store, struct sqlite_session *reader);

/* sqlite_checkpoint.c */
int32_t sqlite_start_checkpoint(struct sqlite_checkpoint *checkpoint, const char *path, sqlite3 *writer,
                                struct kerf_error *err);
void sqlite_stop_checkpoint(struct sqlite_checkpoint *checkpoint);

/* sqlite_write.c */
int32_t sqlite_start_writer(struct sqlite_store *store, struct kerf_error *err);
void sqlite_stop_writer(struct sqlite_store *store);
void sqlite_submit(struct store *store, struct store_turn *turn, struct store_write *write);
int32_t sqlite_apply(struct sqlite_session *session, struct kerf_text *room, struct store_write *write,
                     struct kerf_error *err); /* sqlite_apply.c */

/* sqlite_purge.c: removes a piece of what deleted jobs left; 0 when there is none, or when it could not. */
int sqlite_purge(struct sqlite_session *session);

/* sqlite_backup.c */
int32_t sqlite_backup(const char *path, const char *to, int32_t overwrites, kerf_progress progress, void *context,
                      struct kerf_error *err);

/* sqlite_read.c */
int32_t sqlite_load_job(struct store *store, struct store_turn *turn, int32_t flags, struct kerf_job **ret_job,
                        struct kerf_error *err);
int32_t sqlite_load_trial(struct store *store, struct store_turn *turn, int64_t number, struct kerf_trial *ret_trial,
                          struct kerf_error *err);
int32_t sqlite_load_costs(struct store *store, struct store_turn *turn, const struct kerf_job_spec *spec,
                          int64_t batch_size, int64_t most, struct store_costs *ret_costs, struct kerf_error *err);
int32_t sqlite_find_job(struct store *store, const char *job_id, struct store_turn *ret_turn, double *ret_created_s,
                        struct kerf_error *err);
int32_t sqlite_list_jobs(struct store *store, const struct store_page *page, store_visit_job visit, void *context,
                         struct kerf_error *err);
int32_t sqlite_list_trials(struct store *store, int64_t job, const struct store_page *page, store_visit_trial visit,
                           void *context, struct kerf_error *err);
int32_t sqlite_count_jobs(struct store *store, int64_t *ret_count, struct kerf_error *err);

/* sqlite_token.c */
int32_t sqlite_add_token(struct store *store, const struct store_token *token, struct kerf_error *err);
int32_t sqlite_revoke_token(struct store *store, const char *name, struct kerf_error *err);
int32_t sqlite_list_tokens(struct store *store, store_visit_token visit, void *context, struct kerf_error *err);
int32_t sqlite_get_meta(struct store *store, const char *key, struct kerf_text *out, struct kerf_error *err);
int32_t sqlite_set_meta(struct store *store, const char *key, const char *value, struct kerf_error *err);

#endif
