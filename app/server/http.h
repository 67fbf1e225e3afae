/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a request through libmicrohttpd, whose threads wait with epoll: a request that waits for its turn or for
 * a commit is suspended, and the thread goes on with others.
 */
#ifndef KERF_SERVER_HTTP_H
#define KERF_SERVER_HTTP_H

#include "kerf/error.h"

struct MHD_Daemon;
struct service;

struct http_options {
    int fd; /* the socket that listens; closed where the start fails */
    int32_t threads;
    int32_t connections; /* at a time; more wait to be accepted */
};

int32_t http_start(struct service *service, const struct http_options *options, struct MHD_Daemon **ret_daemon,
                   struct kerf_error *err);

#endif
