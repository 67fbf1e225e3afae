/* SPDX-License-Identifier: Apache-2.0 */
/* What `kerf tune llama` and `kerf bub` make of a model: the grid of its settings, the command that measures them, what
 * has no room in memory, and in the end the options of llama.cpp's programs. */
#ifndef KERF_CLI_LLAMA_PRESET_H
#define KERF_CLI_LLAMA_PRESET_H

#include "cli/sketch.h"
#include "kerf/llama.h"
#include "study/study_request.h"

/* Of what is as good, what needs least memory. */
#define LLAMA_PREFERENCE "smaller:ubatch,batch"

struct llama_question {
    const char *model;          /* a GGUF file */
    int64_t context;            /* tokens */
    int64_t threads;            /* 0: all processors that there are */
    int32_t one_thread_less;    /* 1: with threads 0 all but one */
    int64_t gpu_layers;         /* -1: all */
    const char *also;           /* "threads,flash_attention": what is tuned beside batch and ubatch; NULL: nothing */
    const char *outputs;        /* "all" or "last": the logits that are computed */
    int32_t conform_to_imatrix; /* 1: only what llama-imatrix can be run with as it was measured */
    int32_t max_batch_exponent; /* largest batch is 2 to it; 0: the context and what memory allows */
};

struct llama_preset {
    struct kerf_gguf *gguf;          /* NULL: the file is gone */
    struct kerf_llama_setting fixed; /* what is the same for all settings */
    const char **skipped;            /* [num_settings] as struct study_plan; NULL: nothing is */
    struct sketch sketch;            /* what the request points to */
};

/* Reads the model and fills in the request: its params where it has none of that name, wheres, default, command,
 * protocol. KERF_EUNSUPPORTED where there is nothing that runs llama.cpp. */
int32_t llama_preset_make(const struct llama_question *question, struct llama_preset *ret_preset,
                          struct study_request *request, struct kerf_error *err);

/* The preset of a study that was kept; without its model where the file is gone. */
int32_t llama_preset_recall(const struct study_request *request, struct llama_preset *ret_preset,
                            struct kerf_error *err);

/* Marks the settings that llama.cpp refuses, and those that have no room in this machine's memory. */
int32_t llama_preset_skip(struct llama_preset *preset, const struct kerf_tune_space *space, struct kerf_error *err);

void llama_preset_free(struct llama_preset *preset);

/* All that is known of one setting of the space. */
struct kerf_llama_setting llama_preset_setting(const struct llama_preset *preset, const struct kerf_tune_space *space,
                                               int32_t setting);

#endif
