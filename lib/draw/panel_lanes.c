/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines: a row for each lane, time to the right. Rows are as high as their number allows; bars carry their
 * micro-batch where it has room. At the right of a row is the share of the time in which it is idle. The cost of a
 * hundred thousand bars is that of their pixels: lanes.c finds those that are visible.
 */
#include "draw/lanes.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_HEIGHT = 620, /* of all rows */
    MOST_TIPS = 2000,  /* bars with words under the mouse */
    MOST_BITS = 100000 /* columns get wider than a pixel rather than more than that */
};

struct lanes {
    struct sheet *sheet;
    const struct kerf_panel *panel;
    struct axis axis;
    struct span active;
    struct lane_rows rows;
    double top, pitch, thickness;
    int32_t largest; /* number that is seen */
    int32_t each;    /* every how many rows there is a label */
};

/* Rows of whole pixels, as the edges of thousands of rows would be blurred otherwise. */
static void choose_rows(struct lanes *lanes, int32_t num_lanes) {
    static const struct {
        int32_t most;
        double pitch, thickness;
    } sizes[] = {{4, 36, 30}, {8, 30, 25}, {16, 24, 20}, {24, 20, 16}, {36, 16, 13}, {52, 12, 10}, {80, 8, 7}};
    lanes->rows.group = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (num_lanes <= sizes[i].most) {
            lanes->pitch = sizes[i].pitch, lanes->thickness = sizes[i].thickness;
            break;
        }
    if (lanes->pitch == 0) {
        lanes->rows.group = (2 * num_lanes + MOST_HEIGHT - 1) / MOST_HEIGHT;
        lanes->rows.num_rows = (num_lanes + lanes->rows.group - 1) / lanes->rows.group;
        lanes->pitch = floor((double)MOST_HEIGHT / lanes->rows.num_rows);
        lanes->thickness = lanes->pitch - (lanes->pitch > 5 ? 1 : lanes->pitch > 3 ? 0.5 : 0);
    }
    lanes->rows.num_rows = (num_lanes + lanes->rows.group - 1) / lanes->rows.group;
    static const int32_t every[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        lanes->each = every[i];
        if (lanes->each * lanes->pitch >= 12) break;
    }
}

static double label_size(const struct lanes *lanes) { return lanes->pitch >= 20 ? 12.5 : lanes->pitch >= 16 ? 11 : 10; }

void lanes_place(struct sheet *sheet) {
    double left = 0, right = 0;
    for (int32_t p = 0; p < sheet->figure->num_panels; p++) {
        const struct kerf_panel *panel = &sheet->figure->panels[p];
        if (!lanes_kind(panel)) continue;
        left = fmax(left, 52); /* what the ticks of steps need */
        if (panel->kind != KERF_PANEL_LANES) continue;
        struct lanes lanes = {.panel = panel};
        choose_rows(&lanes, panel->num_lanes);
        for (int32_t l = 0; l < panel->num_lanes; l += lanes.each * lanes.rows.group)
            left = fmax(left, text_width(words(panel->lanes[l].label), &font_label) * label_size(&lanes) / 12.5);
        if (lanes.each == 1) right = text_width("100 %", &font_detail) + 8;
    }
    sheet->lane_left = sheet->left + fmin(ceil(left), 180) + 10;
    sheet->lane_right = sheet->right - ceil(right);
}

static double row_top(const struct lanes *lanes, int32_t row) {
    return lanes->top + row * lanes->pitch + (lanes->pitch - lanes->thickness) / 2;
}

static void draw_ground(const struct lanes *lanes, double bottom) {
    struct canvas *canvas = lanes->sheet->canvas;
    double left = lanes->axis.from, width = lanes->axis.to - left;
    if (lanes->thickness == lanes->pitch)
        canvas_rect(canvas, left, lanes->top, width, lanes->pitch * lanes->rows.num_rows, 0, LANE_GROUND, NULL);
    else
        for (int32_t row = 0; row < lanes->rows.num_rows; row++)
            canvas_rect(canvas, left, row_top(lanes, row), width, lanes->thickness, 0, LANE_GROUND, NULL);
    for (int32_t i = 0; i < lanes->axis.num_ticks; i++) {
        double x = crisp(axis_place(&lanes->axis, lanes->axis.ticks[i]));
        canvas_line(canvas, x, lanes->top, x, bottom + 4, palette_mix(INK_GRID, INK_AXIS, 0.4), 1, 0);
    }
    canvas_line(canvas, left, crisp(bottom), lanes->axis.to, crisp(bottom), INK_AXIS, 1, 0);
    for (int32_t i = 0; i < lanes->axis.num_ticks; i++)
        canvas_text(canvas, axis_place(&lanes->axis, lanes->axis.ticks[i]), bottom + 17, &font_tick, CANVAS_MIDDLE,
                    lanes->axis.labels[i], NULL);
}

static void draw_labels(const struct lanes *lanes) {
    struct sheet *sheet = lanes->sheet;
    const struct kerf_panel *panel = lanes->panel;
    struct canvas_font font = lanes->pitch >= 16 ? font_label : font_tick, idle_font = font_detail;
    font.size = label_size(lanes);
    idle_font.size = fmin(font.size, font_detail.size);
    for (int32_t row = 0; row < lanes->rows.num_rows; row += lanes->each) {
        const char *label = words(panel->lanes[row * lanes->rows.group].label);
        const char *fitted = sheet_fit(sheet, label, &font, lanes->axis.from - sheet->left - 10);
        double y = row_top(lanes, row) + lanes->thickness / 2 + font.size * 0.36;
        canvas_text(sheet->canvas, lanes->axis.from - 10, y, &font, CANVAS_END, fitted, fitted == label ? NULL : label);
    }
    if (lanes->each > 1) return;
    canvas_text(sheet->canvas, sheet->right, lanes->top - 4, &font_detail, CANVAS_END, "idle", NULL);
    for (int32_t row = 0; row < lanes->rows.num_rows; row++) {
        char share[CHART_NUMBER];
        chart_percent(share, lanes_idle_share(&panel->lanes[row], 1, lanes->active));
        double y = row_top(lanes, row) + lanes->thickness / 2 + idle_font.size * 0.36;
        canvas_text(sheet->canvas, sheet->right, y, &idle_font, CANVAS_END, share, NULL);
    }
}

static const char *bar_tip(struct sheet *sheet, const struct kerf_panel *panel, const struct lane_bit *bit) {
    struct kerf_text text = {0};
    const struct kerf_lane *lane = &panel->lanes[bit->lane];
    lane_bar_words(&text, panel, lane, &lane->bars[bit->bar]);
    const char *tip = sheet_printf(sheet, "%s", words(text.data));
    if (text.failed) sheet->failed = 1;
    kerf_text_free(&text);
    return tip;
}

/* A sliver of ground between two bars that touch, where the first is wide enough to lose it. */
static double gap_behind(const struct lanes *lanes, const struct lane_bit *bit) {
    if (bit->bar < 0 || bit->width < 3.5 || lanes->thickness < 5) return 0;
    const struct kerf_lane *lane = &lanes->panel->lanes[bit->lane];
    if (bit->bar + 1 == lane->num_bars) return 0;
    double apart = (lane->bars[bit->bar + 1].start - lane->bars[bit->bar].end) * (lanes->axis.to - lanes->axis.from) /
                   (lanes->axis.high - lanes->axis.low);
    return apart > 1 ? 0 : bit->width < 7 ? 0.5 : 1;
}

static void draw_bit(const struct lanes *lanes, const struct lane_bit *bit, int tips) {
    struct canvas *canvas = lanes->sheet->canvas;
    const char *tip = tips && bit->bar >= 0 ? bar_tip(lanes->sheet, lanes->panel, bit) : NULL;
    double x = lanes->axis.from + bit->x, y = row_top(lanes, bit->row), width = bit->width - gap_behind(lanes, bit);
    double height = lanes->thickness;
    if (bit->bar < 0 || lanes->panel->lanes[bit->lane].bars[bit->bar].with_part < 0) {
        canvas_rect(canvas, x, y, width, height, tip && width >= 12 && height >= 12 ? 2 : 0, bit->top, tip);
        return;
    }
    double line = height >= 12 ? 0.5 : 0; /* so that two halves of a colour are two */
    canvas_rect(canvas, x, y, width, height / 2 - line, 0, bit->top, tip);
    canvas_rect(canvas, x, y + height / 2 + line, width, height / 2 - line, 0, bit->below, tip);
}

static void draw_number(const struct lanes *lanes, const struct lane_bit *bit, int32_t number, uint32_t colour,
                        double y, double height) {
    struct canvas_font font = font_share;
    font.size = fmin(10.5, floor(height * 0.75 * 2) / 2);
    if (number < 0) return;
    char text[16], widest[16];
    snprintf(text, sizeof text, "%d", number);
    /* As if it were the longest number: bars of one width have all numbers, or none. */
    snprintf(widest, sizeof widest, "%d", lanes->largest);
    font.colour = palette_ink_on(colour);
    font.behind = 1;
    double room = bit->width - gap_behind(lanes, bit) - 1.5, width = text_width(widest, &font) * 0.9;
    if (width > room) font.size = floor(font.size * room / width * 4) / 4;
    if (font.size < 6.5) return;
    canvas_text(lanes->sheet->canvas, lanes->axis.from + bit->x + (bit->width - gap_behind(lanes, bit)) / 2,
                y + height / 2 + font.size * 0.36, &font, CANVAS_MIDDLE, text, NULL);
}

static void draw_numbers(struct lanes *lanes) {
    for (int32_t i = 0; i < lanes->rows.num_bits; i++) {
        const struct lane_bit *bit = &lanes->rows.bits[i];
        if (bit->bar < 0) continue;
        const struct kerf_lane_bar *bar = &lanes->panel->lanes[bit->lane].bars[bit->bar];
        if (bar->number > lanes->largest) lanes->largest = bar->number;
        if (bar->with_part >= 0 && bar->with_number > lanes->largest) lanes->largest = bar->with_number;
    }
    for (int32_t i = 0; i < lanes->rows.num_bits; i++) {
        const struct lane_bit *bit = &lanes->rows.bits[i];
        if (bit->bar < 0 || bit->width < 6) continue;
        const struct kerf_lane_bar *bar = &lanes->panel->lanes[bit->lane].bars[bit->bar];
        double y = row_top(lanes, bit->row), height = lanes->thickness / (bar->with_part < 0 ? 1 : 2);
        draw_number(lanes, bit, bar->number, bit->top, y, height);
        if (bar->with_part >= 0) draw_number(lanes, bit, bar->with_number, bit->below, y + height, height);
    }
}

static void draw_bars(struct lanes *lanes) {
    struct sheet *sheet = lanes->sheet;
    struct lane_rows *rows = &lanes->rows;
    double width = lanes->axis.to - lanes->axis.from;
    rows->panel = lanes->panel;
    rows->palette = &sheet->palette;
    rows->window = (struct span){lanes->axis.low, lanes->axis.high};
    rows->width = width;
    rows->column = fmax(1, ceil(2 * rows->num_rows * width / MOST_BITS) / 2);
    rows->least = 1.5 * rows->column;
    if (lane_rows_fill(rows, &sheet->arena) != KERF_OK) {
        sheet->failed = 1;
        return;
    }
    lane_rows_by_colour(rows);
    int32_t num_bars = 0;
    for (int32_t i = 0; i < rows->num_bits; i++) num_bars += rows->bits[i].bar >= 0;
    for (int32_t i = 0; i < rows->num_bits; i++) draw_bit(lanes, &rows->bits[i], num_bars <= MOST_TIPS);
    draw_numbers(lanes);
}

/* The parts, then idle with its share, then the shades. */
static double draw_legend(const struct lanes *lanes, double top) {
    struct sheet *sheet = lanes->sheet;
    const struct kerf_panel *panel = lanes->panel;
    struct legend_entry *entries = sheet_alloc(sheet, panel->num_parts + 1 + panel->num_shades, sizeof *entries);
    if (entries == NULL) return top;
    int32_t count = 0;
    for (int32_t i = 0; i < panel->num_parts; i++) {
        if (!lanes_have_part(panel, i)) continue;
        entries[count++] =
            (struct legend_entry){words(panel->parts[i]), palette_part(&sheet->palette, words(panel->parts[i])), -1};
    }
    char share[CHART_NUMBER];
    chart_percent(share, lanes_idle_share(panel->lanes, panel->num_lanes, lanes->active));
    entries[count++] = (struct legend_entry){sheet_printf(sheet, "idle, %s of the time", share), LANE_GROUND, -1};
    for (int32_t i = 0; i < panel->num_shades; i++)
        if (count > 1)
            entries[count++] = (struct legend_entry){words(panel->shades[i]), lane_tone(entries[0].colour, i), -1};
    return legend_draw(sheet, entries, count, top);
}

double panel_lanes(struct sheet *sheet, const struct kerf_panel *panel, double top) {
    struct lanes lanes = {.sheet = sheet, .panel = panel};
    struct span window = lanes_window(sheet->figure, (int32_t)(panel - sheet->figure->panels));
    choose_rows(&lanes, panel->num_lanes);
    lanes.active = lanes_active(panel, window);
    lanes.axis = (struct axis){.low = window.from,
                               .high = window.to,
                               .from = sheet->lane_left,
                               .to = sheet->lane_right,
                               .unit = panel->unit,
                               .least_gap = 64};
    lanes.top = draw_legend(&lanes, top) + (lanes.each == 1 ? 16 : 12);
    double bottom = lanes.top + lanes.rows.num_rows * lanes.pitch + 3, y = bottom + 22;
    if (!sheet->measuring) {
        axis_ticks(&lanes.axis);
        draw_ground(&lanes, bottom);
        draw_labels(&lanes);
        draw_bars(&lanes);
    }
    if (panel->x_label || lanes.rows.group > 1) {
        const char *shared = lanes.rows.group > 1 ? sheet_printf(sheet, "%s%d lanes share a row",
                                                                 *words(panel->x_label) ? "; " : "", lanes.rows.group)
                                                  : "";
        const char *label = sheet_printf(sheet, "%s%s", words(panel->x_label), shared);
        canvas_text(sheet->canvas, (lanes.axis.from + lanes.axis.to) / 2, y + 13, &font_tick, CANVAS_MIDDLE,
                    sheet_fit(sheet, label, &font_tick, sheet->lane_right - sheet->lane_left), NULL);
        y += 18;
    }
    return y;
}
