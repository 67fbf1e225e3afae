/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that come too fast from one address: 429. A wrong token counts as WRONG_TOKEN requests, so that tokens
 * cannot be tried out at the speed of the network. */
#include <math.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include "base/error.h"
#include "server/server_parts.h"

enum { RATE_BEYOND_LOOPBACK = 1000, CONNECTIONS_PART = 4, WRONG_TOKEN = 10 };

int32_t rate_limit_open(struct server *server, int is_loopback, struct kerf_error *err) {
    struct server_options *options = &server->options;
    uint64_t seed = 0;
    if (options->rate < 0) options->rate = is_loopback ? 0 : RATE_BEYOND_LOOPBACK;
    if (options->connections_an_address < 0)
        options->connections_an_address = is_loopback ? 0 : (options->connections + 3) / CONNECTIONS_PART;
    if (options->rate == 0) return KERF_OK;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "the system has no random numbers");
    server->rates = rate_new(options->rate, seed);
    return server->rates ? KERF_OK : error_no_memory(err, "the server");
}

void rate_limit_know(struct exchange *exchange) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    unsigned char *bytes = exchange->address.bytes;
    if (address && address->sa_family == AF_INET6) {
        memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
    } else if (address && address->sa_family == AF_INET) {
        bytes[10] = bytes[11] = 0xff;
        memcpy(bytes + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
    }
}

int rate_limit_lets_in(struct exchange *exchange) {
    struct server *server = exchange->server;
    if (server->rates) exchange->wait_s = rate_take(server->rates, &exchange->address, clock_ticks_s());
    if (exchange->wait_s > 0) atomic_fetch_add(&server->metrics.limited, 1);
    return exchange->wait_s <= 0;
}

void rate_limit_answer(struct exchange *exchange) {
    exchange_detail(exchange, 429, "Too Many Requests");
    snprintf(exchange->retry_after, sizeof exchange->retry_after, "%.0f", ceil(exchange->wait_s));
}

void rate_limit_note_refused(struct exchange *exchange) {
    struct server *server = exchange->server;
    if (server->rates == NULL) return;
    if (MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION))
        rate_charge(server->rates, &exchange->address, WRONG_TOKEN - 1, clock_ticks_s());
}
