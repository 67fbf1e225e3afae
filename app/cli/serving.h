/* SPDX-License-Identifier: Apache-2.0 */
/* A server until SIGTERM or SIGINT, for the commands that have one. */
#ifndef KERF_CLI_SERVING_H
#define KERF_CLI_SERVING_H

#include "server/server.h"

/* Returns the exit status. started is told the port when clients may come; NULL: nobody is. Once a process. */
int serving_run(const struct server_options *how, void (*started)(void *context, int32_t port), void *context);

#endif
