/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/program_output.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/characters.h"
#include "base/number.h"

/* ---- Lines -------------------------------------------------------------------------------------------------- */

static void keep(struct output_lines *lines, const char *bytes, size_t length) {
    assert(lines->line.length <= LINE_MAX_BYTES);
    size_t room = LINE_MAX_BYTES - lines->line.length;
    kerf_text_write(&lines->line, bytes, length < room ? length : room);
    lines->line.failed = 0; /* without memory the line is cut, like one that is too long */
}

void output_lines_end(struct output_lines *lines, line_taker take, void *context) {
    struct kerf_text *line = &lines->line;
    if (line->length == 0) return;
    for (char *nul = line->data; (nul = memchr(nul, 0, (size_t)(line->data + line->length - nul)));) *nul = ' ';
    take(context, line->data, line->length);
    kerf_text_clear(line);
}

void output_lines_feed(struct output_lines *lines, const char *bytes, size_t length, line_taker take, void *context) {
    size_t from = 0;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '\n' && bytes[i] != '\r') continue;
        keep(lines, bytes + from, i - from);
        output_lines_end(lines, take, context);
        from = i + 1;
    }
    keep(lines, bytes + from, length - from);
}

void output_lines_free(struct output_lines *lines) { kerf_text_free(&lines->line); }

/* ---- What failures say -------------------------------------------------------------------------------------- */

enum { LOOKED_AT = 4096 };

/* Of C and C++ libraries, CUDA, HIP, Vulkan, Metal, SYCL, ggml, PyTorch, JAX, Python, Java, Go, Rust. */
static const char *const memory_words[] = {
    "out of memory",         "outofmemory",          "out of device memory",
    "out_of_memory",         "outofdevicememory",    "out_of_device_memory",
    "outofhostmemory",       "out_of_host_memory",   "failed to allocate",
    "failed to alloc ",      "unable to allocate",   "cannot allocate memory",
    "can't allocate memory", "could not allocate",   "couldn't allocate",
    "not enough memory",     "insufficient memory",  "std::bad_alloc",
    "bad_array_new_length",  "memory allocation of", "memory allocation failed",
    "allocation failure",    "alloc_failed",         "cudaerrormemoryallocation",
    "memoryerror",           "resource_exhausted",   "failed to map segment",
};

int says_out_of_memory(const char *line) {
    char lower[LOOKED_AT];
    size_t length = strnlen(line, LOOKED_AT - 1);
    for (size_t i = 0; i < length; i++)
        lower[i] = (char)(line[i] >= 'A' && line[i] <= 'Z' ? line[i] - 'A' + 'a' : line[i]);
    lower[length] = 0;
    for (size_t i = 0; i < sizeof memory_words / sizeof memory_words[0]; i++)
        if (strstr(lower, memory_words[i])) return 1;
    return 0;
}

void status_words(int wait_status, char *words, size_t size) {
    if (WIFSIGNALED(wait_status)) {
        const char *name = sigabbrev_np(WTERMSIG(wait_status));
        if (name)
            snprintf(words, size, "ended by SIG%s", name);
        else
            snprintf(words, size, "ended by signal %d", WTERMSIG(wait_status));
    } else {
        snprintf(words, size, "ended with status %d", WEXITSTATUS(wait_status));
    }
}

void quote_line(const char *line, char *words, size_t size) {
    while (*line == ' ' || *line == '\t') line++;
    size_t length = strnlen(line, size - 1);
    memcpy(words, line, length);
    while (length > 0 && (words[length - 1] == ' ' || words[length - 1] == '\t')) length--;
    words[length] = 0;
    utf8_clean(words);
}

/* ---- JSON --------------------------------------------------------------------------------------------------- */

enum { KEY_MAX = 256, WASTE_MAX = 4 }; /* bytes of a key; how often the whole text may be parsed in vain */

/* Takes the next key off the path. Returns what is left, NULL where the key is empty or too long. */
static const char *next_key(const char *path, char key[KEY_MAX]) {
    size_t length = 0;
    for (; *path && *path != '.'; path++) {
        if (*path == '\\' && path[1]) path++;
        if (length == KEY_MAX - 1) return NULL;
        key[length++] = *path;
    }
    key[length] = 0;
    return length > 0 ? path : NULL;
}

int json_path_is_valid(const char *path) {
    char key[KEY_MAX];
    for (const char *rest = path;; rest++) {
        rest = next_key(rest, key);
        if (rest == NULL) return 0;
        if (*rest == 0) return 1;
    }
}

static const json_t *member(const json_t *value, const char *key) {
    if (json_is_object(value)) return json_object_get(value, key);
    if (!json_is_array(value)) return NULL;
    char *end;
    long index = strtol(key, &end, 10);
    if (*end || end == key) return NULL;
    if (index < 0) index += (long)json_array_size(value);
    return index < 0 ? NULL : json_array_get(value, (size_t)index);
}

int json_path_number(const json_t *root, const char *path, double *ret_value, char *why, size_t size) {
    char key[KEY_MAX];
    const json_t *value = root;
    for (const char *rest = path;; rest++) {
        rest = next_key(rest, key);
        if (rest == NULL) break;
        value = member(value, key);
        if (value == NULL) {
            snprintf(why, size, "%.80s is not in its JSON: there is no %.60s", path, key);
            return 0;
        }
        if (*rest == 0) break;
    }
    double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    if (isfinite(number)) {
        *ret_value = number;
        return 1;
    }
    snprintf(why, size, "%.80s is not a number in its JSON", path);
    return -1;
}

static const char *line_after(const char *c, const char *end) {
    const char *newline = c < end ? memchr(c, '\n', (size_t)(end - c)) : NULL;
    return newline ? newline + 1 : end;
}

/* ---- The last JSON value ----------------------------------------------------------------------------------------- */

/* The length of what programs write for a number that is none, where the text begins with it; 0: something else. */
static size_t length_of_no_number(const char *text, const char *end) {
    static const char *const words[] = {"NaN", "Infinity", "-Infinity", "nan", "-nan", "inf", "-inf"};
    for (size_t k = 0; strchr("NIni-", *text) && k < sizeof words / sizeof *words; k++) {
        size_t length = strlen(words[k]);
        if ((size_t)(end - text) >= length && memcmp(text, words[k], length) == 0) return length;
    }
    return 0;
}

static int has_no_number_near(const char *text, size_t length, size_t at) {
    size_t from = at > 9 ? at - 9 : 0, until = at + 9 < length ? at + 9 : length;
    for (size_t i = from; i < until; i++)
        if (length_of_no_number(text + i, text + until) > 0) return 1;
    return 0;
}

/* What programs write although it is not JSON: numbers that are none or too large, and text that is not UTF-8. */
static int is_mendable(const json_error_t *error, const char *text, size_t length, size_t at) {
    switch (json_error_code(error)) {
    case json_error_invalid_utf8:
    case json_error_numeric_overflow: return 1;
    default: return has_no_number_near(text, length, at);
    }
}

/* An empty array of the same length: no number either, and JSON. */
static char *blank_number(char *number, size_t length) {
    memset(number, ' ', length);
    number[0] = '[', number[length - 1] = ']';
    return number + length - 1;
}

/* A copy that is JSON where the text is not for one of these reasons. Strings end with their line. */
static char *mended(const char *text, size_t length) {
    char *copy = malloc(length + 1), *end = copy + length;
    int is_string = 0;
    if (copy == NULL) return NULL;
    memcpy(copy, text, length);
    *end = 0;
    for (char *c = copy; c < end; c++) {
        size_t word = is_string ? 0 : length_of_no_number(c, end), code_point = utf8_code_point(c);
        char *after = c;
        if (!is_string && word == 0 && (isdigit((unsigned char)*c) || *c == '-') && isinf(number_read(c, &after)))
            word = (size_t)(after - c);
        if (*c == '"') is_string = !is_string;
        if (*c == '\n') is_string = 0;
        if (is_string && *c == '\\') c++;
        if (code_point == 0) *c = '?';
        if (code_point > 1) c += code_point - 1;
        if (word > 0)
            c = blank_number(c, word);
        else if (after > c)
            c = after - 1;
    }
    return copy;
}

enum { READING = JSON_DISABLE_EOF_CHECK | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL };

/* Whether the value that was read there is an answer; else why says what is wrong with it. A part of a longer value, whose
 * beginning is lost, has more of that behind it. */
static int is_answer(const char *value, const char *behind, const char *end, int is_cut, char *why, size_t size) {
    json_error_t error = {0};
    json_t *again = json_loadb(value, (size_t)(end - value), READING | JSON_REJECT_DUPLICATES, &error);
    int is_sound = again != NULL;
    json_decref(again);
    if (!is_sound) snprintf(why, size, "its JSON is invalid: %.100s", error.text);
    while (behind < end && strchr(" \t\n", *behind)) behind++;
    return is_sound && !(is_cut && behind < end && strchr(",]}", *behind));
}

/* A run whose last value has a NaN in it has not printed the value before it: that one is not an answer. */
json_t *json_last_value(const char *text, size_t length, int is_cut, char *why, size_t size) {
    json_t *last = NULL;
    char *copy = NULL;
    size_t wasted = 0;
    const char *end = text + length, *from = NULL, *behind = NULL; /* of the last value */
    why[0] = 0;
    for (const char *c = text; c < end && wasted <= WASTE_MAX * length;) {
        const char *first = c;
        while (first < end && strchr(" \t", *first)) first++;
        if (first < end && (*first == '{' || *first == '[')) {
            json_error_t error = {0};
            json_t *value = json_loadb(first, (size_t)(end - first), READING, &error);
            size_t read = error.position > 0 ? (size_t)error.position : 0;
            if (value) {
                json_decref(last);
                last = value;
                c = read > 0 && read <= (size_t)(end - first) ? first + read : first + 1;
                from = first, behind = c;
            } else if (copy == NULL && is_mendable(&error, first, (size_t)(end - first), read) &&
                       (copy = mended(text, length)) != NULL) {
                c = copy + (first - text); /* once more */
                end = copy + length;
                continue;
            } else {
                wasted += read;
            }
        }
        c = line_after(c, end);
    }
    if (last && !is_answer(from, behind, end, is_cut, why, size)) {
        json_decref(last);
        last = NULL;
    }
    if (last == NULL && is_cut && why[0] == 0)
        snprintf(why, size, "its JSON is too long: kerf reads %d MiB, and %d MiB a line", CAPTURED_MAX_BYTES >> 20,
                 LINE_MAX_BYTES >> 20);
    free(copy);
    return last;
}
