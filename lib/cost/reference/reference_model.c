/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost model of arXiv 2410.00273 as published: estimates.py and the classes DataParallel and
 * PipelineParallel of layers.py in ShashankSubramanian/transformer-perf-estimates. Where that code is odd, so is
 * this; docs/reference-model.md lists the oddities and says what would be right. Its numbers are frozen to the last
 * bit: no file of this room is changed for another model's sake.
 *
 *   volumes.h, linear.c, attention.c, pointwise.c   operation -> arithmetic, traffic, messages, memory
 *   layer.c                                         a layer's operations
 *   links.c                                         a system -> seconds per FLOP and byte, collectives
 *   step.h                                          volumes -> time of an operation, a layer, a step; memory
 *   whole_layout.c                                  one layout in full
 *   gaps.c                                          what of a model it does not price
 *   layout_rows.c                                   many layouts, each shape priced once
 */
#include "cost/reference/reference.h"

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
