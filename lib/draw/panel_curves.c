/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves over a logarithmic x and a logarithmic y, or linear ones. Each curve is named where it ends, at the right of
 * the plot; names that would overlap are moved apart, as little as can be (the squares of the moves are least: pooled
 * adjacent violators), and tied to their curve by a thin line. With many curves a legend above names them instead.
 * Values of 0 and below cannot stand on a logarithmic axis and are left out like NAN. Of a panel of intervals each third row is
 * a curve, and the two behind it are the ends of the whiskers at its points.
 */
#include "draw/panel.h"

#include <math.h>
#include <string.h>

enum { NAMED = 12 }; /* curves with a name at their end, at most */

struct name {
    double wanted, y; /* where the curve ends, where the name is */
    double x;         /* where the curve ends; 0: it has no point */
    const char *label, *detail;
    uint32_t colour;
    int32_t marker; /* -1: the limit, which has none */
};

struct curves {
    struct sheet *sheet;
    const struct kerf_panel *panel;
    struct axis x, y;
    double left, right, top, bottom; /* of the plot */
    struct name names[NAMED + 1];
    int32_t num_names;
    double pitch; /* between two names */
};

static int visible(const struct kerf_panel *panel, double value) {
    return panel->linear ? value >= 0 : value > 0 && panel_value(value) > 0;
}

static int whole_numbers(const double *xs, int32_t count) {
    for (int32_t i = 0; i < count; i++)
        if (xs[i] != floor(xs[i])) return 0;
    return 1;
}

static int powers_of_two(const double *xs, int32_t count) {
    int exponent;
    for (int32_t i = 0; i < count; i++)
        if (xs[i] < 1 || frexp(xs[i], &exponent) != 0.5) return 0;
    return 1;
}

/* The domains of the axes, in pixels that are not known yet. */
static void find_domains(struct curves *curves) {
    const struct kerf_panel *panel = curves->panel;
    double low = HUGE_VAL, high = 0; /* both between the bounds of panel_value */
    if (panel->limit > 0) low = high = panel_value(panel->limit);
    for (int32_t i = 0; i < panel->num_rows; i++)
        for (int32_t k = 0; k < panel->num_xs; k++)
            if (visible(panel, panel->rows[i].values[k])) {
                low = fmin(low, panel_value(panel->rows[i].values[k]));
                high = fmax(high, panel_value(panel->rows[i].values[k]));
            }
    if (low > high) low = high = panel->linear ? 0 : 1;
    curves->y = (struct axis){.low = low, .high = high, .unit = panel->unit, .vertical = 1, .least_gap = 24};
    curves->x = (struct axis){.low = panel->xs[0],
                              .high = panel->xs[panel->num_xs - 1],
                              .unit = panel->x_unit == KERF_UNIT_NONE ? KERF_UNIT_COUNT : panel->x_unit,
                              .whole = panel->num_xs > 1 && whole_numbers(panel->xs, panel->num_xs),
                              .least_gap = 30};
    if (panel->num_xs == 1) {
        curves->x.low /= 2;
        curves->x.high = curves->x.high > 0 ? curves->x.high * 2 : 1;
    }
    if (panel->linear) {
        /* From 0, unless that would press the curves into the upper part. */
        double air = high > low ? (high - low) * 0.08 : high > 0 ? high * 0.1 : 1;
        curves->y.low = low < 0.4 * high ? 0 : fmax(low - air, 0);
        curves->y.high = fmin(high + air, 1e290);
        return;
    }
    double air = fmin(fmax(pow(high / low, 0.05), 1.15), 1e6);
    curves->y.low /= air, curves->y.high *= air;
    curves->y.base = 10;
    curves->x.base = powers_of_two(panel->xs, panel->num_xs) ? 2 : 10;
}

/* Names from the top to the bottom, apart by their pitch: neighbours that are too close become a block
 * whose middle is the middle of what its names want; blocks that touch become one. */
static void move_apart(struct curves *curves) {
    struct name *names = curves->names;
    int32_t count = curves->num_names, blocks = 0;
    for (int32_t i = 1; i < count; i++)
        for (int32_t k = i; k > 0 && names[k].wanted < names[k - 1].wanted; k--) {
            struct name other = names[k];
            names[k] = names[k - 1], names[k - 1] = other;
        }
    double starts[NAMED + 1] = {0}; /* where the first name of each block is */
    int32_t sizes[NAMED + 1] = {0};
    double pitch = curves->pitch, lowest = curves->bottom - 4;
    for (int32_t i = 0; i < count; i++) {
        starts[blocks] = fmin(fmax(names[i].wanted, curves->top), lowest);
        sizes[blocks++] = 1;
        while (blocks > 1 && starts[blocks - 2] + sizes[blocks - 2] * pitch > starts[blocks - 1]) {
            int32_t size = sizes[blocks - 2], added = sizes[blocks - 1];
            double start = (size * starts[blocks - 2] + added * (starts[blocks - 1] - size * pitch)) / (size + added);
            size += added;
            starts[--blocks - 1] = fmax(fmin(start, lowest - (size - 1) * pitch), curves->top);
            sizes[blocks - 1] = size;
        }
    }
    for (int32_t block = 0, i = 0; block < blocks; block++)
        for (int32_t k = 0; k < sizes[block]; k++) names[i++].y = starts[block] + k * pitch;
}

static void add_name(struct curves *curves, int32_t i) {
    struct sheet *sheet = curves->sheet;
    const struct kerf_chart_row *row = &curves->panel->rows[i];
    const struct palette_entry *entry = palette_curve(&sheet->palette, words(row->label));
    const char *detail = words(row->detail), *note = words(row->note);
    struct name *name = &curves->names[curves->num_names++];
    *name = (struct name){.label = words(row->label), .colour = entry->colour, .marker = entry->number};
    name->detail = *detail && *note ? sheet_printf(sheet, "%s \u00B7 %s", detail, note) : *detail ? detail : note;
    int32_t last = curves->panel->num_xs - 1;
    while (last >= 0 && !visible(curves->panel, row->values[last])) last--;
    if (last < 0) {
        name->label = sheet_printf(sheet, "%s (no values)", name->label);
        name->wanted = curves->bottom;
        return;
    }
    name->x = axis_place(&curves->x, curves->panel->xs[last]);
    name->wanted = axis_place(&curves->y, panel_value(row->values[last]));
}

static void draw_name(const struct curves *curves, const struct name *name) {
    struct sheet *sheet = curves->sheet;
    double x = curves->right + 24;
    if (name->x > 0) {
        const struct canvas_point leader[3] = {
            {fmin(name->x + 8, curves->right), name->wanted}, {curves->right, name->wanted}, {x - 7, name->y}};
        /* Dots within the plot, so that the line is not taken for a part of the curve. */
        const struct canvas_pen pen = {.stroke = palette_mix(name->colour, PAPER, 0.45),
                                       .fill = CANVAS_NONE,
                                       .width = 1,
                                       .dash = name->x < curves->x.to - 1 ? 3 : 0};
        canvas_path(sheet->canvas, leader, 3, &pen, NULL);
    }
    if (name->marker >= 0 && name->x > 0) legend_marker(sheet->canvas, name->marker, x, name->y, name->colour, NULL);
    double from = name->marker >= 0 ? x + 10 : x - 4;
    const struct canvas_font *font = name->marker >= 0 ? &font_label : &font_limit;
    const char *label = sheet_fit(sheet, name->label, font, sheet->right - from);
    canvas_text(sheet->canvas, from, name->y + 4.5, font, CANVAS_START, label,
                label == name->label ? NULL : name->label);
    const char *detail = sheet_fit(sheet, words(name->detail), &font_detail, sheet->right - from);
    canvas_text(sheet->canvas, from, name->y + 17, &font_detail, CANVAS_START, detail,
                detail == words(name->detail) ? NULL : name->detail);
}

static void draw_grid(const struct curves *curves) {
    struct canvas *canvas = curves->sheet->canvas;
    for (int32_t i = 0; i < curves->y.num_ticks; i++) {
        double y = crisp(axis_place(&curves->y, curves->y.ticks[i]));
        canvas_line(canvas, curves->left, y, curves->right, y, INK_GRID, 1, 0);
        canvas_text(canvas, curves->left - 10, y + 4, &font_tick, CANVAS_END, curves->y.labels[i], NULL);
    }
    for (int32_t i = 0; i < curves->x.num_ticks; i++) {
        double x = crisp(axis_place(&curves->x, curves->x.ticks[i]));
        canvas_line(canvas, x, curves->top, x, curves->bottom, INK_GRID, 1, 0);
        canvas_text(canvas, x, curves->bottom + 17, &font_tick, CANVAS_MIDDLE, curves->x.labels[i], NULL);
    }
    canvas_line(canvas, curves->left, crisp(curves->bottom), curves->right, crisp(curves->bottom), INK_AXIS, 1, 0);
}

/* The whiskers of the curve that row i begins. */
static void draw_whiskers(const struct curves *curves, int32_t i) {
    const struct kerf_panel *panel = curves->panel;
    struct canvas *canvas = curves->sheet->canvas;
    const struct kerf_chart_row *of = &panel->rows[i];
    uint32_t colour = palette_curve(&curves->sheet->palette, words(of->label))->colour;
    for (int32_t k = 0; k < panel->num_xs; k++) {
        double low = of[1].values[k], high = of[2].values[k], x = axis_place(&curves->x, panel->xs[k]);
        if (!visible(panel, of->values[k]) || !visible(panel, low) || !visible(panel, high)) continue;
        double from = axis_place(&curves->y, panel_value(low)), to = axis_place(&curves->y, panel_value(high));
        canvas_line(canvas, x, from, x, to, colour, 1.5, 0);
        canvas_line(canvas, x - 4, from, x + 4, from, colour, 1.5, 0);
        canvas_line(canvas, x - 4, to, x + 4, to, colour, 1.5, 0);
    }
}

/* What the mouse is told of a point. */
static const char *tip_of(const struct curves *curves, int32_t i, int32_t k) {
    const struct kerf_panel *panel = curves->panel;
    const struct kerf_chart_row *of = &panel->rows[i];
    char x[CHART_NUMBER], y[CHART_NUMBER], low[CHART_NUMBER], high[CHART_NUMBER];
    chart_number(x, panel->xs[k], curves->x.unit);
    chart_number(y, of->values[k], panel->unit);
    if (panel->kind != KERF_PANEL_INTERVALS || isnan(of[1].values[k]) || isnan(of[2].values[k]))
        return sheet_printf(curves->sheet, "%s, %s: %s", words(of->label), x, y);
    chart_number(low, of[1].values[k], panel->unit);
    chart_number(high, of[2].values[k], panel->unit);
    return sheet_printf(curves->sheet, "%s, %s: %s (%s to %s)", words(of->label), x, y, low, high);
}

static void draw_curve(const struct curves *curves, int32_t i, struct canvas_point *points) {
    struct sheet *sheet = curves->sheet;
    const struct kerf_panel *panel = curves->panel;
    const struct kerf_chart_row *row = &panel->rows[i];
    const struct palette_entry *entry = palette_curve(&sheet->palette, words(row->label));
    const struct canvas_pen pen = {.stroke = entry->colour, .fill = CANVAS_NONE, .width = 2};
    int32_t length = 0; /* of the run without a gap that is in points */
    for (int32_t k = 0; k <= panel->num_xs; k++) {
        if (k < panel->num_xs && visible(panel, row->values[k])) {
            points[length].x = axis_place(&curves->x, panel->xs[k]);
            points[length++].y = axis_place(&curves->y, panel_value(row->values[k]));
            continue;
        }
        if (length > 1) canvas_path(sheet->canvas, points, length, &pen, NULL);
        length = 0;
    }
    int dense = panel->num_xs > 1 && (curves->x.to - curves->x.from) / (panel->num_xs - 1) < 9;
    for (int32_t k = 0; k < panel->num_xs; k++) {
        if (!visible(panel, row->values[k])) continue;
        int alone = (k == 0 || !visible(panel, row->values[k - 1])) &&
                    (k + 1 == panel->num_xs || !visible(panel, row->values[k + 1]));
        if (dense && !alone) continue;
        legend_marker(sheet->canvas, entry->number, axis_place(&curves->x, panel->xs[k]),
                      axis_place(&curves->y, panel_value(row->values[k])), entry->colour, tip_of(curves, i, k));
    }
}

static double legend_above(struct sheet *sheet, const struct kerf_panel *panel, double top) {
    int32_t each = panel_rows_each(panel), count = panel->num_rows / each;
    struct legend_entry *entries = sheet_alloc(sheet, count, sizeof *entries);
    for (int32_t i = 0; entries && i < count; i++) {
        const struct palette_entry *entry = palette_curve(&sheet->palette, words(panel->rows[i * each].label));
        entries[i] = (struct legend_entry){entry->name, entry->colour, entry->number};
    }
    return entries ? legend_draw(sheet, entries, count, top) : top;
}

/* Where the plot is: ticks at the left, names at the right, as much of each as is needed. */
static void place_plot(struct curves *curves, int named) {
    struct sheet *sheet = curves->sheet;
    const struct kerf_panel *panel = curves->panel;
    double widest = panel->limit > 0 ? text_width(words(panel->limit_label), &font_limit) - 14 : 0;
    curves->pitch = 18;
    for (int32_t i = 0; named && i < panel->num_rows; i += panel_rows_each(panel)) {
        const struct kerf_chart_row *row = &panel->rows[i];
        widest = fmax(widest, text_width(words(row->label), &font_label));
        if (*words(row->detail) == 0 && *words(row->note) == 0) continue;
        widest = fmax(widest,
                      text_width(words(row->detail), &font_detail) + text_width(words(row->note), &font_detail) + 12);
        curves->pitch = 32;
    }
    curves->right = sheet->right - (widest > 0 ? 34 + fmin(ceil(widest), 220) : 0);
    curves->bottom = curves->top + fmax(320, (panel->num_rows / panel_rows_each(panel) * named + 1) * curves->pitch);
    curves->y.from = curves->bottom;
    curves->y.to = curves->top;
    axis_ticks(&curves->y);
    double ticks = 0;
    for (int32_t i = 0; i < curves->y.num_ticks; i++) ticks = fmax(ticks, text_width(curves->y.labels[i], &font_tick));
    curves->left = sheet->left + ceil(ticks) + 10;
    curves->x.from = curves->left + 16;
    curves->x.to = curves->right - 16;
    axis_ticks(&curves->x);
}

double panel_curves(struct sheet *sheet, const struct kerf_panel *panel, double top) {
    struct curves curves = {.sheet = sheet, .panel = panel};
    struct canvas_point *points = sheet_alloc(sheet, panel->num_xs, sizeof *points);
    if (points == NULL) return top;
    int32_t each = panel_rows_each(panel);
    int named = panel->num_rows / each <= NAMED;
    curves.top = (named ? top : legend_above(sheet, panel, top)) + 12;
    find_domains(&curves);
    place_plot(&curves, named);
    for (int32_t i = 0; named && i < panel->num_rows; i += each) add_name(&curves, i);

    draw_grid(&curves);
    if (panel->limit > 0) {
        double y = axis_place(&curves.y, panel_value(panel->limit));
        canvas_line(sheet->canvas, curves.left, crisp(y), curves.right, crisp(y), INK_LIMIT, 1.25, 4);
        if (*words(panel->limit_label))
            curves.names[curves.num_names++] = (struct name){
                .wanted = y, .x = curves.right, .label = panel->limit_label, .colour = INK_LIMIT, .marker = -1};
    }
    move_apart(&curves);
    for (int32_t i = 0; each > 1 && i < panel->num_rows; i += each) draw_whiskers(&curves, i);
    for (int32_t i = 0; i < panel->num_rows; i += each) draw_curve(&curves, i, points);
    for (int32_t i = 0; i < curves.num_names; i++) draw_name(&curves, &curves.names[i]);

    double y = curves.bottom + 22;
    if (panel->x_label) {
        canvas_text(sheet->canvas, (curves.left + curves.right) / 2, y + 16, &font_tick, CANVAS_MIDDLE,
                    sheet_fit(sheet, panel->x_label, &font_tick, curves.right - curves.left), NULL);
        y += 20;
    }
    return y;
}
