/* SPDX-License-Identifier: Apache-2.0 */
/* What runs llama.cpp for a study: kerf-llama-worker, which loads the model once, else llama-bench, which loads it for
 * each measurement; and the words of its command. */
#ifndef KERF_CLI_LLAMA_PROGRAM_H
#define KERF_CLI_LLAMA_PROGRAM_H

#include "cli/llama_question.h"
#include "cli/sketch.h"
#include "kerf/study.h"

struct llama_program {
    const char *worker; /* NULL: llama-bench of $PATH */
};

/* KERF_EUNSUPPORTED where there is neither. */
int32_t llama_program_find(struct sketch *sketch, struct llama_program *ret_program, struct kerf_error *err);

/* The command that measures the settings of the space, and its protocol. */
void llama_program_command(const struct llama_program *program, const struct llama_question *question,
                           const struct kerf_tune_space *space, struct sketch *sketch,
                           struct kerf_study_request *request);

/* The question that the command of a study that was kept answers; it points into the request. */
int32_t llama_program_recall(const struct kerf_study_request *request, struct llama_question *ret_question,
                             struct kerf_error *err);

#endif
