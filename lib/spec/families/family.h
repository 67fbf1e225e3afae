/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A family is one row: what its layers are made of, and which keys of its config.json say so. Zeros are Llama: RMSNorm,
 * a gated MLP, no biases, heads of hidden_size / num_attention_heads features, an untied head. What a row cannot say, its
 * `adjust` does. Defaults are those of the family's configuration class in transformers, because a file leaves out what
 * equals them.
 *
 * To add a family, add its row to the file of the families that it is like.
 */
#ifndef KERF_SPEC_FAMILY_H
#define KERF_SPEC_FAMILY_H

#include "spec/families/config.h"

/* Something that a layer has or has not: as the key says where the file has it, else as the fallback. */
struct family_flag {
    const char *key; /* NULL: no key says */
    int32_t fallback;
};

#define ALWAYS                                                                                                         \
    { NULL, 1 }
#define SAID_BY(key, fallback)                                                                                         \
    { key, fallback }

/* Which layers see the nearest tokens alone, sliding_window of them; "layer_types" of a file overrules it. */
enum family_window {
    WINDOW_NONE,    /* no layer */
    WINDOW_ALL,     /* every layer */
    WINDOW_PATTERN, /* all but the last of every `period` layers */
    WINDOW_UPPER    /* layers from max_window_layers on, where use_sliding_window is true */
};

/* Whether a file without the number of experts is a dense model or lacks what it needs. */
enum family_presence { EXPERTS_NONE, EXPERTS_OPTIONAL, EXPERTS_REQUIRED };

/* How a mixture of experts is described, beside num_experts and num_experts_per_tok. */
struct family_experts {
    enum family_presence are;
    const char *width;             /* of one expert; NULL: intermediate_size */
    const char *shared_count;      /* shared experts, each as wide as a routed one */
    const char *shared_width;      /* or their width altogether */
    int64_t shared;                /* of either, where the file does not say */
    const char *dense_first;       /* layers before the first mixture */
    int64_t dense;                 /* likewise */
    const char *every;             /* one layer in so many is a mixture */
    int32_t is_last;               /* it is the last of them, not the first */
    struct family_flag score_bias; /* a correction of the router's scores */
    int32_t output_bias;           /* the router is a linear layer with bias */
    int32_t bias;                  /* so are the experts */
    int32_t shared_gate;
};

/* Multi-latent attention: ranks and features of a head, where the file does not say them. */
struct family_latent {
    int64_t q_rank, kv_rank; /* kv_rank 0: attention is not latent */
    int64_t nope_size, rope_size;
    int64_t v_size; /* 0: hidden_size / heads */
};

struct reading;

struct family {
    const char *types[10];        /* model_type; the first is the family's name */
    const char *architectures[6]; /* the first is told where the file has none */

    enum kerf_norm norm;
    int32_t norms;       /* of a layer; 0: two */
    int32_t is_plain;    /* an MLP of two matrices */
    int32_t is_parallel; /* attention beside the MLP */
    int32_t is_wide;     /* an MLP of 4 hidden_size where the file does not say */

    struct family_flag qkv_bias, output_bias, mlp_bias, head_bias;
    int32_t is_tied;       /* where the file does not say */
    int32_t has_positions; /* learned ones, max_position_embeddings of them */
    int32_t embedding_norm;

    struct family_flag qk_norm;
    enum kerf_qk_norm qk_norm_kind;
    int32_t qk_norm_bias;
    int64_t kv_heads;  /* where the file does not say; 0: as many as heads */
    int64_t head_size; /* likewise; 0: hidden_size / heads */

    enum family_window windows;
    int64_t window;      /* where the file does not say; 0: none */
    int64_t period;      /* of WINDOW_PATTERN, where the file does not say */
    int64_t window_from; /* of WINDOW_UPPER, likewise */

    struct family_experts experts;
    struct family_latent latent;
    const char *mtp_key; /* how many layers of multi-token prediction */
    struct {
        int64_t hidden_size, intermediate_size, layers, heads, kv_heads, vocabulary;
    } text; /* what a text_config may leave out */

    void (*adjust)(struct reading *reading);
};

/* A model while it is read: what all families have is filled in before `adjust`, which may change it. */
struct reading {
    struct config *config;
    const struct family *family;
    struct kerf_model *model;
    struct kerf_layer_kind layer; /* one layer with all that any layer has: a dense MLP and experts */
    int64_t dense_first;          /* layers before the first mixture */
    int64_t every, phase;         /* layer i is a mixture where i % every == phase */
    enum family_window windows;
    int64_t window, period, window_from; /* window_from: of WINDOW_UPPER */
    const json_t *windowed;              /* a number for each layer, 0 without a window; NULL: `windows` says it */
};

/* Reads the model that config describes as one of this family; config->code says whether it could. */
void family_read(const struct family *family, struct config *config, struct kerf_model *ret_model);

/* The families, each list ending with a row without types. */
extern const struct family llama_families[], gpt_families[], gemma_families[], mixture_families[], latent_families[];

/* The family of a file without model_type and architecture. */
extern const struct family plain_family;

/* The family of a model_type or, where that is NULL or unknown, of an architecture; NULL where kerf knows neither. */
const struct family *family_find(const char *type, const char *architecture);

/* The same of one name alone; NULL where it is NULL or unknown. */
const struct family *family_of_type(const char *type);
const struct family *family_of_architecture(const char *architecture);

/* What kerf lacks for this architecture, as "linear attention"; NULL where it is merely unknown. */
const char *family_lacking(const char *type, const char *architecture);

/* The nearest model_type that is known, NULL where none is near. */
const char *family_nearest(const char *type);

#endif
