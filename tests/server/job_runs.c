/* SPDX-License-Identifier: Apache-2.0 */
#include "job_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { AFTER = 30 };
const char *const jobs[JOBS] = {"explores", "exploits", "window", "r\xc3\xa9seau 'x'"};
static const int runs[JOBS] = {3, 22, 25, 7}; /* before they are taken over */
static const char *const specs[JOBS] = {
    ",\"beta_knob\":1.5,\"job_id_prefix\":\"e\"", ",\"beta_knob\":null,\"max_epochs\":7",
    ",\"window_size\":3,\"eta_knob\":0.3,\"higher_is_better_metric\":true,\"mab_prior_mean\":-100.5,"
    "\"mab_prior_precision\":1e-7",
    ",\"num_pruning_rounds\":1,\"mab_seed\":77"};

static int64_t last_size[JOBS]; /* of the run that is not over when they are taken over */

/* ---- What jobs go through ------------------------------------------------------------------------------------- */

static void path_of(const char *job_id, const char *before, const char *behind, char *path) {
    path += sprintf(path, "%s", before);
    for (; *job_id; job_id++) path += sprintf(path, "%%%02x", (unsigned char)*job_id);
    strcpy(path, behind);
}

/* Answers are added to said. */
static void finish(struct client *client, const char *job_id, int64_t size, int64_t trial, struct kerf_text *said) {
    struct reply reply;
    double energy = 1000.0 + (double)(size % 96) * 7 + (double)(trial * 37 % 11) / 3;
    report(client, &reply, job_id, size, trial, energy, size == 512 ? 0.1 : 0.9, size == 512 ? 100 : 3);
    kerf_text_printf(said, "%d %s\n", reply.status, reply.body);
}

/* A run like any other; every fifth one is given up, and one that stays is reported later. Returns its size. */
static int64_t run_once(struct client *client, const char *job_id, int i, int stays, struct kerf_text *said) {
    struct reply reply;
    char path[256], body[256];
    path_of(job_id, "/jobs/batch_size?job_id=", "", path);
    assert_int_equal(client_ask(client, &reply, "GET", path, NULL), 200);
    kerf_text_printf(said, "%s\n", reply.body);
    int64_t size = reply_integer(&reply, "batch_size"), trial = reply_integer(&reply, "trial_number");
    if (stays) return size;
    if (i % 5 == 4) {
        snprintf(body, sizeof body, "{\"job_id\":\"%s\",\"batch_size\":%" PRId64 ",\"trial_number\":%" PRId64 "}",
                 job_id, size, trial);
        assert_int_equal(client_ask(client, &reply, "PATCH", "/trials", body), 200);
    } else {
        finish(client, job_id, size, trial, said);
    }
    return size;
}

void state_of(struct client *client, const char *job_id, struct kerf_text *said) {
    struct reply reply;
    char path[256];
    path_of(job_id, "/api/v1/jobs/", "/state", path);
    assert_int_equal(client_ask(client, &reply, "GET", path, NULL), 200);
    kerf_text_printf(said, "%s\n", reply.body);
}

void begin_jobs(const struct place *place, const char *last_spec) {
    struct client client;
    struct kerf_text said = {0};
    client_open(&client, place->port);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(
            register_job(&client, jobs[i], "64,96,128,256,512", last_spec && i == JOBS - 1 ? last_spec : specs[i]),
            201);
        for (int k = 1; k <= runs[i]; k++) last_size[i] = run_once(&client, jobs[i], k, k == runs[i], &said);
    }
    kerf_text_free(&said);
    client_close(&client);
}

void go_on(const struct place *place, struct kerf_text *said) {
    struct client client;
    client_open(&client, place->port);
    for (int i = 0; i < JOBS; i++) {
        state_of(&client, jobs[i], said);
        for (int k = 0; k < AFTER; k++) {
            if (k == 2) finish(&client, jobs[i], last_size[i], runs[i], said);
            run_once(&client, jobs[i], k, 0, said);
        }
        state_of(&client, jobs[i], said);
    }
    client_close(&client);
}

void is_same(const struct kerf_text *want, const struct kerf_text *got) {
    size_t at = 0, line = 0;
    while (want->data[at] && want->data[at] == got->data[at])
        if (want->data[at++] == '\n') line = at;
    if (want->data[at] != got->data[at]) fail_msg("want %.600s\n got %.600s", want->data + line, got->data + line);
}
