/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows a write changes, decided once for both databases. */
#ifndef KERF_STORE_STORE_CHANGES_H
#define KERF_STORE_STORE_CHANGES_H

#include "store/store.h"

/* Does one statement inside the write's transaction, or queues it there. */
typedef int32_t (*store_put)(void *context, enum store_statement which, const struct row *values,
                             struct kerf_error *err);

/* Of STORE_DECIDE, of STORE_FORGET, and of STORE_IMPORT once the job has its key: each changed row, in order. room: where
 * the rows are made. */
int32_t store_put_changes(const struct store_write *write, struct row *room, store_put put, void *context,
                          struct kerf_error *err);

/* The arm that the write changes; NULL: none, or all. */
const struct kerf_arm *store_changed_arm(const struct store_write *write);

#endif
