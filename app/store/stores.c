/* SPDX-License-Identifier: Apache-2.0 */
/* Which store a name means, and what it is called for people. KERF_HAS_SQLITE and KERF_HAS_POSTGRESQL say what this
 * build has: CMake sets them for this file. */
#include "store/store.h"

#include <stdio.h>
#include <string.h>

#ifdef KERF_HAS_SQLITE

#ifndef KERF_HAS_POSTGRESQL
static int32_t cannot_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err) {
    (void)where, (void)flags, (void)ret_store;
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "this kerf was built without PostgreSQL: it needs libpq-dev (14 or newer)");
}

const struct store_methods store_postgresql = {.name = "postgresql", .scheme = "postgresql://", .open = cannot_open};
#endif

static const struct store_methods *const stores[] = {&store_postgresql, &store_sqlite}; /* any file: the last one */

/* libpq knows a short form of the scheme, too. */
static int is_for(const struct store_methods *methods, const char *where) {
    if (methods->scheme == NULL) return strstr(where, "://") == NULL;
    return strncmp(where, methods->scheme, strlen(methods->scheme)) == 0 ||
           (methods == &store_postgresql && strncmp(where, "postgres://", 11) == 0);
}

/* NULL with err set: there is none. */
static const struct store_methods *find(const char *where, struct kerf_error *err) {
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        if (is_for(stores[i], where)) return stores[i];
    kerf_error_set(err, KERF_EUNSUPPORTED,
                   "a store must be a file or postgresql://HOST/DATABASE; kerf does not know %.*s://",
                   (int)(strstr(where, "://") - where), where);
    return NULL;
}

int32_t store_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err) {
    const struct store_methods *methods = find(where, err);
    return methods ? methods->open(where, flags, ret_store, err) : KERF_EUNSUPPORTED;
}

int32_t store_backup(const char *where, const char *to, int32_t overwrites, kerf_progress progress, void *context,
                     struct kerf_error *err) {
    char name[256];
    const struct store_methods *methods = find(where, err);
    if (methods == NULL) return KERF_EUNSUPPORTED;
    if (methods->backup) return methods->backup(where, to, overwrites, progress, context, err);
    store_name(where, name, sizeof name);
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "use PostgreSQL's own program: pg_dump --format=custom --table='kerf_*' --file=%.100s "
                          "'%.200s'",
                          to, name);
}

void store_name(const char *where, char *ret_name, size_t size) {
    const char *scheme = strstr(where, "://"), *user = scheme ? scheme + 3 : where;
    const char *at = scheme ? strchr(user, '@') : NULL, *slash = strchr(user, '/');
    const char *question = scheme ? strchr(user, '?') : NULL; /* a password may stand there too */
    if (at && slash && at > slash) at = NULL;
    snprintf(ret_name, size, "%.*s%s%.*s", (int)(user - where), where, at ? "...@" : "",
             question ? (int)(question - (at ? at + 1 : user)) : (int)strlen(at ? at + 1 : user), at ? at + 1 : user);
}

#else /* without SQLite there is no server and no store */

int32_t store_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err) {
    (void)where, (void)flags, (void)ret_store;
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "this kerf was built without a store; it needs libmicrohttpd-dev and libsqlite3-dev");
}

int32_t store_backup(const char *where, const char *to, int32_t overwrites, kerf_progress progress, void *context,
                     struct kerf_error *err) {
    (void)to, (void)overwrites, (void)progress, (void)context;
    return store_open(where, 0, NULL, err);
}

#endif
