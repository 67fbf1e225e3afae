/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a request through libmicrohttpd, whose threads wait with epoll: a request that waits for its turn or for
 * a commit is suspended, and the thread goes on with others.
 */
#include <assert.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "server/exchange.h"
#include "server/health.h"
#include "server/service.h"
#include "server/stream.h"
#include "server/tls.h"

enum {
    CONNECTION_BYTES = 16384, /* headers, and what is read and written at once */
    DRAINED_MAX = 64 << 20    /* of a body that is too large, so that the client hears the answer */
};

/* Pages load nothing from elsewhere and cannot be shown in a frame; browsers take nothing else for a page. */
static const char strict_policy[] =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
static const char *const headers[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
};

/* ---- Connections -------------------------------------------------------------------------------------------- */

static struct exchange *exchange_of(struct MHD_Connection *mhd) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* The library's own way to accept no more, MHD_quiesce_daemon, races with its threads, and aborts. */
static enum MHD_Result may_connect(void *context, const struct sockaddr *address, socklen_t size) {
    const struct service *service = context;
    (void)size;
    return !service->is_stopping && connections_admit(service->connections, address) ? MHD_YES : MHD_NO;
}

static void on_connection(void *context, struct MHD_Connection *mhd, void **socket_context,
                          enum MHD_ConnectionNotificationCode code) {
    struct service *service = context;
    struct exchange *exchange = *socket_context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
        exchange = info ? calloc(1, sizeof *exchange) : NULL;
        *socket_context = exchange;
        if (exchange == NULL) return; /* its requests are refused */
        exchange->service = service;
        exchange->mhd = mhd;
        int fd = info->connect_fd;
        info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        connections_add(service->connections, &exchange->connection, fd, info ? info->client_addr : NULL);
    } else if (exchange) {
        connections_remove(service->connections, &exchange->connection);
        exchange_free(exchange);
        *socket_context = NULL;
    }
}

/* The request's first line is there. What this returns is the request's context from now on. */
static void *on_target(void *context, const char *target, struct MHD_Connection *mhd) {
    struct exchange *exchange = exchange_of(mhd);
    (void)context;
    if (exchange == NULL || target == NULL) return NULL;
    exchange_reset(exchange);
    exchange->raw_target = (struct text_view){target, strlen(target)};
    exchange->target = arena_copy(&exchange->arena, target, exchange->raw_target.length);
    if (exchange->target == NULL || !connection_read(&exchange->connection)) return NULL;
    target_split(exchange->target, &exchange->path, &exchange->query);
    return exchange;
}

static void on_completed(void *context, struct MHD_Connection *mhd, void **request,
                         enum MHD_RequestTerminationCode code) {
    struct exchange *exchange = *request;
    (void)context, (void)mhd, (void)code;
    if (exchange) connection_rest(&exchange->connection);
    *request = NULL;
}

/* ---- Requests ----------------------------------------------------------------------------------------------- */

static void log_answer(const struct exchange *exchange) {
    const struct service *service = exchange->service;
    const struct log_request line = exchange_log(exchange);
    if (service->logs_requests) log_request(&service->log, LOG_LEVEL_INFO, "request", &line, NULL);
}

static void add_cors(const struct exchange *exchange, struct MHD_Response *response) {
    MHD_add_response_header(response, "Access-Control-Allow-Origin", exchange->head.origin);
    MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ORIGIN);
    if (!exchange->is_preflight) return;
    MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE");
    MHD_add_response_header(response, "Access-Control-Allow-Headers", "Accept, Authorization, Content-Type");
    MHD_add_response_header(response, "Access-Control-Max-Age", "600");
}

static void add_headers(const struct exchange *exchange, struct MHD_Response *response) {
    if (exchange->is_named_origin) add_cors(exchange, response);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    MHD_add_response_header(response, "Content-Security-Policy", exchange->policy ? exchange->policy : strict_policy);
    if (exchange->content_encoding)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, exchange->content_encoding);
    if (exchange->policy) MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    if (exchange->etag[0]) MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, exchange->etag);
    if (exchange->etag[0] || exchange->stream)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    if (exchange->content_type) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, exchange->content_type);
    if (exchange->allow) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, exchange->allow);
    if (exchange->retry_after[0]) MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, exchange->retry_after);
    if (exchange->status == 401) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"kerf\"");
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"kerf\""); /* browsers */
    }
    if (exchange->location) MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, exchange->location);
    if (exchange->is_last || exchange->service->is_stopping)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

static enum MHD_Result send_answer(struct exchange *exchange) {
    const struct kerf_text *answer = &exchange->answer;
    assert(exchange->status > 0);
    health_note(exchange->service->health, exchange);
    log_answer(exchange);
    if (exchange->route && exchange->route->flags & ROUTE_CHANGES && exchange->status < 300)
        exchange->service->events.jobs++;
    int can_go = connection_write(&exchange->connection) && !answer->failed;
    struct MHD_Response *response =
        !can_go            ? NULL
        : exchange->stream ? stream_response(exchange->stream)
                           : MHD_create_response_from_buffer(answer->length, answer->data ? answer->data : (void *)"",
                                                             MHD_RESPMEM_PERSISTENT); /* lives with the exchange */
    if (response == NULL && exchange->stream) stream_drop(exchange->stream);
    if (response == NULL) return MHD_NO;
    add_headers(exchange, response);
    enum MHD_Result result = MHD_queue_response(exchange->mhd, (unsigned)exchange->status, response);
    MHD_destroy_response(response);
    return result;
}

/* The headers are there. The end of a malformed request is unknown, so that it is answered at once. */
static enum MHD_Result begin(struct exchange *exchange, const char *method, const char *version) {
    exchange->is_begun = 1;
    exchange->method = method;
    exchange->began_s = clock_ticks_s();
    gate_look(exchange, version);
    const char *length = exchange->head.content_length;
    exchange->is_too_large = length && strtoull(length, NULL, 10) > EXCHANGE_BODY_MAX;
    if (exchange->refusal != 400) return MHD_YES;
    if (!connection_run(&exchange->connection)) return MHD_NO;
    gate_pass(exchange);
    return send_answer(exchange);
}

static enum MHD_Result read_body(struct exchange *exchange, const char *data, size_t length) {
    exchange->drained += length;
    if (exchange->drained > DRAINED_MAX) return MHD_NO;
    if (exchange->drained > EXCHANGE_BODY_MAX) exchange->is_too_large = 1;
    if (!exchange->is_too_large && exchange->role != TOKEN_NONE) kerf_text_write(&exchange->body, data, length);
    return exchange->body.failed ? MHD_NO : MHD_YES;
}

/* The request is whole, or what it waited for has come. */
static enum MHD_Result run(struct exchange *exchange) {
    int has_begun = exchange->connection.state == CONNECTION_RUNNING;
    if (!connection_run(&exchange->connection)) return MHD_NO; /* given up meanwhile */
    if (!has_begun && gate_pass(exchange) && exchange->step) {
        int flags = exchange->route ? exchange->route->flags : 0, waits = exchange->service->workers != NULL;
        if ((flags & ROUTE_COMPUTES || (waits && !(flags & ROUTE_QUICK))) && exchange_hand_over(exchange))
            return MHD_YES;
    }
    return exchange->step == NULL || exchange_run(exchange) ? send_answer(exchange) : MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *mhd, const char *url, const char *method,
                                  const char *version, const char *data, size_t *length, void **request) {
    struct exchange *exchange = *request;
    (void)context, (void)mhd, (void)url;
    if (exchange == NULL) return MHD_NO;
    if (!exchange->is_begun) return begin(exchange, method, version);
    if (*length == 0) return run(exchange);
    size_t count = *length;
    *length = 0;
    return read_body(exchange, data, count);
}

/* ---- TLS ----------------------------------------------------------------------------------------------------- */

/* The library's session knows its connection. */
static int on_handshake(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
                        gnutls_pcert_st **certificates, unsigned *count, gnutls_ocsp_data_st **ocsp, unsigned *num_ocsp,
                        gnutls_privkey_t *key, unsigned *flags) {
    struct exchange *exchange = exchange_of(gnutls_session_get_ptr(session));
    (void)info;
    *ocsp = NULL;
    *num_ocsp = *flags = 0;
    return exchange ? tls_show(exchange->service->tls, certificates, count, key) : -1;
}

/* ---- The daemon ---------------------------------------------------------------------------------------------- */

/* Most of them are about what clients did. */
static void on_library_words(void *context, const char *format, va_list list) {
    struct service *service = context;
    char words[512];
    uint64_t count = log_limit_take(&service->words, clock_ticks_s());
    if (count == 0) return;
    vsnprintf(words, sizeof words, format, list);
    words[strcspn(words, "\n")] = 0;
    const struct log_request line = {.count = count};
    log_request(&service->log, LOG_LEVEL_INFO, "http", &line, words);
}

int32_t http_start(struct service *service, const struct http_options *options, struct MHD_Daemon **ret_daemon,
                   struct kerf_error *err) {
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG;
    const struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)on_handshake},
                                         {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)tls_priorities},
                                         {MHD_OPTION_END, 0, NULL}};
    if (service->tls) flags |= MHD_USE_TLS;
    *ret_daemon = MHD_start_daemon(
        flags, 0, may_connect, service, on_request, service, MHD_OPTION_EXTERNAL_LOGGER, on_library_words, service,
        MHD_OPTION_LISTEN_SOCKET, options->fd, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)options->threads,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->connections, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_URI_LOG_CALLBACK, on_target, service,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, service, MHD_OPTION_NOTIFY_CONNECTION, on_connection, service,
        MHD_OPTION_ARRAY, service->tls ? tls : &tls[2], MHD_OPTION_END);
    if (*ret_daemon) return KERF_OK;
    close(options->fd);
    return kerf_error_set(err, KERF_EIO, "the HTTP server cannot be started");
}
