/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one writer of a SQLite store: what has queued up while it committed goes into the next transaction, so that one
 * flush of the disk makes many decisions durable. With one client it is a transaction a decision, with many they share.
 *
 * When a transaction fails, its writes are tried again one by one, so that each is answered for itself.
 */
#include <time.h>
#include "store/sqlite_parts.h"

enum { BATCH_MOST = 512 };

static double clock_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int32_t run(struct sqlite_store *store, enum sqlite_statement which, struct kerf_error *err) {
    sqlite3_stmt *statement = sqlite_statement(&store->writer, which, err);
    return statement ? sqlite_finish(&store->writer, statement, err) : KERF_EIO;
}

static void roll_back(struct sqlite_store *store) { /* SQLite may have done it already */
    if (!sqlite3_get_autocommit(store->writer.db)) run(store, SQL_ROLLBACK, NULL);
}

/* The first `count` writes of the list in one transaction. */
static int32_t commit(struct sqlite_store *store, struct store_write *first, int count, struct kerf_error *err) {
    int32_t code = run(store, SQL_BEGIN, err);
    if (code != KERF_OK) return code;
    for (struct store_write *write = first; count > 0 && code == KERF_OK; count--, write = write->next)
        code = sqlite_apply(&store->writer, &store->random, write, err);
    if (code == KERF_OK) code = run(store, SQL_COMMIT, err);
    if (code != KERF_OK) roll_back(store);
    return code;
}

static void note(struct sqlite_store *store, int count, int failed, double took_s) {
    pthread_mutex_lock(&store->queue_lock);
    store->counts.commits++;
    store->counts.writes += (uint64_t)count;
    store->counts.failed += (uint64_t)failed;
    store->counts.commit_s += took_s;
    store->counts.queue -= count;
    pthread_mutex_unlock(&store->queue_lock);
}

static void commit_batch(struct sqlite_store *store, struct store_write *first, int count) {
    struct kerf_error err = {.code = KERF_OK};
    double begin = clock_s();
    int32_t code = commit(store, first, count, &err);
    int one_by_one = code != KERF_OK && count > 1;
    if (!one_by_one) note(store, count, code != KERF_OK, clock_s() - begin);
    for (struct store_write *write = first, *next; count > 0; count--, write = next) {
        next = write->next; /* done ends the write's life */
        if (one_by_one) {
            begin = clock_s();
            code = commit(store, write, 1, &err);
            note(store, 1, code != KERF_OK, clock_s() - begin);
        }
        write->done(write, code, &err);
    }
}

static int deletes(const struct store_write *write, int count) {
    for (; count > 0; count--, write = write->next)
        if (write->kind == STORE_DELETE) return 1;
    return 0;
}

/* With the queue locked before and after. */
static void purge(struct sqlite_store *store) {
    pthread_mutex_unlock(&store->queue_lock);
    store->purges = sqlite_purge(&store->writer);
    pthread_mutex_lock(&store->queue_lock);
}

static void *writer(void *context) {
    struct sqlite_store *store = context;
    pthread_mutex_lock(&store->queue_lock);
    for (;;) {
        while (store->first == NULL && !store->stopping && !store->purges)
            pthread_cond_wait(&store->queue_filled, &store->queue_lock);
        if (store->first == NULL && store->stopping) break;
        if (store->first == NULL) {
            purge(store);
            continue;
        }
        struct store_write *first = store->first, *last = first;
        int count = 1;
        while (count < BATCH_MOST && last->next) last = last->next, count++;
        store->first = last->next;
        if (store->first == NULL) store->last = &store->first;
        pthread_mutex_unlock(&store->queue_lock);
        store->purges |= deletes(first, count);
        commit_batch(store, first, count);
        pthread_mutex_lock(&store->queue_lock);
        if (store->purges) purge(store);
    }
    pthread_mutex_unlock(&store->queue_lock);
    return NULL;
}

void sqlite_submit(struct store *base, struct store_turn *turn, struct store_write *write) {
    struct sqlite_store *store = (struct sqlite_store *)base;
    (void)turn;
    write->next = NULL;
    pthread_mutex_lock(&store->queue_lock);
    int was_empty = store->first == NULL;
    *store->last = write;
    store->last = &write->next;
    store->counts.queue++;
    pthread_mutex_unlock(&store->queue_lock);
    if (was_empty) pthread_cond_signal(&store->queue_filled);
}

int32_t sqlite_start_writer(struct sqlite_store *store, struct kerf_error *err) {
    store->purges = 1; /* what a crash left */
    if (pthread_create(&store->thread, NULL, writer, store) != 0)
        return kerf_error_set(err, KERF_ENOMEM, "no thread for the store's writer can be had");
    store->has_thread = 1;
    return KERF_OK;
}

/* Writes what is queued first. */
void sqlite_stop_writer(struct sqlite_store *store) {
    if (!store->has_thread) return;
    pthread_mutex_lock(&store->queue_lock);
    store->stopping = 1;
    pthread_mutex_unlock(&store->queue_lock);
    pthread_cond_signal(&store->queue_filled);
    pthread_join(store->thread, NULL);
    store->has_thread = 0;
}
