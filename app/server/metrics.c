/* SPDX-License-Identifier: Apache-2.0 */
/* Counting requests, and /metrics in Prometheus' text format 0.0.4. */
#include "server/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include "server/server_parts.h"

static const double bounds[METRICS_BUCKETS] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                               0.01,   0.025,   0.05,   0.1,   0.5,    2.5};

void metrics_note(struct metrics *metrics, int32_t route, int status, double took_s) {
    int at = 0;
    if (route >= METRICS_ROUTES) route = METRICS_ROUTES - 1;
    while (at < METRICS_BUCKETS && took_s > bounds[at]) at++;
    atomic_fetch_add_explicit(&metrics->requests[route][status / 100 - 1], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->seconds[at], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->microseconds, (uint64_t)(took_s * 1e6), memory_order_relaxed);
}

static void say(struct kerf_text *out, const char *name, const char *type, const char *help) {
    kerf_text_printf(out, "# HELP kerf_%s %s\n# TYPE kerf_%s %s\n", name, help, name, type);
}

static void one(struct kerf_text *out, const char *name, const char *type, const char *help, double value) {
    say(out, name, type, help);
    kerf_text_printf(out, "kerf_%s ", name);
    kerf_text_number(out, value);
    kerf_text_add(out, "\n");
}

static void put_requests(struct kerf_text *out, struct metrics *metrics) {
    int32_t count;
    const struct route *routes = router_routes(&count);
    say(out, "http_requests_total", "counter", "Requests answered, by route and by class of status.");
    for (int32_t i = 0; i <= count && i < METRICS_ROUTES; i++)
        for (int class = 0; class < METRICS_CLASSES; class ++) {
            uint64_t requests = metrics->requests[i][class];
            if (requests)
                kerf_text_printf(
                    out, "kerf_http_requests_total{method=\"%s\",path=\"%s\",status=\"%dxx\"} %" PRIu64 "\n",
                    i < count ? routes[i].method : "", i < count ? routes[i].pattern : "", class + 1, requests);
        }
}

static void put_seconds(struct kerf_text *out, struct metrics *metrics) {
    uint64_t sum = 0;
    say(out, "http_request_seconds", "histogram", "From a request's headers to its answer.");
    for (int i = 0; i < METRICS_BUCKETS; i++) {
        sum += metrics->seconds[i];
        kerf_text_printf(out, "kerf_http_request_seconds_bucket{le=\"%g\"} %" PRIu64 "\n", bounds[i], sum);
    }
    sum += metrics->seconds[METRICS_BUCKETS];
    kerf_text_printf(out,
                     "kerf_http_request_seconds_bucket{le=\"+Inf\"} %" PRIu64
                     "\nkerf_http_request_seconds_sum %.6f\nkerf_http_request_seconds_count %" PRIu64 "\n",
                     sum, 1e-6 * (double)metrics->microseconds, sum);
}

static double resident_bytes(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) return 0;
    if (fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void put_store(struct kerf_text *out, struct server *server) {
    struct store_counts counts;
    server->store->methods->count(server->store, &counts);
    one(out, "store_commits_total", "counter", "Transactions of the store's writer.", (double)counts.commits);
    one(out, "store_writes_total", "counter", "Decisions written; several share a transaction.", (double)counts.writes);
    one(out, "store_failed_total", "counter", "Decisions that could not be written.", (double)counts.failed);
    one(out, "store_commit_seconds_total", "counter", "Time spent in transactions.", counts.commit_s);
    one(out, "store_queue", "gauge", "Decisions that wait to be written.", (double)counts.queue);
}

static void put_cache(struct kerf_text *out, struct server *server) {
    struct job_cache_counts counts;
    job_cache_count(server->jobs, &counts);
    one(out, "cache_jobs", "gauge", "Jobs in memory.", (double)counts.jobs);
    one(out, "cache_bytes", "gauge", "What they take.", (double)counts.bytes);
    one(out, "cache_hits_total", "counter", "Requests whose job was in memory.", (double)counts.hits);
    one(out, "cache_misses_total", "counter", "Requests whose job was not.", (double)counts.misses);
    one(out, "cache_evicted_total", "counter", "Jobs forgotten to save memory.", (double)counts.evicted);
}

void page_metrics(struct exchange *exchange) {
    struct server *server = exchange->server;
    struct kerf_text *out = &exchange->answer;
    kerf_text_clear(out);
    say(out, "build_info", "gauge", "The version of kerf.");
    kerf_text_printf(out, "kerf_build_info{version=\"%s\",store=\"%s\"} 1\n", kerf_version(),
                     server->store->methods->name);
    put_requests(out, &server->metrics);
    put_seconds(out, &server->metrics);
    one(out, "http_connections", "gauge", "Open connections.", (double)server->num_connections);
    one(out, "http_slow_total", "counter", "Connections given up while a request came in.",
        (double)server->metrics.slow);
    one(out, "http_limited_total", "counter", "Requests of addresses that ask too much (429).",
        (double)server->metrics.limited);
    one(out, "trials_removed_total", "counter", "Old trials that were removed.", (double)server->metrics.removed);
    put_store(out, server);
    put_cache(out, server);
    one(out, "process_start_time_seconds", "gauge", "When the server started, since 1970.", server->started_s);
    one(out, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
    exchange_answer(exchange, 200);
    exchange->content_type = "text/plain; version=0.0.4; charset=utf-8";
}
