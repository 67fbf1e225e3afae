/* SPDX-License-Identifier: Apache-2.0 */
/* A parameter as it is written: "batch=16..2048:x2", "kv=f16,q8_0", "map?=--no-mmap". */
#ifndef KERF_TUNE_PARAM_H
#define KERF_TUNE_PARAM_H

#include "base/arena.h"
#include "kerf/tune.h"

enum { TUNE_SETTINGS_MAX = 1000000 };

int32_t param_read(const char *text, struct arena *arena, struct kerf_tune_param *ret_param, struct kerf_error *err);

/* Whether these bytes are the name of a parameter: a letter or _, then letters, digits, _ . - */
int param_is_name(const char *text, size_t length);

/* The whole text as a decimal integer. */
int param_read_integer(const char *text, size_t length, int64_t *ret_value);

#endif
