/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The curves of lanes over time - the memory that each device holds - below their timeline and as wide as it is. The
 * lane with the highest peak stands out; the others are thin lines, or, when they are many, a band from the least to
 * the most at each moment. Within a pixel a curve is drawn from its least to its most, so that no peak is lost.
 */
#include "draw/lanes.h"

#include <math.h>

enum { PLOT_HEIGHT = 150, MOST_LINES = 12 };

/* What a curve does within one column of pixels. */
struct dip {
    double first, least, most, last;
};

struct steps {
    struct sheet *sheet;
    const struct kerf_panel *panel;
    struct axis x, y;
    int32_t fullest; /* which lane */
    double peak, peak_x;
    int32_t num_columns;
    struct dip *dips; /* [num_columns] */
    struct canvas_point *points;
};

/* The curve of one lane by columns: linear in columns and steps. */
static void look(const struct steps *steps, const struct kerf_lane *lane) {
    double from = steps->x.low, per_column = (steps->x.high - from) / steps->num_columns;
    double value = lane_curve_at(lane, from);
    int32_t k = 0;
    while (k < lane->num_curve && lane->curve_x[k] <= from) k++;
    for (int32_t c = 0; c < steps->num_columns; c++) {
        struct dip dip = {value, value, value, value};
        double end = c + 1 == steps->num_columns ? steps->x.high : from + (c + 1) * per_column;
        for (; k < lane->num_curve && lane->curve_x[k] <= end; k++) {
            value = lane->curve_y[k];
            /* Of several steps at one time only the last one lasts. */
            if (k + 1 < lane->num_curve && lane->curve_x[k + 1] == lane->curve_x[k]) continue;
            dip.least = fmin(dip.least, value), dip.most = fmax(dip.most, value);
        }
        dip.last = value;
        steps->dips[c] = dip;
    }
}

/* The line of a curve whose steps are few is exact; else it goes up and down within columns. */
static int32_t line_of(const struct steps *steps, const struct kerf_lane *lane, struct canvas_point *points) {
    int32_t count = 0;
    double value = lane_curve_at(lane, steps->x.low);
    points[count++] = (struct canvas_point){steps->x.from, axis_place(&steps->y, value)};
    if (lane->num_curve <= steps->num_columns) {
        for (int32_t k = 0; k < lane->num_curve; k++) {
            double x = lane->curve_x[k];
            if (x <= steps->x.low || x > steps->x.high) continue;
            if (k + 1 < lane->num_curve && lane->curve_x[k + 1] == x) continue;
            double at = axis_place(&steps->x, x), y = points[count - 1].y;
            points[count++] = (struct canvas_point){at, y};
            points[count++] = (struct canvas_point){at, axis_place(&steps->y, lane->curve_y[k])};
        }
        double y = points[count - 1].y;
        points[count++] = (struct canvas_point){steps->x.to, y};
        return count;
    }
    look(steps, lane);
    for (int32_t c = 0; c < steps->num_columns; c++) {
        const struct dip *dip = &steps->dips[c];
        double x = steps->x.from + c + 0.5;
        if (dip->least == dip->most) {
            if (c > 0 && steps->dips[c - 1].last == dip->first && c + 1 < steps->num_columns) continue;
            points[count++] = (struct canvas_point){x, axis_place(&steps->y, dip->last)};
            continue;
        }
        points[count++] = (struct canvas_point){x, axis_place(&steps->y, dip->first)};
        points[count++] = (struct canvas_point){x, axis_place(&steps->y, dip->least)};
        points[count++] = (struct canvas_point){x, axis_place(&steps->y, dip->most)};
        points[count++] = (struct canvas_point){x, axis_place(&steps->y, dip->last)};
    }
    return count;
}

static void draw_lane(const struct steps *steps, int32_t l, const struct canvas_pen *pen) {
    int32_t count = line_of(steps, &steps->panel->lanes[l], steps->points);
    canvas_path(steps->sheet->canvas, steps->points, count, pen, NULL);
}

static void draw_band(const struct steps *steps, uint32_t fill) {
    struct dip *band = sheet_alloc(steps->sheet, steps->num_columns, sizeof *band);
    if (band == NULL) return;
    for (int32_t l = 0; l < steps->panel->num_lanes; l++) {
        look(steps, &steps->panel->lanes[l]);
        for (int32_t c = 0; c < steps->num_columns; c++) {
            band[c].least = l == 0 ? steps->dips[c].least : fmin(band[c].least, steps->dips[c].least);
            band[c].most = l == 0 ? steps->dips[c].most : fmax(band[c].most, steps->dips[c].most);
        }
    }
    struct canvas_point *points = steps->points;
    int32_t count = 0;
    for (int32_t c = 0; c < steps->num_columns; c++)
        points[count++] = (struct canvas_point){steps->x.from + c + 0.5, axis_place(&steps->y, band[c].most)};
    for (int32_t c = steps->num_columns; c-- > 0;)
        points[count++] = (struct canvas_point){steps->x.from + c + 0.5, axis_place(&steps->y, band[c].least)};
    const struct canvas_pen pen = {.stroke = CANVAS_NONE, .fill = fill, .closed = 1};
    canvas_path(steps->sheet->canvas, points, count, &pen, NULL);
}

static void draw_grid(const struct steps *steps) {
    struct canvas *canvas = steps->sheet->canvas;
    double bottom = steps->y.from, left = steps->x.from, right = steps->x.to;
    for (int32_t i = 0; i < steps->y.num_ticks; i++) {
        double y = crisp(axis_place(&steps->y, steps->y.ticks[i]));
        canvas_line(canvas, left, y, right, y, INK_GRID, 1, 0);
        canvas_text(canvas, left - 10, y + 4, &font_tick, CANVAS_END, steps->y.labels[i], NULL);
    }
    for (int32_t i = 0; i < steps->x.num_ticks; i++) {
        double x = crisp(axis_place(&steps->x, steps->x.ticks[i]));
        canvas_line(canvas, x, steps->y.to, x, bottom + 4, INK_GRID, 1, 0);
        canvas_text(canvas, x, bottom + 17, &font_tick, CANVAS_MIDDLE, steps->x.labels[i], NULL);
    }
    canvas_line(canvas, left, crisp(bottom), right, crisp(bottom), INK_AXIS, 1, 0);
}

static void draw_limit(const struct steps *steps) {
    struct sheet *sheet = steps->sheet;
    double y = crisp(axis_place(&steps->y, panel_value(steps->panel->limit)));
    canvas_line(sheet->canvas, steps->x.from, y, steps->x.to, y, INK_LIMIT, 1.25, 4);
    const char *label = sheet_fit(sheet, words(steps->panel->limit_label), &font_limit, steps->x.to - steps->x.from);
    canvas_text(sheet->canvas, steps->x.to, y - 6, &font_limit, CANVAS_END, label, NULL);
}

static double draw_legend(const struct steps *steps, uint32_t strong, uint32_t thin, double top) {
    struct sheet *sheet = steps->sheet;
    const struct kerf_panel *panel = steps->panel;
    char peak[CHART_NUMBER];
    chart_number(peak, steps->peak, panel->unit);
    struct legend_entry entries[2] = {
        {sheet_printf(sheet, "%s, peak %s", words(panel->lanes[steps->fullest].label), peak), strong, -2},
        {panel->num_lanes > MOST_LINES ? "from the minimum to the maximum over all lanes" : "other lanes", thin,
         panel->num_lanes > MOST_LINES ? -1 : -2}};
    return legend_draw(sheet, entries, panel->num_lanes > 1 ? 2 : 1, top);
}

double panel_steps(struct sheet *sheet, const struct kerf_panel *panel, double top) {
    struct span window = lanes_window(sheet->figure, (int32_t)(panel - sheet->figure->panels));
    struct steps steps = {.sheet = sheet, .panel = panel};
    for (int32_t l = 0; l < panel->num_lanes; l++) {
        double x, peak = lane_peak(&panel->lanes[l], window, &x);
        if (l == 0 || peak > steps.peak) steps.fullest = l, steps.peak = peak, steps.peak_x = x;
    }
    const uint32_t strong = palette_numbered(6), thin = palette_mix(INK_AXIS, INK_SOFT, 0.3);
    double plot = draw_legend(&steps, strong, panel->num_lanes > MOST_LINES ? INK_GRID : thin, top) + 14;
    double bottom = plot + PLOT_HEIGHT, y = bottom + 22;
    if (panel->limit > 0) plot += 6, bottom += 6, y += 6;
    if (panel->x_label) {
        canvas_text(sheet->canvas, (sheet->lane_left + sheet->lane_right) / 2, y + 13, &font_tick, CANVAS_MIDDLE,
                    sheet_fit(sheet, panel->x_label, &font_tick, sheet->lane_right - sheet->lane_left), NULL);
        y += 18;
    }
    if (sheet->measuring) return y;

    double high = fmax(panel_value(steps.peak), panel_value(panel->limit));
    steps.x = (struct axis){.low = window.from,
                            .high = window.to,
                            .from = sheet->lane_left,
                            .to = sheet->lane_right,
                            .unit = lanes_time_unit(sheet->figure, panel),
                            .least_gap = 64};
    steps.y = (struct axis){.high = high > 0 ? high * 1.06 : 1,
                            .from = bottom,
                            .to = plot,
                            .unit = panel->unit,
                            .vertical = 1,
                            .least_gap = 26};
    steps.num_columns = (int32_t)(steps.x.to - steps.x.from);
    steps.dips = sheet_alloc(sheet, steps.num_columns, sizeof *steps.dips);
    steps.points = sheet_alloc(sheet, 4 * steps.num_columns + 4, sizeof *steps.points);
    if (steps.dips == NULL || steps.points == NULL) return y;
    axis_ticks(&steps.x);
    axis_ticks(&steps.y);
    draw_grid(&steps);
    if (panel->num_lanes > MOST_LINES) draw_band(&steps, INK_GRID);
    const struct canvas_pen pen = {.stroke = thin, .fill = CANVAS_NONE, .width = 1};
    for (int32_t l = 0; panel->num_lanes <= MOST_LINES && l < panel->num_lanes; l++)
        if (l != steps.fullest) draw_lane(&steps, l, &pen);
    draw_lane(&steps, steps.fullest, &(struct canvas_pen){.stroke = strong, .fill = CANVAS_NONE, .width = 1.75});
    if (steps.peak > 0)
        canvas_rect(sheet->canvas, axis_place(&steps.x, steps.peak_x) - 3.5, axis_place(&steps.y, steps.peak) - 3.5, 7,
                    7, 3.5, strong, NULL);
    if (panel->limit > 0) draw_limit(&steps);
    return y;
}
