/* SPDX-License-Identifier: Apache-2.0 */
/* Whether it is known how much runs of one setting differ. */
#ifndef KERF_TUNE_REPLICATES_H
#define KERF_TUNE_REPLICATES_H

#include "tune/joint_draws.h"

/* The setting to run once more before `leader` (index into draws->at, measured) may be the answer; -1: enough is known.
 */
int32_t replicates_wanted(const struct joint_draws *draws, int32_t leader);

#endif
