/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Horizontal stacked bars, one row below the other: label and detail at the left, the bar, a note behind it.
 * The scale is the largest at which every bar and its note end inside the picture.
 */
#include "draw/panel.h"

#include <math.h>

enum { MANY_ROWS = 24 }; /* from here on rows are closer, and the ticks are above the bars too */

struct bars {
    struct sheet *sheet;
    const struct kerf_panel *panel;
    struct axis axis;
    double pitch, thickness; /* of the rows, of a bar */
    const char **notes;      /* [num_rows] */
};

static int has_details(const struct kerf_panel *panel) {
    for (int32_t i = 0; i < panel->num_rows; i++)
        if (panel->rows[i].detail) return 1;
    return 0;
}

double panel_bars_label_width(const struct kerf_panel *panel, double most) {
    double width = 0;
    for (int32_t i = 0; i < panel->num_rows; i++) {
        width = fmax(width, text_width(words(panel->rows[i].label), &font_label));
        width = fmax(width, text_width(words(panel->rows[i].detail), &font_detail));
    }
    return fmin(ceil(width), most);
}

/* Finds the scale, and what is written behind the bars. */
static void measure(struct bars *bars) {
    const struct kerf_panel *panel = bars->panel;
    struct axis *axis = &bars->axis;
    double room = bars->sheet->right - axis->from;
    axis->high = panel_value(panel->limit);
    for (int32_t i = 0; i < panel->num_rows; i++)
        axis->high = fmax(axis->high, panel_sum(panel->rows[i].values, panel->num_parts));
    double length = room; /* of a bar that is axis->high long */
    for (int32_t i = 0; i < panel->num_rows; i++) {
        double sum = panel_sum(panel->rows[i].values, panel->num_parts);
        bars->notes[i] = panel_note(bars->sheet, panel, i, room / 3);
        double left = room - text_width(bars->notes[i], &font_note) - 10;
        if (sum > 0 && length > left * (axis->high / sum)) length = left * (axis->high / sum);
    }
    axis->to = axis->from + floor(length);
}

static void draw_grid(struct bars *bars, double top, double bottom) {
    struct canvas *canvas = bars->sheet->canvas;
    const struct axis *axis = &bars->axis;
    for (int32_t i = 0; i < axis->num_ticks; i++) {
        double x = crisp(axis_place(axis, axis->ticks[i]));
        canvas_line(canvas, x, top, x, bottom, i == 0 ? INK_AXIS : INK_GRID, 1, 0);
        canvas_text(canvas, x, bottom + 16, &font_tick, CANVAS_MIDDLE, axis->labels[i], NULL);
        if (bars->panel->num_rows >= MANY_ROWS)
            canvas_text(canvas, x, top - 7, &font_tick, CANVAS_MIDDLE, axis->labels[i], NULL);
    }
}

static void draw_row(struct bars *bars, int32_t i, double middle) {
    struct sheet *sheet = bars->sheet;
    const struct kerf_panel *panel = bars->panel;
    const char *label = words(panel->rows[i].label), *detail = words(panel->rows[i].detail);
    const char *fitted = sheet_fit(sheet, label, &font_label, sheet->bar_label_width);
    canvas_text(sheet->canvas, sheet->left, middle + (*detail ? -2 : 4.5), &font_label, CANVAS_START, fitted,
                fitted == label ? NULL : label);
    fitted = sheet_fit(sheet, detail, &font_detail, sheet->bar_label_width);
    canvas_text(sheet->canvas, sheet->left, middle + 12, &font_detail, CANVAS_START, fitted,
                fitted == detail ? NULL : detail);

    const double *values = panel->rows[i].values;
    double sum = panel_sum(values, panel->num_parts), before = 0;
    for (int32_t part = 0; part < panel->num_parts; part++) {
        double value = panel_value(values[part]), start = axis_place(&bars->axis, before);
        if (value == 0) continue;
        double end = axis_place(&bars->axis, before += value);
        /* A sliver of paper between two parts, where the first is wide enough to lose it. */
        double gap = before < sum && end - start > 3 ? 1 : 0;
        canvas_rect(sheet->canvas, start, middle - bars->thickness / 2, end - start - gap, bars->thickness, 0,
                    palette_part(&sheet->palette, words(panel->parts[part])),
                    panel_tip(sheet, panel, part, value, sum));
    }
}

static void draw_note(struct bars *bars, int32_t i, double middle, double limit_x) {
    struct canvas *canvas = bars->sheet->canvas;
    const struct kerf_chart_row *row = &bars->panel->rows[i];
    const char *note = bars->notes[i];
    double x = axis_place(&bars->axis, panel_sum(row->values, bars->panel->num_parts)) + 8;
    double width = text_width(note, &font_note);
    struct canvas_font font = font_note;
    if (limit_x >= 0 && x - 8 > limit_x) font.colour = INK_LIMIT;
    if (*note && limit_x > x - 4 && limit_x < x + width + 4) /* the line of the limit passes behind it */
        canvas_rect(canvas, x - 3, middle - 9, width + 7, 18, 3, PAPER, NULL);
    canvas_text(canvas, x, middle + 4.5, &font, CANVAS_START, note, row->note && note != row->note ? row->note : NULL);
}

static double draw_limit(struct bars *bars, double top, double bottom) {
    const struct kerf_panel *panel = bars->panel;
    struct sheet *sheet = bars->sheet;
    double x = crisp(axis_place(&bars->axis, panel_value(panel->limit)));
    const char *label = sheet_fit(sheet, words(panel->limit_label), &font_limit, sheet->right - sheet->left);
    double half = text_width(label, &font_limit) / 2;
    canvas_line(sheet->canvas, x, top - 4, x, bottom, INK_LIMIT, 1.25, 4);
    canvas_text(sheet->canvas, fmax(fmin(x, sheet->right - half), sheet->left + half),
                top - (panel->num_rows >= MANY_ROWS ? 25 : 10), &font_limit, CANVAS_MIDDLE, label, NULL);
    return x;
}

double panel_bars(struct sheet *sheet, const struct kerf_panel *panel, double top) {
    int many = panel->num_rows >= MANY_ROWS, details = has_details(panel);
    struct bars bars = {
        .sheet = sheet,
        .panel = panel,
        .pitch = details ? (many ? 34 : 38)
                 : many  ? 22
                         : 28,
        .thickness = many ? 14 : 18,
        .axis = {.from = sheet->left + sheet->bar_label_width + 14, .unit = panel->unit, .least_gap = 84},
        .notes = sheet_alloc(sheet, panel->num_rows, sizeof *bars.notes)};
    if (bars.notes == NULL) return top;
    measure(&bars);
    axis_ticks(&bars.axis);

    double y = legend_of_parts(sheet, panel, top) + 8;
    if (panel->limit > 0) y += 18;
    if (many) y += 16;
    double bottom = y + fmax(panel->num_rows, 1) * bars.pitch + 4, limit_x = -1;
    draw_grid(&bars, y, bottom);
    for (int32_t i = 0; i < panel->num_rows; i++) draw_row(&bars, i, y + 2 + (i + 0.5) * bars.pitch);
    if (panel->limit > 0) limit_x = draw_limit(&bars, y, bottom);
    for (int32_t i = 0; i < panel->num_rows; i++) draw_note(&bars, i, y + 2 + (i + 0.5) * bars.pitch, limit_x);
    y = bottom + 22;
    if (panel->x_label) {
        const char *label = sheet_fit(sheet, panel->x_label, &font_tick, sheet->right - bars.axis.from);
        canvas_text(sheet->canvas, bars.axis.from, y + 13, &font_tick, CANVAS_START, label, NULL);
        y += 18;
    }
    return y;
}
