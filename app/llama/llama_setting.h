/* SPDX-License-Identifier: Apache-2.0 */
/* What llama.cpp is run with, as options of the worker and as the setting of a request name it. */
#ifndef KERF_LLAMA_LLAMA_SETTING_H
#define KERF_LLAMA_LLAMA_SETTING_H

#include <jansson.h>
#include "kerf/error.h"

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

#endif
