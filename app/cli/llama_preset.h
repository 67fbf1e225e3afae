/* SPDX-License-Identifier: Apache-2.0 */
/* What `kerf tune llama` and `kerf bub` make of a model: the request of a study, and the settings that it leaves
 * out. */
#ifndef KERF_CLI_LLAMA_PRESET_H
#define KERF_CLI_LLAMA_PRESET_H

#include "base/arena.h"
#include "cli/llama_question.h"
#include "kerf/study.h"

/* Of equally good settings the one that needs the least memory. */
#define LLAMA_PREFERENCE "smaller:ubatch,batch"

struct llama_preset {
    struct kerf_gguf *gguf;          /* NULL: the file is gone */
    struct kerf_llama_setting fixed; /* parts that are the same for all settings */
    const char **skipped;            /* [num_settings] as struct kerf_study_plan; NULL: nothing is */
    struct sketch sketch;            /* holds what the request points to */
};

/* Reads the model and fills in the request: params that it does not name itself, wheres, default, command and protocol.
 * KERF_EUNSUPPORTED: there is no program that runs llama.cpp. */
int32_t llama_preset_make(const struct llama_question *question, struct llama_preset *ret_preset,
                          struct kerf_study_request *request, struct kerf_error *err);

/* The preset of a study that was kept; without the model if its file is gone. */
int32_t llama_preset_recall(const struct kerf_study_request *request, struct llama_preset *ret_preset,
                            struct kerf_error *err);

/* Marks the settings that llama.cpp refuses, and those that do not fit into this machine's memory or the request's
 * cap. */
int32_t llama_preset_skip(struct llama_preset *preset, const struct kerf_study_request *request,
                          const struct kerf_tune_space *space, struct kerf_error *err);

void llama_preset_free(struct llama_preset *preset);

#endif
