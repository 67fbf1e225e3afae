/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: how they are made and hashed, and the list of those that the store has, which is read again about once a
 * second. The hash is GnuTLS's, which libmicrohttpd brings. As tokens are random, it needs neither salt nor slowness.
 */
#include <errno.h>
#include <gnutls/crypto.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/error_fill.h"
#include "server/access.h"
#include "server/log.h"
#include "store/store.h"

int32_t token_make(char ret_token[TOKEN_BYTES], struct kerf_error *err) {
    /* None of these needs an escape in a URL. */
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    enum { DIGITS = 43 }; /* 6 bits each: 258 */
    unsigned char random[DIGITS];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "the system has no random numbers");
    int length = snprintf(ret_token, TOKEN_BYTES, "kerf_");
    for (int i = 0; i < DIGITS; i++) ret_token[length++] = digits[random[i] & 63];
    ret_token[length] = 0;
    return KERF_OK;
}

int32_t token_hash(const char *token, unsigned char ret_hash[TOKEN_HASH]) {
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, token, strlen(token), ret_hash) == 0 ? KERF_OK : KERF_EUNSUPPORTED;
}

/* "read"; TOKEN_NONE for other words. */
static enum token_role role_named(const char *name) {
    static const char *const names[] = {[TOKEN_READ] = "read", [TOKEN_WRITE] = "write", [TOKEN_ADMIN] = "admin"};
    for (int role = TOKEN_READ; role <= TOKEN_ADMIN; role++)
        if (strcmp(name, names[role]) == 0) return (enum token_role)role;
    return TOKEN_NONE;
}

/* ---- The tokens that the store has ------------------------------------------------------------------------------- */

struct known {
    unsigned char hash[TOKEN_HASH];
    enum token_role role;
    double expires_s; /* 0: never */
    const char *name;
};

struct list {
    struct known *items;
    size_t count, room;
    struct arena names;
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
    free(list->items);
    arena_free(&list->names);
    *list = (struct list){0};
}

static int32_t visit(void *context, const struct store_token *token) {
    struct list *list = context;
    struct known known = {.role = role_named(token->role),
                          .expires_s = token->expires_s,
                          .name = arena_strdup(&list->names, token->name)};
    _Static_assert(sizeof known.hash == sizeof token->hash, "the store keeps whole hashes");
    memcpy(known.hash, token->hash, sizeof known.hash);
    if (known.name == NULL) return KERF_ENOMEM;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        struct known *items = realloc(list->items, room * sizeof *items);
        if (items == NULL) return KERF_ENOMEM;
        list->items = items;
        list->room = room;
    }
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

enum token_role access_role(struct access *access, struct MHD_Connection *connection, const char *authorization,
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
