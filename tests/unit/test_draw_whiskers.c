/* SPDX-License-Identifier: Apache-2.0 */
/* Whiskers: of bars and of curves they are read back out of the SVG, on a terminal their lines are compared. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "svg_reader.h"

enum { ROWS = 4 };

static const char *const part = "mean";
static const double values[ROWS][3] = {{2, 1, 4}, {3, NAN, NAN}, {2.5, 0.5, 9}, {5, 4, 6}};
static const struct kerf_matrix_cell cells[ROWS] = {{KERF_CELL_MEASURED, KERF_CELL_BEST, NULL},
                                                    {KERF_CELL_STOPPED, 0, NULL},
                                                    {KERF_CELL_EXPECTED, 0, NULL},
                                                    {KERF_CELL_MEASURED, KERF_CELL_DEFAULT, NULL}};
static const struct kerf_chart_row rows[ROWS] = {{"16", NULL, values[0], "2 (1 to 4)"},
                                                 {"32", NULL, values[1], NULL},
                                                 {"64", NULL, values[2], "2.5"},
                                                 {"128", NULL, values[3], "5 (4 to 6)"}};

static struct kerf_panel bars(void) {
    return (struct kerf_panel){.kind = KERF_PANEL_WHISKERS,
                               .title = "Means",
                               .y_label = "batch",
                               .rows = rows,
                               .num_rows = ROWS,
                               .parts = &part,
                               .num_parts = 1,
                               .cells = cells};
}

static int32_t draw(const struct kerf_panel *panel, struct kerf_text *out, struct kerf_error *err) {
    const struct kerf_figure figure = {"A title", NULL, panel, 1, NULL};
    return kerf_figure_draw(&figure, KERF_PICTURE_SVG, out, err);
}

static int32_t count_of(const char *text, const char *what) {
    int32_t count = 0;
    for (; (text = strstr(text, what)); text++) count++;
    return count;
}

/* Three lines of a width of 1.5 each, of the three rows that have an interval. */
static void bars_have_whiskers(void **state) {
    (void)state;
    struct kerf_panel panel = bars();
    struct kerf_text out = {0}, without = {0};
    assert_int_equal(draw(&panel, &out, NULL), KERF_OK);
    check_layout(out.data);
    assert_int_equal(count_of(out.data, "stroke-width=\"1.5\""), 9);
    assert_non_null(strstr(out.data, "2 (1 to 4)"));
    panel.cells = NULL; /* all are measured: the same, and none is paler */
    assert_int_equal(draw(&panel, &without, NULL), KERF_OK);
    assert_int_equal(count_of(without.data, "stroke-width=\"1.5\""), 9);
    assert_string_not_equal(without.data, out.data);
    kerf_text_free(&out);
    kerf_text_free(&without);
}

static void curves_have_whiskers(void **state) {
    (void)state;
    static const double xs[] = {16, 32, 64}, of[] = {2, 3, 2.5}, low[] = {1, NAN, 2}, high[] = {4, NAN, 3};
    const struct kerf_chart_row three[] = {
        {"measured", NULL, of, NULL}, {"measured", NULL, low, NULL}, {"measured", NULL, high, NULL}};
    struct kerf_panel panel = {
        .kind = KERF_PANEL_INTERVALS, .x_label = "batch", .rows = three, .num_rows = 3, .xs = xs, .num_xs = 3};
    struct kerf_text out = {0};
    struct kerf_error err;
    for (panel.linear = 0; panel.linear < 2; panel.linear++) {
        kerf_text_clear(&out);
        assert_int_equal(draw(&panel, &out, NULL), KERF_OK);
        check_layout(out.data);
        assert_int_equal(count_of(out.data, "stroke-width=\"1.5\""), 6);
        assert_int_equal(count_of(out.data, ">measured<"), 1); /* one curve, not three */
        assert_non_null(strstr(out.data, "measured, 16: 2 (1 to 4)"));
        assert_non_null(strstr(out.data, "measured, 32: 3<"));
    }
    panel.num_rows = 2;
    assert_int_equal(draw(&panel, &out, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "threes"));
    kerf_text_free(&out);
}

/* The scale is that of what was measured, 1 to 6: what is expected to be up to 9 ends in an arrow. */
static void a_terminal_has_lines(void **state) {
    (void)state;
    static const char expected[] = "batch\n"
                                   " 16  |---*-------|          2 (1 to 4)\n"
                                   " 32          >              3\n"
                                   " 64  <-----~------------->  2.5\n"
                                   "128              |---=---|  5 (4 to 6)\n"
                                   "     1                   6\n"
                                   "o measured  ~ expected\n"
                                   "> stopped there  * best  = default\n";
    struct kerf_panel panel = bars();
    struct kerf_text out = {0};
    kerf_whiskers_terminal(&out, &panel, 38, 0);
    assert_non_null(out.data);
    if (strcmp(out.data, expected) != 0) fail_msg("%s", out.data);
    for (int32_t columns = 0; columns < 120; columns++) {
        kerf_text_clear(&out);
        kerf_whiskers_terminal(&out, &panel, columns, 0);
        if (columns < 24) assert_int_equal(out.length, 0);
        int32_t width = 0;
        for (size_t i = 0; i < out.length; i++) {
            width = out.data[i] == '\n' ? 0 : width + 1;
            assert_true(width <= columns);
        }
    }
    kerf_text_clear(&out);
    kerf_whiskers_terminal(&out, &panel, 38, 1);
    assert_int_equal(count_of(out.data, "\033[1m"), 1); /* the best */
    kerf_text_free(&out);
}

/* One value has no range: a tenth beside it, not a second beside 10 ms. */
static void one_value_has_a_scale(void **state) {
    (void)state;
    static const double of[][3] = {{0.01, NAN, NAN}, {0, NAN, NAN}};
    static const char *const ends[] = {"   9.0 ms               11.0 ms\n", "   0 s                        1.0 s\n"};
    static const struct kerf_matrix_cell cell = {KERF_CELL_MEASURED, 0, NULL};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const struct kerf_chart_row row = {"x", NULL, of[i], NULL};
        const struct kerf_panel panel = {.kind = KERF_PANEL_WHISKERS,
                                         .unit = KERF_UNIT_SECONDS,
                                         .rows = &row,
                                         .num_rows = 1,
                                         .parts = &part,
                                         .num_parts = 1,
                                         .cells = &cell};
        struct kerf_text out = {0};
        kerf_whiskers_terminal(&out, &panel, 40, 0);
        if (!strstr(out.data, ends[i])) fail_msg("%s", out.data);
        kerf_text_free(&out);
    }
}

static void bad_ones_are_refused(void **state) {
    (void)state;
    static const double bad[][3] = {{-1, NAN, NAN}, {NAN, 1, 2}, {1, 2, 1}, {1, NAN, 2}, {1, -1, 2}, {1, 0, INFINITY}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        const struct kerf_chart_row row = {"x", NULL, bad[i], NULL};
        struct kerf_panel panel = bars();
        struct kerf_text out = {0};
        struct kerf_error err;
        panel.rows = &row;
        panel.num_rows = 1;
        assert_int_equal(draw(&panel, &out, &err), KERF_EINVALID);
        assert_non_null(strstr(err.message, "bar 1"));
        kerf_whiskers_terminal(&out, &panel, 80, 0);
        assert_int_equal(out.length, 0);
    }
    struct kerf_panel panel = bars();
    struct kerf_text out = {0};
    panel.num_parts = 2;
    assert_int_equal(draw(&panel, &out, NULL), KERF_EINVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bars_have_whiskers), cmocka_unit_test(curves_have_whiskers),
                                       cmocka_unit_test(a_terminal_has_lines), cmocka_unit_test(one_value_has_a_scale),
                                       cmocka_unit_test(bad_ones_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
