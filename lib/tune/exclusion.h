/* SPDX-License-Identifier: Apache-2.0 */
/* What failures rule out: settings that are not measured again, or not at all. */
#ifndef KERF_TUNE_EXCLUSION_H
#define KERF_TUNE_EXCLUSION_H

#include "tune/history.h"

/* Takes out what the last observation of the history rules out; where it has a value and its setting was ruled out for
 * want of memory, takes that setting in again, and those that need no more memory. Call it after each observation that
 * counts. */
void exclusion_update(struct kerf_tune_study *study);

/* Whether a setting is skipped by what another one needs in memory alone, although it is not known of each of the integers
 * in which they differ that memory grows with it. */
int exclusion_is_presumed(const struct kerf_tune_study *study, int32_t setting);

/* Rules out, of the settings from `from` on, which were just met, what failed before them tells of. */
void exclusion_of_met(struct kerf_tune_study *study, int32_t from);

#endif
