/* SPDX-License-Identifier: Apache-2.0 */
/* Spaces: what is read, what is refused and in which words, and constraints against C's own arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "kerf/tune.h"

static struct kerf_tune_space *space_of(const char *const *params, int32_t num_params, const char *where,
                                        const char *defaults) {
    struct kerf_tune_space *space = NULL;
    struct kerf_error err;
    int32_t code = kerf_tune_space_create(params, num_params, &where, where != NULL, defaults, &space, &err);
    if (code != KERF_OK) fail_msg("%s", err.message);
    return space;
}

static void expect_refused(const char *params, const char *where, const char *defaults, int32_t code,
                           const char *words) {
    struct kerf_tune_space *space = NULL;
    struct kerf_error err;
    char copy[400];
    const char *list[40];
    int32_t count = 0;
    snprintf(copy, sizeof copy, "%s", params);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) list[count++] = word;
    int32_t got = kerf_tune_space_create(list, count, &where, where != NULL, defaults, &space, &err);
    if (got != code || strcmp(err.message, words) != 0)
        fail_msg("%s: %s '%s', not %s '%s'", params, kerf_error_name(got), got ? err.message : "",
                 kerf_error_name(code), words);
    assert_null(space);
}

static void numbers_with_decimals_are_ordered(void **state) {
    (void)state;
    const char *params[] = {"rate=0.1,0.2,0.5", "lr=1e-5..1e-1:x10", "p=0.1..0.9:+0.2", "w=0.5,0.1"};
    struct kerf_tune_space *space = space_of(params, 4, NULL, "rate=0.2,lr=0.001,p=0.7,w=0.1");
    assert_int_equal(space->num_settings, 3 * 5 * 5 * 2);
    assert_true(space->params[0].numbers[2] == 0.5);
    assert_string_equal(space->params[1].texts[0], "1e-05");
    assert_true(space->params[1].numbers[4] == 0.1);
    assert_string_equal(space->params[2].texts[4], "0.9");
    assert_null(space->params[3].numbers); /* words: they do not ascend */
    kerf_tune_space_free(space);
    expect_refused("lr=0.5..0.1:x2", NULL, NULL, KERF_EINVALID,
                   "'lr=0.5..0.1:x2': the range is empty, as 0.5 is more than 0.1");
    expect_refused("lr=0.1..0.5:x1", NULL, NULL, KERF_EINVALID,
                   "'lr=0.1..0.5:x1': a range with 'x' begins above 0 and multiplies by more than 1");
    expect_refused("lr=0.1..0.5:+0.0001", NULL, NULL, KERF_EINVALID, "'lr=0.1..0.5:+0.0001': more than 1000 values");
}

/* The texts of one parameter, with blanks between. */
static void expect_values(const char *param, const char *expected) {
    struct kerf_tune_space *space = space_of(&param, 1, NULL, NULL);
    char got[512] = "";
    for (int32_t i = 0; i < space->params[0].num_values; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "", space->params[0].texts[i]);
    assert_string_equal(got, expected);
    kerf_tune_space_free(space);
}

static void so_many_points(void **state) {
    (void)state;
    expect_values("lr=1e-5..1e-1:log9", "1e-05 3.16e-05 0.0001 0.000316 0.001 0.00316 0.01 0.0316 0.1");
    expect_values("lr=0.12345..0.5:log3", "0.12345 0.24845 0.5");           /* the ends are as written */
    expect_values("p=0.1..0.1004:lin5", "0.1 0.1001 0.1002 0.1003 0.1004"); /* and all values differ */
    expect_values("p=0..1:lin5", "0 0.25 0.5 0.75 1");
    expect_values("p=-1..1:lin3", "-1 0 1");
    expect_values("batch=64..4096:log7", "64 128 256 512 1024 2048 4096");
    expect_values("batch=1..8:log10", "1 2 3 4 5 6 8"); /* whole between whole ends, each once */
    expect_values("layers=0..32:lin4", "0 11 21 32");
    expect_values("x=1.0..2:log2", "1 2");
    expect_values("x=0.5..200000:log4", "0.5 36.8 2710 200000"); /* no 2e+05, which atoi takes for 2 */
    expect_values("x=1..1e10:x1000", "1 1000 1000000 1000000000");
    expect_values("x=1000000.001..1000000.003:+0.001", "1000000.001 1000000.002 1000000.003");
    expect_values("x=1700000000.0..1700000001.0:+0.5", "1700000000 1700000000.5 1700000001");
    expect_values("x=.1..0.4:+.1", "0.1 0.2 0.3 0.4");
    expect_refused("x=0.5,0.50", NULL, NULL, KERF_EINVALID, "'x=0.5,0.50': 0.50 is the same number as 0.5");
    expect_refused("lr=0..1:log5", NULL, NULL, KERF_EINVALID, "'lr=0..1:log5': a range with 'log' begins above 0");
    expect_refused("lr=1..1:lin2", NULL, NULL, KERF_EINVALID,
                   "'lr=1..1:lin2': both ends are the same; for one value write lr=1");
    expect_refused("lr=2..1:lin2", NULL, NULL, KERF_EINVALID,
                   "'lr=2..1:lin2': the range is empty, as 2 is more than 1");
    expect_refused("p=0.1..0.9", NULL, NULL, KERF_ESYNTAX,
                   "'p=0.1..0.9': a range of decimals ends with a step, such as :+0.1 or :x2, or with a number of "
                   "values, such as :lin9 or :log9");
    expect_refused("lr=1..9:lin", NULL, NULL, KERF_EINVALID,
                   "'lr=1..9:lin': lin is followed by a number of values from 2 to 1000, as lin9");
    expect_refused("lr=1..9:log1001", NULL, NULL, KERF_EINVALID,
                   "'lr=1..9:log1001': log is followed by a number of values from 2 to 1000, as log9");
    expect_refused("n=1..9223372036854775807:log9", NULL, NULL, KERF_EINVALID,
                   "'n=1..9223372036854775807:log9': the ends of such a range are at most 2^53");
    expect_refused("x=1e-300..1e300:log5", NULL, NULL, KERF_EINVALID,
                   "'x=1e-300..1e300:log5': the ends are too far apart for numbers of 64 bits");
}

static void values_are_as_they_are_written(void **state) {
    (void)state;
    const char *params[] = {"a=16, 32 ,64", "b=08,09,10", "c=-1,0,1", "d=x, y z ,w"};
    struct kerf_tune_space *space = space_of(params, 4, NULL, NULL);
    assert_int_equal(space->params[0].kind, KERF_TUNE_INTEGER);
    assert_int_equal(space->params[0].integers[1], 32);
    assert_int_equal(space->params[1].kind, KERF_TUNE_CHOICE);
    assert_string_equal(space->params[1].texts[0], "08");
    assert_true(space->params[1].numbers[1] == 9); /* ordered all the same */
    assert_int_equal(space->params[2].kind, KERF_TUNE_INTEGER);
    assert_string_equal(space->params[3].texts[1], "y z");
    kerf_tune_space_free(space);
    const char *spaced = "a=1, ,3";
    struct kerf_error err;
    assert_int_equal(kerf_tune_space_create(&spaced, 1, NULL, 0, NULL, &space, &err), KERF_ESYNTAX);
    assert_string_equal(err.message, "'a=1, ,3': a value is missing");
    expect_refused("a=8,08", NULL, NULL, KERF_EINVALID, "'a=8,08': 08 is the same number as 8");
}

static void a_number_may_be_written_otherwise(void **state) {
    (void)state;
    const char *params[] = {"lr=1e-3..1e-1:log3", "p=0.1,0.2"};
    struct kerf_tune_space *space = space_of(params, 2, NULL, "lr=0.10,p=.2");
    assert_int_equal(space->default_setting, 5);
    kerf_tune_space_free(space);
}

static void refuse_condition(const char *first, const char *second, int32_t code, const char *words) {
    const char *params[] = {first, second};
    struct kerf_tune_space *space = NULL;
    struct kerf_error err = {0};
    assert_int_equal(kerf_tune_space_create(params, 2, NULL, 0, NULL, &space, &err), code);
    assert_string_equal(err.message, words);
    assert_null(space);
}

static void a_parameter_may_have_a_condition(void **state) {
    (void)state;
    const char *params[] = {"spec=off,on", "draft=4,8,16 when spec == \"on\"", "depth=1..2 when draft > 4"};
    const char *const settings[] = {"spec=off",
                                    "spec=on,draft=4",
                                    "spec=on,draft=8,depth=1",
                                    "spec=on,draft=8,depth=2",
                                    "spec=on,draft=16,depth=1",
                                    "spec=on,draft=16,depth=2"};
    struct kerf_tune_space *space = space_of(params, 3, NULL, "spec=on,draft=4");
    struct kerf_error err;
    int32_t setting;
    assert_int_equal(space->num_settings, 6);
    for (int32_t i = 0; i < 6; i++) {
        struct kerf_text text = {0};
        kerf_tune_setting_write(space, i, &text);
        assert_string_equal(text.data, settings[i]);
        kerf_text_free(&text);
        assert_int_equal(kerf_tune_setting_read(space, settings[i], &setting, &err), KERF_OK);
        assert_int_equal(setting, i);
    }
    assert_int_equal(space->default_setting, 1);
    assert_string_equal(kerf_tune_setting_word(space, 0, 1), "-");
    assert_false(kerf_tune_setting_uses(space, 1, 2));
    assert_int_equal(kerf_tune_setting_read(space, "spec=off,draft=4,depth=1", &setting, &err), KERF_OK);
    assert_int_equal(setting, 0); /* the first values may be named */
    assert_int_equal(kerf_tune_setting_read(space, "spec=off,draft=8,depth=1", &setting, &err), KERF_EUNKNOWN);
    assert_int_equal(kerf_tune_setting_read(space, "spec=on,draft=16", &setting, &err), KERF_ESYNTAX);
    assert_string_equal(err.message, "'spec=on,draft=16': a value of 'depth' is missing");
    kerf_tune_space_free(space);

    const char *flag[] = {"a?=-a", "draft=4,8,16  when a"};
    space = space_of(flag, 2, "draft < 16", NULL);
    assert_int_equal(space->num_settings, 3);
    kerf_tune_space_free(space);
    const char *depth[] = {"a=1,2,3", "d=4,8,16 when a > 1"};
    space = space_of(depth, 2, "d > 4 && a < 3", "a=1"); /* of a=1 no d is asked */
    assert_int_equal(space->num_settings, 3);
    assert_int_equal(space->default_setting, 0);
    assert_int_equal(space->values[1], 0);
    kerf_tune_space_free(space);
    space = space_of(depth, 2, "d > 4 && a > 1", NULL);
    assert_int_equal(space->num_settings, 4);
    kerf_tune_space_free(space);
    refuse_condition("a=1,2", "b=1,2 when ", KERF_ESYNTAX, "'': it ends too early");
    refuse_condition("a=1,2", "b=1,2 when", KERF_ESYNTAX,
                     "'b=1,2 when': a condition is missing after 'when', as in 'draft=4,8 when spec'");
    refuse_condition("a=1,2", "b=1,2 when c", KERF_EUNKNOWN, "'c': no parameter is called 'c'");
    refuse_condition("a=1,2", "b=1,2 when b > 1", KERF_EINVALID,
                     "conditions depend on each other in a circle: b when b > 1");
    refuse_condition("a=1,2 when b == 1", "b=1,2 when a == 1", KERF_EINVALID,
                     "conditions depend on each other in a circle: a when b == 1, b when a == 1");
    refuse_condition("a=0..1", "b=1,2 when 1 / a", KERF_EINVALID,
                     "'1 / a' divides by 0 for a=0,b=1; exclude it with a condition before this one, or with &&");
}

static void reads_every_kind(void **state) {
    (void)state;
    const char *params[] = {"batch=16..100:x2", "threads=1..3", "layers=0..20:+8",
                            "size=64,96",       "kv=f16,q8_0",  "map?=--no-mmap"};
    struct kerf_tune_space *space = space_of(params, 6, NULL, "map=off,kv=q8_0,size=96,layers=8,threads=2,batch=32");
    const int32_t counts[] = {3, 3, 3, 2, 2, 2};
    for (int k = 0; k < 6; k++) assert_int_equal(space->params[k].num_values, counts[k]);
    assert_int_equal(space->num_settings, 3 * 3 * 3 * 2 * 2 * 2);
    assert_int_equal(space->params[0].integers[2], 64);
    assert_int_equal(space->params[2].integers[2], 16);
    assert_int_equal(space->params[3].kind, KERF_TUNE_INTEGER);
    assert_int_equal(space->params[4].kind, KERF_TUNE_CHOICE);
    assert_string_equal(space->params[0].texts[1], "32");
    assert_string_equal(space->params[5].texts[0], "");
    assert_string_equal(space->params[5].texts[1], "--no-mmap");
    struct kerf_text text = {0};
    struct kerf_json json = {0};
    kerf_tune_setting_write(space, space->default_setting, &text);
    assert_string_equal(text.data, "batch=32,threads=2,layers=8,size=96,kv=q8_0,map=off");
    kerf_text_clear(&text);
    kerf_json_begin(&json, &text);
    kerf_tune_setting_json(&json, NULL, space, space->default_setting + 1);
    assert_string_equal(text.data,
                        "{\"batch\":32,\"threads\":2,\"layers\":8,\"size\":96,\"kv\":\"q8_0\",\"map\":true}");
    kerf_text_free(&text);
    kerf_tune_space_free(space);
}

/* Every setting is found by its values and by its text, and they are in the order of the grid. */
static void settings_have_one_index(void **state) {
    (void)state;
    const char *params[] = {"batch=16..2048:x2", "ubatch=2..2048:x2", "f?=-fa"};
    struct kerf_tune_space *space = space_of(params, 3, "ubatch <= batch", NULL);
    assert_int_equal(space->num_settings, 2 * 60);
    assert_int_equal(space->default_setting, -1);
    for (int32_t i = 0; i < space->num_settings; i++) {
        struct kerf_text text = {0};
        int32_t found = -1;
        kerf_tune_setting_write(space, i, &text);
        assert_int_equal(kerf_tune_setting_read(space, text.data, &found, NULL), KERF_OK);
        assert_int_equal(found, i);
        assert_int_equal(kerf_tune_space_find(space, space->values + 3 * (size_t)i), i);
        if (i) assert_true(memcmp(space->values + 3 * (size_t)i, space->values + 3 * (size_t)(i - 1), 12) != 0);
        kerf_text_free(&text);
    }
    const int32_t forbidden[] = {0, 10, 0};
    assert_int_equal(kerf_tune_space_find(space, forbidden), -1);
    struct kerf_error err;
    int32_t found;
    assert_int_equal(kerf_tune_setting_read(space, "batch=16,ubatch=2048,f=on", &found, &err), KERF_EUNKNOWN);
    assert_string_equal(err.message, "'batch=16,ubatch=2048,f=on': a condition (--where) excludes it");
    assert_int_equal(kerf_tune_setting_read(space, "batch=16,ubatch=2", &found, &err), KERF_ESYNTAX);
    assert_string_equal(err.message, "'batch=16,ubatch=2': a value of 'f' is missing");
    assert_int_equal(kerf_tune_setting_read(space, "batch=16,batch=16", &found, &err), KERF_ESYNTAX);
    assert_int_equal(kerf_tune_setting_read(space, "batch=17,ubatch=2,f=on", &found, &err), KERF_EUNKNOWN);
    assert_string_equal(err.message, "'batch=17': not one of the parameter's values");
    assert_int_equal(kerf_tune_setting_read(space, "bach=16", &found, &err), KERF_EUNKNOWN);
    assert_string_equal(err.message, "'bach=16': no such parameter");
    assert_int_equal(kerf_tune_setting_read(space, "", &found, &err), KERF_ESYNTAX);
    kerf_tune_space_free(space);
}

static void refuses_in_words(void **state) {
    (void)state;
    expect_refused("", NULL, NULL, KERF_EINVALID, "a space needs a parameter, such as batch=16..2048:x2");
    expect_refused("batch", NULL, NULL, KERF_ESYNTAX,
                   "'batch' is not a parameter; write it like batch=16..2048:x2 or kv=f16,q8_0");
    expect_refused("2x=1", NULL, NULL, KERF_ESYNTAX,
                   "'2x' cannot be a parameter's name: a letter comes first, then letters, digits, _ . -");
    expect_refused("b=5..4", NULL, NULL, KERF_EINVALID, "'b=5..4': the range is empty, as 5 is more than 4");
    expect_refused("b=0..4:x2", NULL, NULL, KERF_EINVALID,
                   "'b=0..4:x2': a range with 'x' must begin at 1 or more and multiply by 2 or more");
    expect_refused("b=1..4:x1", NULL, NULL, KERF_EINVALID,
                   "'b=1..4:x1': a range with 'x' must begin at 1 or more and multiply by 2 or more");
    expect_refused("b=1..4:+0", NULL, NULL, KERF_EINVALID, "'b=1..4:+0': a range must ascend by 1 or more");
    expect_refused("b=1..2000000", NULL, NULL, KERF_EINVALID, "'b=1..2000000': more than 1000000 values");
    expect_refused("b=4,2", NULL, NULL, KERF_EINVALID, "'b=4,2': integers must ascend, and 2 comes after 4");
    expect_refused("b=x,y,x", NULL, NULL, KERF_EINVALID, "'b=x,y,x': 'x' appears twice");
    expect_refused("b=x,,y", NULL, NULL, KERF_ESYNTAX, "'b=x,,y': a value is missing");
    expect_refused("b=", NULL, NULL, KERF_ESYNTAX, "'b=': a value is missing");
    expect_refused("b?=", NULL, NULL, KERF_ESYNTAX, "'b?=': a flag needs its words, as in map?=--no-mmap");
    expect_refused("b=1..2 b=3", NULL, NULL, KERF_EINVALID, "the parameter 'b' is given twice");
    expect_refused("setting=1..4", NULL, NULL, KERF_EINVALID,
                   "no parameter can be called 'setting', as {setting} in a command stands for all of them");
    expect_refused("a=1..4", "a > 4", NULL, KERF_EINFEASIBLE,
                   "of 4 settings of the grid none satisfies the constraint");
    expect_refused("a=1..4", NULL, "a=5", KERF_EINVALID, "default 'a=5': not one of the parameter's values");
    expect_refused("a=1..4", NULL, "a", KERF_ESYNTAX,
                   "default 'a' must be a parameter with a value, such as batch=512");
}

static int32_t read_setting(const struct kerf_tune_space *space, const char *text) {
    struct kerf_error err;
    int32_t setting = -1;
    if (kerf_tune_setting_read(space, text, &setting, &err) != KERF_OK) fail_msg("%s", err.message);
    return setting;
}

/* Not listed: some settings at random, and each other one gets a number when it is named. */
static void a_large_grid_grows(void **state) {
    (void)state;
    const char *params[] = {"a=1..1000", "b=1..1000", "c=1..1000"};
    struct kerf_tune_space *space = space_of(params, 3, "a + b <= c", "a=1,b=2,c=900"), *other;
    assert_int_equal(space->has_unused, KERF_TUNE_GROWS);
    assert_int_equal(kerf_tune_space_capacity(space), KERF_TUNE_GROWN_MAX);
    assert_true(kerf_tune_space_size(space) > 0.95e9 / 6 && kerf_tune_space_size(space) < 1.05e9 / 6);
    int32_t before = space->num_settings, named[] = {6, 7, 599}, forbidden[] = {500, 500, 100},
            outside[] = {0, 0, 1000};
    assert_in_range(before, 1000, 10000);
    for (int32_t i = 0; i < before; i++) {
        const int32_t *at = space->values + 3 * (size_t)i;
        assert_true(at[0] + 1 + at[1] + 1 <= at[2] + 1);
        assert_int_equal(kerf_tune_space_find(space, at), i);
        assert_true(kerf_tune_setting_uses(space, i, 1));
    }
    assert_int_equal(space->default_setting, before - 1);
    assert_int_equal(kerf_tune_space_find(space, named), KERF_TUNE_NOT_MET);
    assert_int_equal(kerf_tune_space_find(space, forbidden), -1);
    assert_int_equal(kerf_tune_space_find(space, outside), -1);
    assert_int_equal(read_setting(space, "a=7,b=8,c=600"), before);
    assert_int_equal(read_setting(space, "c=600,b=8,a=7"), before);
    assert_int_equal(kerf_tune_space_find(space, named), before);
    assert_int_equal(space->num_settings, before + 1);
    struct kerf_error err;
    int32_t setting;
    assert_int_equal(kerf_tune_setting_read(space, "a=501,b=501,c=101", &setting, &err), KERF_EUNKNOWN);
    assert_int_equal(space->num_settings, before + 1);
    other = space_of(params, 3, "a + b <= c", "a=1,b=2,c=900"); /* the same ones at random */
    assert_memory_equal(other->values, space->values, 3 * (size_t)before * sizeof *space->values);
    kerf_tune_space_free(other);
    kerf_tune_space_free(space);
    space = space_of(params, 3, NULL, NULL);
    assert_true(kerf_tune_space_size(space) == 1e9);
    kerf_tune_space_free(space);
}

/* A parameter without effect has its first value there, also in what is drawn and named. */
static void a_large_grid_has_conditions(void **state) {
    (void)state;
    const char *params[] = {"spec?=--spec", "draft=1..1000 when spec", "depth=1..1000 when draft > 500", "b=1..100"};
    struct kerf_tune_space *space = space_of(params, 4, NULL, NULL);
    int32_t unused = 0;
    for (int32_t i = 0; i < space->num_settings; i++) {
        const int32_t *at = space->values + 4 * (size_t)i;
        assert_int_equal(kerf_tune_setting_uses(space, i, 1), at[0]);
        assert_int_equal(kerf_tune_setting_uses(space, i, 2), at[1] >= 500);
        for (int32_t k = 1; k < 3; k++) assert_true(at[k] == 0 || kerf_tune_setting_uses(space, i, k));
        unused += !at[0];
    }
    assert_true(unused > 0);
    double size = 100 * (1 + 500 + 500 * 1000.0); /* without spec, with 1 .. 500, and with more and each depth */
    assert_true(kerf_tune_space_size(space) > 0.95 * size && kerf_tune_space_size(space) < 1.05 * size);
    int32_t setting = read_setting(space, "spec=off,b=7");
    assert_false(kerf_tune_setting_uses(space, setting, 1));
    setting = read_setting(space, "spec=on,draft=900,depth=77,b=7");
    assert_true(kerf_tune_setting_uses(space, setting, 2));
    kerf_tune_space_free(space);
}

static void refuses_large_grids_in_words(void **state) {
    (void)state;
    expect_refused(
        "a=1..1000 b=1..1000 c=1..1000", "a * b * c == 1024", NULL, KERF_EINFEASIBLE,
        "of 1000000 points of the grid at random (1e+09 in all) only 1 satisfies the constraints: fewer values or "
        "parameters would say the same, and be searched better");
    expect_refused(
        "a=1..1000 b=1..1000 c=0..9", "a / c > 3", NULL, KERF_EINVALID,
        "'a / c > 3' divides by 0 for a=750,b=962,c=0; exclude it with a condition before this one, or with &&");
    const char *params[] = {"spec?=--spec", "d=1..1000 when spec", "e=1..1000 when spec"};
    const char *wheres[] = {"d + e > 1999", "!spec || d + e > 1900"};
    struct kerf_tune_space *space = NULL;
    struct kerf_error err;
    assert_int_equal(kerf_tune_space_create(params, 3, wheres, 1, NULL, &space, &err), KERF_EINVALID);
    assert_string_equal(err.message,
                        "a constraint names parameters that may have no effect, and in so large a grid it takes "
                        "too long to try their values there; say when it matters, as in '!spec || draft <= 8'");
    assert_int_equal(kerf_tune_space_create(params, 3, wheres + 1, 1, NULL, &space, &err), KERF_OK);
    kerf_tune_space_free(space);
    expect_refused("a=1..1000000 b=1..1000000 c=1..1000000 d=1..10", NULL, NULL, KERF_EINVALID,
                   "the grid has more than 1e+18 settings");
    expect_refused("a=1..1000 b=1..1000 c=1..1000", NULL, "a=1,b=2", KERF_ESYNTAX,
                   "default 'a=1,b=2': a value of 'c' is missing");
}

static void refuses_constraints_in_words(void **state) {
    (void)state;
    const char *p = "ubatch=1..4 kv=f16,q8";
    expect_refused(p, "ubach > 1", NULL, KERF_EUNKNOWN,
                   "'ubach > 1': no parameter is called 'ubach'; did you mean 'ubatch'?");
    expect_refused(p, "ubatch >", NULL, KERF_ESYNTAX, "'ubatch >': it ends too early");
    expect_refused(p, "", NULL, KERF_ESYNTAX, "'': it ends too early");
    expect_refused(p, "ubatch > ]", NULL, KERF_ESYNTAX,
                   "'ubatch > ]': a parameter, a number, a word in quotes or '(' is needed here");
    expect_refused(p, "(ubatch > 1", NULL, KERF_ESYNTAX, "'(ubatch > 1': ')' is missing");
    expect_refused(p, "ubatch 1", NULL, KERF_ESYNTAX, "'ubatch 1': an operator is needed here");
    expect_refused(p, "1 < ubatch < 3", NULL, KERF_ESYNTAX, "'1 < ubatch < 3': join comparisons with &&");
    expect_refused(p, "kv == 1", NULL, KERF_EINVALID, "'kv == 1': a word and a number cannot be compared");
    expect_refused(p, "kv < \"x\"", NULL, KERF_EINVALID, "'kv < \"x\"': words can only be compared with == or !=");
    expect_refused(p, "kv", NULL, KERF_EINVALID, "'kv': a word has no value; compare it with == or !=");
    expect_refused(p, "!kv", NULL, KERF_EINVALID, "'!kv': a word has no value; compare it with == or !=");
    expect_refused(p, "kv == \"x", NULL, KERF_ESYNTAX, "'kv == \"x': a word in quotes does not end");
    expect_refused(p, "ubatch < 99999999999999999999", NULL, KERF_EINVALID,
                   "'ubatch < 99999999999999999999': an integer does not fit into 64 bits");
    char deep[301] = "";
    memset(deep, '-', 300);
    expect_refused(p, deep, NULL, KERF_ESYNTAX,
                   "'...------------------------------------------------------------...': too many signs");
}

static int32_t num_where(const char *where) {
    const char *params[] = {"lr=1e-5..1e-1:log9", "d=0.1,0.2,0.5", "n=1..4", "kv=f16,q8"};
    struct kerf_tune_space *space;
    struct kerf_error err;
    if (kerf_tune_space_create(params, 4, &where, 1, NULL, &space, &err) != KERF_OK) fail_msg("%s", err.message);
    int32_t num = space->num_settings;
    kerf_tune_space_free(space);
    return num;
}

/* Of nine learning rates from 1e-5 to 0.1 six are below 0.01: decimals are compared by their values, however written. */
static void decimals_are_compared(void **state) {
    (void)state;
    const char *p = "lr=0.001,0.01 n=1..4 kv=f16,q8";
    assert_int_equal(num_where("lr < 0.01"), 6 * 3 * 4 * 2);
    assert_int_equal(num_where("lr < 1e-2"), 6 * 3 * 4 * 2);
    assert_int_equal(num_where("lr == 0.010"), 3 * 4 * 2);
    assert_int_equal(num_where("d == '0.5' || d <= .1"), 9 * 2 * 4 * 2);
    assert_int_equal(num_where("d > lr && lr > -0.5"), (8 + 9 + 9) * 4 * 2);
    assert_int_equal(num_where("n - 2 < 0.5"), 9 * 3 * 2 * 2);
    assert_int_equal(num_where("d < n"), 9 * 3 * 4 * 2);
    expect_refused(p, "lr + 1 > 1", NULL, KERF_EINVALID,
                   "'lr + 1 > 1': a decimal can be compared, and not computed with");
    expect_refused(p, "lr", NULL, KERF_EINVALID, "'lr': a decimal can be compared, and not computed with");
    expect_refused(p, "-lr < 1", NULL, KERF_EINVALID, "'-lr < 1': a decimal can be compared, and not computed with");
    expect_refused(p, "kv < 0.5", NULL, KERF_EINVALID, "'kv < 0.5': a word and a number cannot be compared");
    expect_refused(p, "n < 1e999", NULL, KERF_EINVALID, "'n < 1e999': this is no decimal number");
    expect_refused(p, "n < 1.5.5", NULL, KERF_ESYNTAX, "'n < 1.5.5': an operator is needed here");
    expect_refused(p, "n < .", NULL, KERF_ESYNTAX,
                   "'n < .': a parameter, a number, a word in quotes or '(' is needed here");
}

/* What cannot be computed for a setting is the question's fault, and leaves out none in silence. */
static void refuses_constraints_without_a_value(void **state) {
    (void)state;
    const char *params[] = {"a=1..4"}, *wheres[] = {"a != 2", "8 / (a - 2) > 0"};
    struct kerf_tune_space *space = NULL;
    expect_refused(
        "a=1..4 m?=-m", "8 / (a - 2) > 0", NULL, KERF_EINVALID,
        "'8 / (a - 2) > 0' divides by 0 for a=2,m=off; exclude it with a condition before this one, or with &&");
    expect_refused("a=1..4", "a % (a - 3) == 0", NULL, KERF_EINVALID,
                   "'a % (a - 3) == 0' divides by 0 for a=3; exclude it with a condition before this one, or with &&");
    expect_refused("a=1..4", "a * 9223372036854775807 > 0", NULL, KERF_EINVALID,
                   "'a * 9223372036854775807 > 0' needs an integer of more than 64 bits for a=2; exclude it with a "
                   "condition before this "
                   "one, or with &&");
    assert_int_equal(kerf_tune_space_create(params, 1, wheres, 2, NULL, &space, NULL), KERF_OK);
    assert_int_equal(space->num_settings, 2);
    kerf_tune_space_free(space);
}

/* A word that begins as a range does was meant as one; paths and versions are words. */
static void refuses_what_is_nearly_a_range(void **state) {
    (void)state;
    static const char *const odd[] = {"1..10:-1",    "1..99999999999999999999",
                                      "-1..x",       "1..",
                                      "..5",         "1..4:*2",
                                      "1..4:",       "+1..4",
                                      "1...4",       "1..4x",
                                      "nan..1:lin4", "x..y:log3"};
    static const char *const words[] = {"../a.bin,../b.bin", "a..b,c",    "1../a,b", "0.5,1.0", "..,...",
                                        "v1..2,v3",          "a..b:log,c"};
    char param[64], message[300];
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        snprintf(param, sizeof param, "a=%s", odd[i]);
        snprintf(message, sizeof message,
                 "'%s': %s is not a range; a range is like 1..16, 0..32:+8, 16..2048:x2 or 1e-5..0.1:log9, has "
                 "integers up to "
                 "9223372036854775807, and is the only value",
                 param, odd[i]);
        expect_refused(param, NULL, NULL, KERF_ESYNTAX, message);
    }
    expect_refused("a=1.5..10", NULL, NULL, KERF_ESYNTAX,
                   "'a=1.5..10': a range of decimals ends with a step, such as :+0.1 or :x2, or with a number of "
                   "values, such as :lin9 or :log9");
    expect_refused("a=7,1..4", NULL, NULL, KERF_ESYNTAX,
                   "'a=7,1..4': 1..4 is not a range; a range is like 1..16, 0..32:+8, 16..2048:x2 or 1e-5..0.1:log9, "
                   "has integers up to "
                   "9223372036854775807, and is the only value");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *params[] = {param};
        snprintf(param, sizeof param, "a=%s", words[i]);
        struct kerf_tune_space *space = space_of(params, 1, NULL, NULL);
        assert_int_equal(space->params[0].kind, KERF_TUNE_CHOICE);
        assert_int_equal(space->num_settings, 2);
        kerf_tune_space_free(space);
    }
}

static void flags_have_synonyms(void **state) {
    (void)state;
    static const char *const names[] = {"off", "on", "0", "1", "false", "true", "no", "yes", "", "-m"};
    const char *params[] = {"m?=-m"};
    struct kerf_tune_space *space = space_of(params, 1, NULL, NULL);
    for (int32_t i = 0; i < 10; i++) {
        char text[16];
        int32_t found = -1;
        snprintf(text, sizeof text, "m=%s", names[i]);
        assert_int_equal(kerf_tune_setting_read(space, text, &found, NULL), KERF_OK);
        assert_int_equal(found, i % 2);
    }
    assert_string_equal(kerf_tune_value_word(&space->params[0], 0), "off");
    assert_string_equal(kerf_tune_value_word(&space->params[0], 1), "on");
    kerf_tune_space_free(space);
}

static int32_t kept_by(const char *where) {
    const char *params[] = {"a=1..6", "b=1..6", "w=x,y", "f?=-f", "a-b=1,7"};
    struct kerf_tune_space *space = NULL;
    struct kerf_error err;
    int32_t code = kerf_tune_space_create(params, 5, &where, 1, NULL, &space, &err), count = 0;
    if (code == KERF_OK)
        count = space->num_settings;
    else if (code != KERF_EINFEASIBLE)
        fail_msg("%s", err.message);
    kerf_tune_space_free(space);
    return count;
}

#define AS_IN_C(expression)                                                                                            \
    do {                                                                                                               \
        int32_t expected_ = 0;                                                                                         \
        for (int a = 1; a <= 6; a++)                                                                                   \
            for (int b = 1; b <= 6; b++)                                                                               \
                for (int f = 0; f <= 1; f++) expected_ += ((expression) != 0);                                         \
        assert_int_equal(kept_by(#expression), 4 * expected_);                                                         \
    } while (0)

static void constraints_are_as_in_c(void **state) {
    (void)state;
    AS_IN_C(a <= b);
    AS_IN_C(a * 2 + 1 < b * 3 - 2);
    AS_IN_C(a % 2 == b % 3);
    AS_IN_C(a / 2 * 2 == a);
    AS_IN_C(a - b - 1 == 0);
    AS_IN_C((a == 1 || b == 2) && f == 0);
    AS_IN_C(!(a > 2) && b != 3);
    AS_IN_C(-a + b >= 1);
    AS_IN_C(!f);
    AS_IN_C(f);
    AS_IN_C((a > b) == f);
    AS_IN_C(a - -b > 3);
    AS_IN_C(a >= 1);
    assert_int_equal(kept_by("w == 'x'"), 6 * 6 * 2 * 2);
    assert_int_equal(kept_by("w != \"x\" || a == 1"), 6 * 2 * 2 * 6 + 6 * 2 * 2);
    assert_int_equal(kept_by("'x' == \"x\""), 6 * 6 * 2 * 2 * 2);
    assert_int_equal(kept_by("a-b == 7"), 6 * 6 * 2 * 2);                                 /* that is a name */
    assert_int_equal(kept_by("b-a == 5"), 2 * 2 * 2);                                     /* and that is none */
    assert_int_equal(kept_by("b != 1 && a % (b - 1) == 0"), 4 * 2 * (6 + 3 + 2 + 1 + 1)); /* nothing is divided by 0 */
    assert_int_equal(kept_by("a > 1 || a * 9223372036854775807 > 0"), 6 * 6 * 2 * 2 * 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_kind),
        cmocka_unit_test(numbers_with_decimals_are_ordered),
        cmocka_unit_test(so_many_points),
        cmocka_unit_test(a_number_may_be_written_otherwise),
        cmocka_unit_test(values_are_as_they_are_written),
        cmocka_unit_test(a_parameter_may_have_a_condition),
        cmocka_unit_test(settings_have_one_index),
        cmocka_unit_test(refuses_in_words),
        cmocka_unit_test(a_large_grid_grows),
        cmocka_unit_test(a_large_grid_has_conditions),
        cmocka_unit_test(refuses_large_grids_in_words),
        cmocka_unit_test(refuses_constraints_in_words),
        cmocka_unit_test(decimals_are_compared),
        cmocka_unit_test(constraints_are_as_in_c),
        cmocka_unit_test(refuses_constraints_without_a_value),
        cmocka_unit_test(flags_have_synonyms),
        cmocka_unit_test(refuses_what_is_nearly_a_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
