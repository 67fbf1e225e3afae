/* SPDX-License-Identifier: Apache-2.0 */
/* The growing string and what people read: quantities with units, the nearest name. */
#include "kerf/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Room for `more` bytes and a NUL; 0 once memory has run out. */
static int reserve(struct kerf_text *text, size_t more) {
    if (text->failed) return 0;
    if (more < text->capacity - text->length) return 1;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity - text->length <= more) {
        if (capacity > SIZE_MAX / 4) break;
        capacity *= 2;
    }
    char *data = capacity - text->length > more ? realloc(text->data, capacity) : NULL;
    if (data == NULL) {
        text->failed = 1;
        return 0;
    }
    text->data = data;
    text->capacity = capacity;
    return 1;
}

void kerf_text_write(struct kerf_text *text, const char *bytes, size_t length) {
    if (length == 0 || !reserve(text, length)) return;
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void kerf_text_add(struct kerf_text *text, const char *string) { kerf_text_write(text, string, strlen(string)); }

void kerf_text_repeat(struct kerf_text *text, const char *string, int32_t times) {
    for (int32_t i = 0; i < times; i++) kerf_text_add(text, string);
}

void kerf_text_printf(struct kerf_text *text, const char *format, ...) {
    if (text->failed) return;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t room = text->capacity - text->length; /* most often enough, and then the text is made only once */
    int length = vsnprintf(room ? text->data + text->length : NULL, room, format, args);
    va_end(args);
    if (length < 0) text->failed = 1;
    if (length > 0 && (size_t)length < room) {
        text->length += (size_t)length;
    } else if (length > 0 && reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    } else if (room) {
        text->data[text->length] = 0;
    }
    va_end(again);
}

void kerf_text_clear(struct kerf_text *text) {
    text->length = 0;
    if (text->data) text->data[0] = 0;
}

void kerf_text_free(struct kerf_text *text) {
    free(text->data);
    memset(text, 0, sizeof *text);
}

void kerf_text_bytes(struct kerf_text *text, double bytes) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;
    while (fabs(bytes) >= 999.5 && unit + 1 < sizeof units / sizeof *units) bytes /= 1000, unit++;
    kerf_text_printf(text, "%.*f %s", unit == 0 || fabs(bytes) >= 99.95 ? 0 : 1, bytes, units[unit]);
}

void kerf_text_seconds(struct kerf_text *text, double seconds) {
    static const struct {
        double scale;
        const char *name;
    } units[] = {{1, "s"}, {1e3, "ms"}, {1e6, "us"}, {1e9, "ns"}};
    size_t unit = 0;
    /* Asks for what the smaller unit would print, so that "1000 ms" cannot come out. */
    while (unit < 3 && fabs(seconds) * units[unit + 1].scale < 999.5 && seconds != 0) unit++;
    double value = seconds * units[unit].scale;
    int digits = fabs(value) >= 99.95 ? 0 : fabs(value) >= 9.995 ? 1 : 2;
    if (unit == 0 && fabs(value) >= 99.95 && fabs(value) < 999.95) digits = 1;
    kerf_text_printf(text, "%.*f %s", digits, value, units[unit].name);
}

void kerf_text_count(struct kerf_text *text, int64_t count) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    for (int i = 0; i < length; i++) {
        kerf_text_write(text, &digits[i], 1);
        int left = length - 1 - i;
        if (left > 0 && left % 3 == 0 && digits[i] != '-') kerf_text_add(text, ",");
    }
}

int32_t kerf_text_columns(const char *utf8) {
    int32_t columns = 0;
    for (; *utf8; utf8++) columns += ((unsigned char)*utf8 & 0xC0) != 0x80;
    return columns;
}

static int same(char a, char b) { return strncasecmp(&a, &b, 1) == 0; }

/* Edit distance with transpositions (optimal string alignment), letters compared without case; words of
 * MOST letters or more are taken as far from everything. */
static size_t edits(const char *a, const char *b) {
    enum { MOST = 64 };
    size_t rows[3][MOST + 1], n = strlen(a), m = strlen(b);
    if (n >= MOST || m >= MOST) return SIZE_MAX;
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++) last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = last[j - 1] + !same(a[i - 1], b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        size_t *free_row = before;
        before = last, last = now, now = free_row;
    }
    return last[m];
}

const char *kerf_text_nearest(const char *word, const char *const *names, size_t count) {
    const char *nearest = NULL;
    size_t least = (strlen(word) + 1) / 3 + 1; /* a third of the letters wrong is a slip; more is another word */
    for (size_t i = 0; i < count; i++) {
        size_t distance = edits(word, names[i]);
        if (distance < least) least = distance, nearest = names[i];
    }
    return nearest;
}
