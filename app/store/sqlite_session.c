/* SPDX-License-Identifier: Apache-2.0 */
/* One connection to a SQLite file: its settings, its statements, rows as values. */
#include "store/sqlite_store.h"

#include <assert.h>
#include <stddef.h>

enum { BUSY_MS = 5000 };

int32_t sqlite_fail(sqlite3 *db, struct kerf_error *err) {
    int code = sqlite3_extended_errcode(db);
    return kerf_error_set(err, (code & 255) == SQLITE_NOMEM ? KERF_ENOMEM : KERF_EIO, "the store: %.300s",
                          sqlite3_errmsg(db));
}

int32_t sqlite_run(sqlite3 *db, const char *sql, struct kerf_error *err) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? KERF_OK : sqlite_fail(db, err);
}

static int32_t cannot_open(const char *path, sqlite3 *db, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EIO, "%.200s cannot be opened: %.200s", path,
                          db ? sqlite3_errmsg(db) : "not enough memory");
}

int32_t sqlite_connect(const char *path, int writes, struct sqlite_session *ret_session, struct kerf_error *err) {
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        int32_t code = cannot_open(path, db, err);
        sqlite3_close(db);
        return code;
    }
    sqlite3_busy_timeout(db, BUSY_MS);
    sqlite3_extended_result_codes(db, 1);
    int32_t code = sqlite_run(db, "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY", err);
    if (code == KERF_OK && !writes) code = sqlite_run(db, "PRAGMA query_only=ON; PRAGMA cache_size=-1024", err);
    if (code != KERF_OK && sqlite3_errcode(db) == SQLITE_NOTADB)
        code = kerf_error_set(err, KERF_EINVALID, "%.200s is not a SQLite database", path);
    else if (code == KERF_EIO)
        code = cannot_open(path, db, err);
    if (code != KERF_OK)
        sqlite3_close(db);
    else
        *ret_session = (struct sqlite_session){.db = db};
    return code;
}

void sqlite_disconnect(struct sqlite_session *session) {
    for (int i = 0; i < LITE_STATEMENTS_COUNT; i++) sqlite3_finalize(session->statements[i]);
    sqlite3_close(session->db);
    *session = (struct sqlite_session){0};
}

/* ---- Statements --------------------------------------------------------------------------------------------- */

/* NULL with err set. */
static sqlite3_stmt *prepared(struct sqlite_session *session, int which, struct kerf_error *err) {
    static const char *const texts[] = {
#define SQLITE_WORDS(name, sql) sql,
        STORE_STATEMENTS(SQLITE_WORDS, "", " INDEXED BY trial_cost") SQLITE_STATEMENTS(SQLITE_WORDS)
#undef SQLITE_WORDS
    };
    _Static_assert(sizeof texts / sizeof *texts == LITE_STATEMENTS_COUNT, "a text for each statement");
    sqlite3_stmt **statement = &session->statements[which];
    assert(which >= 0 && which < LITE_STATEMENTS_COUNT);
    if (*statement == NULL &&
        sqlite3_prepare_v3(session->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) != SQLITE_OK)
        sqlite_fail(session->db, err);
    return *statement;
}

/* The texts stay where they are until the statement is done. */
static void bind(sqlite3_stmt *statement, const struct row *values) {
    assert(sqlite3_bind_parameter_count(statement) == (values ? values->count : 0));
    for (int32_t i = 0; values && i < values->count; i++) {
        const struct value *value = &values->values[i];
        switch (value->kind) {
        case VALUE_NULL: sqlite3_bind_null(statement, i + 1); break;
        case VALUE_INTEGER: sqlite3_bind_int64(statement, i + 1, value->integer); break;
        case VALUE_REAL: sqlite3_bind_double(statement, i + 1, value->real); break;
        case VALUE_TEXT: sqlite3_bind_text(statement, i + 1, value->text, -1, SQLITE_STATIC); break;
        case VALUE_BYTES: sqlite3_bind_blob(statement, i + 1, value->text, value->length, SQLITE_STATIC); break;
        }
    }
}

static void read_row(sqlite3_stmt *statement, struct row *row) {
    int count = sqlite3_column_count(statement);
    row->count = 0;
    for (int i = 0; i < count; i++) {
        switch (sqlite3_column_type(statement, i)) {
        case SQLITE_INTEGER: row_add_integer(row, sqlite3_column_int64(statement, i)); break;
        case SQLITE_FLOAT: row_add_real(row, sqlite3_column_double(statement, i)); break;
        case SQLITE_TEXT: row_add_text(row, (const char *)sqlite3_column_text(statement, i)); break;
        case SQLITE_BLOB:
            row_add_bytes(row, sqlite3_column_blob(statement, i), sqlite3_column_bytes(statement, i));
            break;
        default: row_add_null(row);
        }
    }
}

int32_t sqlite_do(struct sqlite_session *session, int which, const struct row *values, store_visit_row visit,
                  void *context, struct kerf_error *err) {
    sqlite3_stmt *statement = prepared(session, which, err);
    struct row row = {0};
    int32_t code = KERF_OK;
    int step;
    if (statement == NULL) return KERF_EIO;
    bind(statement, values);
    while ((step = sqlite3_step(statement)) == SQLITE_ROW && code == KERF_OK) {
        if (visit == NULL) continue;
        read_row(statement, &row);
        code = visit(context, &row, err);
    }
    if (step != SQLITE_ROW && step != SQLITE_DONE) code = sqlite_fail(session->db, err);
    sqlite3_reset(statement);
    return code;
}
