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

struct kerf_cost_model; /* opaque; lives as long as the program */

/** The cost model of this name; KERF_EUNKNOWN names those there are. */
KERF_API int32_t kerf_cost_model_find(const char *name, const struct kerf_cost_model **ret_model,
                                      struct kerf_error *err);
KERF_API size_t kerf_cost_model_count(void);
KERF_API const char *kerf_cost_model_name(size_t index);
KERF_API const char *kerf_cost_model_summary(size_t index);

/** Where the time of a step goes, on one accelerator; the parts sum to the step, but for recomputed attention
 * (docs/reference-model.md, 20). Seconds. */
struct kerf_time_parts {
    double compute; /* arithmetic, launch latency included */
    double memory;  /* memory traffic that arithmetic does not hide */
    double tp_comm; /* tensor-parallel communication that is not hidden */
    double dp_comm; /* data-parallel communication that is not hidden */
    double pp_comm; /* stage to stage */
    double bubble;  /* waiting for the pipeline to fill and drain */
};

/** What fills the memory of the fullest accelerator. Bytes. */
struct kerf_memory_parts {
    double weights, gradients, optimizer, activations;
};

struct kerf_estimate {
    struct kerf_layout layout;
    double throughput;   /* samples/s */
    double step_time_s;  /* one optimizer step over the global batch */
    double memory_bytes; /* the sum of memory */
    int32_t fits;        /* 1: memory_bytes is at most the system's capacity */
    struct kerf_time_parts time_s;
    struct kerf_memory_parts memory;
    double flops_per_gpu; /* FLOP of one step on one accelerator */
};

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

/** What the layout costs. KERF_EINVALID when it cannot carry the problem (kerf_layout_check). */
KERF_API int32_t kerf_layout_estimate(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                                      const struct kerf_layout *layout, struct kerf_estimate *ret_estimate,
                                      struct kerf_error *err);

/** The same by operation: fills layers and *ret_count. */
KERF_API int32_t kerf_layout_estimate_layers(const struct kerf_cost_model *cost_model,
                                             const struct kerf_problem *problem, const struct kerf_layout *layout,
                                             struct kerf_layer layers[KERF_LAYERS_MAX], int32_t *ret_count,
                                             struct kerf_error *err);

/** Writes the members of a plan object ("throughput", "step_time_s", ..., "flops_per_gpu") into the object
 * that is open; rank 0 leaves "rank" out. */
KERF_API void kerf_estimate_json(struct kerf_json *json, const struct kerf_estimate *estimate, int32_t rank);

/** Writes "layers":{"mlp":[...],"sa":[...]} into the object that is open. */
KERF_API void kerf_layers_json(struct kerf_json *json, const struct kerf_layer *layers, int32_t count);

#ifdef __cplusplus
}
#endif
#endif
