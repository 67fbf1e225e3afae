/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

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
