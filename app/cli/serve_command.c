/* SPDX-License-Identifier: Apache-2.0 */
/* kerf serve: the batch-size service for recurring jobs, until SIGTERM or SIGINT. */
#include <stddef.h>
#include <string.h>
#include "cli/command.h"
#include "cli/serving.h"
#ifdef KERF_ZEUS
#include "zeus/zeus.h"
#endif

struct serve_options {
    const char *listen, *store, *tls_cert, *tls_key, *import_zeus, *compat, *log;
    struct string_list hosts, origins;
    int64_t threads, connections, an_address, rate, cache;
    double idle_s, request_s, write_s, keep_trials_s, compute_limit_s;
    int32_t log_requests, tokens;
};

#define AT(field) .offset = offsetof(struct serve_options, field)
static const struct option options[] = {
    {.name = "listen",
     .type = OPTION_STRING,
     AT(listen),
     .value = "HOST:PORT",
     .help = "The address to listen on (default: 127.0.0.1:8000); port 0 takes any free port."},
    {.name = "store",
     .type = OPTION_STRING,
     AT(store),
     .value = "STORE",
     .help = "Where the server stores its data (default: kerf.db): a SQLite file, which is created if it does not "
             "exist, or "
             "postgresql://USER@HOST/DATABASE, which several servers may share."},
    {.name = "allow-host",
     .type = OPTION_STRINGS,
     AT(hosts),
     .value = "HOST",
     .help = "Answer requests for this host name too, such as the name that a proxy serves; may be repeated. Without "
             "it the server on loopback only answers 127.0.0.1, [::1] and localhost, so that no web page can reach it "
             "under another name."},
    {.name = "allow-origin",
     .type = OPTION_STRINGS,
     AT(origins),
     .value = "ORIGIN",
     .help =
         "Let pages of this site use the server from a browser (CORS), such as https://dashboard.example.com; may be "
         "repeated. Without it no page of another site can."},
    {.name = "tls-cert",
     .type = OPTION_STRING,
     AT(tls_cert),
     .value = "FILE",
     .help = "Speak HTTPS with this certificate in PEM, followed by those that sign it. SIGHUP makes the server read "
             "it again."},
    {.name = "tls-key",
     .type = OPTION_STRING,
     AT(tls_key),
     .value = "FILE",
     .help = "The certificate's private key in PEM, without a password (default: the file of --tls-cert)."},
    {.name = "import-zeus",
     .type = OPTION_STRING,
     AT(import_zeus),
     .value = "DATABASE",
     .help = "First import the jobs of Zeus's server from a SQLite file, postgresql://... or mysql://..., which is "
             "only read. Jobs that exist already stay unchanged."},
    {.name = "tokens",
     .type = OPTION_FLAG,
     AT(tokens),
     .help = "Require tokens on loopback too, for example behind a proxy. Beyond loopback they are always required. "
             "`kerf token` makes them."},
    {.name = "compat",
     .type = OPTION_CHOICE,
     AT(compat),
     .value = "SERVER",
     .choices = "none,zeus",
     .help = "zeus: every answer equals that of Zeus's server, its faults included (default: none)."},
    {.name = "keep-trials",
     .type = OPTION_DURATION,
     AT(keep_trials_s),
     .value = "TIME",
     .minimum = 3600, /* a run repeats its last report for some minutes, and must be told that it is known */
     .maximum = 1e9,
     .help = "Remove trials that ended longer ago than this, such as 90d; at least 1h (default: none are removed). "
             "Data that a later decision needs stays, so that no decision changes."},
    {.name = "log",
     .type = OPTION_CHOICE,
     AT(log),
     .value = "FORM",
     .choices = "text,json",
     .help = "How events are written to standard error (default: text)."},
    {.name = "log-requests", .type = OPTION_FLAG, AT(log_requests), .help = "Log every request."},
    {.name = "threads",
     .letter = 't',
     .type = OPTION_INTEGER,
     AT(threads),
     .value = "N",
     .minimum = 1,
     .maximum = 64,
     .help = "Threads that answer (default: one per processor, at most 8)."},
    {.name = "connections",
     .type = OPTION_INTEGER,
     AT(connections),
     .value = "N",
     .minimum = 1,
     .maximum = 1000000,
     .help = "Connections at a time (default: 16384); further ones wait."},
    {.name = "connections-per-address",
     .type = OPTION_INTEGER,
     AT(an_address),
     .value = "N",
     .minimum = 0,
     .maximum = 1000000,
     .help = "Connections of one address at a time; an IPv6 network of 64 bits counts as one address; 0: any number "
             "(default: any number on loopback, elsewhere a quarter of --connections)."},
    {.name = "rate",
     .type = OPTION_INTEGER,
     AT(rate),
     .value = "N",
     .minimum = 0,
     .maximum = 1000000,
     .help = "Requests per second that one address may send, and twice as many at once; further ones are answered 429. "
             "A wrong "
             "token counts as ten. 0: any number (default: any number on loopback, elsewhere 1000)."},
    {.name = "cache",
     .type = OPTION_INTEGER,
     AT(cache),
     .value = "MIB",
     .minimum = 1,
     .maximum = 1048576,
     .help = "Memory for jobs (default: 64). The jobs that were unused for the longest time are dropped from it and "
             "read again when needed."},
    {.name = "compute-limit",
     .type = OPTION_DURATION,
     AT(compute_limit_s),
     .value = "TIME",
     .minimum = 0.1,
     .maximum = 86400,
     .help =
         "How long the server computes the answer to one question, such as a plan; it then answers what is known so "
         "far (default: 30s)."},
    {.name = "idle-timeout",
     .type = OPTION_DURATION,
     AT(idle_s),
     .value = "TIME",
     .minimum = 1,
     .maximum = 86400,
     .help = "Close a connection after this time without a request (default: 75s; 5s with --compat zeus)."},
    {.name = "request-timeout",
     .type = OPTION_DURATION,
     AT(request_s),
     .value = "TIME",
     .minimum = 1,
     .maximum = 86400,
     .help = "The time within which a request must be complete (default: 30s)."},
    {.name = "write-timeout",
     .type = OPTION_DURATION,
     AT(write_s),
     .value = "TIME",
     .minimum = 1,
     .maximum = 86400,
     .help = "Reset a connection if its client reads nothing of the answer for this time (default: 20s)."},
    {.name = NULL},
};

static const char *const examples[] = {
    "on this machine, with the store jobs.db",
    "kerf serve --store jobs.db",
    "on all addresses, over TLS, for clients that have a token",
    "kerf serve --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --store jobs.db",
    "in the place of Zeus's server",
    "kerf serve --compat zeus --listen 127.0.0.1:8000 --store zeus.db",
    NULL,
};

static const struct command_exit exits[] = {{"0", "ended by SIGTERM or Ctrl-C"},
                                            {"2", "bad usage, or it cannot listen on --listen or open --store"},
                                            {"3", "failed while starting"},
                                            {NULL, NULL}};

static const struct command table = {
    .name = "serve",
    .summary = "which batch size each run of a recurring job uses",
    .description =
        "Serves over HTTP which batch size the next run of a recurring training job is to use, and learns from what "
        "the runs report: time, energy and whether the target was reached. Clients of Zeus's batch-size server work "
        "with it unchanged. It stores everything in one file; what was answered survives a crash.\n\n"
        "Beside Zeus's routes it serves /api/v1, which /docs and /api/v1/openapi.json describe, /metrics for "
        "Prometheus, /healthz and /readyz, and at / the page with plans, schedules, studies and jobs "
        "(docs/page.md).\n\n"
        "It refuses requests that web pages of other sites make in a browser (403).\n\n"
        "SIGTERM ends it: it accepts no more connections, answers the requests that it has, and exits with status 0 "
        "within 5 seconds. SIGHUP makes it read the certificate again.",
    .options = options,
    .examples = examples,
    .exits = exits,
};

/* ---- The options --------------------------------------------------------------------------------------------- */

static int32_t check_hosts(const struct string_list *hosts, struct kerf_error *err) {
    for (int32_t i = 0; i < hosts->count; i++) {
        const char *host = hosts->items[i];
        int is_address = host[0] == '[' && host[strlen(host) - 1] == ']';
        if (host[0] == 0 || strpbrk(host, "/ ") || (strchr(host, ':') && !is_address))
            return kerf_error_set(
                err, KERF_EINVALID,
                "--allow-host '%.100s' must be a name without scheme and port, such as kerf.example.com", host);
    }
    return KERF_OK;
}

static int32_t check_origins(const struct string_list *origins, struct kerf_error *err) {
    for (int32_t i = 0; i < origins->count; i++) {
        const char *origin = origins->items[i], *name = strstr(origin, "://");
        int is_web = strncmp(origin, "http://", 7) == 0 || strncmp(origin, "https://", 8) == 0;
        if (!is_web || name[3] == 0 || strpbrk(name + 3, "/ ,*"))
            return kerf_error_set(
                err, KERF_EINVALID,
                "--allow-origin '%.100s' must be a scheme, a name and perhaps a port, such as https://example.com:8443",
                origin);
    }
    return KERF_OK;
}

static int32_t check(const struct serve_options *values, struct kerf_error *err) {
#ifndef KERF_ZEUS
    if (strcmp(values->compat, "none") != 0 || values->import_zeus)
        return kerf_error_set(
            err, KERF_EUNSUPPORTED,
            "this kerf was built without Zeus's API (KERF_ZEUS): --compat zeus and --import-zeus need it");
#endif
    if (values->tls_key && values->tls_cert == NULL)
        return kerf_error_set(err, KERF_EINVALID, "--tls-key needs --tls-cert");
    int32_t code = check_origins(&values->origins, err);
    return code == KERF_OK ? check_hosts(&values->hosts, err) : code;
}

static int run(int argc, char **argv) {
    struct serve_options values = {.listen = "127.0.0.1:8000",
                                   .store = "kerf.db",
                                   .compat = "none",
                                   .log = "text",
                                   .connections = 16384,
                                   .an_address = -1,
                                   .rate = -1,
                                   .cache = 64,
                                   .request_s = 30,
                                   .write_s = 20};
    struct kerf_error err;
    int status = cli_parse(&serve_cli, argc, argv, &values);
    if (status >= 0) return status;
    int compat = strcmp(values.compat, "zeus") == 0;
    const struct server_options how = {
#ifdef KERF_ZEUS
        .addition = &zeus_api,
#endif
        .listen = values.listen,
        .store = values.store,
        .tls_cert = values.tls_cert,
        .tls_key = values.tls_key,
        .import_zeus = values.import_zeus,
        .allow_hosts = values.hosts.items,
        .num_allow_hosts = values.hosts.count,
        .allow_origins = values.origins.items,
        .num_allow_origins = values.origins.count,
        .compat = compat,
        .log_json = strcmp(values.log, "json") == 0,
        .log_requests = values.log_requests,
        .tokens = values.tokens,
        .threads = (int32_t)values.threads,
        .connections = (int32_t)values.connections,
        .connections_an_address = (int32_t)values.an_address,
        .rate = (int32_t)values.rate,
        .cache_mib = (int32_t)values.cache,
        .compute_limit_s = values.compute_limit_s,
        .keep_trials_s = values.keep_trials_s,
        .idle_s = values.idle_s > 0 ? values.idle_s
                  : compat          ? 5
                                    : 75,
        .request_s = values.request_s,
        .write_s = values.write_s};
    int32_t code = check(&values, &err);
    status = code == KERF_OK ? serving_run(&how, NULL, NULL) : cli_fail(&err);
    options_free(&table, &values);
    return status;
}

const struct cli_command serve_cli = {&table, run};
