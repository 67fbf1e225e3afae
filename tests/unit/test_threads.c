/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks on threads: each once, started in order, whatever the number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/threads.h"

enum { TASKS = 5000, THREADS = 300 };

struct record {
    atomic_int runs[TASKS];
    atomic_int busy[THREADS]; /* a worker is used by one thread at a time */
    atomic_int most_worker, clashes;
    atomic_size_t starts;
    size_t max_behind; /* how far a start was from its place in the order */
    pthread_mutex_t mutex;
    int sleeps;
};

static void note(void *context, size_t task, int32_t worker) {
    struct record *record = context;
    if (atomic_exchange(&record->busy[worker], 1)) atomic_fetch_add(&record->clashes, 1);
    size_t place = atomic_fetch_add(&record->starts, 1), behind = place > task ? place - task : task - place;
    atomic_fetch_add(&record->runs[task], 1);
    pthread_mutex_lock(&record->mutex);
    if (behind > record->max_behind) record->max_behind = behind;
    if (worker > record->most_worker) record->most_worker = worker;
    pthread_mutex_unlock(&record->mutex);
    if (record->sleeps && task % 64 == 0) usleep(200);
    atomic_store(&record->busy[worker], 0);
}

static struct record *fresh_record(void) {
    struct record *record = calloc(1, sizeof *record);
    assert_non_null(record);
    pthread_mutex_init(&record->mutex, NULL);
    record->most_worker = -1;
    return record;
}

static void every_task_once(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 7, 16, 256, 299, INT32_MAX};
    static const size_t tasks[] = {0, 1, 2, 5, 64, TASKS};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        for (size_t j = 0; j < sizeof tasks / sizeof *tasks; j++) {
            struct record *record = fresh_record();
            record->sleeps = (int)(i % 2);
            threads_run(threads[i], tasks[j], note, record);
            for (size_t task = 0; task < TASKS; task++) assert_int_equal(record->runs[task], task < tasks[j]);
            assert_int_equal(record->clashes, 0);
            assert_true(record->most_worker < THREADS_MAX);
            assert_true(record->most_worker < threads[i]);
            if (tasks[j] > 0) assert_true(record->most_worker >= 0);
            if (tasks[j] < (size_t)threads[i]) assert_true(record->most_worker < (int32_t)tasks[j] || tasks[j] == 0);
            pthread_mutex_destroy(&record->mutex);
            free(record);
        }
}

/* One thread keeps the order to the letter, and so does the caller's alone where none or fewer are asked for. */
static void one_thread_keeps_the_order(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 0, -1, INT32_MIN};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct record *record = fresh_record();
        threads_run(threads[i], TASKS, note, record);
        assert_int_equal(record->max_behind, 0);
        assert_int_equal(record->most_worker, 0);
        assert_int_equal(record->starts, TASKS);
        pthread_mutex_destroy(&record->mutex);
        free(record);
    }
}

/* Two tasks that wait for each other can only end when two threads run them. */
static void meet(void *context, size_t task, int32_t worker) {
    (void)task, (void)worker;
    atomic_int *arrived = context;
    atomic_fetch_add(arrived, 1);
    for (int i = 0; i < 20000 && atomic_load(arrived) < 2; i++) usleep(500);
}

static void threads_are_really_used(void **state) {
    (void)state;
    atomic_int arrived = 0;
    threads_run(2, 2, meet, &arrived);
    assert_int_equal(arrived, 2);
}

static pthread_t caller;
static atomic_int elsewhere;

static void on_signal(int number) {
    (void)number;
    if (!pthread_equal(pthread_self(), caller)) elsewhere = 1;
}

static void send_signal(void *context, size_t task, int32_t worker) {
    (void)context, (void)task, (void)worker;
    kill(getpid(), SIGUSR1);
    usleep(100);
}

static void signals_reach_the_callers_thread(void **state) {
    (void)state;
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigset_t mask_before, mask_after;
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, &before);
    pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
    caller = pthread_self();
    threads_run(4, 200, send_signal, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
    sigaction(SIGUSR1, &before, NULL);
    assert_int_equal(elsewhere, 0);
    for (int number = 1; number < 32; number++)
        assert_int_equal(sigismember(&mask_before, number), sigismember(&mask_after, number));
}

static void knows_the_processors(void **state) {
    (void)state;
    int32_t count = threads_available();
    assert_true(count >= 1 && count <= THREADS_MAX);
    assert_true(count <= (int32_t)sysconf(_SC_NPROCESSORS_CONF) || count == THREADS_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_once),         cmocka_unit_test(one_thread_keeps_the_order),
        cmocka_unit_test(threads_are_really_used), cmocka_unit_test(signals_reach_the_callers_thread),
        cmocka_unit_test(knows_the_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
