/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/shapes.h"

static void find_neighbours(const struct shapes *shapes, int64_t m, struct shape_axis *axis) {
    const struct kerf_problem *problem = shapes->problem;
    struct divisors domain;
    axis->count = 0;
    if (problem->gpus <= problem->system.scale_up.size) {
        axis->neighbours[axis->count++] = m;
    } else {
        divisors_find(problem->system.scale_up.size, &domain);
        for (int32_t i = 0; i < domain.count; i++)
            if (m % domain.of[i] == 0) axis->neighbours[axis->count++] = domain.of[i];
    }
    for (int32_t i = 0; i < axis->count; i++)
        axis_price(shapes->cost_model, &problem->system, m, axis->neighbours[i], &axis->prices[i]);
}

int shapes_begin(struct shapes *shapes, const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                 const struct space_tensor *tensor, const struct divisors *batches, struct arena *arena) {
    shapes->cost_model = cost_model;
    shapes->problem = problem;
    shapes->tensor = *tensor;
    shapes->device = cost_model->device(&problem->system);
    shapes->batches = batches;
    shapes->arena = arena;
    shapes->num_blocks = space_summa_blocks(problem, tensor, shapes->blocks);
    find_neighbours(shapes, tensor->tp1, &shapes->tp1);
    find_neighbours(shapes, tensor->tp2, &shapes->tp2);
    size_t count = (size_t)batches->count;
    shapes->activation_bytes = arena_alloc(arena, count, sizeof *shapes->activation_bytes);
    shapes->rows = arena_alloc(arena, count * (size_t)shapes->num_blocks, sizeof *shapes->rows);
    if (shapes->activation_bytes == NULL || shapes->rows == NULL) return 0;
    for (size_t i = 0; i < count; i++) shapes->activation_bytes[i] = -1;
    return 1;
}

static void describe(const struct shapes *shapes, int32_t batch, int32_t block, struct cost_block *ret_block) {
    struct cost_shape shape = {shapes->batches->of[batch], shapes->tensor.tp1, shapes->tensor.tp2,
                               shapes->num_blocks ? shapes->blocks[block] : 1};
    shapes->cost_model->describe(shapes->problem, &shape, &shapes->device.elements, ret_block);
}

double shapes_activation_bytes(struct shapes *shapes, int32_t batch) {
    if (shapes->activation_bytes[batch] < 0) {
        struct cost_block block;
        describe(shapes, batch, 0, &block);
        shapes->activation_bytes[batch] = block_activation_bytes(&block);
        shapes->weights_bytes = block_weights_bytes(&block); /* the same for every micro-batch */
    }
    return shapes->activation_bytes[batch];
}

int32_t shapes_column(const struct shapes *shapes, const struct space_placement *placement) {
    int32_t i = 0, j = 0;
    while (shapes->tp1.neighbours[i] != placement->tp1) i++;
    while (shapes->tp2.neighbours[j] != placement->tp2) j++;
    return i * shapes->tp2.count + j;
}

/* Adds one pass of one operation to every place of the row. */
static void add_pass(const struct shapes *shapes, const struct cost_layer *layer, const struct cost_pass *pass,
                     const double *again_s, double *sum_s, double *ret_pass_s) {
    const struct shape_axis *tp1 = &shapes->tp1, *tp2 = &shapes->tp2;
    double arithmetic = arithmetic_s(&shapes->device, layer, pass), traffic = traffic_s(&shapes->device, pass);
    double busy_s = arithmetic > traffic ? arithmetic : traffic, along_tp2[NEIGHBOURS_MAX];
    if (pass->num_comms == 0 && again_s == NULL && ret_pass_s == NULL) {
        for (int32_t i = 0; i < tp1->count * tp2->count; i++) sum_s[i] += busy_s;
        return;
    }
    for (int32_t j = 0; j < tp2->count; j++) along_tp2[j] = axis_s(layer, pass, AXIS_TP2, &tp2->prices[j]);
    for (int32_t i = 0, at = 0; i < tp1->count; i++) {
        double along_tp1 = axis_s(layer, pass, AXIS_TP1, &tp1->prices[i]);
        for (int32_t j = 0; j < tp2->count; j++, at++) {
            double pass_s = busy_s + exposed_s(along_tp1 + along_tp2[j], layer->blocks, busy_s);
            if (again_s) pass_s += again_s[at];
            if (ret_pass_s) ret_pass_s[at] = pass_s;
            sum_s[at] += pass_s;
        }
    }
}

const struct shape_row *shapes_row(struct shapes *shapes, int32_t batch, int32_t block_index) {
    struct shape_row **place = &shapes->rows[batch * shapes->num_blocks + block_index];
    if (*place) return *place;
    size_t columns = (size_t)shapes->tp1.count * (size_t)shapes->tp2.count;
    struct shape_row *row = arena_alloc(shapes->arena, 1, sizeof *row);
    double *times = arena_alloc(shapes->arena, 3 * columns, sizeof *times);
    if (row == NULL || times == NULL) return NULL;
    struct cost_block block;
    describe(shapes, batch, block_index, &block);
    row->stage_bytes = block_stage_bytes(&block);
    row->forward_s = times;
    row->backward_s = times + columns;
    double *forward_of_layer = times + 2 * columns; /* for operations that run it again */
    for (int32_t i = 0; i < block.num_layers; i++) {
        const struct cost_layer *layer = &block.layers[i];
        double *kept = layer->recomputed ? forward_of_layer : NULL;
        add_pass(shapes, layer, &layer->forward, NULL, row->forward_s, kept);
        add_pass(shapes, layer, &layer->backward, kept, row->backward_s, NULL);
    }
    return *place = row;
}
