/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canvas: the four things that every picture is made of - a rectangle, a path, a line of text, and the
 * page they are on - behind which a chart is drawn once and each output format is one file.
 *
 * Lengths are in pixels of 1/96 inch, x to the right, y down, (0, 0) the upper left corner of the page. Text
 * stands on its y (the baseline). What is drawn later covers what was drawn before. Strings need not be valid
 * UTF-8; a driver draws U+FFFD for what is not. Drawing never fails: a driver keeps the first error for
 * canvas_finish. A primitive does not allocate, apart from growing the output, so that a timeline of half a
 * million operations is drawn with these calls too; rectangles of the same colour in a row are cheapest.
 */
#ifndef KERF_DRAW_CANVAS_H
#define KERF_DRAW_CANVAS_H

#include "base/arena.h"
#include "kerf/draw.h"

#define CANVAS_NONE UINT32_MAX /* no colour: not filled, not stroked */

struct canvas_page {
    double width, height;
    const char *title;       /* what the picture shows, for readers who cannot see it */
    const char *description; /* what it says; NULL: nothing more than the title */
};

struct canvas_point {
    double x, y;
};

struct canvas_pen {
    uint32_t stroke, fill; /* 0xRRGGBB or CANVAS_NONE */
    double width;          /* of the stroke */
    double dash;           /* length of a dash and of the gap behind it, 0: a solid line */
    int32_t closed;        /* 1: the last point is joined to the first */
};

struct canvas_font {
    double size;
    uint32_t colour;
    int32_t bold;
    int32_t behind; /* 1: the mouse looks through it, at what is below */
    double turn;    /* degrees, counterclockwise, around the point that the text is anchored at */
};

enum canvas_anchor { CANVAS_START, CANVAS_MIDDLE, CANVAS_END };

struct canvas {
    const struct canvas_driver *driver; /* each driver's own struct begins with this one */
};

/* One output format. `tip`, NULL for none, is shown when the mouse rests on the thing, where a format can. */
struct canvas_driver {
    const char *extension;
    int32_t (*begin)(const struct canvas_page *page, struct kerf_text *out, struct canvas **ret_canvas,
                     struct kerf_error *err);
    void (*rect)(struct canvas *canvas, double x, double y, double width, double height, double radius, uint32_t fill,
                 const char *tip);
    void (*path)(struct canvas *canvas, const struct canvas_point *points, int32_t num_points,
                 const struct canvas_pen *pen, const char *tip);
    void (*text)(struct canvas *canvas, double x, double y, const struct canvas_font *font, enum canvas_anchor anchor,
                 const char *string, const char *tip);
    int32_t (*finish)(struct canvas *canvas, int32_t keep, struct kerf_error *err);
};

extern const struct canvas_driver canvas_svg, canvas_png, canvas_pdf, canvas_html;

/* Begins a page, which canvas_finish ends. The picture is appended to out, which must not be written to in between. */
int32_t canvas_begin(enum kerf_picture_format format, const struct canvas_page *page, struct kerf_text *out,
                     struct canvas **ret_canvas, struct kerf_error *err);

/* A canvas on which nothing is seen: to find out how high a picture will be. Not to be finished. */
struct canvas *canvas_blank(void);

/* Ends and frees the canvas. When keep is 0, or on an error, out is as long as it was at canvas_begin. */
static inline int32_t canvas_finish(struct canvas *canvas, int32_t keep, struct kerf_error *err) {
    return canvas->driver->finish(canvas, keep, err);
}

static inline void canvas_rect(struct canvas *canvas, double x, double y, double width, double height, double radius,
                               uint32_t fill, const char *tip) {
    canvas->driver->rect(canvas, x, y, width, height, radius, fill, tip);
}

static inline void canvas_path(struct canvas *canvas, const struct canvas_point *points, int32_t num_points,
                               const struct canvas_pen *pen, const char *tip) {
    canvas->driver->path(canvas, points, num_points, pen, tip);
}

static inline void canvas_line(struct canvas *canvas, double x1, double y1, double x2, double y2, uint32_t colour,
                               double width, double dash) {
    const struct canvas_point points[2] = {{x1, y1}, {x2, y2}};
    const struct canvas_pen pen = {.stroke = colour, .fill = CANVAS_NONE, .width = width, .dash = dash};
    canvas->driver->path(canvas, points, 2, &pen, NULL);
}

static inline void canvas_text(struct canvas *canvas, double x, double y, const struct canvas_font *font,
                               enum canvas_anchor anchor, const char *string, const char *tip) {
    canvas->driver->text(canvas, x, y, font, anchor, string, tip);
}

/* text_fit.c: the width of text, which does not depend on the machine's fonts, and text that fits. */

/* The next character and a step forward; U+FFFD for bytes that are not UTF-8 and for characters that XML has
 * no room for, a space for other control characters. 0 at the end, without a step. */
uint32_t text_next(const char **utf8);
void text_clean(struct kerf_text *out, const char *utf8);            /* appends what text_next reads, as UTF-8 */
double text_width(const char *utf8, const struct canvas_font *font); /* at most, in a sans-serif font */

/* The string, or as much of its front as is not wider than width, and an ellipsis. */
const char *text_fit(struct arena *arena, const char *utf8, const struct canvas_font *font, double width);

/* Breaks the string at spaces into at most `most` lines not wider than width; the last one may get an
 * ellipsis. Returns how many there are. */
int32_t text_lines(struct arena *arena, const char *utf8, const struct canvas_font *font, double width,
                   const char **ret_lines, int32_t most);

#endif
