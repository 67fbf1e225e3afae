/* SPDX-License-Identifier: Apache-2.0 */
/* The sheet: fonts, memory that may run out only once, and the words that bars and columns have alike. */
#include "draw/panel.h"

#include <stdarg.h>
#include <stdio.h>

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
