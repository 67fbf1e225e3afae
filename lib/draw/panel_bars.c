/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Horizontal stacked bars, one row below the other: label and detail at the left, the bar, a note behind it.
 * The scale is the largest at which every bar and its note end inside the picture. A note that the line of the limit
 * would cross stands behind the line. Two panels may share their rows: the second has no labels. A bar with an interval has a
 * whisker on it, from its low to its high end.
 */
#include "draw/panel.h"

#include <math.h>

enum { MANY_ROWS = 24 }; /* from here on rows are closer, and the ticks are above the bars too */

struct bars {
    struct sheet *sheet;
    const struct kerf_panel *panel;
    struct axis axis;
    double pitch, thickness; /* of the rows, of a bar */
    int32_t unlabelled;      /* 1: the labels stand at the panel to the left */
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

/* How far a row reaches: the sum of its parts, or its whisker. */
static double reach(const struct kerf_panel *panel, int32_t i) {
    double sum = panel_sum(panel->rows[i].values, panel->num_parts), high = 0;
    if (panel->kind == KERF_PANEL_WHISKERS && !isnan(panel->rows[i].values[2])) high = panel->rows[i].values[2];
    return fmax(sum, panel_value(high));
}

/* Where the note of a row begins. */
static double note_place(const struct bars *bars, int32_t i, double limit_x) {
    double end = axis_place(&bars->axis, reach(bars->panel, i));
    double width = text_width(bars->notes[i], &font_note);
    int crossed = limit_x > end + 4 && limit_x < end + 12 + width;
    return (crossed ? limit_x : end) + 8;
}

static double limit_place(const struct bars *bars) {
    return bars->panel->limit > 0 ? crisp(axis_place(&bars->axis, panel_value(bars->panel->limit))) : -1;
}

/* Finds the scale, and what is written behind the bars. */
static void measure(struct bars *bars) {
    const struct kerf_panel *panel = bars->panel;
    struct axis *axis = &bars->axis;
    double room = bars->sheet->right - axis->from;
    axis->high = panel_value(panel->limit);
    for (int32_t i = 0; i < panel->num_rows; i++) axis->high = fmax(axis->high, reach(panel, i));
    double length = room; /* of a bar that is axis->high long */
    for (int32_t i = 0; i < panel->num_rows; i++) {
        double sum = reach(panel, i);
        bars->notes[i] = panel_note(bars->sheet, panel, i, room / 3);
        double left = room - text_width(bars->notes[i], &font_note) - 10;
        if (sum > 0 && length > left * (axis->high / sum)) length = left * (axis->high / sum);
    }
    axis->to = axis->from + floor(length);
    for (int32_t i = 0; i < panel->num_rows; i++) { /* notes behind the line of the limit need more room */
        double over =
            note_place(bars, i, limit_place(bars)) + text_width(bars->notes[i], &font_note) - bars->sheet->right;
        if (over > 0) axis->to = axis->from + floor((axis->to - axis->from) * (1 - over / room) - 2);
    }
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

static void draw_whisker(const struct bars *bars, int32_t i, double middle) {
    const double *values = bars->panel->rows[i].values, half = bars->thickness / 2 - 4;
    if (isnan(values[1])) return;
    double from = axis_place(&bars->axis, panel_value(values[1])), to = axis_place(&bars->axis, panel_value(values[2]));
    canvas_line(bars->sheet->canvas, from, middle, to, middle, INK_STRONG, 1.5, 0);
    canvas_line(bars->sheet->canvas, from, middle - half, from, middle + half, INK_STRONG, 1.5, 0);
    canvas_line(bars->sheet->canvas, to, middle - half, to, middle + half, INK_STRONG, 1.5, 0);
}

/* The colour of a bar; of one that is only expected a pale one. */
static uint32_t colour_of(const struct bars *bars, int32_t i, int32_t part) {
    const struct kerf_panel *panel = bars->panel;
    uint32_t colour = palette_part(&bars->sheet->palette, words(panel->parts[part]));
    int expected = panel->kind == KERF_PANEL_WHISKERS && panel->cells && panel->cells[i].state != KERF_CELL_MEASURED;
    return expected ? palette_mix(colour, PAPER, 0.6) : colour;
}

static const char *tip_of(const struct bars *bars, int32_t i, int32_t part, double value, double sum) {
    const struct kerf_panel *panel = bars->panel;
    if (panel->kind != KERF_PANEL_WHISKERS) return panel_tip(bars->sheet, panel, part, value, sum);
    if (panel->cells && panel->cells[i].tip) return panel->cells[i].tip;
    return sheet_printf(bars->sheet, "%s: %s", words(panel->rows[i].label), bars->notes[i]);
}

static void draw_row(struct bars *bars, int32_t i, double middle) {
    struct sheet *sheet = bars->sheet;
    const struct kerf_panel *panel = bars->panel;
    const char *label = bars->unlabelled ? "" : words(panel->rows[i].label);
    const char *detail = bars->unlabelled ? "" : words(panel->rows[i].detail);
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
                    colour_of(bars, i, part), tip_of(bars, i, part, value, sum));
    }
    if (panel->kind == KERF_PANEL_WHISKERS) draw_whisker(bars, i, middle);
}

static void draw_note(struct bars *bars, int32_t i, double middle, double limit_x) {
    const struct kerf_chart_row *row = &bars->panel->rows[i];
    const char *note = bars->notes[i];
    double end = axis_place(&bars->axis, reach(bars->panel, i));
    struct canvas_font font = font_note;
    if (limit_x >= 0 && end > limit_x) font.colour = INK_LIMIT;
    canvas_text(bars->sheet->canvas, note_place(bars, i, limit_x), middle + 4.5, &font, CANVAS_START, note,
                row->note && note != row->note ? row->note : NULL);
}

static void draw_limit(struct bars *bars, double x, double top, double bottom) {
    const struct kerf_panel *panel = bars->panel;
    struct sheet *sheet = bars->sheet;
    const char *label = sheet_fit(sheet, words(panel->limit_label), &font_limit, sheet->right - sheet->left);
    double half = text_width(label, &font_limit) / 2;
    canvas_line(sheet->canvas, x, top - 4, x, bottom, INK_LIMIT, 1.25, 4);
    canvas_text(sheet->canvas, fmax(fmin(x, sheet->right - half), sheet->left + half),
                top - (panel->num_rows >= MANY_ROWS ? 25 : 10), &font_limit, CANVAS_MIDDLE, label, NULL);
}

/* The room for everything above the rows of this panel. */
static double head_room(const struct kerf_panel *panel) {
    return 8 + (panel->limit > 0 ? 18 : 0) + (panel->num_rows >= MANY_ROWS ? 16 : 0);
}

/* From the rows on, which begin at y. */
static double draw_rows(struct sheet *sheet, const struct kerf_panel *panel, int details, int unlabelled, double y) {
    int many = panel->num_rows >= MANY_ROWS;
    struct bars bars = {.sheet = sheet,
                        .panel = panel,
                        .pitch = details ? (many ? 34 : 38)
                                 : many  ? 22
                                         : 28,
                        .thickness = many ? 14 : 18,
                        .unlabelled = unlabelled,
                        .axis = {.from = sheet->left + (unlabelled ? 0 : sheet->bar_label_width + 14),
                                 .unit = panel->unit,
                                 .least_gap = sheet->right - sheet->left > 640 ? 84 : 60},
                        .notes = sheet_alloc(sheet, panel->num_rows, sizeof *bars.notes)};
    if (bars.notes == NULL) return y;
    measure(&bars);
    axis_ticks(&bars.axis);
    double bottom = y + fmax(panel->num_rows, 1) * bars.pitch + 4, limit_x = limit_place(&bars);
    draw_grid(&bars, y, bottom);
    for (int32_t i = 0; i < panel->num_rows; i++) draw_row(&bars, i, y + 2 + (i + 0.5) * bars.pitch);
    if (limit_x >= 0) draw_limit(&bars, limit_x, y, bottom);
    for (int32_t i = 0; i < panel->num_rows; i++) draw_note(&bars, i, y + 2 + (i + 0.5) * bars.pitch, limit_x);
    y = bottom + 22;
    if (panel->x_label) {
        const char *label = sheet_fit(sheet, panel->x_label, &font_tick, sheet->right - bars.axis.from);
        canvas_text(sheet->canvas, bars.axis.from, y + 13, &font_tick, CANVAS_START, label, NULL);
        y += 18;
    }
    return y;
}

double panel_bars(struct sheet *sheet, const struct kerf_panel *panel, double top) {
    double rows = panel->kind == KERF_PANEL_WHISKERS ? top : legend_of_parts(sheet, panel, top);
    return draw_rows(sheet, panel, has_details(panel), 0, rows + head_room(panel));
}

double panel_bars_pair(struct sheet *sheet, const struct kerf_panel pair[2], double top) {
    enum { GAP = 28 };
    const double left = sheet->left, right = sheet->right;
    const double middle = left + sheet->bar_label_width + 14 + floor((right - left - sheet->bar_label_width) * 0.54);
    const struct { double left, right; } halves[2] = {{left, middle - GAP}, {middle, right}};
    double rows = top, bottom = top;
    for (int i = 0; i < 2; i++) {
        sheet->left = halves[i].left, sheet->right = halves[i].right;
        const char *title = sheet_fit(sheet, words(pair[i].title), &font_heading, sheet->right - sheet->left);
        canvas_text(sheet->canvas, sheet->left, top + font_heading.size, &font_heading, CANVAS_START, title, NULL);
        rows =
            fmax(rows, legend_of_parts(sheet, &pair[i], top + ceil(font_heading.size * 1.4) + 6) + head_room(&pair[i]));
    }
    for (int i = 0; i < 2; i++) {
        sheet->left = halves[i].left, sheet->right = halves[i].right;
        bottom = fmax(bottom, draw_rows(sheet, &pair[i], has_details(&pair[0]), i, rows));
    }
    sheet->left = left, sheet->right = right;
    return bottom;
}
