/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the panels of a figure share: the sheet they are drawn on, the fonts, the colours of the parts, axes,
 * numbers and legends. A kind of panel is one file and one line in the table in figure_page.c.
 *
 * A panel is drawn twice: first on a blank canvas, to find out how high it is, then for good. So it decides
 * from its data and the sheet's width alone, and returns where it ends.
 */
#ifndef KERF_DRAW_PANEL_H
#define KERF_DRAW_PANEL_H

#include "draw/canvas.h"

#define INK_STRONG 0x141A22u
#define INK        0x2A323Du
#define INK_SOFT   0x67717Eu
#define INK_GRID   0xE9ECEFu
#define INK_AXIS   0xB4BCC6u
#define INK_LIMIT  0xA61E3Au
#define PAPER      0xFFFFFFu

extern const struct canvas_font font_title, font_subtitle, font_heading, font_label, font_detail, font_note, font_tick,
    font_limit, font_share;

/* palette.c */
struct palette_entry {
    const char *name;
    uint32_t colour;
    int32_t number; /* which of the colours it is, or which of the markers a curve has */
};

struct palette {
    struct palette_entry *parts, *curves; /* [num_parts], [num_curves], in the order in which they appear */
    int32_t num_parts, num_curves;
};

int32_t palette_make(struct arena *arena, const struct kerf_figure *figure, struct palette *ret_palette);
uint32_t palette_part(const struct palette *palette, const char *name);
const struct palette_entry *palette_curve(const struct palette *palette, const char *name);
uint32_t palette_numbered(int32_t number);
uint32_t palette_scale(double share); /* of heat maps: 0 the darkest, 1 the palest */
int32_t palette_part_number(const struct palette *palette, const char *name); /* -1: idle and its like */
double palette_light(uint32_t colour);    /* relative luminance of WCAG 2, with gamma 2 */
uint32_t palette_ink_on(uint32_t colour); /* of text on that colour: white or INK_STRONG */
uint32_t palette_mix(uint32_t a, uint32_t b, double share_of_b);

/* The colours of parts of lanes, in their shades. */
enum { LANE_SHADES = 4 /* then they come again */, LANE_PARTS = 200 /* at most */ };
#define LANE_GROUND 0xF0F2F5u

static inline int32_t lane_shade(int32_t shade) { return shade <= 0 ? 0 : 1 + (shade - 1) % (LANE_SHADES - 1); }
uint32_t lane_tone(uint32_t part, int32_t shade);

/* The sheet. Left and right: where the content begins and ends. */
struct sheet {
    struct canvas *canvas;
    struct arena arena; /* for one picture */
    struct palette palette;
    double left, right, page_width;
    const struct kerf_figure *figure;
    double bar_label_width;       /* of the labels of all panels of bars, so that their bars begin at one line */
    double lane_left, lane_right; /* where the time axes of all panels of lanes and steps begin and end */
    int32_t measuring;            /* 1 while only the height is wanted */
    int32_t failed;               /* 1 once memory ran out: what is drawn from then on is thrown away */
};

void *sheet_alloc(struct sheet *sheet, int32_t count, size_t size); /* NULL only for a sheet that has failed */
const char *sheet_printf(struct sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *sheet_fit(struct sheet *sheet, const char *string, const struct canvas_font *font, double width);

typedef double panel_draw(struct sheet *sheet, const struct kerf_panel *panel, double top); /* returns the bottom */
/* Two panels of bars in the same rows, with their titles. */
double panel_bars_pair(struct sheet *sheet, const struct kerf_panel pair[2], double top);
panel_draw panel_bars, panel_columns, panel_curves, panel_lanes, panel_steps, panel_matrix, panel_scatter;

/* 1: rows are points at xs, each with a colour and a marker of its own. */
static inline int panel_has_points(const struct kerf_panel *panel) {
    return panel->kind == KERF_PANEL_CURVES || panel->kind == KERF_PANEL_SCATTER || panel->kind == KERF_PANEL_INTERVALS;
}

/* 1: rows are horizontal bars. */
static inline int panel_has_bars(const struct kerf_panel *panel) {
    return panel->kind == KERF_PANEL_BARS || panel->kind == KERF_PANEL_WHISKERS;
}

/* How many rows of the panel are one curve. */
static inline int32_t panel_rows_each(const struct kerf_panel *panel) {
    return panel->kind == KERF_PANEL_INTERVALS ? 3 : 1;
}

/* The words behind bar or above column number i, not wider than width; and what the mouse is told of a part.
 */
const char *panel_note(struct sheet *sheet, const struct kerf_panel *panel, int32_t i, double width);
const char *panel_tip(struct sheet *sheet, const struct kerf_panel *panel, int32_t part, double value, double sum);
double panel_bars_label_width(const struct kerf_panel *panel, double most);
void lanes_place(struct sheet *sheet); /* finds lane_left and lane_right */
static inline const char *words(const char *string) { return string ? string : ""; }
static inline double crisp(double v) { return (double)(int64_t)v + 0.5; } /* where a line of 1 pixel is sharp */

/* chart_number.c: numbers in units that people read: "260 ms", "4.1 s", "63.7 GB", "16,384". */
enum { CHART_NUMBER = 40 };
void chart_number(char text[CHART_NUMBER], double value, enum kerf_unit unit);
/* As many decimals as a step needs, in the unit that suits `like`: "0", "200 ms", "1,200 ms". */
void chart_number_like(char text[CHART_NUMBER], double value, enum kerf_unit unit, double like, double step);
void chart_percent(char text[CHART_NUMBER], double share);
double panel_value(double value); /* what to draw: 0 or more, not so small or large that axes or sums suffer */
double panel_sum(const double *values, int32_t count);

/* terminal_bar.c: which of xterm's 256 colours stands for a colour of the palette; */
int32_t terminal_part_colour(int32_t number);

/* xterm's 256 colours from number 16 on, and words that fit. */
uint32_t terminal_rgb(int32_t number);
int32_t terminal_nearest(uint32_t colour);
int32_t terminal_ink_on(int32_t number); /* black or white */
/* A word without control characters, at most `most` columns; returns how many it took. */
int32_t terminal_word(struct kerf_text *out, const char *word, int32_t most);

/* sheet.c: axes */
enum { AXIS_TICKS = 48 };
struct axis {
    double low, high; /* the domain */
    double from, to;  /* where on the canvas low and high lie */
    enum kerf_unit unit;
    int32_t vertical;
    int32_t base;     /* 0: linear; 2 or 10: logarithmic, with ticks at the powers of it */
    int32_t whole;    /* linear: 1: no ticks between whole numbers */
    double least_gap; /* pixels between two ticks */
    int32_t num_ticks;
    double ticks[AXIS_TICKS];
    char labels[AXIS_TICKS][CHART_NUMBER];
};
double axis_place(const struct axis *axis, double value);
void axis_ticks(struct axis *axis); /* fills in the ticks from the rest */

/* sheet.c: legends */
enum { MARKERS = 5 };
struct legend_entry {
    const char *name;
    uint32_t colour;
    int32_t marker; /* -1: a patch of colour; -2: a line without a marker */
};
void legend_marker(struct canvas *canvas, int32_t marker, double x, double y, uint32_t colour, const char *tip);
double legend_draw(struct sheet *sheet, const struct legend_entry *entries, int32_t count, double top);
double legend_of_parts(struct sheet *sheet, const struct kerf_panel *panel, double top);

/* figure_page.c */
/* What a row of a kind of panel is called: "bar"; NULL: there is no such kind. */
const char *figure_row_word(int32_t kind);

/* The picture in words, for readers who cannot see it. */
void figure_describe(const struct kerf_figure *figure, struct kerf_text *out);

/* Makes the sheet of a figure, whose arena the caller frees. palette NULL: the figure's own. */
int32_t figure_prepare(struct sheet *sheet, const struct kerf_figure *figure, const struct palette *palette,
                       struct kerf_error *err);
int32_t figure_draw_page(struct sheet *sheet, const struct kerf_figure *figure, enum kerf_picture_format format,
                         struct kerf_text *out, struct kerf_error *err);

/* One panel as SVG, with colours that other panels have too. */
int32_t figure_draw_alone(const struct palette *palette, const struct kerf_panel *panel, struct kerf_text *out,
                          struct kerf_error *err);

#endif
