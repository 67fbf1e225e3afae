/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points over two linear axes, or over two equal logarithmic ones with their diagonal. The rows that are joined are fronts: a staircase whose value holds up to the next x,
 * with the names of its points beside them where they cover nothing. A dashed line stands at the limit, which is a
 * value of x.
 */
#include "draw/panel.h"

#include <math.h>

struct box {
    double left, right, top, bottom;
};

struct scatter {
    struct sheet *sheet;
    const struct kerf_panel *panel;
    struct axis x, y;
    struct box plot;
    struct box *taken; /* [num_taken] where names already are */
    int32_t num_taken;
};

static int is_there(const struct scatter *scatter, int32_t row, int32_t k) {
    double value = scatter->panel->rows[row].values[k]; /* NAN is not there */
    return scatter->panel->logarithmic ? value > 0 && scatter->panel->xs[k] > 0 : value >= 0;
}

static struct canvas_point place(const struct scatter *scatter, int32_t row, int32_t k) {
    return (struct canvas_point){axis_place(&scatter->x, scatter->panel->xs[k]),
                                 axis_place(&scatter->y, panel_value(scatter->panel->rows[row].values[k]))};
}

/* With some air around it, and from 0 unless that would press the points together. */
static void open_domain(struct axis *axis, double low, double high) {
    double air = high > low ? (high - low) * 0.06 : high > 0 ? high * 0.1 : 1;
    axis->low = low < 0.25 * high ? 0 : fmax(low - air, 0);
    axis->high = fmin(high + air, 1e290);
}

/* From the least to the largest of both, so that equal values lie on the diagonal. */
static void open_equal(struct scatter *scatter, double low, double high) {
    if (!(low > 0)) low = high > 0 ? high : 1;
    scatter->x.base = scatter->y.base = 10;
    scatter->x.low = scatter->y.low = fmax(low / 1.2, 1e-290);
    scatter->x.high = scatter->y.high = fmin(fmax(high, low) * 1.2, 1e290);
}

static void find_domains(struct scatter *scatter) {
    const struct kerf_panel *panel = scatter->panel;
    double low = HUGE_VAL, high = 0, left = HUGE_VAL, right = 0;
    for (int32_t k = 0; k < panel->num_xs; k++)
        for (int32_t i = 0; i < panel->num_rows; i++)
            if (is_there(scatter, i, k)) {
                low = fmin(low, panel_value(panel->rows[i].values[k]));
                high = fmax(high, panel_value(panel->rows[i].values[k]));
                left = fmin(left, panel_value(panel->xs[k]));
                right = fmax(right, panel_value(panel->xs[k]));
            }
    if (panel->limit > 0 && !panel->logarithmic)
        left = fmin(left, panel_value(panel->limit)), right = fmax(right, panel_value(panel->limit));
    if (low > high) low = 0, high = 1;
    if (left > right) left = 0, right = 1;
    scatter->y = (struct axis){.unit = panel->unit, .vertical = 1, .least_gap = 24};
    scatter->x =
        (struct axis){.unit = panel->x_unit == KERF_UNIT_NONE ? KERF_UNIT_COUNT : panel->x_unit, .least_gap = 30};
    if (panel->logarithmic) {
        open_equal(scatter, fmin(low, left), fmax(high, right));
        return;
    }
    open_domain(&scatter->y, low, high);
    open_domain(&scatter->x, left, right);
}

static void place_plot(struct scatter *scatter, double top) {
    const struct sheet *sheet = scatter->sheet;
    scatter->plot = (struct box){sheet->left, sheet->right, top, top + 340};
    scatter->y.from = scatter->plot.bottom;
    scatter->y.to = scatter->plot.top;
    axis_ticks(&scatter->y);
    double ticks = 0;
    for (int32_t i = 0; i < scatter->y.num_ticks; i++)
        ticks = fmax(ticks, text_width(scatter->y.labels[i], &font_tick));
    scatter->plot.left += ceil(ticks) + 10;
    scatter->x.from = scatter->plot.left + 8;
    scatter->x.to = scatter->plot.right - 8;
    axis_ticks(&scatter->x);
}

static void draw_grid(const struct scatter *scatter) {
    struct canvas *canvas = scatter->sheet->canvas;
    const struct box *plot = &scatter->plot;
    for (int32_t i = 0; i < scatter->y.num_ticks; i++) {
        double y = crisp(axis_place(&scatter->y, scatter->y.ticks[i]));
        canvas_line(canvas, plot->left, y, plot->right, y, INK_GRID, 1, 0);
        canvas_text(canvas, plot->left - 10, y + 4, &font_tick, CANVAS_END, scatter->y.labels[i], NULL);
    }
    for (int32_t i = 0; i < scatter->x.num_ticks; i++) {
        double x = crisp(axis_place(&scatter->x, scatter->x.ticks[i]));
        canvas_line(canvas, x, plot->top, x, plot->bottom, INK_GRID, 1, 0);
        canvas_text(canvas, x, plot->bottom + 17, &font_tick, CANVAS_MIDDLE, scatter->x.labels[i], NULL);
    }
    canvas_line(canvas, plot->left, crisp(plot->bottom), plot->right, crisp(plot->bottom), INK_AXIS, 1, 0);
}

static void draw_limit(struct scatter *scatter) {
    const struct kerf_panel *panel = scatter->panel;
    const struct box *plot = &scatter->plot;
    if (!(panel->limit > 0)) return;
    double x = crisp(axis_place(&scatter->x, panel_value(panel->limit)));
    const char *label = words(panel->limit_label);
    double width = text_width(label, &font_limit);
    int at_left = x + 8 + width > plot->right;
    canvas_line(scatter->sheet->canvas, x, plot->top, x, plot->bottom, INK_LIMIT, 1.25, 4);
    scatter->taken[scatter->num_taken++] = (struct box){x - 2, x + 2, plot->top, plot->bottom};
    if (*label == 0) return;
    canvas_text(scatter->sheet->canvas, at_left ? x - 8 : x + 8, plot->top + 14, &font_limit,
                at_left ? CANVAS_END : CANVAS_START, label, NULL);
    double from = at_left ? x - 8 - width : x;
    scatter->taken[scatter->num_taken++] = (struct box){from, from + width + 8, plot->top, plot->top + 18};
}

static void draw_diagonal(const struct scatter *scatter) {
    if (!scatter->panel->logarithmic) return;
    canvas_line(scatter->sheet->canvas, scatter->x.from, scatter->y.from, scatter->x.to, scatter->y.to, INK_LIMIT, 1.25,
                4);
}

static uint32_t colour_of(const struct scatter *scatter, int32_t row) {
    return palette_curve(&scatter->sheet->palette, words(scatter->panel->rows[row].label))->colour;
}

/* The staircase of a row: to the right at a value, then down or up to the next. */
static void draw_stairs(const struct scatter *scatter, int32_t row, struct canvas_point *points) {
    const struct canvas_pen pen = {.stroke = colour_of(scatter, row), .fill = CANVAS_NONE, .width = 1.75};
    int32_t count = 0;
    for (int32_t k = 0; k < scatter->panel->num_xs; k++) {
        if (!is_there(scatter, row, k)) continue;
        struct canvas_point next = place(scatter, row, k);
        if (count > 0) points[count] = (struct canvas_point){next.x, points[count - 1].y}, count++;
        points[count++] = next;
    }
    if (count == 0) return;
    points[count] = (struct canvas_point){scatter->plot.right, points[count - 1].y};
    canvas_path(scatter->sheet->canvas, points, count + 1, &pen, NULL);
}

static void draw_points(const struct scatter *scatter, int32_t row) {
    const struct kerf_panel *panel = scatter->panel;
    const struct palette_entry *entry = palette_curve(&scatter->sheet->palette, words(panel->rows[row].label));
    for (int32_t k = 0; k < panel->num_xs; k++) {
        if (!is_there(scatter, row, k)) continue;
        struct canvas_point at = place(scatter, row, k);
        char x[CHART_NUMBER], y[CHART_NUMBER];
        chart_number(x, panel->xs[k], scatter->x.unit);
        chart_number(y, panel->rows[row].values[k], panel->unit);
        const char *name = panel->x_names ? words(panel->x_names[k]) : "";
        legend_marker(scatter->sheet->canvas, entry->number, at.x, at.y, entry->colour,
                      sheet_printf(scatter->sheet, "%s%s%s, %s", name, *name ? ": " : "", y, x));
    }
}

static int is_free(const struct scatter *scatter, const struct box *box) {
    const struct box *plot = &scatter->plot;
    if (box->right > plot->right + 4 || box->left < plot->left || box->top < plot->top || box->bottom > plot->bottom)
        return 0;
    for (int32_t i = 0; i < scatter->num_taken; i++) {
        const struct box *other = &scatter->taken[i];
        if (box->left < other->right && other->left < box->right && box->top < other->bottom &&
            other->top < box->bottom)
            return 0;
    }
    return 1;
}

/* No name covers a point. */
static void take_points(struct scatter *scatter) {
    const double half = 4;
    for (int32_t row = 0; row < scatter->panel->num_rows; row++)
        for (int32_t k = 0; k < scatter->panel->num_xs; k++) {
            if (!is_there(scatter, row, k)) continue;
            struct canvas_point at = place(scatter, row, k);
            scatter->taken[scatter->num_taken++] = (struct box){at.x - half, at.x + half, at.y - half, at.y + half};
        }
}

/* Names stand left of their points, below the staircase, or else right of them and above it. */
static void draw_names(struct scatter *scatter, int32_t row) {
    const struct kerf_panel *panel = scatter->panel;
    for (int32_t k = 0; panel->x_names && k < panel->num_xs; k++) {
        const char *name = words(panel->x_names[k]);
        if (!is_there(scatter, row, k) || *name == 0) continue;
        struct canvas_point at = place(scatter, row, k);
        double width = text_width(name, &font_detail);
        const struct box below = {at.x - 6 - width, at.x - 4, at.y + 1, at.y + 15};
        const struct box above = {at.x + 5, at.x + 9 + width, at.y - 18, at.y - 4};
        const struct box *box = is_free(scatter, &below) ? &below : is_free(scatter, &above) ? &above : NULL;
        if (box == NULL) continue;
        canvas_text(scatter->sheet->canvas, box == &below ? box->right : box->left, box->bottom - 3, &font_detail,
                    box == &below ? CANVAS_END : CANVAS_START, name, NULL);
        scatter->taken[scatter->num_taken++] = *box;
    }
}

static double draw_legend(struct sheet *sheet, const struct kerf_panel *panel, double top) {
    struct legend_entry *entries = sheet_alloc(sheet, panel->num_rows, sizeof *entries);
    for (int32_t i = 0; entries && i < panel->num_rows; i++) {
        const struct palette_entry *entry = palette_curve(&sheet->palette, words(panel->rows[i].label));
        entries[i] = (struct legend_entry){entry->name, entry->colour, entry->number};
    }
    return entries ? legend_draw(sheet, entries, panel->num_rows, top) : top;
}

double panel_scatter(struct sheet *sheet, const struct kerf_panel *panel, double top) {
    struct scatter scatter = {.sheet = sheet, .panel = panel};
    struct canvas_point *points = sheet_alloc(sheet, 2 * panel->num_xs + 1, sizeof *points);
    scatter.taken = sheet_alloc(sheet, 2 * panel->num_xs * panel->num_rows + 2, sizeof *scatter.taken);
    if (points == NULL || scatter.taken == NULL) return top;
    top = draw_legend(sheet, panel, top) + 10;
    if (*words(panel->y_label)) {
        canvas_text(sheet->canvas, sheet->left, top + 10, &font_tick, CANVAS_START,
                    sheet_fit(sheet, panel->y_label, &font_tick, sheet->right - sheet->left), NULL);
        top += 20;
    }
    find_domains(&scatter);
    place_plot(&scatter, top);
    draw_grid(&scatter);
    draw_limit(&scatter);
    draw_diagonal(&scatter);
    int32_t joined = panel->num_joined < panel->num_rows ? panel->num_joined : panel->num_rows;
    for (int32_t i = 0; i < joined; i++) draw_stairs(&scatter, i, points);
    for (int32_t i = panel->num_rows; i-- > 0;) draw_points(&scatter, i); /* fronts above the others */
    take_points(&scatter);
    for (int32_t i = 0; i < joined; i++) draw_names(&scatter, i);
    double y = scatter.plot.bottom + 22;
    if (panel->x_label) {
        canvas_text(sheet->canvas, (scatter.plot.left + scatter.plot.right) / 2, y + 16, &font_tick, CANVAS_MIDDLE,
                    sheet_fit(sheet, panel->x_label, &font_tick, scatter.plot.right - scatter.plot.left), NULL);
        y += 20;
    }
    return y;
}
