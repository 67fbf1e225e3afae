/* SPDX-License-Identifier: Apache-2.0 */
/* The few words that journals and reports share. */
#ifndef KERF_STUDY_STUDY_WORDS_H
#define KERF_STUDY_STUDY_WORDS_H

#include <stdint.h>

enum { STUDY_TIME_SIZE = 32 };

/* "2026-11-21T21:30:02Z" and back; 0 where it is none. */
void study_time_write(int64_t seconds, char text[STUDY_TIME_SIZE]);
int64_t study_time_read(const char *text);

const char *study_outcome_word(int32_t outcome); /* "value", "censored", "failed" */
int32_t study_outcome_of(const char *word);      /* -1: none of them */
int32_t study_failure_of(const char *word);

#endif
