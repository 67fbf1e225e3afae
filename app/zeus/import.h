/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking over the database of Zeus's batch-size server (zeus/optimizer/batch_size/server/database/schema.py), whichever
 * it is in. It is only read, as it is at one moment. Jobs that the store has already are left as they are, so that it
 * can be done again.
 */
#ifndef KERF_ZEUS_IMPORT_H
#define KERF_ZEUS_IMPORT_H

#include "store/store.h"

enum import_outcome { IMPORT_TAKEN, IMPORT_KNOWN, IMPORT_REFUSED, IMPORT_OUTCOMES };

/* Of each job; why: the reason where it was refused. */
typedef void (*import_note)(void *context, enum import_outcome outcome, const char *job_id, int64_t trials,
                            const char *why);

/* where: a SQLite file, postgresql://..., mysql://..., or the URL that Zeus's server was given. job_flags: enum
 * kerf_job_flags. A job that cannot be taken over is told and passed over; what fails is reading and writing. */
int32_t import_zeus(const char *where, struct store *to, int32_t job_flags, import_note note, void *context,
                    struct kerf_error *err);

#endif
