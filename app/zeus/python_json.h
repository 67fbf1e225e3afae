/* SPDX-License-Identifier: Apache-2.0 */
/* A request's body as Python's json.loads takes it, into a tree. */
#ifndef KERF_ZEUS_PYTHON_JSON_H
#define KERF_ZEUS_PYTHON_JSON_H

#include "zeus/python_text.h"

enum python_kind {
    PYTHON_NULL,
    PYTHON_BOOLEAN,
    PYTHON_INTEGER, /* of any size */
    PYTHON_FLOAT,   /* not finite among them */
    PYTHON_STRING,
    PYTHON_LIST,
    PYTHON_OBJECT /* a key that is there again counts last */
};

struct python_value {
    const struct python_value *next; /* in its list or object */
    union {
        int32_t boolean;
        double number;
        const char *bytes;                /* STRING; INTEGER as it was written, "-12" */
        const struct python_value *first; /* LIST; OBJECT: key, value, key, value and so on */
    };
    uint32_t length; /* STRING, INTEGER: bytes; LIST: items; OBJECT: pairs */
    int32_t kind;    /* enum python_kind */
};

static inline struct python_text python_value_text(const struct python_value *value) {
    return (struct python_text){value->bytes, value->length};
}

enum {
    PYTHON_DIGITS_MAX = 4300, /* of an integer; Python's default */
    PYTHON_NESTING_MAX = 950  /* Python's 1000, less the calls that stand above json.loads in a server */
};

struct python_json_error { /* as JSONDecodeError */
    const char *message;
    size_t position; /* code points */
};

/* KERF_ESYNTAX: not JSON, and error says why. KERF_EINVALID: Python raises something else: no text, an integer of too
 * many digits, nesting too deep. The tree lives as long as both the arena and the bytes. */
int32_t python_json_read(const char *bytes, size_t length, struct arena *arena, const struct python_value **ret_value,
                         struct python_json_error *ret_error);

#endif
