/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures. What an SVG says is read back out of it: bars as long as their values, text that stays on the
 * page and off other text. Two whole pictures are compared with draw_expected/; KERF_TEST_UPDATE=1 rewrites
 * them. That cairo is missing is played by a dlopen of our own.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "draw/panel.h"
#include "kerf/draw.h"
#include "svg_reader.h"

static int hide_cairo;

void *dlopen(const char *file, int mode) {
    union {
        void *object;
        void *(*function)(const char *, int);
    } real = {.object = dlsym(RTLD_NEXT, "dlopen")};
    return hide_cairo && file && strstr(file, "cairo") ? NULL : real.function(file, mode);
}

#define assert_near(a, b, most)                                                                                        \
    do {                                                                                                               \
        if (!(fabs((a) - (b)) <= (most))) fail_msg("%g is not near to %g", (double)(a), (double)(b));                  \
    } while (0)

/* ---- Figures ---- */

static const char *const parts[] = {"compute", "TP communication", "DP communication", "bubble"};
static const char *const memory_parts[] = {"weights", "compute", "activations"};
static const double bar_values[3][4] = {{100, 40, 20, 40}, {120, 0, 30, 10}, {50, 10, 10, 5}};
static const double memory_values[3][3] = {{10e9, 20e9, 30e9}, {21e9, 20e9, 60e9}, {1e9, 2e9, 3e9}};
static const double curve_values[2][4] = {{8, 4, 2, 1}, {16, NAN, 4, 3}};
static const double xs[] = {4, 8, 16, 16384};
static const struct kerf_chart_row bar_rows[] = {{"dp 2 \u00B7 tp 8", "domain tp 4", bar_values[0], "200 s"},
                                                 {"dp 4 \u00B7 tp 4", NULL, bar_values[1], NULL},
                                                 {"a < b & \"c\" > d", NULL, bar_values[2], NULL}};
static const struct kerf_chart_row memory_rows[] = {{"first", NULL, memory_values[0], NULL},
                                                    {"second", NULL, memory_values[1], NULL},
                                                    {"third", NULL, memory_values[2], NULL}};
static const struct kerf_chart_row curve_rows[] = {{"175B", NULL, curve_values[0], NULL},
                                                   {"1T", "large", curve_values[1], NULL}};
static const struct kerf_panel bars = {.kind = KERF_PANEL_BARS,
                                       .title = "Step time",
                                       .unit = KERF_UNIT_SECONDS,
                                       .rows = bar_rows,
                                       .num_rows = 3,
                                       .parts = parts,
                                       .num_parts = 4};
static const struct kerf_panel memory = {.kind = KERF_PANEL_BARS,
                                         .title = "Memory",
                                         .unit = KERF_UNIT_BYTES,
                                         .rows = memory_rows,
                                         .num_rows = 3,
                                         .parts = memory_parts,
                                         .num_parts = 3,
                                         .limit = 80e9,
                                         .limit_label = "80 GB of memory"};
static const struct kerf_panel columns = {.kind = KERF_PANEL_COLUMNS,
                                          .title = "Shares",
                                          .x_label = "layouts",
                                          .unit = KERF_UNIT_SECONDS,
                                          .rows = bar_rows,
                                          .num_rows = 3,
                                          .parts = parts,
                                          .num_parts = 4};
static const struct kerf_panel curves = {.kind = KERF_PANEL_CURVES,
                                         .title = "Scaling",
                                         .x_label = "accelerators",
                                         .unit = KERF_UNIT_SECONDS,
                                         .rows = curve_rows,
                                         .num_rows = 2,
                                         .xs = xs,
                                         .num_xs = 4,
                                         .limit = 1.5,
                                         .limit_label = "wanted"};

static struct kerf_text drawn(const struct kerf_figure *figure, enum kerf_picture_format format) {
    struct kerf_text out = {0};
    struct kerf_error err = {0};
    if (kerf_figure_draw(figure, format, &out, &err) != KERF_OK) fail_msg("%s", err.message);
    return out;
}

static struct kerf_text drawn_panels(const struct kerf_panel *panels, int32_t count) {
    return drawn(&(struct kerf_figure){"A title", "and more", panels, count, "small print"}, KERF_PICTURE_SVG);
}

/* ---- Tests ---- */

static void formats_are_known_by_the_name(void **state) {
    (void)state;
    enum kerf_picture_format format = KERF_PICTURE_PDF;
    struct kerf_error err;
    assert_int_equal(kerf_picture_format_of("a.b/out.svg", &format, NULL), KERF_OK);
    assert_int_equal(format, KERF_PICTURE_SVG);
    assert_int_equal(kerf_picture_format_of("out.PNG", &format, NULL), KERF_OK);
    assert_int_equal(format, KERF_PICTURE_PNG);
    assert_int_equal(kerf_picture_format_of("out.svg.pdf", &format, NULL), KERF_OK);
    assert_int_equal(format, KERF_PICTURE_PDF);
    static const char *const bad[] = {"out.gif", "out", "", "dir.svg/out", "out.svgz", "svg"};
    for (int32_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(kerf_picture_format_of(bad[i], &format, &err), KERF_EUNSUPPORTED);
        assert_int_equal(format, KERF_PICTURE_PDF);
        assert_true(strstr(err.message, ".svg") && strstr(err.message, ".png") && strstr(err.message, ".pdf"));
    }
}

static void pictures_are_as_expected(void **state) {
    (void)state;
    const struct kerf_panel both[2][2] = {{bars, memory}, {curves, columns}};
    static const char *const names[] = {"bars.svg", "scaling.svg"};
    for (int32_t i = 0; i < 2; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/unit/draw_expected/%s", KERF_TEST_DIR, names[i]);
        struct kerf_text out = drawn_panels(both[i], 2), again = drawn_panels(both[i], 2);
        assert_string_equal(out.data, again.data);
        FILE *file = fopen(path, getenv("KERF_TEST_UPDATE") ? "w+" : "r");
        if (file == NULL) fail_msg("cannot open %s", path);
        if (getenv("KERF_TEST_UPDATE")) fwrite(out.data, 1, out.length, file);
        rewind(file);
        char *expected = calloc(1, out.length + 2);
        fread(expected, 1, out.length + 1, file);
        fclose(file);
        assert_string_equal(out.data, expected);
        free(expected);
        kerf_text_free(&out), kerf_text_free(&again);
    }
}

static void svg_says_what_the_figure_says(void **state) {
    (void)state;
    const struct kerf_panel panels[] = {bars, memory, columns, curves};
    struct kerf_text out = drawn_panels(panels, 4);
    check_layout(out.data);
    static const char *const said[] = {"<title>A title</title>",
                                       "<desc>and more Step time: 3 bars. dp 2 \u00B7 tp 8 (domain tp 4): 200 s;",
                                       ">and more</text>",
                                       ">small print</text>",
                                       ">a &lt; b &amp; &quot;c&quot; &gt; d</text>",
                                       ">domain tp 4</text>",
                                       ">160 s</text>" /* a note of its own */,
                                       ">75.0 s</text>",
                                       ">101 GB</text>",
                                       ">80 GB of memory</text>",
                                       ">50 s</text>",
                                       ">0</text>" /* ticks */,
                                       ">100 %</text>",
                                       ">75 %</text>",
                                       ">layouts</text>",
                                       ">50 %</text>" /* 100 of 200 */,
                                       ">19 %</text>",
                                       ">4</text>",
                                       ">16,384</text>",
                                       ">wanted</text>",
                                       "<title>TP communication: 40.0 s (20 %)</title>",
                                       "<title>175B, 16: 2.0 s</title>"};
    for (int32_t i = 0; i < COUNT(said); i++)
        if (strstr(out.data, said[i]) == NULL) fail_msg("does not say %s", said[i]);
    assert_int_equal(occurrences(out.data, ">6 %</text>"), 0); /* too little to be written */
    kerf_text_free(&out);
}

static void bars_are_as_long_as_their_values(void **state) {
    (void)state;
    const struct kerf_panel panels[] = {bars, memory};
    struct kerf_text out = drawn_panels(panels, 2);
    const char *first = rect_of(out.data, "compute: 100", 0);
    double pixels_per_s = (number_in(first, "width") + 1) / 100, zero = number_in(first, "x");
    for (int32_t i = 0; i < 3; i++) { /* the last part has no gap behind it */
        const char *last = rect_of(out.data, "bubble", i);
        double end = number_in(last, "x") + number_in(last, "width");
        double sum = bar_values[i][0] + bar_values[i][1] + bar_values[i][2] + bar_values[i][3];
        assert_near(end - zero, sum * pixels_per_s, 0.05);
    }
    assert_int_equal(occurrences(out.data, "<title>TP communication"), 2); /* none for the value 0 */
    first = rect_of(out.data, "weights: 10.0 GB", 0);
    double gb = (number_in(first, "width") + 1) / 10;
    const char *line = strstr(out.data, "stroke-dasharray");
    assert_near(strtod(strstr(line, "M") + 1, NULL), number_in(first, "x") + 80 * gb, 1);
    /* 101 GB is above the limit, 60 GB is not. */
    const char *over = strstr(out.data, ">101 GB</text>"), *under = strstr(out.data, ">60.0 GB</text>");
    while (*over != '<') over--;
    while (*under != '<') under--;
    while (*line != '<') line--;
    assert_true(strncmp(colour_in(over), strstr(line, "stroke=\"") + 8, 7) == 0);
    assert_true(strncmp(colour_in(over), colour_in(under), 7) != 0);
    kerf_text_free(&out);
}

/* Time and memory of a layout in one row; no note is crossed by the line of the limit. */
static void two_panels_of_bars_share_their_rows(void **state) {
    (void)state;
    static const double near[4][3] = {{10e9, 20e9, 40e9}, {30e9, 20e9, 29e9}, {1e9, 2e9, 3e9}, {30e9, 30e9, 60e9}};
    for (int32_t rows = 1; rows <= 3; rows++)
        for (int32_t first = 0; first < 2; first++) {
            struct kerf_chart_row beside_rows[3];
            struct kerf_panel panels[] = {bars, memory};
            for (int32_t i = 0; i < 3; i++)
                beside_rows[i] = (struct kerf_chart_row){"no label", "", near[first + i], NULL};
            panels[1].rows = beside_rows, panels[1].beside = 1;
            panels[0].num_rows = panels[1].num_rows = rows;
            struct kerf_text out = drawn_panels(panels, 2);
            check_layout(out.data);
            assert_null(strstr(out.data, ">no label<"));
            for (int32_t i = 0; i < rows; i++) {
                const char *left = rect_of(out.data, "compute", i), *right = rect_of(out.data, "compute", rows + i);
                assert_near(number_in(left, "y"), number_in(right, "y"), 1e-9);
                assert_true(number_in(left, "x") + number_in(left, "width") < number_in(right, "x"));
            }
            double limit = strtod(strstr(strstr(out.data, "stroke-dasharray"), "M") + 1, NULL);
            for (const char *at = out.data; (at = next_element(at, "text")); at++) {
                struct box box = box_of(at);
                if (strstr(box.text, " GB</text>") == strchr(box.text, ' ') && strtod(box.text, NULL) > 0 &&
                    number_in(at, "font-size") > 12)
                    assert_true(box.right < limit || box.left > limit);
            }
            kerf_text_free(&out);
        }
}

static void parts_keep_their_colours(void **state) {
    (void)state;
    const struct kerf_panel panels[] = {bars, memory, columns};
    struct kerf_text out = drawn_panels(panels, 3);
    static const char *const names[] = {"compute", "TP communication", "DP communication",
                                        "bubble",  "weights",          "activations"};
    for (int32_t i = 0; i < COUNT(names); i++) {
        const char *colour = colour_in(rect_of(out.data, names[i], 0));
        char legend[32];
        snprintf(legend, sizeof legend, "rx=\"2.5\" fill=\"%.7s\"", colour);
        assert_true(occurrences(out.data, legend) >= 1);
        for (int32_t k = 0; k < i; k++) assert_true(strncmp(colour, colour_in(rect_of(out.data, names[k], 0)), 7) != 0);
    }
    for (int32_t i = 1; i < 9; i++) /* 3 bars, 3 bars, 3 columns */
        assert_memory_equal(colour_in(rect_of(out.data, "compute", i)), colour_in(rect_of(out.data, "compute", 0)), 7);
    kerf_text_free(&out);
}

static void columns_are_of_one_height(void **state) {
    (void)state;
    struct kerf_text out = drawn_panels(&columns, 1);
    for (int32_t i = 0; i < 3; i++) {
        const char *compute = rect_of(out.data, "compute", i), *bubble = rect_of(out.data, "bubble", i);
        double bottom = number_in(compute, "y") + number_in(compute, "height"),
               height = bottom - number_in(bubble, "y");
        assert_near(height, 240, 0.02);
        double sum = bar_values[i][0] + bar_values[i][1] + bar_values[i][2] + bar_values[i][3];
        assert_near((number_in(compute, "height") + 1) / height, bar_values[i][0] / sum, 0.001);
    }
    kerf_text_free(&out);
}

static void curves_have_gaps(void **state) {
    (void)state;
    struct kerf_text out = drawn_panels(&curves, 1);
    assert_int_equal(occurrences(out.data, "<title>175B, "), 4); /* markers */
    assert_int_equal(occurrences(out.data, "<title>1T, "), 3);
    assert_int_equal(occurrences(out.data, "stroke-width=\"2\""), 2);
    for (const char *at = out.data; (at = strstr(at, "stroke-width=\"2\"")); at++) {
        double x[4], y[4];
        const char *path = strstr(at, " d=\"M") + 5;
        int count =
            sscanf(path, "%lf %lfL%lf %lf %lf %lf %lf %lf", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2], &x[3], &y[3]) / 2;
        assert_true(count == 4 || count == 2); /* 1T: 16 alone, then 4 and 3 */
        if (count == 2) continue;
        assert_near(x[2] - x[1], x[1] - x[0], 0.02); /* 4, 8, 16, and ten times as far to 16,384 */
        assert_near(x[3] - x[2], 10 * (x[1] - x[0]), 0.1);
        for (int i = 1; i < 4; i++) assert_near(y[i] - y[i - 1], y[1] - y[0], 0.02);
        assert_true(y[1] > y[0]);
    }
    kerf_text_free(&out);
}

static void odd_figures_are_drawn(void **state) {
    (void)state;
    enum { MANY = 60 };
    static double values[MANY][4], dense[300];
    static char labels[MANY][128];
    static struct kerf_chart_row rows[MANY];
    static const double zeros[4] = {0}, large[4] = {1e18, 2e-290, 1e308, 1}, tiny[4] = {1e-12, 1e-300, 5e-324, 0};
    for (int32_t i = 0; i < MANY; i++) {
        for (int32_t k = 0; k < 4; k++) values[i][k] = 1e-12 * (i * 7 % 11 + k);
        snprintf(labels[i], sizeof labels[i],
                 i % 7 ? "row %d"
                       : "a label that is \x80\xC3\xFF\n as long as <no> label & \x01 should be, of row %d, "
                         "which is very long",
                 i);
        rows[i] = (struct kerf_chart_row){labels[i], i % 3 ? NULL : "and details", values[i], i % 5 ? NULL : labels[i]};
    }
    const struct kerf_chart_row extreme[] = {
        {NULL, NULL, zeros, NULL}, {"large", NULL, large, NULL}, {"tiny", "", tiny, ""}};
    for (int32_t k = 0; k < 300; k++) dense[k] = k + 1;
    const struct kerf_chart_row line = {"dense", NULL, dense, NULL};
    for (int32_t kind = 0; kind < 3; kind++)
        for (int32_t num_rows = 0; num_rows <= MANY; num_rows += num_rows < 16 ? 1 : 11)
            for (int32_t num_values = 0; num_values <= 4; num_values++) {
                struct kerf_panel panel = {.kind = (enum kerf_panel_kind)kind,
                                           .title = "P",
                                           .unit = KERF_UNIT_SECONDS,
                                           .rows = rows,
                                           .num_rows = num_rows,
                                           .parts = parts,
                                           .num_parts = num_values,
                                           .xs = xs,
                                           .num_xs = num_values,
                                           .limit = num_rows % 2 ? 1e-11 : 0,
                                           .limit_label = "limit"};
                struct kerf_panel second = panel;
                second.rows = extreme;
                second.num_rows = num_rows < 3 ? num_rows : 3;
                second.unit = (enum kerf_unit)(num_rows % 4);
                struct kerf_text out = drawn_panels((struct kerf_panel[]){panel, second}, 2);
                check_layout(out.data);
                if (kind == KERF_PANEL_COLUMNS && num_rows >= 16) /* labels that are turned, to be read in full */
                    assert_non_null(strstr(out.data, num_rows > 40 ? "rotate(-90 " : "rotate(-45 "));
                if (num_rows > 1 && num_values > 0 && kind == KERF_PANEL_BARS) {
                    assert_non_null(strstr(out.data, "\u2026</text>")); /* the long label */
                    assert_non_null(
                        strstr(out.data, "&lt;no&gt; label &amp;   should be, of row 0, which is very long</title>"));
                }
                kerf_text_free(&out);
            }
    static const double far[] = {1e-289, 3, 1e290};
    struct kerf_panel wide = curves;
    for (wide.num_xs = 1; wide.num_xs <= 3; wide.num_xs++) {
        wide.xs = wide.num_xs == 1 ? &far[2] : far;
        struct kerf_text text = drawn_panels(&wide, 1);
        check_layout(text.data);
        kerf_text_free(&text);
    }
    const struct kerf_panel one = {.kind = KERF_PANEL_CURVES, .rows = &line, .num_rows = 1, .xs = dense, .num_xs = 300};
    struct kerf_text out = drawn_panels(&one, 1);
    check_layout(out.data);
    assert_int_equal(occurrences(out.data, "<title>dense"), 0); /* no room for markers */
    kerf_text_clear(&out);
    assert_int_equal(kerf_figure_draw(&(struct kerf_figure){0}, KERF_PICTURE_SVG, &out, NULL), KERF_OK);
    assert_null(malformed(out.data));
    kerf_text_free(&out);
}

static void bad_figures_are_refused(void **state) {
    (void)state;
    const double negative[4] = {1, -1, 1, 1}, not_finite[4] = {1, 1, INFINITY, 1}, no_number[4] = {NAN, 1, 1, 1};
    const double falling[4] = {1, 2, 2, 4}, from_zero[4] = {0, 1, 2, 3}, endless[4] = {1, 2, 3, INFINITY};
    struct kerf_panel bad[] = {bars,   bars,    bars, bars,    curves, curves, curves,
                               curves, columns, bars, columns, bars,   curves};
    struct kerf_chart_row rows[COUNT(bad)];
    const double *values[COUNT(bad)] = {negative,      not_finite,    no_number,     NULL,      not_finite,
                                        bar_values[0], bar_values[0], bar_values[0], no_number, bar_values[0],
                                        bar_values[0], bar_values[0], bar_values[0]};
    for (int32_t i = 0; i < COUNT(bad); i++) {
        rows[i] = (struct kerf_chart_row){"row", NULL, values[i], NULL};
        bad[i].rows = &rows[i], bad[i].num_rows = 1;
    }
    bad[5].xs = falling, bad[6].xs = from_zero, bad[7].xs = endless;
    bad[9].rows = NULL, bad[10].kind = (enum kerf_panel_kind)99;
    bad[11].unit = (enum kerf_unit)99, bad[12].x_unit = (enum kerf_unit)99;
    for (int32_t i = 0; i < COUNT(bad); i++) {
        struct kerf_text out = {0};
        struct kerf_error err = {0};
        kerf_text_add(&out, "before");
        const struct kerf_panel panels[] = {curves, bad[i]};
        assert_int_equal(
            kerf_figure_draw(&(struct kerf_figure){.panels = panels, .num_panels = 2}, KERF_PICTURE_SVG, &out, &err),
            KERF_EINVALID);
        assert_non_null(strstr(err.message, "panel 2"));
        assert_string_equal(out.data, "before");
        out.failed = 1; /* memory has run out before */
        assert_int_equal(kerf_figure_draw(&(struct kerf_figure){.panels = &bars, .num_panels = 1}, i % 3, &out, &err),
                         KERF_ENOMEM);
        assert_string_equal(out.data, "before");
        kerf_text_free(&out);
    }
    struct kerf_text out = {0};
    assert_int_equal(kerf_figure_draw(&(struct kerf_figure){0}, (enum kerf_picture_format)5, &out, NULL),
                     KERF_EUNSUPPORTED);
}

static void svg_is_compact(void **state) {
    (void)state;
    const struct canvas_page page = {100, 50.5, "<>", NULL};
    struct kerf_text out = {0};
    struct canvas *canvas = NULL;
    for (int keep = 0; keep < 2; keep++) {
        kerf_text_clear(&out);
        kerf_text_add(&out, "before");
        assert_int_equal(canvas_begin(KERF_PICTURE_SVG, &page, &out, &canvas, NULL), KERF_OK);
        canvas_rect(canvas, 1, 2, 3.456, 4, 0, 0x00FF80, NULL);
        canvas_rect(canvas, -0.004, -1.5, 1e3, 0.1, 0, 0x00FF80, NULL);
        canvas_rect(canvas, 1, 1, 0, 1, 0, 0x00FF80, NULL);
        canvas_rect(canvas, 1, 1, NAN, 1, 0, CANVAS_NONE, NULL);
        canvas_line(canvas, 1, 2, 3, 4, 0x123456, 1, 2);
        canvas_text(canvas, 5, 6, &(struct canvas_font){.size = 9, .turn = 45}, CANVAS_END, "&", "tip");
        assert_int_equal(canvas_finish(canvas, keep, NULL), KERF_OK);
    }
    assert_string_equal(out.data,
                        "before<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50.5\" "
                        "viewBox=\"0 0 100 50.5\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\">\n"
                        "<title>&lt;&gt;</title>\n"
                        "<path fill=\"#00ff80\" d=\"M1 2h3.46v4h-3.46zM0 -1.5h1000v0.1h-1000z\"/>\n"
                        "<path fill=\"none\" stroke=\"#123456\" stroke-width=\"1\" stroke-dasharray=\"2\" "
                        "d=\"M1 2L3 4\"/>\n"
                        "<text x=\"5\" y=\"6\" font-size=\"9\" fill=\"#000000\" text-anchor=\"end\" "
                        "transform=\"rotate(-45 5 6)\"><title>tip</title>&amp;</text>\n</svg>\n");
    kerf_text_clear(&out);
    assert_int_equal(canvas_begin(KERF_PICTURE_SVG, &page, &out, &canvas, NULL), KERF_OK);
    assert_int_equal(canvas_finish(canvas, 0, NULL), KERF_OK);
    assert_int_equal(out.length, 0);
    assert_string_equal(out.data, "");
    kerf_text_free(&out);
}

static void numbers_are_for_people(void **state) {
    (void)state;
    static const struct {
        double value;
        enum kerf_unit unit;
        const char *text;
    } cases[] = {{0.26, KERF_UNIT_SECONDS, "260 ms"},   {4.1, KERF_UNIT_SECONDS, "4.1 s"},
                 {4.126, KERF_UNIT_SECONDS, "4.13 s"},  {73, KERF_UNIT_SECONDS, "73.0 s"},
                 {0.9999, KERF_UNIT_SECONDS, "1.0 s"},  {12345, KERF_UNIT_SECONDS, "12,345 s"},
                 {1e-12, KERF_UNIT_SECONDS, "1.0 ps"},  {2.5e-5, KERF_UNIT_SECONDS, "25.0 \u00B5s"},
                 {1e18, KERF_UNIT_SECONDS, "1e18 s"},   {2e-20, KERF_UNIT_SECONDS, "2e-20 s"},
                 {0, KERF_UNIT_SECONDS, "0 s"},         {63.7e9, KERF_UNIT_BYTES, "63.7 GB"},
                 {9.996e9, KERF_UNIT_BYTES, "10.0 GB"}, {999.7e6, KERF_UNIT_BYTES, "1.0 GB"},
                 {512, KERF_UNIT_BYTES, "512 B"},       {1e18, KERF_UNIT_BYTES, "1.0 EB"},
                 {16384, KERF_UNIT_COUNT, "16,384"},    {1048576, KERF_UNIT_COUNT, "1.05 M"},
                 {1e18, KERF_UNIT_COUNT, "1e18"},       {0.25, KERF_UNIT_NONE, "0.25"},
                 {0.0123, KERF_UNIT_NONE, "0.0123"},    {9.999e17, KERF_UNIT_NONE, "1e18"},
                 {1e-5, KERF_UNIT_NONE, "1e-5"},        {7, KERF_UNIT_COUNT, "7"}};
    for (int32_t i = 0; i < COUNT(cases); i++) {
        char text[CHART_NUMBER];
        chart_number(text, cases[i].value, cases[i].unit);
        assert_string_equal(text, cases[i].text);
    }
}

static uint32_t big_endian(const char *at) {
    const unsigned char *bytes = (const unsigned char *)at;
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void *draw_png(void *out) {
    const struct kerf_panel panels[] = {curves, memory};
    *(struct kerf_text *)out = drawn(&(struct kerf_figure){"A title", NULL, panels, 2, NULL}, KERF_PICTURE_PNG);
    return NULL;
}

static void cairo_draws_png_and_pdf(void **state) {
    (void)state;
    const struct kerf_panel panels[] = {curves, memory};
    const struct kerf_figure figure = {"A title", NULL, panels, 2, NULL};
    struct kerf_text svg = drawn(&figure, KERF_PICTURE_SVG), pdf = drawn(&figure, KERF_PICTURE_PDF);
    assert_memory_equal(pdf.data, "%PDF-", 5);
    assert_non_null(strstr(pdf.data + pdf.length - 8, "%%EOF"));
    pthread_t threads[4];
    struct kerf_text png[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, draw_png, &png[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) {
        assert_memory_equal(png[i].data, "\x89PNG\r\n\x1A\n", 8);
        assert_int_equal(big_endian(png[i].data + 16), 2 * number_in(svg.data, "width"));
        assert_int_equal(big_endian(png[i].data + 20), 2 * number_in(svg.data, "height"));
        assert_memory_equal(png[i].data + png[i].length - 8, "IEND", 4);
        assert_int_equal(png[i].length, png[0].length);
        assert_memory_equal(png[i].data, png[0].data, png[0].length);
    }
    for (int i = 0; i < 4; i++) kerf_text_free(&png[i]);
    kerf_text_free(&svg), kerf_text_free(&pdf);
}

static void a_png_has_bounds_and_needs_cairo(void **state) {
    (void)state;
    static struct kerf_chart_row rows[3200];
    for (int32_t i = 0; i < COUNT(rows); i++) rows[i] = bar_rows[1];
    struct kerf_panel high = bars;
    high.rows = rows, high.num_rows = COUNT(rows);
    const struct kerf_figure figure = {.panels = &high, .num_panels = 1};
    struct kerf_text out = {0};
    struct kerf_error err;
    assert_int_equal(kerf_figure_draw(&figure, KERF_PICTURE_PNG, &out, &err), KERF_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "too large"));
    for (int format = 0; format < 3; format++) {
        hide_cairo = 1;
        int32_t code = kerf_figure_draw(&figure, (enum kerf_picture_format)format, &out, &err);
        hide_cairo = 0;
        assert_int_equal(code, format == KERF_PICTURE_SVG ? KERF_OK : KERF_EUNSUPPORTED);
        if (code != KERF_OK)
            assert_true(strstr(err.message, "libcairo2") && strstr(err.message, ".svg") && out.length == 0);
        kerf_text_clear(&out);
    }
    kerf_text_free(&out);
}

/* ---- The terminal ---- */

/* Reads a bar: how many eighths of a column each colour or shade takes; returns its columns. */
static int32_t read_bar(const char *bar, int32_t eighths[256]) {
    int32_t ink = 0, ground = 0, width = 0;
    memset(eighths, 0, 256 * sizeof *eighths);
    while (*bar) {
        if (*bar == '\033') {
            int a, b;
            if (strncmp(bar, "\033[0", 3) == 0) ink = ground = 0;
            const char *code = strncmp(bar, "\033[0;", 4) == 0 ? bar + 4 : bar + 2;
            int read = sscanf(code, "38;5;%d;48;5;%d", &a, &b);
            if (read >= 1) ink = a;
            if (read == 2) ground = b;
            bar = strchr(bar, 'm') + 1;
            continue;
        }
        int block = (unsigned char)bar[0] == 0xE2, kind = block ? (unsigned char)bar[2] : 0; /* U+2588..2593 */
        int taken = block && kind >= 0x88 && kind <= 0x8F ? 0x90 - kind : 8;
        int who = ink ? ink : block && taken == 8 ? kind : block ? 0x88 : *bar;
        eighths[who] += taken;
        if (ground) eighths[ground] += 8 - taken;
        bar += block ? 3 : 1;
        width++;
    }
    return width;
}

static void terminal_bars_sum_up(void **state) {
    (void)state;
    uint32_t random = 1;
    for (int32_t round = 0; round < 20000; round++) {
        double values[6], sum = 0, full = 100;
        int32_t eighths[256], key[256], width = round % 50, colour = round % 2, count = round / 2 % 7;
        for (int32_t i = 0; i < count; i++) {
            random = random * 1664525 + 1013904223;
            values[i] = random >> 28 == 0 ? 0 : (random >> 8) % 4000 / 100.0;
            sum += values[i];
        }
        struct kerf_text bar = {0}, name = {0};
        kerf_bar_terminal(&bar, values, count, full, width, colour);
        int32_t taken = bar.data ? read_bar(bar.data, eighths) : 0;
        if (bar.data == NULL) memset(eighths, 0, sizeof eighths);
        assert_in_range(taken, 0, width);
        double share = fmin(sum / full, 1), end = 0, most = colour ? width * 8 : width;
        int32_t total = 0;
        for (int32_t i = 0; i < 256; i++) total += eighths[i];
        int alone = 1;
        for (int32_t i = 1; i < count; i++) alone &= values[i] == 0;
        if (!colour && alone) most *= 8;
        assert_int_equal(total, floor(share * most + 0.5) * (most == width ? 8 : 1));
        for (int32_t i = 0; i < count; i++) { /* each part is as long as it should be, but for a column at each end */
            double start = end;
            end = fmin(end + values[i] / full, 1);
            kerf_text_clear(&name);
            kerf_bar_terminal_key(&name, i, colour);
            assert_int_equal(read_bar(name.data, key), 1);
            int32_t who = 0;
            while (key[who] == 0) who++;
            double wanted = (end - start) * width * 8;
            assert_true(fabs(eighths[who] - wanted) <= (colour && i + 1 < count && wanted >= 16 ? 9 : 16));
            eighths[who] = 0;
        }
        for (int32_t i = 0; i < 256; i++) assert_int_equal(eighths[i], 0); /* nobody else is there */
        kerf_text_free(&bar), kerf_text_free(&name);
    }
}

static void terminal_bars_look_right(void **state) {
    (void)state;
    static const struct {
        double values[3], full;
        int32_t count, width, colour;
        const char *bar;
    } cases[] = {{{5, 5, 0}, 10, 2, 4, 0, "\u2588\u2588\u2593\u2593"},
                 {{7.5, 0, 0}, 10, 1, 2, 0, "\u2588\u258C"},
                 {{30, 0, 0}, 10, 1, 2, 0, "\u2588\u2588"},
                 {{5, 5, 0}, 10, 2, 1, 1, "\033[38;5;67;48;5;215m\u258C\033[0m"},
                 {{15, 2.5, 0}, 20, 2, 2, 1, "\033[38;5;67m\u2588\u258A\033[0m"},
                 {{1, 5, 0}, 16, 2, 2, 1, "\033[38;5;215m\u258A\033[0m"},
                 {{NAN, -1, INFINITY}, 10, 3, 2, 1, "\033[38;5;36m\u2588\u2588\033[0m"},
                 {{1, 1, 1}, 0, 3, 9, 1, ""},
                 {{1, 1, 1}, NAN, 3, 9, 0, ""},
                 {{1, 1, 1}, 3, 3, -1, 1, ""},
                 {{0, 0, 0}, 3, 3, 9, 1, ""}};
    for (int32_t i = 0; i < COUNT(cases); i++) {
        struct kerf_text out = {0};
        kerf_bar_terminal(&out, cases[i].values, cases[i].count, cases[i].full, cases[i].width, cases[i].colour);
        assert_string_equal(out.data ? out.data : "", cases[i].bar);
        kerf_text_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(formats_are_known_by_the_name),
                                       cmocka_unit_test(pictures_are_as_expected),
                                       cmocka_unit_test(svg_says_what_the_figure_says),
                                       cmocka_unit_test(bars_are_as_long_as_their_values),
                                       cmocka_unit_test(two_panels_of_bars_share_their_rows),
                                       cmocka_unit_test(parts_keep_their_colours),
                                       cmocka_unit_test(columns_are_of_one_height),
                                       cmocka_unit_test(curves_have_gaps),
                                       cmocka_unit_test(odd_figures_are_drawn),
                                       cmocka_unit_test(bad_figures_are_refused),
                                       cmocka_unit_test(cairo_draws_png_and_pdf),
                                       cmocka_unit_test(a_png_has_bounds_and_needs_cairo),
                                       cmocka_unit_test(terminal_bars_sum_up),
                                       cmocka_unit_test(terminal_bars_look_right),
                                       cmocka_unit_test(svg_is_compact),
                                       cmocka_unit_test(numbers_are_for_people)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
