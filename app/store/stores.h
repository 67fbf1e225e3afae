/* SPDX-License-Identifier: Apache-2.0 */
/* Which store a name means. */
#ifndef KERF_STORE_STORES_H
#define KERF_STORE_STORES_H

#include "store/store.h"

/* where: a file, or postgresql://HOST/DATABASE; flags: enum store_open_flags. */
int32_t store_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err);

/* Copies the store into the file `to`, which is a store then; also while a server runs: the copy has what was answered
 * before this was called. KERF_EINVALID: the file is there and overwrites is 0; KERF_EUNSUPPORTED: err says which
 * program does it; KERF_EINTERRUPTED: progress wanted it so, and `to` is as it was. */
int32_t store_backup(const char *where, const char *to, int32_t overwrites, kerf_progress progress, void *context,
                     struct kerf_error *err);

void store_name(const char *where, char *ret_name, size_t size); /* for people: without user, password and options */

#endif
