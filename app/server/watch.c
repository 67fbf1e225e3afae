/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow and idle connections. Once a second a thread looks at all of them:
 *
 *     a request that came in only in part within `request_s`    408, and the connection ends
 *     no request within `request_s` of a new connection         the same
 *     no request within `idle_s` of the last answer             the connection ends
 *
 * libmicrohttpd reads the bytes and tells of a request when its first line is whole. Whether some of it came in before
 * that, the kernel knows (TCP_INFO). The 408 is written past the library, whose thread would wait for the rest; it sees
 * the connection end, and finds it given up should the rest have come in at the same moment.
 *
 * A TLS stream belongs to the library's thread, so that such a connection ends without the 408. A handshake that goes
 * on for too long counts as a request that does.
 */
#include <netinet/in.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include "server/server_parts.h"

static const char late[] = "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\nContent-Length: 28\r\n"
                           "Connection: close\r\n\r\n{\"detail\":\"Request Timeout\"}";

static uint64_t bytes_received(int fd) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 ? info.tcpi_bytes_received : 0;
}

void watch_settle(struct exchange *exchange) { atomic_store(&exchange->settled, bytes_received(exchange->fd)); }

static void give_up(struct exchange *exchange, int state, int says_why) {
    if (!atomic_compare_exchange_strong(&exchange->state, &state, EXCHANGE_GIVEN_UP)) return;
    if (says_why) {
        if (exchange->server->tls.certificate == NULL)
            send(exchange->fd, late, sizeof late - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        atomic_fetch_add(&exchange->server->metrics.slow, 1);
    }
    shutdown(exchange->fd, SHUT_RDWR);
}

static void look_at(struct exchange *exchange, double now_s) {
    const struct server_options *options = &exchange->server->options;
    int state = atomic_load(&exchange->state);
    double quiet_s = now_s - atomic_load(&exchange->since_s);
    if (state == EXCHANGE_READING && quiet_s > options->request_s) {
        give_up(exchange, state, 1);
    } else if (state == EXCHANGE_IDLE) {
        uint64_t settled = atomic_load(&exchange->settled), received = bytes_received(exchange->fd);
        int is_new = settled == 0, has_begun = received > settled;
        if (has_begun && !exchange->has_partial) { /* counts from when it was first seen */
            exchange->has_partial = 1;
            if (!is_new) atomic_store(&exchange->since_s, now_s);
        } else if (has_begun || is_new) {
            if (quiet_s > options->request_s) give_up(exchange, state, 1);
        } else {
            exchange->has_partial = 0;
            if (quiet_s > options->idle_s) give_up(exchange, state, 0);
        }
    }
}

static void *watch(void *context) {
    struct server *server = context;
    pthread_mutex_lock(&server->connections_lock);
    while (!server->watch_is_over) {
        struct timespec until;
        double now_s = clock_ticks_s();
        for (struct exchange *exchange = server->connections; exchange; exchange = exchange->following)
            look_at(exchange, now_s);
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&server->watch_ends, &server->connections_lock, &until);
    }
    pthread_mutex_unlock(&server->connections_lock);
    return NULL;
}

int32_t watch_start(struct server *server, struct kerf_error *err) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&server->connections_lock, NULL);
    pthread_cond_init(&server->watch_ends, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&server->watch, NULL, watch, server) != 0)
        return kerf_error_set(err, KERF_ENOMEM, "no thread can be had");
    server->has_watch = 1;
    return KERF_OK;
}

void watch_stop(struct server *server) {
    if (!server->has_watch) return;
    pthread_mutex_lock(&server->connections_lock);
    server->watch_is_over = 1;
    pthread_cond_signal(&server->watch_ends);
    pthread_mutex_unlock(&server->connections_lock);
    pthread_join(server->watch, NULL);
    server->has_watch = 0;
}

void watch_add(struct server *server, struct exchange *exchange) {
    pthread_mutex_lock(&server->connections_lock);
    exchange->following = server->connections;
    if (exchange->following) exchange->following->previous = exchange;
    server->connections = exchange;
    server->num_connections++;
    pthread_mutex_unlock(&server->connections_lock);
}

void watch_remove(struct server *server, struct exchange *exchange) {
    pthread_mutex_lock(&server->connections_lock);
    *(exchange->previous ? &exchange->previous->following : &server->connections) = exchange->following;
    if (exchange->following) exchange->following->previous = exchange->previous;
    server->num_connections--;
    pthread_mutex_unlock(&server->connections_lock);
}

void watch_close_idle(struct server *server) {
    pthread_mutex_lock(&server->connections_lock);
    for (struct exchange *exchange = server->connections; exchange; exchange = exchange->following)
        give_up(exchange, EXCHANGE_IDLE, 0);
    pthread_mutex_unlock(&server->connections_lock);
}
