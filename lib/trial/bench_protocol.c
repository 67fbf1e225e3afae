/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that stays, and a client that measures it. The command is two commands with a word -- between them: the
 * server's words, then its client's. The server is started once, and again only when its own words change with the
 * setting: a parameter that is in the client's words alone changes live, by what the client asks of the server. {port}
 * in either is a port on which nobody listened when the server was started.
 *
 * The server is ready when its client ends with status 0. That run has KERF_WARMUP=1 in its environment, is repeated
 * until it succeeds, and measures nothing: it is the warm-up too. Each trial is then one run of the client, from its
 * start to its end. Its time, or a number that it prints, is the value; processor time and memory are the server's.
 *
 * After a trial that was cut, or failed other than by a broken limit, the server is started anew: what it was asked may
 * still keep it busy.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "trial/program_output.h"
#include "trial/trial_slot.h"

static const double RETRY_S = 0.05, RETRY_MAX_S = 1; /* the wait grows with each try */

static int start(struct slot *slot, int is_warmup, double now_s) {
    int number = slot_start_client(slot, is_warmup, now_s);
    if (number != 0) slot_failed(slot, KERF_TUNE_FAILURE_OTHER, "the client cannot be started: %s", strerror(number));
    return number == 0;
}

/* Tries whether the server is ready. */
static void warm_up(struct slot *slot, double now_s) {
    struct trial *trial = &slot->trial;
    if (slot->shell.pid > 0) return;
    if (trial->tries > 0 && isinf(trial->retry_s)) {
        if (slot->shell.wait_status == 0) {
            slot_loaded(slot, now_s - slot->program.started_s, now_s);
            return;
        }
        trial->retry_s = now_s + fmin(RETRY_S * trial->tries, RETRY_MAX_S);
    }
    if (trial->tries > 0 && now_s < trial->retry_s) return;
    trial->retry_s = (double)INFINITY;
    trial->tries++;
    start(slot, 1, now_s);
}

static void begin(struct slot *slot, double now_s) {
    time_limit_begin(slot, now_s);
    start(slot, 0, now_s);
}

static void client_over(struct slot *slot) {
    const struct trial *trial = &slot->trial;
    char words[64];
    status_words(slot->shell.wait_status, words, sizeof words);
    if (slot->shell.wait_status != 0)
        slot_failed(slot, KERF_TUNE_FAILURE_OTHER, "the client %s%s%s", words, trial->client_said[0] ? ": " : "",
                    trial->client_said);
    else
        objective_over(slot);
    slot->trial.must_end = trial->result.observation.outcome == KERF_TUNE_FAILED &&
                           trial->result.observation.failure != KERF_TUNE_FAILURE_LIMIT;
}

static void client(struct slot *slot, double now_s) {
    if (slot->trial.is_decided) return;
    if (slot->trial.phase == PHASE_LOAD) {
        warm_up(slot, now_s);
    } else if (slot->shell.pid == 0 || slot->shell.is_over) {
        measure_end(slot, now_s);
        if (slot->shell.pid == 0) client_over(slot);
    }
}

static void cut(struct slot *slot, double now_s) {
    time_limit_cut(slot, now_s);
    slot->trial.must_end = slot->trial.is_decided;
}

const struct trial_protocol bench_protocol = {
    .about = {"bench", "a server that stays, and a client that measures it: SERVER -- CLIENT"},
    .objectives = OBJECTIVE_BIT(KERF_TRIAL_WALL) | OBJECTIVE_BIT(KERF_TRIAL_CPU) | OBJECTIVE_BIT(KERF_TRIAL_MEMORY) |
                  OBJECTIVE_BIT(KERF_TRIAL_REGEX) | OBJECTIVE_BIT(KERF_TRIAL_JSON),
    .is_persistent = 1,
    .has_client = 1,
    .has_load = 1,
    .begin = begin,
    .line = objective_line,
    .cut = cut,
    .client = client};
