/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of llama.cpp that a study of a model measures: the values of each parameter, the conditions between
 * them, and llama.cpp's own default. */
#ifndef KERF_CLI_LLAMA_GRID_H
#define KERF_CLI_LLAMA_GRID_H

#include "cli/llama_question.h"
#include "cli/sketch.h"
#include "kerf/llama.h"
#include "kerf/study.h"

struct llama_grid {
    const struct llama_question *question;
    const struct kerf_gguf *gguf;
    const struct kerf_study_request *request; /* its params and wheres replace the usual ones */
    int is_bench;                             /* 1: values are words of llama-bench's command line */
    struct sketch *sketch;                    /* holds what the lists point to */
    struct kerf_study_strings params, wheres;
};

/* How many processors this process may run on. */
int64_t llama_grid_processors(void);

/* Fills in params and wheres; sketch->failed is 1 where memory ran out. */
void llama_grid_make(struct llama_grid *grid);

/* llama.cpp's own default, such as "batch=2048,ubatch=512"; NULL where the space does not have it. */
const char *llama_grid_default(const struct llama_grid *grid, const struct kerf_tune_space *space);

/* One setting of the space with all parts; fixed: the parts that are the same for all settings. */
struct kerf_llama_setting llama_grid_setting(const struct kerf_llama_setting *fixed,
                                             const struct kerf_tune_space *space, int32_t setting);

#endif
