/* SPDX-License-Identifier: Apache-2.0 */
/* What requests are answered with. The server sets it up before the first request, and takes it down after the last. */
#ifndef KERF_SERVER_SERVICE_H
#define KERF_SERVER_SERVICE_H

#include "server/log.h"
#include "server/origin.h"

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

#endif
