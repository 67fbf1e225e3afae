/* SPDX-License-Identifier: Apache-2.0 */
/* A request about one job: its turn, what is stored of it, and the way to a durable answer. */
#ifndef KERF_SERVER_DECISIONS_H
#define KERF_SERVER_DECISIONS_H

#include "server/exchange.h"
#include "server/job_cache.h"
#include "store/store.h"

struct decision {
    struct exchange *exchange;
    struct job_turn turn;
    struct store_turn held;   /* the store's lock on the job, or what is assumed of it */
    struct store_write write; /* what is stored */
    struct kerf_trial trial;  /* what it is about */
    int is_forgotten;         /* the trial ended so long ago that its row was removed */
    struct kerf_text message; /* what decisions say; cleared when one is made again */
    struct kerf_text reason;
    exchange_step again; /* when another server changed the job meanwhile */
};

void decision_free(struct decision *decision);

/* Goes on with step when it is this request's turn on the job; and once more from the start when the job turns out to
 * have been changed by another server. The decision is zeros at first, but for its exchange. */
void decision_take_turn(struct decision *decision, const char *job_id, exchange_step step);

/* The job as it is stored, locked or assumed: decision->turn.entry, and decision->held, whose job is 0 when there is
 * none. 0: it could not be read, and the answer says why; the turn is over. */
int decision_open(struct decision *decision, const char *job_id);

/* The row of a trial with this number and size in decision->trial. 1: there; 0: none, and decision->is_forgotten says
 * whether there was one; -1: answered, as above. */
int decision_load_trial(struct decision *decision, int64_t batch_size, int64_t number);
/* The costs that a report about this size may need. 0: answered, as above. */
int decision_load_costs(struct decision *decision, int64_t batch_size);

/* The answer stands and nothing has to be stored: the turn is over. 0: the job had changed, and the step was called
 * once more. */
int decision_finish(struct decision *decision);
/* The answer stands, and is sent once decision->write is durable. Of the write kind, changes, trial, trial_is_new and
 * reason are set. */
void decision_submit(struct decision *decision);
/* The decision failed: what is in memory is forgotten, the answer says why, the turn is over. */
void decision_fail(struct decision *decision, int32_t code, const struct kerf_error *err);

#endif
