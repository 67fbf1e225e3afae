/* SPDX-License-Identifier: Apache-2.0 */
/* Chrome traces of any size: only the events that somebody wants become JSON values. */
#ifndef KERF_TRACE_TRACE_JSON_H
#define KERF_TRACE_TRACE_JSON_H

#include <jansson.h>
#include "kerf/error.h"

/* A text and where one of its values stands. */
struct text_place {
    const char *text, *end, *source;
    const char *at; /* for errors */
};

struct trace_visitor {
    void *context;
    /* A string of an event begins with one of these (count of them): it is wanted. */
    const char *const *words;
    size_t num_words;
    int32_t (*event)(void *context, const json_t *event, const struct text_place *place, struct kerf_error *err);
    /* Members of the root other than "traceEvents", as they stand in the text. Called before or after the events, as
     * the text has them. */
    int32_t (*member)(void *context, const char *key, size_t key_length, const char *value, size_t length,
                      const struct text_place *place, struct kerf_error *err);
};

/* *ret_found: whether there are "traceEvents", or an array of objects at the root. */
int32_t trace_visit(const char *text, size_t length, const char *source, const struct trace_visitor *visitor,
                    int *ret_found, struct kerf_error *err);

/* Fills err with the message and the place. */
int32_t trace_fail(const struct text_place *place, int32_t code, struct kerf_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
