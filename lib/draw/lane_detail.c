/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row of pixels shows of a lane, or of several. A bar that is wide enough is one bit. Columns of pixels that a
 * narrower bar touches are gathered: such a column has the mean colour of everything in it, mixed with the ground by
 * the share of it that is idle, so that no busy time is lost and no idle time hidden. Where several lanes share a row
 * every column is gathered. Colours of columns are rounded to a few, so that neighbours that look alike become one.
 *
 * Time: a binary search for the first bar, then linear in the bars and columns shown.
 */
#include "draw/lanes.h"

#include <math.h>
#include <stdlib.h>

struct column {
    double red, green, blue; /* sums of colour times pixels */
    double busy;             /* pixels times lanes */
    int32_t gathered;
};

struct gather {
    struct lane_rows *rows;
    struct arena *arena;
    const uint32_t *tones;  /* [num_parts][LANE_SHADES] */
    struct column *columns; /* [num_columns] */
    int32_t num_columns;
    double scale; /* pixels for a unit of time */
};

static int32_t add_bit(struct gather *gather, const struct lane_bit *bit) {
    struct lane_rows *rows = gather->rows;
    if (rows->num_bits == rows->capacity) {
        int32_t capacity = rows->capacity ? rows->capacity * 2 : 1024;
        struct lane_bit *bits = arena_alloc(gather->arena, (size_t)capacity, sizeof *bits);
        if (bits == NULL) return KERF_ENOMEM;
        for (int32_t i = 0; i < rows->num_bits; i++) bits[i] = rows->bits[i];
        rows->bits = bits, rows->capacity = capacity;
    }
    rows->bits[rows->num_bits++] = *bit;
    return KERF_OK;
}

static double place(const struct gather *gather, double time) {
    double x = (time - gather->rows->window.from) * gather->scale;
    return x < 0 ? 0 : fmin(x, gather->rows->width);
}

static int32_t column_of(const struct gather *gather, double x) {
    int32_t c = (int32_t)(x / gather->rows->column);
    return c < gather->num_columns ? c : gather->num_columns - 1;
}

/* The last column that a bar touches: one that ends where a column does is not in the next. */
static int32_t last_column(const struct gather *gather, double from, double to) {
    return column_of(gather, fmax(from, to - 1e-9));
}

static int seen(const struct kerf_lane_bar *bar, struct span window) {
    if (bar->start == bar->end) return bar->start >= window.from && bar->start <= window.to;
    return bar->start < window.to && bar->end > window.from;
}

static uint32_t tone_of(const struct gather *gather, int32_t part, int32_t shade) {
    return gather->tones[part * LANE_SHADES + lane_shade(shade)];
}

static void add_colour(struct column *column, uint32_t colour, double pixels) {
    column->red += (colour >> 16 & 255) * pixels;
    column->green += (colour >> 8 & 255) * pixels;
    column->blue += (colour & 255) * pixels;
    column->busy += pixels;
}

static void add_bar(struct gather *gather, const struct kerf_lane_bar *bar, int32_t c, double pixels) {
    struct column *column = &gather->columns[c];
    uint32_t colour = tone_of(gather, bar->part, bar->shade);
    if (bar->with_part < 0) {
        add_colour(column, colour, pixels);
    } else {
        add_colour(column, colour, pixels / 2);
        add_colour(column, tone_of(gather, bar->with_part, bar->with_shade), pixels / 2);
    }
}

/* Adds what of the bar is within gathered columns; what is not, at most one stretch, becomes a bit. */
static int32_t spread(struct gather *gather, const struct kerf_lane_bar *bar, struct lane_bit *bit) {
    const struct lane_rows *rows = gather->rows;
    double from = place(gather, bar->start), to = place(gather, bar->end);
    int32_t first = column_of(gather, from), last = last_column(gather, from, to), narrow = to - from < rows->least;
    double x = from, end = to;
    for (int32_t c = first; c <= last; c++) {
        if (!gather->columns[c].gathered) {
            if (rows->group > 1 || narrow) continue;
            /* Narrow bars lie before or behind this one, so the columns between are its own. */
            if (c > first && last - c > 1) c = last - 1;
            continue;
        }
        double left = fmax(from, c * rows->column);
        double right = c + 1 == gather->num_columns ? to : fmin(to, (c + 1) * rows->column);
        add_bar(gather, bar, c, fmax(right - left, 1e-6)); /* what takes no time is seen too */
        if (c == last && c > first)
            end = left;
        else
            x = right;
    }
    if (narrow || end - x <= 1e-9) return KERF_OK;
    bit->x = x, bit->width = end - x, bit->share = 1;
    bit->top = bit->below = tone_of(gather, bar->part, bar->shade);
    if (bar->with_part >= 0) bit->below = tone_of(gather, bar->with_part, bar->with_shade);
    return add_bit(gather, bit);
}

static uint32_t rounded(double red, double green, double blue) {
    const double steps[3] = {red, green, blue};
    uint32_t colour = 0;
    for (int i = 0; i < 3; i++) {
        double level = floor(steps[i] / 12 + 0.5) * 12;
        colour = colour << 8 | (uint32_t)fmin(fmax(level, 0), 255);
    }
    return colour;
}

/* The columns of one row as bits; equal neighbours are one. They are left empty for the next row. */
static int32_t end_row(struct gather *gather, int32_t row, int32_t lane, int32_t num_lanes) {
    struct lane_rows *rows = gather->rows;
    struct lane_bit open = {.width = 0};
    for (int32_t c = 0; c <= gather->num_columns; c++) {
        struct lane_bit bit = {.x = c * rows->column, .row = row, .lane = lane, .bar = -1};
        struct column *column = c < gather->num_columns ? &gather->columns[c] : NULL;
        if (column && column->gathered && column->busy > 0) {
            uint32_t ground = LANE_GROUND;
            bit.width = fmin(rows->column, rows->width - bit.x);
            bit.share = fmin(column->busy / (bit.width * num_lanes), 1);
            double busy = column->busy, ink = fmax(bit.share, 0.125);
            bit.top = bit.below = rounded((ground >> 16 & 255) * (1 - ink) + column->red / busy * ink,
                                          (ground >> 8 & 255) * (1 - ink) + column->green / busy * ink,
                                          (ground & 255) * (1 - ink) + column->blue / busy * ink);
        }
        if (open.width > 0 && (bit.width <= 0 || bit.top != open.top)) {
            if (add_bit(gather, &open) != KERF_OK) return KERF_ENOMEM;
            open.width = 0;
        }
        if (bit.width > 0 && open.width > 0) {
            open.share = (open.share * open.width + bit.share * bit.width) / (open.width + bit.width);
            open.width += bit.width;
        } else if (bit.width > 0)
            open = bit;
        if (column) *column = (struct column){.gathered = 0};
    }
    return KERF_OK;
}

static int32_t fill_row(struct gather *gather, int32_t row) {
    struct lane_rows *rows = gather->rows;
    const struct kerf_panel *panel = rows->panel;
    int32_t from = row * rows->group, to = from + rows->group;
    if (to > panel->num_lanes) to = panel->num_lanes;
    for (int32_t c = 0; rows->group > 1 && c < gather->num_columns; c++) gather->columns[c].gathered = 1;
    for (int32_t l = from; l < to; l++) {
        const struct kerf_lane *lane = &panel->lanes[l];
        int32_t first = lane_first(lane, rows->window.from);
        int32_t end = first;
        while (end < lane->num_bars && lane->bars[end].start <= rows->window.to) end++;
        for (int32_t i = first; rows->group == 1 && i < end; i++) {
            if (!seen(&lane->bars[i], rows->window)) continue;
            double x = place(gather, lane->bars[i].start), until = place(gather, lane->bars[i].end);
            if (until - x >= rows->least) continue;
            for (int32_t c = column_of(gather, x), last = last_column(gather, x, until); c <= last; c++)
                gather->columns[c].gathered = 1;
        }
        for (int32_t i = first; i < end; i++) {
            struct lane_bit bit = {.row = row, .lane = l, .bar = i};
            if (seen(&lane->bars[i], rows->window) && spread(gather, &lane->bars[i], &bit) != KERF_OK)
                return KERF_ENOMEM;
        }
    }
    return end_row(gather, row, from, to - from);
}

int32_t lane_rows_fill(struct lane_rows *rows, struct arena *arena) {
    const struct kerf_panel *panel = rows->panel;
    uint32_t *tones = arena_alloc(arena, (size_t)panel->num_parts * LANE_SHADES, sizeof *tones);
    struct gather gather = {.rows = rows, .arena = arena, .tones = tones};
    gather.num_columns = (int32_t)ceil(rows->width / rows->column);
    gather.scale = rows->width / (rows->window.to - rows->window.from);
    gather.columns = arena_alloc(arena, (size_t)gather.num_columns, sizeof *gather.columns);
    if (tones == NULL || gather.columns == NULL) return KERF_ENOMEM;
    for (int32_t i = 0; i < panel->num_parts * LANE_SHADES; i++)
        tones[i] = lane_tone(palette_part(rows->palette, words(panel->parts[i / LANE_SHADES])), i % LANE_SHADES);
    rows->num_rows = (panel->num_lanes + rows->group - 1) / rows->group;
    for (int32_t row = 0; row < rows->num_rows; row++)
        if (fill_row(&gather, row) != KERF_OK) return KERF_ENOMEM;
    return KERF_OK;
}

/* Whole columns first, then by colour, then where they are. */
static int by_colour(const void *a, const void *b) {
    const struct lane_bit *one = a, *other = b;
    if ((one->bar < 0) != (other->bar < 0)) return one->bar < 0 ? -1 : 1;
    if (one->top != other->top) return one->top < other->top ? -1 : 1;
    if (one->below != other->below) return one->below < other->below ? -1 : 1;
    if (one->row != other->row) return one->row < other->row ? -1 : 1;
    return (one->x > other->x) - (one->x < other->x);
}

void lane_rows_by_colour(struct lane_rows *rows) {
    if (rows->num_bits > 0) qsort(rows->bits, (size_t)rows->num_bits, sizeof *rows->bits, by_colour);
}
