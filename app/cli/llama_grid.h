/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of llama.cpp on a model that are to be measured: which values each parameter has, which of them go
 * together, and what llama.cpp does when nothing is said. */
#ifndef KERF_CLI_LLAMA_GRID_H
#define KERF_CLI_LLAMA_GRID_H

#include "cli/llama_question.h"
#include "cli/sketch.h"
#include "kerf/llama.h"
#include "kerf/study.h"

struct llama_grid {
    const struct llama_question *question;
    const struct kerf_gguf *gguf;
    const struct kerf_study_request *request; /* what its params and wheres say goes before what is usual here */
    int is_bench;          /* 1: values in the words of llama-bench, which go onto its command line */
    struct sketch *sketch; /* what the lists point to */
    struct kerf_study_strings params, wheres;
};

/* Processors that this process may run on. */
int64_t llama_grid_processors(void);

/* Fills in params and wheres; sketch->failed says that memory ran out. */
void llama_grid_make(struct llama_grid *grid);

/* The setting that llama.cpp takes by itself, "batch=2048,ubatch=512"; NULL where the space does not have it. */
const char *llama_grid_default(const struct llama_grid *grid, const struct kerf_tune_space *space);

/* All that is known of one setting of the space; fixed: what is the same for all. */
struct kerf_llama_setting llama_grid_setting(const struct kerf_llama_setting *fixed,
                                             const struct kerf_tune_space *space, int32_t setting);

#endif
