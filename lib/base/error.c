/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error_fill.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/characters.h"

const char *kerf_version(void) { return KERF_VERSION_TEXT; }

int32_t kerf_error_set(struct kerf_error *err, int32_t code, const char *format, ...) {
    if (err == NULL) return code;
    struct kerf_error fresh = {.code = code}; /* apart from err, whose message may be among the arguments */
    va_list args;
    va_start(args, format);
    vsnprintf(fresh.message, sizeof fresh.message, format, args);
    va_end(args);
    utf8_clean(fresh.message); /* one line of printable text, even where input is quoted in it */
    *err = fresh;
    return code;
}

int32_t error_no_memory(struct kerf_error *err, const char *what) {
    return kerf_error_set(err, KERF_ENOMEM, "not enough memory for %s", what);
}

void error_set_file(struct kerf_error *err, const char *name) {
    if (err == NULL) return;
    size_t length = strlen(name);
    const char *end = length < sizeof err->file ? name : name + length - sizeof err->file + 1;
    snprintf(err->file, sizeof err->file, "%s", end);
    utf8_clean(err->file);
}

const char *kerf_error_name(int32_t code) {
    switch (code) {
    case KERF_OK: return "KERF_OK";
#define NAME(name, value, meaning)                                                                                     \
    case value: return #name;
        KERF_ERRORS(NAME)
#undef NAME
    default: return "?";
    }
}

void kerf_error_format(const struct kerf_error *err, char *buffer, size_t size) {
    if (size == 0) return;
    if (err->file[0] == 0)
        snprintf(buffer, size, "%s", err->message);
    else if (err->line == 0)
        snprintf(buffer, size, "%s: %s", err->file, err->message);
    else if (err->column == 0)
        snprintf(buffer, size, "%s:%d: %s", err->file, err->line, err->message);
    else
        snprintf(buffer, size, "%s:%d:%d: %s", err->file, err->line, err->column, err->message);
}

int32_t kerf_progress_flag(void *flag, double done) {
    (void)done;
    return __atomic_load_n((const int32_t *)flag, __ATOMIC_RELAXED) != 0;
}
