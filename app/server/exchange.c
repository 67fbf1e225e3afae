/* SPDX-License-Identifier: Apache-2.0 */
/* How answers are made, and how an exchange waits: its connection is suspended, so that no thread waits with it. */
#include "server/exchange.h"

#include <microhttpd.h>
#include <stdlib.h>
#include "zeus/python_text.h"
#include "server/server_parts.h"

enum { KEPT_BYTES = 16384, KEPT_ARENA_BYTES = 65536 };

void exchange_answer(struct exchange *exchange, int status) {
    exchange->status = status;
    exchange->content_type = "application/json";
    exchange->step = NULL;
}

void exchange_message(struct exchange *exchange, int status, const char *message) {
    kerf_text_clear(&exchange->answer);
    request_write_message(message, &exchange->answer);
    exchange_answer(exchange, status);
}

void exchange_detail(struct exchange *exchange, int status, const char *detail) {
    kerf_text_clear(&exchange->answer);
    kerf_text_add(&exchange->answer, "{\"detail\":");
    python_string_quote(detail, &exchange->answer);
    kerf_text_add(&exchange->answer, "}");
    exchange_answer(exchange, status);
}

/* A fault of the server or its store, which passes; Zeus's server says 500 to all of them. */
void exchange_fail(struct exchange *exchange, int32_t code, const struct kerf_error *err) {
    struct server *server = exchange->server;
    log_error(&server->log, "failed", "%s %s: %s", exchange->method ? exchange->method : "?",
              exchange->route ? exchange->route->pattern : "?", err->message);
    exchange_message(exchange, code == KERF_EIO && !server->options.compat ? 503 : 500, err->message);
}

void exchange_refuse(struct exchange *exchange, struct request_refusal *refusal) {
    kerf_text_free(&exchange->answer);
    exchange->answer = refusal->document;
    refusal->document = (struct kerf_text){0};
    exchange_answer(exchange, refusal->status);
    if (refusal->plain) exchange->content_type = "text/plain; charset=utf-8";
    request_refusal_free(refusal);
}

int exchange_run(struct exchange *exchange) {
    int waited = 0;
    exchange->waited = &waited;
    exchange->step(exchange);
    return !waited;
}

void exchange_hand_over(struct exchange *exchange) {
    exchange->is_handed = 1;
    MHD_suspend_connection(exchange->connection);
    workers_add(exchange->server->workers, exchange);
}

void exchange_wait(struct exchange *exchange) {
    *exchange->waited = 1;
    if (!exchange->is_handed) MHD_suspend_connection(exchange->connection);
}

void exchange_wake(struct exchange *exchange) {
    if (exchange->is_handed && exchange->step)
        workers_add(exchange->server->workers, exchange);
    else
        MHD_resume_connection(exchange->connection);
}

static void clear(struct kerf_text *text) {
    if (text->capacity > KEPT_BYTES)
        kerf_text_free(text);
    else
        kerf_text_clear(text);
}

void exchange_reset(struct exchange *exchange) {
    arena_trim(&exchange->arena, KEPT_ARENA_BYTES);
    free(exchange->target);
    free(exchange->location);
    clear(&exchange->body);
    clear(&exchange->answer);
    clear(&exchange->message);
    clear(&exchange->reason);
    exchange->target = exchange->location = NULL;
    exchange->method = exchange->allow = exchange->content_type = exchange->body_type = exchange->host = NULL;
    exchange->scheme = exchange->late = NULL;
    exchange->route = NULL;
    exchange->step = NULL;
    exchange->is_begun = exchange->is_too_large = exchange->is_chosen = exchange->is_last = exchange->status = 0;
    exchange->is_handed = 0;
    exchange->drained = 0;
    exchange->wait_s = 0;
    exchange->retry_after[0] = 0;
    exchange->path = exchange->plain = exchange->query = (struct text_view){0};
}

void exchange_free(struct exchange *exchange) {
    exchange_reset(exchange);
    arena_free(&exchange->arena);
    kerf_text_free(&exchange->body);
    kerf_text_free(&exchange->answer);
    kerf_text_free(&exchange->message);
    kerf_text_free(&exchange->reason);
    free(exchange);
}
