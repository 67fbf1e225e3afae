/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL as a store, in a build without libpq. */
#include "store/store.h"

static int32_t cannot_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err) {
    (void)where, (void)flags, (void)ret_store;
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "this kerf was built without PostgreSQL: it needs libpq-dev (14 or newer)");
}

const struct store_methods store_postgresql = {.name = "postgresql", .scheme = "postgresql://", .open = cannot_open};
