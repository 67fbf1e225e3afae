/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models as tables of fields, and what pydantic 1 makes of a JSON value by one: a struct, or the errors of all fields
 * in their order. A field is coerced to its kind, then bounded, then validated; the model's own check comes last, when
 * no field failed.
 *
 *     {"loc":["body","batch_sizes",1],"msg":"value is not a valid integer","type":"type_error.integer"}
 */
#ifndef KERF_ZEUS_MODEL_FIELDS_H
#define KERF_ZEUS_MODEL_FIELDS_H

#include "zeus/python_values.h"
#include "zeus/request.h"

enum field_kind {
    FIELD_INTEGER, /* kept as int64_t */
    FIELD_FLOAT,   /* double */
    FIELD_STRING,  /* const char * */
    FIELD_BOOLEAN, /* int32_t */
    FIELD_INTEGERS /* const int64_t *, and an int32_t count */
};

enum field_rules {
    FIELD_REQUIRED = 1,
    FIELD_NULLABLE = 2,
    FIELD_ABOVE_0 = 4,
    FIELD_FROM_0 = 8, /* 0 or more */
    /* the following with REQUEST_MENDED alone */
    FIELD_IS_MENDED = 16, /* without it the field is not there */
    FIELD_MENDED_FINITE = 32,
    FIELD_MENDED_FROM_0 = 64,
    FIELD_MENDED_ABOVE_0 = 128,
    FIELD_MENDED_STORED = 256, /* texts that a database takes: no NUL, no surrogates */
    FIELD_NOT_STORED = 512     /* no database is asked about it */
};

enum { MODEL_FIELDS_MAX = 24 };

struct field_value {
    int32_t is_set; /* 0: missing, null, or at fault */
    union {
        struct python_integer integer;
        double number;
        struct python_text text;
        int32_t boolean;
        struct {
            struct python_integer *items;
            size_t count;
        };
    };
};

struct model_run; /* one value on its way through a model */

struct field {
    const char *name;
    int32_t kind;
    int32_t rules;
    void (*validate)(struct model_run *run, const struct field *field, struct field_value *value); /* NULL: none */
    size_t offset;                                                                                 /* in the struct */
    size_t has_offset; /* of the int32_t that says whether a nullable field is there, or of a list's count; 0: none */
};

struct model {
    const struct field *fields; /* in the order of their errors */
    size_t count;
    void (*validate)(struct model_run *run, const struct field_value *values); /* NULL: none */
};

struct model_run {
    struct arena *arena;
    int32_t flags; /* enum request_flags */
    int32_t num_errors;
    int32_t failure;          /* KERF_OK, or that the whole request fails: KERF_ENOMEM, KERF_EINVALID (a 500) */
    struct kerf_text *errors; /* the document, from {"detail":[ on */
    struct kerf_text message; /* of an error while it is made */
};

/* Adds an error of a field (NULL: the whole body) or of an item (index >= 0) to the document. The message is taken from
 * run->message; context is JSON or NULL. */
void model_fail(struct model_run *run, const char *field, int64_t index, const char *type, const char *context);

/* Reads value into the struct, which holds the defaults; writes the refusal where that cannot be. */
int32_t model_fields_read(const struct model *model, const struct python_value *value, int32_t flags,
                          struct arena *arena, void *structure, struct request_refusal *refusal);

#endif
