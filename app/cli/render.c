/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render.h"

#include <assert.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "cli/output.h"
#include "cli/terminal.h"

static const struct render_format *named(const struct render *render, const char *name) {
    for (const struct render_format *format = render->formats; format->name; format++)
        if (strcmp(format->name, name) == 0) return format;
    return NULL;
}

/* Where the name says nothing, as that of a pipe, it is --format; NULL when its ending is of no format. */
static const struct render_format *format_of(const struct render *render, const char *path) {
    const struct render_format *asked = named(render, render->format);
    const char *ending = output_ending(path);
    if (output_is_special(path)) return asked;
    if (asked && strcasecmp(asked->ending, ending) == 0) return asked;
    for (const struct render_format *format = render->formats; format->name; format++)
        if (strcasecmp(format->ending, ending) == 0) return format;
    return NULL;
}

static int32_t unknown_ending(const struct render *render, const char *path, struct kerf_error *err) {
    struct kerf_text endings = {0};
    for (const struct render_format *format = render->formats; format->name; format++) {
        int again = 0;
        for (const struct render_format *before = render->formats; before < format; before++)
            again |= strcmp(before->ending, format->ending) == 0;
        if (!again) kerf_text_printf(&endings, " .%s", format->ending);
    }
    kerf_error_set(err, KERF_EINVALID, "--output %.200s: end the name in one of%s", path,
                   endings.data ? endings.data : "");
    kerf_text_free(&endings);
    return KERF_EINVALID;
}

/* A command with several verbs has one --format for all of them, and not every verb every form. */
static int32_t unknown_format(const struct render *render, struct kerf_error *err) {
    struct kerf_text names = {0};
    for (const struct render_format *format = render->formats; format->name; format++)
        kerf_text_printf(&names, "%s%s", format == render->formats ? "" : format[1].name ? ", " : " or ", format->name);
    kerf_error_set(err, KERF_EINVALID, "--format %.64s is not for this; it must be %s", render->format,
                   names.data ? names.data : "");
    kerf_text_free(&names);
    return KERF_EINVALID;
}

int32_t render_check(const struct render *render, struct kerf_error *err) {
    if (named(render, render->format) == NULL) return unknown_format(render, err);
    for (int32_t i = 0; i < render->outputs->count; i++) {
        const char *path = render->outputs->items[i];
        int32_t code = output_check(path, err);
        if (code != KERF_OK) return code;
        if (format_of(render, path) == NULL) return unknown_ending(render, path, err);
    }
    return KERF_OK;
}

/* After render_check, which knows them all. */
static const struct render_format *checked_format_of(const struct render *render, const char *path) {
    const struct render_format *format = format_of(render, path);
    assert(format);
    return format;
}

static int32_t write_one(const struct render *render, const char *path, struct kerf_error *err) {
    int to_stdout = output_is_stdout(path);
    const struct render_style style = {to_stdout ? terminal_columns() : 100, to_stdout && terminal_colour(),
                                       to_stdout && isatty(STDOUT_FILENO)};
    struct kerf_text out = {0};
    int32_t code = render->write(render->context, &out, checked_format_of(render, path), &style, err);
    if (code == KERF_OK) code = output_file(path, &out, err);
    kerf_text_free(&out);
    return code;
}

int32_t render_all(const struct render *render, struct kerf_error *err) {
    struct kerf_error one;
    int32_t code = KERF_OK;
    const struct render_format *asked = named(render, render->format), *usual = render->formats;
    int to_stdout = 1;
    for (int32_t i = 0; i < render->outputs->count; i++) {
        const char *path = render->outputs->items[i];
        const struct render_format *format = checked_format_of(render, path);
        if (!format->is_picture && (format == asked || asked == usual)) to_stdout = 0;
        if (write_one(render, path, &one) != KERF_OK && code == KERF_OK) code = one.code, *err = one;
    }
    if (to_stdout && write_one(render, "-", &one) != KERF_OK && code == KERF_OK) code = one.code, *err = one;
    return code;
}
