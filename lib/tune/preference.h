/* SPDX-License-Identifier: Apache-2.0 */
/* "smaller:ubatch,batch;larger:threads": which of settings that are as good is wanted. */
#ifndef KERF_TUNE_PREFERENCE_H
#define KERF_TUNE_PREFERENCE_H

#include "tune/study.h"

/* Reads the question's `prefer` into the study. KERF_ESYNTAX, KERF_EUNKNOWN. */
int32_t preference_read(struct kerf_tune_study *study, struct kerf_error *err);

#endif
