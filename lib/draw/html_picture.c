/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canvas as a page: the SVG of the picture in the page that html_page.c begins and ends. Figures with timelines
 * do not come here: html_timeline.c writes those.
 */
#include "draw/html.h"

#include <stdlib.h>

struct page {
    struct canvas canvas;
    struct canvas *svg;
    struct kerf_text *out;
    size_t start;
};

static int32_t page_begin(const struct canvas_page *page, struct kerf_text *out, struct canvas **ret_canvas,
                          struct kerf_error *err) {
    struct page *html = calloc(1, sizeof *html);
    if (html == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the picture");
    *html = (struct page){.canvas = {&canvas_html}, .out = out, .start = out->length};
    html_begin(out, page->title, 0);
    int32_t code = canvas_svg.begin(page, out, &html->svg, err);
    if (code != KERF_OK) {
        free(html);
        return code;
    }
    *ret_canvas = &html->canvas;
    return KERF_OK;
}

static void page_rect(struct canvas *canvas, double x, double y, double width, double height, double radius,
                      uint32_t fill, const char *tip) {
    canvas_rect(((struct page *)canvas)->svg, x, y, width, height, radius, fill, tip);
}

static void page_path(struct canvas *canvas, const struct canvas_point *points, int32_t num_points,
                      const struct canvas_pen *pen, const char *tip) {
    canvas_path(((struct page *)canvas)->svg, points, num_points, pen, tip);
}

static void page_text(struct canvas *canvas, double x, double y, const struct canvas_font *font,
                      enum canvas_anchor anchor, const char *string, const char *tip) {
    canvas_text(((struct page *)canvas)->svg, x, y, font, anchor, string, tip);
}

static int32_t page_finish(struct canvas *canvas, int32_t keep, struct kerf_error *err) {
    struct page *html = (struct page *)canvas;
    struct kerf_text *out = html->out;
    size_t start = html->start;
    int32_t code = canvas_finish(html->svg, keep, err);
    free(html);
    if (code == KERF_OK && keep) html_end(out);
    if (code == KERF_OK && out->failed) code = kerf_error_set(err, KERF_ENOMEM, "not enough memory for the picture");
    if (code != KERF_OK || !keep) {
        out->length = start;
        if (out->data) out->data[start] = 0;
    }
    return code;
}

const struct canvas_driver canvas_html = {
    "html", page_begin, page_rect, page_path, page_text, page_finish,
};
