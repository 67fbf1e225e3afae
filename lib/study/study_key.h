/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a study: equal for studies whose measurements can be compared. */
#ifndef KERF_STUDY_STUDY_KEY_H
#define KERF_STUDY_STUDY_KEY_H

#include "kerf/study.h"

/* Sixteen hexadecimal digits and a NUL, equal for the same command with the same files in it, the same objective and the
 * same environment (CUDA_VISIBLE_DEVICES, LD_LIBRARY_PATH, OMP_* and what the request's key_env names) on the same
 * machine. */
void study_key(const struct kerf_study_request *request, char key[KERF_STUDY_KEY_SIZE]);

/* KERF_EINVALID: a word of key_env is no list of names of variables. */
int32_t study_key_check(const struct kerf_study_request *request, struct kerf_error *err);

#endif
