/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/json_path.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MOST = 256, WASTE_MOST = 4 }; /* bytes of a key; how often the text may be read in vain */

/* Takes the next key off the path. Returns what is left, NULL where the key is empty or too long. */
static const char *next_key(const char *path, char key[KEY_MOST]) {
    size_t length = 0;
    for (; *path && *path != '.'; path++) {
        if (*path == '\\' && path[1]) path++;
        if (length == KEY_MOST - 1) return NULL;
        key[length++] = *path;
    }
    key[length] = 0;
    return length > 0 ? path : NULL;
}

int json_path_is_valid(const char *path) {
    char key[KEY_MOST];
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
    char key[KEY_MOST];
    const json_t *value = root;
    for (const char *rest = path;; rest++) {
        rest = next_key(rest, key);
        if (rest == NULL) break;
        value = member(value, key);
        if (value == NULL) {
            snprintf(why, size, "%.80s leads nowhere in its JSON: there is no %.60s", path, key);
            return 0;
        }
        if (*rest == 0) break;
    }
    double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    if (isfinite(number)) {
        *ret_value = number;
        return 1;
    }
    snprintf(why, size, "%.80s is no number in its JSON", path);
    return 0;
}

static const char *line_after(const char *c, const char *end) {
    const char *newline = c < end ? memchr(c, '\n', (size_t)(end - c)) : NULL;
    return newline ? newline + 1 : end;
}

json_t *json_last_value(const char *text, size_t length) {
    json_t *last = NULL;
    size_t wasted = 0;
    const char *end = text + length;
    for (const char *c = text; c < end && wasted <= WASTE_MOST * length;) {
        const char *first = c;
        while (first < end && strchr(" \t", *first)) first++;
        if (first < end && (*first == '{' || *first == '[')) {
            json_error_t error = {0};
            json_t *value =
                json_loadb(first, (size_t)(end - first), JSON_DISABLE_EOF_CHECK | JSON_DECODE_INT_AS_REAL, &error);
            size_t read = error.position > 0 ? (size_t)error.position : 0;
            if (value) {
                json_decref(last);
                last = value;
                c = read > 0 && read <= (size_t)(end - first) ? first + read : first + 1;
            } else {
                wasted += read;
            }
        }
        c = line_after(c, end);
    }
    return last;
}
