/* SPDX-License-Identifier: Apache-2.0 */
/* Zeus's database in MySQL, in a build without its client library. */
#include "zeus/import_sources.h"

static int32_t cannot_import(const char *where, struct import_source **ret_source, struct kerf_error *err) {
    (void)where, (void)ret_source;
    return kerf_error_set(err, KERF_EUNSUPPORTED, "this kerf was built without MySQL: it needs libmariadb-dev");
}

const struct import_methods import_mysql = {.scheme = "mysql", .open = cannot_import};
