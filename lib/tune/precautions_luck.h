/* SPDX-License-Identifier: Apache-2.0 */
/* Precautions: what may have been luck. */
#ifndef KERF_TUNE_PRECAUTIONS_LUCK_H
#define KERF_TUNE_PRECAUTIONS_LUCK_H

#include "tune/neighbours.h"

/* The next tried setting on either side, where it is slower by 6 to 28 % and was run once, or twice before a cliff: on a
 * machine of two modes those may have been slow runs. */
precaution_find precaution_run_seldom;

/* One that was run once, at least 10 % slower than this setting, and might be as fast by all that the others tell of it. */
precaution_find precaution_slow_once;

/* One that was once faster than this setting ever was, and was run less than five times. */
precaution_find precaution_once_faster;

#endif
