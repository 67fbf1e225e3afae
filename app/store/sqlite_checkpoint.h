/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that moves the write-ahead log into the database file. */
#ifndef KERF_STORE_SQLITE_CHECKPOINT_H
#define KERF_STORE_SQLITE_CHECKPOINT_H

#include <pthread.h>
#include "store/sqlite_session.h"

struct sqlite_checkpoint {
    struct sqlite_session session; /* the thread's own */
    sqlite3 *writer;
    pthread_t thread;
    int has_thread;
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    int is_wanted, is_over;
    int is_moved; /* the thread is done, the writer's turn */
};

int32_t sqlite_start_checkpoint(struct sqlite_checkpoint *checkpoint, const char *path, sqlite3 *writer,
                                struct kerf_error *err);
void sqlite_stop_checkpoint(struct sqlite_checkpoint *checkpoint);

#endif
