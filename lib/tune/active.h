/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings of a large space are looked at. */
#ifndef KERF_TUNE_ACTIVE_H
#define KERF_TUNE_ACTIVE_H

#include "tune/study.h"

enum { ACTIVE_MOST = 200 }; /* settings that are modelled together */

/* Sets the study's active settings, all of a small space; of a large one anew now and then, and `generation` says that
 * they are others. Called as observations come, so that the settings depend on those before and on nothing else.
 * 0: no memory. */
int active_update(struct kerf_tune_study *study);

#endif
