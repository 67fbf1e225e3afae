/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The idle shares that the Zero Bubble paper (arXiv 2401.10241) publishes in its tables 5 and 8, to their four digits.
 * The tables are the authors' and are not part of this project: the test is skipped where they are not.
 *
 * The paper lets I free what W does not need. That is nearest to all of it for zb_2p, whose cap of 2p binds nothing
 * then, and to nothing for zb_1p and zb_v_searched. Interleaved 1F1B is left out: its order in the paper is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "schedule_figure.h"

#define PUBLISHED KERF_SOURCE_DIR "/../shared/reference/schedule/"

/* NULL: a schedule that is not compared. */
static const char *rule_of(const char *published) {
    static const char *const names[][2] = {{"1F1B", "1f1b"},   {"ZB-H1", "zb_h1"}, {"ZB-H2", "zb_h2"},
                                           {"ZB-1p", "zb_1p"}, {"ZB-2p", "zb_2p"}, {"ZB-V", "zb_v_searched"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(published, names[k][0]) == 0) return names[k][1];
    return NULL;
}

static FILE *open_table(const char *path) {
    struct row head;
    FILE *file = fopen(path, "r");
    if (file == NULL || !next_row(file, &head, 1)) fail_msg("cannot read %s", path);
    return file;
}

static void compare(struct figure figure, double want) {
    char got[32], wanted[32];
    figure.fused = NAN;
    figure.free_at_input = strcmp(figure.rule, "zb_2p") == 0;
    snprintf(got, sizeof got, "%.4f", simulate_figure(&figure).bubble.of_span);
    snprintf(wanted, sizeof wanted, "%.4f", want);
    if (strcmp(got, wanted) != 0)
        fail_msg("%s %dx%d: %s of the span is idle, published %s", figure.rule, figure.devices, figure.microbatches,
                 got, wanted);
}

/* The measured times of table 9, in ms. */
static void set_profile(struct figure *figure, const char *model) {
    struct row row;
    FILE *file = open_table(PUBLISHED "zb_paper_table9_profile.csv");
    while (next_row(file, &row, 13)) {
        if (strcmp(row.cells[0], model) != 0 || integer_in(&row, 5) != figure->devices ||
            integer_in(&row, 7) != figure->microbatches)
            continue;
        figure->forward = number_in(&row, 8);
        figure->input = number_in(&row, 9);
        figure->weight = number_in(&row, 10);
        figure->p2p = number_in(&row, 11);
    }
    fclose(file);
    assert_true(figure->forward > 0);
}

static void test_table_5(void **state) {
    (void)state;
    struct row row;
    int cells = 0;
    FILE *file = open_table(PUBLISHED "zb_paper_table5_bubble.csv");
    while (next_row(file, &row, 6)) {
        struct figure figure = {
            .rule = rule_of(row.cells[3]), .devices = integer_in(&row, 1), .microbatches = integer_in(&row, 2)};
        if (figure.rule == NULL) continue;
        set_profile(&figure, row.cells[0]);
        compare(figure, number_in(&row, 4));
        cells++;
    }
    fclose(file);
    assert_int_equal(cells, 60);
}

/* Its times, in us, are those of a chunk, two of which make the one stage that a device has without chunks. */
static void test_table_8(void **state) {
    (void)state;
    struct row row;
    int cells = 0;
    FILE *file = open_table(PUBLISHED "zb_paper_table8_bubble_zbv.csv");
    while (next_row(file, &row, 9)) {
        const char *rule = rule_of(row.cells[7]);
        if (rule == NULL) continue;
        double unit = strcmp(rule, "zb_v_searched") == 0 ? 1e-6 : 2e-6;
        const struct figure figure = {.rule = rule,
                                      .devices = integer_in(&row, 1),
                                      .microbatches = integer_in(&row, 2),
                                      .forward = number_in(&row, 3) * unit,
                                      .input = number_in(&row, 4) * unit,
                                      .weight = number_in(&row, 5) * unit,
                                      .p2p = number_in(&row, 6) * 1e-6};
        compare(figure, number_in(&row, 8));
        cells++;
    }
    fclose(file);
    assert_int_equal(cells, 36);
}

int main(void) {
    if (access(PUBLISHED "zb_paper_table5_bubble.csv", R_OK) != 0) {
        puts("skipped: the paper's tables are not here");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_5),
        cmocka_unit_test(test_table_8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
