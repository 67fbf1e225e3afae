/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions in PostgreSQL: the lock on a job, what a decision changed with its COMMIT, and many of them at once. */
#ifndef KERF_STORE_POSTGRESQL_WRITER_H
#define KERF_STORE_POSTGRESQL_WRITER_H

#include "store/postgresql_session.h"

enum { PG_WRITER_THREADS = 4 };

struct pg_writer {
    struct pg_pool *pool;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t filled;
    struct store_write *first, **last; /* decisions on assumed turns that wait for a thread */
    int is_over, num_threads;          /* 0: there are no assumed turns */
    pthread_t threads[PG_WRITER_THREADS];
    struct store_counts counts;
};

void pg_writer_open(struct pg_writer *writer, struct pg_pool *pool);
int32_t pg_writer_start(struct pg_writer *writer, struct kerf_error *err); /* the threads, for a server */
void pg_writer_stop(struct pg_writer *writer);                             /* writes what is queued first */

/* As the functions of struct store_methods. */
int32_t pg_writer_begin(struct pg_writer *writer, const char *job_id, const struct store_turn *known,
                        struct store_turn *ret_turn, struct kerf_error *err);
int32_t pg_writer_confirm(struct pg_writer *writer, const struct store_turn *turn, int32_t *ret_is_stale,
                          struct kerf_error *err);
void pg_writer_submit(struct pg_writer *writer, struct store_turn *turn, struct store_write *write);
void pg_writer_count(struct pg_writer *writer, struct store_counts *ret_counts);

#endif
