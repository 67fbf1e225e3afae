/* SPDX-License-Identifier: Apache-2.0 */
/* How failures read: what allocators say, and what a status of waitpid means. */
#ifndef KERF_TRIAL_FAILURE_WORDS_H
#define KERF_TRIAL_FAILURE_WORDS_H

#include <stddef.h>

/* Whether a line says that memory ran out. Of a long line the first 4 KiB count. */
int says_out_of_memory(const char *line);

/* "ended with status 3", "ended by SIGSEGV". */
void status_words(int wait_status, char *words, size_t size);

/* As much of the line as fits, fit for one line of a terminal. */
void quote_line(const char *line, char *words, size_t size);

#endif
