/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user describes: the model, the system (the hardware), the workload, and a layout (how the model is
 * laid over the devices). Everything is in SI units: bytes, seconds, FLOP/s, bytes/s.
 *
 * The structs are plain values: copy them freely, nothing needs to be given back.
 */
#ifndef KERF_SPEC_H
#define KERF_SPEC_H

#include "kerf/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One kind of machine: accelerators with a fast domain (NVLink) inside a slow network (InfiniBand). */
struct kerf_system {
    char name[KERF_NAME_SIZE];
    double matrix_flops_per_s; /* peak of the matrix units at 16 bits, above 0 */
    double vector_flops_per_s; /* peak of the vector units at 16 bits, above 0 */
    double memory_bandwidth_bytes_per_s;
    double memory_capacity_bytes;
    struct {
        int64_t size;                 /* accelerators in a domain, 1 .. 2^20 */
        double bandwidth_bytes_per_s; /* of one accelerator, one direction */
        double efficiency;            /* share of the bandwidth that collectives reach, in (0, 1] */
        double latency_s;             /* of one hop, 0 or above */
    } scale_up;
    struct {
        double bandwidth_bytes_per_s; /* of one network card */
        double efficiency;
        double latency_s;
        double nics_per_device; /* network cards per accelerator, may be a fraction; above 0 */
    } scale_out;
};

/** How tensors are split inside a stage. */
enum kerf_strategy {
    KERF_STRATEGY_1D,    /* tensor parallel in one dimension, with sequence parallelism of the norms */
    KERF_STRATEGY_SUMMA, /* tensor parallel in two dimensions, broadcasting blocks (SUMMA) */
    KERF_STRATEGY_SEQP,  /* tensor parallel x context (sequence) parallel */
    KERF_STRATEGY_COUNT
};

/** How attention is computed. */
enum kerf_attention {
    KERF_ATTENTION_FUSED,      /* one kernel that never writes the l x l matrix (flash attention) */
    KERF_ATTENTION_UNFUSED,    /* logits, softmax, dropout, attend; the matrix is kept for the backward pass */
    KERF_ATTENTION_RECOMPUTED, /* unfused, the matrix computed again in the backward pass; 1d alone */
    KERF_ATTENTION_SUMMA,      /* unfused, logits and attend as SUMMA products; summa alone */
    KERF_ATTENTION_COUNT
};

KERF_API const char *kerf_strategy_name(enum kerf_strategy strategy);    /* "1d", "summa", "seqp" */
KERF_API const char *kerf_attention_name(enum kerf_attention attention); /* "fused", ... */
KERF_API int32_t kerf_strategy_parse(const char *name, enum kerf_strategy *ret, struct kerf_error *err);
KERF_API int32_t kerf_attention_parse(const char *name, enum kerf_attention *ret, struct kerf_error *err);

/** How a model is laid over dp * tp1 * tp2 * pp accelerators. */
struct kerf_layout {
    int64_t dp;           /* replicas, each with its share of the global batch */
    int64_t tp1;          /* tensor parallel over heads and features */
    int64_t tp2;          /* summa: over rows; seqp: over the sequence; 1d: 1 */
    int64_t pp;           /* pipeline stages, equal numbers of layers each */
    int64_t micro_batch;  /* samples that go through the pipeline together */
    int64_t summa_blocks; /* blocks of a SUMMA product; 0 for 1d and seqp */
    struct {
        int64_t tp1, tp2, dp, pp; /* neighbours of each kind in one scale-up domain; the product is at most its size */
    } scale_up;
};

/** A whole question: which model, on what, with how much work. */
struct kerf_problem {
    struct kerf_model model;
    struct kerf_system system;
    enum kerf_strategy strategy;
    enum kerf_attention attention;
    int64_t gpus;         /* accelerators, 1 .. 2^30 */
    int64_t global_batch; /* samples a step, 1 .. 2^30 */
    int64_t seq_length;   /* tokens a sample, 1 .. 2^30 */
};

/* ---- Reading ------------------------------------------------------------------------------------------ */

/** The system of this name in the catalogue, else of this file; as kerf_model_load. */
KERF_API int32_t kerf_system_load(const char *name_or_file, struct kerf_system *ret_system, struct kerf_error *err);

/** The same from text; source names the text in errors and, without its folder and .json, the system. */
KERF_API int32_t kerf_system_parse(const char *json, size_t length, const char *source, struct kerf_system *ret_system,
                                   struct kerf_error *err);

/**
 * Changes fields by their keys, such as "scale_up.bandwidth_bytes_per_s=450 GB/s" or, between commas, several:
 * "hidden_size=5120,num_attention_heads=40". Together they obey the same rules as a file; after an error model
 * and system are as they were.
 */
KERF_API int32_t kerf_problem_set(struct kerf_model *model, struct kerf_system *system, const char *assignments,
                                  struct kerf_error *err);

/** Reads "dp=2,tp1=8,pp=64,micro_batch=1,scale_up.tp1=4". What is not named is 1 (summa_blocks: 0). */
KERF_API int32_t kerf_layout_parse(const char *text, struct kerf_layout *ret_layout, struct kerf_error *err);

/** Whether the layout can carry the problem; says the first rule that it breaks. It need not fit memory. */
KERF_API int32_t kerf_layout_check(const struct kerf_problem *problem, const struct kerf_layout *layout,
                                   struct kerf_error *err);

/** A total order of layouts, the last tie-break of every ranking: below, equal to or above 0. */
KERF_API int32_t kerf_layout_compare(const struct kerf_layout *a, const struct kerf_layout *b);

/* ---- The catalogue ------------------------------------------------------------------------------------ */

/** One of the models or systems that come with kerf: the text of a file in share/. */
struct kerf_catalogue_entry {
    const char *name;
    const char *json;
    size_t length;
};

/** The entries, sorted as they are listed; their number in *ret_count. They live as long as the program. */
KERF_API const struct kerf_catalogue_entry *kerf_catalogue_models(size_t *ret_count);
KERF_API const struct kerf_catalogue_entry *kerf_catalogue_systems(size_t *ret_count);

/* ---- Requests ----------------------------------------------------------------------------------------- */

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

/** Writes a layout with the keys above. */
KERF_API void kerf_layout_json(struct kerf_json *json, const char *key, const struct kerf_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
