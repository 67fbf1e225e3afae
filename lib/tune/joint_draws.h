/* SPDX-License-Identifier: Apache-2.0 */
/* Draws of all settings that may be the best, together, from what the model knows. */
#ifndef KERF_TUNE_JOINT_DRAWS_H
#define KERF_TUNE_JOINT_DRAWS_H

#include "tune/surface_model.h"

enum { DRAW_POINTS = 64, DRAW_SETTINGS_MOST = 96 };

struct joint_draws {
    struct arena arena;
    const struct surface_model *model;
    int32_t num;    /* settings drawn; all others are surely no best */
    int32_t *at;    /* [num] indexes into the model's active settings */
    double *y;      /* [num][DRAWS] */
    double *drift;  /* [DRAWS] of the next run */
    double *noise;  /* [DRAWS] its standard deviation */
    double *best;   /* [DRAWS] least y */
    double *within; /* [num] probability to be within the question's `within` of the best */
    double *within_margin;
};

/* With `also` (active indexes, -1: none) drawn in any case. */
int32_t joint_draws_make(const struct surface_model *model, const int32_t *also, int32_t num_also,
                         struct joint_draws **ret_draws, struct kerf_error *err);
struct joint_draws *joint_draws_free(struct joint_draws *draws);

int32_t joint_draws_find(const struct joint_draws *draws, int32_t active); /* -1: it is surely no best */

#endif
