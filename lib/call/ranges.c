/* SPDX-License-Identifier: Apache-2.0 */
#include "call/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

/* Reads digits at *at and moves it behind them; 0 when there are none or too many. */
static int read_number(const char **at, int64_t *ret_value) {
    if (**at < '0' || **at > '9') return 0;
    char *end;
    errno = 0;
    *ret_value = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0;
}

static int32_t not_a_range(const char *text, const char *what, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID,
                          "%s '%.64s' must be whole numbers such as 1024, 8,16,32, 4..16384:x2 or 64..512:+64", what,
                          text);
}

static int32_t append(struct range *range, const char *what, int64_t value, int64_t least, int64_t most,
                      struct kerf_error *err) {
    if (value < least || value > most)
        return kerf_error_set(err, KERF_EINVALID, "%s must lie between %lld and %lld, not %lld", what, (long long)least,
                              (long long)most, (long long)value);
    if (range->count == RANGE_MAX)
        return kerf_error_set(err, KERF_EINVALID, "%s has more than %d values", what, RANGE_MAX);
    range->values[range->count++] = value;
    return KERF_OK;
}

static int32_t parse(const char *text, const char *what, int64_t least, int64_t most, struct range *range,
                     struct kerf_error *err) {
    const char *at = text;
    do {
        int64_t from, to, step = 1;
        if (at != text) at++; /* the comma */
        if (!read_number(&at, &from)) return not_a_range(text, what, err);
        to = from;
        int factor = 0;
        if (strncmp(at, "..", 2) == 0) {
            at += 2;
            if (!read_number(&at, &to)) return not_a_range(text, what, err);
            if (*at == ':') {
                factor = at[1] == 'x';
                if (!factor && at[1] != '+') return not_a_range(text, what, err);
                at += 2;
                if (!read_number(&at, &step) || step < 1 + factor) return not_a_range(text, what, err);
            }
            if (from > to) return kerf_error_set(err, KERF_EINVALID, "%s '%.64s' ends before it begins", what, text);
        }
        if (*at != ',' && *at != 0) return not_a_range(text, what, err);
        for (int64_t value = from; value <= to;) {
            int32_t code = append(range, what, value, least, most, err);
            if (code != KERF_OK) return code;
            int64_t next;
            if (factor ? __builtin_mul_overflow(value, step, &next) : __builtin_add_overflow(value, step, &next)) break;
            if (next == value) break; /* 0..N:x2 */
            value = next;
        }
    } while (*at == ',');
    return KERF_OK;
}

int32_t range_parse(const char *text, const char *what, int64_t least, int64_t most, struct range *ret_range,
                    struct kerf_error *err) {
    struct range range = {calloc(RANGE_MAX, sizeof(int64_t)), 0};
    if (range.values == NULL) return error_no_memory(err, what);
    int32_t code = parse(text, what, least, most, &range, err);
    if (code == KERF_OK)
        *ret_range = range;
    else
        range_free(&range);
    return code;
}

void range_free(struct range *range) {
    free(range->values);
    *range = (struct range){NULL, 0};
}

int32_t words_each(const char *list, const char *what,
                   int32_t (*each)(void *context, const char *word, struct kerf_error *err), void *context,
                   struct kerf_error *err) {
    char *copy = strdup(list);
    if (copy == NULL) return error_no_memory(err, what);
    int32_t code = KERF_OK;
    char *rest = copy;
    for (char *word; code == KERF_OK && (word = strsep(&rest, ","));)
        code = *word ? each(context, word, err)
                     : kerf_error_set(err, KERF_EINVALID, "%s '%.64s' has an empty item", what, list);
    free(copy);
    return code;
}
