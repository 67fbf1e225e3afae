/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_CALL_SCHEDULE_FRONTIER_H
#define KERF_CALL_SCHEDULE_FRONTIER_H

#include "call/schedule_answers.h"

/* Leaves the answer with the shortest step for each number of micro-batches and cap, in ascending order, with a bound
 * of all that were asked for. Their bounds are known. */
void schedule_frontier(struct schedule_answers *answers);

#endif
