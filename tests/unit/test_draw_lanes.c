/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines. Rows are added up and compared with the bars they were made of; pictures are counted and bounded; one
 * whole picture is compared with draw_expected/ (KERF_TEST_UPDATE=1 rewrites it); pages are unpacked again.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "draw/html.h"
#include "draw/lanes.h"
#include "lane_sample.h"

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))

#define assert_near(a, b, most)                                                                                        \
    do {                                                                                                               \
        if (!(fabs((a) - (b)) <= (most))) fail_msg("%.17g is not near to %.17g", (double)(a), (double)(b));            \
    } while (0)

static struct kerf_text drawn_figure(const struct kerf_figure *figure, enum kerf_picture_format format) {
    struct kerf_text out = {0};
    struct kerf_error err = {0};
    if (kerf_figure_draw(figure, format, &out, &err) != KERF_OK) fail_msg("%s", err.message);
    return out;
}

static struct kerf_text drawn(const struct kerf_panel *panels, int32_t count, enum kerf_picture_format format) {
    return drawn_figure(&(struct kerf_figure){"A title", "more", panels, count, "small print"}, format);
}

static int32_t occurrences(const char *text, const char *of) {
    int32_t count = 0;
    for (; (text = strstr(text, of)); text += strlen(of)) count++;
    return count;
}

static double page_height(const char *svg) { return strtod(strstr(svg, " height=\"") + 9, NULL); }

static struct kerf_lane lane_of(const char *label, const struct kerf_lane_bar *bars, int32_t count) {
    return (struct kerf_lane){.label = label, .bars = bars, .num_bars = count};
}

static struct kerf_panel panel_of(const struct kerf_lane *lanes, int32_t count) {
    const struct sample none = {(struct kerf_lane *)lanes, count, 0};
    return sample_panel(&none, KERF_PANEL_LANES);
}

static struct kerf_lane_bar bar_of(double start, double end, int32_t number) {
    return (struct kerf_lane_bar){.start = start, .end = end, .number = number, .with_number = -1, .with_part = -1};
}

/* ---- Rows ---- */

/* What of the panel's bars is busy in each row, once added up from the bars and once from the bits. */
static void rows_conserve(const struct kerf_panel *panel, double width, double column, int32_t group) {
    const struct kerf_figure figure = {.panels = panel, .num_panels = 1};
    struct arena arena = {0};
    struct palette palette;
    assert_int_equal(palette_make(&arena, &figure, &palette), KERF_OK);
    struct lane_rows rows = {.panel = panel,
                             .palette = &palette,
                             .window = lanes_window(&figure, 0),
                             .width = width,
                             .column = column,
                             .least = 1.5 * column,
                             .group = group};
    assert_int_equal(lane_rows_fill(&rows, &arena), KERF_OK);
    double seconds = (rows.window.to - rows.window.from) / width;
    int32_t at = 0;
    for (int32_t row = 0; row < rows.num_rows; row++) {
        double busy = 0, shown = 0, end = 0;
        for (int32_t l = row * group; l < (row + 1) * group && l < panel->num_lanes; l++)
            busy += lane_busy(&panel->lanes[l], rows.window);
        int32_t columns_from = -1,
                together = panel->num_lanes - row * group < group ? panel->num_lanes - row * group : group;
        for (; at < rows.num_bits && rows.bits[at].row == row; at++) {
            const struct lane_bit *bit = &rows.bits[at];
            assert_true(bit->x >= -1e-9 && bit->width > 0 && bit->x + bit->width <= width + 1e-6);
            assert_true(bit->share >= 0 && bit->share <= 1);
            if (bit->bar < 0 && columns_from < 0) columns_from = at, end = 0; /* bars, then columns */
            assert_true(bit->x >= end - 1e-6);
            end = bit->x + bit->width;
            if (bit->bar < 0 || group == 1) shown += bit->width * bit->share * together * seconds;
        }
        assert_near(shown, busy, 1e-4 * busy + 1e-4 * seconds * width);
    }
    assert_int_equal(at, rows.num_bits);
    arena_free(&arena);
}

static void rows_keep_the_busy_time(void **state) {
    (void)state;
    static const char *const rules[] = {"1f1b", "dualpipe", "interleaved_1f1b", "zb_h1"};
    for (int32_t r = 0; r < COUNT(rules); r++) {
        struct sample sample = sample_make(rules[r], 8, 64, 1, 2.37);
        struct kerf_panel panel = sample_panel(&sample, KERF_PANEL_LANES);
        for (double width = 10; width < 3000; width *= 1.7)
            for (int32_t group = 1; group < 9; group += 3) {
                panel.x_from = 0, panel.x_to = 0;
                rows_conserve(&panel, width, 1, group);
                rows_conserve(&panel, width, 2.5, group);
                panel.x_from = 33.3, panel.x_to = 77.7;
                rows_conserve(&panel, width, 1, group);
            }
        sample_free(&sample);
    }
}

static void random_rows_keep_the_busy_time(void **state) {
    (void)state;
    enum { BARS = 400 };
    uint32_t random = 7;
    for (int32_t round = 0; round < 200; round++) {
        struct kerf_lane_bar bars[BARS];
        double at = 0;
        for (int32_t i = 0; i < BARS; i++) {
            random = random * 1664525 + 1013904223;
            double gap = random >> 30 ? 0 : (random >> 8) % 1000 / 100.0,
                   took = pow(10, (random >> 20) % 40 / 10.0 - 2);
            bars[i] = bar_of(at + gap, at + gap + took, i);
            bars[i].part = (int16_t)(random >> 12 & 3);
            bars[i].with_part = random >> 28 == 0 ? 1 : -1;
            at = bars[i].end;
        }
        const struct kerf_lane lane = lane_of("lane", bars, BARS);
        struct kerf_panel panel = panel_of(&lane, 1);
        rows_conserve(&panel, 50 + round * 7, 1, 1);
        panel.x_from = at * 0.25, panel.x_to = at * 0.3;
        rows_conserve(&panel, 50 + round * 7, 1, 1);
    }
}

/* ---- Pictures ---- */

static void a_timeline_is_as_expected(void **state) {
    (void)state;
    struct sample sample = sample_make("dualpipe", 4, 8, 1, 2);
    struct kerf_panel panels[] = {sample_panel(&sample, KERF_PANEL_LANES), sample_panel(&sample, KERF_PANEL_STEPS)};
    panels[1].limit = 6, panels[1].limit_label = "room for 6";
    struct kerf_text out = drawn(panels, 2, KERF_PICTURE_SVG), again = drawn(panels, 2, KERF_PICTURE_SVG);
    assert_string_equal(out.data, again.data);
    const char *path = KERF_TEST_DIR "/unit/draw_expected/timeline.svg";
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
    sample_free(&sample);
}

static void a_timeline_says_what_its_bars_say(void **state) {
    (void)state;
    struct sample sample = sample_make("1f1b", 4, 8, 1, 2);
    struct kerf_panel panel = sample_panel(&sample, KERF_PANEL_LANES);
    struct kerf_text out = drawn(&panel, 1, KERF_PICTURE_SVG);
    assert_int_equal(occurrences(out.data, "</title></rect>"), 64); /* each bar once */
    assert_int_equal(occurrences(out.data, ">7</text>"), 8);        /* forward and backward on four devices */
    static const char *const said[] = {
        "<title>device 1 \u00B7 forward of micro-batch 3 \u00B7 stage 1 \u00B7 10.0 s to 11.0 s (1.0 s)</title>",
        ">device 3</text>", ">idle, 27 % of the time</text>", ">backward</text>",
        "Timeline: 4 lanes. 27 % of the time is idle. device 0: idle 27 %;"};
    for (int32_t i = 0; i < COUNT(said); i++)
        if (strstr(out.data, said[i]) == NULL) fail_msg("does not say %s", said[i]);
    assert_null(strstr(out.data, "weight gradient")); /* nobody has it */
    kerf_text_free(&out);

    panel.x_from = 10, panel.x_to = 12; /* one backward, forward and backward, twice */
    out = drawn(&panel, 1, KERF_PICTURE_SVG);
    assert_int_equal(occurrences(out.data, "</title></rect>"), 6);
    assert_int_equal(occurrences(out.data, ">idle, 0 % of the time</text>"), 1);
    kerf_text_free(&out);
    panel.series_name = NULL, panel.number_name = "batch & more";
    out = drawn(&panel, 1, KERF_PICTURE_SVG);
    assert_non_null(strstr(out.data, "forward of batch &amp; more 3 \u00B7 10.0 s"));
    kerf_text_free(&out);
    sample_free(&sample);
}

static void panels_share_their_time(void **state) {
    (void)state;
    const struct kerf_lane_bar shorter[] = {bar_of(1, 5, 0)}, longer[] = {bar_of(0, 20, 0)};
    const struct kerf_lane lanes[] = {lane_of("a", shorter, 1), lane_of("b", longer, 1)};
    struct kerf_panel panels[] = {panel_of(&lanes[0], 1), panel_of(&lanes[1], 1), panel_of(&lanes[0], 1)};
    panels[2].x_from = 2;
    const struct kerf_figure figure = {.panels = panels, .num_panels = 3};
    struct span window = lanes_window(&figure, 0);
    assert_true(window.from == 0 && window.to == 20);
    window = lanes_window(&figure, 2);
    assert_true(window.from == 2 && window.to == 5);
    assert_near(lanes_idle_share(lanes, 1, lanes_active(&panels[0], lanes_window(&figure, 0))), 0, 0);
}

static void the_largest_timelines_are_bounded(void **state) {
    (void)state;
    static const struct {
        const char *rule;
        int32_t devices, microbatches;
        size_t svg, html;
    } cases[] = {{"1f1b", 244, 1024, 1500000, 5000000},
                 {"1f1b", 64, 1024, 1500000, 1500000},
                 {"zb_h1", 16, 10000, 1000000, 6000000},
                 {"gpipe", 4096, 16, 1500000, 2500000}};
    for (int32_t i = 0; i < COUNT(cases); i++) {
        struct sample sample = sample_make(cases[i].rule, cases[i].devices, cases[i].microbatches, 1, 2);
        const struct kerf_panel panels[] = {sample_panel(&sample, KERF_PANEL_LANES),
                                            sample_panel(&sample, KERF_PANEL_STEPS)};
        struct kerf_text svg = drawn(panels, 2, KERF_PICTURE_SVG), html = drawn(panels, 2, KERF_PICTURE_HTML);
        if (svg.length > cases[i].svg || html.length > cases[i].html)
            fail_msg("%s %d: %zu and %zu bytes", cases[i].rule, cases[i].devices, svg.length, html.length);
        assert_true(occurrences(svg.data, "<path") < 1500);
        assert_true(occurrences(svg.data, "<text") < 400);
        assert_true(occurrences(svg.data, "<rect") < 700);
        assert_true(page_height(svg.data) < 1200);
        kerf_text_free(&svg), kerf_text_free(&html);
        sample_free(&sample);
    }
}

static void odd_timelines_are_drawn(void **state) {
    (void)state;
    const struct kerf_lane_bar instants[] = {bar_of(3, 3, 0), bar_of(3, 3, 1)}, late[] = {bar_of(1e9, 1e9 + 1e-3, 5)};
    const struct kerf_lane_bar tiny[] = {bar_of(0, 1e-300, 0), bar_of(1e-12, 1, 1)};
    struct kerf_lane_bar shades[] = {bar_of(0, 1, 2147483647), bar_of(1, 2, -1)};
    shades[0].shade = 32767, shades[1].shade = 5, shades[1].series = -1;
    const double steps_x[] = {3, 3, 3}, steps_y[] = {1e300 / 1e20, 0, 5};
    const struct kerf_lane lanes[] = {
        lane_of(NULL, NULL, 0),       lane_of("", instants, 2),
        lane_of("late", late, 1),     lane_of("a label that is longer than there is room for, <&>", tiny, 2),
        lane_of("shades", shades, 2), {"curve", NULL, 0, steps_x, steps_y, 3}};
    for (int32_t first = 0; first < COUNT(lanes); first++)
        for (int32_t count = 0; first + count <= COUNT(lanes); count++)
            for (int32_t format = 0; format < 4; format++) {
                if (format == KERF_PICTURE_PNG || format == KERF_PICTURE_PDF) continue;
                struct kerf_panel panels[] = {panel_of(&lanes[first], count), panel_of(&lanes[first], count)};
                panels[1].kind = KERF_PANEL_STEPS;
                struct kerf_text out = drawn(panels, 2, (enum kerf_picture_format)format);
                assert_null(strstr(out.data, "nan"));
                assert_null(strstr(out.data, "\"-nan"));
                assert_null(strstr(out.data, "inf,"));
                kerf_text_free(&out);
                kerf_lanes_terminal(&out, panels, 50, count % 2);
                kerf_text_free(&out);
            }
}

static void bad_timelines_are_refused(void **state) {
    (void)state;
    const struct kerf_lane_bar overlap[] = {bar_of(0, 2, 0), bar_of(1, 3, 1)}, back[] = {bar_of(2, 1, 0)};
    const struct kerf_lane_bar nan[] = {bar_of(NAN, 1, 0)}, endless[] = {bar_of(0, INFINITY, 0)};
    const struct kerf_lane_bar negative[] = {bar_of(-1, 1, 0)}, good[] = {bar_of(0, 1, 0)};
    struct kerf_lane_bar part[] = {bar_of(0, 1, 0)}, with[] = {bar_of(0, 1, 0)}, shade[] = {bar_of(0, 1, 0)};
    part[0].part = 4, with[0].with_part = 4, shade[0].shade = -1;
    const double rising[] = {1, 2}, falling[] = {2, 1}, no_number[] = {1, NAN}, below[] = {1, -1};
    const struct kerf_lane lanes[] = {lane_of("", overlap, 2),
                                      lane_of("", back, 1),
                                      lane_of("", nan, 1),
                                      lane_of("", endless, 1),
                                      lane_of("", negative, 1),
                                      lane_of("", part, 1),
                                      lane_of("", with, 1),
                                      lane_of("", shade, 1),
                                      lane_of("", NULL, 1),
                                      lane_of("", good, -1),
                                      {"", good, 1, falling, rising, 2},
                                      {"", good, 1, rising, no_number, 2},
                                      {"", good, 1, rising, below, 2},
                                      {"", good, 1, rising, NULL, 2}};
    struct kerf_text out = {0};
    for (int32_t i = 0; i < COUNT(lanes) + 4; i++) {
        struct kerf_error err = {0};
        const struct kerf_lane fine = lane_of("", good, 1);
        struct kerf_panel panel = panel_of(i < COUNT(lanes) ? &lanes[i] : &fine, 1);
        if (i == COUNT(lanes)) panel.x_from = NAN;
        if (i == COUNT(lanes) + 1) panel.x_from = 3, panel.x_to = 2;
        if (i == COUNT(lanes) + 2) panel.lanes = NULL;
        if (i == COUNT(lanes) + 3) panel.num_parts = 201;
        const struct kerf_figure figure = {.panels = &panel, .num_panels = 1};
        for (int32_t format = 0; format < 4; format++) {
            assert_int_equal(kerf_figure_draw(&figure, (enum kerf_picture_format)format, &out, &err), KERF_EINVALID);
            assert_non_null(strstr(err.message, "panel 1"));
        }
        kerf_lanes_terminal(&out, &panel, 80, 0);
        assert_int_equal(out.length, 0);
        panel.kind = KERF_PANEL_STEPS; /* which looks at curves alone */
        int code = kerf_figure_draw(&figure, KERF_PICTURE_SVG, &out, &err);
        assert_int_equal(code, i < 8 ? KERF_OK : KERF_EINVALID);
        kerf_text_free(&out);
    }
    /* Sums of floating-point numbers may overlap by a hair. */
    const struct kerf_lane_bar hair[] = {bar_of(0, 0.1 + 0.2, 0), bar_of(0.3, 1, 1)};
    const struct kerf_lane lane = lane_of("", hair, 2);
    const struct kerf_panel panel = panel_of(&lane, 1);
    out = drawn(&panel, 1, KERF_PICTURE_SVG);
    kerf_text_free(&out);
}

static void a_failed_timeline_leaves_nothing(void **state) {
    (void)state;
    struct sample sample = sample_make("1f1b", 2, 2, 1, 2);
    struct kerf_panel panel = sample_panel(&sample, KERF_PANEL_LANES);
    const struct kerf_figure figure = {.panels = &panel, .num_panels = 1};
    for (int32_t format = 0; format < 4; format += 3) {
        struct kerf_text out = {0};
        kerf_text_add(&out, "before");
        out.failed = 1; /* memory has run out before */
        assert_int_equal(kerf_figure_draw(&figure, (enum kerf_picture_format)format, &out, NULL), KERF_ENOMEM);
        assert_string_equal(out.data, "before");
        kerf_text_free(&out);
    }
    sample_free(&sample);
}

/* ---- Curves ---- */

static void steps_show_the_fullest(void **state) {
    (void)state;
    struct sample sample = sample_make("1f1b", 16, 64, 1, 2);
    struct kerf_panel panel = sample_panel(&sample, KERF_PANEL_STEPS);
    struct kerf_text out = drawn(&panel, 1, KERF_PICTURE_SVG);
    assert_non_null(strstr(out.data, ">device 0, peak 16</text>"));
    assert_non_null(strstr(out.data, ">from the minimum to the maximum over all lanes</text>"));
    assert_int_equal(occurrences(out.data, "stroke-width=\"1.75\""), 1);
    kerf_text_free(&out);
    panel.num_lanes = 3, panel.limit = 40, panel.limit_label = "limit <40>";
    out = drawn(&panel, 1, KERF_PICTURE_SVG);
    assert_int_equal(occurrences(out.data, "stroke-width=\"1\" stroke-linejoin"), 2);
    assert_int_equal(occurrences(out.data, ">limit &lt;40&gt;</text>"), 1);
    kerf_text_free(&out);
    double x, xs[] = {1, 2, 2, 5}, ys[] = {3, 9, 4, 0};
    const struct kerf_lane lane = {.curve_x = xs, .curve_y = ys, .num_curve = 4};
    assert_near(lane_peak(&lane, (struct span){0, 9}, &x), 4, 0); /* 9 lasts no time */
    assert_near(x, 2, 0);
    assert_near(lane_curve_at(&lane, 0.5), 0, 0);
    assert_near(lane_curve_at(&lane, 1.5), 3, 0);
    assert_near(lane_curve_at(&lane, 2), 4, 0);
    assert_near(lane_peak(&lane, (struct span){3, 4}, &x), 4, 0);
    sample_free(&sample);
}

static void curves_may_be_linear(void **state) {
    (void)state;
    const double xs[] = {0, 10e9, 20e9, 40e9}, values[] = {NAN, 12, 10, 9};
    const struct kerf_chart_row row = {"frontier", NULL, values, NULL};
    struct kerf_panel panel = {.kind = KERF_PANEL_CURVES,
                               .unit = KERF_UNIT_SECONDS,
                               .x_unit = KERF_UNIT_BYTES,
                               .rows = &row,
                               .num_rows = 1,
                               .xs = xs,
                               .num_xs = 4,
                               .linear = 1};
    struct kerf_text out = drawn(&panel, 1, KERF_PICTURE_SVG);
    const char *path = strstr(out.data, "stroke-width=\"2\"");
    double x[3], y[3];
    assert_int_equal(
        sscanf(strstr(path, " d=\"M") + 5, "%lf %lfL%lf %lf %lf %lf", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]), 6);
    assert_near(x[2] - x[1], 2 * (x[1] - x[0]), 0.02);
    assert_near(y[1] - y[0], 2 * (y[2] - y[1]), 0.02);
    assert_non_null(strstr(out.data, "<title>frontier, 20.0 GB: 10.0 s</title>"));
    assert_non_null(strstr(out.data, ">40 GB</text>"));
    kerf_text_free(&out);
    panel.linear = 0; /* 0 has no place on a logarithmic axis */
    const struct kerf_figure figure = {.panels = &panel, .num_panels = 1};
    assert_int_equal(kerf_figure_draw(&figure, KERF_PICTURE_SVG, &out, NULL), KERF_EINVALID);
    const double zeros[] = {0, 0, 0, 0};
    const struct kerf_chart_row flat = {"flat", NULL, zeros, NULL};
    panel.linear = 1, panel.rows = &flat;
    for (panel.num_xs = 1; panel.num_xs <= 4; panel.num_xs++) {
        out = drawn(&panel, 1, KERF_PICTURE_SVG);
        assert_null(strstr(out.data, "nan"));
        kerf_text_free(&out);
    }
}

/* ---- Pages ---- */

static void pages_escape_every_string(void **state) {
    (void)state;
    static const char evil[] =
        "</script><script>alert(1)</script><!-- \" ' & \\ \x01 \xFF \xF0\x9F\x98\x80 \xE2\x80\xA8";
    const struct kerf_lane_bar bars[] = {bar_of(0, 1, 0)};
    const struct kerf_lane lane = lane_of(evil, bars, 1);
    const char *const parts[] = {evil}, *const shades[] = {evil};
    struct kerf_panel panels[] = {panel_of(&lane, 1), panel_of(&lane, 1)};
    panels[1].kind = KERF_PANEL_STEPS;
    for (int32_t p = 0; p < 2; p++) {
        panels[p].title = panels[p].x_label = panels[p].series_name = panels[p].number_name = evil;
        panels[p].limit_label = evil;
        panels[p].parts = parts, panels[p].num_parts = 1;
        panels[p].shades = shades, panels[p].num_shades = 1;
    }
    const struct kerf_figure figure = {evil, evil, panels, 2, evil};
    struct kerf_text out = drawn_figure(&figure, KERF_PICTURE_HTML);
    assert_int_equal(occurrences(out.data, "<script"), 2); /* the data and the script */
    assert_int_equal(occurrences(out.data, "</script"), 2);
    assert_int_equal(occurrences(out.data, "<!--"), 0);
    assert_int_equal(occurrences(out.data, "alert(1)</"), 0);
    assert_int_equal(occurrences(out.data, "http"), 1); /* http-equiv: nothing is loaded */
    assert_non_null(strstr(out.data, "\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"));
    assert_non_null(strstr(out.data, "\\ufffd \\ud83d\\ude00 \\u2028"));
    kerf_text_free(&out);

    /* Other figures: the SVG in a page. */
    const double values[] = {1};
    const struct kerf_chart_row row = {evil, NULL, values, NULL};
    const struct kerf_panel bars_panel = {.rows = &row, .num_rows = 1, .parts = parts, .num_parts = 1};
    out = drawn(&bars_panel, 1, KERF_PICTURE_HTML);
    struct kerf_text svg = drawn(&bars_panel, 1, KERF_PICTURE_SVG);
    assert_non_null(strstr(out.data, svg.data));
    assert_int_equal(occurrences(out.data, "<script"), 0);
    assert_memory_equal(out.data, "<!DOCTYPE html>", 15);
    kerf_text_free(&out), kerf_text_free(&svg);

    const struct kerf_panel mixed[] = {panels[0], bars_panel}; /* both in one page */
    out = drawn(mixed, 2, KERF_PICTURE_HTML);
    assert_int_equal(occurrences(out.data, "<svg xmlns"), 1);
    assert_int_equal(occurrences(out.data, "<canvas"), 2);
    kerf_text_free(&out);
}

/* The values back from what html_packed wrote. */
static int64_t unpack(const char *json, int64_t *values) {
    const char *table_at = strstr(json, "\"t\":["), *at = strstr(json, "\"b\":\"") + 5;
    int64_t table[4096], count = 0, want = strtoll(strstr(json, "\"n\":") + 4, NULL, 10);
    for (char *end = (char *)table_at + 4; table_at && *end != ']'; count++) table[count] = strtoll(end + 1, &end, 10);
    uint64_t value = 0, bits = 0;
    int32_t shift = 0, held = 0;
    int64_t found = 0;
    for (; *at != '"' && *at != '='; at++) {
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        bits = bits << 6 | (uint64_t)(strchr(digits, *at) - digits), held += 6;
        if (held < 8) continue;
        uint64_t byte = bits >> (held -= 8) & 255;
        value |= (byte & 127) << shift, shift += 7;
        if (byte > 127) continue;
        values[found++] = table_at ? table[value] : (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
        value = 0, shift = 0;
    }
    assert_int_equal(found, want);
    return found;
}

static void packed_numbers_come_back(void **state) {
    (void)state;
    enum { MOST = 20000 };
    static int64_t values[MOST], back[MOST];
    uint64_t random = 1;
    for (int32_t round = 0; round < 60; round++) {
        int32_t count = round < 8 ? round : MOST - round, distinct = 1 << round % 16;
        for (int32_t i = 0; i < count; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t any = random >> 33;
            values[i] = (int64_t)(any % (uint64_t)distinct) * (round % 3 ? 1 : -123456789) * ((int64_t)1 << round % 20);
        }
        struct kerf_text out = {0};
        assert_int_equal(html_packed(&out, values, count), KERF_OK);
        assert_int_equal(unpack(out.data, back), count);
        assert_memory_equal(values, back, (size_t)count * sizeof *values);
        if (distinct <= 128 && count > 1000) assert_true(out.length < (size_t)count * 4 / 3 + 3000);
        kerf_text_free(&out);
    }
}

/* ---- The terminal ---- */

static void terminal_lines_look_right(void **state) {
    (void)state;
    struct sample sample = sample_make("1f1b", 2, 2, 1, 2);
    struct kerf_panel panel = sample_panel(&sample, KERF_PANEL_LANES);
    struct kerf_text out = {0};
    kerf_lanes_terminal(&out, &panel, 27, 0);
    assert_string_equal(out.data, "F forward  B backward\n"
                                  ". idle 33 %\n"
                                  "device 0 F0F1....B0BB..B1BB\n"
                                  "device 1 ..F0B0BBF1B1BB....\n"
                                  "         |0        |5 s\n");
    kerf_text_free(&out);
    static const char *const letters[] = {"f", "B", "i", "W"};
    panel.part_letters = letters, panel.num_lanes = 1, panel.x_from = 3, panel.x_to = 6;
    kerf_lanes_terminal(&out, &panel, 18, 0);
    assert_string_equal(out.data, "f forward\nB backward\n. idle 33 %\ndevic\u2026 ...B0BBBB\n          |4 s\n");
    kerf_text_free(&out);
    kerf_lanes_terminal(&out, &panel, 18, 1); /* black on the palette's green, blank where nothing runs */
    assert_non_null(strstr(out.data, "devic\u2026    \033[38;5;16;48;5;36m  0   \033[0m\n"));
    kerf_text_free(&out);
    sample_free(&sample);
}

static void terminal_lines_are_never_too_wide(void **state) {
    (void)state;
    static const char *const rules[] = {"1f1b", "dualpipe", "zb_h1"};
    for (int32_t r = 0; r < COUNT(rules); r++) {
        struct sample sample = sample_make(rules[r], 8, 16, 1, 2.3);
        struct kerf_panel panel = sample_panel(&sample, KERF_PANEL_LANES);
        for (int32_t columns = -1; columns < 130; columns++)
            for (int32_t colour = 0; colour < 2; colour++) {
                struct kerf_text out = {0};
                kerf_lanes_terminal(&out, &panel, columns, colour);
                int32_t width = 0, lines = 0;
                for (const char *c = out.data ? out.data : ""; *c; c++) {
                    if (*c == '\033') c = strchr(c, 'm') + 1;
                    while (*c == '\033') c = strchr(c, 'm') + 1;
                    width += (*c & 0xC0) != 0x80 && *c != '\n';
                    if (*c != '\n') continue;
                    if (width > columns) fail_msg("%d of %d columns in\n%s", width, columns, out.data);
                    width = 0, lines++;
                }
                assert_int_equal(lines >= 10, columns >= 4); /* lanes, axis, legend */
                kerf_text_free(&out);
            }
        sample_free(&sample);
    }
}

static void many_lanes_share_lines(void **state) {
    (void)state;
    struct sample sample = sample_make("gpipe", 300, 4, 1, 2);
    struct kerf_panel panel = sample_panel(&sample, KERF_PANEL_LANES);
    struct kerf_text out = {0};
    kerf_lanes_terminal(&out, &panel, 80, 0);
    assert_int_equal(occurrences(out.data, "\ndevice"), 100);
    assert_non_null(strstr(out.data, "\neach line: 3 lanes\n"));
    kerf_text_free(&out);
    panel.num_lanes = 128;
    kerf_lanes_terminal(&out, &panel, 80, 1);
    assert_int_equal(occurrences(out.data, "\ndevice"), 128);
    kerf_text_free(&out);
    sample_free(&sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_keep_the_busy_time),
                                       cmocka_unit_test(random_rows_keep_the_busy_time),
                                       cmocka_unit_test(a_timeline_is_as_expected),
                                       cmocka_unit_test(a_timeline_says_what_its_bars_say),
                                       cmocka_unit_test(panels_share_their_time),
                                       cmocka_unit_test(the_largest_timelines_are_bounded),
                                       cmocka_unit_test(odd_timelines_are_drawn),
                                       cmocka_unit_test(bad_timelines_are_refused),
                                       cmocka_unit_test(a_failed_timeline_leaves_nothing),
                                       cmocka_unit_test(steps_show_the_fullest),
                                       cmocka_unit_test(curves_may_be_linear),
                                       cmocka_unit_test(pages_escape_every_string),
                                       cmocka_unit_test(packed_numbers_come_back),
                                       cmocka_unit_test(terminal_lines_look_right),
                                       cmocka_unit_test(terminal_lines_are_never_too_wide),
                                       cmocka_unit_test(many_lanes_share_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
