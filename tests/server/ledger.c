/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE = 1000, TRIES = 15000 };

void ledger_begin(struct ledger *ledger, const char *job_id) {
    ledger_clear(ledger);
    *ledger = (struct ledger){
        .job_id = job_id, .eta_knob = 0.5, .max_power = 300, .room = 1024, .lock = PTHREAD_MUTEX_INITIALIZER};
    ledger->trials = calloc((size_t)ledger->room, sizeof *ledger->trials);
}

void ledger_clear(struct ledger *ledger) {
    free(ledger->trials);
    ledger->trials = NULL;
}

static struct ledger_trial *trial_at(struct ledger *ledger, int64_t number) {
    if (number >= ledger->room) {
        int64_t room = 2 * number;
        ledger->trials = realloc(ledger->trials, (size_t)room * sizeof *ledger->trials);
        memset(ledger->trials + ledger->room, 0, (size_t)(room - ledger->room) * sizeof *ledger->trials);
        ledger->room = room;
    }
    return &ledger->trials[number];
}

void ledger_give(struct ledger *ledger, int64_t number, int64_t batch_size) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_trial *trial = trial_at(ledger, number);
    if (trial->state != LEDGER_UNKNOWN) ledger->num_twice++;
    trial->state = LEDGER_GIVEN;
    trial->batch_size = batch_size;
    if (number > ledger->last) ledger->last = number;
    pthread_mutex_unlock(&ledger->lock);
}

void ledger_report(struct ledger *ledger, int64_t number, double energy, double time, int converged) {
    pthread_mutex_lock(&ledger->lock);
    struct ledger_trial *trial = trial_at(ledger, number);
    trial->state = LEDGER_REPORTED;
    trial->energy = energy;
    trial->time = time;
    trial->converged = converged;
    ledger->num_reported++;
    pthread_mutex_unlock(&ledger->lock);
}

void ledger_give_up(struct ledger *ledger, int64_t number) {
    pthread_mutex_lock(&ledger->lock);
    trial_at(ledger, number)->state = LEDGER_GIVEN_UP;
    ledger->num_given_up++;
    pthread_mutex_unlock(&ledger->lock);
}

/* ---- Against a server ---------------------------------------------------------------------------------------- */

int ledger_ask(struct client *client, struct reply *ret_reply, const char *path) {
    const struct timespec moment = {.tv_nsec = 20000000};
    for (int i = 0; i < TRIES; i++) {
        if (client_ask(client, ret_reply, "GET", path, NULL) != 503) break;
        nanosleep(&moment, NULL);
    }
    return ret_reply->status;
}

static json_t *get(struct client *client, const char *path) {
    struct reply reply;
    json_error_t why;
    int status = ledger_ask(client, &reply, path);
    json_t *value = status == 200 ? json_loadb(reply.body, reply.length, 0, &why) : NULL;
    if (value == NULL) fail_msg("GET %s: %d %.*s", path, status, (int)reply.length, reply.body);
    return value;
}

static int64_t integer(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}
static double number(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static int is_status(const json_t *row, const char *name) {
    return strcmp(json_string_value(json_object_get(row, "status")), name) == 0;
}

static int is_same(const struct ledger_trial *told, const json_t *row) {
    if (told->state == LEDGER_UNKNOWN) return !is_status(row, "Succeeded"); /* the answer to GET was lost */
    if (integer(row, "batch_size") != told->batch_size) return 0;
    switch (told->state) {
    case LEDGER_REPORTED:
        return is_status(row, "Succeeded") && number(row, "energy_j") == told->energy &&
               number(row, "time_s") == told->time &&
               json_is_true(json_object_get(row, "converged")) == told->converged;
    case LEDGER_GIVEN_UP: return is_status(row, "Failed");
    default: return !is_status(row, "Succeeded"); /* its lease may have ended */
    }
}

/* Whether all numbers from `after` on that were given are there, each once and in order. Returns how many there are. */
static int64_t compare_trials(struct ledger *ledger, struct client *client, int64_t after) {
    int64_t count = 0;
    for (json_t *page = NULL;; json_decref(page)) {
        char path[128];
        size_t at;
        json_t *row;
        snprintf(path, sizeof path, "/api/v1/jobs/%s/trials?limit=%d&after=%" PRId64, ledger->job_id, PAGE, after);
        page = get(client, path);
        json_array_foreach(json_object_get(page, "trials"), at, row) {
            const struct ledger_trial *told = trial_at(ledger, ++after);
            char *words = json_dumps(row, JSON_COMPACT);
            if (integer(row, "trial_number") != after || !is_same(told, row))
                fail_msg("%s: trial %" PRId64 " was told to be state %d, size %" PRId64 ", energy %.17g, and is %s",
                         ledger->job_id, after, told->state, told->batch_size, told->energy, words);
            free(words);
            count++;
        }
        if (!json_is_null(json_object_get(page, "next"))) continue;
        json_decref(page);
        break;
    }
    if (after < ledger->last) fail_msg("%s: trials after %" PRId64 " are lost", ledger->job_id, after);
    ledger->settled = after;
    return count;
}

/* What the job says of all its trials together. Each report counted once, or trials_ended would be larger. */
static void compare_job(const struct ledger *ledger, struct client *client) {
    char path[128];
    double least = INFINITY;
    snprintf(path, sizeof path, "/api/v1/jobs/%s", ledger->job_id);
    json_t *job = get(client, path);
    for (int64_t i = 1; i <= ledger->last; i++) {
        const struct ledger_trial *trial = &ledger->trials[i];
        double cost = ledger->eta_knob * trial->energy + (1 - ledger->eta_knob) * ledger->max_power * trial->time;
        if (trial->state == LEDGER_REPORTED && cost < least) least = cost;
    }
    const json_t *said = json_object_get(job, "min_cost");
    if (isfinite(least) ? json_number_value(said) != least : !json_is_null(said))
        fail_msg("%s: the least cost is %.17g, and not %.17g", ledger->job_id, least, json_number_value(said));
    assert_true(integer(job, "last_trial_number") >= ledger->last);
    assert_int_equal(integer(job, "trials_ended"), ledger->num_reported + ledger->num_given_up);
    json_decref(job);
}

int64_t ledger_compare(struct ledger *ledger, struct client *client, int whole) {
    if (ledger->num_twice) fail_msg("%s: %d trial numbers were given twice", ledger->job_id, ledger->num_twice);
    int64_t count = compare_trials(ledger, client, whole ? 0 : ledger->settled);
    compare_job(ledger, client);
    return count;
}
