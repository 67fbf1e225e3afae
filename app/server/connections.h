/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All connections: how many each network has, and which of them are slow, stuck or idle. Once a second a thread looks at
 * each of them:
 *
 *     a new connection without a whole request within `request_s`       408, and the connection ends
 *     a request that is not whole `request_s` after its first byte      the same
 *     an answer of which the client took nothing for `write_s`          the connection is reset
 *     no request within `idle_s` after the last answer                  the connection ends
 *     no request, and the client said that it sends none                 the same
 *
 * libmicrohttpd reads and writes the bytes, and tells of a request when its first line is whole. What came in before
 * that, and what the client has taken of an answer, the kernel knows (TCP_INFO). The 408 is written past the library,
 * whose thread would wait for the rest of the request; the library then sees the connection end.
 *
 * A TLS stream belongs to the library's thread, so such a connection ends without the 408. A handshake that takes too
 * long counts as a request that does.
 */
#ifndef KERF_SERVER_CONNECTIONS_H
#define KERF_SERVER_CONNECTIONS_H

#include <stdatomic.h>
#include "kerf/error.h"
#include "server/network.h"

/* What a connection does. Only CONNECTION_RUNNING may be suspended. */
enum connection_state {
    CONNECTION_IDLE,     /* between two requests, or before the first */
    CONNECTION_READING,  /* a request's first line came in */
    CONNECTION_RUNNING,  /* the request is whole, its answer is being made */
    CONNECTION_WRITING,  /* the answer goes out */
    CONNECTION_GIVEN_UP, /* it ends, whatever still comes */
    CONNECTION_STATES
};

struct connection { /* zeros at first; part of what its requests are about */
    struct connection *previous, *following;
    int fd;
    struct network network;
    char client[NETWORK_NAME_BYTES];
    _Atomic int state;         /* enum connection_state */
    _Atomic double since_s;    /* of this state; of the first byte of a request; of the last progress of an answer */
    _Atomic uint64_t received; /* bytes that had come in when the last request was over; 0: there was none */
    _Atomic uint64_t taken;    /* bytes that the client had taken when this was last looked at */
    _Atomic int has_partial;   /* a part of the next request came in */
    int in_crowd;              /* counted for its network */
};

struct connections;

struct connection_limits {
    double request_s, write_s, idle_s;
    int32_t a_network; /* connections of one network at a time; 0: any number */
    int32_t is_tls;
    uint64_t seed;                      /* random, so that nobody knows which networks share a bucket */
    void (*each_second)(void *context); /* called by the thread; NULL: there is none */
    void *context;
};

struct connection_counts {
    int64_t now[CONNECTION_STATES];
    uint64_t slow;   /* given up while a request came in */
    uint64_t unread; /* given up while an answer went out */
};

int32_t connections_start(const struct connection_limits *limits, struct connections **ret_connections,
                          struct kerf_error *err);
struct connections *connections_stop(struct connections *connections); /* always NULL; none may be left */
void connections_count(struct connections *connections, struct connection_counts *ret_counts);
void connections_close_idle(struct connections *connections);
void connections_look(struct connections *connections, double now_s); /* what the thread does once a second */

/* 1 when a connection from there may be accepted: its network has not too many. */
int connections_admit(struct connections *connections, const struct sockaddr *address);
void connections_add(struct connections *connections, struct connection *connection, int fd,
                     const struct sockaddr *address);
void connections_remove(struct connections *connections, struct connection *connection);

/* The way of a request. Each is 0 when the connection was given up meanwhile. */
int connection_read(struct connection *connection);  /* IDLE to READING */
int connection_run(struct connection *connection);   /* READING to RUNNING; 1 too where it is RUNNING already */
int connection_write(struct connection *connection); /* RUNNING to WRITING */
void connection_rest(struct connection *connection); /* to IDLE: the request is over */

#endif
