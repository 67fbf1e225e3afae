/* SPDX-License-Identifier: Apache-2.0 */
/* The sheet: fonts, memory that may run out only once, the words that bars and columns have alike, axes and legends. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "draw/panel.h"

const struct canvas_font font_title = {.size = 21, .colour = INK_STRONG, .bold = 1};
const struct canvas_font font_subtitle = {.size = 13.5, .colour = INK_SOFT};
const struct canvas_font font_heading = {.size = 15, .colour = INK_STRONG, .bold = 1};
const struct canvas_font font_label = {.size = 12.5, .colour = INK};
const struct canvas_font font_detail = {.size = 10.5, .colour = INK_SOFT};
const struct canvas_font font_note = {.size = 12.5, .colour = INK};
const struct canvas_font font_tick = {.size = 11, .colour = INK_SOFT};
const struct canvas_font font_limit = {.size = 11, .colour = INK_LIMIT, .bold = 1};
const struct canvas_font font_share = {.size = 10.5, .colour = PAPER};

void *sheet_alloc(struct sheet *sheet, int32_t count, size_t size) {
    void *memory = arena_alloc(&sheet->arena, (size_t)count, size);
    if (memory == NULL) sheet->failed = 1;
    return memory;
}

const char *sheet_printf(struct sheet *sheet, const char *format, ...) {
    char buffer[512];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    char *string = length < 0 ? NULL : sheet_alloc(sheet, length + 1, 1);
    if (string) vsnprintf(string, (size_t)length + 1, format, again);
    va_end(again);
    return words(string);
}

const char *sheet_fit(struct sheet *sheet, const char *string, const struct canvas_font *font, double width) {
    const char *fitted = text_fit(&sheet->arena, string, font, width);
    if (fitted == NULL) sheet->failed = 1;
    return words(fitted);
}

const char *panel_note(struct sheet *sheet, const struct kerf_panel *panel, int32_t i, double width) {
    const char *note = panel->rows[i].note;
    if (note == NULL) {
        char *number = sheet_alloc(sheet, CHART_NUMBER, 1);
        if (number) chart_number(number, panel_sum(panel->rows[i].values, panel->num_parts), panel->unit);
        note = number;
    }
    return sheet_fit(sheet, words(note), &font_note, width);
}

const char *panel_tip(struct sheet *sheet, const struct kerf_panel *panel, int32_t part, double value, double sum) {
    char number[CHART_NUMBER], share[CHART_NUMBER];
    chart_number(number, value, panel->unit);
    chart_percent(share, value / sum);
    return sheet_printf(sheet, "%s: %s (%s)", words(panel->parts[part]), number, share);
}

/* ---- Axes ------------------------------------------------------------------------------------------------------ */

/*
 * Axes: where a value lies, and which values get a tick. Of the candidates - steps of 1, 2 or 5 times a power
 * of ten on a linear axis; 1-2-5 per decade, decades, every second, third ... decade, or powers of two, on
 * a logarithmic one - the finest is taken whose labels stay apart.
 */

double axis_place(const struct axis *axis, double value) {
    if (!(axis->high > axis->low)) return axis->from;
    double share = axis->base ? (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low))
                              : (value - axis->low) / (axis->high - axis->low);
    return axis->from + share * (axis->to - axis->from);
}

static int ticks_fit(const struct axis *axis) {
    for (int32_t i = 1; i < axis->num_ticks; i++) {
        double apart = fabs(axis_place(axis, axis->ticks[i]) - axis_place(axis, axis->ticks[i - 1]));
        double room = axis->least_gap;
        if (!axis->vertical)
            room = fmax(
                room, 16 + (text_width(axis->labels[i], &font_tick) + text_width(axis->labels[i - 1], &font_tick)) / 2);
        if (apart < room) return 0;
    }
    return 1;
}

static int add(struct axis *axis, double value) {
    if (axis->num_ticks == AXIS_TICKS) return 0;
    axis->ticks[axis->num_ticks++] = value;
    return 1;
}

static void linear(struct axis *axis) {
    double span = axis->high - axis->low, most = fmax(fabs(axis->high), fabs(axis->low));
    axis->num_ticks = 0;
    if (!(span > 1e-7 * most)) { /* also where doubles are too coarse to count in steps */
        add(axis, axis->low);
        chart_number_like(axis->labels[0], axis->low, axis->unit, most, most);
        return;
    }
    for (int exponent = (int)floor(log10(span)) - 2;; exponent++) {
        /* A tenth has no exact double, but 3 / 10 is the double that is nearest to 0.3. */
        double tens = pow(10, abs(exponent));
        for (int mantissa = 1; mantissa <= 5; mantissa += mantissa == 2 ? 3 : 1) {
            double step = exponent < 0 ? mantissa / tens : mantissa * tens;
            int64_t first = (int64_t)ceil(axis->low / step - 1e-9), last = (int64_t)floor(axis->high / step + 1e-9);
            if (last - first >= AXIS_TICKS || (axis->whole && step < 1)) continue;
            axis->num_ticks = 0;
            for (int64_t k = first * mantissa; k <= last * mantissa; k += mantissa)
                add(axis, exponent < 0 ? (double)k / tens : (double)k * tens);
            for (int32_t t = 0; t < axis->num_ticks; t++)
                chart_number_like(axis->labels[t], axis->ticks[t], axis->unit, most, step);
            if (ticks_fit(axis)) return;
        }
    }
}

/* Level 0: the finest. Returns 0 when there are more ticks than there is room for. */
static int log_ticks(struct axis *axis, int level) {
    axis->num_ticks = 0;
    double per_power = axis->base == 2 ? log2(axis->low) : log10(axis->low);
    double last = axis->base == 2 ? log2(axis->high) : log10(axis->high);
    int every = axis->base == 2 ? level + 1 : level < 1 ? 1 : level, fine = axis->base == 10 && level == 0;
    int first = fine ? (int)floor(per_power) : (int)ceil(per_power - 1e-9);
    if (axis->base == 10 && every > 1) first += (every - first % every) % every; /* 10^0 among them */
    for (int e = first; e <= last + 1e-9; e += every)
        for (int m = 1; m <= (fine ? 5 : 1); m += m == 2 ? 3 : 1) {
            double value = axis->base == 2 ? ldexp(1, e) : e < 0 ? m / pow(10, -e) : m * pow(10, e);
            if (value < axis->low * (1 - 1e-9) || value > axis->high * (1 + 1e-9)) continue;
            if (!add(axis, value)) return 0;
            char *label = axis->labels[axis->num_ticks - 1];
            if (axis->base == 2 && value >= 1e6)
                chart_number(label, value, axis->unit);
            else
                chart_number_like(label, value, axis->unit, value, value);
        }
    return ticks_fit(axis);
}

void axis_ticks(struct axis *axis) {
    if (axis->base == 0) {
        linear(axis);
        return;
    }
    for (int level = 0; !log_ticks(axis, level);) level++;
    if (axis->num_ticks < 2) linear(axis); /* the domain is shorter than a step: 4.1 to 4.6 */
}

/* ---- Legends --------------------------------------------------------------------------------------------------- */

/* Legends: patches or markers with a name, one behind the other, in as many lines as they need; and the
 * shapes of the markers, by which curves are told apart without colour. */

static void marker(struct canvas *canvas, int32_t shape, double x, double y, double r, uint32_t colour,
                   const char *tip) {
    const struct canvas_pen pen = {.stroke = CANVAS_NONE, .fill = colour, .closed = 1};
    switch (shape) {
    case 0: canvas_rect(canvas, x - r, y - r, 2 * r, 2 * r, r, colour, tip); return;
    case 1: canvas_rect(canvas, x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r, 0.5, colour, tip); return;
    case 2:
        canvas_path(
            canvas,
            (const struct canvas_point[]){{x, y - 1.25 * r}, {x + 1.25 * r, y}, {x, y + 1.25 * r}, {x - 1.25 * r, y}},
            4, &pen, tip);
        return;
    default: {
        double up = shape == 3 ? 1 : -1;
        canvas_path(canvas,
                    (const struct canvas_point[]){
                        {x, y - 1.25 * up * r}, {x + 1.15 * r, y + 0.8 * up * r}, {x - 1.15 * r, y + 0.8 * up * r}},
                    3, &pen, tip);
    }
    }
}

void legend_marker(struct canvas *canvas, int32_t shape, double x, double y, uint32_t colour, const char *tip) {
    marker(canvas, shape % MARKERS, x, y, 5.2, PAPER, NULL); /* a rim, where curves cross */
    marker(canvas, shape % MARKERS, x, y, 3.8, colour, tip);
}

double legend_draw(struct sheet *sheet, const struct legend_entry *entries, int32_t count, double top) {
    const double patch = 11, line = 20, space = 20;
    double x = sheet->left, y = top + 12;
    for (int32_t i = 0; i < count; i++) {
        int line_only = entries[i].marker == -2;
        double lead = entries[i].marker == -1 ? patch + 7 : 29;
        const char *name = sheet_fit(sheet, entries[i].name, &font_label, sheet->right - sheet->left - lead);
        double width = lead + text_width(name, &font_label);
        if (x > sheet->left && x + width > sheet->right) x = sheet->left, y += line;
        if (entries[i].marker == -1)
            canvas_rect(sheet->canvas, x, y - patch + 1, patch, patch, 2.5, entries[i].colour, NULL);
        else {
            canvas_line(sheet->canvas, x, y - 4.5, x + 22, y - 4.5, entries[i].colour, 2, 0);
            if (!line_only) legend_marker(sheet->canvas, entries[i].marker, x + 11, y - 4.5, entries[i].colour, NULL);
        }
        canvas_text(sheet->canvas, x + lead, y, &font_label, CANVAS_START, name, NULL);
        x += width + space;
    }
    return count > 0 ? y + 4 : top;
}

double legend_of_parts(struct sheet *sheet, const struct kerf_panel *panel, double top) {
    struct legend_entry *entries = sheet_alloc(sheet, panel->num_parts, sizeof *entries);
    if (entries == NULL) return top;
    for (int32_t i = 0; i < panel->num_parts; i++) {
        const char *name = words(panel->parts[i]);
        entries[i] = (struct legend_entry){name, palette_part(&sheet->palette, name), -1};
    }
    return legend_draw(sheet, entries, panel->num_parts, top);
}
