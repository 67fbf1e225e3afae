/* SPDX-License-Identifier: Apache-2.0 */
/* A transformer layer as the volumes of its operations (modules.py of the reference). */
#ifndef KERF_COST_REFERENCE_LAYER_H
#define KERF_COST_REFERENCE_LAYER_H

#include "cost/reference/volumes.h"

struct layer {
    int32_t count;
    struct volumes of[KERF_LAYERS_MAX]; /* the multi-layer perceptron first */
};

/* Of the layout only dp, pp and scale_up do not matter. slowdown: as in volumes.h. */
void layer_describe(const struct kerf_problem *problem, const struct kerf_layout *layout, double slowdown,
                    struct layer *ret_layer);

double layer_weights_bytes(const struct layer *layer);
double layer_activation_bytes(const struct layer *layer);
/* What one stage sends to the next: the input of the layer's first norm (the reference's choice). */
double layer_stage_bytes(const struct layer *layer);

#endif
