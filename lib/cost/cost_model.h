/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cost model is a row of constants and functions. To add one: write a file like reference_model.c and put
 * its row into the list in cost_model.c; nothing else asks which model it is. How operations add up to a step is
 * in step.h and common to all models so far; what a new one does otherwise becomes a member here.
 */
#ifndef KERF_COST_COST_MODEL_H
#define KERF_COST_COST_MODEL_H

#include "cost/reference/block.h"

/* A message's time is affine in its size: latency + bytes * seconds per byte. */
struct cost_link {
    double latency_s, s_per_byte;
};

/* What does not depend on the layout: made once a problem. */
struct cost_device {
    double launch_s; /* added to every operation's arithmetic */
    double s_per_matrix_flop, s_per_vector_flop, s_per_byte;
    struct cost_elements elements;
};

struct kerf_cost_model {
    const char *name, *summary;
    double optimizer_ratio; /* bytes of optimizer state for each byte of weights, before it is sharded */

    struct cost_device (*device)(const struct kerf_system *system);
    /* which operations a layer has, and what each takes */
    void (*describe)(const struct kerf_problem *problem, const struct cost_shape *shape,
                     const struct cost_elements *elements, struct cost_block *ret_block);
    /* a collective among `group` accelerators, `in_domain` of them in each scale-up domain */
    struct cost_link (*collective)(const struct kerf_system *system, enum comm_kind kind, int64_t group,
                                   int64_t in_domain);
    /* one stage to the next, `in_domain` stages in each scale-up domain: the mean over the links */
    struct cost_link (*stage_link)(const struct kerf_system *system, int64_t pp, int64_t in_domain);
    /* what stays exposed of a step's gradient and weight collectives: two of one_s for each of `layers`
     * layers, beside a layer's forward and backward pass */
    double (*data_parallel_s)(double one_s, double forward_s, double backward_s, double layers);
};

extern const struct kerf_cost_model reference_model;

#endif
