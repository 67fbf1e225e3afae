/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a store in PostgreSQL. */
#ifndef KERF_STORE_POSTGRESQL_SCHEMA_H
#define KERF_STORE_POSTGRESQL_SCHEMA_H

#include "store/postgresql_library.h"

/* Makes what is missing. KERF_EINVALID: there are no tables and creates is 0, or a newer kerf made them. */
int32_t pg_migrate(PGconn *connection, int creates, struct kerf_error *err);

#endif
