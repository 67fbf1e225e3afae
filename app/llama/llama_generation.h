/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generating with llama.cpp, as its clients wait for it: `sequences` of them at a time, each with `depth` tokens before
 * it. First the prompts, one after the other in batches of n_batch; then `tokens` steps, each of which decodes one token
 * of every sequence in one batch. Tokens are random: what is sampled does not change what a step costs.
 */
#ifndef KERF_LLAMA_LLAMA_GENERATION_H
#define KERF_LLAMA_LLAMA_GENERATION_H

#include <llama.h>
#include <stdint.h>

struct llama_generation {
    int32_t tokens;    /* of each sequence; 0: nothing is generated */
    int32_t depth;     /* tokens of a prompt; 0: none */
    int32_t sequences; /* 1 or more */
};

/* Room of a context for it: every sequence has its own part, in steps of 256 as llama.cpp rounds them. */
int64_t llama_generation_context(const struct llama_generation *generation);

/* Both return what llama_decode did: 0; 1: no room; 2: stopped; below 0: an error. The batch has room for n_batch
 * tokens, and for a token of each sequence. tokens: [depth + tokens]. */
int32_t llama_generation_prompts(const struct llama_generation *generation, struct llama_context *context,
                                 struct llama_batch *batch, int32_t n_batch, const llama_token *tokens);
int32_t llama_generation_step(const struct llama_generation *generation, struct llama_context *context,
                              struct llama_batch *batch, int32_t step, const llama_token *tokens);

#endif
