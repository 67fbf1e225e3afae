/* SPDX-License-Identifier: Apache-2.0 */
/* What model and system files have in common. */
#ifndef KERF_SPEC_FILES_H
#define KERF_SPEC_FILES_H

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

/* The name that a file stands for: without its folders and .json; of ".../llama/config.json" it is llama. */
void file_stem(const char *path, char ret_name[KERF_NAME_SIZE]);

#endif
