/* SPDX-License-Identifier: Apache-2.0 */
/* The one thread that writes a SQLite store. */
#ifndef KERF_STORE_SQLITE_WRITER_H
#define KERF_STORE_SQLITE_WRITER_H

#include "store/sqlite_checkpoint.h"

struct sqlite_writer {
    struct sqlite_session session; /* the thread's own, once it runs */
    struct row room;               /* where it makes rows */
    struct sqlite_checkpoint checkpoint;
    int purges; /* deleted jobs may have left something */
    pthread_t thread;
    int has_thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t filled;
    struct store_write *first, **last;
    int is_stopping;
    struct store_counts counts;
};

/* Begins with a session that the caller has opened. */
int32_t sqlite_writer_start(struct sqlite_writer *writer, const char *path, struct kerf_error *err);
void sqlite_writer_submit(struct sqlite_writer *writer, struct store_write *write);
void sqlite_writer_count(struct sqlite_writer *writer, struct store_counts *ret_counts);
void sqlite_writer_stop(struct sqlite_writer *writer); /* writes what is queued first; also one that did not start */

#endif
