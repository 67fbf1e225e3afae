/* SPDX-License-Identifier: Apache-2.0 */
/* Conditioning the model on observations. */
#ifndef KERF_TUNE_SURFACE_UPDATE_H
#define KERF_TUNE_SURFACE_UPDATE_H

#include "tune/surface_model.h"

/* Makes *model, or brings it up to date with the study's observations. */
int32_t surface_update(const struct kerf_tune_study *study, int32_t kind, struct surface_model **model,
                       struct kerf_error *err);

/* A copy of the model with less uncertainty and the same means, as if these settings had come out as expected. */
int32_t surface_fantasize(const struct surface_model *model, const int32_t *pending, int32_t num_pending,
                          struct surface_model **ret_model, struct kerf_error *err);

/* log of the probability density of the study's values and bounds so far, given these observations of earlier studies.
 * A constant of the study is left out. */
int32_t surface_evidence(const struct kerf_tune_study *study, int32_t kind, const struct changepoints *changepoints,
                         const struct kerf_tune_observation *earlier, int32_t num_earlier, double *ret_evidence,
                         struct kerf_error *err);

#endif
