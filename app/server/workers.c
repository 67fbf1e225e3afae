/* SPDX-License-Identifier: Apache-2.0 */
/* A queue under one lock. */
#include "server/workers.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/error_fill.h"

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct work *first, **last;
    int is_over;
    int32_t num_threads;
    pthread_t threads[];
};

static void *keep_working(void *context) {
    struct workers *workers = context;
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        while (workers->first == NULL && !workers->is_over) pthread_cond_wait(&workers->filled, &workers->lock);
        struct work *next = workers->first;
        if (next == NULL) break;
        workers->first = next->next;
        if (workers->first == NULL) workers->last = &workers->first;
        pthread_mutex_unlock(&workers->lock);
        next->run(next);
        pthread_mutex_lock(&workers->lock);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

int32_t workers_start(int32_t threads, struct workers **ret_workers, struct kerf_error *err) {
    struct workers *workers = calloc(1, sizeof *workers + (size_t)threads * sizeof(pthread_t));
    if (workers == NULL) return error_no_memory(err, "threads");
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->filled, NULL);
    workers->last = &workers->first;
    while (workers->num_threads < threads &&
           pthread_create(&workers->threads[workers->num_threads], NULL, keep_working, workers) == 0)
        workers->num_threads++;
    *ret_workers = workers;
    if (workers->num_threads > 0) return KERF_OK;
    *ret_workers = workers_stop(workers);
    return kerf_error_set(err, KERF_ENOMEM, "no thread can be started");
}

struct workers *workers_stop(struct workers *workers) {
    if (workers == NULL) return NULL;
    pthread_mutex_lock(&workers->lock);
    workers->is_over = 1;
    pthread_cond_broadcast(&workers->filled);
    pthread_mutex_unlock(&workers->lock);
    for (int32_t i = 0; i < workers->num_threads; i++) pthread_join(workers->threads[i], NULL);
    assert(workers->first == NULL);
    pthread_mutex_destroy(&workers->lock);
    pthread_cond_destroy(&workers->filled);
    free(workers);
    return NULL;
}

void workers_add(struct workers *workers, struct work *work) {
    assert(work->run);
    work->next = NULL;
    pthread_mutex_lock(&workers->lock);
    *workers->last = work;
    workers->last = &work->next;
    pthread_mutex_unlock(&workers->lock);
    pthread_cond_signal(&workers->filled);
}
