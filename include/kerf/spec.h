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
    double bf16_flops_per_s;   /* dense peak at bfloat16, which a file need not give where it is matrix_flops_per_s; */
    double fp8_flops_per_s;    /* at 8 bits; 0: there are no such units, or it is not known */
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
    uint32_t overridden; /* which fields kerf_problem_set has changed since */
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

KERF_API const char *kerf_attention_name(enum kerf_attention attention); /* "fused", ... */
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
        int64_t tp1, tp2, dp, pp; /* neighbours of each kind in one scale-up domain; the product is at most its size.
                                     0: the fastest that goes with the others */
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

/**
 * Reads "dp=2,tp1=8,pp=64,micro_batch=1,scale_up.tp1=4". What is not named is 1, summa_blocks 0. Members of scale_up that
 * are not named are 0: kerf_layout_estimate then takes the fastest placement that agrees with those named.
 */
KERF_API int32_t kerf_layout_parse(const char *text, struct kerf_layout *ret_layout, struct kerf_error *err);

/** A total order of layouts, the last tie-break of every ranking: below, equal to or above 0. */
KERF_API int32_t kerf_layout_compare(const struct kerf_layout *a, const struct kerf_layout *b);

/** Writes "key":{"dp":...,"scale_up":{...}} into the object that is open. */
KERF_API void kerf_layout_json(struct kerf_json *json, const char *key, const struct kerf_layout *layout);

/** Writes "key":{"memory_capacity_bytes":2e11,...}: the fields that kerf_problem_set has changed, into the object that is
 * open. */
KERF_API void kerf_problem_set_json(struct kerf_json *json, const char *key, const struct kerf_model *model,
                                    const struct kerf_system *system);

/** Appends the same for people, rounded and with units: "memory_capacity_bytes 200 GB, num_hidden_layers 48". Nothing where
 * nothing was changed. */
KERF_API void kerf_problem_set_text(struct kerf_text *out, const struct kerf_model *model,
                                    const struct kerf_system *system);

/* ---- The catalogue ------------------------------------------------------------------------------------ */

/** A model or system that has a name: the text of a file in share/. */
struct kerf_catalogue_entry {
    const char *name;
    const char *json;
    size_t length;
};

struct kerf_catalogue {
    const struct kerf_catalogue_entry *entries;
    size_t count;
};

/** All "models" or "systems": those in the library, in the order of share/, then NAME.json, of other names, in models/ or
 * systems/ of $KERF_CATALOGUE, of $XDG_DATA_HOME/kerf (without the variable ~/.local/share/kerf) and of $KERF_DATA_DIR
 * (without the variable PREFIX/share/kerf). Given back with kerf_catalogue_free. */
KERF_API int32_t kerf_catalogue_list(const char *kind, struct kerf_catalogue **ret_catalogue, struct kerf_error *err);
KERF_API struct kerf_catalogue *kerf_catalogue_free(struct kerf_catalogue *catalogue); /* always NULL */

#ifdef __cplusplus
}
#endif
#endif
