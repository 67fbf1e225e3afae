/* SPDX-License-Identifier: Apache-2.0 */
/* Scatters: points and their names are read back out of the SVG; one whole picture is compared with draw_expected/
 * (KERF_TEST_UPDATE=1 rewrites it). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "svg_reader.h"

/* A front and other points in their order of memory; two have the same. */
static const double bytes[] = {20e9, 31e9, 40e9, 40e9, 52e9, 61e9, 61.5e9, 90e9};
static const double front[] = {14, NAN, 11.5, NAN, NAN, 9.25, NAN, 9};
static const double others[] = {NAN, 15, NAN, 13, 12.5, NAN, 9.75, NAN};
static const char *const names[] = {"tp 8 pp 8", "tp 4 pp 8", "tp 8 pp 4", "tp 4 & pp 4",
                                    "tp 2 pp 4", "tp 4 pp 2", "tp 2 pp 2", "tp 1 pp 2"};
static const struct kerf_chart_row rows[] = {{"the least time within this memory", NULL, front, NULL},
                                             {"other layouts", NULL, others, NULL}};

static struct kerf_panel sample(void) {
    return (struct kerf_panel){.kind = KERF_PANEL_SCATTER,
                               .title = "Time against memory",
                               .x_label = "memory of an accelerator",
                               .y_label = "time of a step",
                               .unit = KERF_UNIT_SECONDS,
                               .x_unit = KERF_UNIT_BYTES,
                               .rows = rows,
                               .num_rows = 2,
                               .num_joined = 1,
                               .xs = bytes,
                               .num_xs = COUNT(bytes),
                               .x_names = names,
                               .limit = 80e9,
                               .limit_label = "80 GB of memory"};
}

static int32_t draw(const struct kerf_panel *panel, struct kerf_text *out, struct kerf_error *err) {
    const struct kerf_figure figure = {"A title", "and more", panel, 1, "small print"};
    return kerf_figure_draw(&figure, KERF_PICTURE_SVG, out, err);
}

static void a_scatter_is_as_expected(void **state) {
    (void)state;
    const struct kerf_panel panel = sample();
    const char *path = KERF_TEST_DIR "/unit/draw_expected/scatter.svg";
    struct kerf_text out = {0};
    assert_int_equal(draw(&panel, &out, NULL), KERF_OK);
    check_layout(out.data);
    FILE *file = fopen(path, getenv("KERF_TEST_UPDATE") ? "w+" : "r");
    if (file == NULL) fail_msg("cannot open %s", path);
    if (getenv("KERF_TEST_UPDATE")) fwrite(out.data, 1, out.length, file);
    rewind(file);
    char *expected = calloc(1, out.length + 2);
    fread(expected, 1, out.length + 1, file);
    fclose(file);
    assert_string_equal(out.data, expected);
    free(expected);
    kerf_text_free(&out);
}

static void points_tell_their_name_and_place(void **state) {
    (void)state;
    const struct kerf_panel panel = sample();
    struct kerf_text out = {0};
    assert_int_equal(draw(&panel, &out, NULL), KERF_OK);
    static const char *const said[] = {"<title>tp 8 pp 8: 14.0 s, 20.0 GB</title>",
                                       "<title>tp 4 &amp; pp 4: 13.0 s, 40.0 GB</title>",
                                       "<title>tp 1 pp 2: 9.0 s, 90.0 GB</title>",
                                       ">80 GB of memory</text>",
                                       ">time of a step</text>",
                                       ">memory of an accelerator</text>",
                                       "Time against memory: 2 series."};
    for (int32_t i = 0; i < COUNT(said); i++)
        if (strstr(out.data, said[i]) == NULL) fail_msg("does not say %s", said[i]);
    assert_int_equal(occurrences(out.data, "<title>tp "), 8);
    assert_int_equal(occurrences(out.data, ">tp 8 pp 8</text>"), 1);       /* beside a point of the front */
    assert_int_equal(occurrences(out.data, ">tp 4 &amp; pp 4</text>"), 0); /* but of no other */
    kerf_text_free(&out);
}

static void names_cover_nothing(void **state) {
    (void)state;
    double crowded[COUNT(bytes)];
    for (int32_t k = 0; k < COUNT(bytes); k++) crowded[k] = 14 - k * 1e-3;
    const struct kerf_chart_row row = {"front", NULL, crowded, NULL};
    struct kerf_panel panel = sample();
    panel.rows = &row, panel.num_rows = 1;
    static double near[COUNT(bytes)];
    for (int32_t k = 0; k < COUNT(bytes); k++) near[k] = 40e9 + k * 1e6;
    panel.xs = near;
    panel.limit = 0;
    panel.x_unit = KERF_UNIT_BYTES;
    struct kerf_text out = {0};
    assert_int_equal(draw(&panel, &out, NULL), KERF_OK);
    check_layout(out.data);
    int32_t shown = 0;
    char text[40];
    for (int32_t k = 0; k < COUNT(bytes); k++) {
        snprintf(text, sizeof text, ">%s</text>", names[k]);
        shown += strstr(out.data, text) != NULL;
    }
    assert_true(shown >= 1 && shown < COUNT(bytes));
    kerf_text_free(&out);
}

static void odd_scatters_are_drawn(void **state) {
    (void)state;
    static const double zeros[] = {0, 0, 0, 0}, none[] = {NAN, NAN, NAN, NAN}, large[] = {0, 1, 1e290, 1e308};
    static const double far[] = {0, 0, 1, 1e290};
    static const double *const values[] = {zeros, none, large};
    for (int32_t v = 0; v < COUNT(values); v++)
        for (int32_t count = 0; count <= 4; count++)
            for (int32_t joined = 0; joined <= 2; joined++) {
                const struct kerf_chart_row row = {NULL, NULL, values[v], NULL};
                const struct kerf_panel panel = {.kind = KERF_PANEL_SCATTER,
                                                 .rows = &row,
                                                 .num_rows = 1,
                                                 .num_joined = joined,
                                                 .xs = v == 2 ? far : zeros,
                                                 .num_xs = count,
                                                 .limit = joined == 2 ? 5 : 0};
                struct kerf_text out = {0};
                assert_int_equal(draw(&panel, &out, NULL), KERF_OK);
                check_layout(out.data);
                kerf_text_free(&out);
            }
}

static void bad_scatters_are_refused(void **state) {
    (void)state;
    static const double falling[] = {1, 2, 1.5, 4}, below[] = {-1, 2, 3, 4}, infinite[] = {1, 2, INFINITY, 4};
    static const double fine[] = {1, 2, 3, 4};
    const struct {
        const double *xs, *values;
        const char *message;
    } cases[] = {{falling, fine, "panel 1: its xs have to be at least 0, not falling and below 1e290, x 3 is not"},
                 {below, fine, "panel 1: its xs have to be at least 0, not falling and below 1e290, x 1 is not"},
                 {fine, infinite, "panel 1, series 1: value 3 has to be finite, or NAN"}};
    for (int32_t i = 0; i < COUNT(cases); i++) {
        const struct kerf_chart_row row = {"r", NULL, cases[i].values, NULL};
        const struct kerf_panel panel = {
            .kind = KERF_PANEL_SCATTER, .rows = &row, .num_rows = 1, .xs = cases[i].xs, .num_xs = 4};
        struct kerf_text out = {0};
        struct kerf_error err = {0};
        assert_int_equal(draw(&panel, &out, &err), KERF_EINVALID);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(out.length, 0);
        kerf_text_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scatter_is_as_expected), cmocka_unit_test(points_tell_their_name_and_place),
        cmocka_unit_test(names_cover_nothing),      cmocka_unit_test(odd_scatters_are_drawn),
        cmocka_unit_test(bad_scatters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
