/* SPDX-License-Identifier: Apache-2.0 */
/* The key-value pairs of a GGUF file: whole numbers, words and short lists of whole numbers; of a long list (tokens)
 * how long it is. */
#ifndef KERF_LLAMA_GGUF_PAIRS_H
#define KERF_LLAMA_GGUF_PAIRS_H

#include "llama/gguf_cursor.h"

struct gguf_pair {
    const char *key;
    int64_t at; /* the byte where the value begins */
    const char *text;
    const int64_t *numbers; /* [num_numbers] */
    int64_t num_numbers;
    int64_t count; /* of a list, else 0 */
};

struct gguf_pairs {
    struct gguf_pair *pairs; /* [count], by key */
    int64_t count;
    const char *architecture; /* stands before keys that begin with a dot */
};

/* Reads `count` pairs; strings and lists live in the arena. */
void gguf_pairs_read(struct gguf_cursor *cursor, struct arena *arena, int64_t count, struct gguf_pairs *ret_pairs);

/* NULL where there is none. ".block_count" is that of the architecture. */
const struct gguf_pair *gguf_pair_find(const struct gguf_pairs *pairs, const char *key);

/* `missing` where the key is not there; a failure where it is no whole number between 0 and `most`. */
int64_t gguf_number(struct gguf_cursor *cursor, const struct gguf_pairs *pairs, const char *key, int64_t most,
                    int64_t missing);
/* The same of one layer: one number is that of every layer, a list has one for each. */
int64_t gguf_layer_number(struct gguf_cursor *cursor, const struct gguf_pairs *pairs, const char *key, int64_t layer,
                          int64_t most, int64_t missing);
const char *gguf_word(const struct gguf_pairs *pairs, const char *key); /* NULL where there is none */

#endif
