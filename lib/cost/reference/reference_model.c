/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost model of arXiv 2410.00273 as published: estimates.py and the classes DataParallel and
 * PipelineParallel of layers.py in ShashankSubramanian/transformer-perf-estimates. Where that code is odd, so is
 * this; docs/reference-model.md lists the oddities and says what would be right. Its numbers are frozen to the last
 * bit: no file of this room is changed for another model's sake.
 *
 *   layer.c          a layer's operations -> arithmetic, traffic, messages, memory
 *   step.c           a system -> seconds per FLOP and byte, collectives
 *   step.h           volumes -> time of an operation, a layer, a step; memory
 *   whole_layout.c   one layout in full
 *   layout_rows.c    many layouts, each shape priced once
 */
#include <assert.h>
#include "cost/reference/step.h"

/* ---- What of a model it does not price --------------------------------------------------------------------------- */

/*
 * The reference knows one layer: as many key and value heads as query heads, of
 * hidden_size features together, and an MLP of two matrices; and no embedding or head, which is said only beside
 * another gap, since it holds for every model (docs/reference-model.md).
 */

static const char *add(struct kerf_text *out, const char *separator) {
    kerf_text_add(out, separator);
    return ", ";
}

static void reference_gaps(const struct kerf_model *model, struct kerf_text *out) {
    const char *next = "";
    int64_t kv_heads = 0, head_features = 0, experts = 0, top_k = 0;
    int latent = 0, gated = 0, window = 0;
    assert(model->num_kinds <= KERF_KINDS_MAX);
    for (int32_t k = 0; k < model->num_kinds; k++) {
        const struct kerf_layer_kind *kind = &model->kinds[k];
        latent |= kind->attention.kv_rank > 0;
        if (!latent && kind->attention.kv_heads < kind->attention.heads) kv_heads = kind->attention.kv_heads;
        if (!latent && kind->attention.heads * kind->attention.qk_size != model->hidden_size)
            head_features = kind->attention.qk_size;
        gated |= kind->mlp.is_gated;
        window |= kind->attention.window > 0;
        if (kind->mlp.experts > 0) experts = kind->mlp.experts, top_k = kind->mlp.top_k;
    }
    if (latent) {
        next = add(out, next);
        kerf_text_add(out, "multi-latent attention");
    }
    if (kv_heads) {
        next = add(out, next);
        kerf_text_printf(out, "%lld key-value heads", (long long)kv_heads);
    }
    if (head_features) {
        next = add(out, next);
        kerf_text_printf(out, "heads of %lld features", (long long)head_features);
    }
    if (window) {
        next = add(out, next);
        kerf_text_add(out, "sliding windows");
    }
    if (gated) {
        next = add(out, next);
        kerf_text_add(out, "gated MLPs");
    }
    if (experts) {
        next = add(out, next);
        kerf_text_printf(out, "%lld experts (%lld a token)", (long long)experts, (long long)top_k);
    }
    if (*next && model->vocab_size > 0) {
        add(out, next);
        kerf_text_printf(out, "embedding and head (a vocabulary of %lld)", (long long)model->vocab_size);
    }
}

/* ---- The row ----------------------------------------------------------------------------------------------------- */

const struct kerf_cost_model reference_model = {
    .name = "reference",
    .summary = "arXiv 2410.00273 as published, its oddities included (docs/reference-model.md)",
    .layouts = LAYOUT_TENSOR,
    .gaps = reference_gaps,
    .estimate = whole_layout_estimate,
    .estimate_layers = whole_layout_layers,
    .begin = rows_begin,
    .enter = rows_enter,
    .prepare = rows_prepare,
    .price = rows_price,
};
