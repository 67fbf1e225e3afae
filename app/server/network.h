/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks, for limits: an IPv4 address, or the first 64 bits of an IPv6 address, because one host can use all addresses
 * of such a network. And the socket that the server listens on.
 */
#ifndef KERF_SERVER_NETWORK_H
#define KERF_SERVER_NETWORK_H

#include <stdint.h>
#include "kerf/error.h"

struct sockaddr;

struct network { /* ::ffff:a.b.c.d for IPv4; of IPv6 64 bits and then zeros */
    unsigned char bytes[16];
};

struct network network_of(const struct sockaddr *address); /* zeros: neither IPv4 nor IPv6; NULL is fine */
uint64_t network_hash(const struct network *network, uint64_t seed);
int network_same(const struct network *a, const struct network *b);

enum { NETWORK_NAME_BYTES = 56 };
/* "192.0.2.1" or "2001:db8::1"; an IPv4 address in an IPv6 one is written as IPv4. */
void network_name(const struct sockaddr *address, char ret_name[NETWORK_NAME_BYTES]);

/* A socket on "HOST:PORT" ("[::1]:8000", port 0: any that is free) that listens. ret_address: 128 bytes.
 * ret_is_loopback: 0: other machines reach it. */
int32_t listen_open(const char *where, int *ret_fd, int32_t *ret_port, char *ret_address, int *ret_is_loopback,
                    struct kerf_error *err);

#endif
