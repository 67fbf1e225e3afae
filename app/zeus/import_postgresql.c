/* SPDX-License-Identifier: Apache-2.0 */
/* Zeus's database in PostgreSQL, read in one transaction that cannot write. */
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "store/postgresql_store.h"
#include "zeus/import_sources.h"

struct pg_source {
    struct import_source source;
    struct pg_session *session;
};

static const char begin_sql[] = "SET extra_float_digits=3; SET datestyle=ISO; SET enable_seqscan=on;"
                                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

static void close_source(struct import_source *base) {
    struct pg_source *source = (struct pg_source *)base;
    if (source->session) pg_disconnect(source->session);
    free(source);
}

static int32_t open_source(const char *where, struct import_source **ret_source, struct kerf_error *err) {
    if (libpq_open(err) != KERF_OK) return KERF_EUNSUPPORTED;
    struct pg_source *source = calloc(1, sizeof *source);
    if (source == NULL) return error_no_memory(err, "an import");
    source->source.methods = &import_postgresql;
    int32_t code = pg_connect(where, 0, &source->session, err);
    if (code == KERF_OK) {
        PGresult *result = pq.exec(source->session->connection, begin_sql);
        if (pq.resultStatus(result) != PGRES_COMMAND_OK) code = pg_fail(source->session->connection, result, err);
        pq.clear(result);
    }
    if (code == KERF_OK)
        *ret_source = &source->source;
    else
        close_source(&source->source);
    return code;
}

static int32_t read_rows(struct import_source *base, const char *sql, const char *job_id, int num_columns,
                         import_visit visit, void *context, struct kerf_error *err) {
    PGconn *connection = ((struct pg_source *)base)->session->connection;
    char *own = malloc(strlen(sql) + 2), *mark;
    if (own == NULL) return error_no_memory(err, "an import");
    strcpy(own, sql);
    if ((mark = strchr(own, '?')) != NULL) { /* $1 */
        memmove(mark + 2, mark + 1, strlen(mark + 1) + 1);
        memcpy(mark, "$1", 2);
    }
    PGresult *result = pq.execParams(connection, own, job_id ? 1 : 0, NULL, &job_id, NULL, NULL, 0);
    int32_t code = pq.resultStatus(result) == PGRES_TUPLES_OK ? KERF_OK : pg_fail(connection, result, err);
    free(own);
    for (int row = 0; code == KERF_OK && row < pq.ntuples(result); row++) {
        struct import_value values[IMPORT_COLUMNS];
        for (int i = 0; i < num_columns; i++)
            values[i] = import_value_of_text(pq.getisnull(result, row, i) ? NULL : pq.getvalue(result, row, i));
        code = visit(context, values, err);
    }
    pq.clear(result);
    return code;
}

const struct import_methods import_postgresql = {"postgresql", open_source, read_rows, close_source};
