/* SPDX-License-Identifier: Apache-2.0 */
#include "server/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* 1: 127.0.0.0/8 or ::1 */
static int network_is_loopback(const struct sockaddr *address) {
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

/* ---- The socket that the server listens on --------------------------------------------------------------------- */

enum { BACKLOG = 4096, NAME_BYTES = 128, PORT_DIGITS = 5, PORT_MAX = 65535 };

/* "[::1]:8000" into "::1" and "8000". */
static int split(const char *where, char *host, const char **ret_port) {
    const char *colon = strrchr(where, ':');
    if (colon == NULL || colon == where || colon - where >= NAME_BYTES) return 0;
    size_t length = (size_t)(colon - where);
    if (where[0] == '[') {
        if (where[length - 1] != ']' || length < 3) return 0;
        where++, length -= 2;
    }
    memcpy(host, where, length);
    host[length] = 0;
    *ret_port = colon + 1;
    size_t digits = strspn(*ret_port, "0123456789");
    return digits > 0 && digits <= PORT_DIGITS && (*ret_port)[digits] == 0 && atoi(*ret_port) <= PORT_MAX;
}

/* "127.0.0.1:8000": the port may have been 0. */
static void name_of(int fd, int32_t *ret_port, char *ret_address) {
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    char host[NETWORK_NAME_BYTES];
    getsockname(fd, (struct sockaddr *)&address, &length);
    int is_6 = address.ss_family == AF_INET6;
    *ret_port = ntohs(is_6 ? ((const struct sockaddr_in6 *)&address)->sin6_port
                           : ((const struct sockaddr_in *)&address)->sin_port);
    network_name((const struct sockaddr *)&address, host);
    snprintf(ret_address, NAME_BYTES, is_6 ? "[%s]:%d" : "%s:%d", host, (int)*ret_port);
}

static int32_t bind_to(const struct addrinfo *info, const char *where, int *ret_fd, struct kerf_error *err) {
    int one = 1;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int32_t code = kerf_error_set(err, KERF_EIO, "cannot listen on %.100s: %s", where, strerror(errno));
        if (fd >= 0) close(fd);
        return code;
    }
    *ret_fd = fd;
    return KERF_OK;
}

int32_t listen_open(const char *where, int *ret_fd, int32_t *ret_port, char *ret_address, int *ret_is_loopback,
                    struct kerf_error *err) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char host[NAME_BYTES];
    const char *port;
    if (!split(where, host, &port))
        return kerf_error_set(err, KERF_EINVALID,
                              "'%.100s' is not an address with a port, such as 127.0.0.1:8000 or [::1]:8000", where);
    int status = getaddrinfo(host, port, &hints, &found);
    if (status != 0)
        return kerf_error_set(err, KERF_EINVALID, "'%.100s' is not an address: %s", where, gai_strerror(status));
    int32_t code = bind_to(found, where, ret_fd, err);
    if (code == KERF_OK) *ret_is_loopback = network_is_loopback(found->ai_addr);
    freeaddrinfo(found);
    if (code == KERF_OK) name_of(*ret_fd, ret_port, ret_address);
    return code;
}
