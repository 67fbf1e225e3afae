/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings of a large space are looked at. */
#ifndef KERF_TUNE_ACTIVE_H
#define KERF_TUNE_ACTIVE_H

#include "tune/study.h"

enum { ACTIVE_MOST = 200 }; /* settings that are modelled together */

/* All settings, ascending, or those of them that are modelled together. NULL: no memory. */
int32_t *active_settings(const struct kerf_tune_study *study, struct arena *arena, int32_t *ret_count);

/* Changes with the number of observations where they are to be chosen anew. */
int32_t active_generation(int32_t num_observations);

#endif
