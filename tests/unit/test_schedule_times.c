/* SPDX-License-Identifier: Apache-2.0 */
/* The times of a schedule: no work is lost or added, whichever of the backward pass and its parts are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "kerf/schedule.h"

enum { B, I, W, PARTS };
enum { STAGES = 2 };

/* What is said, NAN: nothing; what the file has, below 0: nothing; what comes of it. */
struct row {
    double said[PARTS], file[PARTS], want[PARTS];
};

static const double NONE = -1;
#define NOTHING                                                                                                        \
    { NAN, NAN, NAN }
#define NO_FILE                                                                                                        \
    { -1, -1, -1 }

static int32_t make(const double said[PARTS], const double file[PARTS], struct kerf_schedule_times **ret_times,
                    struct kerf_error *err) {
    static const char *const keys[PARTS] = {"backward", "backward_input", "backward_weight"};
    struct kerf_schedule_times_request request;
    char text[256] = "{\"forward\":[1,1]";
    kerf_schedule_times_unsaid(&request);
    request.backward_s = said[B], request.backward_input_s = said[I], request.backward_weight_s = said[W];
    for (int part = 0; part < PARTS; part++)
        if (file[part] > NONE)
            snprintf(text + strlen(text), sizeof text - strlen(text), ",\"%s\":[%g,%g]", keys[part], file[part],
                     2 * file[part]);
    strcat(text, "}");
    request.file = "times.json";
    request.file_text = text;
    return kerf_schedule_times_make(STAGES, STAGES, &request, ret_times, err);
}

static void test_two_of_three_are_enough(void **state) {
    (void)state;
    static const struct row rows[] = {
        {NOTHING, NO_FILE, {2, 1, 1}},
        {{4, NAN, NAN}, NO_FILE, {4, 2, 2}},
        {{4, 1, NAN}, NO_FILE, {4, 1, 3}},
        {{4, NAN, 1}, NO_FILE, {4, 3, 1}},
        {{NAN, 3, 2}, NO_FILE, {5, 3, 2}},
        {{NAN, 3, NAN}, NO_FILE, {4, 3, 1}},
        {{NAN, NAN, 3}, NO_FILE, {4, 1, 3}},
        {{6, 3, 2}, NO_FILE, {6, 3, 2}}, /* said on purpose: whole and parts were measured apart */
        {NOTHING, {5, 4, -1}, {5, 4, 1}},
        {NOTHING, {5, -1, 4}, {5, 1, 4}},
        {NOTHING, {-1, 3, 4}, {7, 3, 4}},
        {NOTHING, {6, 3, 4}, {6, 3, 4}},
        {{NAN, 1, NAN}, {5, 4, 2}, {3, 1, 2}},
        {{NAN, 1, NAN}, {5, -1, -1}, {5, 1, 4}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct kerf_schedule_times *times;
        struct kerf_error err;
        if (make(rows[k].said, rows[k].file, &times, &err) != KERF_OK) fail_msg("row %zu: %s", k, err.message);
        const double *const got[PARTS] = {times->backward_s, times->backward_input_s, times->backward_weight_s};
        for (int part = 0; part < PARTS; part++)
            if (fabs(got[part][0] - rows[k].want[part]) > 1e-12)
                fail_msg("row %zu: %g, %g, %g, not %g, %g, %g", k, got[B][0], got[I][0], got[W][0], rows[k].want[B],
                         rows[k].want[I], rows[k].want[W]);
        kerf_schedule_times_free(times);
    }
}

/* A whole that is said is divided as the file divides its own, stage by stage. */
static void test_a_whole_keeps_the_proportion(void **state) {
    (void)state;
    static const double said[] = {9, NAN, NAN}, file[] = {3, 2, 1};
    struct kerf_schedule_times *times;
    assert_int_equal(make(said, file, &times, NULL), KERF_OK);
    for (int32_t k = 0; k < STAGES; k++)
        assert_true(times->backward_s[k] == 9 && fabs(times->backward_input_s[k] - 6) < 1e-12 &&
                    fabs(times->backward_weight_s[k] - 3) < 1e-12);
    kerf_schedule_times_free(times);
}

static void test_a_part_is_no_longer_than_the_whole(void **state) {
    (void)state;
    static const double said[][PARTS] = {{4, 5, NAN}, {4, NAN, 5}}, none[] = NO_FILE, file[] = {1, 3, -1};
    static const double nothing[] = NOTHING;
    struct kerf_schedule_times *times;
    struct kerf_error err;
    assert_int_equal(make(said[0], none, &times, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "of the input takes 5 s on stage 0, longer than the whole backward pass, 4 s"));
    assert_int_equal(make(said[1], none, &times, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "of the weights takes 5 s"));
    assert_int_equal(make(nothing, file, &times, &err), KERF_EINVALID);
    assert_string_equal(err.file, "times.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_of_three_are_enough),
        cmocka_unit_test(test_a_whole_keeps_the_proportion),
        cmocka_unit_test(test_a_part_is_no_longer_than_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
