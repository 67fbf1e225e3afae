/* SPDX-License-Identifier: Apache-2.0 */
/* Reads back what an SVG of ours says: elements and their attributes, and whether text stays on the page and off other
 * text. To be included behind cmocka.h. */
#ifndef KERF_TESTS_SVG_READER_H
#define KERF_TESTS_SVG_READER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerf/draw.h"

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))

/* What the sanitizers do not see: fontconfig keeps its patterns by relative offsets, which are no pointers to
 * LeakSanitizer; cairo's atomics were not compiled for ThreadSanitizer. */
KERF_API const char *__lsan_default_suppressions(void);
KERF_API const char *__tsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig"; }
const char *__tsan_default_suppressions(void) { return "race:libcairo\nrace:libfontconfig\nrace:libpixman"; }

static inline double number_in(const char *element, const char *name) {
    char wanted[32];
    snprintf(wanted, sizeof wanted, " %s=\"", name);
    const char *at = memmem(element, strcspn(element, ">"), wanted, strlen(wanted));
    return at ? strtod(at + strlen(wanted), NULL) : 0;
}

/* Not with strstr, of which AddressSanitizer's kind looks for the end of the text each time. */
static inline const char *next_element(const char *svg, const char *name) {
    size_t length = strlen(name);
    while ((svg = strchr(svg, '<')) && (strncmp(svg + 1, name, length) || svg[1 + length] != ' ')) svg++;
    return svg;
}

static inline int32_t occurrences(const char *text, const char *of) {
    int32_t count = 0;
    for (; (text = strstr(text, of)); text += strlen(of)) count++;
    return count;
}

static inline const char *colour_in(const char *element) { return strstr(element, "fill=\"") + 6; } /* "#rrggbb" */

/* Tags that match, attributes in quotes, no character out of place. Returns what is wrong. */
static inline const char *malformed(const char *svg) {
    const char *open[16];
    int32_t depth = 0;
    while (*svg) {
        if (*svg == '&' && strncmp(svg, "&amp;", 5) && strncmp(svg, "&lt;", 4) && strncmp(svg, "&gt;", 4) &&
            strncmp(svg, "&quot;", 6))
            return svg;
        if ((unsigned char)*svg < ' ' && *svg != '\n') return svg;
        if (*svg++ != '<') continue;
        if (*svg == '/') {
            size_t length = strcspn(++svg, ">");
            if (depth == 0 || strncmp(open[--depth], svg, length) || !strchr(" >", open[depth][length])) return svg;
            continue;
        }
        if (depth == COUNT(open) || strspn(svg, "abcdefghijklmnopqrstuvwxyz") == 0) return svg;
        open[depth++] = svg;
        int32_t quotes = 0;
        for (; *svg != '>'; svg++) {
            if (*svg == 0 || *svg == '<') return svg;
            quotes += *svg == '"';
        }
        if (quotes % 2) return svg;
        if (svg[-1] == '/') depth--;
    }
    return depth ? open[depth - 1] : NULL;
}

struct box {
    double left, right, top, bottom;
    const char *text;
};

/* Where a text is at least, in Helvetica: 0.5 of the size per character, 0.28 for narrow ones. */
static inline struct box box_of(const char *element) {
    const char *c = strchr(element, '>') + 1;
    if (strncmp(c, "<title>", 7) == 0) c = strstr(c, "</title>") + 8;
    struct box box = {.text = c};
    double width = 0, size = number_in(element, "font-size"), x = number_in(element, "x"), y = number_in(element, "y");
    for (; *c != '<'; c++) {
        if (*c == '&') c += strcspn(c, ";");
        if (((unsigned char)*c & 0xC0) != 0x80) width += strchr(" .,:;'|!iljtfI\xC2()[]", *c) ? 0.25 : 0.5;
    }
    width *= size;
    const char *anchor = memmem(element, strcspn(element, ">"), "text-anchor=\"", 13);
    if (anchor) x -= anchor[13] == 'm' ? width / 2 : width;
    box.left = x, box.right = x + width, box.top = y - 0.7 * size, box.bottom = y;
    return box;
}

/* Everything is on the page, no text on another, no number is other than a number. */
static inline void check_layout(const char *svg) {
    assert_null(malformed(svg));
    assert_null(strstr(svg, "nan"));
    double width = number_in(svg, "width"), height = number_in(svg, "height");
    assert_true(width == 960 && height >= 60);
    static struct box boxes[4096];
    int32_t count = 0;
    for (const char *at = svg; (at = next_element(at, "text")); at++) {
        const char *turn = memmem(at, strcspn(at, ">"), "rotate(", 7); /* turned text: its anchor at least */
        struct box box = box_of(at);
        if (turn) box.left = box.right = number_in(at, "x");
        if (box.left < 5 || box.right > width - 5 || box.top < 5 || box.bottom > height - 5)
            fail_msg("off the page: %.80s", at);
        if (box.left < box.right && count < COUNT(boxes)) boxes[count++] = box;
    }
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < i; k++)
            if (boxes[i].left < boxes[k].right && boxes[k].left < boxes[i].right && boxes[i].top < boxes[k].bottom &&
                boxes[k].top < boxes[i].bottom)
                fail_msg("one on the other: %.30s and %.30s", boxes[i].text, boxes[k].text);
    for (const char *at = svg; (at = next_element(at, "rect")); at++) {
        double x = number_in(at, "x"), y = number_in(at, "y");
        if (x < 0 || y < 0 || x + number_in(at, "width") > width + 0.01 || y + number_in(at, "height") > height + 0.01)
            fail_msg("off the page: %.80s", at);
    }
}

/* The rectangle whose tip begins with these words, the `number`th of them. */
static inline const char *rect_of(const char *svg, const char *tip, int32_t number) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "<title>%s", tip);
    const char *at = svg;
    for (; (at = strstr(at, wanted)) && number > 0; at++) number--;
    assert_non_null(at);
    while (strncmp(at, "<rect", 5)) at--;
    return at;
}

#endif
