/* SPDX-License-Identifier: Apache-2.0 */
/* The socket that the server listens on. */
#include "server/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "server/network.h"

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
