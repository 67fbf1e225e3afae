/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layout -> what a layer of each kind, the embedding, the head and a layer of multi-token prediction take for one
 * micro-batch on one device. Nothing is allocated; about 0.3 us for each kind of layer.
 *
 * A layer on one device: products, attention and memory-bound operations, messages that nothing hides, what the host adds
 * where it is slower than the device, and what is computed again.
 *
 *   backward pass of the input: the products of the inputs' gradients, attention, memory-bound operations, messages, and
 *   what is recomputed; of the weights: the products of their gradients
 */
#include <math.h>
#include "cost/analytic/context.h"
#include "cost/analytic/kernels.h"

static double larger(double a, double b) { return a > b ? a : b; }

/* ---- A layer ---------------------------------------------------------------------------------------------------- */

/* Times of a layer before recomputation and the host are looked at. */
struct work {
    struct pass_seconds products;
    double attention[2], memory[2], tp[2], cp[2], ep[2]; /* forward, backward */
};

static void add_memory(const struct analytic_device *device, const struct shard *shard,
                       const struct analytic_layer *layer, struct work *work) {
    const struct kerf_stack *stack = &device->stack;
    double ups = layer->is_gated ? 2 : 1, hidden = shard->tokens_shard * device->hidden;
    double wide =
        layer->qkv_size / shard->tp + layer->kv_size / shard_kv_ways(shard, layer) + layer->mlp_size * ups / shard->tp;
    double bytes = 2 * (layer->hidden_passes * hidden + stack->wide_passes * shard->tokens * wide);
    if (layer->experts > 0) {
        double routed = shard_routed(shard, layer);
        bytes += 2 * routed *
                 (stack->permute_passes * device->hidden + stack->wide_passes * layer->expert_size * ups / shard->etp);
        bytes += 4 * stack->router_passes * shard->tokens_shard * layer->experts;
    }
    work->memory[0] = bytes * device->s_per_byte;
    work->memory[1] = work->memory[0] * stack->backward_ratio;
}

/* A block begins with an all-gather over tp and ends with a reduce-scatter, of the hidden size; latent attention gathers
 * what it has projected down. Backward the same, in reverse. */
static void add_messages(const struct analytic_device *device, const struct shard *shard,
                         const struct analytic_layer *layer, struct work *work) {
    double hidden = 2 * shard->tokens * device->hidden;
    if (shard->tp > 1) {
        double gather = gather_s(device, &shard->tp_group, hidden), s = 2 * layer->gathers * gather;
        if (layer->latent_size > 0)
            s += gather_s(device, &shard->tp_group, 2 * shard->tokens * layer->latent_size) - gather;
        work->tp[0] = work->tp[1] = s * shard->tp_exposed;
    }
    if (layer->experts > 0) {
        double token = 2 * device->hidden, s = 0;
        if (shard->ep > 1)
            s += 2 * dispatch_s(device, &shard->ep_group, shard->tokens_shard * shard->imbalance, token, layer->top_k);
        if (shard->etp > 1) s += 2 * gather_s(device, &shard->etp_group, shard_routed(shard, layer) * token);
        work->ep[0] = work->ep[1] = s * device->stack.ep_exposed;
    }
}

static double pass_sum(const struct analytic_item *item, enum analytic_pass pass) {
    double sum = 0;
    for (int part = 0; part < ANALYTIC_PARTS; part++) sum += item->part_s[pass][part];
    return sum;
}

/* Adds what the device waits for the host, forward and in both backward passes together, by their share of the time. */
static void add_host(struct analytic_item *item, double forward_host_s, double backward_host_s) {
    double forward = pass_sum(item, ANALYTIC_FORWARD), input = pass_sum(item, ANALYTIC_BACKWARD_INPUT);
    double weight = pass_sum(item, ANALYTIC_BACKWARD_WEIGHT), backward = input + weight;
    item->part_s[ANALYTIC_FORWARD][ANALYTIC_LAUNCH] += launched_s(forward, forward_host_s) - forward;
    double wait = launched_s(backward, backward_host_s) - backward, share = backward > 0 ? weight / backward : 0;
    item->part_s[ANALYTIC_BACKWARD_INPUT][ANALYTIC_LAUNCH] += wait * (1 - share);
    item->part_s[ANALYTIC_BACKWARD_WEIGHT][ANALYTIC_LAUNCH] += wait * share;
}

/* ZeRO 3 gathers an item's weights before each pass, 2 and 3 reduce its gradients after each backward pass. They run
 * beside the work: (work^p + messages^p)^(1/p), and slow it down by a tax. */
static double beside_s(const struct analytic_device *device, double work_s, double messages_s) {
    if (messages_s <= 0) return 0;
    double most = larger(work_s, messages_s), ratio = (work_s + messages_s - most) / most, p = device->stack.zero_power;
    return most * pow(1 + pow(ratio, p), 1 / p) - work_s + device->stack.zero_tax * messages_s;
}

/* Adds to an item that is otherwise complete what it waits for the messages of ZeRO 2 and 3. */
static void add_zero(const struct analytic_device *device, const struct kerf_layout *layout,
                     const struct analytic_parameters *parameters, struct analytic_item *item) {
    if (layout->zero < 2) return;
    struct rank_group dense = group_dense_states(device, layout), experts = group_expert_states(device, layout);
    double gradient_bytes = device->reduced_bytes, gather = 0, backward;
    if (layout->zero == 3)
        gather = gather_s(device, &dense, 2 * parameters->dense) + gather_s(device, &experts, 2 * parameters->experts);
    backward = gather + gather_s(device, &dense, gradient_bytes * parameters->dense) +
               gather_s(device, &experts, gradient_bytes * parameters->experts);
    item->part_s[ANALYTIC_FORWARD][ANALYTIC_DP] = beside_s(device, pass_sum(item, ANALYTIC_FORWARD), gather);
    item->part_s[ANALYTIC_BACKWARD_INPUT][ANALYTIC_DP] =
        beside_s(device, pass_sum(item, ANALYTIC_BACKWARD_INPUT) + pass_sum(item, ANALYTIC_BACKWARD_WEIGHT), backward);
}

/* Sets pass_s to the sums of the parts. */
static void sum_item(struct analytic_item *item) {
    for (int pass = 0; pass < ANALYTIC_PASSES; pass++) item->pass_s[pass] = pass_sum(item, (enum analytic_pass)pass);
}

/* A layer from its work: with attention or everything computed again before the backward pass. */
static void compose(const struct analytic_device *device, const struct shard *shard, const struct kerf_layout *layout,
                    int32_t kind, const struct work *work, int is_full, struct analytic_item *item) {
    const struct analytic_layer *layer = &device->layers[kind];
    const struct kerf_stack *stack = &device->stack;
    double host = stack->layer_host_s * shard->host_ratio * (layer->experts > 0 ? stack->moe_host_ratio : 1);
    double(*parts)[ANALYTIC_PARTS] = item->part_s;
    *item = (struct analytic_item){.activation_bytes = 0};
    for (int pass = 0; pass < ANALYTIC_PASSES; pass++) parts[pass][ANALYTIC_GEMM] = work->products.of[pass];
    for (int pass = ANALYTIC_FORWARD; pass <= ANALYTIC_BACKWARD_INPUT; pass++) {
        parts[pass][ANALYTIC_ATTENTION] = work->attention[pass];
        parts[pass][ANALYTIC_MEMORY] = work->memory[pass];
        parts[pass][ANALYTIC_TP] = work->tp[pass];
        parts[pass][ANALYTIC_CP] = work->cp[pass];
        parts[pass][ANALYTIC_EP] = work->ep[pass];
    }
    if (is_full) {
        for (int part = 0; part < ANALYTIC_PARTS; part++)
            parts[ANALYTIC_BACKWARD_INPUT][part] += stack->recompute_ratio * parts[ANALYTIC_FORWARD][part];
    } else if (shard->is_selective) {
        parts[ANALYTIC_BACKWARD_INPUT][ANALYTIC_ATTENTION] += work->attention[0];
        parts[ANALYTIC_BACKWARD_INPUT][ANALYTIC_CP] += work->cp[0];
    }
    add_host(item, host, host * (stack->backward_host_ratio + (is_full ? 1 : 0)));
    if (layout->zero >= 2) {
        struct analytic_parameters parameters = analytic_layer_parameters(device, layout, kind);
        add_zero(device, layout, &parameters, item);
    }
    double kept = kept_layer_bytes(device, shard, layer);
    item->activation_bytes = is_full ? kept_input_bytes(device, shard) : kept;
    item->working_bytes = is_full ? stack->working_ratio * kept : working_layer_bytes(device, shard, layer);
    sum_item(item);
}

/* A layer of the kind, whose attention takes attention_s forward and backward, under the layout's recomputation; and the
 * same recomputed in full, which is another one only with KERF_RECOMPUTE_BLOCK. */
static void price_layer(const struct analytic_device *device, const struct shard *shard,
                        const struct kerf_layout *layout, enum kerf_cp_comm comm, int32_t kind,
                        const double attention[2], struct analytic_item *ret_item,
                        struct analytic_item *ret_recomputed) {
    const struct analytic_layer *layer = &device->layers[kind];
    struct work work = {.attention = {attention[0], attention[1]}};
    layer_products_add(device, shard, layer, &work.products);
    add_memory(device, shard, layer, &work);
    add_messages(device, shard, layer, &work);
    if (shard->cp > 1) cp_wait_s(device, shard, layer, comm, attention, work.cp);
    compose(device, shard, layout, kind, &work, shard->is_full, ret_item);
    if (layout->recompute == KERF_RECOMPUTE_BLOCK)
        compose(device, shard, layout, kind, &work, 1, ret_recomputed);
    else
        *ret_recomputed = *ret_item;
}

/* ---- What is not a layer ---------------------------------------------------------------------------------------- */

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
        add_zero(device, layout, &parameters, item);
    }
    sum_item(item);
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
        add_zero(device, layout, &parameters, item);
    }
    sum_item(item);
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
    sum_item(item);
}

/* The host's work of a micro-batch on each virtual stage. */
static void price_stage(const struct analytic_device *device, struct analytic_item *item) {
    double forward = 1 / (1 + device->stack.backward_host_ratio), host = device->stack.stage_host_s;
    *item = (struct analytic_item){.activation_bytes = 0};
    item->part_s[ANALYTIC_FORWARD][ANALYTIC_LAUNCH] = host * forward;
    item->part_s[ANALYTIC_BACKWARD_INPUT][ANALYTIC_LAUNCH] = host * (1 - forward);
    sum_item(item);
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
        price_layer(device, &shard, layout, comm, i, attention[i], &shape->kinds[i], &shape->recomputed_kinds[i]);
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
