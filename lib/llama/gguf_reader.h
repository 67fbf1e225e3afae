/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what stands in a GGUF file before the weights: numbers and texts, key-value pairs, descriptions of tensors. */
#ifndef KERF_LLAMA_GGUF_READER_H
#define KERF_LLAMA_GGUF_READER_H

#include <stdio.h>
#include "base/arena.h"
#include "kerf/gguf.h"

/* The type of this number in ggml; NULL: not known. */
const struct kerf_gguf_type *gguf_type_of(uint32_t id);

/* ---- Bytes -------------------------------------------------------------------------------------------------- */

/*
 * A place in a GGUF file. The first failure is kept, with the byte where it was found. After it everything reads as 0,
 * so that a caller checks `code` once, at the end of a piece.
 */
struct gguf_cursor {
    FILE *file;
    const char *path; /* for errors */
    int64_t at, size;
    int32_t code; /* KERF_OK until the first failure */
    struct kerf_error err;
};

/* ret_cursor->code says whether it could be opened. gguf_close closes it in any case. */
void gguf_open(struct gguf_cursor *ret_cursor, const char *path);
void gguf_close(struct gguf_cursor *cursor);

/* Keeps the failure, unless there was one before: "..., at byte 123"; at -1: without the byte. */
void gguf_fail(struct gguf_cursor *cursor, int64_t at, int32_t code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads how many things of at least `least` bytes each follow; 0 and a failure where the file is too short for them. */
int64_t gguf_count(struct gguf_cursor *cursor, int64_t least, const char *what);

void gguf_bytes(struct gguf_cursor *cursor, void *bytes, size_t size);
uint32_t gguf_u32(struct gguf_cursor *cursor);

/* ---- Key-value pairs ---------------------------------------------------------------------------------------- */

/* Kept are whole numbers, texts and short lists of whole numbers; of a long list (the tokens) only its length. */
struct gguf_pair {
    const char *key;
    int64_t at; /* the byte where the value begins */
    const char *text;
    const int64_t *numbers; /* [num_numbers] */
    int64_t num_numbers;
    int64_t count; /* length of a list; 0: it is not a list */
};

struct gguf_pairs {
    struct gguf_pair *pairs; /* [count], by key */
    int64_t count;
    const char *architecture; /* is put before keys that begin with a dot */
};

/* Reads `count` pairs; strings and lists live in the arena. */
void gguf_pairs_read(struct gguf_cursor *cursor, struct arena *arena, int64_t count, struct gguf_pairs *ret_pairs);

/* NULL where there is none. ".block_count" is the architecture's, such as "llama.block_count". */
const struct gguf_pair *gguf_pair_find(const struct gguf_pairs *pairs, const char *key);

/* `missing` where there is no such key; a failure where it is not a whole number between 0 and `most`. */
int64_t gguf_number(struct gguf_cursor *cursor, const struct gguf_pairs *pairs, const char *key, int64_t most,
                    int64_t missing);
/* The same for one layer: a number is that of every layer, a list has one for each. */
int64_t gguf_layer_number(struct gguf_cursor *cursor, const struct gguf_pairs *pairs, const char *key, int64_t layer,
                          int64_t most, int64_t missing);
const char *gguf_word(const struct gguf_pairs *pairs, const char *key); /* NULL where there is none */

/* ---- Tensors ------------------------------------------------------------------------------------------------ */

struct gguf_tensor {
    const char *name;
    int64_t at; /* the byte where it is described */
    int64_t parameters, offset, bytes;
    uint32_t type;
};

struct gguf_tensors {
    struct gguf_tensor *tensors; /* [count], by offset */
    int64_t count;
};

/* Reads `count` descriptions from where the cursor is; the weights begin at the next multiple of `alignment`. */
void gguf_tensors_read(struct gguf_cursor *cursor, struct arena *arena, int64_t count, int64_t alignment,
                       struct gguf_tensors *ret_tensors);

/* ---- Sizes of the model and of its layers, from the key-value pairs (gguf_layers.c) ---------------------------- */

enum { GGUF_LAYERS_MAX = 4096 };

/* Fills in the model's sizes and ret_layers[gguf->block_count], in the arena. */
void gguf_sizes_read(struct gguf_cursor *cursor, struct arena *arena, const struct gguf_pairs *pairs,
                     struct kerf_gguf *gguf, struct kerf_gguf_layer **ret_layers);

#endif
