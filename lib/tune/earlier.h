/* SPDX-License-Identifier: Apache-2.0 */
/* Whether earlier studies of the program still hold. */
#ifndef KERF_TUNE_EARLIER_H
#define KERF_TUNE_EARLIER_H

#include "tune/surface_update.h"

/* The setting to measure so that earlier studies are tested at two settings far from each other; -1: they were, or there
 * is nothing to test. */
int32_t earlier_test_setting(const struct kerf_tune_study *study);

/* Drops, for good, those earlier studies that the study's own observations contradict. changepoints: of the study so
 * far. Call it after each informative observation. */
int32_t earlier_check(struct kerf_tune_study *study, int32_t kind, const struct changepoints *changepoints,
                      struct kerf_error *err);

#endif
