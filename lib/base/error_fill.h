/* SPDX-License-Identifier: Apache-2.0 */
/* How all rooms fill a struct kerf_error. */
#ifndef KERF_BASE_ERROR_FILL_H
#define KERF_BASE_ERROR_FILL_H

#include "kerf/error.h"

/* KERF_ENOMEM: "not enough memory for a job"; what: "a job". */
int32_t error_no_memory(struct kerf_error *err, const char *what);

/* Writes name into err->file; of a long one the end is kept. */
void error_set_file(struct kerf_error *err, const char *name);

#endif
