/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a study: all of a small grid, of a large one those that were met. */
#ifndef KERF_TUNE_KNOWN_SETTINGS_H
#define KERF_TUNE_KNOWN_SETTINGS_H

#include "tune/history.h"

/* Takes in the settings of a large grid that were met meanwhile: open, unless what failed before rules them out. */
void known_settings_grow(struct kerf_tune_study *study);

/* tune_space_meet and tune_space_at_random, and what is met is taken in. */
int32_t known_settings_meet(struct kerf_tune_study *study, const int32_t *values);
int32_t known_settings_meet_at_random(struct kerf_tune_study *study, struct pcg64 *rng);

#endif
