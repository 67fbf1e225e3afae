/* SPDX-License-Identifier: Apache-2.0 */
/* What requests are answered with, and the parts of the server that let them in and carry them. The server sets it up
 * before the first request, and takes it down after the last. */
#ifndef KERF_SERVER_SERVICE_H
#define KERF_SERVER_SERVICE_H

#include "server/log.h"
#include "server/origin.h"

struct access;
struct exchange;
struct MHD_Daemon;

struct service {
    struct log log;
    struct log_limit refusals, failures, words; /* words: the HTTP library's */
    struct store *store;
    struct job_cache *jobs;
    struct router *router;
    struct health *health;
    struct connections *connections;
    struct access *access;    /* NULL: no tokens are asked for */
    struct rate_table *rates; /* NULL: everybody may ask as much as they like */
    struct workers *workers;  /* NULL: the store never makes one wait */
    struct origin_rules origins;
    struct tls *tls;   /* NULL: plain HTTP */
    int32_t compat;    /* 1: as Zeus's server, its faults included */
    int32_t job_flags; /* enum kerf_job_flags */
    int32_t logs_requests;
    const char *scheme; /* "http" */
    char address[128];  /* "127.0.0.1:8000" */
    double started_s;
    _Atomic int is_stopping;
};

/* ---- Who is let in (gate.c): the head of the request, the site it comes from, the rate of its network, its token  */

/* Reads the tokens now, and about once a second from then on, so that `kerf token` needs no restart. */
int32_t access_open(struct store *store, const struct log *log, struct access **ret_access, struct kerf_error *err);
void access_close(struct access *access); /* NULL is fine */

/* When the head is there: what is not let in gets a refusal, and its body is not kept. version: as head_read. */
void gate_look(struct exchange *exchange, const char *version);

/* When the request is whole: 1 after its route was found and it may ask it, or 0 after an answer in its place. */
int gate_pass(struct exchange *exchange);

/* ---- Their way through libmicrohttpd (http.c) --------------------------------------------------------------------- */

struct http_options {
    int fd; /* the socket that listens; closed where the start fails */
    int32_t threads;
    int32_t connections; /* at a time; more wait to be accepted */
};

int32_t http_start(struct service *service, const struct http_options *options, struct MHD_Daemon **ret_daemon,
                   struct kerf_error *err);

#endif
