/* SPDX-License-Identifier: Apache-2.0 */
/* What model and system files have in common. */
#ifndef KERF_SPEC_FILES_H
#define KERF_SPEC_FILES_H

#include "kerf/spec.h"

enum { DESCRIPTION_BYTES_MAX = 16 << 20 };

/* The name that a file stands for: without its folders and .json; of ".../llama/config.json" it is llama. */
void file_stem(const char *path, char ret_name[KERF_NAME_SIZE]);

/* Whether the word is meant as a file: it exists, is "-", or has a slash or ".json". */
int names_a_file(const char *word);

#endif
