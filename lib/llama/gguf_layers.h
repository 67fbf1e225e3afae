/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the model and of each of its layers, from the key-value pairs. */
#ifndef KERF_LLAMA_GGUF_LAYERS_H
#define KERF_LLAMA_GGUF_LAYERS_H

#include "llama/gguf_reader.h"

enum { GGUF_LAYERS_MAX = 4096 };

/* Fills in the model's sizes and ret_layers[gguf->block_count], in the arena. */
void gguf_sizes_read(struct gguf_cursor *cursor, struct arena *arena, const struct gguf_pairs *pairs,
                     struct kerf_gguf *gguf, struct kerf_gguf_layer **ret_layers);

#endif
