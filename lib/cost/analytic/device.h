/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constants of a problem, ready to be multiplied: a system and a stack at one precision, and the model's products and
 * parameters. Made once, read by every layout.
 */
#ifndef KERF_COST_ANALYTIC_DEVICE_H
#define KERF_COST_ANALYTIC_DEVICE_H

#include "cost/analytic/analytic.h"
#include "cost/analytic/stack.h"
#include "spec/parameters.h"

/* How fast products are at one precision. */
struct analytic_rate {
    double s_per_flop;    /* of a product without edges */
    double edge;          /* k0 */
    double element_bytes; /* of both factors; results have 2 bytes */
};

/* Rows of a product: which tokens one device multiplies. */
enum product_rows {
    ROWS_ALL,    /* of the micro-batch and the sequence shard: gathered over tp */
    ROWS_SHARD,  /* a tp-th of those, as they lie between the blocks */
    ROWS_EXPERTS /* routed to the experts of this device */
};

/* What divides columns n or terms k of a product. */
enum product_cut { CUT_NOTHING, CUT_COLUMNS, CUT_TERMS };

/* y = x w: x of rows x k, w of k x (n + kv_n). Experts are divided by etp instead of tp. */
struct analytic_product {
    double n, k;
    double kv_n; /* more columns, of keys and values: divided by at most the key-value heads */
    int8_t rows, cut;
    int8_t is_low_precision; /* in the chosen precision; 0: at 16 bits */
    int8_t counts;           /* 1: among the model FLOP */
};

enum { PRODUCTS_MAX = 12 };

/* One kind of layer. */
struct analytic_layer {
    int32_t num_products;
    struct analytic_product products[PRODUCTS_MAX];
    double heads, kv_heads, qk_size, v_size;
    double qkv_size;       /* queries, keys and values of all heads that the divisor tp divides */
    double kv_size;        /* keys and values, of all key-value heads */
    double keys;           /* that a query meets, on average, for model FLOP: causal half, no window */
    double keys_met;       /* that the kernel computes: windows cut */
    double head_slowdown;  /* of an awkward head size, fused and not */
    double latent_size;    /* down-projected features that are gathered over tp instead of the hidden size; 0 */
    double mlp_size;       /* inner features of dense and shared MLPs */
    double expert_size;    /* inner features of one expert */
    double experts, top_k; /* 0 experts: dense */
    double hidden_passes;  /* with the norms that this kind has */
    double extra_flops;    /* model FLOP of a token beside products and attention, forward */
    double gathers; /* of the hidden size over tp, forward: blocks that begin with one and end with its reverse */
    int8_t is_gated, has_shared;
    struct parameters parameters, products_parameters; /* products_parameters: without norms and router */
};

struct analytic_device {
    const struct kerf_problem *problem;
    struct kerf_stack stack; /* a copy: one may be changed for a problem */

    double peak;                    /* FLOP/s of the chosen precision */
    struct analytic_rate low, wide; /* of the chosen precision; of 16 bits */
    int32_t is_fp8;
    double reduced_bytes; /* of a gradient that is reduced over the replicas */
    double product_start_s;
    double product_s_per_byte;   /* memory traffic of products */
    double s_per_byte;           /* of memory-bound operations */
    double attention_s_per_flop; /* causal FLOP, fused; all FLOP, unfused */

    int64_t domain; /* accelerators in a scale-up domain that a job uses */
    double bus_s_per_byte, bus_start_s;
    double nic_s_per_byte, hop_s; /* of one accelerator's share of the cards */

    double hidden, seq_length, vocab; /* padded to 128 a shard when priced */
    int32_t num_kinds;
    struct analytic_layer layers[KERF_KINDS_MAX];
    int32_t mtp_kind;
    double layers_of_kind[KERF_KINDS_MAX];
    struct parameters embedding, head, head_copy, mtp, mtp_products;
};

#endif
