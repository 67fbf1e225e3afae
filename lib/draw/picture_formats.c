/* SPDX-License-Identifier: Apache-2.0 */
/* The table of output formats, and the blank canvas. */
#include "draw/canvas.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#ifndef KERF_HAS_CAIRO /* CMake sets it for this file where cairo's headers are */
static int32_t begin_without_cairo(const struct canvas_page *page, struct kerf_text *out, struct canvas **ret_canvas,
                                   struct kerf_error *err) {
    (void)page, (void)out, (void)ret_canvas;
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "this kerf was built without cairo (libcairo2-dev) and cannot draw PNG or PDF; "
                          "it can draw SVG");
}

const struct canvas_driver canvas_png = {"png", begin_without_cairo, NULL, NULL, NULL, NULL};
const struct canvas_driver canvas_pdf = {"pdf", begin_without_cairo, NULL, NULL, NULL, NULL};
#endif

static const struct canvas_driver *const drivers[] = {[KERF_PICTURE_SVG] = &canvas_svg,
                                                      [KERF_PICTURE_PNG] = &canvas_png,
                                                      [KERF_PICTURE_PDF] = &canvas_pdf,
                                                      [KERF_PICTURE_HTML] = &canvas_html,
                                                      [KERF_PICTURE_HTML_PART] = &canvas_svg};

/* The last one is no file's. */
enum { NUM_DRIVERS = sizeof drivers / sizeof *drivers, FILE_FORMATS = NUM_DRIVERS - 1 };

int32_t kerf_picture_format_of(const char *path, enum kerf_picture_format *ret_format, struct kerf_error *err) {
    assert(path && ret_format);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    for (int32_t i = 0; dot && i < FILE_FORMATS; i++)
        if (strcasecmp(dot + 1, drivers[i]->extension) == 0) {
            *ret_format = (enum kerf_picture_format)i;
            return KERF_OK;
        }
    char known[64] = "";
    for (int32_t i = 0; i < FILE_FORMATS; i++) {
        if (i > 0) strcat(known, i + 1 < FILE_FORMATS ? ", " : " or ");
        strcat(strcat(known, "."), drivers[i]->extension);
    }
    return kerf_error_set(err, KERF_EUNSUPPORTED, "no picture format is known for '%s': its name should end in %s",
                          path, known);
}

int32_t canvas_begin(enum kerf_picture_format format, const struct canvas_page *page, struct kerf_text *out,
                     struct canvas **ret_canvas, struct kerf_error *err) {
    if ((uint32_t)format >= NUM_DRIVERS)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "%d is not a picture format", (int)format);
    return drivers[format]->begin(page, out, ret_canvas, err);
}

static void blank_rect(struct canvas *canvas, double x, double y, double width, double height, double radius,
                       uint32_t fill, const char *tip) {
    (void)canvas, (void)x, (void)y, (void)width, (void)height, (void)radius, (void)fill, (void)tip;
}

static void blank_path(struct canvas *canvas, const struct canvas_point *points, int32_t num_points,
                       const struct canvas_pen *pen, const char *tip) {
    (void)canvas, (void)points, (void)num_points, (void)pen, (void)tip;
}

static void blank_text(struct canvas *canvas, double x, double y, const struct canvas_font *font,
                       enum canvas_anchor anchor, const char *string, const char *tip) {
    (void)canvas, (void)x, (void)y, (void)font, (void)anchor, (void)string, (void)tip;
}

struct canvas *canvas_blank(void) {
    static const struct canvas_driver driver = {.rect = blank_rect, .path = blank_path, .text = blank_text};
    static struct canvas canvas = {&driver}; /* never written to */
    return &canvas;
}
