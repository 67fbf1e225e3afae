/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a GGUF file, the format of llama.cpp's models, says about its model: its sizes, its layers, its tensors. Only
 * what stands before the weights is read, some megabytes of however many gigabytes. Sizes are in bytes and tokens.
 *
 * Versions 2 and 3, little endian. Every architecture that llama.cpp loads keeps its sizes under keys that begin with
 * its name, "qwen3.block_count"; a key that a file lacks is 0 here. Format: ggml's docs/gguf.md.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         const struct kerf_gguf_type *type = kerf_gguf_type_find("Q8_0");
 *         if (type == NULL) return 1;
 *         printf("%g bits a weight\n", 8.0 * type->block_bytes / type->block);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     8.5 bits a weight
 */
#ifndef KERF_GGUF_H
#define KERF_GGUF_H

#include "kerf/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types of weights ------------------------------------------------------------------------------------- */

/** How ggml stores weights: `block` weights in `block_bytes` bytes. */
struct kerf_gguf_type {
    int32_t id; /* enum ggml_type */
    const char *name;
    int32_t block, block_bytes;
};
/** One after the other; NULL behind the last. */
KERF_API const struct kerf_gguf_type *kerf_gguf_type_at(size_t index);
/** By its name, in upper or lower case ("q8_0"); NULL where it is not known. */
KERF_API const struct kerf_gguf_type *kerf_gguf_type_find(const char *name);

/* ---- Files ------------------------------------------------------------------------------------------------ */

/** The part of the model that is stored in one type. */
struct kerf_gguf_share {
    int32_t type;
    char name[16]; /* "Q4_K"; "type 99" if it is not known, and its bytes come from the offsets */
    int64_t tensors, parameters, bytes;
};

struct kerf_gguf_layer {
    int64_t bytes; /* of its tensors */
    int64_t feed_forward_length;
    int32_t head_count, head_count_kv;
    int32_t key_length, value_length; /* of a head */
    int32_t window;                   /* the last tokens that it attends to; 0: all */
    int32_t keeps_kv;                 /* 1: it has a KV cache of its own */
    int32_t keeps_state;              /* 1: it has a recurrent state */
};

struct kerf_gguf {
    int32_t version;
    int32_t files;    /* 5 of model-00001-of-00005.gguf */
    const char *path; /* of the first file, the one that llama.cpp loads a model by */
    char architecture[64], name[256];
    char precision[16]; /* the type of most weights, such as "Q4_K" */
    int64_t file_type;  /* general.file_type, enum llama_ftype; -1: missing */
    int64_t file_bytes, tensor_bytes, parameters, tensors;
    int64_t embedding_bytes; /* token_embd */
    int64_t output_bytes;    /* output and output_norm; where `output` is missing, token_embd serves for it */
    int32_t tied;            /* 1: it does */
    int64_t block_count, embedding_length, context_length, vocab_size;
    int64_t feed_forward_length, head_count, head_count_kv; /* the largest of any layer */
    int64_t expert_count, expert_used_count, expert_feed_forward_length;
    int64_t sliding_window; /* as the file says; which layers have one is in `layers` */
    int64_t state_values;   /* floats of the recurrent state of a layer and sequence */
    int32_t is_mla;         /* 1: the cache holds only keys, from which values are made */
    int32_t is_listed;      /* 1: kerf knows what this architecture keeps in memory; 0: it is treated like llama */
    const struct kerf_gguf_layer *layers; /* [block_count] */
    const struct kerf_gguf_share *types;  /* [num_types], the one with the most bytes first */
    int32_t num_types;
    void *memory;
};

/**
 * Reads what stands before the weights; of a split model, of all its files, whichever of them path names.
 * KERF_EIO: a file cannot be read; KERF_ESYNTAX: it is not a GGUF file, is cut off, or contradicts itself (with the
 * byte); KERF_EUNSUPPORTED: big endian, version 1, or a version that is not known yet.
 */
KERF_API int32_t kerf_gguf_read(const char *path, struct kerf_gguf **ret_gguf, struct kerf_error *err);
KERF_API struct kerf_gguf *kerf_gguf_free(struct kerf_gguf *gguf);

#ifdef __cplusplus
}
#endif
#endif
