/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a SQLite store. */
#ifndef KERF_STORE_SQLITE_SCHEMA_H
#define KERF_STORE_SQLITE_SCHEMA_H

#include <sqlite3.h>
#include "kerf/error.h"

/* KERF_EINVALID: the database is another program's, or a newer kerf's. */
int32_t sqlite_check(sqlite3 *db, const char *path, struct kerf_error *err);

/* Makes what is missing. */
int32_t sqlite_migrate(sqlite3 *db, const char *path, struct kerf_error *err);

#endif
