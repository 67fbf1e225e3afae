/* SPDX-License-Identifier: Apache-2.0 */
/* kerf serve in a build without the libraries that it needs. */
#include "server/access.h"
#include "server/server.h"

int32_t server_start(const struct server_options *options, struct server **ret_server, struct kerf_error *err) {
    (void)options, (void)ret_server;
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "this kerf was built without libmicrohttpd or SQLite; `serve` needs libmicrohttpd-dev and "
                          "libsqlite3-dev");
}

int32_t server_port(const struct server *server) { return (void)server, 0; }
void server_reload(struct server *server) { (void)server; }
void server_stop(struct server *server) { (void)server; }

int32_t token_make(char ret_token[TOKEN_BYTES], struct kerf_error *err) {
    ret_token[0] = 0;
    return kerf_error_set(err, KERF_EUNSUPPORTED, "this kerf was built without the libraries that tokens need");
}

int32_t token_hash(const char *token, unsigned char ret_hash[TOKEN_HASH]) {
    (void)token, (void)ret_hash;
    return KERF_EUNSUPPORTED;
}
