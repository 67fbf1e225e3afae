/* SPDX-License-Identifier: Apache-2.0 */
/* kerf serve: the batch-size service for recurring jobs over HTTP. */
#ifndef KERF_SERVER_SERVER_H
#define KERF_SERVER_SERVER_H

#include "kerf/error.h"
#include "server/opened.h"

struct api;
struct log;
struct server;
struct store;

/* What is served beside the server's own routes, such as those of Zeus's server. */
struct server_addition {
    const struct api *api;
    /* Takes over the jobs of a database, and logs each; NULL: it cannot. job_flags: enum kerf_job_flags. */
    int32_t (*import)(const char *where, struct store *to, int32_t job_flags, const struct log *log,
                      struct kerf_error *err);
};

struct server_options {
    struct server_opened opened;
    const struct server_addition *addition; /* NULL: none */
    const char *listen;                     /* "127.0.0.1:8000", "[::1]:0" */
    const char *store;                      /* as store_open has it */
    const char *tls_cert;                   /* a certificate in PEM; NULL: plain HTTP */
    const char *tls_key;                    /* its key; NULL: it stands in tls_cert */
    const char *import_zeus;                /* a database that is taken over first; NULL: none */
    const char *const *allow_hosts;         /* names that Host may have beside those of loopback */
    int32_t num_allow_hosts;
    const char *const *allow_origins; /* other sites whose pages may use it */
    int32_t num_allow_origins;
    int32_t compat; /* 1: as Zeus's server, its faults included */
    int32_t log_json;
    int32_t is_quiet; /* 1: warnings and errors alone */
    int32_t log_requests;
    int32_t tokens;  /* 1: on loopback as well */
    int32_t threads; /* 0: as many as there are processors, 8 at most */
    int32_t connections;
    int32_t connections_an_address; /* -1: what suits the address that it listens on; 0: any number */
    int32_t rate;                   /* requests a second that an address may send; -1 and 0 as above */
    int32_t cache_mib;              /* for jobs in memory */
    double keep_trials_s;           /* how long ended trials are kept; 0: for ever */
    double idle_s;                  /* after which a connection without a request is closed */
    double request_s;               /* within which a request must have come in */
    double write_s;                 /* for which a client may take nothing of an answer */
    double compute_limit_s;         /* of a question to an engine; 0: 30 */
    double clients_s;               /* at the end, for clients that neither send nor read; 0: 3 */
    double end_s;                   /* after which it ends whatever happens; 0: 4 */
};

/* Opens the store, and then the socket. What the options point at lives until server_stop. */
int32_t server_start(const struct server_options *options, struct server **ret_server, struct kerf_error *err);
int32_t server_port(const struct server *server);

/* Reads the certificate again. */
void server_reload(struct server *server);

/* Accepts no more, closes idle connections at once, answers running requests, and closes. Clients that neither send nor
 * read have 3 s. Where a database holds it up for 4 s, the process ends with status 0: what was answered is stored. */
void server_stop(struct server *server);

#endif
