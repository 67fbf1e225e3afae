/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has to be run before an answer counts, although the model is sure already, and is not pending. Each returns a
 * setting, -1: none.
 */
#ifndef KERF_TUNE_PRECAUTIONS_H
#define KERF_TUNE_PRECAUTIONS_H

#include "tune/surface_model.h"

/* An open setting that was never tried. */
int32_t precaution_untried(const struct surface_model *model);

/* A setting one step beside this one on an axis, with a value that was not tried yet. The surface may have a kink there
 * that a smooth model does not expect, and one run shows it. */
int32_t precaution_beside(const struct surface_model *model, int32_t of);

/* The setting that was measured first, the default, unless it was measured again after the leader: if the machine
 * became faster meanwhile, later settings look better, and the first run may have been a cold one. Again after a run that is a
 * quarter faster than all before of its setting. Not where that was tried often enough. */
int32_t precaution_anchor(const struct surface_model *model, int32_t leader);

/* Whether the machine has changed since this setting was last measured, and it is not pending: that the machine is faster or
 * slower now, and the setting still the best, is then the model's belief alone. */
int precaution_is_outdated(const struct surface_model *model, int32_t leader);

/* What else may be better although the model does not expect it: the first of precaution_kinds.h. ret_why
 * says it in words. */
int32_t precaution_at(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                      const char **ret_why);

#endif
