/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every drawing of lanes needs - pictures, pages and terminals: whether they are as the header asks, which time
 * they show, and what a row of pixels or of characters shows of bars that may be narrower than one of them.
 */
#ifndef KERF_DRAW_LANES_H
#define KERF_DRAW_LANES_H

#include "draw/panel.h"

static inline int lanes_kind(const struct kerf_panel *panel) {
    return panel->kind == KERF_PANEL_LANES || panel->kind == KERF_PANEL_STEPS;
}

int32_t lanes_check(const struct kerf_panel *panel, int32_t number, struct kerf_error *err);

struct span {
    double from, to;
};

/* From the first start to the last end of the panel's bars (and curves, in a panel of steps); to < from: there are
 * none. */
struct span lanes_extent(const struct kerf_panel *panel);
/* What panel number p shows; to is above from. */
struct span lanes_window(const struct kerf_figure *figure, int32_t p);
/* The part of the window in which the panel has bars; idle shares refer to it. */
struct span lanes_active(const struct kerf_panel *panel, struct span window);

int lanes_have_part(const struct kerf_panel *panel, int32_t part); /* whether a bar is of that part */

int32_t lane_first(const struct kerf_lane *lane,
                   double from); /* the first bar that does not end before from, or num_bars */
double lane_busy(const struct kerf_lane *lane, struct span span);
/* Whether what is told of all lanes' idle time is of this one: where some have a curve, as devices have, others, such as
 * their copies, run beside them. */
int lanes_are_idle(const struct kerf_lane *lanes, int32_t count, int32_t lane);
double lanes_idle_share(const struct kerf_lane *lanes, int32_t count, struct span span); /* 0 where span is empty */

/* The curve: the value at a time; and the highest value within a span, and when it is first reached. */
double lane_curve_at(const struct kerf_lane *lane, double x);
double lane_peak(const struct kerf_lane *lane, struct span span, double *ret_x);

/* The unit of time of a panel of steps: as it says, or as a panel of lanes does. */
enum kerf_unit lanes_time_unit(const struct kerf_figure *figure, const struct kerf_panel *panel);

/* "device 3 \u00B7 forward of micro-batch 12 \u00B7 stage 3 \u00B7 10.0 s to 11.0 s (1.0 s)" */
void lane_bar_words(struct kerf_text *out, const struct kerf_panel *panel, const struct kerf_lane *lane,
                    const struct kerf_lane_bar *bar);

/* ---- Rows of pixels -------------------------------------------------------------------------------------------- */

/* A stretch of a row: of one bar, or a column of narrow ones. */
struct lane_bit {
    double x, width;     /* in pixels, from the left end of the axis */
    uint32_t top, below; /* colours; the same but for split bars */
    int32_t row, lane;
    int32_t bar;  /* -1: a column */
    double share; /* of the bit that is busy, all lanes of the row together; 1 for a bar */
};

struct lane_rows {
    const struct kerf_panel *panel;
    const struct palette *palette;
    struct span window;
    double width;  /* of the axis, in pixels */
    double column; /* width of a column */
    double least;  /* bars narrower than this are gathered */
    int32_t group; /* lanes in a row */
    int32_t num_rows;
    struct lane_bit *bits; /* [num_bits], row by row, rising in x; from the arena */
    int32_t num_bits, capacity;
};

/* Fills in the bits from the rest. KERF_ENOMEM: nothing else can go wrong. */
int32_t lane_rows_fill(struct lane_rows *rows, struct arena *arena);
/* Sorts the bits by colour, columns before bars, so that a format writes each colour once. */
void lane_rows_by_colour(struct lane_rows *rows);

#endif
