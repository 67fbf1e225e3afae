/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times of a transformer layer for one way of tensor parallelism, each distinct shape priced once.
 *
 * A shape is (micro-batch, SUMMA blocks) and how many of tp1 and of tp2 are neighbours in a scale-up domain. All
 * placements of one (micro-batch, blocks) are priced together as a row, [n1][n2] by the number of tp1 and tp2
 * neighbours, because they differ in communication alone: its volume over each axis is worked out once.
 */
#ifndef KERF_PLAN_SHAPES_H
#define KERF_PLAN_SHAPES_H

#include "cost/reference/step.h"
#include "plan/space.h"

enum { NEIGHBOURS_MAX = 240 }; /* divisors of a scale-up domain of at most 2^20 */

struct shape_axis {
    int32_t count;
    int64_t neighbours[NEIGHBOURS_MAX]; /* divisors of the domain that divide the axis, rising; or the axis itself */
    struct cost_axis prices[NEIGHBOURS_MAX];
};

struct shape_row {
    double stage_bytes;             /* what one stage sends to the next */
    double *forward_s, *backward_s; /* [n1 * n2] */
};

struct shapes {
    const struct kerf_cost_model *cost_model;
    const struct kerf_problem *problem;
    struct space_tensor tensor;
    struct cost_device device;
    struct shape_axis tp1, tp2;
    const struct divisors *batches; /* of the global batch: the micro-batches by index */
    int64_t blocks[SUMMA_BLOCKS_MAX];
    int32_t num_blocks;
    double weights_bytes;
    double *activation_bytes; /* [batches], -1 where not yet known */
    struct shape_row **rows;  /* [batches * num_blocks], NULL where not yet priced */
    struct arena *arena;
};

/* 0 when memory ran out. */
int shapes_begin(struct shapes *shapes, const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                 const struct space_tensor *tensor, const struct divisors *batches, struct arena *arena);

/* Bytes that a layer and micro-batch keep for the backward pass. */
double shapes_activation_bytes(struct shapes *shapes, int32_t batch);

/* The row of a micro-batch and a number of blocks, priced at the first call; NULL when memory ran out. */
const struct shape_row *shapes_row(struct shapes *shapes, int32_t batch, int32_t block);

/* Where a placement stands in a row. */
int32_t shapes_column(const struct shapes *shapes, const struct space_placement *placement);

#endif
