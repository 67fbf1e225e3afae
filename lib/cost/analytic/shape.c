/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layout -> what a layer of each kind, the embedding, the head and a layer of multi-token prediction take for one
 * micro-batch on one device. Nothing is allocated; about 0.3 us for each kind of layer.
 */
#include "cost/analytic/context.h"
#include "cost/analytic/layer_item.h"
#include "cost/analytic/kernels.h"

static double larger(double a, double b) { return a > b ? a : b; }

static void price_embedding(const struct analytic_device *device, const struct shard *shard,
                            const struct kerf_layout *layout, struct analytic_item *item) {
    const struct kerf_model *model = &device->problem->model;
    double pass = 2 * shard->tokens * device->hidden * device->s_per_byte, after = 0;
    *item = (struct analytic_item){.activation_bytes = 0};
    if (model->vocab_size > 0) { /* rows are read, written and summed; backward they are added to sums of 4 bytes */
        item->part_s[ANALYTIC_FORWARD][ANALYTIC_MEMORY] = 3 * pass;
        item->part_s[ANALYTIC_BACKWARD_WEIGHT][ANALYTIC_MEMORY] = 5 * pass;
        double reduce = gather_s(device, &shard->tp_group, 2 * shard->tokens * device->hidden) * shard->tp_exposed;
        item->part_s[ANALYTIC_FORWARD][ANALYTIC_TP] = item->part_s[ANALYTIC_BACKWARD_WEIGHT][ANALYTIC_TP] = reduce;
    }
    if (model->position_rows > 0) after += 2;
    if (model->embedding_norm) after += 2;
    item->part_s[ANALYTIC_FORWARD][ANALYTIC_MEMORY] += after * pass / shard->tp;
    item->part_s[ANALYTIC_BACKWARD_WEIGHT][ANALYTIC_MEMORY] += after * pass / shard->tp * device->stack.backward_ratio;
    if (layout->zero >= 2) {
        struct analytic_parameters parameters = analytic_embedding_parameters(device, layout);
        item_add_zero(device, layout, &parameters, item);
    }
    item_sum(item);
}

static void price_head(const struct analytic_device *device, const struct shard *shard,
                       const struct kerf_layout *layout, struct analytic_item *item) {
    const struct kerf_model *model = &device->problem->model;
    double hidden = 2 * shard->tokens_shard * device->hidden;
    *item = (struct analytic_item){.activation_bytes = 0};
    if (model->final_norm) {
        item->part_s[ANALYTIC_FORWARD][ANALYTIC_MEMORY] = 2 * hidden * device->s_per_byte;
        item->part_s[ANALYTIC_BACKWARD_INPUT][ANALYTIC_MEMORY] =
            2 * hidden * device->s_per_byte * device->stack.backward_ratio;
        item->activation_bytes = hidden * device->stack.fragmentation;
    }
    if (model->vocab_size > 0) { /* at 16 bits, whatever the precision of the layers is */
        struct pass_seconds products = {{0}};
        double columns = head_columns(device, shard);
        head_products_add(device, shard, &products);
        for (int pass = 0; pass < ANALYTIC_PASSES; pass++) item->part_s[pass][ANALYTIC_GEMM] = products.of[pass];
        double loss = device->stack.loss_bytes * shard->tokens * columns * device->s_per_byte;
        item->part_s[ANALYTIC_FORWARD][ANALYTIC_MEMORY] += loss / 2;
        item->part_s[ANALYTIC_BACKWARD_INPUT][ANALYTIC_MEMORY] += loss / 2;
        double gather = gather_s(device, &shard->tp_group, 2 * shard->tokens * device->hidden) * shard->tp_exposed;
        item->part_s[ANALYTIC_FORWARD][ANALYTIC_TP] = item->part_s[ANALYTIC_BACKWARD_INPUT][ANALYTIC_TP] = gather;
        item->activation_bytes += hidden * device->stack.fragmentation;
    }
    if (layout->zero >= 2) {
        struct analytic_parameters parameters = analytic_head_parameters(device, layout, layout->pp > 1);
        item_add_zero(device, layout, &parameters, item);
    }
    item_sum(item);
}

static void add_item(struct analytic_item *sum, const struct analytic_item *more) {
    for (int pass = 0; pass < ANALYTIC_PASSES; pass++)
        for (int part = 0; part < ANALYTIC_PARTS; part++) sum->part_s[pass][part] += more->part_s[pass][part];
    sum->activation_bytes += more->activation_bytes;
    sum->working_bytes = larger(sum->working_bytes, more->working_bytes);
}

/* The next token's embedding beside the last layer's output, both normalised, through a product of 2 h to h; a layer;
 * the head. */
static void price_mtp(const struct analytic_device *device, const struct shard *shard,
                      const struct analytic_shape *shape, struct analytic_item *item) {
    struct pass_seconds products = {{0}};
    double hidden = 2 * shard->tokens_shard * device->hidden;
    *item = shape->kinds[device->mtp_kind];
    add_item(item, &shape->embedding);
    add_item(item, &shape->head);
    mtp_products_add(device, shard, &products);
    for (int pass = 0; pass < ANALYTIC_PASSES; pass++) item->part_s[pass][ANALYTIC_GEMM] += products.of[pass];
    double passes = 7 * hidden * device->s_per_byte; /* two norms and their concatenation */
    item->part_s[ANALYTIC_FORWARD][ANALYTIC_MEMORY] += passes;
    item->part_s[ANALYTIC_BACKWARD_INPUT][ANALYTIC_MEMORY] += passes * device->stack.backward_ratio;
    item->activation_bytes += 4 * hidden * device->stack.fragmentation;
    item_sum(item);
}

/* The host's work of a micro-batch on each virtual stage. */
static void price_stage(const struct analytic_device *device, struct analytic_item *item) {
    double forward = 1 / (1 + device->stack.backward_host_ratio), host = device->stack.stage_host_s;
    *item = (struct analytic_item){.activation_bytes = 0};
    item->part_s[ANALYTIC_FORWARD][ANALYTIC_LAUNCH] = host * forward;
    item->part_s[ANALYTIC_BACKWARD_INPUT][ANALYTIC_LAUNCH] = host * (1 - forward);
    item_sum(item);
}

static double item_s(const struct analytic_item *item) {
    return item->pass_s[ANALYTIC_FORWARD] + item->pass_s[ANALYTIC_BACKWARD_INPUT] +
           item->pass_s[ANALYTIC_BACKWARD_WEIGHT];
}

void analytic_shape(const struct analytic_device *device, const struct kerf_layout *layout,
                    struct analytic_shape *ret_shape) {
    struct analytic_shape *shape = ret_shape;
    struct shard shard = shard_of(device, layout);
    double attention[KERF_KINDS_MAX][2], mtp_layers = (double)device->problem->mtp_layers;
    for (int32_t i = 0; i < device->num_kinds; i++)
        attention_s(device, &device->layers[i], shard.tokens, device->layers[i].heads / shard.tp, &attention[i][0],
                    &attention[i][1]);
    enum kerf_cp_comm comm = KERF_CP_COMM_ANY;
    if (shard.cp > 1)
        comm = layout->cp_comm == KERF_CP_COMM_ANY ? cp_comm_best(device, &shard, layout, attention)
                                                   : (enum kerf_cp_comm)layout->cp_comm;
    shape->cp_comm = (int8_t)comm;
    shape->least_s = 0;
    for (int32_t i = 0; i < device->num_kinds; i++) {
        layer_items(device, &shard, layout, comm, i, attention[i], &shape->kinds[i], &shape->recomputed_kinds[i]);
        shape->least_s += device->layers_of_kind[i] * item_s(&shape->kinds[i]);
    }
    price_embedding(device, &shard, layout, &shape->embedding);
    price_head(device, &shard, layout, &shape->head);
    shape->least_s += item_s(&shape->embedding) + item_s(&shape->head);
    if (mtp_layers > 0)
        price_mtp(device, &shard, shape, &shape->mtp);
    else
        shape->mtp = (struct analytic_item){.activation_bytes = 0};
    shape->least_s += mtp_layers * item_s(&shape->mtp);
    price_stage(device, &shape->every_stage);
    shape->logits_bytes = (1 + mtp_layers) * kept_logits_bytes(device, &shard);
}
