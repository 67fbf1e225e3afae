/* SPDX-License-Identifier: Apache-2.0 */
/* Stores in a build without the libraries that they need. */
#include "store/store.h"

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
