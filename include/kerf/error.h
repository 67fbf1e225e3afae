/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: every function that can fail returns KERF_OK (0) or one of the negative codes below, and fills
 * the caller's struct kerf_error (which may be NULL) with words for the person who reads them. Outputs,
 * named ret_..., are written only on success.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         struct kerf_error err;
 *         struct kerf_layout layout;
 *         char line[256];
 *         if (kerf_layout_parse("dp=none", &layout, &err) == KERF_OK) return 1;
 *         kerf_error_format(&err, line, sizeof line);
 *         puts(line);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     layout: dp must be a whole number from 1 to 1073741824, not 'none'
 */
#ifndef KERF_ERROR_H
#define KERF_ERROR_H

#include <stddef.h>
#include <stdint.h>
#include "kerf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Codes ------------------------------------------------------------------------------------------------ */

#define KERF_OK 0

/* X(name, value, what it means) */
#define KERF_ERRORS(X)                                                                                                 \
    X(KERF_EINVALID, -1, "a value that means nothing here")                                                            \
    X(KERF_ESYNTAX, -2, "text that cannot be read")                                                                    \
    X(KERF_EUNKNOWN, -3, "a name that is not known")                                                                   \
    X(KERF_EIO, -4, "a file that cannot be read or written")                                                           \
    X(KERF_ENOMEM, -5, "not enough memory")                                                                            \
    X(KERF_EUNSUPPORTED, -6, "something this build cannot do")                                                         \
    X(KERF_EINTERRUPTED, -7, "stopped before the end")                                                                 \
    X(KERF_EINFEASIBLE, -8, "a question without an answer")

enum kerf_code {
#define KERF_ERROR_ENUM(name, value, meaning) name = value,
    KERF_ERRORS(KERF_ERROR_ENUM)
#undef KERF_ERROR_ENUM
        KERF_CODE_NONE = KERF_OK
};

/* ---- Errors ----------------------------------------------------------------------------------------------- */

struct kerf_error {
    int32_t code;      /* KERF_OK or a KERF_E... code */
    int32_t line;      /* 1-based line in file, 0: does not apply */
    int32_t column;    /* 1-based column in bytes, 0: does not apply */
    char file[256];    /* which input, "" when it is not a file; cut at the front when longer */
    char message[512]; /* what was wrong and what would be right; one line, no newline at the end */
};

/** Fills err (may be NULL) and returns code, so that a caller can write `return kerf_error_set(...)`. */
KERF_API int32_t kerf_error_set(struct kerf_error *err, int32_t code, const char *format, ...) KERF_PRINTF(3, 4);

/** The name of a code, "KERF_EINVALID"; "KERF_OK" for 0; "?" for a number that is none. */
KERF_API const char *kerf_error_name(int32_t code);

/** Writes "file:line:column: message", without the parts that do not apply, into buffer (always ended). */
KERF_API void kerf_error_format(const struct kerf_error *err, char *buffer, size_t size);

/* ---- Long work -------------------------------------------------------------------------------------------- */

/**
 * Told often how far the work is: shares between 0 and 1. Any thread may call it, one at a time.
 * A return value other than 0 ends the work early, which is no error: the answer says what is known so far.
 */
typedef int32_t (*kerf_progress)(void *context, double done);

/** A progress that ends the work once the int32_t behind `flag` is not 0: another thread, or the handler of a signal, sets
 * it. */
KERF_API int32_t kerf_progress_flag(void *flag, double done);

#ifdef __cplusplus
}
#endif
#endif
