/* SPDX-License-Identifier: Apache-2.0 */
/* The gate: the head of the request, the site that it comes from, the rate of its network, its token. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "server/access.h"
#include "server/exchange.h"
#include "server/health.h"
#include "server/route.h"
#include "server/service.h"

enum { WRONG_TOKEN = 10 }; /* requests that one counts as, so that tokens are not guessed at the speed of the network */

/* ---- The head ------------------------------------------------------------------------------------------------ */

static void refuse(struct exchange *exchange, int status, const char *why) {
    assert(exchange->refusal == 0 && status >= 400 && status < 500);
    exchange->refusal = status;
    exchange->why = why;
}

static int is_slow_enough(struct exchange *exchange) {
    struct service *service = exchange->service;
    if (service->rates) exchange->wait_s = rate_take(service->rates, &exchange->connection.network, clock_ticks_s());
    if (exchange->wait_s > 0) service->health->limited++;
    return exchange->wait_s <= 0;
}

void gate_look(struct exchange *exchange, const char *version) {
    struct service *service = exchange->service;
    char why[ORIGIN_WHY_BYTES];
    exchange->role = TOKEN_NONE;
    if (!head_read(exchange->mhd, exchange->method, exchange->raw_target, version, &exchange->head))
        refuse(exchange, 400, "Invalid HTTP request received.");
    else if (!is_slow_enough(exchange))
        refuse(exchange, 429, "Too Many Requests");
    else if (!origin_allows(&service->origins, &exchange->head, why))
        refuse(exchange, 403, arena_strdup(&exchange->arena, why));
    else
        exchange->role = access_role(service->access, exchange->mhd, exchange->head.authorization, &exchange->arena,
                                     &exchange->token);
}

/* ---- The whole request --------------------------------------------------------------------------------------- */

/* At most once a second, with their number, because clients decide how often they are refused. */
static void log_refusal(struct exchange *exchange, const char *why) {
    struct service *service = exchange->service;
    struct log_request line = exchange_log(exchange);
    line.count = log_limit_take(&service->refusals, clock_ticks_s());
    if (line.count > 0) log_request(&service->log, LOG_LEVEL_WARNING, "refused", &line, why);
}

static void answer_refusal(struct exchange *exchange) {
    const char *why = exchange->why ? exchange->why : "";
    if (exchange->refusal == 400) {
        exchange_answer_text(exchange, 400, why);
        exchange->is_last = 1;
    } else {
        exchange_detail(exchange, exchange->refusal, why);
    }
    if (exchange->refusal == 429)
        snprintf(exchange->retry_after, sizeof exchange->retry_after, "%.0f", ceil(exchange->wait_s));
    log_refusal(exchange, why);
}

static void refuse_late(struct exchange *exchange, int status, const char *why) {
    exchange->allow = exchange->location = NULL;
    refuse(exchange, status, why);
    answer_refusal(exchange);
}

static void refuse_token(struct exchange *exchange, enum token_role needed) {
    static const char *const names[] = {
        [TOKEN_NONE] = "none", [TOKEN_READ] = "read", [TOKEN_WRITE] = "write", [TOKEN_ADMIN] = "admin"};
    struct service *service = exchange->service;
    if (exchange->role != TOKEN_NONE) {
        refuse_late(exchange, 403,
                    arena_printf(&exchange->arena, "This request needs a token with the role %s; yours has the role %s",
                                 names[needed], names[exchange->role]));
        return;
    }
    refuse_late(exchange, 401, "A token is needed: Authorization: Bearer TOKEN, or http://TOKEN:@host");
    if (service->rates && exchange->head.authorization)
        rate_charge(service->rates, &exchange->connection.network, WRONG_TOKEN - 1, clock_ticks_s());
}

/* Another site may link to a page, and to nothing else. */
static int is_misled(const struct exchange *exchange) {
    const struct route *route = exchange->route;
    return origin_is_foreign(&exchange->head) && !exchange->is_named_origin &&
           !(route && route->flags & ROUTE_PAGE && origin_is_link(&exchange->head, exchange->method));
}

/* A browser asks whether a page of a site that was named may send a request. */
static int answer_preflight(struct exchange *exchange) {
    if (!exchange->is_named_origin || !exchange->head.cors_method || strcmp(exchange->method, "OPTIONS") != 0) return 0;
    kerf_text_clear(&exchange->answer);
    exchange_answer(exchange, 204);
    exchange->content_type = NULL;
    exchange->is_preflight = 1;
    return 1;
}

int gate_pass(struct exchange *exchange) {
    if (exchange->refusal) {
        answer_refusal(exchange);
        return 0;
    }
    if (exchange->is_too_large) {
        exchange_detail(exchange, 413, "Request Entity Too Large");
        exchange->is_last = 1;
        return 0;
    }
    exchange->is_named_origin = origin_is_named(&exchange->service->origins, &exchange->head);
    if (answer_preflight(exchange)) return 0;
    router_find(exchange->service->router, exchange);
    enum token_role needed = exchange->route ? exchange->route->needs : TOKEN_READ;
    if (is_misled(exchange))
        refuse_late(exchange, 403, "Pages of another site may not use this server");
    else if (exchange->role < needed)
        refuse_token(exchange, needed);
    return exchange->refusal == 0;
}
