/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks an HTTP server one thing at a time. libcurl does the work, and is opened when it is first needed: http and
 * https, and proxies as $http_proxy, $https_proxy and $no_proxy say; never for this machine's own addresses.
 */
#ifndef KERF_CLIENT_HTTP_CLIENT_H
#define KERF_CLIENT_HTTP_CLIENT_H

#include "kerf/text.h"

struct http_client;

struct http_options {
    const char *url;   /* "http://127.0.0.1:8000"; "https://TOKEN@host/behind/a/proxy" */
    const char *token; /* sent as a bearer token; NULL: what stands in the URL's user part, if anything */
    const char *ca;    /* a file with the certificates to trust, in PEM; NULL: those that libcurl knows */
    double timeout_s;  /* for one question with its answer */
};

struct http_answer { /* all zeros at first */
    long status;
    struct kerf_text body;
};

/* KERF_EINVALID: the URL or the token is invalid; KERF_EUNSUPPORTED: there is no libcurl. The texts live as long as the
 * client. */
int32_t http_open(const struct http_options *options, struct http_client **ret_client, struct kerf_error *err);
void http_close(struct http_client *client); /* NULL is fine */

/* The server as messages call it: without its user part. */
const char *http_server(const struct http_client *client);

/* target: "/jobs?job_id=a"; body: JSON, or NULL for none. KERF_EIO: nobody answered, and err says why. */
int32_t http_ask(struct http_client *client, const char *method, const char *target, const char *body,
                 struct http_answer *answer, struct kerf_error *err);

#endif
