/* SPDX-License-Identifier: Apache-2.0 */
/* Acquisition: which run tells most. */
#ifndef KERF_TUNE_ACQUISITION_H
#define KERF_TUNE_ACQUISITION_H

#include "tune/posterior_draws.h"

/* The drawn setting whose next run tells most about `holds` [SURFACE_DRAWS], the draws in which a statement holds: an
 * index into draws->at, of those that `may` [num] (NULL: all). A run is stopped at `cut`, on the model's scale. Where no
 * run tells anything, the setting that is least known. */
int32_t acquisition_best(const struct posterior_draws *draws, const unsigned char *holds, const unsigned char *may,
                         double cut);

/* The setting to run once more, so that the noise is known, before `leader` (index into draws->at, measured) may be the
 * answer; -1: enough runs were repeated. */
int32_t acquisition_repeat(const struct posterior_draws *draws, int32_t leader);

#endif
