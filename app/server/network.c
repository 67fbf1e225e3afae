/* SPDX-License-Identifier: Apache-2.0 */
#include "server/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { NETWORK_BYTES = 8, MAPPED_BYTES = 12 };

static const unsigned char mapped[MAPPED_BYTES] = {[10] = 0xff, [11] = 0xff}; /* ::ffff:0:0/96 */

struct network network_of(const struct sockaddr *address) {
    struct network network = {{0}};
    if (address && address->sa_family == AF_INET) {
        memcpy(network.bytes, mapped, MAPPED_BYTES);
        memcpy(network.bytes + MAPPED_BYTES, &((const struct sockaddr_in *)address)->sin_addr, 4);
    } else if (address && address->sa_family == AF_INET6) {
        const struct in6_addr *in6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
        memcpy(network.bytes, in6, IN6_IS_ADDR_V4MAPPED(in6) ? sizeof network.bytes : NETWORK_BYTES);
    }
    return network;
}

static uint64_t mix(uint64_t x) { /* MurmurHash3's finalizer */
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

uint64_t network_hash(const struct network *network, uint64_t seed) {
    uint64_t halves[2];
    _Static_assert(sizeof halves == sizeof network->bytes, "an address is two words");
    memcpy(halves, network->bytes, sizeof halves);
    return mix(mix(halves[0] ^ seed) ^ halves[1]);
}

int network_same(const struct network *a, const struct network *b) {
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

int network_is_loopback(const struct sockaddr *address) {
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

void network_name(const struct sockaddr *address, char ret_name[NETWORK_NAME_BYTES]) {
    snprintf(ret_name, NETWORK_NAME_BYTES, "?");
    if (address && address->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, ret_name, NETWORK_NAME_BYTES);
    } else if (address && address->sa_family == AF_INET6) {
        const struct in6_addr *in6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(in6))
            inet_ntop(AF_INET, in6->s6_addr + MAPPED_BYTES, ret_name, NETWORK_NAME_BYTES);
        else
            inet_ntop(AF_INET6, in6, ret_name, NETWORK_NAME_BYTES);
    }
}
