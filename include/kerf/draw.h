/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures: a figure is a title and some panels below each other; each panel is one kind of chart. The same
 * figure is drawn as SVG, PNG, PDF or HTML. SVG and HTML need nothing; PNG and PDF need the shared library cairo
 * (libcairo.so.2), which is looked for when the first such picture is drawn.
 *
 * An HTML page is one file that loads nothing. In it timelines (lanes and steps) are zoomed and panned with the
 * mouse, fingers or keys, say what is under the pointer, and show where else a micro-batch is; other panels are
 * there as SVG.
 *
 * All strings are UTF-8 and belong to the caller; nothing is kept after the call; a NULL string is an empty
 * one. Values are finite and, but for curves and matrices, not negative: KERF_EINVALID says which one is not. What
 * has no room is cut with an ellipsis, and in SVG shown in full under the mouse.
 *
 * Several threads may draw at once, each to its own kerf_text.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *     int main(void) {
 *         const char *parts[] = {"forward", "backward"};
 *         const double values[] = {1, 2};
 *         const struct kerf_chart_row row = {"a step", NULL, values, NULL};
 *         const struct kerf_panel panel = {.kind = KERF_PANEL_BARS, .unit = KERF_UNIT_SECONDS, .rows = &row, .num_rows = 1,
 *                                          .parts = parts, .num_parts = 2};
 *         const struct kerf_figure figure = {"Where the time goes", NULL, &panel, 1, NULL};
 *         struct kerf_text svg = {0};
 *         struct kerf_error err;
 *         if (kerf_figure_draw(&figure, KERF_PICTURE_SVG, &svg, &err) != KERF_OK) return 1;
 *         puts(strstr(svg.data, "backward") ? "drawn" : "no legend");
 *         kerf_text_free(&svg);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     drawn
 */
#ifndef KERF_DRAW_H
#define KERF_DRAW_H

#include "kerf/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Formats ---------------------------------------------------------------------------------------------- */

/** The last one is a part of a page, for a page of one's own that has web/timeline.css and web/timeline.js: what stands
 * in the body, and the data for the script. A figure without timelines is then an SVG. */
enum kerf_picture_format {
    KERF_PICTURE_SVG,
    KERF_PICTURE_PNG,
    KERF_PICTURE_PDF,
    KERF_PICTURE_HTML,
    KERF_PICTURE_HTML_PART
};

/** The format that a file's name asks for (.svg, .png, .pdf, .html); KERF_EUNSUPPORTED names those there are. */
KERF_API int32_t kerf_picture_format_of(const char *path, enum kerf_picture_format *ret_format, struct kerf_error *err);

/* ---- What is drawn ---------------------------------------------------------------------------------------- */

/** How numbers on an axis are written. */
enum kerf_unit { KERF_UNIT_NONE, KERF_UNIT_SECONDS, KERF_UNIT_BYTES, KERF_UNIT_COUNT };

/** One bar, column or curve. In a curve NAN is a gap; so is what is not above 0 where the axes are logarithmic, and
 * what is below 0 where they are linear. */
struct kerf_chart_row {
    const char *label;    /* at the bar, under the column, or in the legend for a curve */
    const char *detail;   /* smaller words below the label; NULL: none, and none in a matrix */
    const double *values; /* bars and columns: [num_parts], stacked; curves: [num_xs], NAN where there is none;
                             matrices: [num_xs], the ratio to the best: 1.3 is 30 % worse; above 0, below 1
                             is coloured as 1; NAN where there is none */
    const char *note;     /* words behind the bar or above the column ("260 s"), NULL: the sum in the panel's
                             unit; for a curve words behind its detail, NULL: none; none in a matrix */
};

/** What is known of a cell of a matrix. The value is looked at in the first three alone, and where it is NAN there, the
 * cell is KERF_CELL_OUTSIDE. */
enum kerf_cell_state {
    KERF_CELL_MEASURED, /* the value was measured */
    KERF_CELL_EXPECTED, /* a model expects the value, and nobody has measured it */
    KERF_CELL_STOPPED,  /* measuring was stopped there: it is more than the value */
    KERF_CELL_FAILED,   /* measuring has failed or was skipped: why is said by the tip */
    KERF_CELL_UNKNOWN,  /* nothing is known yet */
    KERF_CELL_OUTSIDE   /* there is no such setting: the place stays empty */
};

/** Marks of a cell, joined by |. */
enum kerf_cell_mark { KERF_CELL_BEST = 1, KERF_CELL_RECOMMENDED = 2, KERF_CELL_DEFAULT = 4 };

/** A cell of a matrix, beside its value. */
struct kerf_matrix_cell {
    int32_t state;   /* enum kerf_cell_state */
    int32_t marks;   /* of enum kerf_cell_mark; 0: none. KERF_CELL_OUTSIDE shows none */
    const char *tip; /* shown under the mouse, NULL: "ubatch 512, batch 2048: 1.23, expected" */
};

/** One operation of a lane, from start to end. A whole bar has with_part -1; else it is split into an upper half,
 * which is part, and a lower half, which is with_part: two operations that run together. */
struct kerf_lane_bar {
    double start, end;           /* 0 <= start <= end */
    int32_t number, with_number; /* written on the bar and on its lower half: the micro-batch; below 0: none */
    int16_t part, with_part;     /* which of the panel's parts: colour and legend ("forward") */
    int16_t series, with_series; /* told under the mouse: the stage; below 0: none */
    int16_t shade, with_shade;   /* 0: the part's colour; 1, 2, 3, ...: lighter and darker ones (the chunk of the model,
                                    or the direction) */
};

/** One row of a timeline: a device. Bars rise in time and do not overlap (by more than a billionth of the panel's
 * time). The curve is a step function, such as the memory held: from curve_x[k] on it is curve_y[k], before the first
 * it is 0. curve_x does not fall. Where some lanes of a timeline have a curve, the idle share of all is theirs alone:
 * others, such as a device's copies, run beside them. */
struct kerf_lane {
    const char *label;                /* "device 3" */
    const struct kerf_lane_bar *bars; /* [num_bars] */
    int32_t num_bars;
    const double *curve_x, *curve_y; /* [num_curve] */
    int32_t num_curve;
};

enum kerf_panel_kind {
    KERF_PANEL_BARS,    /* horizontal stacked bars, one below the other, the first at the top */
    KERF_PANEL_COLUMNS, /* vertical stacked columns, each scaled to 100 %: what the parts' shares are */
    KERF_PANEL_CURVES,  /* lines with markers over a logarithmic x and a logarithmic y, or linear ones */
    KERF_PANEL_LANES,   /* a timeline: a row for each lane with its bars, time to the right, the idle share behind it.
                           Bars too narrow to be seen are gathered in columns of a pixel, which have the mean colour of
                           the bars and are the paler the more of the column is idle; of many hundred lanes some
                           share a row */
    KERF_PANEL_STEPS,   /* the curves of the lanes over time, to be put right below their timeline (in HTML it then
                           says what a lane holds at the moment under the mouse): the lane with the highest
                           peak stands out; more than a dozen others are a band from the least to the most */
    KERF_PANEL_MATRIX,  /* a heat map of at most 256 x 256 cells: how every setting of two parameters compares with the
                           best. A row is a value of the one, the first at the top; a place along the x axis is a value
                           of the other. The best is dark; colours are logarithmic in the ratio. Cells tell their numbers
                           where there is room for all of them */
    KERF_PANEL_SCATTER, /* points over two axes, such as memory and time; a row is a series of them. Points have
                           their names beside them where there is room */
    KERF_PANEL_WHISKERS, /* bars with an interval each: values [3] of a row are the bar, and the low and high end of the whisker
                            on it, both NAN where there is none; one part. cells [num_rows], or NULL, say what is known of
                            each: what is only expected is paler */
    KERF_PANEL_INTERVALS /* curves with whiskers at their points: rows come in threes, the values, and the low and high ends of
                            the whiskers, NAN where there is none; labels and notes are those of the first */
};

/** Panels of lanes and steps whose x_from and x_to are equal share one range of time. */
struct kerf_panel {
    enum kerf_panel_kind kind;
    const char *title;
    const char *x_label; /* NULL: none */
    enum kerf_unit unit; /* of the values; of time in a panel of lanes; columns show per cent, matrices plain numbers */

    const struct kerf_chart_row *rows; /* [num_rows] bars, columns, curves and matrices */
    int32_t num_rows;
    const char *const *parts; /* [num_parts] legend of the parts, the same colours in every panel of the figure
                   that names the same part; NULL for curves, steps and matrices. In lanes "forward", "backward",
                   "... input ..." and "... weight ..." have colours of their own; at most
                   200 parts */
    int32_t num_parts;
    const double *xs; /* [num_xs] curves: the places on the x axis, above 0 (linear: not below 0), rising; else NULL.
                         Powers of two get powers of two as ticks on a logarithmic axis. Scatters: of each point, not
                         below 0, not falling; the other rows are NAN there */
    int32_t num_xs;   /* matrices: cells in a row */

    int32_t beside; /* bars: 1: stands to the right of the panel of bars before it, which has as many rows, in the same
                       rows: its labels and details are not drawn again */

    /* a line across the bars, curves or steps at this value, scatters: at this x; 0: none; the note of a bar that is
     * longer has the colour of the line. Matrices: above 1, the ratio from which on all cells are equally pale, 0: the
     * highest there is, 1.2 to 3 */
    double limit;
    const char *limit_label; /* "80 GB of memory"; matrices: what the ratios are, NULL: "ratio to the best" */

    /* scatters: the points of the first so many rows are joined by a staircase, whose value holds up to the next x: a
     * front. They alone have their names beside them */
    int32_t num_joined;

    int32_t linear; /* curves: 1: linear axes, which need not begin at 0 */
    /* curves and scatters: of the x axis; KERF_UNIT_NONE: a count. Steps: of time; KERF_UNIT_NONE: as the lanes of the
     * figure */
    enum kerf_unit x_unit;

    const struct kerf_lane *lanes; /* [num_lanes] lanes and steps */
    int32_t num_lanes;
    double x_from, x_to;             /* which time is shown; both 0: all. In HTML what is shown at first */
    const char *series_name;         /* "stage"; NULL: series are not told */
    const char *number_name;         /* what the numbers count; NULL: "micro-batch" */
    const char *const *part_letters; /* [num_parts] for a terminal without colour; NULL: the parts' first letters */
    const char *const *shades;       /* [num_shades] legend of the shades ("chunk 0", "chunk 1"), or NULL */
    int32_t num_shades;

    const char *const *x_names; /* [num_xs] matrices: the labels below the cells ("16", "32"); scatters: what
                                             each point is, or NULL */
    const char *y_label; /* matrices, and whiskers on a terminal: what the rows are ("ubatch"), NULL: none; scatters: of
                            the y axis */
    int32_t logarithmic; /* scatters: 1: both axes are logarithmic and alike, with a line where x and y are equal;
                                   points at 0 are left out */
    const struct kerf_matrix_cell *cells; /* [num_rows][num_xs] matrices, [num_rows] whiskers; NULL: all were measured,
                                             without marks */
};

struct kerf_figure {
    const char *title;
    const char *subtitle; /* NULL: none */
    const struct kerf_panel *panels;
    int32_t num_panels;
    const char *footer; /* small print: what made it, with which model; NULL: none */
};

/* ---- Drawing ---------------------------------------------------------------------------------------------- */

/** Appends the finished picture to out: the text of an SVG or HTML file, the bytes of a PNG or PDF file. The same
 * figure gives the same bytes of SVG and HTML on every machine. It is 960 pixels wide, and as high as its rows need;
 * a PNG has two pixels for one. Nothing is appended on an error: KERF_EINVALID, KERF_ENOMEM, or
 * KERF_EUNSUPPORTED when cairo is not there or the picture is too high for a PNG. */
KERF_API int32_t kerf_figure_draw(const struct kerf_figure *figure, enum kerf_picture_format format,
                                  struct kerf_text *out, struct kerf_error *err);

/* ---- For a terminal --------------------------------------------------------------------------------------- */

/** A horizontal stacked bar for a terminal, `columns` wide when the values sum to `full`: eighths of a block
 * ("█▌"), one colour a part where colour is 1, one letter or shade a part where it is 0 (then in whole
 * columns, unless the first part is alone). Never wider than `columns`, and not padded to it: let the bar be
 * the last thing on its line. Values below 0 and NAN count as 0. */
KERF_API void kerf_bar_terminal(struct kerf_text *out, const double *values, int32_t num_values, double full,
                                int32_t columns, int32_t colour);

/** What kerf_bar_terminal paints part number `part` with, for the legend (one column, with colour when 1). */
KERF_API void kerf_bar_terminal_key(struct kerf_text *out, int32_t part, int32_t colour);

/** A panel of lanes for a terminal: a legend, a line for each lane, and below them the axis of time; no line is wider
 * than `columns`. A cell shows the part that fills most of it, and idle only when most of it is idle. With colour a
 * part is a background and micro-batches are numbered where they have room; without, parts are letters and idle is a
 * dot. Of more than 128 lanes some share a line, and a line says so. What kerf_figure_draw would refuse, and a panel
 * of another kind, gives nothing. */
KERF_API void kerf_lanes_terminal(struct kerf_text *out, const struct kerf_panel *panel, int32_t columns,
                                  int32_t colour);

/** A matrix for a terminal: a line for each row, the labels of its columns below, and a legend; no line is wider than
 * `columns`. A cell is its number with a sign in front of what is expected or stopped ("~1.2", ">2.5") and the signs of
 * its marks behind; with colour it lies on the colour of its ratio. Where that is too wide a cell is one character, a
 * class of ratios; and where even those are too many, columns are left out evenly, which a line says. Less than 8
 * columns, what kerf_figure_draw would refuse, and a panel of another kind give nothing. */
KERF_API void kerf_matrix_terminal(struct kerf_text *out, const struct kerf_panel *panel, int32_t columns,
                                   int32_t colour);

/** A panel of whiskers for a terminal: a line for each row with its label, its note, and between them its interval with a
 * sign where the value is, on one scale for all, which need not begin at 0; and a legend. What is expected does not
 * widen the scale. No line is wider than `columns`. Less than 24 columns, what kerf_figure_draw would refuse, and a panel of
 * another kind give nothing. */
KERF_API void kerf_whiskers_terminal(struct kerf_text *out, const struct kerf_panel *panel, int32_t columns,
                                     int32_t colour);

#ifdef __cplusplus
}
#endif
#endif
