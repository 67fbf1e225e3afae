/* SPDX-License-Identifier: Apache-2.0 */
/* The API of Zeus's batch-size server, which `kerf serve` adds to its own. */
#ifndef KERF_ZEUS_ZEUS_API_H
#define KERF_ZEUS_ZEUS_API_H

#include "server/server.h"

extern const struct server_addition zeus_api;

#endif
