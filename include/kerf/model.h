/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decoder as its authors published it, read from a Hugging Face config.json: what its layers are, how many parameters
 * it has, and how many FLOP a token takes. docs/models.md lists the families and says how each count is made.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         struct kerf_error err;
 *         struct kerf_model model;
 *         if (kerf_model_load("gpt3", &model, &err) != KERF_OK) return 1;
 *         printf("%.1f TFLOP a token\n", kerf_model_flops(&model, 2048, 0) / 1e12);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     0.4 TFLOP a token
 */
#ifndef KERF_MODEL_H
#define KERF_MODEL_H

#include "kerf/json.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KERF_COUNT_MAX    1073741824 /* accelerators, samples, tokens: at most 2^30 of each */
#define KERF_NAME_SIZE    64         /* bytes of a name with its final NUL; longer names are cut */
#define KERF_KINDS_MAX    4          /* kinds of layers in a model */
#define KERF_RUNS_MAX     128        /* runs of equal layers in a model */
#define KERF_IGNORED_SIZE 512        /* bytes of the list of ignored keys */

/** How the input of a block is normalised. */
enum kerf_norm {
    KERF_NORM_RMS,         /* RMSNorm: a weight for each feature */
    KERF_NORM_LAYER,       /* LayerNorm: a weight and a bias for each feature */
    KERF_NORM_LAYER_PLAIN, /* LayerNorm without bias */
    KERF_NORM_FIXED,       /* nothing learned */
    KERF_NORM_COUNT
};

/** Whether queries and keys are normalised before they meet. */
enum kerf_qk_norm {
    KERF_QK_NORM_NONE,
    KERF_QK_NORM_HEAD,  /* one weight vector of a head's size for all query heads, one for all key heads */
    KERF_QK_NORM_WHOLE, /* a weight for each feature of all heads */
    KERF_QK_NORM_COUNT
};

/**
 * One kind of layer: attention, then a multi-layer perceptron. Sizes are features; the hidden size is the model's.
 * Multi-latent attention (kv_rank above 0): queries go through q_rank features (0: straight from the hidden size), keys
 * and values through kv_rank ones, and rope_size features of each key are shared by all heads.
 */
struct kerf_layer_kind {
    struct {
        int64_t heads, kv_heads; /* 1 or more; kv_heads divides heads */
        int64_t qk_size, v_size; /* of one head: of its queries and keys, of its values */
        int64_t q_rank, kv_rank, rope_size;
        int64_t window;     /* a token sees this many tokens at most, itself included; 0: all before it */
        int32_t is_chunked; /* 1: the window is a block of the sequence, not the nearest tokens */
        int32_t qkv_bias, output_bias;
        int32_t qk_norm; /* enum kerf_qk_norm */
        int32_t qk_norm_bias;
        int32_t sinks; /* 1: one learned number a head joins the softmax */
    } attention;
    struct {
        int64_t width;        /* of the dense MLP; 0 where experts stand in its place */
        int64_t experts;      /* routed ones; 0: a dense layer */
        int64_t top_k;        /* experts that a token visits */
        int64_t expert_width; /* of one routed expert */
        int64_t shared_width; /* of all shared experts together; 0: none */
        int32_t is_gated;     /* three matrices (SwiGLU and the like) instead of two */
        int32_t bias, expert_bias;
        int32_t router_bias; /* numbers for each expert beside the router's weights: 0, 1 or 2 */
        int32_t shared_gate; /* 1: one output decides how much of the shared expert counts */
    } mlp;
    int32_t norms;       /* normalisations of hidden_size features */
    int32_t is_parallel; /* 1: attention and MLP read the same input and are added together */
};

/** Layers of one kind that follow each other. */
struct kerf_layer_run {
    int32_t count;
    int32_t kind; /* index into kinds */
};

/** What a config leaves open and kerf took for granted (bits of kerf_model.assumed). */
enum kerf_assumed {
    KERF_ASSUMED_FAMILY = 1,     /* no model_type: LayerNorm, biases, an MLP of two matrices, as in GPT-2 */
    KERF_ASSUMED_VOCABULARY = 2, /* the family's default, or none: neither embedding nor head is priced */
    KERF_ASSUMED_SIZES = 4,      /* sizes that a text_config leaves out are its family's defaults in transformers */
    KERF_ASSUMED_HEADS = 8,      /* so are sizes of heads, or key-value heads, that a file leaves out */
    KERF_ASSUMED_SHARED = 16,    /* so are the shared experts of a mixture */
    KERF_ASSUMED_DENSE = 32      /* so are the dense layers before the first mixture */
};

/**
 * A decoder. The first five sizes are all that the cost model "reference" looks at; a program that fills in no others
 * may use that one. kerf_model_parse and kerf_model_load fill in everything.
 */
struct kerf_model {
    char name[KERF_NAME_SIZE];       /* "name" of the file, else the file's own name without .json */
    int64_t hidden_size;             /* e, 1 .. 2^24 */
    int64_t intermediate_size;       /* f, 1 .. 2^26: the width of the dense MLP, else of an expert */
    int64_t num_hidden_layers;       /* 1 .. 2^20 */
    int64_t num_attention_heads;     /* h, 1 .. 2^20 */
    int64_t max_position_embeddings; /* the default sequence length, 1 .. 2^30; 0: not given */
    uint32_t overridden;             /* which fields kerf_problem_set has changed since */

    char family[KERF_NAME_SIZE];       /* "llama", "deepseek_v3", ...: the model_type that kerf read it as */
    char architecture[KERF_NAME_SIZE]; /* "LlamaForCausalLM" */
    int64_t vocab_size;                /* 0 .. 2^30; 0: the model has neither embedding nor head */
    int64_t embedding_size;            /* features of a token's embedding; projected where it is not hidden_size */
    int64_t position_rows;             /* learned position embeddings, each of hidden_size features; 0: none */
    int64_t mtp_layers;                /* multi-token prediction: layers like the last one, after it */
    int32_t norm;                      /* enum kerf_norm: of every normalisation of hidden_size features */
    int32_t is_tied;                   /* the head is the embedding */
    int32_t head_bias;                 /* the head has one bias a word */
    int32_t embedding_norm;            /* the embedding is normalised */
    int32_t final_norm;                /* the last layer's output is normalised */
    int32_t is_causal;                 /* a token sees those before it; 0: all */

    int32_t num_kinds, num_runs; /* 0 and 0 where a program gave the first five sizes alone */
    struct kerf_layer_kind kinds[KERF_KINDS_MAX];
    struct kerf_layer_run runs[KERF_RUNS_MAX]; /* in the order of the layers; neighbours are of different kinds */

    uint32_t assumed;                /* enum kerf_assumed, added up */
    int32_t num_ignored;             /* keys of the file that kerf does not know */
    char ignored[KERF_IGNORED_SIZE]; /* their names, each ended by a newline; the last ones are left out if too many */
};

/* ---- Reading ------------------------------------------------------------------------------------------ */

/**
 * The model of this name in the catalogue, else of this file ("-": standard input). Files hold at most 16 MiB. Errors
 * say file, line, column, what is wrong and what would be right: KERF_EIO for a file that cannot be read, KERF_EUNKNOWN
 * for a name that is neither and for an architecture that kerf cannot price, KERF_ESYNTAX or KERF_EINVALID for content.
 */
KERF_API int32_t kerf_model_load(const char *name_or_file, struct kerf_model *ret_model, struct kerf_error *err);

/** The same from text; source names the text in errors and, without its folder and .json, the model. */
KERF_API int32_t kerf_model_parse(const char *json, size_t length, const char *source, struct kerf_model *ret_model,
                                  struct kerf_error *err);

/**
 * Fills in the layers of a model whose first five sizes alone are given: those of GPT-2 without a vocabulary, and
 * assumed says so. Changes nothing where the layers are given.
 */
KERF_API void kerf_model_complete(struct kerf_model *model);

/* ---- Counting: of models whose layers are given ------------------------------------------------------- */

/** Where parameters are. */
enum kerf_component {
    KERF_COMPONENT_ATTENTION,
    KERF_COMPONENT_MLP,     /* dense layers and shared experts */
    KERF_COMPONENT_EXPERTS, /* routed experts */
    KERF_COMPONENT_ROUTER,  /* with its biases and the shared expert's gate */
    KERF_COMPONENT_NORMS,   /* of hidden_size features, the final one too */
    KERF_COMPONENT_EMBEDDING,
    KERF_COMPONENT_POSITIONS, /* learned positions */
    KERF_COMPONENT_HEAD,      /* 0 where it is tied, but for its bias */
    KERF_COMPONENT_COUNT
};

KERF_API const char *kerf_component_name(enum kerf_component component); /* "attention", "mlp", ... */

/** Parameters of the text decoder. A tied head counts once; multi-token prediction counts in mtp_parameters alone. */
struct kerf_model_counts {
    int64_t parameters;           /* the sum of components */
    int64_t active_parameters;    /* less the experts that a token does not visit; the whole embedding is in */
    int64_t embedding_parameters; /* the token table, and the head with its bias where it is not tied */
    int64_t mtp_parameters;       /* of mtp_layers; embedding and head are shared with the model */
    int64_t components[KERF_COMPONENT_COUNT];
};

KERF_API void kerf_model_count(const struct kerf_model *model, struct kerf_model_counts *ret_counts);

/**
 * FLOP of the forward pass of one token in a sequence of seq_length, in Megatron-LM's convention: matrix products
 * alone, causal attention counts half, windows count as whole, embedding and router nothing, the low-rank norms of
 * multi-latent attention one multiplication and addition a feature. A step takes three times as many. mtp_layers of
 * multi-token prediction are added, each with its own pass through the head.
 */
KERF_API double kerf_model_flops(const struct kerf_model *model, int64_t seq_length, int64_t mtp_layers);

/* ---- Telling ------------------------------------------------------------------------------------------ */

/** "mha", "gqa", "mqa" or "mla". */
KERF_API const char *kerf_attention_kind(const struct kerf_layer_kind *kind);

/** Writes {"name":...,"parameters":...,"layers":[...],...}, what `kerf models NAME --format json` prints. */
KERF_API void kerf_model_json(struct kerf_json *json, const char *key, const struct kerf_model *model,
                              int64_t seq_length);

/** Writes {"hidden_size":...,"kinds":[...],"runs":[...]}, all that the cost of a model depends on, as an answer carries it
 * along. */
KERF_API void kerf_model_shape_json(struct kerf_json *json, const char *key, const struct kerf_model *model);

/** Writes "ignored":[...] and, where there is something, "assumed":{...} into the object that is open. */
KERF_API void kerf_model_notes_json(struct kerf_json *json, const struct kerf_model *model);

/** Adds "NAME: keys ignored: ..." and "NAME: assumed: ..." to the text, a line each; nothing where nothing is. */
KERF_API void kerf_model_notes(const struct kerf_model *model, struct kerf_text *ret_text);

#ifdef __cplusplus
}
#endif
#endif
