/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the server's tests: what clients of one job were told, and whether a server still says the same. To be compared
 * while no request is on its way: then every final report is known to have been answered.
 */
#ifndef KERF_TESTS_LEDGER_H
#define KERF_TESTS_LEDGER_H

#include <pthread.h>
#include "serve_client.h"

enum ledger_state { LEDGER_UNKNOWN, LEDGER_GIVEN, LEDGER_REPORTED, LEDGER_GIVEN_UP };

struct ledger_trial {
    enum ledger_state state; /* UNKNOWN: nobody was told its number */
    int64_t batch_size;
    double energy, time;
    int converged;
};

struct ledger {
    const char *job_id;
    double eta_knob, max_power;
    pthread_mutex_t lock;
    struct ledger_trial *trials; /* by number */
    int64_t last, room;          /* the largest number that was given */
    int64_t num_reported, num_given_up;
    int64_t settled; /* up to here all was found to be right */
    int num_twice;
};

void ledger_begin(struct ledger *ledger, const char *job_id); /* and again when the job was made anew */
void ledger_clear(struct ledger *ledger);

/* What was answered; by any thread. */
void ledger_give(struct ledger *ledger, int64_t number, int64_t batch_size);
void ledger_report(struct ledger *ledger, int64_t number, double energy, double time, int converged);
void ledger_give_up(struct ledger *ledger, int64_t number);

/* GET; again while its store is away. Returns the status. */
int ledger_ask(struct client *client, struct reply *ret_reply, const char *path);

/* The test fails where the server that the client asks has lost or changed anything. whole 0: of what came in
 * since the last call. Returns how many trials were compared. */
int64_t ledger_compare(struct ledger *ledger, struct client *client, int whole);

#endif
