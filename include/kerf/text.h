/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing string, which everything that prints writes to.
 *
 * A kerf_text starts as all zeros and is given back with kerf_text_free. Writing never fails: when memory
 * runs out `failed` stays 1 and further writes are dropped, so that a caller checks once, at the end.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         struct kerf_text text = {0};
 *         kerf_text_printf(&text, "%d stages, ", 8);
 *         kerf_text_number(&text, 0.1);
 *         kerf_text_add(&text, " s");
 *         if (!text.failed) puts(text.data);
 *         kerf_text_free(&text);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     8 stages, 0.1 s
 */
#ifndef KERF_TEXT_H
#define KERF_TEXT_H

#include "kerf/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Text ------------------------------------------------------------------------------------------------- */

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

/* ---- Numbers ---------------------------------------------------------------------------------------------- */

/** The number in its shortest form that reads back to the same double: "0.1", "1e+30", "42". Non-finite
 * numbers have no such form and are written as "nan", "inf", "-inf". */
KERF_API void kerf_text_number(struct kerf_text *text, double value);

#ifdef __cplusplus
}
#endif
#endif
