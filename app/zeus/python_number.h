/* SPDX-License-Identifier: Apache-2.0 */
/* int(), float() and str() of what a body holds, as pydantic 1 calls them. */
#ifndef KERF_ZEUS_PYTHON_NUMBER_H
#define KERF_ZEUS_PYTHON_NUMBER_H

#include "zeus/python_json.h"

struct python_integer {
    int64_t value;      /* when digits is NULL */
    const char *digits; /* else: decimal, a sign when negative, no zeros in front; too large for value */
};

enum python_outcome {
    PYTHON_DONE,
    PYTHON_NO_VALUE, /* TypeError or ValueError */
    PYTHON_OVERFLOW, /* OverflowError: an integer as a float */
    PYTHON_NO_MEMORY
};

enum python_outcome python_integer_of(const struct python_value *value, struct arena *arena,
                                      struct python_integer *ret_integer);
enum python_outcome python_float_of(const struct python_value *value, struct arena *arena, double *ret_number);
enum python_outcome python_string_of(const struct python_value *value, struct arena *arena,
                                     struct python_text *ret_text);
enum python_outcome python_boolean_of(const struct python_value *value, int32_t *ret_boolean);

int python_integer_sign(const struct python_integer *integer); /* -1, 0, 1 */
int python_integer_compare(const struct python_integer *a, const struct python_integer *b);
void python_integer_write(const struct python_integer *integer, struct kerf_text *out);

#endif
