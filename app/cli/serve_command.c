/* SPDX-License-Identifier: Apache-2.0 */
/* kerf serve: the batch-size service for recurring jobs, until SIGTERM or SIGINT. */
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <pthread.h>
#include "cli/command.h"
#include "server/server.h"

struct serve_options {
    const char *listen, *store, *tls_cert, *tls_key, *import_zeus, *compat, *log;
    int64_t threads, connections, an_address, rate, cache;
    double idle, request, keep_trials_s;
    int32_t log_requests, tokens;
};

#define AT(field) .offset = offsetof(struct serve_options, field)
static const struct option options[] = {
    {.name = "listen",
     .type = OPTION_STRING,
     AT(listen),
     .value = "HOST:PORT",
     .help = "Where to listen (default: 127.0.0.1:8000); port 0 takes any that is free."},
    {.name = "store",
     .type = OPTION_STRING,
     AT(store),
     .value = "STORE",
     .help = "What the server knows (default: kerf.db): a SQLite file, made where there is none, or "
             "postgresql://USER@HOST/DATABASE, which several servers may share."},
    {.name = "tls-cert",
     .type = OPTION_STRING,
     AT(tls_cert),
     .value = "FILE",
     .help = "Speak HTTPS, with this certificate in PEM, followed by those that sign it. It is read at the start: "
             "restart the server when it was renewed."},
    {.name = "tls-key",
     .type = OPTION_STRING,
     AT(tls_key),
     .value = "FILE",
     .help = "The certificate's private key in PEM, without a password (default: it stands in --tls-cert's file)."},
    {.name = "import-zeus",
     .type = OPTION_STRING,
     AT(import_zeus),
     .value = "DATABASE",
     .help = "Take over the jobs of Zeus's server first: a SQLite file, postgresql://... or mysql://..., which is only "
             "read. Jobs that are there already are left as they are."},
    {.name = "tokens",
     .type = OPTION_FLAG,
     AT(tokens),
     .help =
         "Ask for tokens on loopback too, as behind a proxy; elsewhere they are always asked for. `kerf token` makes "
         "them."},
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
     .minimum = 3600, /* a run repeats its last report for some minutes, and is to be told that it is known */
     .maximum = 1e9,
     .help =
         "Remove trials that ended longer ago than this, such as 90d, an hour at least (default: none). No decision "
         "changes by it: what one may still need stays."},
    {.name = "log",
     .type = OPTION_CHOICE,
     AT(log),
     .value = "FORM",
     .choices = "text,json",
     .help = "How events are written to standard error (default: text)."},
    {.name = "log-requests", .type = OPTION_FLAG, AT(log_requests), .help = "Write a line for each request."},
    {.name = "threads",
     .letter = 't',
     .type = OPTION_INTEGER,
     AT(threads),
     .value = "N",
     .minimum = 1,
     .maximum = 64,
     .help = "Threads that answer (default: one a processor, 8 at most)."},
    {.name = "connections",
     .type = OPTION_INTEGER,
     AT(connections),
     .value = "N",
     .minimum = 1,
     .maximum = 1000000,
     .help = "Connections at a time (default: 16384)."},
    {.name = "connections-per-address",
     .type = OPTION_INTEGER,
     AT(an_address),
     .value = "N",
     .minimum = 0,
     .maximum = 1000000,
     .help =
         "Of one address at a time; 0: any number (default: any on loopback, elsewhere a quarter of --connections)."},
    {.name = "rate",
     .type = OPTION_INTEGER,
     AT(rate),
     .value = "N",
     .minimum = 0,
     .maximum = 1000000,
     .help = "Requests a second that one address may send, and twice as many at once; more are answered 429. A wrong "
             "token counts as ten. 0: any number (default: any on loopback, elsewhere 1000)."},
    {.name = "cache",
     .type = OPTION_INTEGER,
     AT(cache),
     .value = "MIB",
     .minimum = 1,
     .maximum = 1048576,
     .help = "Memory for jobs (default: 64); those that nobody asked about for long are read again when needed."},
    {.name = "idle-timeout",
     .type = OPTION_DURATION,
     AT(idle),
     .value = "TIME",
     .minimum = 1,
     .maximum = 86400,
     .help = "When a connection without a request is closed (default: 75; 5 with --compat zeus)."},
    {.name = "request-timeout",
     .type = OPTION_DURATION,
     AT(request),
     .value = "TIME",
     .minimum = 1,
     .maximum = 86400,
     .help = "Within which a request must have come in (default: 30)."},
    {.name = NULL},
};

static const char *const examples[] = {
    "on this machine, with what it learns in jobs.db",
    "kerf serve --store jobs.db",
    "on all addresses, over TLS, for those who have a token",
    "kerf serve --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --store jobs.db",
    "in the place of Zeus's server",
    "kerf serve --compat zeus --listen 127.0.0.1:8000 --store zeus.db",
    NULL,
};

static const struct command_exit exits[] = {{"0", "ended by SIGTERM or Ctrl-C"},
                                            {"2", "bad usage, or it cannot listen or open its store as it was told to"},
                                            {"3", "failed while starting"},
                                            {NULL, NULL}};

static const struct command table = {
    .name = "serve",
    .summary = "which batch size each run of a recurring job uses",
    .description =
        "Serves over HTTP which batch size the next run of a recurring training job is to use, and learns from what "
        "the "
        "runs report: time, energy and whether the target was reached. It takes over the clients of Zeus's batch-size "
        "server unchanged, and stores what it knows in one file: what was answered survives a crash.\n\n"
        "Beside Zeus's routes there is /api/v1, which /docs and /api/v1/openapi.json describe, /metrics for "
        "Prometheus, "
        "/healthz "
        "and /readyz, and a list of the jobs at /.\n\n"
        "SIGTERM ends it: it takes no more connections, answers what it was asked, and exits with status 0.",
    .options = options,
    .examples = examples,
    .exits = exits,
};

struct end {
    sigset_t signals;
    pthread_t thread;
    _Atomic int is_started;
};

/* SIGTERM and SIGINT, which no other thread takes. Until the server has started nobody was answered, and what an import
 * stored by then it finds the next time: there is nothing to wait for. */
static void *wait_for_end(void *context) {
    struct end *end = context;
    int number;
    while (sigwait(&end->signals, &number) != 0) {
    }
    if (!end->is_started) _exit(EXIT_ANSWERED);
    return NULL;
}

static int32_t watch_for_end(struct end *end, struct kerf_error *err) {
    sigemptyset(&end->signals);
    sigaddset(&end->signals, SIGTERM);
    sigaddset(&end->signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &end->signals, NULL);
    if (pthread_create(&end->thread, NULL, wait_for_end, end) == 0) return KERF_OK;
    return kerf_error_set(err, KERF_ENOMEM, "no thread can be had");
}

static int serve(const struct serve_options *values) {
    struct kerf_error err;
    struct server *server;
    static struct end end; /* its thread may outlive a start that failed */
    int compat = strcmp(values->compat, "zeus") == 0;
    const struct server_options how = {
        .listen = values->listen,
        .store = values->store,
        .tls_cert = values->tls_cert,
        .tls_key = values->tls_key,
        .import_zeus = values->import_zeus,
        .compat = compat,
        .log_json = strcmp(values->log, "json") == 0,
        .log_requests = values->log_requests,
        .tokens = values->tokens,
        .threads = (int32_t)values->threads,
        .connections = (int32_t)values->connections,
        .connections_an_address = (int32_t)values->an_address,
        .rate = (int32_t)values->rate,
        .cache_mib = (int32_t)values->cache,
        .keep_trials_s = values->keep_trials_s,
        .idle_s = values->idle > 0 ? values->idle
                  : compat         ? 5
                                   : 75,
        .request_s = values->request,
    };
    if (values->tls_key && values->tls_cert == NULL) {
        kerf_error_set(&err, KERF_EINVALID, "--tls-key is of no use without --tls-cert");
        return cli_fail(&err);
    }
    if (watch_for_end(&end, &err) != KERF_OK) return cli_fail(&err);
    if (server_start(&how, &server, &err) != KERF_OK) return cli_fail(&err) == EXIT_USAGE ? EXIT_USAGE : EXIT_FAILED;
    end.is_started = 1;
    pthread_join(end.thread, NULL);
    server_stop(server);
    return EXIT_ANSWERED;
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
                                   .request = 30};
    int status = cli_parse(&serve_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = serve(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command serve_cli = {&table, run};
