/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings of a large space are modelled. */
#ifndef KERF_TUNE_ACTIVE_SET_H
#define KERF_TUNE_ACTIVE_SET_H

#include "tune/history.h"

enum { ACTIVE_MAX = 200 }; /* settings that are modelled together */

/* 1 when the observation that was just added calls for another set. */
int active_set_is_due(const struct kerf_tune_study *study);

/* Sets the study's active settings: all of a small space; of a large one a part, chosen anew now and then and when a setting
 * that it leaves out was run, and `generation` says that it is another one. Called as observations come, so that the
 * settings depend on those before and on nothing else. 0: no memory. */
int active_set_update(struct kerf_tune_study *study);

#endif
