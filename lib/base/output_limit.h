/* SPDX-License-Identifier: Apache-2.0 */
/* A bound on a further number of a run, or that number as an objective: "p99_ms <= 50", "memory <= 8GB", "tokens_per_s >= 100". */
#ifndef KERF_BASE_OUTPUT_LIMIT_H
#define KERF_BASE_OUTPUT_LIMIT_H

#include <stddef.h>
#include "kerf/error.h"

enum { OUTPUT_NAME_SIZE = 96, OUTPUT_LIMITS_MAX = 16 };

struct output_limit {
    char name[OUTPUT_NAME_SIZE]; /* what kerf measures: wall, cpu, memory; else a path into the program's JSON */
    int is_least;                /* >= or >, not <= or < */
    int is_strict;               /* < or > */
    double bound;                /* of wall and cpu in seconds, of memory in bytes, else in the program's own unit */
};

/* KERF_EINVALID: text is no limit. */
int32_t output_limit_read(const char *text, struct output_limit *ret_limit, struct kerf_error *err);

/* How many characters at the beginning of a text are a name. */
size_t output_name_length(const char *text);

/* A second objective: "p99_ms" or "less p99_ms", and "more tokens_per_s", of which more is better. KERF_EINVALID: it is no
 * name. */
int32_t output_objective_read(const char *text, char ret_name[OUTPUT_NAME_SIZE], int32_t *ret_maximize,
                              struct kerf_error *err);

int output_limit_holds(const struct output_limit *limit, double value);

/* "p99_ms is 61.5, above 50"; memory and times with their units. */
void output_limit_words(const struct output_limit *limit, double value, char *words, size_t size);

#endif
