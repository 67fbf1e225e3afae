/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canvas as SVG text. Rectangles of the same colour that follow each other become one path with relative
 * coordinates ("M81 40h12.5v18h-12.5z"), which is a third of the size of <rect> elements. Numbers have two
 * decimals and are written by hand: quickly, and whatever the locale.
 */
#include "draw/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"

enum {
    RUN = 4096,   /* rectangles in one path at most: browsers get slow with longer ones */
    NUMBER = 16,  /* bytes that a number takes at most: "-999999999.99" and some air */
    ELEMENT = 512 /* bytes that a rectangle, or a text but for its words, takes at most */
};

struct svg {
    struct canvas canvas;
    struct kerf_text *out;
    size_t start;       /* where in out the picture begins */
    uint32_t run_fill;  /* the colour of the path of rectangles that is open */
    int32_t run_length; /* 0: none is open */
};

static char *put_string(char *to, const char *string) { return stpcpy(to, string); }

static char *put_number(char *to, double value) {
    /* The push is there so that what lies on the middle between two hundredths goes up on every machine,
     * also where a logarithm is off by one bit. */
    double hundredths = floor(fabs(value) * 100 + 0.5 + 1e-4);
    int64_t n = hundredths < 99999999999.0 ? (int64_t)hundredths : 99999999999; /* NAN too */
    if (value < 0 && n > 0) *to++ = '-';
    char digits[NUMBER];
    int length = 0;
    for (int64_t whole = n / 100; whole > 0 || length == 0; whole /= 10) digits[length++] = (char)('0' + whole % 10);
    while (length > 0) *to++ = digits[--length];
    if (n % 100) {
        *to++ = '.';
        *to++ = (char)('0' + n / 10 % 10);
        if (n % 10) *to++ = (char)('0' + n % 10);
    }
    return to;
}

static char *put_attribute(char *to, const char *name, double value) {
    *to++ = ' ';
    to = put_string(put_string(to, name), "=\"");
    to = put_number(to, value);
    *to++ = '"';
    return to;
}

static char *put_colour(char *to, const char *name, uint32_t colour) {
    *to++ = ' ';
    to = put_string(put_string(to, name), "=\"");
    if (colour == CANVAS_NONE) return put_string(to, "none\"");
    *to++ = '#';
    for (int shift = 20; shift >= 0; shift -= 4) *to++ = hex_digit(colour >> shift);
    *to++ = '"';
    return to;
}

static void write_escaped(struct kerf_text *out, const char *utf8) {
    struct kerf_text *text = out;
    const char *next = utf8, *plain = utf8; /* from plain to here, bytes are as they should be */
    while (*utf8) {
        uint32_t c = text_next(&next);
        const char *instead = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : NULL;
        if (c == 0xFFFD) instead = "\uFFFD";
        if (c == ' ' && *utf8 != ' ') instead = " ";
        if (instead) {
            kerf_text_write(text, plain, (size_t)(utf8 - plain));
            kerf_text_add(text, instead);
            plain = next;
        }
        utf8 = next;
    }
    kerf_text_write(text, plain, (size_t)(utf8 - plain));
}

static void write_to(struct kerf_text *out, const char *from, const char *end) {
    kerf_text_write(out, from, (size_t)(end - from));
}

/* Ends an element of which "<name attributes" is written. */
static void write_end(struct kerf_text *out, const char *name, const char *tip) {
    if (tip == NULL) {
        kerf_text_add(out, "/>\n");
        return;
    }
    kerf_text_add(out, "><title>");
    write_escaped(out, tip);
    kerf_text_add(out, "</title></");
    kerf_text_add(out, name);
    kerf_text_add(out, ">\n");
}

static void end_run(struct svg *svg) {
    if (svg->run_length > 0) kerf_text_add(svg->out, "\"/>\n");
    svg->run_length = 0;
}

static int32_t svg_begin(const struct canvas_page *page, struct kerf_text *out, struct canvas **ret_canvas,
                         struct kerf_error *err) {
    struct svg *svg = calloc(1, sizeof *svg);
    if (svg == NULL) return error_no_memory(err, "the picture");
    *svg = (struct svg){.canvas = {&canvas_svg}, .out = out, .start = out->length};
    char head[ELEMENT], *to = put_string(head, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    to = put_attribute(put_attribute(to, "width", page->width), "height", page->height);
    to = put_number(put_string(to, " viewBox=\"0 0 "), page->width);
    to = put_number(put_string(to, " "), page->height);
    to = put_string(to, "\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\">\n<title>");
    write_to(out, head, to);
    write_escaped(out, page->title);
    kerf_text_add(out, "</title>\n");
    if (page->description) {
        kerf_text_add(out, "<desc>");
        write_escaped(out, page->description);
        kerf_text_add(out, "</desc>\n");
    }
    *ret_canvas = &svg->canvas;
    return KERF_OK;
}

static void svg_rect(struct canvas *canvas, double x, double y, double width, double height, double radius,
                     uint32_t fill, const char *tip) {
    struct svg *svg = (struct svg *)canvas;
    if (fill == CANVAS_NONE || !(width > 0) || !(height > 0)) return;
    char element[ELEMENT], *to = element;
    if (radius > 0 || tip) {
        end_run(svg);
        to = put_attribute(put_attribute(put_string(to, "<rect"), "x", x), "y", y);
        to = put_attribute(put_attribute(to, "width", width), "height", height);
        if (radius > 0) to = put_attribute(to, "rx", radius);
        write_to(svg->out, element, put_colour(to, "fill", fill));
        write_end(svg->out, "rect", tip);
        return;
    }
    if (svg->run_length == RUN || svg->run_fill != fill) end_run(svg);
    if (svg->run_length++ == 0) {
        svg->run_fill = fill;
        to = put_string(put_colour(put_string(to, "<path"), "fill", fill), " d=\"");
    }
    to = put_number(put_string(to, "M"), x);
    to = put_number(put_string(to, " "), y);
    to = put_number(put_string(to, "h"), width);
    to = put_number(put_string(to, "v"), height);
    to = put_number(put_string(to, "h"), -width);
    write_to(svg->out, element, put_string(to, "z"));
}

static void svg_path(struct canvas *canvas, const struct canvas_point *points, int32_t num_points,
                     const struct canvas_pen *pen, const char *tip) {
    struct svg *svg = (struct svg *)canvas;
    end_run(svg);
    char bytes[ELEMENT], *to = put_colour(put_string(bytes, "<path"), "fill", pen->fill);
    if (pen->stroke != CANVAS_NONE) {
        to = put_attribute(put_colour(to, "stroke", pen->stroke), "stroke-width", pen->width);
        if (pen->dash > 0) to = put_attribute(to, "stroke-dasharray", pen->dash);
        if (num_points > 2) to = put_string(to, " stroke-linejoin=\"round\" stroke-linecap=\"round\"");
    }
    to = put_string(to, " d=\"");
    for (int32_t i = 0; i < num_points; i++) {
        if (to - bytes > ELEMENT - 3 * NUMBER) {
            write_to(svg->out, bytes, to);
            to = bytes;
        }
        *to++ = i == 0 ? 'M' : i == 1 ? 'L' : ' ';
        to = put_number(to, points[i].x);
        *to++ = ' ';
        to = put_number(to, points[i].y);
    }
    write_to(svg->out, bytes, put_string(to, pen->closed ? "z\"" : "\""));
    write_end(svg->out, "path", tip);
}

static void svg_text(struct canvas *canvas, double x, double y, const struct canvas_font *font,
                     enum canvas_anchor anchor, const char *string, const char *tip) {
    struct svg *svg = (struct svg *)canvas;
    if (*string == 0) return;
    end_run(svg);
    char head[ELEMENT], *to = put_attribute(put_attribute(put_string(head, "<text"), "x", x), "y", y);
    to = put_colour(put_attribute(to, "font-size", font->size), "fill", font->colour);
    if (font->bold) to = put_string(to, " font-weight=\"bold\"");
    if (font->behind) to = put_string(to, " pointer-events=\"none\"");
    if (anchor != CANVAS_START)
        to = put_string(to, anchor == CANVAS_MIDDLE ? " text-anchor=\"middle\"" : " text-anchor=\"end\"");
    if (font->turn != 0) {
        to = put_number(put_string(to, " transform=\"rotate("), -font->turn);
        to = put_number(put_string(to, " "), x);
        to = put_number(put_string(to, " "), y);
        to = put_string(to, ")\"");
    }
    write_to(svg->out, head, put_string(to, ">"));
    if (tip) {
        kerf_text_add(svg->out, "<title>");
        write_escaped(svg->out, tip);
        kerf_text_add(svg->out, "</title>");
    }
    write_escaped(svg->out, string);
    kerf_text_add(svg->out, "</text>\n");
}

static int32_t svg_finish(struct canvas *canvas, int32_t keep, struct kerf_error *err) {
    struct svg *svg = (struct svg *)canvas;
    struct kerf_text *out = svg->out;
    end_run(svg);
    kerf_text_add(out, "</svg>\n");
    int32_t code = out->failed ? error_no_memory(err, "the picture") : KERF_OK;
    if (!keep || code != KERF_OK) {
        out->length = svg->start;
        if (out->data) out->data[out->length] = 0;
    }
    free(svg);
    return code;
}

const struct canvas_driver canvas_svg = {
    "svg", svg_begin, svg_rect, svg_path, svg_text, svg_finish,
};
