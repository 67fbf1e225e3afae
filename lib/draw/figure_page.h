/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_DRAW_FIGURE_PAGE_H
#define KERF_DRAW_FIGURE_PAGE_H

#include "draw/panel.h"

/* What a row of a kind of panel is called: "bar"; NULL: there is no such kind. */
const char *figure_row_word(int32_t kind);

/* The picture in words, for who cannot see it. */
void figure_describe(const struct kerf_figure *figure, struct kerf_text *out);

/* Makes the sheet of a figure, whose arena the caller frees. palette NULL: the figure's own. */
int32_t figure_prepare(struct sheet *sheet, const struct kerf_figure *figure, const struct palette *palette,
                       struct kerf_error *err);
int32_t figure_draw_page(struct sheet *sheet, const struct kerf_figure *figure, enum kerf_picture_format format,
                         struct kerf_text *out, struct kerf_error *err);

/* One panel as SVG, with colours that other panels have too. */
int32_t figure_draw_alone(const struct palette *palette, const struct kerf_panel *panel, struct kerf_text *out,
                          struct kerf_error *err);

#endif
