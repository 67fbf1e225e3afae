/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one layout costs: the time of a step and the memory of an accelerator, each with its parts.
 *
 * A cost model is chosen by name. "reference" gives the numbers of the model of Subramanian et al.,
 * "Comprehensive Performance Modeling and System Design Insights for Foundation Models", arXiv 2410.00273,
 * as published in the repository ShashankSubramanian/transformer-perf-estimates, its oddities included
 * (docs/reference-model.md lists them).
 */
#ifndef KERF_COST_H
#define KERF_COST_H

#include "kerf/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Strategies: families of layouts ------------------------------------------------------------------- */

KERF_API const char *kerf_strategy_name(enum kerf_strategy strategy); /* "1d", "summa", "seqp" */
KERF_API int32_t kerf_strategy_parse(const char *name, enum kerf_strategy *ret, struct kerf_error *err);

/** Whether the layout can carry the problem; says the first rule that it breaks and what would keep it. It need not fit
 * memory. Members of scale_up that are 0, which means that the fastest placement is to be found, are not looked at. */
KERF_API int32_t kerf_layout_check(const struct kerf_problem *problem, const struct kerf_layout *layout,
                                   struct kerf_error *err);

/** Appends the text that kerf_layout_parse reads as this layout: "dp=2,tp1=8,pp=64,micro_batch=2,scale_up.tp1=4". What
 * would be so without being named is left out. */
KERF_API void kerf_layout_text(struct kerf_text *out, const struct kerf_problem *problem,
                               const struct kerf_layout *layout);

/** The strategy that can have this layout: summa where it has summa_blocks, seqp where tp2 is more than 1, else 1d. */
KERF_API enum kerf_strategy kerf_layout_strategy(const struct kerf_layout *layout);

/* ---- Cost models --------------------------------------------------------------------------------------- */

struct kerf_cost_model; /* opaque; lives as long as the program */

/** The cost model of this name; KERF_EUNKNOWN names those there are. */
KERF_API int32_t kerf_cost_model_find(const char *name, const struct kerf_cost_model **ret_model,
                                      struct kerf_error *err);
KERF_API size_t kerf_cost_model_count(void);
KERF_API const char *kerf_cost_model_name(size_t index);
KERF_API const char *kerf_cost_model_summary(size_t index);

/** Appends what of the model this cost model does not price: "8 key-value heads, gated MLPs, ..."; nothing where it prices
 * everything. */
KERF_API void kerf_cost_model_gaps(const struct kerf_cost_model *cost_model, const struct kerf_model *model,
                                   struct kerf_text *out);

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
};

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

/** Writes the members of a plan object ("throughput", "step_time_s", ..., "flops_per_gpu") into the object
 * that is open; rank 0 leaves "rank" out. */
KERF_API void kerf_estimate_json(struct kerf_json *json, const struct kerf_estimate *estimate, int32_t rank);

/** Writes "layers":{"mlp":[...],"sa":[...]} into the object that is open. */
KERF_API void kerf_layers_json(struct kerf_json *json, const struct kerf_layer *layers, int32_t count);

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
 * "layers":true}. model, system, global_batch and layout must be there. strategy is 1d, attention fused,
 * scale_up_size the system's, seq_length the model's and gpus the layout's product when they are left out.
 * source names the text in errors.
 */
KERF_API int32_t kerf_request_parse(const char *json, size_t length, const char *source,
                                    struct kerf_request *ret_request, struct kerf_error *err);

#ifdef __cplusplus
}
#endif
#endif
