/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a request's body. What is read is well-formed and, written again as JSON, reads as the same; an error
 * lies in the text. */
#include "invariants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "zeus/python_values.h"

static void write_value(const struct python_value *value, struct kerf_text *out);

static void write_float(double number, struct kerf_text *out) {
    if (isfinite(number))
        python_float_repr(number, out);
    else
        kerf_text_add(out, isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity");
}

/* Every other value of an object is a key. */
static void write_values(const struct python_value *value, struct kerf_text *out) {
    int is_object = value->kind == PYTHON_OBJECT, i = 0;
    kerf_text_add(out, is_object ? "{" : "[");
    for (const struct python_value *item = value->first; item; item = item->next, i++) {
        if (i > 0) kerf_text_add(out, is_object && i % 2 ? ":" : ",");
        write_value(item, out);
    }
    kerf_text_add(out, is_object ? "}" : "]");
    CHECK((uint32_t)i == value->length * (is_object ? 2 : 1));
}

static void check_text(const struct python_value *value) {
    for (size_t at = 0, size; at < value->length; at += size) {
        size_t length;
        size = python_text_well_formed(value->bytes + at, value->length - at);
        CHECK(size > 0);
        char again[4];
        CHECK(python_text_put(again, python_text_code(value->bytes + at, &length)) == size && length == size);
        CHECK(memcmp(again, value->bytes + at, size) == 0);
    }
}

static void write_value(const struct python_value *value, struct kerf_text *out) {
    struct python_text text = {value->bytes, value->length};
    switch (value->kind) {
    case PYTHON_NULL: kerf_text_add(out, "null"); break;
    case PYTHON_BOOLEAN: kerf_text_add(out, value->boolean ? "true" : "false"); break;
    case PYTHON_INTEGER: kerf_text_write(out, value->bytes, value->length); break;
    case PYTHON_FLOAT: write_float(value->number, out); break;
    case PYTHON_STRING:
        check_text(value);
        python_text_quote(&text, out);
        break;
    default: CHECK(value->kind == PYTHON_LIST || value->kind == PYTHON_OBJECT); write_values(value, out);
    }
}

static void check_round_trip(const struct python_value *value, struct arena *arena) {
    struct kerf_text first = {0}, second = {0};
    struct python_json_error error;
    const struct python_value *again;
    write_value(value, &first);
    int32_t code = python_json_read(first.data, first.length, arena, &again, &error);
    CHECK(code == KERF_OK);
    write_value(again, &second);
    if (strstr(first.data, "\\ud") == NULL) /* two lone surrogates, escaped one after the other, are a pair */
        CHECK(first.length == second.length && memcmp(first.data, second.data, first.length) == 0);
    kerf_text_free(&first);
    kerf_text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {NULL};
    struct python_json_error error;
    const struct python_value *value;
    poison(&value, sizeof value);
    int32_t code = python_json_read((const char *)data, size, &arena, &value, &error);
    if (code == KERF_OK) {
        check_round_trip(value, &arena);
    } else {
        CHECK(code == KERF_ESYNTAX || code == KERF_EINVALID);
        CHECK(is_poisoned(&value, sizeof value));
        if (code == KERF_ESYNTAX) CHECK(error.message[0] && error.position <= size);
    }
    arena_free(&arena);
    return 0;
}
