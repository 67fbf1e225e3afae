/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes in time - whether bars and curves are as draw.h asks, the time that a panel shows, how busy a lane is within it,
 * a bar in words - and in rows of pixels. A question about a span of time costs a binary search and the bars inside.
 */
#include "draw/lanes.h"

#include <math.h>
#include <stdlib.h>

static int32_t check_lane(const struct kerf_panel *panel, int32_t number, int32_t l, double slack,
                          struct kerf_error *err) {
    const struct kerf_lane *lane = &panel->lanes[l];
    if (lane->num_bars < 0 || lane->num_curve < 0 || (lane->num_bars > 0 && lane->bars == NULL) ||
        (lane->num_curve > 0 && (lane->curve_x == NULL || lane->curve_y == NULL)))
        return kerf_error_set(err, KERF_EINVALID, "panel %d, lane %d: its bars or its curve are not there", number,
                              l + 1);
    for (int32_t i = 0; panel->kind == KERF_PANEL_LANES && i < lane->num_bars; i++) {
        const struct kerf_lane_bar *bar = &lane->bars[i];
        if (!(bar->start >= 0) || !(bar->end >= bar->start) || !(bar->end <= 1e290))
            return kerf_error_set(err, KERF_EINVALID,
                                  "panel %d, lane %d: bar %d has to start at 0 or later, end not before that, and be "
                                  "finite",
                                  number, l + 1, i + 1);
        if (i > 0 && (bar->start < bar[-1].start || bar->start < bar[-1].end - slack))
            return kerf_error_set(err, KERF_EINVALID, "panel %d, lane %d: bar %d starts before bar %d has ended",
                                  number, l + 1, i + 1, i);
        if (bar->part < 0 || bar->part >= panel->num_parts || bar->with_part < -1 ||
            bar->with_part >= panel->num_parts || bar->shade < 0 || bar->with_shade < 0)
            return kerf_error_set(err, KERF_EINVALID, "panel %d, lane %d: bar %d has an unknown part or shade", number,
                                  l + 1, i + 1);
    }
    for (int32_t k = 0; k < lane->num_curve; k++)
        if (!(lane->curve_x[k] >= (k > 0 ? lane->curve_x[k - 1] : 0)) || !(lane->curve_x[k] <= 1e290) ||
            !(lane->curve_y[k] >= 0) || !(lane->curve_y[k] <= 1e290))
            return kerf_error_set(err, KERF_EINVALID,
                                  "panel %d, lane %d: step %d of its curve has to be finite, not negative and not "
                                  "before the one in front of it",
                                  number, l + 1, k + 1);
    return KERF_OK;
}

int32_t lanes_check(const struct kerf_panel *panel, int32_t number, struct kerf_error *err) {
    if (panel->num_lanes < 0 || panel->num_parts < 0 || panel->num_shades < 0 ||
        (panel->num_lanes > 0 && panel->lanes == NULL) || (panel->num_parts > 0 && panel->parts == NULL) ||
        (panel->num_shades > 0 && panel->shades == NULL))
        return kerf_error_set(err, KERF_EINVALID, "panel %d: its lanes, parts or shades are not there", number);
    if (panel->num_parts > LANE_PARTS)
        return kerf_error_set(err, KERF_EINVALID, "panel %d: %d parts, at most %d can be told apart", number,
                              panel->num_parts, LANE_PARTS);
    if (!(panel->x_from >= 0) || !(panel->x_to <= 1e290) || !(panel->x_to > panel->x_from || panel->x_to == 0) ||
        panel->x_from > 1e290)
        return kerf_error_set(err, KERF_EINVALID,
                              "panel %d: it has to show a time that begins at 0 or later and ends after that", number);
    double last = 0;
    for (int32_t l = 0; l < panel->num_lanes; l++)
        if (panel->lanes[l].num_bars > 0 && panel->lanes[l].bars)
            last = fmax(last, panel->lanes[l].bars[panel->lanes[l].num_bars - 1].end);
    for (int32_t l = 0; l < panel->num_lanes; l++) {
        int32_t code = check_lane(panel, number, l, last * 1e-9, err);
        if (code != KERF_OK) return code;
    }
    return KERF_OK;
}

struct span lanes_extent(const struct kerf_panel *panel) {
    struct span extent = {HUGE_VAL, -1};
    for (int32_t l = 0; l < panel->num_lanes; l++) {
        const struct kerf_lane *lane = &panel->lanes[l];
        if (panel->kind == KERF_PANEL_LANES && lane->num_bars > 0) {
            extent.from = fmin(extent.from, lane->bars[0].start);
            extent.to = fmax(extent.to, lane->bars[lane->num_bars - 1].end);
        }
        if (panel->kind == KERF_PANEL_STEPS && lane->num_curve > 0) {
            extent.from = fmin(extent.from, lane->curve_x[0]);
            extent.to = fmax(extent.to, lane->curve_x[lane->num_curve - 1]);
        }
    }
    return extent;
}

struct span lanes_window(const struct kerf_figure *figure, int32_t p) {
    const struct kerf_panel *panel = &figure->panels[p];
    struct span window = {panel->x_from, panel->x_to};
    if (window.to == 0) {
        struct span all = {HUGE_VAL, -1};
        for (int32_t i = 0; i < figure->num_panels; i++) {
            const struct kerf_panel *other = &figure->panels[i];
            if (!lanes_kind(other) || other->x_from != panel->x_from || other->x_to != panel->x_to) continue;
            struct span extent = lanes_extent(other);
            all = (struct span){fmin(all.from, extent.from), fmax(all.to, extent.to)};
        }
        if (all.to < all.from) all = (struct span){0, 0};
        if (window.from == 0) window.from = all.from;
        window.to = all.to;
    }
    if (!(window.to - window.from > 1e-9 * window.from)) /* one instant */
        window.to = window.from + (window.from > 0 ? window.from / 4 : 1);
    return window;
}

struct span lanes_active(const struct kerf_panel *panel, struct span window) {
    struct span extent = lanes_extent(panel);
    return (struct span){fmax(window.from, extent.from), fmin(window.to, extent.to)};
}

int lanes_have_part(const struct kerf_panel *panel, int32_t part) {
    for (int32_t l = 0; l < panel->num_lanes; l++)
        for (int32_t i = 0; i < panel->lanes[l].num_bars; i++)
            if (panel->lanes[l].bars[i].part == part || panel->lanes[l].bars[i].with_part == part) return 1;
    return 0;
}

int32_t lane_first(const struct kerf_lane *lane, double from) {
    int32_t low = 0, high = lane->num_bars;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (lane->bars[middle].end >= from)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double lane_busy(const struct kerf_lane *lane, struct span span) {
    double busy = 0;
    for (int32_t i = lane_first(lane, span.from); i < lane->num_bars && lane->bars[i].start < span.to; i++)
        busy += fmin(lane->bars[i].end, span.to) - fmax(lane->bars[i].start, span.from);
    return busy;
}

int lanes_are_idle(const struct kerf_lane *lanes, int32_t count, int32_t lane) {
    int32_t first = 0;
    while (first < count && lanes[first].num_curve == 0) first++;
    return first == count || lanes[lane].num_curve > 0;
}

double lanes_idle_share(const struct kerf_lane *lanes, int32_t count, struct span span) {
    double busy = 0, whole = 0;
    for (int32_t l = 0; l < count; l++) {
        if (!lanes_are_idle(lanes, count, l)) continue;
        busy += lane_busy(&lanes[l], span);
        whole += span.to - span.from;
    }
    return whole > 0 ? fmin(fmax(1 - busy / whole, 0), 1) : 0;
}

/* How many steps of the curve are not after x. */
static int32_t steps_until(const struct kerf_lane *lane, double x) {
    int32_t low = 0, high = lane->num_curve;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (lane->curve_x[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double lane_curve_at(const struct kerf_lane *lane, double x) {
    int32_t steps = steps_until(lane, x);
    return steps > 0 ? lane->curve_y[steps - 1] : 0;
}

double lane_peak(const struct kerf_lane *lane, struct span span, double *ret_x) {
    int32_t k = steps_until(lane, span.from);
    double peak = k > 0 ? lane->curve_y[k - 1] : 0;
    *ret_x = span.from;
    for (; k < lane->num_curve && lane->curve_x[k] <= span.to; k++) {
        /* Of several steps at one time only the last one lasts. */
        if (k + 1 < lane->num_curve && lane->curve_x[k + 1] == lane->curve_x[k]) continue;
        if (lane->curve_y[k] > peak) peak = lane->curve_y[k], *ret_x = lane->curve_x[k];
    }
    return peak;
}

enum kerf_unit lanes_time_unit(const struct kerf_figure *figure, const struct kerf_panel *panel) {
    if (panel->x_unit != KERF_UNIT_NONE) return panel->x_unit;
    for (int32_t p = 0; p < figure->num_panels; p++)
        if (figure->panels[p].kind == KERF_PANEL_LANES) return figure->panels[p].unit;
    return KERF_UNIT_NONE;
}

static void half_words(struct kerf_text *out, const struct kerf_panel *panel, int32_t part, int32_t number) {
    kerf_text_add(out, words(panel->parts[part]));
    if (number >= 0)
        kerf_text_printf(out, " of %s %d", panel->number_name ? panel->number_name : "micro-batch", number);
}

void lane_bar_words(struct kerf_text *out, const struct kerf_panel *panel, const struct kerf_lane *lane,
                    const struct kerf_lane_bar *bar) {
    int told = *words(panel->series_name) && bar->series >= 0, split = bar->with_part >= 0;
    double took = bar->end - bar->start, step = took > 0 ? pow(10, floor(log10(took)) - 1) : bar->end / 1000;
    char from[CHART_NUMBER], to[CHART_NUMBER], length[CHART_NUMBER];
    chart_number_like(from, bar->start, panel->unit, bar->end, step);
    chart_number_like(to, bar->end, panel->unit, bar->end, step);
    chart_number(length, took, panel->unit);
    kerf_text_add(out, words(lane->label));
    kerf_text_add(out, " \u00B7 ");
    half_words(out, panel, bar->part, bar->number);
    if (told) kerf_text_printf(out, " \u00B7 %s %d", panel->series_name, bar->series);
    if (split) {
        kerf_text_add(out, " \u00B7 with ");
        half_words(out, panel, bar->with_part, bar->with_number);
        if (told && bar->with_series >= 0) kerf_text_printf(out, " \u00B7 %s %d", panel->series_name, bar->with_series);
    }
    kerf_text_printf(out, " \u00B7 %s to %s (%s)", from, to, length);
}

/* ---- Rows of pixels -------------------------------------------------------------------------------------------- */

/*
 * What a row of pixels shows of a lane, or of several. A bar that is wide enough is one bit. Columns of pixels that a
 * narrower bar touches are gathered: such a column has the mean colour of everything in it, mixed with the ground by
 * the share of it that is idle, so that no busy time is lost and no idle time hidden. Where several lanes share a row
 * every column is gathered. Colours of columns are rounded to a few, so that neighbours that look alike become one.
 *
 * Time: a binary search for the first bar, then linear in the bars and columns shown.
 */

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
