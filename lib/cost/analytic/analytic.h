/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost model "analytic": what one micro-batch costs on one device, and what a step adds to it. The structure and the
 * formulas are in docs/cost-model.md, each with its source; constants belong to a device, a precision, an attention
 * kernel, a link or a software stack, never to a model or a run.
 *
 *   device.c      a system and a stack -> the constants of a problem
 *   stack.c       constants of software
 *   kernels.c     one product, attention, the host's floor; the products of a layer
 *   collectives.c groups of ranks in domains -> seconds of a collective
 *   shard.c       what one device has of a micro-batch: tokens, and bytes that a layer keeps
 *   context.c     attention under context parallelism
 *   shape.c       a layout -> what each kind of layer, the embedding and the head take and keep
 *   state.c       weights, gradients, optimizer; what a step adds: data parallelism, optimizer
 *   composition.c stages from items, the pipeline's time, the step, the memory of each device
 *   analytic_model.c  one layout in full; many, with bounds
 */
#ifndef KERF_COST_ANALYTIC_ANALYTIC_H
#define KERF_COST_ANALYTIC_ANALYTIC_H

#include "cost/cost_model.h"

/* The parts of a device's busy time. What hides behind something else is in no part. */
enum analytic_part {
    ANALYTIC_GEMM,
    ANALYTIC_ATTENTION,
    ANALYTIC_MEMORY, /* memory-bound operations */
    ANALYTIC_LAUNCH, /* the host's floor: what the device waits for its kernels to be launched */
    ANALYTIC_TP,     /* exposed communication of each kind */
    ANALYTIC_CP,
    ANALYTIC_EP,
    ANALYTIC_DP, /* ZeRO 2 and 3: what every micro-batch gathers and reduces */
    ANALYTIC_PARTS
};

/* The three operations of a pipeline. What is recomputed is part of the input's backward pass. */
enum analytic_pass { ANALYTIC_FORWARD, ANALYTIC_BACKWARD_INPUT, ANALYTIC_BACKWARD_WEIGHT, ANALYTIC_PASSES };

/* A layer, the embedding, the head: for one micro-batch, on one device. Times and bytes of a stage are sums of those of
 * its items. */
struct analytic_item {
    double part_s[ANALYTIC_PASSES][ANALYTIC_PARTS];
    double pass_s[ANALYTIC_PASSES]; /* the sums of the parts */
    double activation_bytes;        /* kept from the forward to the backward pass */
    double working_bytes;           /* needed while it runs, not kept: the stage needs the largest of its items */
};

/* What depends on tp, cp, cp_comm, ep, etp, micro_batch, recompute and, where zero is 2 or 3, on zero, dp, pp and order. */
struct analytic_shape {
    struct analytic_item kinds[KERF_KINDS_MAX];            /* a layer of each kind */
    struct analytic_item recomputed_kinds[KERF_KINDS_MAX]; /* with full:K one of the first K; else the same as kinds */
    struct analytic_item embedding,
        head;                         /* the head with final norm and loss; logits are in activation_bytes of none */
    struct analytic_item mtp;         /* one layer of multi-token prediction with its pass through the head */
    struct analytic_item every_stage; /* what each virtual stage adds for a micro-batch */
    double logits_bytes;              /* on the device with the head, beside activations */
    double least_s;                   /* all passes of all layers, embedding, head and mtp together */
    int8_t cp_comm;                   /* enum kerf_cp_comm: what was taken where it was left open */
};

/* What a hop between stages takes: the receiver waits for latency_s, the sender is kept for sender_s. */
struct analytic_hop {
    double latency_s, sender_s;
};

/* Parameters on one device by what shards their optimizer state. */
struct analytic_parameters {
    double dense;   /* over dp * cp */
    double experts; /* over dp * cp * tp / (ep * etp) */
    double doubled; /* those of both that are there in 8 bits too where zero is 0; 0 at 16 bits */
};

struct analytic_state_bytes {
    double weights, gradients, optimizer;
};

/* What a step adds to the pipeline on a device. */
struct analytic_step_extras {
    double dp_s;        /* exposed gradient reduction and parameter gathering */
    double optimizer_s; /* reading and writing states */
    double fixed_s;     /* the host's work of a step */
};

/* The constants of a problem: system, stack, precision. */
struct analytic_device;

/* Finds them; NULL when memory ran out. */
const struct analytic_device *analytic_device(const struct kerf_problem *problem, struct arena *arena);

/* Prices the items of a layout; members that they do not depend on are not looked at. */
void analytic_shape(const struct analytic_device *device, const struct kerf_layout *layout,
                    struct analytic_shape *ret_shape);

/* The hop between neighbouring stages; looks at tp, cp, dp, pp, order and micro_batch too. */
struct analytic_hop analytic_hop(const struct analytic_device *device, const struct kerf_layout *layout);

/* Parameters on a device of one layer of a kind, of the embedding, of the head (is_copy: on another device than the
 * embedding to which it is tied), of one mtp layer. */
struct analytic_parameters analytic_layer_parameters(const struct analytic_device *device,
                                                     const struct kerf_layout *layout, int32_t kind);
struct analytic_parameters analytic_embedding_parameters(const struct analytic_device *device,
                                                         const struct kerf_layout *layout);
struct analytic_parameters analytic_head_parameters(const struct analytic_device *device,
                                                    const struct kerf_layout *layout, int is_copy);
struct analytic_parameters analytic_mtp_parameters(const struct analytic_device *device,
                                                   const struct kerf_layout *layout);

/* What those parameters take as zero says. At zero 0 the sum is 18 bytes a parameter, with bf16 gradients 16; in 8 bits 2
 * more of those that are doubled. */
struct analytic_state_bytes analytic_state(const struct analytic_device *device, const struct kerf_layout *layout,
                                           const struct analytic_parameters *parameters);

/* Buffers of collectives, and what the runtime keeps; of any device. */
double analytic_buffer_bytes(const struct analytic_device *device, const struct kerf_layout *layout);
double analytic_runtime_bytes(const struct analytic_device *device, const struct kerf_layout *layout);

/* What a step adds on a device with those parameters, whose last micro-batch's backward pass takes backward_s. */
struct analytic_step_extras analytic_step_extras(const struct analytic_device *device, const struct kerf_layout *layout,
                                                 const struct analytic_parameters *parameters, double backward_s);

/* How much slower a step is on so many accelerators than on 8: stragglers. 1 or more. */
double analytic_scale(const struct analytic_device *device, int64_t gpus);

/* The dense peak in the chosen precision, FLOP/s. */
double analytic_peak(const struct analytic_device *device);

#endif
