/* SPDX-License-Identifier: Apache-2.0 */
/* How answers are made, and how an exchange waits: its connection is suspended, so that no thread waits with it. */
#include "server/exchange.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "kerf/json.h"
#include "server/service.h"

enum { KEPT_BYTES = 16384, KEPT_ARENA_BYTES = 65536 }; /* larger buffers are not kept for the next request */

/* ---- Answers ------------------------------------------------------------------------------------------------- */

void exchange_answer(struct exchange *exchange, int status) {
    assert(status >= 100 && status < 600);
    exchange->status = status;
    exchange->content_type = "application/json";
    exchange->step = NULL;
}

void exchange_answer_text(struct exchange *exchange, int status, const char *text) {
    kerf_text_clear(&exchange->answer);
    kerf_text_add(&exchange->answer, text);
    exchange_answer(exchange, status);
    exchange->content_type = "text/plain; charset=utf-8";
}

static void answer_member(struct exchange *exchange, int status, const char *key, const char *value) {
    struct kerf_json json;
    kerf_text_clear(&exchange->answer);
    kerf_json_begin(&json, &exchange->answer);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, key, value);
    kerf_json_close(&json, '}');
    exchange_answer(exchange, status);
}

void exchange_message(struct exchange *exchange, int status, const char *message) {
    answer_member(exchange, status, "message", message);
}

void exchange_detail(struct exchange *exchange, int status, const char *detail) {
    answer_member(exchange, status, "detail", detail);
}

struct log_request exchange_log(const struct exchange *exchange) {
    return (struct log_request){.method = exchange->method,
                                .route = exchange->route ? exchange->route->pattern : NULL,
                                .path = exchange->path.bytes,
                                .path_length = exchange->path.length,
                                .status = exchange->status,
                                .duration_s = clock_ticks_s() - exchange->began_s,
                                .client = exchange->connection.client,
                                .job = exchange->job_id,
                                .trial = exchange->trial,
                                .token = exchange->token};
}

/* Zeus's server says 500 where this one says 503. */
void exchange_fail(struct exchange *exchange, int32_t code, const struct kerf_error *err) {
    struct service *service = exchange->service;
    exchange_message(exchange, code == KERF_EIO && !service->compat ? 503 : 500, err->message);
    struct log_request line = exchange_log(exchange);
    line.count = log_limit_take(&service->failures, clock_ticks_s());
    if (line.count > 0) log_request(&service->log, LOG_LEVEL_ERROR, "failed", &line, err->message);
}

/* ---- Steps --------------------------------------------------------------------------------------------------- */

int exchange_run(struct exchange *exchange) {
    int waited = 0;
    assert(exchange->step);
    exchange->waited = &waited;
    exchange->step(exchange);
    return !waited;
}

static void run_in_worker(struct work *work) {
    struct exchange *exchange = (struct exchange *)((char *)work - offsetof(struct exchange, work));
    if (exchange_run(exchange)) exchange_wake(exchange);
}

static void compute(struct work *work) {
    struct exchange *exchange = (struct exchange *)((char *)work - offsetof(struct exchange, work));
    exchange->service->asks.waiting--;
    run_in_worker(work);
}

int exchange_hand_over(struct exchange *exchange) {
    struct service *service = exchange->service;
    int computes = exchange->route->flags & ROUTE_COMPUTES;
    if (computes && service->asks.waiting >= ASKS_WAITING_MAX) {
        snprintf(exchange->retry_after, sizeof exchange->retry_after, "1");
        exchange_detail(exchange, 503, "The server computes other answers; ask again in a moment");
        return 0;
    }
    if (computes) service->asks.waiting++;
    exchange->is_handed = 1;
    exchange->work.run = computes ? compute : run_in_worker;
    MHD_suspend_connection(exchange->mhd);
    workers_add(computes ? service->askers : service->workers, &exchange->work);
    return 1;
}

void exchange_wait(struct exchange *exchange) {
    *exchange->waited = 1;
    if (!exchange->is_handed) MHD_suspend_connection(exchange->mhd);
}

void exchange_wake(struct exchange *exchange) {
    if (exchange->is_handed && exchange->step)
        workers_add(exchange->service->workers, &exchange->work);
    else
        MHD_resume_connection(exchange->mhd);
}

/* ---- The next request ---------------------------------------------------------------------------------------- */

static void clear(struct kerf_text *text) {
    if (text->capacity > KEPT_BYTES)
        kerf_text_free(text);
    else
        kerf_text_clear(text);
}

void exchange_reset(struct exchange *exchange) {
    if (exchange->release) exchange->release(exchange);
    arena_trim(&exchange->arena, KEPT_ARENA_BYTES);
    clear(&exchange->body);
    clear(&exchange->answer);
    const struct kerf_text body = exchange->body, answer = exchange->answer;
    memset(&exchange->method, 0, sizeof *exchange - offsetof(struct exchange, method));
    exchange->body = body;
    exchange->answer = answer;
}

void exchange_free(struct exchange *exchange) {
    exchange_reset(exchange);
    arena_free(&exchange->arena);
    kerf_text_free(&exchange->body);
    kerf_text_free(&exchange->answer);
    free(exchange);
}
