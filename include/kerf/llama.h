/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llama.cpp as kerf knows it: what a setting needs of memory, how llama.cpp's programs want it written, and what
 * best_bub's formula would make of a model. Nothing here needs llama.cpp.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         struct kerf_llama_setting setting;
 *         struct kerf_text flags = {0};
 *         struct kerf_error err;
 *         kerf_llama_setting_defaults(&setting);
 *         setting.batch = 512;
 *         setting.ubatch = 128;
 *         if (kerf_llama_flags("llama-server", &setting, &flags, &err) != KERF_OK) return 1;
 *         puts(flags.data);
 *         kerf_text_free(&flags);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     -b 512 -ub 128
 */
#ifndef KERF_LLAMA_H
#define KERF_LLAMA_H

#include "kerf/gguf.h"
#include "kerf/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum kerf_llama_attention { KERF_LLAMA_ATTENTION_AUTO, KERF_LLAMA_ATTENTION_ON, KERF_LLAMA_ATTENTION_OFF };

/** What llama.cpp is run with. kerf_llama_setting_defaults leaves every choice to llama.cpp. */
struct kerf_llama_setting {
    int64_t context;         /* tokens of all sequences; 0: what the model was trained with */
    int64_t batch, ubatch;   /* n_batch, n_ubatch; 0: 2048, 512 */
    int64_t sequences;       /* 0: 1 */
    int64_t outputs;         /* tokens of a batch whose logits are asked for; 0: all */
    int64_t gpu_layers;      /* the last so many layers on devices, one more with the output; -1: all; -2: not named */
    int32_t threads;         /* 0: not named */
    int32_t threads_batch;   /* 0: not named */
    int32_t flash_attention; /* enum kerf_llama_attention; `auto` is on where the backend can */
    int32_t mmap;            /* 1, 0; -1: not named */
    const char *kv_type_k, *kv_type_v; /* "f16", "q8_0", ...; NULL: f16 */
};
KERF_API void kerf_llama_setting_defaults(struct kerf_llama_setting *ret_setting);

/* ---- Memory ----------------------------------------------------------------------------------------------- */

/** Bytes. Weights are those of the file: with mmap they are pages of the file, which the system may take back, and a
 * backend may keep a rearranged copy of them (AMX; Q4_0 on ARM) beside it. */
struct kerf_llama_memory {
    int64_t weights_host, weights_device;
    int64_t kv_host, kv_device;           /* KV caches and recurrent states */
    int64_t compute_host, compute_device; /* what the graph of one ubatch needs at its widest place */
    int64_t output_host;                  /* logits */
    int64_t host, device;                 /* sums */
    int64_t context, batch, ubatch;       /* as llama.cpp rounds them */
    int32_t is_rough;                     /* 1: the architecture is not known, and treated like llama */
};

/**
 * What llama.cpp will allocate. KV is exact (llama_kv_cache: per layer heads x length x type, contexts in steps of 256,
 * windows of window + ubatch); compute follows the widest place of the graph of a transformer with a gated
 * feed-forward part, measured against llama.cpp v0.5.0 (docs/tune-llama.md tells how near it comes).
 * KERF_EINVALID: a size below 1; a type that a cache cannot have; a model that does not say its block_count,
 * embedding_length, head_count (unless it has no attention) or vocabulary.
 */
KERF_API int32_t kerf_llama_memory_estimate(const struct kerf_gguf *gguf, const struct kerf_llama_setting *setting,
                                            struct kerf_llama_memory *ret_memory, struct kerf_error *err);

/** Memory of this machine for one more program: MemTotal and MemAvailable, and less where a control group allows less.
 */
struct kerf_machine_memory {
    int64_t total, available;
};
KERF_API int32_t kerf_machine_memory_read(struct kerf_machine_memory *ret_memory, struct kerf_error *err);

/* ---- Flags ------------------------------------------------------------------------------------------------ */

/** The programs of llama.cpp that take settings, one after the other; NULL behind the last. */
KERF_API const char *kerf_llama_tool_at(size_t index);

/**
 * Writes the options that make `tool` run with the setting, as llama.cpp v0.5.0 takes them: "-b 512 -ub 128". Parts
 * that the setting does not name are left out. KERF_EINVALID: a number out of its range. KERF_EUNKNOWN: there is no such
 * tool. KERF_EUNSUPPORTED: the tool has no option for a part: llama-bench has none for the context, nor for threads_batch
 * unless it equals threads.
 */
KERF_API int32_t kerf_llama_flags(const char *tool, const struct kerf_llama_setting *setting, struct kerf_text *out,
                                  struct kerf_error *err);

/* ---- best_bub --------------------------------------------------------------------------------------------- */

/** What best_bub would search, by its formulas, which know neither the KV cache nor compute buffers. */
struct kerf_bub_limits {
    double bits; /* a weight, from the size of the file */
    int64_t max_batch;
    int32_t batch_exponents[2], ubatch_exponents[2]; /* smallest and largest; empty where the second is smaller */
    int64_t trials, chunks;
};

/** memory_bytes: all of device 0's, or of the machine's. imatrix: --conform-to-imatrix. KERF_EINVALID: a context below
 * 1, a memory that is negative or not finite, or the file does not say its sizes. */
KERF_API int32_t kerf_bub_limits_estimate(const struct kerf_gguf *gguf, int64_t context, double memory_bytes,
                                          int32_t imatrix, struct kerf_bub_limits *ret_limits, struct kerf_error *err);

#ifdef __cplusplus
}
#endif
#endif
