/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: store, cache, threads of libmicrohttpd with epoll, and the way of a request through them. A request that
 * waits for its turn or for a commit is suspended; the thread goes on with others.
 */
#include "server/server_parts.h"
#include "store/stores.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/error.h"
#include "server/listen.h"
#include "zeus/import.h"

enum {
    CONNECTION_BYTES = 16384, /* headers, and what is read and written at once */
    DRAINED_MOST = 64 << 20,  /* of a body that is too large, so that the client hears the answer */
    MOST_THREADS = 8,
    WORKERS = 28,
    SPARE_FILES = 96 /* for the store, its workers and the threads */
};

/* ---- Connections -------------------------------------------------------------------------------------------- */

static struct exchange *exchange_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code) {
    struct server *server = context;
    struct exchange *exchange = *socket_context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        exchange = info ? calloc(1, sizeof *exchange) : NULL;
        *socket_context = exchange;
        if (exchange == NULL) return; /* its requests are refused */
        exchange->server = server;
        exchange->connection = connection;
        exchange->fd = info->connect_fd;
        exchange->since_s = clock_ticks_s();
        rate_limit_know(exchange);
        watch_add(server, exchange);
    } else if (exchange) {
        watch_remove(server, exchange);
        exchange_free(exchange);
        *socket_context = NULL;
    }
}

/* The request's first line is there. What this returns is the request's context from now on. */
static void *on_target(void *context, const char *target, struct MHD_Connection *connection) {
    struct exchange *exchange = exchange_of(connection);
    int idle = EXCHANGE_IDLE;
    (void)context;
    if (exchange == NULL) return NULL;
    exchange_reset(exchange);
    if (!exchange->has_partial) exchange->since_s = clock_ticks_s();
    exchange->target = strdup(target);
    if (exchange->target == NULL || !atomic_compare_exchange_strong(&exchange->state, &idle, EXCHANGE_READING))
        return NULL;
    router_split(exchange);
    return exchange;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode code) {
    struct server *server = context;
    struct exchange *exchange = *request;
    (void)connection, (void)code;
    if (exchange == NULL) return;
    int state = EXCHANGE_RUNNING;
    exchange->has_partial = 0;
    exchange->since_s = clock_ticks_s();
    watch_settle(exchange);
    if (atomic_compare_exchange_strong(&exchange->state, &state, EXCHANGE_IDLE)) atomic_fetch_sub(&server->running, 1);
    *request = NULL;
}

/* ---- Requests ----------------------------------------------------------------------------------------------- */

static const char *header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

struct framing {
    int lengths, encodings, unknown;
};

static enum MHD_Result note_framing(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct framing *framing = context;
    (void)kind;
    if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) framing->lengths++;
    if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) != 0) return MHD_YES;
    framing->encodings++;
    framing->unknown += value == NULL || strcasecmp(value, "chunked") != 0;
    return MHD_YES;
}

/* Where a body ends must be clear to everybody on the way here: one length, or chunks. */
static int is_framed(struct MHD_Connection *connection) {
    struct framing framing = {0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, note_framing, &framing);
    return framing.unknown == 0 && framing.lengths <= 1 && !(framing.lengths && framing.encodings);
}

static enum MHD_Result send_answer(struct exchange *exchange);

static enum MHD_Result refuse_framing(struct exchange *exchange) {
    int reading = EXCHANGE_READING;
    if (!atomic_compare_exchange_strong(&exchange->state, &reading, EXCHANGE_RUNNING)) return MHD_NO;
    atomic_fetch_add(&exchange->server->running, 1);
    kerf_text_add(&exchange->answer, "Invalid HTTP request received.");
    exchange_answer(exchange, 400);
    exchange->content_type = "text/plain; charset=utf-8";
    exchange->is_last = 1;
    return send_answer(exchange);
}

/* The headers are there. */
static enum MHD_Result begin(struct exchange *exchange, const char *method) {
    struct MHD_Connection *connection = exchange->connection;
    const char *length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    unsigned long long body = length ? strtoull(length, NULL, 10) : 0;
    exchange->is_begun = 1;
    exchange->method = method;
    exchange->body_type = header(connection, MHD_HTTP_HEADER_CONTENT_TYPE);
    exchange->host = header(connection, MHD_HTTP_HEADER_HOST);
    const char *scheme = header(connection, "X-Forwarded-Proto");
    exchange->scheme = scheme && strcmp(scheme, "https") == 0 ? scheme : server_scheme(exchange->server);
    exchange->began_s = clock_ticks_s();
    exchange->role = TOKEN_NONE;
    if (!is_framed(connection)) return refuse_framing(exchange);
    if (rate_limit_lets_in(exchange)) exchange->role = access_role(exchange->server->access, connection);
    exchange->is_too_large = body > REQUEST_BODY_MOST;
    return MHD_YES;
}

static enum MHD_Result read_body(struct exchange *exchange, const char *data, size_t length) {
    exchange->drained += length;
    if (exchange->body.length + length > REQUEST_BODY_MOST) exchange->is_too_large = 1;
    if (exchange->drained > DRAINED_MOST) return MHD_NO;
    if (!exchange->is_too_large && exchange->role != TOKEN_NONE) kerf_text_write(&exchange->body, data, length);
    return exchange->body.failed ? MHD_NO : MHD_YES;
}

static enum MHD_Result send_answer(struct exchange *exchange) {
    struct server *server = exchange->server;
    struct kerf_text *answer = &exchange->answer;
    metrics_note(&server->metrics, router_index(exchange->route), exchange->status,
                 clock_ticks_s() - exchange->began_s);
    if (server->options.log_requests)
        log_info(&server->log, "request", "%s %.*s %d %.3f ms", exchange->method, (int)exchange->path.length,
                 exchange->path.bytes, exchange->status, 1e3 * (clock_ticks_s() - exchange->began_s));
    if (answer->failed) return MHD_NO;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->length, answer->data ? answer->data : (void *)"", MHD_RESPMEM_PERSISTENT); /* lives with the exchange */
    if (response == NULL) return MHD_NO;
    if (exchange->content_type) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, exchange->content_type);
    if (exchange->allow) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, exchange->allow);
    if (exchange->retry_after[0]) MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, exchange->retry_after);
    if (exchange->status == 401) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"kerf\"");
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"kerf\""); /* browsers */
    }
    if (exchange->location) MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, exchange->location);
    if (exchange->is_last || server->is_stopping)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    enum MHD_Result result = MHD_queue_response(exchange->connection, (unsigned)exchange->status, response);
    MHD_destroy_response(response);
    return result;
}

static void too_large(struct exchange *exchange) {
    exchange_detail(exchange, 413, "Request Entity Too Large");
    exchange->is_last = 1;
}

/* The request is whole. */
static enum MHD_Result run(struct exchange *exchange) {
    int reading = EXCHANGE_READING;
    if (atomic_compare_exchange_strong(&exchange->state, &reading, EXCHANGE_RUNNING)) {
        atomic_fetch_add(&exchange->server->running, 1);
        if (exchange->wait_s > 0)
            rate_limit_answer(exchange);
        else if (exchange->is_too_large)
            too_large(exchange);
        else
            router_find(exchange), access_allows(exchange);
        int is_quick = exchange->route && exchange->route->flags & ROUTE_QUICK;
        if (exchange->step && exchange->server->workers && !is_quick) {
            exchange_hand_over(exchange);
            return MHD_YES;
        }
    } else if (reading != EXCHANGE_RUNNING) {
        return MHD_NO; /* given up meanwhile */
    }
    return exchange->step == NULL || exchange_run(exchange) ? send_answer(exchange) : MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *data, size_t *length, void **request) {
    struct exchange *exchange = *request;
    (void)context, (void)connection, (void)url, (void)version;
    if (exchange == NULL) return MHD_NO;
    if (!exchange->is_begun) return begin(exchange, method);
    if (*length == 0) return run(exchange);
    size_t count = *length;
    *length = 0;
    return read_body(exchange, data, count);
}

/* ---- Start and stop ----------------------------------------------------------------------------------------- */

static int32_t threads_of(const struct server_options *options) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int32_t threads = options->threads ? options->threads : (int32_t)processors;
    if (threads < 1) threads = 1;
    return options->threads == 0 && threads > MOST_THREADS ? MOST_THREADS : threads;
}

/* As many files as connections need, if the system lets us; else fewer connections, so that the store has its files. */
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
    log_info(&server->log, "limit", "%d connections at a time and not %d: the system allows %d open files (ulimit -n)",
             (int)limit.rlim_cur - SPARE_FILES, *connections, (int)limit.rlim_cur);
    *connections = (int32_t)limit.rlim_cur - SPARE_FILES;
    return KERF_OK;
}

/* Most of them are about what clients did; one a second is enough to see that something is wrong. */
static void on_library_words(void *context, const char *format, va_list list) {
    struct server *server = context;
    char words[512];
    int64_t now_s = (int64_t)clock_ticks_s();
    if (atomic_exchange(&server->words_s, now_s) == now_s) return;
    vsnprintf(words, sizeof words, format, list);
    words[strcspn(words, "\n")] = 0;
    log_info(&server->log, "http", "%s", words);
}

/* The library's own way to accept no more, MHD_quiesce_daemon, races with its threads, and aborts. */
static enum MHD_Result may_connect(void *context, const struct sockaddr *address, socklen_t size) {
    const struct server *server = context;
    (void)address;
    (void)size;
    return server->is_stopping ? MHD_NO : MHD_YES;
}

static int32_t start_daemon(struct server *server, int fd, struct kerf_error *err) {
    const struct server_options *options = &server->options;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG;
    const struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, server->tls.certificate},
                                         {MHD_OPTION_HTTPS_MEM_KEY, 0, server->tls.key},
                                         {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)tls_priorities},
                                         {MHD_OPTION_END, 0, NULL}};
    if (server->tls.certificate) flags |= MHD_USE_TLS;
    server->daemon = MHD_start_daemon(
        flags, 0, may_connect, server, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, on_library_words, server,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)threads_of(options),
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)options->connections_an_address, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_URI_LOG_CALLBACK, on_target, server,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
        MHD_OPTION_ARRAY, server->tls.certificate ? tls : &tls[3], MHD_OPTION_END);
    if (server->daemon) return KERF_OK;
    close(fd);
    return kerf_error_set(err, KERF_EIO, "the HTTP server cannot be started");
}

/* ---- Another server's database ------------------------------------------------------------------------------ */

struct taking_over {
    struct log *log;
    int64_t counts[IMPORT_OUTCOMES];
};

static void note_import(void *context, enum import_outcome outcome, const char *job_id, int64_t trials,
                        const char *why) {
    struct taking_over *all = context;
    all->counts[outcome]++;
    if (outcome == IMPORT_TAKEN)
        log_info(all->log, "imported", "job %s with %" PRId64 " trials", job_id, trials);
    else if (outcome == IMPORT_KNOWN)
        log_info(all->log, "imported", "job %s is here already, and left as it is", job_id);
    else
        log_error(all->log, "import", "job %s is left out: %s", job_id, why);
}

static int32_t take_over(struct server *server, struct kerf_error *err) {
    struct taking_over all = {.log = &server->log};
    int32_t code =
        import_zeus(server->options.import_zeus, server->store, server_job_flags(server), note_import, &all, err);
    if (code == KERF_OK)
        log_info(&server->log, "imported",
                 "%" PRId64 " jobs taken over, %" PRId64 " here already, %" PRId64 " left out",
                 all.counts[IMPORT_TAKEN], all.counts[IMPORT_KNOWN], all.counts[IMPORT_REFUSED]);
    return code;
}

/* ---- Start -------------------------------------------------------------------------------------------------- */

int32_t server_start(const struct server_options *options, struct server **ret_server, struct kerf_error *err) {
    struct server *server = calloc(1, sizeof *server);
    int fd = -1, is_loopback = 1;
    if (server == NULL) return error_no_memory(err, "the server");
    server->options = *options;
    server->log = (struct log){options->log_json, STDERR_FILENO};
    server->started_s = clock_now_s();
    int32_t code = raise_file_limit(server, err);
    if (code == KERF_OK && options->tls_cert)
        code = tls_read(options->tls_cert, options->tls_key, &server->log, &server->tls, err);
    if (code == KERF_OK) code = store_open(options->store, STORE_SERVE, &server->store, err);
    if (code == KERF_OK && options->import_zeus) code = take_over(server, err);
    if (code == KERF_OK) {
        server->jobs = job_cache_new((size_t)options->cache_mib << 20);
        if (server->jobs == NULL) code = error_no_memory(err, "the server");
    }
    if (code == KERF_OK && server->store->methods->blocks) code = workers_start(WORKERS, &server->workers, err);
    if (code == KERF_OK) code = watch_start(server, err);
    if (code == KERF_OK) code = listen_open(options->listen, &fd, &server->port, server->address, &is_loopback, err);
    if (code == KERF_OK && (options->tokens || !is_loopback))
        if ((code = access_open(server->store, &server->log, &server->access, err)) != KERF_OK) close(fd);
    if (code == KERF_OK && (code = rate_limit_open(server, is_loopback, err)) != KERF_OK) close(fd);
    if (code == KERF_OK) code = start_daemon(server, fd, err);
    if (code == KERF_OK && options->keep_trials_s > 0)
        code = retention_start(server->store, server_job_flags(server), options->keep_trials_s, &server->log,
                               &server->metrics.removed, &server->retention, err);
    if (code == KERF_OK) {
        char store[256];
        store_name(options->store, store, sizeof store);
        log_info(&server->log, "listening", "%s://%s, store %s", server_scheme(server), server->address, store);
        *ret_server = server;
    } else {
        server_abandon(server);
    }
    return code;
}

int32_t server_port(const struct server *server) { return server->port; }
