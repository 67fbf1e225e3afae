/* SPDX-License-Identifier: Apache-2.0 */
/* What descriptions of models and of systems have in common: names, files, the catalogue. */
#ifndef KERF_SPEC_DESCRIPTION_H
#define KERF_SPEC_DESCRIPTION_H

#include "base/json_read.h"
#include "kerf/spec.h"

/* What reads a model or a system from the object of a file; ret points to the struct. */
typedef int32_t (*description_reader)(const struct json_object *object, const char *name, void *ret,
                                      struct kerf_error *err);

/* Reads the text of a file; source names it in errors. */
int32_t description_parse(const char *json, size_t length, const char *source, description_reader read, void *ret,
                          struct kerf_error *err);

/* The entry of the catalogue, else the file ("-": standard input) of this name; kind: "models" or "systems". */
int32_t description_load(const char *name_or_file, const char *kind, description_reader read, void *ret,
                         struct kerf_error *err);

/* Copies text into name, cut between two code points when it is too long, with '?' for what cannot be printed. */
void name_copy(char name[KERF_NAME_SIZE], const char *text);

/* The name that a file stands for: without its folders and .json; of ".../llama/config.json" it is llama. */
void file_stem(const char *path, char ret_name[KERF_NAME_SIZE]);

#endif
