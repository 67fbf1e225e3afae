/* SPDX-License-Identifier: Apache-2.0 */
/* The files of share/, put into the library when it is built; each list ends with a NULL name. */
#ifndef KERF_SPEC_CATALOGUE_H
#define KERF_SPEC_CATALOGUE_H

#include "kerf/spec.h"

extern const struct kerf_catalogue_entry catalogue_models[], catalogue_systems[];

/* The entry of this name, or NULL. */
const struct kerf_catalogue_entry *catalogue_find(const struct kerf_catalogue_entry *list, const char *name);

/* "no model 'gpt4' ...; did you mean gpt3?" */
int32_t catalogue_unknown(const struct kerf_catalogue_entry *list, const char *what, const char *name,
                          struct kerf_error *err);

#endif
