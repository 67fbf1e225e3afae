/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures: a figure is a title and some panels below each other; each panel is one kind of chart. The same
 * figure is drawn as SVG, PNG or PDF. SVG needs nothing; PNG and PDF need the shared library cairo
 * (libcairo.so.2), which is looked for when the first such picture is drawn.
 *
 * All strings are UTF-8 and belong to the caller; nothing is kept after the call; a NULL string is an empty
 * one. Values are finite and, in bars and columns, not negative: KERF_EINVALID says which one is not. What
 * has no room is cut with an ellipsis, and in SVG shown in full under the mouse.
 *
 * Several threads may draw at once, each to its own kerf_text.
 */
#ifndef KERF_DRAW_H
#define KERF_DRAW_H

#include "kerf/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum kerf_picture_format { KERF_PICTURE_SVG, KERF_PICTURE_PNG, KERF_PICTURE_PDF };

/** The format that a file's name asks for (.svg, .png, .pdf); KERF_EUNSUPPORTED names those there are. */
KERF_API int32_t kerf_picture_format_of(const char *path, enum kerf_picture_format *ret_format, struct kerf_error *err);

/** How numbers on an axis are written. */
enum kerf_unit { KERF_UNIT_NONE, KERF_UNIT_SECONDS, KERF_UNIT_BYTES, KERF_UNIT_COUNT };

/** One bar, column or curve. On the logarithmic axes of curves what is not above 0 is a gap, as NAN is. */
struct kerf_chart_row {
    const char *label;    /* at the bar, under the column, or in the legend for a curve */
    const char *detail;   /* smaller words below the label; NULL: none */
    const double *values; /* bars and columns: [num_parts], stacked; curves: [num_xs], NAN where there is none */
    const char *note;     /* words behind the bar or above the column ("260 s"), NULL: the sum in the panel's
                             unit; for a curve words behind its detail, NULL: none */
};

enum kerf_panel_kind {
    KERF_PANEL_BARS,    /* horizontal stacked bars, one below the other, the first at the top */
    KERF_PANEL_COLUMNS, /* vertical stacked columns, each scaled to 100 %: what the parts' shares are */
    KERF_PANEL_CURVES   /* lines with markers over a logarithmic x and a logarithmic y */
};

struct kerf_panel {
    enum kerf_panel_kind kind;
    const char *title;
    const char *x_label; /* NULL: none */
    enum kerf_unit unit; /* of the values; columns show per cent */

    const struct kerf_chart_row *rows; /* [num_rows] */
    int32_t num_rows;
    const char *const *parts; /* [num_parts] legend of the parts, the same colours in every panel of the figure
                                 that names the same part; NULL for curves */
    int32_t num_parts;
    const double *xs; /* [num_xs] curves: the places on the x axis, above 0, rising; else NULL. Powers of two
                         get powers of two as ticks */
    int32_t num_xs;

    double limit;            /* a line across the bars or curves at this value, 0: none; the note of a bar that
                                is longer has the colour of the line */
    const char *limit_label; /* "80 GB of memory" */
};

struct kerf_figure {
    const char *title;
    const char *subtitle; /* NULL: none */
    const struct kerf_panel *panels;
    int32_t num_panels;
    const char *footer; /* small print: what made it, with which model; NULL: none */
};

/** Appends the finished picture to out: the text of an SVG file, the bytes of a PNG or PDF file. The same
 * figure gives the same bytes of SVG on every machine. It is 960 pixels wide, and as high as its rows need;
 * a PNG has two pixels for one. Nothing is appended on an error: KERF_EINVALID, KERF_ENOMEM, or
 * KERF_EUNSUPPORTED when cairo is not there or the picture is too high for a PNG. */
KERF_API int32_t kerf_figure_draw(const struct kerf_figure *figure, enum kerf_picture_format format,
                                  struct kerf_text *out, struct kerf_error *err);

/** A horizontal stacked bar for a terminal, `columns` wide when the values sum to `full`: eighths of a block
 * ("█▌"), one colour a part where colour is 1, one letter or shade a part where it is 0 (then in whole
 * columns, unless the first part is alone). Never wider than `columns`, and not padded to it: let the bar be
 * the last thing on its line. Values below 0 and NAN count as 0. */
KERF_API void kerf_bar_terminal(struct kerf_text *out, const double *values, int32_t num_values, double full,
                                int32_t columns, int32_t colour);

/** What kerf_bar_terminal paints part number `part` with, for the legend (one column, with colour when 1). */
KERF_API void kerf_bar_terminal_key(struct kerf_text *out, int32_t part, int32_t colour);

#ifdef __cplusplus
}
#endif
#endif
