/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One config.json while it is read. Every key that is asked for is remembered, so that what nobody asked for can be
 * told at the end. The first error stays, and what is read after it is the fallback: a family's reader asks for one key
 * after the other and looks at the code once.
 */
#ifndef KERF_SPEC_CONFIG_H
#define KERF_SPEC_CONFIG_H

#include "base/json_read.h"
#include "kerf/model.h"

/* Bounds of what a config may say. */
enum {
    HIDDEN_MAX = 1 << 24,
    WIDTH_MAX = 1 << 26,
    LAYERS_MAX = 1 << 20,
    HEADS_MAX = 1 << 20,
    EXPERTS_MAX = 1 << 20,
    CONFIG_KEYS_MAX = 192,
};

struct config {
    const struct json_object *object; /* where the decoder is described: the file, or its text_config */
    const struct json_object *root;   /* the file; tie_word_embeddings of a text_config may stand there */
    const char *asked[CONFIG_KEYS_MAX];
    int32_t num_asked;
    int32_t code; /* of the first error, which is in *err */
    struct kerf_error *err;
};

/* A list of names for the same thing, the first the family's own; ends with NULL. */
typedef const char *const config_names[8];

/* The key's value within [least, most]; the fallback where the key is missing or null. */
int64_t config_integer(struct config *config, const char *key, int64_t least, int64_t most, int64_t fallback);
int32_t config_boolean(struct config *config, const char *key, int32_t fallback);
const char *config_string(struct config *config, const char *key, const char *fallback);

/* The value of whichever of the names is there; they must agree. *ret_key is the one, NULL where none is. */
int64_t config_named(struct config *config, config_names names, int64_t least, int64_t most, int64_t fallback,
                     const char **ret_key);

/* Whether the key is there and not null. */
int config_has(struct config *config, const char *key);

/* The array under the key, NULL where there is none; anything else there is an error. */
const json_t *config_array(struct config *config, const char *key);

/* The same of whole numbers alone, at least so many. */
const json_t *config_integers(struct config *config, const char *key, int64_t least);

/* The object under the key as a config of its own, whose object is *ret_object; 0 where there is none. */
int config_inner(struct config *config, const char *key, struct json_object *ret_object, struct config *ret_inner);

/* Takes over the inner config's error. */
void config_join(struct config *config, const struct config *inner);

/* Fails at the key's value; later failures change nothing. */
void config_fail(struct config *config, const char *key, int32_t code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Lists the keys that nobody asked for and that are not harmless. */
void config_note_ignored(const struct config *config, struct kerf_model *model);

#endif
