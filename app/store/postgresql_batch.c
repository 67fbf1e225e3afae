/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decisions on assumed turns, of many jobs in one transaction: a few threads take what has queued up while they
 * committed. One flush makes many decisions durable, and the database has one transaction in their place.
 *
 * No statement of such a transaction waits: a row that another server has locked is passed over as if its version were
 * another (PG_IF_SO), and its decision is made anew under a lock of its own. So there are no deadlocks, and a server
 * that hangs holds up nobody but who asks for the same job.
 *
 * When a transaction fails, its decisions are tried again one by one, so that each is answered for itself. When the
 * connection broke nobody knows whether it was committed, and all of them fail.
 */
#include <stdlib.h>
#include "store/postgresql_parts.h"

enum { THREADS = 4, MOST = 64 };

struct pg_batches {
    struct pg_store *store;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct store_write *first, **last;
    int is_over, num_threads;
    pthread_t threads[THREADS];
};

void pg_note_queued(struct pg_store *store) {
    pthread_mutex_lock(&store->lock);
    store->counts.queue++;
    pthread_mutex_unlock(&store->lock);
}

void pg_note_done(struct pg_store *store, int writes, int failed, double took_s) {
    pthread_mutex_lock(&store->lock);
    store->counts.commits++;
    store->counts.writes += (uint64_t)writes;
    store->counts.failed += (uint64_t)failed;
    store->counts.commit_s += took_s;
    store->counts.queue -= writes;
    pthread_mutex_unlock(&store->lock);
}

/* The first `count` writes of the list in one transaction. */
static int32_t commit_in(struct pg_session *session, struct store_write *first, int count, struct kerf_error *err) {
    PGresult *results[MOST + 1]; /* of BEGIN and the writes */
    struct store_write *write = first;
    int32_t code = KERF_OK;
    pg_send(session, PG_BEGIN, NULL);
    for (int i = 0; i < count && code == KERF_OK; i++, write = write->next) code = pg_send_if_so(session, write, err);
    if (code == KERF_OK) pg_send(session, PG_COMMIT, NULL);
    int32_t failed = pg_collect(session, results, count + 1, code == KERF_OK ? err : NULL);
    if (code == KERF_OK) code = failed;
    write = first;
    for (int i = 0; i < count && code == KERF_OK; i++, write = write->next)
        write->is_stale = pq.ntuples(results[i + 1]) == 0;
    pg_clear(results, count + 1);
    return code;
}

static int32_t commit(struct pg_store *store, struct store_write *first, int count, int *ret_is_broken,
                      struct kerf_error *err) {
    struct pg_session *session = NULL;
    double begin_s = pg_clock_s();
    int32_t code = pg_take(store, &session, err);
    if (code == KERF_OK) code = commit_in(session, first, count, err);
    *ret_is_broken = session == NULL || session->is_broken;
    pg_give_back(store, session);
    if (code == KERF_OK || *ret_is_broken || count == 1)
        pg_note_done(store, count, code == KERF_OK ? 0 : count, pg_clock_s() - begin_s);
    return code;
}

static void commit_batch(struct pg_store *store, struct store_write *first, int count) {
    struct kerf_error err = {.code = KERF_OK};
    int is_broken;
    int32_t code = commit(store, first, count, &is_broken, &err);
    int one_by_one = code != KERF_OK && !is_broken && count > 1;
    for (struct store_write *write = first, *next; count > 0; count--, write = next) {
        next = write->next; /* done ends the write's life */
        if (one_by_one) code = commit(store, write, 1, &is_broken, &err);
        write->done(write, code, &err);
    }
}

static void *work(void *context) {
    struct pg_batches *batches = context;
    pthread_mutex_lock(&batches->lock);
    for (;;) {
        while (batches->first == NULL && !batches->is_over) pthread_cond_wait(&batches->filled, &batches->lock);
        struct store_write *first = batches->first, *last = first;
        if (first == NULL) break;
        int count = 1;
        while (count < MOST && last->next) last = last->next, count++;
        batches->first = last->next;
        if (batches->first == NULL) batches->last = &batches->first;
        pthread_mutex_unlock(&batches->lock);
        commit_batch(batches->store, first, count);
        pthread_mutex_lock(&batches->lock);
    }
    pthread_mutex_unlock(&batches->lock);
    return NULL;
}

void pg_batch_add(struct pg_store *store, struct store_write *write) {
    struct pg_batches *batches = store->batches;
    write->next = NULL;
    pthread_mutex_lock(&batches->lock);
    *batches->last = write;
    batches->last = &write->next;
    pthread_mutex_unlock(&batches->lock);
    pthread_cond_signal(&batches->filled);
}

int32_t pg_batch_start(struct pg_store *store, struct kerf_error *err) {
    struct pg_batches *batches = calloc(1, sizeof *batches);
    if (batches == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the store");
    batches->store = store;
    batches->last = &batches->first;
    pthread_mutex_init(&batches->lock, NULL);
    pthread_cond_init(&batches->filled, NULL);
    store->batches = batches;
    while (batches->num_threads < THREADS &&
           pthread_create(&batches->threads[batches->num_threads], NULL, work, batches) == 0)
        batches->num_threads++;
    return batches->num_threads > 0 ? KERF_OK : kerf_error_set(err, KERF_ENOMEM, "no thread can be had");
}

/* Writes what is queued first. */
void pg_batch_stop(struct pg_store *store) {
    struct pg_batches *batches = store->batches;
    if (batches == NULL) return;
    pthread_mutex_lock(&batches->lock);
    batches->is_over = 1;
    pthread_cond_broadcast(&batches->filled);
    pthread_mutex_unlock(&batches->lock);
    for (int i = 0; i < batches->num_threads; i++) pthread_join(batches->threads[i], NULL);
    pthread_mutex_destroy(&batches->lock);
    pthread_cond_destroy(&batches->filled);
    free(batches);
    store->batches = NULL;
}
