/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that must not be measured, or not again. */
#ifndef KERF_TUNE_EXCLUSION_H
#define KERF_TUNE_EXCLUSION_H

#include "tune/study.h"

void exclude(struct kerf_tune_study *study, int32_t setting, const char *reason); /* which lives as long as the study */

/* What a failure rules out; the setting's tally has counted it already. */
void exclude_after_failure(struct kerf_tune_study *study, const struct kerf_tune_observation *failed);

/* Of a setting that was measured after it was ruled out, as it was under way by then: it, and those of the ruled out
 * that need no more memory, may be measured. */
void readmit_what_fits(struct kerf_tune_study *study, int32_t setting);

/* Whether a needs at least what b needs: every integer is as large, and all else the same. */
int dominates(const struct kerf_tune_space *space, int32_t a, int32_t b);

#endif
