/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of models and systems: how they are found, read and checked. */
#ifndef KERF_SPEC_DESCRIPTION_H
#define KERF_SPEC_DESCRIPTION_H

#include "base/json_read.h"
#include "kerf/spec.h"

/* ---- The catalogue and files (catalogue.c) ----------------------------------------------------------------------- */

/* The models and systems that have names: the files of share/ that were put into the library when it was built, and,
 * where none of them has the name, NAME.json in models/ or systems/ of these folders, the first that has it:
 * $KERF_CATALOGUE (what --catalogue sets), $XDG_DATA_HOME/kerf (without the variable: ~/.local/share/kerf) and
 * $KERF_DATA_DIR (without the variable: PREFIX/share/kerf). A name that comes with the library means the same on every
 * machine. Here are those in the library, ended by an entry whose name is NULL. */
extern const struct kerf_catalogue_entry catalogue_models[], catalogue_systems[], catalogue_stacks[];
/* Constants of fits without a data set (score/constants_file.h), and tables of runs (score/runs.h). */
extern const struct kerf_catalogue_entry catalogue_fits[], catalogue_runs[];

/* What reads a model or a system from the object of a file; ret points to the struct. */
typedef int32_t (*description_reader)(const struct json_object *object, const char *name, void *ret,
                                      struct kerf_error *err);

/* Reads the text of a file; source names it in errors. */
int32_t description_parse(const char *json, size_t length, const char *source, description_reader read, void *ret,
                          struct kerf_error *err);

/* The entry of the catalogue, else the file ("-": standard input) of this name; kind: "models", "systems" or "stacks". */
int32_t description_load(const char *name_or_file, const char *kind, description_reader read, void *ret,
                         struct kerf_error *err);

/* Copies text into name, cut between two code points when it is too long, with '?' for what cannot be printed. */
void name_copy(char name[KERF_NAME_SIZE], const char *text);

/* The name that a file stands for: without its folders and .json; of ".../llama/config.json" it is llama. */
void file_stem(const char *path, char ret_name[KERF_NAME_SIZE]);

/* ---- Models (model.c) -------------------------------------------------------------------------------------------- */

/* Reads a model from a JSON object; name is its name when the object has none. */
int32_t model_from_object(const struct json_object *object, const char *name, struct kerf_model *ret_model,
                          struct kerf_error *err);

int model_has_field(const char *key);
/* Sets a field within its bounds; how fields go together is for model_refit, once all are set. */
int32_t model_set_field(struct kerf_model *model, const char *key, double value, struct kerf_error *err);
/* The fields that were set, as members of the object that is open, and as words with `gap` before the first. */
void model_overridden_json(struct kerf_json *json, const struct kerf_model *model);
void model_overridden_text(struct kerf_text *out, const struct kerf_model *model, const char *gap);
/* Makes the layers go with fields that were set; before is the model as it was. */
int32_t model_refit(const struct kerf_model *before, struct kerf_model *model, struct kerf_error *err);

int32_t model_check(const struct kerf_model *model, struct kerf_error *err);

/* ---- Systems (system.c) ------------------------------------------------------------------------------------------ */

/* Reads a system from a JSON object; name is its name when the object has none. */
int32_t system_from_object(const struct json_object *object, const char *name, struct kerf_system *ret_system,
                           struct kerf_error *err);
/* Every field within its bounds. */
int32_t system_check(const struct kerf_system *system, struct kerf_error *err);
void system_json(struct kerf_json *json, const struct kerf_system *system);

/* ---- Problems (problem.c) ---------------------------------------------------------------------------------------- */

/* Every range that spec.h promises, for structs that a program filled in itself: what follows relies on them. */
int32_t problem_check(const struct kerf_problem *problem, struct kerf_error *err);

#endif
