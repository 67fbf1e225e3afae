/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streaming JSON writer: commas, quotes and escapes are its business, the order of calls the caller's.
 * Numbers print as short as they can be and read back to the same double. A number that is not finite has
 * no JSON form and is written as null.
 *
 * key is the member's name inside an object and NULL elsewhere.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         struct kerf_text text = {0};
 *         struct kerf_json json;
 *         kerf_json_begin(&json, &text);
 *         kerf_json_open(&json, NULL, '{');
 *         kerf_json_integer(&json, "gpus", 512);
 *         kerf_json_number(&json, "step_s", 6.25);
 *         kerf_json_close(&json, '}');
 *         if (!text.failed) puts(text.data);
 *         kerf_text_free(&text);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     {"gpus":512,"step_s":6.25}
 */
#ifndef KERF_JSON_H
#define KERF_JSON_H

#include "kerf/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Objects and arrays ----------------------------------------------------------------------------------- */

struct kerf_json {
    struct kerf_text *out;
    int32_t need_comma;
};

KERF_API void kerf_json_begin(struct kerf_json *json, struct kerf_text *out);
KERF_API void kerf_json_open(struct kerf_json *json, const char *key, char bracket);
KERF_API void kerf_json_close(struct kerf_json *json, char bracket);

/* ---- Members ---------------------------------------------------------------------------------------------- */

KERF_API void kerf_json_string(struct kerf_json *json, const char *key, const char *value); /* NULL: null */
KERF_API void kerf_json_number(struct kerf_json *json, const char *key, double value);      /* not finite: null */
KERF_API void kerf_json_integer(struct kerf_json *json, const char *key, int64_t value);
KERF_API void kerf_json_boolean(struct kerf_json *json, const char *key, int32_t value);
KERF_API void kerf_json_null(struct kerf_json *json, const char *key);

#ifdef __cplusplus
}
#endif
#endif
