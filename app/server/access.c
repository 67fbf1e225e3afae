/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/error.h"
#include "server/server_parts.h"

struct known {
    unsigned char hash[TOKEN_HASH];
    enum token_role role;
    double expires_s; /* 0: never */
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

/* ---- The list ----------------------------------------------------------------------------------------------- */

static int32_t visit(void *context, const struct store_token *token) {
    struct list *list = context;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        struct known *items = realloc(list->items, room * sizeof *items);
        if (items == NULL) return KERF_ENOMEM;
        list->items = items;
        list->room = room;
    }
    struct known *known = &list->items[list->count++];
    *known = (struct known){.role = token_role(token->role), .expires_s = token->expires_s};
    memcpy(known->hash, token->hash, sizeof known->hash);
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
    free(list.items);
    return code;
}

/* What is known stays while the store cannot be read: nothing else can be done then either. */
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
    if (access == NULL) return error_no_memory(err, "the server");
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
        if (!access->has_thread) code = kerf_error_set(err, KERF_ENOMEM, "no thread can be had");
    }
    if (code != KERF_OK) {
        access_close(access);
        return code;
    }
    if (access->list.count == 0)
        log_info(log, "tokens", "there are none, so nobody is let in: `kerf token add NAME --role admin` makes one");
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
    free(access->list.items);
    free(access);
}

/* ---- A request ---------------------------------------------------------------------------------------------- */

static enum token_role role_of(struct access *access, const char *token) {
    unsigned char hash[TOKEN_HASH];
    enum token_role role = TOKEN_NONE;
    double now_s = clock_now_s();
    if (token == NULL || token[0] == 0 || token_hash(token, hash) != KERF_OK) return TOKEN_NONE;
    pthread_rwlock_rdlock(&access->lock);
    for (size_t i = 0; i < access->list.count; i++) {
        const struct known *known = &access->list.items[i];
        if (gnutls_memcmp(known->hash, hash, sizeof hash) != 0) continue;
        if (known->expires_s == 0 || now_s < known->expires_s) role = known->role;
    }
    pthread_rwlock_unlock(&access->lock);
    return role;
}

enum token_role access_role(struct access *access, struct MHD_Connection *connection) {
    static const char bearer[] = "Bearer ";
    if (access == NULL) return TOKEN_ADMIN;
    const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    if (header == NULL) return TOKEN_NONE;
    if (strncasecmp(header, bearer, sizeof bearer - 1) == 0) {
        header += sizeof bearer - 1;
        return role_of(access, header + strspn(header, " "));
    }
    char *password = NULL, *user = MHD_basic_auth_get_username_password(connection, &password);
    enum token_role role = role_of(access, user);
    if (role == TOKEN_NONE) role = role_of(access, password);
    MHD_free(user);
    MHD_free(password);
    return role;
}

static enum token_role needed_by(const struct route *route) {
    if (route == NULL) return TOKEN_READ;
    if (route->flags & ROUTE_OPEN) return TOKEN_NONE;
    if (strcmp(route->method, "DELETE") == 0) return TOKEN_ADMIN;
    return route->flags & ROUTE_OWN ? TOKEN_READ : TOKEN_WRITE;
}

int access_allows(struct exchange *exchange) {
    static const char *const names[] = {"", "read", "write", "admin"};
    enum token_role needed = needed_by(exchange->route), has = exchange->role;
    char words[96];
    if (has >= needed) return 1;
    exchange->allow = NULL;
    free(exchange->location);
    exchange->location = NULL;
    if (has == TOKEN_NONE) {
        rate_limit_note_refused(exchange);
        exchange_detail(exchange, 401, "A token is needed: Authorization: Bearer TOKEN, or http://TOKEN:@host");
    } else {
        snprintf(words, sizeof words, "This needs a token with the role %s, and yours has %s", names[needed],
                 names[has]);
        exchange_detail(exchange, 403, words);
    }
    return 0;
}
