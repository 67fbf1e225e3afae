/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one layout costs: the time of a step and the memory of an accelerator, each with its parts.
 *
 * A cost model is chosen by name. "reference" gives the numbers of the model of Subramanian et al.,
 * "Comprehensive Performance Modeling and System Design Insights for Foundation Models", arXiv 2410.00273,
 * as published in the repository ShashankSubramanian/transformer-perf-estimates, its oddities included
 * (docs/reference-model.md lists them).
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         const struct kerf_cost_model *model;
 *         struct kerf_error err;
 *         if (kerf_cost_model_find("analytik", &model, &err) == KERF_OK) return 1;
 *         puts(err.message);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     unknown cost model 'analytik'; there is analytic, reference
 */
#ifndef KERF_COST_H
#define KERF_COST_H

#include "kerf/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Strategies: families of layouts ------------------------------------------------------------------- */

KERF_API const char *kerf_strategy_name(enum kerf_strategy strategy); /* "1d", "summa", "seqp", "hybrid" */
KERF_API int32_t kerf_strategy_parse(const char *name, enum kerf_strategy *ret, struct kerf_error *err);

/** Whether the layout can carry the problem; says the first rule that it breaks and what would keep it. It need not fit
 * memory, and what its schedule asks of stages and micro-batches is for kerf_layout_estimate to say. Members of scale_up that are 0, which means that the fastest placement is to be found, are not looked at. */
KERF_API int32_t kerf_layout_check(const struct kerf_problem *problem, const struct kerf_layout *layout,
                                   struct kerf_error *err);

/** Appends the text that kerf_layout_parse reads as this layout: "dp=2,tp1=8,pp=64,micro_batch=2,scale_up.tp1=4",
 * "dp=16,tp=8,pp=4,vpp=2". What would be so without being named is left out. */
KERF_API void kerf_layout_text(struct kerf_text *out, const struct kerf_problem *problem,
                               const struct kerf_layout *layout);

/** The strategy that can have this layout: hybrid where it has a schedule, summa where it has summa_blocks, seqp where tp2
 * is more than 1, else 1d. */
KERF_API enum kerf_strategy kerf_layout_strategy(const struct kerf_layout *layout);

/* ---- Cost models --------------------------------------------------------------------------------------- */

struct kerf_cost_model; /* opaque; lives as long as the program */

/** The cost model of this name; KERF_EUNKNOWN names those there are. */
KERF_API int32_t kerf_cost_model_find(const char *name, const struct kerf_cost_model **ret_model,
                                      struct kerf_error *err);
KERF_API size_t kerf_cost_model_count(void);
KERF_API const char *kerf_cost_model_name(size_t index);
KERF_API const char *kerf_cost_model_summary(size_t index);

/** Whether the cost model prices layouts of this strategy: "reference" those of 1d, summa and seqp. */
KERF_API int32_t kerf_cost_model_has(const struct kerf_cost_model *cost_model, enum kerf_strategy strategy);

/** The one that prices layouts of this strategy where nobody names another: "analytic" those of hybrid. */
KERF_API const struct kerf_cost_model *kerf_cost_model_of(enum kerf_strategy strategy);

/** Appends what of the model this cost model does not price: "8 key-value heads, gated MLPs, ..."; nothing where it prices
 * everything. */
KERF_API void kerf_cost_model_gaps(const struct kerf_cost_model *cost_model, const struct kerf_model *model,
                                   struct kerf_text *out);

/* ---- Stacks -------------------------------------------------------------------------------------------- */

/**
 * What a framework costs beside the arithmetic and the messages that a layout asks for: constants of software, of the
 * cost model "analytic" alone. kerf_problem.stack names one; NULL is the default.
 */
#define KERF_STACK_DEFAULT "megatron-core"

/** The stack of this name in the catalogue, else of this file; as kerf_system_load. Given back with kerf_stack_free. */
KERF_API int32_t kerf_stack_load(const char *name_or_file, struct kerf_stack **ret_stack, struct kerf_error *err);
KERF_API struct kerf_stack *kerf_stack_free(struct kerf_stack *stack); /* always NULL */
KERF_API const char *kerf_stack_name(const struct kerf_stack *stack);  /* of NULL the default's */
KERF_API const char *kerf_stack_summary(const struct kerf_stack *stack);

/** Measured runs that say how far off predictions with this stack are, and the half width of ln(predicted / measured)
 * that holds 90 % of them, in the mean over systems and kinds of models; 0 and 0: none. */
KERF_API int32_t kerf_stack_runs(const struct kerf_stack *stack);
KERF_API double kerf_stack_half_width(const struct kerf_stack *stack);

/** The kerf_problem.memory_share with which no layout is taken that runs out of memory with a chance above p, in (0, 1). */
KERF_API double kerf_memory_share(double p);

/* ---- Estimates ----------------------------------------------------------------------------------------- */

/** A named share of a whole: "compute", "weights". The names are keys of the JSON. */
struct kerf_part {
    const char *name; /* lives as long as the program */
    double value;
};

#define KERF_PARTS_MAX 16

struct kerf_parts {
    struct kerf_part of[KERF_PARTS_MAX];
    int32_t count;
};

/**
 * What a layout costs. Which parts there are is the cost model's choice; those of the reference:
 *
 *   time_s   compute (arithmetic, launch latency included), memory (traffic that arithmetic does not hide), tp_comm,
 *            dp_comm and pp_comm (tensor-parallel, data-parallel and stage-to-stage communication that nothing hides),
 *            bubble (waiting for the pipeline to fill and drain); they sum to the step, but for recomputed attention
 *            (docs/reference-model.md, 20)
 *   memory   weights, gradients, optimizer, activations
 */
struct kerf_estimate {
    struct kerf_layout layout;
    double throughput;        /* samples/s */
    double step_time_s;       /* one optimizer step over the global batch */
    double memory_bytes;      /* of the fullest accelerator: the sum of memory */
    double flops_per_gpu;     /* FLOP of one step on one accelerator */
    struct kerf_parts time_s; /* seconds of the step on one accelerator */
    struct kerf_parts memory; /* bytes */
    int32_t fits;             /* 1: memory_bytes is at most the system's capacity */
    /* Of the cost model "analytic" alone, else 0 and NULL: */
    double step_low_s, step_high_s; /* 90 % of runs like this one, by how far measured runs were from predictions */
    double p_oom;                   /* the chance that it runs out of memory */
    int32_t comparable_runs;        /* measured runs that the interval rests on; 0: nothing like it was measured */
    double pipeline_s;              /* the makespan of the pipeline */
    double model_flops;             /* FLOP of one step, all accelerators together; nothing is counted twice */
    double mfu;                   /* model_flops over what all accelerators could do in step_time_s at the dense peak */
    double parameters_per_device; /* of the most loaded accelerator */
    const struct kerf_pipeline *pipeline; /* what was simulated; layout.stage_layers lives in it */
};

/** Gives back the pipeline of an estimate that kerf_layout_estimate filled in; one in a kerf_plan is the plan's. */
KERF_API void kerf_estimate_release(struct kerf_estimate *estimate);

/** The pipeline of a step, by virtual stage in the order in which a micro-batch goes through them. */
struct kerf_pipeline {
    char schedule[KERF_SCHEDULE_NAME_SIZE]; /* a rule of kerf/schedule.h */
    int32_t devices, chunks, microbatches;
    int32_t num_stages;          /* devices * chunks */
    const int32_t *stage_layers; /* [num_stages] each, of one micro-batch: */
    const double *forward_s, *backward_input_s, *backward_weight_s;
    const double *activation_bytes;
    double p2p_s; /* latency between two devices */
    double makespan_s;
    double bound_s; /* no order within the same memory takes less; 0: not known, as the schedule is not searched for */
};

/** How much longer the order of the pipeline takes at most than the shortest one within the same memory, as a share of
 * that; 0: none is shorter. Below 0: not known, as the schedule is not searched for, or without a pipeline. */
KERF_API double kerf_estimate_gap(const struct kerf_estimate *estimate);

/** The value of the part of this name, 0 when there is none. */
KERF_API double kerf_part_value(const struct kerf_parts *parts, const char *name);

enum kerf_module { KERF_MODULE_MLP, KERF_MODULE_SA, KERF_MODULE_COUNT };

/** One operation of a transformer layer, for one micro-batch on one accelerator. */
struct kerf_layer {
    const char *name;        /* "fc1", "qkv", ...; lives as long as the program */
    enum kerf_module module; /* the multi-layer perceptron or self-attention */
    double flops_fwd, flops_bwd;
    double weights_bytes, activation_bytes;
    double t_fwd_s, t_bwd_s; /* each is its three parts, but for recomputed attention: docs/reference-model.md */
    double t_fwd_comp_s, t_fwd_mem_s, t_fwd_comm_s; /* mem: what arithmetic does not hide */
    double t_bwd_comp_s, t_bwd_mem_s, t_bwd_comm_s;
};

#define KERF_LAYERS_MAX 20 /* operations in a transformer layer, at most */

/** Tokens a second on one accelerator. */
KERF_API double kerf_estimate_tokens_per_s(const struct kerf_problem *problem, const struct kerf_estimate *estimate);

/** A run over problem->training_tokens: 86400 s are a day; 0 where it is not asked. */
KERF_API double kerf_estimate_days(const struct kerf_problem *problem, const struct kerf_estimate *estimate);
KERF_API double kerf_estimate_price(const struct kerf_problem *problem, const struct kerf_estimate *estimate);

/** Writes the members of a plan object ("throughput", "step_time_s", ..., "flops_per_gpu") into the object
 * that is open; rank 0 leaves "rank" out. */
KERF_API void kerf_estimate_json(struct kerf_json *json, const struct kerf_problem *problem,
                                 const struct kerf_estimate *estimate, int32_t rank);

/** Writes "key":{"schedule":...,"forward":[...],...}, which kerf_schedule_times_make understands too. */
KERF_API void kerf_pipeline_json(struct kerf_json *json, const char *key, const struct kerf_pipeline *pipeline);

/** Writes "layers":{"mlp":[...],"sa":[...]} into the object that is open. */
KERF_API void kerf_layers_json(struct kerf_json *json, const struct kerf_layer *layers, int32_t count);

/* ---- Sizes of a model ---------------------------------------------------------------------------------- */

#define KERF_SIZES_MAX 12

/** One size of a model at a shard: what its shape costs, and the nearest one that is faster. */
struct kerf_size {
    /* a key of config.json: "head_dim", "hidden_size", "vocab_size", ...; lives as long as the program */
    const char *name;
    int64_t value;
    double of_shard; /* how much of it one accelerator has; a fraction where it does not divide */
    double rows;     /* of experts: tokens that each of them has on average; else 0 */
    double cost_s;   /* what a micro-batch takes beyond what sizes of better shape let expect: alignment, padding; of
                        experts what is lost because each has few tokens */
    int64_t better;  /* the nearest value that is faster; 0: none, or nothing to gain */
    double saved_s;  /* by it, of a micro-batch */
};

struct kerf_advice {
    double micro_batch_s; /* one micro-batch, forward and backward, through all layers, embedding and head */
    double tokens;        /* of a micro-batch */
    struct kerf_size sizes[KERF_SIZES_MAX];
    int32_t num_sizes;
};

/**
 * What the sizes of the problem's model cost where a layout's tp, cp, ep, etp and micro_batch shard them, by the cost
 * model "analytic". Strategy, gpus and the global batch are not looked at. KERF_EINVALID where one of them or the sequence
 * length is not 1 .. 2^30, where the system does not compute in the precision, and where the shards do not divide the heads
 * or the experts.
 */
KERF_API int32_t kerf_model_advise(const struct kerf_problem *problem, const struct kerf_layout *layout,
                                   struct kerf_advice *ret_advice, struct kerf_error *err);

/** Writes "key":{"micro_batch_s":...,"tokens":...,"sizes":[{"name":"head_dim","value":128,...},...]}. */
KERF_API void kerf_advice_json(struct kerf_json *json, const char *key, const struct kerf_advice *advice);

/* ---- Requests ------------------------------------------------------------------------------------------ */

/** One line of `kerf estimate --lines`. */
struct kerf_request {
    struct kerf_problem problem;
    struct kerf_layout layout;
    char cost_model[KERF_NAME_SIZE]; /* "" when the request does not say */
    int32_t layers;                  /* 1: the answer holds the table per layer */
};

/**
 * Reads {"model":NAME|FILE|{...},"system":NAME|FILE|{...},"scale_up_size":4,"strategy":"1d","gpus":1024,
 * "global_batch":4096,"seq_length":2048,"attention":"fused","layout":{...},"cost_model":"reference",
 * "layers":true}. model, system, global_batch and layout must be there. Where strategy is left out, it is 1d for a layout
 * with tp1, tp2, summa_blocks or scale_up and hybrid for one with tp, cp and the like; where the layout has none of
 * either, the cost model decides: the request's, else unnamed, else (NULL) it is hybrid. attention is fused,
 * scale_up_size the system's, seq_length the model's and gpus the layout's product when they are left out. Hybrid layouts
 * alone take "precision" (bf16), "gradients" (fp32) and "mtp_layers" (0). source names the text in errors. The layout is given back with
 * kerf_layout_release.
 */
KERF_API int32_t kerf_request_parse(const char *json, size_t length, const char *source,
                                    const struct kerf_cost_model *unnamed, struct kerf_request *ret_request,
                                    struct kerf_error *err);

#ifdef __cplusplus
}
#endif
#endif
