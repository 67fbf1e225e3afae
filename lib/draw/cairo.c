/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canvas as PNG and PDF, drawn by the library cairo. kerf is not linked with it: each picture opens
 * libcairo.so.2 and looks the functions up (some microseconds), so that kerf runs where cairo is not. The
 * library stays mapped once it was opened (RTLD_NODELETE), as fontconfig's caches would leak otherwise;
 * nothing of ours outlives the picture. Cairo is thread-safe for surfaces that are not shared.
 */
#include "draw/canvas.h"

#include <cairo-pdf.h>
#include <cairo.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include "base/error_fill.h"

static const char library[] = "libcairo.so.2", package[] = "libcairo2";

#define FUNCTIONS(X)                                                                                                   \
    X(image_surface_create)                                                                                            \
    X(pdf_surface_create_for_stream)                                                                                   \
    X(pdf_surface_set_metadata)                                                                                        \
    X(surface_write_to_png_stream)                                                                                     \
    X(surface_finish)                                                                                                  \
    X(surface_status)                                                                                                  \
    X(surface_destroy)                                                                                                 \
    X(create)                                                                                                          \
    X(destroy)                                                                                                         \
    X(status)                                                                                                          \
    X(status_to_string)                                                                                                \
    X(scale)                                                                                                           \
    X(save)                                                                                                            \
    X(restore)                                                                                                         \
    X(translate)                                                                                                       \
    X(rotate)                                                                                                          \
    X(set_source_rgb)                                                                                                  \
    X(set_line_width)                                                                                                  \
    X(set_line_join)                                                                                                   \
    X(set_line_cap)                                                                                                    \
    X(set_dash)                                                                                                        \
    X(rectangle)                                                                                                       \
    X(new_sub_path)                                                                                                    \
    X(arc)                                                                                                             \
    X(move_to)                                                                                                         \
    X(line_to)                                                                                                         \
    X(close_path)                                                                                                      \
    X(fill)                                                                                                            \
    X(fill_preserve)                                                                                                   \
    X(new_path)                                                                                                        \
    X(stroke)                                                                                                          \
    X(select_font_face)                                                                                                \
    X(set_font_size)                                                                                                   \
    X(font_options_create)                                                                                             \
    X(font_options_set_hint_style)                                                                                     \
    X(font_options_set_hint_metrics)                                                                                   \
    X(font_options_destroy)                                                                                            \
    X(set_font_options)                                                                                                \
    X(text_extents)                                                                                                    \
    X(show_text)

struct api {
#define DECLARE(name) __typeof__(cairo_##name) *name;
    FUNCTIONS(DECLARE)
#undef DECLARE
};

struct picture {
    struct canvas canvas;
    struct api api;
    void *handle;
    struct kerf_text *out;
    size_t start;
    cairo_surface_t *surface;
    cairo_t *cr;
    uint32_t colour;        /* what cr is set to, to set it no more often than needed */
    int32_t bold;           /* 0, 1; -1: no font is set yet */
    double size;            /* of the font */
    struct kerf_text clean; /* the text being drawn, as cairo fails for good on what is not UTF-8 */
};

/* PNG: device pixels for one of ours, so that text is sharp on today's screens; a side of an image cannot
 * be longer than 32,767 of them. */
static const double png_scale = 2, png_least_scale = 0.5, png_longest = 32767;

static cairo_status_t receive(void *closure, const unsigned char *data, unsigned int length) {
    struct kerf_text *out = closure;
    kerf_text_write(out, (const char *)data, length);
    return out->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static int32_t open_library(struct picture *picture, const char *format, struct kerf_error *err) {
    picture->handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (picture->handle == NULL)
        return kerf_error_set(err, KERF_EUNSUPPORTED,
                              "a %s picture needs the library cairo (%s), which is not installed (Debian's package: "
                              "%s); an .svg picture does not need it",
                              format, library, package);
#define LOOK_UP(name)                                                                                                  \
    picture->api.name = (__typeof__(picture->api.name))dlsym(picture->handle, "cairo_" #name);                         \
    if (picture->api.name == NULL)                                                                                     \
        return kerf_error_set(err, KERF_EUNSUPPORTED,                                                                  \
                              "a %s picture needs cairo 1.16 with PNG and PDF (Debian's package %s): the %s "          \
                              "here has no %s",                                                                        \
                              format, package, library, "cairo_" #name);
    FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return KERF_OK;
}

static void close_picture(struct picture *picture) {
    if (picture->cr) picture->api.destroy(picture->cr);
    if (picture->surface) picture->api.surface_destroy(picture->surface);
    if (picture->handle) dlclose(picture->handle);
    kerf_text_free(&picture->clean);
    free(picture);
}

static int32_t open_surface(struct picture *picture, const struct canvas_page *page, struct kerf_error *err) {
    struct api *api = &picture->api;
    double scale = 1;
    if (picture->canvas.driver == &canvas_pdf) {
        scale = 0.75; /* a PDF counts in points */
        picture->surface =
            api->pdf_surface_create_for_stream(receive, picture->out, page->width * scale, page->height * scale);
        api->pdf_surface_set_metadata(picture->surface, CAIRO_PDF_METADATA_TITLE, page->title);
        api->pdf_surface_set_metadata(picture->surface, CAIRO_PDF_METADATA_CREATOR, "kerf " KERF_VERSION_TEXT);
    } else {
        scale = fmin(png_scale, png_longest / fmax(page->width, page->height));
        if (!(scale >= png_least_scale))
            return kerf_error_set(err, KERF_EUNSUPPORTED,
                                  "the picture is too large for PNG, %.0f x %.0f pixels: use .svg or .pdf", page->width,
                                  page->height);
        picture->surface = api->image_surface_create(CAIRO_FORMAT_ARGB32, (int)ceil(page->width * scale),
                                                     (int)ceil(page->height * scale));
    }
    picture->cr = api->create(picture->surface);
    api->scale(picture->cr, scale, scale);
    cairo_font_options_t *options = api->font_options_create();
    api->font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    api->font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    api->set_font_options(picture->cr, options);
    api->font_options_destroy(options);
    return KERF_OK;
}

static int32_t begin(const struct canvas_driver *driver, const struct canvas_page *page, struct kerf_text *out,
                     struct canvas **ret_canvas, struct kerf_error *err) {
    struct picture *picture = calloc(1, sizeof *picture);
    if (picture == NULL) return error_no_memory(err, "the picture");
    picture->canvas.driver = driver;
    picture->out = out;
    picture->start = out->length;
    picture->colour = CANVAS_NONE;
    picture->bold = -1;
    int32_t code = open_library(picture, driver == &canvas_pdf ? "PDF" : "PNG", err);
    if (code == KERF_OK) code = open_surface(picture, page, err);
    if (code != KERF_OK) {
        close_picture(picture);
        return code;
    }
    *ret_canvas = (struct canvas *)picture;
    return KERF_OK;
}

static int32_t png_begin(const struct canvas_page *page, struct kerf_text *out, struct canvas **ret_canvas,
                         struct kerf_error *err) {
    return begin(&canvas_png, page, out, ret_canvas, err);
}

static int32_t pdf_begin(const struct canvas_page *page, struct kerf_text *out, struct canvas **ret_canvas,
                         struct kerf_error *err) {
    return begin(&canvas_pdf, page, out, ret_canvas, err);
}

static void set_colour(struct picture *picture, uint32_t colour) {
    if (picture->colour == colour) return;
    picture->colour = colour;
    picture->api.set_source_rgb(picture->cr, (colour >> 16 & 255) / 255.0, (colour >> 8 & 255) / 255.0,
                                (colour & 255) / 255.0);
}

static void draw_rect(struct canvas *canvas, double x, double y, double width, double height, double radius,
                      uint32_t fill, const char *tip) {
    (void)tip;
    struct picture *picture = (struct picture *)canvas;
    const struct api *api = &picture->api;
    cairo_t *cr = picture->cr;
    if (fill == CANVAS_NONE || !(width > 0) || !(height > 0)) return;
    set_colour(picture, fill);
    if (radius > 0) {
        double r = fmin(radius, fmin(width, height) / 2), right = x + width - r, bottom = y + height - r;
        api->new_sub_path(cr);
        api->arc(cr, right, y + r, r, -M_PI_2, 0);
        api->arc(cr, right, bottom, r, 0, M_PI_2);
        api->arc(cr, x + r, bottom, r, M_PI_2, M_PI);
        api->arc(cr, x + r, y + r, r, M_PI, 3 * M_PI_2);
        api->close_path(cr);
    } else
        api->rectangle(cr, x, y, width, height);
    api->fill(cr);
}

static void draw_path(struct canvas *canvas, const struct canvas_point *points, int32_t num_points,
                      const struct canvas_pen *pen, const char *tip) {
    (void)tip;
    struct picture *picture = (struct picture *)canvas;
    const struct api *api = &picture->api;
    cairo_t *cr = picture->cr;
    for (int32_t i = 0; i < num_points; i++) (i == 0 ? api->move_to : api->line_to)(cr, points[i].x, points[i].y);
    if (pen->closed) api->close_path(cr);
    if (pen->fill != CANVAS_NONE) {
        set_colour(picture, pen->fill);
        api->fill_preserve(cr);
    }
    if (pen->stroke != CANVAS_NONE) {
        set_colour(picture, pen->stroke);
        api->set_line_width(cr, pen->width);
        api->set_dash(cr, &pen->dash, pen->dash > 0 ? 1 : 0, 0);
        api->set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
        api->set_line_cap(cr, num_points > 2 ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
        api->stroke(cr);
    } else
        api->new_path(cr);
}

static void draw_text(struct canvas *canvas, double x, double y, const struct canvas_font *font,
                      enum canvas_anchor anchor, const char *string, const char *tip) {
    (void)tip;
    struct picture *picture = (struct picture *)canvas;
    const struct api *api = &picture->api;
    cairo_t *cr = picture->cr;
    kerf_text_clear(&picture->clean);
    text_clean(&picture->clean, string);
    if (picture->clean.failed || picture->clean.length == 0) return;
    if (picture->bold != (font->bold != 0)) {
        picture->bold = font->bold != 0;
        api->select_font_face(cr, "Helvetica", CAIRO_FONT_SLANT_NORMAL,
                              picture->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    }
    if (picture->size != font->size) {
        picture->size = font->size;
        api->set_font_size(cr, font->size);
    }
    set_colour(picture, font->colour);
    cairo_text_extents_t extents;
    api->text_extents(cr, picture->clean.data, &extents);
    /* The layout has left that much room: a wider font is squeezed into it. */
    double room = text_width(string, font), squeeze = extents.x_advance > room ? room / extents.x_advance : 1;
    double shift = anchor == CANVAS_START ? 0 : anchor == CANVAS_MIDDLE ? 0.5 : 1;
    api->save(cr);
    api->translate(cr, x, y);
    if (font->turn != 0) api->rotate(cr, -font->turn * M_PI / 180);
    if (squeeze < 1) api->scale(cr, squeeze, 1);
    api->move_to(cr, -shift * extents.x_advance, 0);
    api->show_text(cr, picture->clean.data);
    api->new_path(cr);
    api->restore(cr);
}

static int32_t finish(struct canvas *canvas, int32_t keep, struct kerf_error *err) {
    struct picture *picture = (struct picture *)canvas;
    const struct api *api = &picture->api;
    struct kerf_text *out = picture->out;
    cairo_status_t status = api->status(picture->cr);
    if (status == CAIRO_STATUS_SUCCESS && keep && canvas->driver == &canvas_png)
        status = api->surface_write_to_png_stream(picture->surface, receive, out);
    api->surface_finish(picture->surface);
    if (status == CAIRO_STATUS_SUCCESS) status = api->surface_status(picture->surface);
    int32_t code = KERF_OK;
    if (out->failed || picture->clean.failed || status == CAIRO_STATUS_NO_MEMORY)
        code = error_no_memory(err, "the picture");
    else if (status != CAIRO_STATUS_SUCCESS)
        code =
            kerf_error_set(err, KERF_EUNSUPPORTED, "cairo cannot draw the picture: %s", api->status_to_string(status));
    if (!keep || code != KERF_OK) {
        out->length = picture->start;
        if (out->data) out->data[out->length] = 0;
    }
    close_picture(picture);
    return code;
}

const struct canvas_driver canvas_png = {"png", png_begin, draw_rect, draw_path, draw_text, finish};
const struct canvas_driver canvas_pdf = {"pdf", pdf_begin, draw_rect, draw_path, draw_text, finish};
