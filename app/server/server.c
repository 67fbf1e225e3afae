/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of the server's parts, from the store to the socket, and their end.
 *
 * At the end idle connections are closed at once; requests that still come in, and answers that still go out, have
 * CLIENTS_S; requests that run are answered. A database that hangs could hold that up without end, so that the
 * process ends after END_S whatever happens: everything that was answered is stored, and clients ask again for the
 * rest, as after a crash.
 */
#include "server/server.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "server/access.h"
#include "server/health.h"
#include "server/job_cache.h"
#include "server/job_series.h"
#include "server/network.h"
#include "server/retention.h"
#include "server/service.h"
#include "server/stream.h"
#include "server/tls.h"
#include "server/workers.h"
#include "store/store.h"

enum {
    THREADS_MAX = 8,
    WORKERS = 28,
    SPARE_FILES = 96, /* for the store, its workers and the threads */
    RATE_BEYOND_LOOPBACK = 1000,
    NETWORK_PART = 4, /* of all connections one network may have this part */
    STEP_MS = 10,
    CLIENTS_S = 3,
    END_S = 4
};

struct server {
    struct server_options options;
    struct service service;
    struct retention *retention; /* NULL: trials are kept for ever */
    struct MHD_Daemon *daemon;
    int32_t port;
    int is_loopback;
    int fd; /* the socket that listens, before the daemon has it; -1: none */
};

/* ---- Parts -------------------------------------------------------------------------------------------------- */

static int32_t threads_of(const struct server_options *options) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (options->threads > 0) return options->threads;
    return processors < 1 ? 1 : processors > THREADS_MAX ? THREADS_MAX : (int32_t)processors;
}

/* As many files as connections need, if the system allows it; else fewer connections, so that the store has its
 * files. */
static int32_t raise_file_limit(struct server *server, struct kerf_error *err) {
    int32_t *connections = &server->options.connections;
    struct rlimit limit;
    rlim_t wanted = (rlim_t)*connections + SPARE_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return KERF_OK;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > wanted ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return KERF_OK;
    if (limit.rlim_cur <= SPARE_FILES)
        return kerf_error_set(err, KERF_EIO, "the server needs more than %d open files, and may have %d (ulimit -n)",
                              SPARE_FILES, (int)limit.rlim_cur);
    log_info(&server->service.log, "limit",
             "%d connections at a time instead of %d: the system allows %d open files (ulimit -n)",
             (int)limit.rlim_cur - SPARE_FILES, *connections, (int)limit.rlim_cur);
    *connections = (int32_t)limit.rlim_cur - SPARE_FILES;
    return KERF_OK;
}

/* What was held back of the log: its last line was about a second ago. */
static void each_second(void *context) {
    struct service *service = context;
    double now_s = clock_ticks_s();
    struct log_request line = {.count = log_limit_rest(&service->refusals, now_s)};
    if (line.count > 0) log_request(&service->log, LOG_LEVEL_WARNING, "refused", &line, "more requests were refused");
    line.count = log_limit_rest(&service->failures, now_s);
    if (line.count > 0) log_request(&service->log, LOG_LEVEL_ERROR, "failed", &line, "more requests failed");
    log_limit_rest(&service->words, now_s);
    events_each_second(service);
}

static int32_t make_tables(struct server *server, struct kerf_error *err) {
    struct service *service = &server->service;
    const struct api *parts[] = {NULL,      &pages_api, &health_api, &openapi_api,
                                 &jobs_api, &asks_api,  &events_api, &studies_api};
    int has_addition = server->options.addition != NULL;
    if (has_addition) parts[0] = server->options.addition->api;
    service->router = router_new(parts + !has_addition, sizeof parts / sizeof *parts - !has_addition, service->compat);
    service->health = health_new();
    service->job_series = job_series_new();
    service->streams = streams_new();
    service->jobs = job_cache_new((size_t)server->options.cache_mib << 20);
    int has_all = service->router && service->health && service->job_series && service->streams && service->jobs;
    return has_all ? KERF_OK : error_no_memory(err, "the server");
}

/* Limits that were not given depend on the address: none on loopback. */
static int32_t make_limits(struct server *server, struct kerf_error *err) {
    struct server_options *options = &server->options;
    struct service *service = &server->service;
    uint64_t seeds[2];
    if (getrandom(seeds, sizeof seeds, 0) != sizeof seeds)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "the system has no random numbers");
    if (options->rate < 0) options->rate = server->is_loopback ? 0 : RATE_BEYOND_LOOPBACK;
    if (options->connections_an_address < 0)
        options->connections_an_address =
            server->is_loopback ? 0 : (options->connections + NETWORK_PART - 1) / NETWORK_PART;
    const struct connection_limits limits = {.request_s = options->request_s,
                                             .write_s = options->write_s,
                                             .idle_s = options->idle_s,
                                             .a_network = options->connections_an_address,
                                             .is_tls = service->tls != NULL,
                                             .seed = seeds[0],
                                             .each_second = each_second,
                                             .context = service};
    int32_t code = connections_start(&limits, &service->connections, err);
    if (code != KERF_OK || options->rate == 0) return code;
    service->rates = rate_new(options->rate, seeds[1]);
    return service->rates ? KERF_OK : error_no_memory(err, "the rates of addresses");
}

static void set_origins(struct server *server) {
    struct origin_rules *rules = &server->service.origins;
    rules->hosts = server->options.allow_hosts;
    rules->num_hosts = (size_t)server->options.num_allow_hosts;
    rules->origins = server->options.allow_origins;
    rules->num_origins = (size_t)server->options.num_allow_origins;
    rules->checks_hosts = server->is_loopback || rules->num_hosts > 0;
}

static int32_t open_access(struct server *server, struct kerf_error *err) {
    struct service *service = &server->service;
    if (!server->options.tokens && server->is_loopback) return KERF_OK;
    if (service->tls == NULL && !server->is_loopback)
        log_warning(
            &service->log, "tokens",
            "they travel unencrypted: everybody on the network can read them; --tls-cert switches encryption on");
    return access_open(service->store, &service->log, &service->access, err);
}

/* ---- Start -------------------------------------------------------------------------------------------------- */

static int32_t open_store(struct server *server, struct kerf_error *err) {
    const struct server_options *options = &server->options;
    struct service *service = &server->service;
    int32_t code = store_open(options->store, STORE_SERVE | STORE_MAY_CREATE, &service->store, err);
    if (code != KERF_OK || options->import_zeus == NULL) return code;
    if (options->addition == NULL || options->addition->import == NULL)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "this kerf was built without Zeus's API, and cannot import");
    return options->addition->import(options->import_zeus, service->store, service->job_flags, &service->log, err);
}

static int32_t start_daemon(struct server *server, struct kerf_error *err) {
    const struct http_options how = {
        .fd = server->fd, .threads = threads_of(&server->options), .connections = server->options.connections};
    server->fd = -1;
    return http_start(&server->service, &how, &server->daemon, err);
}

/* Each part needs those that are started before it. */
static int32_t start_parts(struct server *server, struct kerf_error *err) {
    const struct server_options *options = &server->options;
    struct service *service = &server->service;
    int32_t code = raise_file_limit(server, err);
    if (code == KERF_OK && options->tls_cert)
        code = tls_load(options->tls_cert, options->tls_key, &service->log, &service->tls, err);
    if (code == KERF_OK) code = open_store(server, err);
    if (code == KERF_OK) code = make_tables(server, err);
    if (code == KERF_OK && service->store->methods->blocks) code = workers_start(WORKERS, &service->workers, err);
    if (code == KERF_OK) code = workers_start(threads_of(options), &service->askers, err);
    if (code == KERF_OK)
        code = listen_open(options->listen, &server->fd, &server->port, service->address, &server->is_loopback, err);
    if (code == KERF_OK) set_origins(server);
    if (code == KERF_OK) code = make_limits(server, err);
    if (code == KERF_OK) code = open_access(server, err);
    if (code == KERF_OK) code = start_daemon(server, err);
    if (code == KERF_OK && options->keep_trials_s > 0)
        code = retention_start(service->store, service->job_flags, options->keep_trials_s, &service->log,
                               &service->health->removed, &server->retention, err);
    return code;
}

static void abandon(struct server *server);

int32_t server_start(const struct server_options *options, struct server **ret_server, struct kerf_error *err) {
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL) return error_no_memory(err, "the server");
    server->options = *options;
    server->fd = -1;
    server->service = (struct service){.log = {options->log_json, STDERR_FILENO, options->is_quiet},
                                       .compat = options->compat,
                                       .job_flags = options->compat ? KERF_JOB_COMPAT : 0,
                                       .logs_requests = options->log_requests,
                                       .asks = {.lock = PTHREAD_MUTEX_INITIALIZER},
                                       .opened = options->opened,
                                       .compute_limit_s = options->compute_limit_s > 0 ? options->compute_limit_s : 30,
                                       .scheme = options->tls_cert ? "https" : "http",
                                       .started_s = clock_now_s()};
    int32_t code = start_parts(server, err);
    if (code != KERF_OK) {
        abandon(server);
        return code;
    }
    char store[256];
    store_name(options->store, store, sizeof store);
    log_info(&server->service.log, "listening", "%s://%s, store %s", server->service.scheme, server->service.address,
             store);
    *ret_server = server;
    return KERF_OK;
}

int32_t server_port(const struct server *server) { return server->port; }

void server_reload(struct server *server) {
    const struct service *service = &server->service;
    struct kerf_error err;
    if (service->tls == NULL)
        log_info(&service->log, "reload", "there is no certificate to read again");
    else if (tls_renew(service->tls, &err) == KERF_OK)
        log_info(&service->log, "reload", "new connections get the certificate in %s", server->options.tls_cert);
    else
        log_error(&service->log, "reload", "the certificate stays as it was: %s", err.message);
}

/* ---- The last moment ---------------------------------------------------------------------------------------- */

struct last_moment {
    const struct log *log;
    struct connections *connections;
    struct timespec at; /* CLOCK_MONOTONIC */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    int is_over, has_thread;
    int knows_left; /* the requests are over, and left tells which had to be ended */
    struct connection_counts left;
};

static void log_end(const struct log *log, const struct connection_counts *left) {
    int64_t reading = left->now[CONNECTION_READING], writing = left->now[CONNECTION_WRITING];
    if (reading + writing == 0)
        log_info(log, "stopped", "all requests are answered");
    else
        log_warning(log, "stopped",
                    "%" PRId64 " clients did not finish their request, %" PRId64 " did not read their answer", reading,
                    writing);
}

static void *wait_for_end(void *context) {
    struct last_moment *last = context;
    struct connection_counts counts;
    pthread_mutex_lock(&last->lock);
    while (!last->is_over) {
        if (pthread_cond_timedwait(&last->ended, &last->lock, &last->at) != ETIMEDOUT || last->is_over) continue;
        if (last->knows_left)
            counts = last->left;
        else
            connections_count(last->connections, &counts);
        if (counts.now[CONNECTION_RUNNING] > 0)
            log_error(last->log, "stopped", "the store does not answer: %" PRId64 " requests get no answer",
                      counts.now[CONNECTION_RUNNING]);
        else /* the machine is slow */
            log_end(last->log, &counts);
        _exit(0);
    }
    pthread_mutex_unlock(&last->lock);
    return NULL;
}

static void begin_last(struct last_moment *last, double end_s) {
    pthread_condattr_t attributes;
    last->at = clock_ticks_after(end_s > 0 ? end_s : END_S);
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

/* ---- Stop --------------------------------------------------------------------------------------------------- */

static void finish_requests(struct server *server, struct last_moment *last) {
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000};
    struct connections *connections = server->service.connections;
    struct connection_counts left;
    double clients_s = server->options.clients_s, until_s = clock_ticks_s() + (clients_s > 0 ? clients_s : CLIENTS_S);
    for (;;) {
        connections_close_idle(connections);
        connections_count(connections, &left);
        int64_t clients = left.now[CONNECTION_READING] + left.now[CONNECTION_WRITING];
        if (left.now[CONNECTION_RUNNING] == 0 && (clients == 0 || clock_ticks_s() >= until_s)) break;
        nanosleep(&step, NULL);
    }
    pthread_mutex_lock(&last->lock);
    last->left = left;
    last->knows_left = 1;
    pthread_mutex_unlock(&last->lock);
    MHD_stop_daemon(server->daemon); /* none is suspended, which it would not survive */
}

static void stop_parts(struct server *server, struct last_moment *last) {
    struct service *service = &server->service;
    service->is_stopping = 1;
    if (service->streams) streams_end(service->streams);
    if (server->daemon) finish_requests(server, last);
    if (server->fd >= 0) close(server->fd);
    retention_stop(server->retention);
    access_close(service->access);
    rate_free(service->rates);
    workers_stop(service->workers);
    workers_stop(service->askers);
    store_close(service->store);
    job_cache_free(service->jobs);
    job_series_free(service->job_series);
    health_free(service->health);
    router_free(service->router);
    tls_free(service->tls);
}

/* One whose start failed. */
static void abandon(struct server *server) {
    struct last_moment last = {.lock = PTHREAD_MUTEX_INITIALIZER};
    stop_parts(server, &last);
    connections_stop(server->service.connections);
    streams_free(server->service.streams);
    free(server);
}

void server_stop(struct server *server) {
    const struct log log = server->service.log;
    struct last_moment last = {.log = &log, .connections = server->service.connections};
    begin_last(&last, server->options.end_s);
    stop_parts(server, &last);
    end_last(&last);
    connections_stop(server->service.connections); /* which it counted, and whose thread tells streams */
    streams_free(server->service.streams);
    log_end(&log, &last.left);
    free(server);
}
