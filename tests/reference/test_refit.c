/* SPDX-License-Identifier: Apache-2.0 */
/* refit.csv: what the fit of all constants makes of the table of runs that comes with kerf. A change of the model that
 * moves a constant shows here, and `kerf calibrate share/runs/published.csv --all -o all.json` has the new factors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "score/calibrate.h"
#include "spec/description.h"

/* Math libraries differ in the last digit, and the descent ends where it gains little. */
static const double RELATIVE = 0.005;

/* The factor of a constant; fails where the fit has none of the name. */
static double factor_of(const struct calibration *made, const char *name, int32_t rows) {
    const struct fit_report *reports[2] = {&made->times, &made->memory};
    for (int r = 0; r < 2; r++)
        for (int32_t k = 0; k < reports[r]->count; k++)
            if (strcmp(reports[r]->knobs[k].name, name) == 0 && reports[r]->knobs[k].rows == rows)
                return reports[r]->knobs[k].factor;
    fail_msg("%s on %d runs is not fitted", name, (int)rows);
    return 0;
}

static void test_every_constant(void **state) {
    static const struct calibrate_without nothing = {.set = NULL};
    static const struct fit_watch nobody = {.tell = NULL};
    struct kerf_error err;
    struct runs *runs = NULL;
    struct calibration *made = malloc(sizeof *made);
    char line[256], name[96];
    double factor;
    int rows, count = 0, moved = 0;
    (void)state;
    FILE *file = fopen(KERF_TEST_DIR "/reference/refit.csv", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    if (runs_parse(catalogue_runs[0].json, catalogue_runs[0].length, "published", &runs, &err) != KERF_OK)
        fail_msg("%s", err.message);
    if (calibrate_all(runs, &nothing, &nobody, made, &err) != KERF_OK) fail_msg("%s", err.message);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%95[^,],%lf,%d", name, &factor, &rows) != 3) fail_msg("refit.csv: %s", line);
        double made_factor = factor_of(made, name, rows);
        if (!(fabs(made_factor / factor - 1) <= RELATIVE))
            fail_msg("%s: x %.4f, recorded %.4f", name, made_factor, factor);
        count++;
        moved += fabs(factor - 1) > 0.02;
    }
    assert_int_equal(count, made->times.count + made->memory.count);
    assert_true(moved > 20);
    fclose(file);
    runs_free(runs);
    free(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_constant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
