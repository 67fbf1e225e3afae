/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill -9 at random moments under load, again and again; after each time every server says of every trial what its
 * client was told: no acknowledged report is lost or counted twice, and no trial number is given twice.
 *
 *     test_serve_kills [sqlite|postgresql|shared] [KILLS]
 *
 * postgresql is one server on a database of its own, shared are two on one. There PostgreSQL dies now and then as well:
 * one of its processes, the first of them, or all its connections. Clients ask again, of another server if there is
 * one, until they are answered. $KERF_SEED repeats the moments of a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "database.h"
#include "ledger.h"

enum {
    KILLS = 6,
    MOST_SERVERS = 2,
    PATIENCE_MS = 600000,
    PAUSE_MS = 5,
    ENOUGH = 30, /* final reports before a kill */
    AFTER = 5,   /* and after it */
    WHOLE_EVERY = 20
};

/* Both policies and stages, with and without windows and leases; the last two are deleted and made again. */
static const struct {
    const char *job_id, *more;
    int threads, is_owned;
} jobs[] = {
    {"zeus", ",\"lease_s\":0.5", 2, 0},
    {"zeus-window", ",\"window_size\":10,\"beta_knob\":null", 2, 0},
    {"kerf", ",\"policy\":\"kerf\",\"lease_s\":0.5", 2, 0},
    {"kerf-window", ",\"policy\":\"kerf\",\"window_size\":10", 2, 0},
    {"zeus-again", "", 1, 1},
    {"kerf-again", ",\"policy\":\"kerf\",\"window_size\":10", 1, 1},
};
enum { JOBS = sizeof jobs / sizeof *jobs, MOST_THREADS = 16 };
static const char sizes[] = "128,32,64,256,512";

static const char *store_kind = "sqlite";
static int num_servers = 1, num_kills = KILLS;
static struct cluster cluster;
static struct place places[MOST_SERVERS];
static struct ledger ledgers[JOBS];
static _Atomic int ports[MOST_SERVERS], is_over, num_asked_again, num_deleted, num_finished;
static uint64_t random_state = 1;

struct worker {
    pthread_t thread;
    struct client client;
    int job, server;
    uint64_t random;
    char wrong[512]; /* "": nothing is */
    _Atomic int is_wrong;
};
static struct worker workers[MOST_THREADS];
static int num_workers;

static unsigned draw(uint64_t *state, unsigned below) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return (unsigned)((*state >> 20) % below);
}

/* ---- Clients ------------------------------------------------------------------------------------------------- */

static void blame(struct worker *worker, const char *what, const struct reply *reply) {
    snprintf(worker->wrong, sizeof worker->wrong, "%.200s: %d %.*s", what, reply ? reply->status : 0,
             reply ? (int)reply->length : 0, reply ? reply->body : "");
    worker->is_wrong = 1;
}

/* Until it is answered, by whichever server. */
static int insist(struct worker *worker, struct reply *reply, const char *method, const char *path, const char *body) {
    for (int ms = 0; ms < PATIENCE_MS; ms += PAUSE_MS) {
        if (worker->client.port != ports[worker->server]) {
            client_close(&worker->client);
            client_open(&worker->client, ports[worker->server]);
        }
        int answered =
            client_try(&worker->client, method, path, "application/json", body, body ? strlen(body) : 0, reply);
        if (answered && reply->status != 503) return 1;
        num_asked_again++;
        worker->server = (worker->server + 1) % num_servers;
        pause_ms(PAUSE_MS);
    }
    blame(worker, "no answer", NULL);
    return 0;
}

static int report_once(struct worker *worker, struct reply *reply, int64_t size, int64_t trial, double energy,
                       int is_final) {
    char body[512];
    snprintf(body, sizeof body,
             "{\"job_id\":\"%s\",\"batch_size\":%" PRId64 ",\"trial_number\":%" PRId64
             ",\"time\":2,\"energy\":%.17g,\"metric\":%s,\"current_epoch\":%d}",
             jobs[worker->job].job_id, size, trial, energy, is_final && size != 512 ? "0.9" : "0.1",
             is_final ? 100 : 1);
    if (!insist(worker, reply, "POST", "/report", body)) return 0;
    int stops = strstr(reply->body, "\"stop_train\":true") != NULL;
    if (reply->status == 200 && stops == is_final) return 1;
    blame(worker, body, reply);
    return 0;
}

static int give_up(struct worker *worker, int64_t size, int64_t trial) {
    char body[256];
    struct reply reply;
    snprintf(body, sizeof body, "{\"job_id\":\"%s\",\"batch_size\":%" PRId64 ",\"trial_number\":%" PRId64 "}",
             jobs[worker->job].job_id, size, trial);
    if (!insist(worker, &reply, "PATCH", "/trials", body)) return 0;
    if (reply.status != 200) {
        blame(worker, body, &reply);
        return 0;
    }
    ledger_give_up(&ledgers[worker->job], trial);
    return 1;
}

/* The cheapest size is 64; 512 never converges. */
static int run_trial(struct worker *worker, int64_t size, int64_t trial) {
    struct reply reply;
    double times = size < 64 ? 64.0 / (double)size : (double)size / 64;
    double energy = 1000 * (1 + 0.2 * (times - 1)) + 0.1 * draw(&worker->random, 1000);
    unsigned fate = draw(&worker->random, 100);
    if (fate < 3 && trial > 50) return 1; /* the client is gone */
    if (fate < 9) return give_up(worker, size, trial);
    if (fate < 25 && !report_once(worker, &reply, size, trial, 1, 0)) return 0;
    if (!report_once(worker, &reply, size, trial, energy, 1)) return 0;
    num_finished++;
    ledger_report(&ledgers[worker->job], trial, energy, 2, strstr(reply.body, "\"converged\":true") != NULL);
    if (fate < 90) return 1;
    if (!report_once(worker, &reply, size, trial, energy / 2, 1)) return 0;
    if (strstr(reply.body, "is already reported")) return 1;
    blame(worker, "a report was taken twice", &reply);
    return 0;
}

static int register_again(struct worker *worker, const char *method, int status, int otherwise, const char *path,
                          const char *body) {
    struct reply reply;
    if (!insist(worker, &reply, method, path, body)) return 0;
    if (reply.status == status || reply.status == otherwise) return 1; /* `otherwise`: an earlier try did it */
    blame(worker, path, &reply);
    return 0;
}

static void write_job(int job, char *body, size_t size) {
    snprintf(body, size,
             "{\"job_id\":\"%s\",\"job_id_prefix\":\"\",\"batch_sizes\":[%s],\"default_batch_size\":128,"
             "\"max_power\":300,\"number_of_gpus\":1,\"gpu_model\":\"V100\",\"mab_seed\":1%s}",
             jobs[job].job_id, sizes, jobs[job].more);
}

static int make_anew(struct worker *worker) {
    char path[128], body[512];
    snprintf(path, sizeof path, "/jobs?job_id=%s", jobs[worker->job].job_id);
    write_job(worker->job, body, sizeof body);
    if (!register_again(worker, "DELETE", 200, 404, path, NULL)) return 0;
    ledger_begin(&ledgers[worker->job], jobs[worker->job].job_id);
    num_deleted++;
    return register_again(worker, "POST", 201, 200, "/jobs", body);
}

static void *work(void *context) {
    struct worker *worker = context;
    struct reply reply;
    char path[128];
    snprintf(path, sizeof path, "/jobs/batch_size?job_id=%s", jobs[worker->job].job_id);
    while (!is_over && insist(worker, &reply, "GET", path, NULL)) {
        int64_t trial = reply_integer(&reply, "trial_number"), size = reply_integer(&reply, "batch_size");
        if (reply.status != 200 || trial < 1) {
            blame(worker, path, &reply);
            break;
        }
        ledger_give(&ledgers[worker->job], trial, size);
        if (!run_trial(worker, size, trial)) break;
        if (jobs[worker->job].is_owned && draw(&worker->random, 25) == 0 && !make_anew(worker)) break;
    }
    return NULL;
}

static void begin_load(void) {
    is_over = 0;
    for (int i = 0; i < num_workers; i++) pthread_create(&workers[i].thread, NULL, work, &workers[i]);
}

/* Until so many more trials were reported. */
static void let_work(int reports) {
    int from = num_finished;
    for (int ms = 0; ms < PATIENCE_MS && num_finished < from + reports; ms += PAUSE_MS) {
        for (int i = 0; i < num_workers; i++)
            if (workers[i].is_wrong) return;
        pause_ms(PAUSE_MS);
    }
}

/* Every request is answered then. */
static void end_load(void) {
    is_over = 1;
    for (int i = 0; i < num_workers; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < num_workers; i++)
        if (workers[i].wrong[0]) fail_msg("%s", workers[i].wrong);
}

static int64_t compare(int server, int whole) {
    struct client client;
    struct reply reply;
    int64_t count = 0;
    client_open(&client, ports[server]);
    for (int i = 0; i < JOBS; i++) count += ledger_compare(&ledgers[i], &client, whole);
    assert_int_equal(ledger_ask(&client, &reply, "/api/v1/jobs?limit=1000"), 200);
    int there = 0;
    for (const char *at = reply.body; (at = strstr(at, "\"job_id\":")) != NULL; at++) there++;
    assert_int_equal(there, JOBS);
    client_close(&client);
    return count;
}

/* ---- Kills --------------------------------------------------------------------------------------------------- */

static void run_server(int i) {
    place_run(&places[i], 0, NULL);
    ports[i] = places[i].port;
}

/* One server, or now and then all of them. Returns how many. */
static int kill_servers(void) {
    unsigned first = draw(&random_state, (unsigned)num_servers);
    int count = num_servers > 1 && draw(&random_state, 5) == 0 ? num_servers : 1;
    for (int i = 0; i < count; i++) place_end(&places[(first + (unsigned)i) % (unsigned)num_servers], SIGKILL);
    pause_ms((int)draw(&random_state, 20));
    for (int i = 0; i < num_servers; i++)
        if (places[i].program < 0) run_server(i);
    return count;
}

static void kill_database(void) {
    switch (draw(&random_state, 4)) {
    case 0: cluster_kill_one(&cluster, draw(&random_state, 1000)); break;
    case 1:
        cluster_run(&cluster, "postgres",
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name='kerf'");
        break;
    case 2:
        cluster_stop(&cluster, draw(&random_state, 2) ? "fast" : "immediate");
        pause_ms((int)draw(&random_state, 300));
        cluster_start(&cluster);
        break;
    default: cluster_kill(&cluster); cluster_start(&cluster);
    }
}

static void test_kills(void **state) {
    (void)state;
    int64_t compared = 0;
    int kills = 0, database_kills = 0, rounds = 0;
    begin_load();
    for (; kills < num_kills; rounds++) {
        let_work(ENOUGH);
        pause_ms((int)draw(&random_state, 250));
        if (cluster.is_up && rounds % 4 == 3)
            kill_database(), database_kills++;
        else
            kills += kill_servers();
        let_work(AFTER);
        end_load();
        compared += compare(rounds % num_servers, rounds % WHOLE_EVERY == 0);
        begin_load();
    }
    end_load();
    for (int i = 0; i < num_servers; i++) compare(i, 1);
    int64_t reported = 0;
    for (int i = 0; i < JOBS; i++) reported += ledgers[i].num_reported;
    print_message("%s: %d kills of servers, %d of the database; %" PRId64 " trials compared; %" PRId64
                  " final reports in the jobs that are left, %d jobs deleted; asked again %d times\n",
                  store_kind, kills, database_kills, compared, reported, num_deleted, num_asked_again);
    assert_true(reported > 100);
}

/* ---- The whole ----------------------------------------------------------------------------------------------- */

static void register_jobs(void) {
    struct client client;
    struct reply reply;
    char body[512];
    client_open(&client, ports[0]);
    for (int i = 0; i < JOBS; i++) {
        write_job(i, body, sizeof body);
        assert_int_equal(client_ask(&client, &reply, "POST", "/jobs", body), 201);
        ledger_begin(&ledgers[i], jobs[i].job_id);
        for (int k = 0; k < jobs[i].threads; k++, num_workers++)
            workers[num_workers] = (struct worker){.job = i,
                                                   .server = num_workers % num_servers,
                                                   .random = random_state + 1000003u * (unsigned)num_workers,
                                                   .client = {.fd = -1}};
    }
    client_close(&client);
}

static int start(void **state) {
    (void)state;
    for (int i = 0; i < num_servers; i++) {
        place_make(&places[i]);
        if (i == 0 && cluster.is_up) cluster_database(&cluster, "jobs", places[0].store, sizeof places[0].store);
        memcpy(places[i].store, places[0].store, sizeof places[0].store);
        run_server(i);
    }
    register_jobs();
    return 0;
}

static int stop(void **state) {
    (void)state;
    is_over = 1;
    for (int i = 0; i < num_servers; i++) place_clear(&places[i]);
    for (int i = 0; i < num_workers; i++) client_close(&workers[i].client);
    for (int i = 0; i < JOBS; i++) ledger_clear(&ledgers[i]);
    return 0;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_kills, start, stop)};
    const char *why = "", *seed = getenv("KERF_SEED");
    if (argc > 1) store_kind = argv[1];
    if (argc > 2) num_kills = atoi(argv[2]);
    num_servers = strcmp(store_kind, "shared") == 0 ? 2 : 1;
    random_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000003u;
    signal(SIGPIPE, SIG_IGN);
    if (strcmp(store_kind, "sqlite") != 0 && !cluster_make(&cluster, &why)) {
        printf("skipped: %s\n", why);
        return 0;
    }
    print_message("KERF_SEED=%" PRIu64 "\n", random_state);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_clear(&cluster);
    return failed;
}
