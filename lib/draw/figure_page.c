/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A figure on a canvas: a white card with a title, panels below each other, and small print. It is laid out twice, the
 * first time on a blank canvas to find out how high it is. The kinds of panels are registered here.
 */
#include "draw/panel.h"

#include <math.h>
#include "base/error_fill.h"
#include "draw/lanes.h"
#include "draw/matrix.h"

static const double page_width = 960, margin = 40;

static const struct kind {
    const char *rows; /* what a row is called */
    panel_draw *draw;
} kinds[] = {[KERF_PANEL_BARS] = {"bar", panel_bars},          [KERF_PANEL_COLUMNS] = {"column", panel_columns},
             [KERF_PANEL_CURVES] = {"curve", panel_curves},    [KERF_PANEL_LANES] = {"lane", panel_lanes},
             [KERF_PANEL_STEPS] = {"curve", panel_steps},      [KERF_PANEL_MATRIX] = {"row", panel_matrix},
             [KERF_PANEL_SCATTER] = {"series", panel_scatter}, [KERF_PANEL_WHISKERS] = {"bar", panel_bars},
             [KERF_PANEL_INTERVALS] = {"curve", panel_curves}};

enum { NUM_KINDS = sizeof kinds / sizeof *kinds, MOST_LINES = 6 };

const char *figure_row_word(int32_t kind) { return (uint32_t)kind < NUM_KINDS ? kinds[kind].rows : NULL; }

static int32_t count_of(const struct kerf_panel *panel) {
    return lanes_kind(panel) ? panel->num_lanes : panel->num_rows / panel_rows_each(panel);
}

static void describe_lanes(const struct kerf_figure *figure, int32_t p, int32_t most, struct kerf_text *out) {
    const struct kerf_panel *panel = &figure->panels[p];
    struct span window = lanes_window(figure, p), active = lanes_active(panel, window);
    char number[CHART_NUMBER];
    if (panel->kind == KERF_PANEL_LANES && panel->num_lanes > 0) {
        chart_percent(number, lanes_idle_share(panel->lanes, panel->num_lanes, active));
        kerf_text_printf(out, " %s of the time is idle.", number);
    }
    for (int32_t l = 0; l < panel->num_lanes && l < most; l++) {
        const struct kerf_lane *lane = &panel->lanes[l];
        double x;
        if (panel->kind == KERF_PANEL_STEPS)
            chart_number(number, lane_peak(lane, window, &x), panel->unit);
        else
            chart_percent(number, lanes_idle_share(lane, 1, active));
        kerf_text_printf(out, " %s: %s %s;", words(lane->label), panel->kind == KERF_PANEL_STEPS ? "peak" : "idle",
                         number);
    }
}

void figure_describe(const struct kerf_figure *figure, struct kerf_text *out) {
    enum { MOST_ROWS = 24 };
    if (*words(figure->subtitle)) kerf_text_printf(out, "%s ", figure->subtitle);
    for (int32_t p = 0; p < figure->num_panels; p++) {
        const struct kerf_panel *panel = &figure->panels[p];
        kerf_text_printf(out, "%s%s: %d %s%s.", p > 0 ? " " : "", words(panel->title), count_of(panel),
                         kinds[panel->kind].rows, count_of(panel) == 1 || panel->kind == KERF_PANEL_SCATTER ? "" : "s");
        if (panel->kind == KERF_PANEL_MATRIX) {
            matrix_describe(out, panel);
            continue;
        }
        if (lanes_kind(panel)) describe_lanes(figure, p, MOST_ROWS, out);
        for (int32_t i = 0; !lanes_kind(panel) && i < panel->num_rows && i < MOST_ROWS; i += panel_rows_each(panel)) {
            const struct kerf_chart_row *row = &panel->rows[i];
            char number[CHART_NUMBER];
            chart_number(number, panel_has_points(panel) ? 0 : panel_sum(row->values, panel->num_parts), panel->unit);
            const char *note = row->note ? row->note : panel_has_points(panel) ? "" : number;
            kerf_text_printf(out, " %s%s%s%s%s%s;", words(row->label), *words(row->detail) ? " (" : "",
                             words(row->detail), *words(row->detail) ? ")" : "", *note ? ": " : "", note);
        }
        if (count_of(panel) > MOST_ROWS) kerf_text_printf(out, " and %d more.", count_of(panel) - MOST_ROWS);
    }
}

static double draw_lines(struct sheet *sheet, const char *string, const struct canvas_font *font, int32_t most,
                         double top) {
    const char *lines[MOST_LINES];
    int32_t count = text_lines(&sheet->arena, words(string), font, sheet->right - sheet->left, lines, most);
    for (int32_t i = 0; i < count; i++) {
        if (lines[i] == NULL)
            sheet->failed = 1;
        else
            canvas_text(sheet->canvas, sheet->left, top + font->size, font, CANVAS_START, lines[i], NULL);
        top += ceil(font->size * 1.4);
    }
    return top;
}

/* Whether the next panel shares the rows of this one. */
static int has_beside(const struct kerf_panel *panel) {
    return panel->kind == KERF_PANEL_BARS && panel[1].kind == KERF_PANEL_BARS && panel[1].beside &&
           panel->num_rows > 0 && panel[1].num_rows == panel->num_rows;
}

/* Returns where the figure ends. */
static double draw(struct sheet *sheet, const struct kerf_figure *figure) {
    double y = draw_lines(sheet, figure->title, &font_title, 2, margin - 4);
    y = draw_lines(sheet, figure->subtitle, &font_subtitle, 3, y + 1);
    for (int32_t p = 0; p < figure->num_panels; p++) {
        const struct kerf_panel *panel = &figure->panels[p];
        double top = y + (p > 0 ? 34 : 20);
        if (p + 1 < figure->num_panels && has_beside(panel)) {
            y = panel_bars_pair(sheet, panel, top);
            p++;
            continue;
        }
        y = draw_lines(sheet, panel->title, &font_heading, 2, top) + 6;
        int places = panel_has_points(panel) || panel->kind == KERF_PANEL_MATRIX;
        if (count_of(panel) == 0 || (places && panel->num_xs == 0))
            y = draw_lines(sheet, "Nothing to show.", &font_subtitle, 1, y);
        else
            y = kinds[panel->kind].draw(sheet, panel, y);
    }
    if (*words(figure->footer)) y = draw_lines(sheet, figure->footer, &font_tick, MOST_LINES, y + 22);
    return ceil(y) + margin - 10;
}

int32_t figure_prepare(struct sheet *sheet, const struct kerf_figure *figure, const struct palette *palette,
                       struct kerf_error *err) {
    *sheet = (struct sheet){.canvas = canvas_blank(),
                            .left = margin,
                            .right = page_width - margin,
                            .page_width = page_width,
                            .figure = figure,
                            .measuring = 1};
    if (palette)
        sheet->palette = *palette;
    else if (palette_make(&sheet->arena, figure, &sheet->palette) != KERF_OK)
        return error_no_memory(err, "the picture");
    for (int32_t p = 0; p < figure->num_panels; p++)
        if (panel_has_bars(&figure->panels[p]))
            sheet->bar_label_width = fmax(sheet->bar_label_width, panel_bars_label_width(&figure->panels[p], 280));
    lanes_place(sheet);
    return KERF_OK;
}

int32_t figure_draw_page(struct sheet *sheet, const struct kerf_figure *figure, enum kerf_picture_format format,
                         struct kerf_text *out, struct kerf_error *err) {
    double height = draw(sheet, figure);
    struct kerf_text description = {0};
    figure_describe(figure, &description);
    const char *title = figure->title ? figure->title : figure->num_panels > 0 ? words(figure->panels[0].title) : "";
    const struct canvas_page page = {page_width, height, title, description.data};
    int32_t code = canvas_begin(format, &page, out, &sheet->canvas, err);
    if (code == KERF_OK) {
        canvas_rect(sheet->canvas, 0, 0, page_width, height, 12, INK_GRID, NULL); /* the card's rim */
        canvas_rect(sheet->canvas, 1, 1, page_width - 2, height - 2, 11, PAPER, NULL);
        sheet->measuring = 0;
        draw(sheet, figure);
        int32_t failed = sheet->failed || description.failed;
        code = canvas_finish(sheet->canvas, !failed, err);
        if (code == KERF_OK && failed) code = error_no_memory(err, "the picture");
    }
    kerf_text_free(&description);
    return code;
}

int32_t figure_draw_alone(const struct palette *palette, const struct kerf_panel *panel, struct kerf_text *out,
                          struct kerf_error *err) {
    const struct kerf_figure figure = {.panels = panel, .num_panels = 1};
    struct sheet sheet;
    int32_t code = figure_prepare(&sheet, &figure, palette, err);
    if (code == KERF_OK) code = figure_draw_page(&sheet, &figure, KERF_PICTURE_SVG, out, err);
    arena_free(&sheet.arena);
    return code;
}
