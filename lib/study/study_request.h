/* SPDX-License-Identifier: Apache-2.0 */
/* A study's request, as a journal's first line has it, and as what the library's engines take; and its key. */
#ifndef KERF_STUDY_STUDY_REQUEST_H
#define KERF_STUDY_STUDY_REQUEST_H

#include <jansson.h>
#include "base/arena.h"
#include "kerf/study.h"

/* document has to live as long as the request. study_request_free gives back the lists that read made. */
int32_t study_request_read(const json_t *document, struct kerf_study_request *ret_request, struct kerf_error *err);
void study_request_free(struct kerf_study_request *request);

/* What runs trials and what decides are asked; both point into the request, the command into the arena too. */
int32_t study_request_command(const struct kerf_study_request *request, struct arena *arena,
                              struct kerf_trial_command *ret_command, struct kerf_error *err);
void study_request_question(const struct kerf_study_request *request, const struct kerf_tune_space *space,
                            struct kerf_tune_question *ret_question);

/* Tells the runner the limits of the objective, and the second one. */
int32_t study_request_limit(const struct kerf_study_request *request, struct kerf_trial_runner *runner,
                            struct kerf_error *err);

/* Whether the objective is measured of processes of this machine alone. */
int study_request_is_local(const struct kerf_study_request *request);

/* ---- The key of a study: equal for studies whose measurements can be compared ---------------------------------- */

/* Sixteen hexadecimal digits and a NUL, equal for the same command with the same files in it, the same objective and
 * the same environment (CUDA_VISIBLE_DEVICES, LD_LIBRARY_PATH, OMP_* and what the request's key_env names) on the same
 * machine. */
void study_key(const struct kerf_study_request *request, char key[KERF_STUDY_KEY_SIZE]);

/* KERF_EINVALID: a word of key_env is not a list of names of variables. */
int32_t study_key_check(const struct kerf_study_request *request, struct kerf_error *err);

#endif
