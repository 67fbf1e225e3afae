/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a server in a build without libcurl. */
#include "client/http_client.h"

int32_t http_open(const struct http_options *options, struct http_client **ret_client, struct kerf_error *err) {
    (void)options, (void)ret_client;
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "this kerf was built without libcurl; `jobs` needs libcurl4-openssl-dev");
}

void http_close(struct http_client *client) { (void)client; }
const char *http_server(const struct http_client *client) { return (void)client, ""; }

int32_t http_ask(struct http_client *client, const char *method, const char *target, const char *body,
                 struct http_answer *answer, struct kerf_error *err) {
    (void)client, (void)method, (void)target, (void)body, (void)answer;
    return kerf_error_set(err, KERF_EUNSUPPORTED, "this kerf was built without libcurl");
}
