/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How wide text will be, without asking a font: an SVG is laid out here and drawn elsewhere, with whatever sans-serif
 * font is there. The table holds, for each ASCII character, the larger of the advance widths in Helvetica (which Arial,
 * Liberation Sans and Nimbus Sans share) and DejaVu Sans, in hundredths of the font's size; other characters get what
 * the widest letters of their script need. So text takes at most this width, and about nine tenths of it in Helvetica.
 */
#include "draw/canvas.h"

#include <string.h>

static const uint8_t widths[2][95] = {
    {/* regular, from ' ' to '~' */
     32, 41, 46, 84, 64, 96, 78, 28, 39,  39, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
     64, 64, 34, 34, 84, 84, 84, 56, 102, 69, 69, 73, 77, 67, 62, 78, 76, 30, 50, 67, 56, 87, 75, 79,
     67, 79, 73, 67, 62, 74, 69, 99, 69,  67, 69, 39, 34, 39, 84, 56, 50, 62, 64, 55, 64, 62, 36, 64,
     64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84},
    {/* bold */
     35, 46, 53, 84, 70, 101, 88, 31,  46,  46, 53, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70,  70, 70,
     70, 70, 40, 40, 84, 84,  84, 62,  100, 78, 77, 74, 84, 69, 69, 83, 84, 38, 56, 78, 64, 100, 84, 85,
     74, 85, 77, 72, 69, 82,  78, 111, 78,  73, 73, 46, 37, 46, 84, 56, 50, 68, 72, 60, 72, 68,  44, 72,
     72, 35, 35, 67, 35, 105, 72, 69,  72,  72, 50, 60, 48, 72, 66, 93, 65, 66, 59, 72, 37, 72,  84}};

static const char ellipsis[] = "\u2026";

static double character_width(uint32_t c, int32_t bold) {
    if (c < 127) return widths[bold != 0][c - ' '] / 100.0;
    if (c == 0xB7) return 0.38;                                 /* the middle dot between two settings */
    if (c >= 0x300 && c < 0x370) return 0.1;                    /* combining accents */
    if (c < 0x370) return c == 0xC6 || c == 0x152 ? 1.2 : 0.88; /* Latin; AE and OE are wide */
    if (c < 0x400) return 0.9;                                  /* Greek */
    if (c >= 0x2010 && c < 0x2014) return 0.56;                 /* hyphens and the en dash */
    if (c < 0x1F000) return c < 0x2000 ? 1.35 : 1.05;           /* Cyrillic and others; symbols, CJK */
    return 1.45;                                                /* emoji */
}

uint32_t text_next(const char **utf8) {
    const unsigned char *s = (const unsigned char *)*utf8;
    if (s[0] == 0) return 0;
    int length = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    uint32_t c = length == 1 ? s[0] : length ? s[0] & (0x7Fu >> length) : 0xFFFD;
    for (int i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            length = 0;
            break;
        }
        c = c << 6 | (s[i] & 0x3F);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    *utf8 += length ? length : 1;
    if (length == 0 || c < least[length] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) || (c & 0xFFFE) == 0xFFFE)
        return 0xFFFD;
    return c < ' ' || (c >= 127 && c < 0xA0) ? ' ' : c;
}

static int put(char *to, uint32_t c) {
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    int length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; i--, c >>= 6) to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(0xF00u >> length | c);
    return length;
}

void text_clean(struct kerf_text *out, const char *utf8) {
    char bytes[256];
    size_t length = 0;
    for (uint32_t c; (c = text_next(&utf8));) {
        if (length > sizeof bytes - 4) {
            kerf_text_write(out, bytes, length);
            length = 0;
        }
        length += (size_t)put(bytes + length, c);
    }
    kerf_text_write(out, bytes, length);
}

double text_width(const char *utf8, const struct canvas_font *font) {
    double width = 0;
    for (uint32_t c; (c = text_next(&utf8));) width += character_width(c, font->bold);
    return width * font->size;
}

const char *text_fit(struct arena *arena, const char *utf8, const struct canvas_font *font, double width) {
    if (text_width(utf8, font) <= width) return utf8;
    double room = width - text_width(ellipsis, font);
    if (room < 0) return "";
    const char *end = utf8, *solid = utf8; /* solid: behind the last character that is not a space */
    for (uint32_t c; (c = text_next(&end));) {
        room -= character_width(c, font->bold) * font->size;
        if (room < 0) break;
        if (c != ' ') solid = end;
    }
    return arena_printf(arena, "%.*s%s", (int)(solid - utf8), utf8, ellipsis);
}

static const char *past_spaces(const char *utf8) {
    const char *next = utf8;
    while (text_next(&next) == ' ') utf8 = next;
    return utf8;
}

int32_t text_lines(struct arena *arena, const char *utf8, const struct canvas_font *font, double width,
                   const char **ret_lines, int32_t most) {
    int32_t count = 0;
    utf8 = past_spaces(utf8);
    while (*utf8 && count < most) {
        const char *at = utf8, *space = NULL, *before = utf8;
        double taken = 0;
        for (uint32_t c; (c = text_next(&at)); before = at) {
            taken += character_width(c, font->bold) * font->size;
            if (c == ' ') space = before; /* a space may hang over the edge */
            if (taken > width && c != ' ') break;
        }
        if (*before == 0 || space == NULL || count + 1 == most) {
            ret_lines[count++] = text_fit(arena, utf8, font, width);
            break;
        }
        ret_lines[count++] = arena_printf(arena, "%.*s", (int)(space - utf8), utf8);
        utf8 = past_spaces(space);
    }
    return count;
}
