/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_STORE_SQLITE_BACKUP_H
#define KERF_STORE_SQLITE_BACKUP_H

#include "kerf/kerf.h"

/* As store_backup (stores.h). */
int32_t sqlite_backup(const char *path, const char *to, int32_t overwrites, kerf_progress progress, void *context,
                      struct kerf_error *err);

#endif
