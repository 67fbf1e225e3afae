/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is let in: the head of the request, the site that it comes from, the rate of its network, its token.
 *
 * A token is a bearer token, or either half of Basic credentials, which is what clients make of http://TOKEN@host and
 * http://TOKEN:@host.
 */
#include <assert.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <math.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "server/exchange.h"
#include "server/health.h"
#include "server/rate.h"
#include "server/router.h"
#include "server/service.h"
#include "store/store.h"

/* ---- Tokens ---------------------------------------------------------------------------------------------------- */

struct known {
    unsigned char hash[TOKEN_HASH];
    enum token_role role;
    double expires_s; /* 0: never */
    char *name;
};

struct list {
    struct known *items;
    size_t count, room;
};

struct access {
    struct store *store;
    const struct log *log;
    pthread_rwlock_t lock; /* of the list */
    struct list list;
    pthread_mutex_t end_lock;
    pthread_cond_t ends;
    pthread_t thread;
    int has_thread, is_over, has_failed;
};

static void forget(struct list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i].name);
    free(list->items);
    *list = (struct list){0};
}

static int32_t visit(void *context, const struct store_token *token) {
    struct list *list = context;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        struct known *items = realloc(list->items, room * sizeof *items);
        if (items == NULL) return KERF_ENOMEM;
        list->items = items;
        list->room = room;
    }
    struct known known = {.role = token_role(token->role), .expires_s = token->expires_s, .name = strdup(token->name)};
    if (known.name == NULL) return KERF_ENOMEM;
    _Static_assert(sizeof known.hash == sizeof token->hash, "the store keeps whole hashes");
    memcpy(known.hash, token->hash, sizeof known.hash);
    list->items[list->count++] = known;
    return KERF_OK;
}

static int32_t read_tokens(struct access *access, struct kerf_error *err) {
    struct list list = {0};
    int32_t code = store_list_tokens(access->store, visit, &list, err);
    if (code == KERF_OK) {
        pthread_rwlock_wrlock(&access->lock);
        struct list before = access->list;
        access->list = list;
        pthread_rwlock_unlock(&access->lock);
        list = before;
    }
    forget(&list);
    return code;
}

/* While the store cannot be read, the tokens stay as they are: no request could be answered then either. */
static void *keep_reading(void *context) {
    struct access *access = context;
    pthread_mutex_lock(&access->end_lock);
    while (!access->is_over) {
        const struct timespec until = clock_ticks_after(1);
        struct kerf_error err = {.code = KERF_OK};
        while (!access->is_over && pthread_cond_timedwait(&access->ends, &access->end_lock, &until) != ETIMEDOUT) {
        }
        if (access->is_over) break;
        pthread_mutex_unlock(&access->end_lock);
        int failed = read_tokens(access, &err) != KERF_OK;
        if (failed && !access->has_failed) log_error(access->log, "tokens", "cannot be read: %s", err.message);
        access->has_failed = failed;
        pthread_mutex_lock(&access->end_lock);
    }
    pthread_mutex_unlock(&access->end_lock);
    return NULL;
}

int32_t access_open(struct store *store, const struct log *log, struct access **ret_access, struct kerf_error *err) {
    struct access *access = calloc(1, sizeof *access);
    pthread_condattr_t attributes;
    if (access == NULL) return error_no_memory(err, "tokens");
    access->store = store;
    access->log = log;
    pthread_rwlock_init(&access->lock, NULL);
    pthread_mutex_init(&access->end_lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&access->ends, &attributes);
    pthread_condattr_destroy(&attributes);
    int32_t code = read_tokens(access, err);
    if (code == KERF_OK) {
        access->has_thread = pthread_create(&access->thread, NULL, keep_reading, access) == 0;
        if (!access->has_thread) code = kerf_error_set(err, KERF_ENOMEM, "no thread can be started");
    }
    if (code != KERF_OK) {
        access_close(access);
        return code;
    }
    if (access->list.count == 0)
        log_info(log, "tokens",
                 "there are none yet, so nobody can use the server: `kerf token add NAME --role admin` makes one");
    *ret_access = access;
    return KERF_OK;
}

void access_close(struct access *access) {
    if (access == NULL) return;
    pthread_mutex_lock(&access->end_lock);
    access->is_over = 1;
    pthread_cond_signal(&access->ends);
    pthread_mutex_unlock(&access->end_lock);
    if (access->has_thread) pthread_join(access->thread, NULL);
    pthread_rwlock_destroy(&access->lock);
    pthread_mutex_destroy(&access->end_lock);
    pthread_cond_destroy(&access->ends);
    forget(&access->list);
    free(access);
}

static enum token_role role_of(struct access *access, const char *token, struct arena *arena, const char **ret_name) {
    unsigned char hash[TOKEN_HASH];
    enum token_role role = TOKEN_NONE;
    double now_s = clock_now_s();
    if (token == NULL || token[0] == 0 || token_hash(token, hash) != KERF_OK) return TOKEN_NONE;
    pthread_rwlock_rdlock(&access->lock);
    for (size_t i = 0; i < access->list.count; i++) {
        const struct known *known = &access->list.items[i];
        if (gnutls_memcmp(known->hash, hash, sizeof hash) != 0) continue;
        if (known->expires_s != 0 && now_s >= known->expires_s) continue;
        role = known->role;
        *ret_name = arena_strdup(arena, known->name);
    }
    pthread_rwlock_unlock(&access->lock);
    return role;
}

/* What the credentials of a request let it do, and the name of its token, copied, or NULL. authorization: the header;
 * NULL: none. access NULL: everybody may do everything. */
static enum token_role access_role(struct access *access, struct MHD_Connection *connection, const char *authorization,
                                   struct arena *arena, const char **ret_name) {
    static const char bearer[] = "Bearer ";
    *ret_name = NULL;
    if (access == NULL) return TOKEN_ADMIN;
    if (authorization == NULL) return TOKEN_NONE;
    if (strncasecmp(authorization, bearer, sizeof bearer - 1) == 0) {
        authorization += sizeof bearer - 1;
        return role_of(access, authorization + strspn(authorization, " "), arena, ret_name);
    }
    char *password = NULL, *user = MHD_basic_auth_get_username_password(connection, &password);
    enum token_role role = role_of(access, user, arena, ret_name);
    if (role == TOKEN_NONE) role = role_of(access, password, arena, ret_name);
    MHD_free(user);
    MHD_free(password);
    return role;
}

enum { WRONG_TOKEN = 10 }; /* requests that one counts as, so that tokens cannot be guessed as fast as the network is */

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

/* Once a second, with the number of them: who is refused decides how often. */
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

/* A link of another site may lead to a page, and to nothing else. */
static int is_misled(const struct exchange *exchange) {
    const struct route *route = exchange->route;
    return origin_is_foreign(&exchange->head) &&
           !(route && route->flags & ROUTE_PAGE && origin_is_link(&exchange->head, exchange->method));
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
    router_find(exchange->service->router, exchange);
    enum token_role needed = exchange->route ? exchange->route->needs : TOKEN_READ;
    if (is_misled(exchange))
        refuse_late(exchange, 403, "Pages of another site may not use this server");
    else if (exchange->role < needed)
        refuse_token(exchange, needed);
    return exchange->refusal == 0;
}
