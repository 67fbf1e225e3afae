/* SPDX-License-Identifier: Apache-2.0 */
#include "llama_generation.h"

enum { CELLS = 256 }; /* the sequences of a context have multiples of them */

int64_t llama_generation_context(const struct llama_generation *generation) {
    int64_t of_one = (int64_t)generation->depth + generation->tokens;
    return (of_one + CELLS - 1) / CELLS * CELLS * generation->sequences;
}

static void put(struct llama_batch *batch, llama_token token, int32_t position, int32_t sequence, int has_logits) {
    int32_t at = batch->n_tokens++;
    batch->token[at] = token;
    batch->pos[at] = position;
    batch->n_seq_id[at] = 1;
    batch->seq_id[at][0] = sequence;
    batch->logits[at] = (int8_t)has_logits;
}

int32_t llama_generation_prompts(const struct llama_generation *generation, struct llama_context *context,
                                 struct llama_batch *batch, int32_t n_batch, const llama_token *tokens) {
    const int32_t depth = generation->depth;
    for (int32_t sequence = 0; sequence < generation->sequences; sequence++)
        for (int32_t from = 0; from < depth; from += n_batch) {
            batch->n_tokens = 0;
            for (int32_t at = from; at < depth && at < from + n_batch; at++)
                put(batch, tokens[at], at, sequence, at + 1 == depth);
            int32_t code = llama_decode(context, *batch);
            if (code != 0) return code;
        }
    llama_synchronize(context);
    return 0;
}

int32_t llama_generation_step(const struct llama_generation *generation, struct llama_context *context,
                              struct llama_batch *batch, int32_t step, const llama_token *tokens) {
    const int32_t at = generation->depth + step;
    batch->n_tokens = 0;
    for (int32_t sequence = 0; sequence < generation->sequences; sequence++) put(batch, tokens[at], at, sequence, 1);
    int32_t code = llama_decode(context, *batch);
    if (code == 0) llama_synchronize(context);
    return code;
}
