/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/reference/layer.h"

#include "cost/strategies.h"

static void volumes_of(const struct cost_operation *operation, double slowdown, struct volumes *ret) {
    *ret = (struct volumes){.name = operation->name, .module = operation->module, .recomputed = operation->recomputed};
    switch (operation->kind) {
    case COST_LINEAR_COLUMN:
    case COST_LINEAR_ROW: linear_volumes(operation, ret); return;
    case COST_LINEAR_SUMMA: linear_summa_volumes(operation, ret); return;
    case COST_BIAS: bias_volumes(operation, ret); return;
    case COST_GELU: gelu_volumes(operation, ret); return;
    case COST_DROPOUT: dropout_volumes(operation, ret); return;
    case COST_SOFTMAX: softmax_volumes(operation, ret); return;
    case COST_LAYER_NORM: layer_norm_volumes(operation, ret); return;
    case COST_LAYER_NORM_2D: layer_norm_2d_volumes(operation, ret); return;
    case COST_FUSED_ATTENTION: fused_attention_volumes(operation, slowdown, ret); return;
    case COST_LOGITS: logits_volumes(operation, ret); return;
    case COST_ATTEND: attend_volumes(operation, ret); return;
    case COST_LOGITS_SUMMA: logits_summa_volumes(operation, ret); return;
    case COST_ATTEND_SUMMA: attend_summa_volumes(operation, ret); return;
    case COST_KINDS: break;
    }
    assert(!"an operation that the reference knows");
}

void layer_describe(const struct kerf_problem *problem, const struct kerf_layout *layout, double slowdown,
                    struct layer *ret_layer) {
    struct cost_operations operations;
    strategy_of(problem->strategy)->describe(problem, layout, &operations);
    ret_layer->count = operations.count;
    for (int32_t i = 0; i < operations.count; i++) volumes_of(&operations.of[i], slowdown, &ret_layer->of[i]);
}

double layer_weights_bytes(const struct layer *layer) {
    double bytes = 0;
    for (int32_t i = 0; i < layer->count; i++) bytes += layer->of[i].weights_bytes;
    return bytes;
}

double layer_activation_bytes(const struct layer *layer) {
    double bytes = 0;
    for (int32_t i = 0; i < layer->count; i++) bytes += layer->of[i].activation_bytes;
    return bytes;
}

double layer_stage_bytes(const struct layer *layer) {
    for (int32_t i = 0; i < layer->count; i++)
        if (layer->of[i].module == KERF_MODULE_MLP && layer->of[i].is_norm) return layer->of[i].activation_bytes;
    assert(!"a perceptron with a norm");
    return 0;
}
