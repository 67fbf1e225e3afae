/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trials of deleted jobs. A job is gone as soon as its row has no job_id; a long history is then removed in pieces,
 * between the transactions of others, which would have to wait for it otherwise. After a crash it goes on.
 */
#include "store/sqlite_parts.h"

static int32_t run(struct sqlite_session *session, enum sqlite_statement which, int64_t job, struct kerf_error *err) {
    sqlite3_stmt *statement = sqlite_statement(session, which, err);
    if (statement == NULL) return KERF_EIO;
    if (job) sqlite3_bind_int64(statement, 1, job);
    return sqlite_finish(session, statement, err);
}

/* The key of a job that was deleted and is still there; 0: there is none. */
static int64_t find(struct sqlite_session *session) {
    sqlite3_stmt *statement = sqlite_statement(session, SQL_FIND_DELETED, NULL);
    if (statement == NULL) return 0;
    int64_t job = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return job;
}

int sqlite_purge(struct sqlite_session *session) {
    int64_t job = find(session);
    if (job == 0 || run(session, SQL_BEGIN, 0, NULL) != KERF_OK) return 0;
    int32_t code = run(session, SQL_PURGE_TRIALS, job, NULL);
    if (code == KERF_OK && sqlite3_changes(session->db) == 0) code = run(session, SQL_PURGE_COSTS, job, NULL);
    if (code == KERF_OK && sqlite3_changes(session->db) == 0) code = run(session, SQL_PURGE_JOB, job, NULL);
    if (code == KERF_OK) code = run(session, SQL_COMMIT, 0, NULL);
    if (code != KERF_OK && !sqlite3_get_autocommit(session->db)) run(session, SQL_ROLLBACK, 0, NULL);
    return code == KERF_OK;
}
