/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures: the one place where the output formats are registered, and what draws a figure in one of them. */
#include "draw/html.h"
#include "draw/panel.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

static const struct canvas_driver *const drivers[] = {[KERF_PICTURE_SVG] = &canvas_svg,
                                                      [KERF_PICTURE_PNG] = &canvas_png,
                                                      [KERF_PICTURE_PDF] = &canvas_pdf,
                                                      [KERF_PICTURE_HTML] = &canvas_html};

enum { NUM_DRIVERS = sizeof drivers / sizeof *drivers };

int32_t kerf_picture_format_of(const char *path, enum kerf_picture_format *ret_format, struct kerf_error *err) {
    assert(path && ret_format);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    for (int32_t i = 0; dot && i < NUM_DRIVERS; i++)
        if (strcasecmp(dot + 1, drivers[i]->extension) == 0) {
            *ret_format = (enum kerf_picture_format)i;
            return KERF_OK;
        }
    char known[64] = "";
    for (int32_t i = 0; i < NUM_DRIVERS; i++) {
        if (i > 0) strcat(known, i + 1 < NUM_DRIVERS ? ", " : " or ");
        strcat(strcat(known, "."), drivers[i]->extension);
    }
    return kerf_error_set(err, KERF_EUNSUPPORTED, "no picture format is known for '%s': its name should end in %s",
                          path, known);
}

/* A page with timelines has a script of its own, which draws them. */
static int has_timeline(const struct kerf_figure *figure) {
    for (int32_t p = 0; p < figure->num_panels; p++)
        if (figure->panels[p].kind == KERF_PANEL_LANES) return 1;
    return 0;
}

int32_t kerf_figure_draw(const struct kerf_figure *figure, enum kerf_picture_format format, struct kerf_text *out,
                         struct kerf_error *err) {
    assert(figure && out);
    int32_t code = figure_check(figure, err);
    if (code != KERF_OK) return code;
    if ((uint32_t)format >= NUM_DRIVERS)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "%d is not a picture format", (int)format);
    struct sheet sheet;
    code = figure_prepare(&sheet, figure, NULL, err);
    if (code == KERF_OK)
        code = format == KERF_PICTURE_HTML && has_timeline(figure)
                   ? html_timeline(&sheet, figure, out, err)
                   : figure_draw_page(&sheet, figure, drivers[format], out, err);
    arena_free(&sheet.arena);
    return code;
}
