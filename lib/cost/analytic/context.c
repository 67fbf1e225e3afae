/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Context parallelism, as Megatron-LM's cp_comm_type has it. Causal shards are balanced: each device has a block from the
 * front of the sequence and one from its end, so that all do a cp-th of attention.
 *
 *   ring (p2p)   keys and values go round in cp - 1 steps, each beside a cp-th of attention; backward with their gradients
 *   all_gather   keys and values are gathered first, again for the backward pass, and their gradients are reduced
 *   all_to_all   heads for tokens before attention and back after it; key-value heads are copied where there are too few
 *
 * Liu et al., Ring Attention, arXiv 2310.01889; Grattafiori et al., arXiv 2407.21783, section 3.3.2 (all_gather);
 * Jacobs et al., arXiv 2309.14509 (all_to_all).
 */
#include "cost/analytic/context.h"

#include <math.h>

static double larger(double a, double b) { return a > b ? a : b; }

int cp_comm_is_possible(const struct kerf_model *model, int64_t tp, int64_t cp, enum kerf_cp_comm comm) {
    if (comm != KERF_CP_COMM_ALL_TO_ALL) return 1;
    for (int32_t i = 0; i < model->num_kinds; i++) {
        const struct kerf_layer_kind *kind = &model->kinds[i];
        int64_t kv_heads = kind->attention.kv_rank > 0 ? kind->attention.heads : kind->attention.kv_heads;
        int64_t of_shard = kv_heads > tp ? kv_heads / tp : 1;
        if (kind->attention.heads / tp % cp != 0 || of_shard % cp != 0) return 0;
    }
    return 1;
}

void cp_wait_s(const struct analytic_device *device, const struct shard *shard, const struct analytic_layer *layer,
               enum kerf_cp_comm comm, const double attention_s[2], double ret_s[2]) {
    double kv_heads = layer->kv_heads / shard_kv_ways(shard, layer), steps = shard->cp - 1;
    double kv = 2 * shard->tokens * kv_heads * (layer->qk_size + layer->v_size);
    const struct rank_group *group = &shard->cp_group;
    switch (comm) {
    case KERF_CP_COMM_RING:
        ret_s[0] = steps * larger(ring_step_s(device, group, kv) - attention_s[0] / shard->cp, 0);
        ret_s[1] = steps * larger(ring_step_s(device, group, 2 * kv) - attention_s[1] / shard->cp, 0);
        return;
    case KERF_CP_COMM_ALL_GATHER:
        ret_s[0] = gather_s(device, group, kv * shard->cp);
        ret_s[1] = 2 * ret_s[0];
        return;
    case KERF_CP_COMM_ALL_TO_ALL: {
        double queries = layer->heads * layer->qk_size / shard->tp, values = layer->heads * layer->v_size / shard->tp;
        double copies = kv_heads < shard->cp ? shard->cp / kv_heads : 1;
        ret_s[0] = all_to_all_s(device, group, 2 * shard->tokens * queries + kv * copies) +
                   all_to_all_s(device, group, 2 * shard->tokens * values);
        ret_s[1] = ret_s[0];
        return;
    }
    case KERF_CP_COMM_ANY:
    case KERF_CP_COMM_COUNT: break;
    }
    assert(!"a kind of communication");
    ret_s[0] = ret_s[1] = 0;
}

enum kerf_cp_comm cp_comm_best(const struct analytic_device *device, const struct shard *shard,
                               const struct kerf_layout *layout, double (*attention_s)[2]) {
    enum kerf_cp_comm best = KERF_CP_COMM_RING;
    double best_s = HUGE_VAL;
    for (int i = KERF_CP_COMM_RING; i < KERF_CP_COMM_COUNT; i++) {
        enum kerf_cp_comm comm = (enum kerf_cp_comm)i;
        double total = 0, s[2];
        if (!cp_comm_is_possible(&device->problem->model, layout->tp1, layout->cp, comm)) continue;
        for (int32_t kind = 0; kind < device->num_kinds; kind++) {
            cp_wait_s(device, shard, &device->layers[kind], comm, attention_s[kind], s);
            total += device->layers_of_kind[kind] * (s[0] + s[1]);
        }
        if (total < best_s) best_s = total, best = comm;
    }
    return best;
}
