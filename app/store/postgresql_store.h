/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the PostgreSQL store share: sessions (postgresql_session.c) and the writer (postgresql_writer.c).
 */
#ifndef KERF_STORE_POSTGRESQL_STORE_H
#define KERF_STORE_POSTGRESQL_STORE_H

#include <libpq-fe.h>
#include <pthread.h>
#include "store/store.h"

/* ---- libpq -------------------------------------------------------------------------------------------------- */

/* It is opened on first use: with all it needs, it would slow down every start of kerf. X(name): PQname */
#define LIBPQ_FUNCTIONS(X)                                                                                             \
    X(clear)                                                                                                           \
    X(cmdTuples)                                                                                                       \
    X(conninfoFree)                                                                                                    \
    X(conninfoParse)                                                                                                   \
    X(consumeInput)                                                                                                    \
    X(connectdbParams)                                                                                                 \
    X(enterPipelineMode)                                                                                               \
    X(errorMessage)                                                                                                    \
    X(exec)                                                                                                            \
    X(execParams)                                                                                                      \
    X(finish)                                                                                                          \
    X(ftype)                                                                                                           \
    X(getResult)                                                                                                       \
    X(getisnull)                                                                                                       \
    X(getlength)                                                                                                       \
    X(getvalue)                                                                                                        \
    X(isBusy)                                                                                                          \
    X(nfields)                                                                                                         \
    X(ntuples)                                                                                                         \
    X(pipelineSync)                                                                                                    \
    X(resultErrorField)                                                                                                \
    X(resultStatus)                                                                                                    \
    X(sendPrepare)                                                                                                     \
    X(sendQueryPrepared)                                                                                               \
    X(setNoticeProcessor)                                                                                              \
    X(socket)                                                                                                          \
    X(status)                                                                                                          \
    X(transactionStatus)

struct libpq {
#define LIBPQ_FIELD(name) __typeof__(&PQ##name) name;
    LIBPQ_FUNCTIONS(LIBPQ_FIELD)
#undef LIBPQ_FIELD
};

extern struct libpq pq; /* after libpq_open */
int32_t libpq_open(struct kerf_error *err);

/* ---- Statements --------------------------------------------------------------------------------------------- */

/* Values that are selected need a type. */
#define PG_TYPE_TEXT             "text"
#define PG_TYPE_REAL             "float8"
#define PG_TYPE_REAL_OR_NAN      "float8"
#define PG_TYPE_INTEGER          "bigint"
#define PG_TYPE_OPTIONAL_REAL    "float8"
#define PG_TYPE_OPTIONAL_INTEGER "bigint"
#define PG_TYPE_YES_NO           "bigint"
#define PG_TYPE_RESULT           "float8"
#define PG_TYPE_SIZES            "text"
#define PG_TYPE_RANDOM           "text"
#define PG_MARK(kind, name, ...) "?::" PG_TYPE_##kind

/* A decision on what was assumed, in one statement: nothing happens when the version is another, or is about to be. Its
 * values begin as those of SQL_UPDATE_STATE. */
#define PG_IF_SO                                                                                                       \
    "WITH so AS (UPDATE kerf_job_state SET version=?1::bigint," STATE_COLUMNS(                                         \
        COLUMN_SET,                                                                                                    \
        ",") " WHERE job=(SELECT job FROM kerf_job_state WHERE job=? AND version=?1::bigint-1 FOR UPDATE SKIP LOCKED)" \
             " RETURNING job)"
#define PG_TRIAL_ENDS                                                                                                  \
    " UPDATE kerf_trial t SET " TRIAL_CHANGING_COLUMNS(                                                                \
        COLUMN_SET, ",") " FROM so WHERE t.job=so.job AND number=? RETURNING number"

/* X(name, SQL): beside those of store_row.h. */
#define PG_STATEMENTS(X)                                                                                               \
    X(PG_BEGIN, "BEGIN")                                                                                               \
    X(PG_BEGIN_READING, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")                                             \
    X(PG_COMMIT, "COMMIT")                                                                                             \
    X(PG_ROLLBACK, "ROLLBACK")                                                                                         \
    X(PG_TURN, "SELECT job, version FROM kerf_job JOIN kerf_job_state s USING (job) WHERE job_id=? FOR UPDATE OF s")   \
    X(PG_LOCK_JOB, "SELECT version FROM kerf_job_state WHERE job=? FOR UPDATE")                                        \
    X(PG_VERSION, "SELECT version FROM kerf_job_state WHERE job=?")                                                    \
    X(PG_INSERT_JOB, /* with its state; no row where the job_id was taken meanwhile */                                 \
      "WITH made AS (INSERT INTO kerf_job (" JOB_COLUMNS(                                                              \
          COLUMN_NAME, ",") ")"                                                                                        \
                            " VALUES (" JOB_COLUMNS(                                                                   \
                                COLUMN_MARK, ",") ") ON CONFLICT (job_id) DO NOTHING RETURNING job)"                   \
                                                  " INSERT INTO kerf_job_state (job, version," STATE_COLUMNS(          \
                                                      COLUMN_NAME, ",") ")"                                            \
                                                                        " SELECT job, ?::bigint," STATE_COLUMNS(       \
                                                                            PG_MARK, ",") " FROM made RETURNING job")  \
    X(PG_DELETE_TRIALS, "DELETE FROM kerf_trial WHERE job=?")                                                          \
    X(PG_DELETE_COSTS, "DELETE FROM kerf_cost WHERE job=?")                                                            \
    X(PG_DELETE_JOB, "DELETE FROM kerf_job WHERE job=?") /* with its state */                                          \
    X(PG_NEW_TRIAL_IF_SO,                                                                                              \
      PG_IF_SO " INSERT INTO kerf_trial (job, reason," TRIAL_COLUMNS(                                                  \
          COLUMN_NAME, ",") ")"                                                                                        \
                            " SELECT job, ?::text," TRIAL_COLUMNS(PG_MARK, ",") " FROM so RETURNING number")           \
    X(PG_TRIAL_IF_SO, PG_IF_SO PG_TRIAL_ENDS)                                                                          \
    X(PG_TRIAL_AND_ARM_IF_SO, PG_IF_SO ", arm AS (" ARM_INSERT("kerf_") " SELECT job," ARM_COLUMNS(                    \
                                  PG_MARK, ",") " FROM so" ARM_REPLACES ")" PG_TRIAL_ENDS)                             \
    X(PG_SEEN_IF_SO, PG_IF_SO " UPDATE kerf_trial t SET seen_s=? FROM so WHERE t.job=so.job AND number=?"              \
                              " RETURNING number")

enum pg_statement {
    PG_STATEMENTS_BEFORE = STORE_STATEMENTS_COUNT - 1,
#define PG_NAME(name, sql) name,
    PG_STATEMENTS(PG_NAME)
#undef PG_NAME
        PG_STATEMENTS_COUNT
};

/* ---- One connection ----------------------------------------------------------------------------------------- */

/* A connection is in pipeline mode and used by one thread at a time: questions are sent one after the other, and their
 * answers collected at once, so that a decision takes two round trips. */
struct pg_session {
    PGconn *connection;
    struct pg_session *next;
    int is_used;   /* it came out of the pool: the database may have gone away since */
    int is_broken; /* nothing more can be had from it */
    int sent;      /* questions without an answer yet */
    int owes_sync; /* a rollback is on its way, whose answer nobody waited for */
};

/* KERF_EIO, and the database's words in err; KERF_EINVALID where it takes no such text. */
int32_t pg_fail(PGconn *connection, const PGresult *result, struct kerf_error *err);

/* prepares 0: outside of pipeline mode, for SQL of one's own. */
int32_t pg_connect(const char *url, int prepares, struct pg_session **ret_session, struct kerf_error *err);
void pg_disconnect(struct pg_session *session);

/* Statement `which` (of either enumeration); values NULL: there are none. What goes wrong is told by pg_collect. */
void pg_send(struct pg_session *session, int which, const struct row *values);
/* The answers to all that was sent; the first `room` of them go to ret_results, even when this fails. */
int32_t pg_collect(struct pg_session *session, PGresult **ret_results, int room, struct kerf_error *err);
void pg_clear(PGresult **results, int count);

/* A row of an answer. */
void pg_read_row(const PGresult *result, int at, struct row *ret_row);
int64_t pg_integer(const PGresult *result, int at, int column); /* 0 for NULL */

/* ---- The pool ----------------------------------------------------------------------------------------------- */

/* As many connections as threads use at once. One that broke is given up. */
struct pg_pool {
    char *url;
    pthread_mutex_t lock;
    struct pg_session *idle; /* under lock, as all that follows */
    double refuses_until_s;  /* a connection just failed: the next ones would too */
    struct kerf_error refusal;
};

int32_t pg_take(struct pg_pool *pool, struct pg_session **ret_session, struct kerf_error *err);
/* Ends what is open in it first. NULL is fine. */
void pg_give_back(struct pg_pool *pool, struct pg_session *session);

/* One question outside of decisions, asked again when the database was away meanwhile. */
int32_t pg_ask(struct pg_pool *pool, int which, const struct row *values, PGresult **ret_result,
               struct kerf_error *err);

/* ---- The writer ------------------------------------------------------------------------------------------------ */

/* Decisions: the lock on a job, what a decision changed with its COMMIT, and many of them at once. */
enum { PG_WRITER_THREADS = 4 };

struct pg_writer {
    struct pg_pool *pool;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t filled;
    struct store_write *first, **last; /* decisions on assumed turns that wait for a thread */
    int is_over, num_threads;          /* 0: there are no assumed turns */
    pthread_t threads[PG_WRITER_THREADS];
    struct store_counts counts;
};

void pg_writer_open(struct pg_writer *writer, struct pg_pool *pool);
int32_t pg_writer_start(struct pg_writer *writer, struct kerf_error *err); /* the threads, for a server */
void pg_writer_stop(struct pg_writer *writer);                             /* writes what is queued first */

/* As the functions of struct store_methods. */
int32_t pg_writer_begin(struct pg_writer *writer, const char *job_id, const struct store_turn *known,
                        struct store_turn *ret_turn, struct kerf_error *err);
int32_t pg_writer_confirm(struct pg_writer *writer, const struct store_turn *turn, int32_t *ret_is_stale,
                          struct kerf_error *err);
void pg_writer_submit(struct pg_writer *writer, struct store_turn *turn, struct store_write *write);
void pg_writer_count(struct pg_writer *writer, struct store_counts *ret_counts);

#endif
