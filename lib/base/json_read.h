/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JSON that people wrote: strict, with line and column in every error, the wrong values' included.
 *
 * jansson parses; it keeps no positions of values, so that an error looks its place up in the text, by the
 * path of keys that led there.
 */
#ifndef KERF_BASE_JSON_READ_H
#define KERF_BASE_JSON_READ_H

#include <jansson.h>
#include "kerf/text.h"

struct json_document {
    json_t *root;
    const char *text; /* the caller's, as long as the document lives */
    size_t length;
    const char *source; /* how errors name the text */
};

/* An object of the document and how one gets there. */
struct json_object {
    const struct json_document *document;
    const struct json_object *parent; /* NULL at the root */
    const char *key;                  /* in parent */
    size_t element;                   /* of the array of that key: 1 and up; 0: the value of the key itself */
    json_t *json;
};

/* Parses and takes the root as an object. json_document_free gives it back, also after a failure. */
int32_t json_document_parse(struct json_document *ret_document, const char *text, size_t length, const char *source,
                            struct json_object *ret_root, struct kerf_error *err);
void json_document_free(struct json_document *document);

/* Fills err with the message and the place of the value of key (NULL or not there: of the object itself). */
int32_t json_fail(const struct json_object *object, const char *key, int32_t code, struct kerf_error *err,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Every key of the object must be one of names; an unknown one is an error that says the nearest. */
int32_t json_check_keys(const struct json_object *object, const char *const *names, size_t count,
                        struct kerf_error *err);

enum json_presence { JSON_REQUIRED, JSON_OPTIONAL };

/* Getters write their result only when the key is there; a missing key is an error when it is required.
 * An integer may be written as a real without a fraction (1e3). */
int32_t json_get_integer(const struct json_object *object, const char *key, enum json_presence presence, int64_t least,
                         int64_t most, int64_t *ret_value, struct kerf_error *err);
int32_t json_get_string(const struct json_object *object, const char *key, enum json_presence presence,
                        const char **ret_value, struct kerf_error *err);
int32_t json_get_boolean(const struct json_object *object, const char *key, enum json_presence presence,
                         int32_t *ret_value, struct kerf_error *err);
int32_t json_get_object(const struct json_object *object, const char *key, enum json_presence presence,
                        struct json_object *ret_value, struct kerf_error *err);
/* The object at an index, below its size, of the array of key, which is there. */
int32_t json_get_element(const struct json_object *object, const char *key, size_t index, struct json_object *ret_value,
                         struct kerf_error *err);
int json_has(const struct json_object *object, const char *key); /* there and not null */

#endif
