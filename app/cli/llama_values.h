/* SPDX-License-Identifier: Apache-2.0 */
/* Which parameters of llama.cpp a study may have, and which values of them llama.cpp takes. */
#ifndef KERF_CLI_LLAMA_VALUES_H
#define KERF_CLI_LLAMA_VALUES_H

#include "kerf/study.h"

/* That each --param names one that there is. */
int32_t llama_values_check_names(const struct kerf_study_strings *params, struct kerf_error *err);

/* That each value is one that llama.cpp takes, by llama-bench or by the worker. conform_to_imatrix: and that it leaves
 * the matrix as it is. */
int32_t llama_values_check(const struct kerf_tune_space *space, int is_bench, int conform_to_imatrix,
                           struct kerf_error *err);

#endif
