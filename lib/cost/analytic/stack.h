/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A software stack: what a framework costs beside the arithmetic and the messages that the layout asks for. Constants
 * of a stack hold for any model, layout and device; docs/cost-model.md says where each is from.
 */
#ifndef KERF_COST_ANALYTIC_STACK_H
#define KERF_COST_ANALYTIC_STACK_H

#include <stdint.h>

struct analytic_stack {
    const char *name;

    /* Memory-bound operations, in passes: one reads or writes every element once, 2 bytes each. */
    double hidden_passes;  /* of tokens x hidden size, a layer's forward pass: norms, residuals */
    double wide_passes;    /* of tokens x (queries, keys, values and the MLP's inner features): rotary, activation */
    double fp8_passes;     /* more hidden_passes where products are in 8 bits: casts, transposes */
    double backward_ratio; /* backward to forward */
    double permute_passes; /* of routed tokens x hidden size: permuting, routing */
    double router_passes;  /* of tokens x experts, 4 bytes */

    /* The host: seconds to launch what one layer's forward pass runs. */
    double layer_host_s;
    double moe_host_ratio;                /* of a layer with experts, to a dense one */
    double tp_host_ratio, tp8_host_ratio; /* of any layer, with tp and with tp of 8 and more */
    double backward_host_ratio;           /* backward to forward */
    double stage_host_s;                  /* a micro-batch, forward and backward, of each virtual stage */
    double step_host_s;                   /* a step */

    /* Shares of a collective that nothing hides; above 1: slower than the library's own benchmark. */
    double tp_exposed, ep_exposed, dp_exposed, pp_exposed;
    double zero_tax;   /* of per-micro-batch ZeRO messages, what they slow the rest down even where they hide */
    double zero_power; /* p of (work^p + messages^p)^(1/p) */

    double straggling; /* how much longer a step takes, for each doubling of the accelerators beyond 8 */

    double grouped_efficiency;  /* of a grouped product, to one product of all its rows */
    double grouped_rows;        /* rows an expert at which a grouped product reaches half of that */
    double imbalance;           /* tokens of the busiest expert-parallel rank, to the mean */
    double recompute_ratio;     /* a recomputed forward pass to the first one: nothing is kept */
    double optimizer_bytes;     /* read and written a parameter of the optimizer's shard */
    double score_traffic_bytes; /* read and written a score of attention that is not fused, forward */
    double loss_bytes;          /* read and written a logit, forward and backward */

    /* Memory */
    double hidden_bytes;   /* kept a token and feature of the hidden size, a layer */
    double gated_bytes;    /* kept a token and inner feature of a gated MLP */
    double plain_bytes;    /* the same of one with two matrices */
    double scores_bytes;   /* kept a score of attention that is not fused */
    double expert_bytes;   /* kept a routed token and inner feature of an expert */
    double permuted_bytes; /* kept a routed token and hidden feature */
    double logit_bytes;    /* kept a logit */
    double fragmentation;  /* what the allocator takes, to what is asked of it */
    double working_ratio;  /* memory of a layer that is recomputed, to what it would keep */
    double runtime_bytes;  /* context, kernels, workspaces */
    double group_bytes;    /* buffers of one communicator */
};

/* The default: the newest Megatron-Core. */
const struct analytic_stack *analytic_stack_default(void);

#endif
