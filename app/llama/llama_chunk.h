/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding a chunk with llama.cpp and timing it. A chunk is context - 1 random tokens in batches of n_batch, as
 * llama-perplexity and best_bub cut a text; each is decoded in a context of its own, made for it and freed after it.
 * The time is that of decoding until llama.cpp has synchronized: neither of loading the model nor of making the
 * context. With a generation (llama_generation.h) it is that of a generated token instead: of all steps, over the tokens
 * of all sequences; the prompts before them are not part of it.
 */
#ifndef KERF_LLAMA_LLAMA_CHUNK_H
#define KERF_LLAMA_LLAMA_CHUNK_H

#include <jansson.h>
#include "kerf/error.h"
#include "llama_generation.h"

/* What llama.cpp is run with, as options of the worker and as the setting of a request name it. */
struct llama_setting {
    int32_t batch, ubatch;          /* n_batch, n_ubatch: tokens */
    int32_t threads, threads_batch; /* of one token, of a batch; threads_batch 0: as threads */
    int32_t flash_attention;        /* enum llama_flash_attn_type */
    int32_t type_k, type_v;         /* enum ggml_type */
    int32_t gpu_layers;             /* -1: all */
    int32_t mmap;                   /* -1: llama.cpp decides */
};

/* As llama.cpp words them: "auto", "on", "off"; "f16", "q8_0", ... */
int32_t llama_setting_flash_attention(const char *word, int32_t *ret_value, struct kerf_error *err);
int32_t llama_setting_kv_type(const char *word, int32_t *ret_type, struct kerf_error *err);

/* Replaces what the object names: batch, ubatch, threads, threads_batch, flash_attention, kv_type (both), kv_type_k,
 * kv_type_v, gpu_layers, mmap. Anything else in it is an error. */
int32_t llama_setting_read(const json_t *object, struct llama_setting *setting, struct kerf_error *err);

struct llama_chunk_plan {
    const char *model;                  /* path */
    int32_t context;                    /* tokens; of a generation depth + tokens + 1 */
    struct llama_generation generation; /* tokens 0: prompts */
    int32_t takes_cpu;                  /* 1: times and limits are processor time of all threads */
    int32_t chunks;                     /* in a measurement, 1 or more */
    int32_t all_logits;
    int32_t no_warmup; /* 1: the first chunk after loading is as it comes */
    uint64_t seed;     /* of the tokens */
};

struct llama_chunk_result {
    int32_t censored;      /* 1: stopped at the limit */
    double value_s;        /* a chunk's mean, or a generated token's */
    double tokens_per_s;   /* in value_s; NAN where it was stopped, as the next two */
    double ttft_s;         /* of a generation: until its first token, of the last sequence; always by the clock */
    double step_s[2];      /* of a generation: half and 95 % of the steps took no longer */
    double cpu_s;          /* a chunk's, of all threads, until it ended or was stopped */
    double start_s, end_s; /* of what is timed, since the runner was made */
    double load_s;         /* 0: the model was there */
    double context_s;      /* until the context was there */
};

struct llama_chunk_runner;

/* Sends everything that llama.cpp logs to standard error, and loads the model. KERF_EIO. */
int32_t llama_chunk_runner_create(const struct llama_chunk_plan *plan, const struct llama_setting *setting,
                                  struct llama_chunk_runner **ret_runner, double *ret_load_s, struct kerf_error *err);
struct llama_chunk_runner *llama_chunk_runner_free(struct llama_chunk_runner *runner);

/* The first chunk after loading comes after one micro-batch that is not timed. limit_s: of a chunk; 0: none.
 * KERF_ENOMEM where llama.cpp says that memory was what lacked, else KERF_EIO with its last line of log; after either
 * the next one may be asked for. */
int32_t llama_chunk_run(struct llama_chunk_runner *runner, const struct llama_setting *setting, double limit_s,
                        struct llama_chunk_result *ret_result, struct kerf_error *err);

#endif
