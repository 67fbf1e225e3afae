/* SPDX-License-Identifier: Apache-2.0 */
/* What `kerf tune llama` and `kerf bub` make of a model: a study's request, and what has no room in memory. */
#ifndef KERF_CLI_LLAMA_PRESET_H
#define KERF_CLI_LLAMA_PRESET_H

#include "cli/llama_grid.h"

/* Of what is as good, what needs least memory. */
#define LLAMA_PREFERENCE "smaller:ubatch,batch"

struct llama_preset {
    struct kerf_gguf *gguf;          /* NULL: the file is gone */
    struct kerf_llama_setting fixed; /* what is the same for all settings */
    const char **skipped;            /* [num_settings] as struct kerf_study_plan; NULL: nothing is */
    struct sketch sketch;            /* what the request points to */
};

/* Reads the model and fills in the request: its params where it has none of that name, wheres, default, command,
 * protocol. KERF_EUNSUPPORTED where there is nothing that runs llama.cpp. */
int32_t llama_preset_make(const struct llama_question *question, struct llama_preset *ret_preset,
                          struct kerf_study_request *request, struct kerf_error *err);

/* The preset of a study that was kept; without its model where the file is gone. */
int32_t llama_preset_recall(const struct kerf_study_request *request, struct llama_preset *ret_preset,
                            struct kerf_error *err);

/* Marks the settings that llama.cpp refuses, and those that have no room in this machine's memory or in the request's
 * share of it. */
int32_t llama_preset_skip(struct llama_preset *preset, const struct kerf_study_request *request,
                          const struct kerf_tune_space *space, struct kerf_error *err);

void llama_preset_free(struct llama_preset *preset);

#endif
