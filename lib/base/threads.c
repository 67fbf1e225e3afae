/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

struct pool {
    threads_task task;
    void *context;
    size_t num_tasks;
    atomic_size_t next;
};

struct worker {
    struct pool *pool;
    int32_t index;
    pthread_t thread;
};

int32_t threads_available(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int32_t count = CPU_COUNT(&set);
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : count;
}

static void *work(void *argument) {
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    for (;;) {
        size_t task = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (task >= pool->num_tasks) return NULL;
        pool->task(pool->context, task, worker->index);
    }
}

void threads_run(int32_t threads, size_t num_tasks, threads_task task, void *context) {
    struct pool pool = {.task = task, .context = context, .num_tasks = num_tasks};
    struct worker workers[THREADS_MAX];
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    if (threads > 0 && (size_t)threads > num_tasks) threads = (int32_t)num_tasks;

    /* Signals go to the caller's thread, which knows what to do with them. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int32_t started = 1;
    for (; started < threads; started++) {
        workers[started] = (struct worker){.pool = &pool, .index = started};
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);

    workers[0] = (struct worker){.pool = &pool};
    work(&workers[0]);
    for (int32_t i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
}
