/* SPDX-License-Identifier: Apache-2.0 */
/* A request about one job: its turn, what is stored of it, and the way to a durable answer. */
#ifndef KERF_SERVER_DECISIONS_H
#define KERF_SERVER_DECISIONS_H

#include "server/server_parts.h"

/* Goes on with step when it is this request's turn on the job; and once more from the start when what the job was taken
 * to be turns out to have been changed by another server. */
void decision_take_turn(struct exchange *exchange, const char *job_id, exchange_step step);

/* The job as it is stored, locked or assumed: exchange->turn.entry, and exchange->held, whose job is 0 when there is
 * none. 0: it could not be had, and the answer says why; the turn is over. */
int decision_open(struct exchange *exchange, const char *job_id);

/* The row of a trial with this number and size in exchange->trial. 1: there; 0: none, and
 * exchange->is_forgotten says whether there was one; -1: answered, as above. */
int decision_load_trial(struct exchange *exchange, int64_t batch_size, int64_t number);
/* The costs that a report about this size may need. 0: answered, as above. */
int decision_load_costs(struct exchange *exchange, int64_t batch_size);

/* The answer stands and nothing has to be stored: the turn is over. 0: it was not what the job is now, and the step was
 * called once more. */
int decision_finish(struct exchange *exchange);
/* The answer stands, and is sent once exchange->write is durable. Of the write kind, changes, trial, trial_is_new and
 * reason are set. */
void decision_submit(struct exchange *exchange);
/* The decision failed: what is in memory is forgotten, the answer says why, the turn is over. */
void decision_fail(struct exchange *exchange, int32_t code, const struct kerf_error *err);

#endif
