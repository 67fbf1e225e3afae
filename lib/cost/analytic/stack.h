/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A software stack: what a framework costs beside the arithmetic and the messages that the layout asks for. Constants
 * of a stack hold for any model, layout and device; docs/cost-model.md says where each is from.
 */
#ifndef KERF_COST_ANALYTIC_STACK_H
#define KERF_COST_ANALYTIC_STACK_H

#include "kerf/cost.h"

/* X(name): one line for each constant; files, fits and tables go by it. */
#define ANALYTIC_STACK_CONSTANTS(X)                                                                                    \
    /* Memory-bound operations, in passes: one reads or writes every element once, 2 bytes each. */                    \
    X(hidden_passes)  /* of tokens x hidden size, a layer's forward pass: norms, residuals */                          \
    X(wide_passes)    /* of tokens x (queries, keys, values and the MLP's inner features): rotary, activation */       \
    X(fp8_passes)     /* more hidden_passes where products are in 8 bits: casts, transposes */                         \
    X(backward_ratio) /* backward to forward */                                                                        \
    X(permute_passes) /* of routed tokens x hidden size: permuting, routing */                                         \
    X(router_passes)  /* of tokens x experts, 4 bytes */                                                               \
    /* The host */                                                                                                     \
    X(layer_host_s)   /* seconds to launch what one layer's forward pass runs */                                       \
    X(moe_host_ratio) /* of a layer with experts, to a dense one */                                                    \
    X(tp_host_ratio)  /* of any layer with tp, and with tp of 8 and more: */                                           \
    X(tp8_host_ratio)                                                                                                  \
    X(backward_host_ratio) /* backward to forward */                                                                   \
    X(stage_host_s)        /* a micro-batch, forward and backward, of each virtual stage */                            \
    X(step_host_s)         /* a step */                                                                                \
    /* Shares of a collective that nothing hides; above 1: slower than the library's own benchmark. */                 \
    X(tp_exposed)                                                                                                      \
    X(ep_exposed)                                                                                                      \
    X(dp_exposed)                                                                                                      \
    X(pp_exposed)                                                                                                      \
    X(sends_whole)   /* 1: each tp rank sends the whole activation to the next stage, not a tp-th; 0 */                \
    X(zero_tax)      /* of per-micro-batch ZeRO messages, what they slow the rest down even where they hide */         \
    X(zero_power)    /* p of (work^p + messages^p)^(1/p) */                                                            \
    X(reduced_bytes) /* sent a parameter's gradient; 0: as the gradients' precision says */                            \
    X(broadcast_s)   /* a step, for each replica and layer of a device: parameters that every rank sends in turn */    \
    X(straggling)    /* how much longer a step takes, for each doubling of the accelerators beyond 8 */                \
    X(grouped_efficiency)  /* of a grouped product, to one product of all its rows */                                  \
    X(grouped_rows)        /* rows an expert at which a grouped product reaches half of that */                        \
    X(imbalance)           /* tokens of the busiest expert-parallel rank, to the mean */                               \
    X(recompute_ratio)     /* a recomputed forward pass to the first one: nothing is kept */                           \
    X(optimizer_bytes)     /* read and written a parameter of the optimizer's shard */                                 \
    X(score_traffic_bytes) /* read and written a score of attention that is not fused, forward */                      \
    X(loss_bytes)          /* read and written a logit, forward and backward */                                        \
    X(site_network) /* of runs that it was fitted on: their network, to the system file's; of no other question */     \
    /* Memory */                                                                                                       \
    X(hidden_bytes)         /* kept a token and feature of the hidden size, a layer */                                 \
    X(gated_bytes)          /* kept a token and inner feature of a gated MLP */                                        \
    X(plain_bytes)          /* the same of one with two matrices */                                                    \
    X(scores_bytes)         /* kept a score of attention that is not fused */                                          \
    X(expert_bytes)         /* kept a routed token and inner feature of an expert */                                   \
    X(permuted_bytes)       /* kept a routed token and hidden feature */                                               \
    X(logit_bytes)          /* kept a logit of the tensor-parallel shard */                                            \
    X(gathered_logit_bytes) /* kept a logit that every tensor-parallel rank has; 0: they are not gathered */           \
    X(gradient_bytes) /* kept a parameter, beside its weight and optimizer; 0: as the gradients' precision says */     \
    X(bf16_gradient_bytes) /* the same with bf16; 0: no other */                                                       \
    X(unsharded_bytes)     /* kept a parameter with zero 3 in a pipeline: weights and gradients stay gathered */       \
    X(fragmentation)       /* what the allocator takes, to what is asked of it */                                      \
    X(working_ratio)       /* memory of a layer that is recomputed, to what it would keep */                           \
    X(runtime_bytes)       /* context, kernels, workspaces */                                                          \
    X(group_bytes)         /* buffers of one communicator */

/* How far runs of this stack were from their predictions: 90 % of them by at most this factor, e^half_width. */
struct stack_spread {
    char system[KERF_NAME_SIZE];
    int8_t has_experts;
    int32_t rows;
    double half_width;
};

enum { STACK_SPREADS_MAX = 24 };

struct kerf_stack {
    char name[KERF_NAME_SIZE], summary[128];
#define STACK_MEMBER(name) double name;
    ANALYTIC_STACK_CONSTANTS(STACK_MEMBER)
#undef STACK_MEMBER
    int8_t lacks_sequence_parallel; /* of one run: what lies between the blocks is not divided over tp */
    int32_t num_spreads;
    struct stack_spread spreads[STACK_SPREADS_MAX];
};

/* The default, the newest Megatron-Core, as it comes with the library. 0 when memory ran out. */
int stack_default(struct kerf_stack *ret_stack);

/* From the text of a file; source names it in errors. */
int32_t stack_parse(const char *json, size_t length, const char *source, struct kerf_stack *ret_stack,
                    struct kerf_error *err);

/* What an object says takes the place of what the stack has; of a stack without a name every constant must be there. name is
 * its name when the object has none. */
struct json_object;
int32_t stack_from_object(const struct json_object *object, const char *name, struct kerf_stack *stack,
                          struct kerf_error *err);

/* A constant by its name; NULL: there is none. */
double *stack_constant(struct kerf_stack *stack, const char *name);

/* Whether its gradients take and send what was fitted, so that their precision changes nothing. */
int stack_has_own_gradients(const struct kerf_stack *stack);

/* The chance that a run dies for which so many bytes are predicted. It dies where it needs more than OOM_USABLE of the
 * capacity, or a little less or more: a logistic of ln(bytes / that). */
#define OOM_USABLE 0.97
#define OOM_SLOPE  (1.7 / 0.10)
double stack_p_oom(double memory_bytes, double capacity_bytes);

/* The widest spread that answers for a run, as a half width of ln; *ret_rows: of how many runs, 0: nothing like it was
 * measured. */
double stack_half_width(const struct kerf_stack *stack, const char *system, int has_experts, int32_t *ret_rows);

#endif
