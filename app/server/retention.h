/* SPDX-License-Identifier: Apache-2.0 */
/* Removing trials that ended long ago, in the background; never what a decision may still need. */
#ifndef KERF_SERVER_RETENTION_H
#define KERF_SERVER_RETENTION_H

#include <stdatomic.h>
#include "server/log.h"
#include "store/store.h"

struct retention;

/* What ended before before_s, in all jobs. is_over ends it early; NULL: nothing does. ret_removed, also after an error:
 * how many trials are gone. */
int32_t retention_pass(struct store *store, int32_t job_flags, double before_s, const _Atomic int *is_over,
                       int64_t *ret_removed, struct kerf_error *err);

/* A thread that does so again and again with what is older than keep_s, at once and then each 50th of keep_s, each hour
 * at least. */
int32_t retention_start(struct store *store, int32_t job_flags, double keep_s, const struct log *log,
                        _Atomic uint64_t *removed, struct retention **ret_retention, struct kerf_error *err);
void retention_stop(struct retention *retention); /* NULL is fine */

#endif
