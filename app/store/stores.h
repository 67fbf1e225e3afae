/* SPDX-License-Identifier: Apache-2.0 */
/* All stores; store.c lists them. */
#ifndef KERF_STORE_STORES_H
#define KERF_STORE_STORES_H

#include "store/store.h"

extern const struct store_methods store_postgresql, store_sqlite;

#endif
