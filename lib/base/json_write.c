/* SPDX-License-Identifier: Apache-2.0 */
/* The streaming JSON writer. */
#include "kerf/json.h"

#include <math.h>
#include <string.h>
#include "base/characters.h"

void kerf_json_begin(struct kerf_json *json, struct kerf_text *out) {
    json->out = out;
    json->need_comma = 0;
}

/* A string in quotes. Bytes that are not UTF-8, such as those of a file's name, become U+FFFD. */
static void quoted(struct kerf_text *out, const char *string) {
    kerf_text_add(out, "\"");
    const char *start = string;
    for (const char *c = string; *c;) {
        unsigned char byte = (unsigned char)*c;
        size_t length = utf8_code_point(c);
        if (length && byte >= ' ' && byte != '"' && byte != '\\') {
            c += length;
            continue;
        }
        kerf_text_write(out, start, (size_t)(c - start));
        start = ++c;
        if (length == 0)
            kerf_text_add(out, "\\ufffd");
        else if (byte == '\n')
            kerf_text_add(out, "\\n");
        else if (byte == '\t')
            kerf_text_add(out, "\\t");
        else if (byte < ' ')
            kerf_text_printf(out, "\\u%04x", byte);
        else
            kerf_text_printf(out, "\\%c", byte);
    }
    kerf_text_add(out, start);
    kerf_text_add(out, "\"");
}

static void before_value(struct kerf_json *json, const char *key) {
    if (json->need_comma) kerf_text_add(json->out, ",");
    json->need_comma = 1;
    if (key) {
        quoted(json->out, key);
        kerf_text_add(json->out, ":");
    }
}

void kerf_json_open(struct kerf_json *json, const char *key, char bracket) {
    before_value(json, key);
    kerf_text_write(json->out, &bracket, 1);
    json->need_comma = 0;
}

void kerf_json_close(struct kerf_json *json, char bracket) {
    kerf_text_write(json->out, &bracket, 1);
    json->need_comma = 1;
}

void kerf_json_string(struct kerf_json *json, const char *key, const char *value) {
    if (value == NULL) {
        kerf_json_null(json, key);
        return;
    }
    before_value(json, key);
    quoted(json->out, value);
}

void kerf_json_number(struct kerf_json *json, const char *key, double value) {
    before_value(json, key);
    if (isfinite(value))
        kerf_text_number(json->out, value);
    else
        kerf_text_add(json->out, "null");
}

void kerf_json_integer(struct kerf_json *json, const char *key, int64_t value) {
    const int64_t exact = INT64_C(1) << 53; /* below it a double holds the number */
    before_value(json, key);
    if (value > -exact && value < exact)
        kerf_text_number(json->out, (double)value);
    else
        kerf_text_printf(json->out, "%lld", (long long)value);
}

void kerf_json_boolean(struct kerf_json *json, const char *key, int32_t value) {
    before_value(json, key);
    kerf_text_add(json->out, value ? "true" : "false");
}

void kerf_json_null(struct kerf_json *json, const char *key) {
    before_value(json, key);
    kerf_text_add(json->out, "null");
}
