/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the server tell each other. */
#ifndef KERF_SERVER_SERVER_PARTS_H
#define KERF_SERVER_SERVER_PARTS_H

#include <pthread.h>
#include "base/clock.h"
#include "server/access.h"
#include "server/exchange.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/rate.h"
#include "server/retention.h"
#include "server/server.h"
#include "server/tls.h"
#include "server/workers.h"

struct MHD_Daemon;

struct server {
    struct server_options options;
    struct log log;
    struct store *store;
    struct job_cache *jobs;
    struct rate_table *rates;    /* NULL: everybody may ask as much as they like */
    struct retention *retention; /* NULL: trials are kept for ever */
    struct access *access;       /* NULL: no tokens are asked for */
    struct tls_files tls;        /* zeros: plain HTTP */
    struct workers *workers;     /* NULL when the store never makes one wait */
    struct metrics metrics;
    struct MHD_Daemon *daemon;
    char address[128]; /* "127.0.0.1:8000" */
    int32_t port;
    double started_s;
    _Atomic int64_t words_s; /* when the library's words were last written */
    _Atomic int is_stopping;
    _Atomic int64_t running; /* requests that are complete and not answered */

    /* watch.c */
    pthread_mutex_t connections_lock;
    struct exchange *connections;
    _Atomic int64_t num_connections;
    pthread_t watch;
    pthread_cond_t watch_ends;
    int has_watch, watch_is_over;
};

static inline int32_t server_job_flags(const struct server *server) {
    return server->options.compat ? KERF_JOB_COMPAT : 0;
}
static inline const char *server_scheme(const struct server *server) {
    return server->options.tls_cert ? "https" : "http";
}
static inline int32_t server_request_flags(const struct server *server) {
    return server->options.compat ? 0 : REQUEST_MENDED;
}

void server_abandon(struct server *server); /* one whose start failed, or was not finished */


/* ---- watch.c: slow and idle connections -------------------------------------------------------------------- */

int32_t watch_start(struct server *server, struct kerf_error *err);
void watch_stop(struct server *server);
void watch_add(struct server *server, struct exchange *exchange);
void watch_remove(struct server *server, struct exchange *exchange);
void watch_close_idle(struct server *server);
void watch_settle(struct exchange *exchange); /* a request is over: what comes from now on is another */

/* ---- rate_limit.c: addresses that ask too much -------------------------------------------------------------- */

int32_t rate_limit_open(struct server *server, int is_loopback, struct kerf_error *err);
void rate_limit_know(struct exchange *exchange);         /* the client's address */
int rate_limit_lets_in(struct exchange *exchange);       /* 0: rate_limit_answer is the answer */
void rate_limit_answer(struct exchange *exchange);       /* 429 */
void rate_limit_note_refused(struct exchange *exchange); /* 401 */

/* ---- router.c ---------------------------------------------------------------------------------------------- */

struct route {
    const char *method, *pattern; /* "/api/v1/jobs/{job_id}" */
    exchange_step step;
    int32_t flags;
    const char *summary; /* for the OpenAPI document */
};
enum route_flags {
    ROUTE_NOT_COMPAT = 1, /* Zeus's server has something else there */
    ROUTE_OWN = 2,        /* kerf's, not Zeus's */
    ROUTE_OPEN = 4,       /* without a token: says nothing about anybody */
    ROUTE_QUICK = 8       /* never asks the store: no worker is waited for */
};

void router_split(struct exchange *exchange); /* the target: path and query */
/* Sets route and step, or answers 404, 405 or 307. */
void router_find(struct exchange *exchange);
const struct route *router_routes(int32_t *ret_count);
int router_has(const struct server *server, const struct route *route); /* 0: not with --compat zeus */
int32_t router_index(const struct route *route);                        /* the number of routes for NULL */

/* ---- The routes -------------------------------------------------------------------------------------------- */

void zeus_register(struct exchange *exchange);
void zeus_delete(struct exchange *exchange);
void zeus_predict(struct exchange *exchange);
void zeus_report(struct exchange *exchange);
void zeus_end(struct exchange *exchange);

void api_list_jobs(struct exchange *exchange);
void api_job(struct exchange *exchange);
void api_state(struct exchange *exchange);
void api_trials(struct exchange *exchange);
void api_trial(struct exchange *exchange);
void api_arms(struct exchange *exchange);
void api_policies(struct exchange *exchange);
void api_openapi(struct exchange *exchange);

void page_home(struct exchange *exchange);
void page_metrics(struct exchange *exchange);
void page_docs(struct exchange *exchange);
void page_healthz(struct exchange *exchange);
void page_readyz(struct exchange *exchange);

#endif
