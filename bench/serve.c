/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kerf serve under load: how many requests a second, how long they take, what they cost the server, and how that grows
 * with a job's history.
 *
 *     serve [SECONDS [FOLDER]]     seconds for each number of connections (default: 5), folder of the stores (/tmp)
 *
 * The server is a process of its own on a fresh SQLite file; every answer is durable. What a request costs with a long
 * history is CPU time, measured one request at a time, so that the disk has no part in it.
 */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "serve_load.h"
#include "server/server.h"

struct service {
    pid_t pid;
    int port;
    char folder[128], store[160];
};

static void die(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void be_server(const char *store, int out) {
    struct kerf_error err;
    struct server *server;
    sigset_t signals;
    int number, port;
    const struct server_options options = {
        .listen = "127.0.0.1:0", .store = store, .connections = 1024, .cache_mib = 64, .idle_s = 3600, .request_s = 30};
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (freopen("/dev/null", "w", stderr) == NULL || server_start(&options, &server, &err) != KERF_OK) _exit(1);
    port = server_port(server);
    if (write(out, &port, sizeof port) != sizeof port) _exit(1);
    sigwait(&signals, &number);
    server_stop(server);
    _exit(0);
}

static void start(struct service *service) {
    int ends[2];
    if (pipe(ends) != 0) die("no pipe");
    service->pid = fork();
    if (service->pid == 0) be_server(service->store, ends[1]);
    close(ends[1]);
    if (read(ends[0], &service->port, sizeof service->port) != sizeof service->port) die("the server did not start");
    close(ends[0]);
}

static void stop(struct service *service) {
    kill(service->pid, SIGTERM);
    waitpid(service->pid, NULL, 0);
}

static void under_load(struct service *service, double seconds) {
    static const int connections[] = {1, 8, 64, 256};
    printf("predict + final report on distinct jobs, keep-alive, durable before each answer\n"
           "  connections  requests/s    p50 ms    p99 ms  CPU ms/request  failed\n");
    for (size_t i = 0; i < sizeof connections / sizeof *connections; i++) {
        char job[32];
        snprintf(job, sizeof job, "load%zu-", i);
        const struct load load = {.port = service->port,
                                  .connections = connections[i],
                                  .server = service->pid,
                                  .seconds = seconds,
                                  .job = job,
                                  .register_with = ""};
        struct load_result result = load_run(&load);
        printf("  %11d  %10.0f  %8.2f  %8.2f  %14.4f  %6lld\n", connections[i], result.requests_per_s, result.p50_ms,
               result.p99_ms, result.cpu_ms, (long long)result.failed);
        fflush(stdout);
    }
}

/* ---- Histories ----------------------------------------------------------------------------------------------- */

static void run_sql(sqlite3 *db, const char *sql) {
    char *words = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &words) != SQLITE_OK) die(words ? words : "SQL failed");
}

/* A job that exploits, with so many trials over four sizes, as if it had run them. */
static void add_history(sqlite3 *db, const char *job_id, long trials, int window) {
    char sql[2048];
    snprintf(
        sql, sizeof sql,
        "BEGIN;"
        "INSERT INTO job SELECT NULL,'%s',0,300,1,'V100','','64,128,256,512',64,0.5,NULL,0.5,1,100,2,%d,0,0,2,NULL,"
        "NULL,0;"
        "INSERT INTO job_state SELECT max(job),1,1,1000,64,%ld,%ld,1,NULL FROM job;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<%ld)"
        " INSERT INTO trial SELECT (SELECT max(job) FROM job),i,64<<(i%%4),2,1,1,0,10+(i%%97)/97.0,"
        " 1000+(i%%89)/0.89,0,0,'' FROM n;"
        "INSERT INTO arm SELECT max(job),64,-2000,1e-3,1e-4,%ld FROM job;"
        "COMMIT",
        job_id, window, trials, trials, trials, trials / 4);
    run_sql(db, sql);
}

static void with_history(struct service *service) {
    static const long trials[] = {10, 1000, 100000};
    static const int windows[] = {10, 0};
    sqlite3 *db;
    stop(service);
    if (sqlite3_open(service->store, &db) != SQLITE_OK) die("the store cannot be opened");
    for (size_t w = 0; w < 2; w++)
        for (size_t i = 0; i < 3; i++) {
            char job_id[32];
            snprintf(job_id, sizeof job_id, "history%zu%zu-0", w, i);
            add_history(db, job_id, trials[i], windows[w]);
        }
    sqlite3_close(db);
    start(service);
    printf("\nCPU of one request (the least of a thousand), by the number of trials before it\n"
           "  window_size   trials  predict ms  final report ms  first ms  ns a past run\n");
    for (size_t w = 0; w < 2; w++) {
        double least_ms = 0;
        for (size_t i = 0; i < 3; i++) {
            char job[32];
            snprintf(job, sizeof job, "history%zu%zu-", w, i);
            struct load load = {
                .port = service->port, .connections = 1, .server = service->pid, .cycles = 1, .job = job};
            struct load_result first = load_run(&load), result;
            load.cycles = 1000;
            result = load_run(&load);
            if (i == 0 || result.report_cpu_ms < least_ms) least_ms = result.report_cpu_ms;
            double past = (double)trials[i]; /* the one arm has a quarter of them */
            printf("  %11d  %7ld  %10.4f  %15.4f  %8.3f", windows[w], trials[i], result.predict_cpu_ms,
                   result.report_cpu_ms, first.predict_cpu_ms + first.report_cpu_ms);
            if (windows[w] == 0 && i == 2)
                printf("  %13.2f", 1e6 * (result.report_cpu_ms - least_ms) / (past / 4 + 500));
            printf("\n");
        }
    }
}

int main(int argc, char **argv) {
    struct service service = {0};
    char command[256];
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    snprintf(service.folder, sizeof service.folder, "%s/kerf-bench-XXXXXX", argc > 2 ? argv[2] : "/tmp");
    if (mkdtemp(service.folder) == NULL) die("no folder for the store");
    snprintf(service.store, sizeof service.store, "%s/jobs.db", service.folder);
    start(&service);
    under_load(&service, seconds);
    with_history(&service);
    stop(&service);
    snprintf(command, sizeof command, "rm -rf %s", service.folder);
    return system(command) == 0 ? 0 : 1;
}
