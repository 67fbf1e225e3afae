/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kerf serve, measured:
 *
 *     serve [PART...] [--store WHERE] [--seconds N] [--jobs N] [--trials N] [--idle N]
 *
 *     load      a closed loop of predict and final report on distinct jobs, every answer durable: requests a second,
 *               latencies, and CPU time of the server, for several numbers of connections
 *     history   CPU time of one request by the number of trials before it
 *     start     the time to start on many jobs with many trials, and the memory that takes
 *     idle      memory, and the loop once more, beside many idle connections
 *
 * Without a PART, all of them. The server is `kerf serve`, on a fresh SQLite file in $TMPDIR or /tmp, or on WHERE,
 * where its tables may be anything else's but not in use. What a request costs is CPU time, which neither the disk nor
 * what else the machine does has much part in. bench/on_postgresql runs this on a PostgreSQL of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "serve_history.h"
#include "serve_load.h"

struct options {
    const char *store;
    double seconds;
    int jobs, idle;
    int64_t trials;
};

static void print_load_head(void) { printf("  connections  requests/s    p50 ms    p99 ms  CPU ms/request  failed\n"); }

static void print_load(const struct service *service, const char *name, int connections, double seconds) {
    char job[64];
    snprintf(job, sizeof job, "%s-%d-", name, connections);
    const struct load load = {
        .service = service, .connections = connections, .seconds = seconds, .job = job, .register_with = ""};
    struct load_result result = load_run(&load);
    printf("  %11d  %10.0f  %8.2f  %8.2f  %14.4f  %6lld\n", connections, result.requests_per_s, result.p50_ms,
           result.p99_ms, result.cpu_ms, (long long)result.failed);
    fflush(stdout);
}

static void measure_load(const struct options *options) {
    static const int connections[] = {1, 8, 64, 256};
    struct service service = {.store = options->store};
    service_start(&service);
    printf("predict + final report on distinct jobs, keep-alive, durable before each answer\n"
           "resident at the start: %.1f MB\n",
           service_resident_mb(&service));
    print_load_head();
    for (size_t i = 0; i < sizeof connections / sizeof *connections; i++)
        print_load(&service, "load", connections[i], options->seconds);
    printf("resident after it: %.1f MB\n", service_resident_mb(&service));
    service_stop(&service);
}

/* ---- Histories ----------------------------------------------------------------------------------------------- */

struct times {
    double predict_ms, epoch_ms, final_ms, first_ms;
};

static struct times time_requests(const struct service *service, const char *job) {
    struct load load = {.service = service, .connections = 1, .epochs = 1, .cycles = 1, .job = job};
    struct load_result first = load_run(&load), result;
    load.cycles = 1000;
    result = load_run(&load);
    return (struct times){result.step_cpu_ms[LOAD_PREDICT], result.step_cpu_ms[LOAD_EPOCH],
                          result.step_cpu_ms[LOAD_FINAL], first.step_cpu_ms[LOAD_FINAL]};
}

static void measure_history(const struct options *options) {
    static const int64_t trials[] = {10, 100, 1000, 10000, 100000};
    static const int windows[] = {10, 0};
    enum { COUNT = sizeof trials / sizeof *trials };
    struct service service = {.store = options->store};
    char job[64];
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < COUNT; i++) {
            const struct history history = {job, 1, trials[i], windows[w]};
            snprintf(job, sizeof job, "history-%d-%d-", windows[w], i);
            history_write(options->store, &history);
        }
    service_start(&service);
    printf("\nCPU of one request (a hundredth of a thousand stay below) by the trials before it, all on one size\n"
           "  window_size  trials  predict ms  keep training ms  final report ms  first final ms  ns a past run\n");
    for (int w = 0; w < 2; w++) {
        struct times few = {0};
        for (int i = 0; i < COUNT; i++) {
            snprintf(job, sizeof job, "history-%d-%d-", windows[w], i);
            struct times now = time_requests(&service, job);
            if (i == 0) few = now;
            printf("  %11d  %6lld  %10.4f  %16.4f  %15.4f  %14.3f", windows[w], (long long)trials[i], now.predict_ms,
                   now.epoch_ms, now.final_ms, now.first_ms);
            if (windows[w] == 0 && trials[i] >= 10000)
                printf("  %13.2f", 1e6 * (now.final_ms - few.final_ms) / (double)trials[i]);
            printf("\n");
            fflush(stdout);
        }
    }
    service_stop(&service);
}

/* ---- Start and idle connections ------------------------------------------------------------------------------ */

static void measure_start(const struct options *options) {
    const struct history history = {"start-", options->jobs, options->trials, 0};
    struct service service = {.store = options->store};
    double begin_s = clock_ticks_s();
    history_write(options->store, &history);
    printf("\nwriting %d jobs with %lld trials each took %.0f s\n", options->jobs, (long long)options->trials,
           clock_ticks_s() - begin_s);
    service_start(&service);
    printf("from exec to the open socket: %.3f s, %.1f MB resident\n", service.start_s, service_resident_mb(&service));
    const struct load load = {
        .service = &service, .connections = 8, .jobs = options->jobs, .cycles = options->jobs, .job = "start-"};
    struct load_result result = load_run(&load);
    printf("the first predict and report of each job: %.0f requests/s, p99 %.2f ms, then %.1f MB resident\n",
           result.requests_per_s, result.p99_ms, service_resident_mb(&service));
    service_stop(&service);
}

static void measure_idle(const struct options *options) {
    struct service service = {.store = options->store};
    service_start(&service);
    double before_mb = service_resident_mb(&service);
    int idle = load_be_idle(&service, options->idle);
    printf("\n%d idle connections: %.1f MB resident, %.1f without\n", idle, service_resident_mb(&service), before_mb);
    print_load_head();
    print_load(&service, "idle", 1, options->seconds);
    print_load(&service, "idle", 64, options->seconds);
    service_stop(&service);
}

/* ---- The command --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*measure)(const struct options *options);
} parts[] = {{"load", measure_load}, {"history", measure_history}, {"start", measure_start}, {"idle", measure_idle}};
enum { PARTS = sizeof parts / sizeof *parts };

static void refuse(const char *word) {
    fprintf(stderr, "%s is no part and no option; the first lines of bench/serve.c say what is\n", word);
    exit(2);
}

static void read_words(int argc, char **argv, struct options *options, int *wanted) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        int part = 0;
        while (part < PARTS && strcmp(argv[i], parts[part].name) != 0) part++;
        if (part < PARTS) {
            wanted[part] = 1;
            continue;
        }
        if (strcmp(argv[i], "--store") == 0)
            options->store = value;
        else if (strcmp(argv[i], "--seconds") == 0)
            options->seconds = atof(value);
        else if (strcmp(argv[i], "--jobs") == 0)
            options->jobs = atoi(value);
        else if (strcmp(argv[i], "--trials") == 0)
            options->trials = atoll(value);
        else if (strcmp(argv[i], "--idle") == 0)
            options->idle = atoi(value);
        else
            refuse(argv[i]);
        i++;
    }
    for (int i = 0; i < PARTS; i++)
        if (wanted[i]) return;
    for (int i = 0; i < PARTS; i++) wanted[i] = 1;
}

int main(int argc, char **argv) {
    struct options options = {.seconds = 5, .jobs = 10000, .trials = 1000, .idle = 10000};
    int wanted[PARTS] = {0};
    char folder[128], store[160], command[256];
    const char *temporary = getenv("TMPDIR");
    read_words(argc, argv, &options, wanted);
    snprintf(folder, sizeof folder, "%s/kerf-bench-XXXXXX", temporary ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL) bench_die(folder);
    snprintf(store, sizeof store, "%s/jobs.db", folder);
    if (options.store == NULL) options.store = store;
    for (int i = 0; i < PARTS; i++)
        if (wanted[i]) parts[i].measure(&options);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1;
}
