/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "cli/command.h"
#include "cli/terminal.h"

const char render_usual[] = "table";

static const struct render_format *named(const struct render *render, const char *name) {
    if (name == render_usual) return render->formats;
    for (const struct render_format *format = render->formats; format->name; format++)
        if (strcmp(format->name, name) == 0) return format;
    return NULL;
}

/* Where the name says nothing, as that of a pipe, it is --format; NULL when no format has this ending. */
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

/* A command with several verbs has one --format for all of them, but not every verb has every format. */
static int32_t unknown_format(const struct render *render, struct kerf_error *err) {
    struct kerf_text names = {0};
    for (const struct render_format *format = render->formats; format->name; format++)
        kerf_text_printf(&names, "%s%s", format == render->formats ? "" : format[1].name ? ", " : " or ", format->name);
    kerf_error_set(err, KERF_EINVALID, "--format %.64s is not possible here; it must be %s", render->format,
                   names.data ? names.data : "");
    kerf_text_free(&names);
    return KERF_EINVALID;
}

/* After render_check has found one for each. */
static const struct render_format *checked_format_of(const struct render *render, const char *path) {
    const struct render_format *format = format_of(render, path);
    assert(format);
    return format;
}

/* Of standard output, likewise. */
static const struct render_format *checked_format(const struct render *render) {
    const struct render_format *format = named(render, render->format);
    assert(format);
    return format;
}

/* Whether a file of this format holds what standard output would: a text in the format that was asked for, or, where none
 * was, any. */
static int holds_answer(const struct render *render, const struct render_format *format) {
    return !format->is_picture && (format == named(render, render->format) || render->format == render_usual);
}

static int has_text_file(const struct render *render) {
    for (int32_t i = 0; i < render->outputs->count; i++)
        if (holds_answer(render, checked_format_of(render, render->outputs->items[i]))) return 1;
    return 0;
}

static int32_t check_terminal(const struct render_format *format, const char *path, struct kerf_error *err) {
    int binary = format->is_picture && (format->picture == KERF_PICTURE_PNG || format->picture == KERF_PICTURE_PDF);
    if (!binary || !output_is_terminal(path)) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "%s is binary, and standard output is a terminal: name a file, such as -o answer.%s",
                          format->name, format->ending);
}

int32_t render_check(const struct render *render, struct kerf_error *err) {
    if (named(render, render->format) == NULL) return unknown_format(render, err);
    for (int32_t i = 0; i < render->outputs->count; i++) {
        const char *path = render->outputs->items[i];
        const struct render_format *format = format_of(render, path);
        int32_t code = output_check(path, err);
        if (code != KERF_OK) return code;
        if (format == NULL) return unknown_ending(render, path, err);
        code = check_terminal(format, path, err);
        if (code != KERF_OK) return code;
    }
    return has_text_file(render) ? KERF_OK : check_terminal(checked_format(render), "-", err);
}

static int is_in(const struct render_format *format, const char *name) {
    return strcmp(name, "picture") == 0 ? format->is_picture : strcmp(format->name, name) == 0;
}

int render_writes(const struct render *render, const char *name) {
    for (int32_t i = 0; i < render->outputs->count; i++)
        if (is_in(checked_format_of(render, render->outputs->items[i]), name)) return 1;
    return !has_text_file(render) && is_in(checked_format(render), name);
}

int32_t render_check_more(const struct render *render, const char *option, struct kerf_error *err) {
    if (render_writes(render, "table") || render_writes(render, "json")) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "%s is answered in the table and in JSON: leave it out, or write one of them", option);
}

int render_draws(const struct render *render, const char *path) { return checked_format_of(render, path)->is_picture; }

static int32_t write_one(const struct render *render, const struct render_format *format, const char *path,
                         struct kerf_error *err) {
    int to_stdout = output_is_stdout(path);
    const struct render_style style = {to_stdout ? terminal_columns() : 100, to_stdout && terminal_colour(),
                                       to_stdout && isatty(STDOUT_FILENO), to_stdout ? terminal_height() : 0, path};
    struct kerf_text out = {0};
    int32_t code = render->write(render->context, &out, format, &style, err);
    if (strcmp(format->name, "table") == 0) terminal_plain(&out);
    if (code == KERF_OK) code = output_file(path, &out, err);
    kerf_text_free(&out);
    return code;
}

/* The error is about a file that should have held the answer. */
static void tell_instead(struct kerf_error *err) {
    size_t length = strlen(err->message);
    snprintf(err->message + length, sizeof err->message - length, "; the answer is on standard output");
}

int32_t render_all(const struct render *render, struct kerf_error *err) {
    const struct render_format *of_stdout = checked_format(render);
    struct kerf_error one;
    int32_t code = KERF_OK, is_held = 0, is_lost = 0;
    for (int32_t i = 0; i < render->outputs->count; i++) {
        const char *path = render->outputs->items[i];
        const struct render_format *format = checked_format_of(render, path);
        int is_written = write_one(render, format, path, &one) == KERF_OK;
        if (!is_written && code == KERF_OK) code = one.code, *err = one;
        if (!holds_answer(render, format)) continue;
        if (is_written) is_held = 1;
        if (!is_written && !is_lost) is_lost = 1, of_stdout = format;
    }
    if (is_held) return code;
    int is_written = write_one(render, of_stdout, "-", &one) == KERF_OK;
    if (!is_written && code == KERF_OK) code = one.code, *err = one;
    if (is_written && is_lost) tell_instead(err);
    return code;
}
