/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heat map: the scale of its colours, what its signs mean, and the cells between the labels of their rows and columns.
 * What was measured fills its cell; what is only expected is a smaller block on a paler ground. Signs are shapes: a
 * cross where measuring failed, an arrowhead behind which the true ratio lies, rings one inside the other for the marks,
 * of which each has a line of its own. So no information is in the hue alone.
 */
#include "draw/matrix.h"

#include <math.h>

/* Colours of what has no ratio. */
#define GROUND 0xF0F2F5u
#define CROSS  0x9AA3AFu

static const struct ring {
    uint32_t colour;
    double width, dash;
} rings[MATRIX_MARKS] = {{INK_STRONG, 2, 0}, {0xD0562C, 2, 0}, {INK_STRONG, 1.25, 2.5}};

struct box {
    double x, y, width, height;
};

struct matrix {
    struct sheet *sheet;
    const struct kerf_panel *panel;
    struct matrix_seen seen;
    double left, top;     /* of the first cell */
    double pitch, height; /* from a cell to the next, of a row */
    double label;         /* width of the labels of the rows */
    double gap;           /* between two cells */
    struct canvas_font number;
    int32_t decimals; /* of the numbers in the cells, -1: there is no room for numbers */
};

static double least_side(struct box box) { return fmin(box.width, box.height); }

static struct box inside(struct box box, double by) {
    return (struct box){box.x + by, box.y + by, box.width - 2 * by, box.height - 2 * by};
}

/* By how much the block of an expected cell is smaller, on each side. */
static double margin_of(struct box box) { return fmin(fmax(0.17 * least_side(box), 1), 4.5); }

static struct box box_of(const struct matrix *matrix, int32_t row, int32_t column) {
    /* Whole pixels, so that edges are sharp; one cell may be a pixel wider than the next. */
    double x = floor(matrix->left + column * matrix->pitch + 0.5), y = floor(matrix->top + row * matrix->height + 0.5);
    double right = floor(matrix->left + (column + 1) * matrix->pitch + 0.5);
    double bottom = floor(matrix->top + (row + 1) * matrix->height + 0.5);
    return (struct box){x, y, right - x - matrix->gap, bottom - y - matrix->gap};
}

static uint32_t ink_on(uint32_t colour) { return palette_light(colour) > 0.2 ? INK_STRONG : PAPER; }

static void fill(struct canvas *canvas, struct box box, uint32_t colour, const char *tip) {
    canvas_rect(canvas, box.x, box.y, box.width, box.height, least_side(box) >= 12 ? 2.5 : 0, colour, tip);
}

static void draw_cross(struct canvas *canvas, struct box box, const char *tip) {
    double x = box.x + box.width / 2, y = box.y + box.height / 2, r = fmin(4, 0.3 * least_side(box));
    const struct canvas_pen pen = {.stroke = CROSS, .fill = CANVAS_NONE, .width = fmin(1.75, 0.6 * r)};
    canvas_path(canvas, (const struct canvas_point[]){{x - r, y - r}, {x + r, y + r}}, 2, &pen, tip);
    canvas_path(canvas, (const struct canvas_point[]){{x - r, y + r}, {x + r, y - r}}, 2, &pen, tip);
}

/* ">" without a number. */
static void draw_arrowhead(struct canvas *canvas, struct box box, uint32_t ink, const char *tip) {
    double x = box.x + box.width / 2, y = box.y + box.height / 2, r = fmin(4, 0.26 * least_side(box));
    const struct canvas_pen pen = {.stroke = ink, .fill = CANVAS_NONE, .width = fmin(1.5, 0.5 * r)};
    canvas_path(canvas, (const struct canvas_point[]){{x - 0.6 * r, y - r}, {x + 0.7 * r, y}, {x - 0.6 * r, y + r}}, 3,
                &pen, tip);
}

static void draw_rings(struct canvas *canvas, struct box box, int32_t marks, const char *tip) {
    double by = 0; /* from the edge of the cell to the middle of the ring */
    for (int32_t m = 0; m < MATRIX_MARKS; m++) {
        if (!(marks >> m & 1) || 2 * by > least_side(box) - 2) continue;
        struct box at = inside(box, by);
        const struct canvas_point corners[] = {
            {at.x, at.y}, {at.x + at.width, at.y}, {at.x + at.width, at.y + at.height}, {at.x, at.y + at.height}};
        struct canvas_pen pen = {.stroke = PAPER, .fill = CANVAS_NONE, .width = rings[m].width + 1.5, .closed = 1};
        canvas_path(canvas, corners, 4, &pen, tip); /* paper on both sides, to be seen on every colour */
        pen.stroke = rings[m].colour, pen.width = rings[m].width, pen.dash = rings[m].dash;
        canvas_path(canvas, corners, 4, &pen, tip);
        by += 3.25;
    }
}

/* The cell without its number and marks; `share` of one that has a ratio. */
static void draw_ground(struct canvas *canvas, struct box box, int32_t state, double share, const char *tip) {
    uint32_t colour = palette_scale(share);
    if (state == KERF_CELL_EXPECTED) {
        fill(canvas, box, palette_mix(colour, PAPER, 0.72), NULL);
        fill(canvas, inside(box, margin_of(box)), colour, tip);
    } else if (state != KERF_CELL_OUTSIDE)
        fill(canvas, box, matrix_has_value(state) ? colour : GROUND, tip);
    if (state == KERF_CELL_FAILED) draw_cross(canvas, box, tip);
}

static const char *number_of(struct sheet *sheet, double ratio, int32_t state, int32_t decimals) {
    char number[CHART_NUMBER];
    matrix_number(number, ratio, decimals);
    return sheet_printf(sheet, "%s%s", state == KERF_CELL_STOPPED ? "> " : "", number);
}

static void draw_cell(const struct matrix *matrix, int32_t row, int32_t column) {
    struct sheet *sheet = matrix->sheet;
    struct kerf_matrix_cell cell = matrix_cell(matrix->panel, row, column);
    if (cell.state == KERF_CELL_OUTSIDE) return;
    struct box box = box_of(matrix, row, column);
    double ratio = matrix->panel->rows[row].values[column], share = 0;
    if (matrix_has_value(cell.state)) share = matrix_share(ratio, matrix->seen.limit);
    struct kerf_text said = {0};
    if (cell.tip == NULL && !sheet->measuring) matrix_cell_words(&said, matrix->panel, row, column);
    if (said.failed) sheet->failed = 1;
    const char *tip = cell.tip ? cell.tip : words(said.data);
    draw_ground(sheet->canvas, box, cell.state, share, tip);
    uint32_t ink = ink_on(palette_scale(share));
    if (matrix_has_value(cell.state) && matrix->decimals >= 0) {
        struct canvas_font font = matrix->number;
        font.colour = ink;
        canvas_text(sheet->canvas, box.x + box.width / 2, box.y + box.height / 2 + 0.36 * font.size, &font,
                    CANVAS_MIDDLE, number_of(sheet, ratio, cell.state, matrix->decimals), NULL);
    } else if (cell.state == KERF_CELL_STOPPED)
        draw_arrowhead(sheet->canvas, box, ink, tip);
    kerf_text_free(&said);
}

static void draw_marks(const struct matrix *matrix, int32_t row, int32_t column) {
    struct kerf_matrix_cell cell = matrix_cell(matrix->panel, row, column);
    if (cell.marks == 0) return;
    struct kerf_text said = {0};
    matrix_cell_words(&said, matrix->panel, row, column);
    if (said.failed) matrix->sheet->failed = 1;
    draw_rings(matrix->sheet->canvas, box_of(matrix, row, column), cell.marks, cell.tip ? cell.tip : words(said.data));
    kerf_text_free(&said);
}

/* The largest letters and the most decimals with which every number fits into its cell. */
static void choose_numbers(struct matrix *matrix) {
    static const struct {
        double size;
        int32_t decimals;
    } choices[] = {{12.5, 2}, {11, 2}, {9.5, 2}, {11, 1}, {9.5, 1}, {8.5, 1}};
    const struct kerf_panel *panel = matrix->panel;
    struct box least = {0, 0, floor(matrix->pitch) - matrix->gap, floor(matrix->height) - matrix->gap};
    double margin = 2 * margin_of(least);
    matrix->decimals = -1;
    for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) {
        struct canvas_font font = {.size = choices[c].size, .behind = 1};
        double room = least.width - 4; /* what the tightest of the cells has left */
        for (int32_t i = 0; i < panel->num_rows; i++)
            for (int32_t k = 0; k < panel->num_xs; k++) {
                int32_t state = matrix_cell(panel, i, k).state;
                char number[CHART_NUMBER];
                if (!matrix_has_value(state)) continue;
                matrix_number(number, panel->rows[i].values[k], choices[c].decimals);
                double beside = state == KERF_CELL_EXPECTED  ? margin
                                : state == KERF_CELL_STOPPED ? text_width("> ", &font)
                                                             : 0;
                room = fmin(room, least.width - 4 - beside - text_width(number, &font));
            }
        if (room < 0 || font.size > least.height - margin) continue;
        matrix->number = font;
        matrix->decimals = choices[c].decimals;
        return;
    }
}

/* The scale of the colours, with ratios below it. */
static double draw_scale(const struct matrix *matrix, double top) {
    enum { SLICES = 64 };
    static const double steps[] = {1, 1.05, 1.1, 1.2, 1.3, 1.5, 2, 2.5, 3, 4, 5, 7};
    const double length = 320, height = 11, apart = 38;
    struct sheet *sheet = matrix->sheet;
    const char *name = matrix->panel->limit_label ? matrix->panel->limit_label : "ratio to the best";
    name = sheet_fit(sheet, name, &font_label, sheet->right - sheet->left - length - 60);
    double left = sheet->left;
    for (int32_t i = 0; i < SLICES; i++)
        canvas_rect(sheet->canvas, left + i * length / SLICES, top + 2, length / SLICES + (i + 1 < SLICES ? 0.5 : 0),
                    height, 0, palette_scale((i + 0.5) / SLICES), NULL);
    canvas_text(sheet->canvas, left + length + 24, top + 12, &font_label, CANVAS_START, name, NULL);
    const struct axis axis = {.low = 1, .high = matrix->seen.limit, .from = left, .to = left + length, .base = 10};
    double last = left - apart;
    for (int exponent = 0; pow(10, exponent) < axis.high; exponent++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            double ratio = steps[s] * pow(10, exponent), x = axis_place(&axis, ratio);
            if (x - last < apart || axis.to - x < apart) continue;
            char label[CHART_NUMBER];
            chart_number(label, ratio, KERF_UNIT_NONE);
            canvas_text(sheet->canvas, x, top + 27, &font_tick, x > left ? CANVAS_MIDDLE : CANVAS_START, label, NULL);
            last = x;
        }
    char limit[CHART_NUMBER];
    chart_number(limit, axis.high, KERF_UNIT_NONE);
    canvas_text(sheet->canvas, axis.to, top + 27, &font_tick, CANVAS_END,
                sheet_printf(sheet, "%s%s", matrix->seen.highest > axis.high ? "\u2265 " : "", limit), NULL);
    return top + 34;
}

/* What the signs mean that are there: a little cell of each with its name. */
static double draw_keys(const struct matrix *matrix, double top) {
    struct sheet *sheet = matrix->sheet;
    const double width = 19, height = 13, line = 21, space = 20;
    double x = sheet->left, y = top;
    int32_t states = matrix->seen.states & ~(1 << KERF_CELL_OUTSIDE);
    if (states == 1 << KERF_CELL_MEASURED) states = 0; /* nothing else to tell it from */
    if (states == 0 && matrix->seen.marks == 0) return top;
    for (int32_t i = 0; i < MATRIX_STATES + MATRIX_MARKS; i++) {
        int32_t mark = i - MATRIX_STATES;
        if (!(mark < 0 ? states >> i & 1 : matrix->seen.marks >> mark & 1)) continue;
        const char *name = mark < 0 ? matrix_state_names[i] : matrix_mark_names[mark];
        double taken = width + 7 + text_width(name, &font_label);
        if (x > sheet->left && x + taken > sheet->right) x = sheet->left, y += line;
        struct box box = {x, y + 2, width, height};
        draw_ground(sheet->canvas, box, mark < 0 ? i : KERF_CELL_UNKNOWN, 0.35, NULL);
        if (i == KERF_CELL_STOPPED) draw_arrowhead(sheet->canvas, box, ink_on(palette_scale(0.35)), NULL);
        if (mark >= 0) draw_rings(sheet->canvas, box, 1 << mark, NULL);
        canvas_text(sheet->canvas, x + width + 7, y + 13, &font_label, CANVAS_START, name, NULL);
        x += taken + space;
    }
    return y + line + 4;
}

static void draw_row_labels(const struct matrix *matrix) {
    struct sheet *sheet = matrix->sheet;
    int32_t every = (int32_t)ceil((font_tick.size + 2) / matrix->height);
    for (int32_t i = 0; i < matrix->panel->num_rows; i += every) {
        struct box box = box_of(matrix, i, 0);
        const char *label = words(matrix->panel->rows[i].label);
        const char *fitted = sheet_fit(sheet, label, &font_tick, matrix->label);
        canvas_text(sheet->canvas, matrix->left - 10, box.y + box.height / 2 + 4, &font_tick, CANVAS_END, fitted,
                    fitted == label ? NULL : label);
    }
}

/* Labels below the columns, upright where they are too wide; returns where they end. */
static double draw_column_labels(const struct matrix *matrix, double bottom) {
    struct sheet *sheet = matrix->sheet;
    const struct kerf_panel *panel = matrix->panel;
    double widest = 0, most = matrix->pitch - 5;
    for (int32_t k = 0; k < panel->num_xs; k++) widest = fmax(widest, text_width(words(panel->x_names[k]), &font_tick));
    struct canvas_font font = font_tick;
    int32_t every = 1;
    if (widest > most) {
        font.turn = 90;
        most = fmin(widest, 110);
        every = (int32_t)ceil((font.size + 3) / matrix->pitch);
    }
    for (int32_t k = 0; k < panel->num_xs; k += every) {
        struct box box = box_of(matrix, 0, k);
        const char *label = words(panel->x_names[k]), *fitted = sheet_fit(sheet, label, &font, most);
        double x = box.x + box.width / 2;
        canvas_text(sheet->canvas, font.turn > 0 ? x + 4 : x, bottom + (font.turn > 0 ? 7 : 17), &font,
                    font.turn > 0 ? CANVAS_END : CANVAS_MIDDLE, fitted, fitted == label ? NULL : label);
    }
    return bottom + (font.turn > 0 ? most + 10 : 22);
}

/* Where the cells are: labels at the left, and as much of the sheet as gives cells that are not too large. */
static void place(struct matrix *matrix) {
    const double widest_label = 160, widest_cell = 120, highest = 30, least = 11, wanted = 620;
    const struct kerf_panel *panel = matrix->panel;
    struct sheet *sheet = matrix->sheet;
    matrix->label = text_width(words(panel->y_label), &font_tick);
    for (int32_t i = 0; i < panel->num_rows; i++)
        matrix->label = fmax(matrix->label, text_width(words(panel->rows[i].label), &font_tick));
    matrix->label = fmin(ceil(matrix->label), widest_label);
    matrix->left = sheet->left + (matrix->label > 0 ? matrix->label + 10 : 0);
    matrix->pitch = fmin((sheet->right - matrix->left) / panel->num_xs, widest_cell);
    matrix->height = fmax(fmin(wanted / panel->num_rows, highest), least);
    double least_pitch = fmin(matrix->pitch, matrix->height);
    matrix->gap = least_pitch >= 16 ? 2 : least_pitch >= 6 ? 1 : 0;
    choose_numbers(matrix);
}

double panel_matrix(struct sheet *sheet, const struct kerf_panel *panel, double top) {
    struct matrix matrix = {.sheet = sheet, .panel = panel, .seen = matrix_look(panel)};
    place(&matrix);
    int valued = (matrix.seen.states & ((1 << (KERF_CELL_STOPPED + 1)) - 1)) != 0;
    double y = draw_keys(&matrix, valued ? draw_scale(&matrix, top + 4) + 2 : top + 4) + 4;
    double right = matrix.left + matrix.pitch * panel->num_xs;
    if (*words(panel->y_label)) {
        canvas_text(sheet->canvas, matrix.left - 10, y + 11, &font_tick, CANVAS_END,
                    sheet_fit(sheet, panel->y_label, &font_tick, matrix.label), NULL);
        y += 18;
    }
    matrix.top = y;
    for (int32_t i = 0; i < panel->num_rows; i++)
        for (int32_t k = 0; k < panel->num_xs; k++) draw_cell(&matrix, i, k);
    for (int32_t i = 0; i < panel->num_rows; i++)
        for (int32_t k = 0; k < panel->num_xs; k++) draw_marks(&matrix, i, k);
    draw_row_labels(&matrix);
    y = draw_column_labels(&matrix, matrix.top + matrix.height * panel->num_rows);
    if (*words(panel->x_label)) {
        canvas_text(sheet->canvas, (matrix.left + right) / 2, y + 16, &font_tick, CANVAS_MIDDLE,
                    sheet_fit(sheet, panel->x_label, &font_tick, right - matrix.left), NULL);
        y += 20;
    }
    return y;
}
