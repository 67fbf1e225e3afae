/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices. Cells are read back out of the SVG by what they say under the mouse; one whole picture is compared with
 * draw_expected/ (KERF_TEST_UPDATE=1 rewrites it); lines of a terminal are compared, counted and bounded.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "draw/matrix.h"
#include "matrix_sample.h"
#include "svg_reader.h"

static struct kerf_text drawn(const struct kerf_panel *panels, int32_t count, enum kerf_picture_format format) {
    const struct kerf_figure figure = {"A title", "and more", panels, count, "small print"};
    struct kerf_text out = {0};
    struct kerf_error err = {0};
    if (kerf_figure_draw(&figure, format, &out, &err) != KERF_OK) fail_msg("%s", err.message);
    return out;
}

static struct kerf_text printed(const struct kerf_panel *panel, int32_t columns, int32_t colour) {
    struct kerf_text out = {0};
    kerf_matrix_terminal(&out, panel, columns, colour);
    return out;
}

static uint32_t fill_of(const char *rect) { return (uint32_t)strtoul(colour_in(rect) + 1, NULL, 16); }

/* The columns of the widest line; how many lines there are; colours end where their line ends. */
static int32_t widest_line(const char *text, int32_t *ret_lines) {
    int32_t width = 0, widest = 0, coloured = 0;
    *ret_lines = 0;
    for (const char *c = text ? text : ""; *c; c++) {
        if (*c == '\033') {
            coloured = strncmp(c, "\033[0m", 4) != 0;
            c = strchr(c, 'm');
            continue;
        }
        if (*c != '\n') {
            width += (*c & 0xC0) != 0x80;
            continue;
        }
        assert_int_equal(coloured, 0);
        assert_true(c == text || c[-1] != ' ');
        if (width > widest) widest = width;
        width = 0, ++*ret_lines;
    }
    assert_int_equal(width, 0); /* the last line has an end */
    return widest;
}

/* ---- The scale of colours ---- */

static void the_scale_rises_evenly(void **state) {
    (void)state;
    double before = palette_light(palette_scale(0));
    assert_int_equal(palette_scale(-1), palette_scale(0));
    assert_int_equal(palette_scale(2), palette_scale(1));
    assert_int_equal(palette_scale(NAN), palette_scale(0));
    for (int32_t i = 1; i <= 100; i++) {
        double light = palette_light(palette_scale(i / 100.0));
        assert_true(light > before && light < before + 0.03);
        before = light;
    }
    assert_true(matrix_share(0.5, 3) == 0 && matrix_share(1, 3) == 0 && matrix_share(9, 3) == 1);
    assert_true(fabs(matrix_share(sqrt(3), 3) - 0.5) < 1e-12);
}

/* ---- Pictures ---- */

static void a_matrix_is_as_expected(void **state) {
    (void)state;
    struct matrix_sample sample;
    matrix_sample_make(&sample, 11, 8, 1);
    const char *path = KERF_TEST_DIR "/unit/draw_expected/matrix.svg";
    struct kerf_text out = drawn(&sample.panel, 1, KERF_PICTURE_SVG);
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

static void cells_say_what_is_known(void **state) {
    (void)state;
    struct matrix_sample sample;
    matrix_sample_make(&sample, 11, 8, 1);
    struct kerf_text out = drawn(&sample.panel, 1, KERF_PICTURE_SVG);
    static const char *const said[] = {
        "<title>ubatch 512, batch 512: 1.00, measured, best</title>",
        "<title>ubatch 1024, batch 1024: 1.05, expected</title>",
        "<title>ubatch 16, batch 16: more than 2.89, stopped there</title>",
        "<title>ubatch 1024, batch 2048: not measured</title>",
        "<title>out of memory</title>",
        ">1.00</text>",
        ">&gt; 2.89</text>",
        ">ubatch</text>",
        ">batch</text>",
        ">ratio to the best</text>",
        ">\u2265 3</text>",
        ">2048</text>",
        "What each setting takes: 11 rows. Cells: 15 measured, 25 expected, 18 stopped there, 1 failed, "
        "1 not measured, 28 empty.",
        " ubatch 64, batch 256: 1.27, measured, recommended."};
    for (int32_t i = 0; i < COUNT(said); i++)
        if (strstr(out.data, said[i]) == NULL) fail_msg("does not say %s", said[i]);
    static const char *const keys[] = {"measured",     "expected", "stopped there", "failed",
                                       "not measured", "best",     "default",       "recommended"};
    char key[64];
    for (int32_t i = 0; i < COUNT(keys); i++) {
        snprintf(key, sizeof key, ">%s</text>", keys[i]);
        assert_int_equal(occurrences(out.data, key), 1);
    }
    assert_null(strstr(out.data, "ubatch 2048, batch 16:")); /* there is no such setting */
    kerf_text_free(&out);

    /* Without cells all values were measured, and no sign has to be told. */
    sample.panel.cells = NULL;
    sample.panel.limit = 2, sample.panel.limit_label = "time & more";
    out = drawn(&sample.panel, 1, KERF_PICTURE_SVG);
    for (int32_t i = 0; i < COUNT(keys); i++) {
        snprintf(key, sizeof key, ">%s</text>", keys[i]);
        assert_null(strstr(out.data, key));
    }
    assert_int_equal(occurrences(out.data, ", measured</title>"), 88);
    assert_non_null(strstr(out.data, ">\u2265 2</text>"));
    assert_non_null(strstr(out.data, ">time &amp; more</text>"));
    kerf_text_free(&out);
}

static void colours_follow_the_ratio(void **state) {
    (void)state;
    const double values[2][6] = {{1, 1.2, 1.7, 2, 4, 9}, {1, 1.2, 1.7, 2, 4, 9}};
    const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    struct kerf_matrix_cell cells[2][6] = {{{0}}};
    for (int32_t k = 0; k < 6; k++) cells[1][k].state = KERF_CELL_EXPECTED;
    const struct kerf_chart_row rows[] = {{"one", NULL, values[0], NULL}, {"two", NULL, values[1], NULL}};
    const struct kerf_panel panel = {.kind = KERF_PANEL_MATRIX,
                                     .rows = rows,
                                     .num_rows = 2,
                                     .x_names = names,
                                     .num_xs = 6,
                                     .limit = 4,
                                     .cells = cells[0]};
    struct kerf_text out = drawn(&panel, 1, KERF_PICTURE_SVG);
    double before = -1;
    for (int32_t k = 0; k < 6; k++) {
        char tip[16];
        snprintf(tip, sizeof tip, "one, %s:", names[k]);
        const char *measured = rect_of(out.data, tip, 0);
        snprintf(tip, sizeof tip, "two, %s:", names[k]);
        const char *expected = rect_of(out.data, tip, 0);
        /* The same colour, in a smaller block at the same place. */
        assert_int_equal(fill_of(measured), fill_of(expected));
        assert_true(number_in(expected, "width") < number_in(measured, "width") - 4);
        assert_true(number_in(expected, "height") < number_in(measured, "height") - 4);
        double middle = number_in(measured, "x") + number_in(measured, "width") / 2;
        assert_true(fabs(number_in(expected, "x") + number_in(expected, "width") / 2 - middle) < 0.02);
        double light = palette_light(fill_of(measured));
        assert_true(k == 5 ? light == before : light > before); /* 9 is as pale as the limit */
        before = light;
        char number[32];
        snprintf(number, sizeof number, ">%.2f</text>", values[0][k]);
        const char *text = strstr(out.data, number);
        assert_non_null(text);
        while (*text != '<' || strncmp(text, "<text", 5)) text--;
        double ink = palette_light(fill_of(text)), dark = fmin(ink, light), pale = fmax(ink, light);
        assert_true((pale + 0.05) / (dark + 0.05) > 4);
    }
    assert_int_equal(fill_of(rect_of(out.data, "one, d:", 0)), palette_scale(0.5)); /* 2 of 4 */
    kerf_text_free(&out);
}

static void marks_lie_inside_each_other(void **state) {
    (void)state;
    const double value = 1;
    const char *const name = "x";
    const struct kerf_chart_row row = {"y", NULL, &value, NULL};
    struct kerf_matrix_cell cell = {0};
    struct kerf_panel panel = {
        .kind = KERF_PANEL_MATRIX, .rows = &row, .num_rows = 1, .x_names = &name, .num_xs = 1, .cells = &cell};
    for (cell.marks = 0; cell.marks < 8; cell.marks++) {
        struct kerf_text out = drawn(&panel, 1, KERF_PICTURE_SVG);
        double last = 0;
        int32_t rings = 0, wanted = (cell.marks & 1) + (cell.marks >> 1 & 1) + (cell.marks >> 2 & 1);
        for (const char *at = out.data; (at = strstr(at, "<path fill=\"none\" stroke=\"#")); at++) {
            const char *tip = strstr(at, "<title>"), *end = strchr(at, '\n');
            if (strncmp(at + 26, "#ffffff", 7) == 0 || tip == NULL || tip > end) continue; /* its rim; the legend */
            double x = strtod(strstr(at, " d=\"M") + 5, NULL);
            assert_true(x > last + 2);
            last = x;
            rings++;
        }
        assert_int_equal(rings, wanted);
        kerf_text_free(&out);
    }
}

static void odd_matrices_are_drawn(void **state) {
    (void)state;
    static struct matrix_sample sample;
    static const int32_t sizes[] = {1, 2, 3, 7, 12, 20, 33, 47, 64};
    for (int32_t r = 0; r < COUNT(sizes); r++)
        for (int32_t c = 0; c < COUNT(sizes); c++) {
            matrix_sample_make(&sample, sizes[r], sizes[c], 0);
            if (r % 2) sample.panel.y_label = "a label that is too long for the place where the labels of rows are";
            if (c % 2) sample.x_names[c] = "a name \x80 that is too long & has < in it, too long to be seen in full";
            if (c % 3 == 2) sample.panel.x_label = NULL, sample.rows[r].label = NULL;
            struct kerf_text out = drawn(&sample.panel, 1, KERF_PICTURE_SVG);
            check_layout(out.data);
            assert_true(number_in(out.data, "height") < 1300);
            int32_t settings = 0; /* each is there once, marks come again */
            for (int32_t i = 0; i < sizes[r] * sizes[c]; i++)
                settings += sample.cells[i].state != KERF_CELL_OUTSIDE && sample.cells[i].marks == 0;
            assert_true(occurrences(out.data, "</title></rect>") >= settings);
            kerf_text_free(&out);
        }
    /* Numbers have no room in small cells, where arrowheads stand for ">". */
    matrix_sample_make(&sample, 64, 64, 0);
    struct kerf_text out = drawn(&sample.panel, 1, KERF_PICTURE_SVG);
    assert_null(strstr(out.data, ">&gt; "));
    assert_null(strstr(out.data, ">1.00</text>"));
    int32_t stopped = 0;
    for (int32_t i = 0; i < 64 * 64; i++) stopped += sample.cells[i].state == KERF_CELL_STOPPED;
    assert_int_equal(occurrences(out.data, "stopped there</title></path>"), stopped);
    assert_true(out.length < 500000);
    kerf_text_free(&out);

    /* Nothing known, nothing there, and extremes. */
    for (int32_t i = 0; i < 64 * 64; i++) sample.cells[i] = (struct kerf_matrix_cell){.marks = KERF_CELL_BEST};
    for (int32_t i = 0; i < 64; i++)
        for (int32_t k = 0; k < 64; k++) sample.values[i][k] = NAN;
    sample.panel.num_rows = 5, sample.panel.num_xs = 4;
    out = drawn(&sample.panel, 1, KERF_PICTURE_SVG);
    check_layout(out.data);
    assert_null(strstr(out.data, ">best</text>"));
    assert_null(strstr(out.data, ">ratio to the best</text>"));
    assert_non_null(strstr(out.data, "Cells: 20 empty."));
    kerf_text_free(&out);
    sample.values[0][0] = 1e-300, sample.values[1][1] = 1e300, sample.values[2][1] = 12345, sample.values[3][3] = 99.96;
    for (double limit = 0; limit < 1e300; limit = limit * 1e60 + 1.0000001) {
        sample.panel.limit = limit;
        out = drawn(&sample.panel, 1, KERF_PICTURE_SVG);
        check_layout(out.data);
        assert_non_null(strstr(out.data, ">1e300</text>"));
        assert_non_null(strstr(out.data, ">100</text>"));
        kerf_text_free(&out);
    }
    sample.panel.num_xs = 0, sample.panel.limit = 0;
    out = drawn(&sample.panel, 1, KERF_PICTURE_SVG);
    assert_non_null(strstr(out.data, ">Nothing to show.</text>"));
    kerf_text_free(&out);
}

/* Any states, marks and values, and as many cells of each as there are said to be. */
static void random_matrices_are_drawn(void **state) {
    (void)state;
    static struct matrix_sample sample;
    uint32_t random = 1;
    for (int32_t round = 0; round < 150; round++) {
        matrix_sample_make(&sample, 1 + round % 17, 1 + round % 23, 0);
        int32_t outside = 0;
        for (int32_t i = 0; i < sample.panel.num_rows; i++)
            for (int32_t k = 0; k < sample.panel.num_xs; k++) {
                struct kerf_matrix_cell *cell = &sample.cells[i * sample.panel.num_xs + k];
                random = random * 1664525 + 1013904223;
                *cell = (struct kerf_matrix_cell){(int32_t)(random >> 20 & 7) % MATRIX_STATES,
                                                  random >> 30 ? 0 : (int32_t)(random >> 10 & 7), NULL};
                sample.values[i][k] = pow(10, (random >> 8) % 5000 / 1000.0 - 1);
                if ((random >> 13 & 7) == 0) sample.values[i][k] = NAN;
                outside += cell->state == KERF_CELL_OUTSIDE || (cell->state < 3 && isnan(sample.values[i][k]));
            }
        struct kerf_text out = drawn(&sample.panel, 1, KERF_PICTURE_SVG);
        check_layout(out.data);
        char said[32];
        snprintf(said, sizeof said, " %d empty.", outside);
        assert_non_null(strstr(out.data, said));
        kerf_text_free(&out);
        int32_t lines, columns = 8 + round % 120;
        out = printed(&sample.panel, columns, round % 2);
        assert_true(widest_line(out.data, &lines) <= columns && lines > sample.panel.num_rows);
        kerf_text_free(&out);
    }
}

static void every_format_draws_matrices(void **state) {
    (void)state;
    static struct matrix_sample sample;
    matrix_sample_make(&sample, 11, 8, 1);
    static const char *const begins[] = {"<svg", "\x89PNG", "%PDF-", "<!DOCTYPE"};
    for (int32_t format = 0; format < 4; format++) {
        struct kerf_text out = drawn(&sample.panel, 1, (enum kerf_picture_format)format);
        assert_memory_equal(out.data, begins[format], strlen(begins[format]));
        kerf_text_free(&out);
    }
    struct kerf_text svg = drawn(&sample.panel, 1, KERF_PICTURE_SVG), page = drawn(&sample.panel, 1, KERF_PICTURE_HTML);
    assert_non_null(strstr(page.data, svg.data));
    kerf_text_free(&svg), kerf_text_free(&page);
    /* Below a timeline, in a page of which it is the one part without a script of its own. */
    const char *const part = "forward";
    const struct kerf_lane_bar bar = {.end = 1, .with_part = -1, .number = 1};
    const struct kerf_lane lane = {"device", &bar, 1, NULL, NULL, 0};
    const struct kerf_panel panels[] = {
        {.kind = KERF_PANEL_LANES, .lanes = &lane, .num_lanes = 1, .parts = &part, .num_parts = 1}, sample.panel};
    page = drawn(panels, 2, KERF_PICTURE_HTML);
    assert_int_equal(occurrences(page.data, "<svg xmlns"), 1);
    assert_non_null(strstr(page.data, "<title>out of memory</title>"));
    kerf_text_free(&page);
}

static void bad_matrices_are_refused(void **state) {
    (void)state;
    static struct matrix_sample sample;
    for (int32_t i = 0;; i++) {
        matrix_sample_make(&sample, 4, 3, 1);
        struct kerf_panel *panel = &sample.panel;
        const char *says = "panel 1, row 4, cell 2: ";
        struct kerf_matrix_cell *cell = &sample.cells[3 * 3 + 1];
        *cell = (struct kerf_matrix_cell){.state = KERF_CELL_STOPPED};
        if (i == 0) sample.values[3][1] = 0;
        if (i == 1) sample.values[3][1] = -1;
        if (i == 2) sample.values[3][1] = INFINITY;
        if (i == 3) cell->state = -1;
        if (i == 4) cell->state = KERF_CELL_OUTSIDE + 1;
        if (i == 5) cell->marks = 8;
        if (i == 6) cell->marks = -1;
        if (i > 6) says = "panel 1";
        if (i == 7) panel->limit = 1;
        if (i == 8) panel->limit = NAN;
        if (i == 9) panel->limit = -2;
        if (i == 10) panel->num_rows = -1;
        if (i == 11) panel->num_xs = -1;
        if (i == 12) panel->rows = NULL;
        if (i == 13) panel->x_names = NULL;
        if (i == 14) sample.rows[2].values = NULL;
        if (i == 15) panel->num_rows = MATRIX_MAX + 1;
        if (i == 16) panel->num_xs = MATRIX_MAX + 1;
        if (i == 17) break;
        const struct kerf_figure figure = {.panels = panel, .num_panels = 1};
        struct kerf_text out = {0};
        for (int32_t format = 0; format < 4; format++) {
            struct kerf_error err = {0};
            assert_int_equal(kerf_figure_draw(&figure, (enum kerf_picture_format)format, &out, &err), KERF_EINVALID);
            if (strstr(err.message, says) == NULL) fail_msg("%d: %s", i, err.message);
        }
        kerf_matrix_terminal(&out, panel, 80, i % 2);
        assert_int_equal(out.length, 0);
    }
    /* What has no value is not asked for one. */
    sample.values[3][1] = -INFINITY;
    for (int32_t s = KERF_CELL_FAILED; s <= KERF_CELL_OUTSIDE; s++) {
        sample.cells[3 * 3 + 1].state = s;
        struct kerf_text out = drawn(&sample.panel, 1, KERF_PICTURE_SVG);
        kerf_text_free(&out);
    }
}

static void a_failed_matrix_leaves_nothing(void **state) {
    (void)state;
    static struct matrix_sample sample;
    matrix_sample_make(&sample, 4, 4, 1);
    const struct kerf_figure figure = {.panels = &sample.panel, .num_panels = 1};
    struct kerf_text out = {0};
    kerf_text_add(&out, "before");
    out.failed = 1; /* memory has run out before */
    assert_int_equal(kerf_figure_draw(&figure, KERF_PICTURE_SVG, &out, NULL), KERF_ENOMEM);
    assert_string_equal(out.data, "before");
    kerf_text_free(&out);
}

/* ---- The terminal ---- */

static void terminal_cells_look_right(void **state) {
    (void)state;
    static struct matrix_sample sample;
    matrix_sample_make(&sample, 5, 4, 1);
    sample.cells[0 * 4 + 1].state = KERF_CELL_UNKNOWN;
    struct kerf_text out = printed(&sample.panel, 80, 0);
    assert_string_equal(out.data, "ubatch\n"
                                  "    32            .  ~0.85      x\n"
                                  "    16 ~1.31   1.00* ~0.87      .=\n"
                                  "     8 >1.74  ~1.33   1.16+ ~1.16\n"
                                  "     4 ~2.98  >2.27  >1.98  ~1.99\n"
                                  "     2 >6.59  >5.02  ~4.38  ~4.40\n"
                                  "          16     32     64    128\n"
                                  "       batch\n"
                                  "ratio to the best  ~ expected  > stopped there  x failed  . not measured  * best\n"
                                  "+ recommended  = default\n");
    kerf_text_free(&out);
    out = printed(&sample.panel, 33, 0);
    assert_string_equal(out.data, "ubatch\n"
                                  "    32          .  ~0.9     x\n"
                                  "    16 ~1.3   1.0* ~0.9     .=\n"
                                  "     8 >1.7  ~1.3   1.2+ ~1.2\n"
                                  "     4 ~3.0  >2.3  >2.0  ~2.0\n"
                                  "     2 >6.6  >5.0  ~4.4  ~4.4\n"
                                  "         16    32    64   128\n"
                                  "       batch\n"
                                  "ratio to the best  ~ expected\n"
                                  "> stopped there  x failed\n"
                                  ". not measured  * best\n"
                                  "+ recommended  = default\n");
    kerf_text_free(&out);
    out = printed(&sample.panel, 20, 0);
    assert_string_equal(out.data, "ubatch\n"
                                  "    32   . a x\n"
                                  "    16 c * a =\n"
                                  "     8 > c + b\n"
                                  "     4 j > > g\n"
                                  "     2 > > j j\n"
                                  "       |   |\n"
                                  "       16  64\n"
                                  "       batch\n"
                                  "ratio to the best\n"
                                  "0-9 measured, 1 to \u2026\n"
                                  "a-j expected, 1 to \u2026\n"
                                  "> stopped there\n"
                                  "x failed\n"
                                  ". not measured\n"
                                  "* best\n"
                                  "+ recommended\n"
                                  "= default\n");
    kerf_text_free(&out);
    out = printed(&sample.panel, 10, 0);
    assert_string_equal(out.data, "ubatch\n"
                                  " 32  .ax\n"
                                  " 16 c*a=\n"
                                  "  8 >c+b\n"
                                  "  4 j>>g\n"
                                  "  2 >>jj\n"
                                  "    |  |\n"
                                  "    16 128\n"
                                  "    batch\n"
                                  "ratio to \u2026\n"
                                  "0-9 measu\u2026\n"
                                  "a-j expec\u2026\n"
                                  "> stopped\u2026\n"
                                  "x failed\n"
                                  ". not mea\u2026\n"
                                  "* best\n"
                                  "+ recomme\u2026\n"
                                  "= default\n");
    kerf_text_free(&out);
    sample.panel.num_rows = 2;
    out = printed(&sample.panel, 80, 1);
    assert_string_equal(out.data, "ubatch\n"
                                  "    32            .  \033[3;38;5;231;48;5;24m~0.85 \033[0m     x\n"
                                  "    16 \033[3;38;5;16;48;5;229m~1.31 \033[0m \033[1;38;5;231;48;5;24m 1.00*\033[0m "
                                  "\033[3;38;5;231;48;5;24m~0.87 \033[0m     .=\n"
                                  "          16     32     64    128\n"
                                  "       batch\n"
                                  "1 \033[48;5;24m \033[48;5;25m \033[48;5;31m \033[48;5;31m \033[48;5;73m "
                                  "\033[48;5;73m \033[48;5;79m \033[48;5;115m \033[48;5;151m \033[48;5;187m \033[0m "
                                  "1.31  ratio to the best  ~ expected  x failed  . not measured\n"
                                  "* best  = default\n");
    kerf_text_free(&out);
}

static void terminal_lines_are_never_too_wide(void **state) {
    (void)state;
    static struct matrix_sample sample;
    static const int32_t sizes[][2] = {{1, 1}, {11, 8}, {3, 40}, {64, 64}};
    for (int32_t s = 0; s < COUNT(sizes); s++)
        for (int32_t odd = 0; odd < 2; odd++) {
            matrix_sample_make(&sample, sizes[s][0], sizes[s][1], 0);
            if (odd) {
                sample.panel.y_label = "a label that is long, \x80\x80 \xC3\xA9";
                sample.panel.x_label = NULL, sample.panel.limit_label = "words that are not a ratio to the best at all";
                sample.rows[0].label = "a \x80\xFF label that is too \n long for the place where labels are";
                sample.x_names[0] = "and a name that is too long for the place where labels of columns are";
                sample.values[0][0] = 1e300, sample.cells[0].state = KERF_CELL_MEASURED;
            }
            for (int32_t columns = -1; columns < 130; columns += s < 2 ? 1 : 6)
                for (int32_t colour = 0; colour < 2; colour++) {
                    struct kerf_text out = printed(&sample.panel, columns, colour);
                    int32_t lines, width = widest_line(out.data, &lines);
                    if (width > columns && columns >= 0) fail_msg("%d of %d in\n%s", width, columns, out.data);
                    assert_int_equal(lines >= sizes[s][0] + 3, columns >= 8);
                    assert_int_equal(lines == 0, columns < 8);
                    kerf_text_free(&out);
                }
        }
}

static void narrow_terminals_keep_the_best(void **state) {
    (void)state;
    static struct matrix_sample sample;
    for (int32_t best = 0; best < 64; best++) {
        matrix_sample_make(&sample, 6, 64, 0);
        for (int32_t i = 0; i < 6 * 64; i++) sample.cells[i].marks = i == 2 * 64 + best ? KERF_CELL_BEST : 0;
        sample.cells[2 * 64 + best].state = KERF_CELL_MEASURED;
        struct kerf_text out = printed(&sample.panel, 40, 0);
        assert_int_equal(occurrences(out.data, "*"), 2); /* the cell, and the legend */
        assert_non_null(strstr(out.data, "\none of 2 columns is shown\n"));
        kerf_text_free(&out);
        out = printed(&sample.panel, 80, 0);
        assert_null(strstr(out.data, "is shown"));
        kerf_text_free(&out);
    }
    const struct kerf_panel other = {.kind = KERF_PANEL_CURVES};
    struct kerf_text out = printed(&other, 80, 0);
    assert_int_equal(out.length, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scale_rises_evenly),        cmocka_unit_test(a_matrix_is_as_expected),
        cmocka_unit_test(cells_say_what_is_known),       cmocka_unit_test(colours_follow_the_ratio),
        cmocka_unit_test(marks_lie_inside_each_other),   cmocka_unit_test(odd_matrices_are_drawn),
        cmocka_unit_test(random_matrices_are_drawn),     cmocka_unit_test(every_format_draws_matrices),
        cmocka_unit_test(bad_matrices_are_refused),      cmocka_unit_test(a_failed_matrix_leaves_nothing),
        cmocka_unit_test(terminal_cells_look_right),     cmocka_unit_test(terminal_lines_are_never_too_wide),
        cmocka_unit_test(narrow_terminals_keep_the_best)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
