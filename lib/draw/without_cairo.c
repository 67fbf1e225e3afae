/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of cairo.c where kerf is built without cairo's headers. */
#include "draw/canvas.h"

static int32_t begin(const struct canvas_page *page, struct kerf_text *out, struct canvas **ret_canvas,
                     struct kerf_error *err) {
    (void)page, (void)out, (void)ret_canvas;
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "this kerf was built without cairo (libcairo2-dev) and cannot draw PNG or PDF; "
                          "it can draw SVG");
}

const struct canvas_driver canvas_png = {"png", begin, NULL, NULL, NULL, NULL};
const struct canvas_driver canvas_pdf = {"pdf", begin, NULL, NULL, NULL, NULL};
