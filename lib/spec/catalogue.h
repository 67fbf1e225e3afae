/* SPDX-License-Identifier: Apache-2.0 */
/* The models and systems that have names: the files of share/ that were put into the library when it was built, and,
 * where none of them has the name, NAME.json in models/ or systems/ of these folders, the first that has it:
 * $KERF_CATALOGUE (what --catalogue sets), $XDG_DATA_HOME/kerf (without the variable: ~/.local/share/kerf) and
 * $KERF_DATA_DIR (without the variable: PREFIX/share/kerf). A name that comes with the library means the same on every
 * machine. */
#ifndef KERF_SPEC_CATALOGUE_H
#define KERF_SPEC_CATALOGUE_H

#include "kerf/spec.h"

/* Those in the library; ended by an entry whose name is NULL. */
extern const struct kerf_catalogue_entry catalogue_models[], catalogue_systems[];

/* Adds the text of this name ("models", "systems") to text, and says in *ret_found whether there is one. */
int32_t catalogue_read(const char *kind, const char *name, struct kerf_text *text, int *ret_found,
                       struct kerf_error *err);

/* KERF_EUNKNOWN: "no model or file 'gpt4'; did you mean gpt3?" */
int32_t catalogue_unknown(const char *kind, const char *name, struct kerf_error *err);

#endif
