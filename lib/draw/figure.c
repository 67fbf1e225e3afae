/* SPDX-License-Identifier: Apache-2.0 */
/* Figures: they are checked, and drawn as a page with timelines or on the canvas of a format. */
#include <assert.h>
#include <math.h>
#include "draw/html.h"
#include "draw/lanes.h"
#include "draw/matrix.h"
#include "draw/panel.h"

/* Whether the numbers are as the header requires. */
static int32_t check_panel(const struct kerf_panel *panel, int32_t number, struct kerf_error *err) {
    const char *what = figure_row_word((int32_t)panel->kind);
    if (what == NULL)
        return kerf_error_set(err, KERF_EINVALID, "panel %d: %d is not a kind of panel", number, (int)panel->kind);
    if ((uint32_t)panel->unit > KERF_UNIT_COUNT)
        return kerf_error_set(err, KERF_EINVALID, "panel %d: unit %d does not exist", number, (int)panel->unit);
    if ((uint32_t)panel->x_unit > KERF_UNIT_COUNT)
        return kerf_error_set(err, KERF_EINVALID, "panel %d: x_unit %d does not exist", number, (int)panel->x_unit);
    if (!isfinite(panel->limit) || panel->limit < 0)
        return kerf_error_set(err, KERF_EINVALID, "panel %d: its limit has to be finite and not negative", number);
    if (lanes_kind(panel)) return lanes_check(panel, number, err);
    if (panel->kind == KERF_PANEL_MATRIX) return matrix_check(panel, number, err);
    if (panel->kind == KERF_PANEL_WHISKERS) return whiskers_check(panel, number, err);
    if (panel->num_rows % panel_rows_each(panel) != 0)
        return kerf_error_set(err, KERF_EINVALID, "panel %d: its rows have to come in threes", number);
    int curves = panel_has_points(panel), ties = panel->kind == KERF_PANEL_SCATTER;
    int32_t num_values = curves ? panel->num_xs : panel->num_parts;
    if (panel->num_rows < 0 || num_values < 0 || (panel->num_rows > 0 && panel->rows == NULL) ||
        (num_values > 0 && (curves ? (void *)panel->xs == NULL : (void *)panel->parts == NULL)))
        return kerf_error_set(err, KERF_EINVALID, "panel %d: its %ss, parts or xs are not there", number, what);
    double least = panel->linear || ties ? 0 : 1e-290;
    for (int32_t k = 0; curves && k < num_values; k++)
        if (!(k == 0 ? panel->xs[k] >= least
              : ties ? panel->xs[k] >= panel->xs[k - 1]
                     : panel->xs[k] > panel->xs[k - 1]) ||
            panel->xs[k] > 1e290)
            return kerf_error_set(err, KERF_EINVALID,
                                  "panel %d: its xs have to be %s 0, %s and below 1e290, x %d is not", number,
                                  panel->linear || ties ? "at least" : "above", ties ? "not falling" : "rising", k + 1);
    for (int32_t i = 0; i < panel->num_rows; i++)
        for (int32_t k = 0; k < num_values; k++) {
            const double *values = panel->rows[i].values;
            if (values == NULL)
                return kerf_error_set(err, KERF_EINVALID, "panel %d: %s %d has no values", number, what, i + 1);
            if (curves ? isinf(values[k]) : !isfinite(values[k]) || values[k] < 0)
                return kerf_error_set(err, KERF_EINVALID, "panel %d, %s %d: value %d has to be finite%s", number, what,
                                      i + 1, k + 1, curves ? ", or NAN" : " and not negative");
        }
    return KERF_OK;
}

int32_t kerf_figure_draw(const struct kerf_figure *figure, enum kerf_picture_format format, struct kerf_text *out,
                         struct kerf_error *err) {
    assert(figure && out);
    if (figure->num_panels < 0 || (figure->num_panels > 0 && figure->panels == NULL))
        return kerf_error_set(err, KERF_EINVALID, "the panels of the figure are not there");
    for (int32_t p = 0; p < figure->num_panels; p++) {
        int32_t code = check_panel(&figure->panels[p], p + 1, err);
        if (code != KERF_OK) return code;
    }
    struct sheet sheet;
    int timeline = 0;
    for (int32_t p = 0; p < figure->num_panels; p++) timeline |= figure->panels[p].kind == KERF_PANEL_LANES;
    int32_t code = figure_prepare(&sheet, figure, NULL, err);
    if (code == KERF_OK && timeline && (format == KERF_PICTURE_HTML || format == KERF_PICTURE_HTML_PART))
        code = html_timeline(&sheet, figure, format == KERF_PICTURE_HTML_PART, out, err);
    else if (code == KERF_OK)
        code = figure_draw_page(&sheet, figure, format, out, err);
    arena_free(&sheet.arena);
    return code;
}
