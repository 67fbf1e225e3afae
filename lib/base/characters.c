/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 (RFC 3629), and names by edit distance. */
#include "base/characters.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

size_t utf8_code_point(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xC0) != 0x80) return 0;
    int overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    int no_text = (c[0] == 0xED && c[1] > 0x9F) || (c[0] == 0xF4 && c[1] > 0x8F); /* surrogates; past the last */
    return overlong || no_text ? 0 : length;
}

void utf8_clean(char *text) {
    for (char *c = text; *c;) {
        size_t length = utf8_code_point(c);
        unsigned char first = (unsigned char)c[0];
        int control = first < ' ' || first == 127 || (first == 0xC2 && (unsigned char)c[1] < 0xA0);
        if (length == 0 || control) *c = '?', length = 1;
        c += length;
    }
}

int32_t utf8_columns(const char *utf8) {
    int32_t columns = 0;
    for (; *utf8; utf8++) columns += ((unsigned char)*utf8 & 0xC0) != 0x80;
    return columns;
}

/* ---- The nearest name ------------------------------------------------------------------------------------------ */

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

const char *nearest_name(const char *word, const char *const *names, size_t count) {
    const char *nearest = NULL;
    size_t least = (strlen(word) + 1) / 3 + 1; /* a third of the letters wrong is a slip; more is another word */
    for (size_t i = 0; i < count; i++) {
        size_t distance = edits(word, names[i]);
        if (distance < least) least = distance, nearest = names[i];
    }
    return nearest;
}

int list_has(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *c = list; c; c = strchr(c, ',')) {
        if (*c == ',') c++;
        if (strcspn(c, ",") == length && memcmp(c, word, length) == 0) return 1;
    }
    return 0;
}
