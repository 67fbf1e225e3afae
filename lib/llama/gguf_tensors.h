/* SPDX-License-Identifier: Apache-2.0 */
/* What a GGUF file says of its tensors, and their sums. */
#ifndef KERF_LLAMA_GGUF_TENSORS_H
#define KERF_LLAMA_GGUF_TENSORS_H

#include "kerf/gguf.h"
#include "llama/gguf_cursor.h"

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

/* Adds them to the sums of the model, whose layers are layers[block_count]. *has_output: 1 once there is `output`. */
void gguf_tensors_add(const struct gguf_tensors *tensors, struct kerf_gguf *gguf, struct kerf_gguf_layer *layers,
                      struct kerf_gguf_share *shares, int32_t *has_output);

/* Of how many types there may be shares: ggml has 43, and what is not known counts as one. */
enum { GGUF_SHARES = 64 };

#endif
