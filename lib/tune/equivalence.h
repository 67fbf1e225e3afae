/* SPDX-License-Identifier: Apache-2.0 */
/* Of what is as good as the best, the one that is preferred. */
#ifndef KERF_TUNE_EQUIVALENCE_H
#define KERF_TUNE_EQUIVALENCE_H

#include "tune/joint_draws.h"

/* The first setting by the question's preference that comes before the leader and may still be as good: index into
 * draws->at. -1: no such setting is left. It is accepted when its within_margin reaches the confidence and it was
 * measured. */
int32_t equivalence_candidate(const struct joint_draws *draws, int32_t leader);

/* The preferred one of what is accepted: an index into draws->at, which is the leader where nothing is. */
int32_t equivalence_accepted(const struct joint_draws *draws, int32_t leader);

#endif
