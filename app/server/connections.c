/* SPDX-License-Identifier: Apache-2.0 */
#include "server/connections.h"

#include <assert.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include "base/clock.h"
#include "base/error_fill.h"

enum {
    CROWD_BUCKETS = 1024,
    CLOSE_WAIT = 8 /* TCP_CLOSE_WAIT of netinet/tcp.h, which cannot be included beside linux/tcp.h */
};

struct crowd { /* the connections of one network */
    struct crowd *next;
    struct network network;
    int32_t count; /* 1 or more */
};

struct connections {
    struct connection_limits limits;
    pthread_mutex_t lock; /* of all that follows */
    struct connection *first;
    struct crowd *crowds[CROWD_BUCKETS];
    _Atomic uint64_t slow, unread;
    pthread_t thread;
    pthread_cond_t ends;
    int has_thread, is_over;
};

/* ---- What the kernel knows ----------------------------------------------------------------------------------- */

static struct tcp_info ask_kernel(int fd) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length);
    return info;
}

/* ---- The thread ---------------------------------------------------------------------------------------------- */

/* Bytes that came in, and that the library has not read. */
static int unread_bytes(int fd) {
    int bytes = 0;
    return ioctl(fd, FIONREAD, &bytes) == 0 ? bytes : 0;
}

/* Ends a connection that is in this state. 1: it was, and ends now. */
static int give_up(struct connection *connection, int state) {
    int ends = atomic_compare_exchange_strong(&connection->state, &state, CONNECTION_GIVEN_UP);
    if (ends) shutdown(connection->fd, SHUT_RDWR);
    return ends;
}

static void give_up_slow(struct connections *connections, struct connection *connection, int state) {
    static const char late[] =
        "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\nContent-Length: 28\r\n"
        "Connection: close\r\n\r\n{\"detail\":\"Request Timeout\"}";
    if (!atomic_compare_exchange_strong(&connection->state, &state, CONNECTION_GIVEN_UP)) return;
    if (!connections->limits.is_tls) send(connection->fd, late, sizeof late - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    connections->slow++;
    shutdown(connection->fd, SHUT_RDWR);
}

/* The kernel would offer the rest of the answer for minutes more: a reset ends that. */
static void give_up_stuck(struct connections *connections, struct connection *connection) {
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    int state = CONNECTION_WRITING;
    if (!atomic_compare_exchange_strong(&connection->state, &state, CONNECTION_GIVEN_UP)) return;
    setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    connections->unread++;
    shutdown(connection->fd, SHUT_RDWR);
}

static void look_at_idle(struct connections *connections, struct connection *connection, double now_s) {
    const struct tcp_info info = ask_kernel(connection->fd);
    int is_new = connection->received == 0, has_begun = info.tcpi_bytes_received > connection->received;
    double quiet_s = now_s - connection->since_s;
    if (info.tcpi_state == CLOSE_WAIT && unread_bytes(connection->fd) == 0) { /* the client sends nothing more */
        give_up(connection, CONNECTION_IDLE);
    } else if (has_begun && !connection->has_partial) { /* its time counts from when it was first seen */
        connection->has_partial = 1;
        if (!is_new) connection->since_s = now_s;
    } else if (has_begun || is_new) {
        if (quiet_s > connections->limits.request_s) give_up_slow(connections, connection, CONNECTION_IDLE);
    } else {
        connection->has_partial = 0;
        if (quiet_s > connections->limits.idle_s) give_up(connection, CONNECTION_IDLE);
    }
}

/* If no byte waits for the client, the server is late, not the client. */
static void look_at_writing(struct connections *connections, struct connection *connection, double now_s) {
    const struct tcp_info info = ask_kernel(connection->fd);
    int is_waiting = info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0;
    if (info.tcpi_bytes_acked != connection->taken || !is_waiting) {
        connection->taken = info.tcpi_bytes_acked;
        connection->since_s = now_s;
    } else if (now_s - connection->since_s > connections->limits.write_s) {
        give_up_stuck(connections, connection);
    }
}

static void look_at(struct connections *connections, struct connection *connection, double now_s) {
    switch ((enum connection_state)atomic_load(&connection->state)) {
    case CONNECTION_IDLE: look_at_idle(connections, connection, now_s); break;
    case CONNECTION_READING:
        if (now_s - connection->since_s > connections->limits.request_s)
            give_up_slow(connections, connection, CONNECTION_READING);
        break;
    case CONNECTION_WRITING: look_at_writing(connections, connection, now_s); break;
    case CONNECTION_RUNNING:
    case CONNECTION_GIVEN_UP:
    case CONNECTION_STATES: break;
    }
}

void connections_look(struct connections *connections, double now_s) {
    pthread_mutex_lock(&connections->lock);
    for (struct connection *connection = connections->first; connection; connection = connection->following)
        look_at(connections, connection, now_s);
    pthread_mutex_unlock(&connections->lock);
}

static void *keep_looking(void *context) {
    struct connections *connections = context;
    pthread_mutex_lock(&connections->lock);
    while (!connections->is_over) {
        const struct timespec until = clock_ticks_after(1);
        pthread_mutex_unlock(&connections->lock);
        connections_look(connections, clock_ticks_s());
        connections->limits.each_second(connections->limits.context);
        pthread_mutex_lock(&connections->lock);
        if (!connections->is_over) pthread_cond_timedwait(&connections->ends, &connections->lock, &until);
    }
    pthread_mutex_unlock(&connections->lock);
    return NULL;
}

int32_t connections_start(const struct connection_limits *limits, struct connections **ret_connections,
                          struct kerf_error *err) {
    struct connections *connections = calloc(1, sizeof *connections);
    pthread_condattr_t attributes;
    assert(limits->request_s > 0 && limits->write_s > 0 && limits->idle_s > 0 && limits->a_network >= 0);
    if (connections == NULL) return error_no_memory(err, "connections");
    connections->limits = *limits;
    pthread_mutex_init(&connections->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&connections->ends, &attributes);
    pthread_condattr_destroy(&attributes);
    if (limits->each_second)
        connections->has_thread = pthread_create(&connections->thread, NULL, keep_looking, connections) == 0;
    if (connections->has_thread || limits->each_second == NULL) {
        *ret_connections = connections;
        return KERF_OK;
    }
    connections_stop(connections);
    return kerf_error_set(err, KERF_ENOMEM, "no thread can be started");
}

struct connections *connections_stop(struct connections *connections) {
    if (connections == NULL) return NULL;
    pthread_mutex_lock(&connections->lock);
    connections->is_over = 1;
    pthread_cond_signal(&connections->ends);
    pthread_mutex_unlock(&connections->lock);
    if (connections->has_thread) pthread_join(connections->thread, NULL);
    assert(connections->first == NULL);
    pthread_mutex_destroy(&connections->lock);
    pthread_cond_destroy(&connections->ends);
    free(connections);
    return NULL;
}

/* ---- All of them --------------------------------------------------------------------------------------------- */

/* The link to the network's crowd, or the place for a new one. */
static struct crowd **crowd_of(struct connections *connections, const struct network *network) {
    struct crowd **link = &connections->crowds[network_hash(network, connections->limits.seed) % CROWD_BUCKETS];
    while (*link && !network_same(&(*link)->network, network)) link = &(*link)->next;
    return link;
}

int connections_admit(struct connections *connections, const struct sockaddr *address) {
    const struct network network = network_of(address);
    if (connections->limits.a_network == 0) return 1;
    pthread_mutex_lock(&connections->lock);
    const struct crowd *crowd = *crowd_of(connections, &network);
    int admits = crowd == NULL || crowd->count < connections->limits.a_network;
    pthread_mutex_unlock(&connections->lock);
    return admits;
}

/* Without memory for a new crowd the connection is not counted. */
static void join_crowd(struct connections *connections, struct connection *connection) {
    struct crowd **link = crowd_of(connections, &connection->network), *crowd = *link;
    if (crowd == NULL) {
        *link = crowd = calloc(1, sizeof *crowd);
        if (crowd) crowd->network = connection->network;
    }
    connection->in_crowd = crowd != NULL;
    if (crowd) crowd->count++;
}

static void leave_crowd(struct connections *connections, const struct connection *connection) {
    struct crowd **link = crowd_of(connections, &connection->network), *crowd = *link;
    if (!connection->in_crowd) return;
    assert(crowd && crowd->count > 0);
    if (--crowd->count > 0) return;
    *link = crowd->next;
    free(crowd);
}

void connections_add(struct connections *connections, struct connection *connection, int fd,
                     const struct sockaddr *address) {
    assert(connection->previous == NULL && connection->state == CONNECTION_IDLE);
    connection->fd = fd;
    connection->network = network_of(address);
    network_name(address, connection->client);
    connection->since_s = clock_ticks_s();
    pthread_mutex_lock(&connections->lock);
    connection->following = connections->first;
    if (connection->following) connection->following->previous = connection;
    connections->first = connection;
    if (connections->limits.a_network > 0) join_crowd(connections, connection);
    pthread_mutex_unlock(&connections->lock);
}

void connections_remove(struct connections *connections, struct connection *connection) {
    pthread_mutex_lock(&connections->lock);
    *(connection->previous ? &connection->previous->following : &connections->first) = connection->following;
    if (connection->following) connection->following->previous = connection->previous;
    if (connections->limits.a_network > 0) leave_crowd(connections, connection);
    pthread_mutex_unlock(&connections->lock);
}

void connections_close_idle(struct connections *connections) {
    pthread_mutex_lock(&connections->lock);
    for (struct connection *connection = connections->first; connection; connection = connection->following)
        give_up(connection, CONNECTION_IDLE);
    pthread_mutex_unlock(&connections->lock);
}

void connections_count(struct connections *connections, struct connection_counts *ret_counts) {
    *ret_counts = (struct connection_counts){.slow = connections->slow, .unread = connections->unread};
    pthread_mutex_lock(&connections->lock);
    for (struct connection *connection = connections->first; connection; connection = connection->following) {
        int state = atomic_load(&connection->state);
        assert(state >= 0 && state < CONNECTION_STATES);
        ret_counts->now[state]++;
    }
    pthread_mutex_unlock(&connections->lock);
}

/* ---- The way of a request ------------------------------------------------------------------------------------ */

static int pass(struct connection *connection, int from, int to) {
    return atomic_compare_exchange_strong(&connection->state, &from, to);
}

int connection_read(struct connection *connection) {
    if (!connection->has_partial) connection->since_s = clock_ticks_s();
    return pass(connection, CONNECTION_IDLE, CONNECTION_READING);
}

int connection_run(struct connection *connection) {
    return connection->state == CONNECTION_RUNNING || pass(connection, CONNECTION_READING, CONNECTION_RUNNING);
}

int connection_write(struct connection *connection) {
    connection->taken = 0; /* the first look counts as progress */
    connection->since_s = clock_ticks_s();
    return pass(connection, CONNECTION_RUNNING, CONNECTION_WRITING);
}

void connection_rest(struct connection *connection) {
    connection->has_partial = 0;
    connection->since_s = clock_ticks_s();
    connection->received = ask_kernel(connection->fd).tcpi_bytes_received;
    int state = connection->state;
    if (state != CONNECTION_GIVEN_UP) pass(connection, state, CONNECTION_IDLE);
}
