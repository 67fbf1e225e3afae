/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vertical stacked columns, each scaled to 100 %. Labels are below the columns and notes above them; where
 * they are too wide to stand side by side they are turned, and where there are too many even for that, every
 * second, third, ... is written.
 */
#include "draw/panel.h"

#include <math.h>

struct columns {
    struct sheet *sheet;
    const struct kerf_panel *panel;
    struct axis axis;
    double from, slot, width; /* where the first slot begins; of a slot; of a column */
};

/* How a line of labels is written: flat, at 45 degrees, or upright; for every `every`th column. */
struct lettering {
    struct canvas_font font;
    int32_t every;
    double height, most; /* of the line; pixels that a label may be long */
};

static double centre(const struct columns *columns, int32_t i) { return columns->from + (i + 0.5) * columns->slot; }

static struct lettering choose(const struct columns *columns, const struct canvas_font *font, double widest) {
    struct lettering lettering = {*font, 1, font->size + 3, columns->slot - 6};
    if (widest <= lettering.most) return lettering;
    lettering.most = fmin(widest, 120);
    if (columns->slot >= 1.5 * font->size) {
        lettering.font.turn = 45;
        lettering.height = lettering.most * M_SQRT1_2 + font->size;
    } else {
        lettering.font.turn = 90;
        lettering.height = lettering.most + 6;
        lettering.every = (int32_t)ceil((font->size + 3) / columns->slot);
    }
    return lettering;
}

/* What is below a column when label and detail have no room below each other. */
static const char *joined(struct sheet *sheet, const struct kerf_chart_row *row) {
    if (*words(row->detail) == 0) return words(row->label);
    return sheet_printf(sheet, "%s, %s", words(row->label), row->detail);
}

static void draw_label(const struct columns *columns, const struct lettering *lettering, int32_t i, double bottom) {
    struct sheet *sheet = columns->sheet;
    const struct kerf_chart_row *row = &columns->panel->rows[i];
    double x = centre(columns, i);
    if (lettering->font.turn == 0) {
        canvas_text(sheet->canvas, x, bottom + 17, &lettering->font, CANVAS_MIDDLE,
                    sheet_fit(sheet, words(row->label), &lettering->font, lettering->most), NULL);
        canvas_text(sheet->canvas, x, bottom + 31, &font_detail, CANVAS_MIDDLE,
                    sheet_fit(sheet, words(row->detail), &font_detail, lettering->most), NULL);
        return;
    }
    /* The end of the text is below the middle of the column; the front must not leave the page. */
    double most = lettering->font.turn == 45 ? fmin(lettering->most, (x - 12) * M_SQRT2) : lettering->most;
    const char *text = joined(sheet, row), *fitted = sheet_fit(sheet, text, &lettering->font, most);
    canvas_text(sheet->canvas, x + 4, bottom + (lettering->font.turn == 45 ? 14 : 8), &lettering->font, CANVAS_END,
                fitted, fitted == text ? NULL : text);
}

static void draw_note(const struct columns *columns, const struct lettering *lettering, int32_t i, double top) {
    struct sheet *sheet = columns->sheet;
    double x = centre(columns, i), most = lettering->most;
    if (lettering->font.turn == 45) most = fmin(most, (sheet->page_width - 12 - x) * M_SQRT2);
    const char *note = panel_note(sheet, columns->panel, i, 1e6);
    const char *fitted = sheet_fit(sheet, note, &lettering->font, most);
    if (lettering->font.turn == 90) x += 4;
    canvas_text(sheet->canvas, x, top - 7, &lettering->font, lettering->font.turn == 0 ? CANVAS_MIDDLE : CANVAS_START,
                fitted, fitted == note ? NULL : note);
}

static void draw_column(const struct columns *columns, int32_t i) {
    struct sheet *sheet = columns->sheet;
    const struct kerf_panel *panel = columns->panel;
    const double *values = panel->rows[i].values;
    double sum = panel_sum(values, panel->num_parts), before = 0;
    double x = centre(columns, i) - columns->width / 2;
    for (int32_t part = 0; part < panel->num_parts; part++) {
        double value = panel_value(values[part]);
        if (value == 0) continue;
        double low = axis_place(&columns->axis, before / sum);
        double high = axis_place(&columns->axis, (before += value) / sum);
        uint32_t fill = palette_part(&sheet->palette, words(panel->parts[part]));
        double gap = before < sum && low - high > 3 ? 1 : 0;
        canvas_rect(sheet->canvas, x, high + gap, columns->width, low - high - gap, 0, fill,
                    panel_tip(sheet, panel, part, value, sum));
    }
}

/* The shares are written after all columns, for the sake of the size: equal things in a row are cheap. */
static void draw_shares(const struct columns *columns, int32_t i) {
    struct sheet *sheet = columns->sheet;
    const struct kerf_panel *panel = columns->panel;
    const double *values = panel->rows[i].values;
    double sum = panel_sum(values, panel->num_parts), before = 0;
    for (int32_t part = 0; part < panel->num_parts; part++) {
        double value = panel_value(values[part]);
        struct canvas_font font = font_share;
        font.colour = palette_ink_on(palette_part(&sheet->palette, words(panel->parts[part])));
        char share[CHART_NUMBER];
        if (value >= 0.08 * sum && value > 0) {
            chart_percent(share, value / sum);
            if (text_width(share, &font) <= columns->width - 2)
                canvas_text(sheet->canvas, centre(columns, i),
                            axis_place(&columns->axis, (before + value / 2) / sum) + 4, &font, CANVAS_MIDDLE, share,
                            NULL);
        }
        before += value;
    }
}

static void draw_grid(const struct columns *columns) {
    struct sheet *sheet = columns->sheet;
    for (int32_t i = 0; i <= 4; i++) {
        char label[CHART_NUMBER];
        chart_percent(label, i / 4.0);
        double y = crisp(axis_place(&columns->axis, i / 4.0));
        canvas_line(sheet->canvas, columns->from, y, sheet->right, y, i == 0 ? INK_AXIS : INK_GRID, 1, 0);
        canvas_text(sheet->canvas, columns->from - 10, y + 4, &font_tick, CANVAS_END, label, NULL);
    }
}

double panel_columns(struct sheet *sheet, const struct kerf_panel *panel, double top) {
    struct columns columns = {.sheet = sheet, .panel = panel};
    columns.from = sheet->left + ceil(text_width("100 %", &font_tick)) + 10;
    columns.slot = (sheet->right - columns.from) / fmax(panel->num_rows, 1);
    columns.width = fmin(columns.slot < 12 ? columns.slot * 0.9 : columns.slot * 0.76, 72);

    double widest_label = 0, widest_joined = 0, widest_note = 0;
    int32_t details = 0;
    for (int32_t i = 0; i < panel->num_rows; i++) {
        const struct kerf_chart_row *row = &panel->rows[i];
        details |= *words(row->detail) != 0;
        widest_label = fmax(widest_label, fmax(text_width(words(row->label), &font_label),
                                               fmin(text_width(words(row->detail), &font_detail), 120)));
        widest_joined = fmax(widest_joined, text_width(joined(sheet, row), &font_label));
        widest_note = fmax(widest_note, text_width(panel_note(sheet, panel, i, 1e6), &font_note));
    }
    struct lettering labels = choose(&columns, &font_label, widest_label);
    if (labels.font.turn != 0) labels = choose(&columns, &font_label, widest_joined);
    struct lettering notes = choose(&columns, &font_note, widest_note);

    double ceiling = legend_of_parts(sheet, panel, top) + 14 + notes.height, floor_y = ceiling + 240;
    columns.axis = (struct axis){.high = 1, .from = floor_y, .to = ceiling};
    draw_grid(&columns);
    for (int32_t i = 0; i < panel->num_rows; i++) draw_column(&columns, i);
    for (int32_t i = 0; i < panel->num_rows; i++) draw_shares(&columns, i);
    for (int32_t i = 0; i < panel->num_rows; i += notes.every) draw_note(&columns, &notes, i, ceiling);
    for (int32_t i = 0; i < panel->num_rows; i += labels.every) draw_label(&columns, &labels, i, floor_y);

    double y = floor_y + 8 + labels.height + (details && labels.font.turn == 0 ? 14 : 0);
    if (panel->x_label) {
        const char *label = sheet_fit(sheet, panel->x_label, &font_tick, sheet->right - columns.from);
        canvas_text(sheet->canvas, (columns.from + sheet->right) / 2, y + 16, &font_tick, CANVAS_MIDDLE, label, NULL);
        y += 20;
    }
    return y;
}
