/* SPDX-License-Identifier: Apache-2.0 */
/* Where the models and systems of a question come from. */
#ifndef KERF_CALL_SOURCES_H
#define KERF_CALL_SOURCES_H

#include "base/option.h"
#include "kerf/cost.h"

/* A file that came with the question. */
struct call_file {
    const char *name, *text;
    size_t length;
};

/* All zeros: names of the catalogue and of files. */
struct call_sources {
    const struct call_file *files; /* [num_files] looked for before those of the disk */
    int32_t num_files;
    const char *trace;                    /* the path that the trace "-" stands for; NULL: none */
    const char *model_json, *system_json; /* NULL, or the description itself, for the name "-" */
    int32_t catalogue_only;               /* 1: names of the catalogue alone; who asks must not read files */
};

/* NULL: no such file came with the question. */
const struct call_file *call_file_find(const struct call_sources *sources, const char *name);

int32_t call_model(const struct call_sources *sources, const char *name, struct kerf_model *ret_model,
                   struct kerf_error *err);
int32_t call_system(const struct call_sources *sources, const char *name, struct kerf_system *ret_system,
                    struct kerf_error *err);

int32_t call_stack(const struct call_sources *sources, const char *name, struct kerf_stack **ret_stack,
                   struct kerf_error *err);

/* Applies all --set assignments together, so that fields which depend on each other can be set in any order. */
int32_t call_set(struct kerf_model *model, struct kerf_system *system, const struct string_list *sets,
                 struct kerf_error *err);

#endif
