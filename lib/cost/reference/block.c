/* SPDX-License-Identifier: Apache-2.0 */
/* Which operations a transformer layer has under each strategy (modules.py of the reference). */
#include "cost/reference/block.h"

#include <assert.h>
#include <string.h>

struct cost_layer *block_append(struct block_builder *builder, const char *name) {
    struct cost_block *block = builder->block;
    assert(block->num_layers < KERF_LAYERS_MAX);
    struct cost_layer *layer = &block->layers[block->num_layers++];
    *layer = (struct cost_layer){.name = name, .module = builder->module};
    return layer;
}

void pass_send(struct cost_pass *pass, enum comm_kind kind, enum comm_axis axis, int64_t m, double bytes) {
    if (m == 1) return;
    assert(pass->num_comms < COMMS_MAX);
    pass->comms[pass->num_comms++] = (struct cost_comm){bytes, kind, axis};
}

/* ---- 1d: rows and columns of the weights alternate over m accelerators, norms over the tokens ------------- */

static void mlp_1d(struct block_builder *at, int64_t b, int64_t l, int64_t e, int64_t f, int64_t m) {
    add_linear(at, "fc1", b, l, e, f, 1, m);
    add_bias(at, "fc1-bias", b, l, f / m);
    add_gelu(at, "act1", (double)b * (double)l * (double)(f / m));
    add_dropout(at, "dpr1", (double)b * (double)l * (double)(f / m), 0);
    add_linear(at, "fc2", b, l, f, e, m, 1);
    add_bias(at, "fc2-bias", b, l, e);
    add_dropout(at, "dpr2", (double)b * (double)(l / m) * (double)e, 0);
    add_layer_norm(at, "ln1", b, l, e, m);
}

/* Attention of l1 of the l tokens in any of the ways that keep heads whole. */
static void attention(struct block_builder *at, enum kerf_attention kind, int64_t b, int64_t l1, int64_t l, int64_t e,
                      int64_t h, int64_t m1, int64_t m2) {
    int64_t q = e / h, h1 = h / m1;
    if (kind == KERF_ATTENTION_FUSED) {
        add_fused_attention(at, "fusedla", b, h1, l1, l, q, m2);
        return;
    }
    int recomputed = kind == KERF_ATTENTION_RECOMPUTED;
    add_logits(at, "logits", b, h1, l1, l, q, m2, recomputed);
    add_softmax(at, "softmax", b, h1, l1, l, 1, recomputed);
    add_dropout(at, "dpr_at", (double)b * (double)h1 * (double)l1 * (double)l, recomputed);
    add_attend(at, "attend", b, h1, l1, l, q, m2, recomputed);
}

static void attention_1d(struct block_builder *at, enum kerf_attention kind, int64_t b, int64_t l, int64_t e, int64_t h,
                         int64_t m) {
    add_linear(at, "qkv", b, l, e, 3 * e, 1, m);
    attention(at, kind, b, l, l, e, h, m, 1);
    add_linear(at, "vproj", b, l, e, e, m, 1);
    add_bias(at, "vproj-bias", b, l, e);
    add_dropout(at, "dpr_v", (double)b * (double)(l / m) * (double)e, 0);
    add_layer_norm(at, "ln2", b, l, e, m);
}

/* ---- summa: tokens over m2, features over m1, every product a SUMMA --------------------------------------- */

static void mlp_summa(struct block_builder *at, int64_t b, int64_t l, int64_t e, int64_t f, int64_t m1, int64_t m2,
                      int64_t nb) {
    double inner = (double)b * (double)(l / m2) * (double)(f / m1);
    add_linear_summa(at, "fc1", b, l, e, f, m1, m2, nb);
    add_bias(at, "fc1-bias", b, l / m2, f / m1);
    add_gelu(at, "act1", inner);
    add_dropout(at, "dpr1", inner, 0);
    add_linear_summa(at, "fc2", b, l, f, e, m1, m2, nb);
    add_bias(at, "fc2-bias", b, l / m2, e / m1);
    add_dropout(at, "dpr2", (double)b * (double)(l / m2) * (double)(e / m1), 0);
    add_layer_norm_2d(at, "ln1", b, l, e, m1, m2);
}

static void attention_summa(struct block_builder *at, enum kerf_attention kind, int64_t b, int64_t l, int64_t e,
                            int64_t h, int64_t m1, int64_t m2, int64_t nb) {
    add_linear_summa(at, "qkv", b, l, e, 3 * e, m1, m2, nb);
    if (kind == KERF_ATTENTION_SUMMA) {
        add_logits_summa(at, "logits", b, h, l, e / h, m1, m2, nb);
        add_softmax(at, "softmax", b, h, l / m2, l / m1, m1, 0);
        add_dropout(at, "dpr_at", (double)b * (double)h * (double)(l / m2) * (double)(l / m1), 0);
        add_attend_summa(at, "attend", b, h, l, e / h, m1, m2, nb);
    } else {
        attention(at, kind, b, l / m2, l, e, h, m1, m2);
    }
    add_linear_summa(at, "vproj", b, l, e, e, m1, m2, nb);
    add_bias(at, "vproj-bias", b, l / m2, e / m1);
    add_dropout(at, "dpr_v", (double)b * (double)(l / m2) * (double)(e / m1), 0);
    add_layer_norm_2d(at, "ln2", b, l, e, m1, m2);
}

/* ---- seqp: 1d over m1 for each of m2 pieces of the sequence ----------------------------------------------- */

static void mlp_seqp(struct block_builder *at, int64_t b, int64_t l, int64_t e, int64_t f, int64_t m1, int64_t m2) {
    int64_t l2 = l / m2;
    double inner = (double)b * (double)l2 * (double)(f / m1);
    add_linear(at, "fc1", b, l2, e, f, 1, m1);
    add_bias(at, "fc1-bias", b, l2, f / m1);
    add_gelu(at, "act1", inner);
    add_dropout(at, "dpr1", inner, 0);
    add_linear(at, "fc2", b, l2, f, e, m1, 1);
    add_bias(at, "fc2-bias", b, l2 / m1, e);
    add_dropout(at, "dpr2", (double)b * (double)(l / (m1 * m2)) * (double)e, 0);
    add_layer_norm(at, "ln1", b, l2, e, m1);
}

static void attention_seqp(struct block_builder *at, enum kerf_attention kind, int64_t b, int64_t l, int64_t e,
                           int64_t h, int64_t m1, int64_t m2) {
    int64_t l2 = l / m2;
    add_linear(at, "qkv", b, l2, e, 3 * e, 1, m1);
    attention(at, kind, b, l2, l, e, h, m1, m2);
    add_linear(at, "vproj", b, l2, e, e, m1, 1);
    add_bias(at, "vproj-bias", b, l2, e / m1);
    add_dropout(at, "dpr_v", (double)b * (double)(l / (m1 * m2)) * (double)e, 0);
    add_layer_norm(at, "ln2", b, l2, e, m1);
}

void block_describe(const struct kerf_problem *problem, const struct cost_shape *shape,
                    const struct cost_elements *elements, struct cost_block *ret_block) {
    const struct kerf_model *model = &problem->model;
    int64_t b = shape->micro_batch, l = problem->seq_length, m1 = shape->tp1, m2 = shape->tp2, nb = shape->summa_blocks;
    int64_t e = model->hidden_size, f = model->intermediate_size, h = model->num_attention_heads;
    struct block_builder mlp = {ret_block, KERF_MODULE_MLP, *elements}, sa = {ret_block, KERF_MODULE_SA, *elements};
    ret_block->num_layers = 0;
    switch (problem->strategy) {
    case KERF_STRATEGY_1D:
        mlp_1d(&mlp, b, l, e, f, m1);
        attention_1d(&sa, problem->attention, b, l, e, h, m1);
        break;
    case KERF_STRATEGY_SUMMA:
        mlp_summa(&mlp, b, l, e, f, m1, m2, nb);
        attention_summa(&sa, problem->attention, b, l, e, h, m1, m2, nb);
        break;
    default:
        mlp_seqp(&mlp, b, l, e, f, m1, m2);
        attention_seqp(&sa, problem->attention, b, l, e, h, m1, m2);
        break;
    }
}

double block_weights_bytes(const struct cost_block *block) {
    double bytes = 0;
    for (int32_t i = 0; i < block->num_layers; i++) bytes += block->layers[i].weights_bytes;
    return bytes;
}

double block_activation_bytes(const struct cost_block *block) {
    double bytes = 0;
    for (int32_t i = 0; i < block->num_layers; i++) bytes += block->layers[i].activation_bytes;
    return bytes;
}

double block_stage_bytes(const struct cost_block *block) {
    for (int32_t i = 0; i < block->num_layers; i++)
        if (strcmp(block->layers[i].name, "ln1") == 0) return block->layers[i].activation_bytes;
    return 0;
}
