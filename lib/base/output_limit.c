/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output_limit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/number.h"
#include "base/quantity.h"

static int is_time(const char *name) { return strcmp(name, "wall") == 0 || strcmp(name, "cpu") == 0; }
static int is_memory(const char *name) { return strcmp(name, "memory") == 0; }

static const char *skip_blanks(const char *text) { return text + strspn(text, " \t"); }

static int32_t read_bound(const char *text, struct output_limit *limit, struct kerf_error *err) {
    char *end;
    struct kerf_error why;
    if (is_time(limit->name)) {
        if (duration_read(text, &limit->bound)) return KERF_OK;
        return kerf_error_set(err, KERF_EINVALID, "the limit of %s must be a time such as 90s, not '%.64s'",
                              limit->name, text);
    }
    if (is_memory(limit->name)) {
        if (quantity_parse(text, "B", &limit->bound, &why) == KERF_OK && limit->bound >= 0) return KERF_OK;
        return kerf_error_set(err, KERF_EINVALID, "the limit of memory must be a size such as 8GB, not '%.64s'", text);
    }
    limit->bound = number_read(text, &end);
    if (end != text && *skip_blanks(end) == 0 && isfinite(limit->bound)) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "the limit of %s must be a number in the program's own unit, without one, not '%.64s'",
                          limit->name, text);
}

int32_t output_limit_read(const char *text, struct output_limit *ret_limit, struct kerf_error *err) {
    struct output_limit limit = {.bound = 0};
    const char *name = skip_blanks(text), *sign = name + strcspn(name, "<>=");
    size_t length = (size_t)(sign - name);
    while (length > 0 && (name[length - 1] == ' ' || name[length - 1] == '\t')) length--;
    if (length == 0 || length >= sizeof limit.name || memchr(name, ' ', length) || strchr(text, ',') || *sign == 0 ||
        *sign == '=' || strcspn(sign + 1, "<>") != strlen(sign + 1))
        return kerf_error_set(err, KERF_EINVALID,
                              "'%.64s' must be a name, <= or >=, and a number, such as p99_ms <= 50 or memory <= 8GB",
                              text);
    memcpy(limit.name, name, length);
    limit.is_least = *sign == '>';
    limit.is_strict = sign[1] != '=';
    int32_t code = read_bound(skip_blanks(sign + 1 + !limit.is_strict), &limit, err);
    if (code == KERF_OK) *ret_limit = limit;
    return code;
}

size_t output_name_length(const char *text) {
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
}

int32_t output_objective_read(const char *text, char ret_name[OUTPUT_NAME_SIZE], int32_t *ret_maximize,
                              struct kerf_error *err) {
    int is_more = strncmp(text, "more ", 5) == 0, has_word = is_more || strncmp(text, "less ", 5) == 0;
    const char *name = has_word ? text + 5 : text;
    size_t length = output_name_length(name);
    if (length == 0 || length >= OUTPUT_NAME_SIZE || name[length])
        return kerf_error_set(err, KERF_EINVALID,
                              "'%.64s' must be a name, such as memory, p99_ms, or 'more tokens_per_s'", text);
    memcpy(ret_name, name, length + 1);
    *ret_maximize = is_more;
    return KERF_OK;
}

int output_limit_holds(const struct output_limit *limit, double value) {
    if (limit->is_least) return limit->is_strict ? value > limit->bound : value >= limit->bound;
    return limit->is_strict ? value < limit->bound : value <= limit->bound;
}

static void write_value(struct kerf_text *out, const char *name, double value) {
    if (is_time(name))
        quantity_seconds(out, value);
    else if (is_memory(name))
        quantity_bytes(out, value);
    else
        kerf_text_printf(out, "%.6g", value);
}

void output_limit_words(const struct output_limit *limit, double value, char *words, size_t size) {
    struct kerf_text text = {0};
    kerf_text_printf(&text, "%s is ", limit->name);
    write_value(&text, limit->name, value);
    kerf_text_printf(&text, ", %s ",
                     value == limit->bound ? (limit->is_least ? "not above" : "not below")
                     : limit->is_least     ? "below"
                                           : "above");
    write_value(&text, limit->name, limit->bound);
    snprintf(words, size, "%s", text.failed ? limit->name : text.data);
    kerf_text_free(&text);
}
