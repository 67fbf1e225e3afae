/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing string, which everything that prints writes to, and the few things about text that
 * more than one command needs.
 *
 * A kerf_text starts as all zeros and is given back with kerf_text_free. Writing never fails: when memory
 * runs out `failed` stays 1 and further writes are dropped, so that a caller checks once, at the end.
 */
#ifndef KERF_TEXT_H
#define KERF_TEXT_H

#include "kerf/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kerf_text {
    char *data; /* length bytes and a NUL; NULL while nothing was written */
    size_t length;
    size_t capacity;
    int32_t failed; /* 1 once memory ran out */
};

KERF_API void kerf_text_write(struct kerf_text *text, const char *bytes, size_t length);
KERF_API void kerf_text_add(struct kerf_text *text, const char *string);
KERF_API void kerf_text_repeat(struct kerf_text *text, const char *string, int32_t times);
KERF_API void kerf_text_printf(struct kerf_text *text, const char *format, ...) KERF_PRINTF(2, 3);
KERF_API void kerf_text_clear(struct kerf_text *text); /* keeps the memory for the next use */
KERF_API void kerf_text_free(struct kerf_text *text);

/** The number in its shortest form that reads back to the same double: "0.1", "1e+30", "42". Non-finite
 * numbers have no such form and are written as "nan", "inf", "-inf". */
KERF_API void kerf_text_number(struct kerf_text *text, double value);

/** C's strtod with a decimal point, whatever the program's locale is. */
KERF_API double kerf_number_parse(const char *text, char **ret_end);

/** A number with its unit for people: kerf_text_bytes(63.7e9) "63.7 GB" (decimal units),
 * kerf_text_seconds(0.26) "260 ms", kerf_text_count(1818) "1,818". */
KERF_API void kerf_text_bytes(struct kerf_text *text, double bytes);
KERF_API void kerf_text_seconds(struct kerf_text *text, double seconds);
KERF_API void kerf_text_count(struct kerf_text *text, int64_t count);

/**
 * "80 GB", "312 TFLOP/s", "2.5 us", "1.5e12" as SI. unit is what is measured: "B", "B/s", "FLOP/s", "s", or
 * "" for plain numbers. Prefixes k M G T P E, m u n (and Ki Mi Gi Ti for bytes).
 */
KERF_API int32_t kerf_quantity_parse(const char *text, const char *unit, double *ret_value, struct kerf_error *err);

/** Columns that a UTF-8 string takes on a terminal (every code point counts one). */
KERF_API int32_t kerf_text_columns(const char *utf8);

/** The entry of names (count of them, none NULL) that is the nearest to word by the number of edits, or
 * NULL when none is near: for "did you mean". */
KERF_API const char *kerf_text_nearest(const char *word, const char *const *names, size_t count);

#ifdef __cplusplus
}
#endif
#endif
