/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking over the database of Zeus's batch-size server (zeus/optimizer/batch_size/server/database/schema.py), in SQLite,
 * PostgreSQL or MySQL. The database is only read, in one transaction. Jobs that the store already has stay unchanged, so
 * that an import can be repeated. The three databases are behind one small interface.
 */
#ifndef KERF_ZEUS_IMPORT_SOURCES_H
#define KERF_ZEUS_IMPORT_SOURCES_H

#include <stdlib.h>
#include "store/store.h"

enum import_outcome { IMPORT_TAKEN, IMPORT_KNOWN, IMPORT_REFUSED, IMPORT_OUTCOMES };

/* Called for each job; why: the reason of a refusal. */
typedef void (*import_note)(void *context, enum import_outcome outcome, const char *job_id, int64_t trials,
                            const char *why);

/* where: a SQLite file, postgresql://..., mysql://..., or the URL that Zeus's server was given. job_flags: enum
 * kerf_job_flags. A job that cannot be taken over is reported and skipped; only failures of reading and writing are
 * errors. */
int32_t import_zeus(const char *where, struct store *to, int32_t job_flags, import_note note, void *context,
                    struct kerf_error *err);

/* ---- Sources --------------------------------------------------------------------------------------------------- */

struct import_source;

struct import_value {
    int is_null;
    const char *text; /* NULL for a number of SQLite's */
    double real;
    int64_t integer; /* 0 or 1 for a boolean */
};

/* A row, valid during the call. Not KERF_OK ends the reading with this code. */
typedef int32_t (*import_visit)(void *context, const struct import_value *values, struct kerf_error *err);

enum { IMPORT_COLUMNS = 24 };

struct import_methods {
    const char *scheme; /* "postgresql"; NULL: a file */
    int32_t (*open)(const char *where, struct import_source **ret_source, struct kerf_error *err);
    /* sql has names in double quotes, and at most one ?, for job_id. */
    int32_t (*read)(struct import_source *source, const char *sql, const char *job_id, int num_columns,
                    import_visit visit, void *context, struct kerf_error *err);
    void (*close)(struct import_source *source);
};

struct import_source { /* the first member of every source */
    const struct import_methods *methods;
};

extern const struct import_methods import_sqlite, import_postgresql, import_mysql;

/* The value of a column that came as text, which may say "Infinity" and "NaN". */
static inline struct import_value import_value_of_text(const char *text) {
    return (struct import_value){.is_null = text == NULL,
                                 .text = text,
                                 .real = text ? strtod(text, NULL) : 0,
                                 .integer = text == NULL   ? 0
                                            : *text == 't' ? 1
                                                           : strtoll(text, NULL, 10)};
}

#endif
