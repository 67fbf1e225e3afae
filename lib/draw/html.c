/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages, and the canvas as one: the SVG of the picture within a page. Figures with timelines have a page of their own
 * (html_timeline.c).
 *
 * A page's content security policy forbids it to load anything, so that what is in the file is all there is. Strings
 * are escaped for text, attributes and JSON within a script alike.
 */
#include "draw/html.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/error_fill.h"

/* ---- Pages ------------------------------------------------------------------------------------------------ */

void html_escape(struct kerf_text *out, const char *utf8) {
    struct kerf_text clean = {0};
    text_clean(&clean, utf8);
    out->failed |= clean.failed;
    for (const char *c = clean.data ? clean.data : ""; *c; c++) {
        const char *instead = *c == '&'    ? "&amp;"
                              : *c == '<'  ? "&lt;"
                              : *c == '>'  ? "&gt;"
                              : *c == '"'  ? "&quot;"
                              : *c == '\'' ? "&#39;"
                                           : NULL;
        if (instead)
            kerf_text_add(out, instead);
        else
            kerf_text_write(out, c, 1);
    }
    kerf_text_free(&clean);
}

void html_json_string(struct kerf_text *out, const char *utf8) {
    kerf_text_add(out, "\"");
    for (uint32_t c; (c = text_next(&utf8));) {
        if (c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c > 126) {
            if (c > 0xFFFF) {
                kerf_text_printf(out, "\\u%04x", 0xD800 + ((c - 0x10000) >> 10));
                c = 0xDC00 + ((c - 0x10000) & 0x3FF);
            }
            kerf_text_printf(out, "\\u%04x", c);
        } else {
            char byte = (char)c;
            kerf_text_write(out, &byte, 1);
        }
    }
    kerf_text_add(out, "\"");
}

void html_begin(struct kerf_text *out, const char *title, int32_t timeline) {
    kerf_text_add(out,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
                  "<meta name=\"generator\" content=\"kerf " KERF_VERSION_TEXT "\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
    html_escape(out, title);
    kerf_text_add(out, "</title>\n<style>\n");
    kerf_text_add(out, web_timeline_css);
    kerf_text_add(out, timeline ? "</style>\n</head>\n<body>\n" : "</style>\n</head>\n<body class=\"picture\">\n");
}

void html_end(struct kerf_text *out) { kerf_text_add(out, "</body>\n</html>\n"); }

/* ---- The canvas ------------------------------------------------------------------------------------------- */

struct page {
    struct canvas canvas;
    struct canvas *svg;
    struct kerf_text *out;
    size_t start;
};

static int32_t page_begin(const struct canvas_page *page, struct kerf_text *out, struct canvas **ret_canvas,
                          struct kerf_error *err) {
    struct page *html = calloc(1, sizeof *html);
    if (html == NULL) return error_no_memory(err, "the picture");
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
    if (code == KERF_OK && out->failed) code = error_no_memory(err, "the picture");
    if (code != KERF_OK || !keep) {
        out->length = start;
        if (out->data) out->data[start] = 0;
    }
    return code;
}

const struct canvas_driver canvas_html = {
    "html", page_begin, page_rect, page_path, page_text, page_finish,
};
