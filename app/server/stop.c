/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end. Idle connections are closed at once; requests that still come in have READ_S, and those that run are
 * answered. A database that hangs would hold that up for as long as it likes, so that the process ends after END_S
 * whatever there is: what it answered is stored, and the rest is for its clients to ask again, as after a crash.
 */
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "server/server_parts.h"

enum { STEP_MS = 10, READ_S = 3, END_S = 4 };

/* ---- The last moment ---------------------------------------------------------------------------------------- */

struct last_moment {
    const struct server *server;
    struct timespec at; /* CLOCK_MONOTONIC */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    int is_over, has_thread;
};

static void *wait_for_end(void *context) {
    struct last_moment *last = context;
    pthread_mutex_lock(&last->lock);
    while (!last->is_over)
        if (pthread_cond_timedwait(&last->ended, &last->lock, &last->at) == ETIMEDOUT && !last->is_over) {
            log_error(&last->server->log, "stopped",
                      "the store does not answer: %" PRId64 " requests are left without an answer",
                      (int64_t)last->server->running);
            _exit(0);
        }
    pthread_mutex_unlock(&last->lock);
    return NULL;
}

static void begin_last(struct last_moment *last) {
    pthread_condattr_t attributes;
    clock_gettime(CLOCK_MONOTONIC, &last->at);
    last->at.tv_sec += END_S;
    pthread_mutex_init(&last->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&last->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    last->has_thread = pthread_create(&last->thread, NULL, wait_for_end, last) == 0;
}

static void end_last(struct last_moment *last) {
    pthread_mutex_lock(&last->lock);
    last->is_over = 1;
    pthread_cond_signal(&last->ended);
    pthread_mutex_unlock(&last->lock);
    if (last->has_thread) pthread_join(last->thread, NULL);
    pthread_mutex_destroy(&last->lock);
    pthread_cond_destroy(&last->ended);
}

/* ---- Requests ----------------------------------------------------------------------------------------------- */

static int is_busy(struct server *server) {
    int busy = 0;
    pthread_mutex_lock(&server->connections_lock);
    for (struct exchange *exchange = server->connections; exchange && !busy; exchange = exchange->following)
        busy = exchange->state == EXCHANGE_READING || exchange->state == EXCHANGE_RUNNING;
    pthread_mutex_unlock(&server->connections_lock);
    return busy;
}

static void finish_requests(struct server *server) {
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000};
    double until_s = clock_ticks_s() + READ_S;
    watch_close_idle(server);
    while (is_busy(server) && clock_ticks_s() < until_s) {
        nanosleep(&step, NULL);
        watch_close_idle(server);
    }
    while (server->running > 0) nanosleep(&step, NULL); /* none may be suspended when the library ends */
    MHD_stop_daemon(server->daemon);
}

static void close_all(struct server *server) {
    if (server->daemon) finish_requests(server);
    watch_stop(server);
    retention_stop(server->retention);
    access_close(server->access);
    rate_free(server->rates);
    workers_stop(server->workers);
    store_close(server->store);
    job_cache_free(server->jobs);
    tls_free(&server->tls);
}

void server_abandon(struct server *server) {
    server->is_stopping = 1;
    close_all(server);
    free(server);
}

void server_stop(struct server *server) {
    struct last_moment last = {.server = server};
    begin_last(&last);
    server->is_stopping = 1;
    close_all(server);
    end_last(&last);
    log_info(&server->log, "stopped", "all requests are answered");
    free(server);
}
