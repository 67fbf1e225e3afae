/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on further numbers of a run, as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/output_limit.h"

static void reads_what_holds(void **state) {
    (void)state;
    static const struct {
        const char *text, *name;
        double bound, holds, breaks;
    } cases[] = {
        {"p99_ms <= 50", "p99_ms", 50, 50, 50.001},
        {"p99_ms<50", "p99_ms", 50, 49.9, 50},
        {"  latency.0.p99 >=\t1e3 ", "latency.0.p99", 1000, 1000, 999.9},
        {"tokens_per_s > -1", "tokens_per_s", -1, 0, -1},
        {"memory <= 8GB", "memory", 8e9, 8e9, 8.1e9},
        {"memory < 1 GiB", "memory", 0x1p30, 5, 0x1p30},
        {"wall <= 1h30m", "wall", 5400, 5400, 5401},
        {"cpu<=90s", "cpu", 90, 0, 91},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct output_limit limit;
        assert_int_equal(output_limit_read(cases[i].text, &limit, NULL), KERF_OK);
        assert_string_equal(limit.name, cases[i].name);
        assert_true(limit.bound == cases[i].bound);
        assert_true(output_limit_holds(&limit, cases[i].holds));
        assert_false(output_limit_holds(&limit, cases[i].breaks));
        assert_false(output_limit_holds(&limit, (double)NAN));
    }
}

static void refuses_the_rest(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "a name, <= or >="},
        {"50", "a name, <= or >="},
        {"<= 50", "a name, <= or >="},
        {"p99_ms", "a name, <= or >="},
        {"p99_ms = 50", "a name, <= or >="},
        {"p99_ms == 50", "a name, <= or >="},
        {"50 <= p99_ms <= 60", "a name, <= or >="},
        {"p99 ms <= 50", "a name, <= or >="},
        {"a <= 1, b <= 2", "a name, <= or >="},
        {"p99_ms <= ", "in the program's own unit"},
        {"p99_ms <= 50ms", "in the program's own unit"},
        {"p99_ms <= nan", "in the program's own unit"},
        {"p99_ms <= 1e999", "in the program's own unit"},
        {"p99_ms =< 50", "a name, <= or >="},
        {"p99_ms <== 50", "in the program's own unit"},
        {"wall <= fast", "a time such as 90s"},
        {"cpu <= -1s", "a time such as 90s"},
        {"memory <= 8 apples", "a size such as 8GB"},
        {"memory <= -8GB", "a size such as 8GB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct output_limit limit;
        struct kerf_error err;
        if (output_limit_read(cases[i].text, &limit, &err) != KERF_EINVALID) fail_msg("'%s' is read", cases[i].text);
        if (strstr(err.message, cases[i].words) == NULL) fail_msg("'%s': %s", cases[i].text, err.message);
    }
    char name[200];
    memset(name, 'a', sizeof name);
    memcpy(name + sizeof name - 6, " <= 5", 6);
    assert_int_equal(output_limit_read(name, &(struct output_limit){.bound = 0}, NULL), KERF_EINVALID);
}

static void says_what_broke_it(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
        const char *words;
    } cases[] = {{"p99_ms <= 50", 61.5, "p99_ms is 61.5, above 50"},
                 {"tokens_per_s >= 100", 99, "tokens_per_s is 99, below 100"},
                 {"x < 5", 5, "x is 5, not below 5"},
                 {"memory <= 8GB", 9e9, "memory is 9.0 GB, above 8.0 GB"},
                 {"wall <= 90s", 91, "wall is 91.0 s, above 90.0 s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct output_limit limit;
        char words[160];
        assert_int_equal(output_limit_read(cases[i].text, &limit, NULL), KERF_OK);
        output_limit_words(&limit, cases[i].value, words, sizeof words);
        assert_string_equal(words, cases[i].words);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_holds),
        cmocka_unit_test(refuses_the_rest),
        cmocka_unit_test(says_what_broke_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
