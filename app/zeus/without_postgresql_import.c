/* SPDX-License-Identifier: Apache-2.0 */
/* Zeus's database in PostgreSQL, in a build without libpq. */
#include "zeus/import_sources.h"

static int32_t cannot_open(const char *where, struct import_source **ret_source, struct kerf_error *err) {
    (void)where, (void)ret_source;
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "this kerf was built without PostgreSQL: it needs libpq-dev (14 or newer)");
}

const struct import_methods import_postgresql = {.scheme = "postgresql", .open = cannot_open};
