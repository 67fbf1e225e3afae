/* SPDX-License-Identifier: Apache-2.0 */
/* Zeus's database as a SQLite file, opened for reading alone. */
#include <sqlite3.h>
#include <stdlib.h>
#include "base/error_fill.h"
#include "zeus/import_sources.h"

struct sqlite_source {
    struct import_source source;
    sqlite3 *db;
};

static int32_t fail(sqlite3 *db, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EIO, "the database to import: %.300s",
                          db ? sqlite3_errmsg(db) : "not enough memory");
}

static void close_source(struct import_source *base) {
    struct sqlite_source *source = (struct sqlite_source *)base;
    sqlite3_close(source->db);
    free(source);
}

static int32_t open_source(const char *where, struct import_source **ret_source, struct kerf_error *err) {
    struct sqlite_source *source = calloc(1, sizeof *source);
    if (source == NULL) return error_no_memory(err, "an import");
    source->source.methods = &import_sqlite;
    int32_t code = KERF_OK;
    if (sqlite3_open_v2(where, &source->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        code = kerf_error_set(err, KERF_EIO, "%.200s cannot be opened: %.200s", where,
                              source->db ? sqlite3_errmsg(source->db) : "not enough memory");
    if (code == KERF_OK && sqlite3_exec(source->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        code = fail(source->db, err);
    if (code == KERF_OK)
        *ret_source = &source->source;
    else
        close_source(&source->source);
    return code;
}

static struct import_value value_of(sqlite3_stmt *statement, int column) {
    struct import_value value = {.is_null = 0};
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: value.is_null = 1; break;
    case SQLITE_INTEGER:
    case SQLITE_FLOAT:
        value.integer = sqlite3_column_int64(statement, column);
        value.real = sqlite3_column_double(statement, column);
        break;
    default: value = import_value_of_text((const char *)sqlite3_column_text(statement, column));
    }
    return value;
}

static int32_t read_rows(struct import_source *base, const char *sql, const char *job_id, int num_columns,
                         import_visit visit, void *context, struct kerf_error *err) {
    struct sqlite_source *source = (struct sqlite_source *)base;
    sqlite3_stmt *statement = NULL;
    int32_t code = KERF_OK;
    int step = SQLITE_ROW;
    if (sqlite3_prepare_v2(source->db, sql, -1, &statement, NULL) != SQLITE_OK) return fail(source->db, err);
    if (job_id) sqlite3_bind_text(statement, 1, job_id, -1, SQLITE_STATIC);
    while (code == KERF_OK && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        struct import_value values[IMPORT_COLUMNS];
        for (int i = 0; i < num_columns; i++) values[i] = value_of(statement, i);
        code = visit(context, values, err);
    }
    if (code == KERF_OK && step != SQLITE_DONE) code = fail(source->db, err);
    sqlite3_finalize(statement);
    return code;
}

const struct import_methods import_sqlite = {NULL, open_source, read_rows, close_source};
