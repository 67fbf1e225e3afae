/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl is not linked: it brings two dozen libraries, which no other command is to wait for. */
#include "client/http_client.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

static const char *const libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"}; /* one interface */

#define FUNCTIONS(X)                                                                                                   \
    X(global_init)                                                                                                     \
    X(global_cleanup)                                                                                                  \
    X(easy_init)                                                                                                       \
    X(easy_cleanup)                                                                                                    \
    X(easy_reset)                                                                                                      \
    X(easy_setopt)                                                                                                     \
    X(easy_perform)                                                                                                    \
    X(easy_getinfo)                                                                                                    \
    X(easy_strerror)                                                                                                   \
    X(slist_append)                                                                                                    \
    X(slist_free_all)                                                                                                  \
    X(url)                                                                                                             \
    X(url_cleanup)                                                                                                     \
    X(url_set)                                                                                                         \
    X(url_get)                                                                                                         \
    X(free)

struct api {
#define DECLARE(name) __typeof__(curl_##name) *name;
    FUNCTIONS(DECLARE)
#undef DECLARE
};

struct http_client {
    struct api api;
    CURL *curl;
    char *server;        /* no user part, no slash at its end */
    char *authorization; /* the header, or NULL */
    char *ca;            /* or NULL */
    int is_loopback;
    double timeout_s;
    char words[CURL_ERROR_SIZE];
};

static int32_t open_library(struct api *api, struct kerf_error *err) {
    void *handle = NULL;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && handle == NULL; i++)
        handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "there is no libcurl on this machine: install libcurl4");
#define LOOK_UP(name)                                                                                                  \
    if ((api->name = (__typeof__(api->name))dlsym(handle, "curl_" #name)) == NULL) {                                   \
        dlclose(handle);                                                                                               \
        return kerf_error_set(err, KERF_EUNSUPPORTED, "this machine's libcurl is too old: it lacks curl_" #name);      \
    }
    FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    dlclose(handle); /* it stays mapped */
    return KERF_OK;
}

/* ---- The URL ------------------------------------------------------------------------------------------------ */

static int is_loopback(const char *host) {
    return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 || strncmp(host, "127.", 4) == 0;
}

static char none[] = "";

/* A part of the URL, to be given back. */
static char *part_of(const struct http_client *client, CURLU *url, CURLUPart which, unsigned flags) {
    char *part = NULL;
    return client->api.url_get(url, which, &part, flags) == CURLUE_OK && part ? part : none;
}

static void give_back(const struct http_client *client, char *part) {
    if (part != none) client->api.free(part);
}

/* What would end a header, or the line that it stands in. */
static int is_printable(const char *token) {
    for (; *token; token++)
        if ((unsigned char)*token <= ' ' || (unsigned char)*token >= 127) return 0;
    return 1;
}

static int32_t take_token(struct http_client *client, const char *token, struct kerf_error *err) {
    if (token[0] == 0) return KERF_OK;
    if (!is_printable(token)) return kerf_error_set(err, KERF_EINVALID, "the token has characters that no token has");
    if (asprintf(&client->authorization, "Authorization: Bearer %s", token) >= 0) return KERF_OK;
    client->authorization = NULL;
    return error_no_memory(err, "a request");
}

static int32_t take_url(struct http_client *client, CURLU *url, const struct http_options *options,
                        struct kerf_error *err) {
    if (strncasecmp(options->url, "http://", 7) != 0 && strncasecmp(options->url, "https://", 8) != 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--server must begin with http:// or https://, such as "
                              "http://127.0.0.1:8000");
    if (client->api.url_set(url, CURLUPART_URL, options->url, 0) != CURLUE_OK)
        return kerf_error_set(err, KERF_EINVALID, "--server is not a URL such as http://127.0.0.1:8000");
    char *user = part_of(client, url, CURLUPART_USER, CURLU_URLDECODE);
    int32_t code = take_token(client, options->token ? options->token : user, err);
    give_back(client, user);
    if (code != KERF_OK) return code;
    static const CURLUPart dropped[] = {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT};
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) client->api.url_set(url, dropped[i], NULL, 0);
    char *host = part_of(client, url, CURLUPART_HOST, 0), *whole = part_of(client, url, CURLUPART_URL, 0);
    client->is_loopback = is_loopback(host);
    client->server = strdup(whole);
    for (size_t n = client->server ? strlen(client->server) : 0; n > 0 && client->server[n - 1] == '/'; n--)
        client->server[n - 1] = 0;
    give_back(client, host);
    give_back(client, whole);
    return client->server ? KERF_OK : error_no_memory(err, "a request");
}

/* ---- The client --------------------------------------------------------------------------------------------- */

int32_t http_open(const struct http_options *options, struct http_client **ret_client, struct kerf_error *err) {
    struct http_client *client = calloc(1, sizeof *client);
    if (client == NULL) return error_no_memory(err, "a request");
    int32_t code = open_library(&client->api, err);
    if (code != KERF_OK) {
        free(client);
        return code;
    }
    client->timeout_s = options->timeout_s;
    client->api.global_init(CURL_GLOBAL_DEFAULT);
    client->curl = client->api.easy_init();
    CURLU *url = client->api.url();
    if (options->ca) client->ca = strdup(options->ca);
    code = client->curl && url && (client->ca || !options->ca) ? take_url(client, url, options, err)
                                                               : error_no_memory(err, "a request");
    if (url) client->api.url_cleanup(url);
    if (code != KERF_OK) {
        http_close(client);
        return code;
    }
    *ret_client = client;
    return KERF_OK;
}

void http_close(struct http_client *client) {
    if (client == NULL) return;
    if (client->curl) client->api.easy_cleanup(client->curl);
    client->api.global_cleanup();
    free(client->server);
    free(client->ca);
    free(client->authorization);
    free(client);
}

const char *http_server(const struct http_client *client) { return client->server; }

/* ---- A question --------------------------------------------------------------------------------------------- */

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
    enum { MOST = 256 << 20 };
    struct kerf_text *body = context;
    if (body->length + size * count > MOST) return 0;
    kerf_text_write(body, bytes, size * count);
    return body->failed ? 0 : size * count;
}

static int32_t explain(const struct http_client *client, CURLcode result, struct kerf_error *err) {
    const char *server = client->server;
    switch (result) {
    case CURLE_COULDNT_CONNECT:
        return kerf_error_set(err, KERF_EIO, "nothing listens at %.200s; is `kerf serve` running there?", server);
    case CURLE_COULDNT_RESOLVE_HOST: return kerf_error_set(err, KERF_EIO, "there is no host %.200s", server);
    case CURLE_OPERATION_TIMEDOUT:
        return kerf_error_set(err, KERF_EIO, "no answer from %.200s within %g s", server, client->timeout_s);
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        return kerf_error_set(err, KERF_EIO, "the program at %.200s does not speak HTTP", server);
    case CURLE_PEER_FAILED_VERIFICATION:
        return kerf_error_set(err, KERF_EIO, "%.200s is not trusted: %.200s; --ca names a file of trusted certificates",
                              server, client->words[0] ? client->words : client->api.easy_strerror(result));
    case CURLE_SSL_CACERT_BADFILE:
        return kerf_error_set(err, KERF_EINVALID, "%.200s cannot be read, or holds no certificate in PEM",
                              client->ca ? client->ca : "libcurl's list of certificates");
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
        return kerf_error_set(err, KERF_EIO, "%.200s ended the connection without an answer", server);
    default:
        return kerf_error_set(err, KERF_EIO, "%.200s: %.200s", server,
                              client->words[0] ? client->words : client->api.easy_strerror(result));
    }
}

static struct curl_slist *headers_of(const struct http_client *client, int has_body) {
    const char *const wanted[] = {"Accept: application/json", has_body ? "Content-Type: application/json" : NULL,
                                  "Expect:", client->authorization};
    struct curl_slist *headers = NULL;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct curl_slist *longer = wanted[i] ? client->api.slist_append(headers, wanted[i]) : headers;
        if (longer) headers = longer;
    }
    return headers;
}

int32_t http_ask(struct http_client *client, const char *method, const char *target, const char *body,
                 struct http_answer *answer, struct kerf_error *err) {
    struct kerf_text url = {0};
    CURL *curl = client->curl;
    __typeof__(client->api.easy_setopt) set = client->api.easy_setopt;
    kerf_text_printf(&url, "%s%s", client->server, target);
    kerf_text_clear(&answer->body);
    client->words[0] = 0;
    struct curl_slist *headers = headers_of(client, body != NULL);
    if (url.failed) {
        client->api.slist_free_all(headers);
        return error_no_memory(err, "a request");
    }
    client->api.easy_reset(curl);
    set(curl, CURLOPT_URL, url.data);
    set(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    set(curl, CURLOPT_CUSTOMREQUEST, method);
    if (body) set(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    if (body) set(curl, CURLOPT_POSTFIELDS, body);
    if (client->is_loopback) set(curl, CURLOPT_PROXY, "");
    if (client->ca) set(curl, CURLOPT_CAINFO, client->ca);
    set(curl, CURLOPT_HTTPHEADER, headers);
    set(curl, CURLOPT_NOSIGNAL, 1L);
    set(curl, CURLOPT_PATH_AS_IS, 1L);
    set(curl, CURLOPT_TIMEOUT_MS, (long)(1000 * client->timeout_s));
    set(curl, CURLOPT_WRITEFUNCTION, on_body);
    set(curl, CURLOPT_WRITEDATA, &answer->body);
    set(curl, CURLOPT_ERRORBUFFER, client->words);
    CURLcode result = client->api.easy_perform(curl);
    if (result == CURLE_OK) client->api.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
    client->api.slist_free_all(headers);
    kerf_text_free(&url);
    if (result != CURLE_OK) return explain(client, result, err);
    if (answer->body.failed) return error_no_memory(err, "the answer");
    return KERF_OK;
}
