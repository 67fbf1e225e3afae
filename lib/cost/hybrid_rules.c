/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/hybrid_rules.h"

#include <assert.h>
#include <string.h>

int hybrid_tp_divides(const struct kerf_model *model, int64_t tp) {
    for (int32_t i = 0; i < model->num_kinds; i++) {
        int64_t heads = model->kinds[i].attention.heads, kv_heads = model->kinds[i].attention.kv_heads;
        if (heads % tp != 0) return 0;
        if (model->kinds[i].attention.kv_rank == 0 && kv_heads % tp != 0 && tp % kv_heads != 0) return 0;
    }
    return 1;
}

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

int64_t hybrid_experts(const struct kerf_model *model) {
    int64_t experts = 0;
    for (int32_t i = 0; i < model->num_kinds; i++) experts = gcd(experts, model->kinds[i].mlp.experts);
    return experts;
}

int hybrid_cp_comm_occurs(const struct kerf_model *model, int64_t tp, int64_t cp, enum kerf_cp_comm cp_comm) {
    if (cp == 1) return cp_comm == KERF_CP_COMM_ANY;
    if (cp_comm != KERF_CP_COMM_ALL_TO_ALL) return 1;
    for (int32_t i = 0; i < model->num_kinds; i++)
        if (model->kinds[i].attention.heads / tp % cp != 0) return 0;
    return 1;
}

int hybrid_order_occurs(const struct kerf_model *model, const struct kerf_layout *layout, enum kerf_order order) {
    const struct kerf_layout *l = layout;
    return order != KERF_ORDER_TP_CP_PP_DP || l->pp == 1 || (int64_t)l->ep * l->etp == l->tp1 * l->cp ||
           hybrid_experts(model) == 0;
}

int64_t hybrid_fullest_stage(const struct kerf_model *model, int64_t stages, const int32_t *stage_layers) {
    int64_t most = 0;
    assert(stages >= 1);
    if (stage_layers == NULL) return (model->num_hidden_layers + stages - 1) / stages;
    for (int64_t i = 0; i < stages; i++)
        if (stage_layers[i] > most) most = stage_layers[i];
    return most;
}

int hybrid_schedule_takes(const struct pipeliner *pipeliner, const char *schedule, int64_t pp, int64_t vpp,
                          int64_t microbatches) {
    if (strcmp(schedule, "1f1b") == 0) return vpp == 1;
    if (strcmp(schedule, "interleaved_1f1b") == 0 && (vpp == 1 || microbatches % pp == 0)) return vpp > 1 && pp > 1;
    return pipeliner && pipeliner->takes(schedule, (int32_t)pp, (int32_t)vpp, (int32_t)microbatches);
}
