/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the SQLite store share: sessions (sqlite_session.c) and the writer (sqlite_writer.c). */
#ifndef KERF_STORE_SQLITE_STORE_H
#define KERF_STORE_SQLITE_STORE_H

#include <pthread.h>
#include <sqlite3.h>
#include "store/store.h"

/* ---- Statements ------------------------------------------------------------------------------------------------ */

/* X(name, SQL): beside those of store_row.h. job_state, which every decision changes, is a table of its own. A deleted
 * job has no job_id; its trials and costs are removed piece by piece. */
#define SQLITE_STATEMENTS(X)                                                                                           \
    X(LITE_BEGIN_READING, "BEGIN")                                                                                     \
    X(LITE_BEGIN, "BEGIN IMMEDIATE")                                                                                   \
    X(LITE_COMMIT, "COMMIT")                                                                                           \
    X(LITE_ROLLBACK, "ROLLBACK")                                                                                       \
    X(LITE_INSERT_JOB,                                                                                                 \
      "INSERT INTO job (" JOB_COLUMNS(COLUMN_NAME, ",") ")"                                                            \
                                                        " VALUES (" JOB_COLUMNS(                                       \
                                                            COLUMN_MARK, ",") ") ON CONFLICT (job_id) DO NOTHING")     \
    X(LITE_INSERT_STATE, "INSERT INTO job_state (version," STATE_COLUMNS(                                              \
                             COLUMN_NAME, ",") ", job)"                                                                \
                                               " VALUES (?," STATE_COLUMNS(COLUMN_MARK, ",") ",?)")                    \
    X(LITE_DELETE_JOB, "UPDATE job SET job_id=NULL WHERE job=?")                                                       \
    X(LITE_DELETE_STATE, "DELETE FROM job_state WHERE job=?")                                                          \
    X(LITE_FIND_DELETED, "SELECT job FROM job WHERE job_id IS NULL LIMIT 1")                                           \
    X(LITE_PURGE_TRIALS, "DELETE FROM trial WHERE job=?1 AND number<=(SELECT max(number) FROM"                         \
                         " (SELECT number FROM trial WHERE job=?1 ORDER BY number LIMIT 500))")                        \
    X(LITE_PURGE_COSTS, "DELETE FROM cost WHERE job=?1 AND (batch_size, number) IN"                                    \
                        " (SELECT batch_size, number FROM cost WHERE job=?1 LIMIT 500)")                               \
    X(LITE_PURGE_JOB, "DELETE FROM job WHERE job=?")

enum sqlite_statement {
    LITE_STATEMENTS_BEFORE = STORE_STATEMENTS_COUNT - 1,
#define SQLITE_NAME(name, sql) name,
    SQLITE_STATEMENTS(SQLITE_NAME)
#undef SQLITE_NAME
        LITE_STATEMENTS_COUNT
};

/* ---- One session ----------------------------------------------------------------------------------------------- */

/* A connection to the file, used by one thread at a time, and its statements. */
struct sqlite_session {
    sqlite3 *db;
    sqlite3_stmt *statements[LITE_STATEMENTS_COUNT]; /* prepared on first use */
    struct sqlite_session *next;
};

/* KERF_EIO, and the database's words in err; KERF_ENOMEM. */
int32_t sqlite_fail(sqlite3 *db, struct kerf_error *err);

/* KERF_EINVALID: the file is not a database. With writes 0 it is only read. A missing file is not created: a server's may
 * be missing because somebody removed it. */
int32_t sqlite_connect(const char *path, int writes, struct sqlite_session *ret_session, struct kerf_error *err);
void sqlite_disconnect(struct sqlite_session *session);

/* SQL without values and rows. */
int32_t sqlite_run(sqlite3 *db, const char *sql, struct kerf_error *err);

/* Does statement `which` (of either enumeration) with these values, NULL: none; passes its rows to visit unless that is
 * NULL. */
int32_t sqlite_do(struct sqlite_session *session, int which, const struct row *values, store_visit_row visit,
                  void *context, struct kerf_error *err);

/* ---- The writer ------------------------------------------------------------------------------------------------ */

/* A thread that moves the write-ahead log into the database file. */
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

/* The one thread that writes a SQLite store. */
struct sqlite_writer {
    struct sqlite_session session; /* the thread's own, once it runs */
    struct row room;               /* where it makes rows */
    struct sqlite_checkpoint checkpoint;
    int purges; /* deleted jobs may have left something */
    pthread_t thread;
    int has_thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t filled;
    struct store_write *first, **last;
    int is_stopping;
    struct store_counts counts;
};

/* Begins with a session that the caller has opened. */
int32_t sqlite_writer_start(struct sqlite_writer *writer, const char *path, struct kerf_error *err);
void sqlite_writer_submit(struct sqlite_writer *writer, struct store_write *write);
void sqlite_writer_count(struct sqlite_writer *writer, struct store_counts *ret_counts);
void sqlite_writer_stop(struct sqlite_writer *writer); /* writes what is queued first; also one that did not start */

#endif
