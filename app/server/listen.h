/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SERVER_LISTEN_H
#define KERF_SERVER_LISTEN_H

#include "kerf/error.h"

/* A socket on "HOST:PORT" ("[::1]:8000", port 0: any that is free) that listens. ret_address: 128 bytes.
 * ret_is_loopback: 0: other machines reach it. */
int32_t listen_open(const char *where, int *ret_fd, int32_t *ret_port, char *ret_address, int *ret_is_loopback,
                    struct kerf_error *err);

#endif
