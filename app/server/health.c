/* SPDX-License-Identifier: Apache-2.0 */
/* /healthz, /readyz, and /metrics in Prometheus' text format 0.0.4. */
#include "server/health.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "server/job_cache.h"
#include "server/job_series.h"
#include "server/service.h"
#include "store/store.h"

static const double bounds[HEALTH_BUCKETS] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                              0.01,   0.025,   0.05,   0.1,   0.5,    2.5};
static const double CHECKED_EACH_S = 1; /* asking more often causes no more writes */

struct health *health_new(void) {
    struct health *health = calloc(1, sizeof *health);
    if (health) pthread_mutex_init(&health->lock, NULL);
    return health;
}

struct health *health_free(struct health *health) {
    if (health) pthread_mutex_destroy(&health->lock);
    free(health);
    return NULL;
}

void health_note(struct health *health, const struct exchange *exchange) {
    double took_s = clock_ticks_s() - exchange->began_s;
    size_t route = router_index(exchange->service->router, exchange->route);
    int at = 0;
    assert(exchange->status >= 100 && exchange->status / 100 <= HEALTH_CLASSES && took_s >= 0);
    while (at < HEALTH_BUCKETS && took_s > bounds[at]) at++;
    atomic_fetch_add_explicit(&health->requests[route][exchange->status / 100 - 1], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&health->seconds[at], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&health->microseconds, (uint64_t)(took_s * 1e6), memory_order_relaxed);
}

/* ---- Whether it answers -------------------------------------------------------------------------------------- */

static void answer_status(struct exchange *exchange, const char *status) {
    kerf_text_clear(&exchange->answer);
    kerf_text_printf(&exchange->answer, "{\"status\":\"%s\"}", status);
    exchange_answer(exchange, 200);
}

static void page_healthz(struct exchange *exchange) { answer_status(exchange, "ok"); }

/* A full disk can still be read: only a write shows that decisions can be stored. */
static int32_t check_writes(struct health *health, struct store *store, struct kerf_error *err) {
    char now[32];
    pthread_mutex_lock(&health->lock);
    if (health->checked_s == 0 || clock_ticks_s() - health->checked_s >= CHECKED_EACH_S) {
        snprintf(now, sizeof now, "%.0f", clock_now_s());
        health->err = (struct kerf_error){.code = KERF_OK};
        health->err.code = store_set_meta(store, "checked_s", now, &health->err);
        health->checked_s = clock_ticks_s();
    }
    *err = health->err;
    pthread_mutex_unlock(&health->lock);
    return err->code;
}

static void page_readyz(struct exchange *exchange) {
    struct service *service = exchange->service;
    struct store *store = service->store;
    struct kerf_error err = {.code = KERF_OK};
    if (service->is_stopping)
        exchange_message(exchange, 503, "the server is stopping");
    else if (store_ping(store, &err) != KERF_OK || check_writes(service->health, store, &err) != KERF_OK)
        exchange_message(exchange, 503, err.message);
    else
        answer_status(exchange, "ready");
}

/* ---- Counters ------------------------------------------------------------------------------------------------ */

static void say(struct kerf_text *out, const char *name, const char *type, const char *help) {
    kerf_text_printf(out, "# HELP kerf_%s %s\n# TYPE kerf_%s %s\n", name, help, name, type);
}

static void put(struct kerf_text *out, const char *name, const char *type, const char *help, double value) {
    say(out, name, type, help);
    kerf_text_printf(out, "kerf_%s ", name);
    kerf_text_number(out, value);
    kerf_text_add(out, "\n");
}

static void put_requests(struct kerf_text *out, const struct service *service) {
    size_t count;
    const struct route *routes = router_routes(service->router, &count);
    say(out, "http_requests_total", "counter", "Requests answered, by route and by class of status.");
    for (size_t i = 0; i <= count; i++)
        for (int class = 0; class < HEALTH_CLASSES; class ++) {
            uint64_t requests = service->health->requests[i][class];
            if (requests)
                kerf_text_printf(
                    out, "kerf_http_requests_total{method=\"%s\",path=\"%s\",status=\"%dxx\"} %" PRIu64 "\n",
                    i < count ? routes[i].method : "", i < count ? routes[i].pattern : "", class + 1, requests);
        }
}

static void put_seconds(struct kerf_text *out, struct health *health) {
    uint64_t sum = 0;
    say(out, "http_request_seconds", "histogram", "From a request's headers to its answer.");
    for (int i = 0; i < HEALTH_BUCKETS; i++) {
        sum += health->seconds[i];
        kerf_text_printf(out, "kerf_http_request_seconds_bucket{le=\"%g\"} %" PRIu64 "\n", bounds[i], sum);
    }
    sum += health->seconds[HEALTH_BUCKETS];
    kerf_text_printf(out,
                     "kerf_http_request_seconds_bucket{le=\"+Inf\"} %" PRIu64
                     "\nkerf_http_request_seconds_sum %.6f\nkerf_http_request_seconds_count %" PRIu64 "\n",
                     sum, 1e-6 * (double)health->microseconds, sum);
}

static void put_connections(struct kerf_text *out, const struct service *service) {
    struct connection_counts counts;
    int64_t open = 0;
    connections_count(service->connections, &counts);
    for (int state = 0; state < CONNECTION_STATES; state++) open += counts.now[state];
    put(out, "http_connections", "gauge", "Open connections.", (double)open);
    say(out, "http_requests_now", "gauge", "Requests that come in, are answered, or whose answer goes out.");
    kerf_text_printf(out,
                     "kerf_http_requests_now{state=\"reading\"} %" PRId64
                     "\nkerf_http_requests_now{state=\"running\"} %" PRId64
                     "\nkerf_http_requests_now{state=\"writing\"} %" PRId64 "\n",
                     counts.now[CONNECTION_READING], counts.now[CONNECTION_RUNNING], counts.now[CONNECTION_WRITING]);
    put(out, "http_slow_total", "counter", "Connections ended because a request did not arrive in time.",
        (double)counts.slow);
    put(out, "http_unread_total", "counter", "Connections ended because the client did not read its answer.",
        (double)counts.unread);
    put(out, "http_limited_total", "counter", "Requests refused because their address sent too many (429).",
        (double)service->health->limited);
}

static double resident_bytes(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) return 0;
    if (fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void put_store(struct kerf_text *out, const struct service *service) {
    struct store_counts counts;
    service->store->methods->count(service->store, &counts);
    put(out, "store_commits_total", "counter", "Transactions of the store's writer.", (double)counts.commits);
    put(out, "store_writes_total", "counter", "Decisions written; several share a transaction.", (double)counts.writes);
    put(out, "store_failed_total", "counter", "Decisions that could not be written.", (double)counts.failed);
    put(out, "store_commit_seconds_total", "counter", "Time spent in transactions.", counts.commit_s);
    put(out, "store_queue", "gauge", "Decisions that wait to be written.", (double)counts.queue);
}

static void put_cache(struct kerf_text *out, const struct service *service) {
    struct job_cache_counts counts;
    job_cache_count(service->jobs, &counts);
    put(out, "cache_jobs", "gauge", "Jobs in memory.", (double)counts.jobs);
    put(out, "cache_bytes", "gauge", "Memory that they take.", (double)counts.bytes);
    put(out, "cache_hits_total", "counter", "Requests whose job was in memory.", (double)counts.hits);
    put(out, "cache_misses_total", "counter", "Requests whose job was not.", (double)counts.misses);
    put(out, "cache_evicted_total", "counter", "Jobs dropped from memory.", (double)counts.evicted);
}

static void page_metrics(struct exchange *exchange) {
    const struct service *service = exchange->service;
    struct kerf_text *out = &exchange->answer;
    kerf_text_clear(out);
    say(out, "build_info", "gauge", "The version of kerf.");
    kerf_text_printf(out, "kerf_build_info{version=\"%s\",store=\"%s\"} 1\n", kerf_version(),
                     service->store->methods->name);
    put_requests(out, service);
    put_seconds(out, service->health);
    put_connections(out, service);
    put(out, "trials_removed_total", "counter", "Old trials that were removed.", (double)service->health->removed);
    put_store(out, service);
    put_cache(out, service);
    if (exchange->role >= TOKEN_READ) /* names of jobs are confidential, as /api/v1/jobs has it */
        job_series_put(service->job_series, service->store, service->workers, out);
    put(out, "process_start_time_seconds", "gauge", "When the server started, since 1970.", service->started_s);
    put(out, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
    exchange_answer(exchange, 200);
    exchange->content_type = "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- Routes -------------------------------------------------------------------------------------------------- */

static const struct schema_field health[] = {{"status", "string", SCHEMA_REQUIRED, NULL}, {0}};

static const struct schema schemas[] = {{"Health", health}};

static const struct route routes[] = {
    {.method = "GET",
     .pattern = "/healthz",
     .step = page_healthz,
     .needs = TOKEN_NONE,
     .flags = ROUTE_HEAD | ROUTE_QUICK,
     .summary = "Whether the process answers",
     .answer = "Health",
     .statuses = ""},
    {.method = "GET",
     .pattern = "/readyz",
     .step = page_readyz,
     .needs = TOKEN_NONE,
     .flags = ROUTE_HEAD,
     .summary = "Whether the store takes writes",
     .answer = "Health",
     .statuses = "503 Message"},
    {.method = "GET",
     .pattern = "/metrics",
     .step = page_metrics,
     .needs = TOKEN_READ,
     .flags = ROUTE_HEAD | ROUTE_QUICK,
     .summary = "Counters for Prometheus",
     .answer = "text/plain; version=0.0.4; charset=utf-8",
     .statuses = ""},
};

const struct api health_api = API(routes, schemas);
