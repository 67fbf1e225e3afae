/* SPDX-License-Identifier: Apache-2.0 */
/* Legends: patches or markers with a name, one behind the other, in as many lines as they need; and the
 * shapes of the markers, by which curves are told apart without colour. */
#include "draw/panel.h"

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
