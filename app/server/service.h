/* SPDX-License-Identifier: Apache-2.0 */
/* What all requests share: the parts of the server that let them in, answer them and carry them. The server makes it
 * before the first request, and frees it after the last. */
#ifndef KERF_SERVER_SERVICE_H
#define KERF_SERVER_SERVICE_H

#include <pthread.h>
#include "server/access.h"
#include "server/log.h"
#include "server/opened.h"

struct MHD_Daemon;
struct ask;

/* What is being computed: how many requests wait for it, and the questions that answer as streams (ask_routes.c). */
enum { ASKS_WAITING_MAX = 64 };
struct asks {
    pthread_mutex_t lock;
    struct ask *first;
    uint64_t last; /* number */
    _Atomic int waiting;
};

/* What has changed, for pages that show it (event_routes.c). */
struct events {
    _Atomic uint64_t jobs; /* requests that changed a job */
    uint64_t told_jobs, told_journals;
};

struct service {
    struct log log;
    struct log_limit refusals, failures, words; /* words: the HTTP library's */
    struct store *store;
    struct job_cache *jobs;
    struct router *router;
    struct health *health;
    struct job_series *job_series;
    struct connections *connections;
    struct access *access;    /* NULL: no tokens are asked for */
    struct rate_table *rates; /* NULL: everybody may ask as much as they like */
    struct workers *workers;  /* NULL: the store never makes one wait */
    struct workers *askers;   /* they answer asks */
    struct asks asks;
    struct streams *streams;
    struct events events;
    double compute_limit_s; /* of an ask */
    struct server_opened opened;
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

/* Tells the pages that listen (event_routes.c). */
void events_each_second(struct service *service);

/* ---- The HTTP library (http.c) ----------------------------------------------------------------------------------- */

struct http_options {
    int fd; /* the socket that listens; closed where the start fails */
    int32_t threads;
    int32_t connections; /* at a time; more wait to be accepted */
};

int32_t http_start(struct service *service, const struct http_options *options, struct MHD_Daemon **ret_daemon,
                   struct kerf_error *err);

#endif
