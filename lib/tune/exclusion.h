/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that failures rule out, so that they are not measured again. */
#ifndef KERF_TUNE_EXCLUSION_H
#define KERF_TUNE_EXCLUSION_H

#include "tune/history.h"

/* Takes out what the last observation of the history rules out; where it has a value and its setting was ruled out for
 * want of memory, takes that setting in again, and those that need no more memory. Call it after each observation that
 * counts. */
void exclusion_update(struct kerf_tune_study *study);

#endif
