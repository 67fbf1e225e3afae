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

static void refuses_at(const char *text, const struct kerf_schedule_file_request *request, int32_t line, int32_t column,
                       const char *words) {
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

static void check_written(const struct kerf_schedule *schedule) {
    struct kerf_text text = {0}, again = {0};
    assert_int_equal(kerf_schedule_text(&text, schedule, NULL), KERF_OK);
    struct kerf_schedule *back = parse(text.data, NULL);
    same(back, schedule);
    assert_string_equal(back->name, schedule->name);
    assert_int_equal(kerf_schedule_text(&again, back, NULL), KERF_OK);
    assert_string_equal(again.data, text.data);
    kerf_text_free(&text);
    kerf_text_free(&again);
    kerf_schedule_free(back);
}

/* ---- The examples ----------------------------------------------------------------------------------------- */

static void check_example(const char *name, int32_t p, int32_t m, int32_t v) {
    char path[512];
    struct kerf_schedule *own = NULL, *made = NULL;
    struct kerf_error why, err;
    const struct kerf_schedule_request request = {.rule = name,
                                                  .devices = p,
                                                  .microbatches = m,
                                                  .chunks = v,
                                                  .group = p, /* the file's own group */
                                                  .slices = strcmp(name, "slimpipe") == 0 ? 4 : 0};
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
    static const char *const names[] = {"gpipe", "1f1b",       "eager_1f1b", "zb_h1",  "zb_h2",
                                        "zb_v",  "dualpipe_v", "dualpipe",   "seq1f1b"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int32_t p = 1; p <= 8; p++)
            for (int32_t m = 1; m <= 20; m++) check_example(names[k], p, m, 0);
    for (int32_t v = 1; v <= 4; v++)
        for (int32_t p = 1; p <= 5; p++)
            for (int32_t m = 1; m <= 16; m++) {
                check_example("looped_bfs", p, m, v);
                check_example("interleaved_1f1b", p, m, v);
                if (4 % p == 0) check_example("slimpipe", p, m, v); /* its own slices */
            }
    check_example("1f1b", 64, 512, 0);
    check_example("zb_v", 32, 200, 0);
}

/* ---- The language ----------------------------------------------------------------------------------------- */

/* What device 0 of one, with one micro-batch unless m says otherwise, runs. */
static void runs(const char *body, int32_t m, const char *want) {
    char text[1024];
    struct kerf_text got = {0};
    const struct kerf_schedule_file_request request = {.devices = 1, .microbatches = m};
    snprintf(text, sizeof text, "device i { %s }", body);
    struct kerf_schedule *schedule = parse(text, &request);
    for (int32_t k = 0; k < schedule->num_ops[0]; k++) {
        if (k) kerf_text_add(&got, " ");
        kerf_op_text(&got, &schedule->ops[0][k]);
    }
    assert_string_equal(got.data, want);
    assert_string_equal(schedule->name, "x");
    kerf_text_free(&got);
    kerf_schedule_free(schedule);
}

static void test_statements(void **state) {
    (void)state;
    runs("F B", 1, "0F0 0B0");
    runs("F F I W B", 2, "0F0 0F1 0I0 0W0 0B1");
    runs("F? F? F? F? B? B? B?", 2, "0F0 0F1 0B0 0B1");
    runs("repeat m as k { F@(m - 1 - k) } repeat m as k { B@k }", 3, "0F2 0F1 0F0 0B0 0B1 0B2");
    runs("F F F+B F+B? F?+B F?+B", 4, "0F0 0F1 (0F2;0B0) (0F3;0B1) 0B2 0B3");
    runs("F F B+F B B", 3, "0F0 0F1 (0F2;0B0) 0B1 0B2");
    runs("F@0 B@0 F@1 F@5? B@(-1)? B@1", 2, "0F0 0B0 0F1 0B1");
    runs("F F I I W? W? W? W[*]?", 2, "0F0 0F1 0I0 0I1 0W0 0W1");
    runs("while count(F) < m { F } while count(B) < m { I if count(I) % 2 == 0 { W W } }", 4,
         "0F0 0F1 0F2 0F3 0I0 0I1 0W0 0W1 0I2 0I3 0W2 0W3");
    runs("if m == 2 { F F } else if m == 1 { F } else { F+B } repeat m { B }", 1, "0F0 0B0");
    runs("let a = m let b = a - 1 repeat a { F } repeat b { let c = 1 repeat c { B } } B", 3,
         "0F0 0F1 0F2 0B0 0B1 0B2");
    runs("# a comment } {\nrepeat 0 { F+B }\r\n\tF # another\nB", 1, "0F0 0B0");
}

/* A condition holds when the device has its F. */
static void test_expressions(void **state) {
    (void)state;
    static const char *const hold[] = {"1 + 2 * 3 == 7",
                                       "(1 + 2) * 3 == 9",
                                       "7 - 2 - 1 == 4",
                                       "-7 / 2 == -4",
                                       "-7 % 2 == 1",
                                       "7 % -2 == -1",
                                       "- - 3 == 3",
                                       "min(3, 1, 2) == 1 and max(3, 1, 2) == 3",
                                       "min(5) == 5",
                                       "not 0 and not (1 and 0) or 1 / 0",
                                       "1 or 1 / 0",
                                       "not (0 and 1 / 0)",
                                       "not 1 == 2",
                                       "1 < 2 and 2 <= 2 and 3 > 2 and 2 >= 2 and 1 != 2",
                                       "(1 < 2) + (2 < 1) == 1",
                                       "p == 1 and m == 1 and v == 1 and i == 0 and slices == 1",
                                       "twice(2, 3) == 10 and ten == 10",
                                       "count(F[*]) == 0 and waiting(W[*]) == 0 and waiting(W[m - 1]) == 0"};
    for (size_t k = 0; k < sizeof hold / sizeof *hold; k++) {
        char text[512];
        const struct kerf_schedule_file_request request = {.devices = 1, .microbatches = 1};
        snprintf(text, sizeof text, "let twice(a, b) = 2 * (a + b) let ten = twice(2, 3) device i { if %s { F } B }",
                 hold[k]);
        kerf_schedule_free(parse(text, &request));
    }
}

/* One micro-batch after the other, so that any placement can run it: each device does what it holds of its replica, with
 * the micro-batches that the text form has given it. */
static void check_replicas(const char *header, int32_t replicas, int32_t stages, const int32_t *device_of, int32_t p) {
    const struct kerf_schedule_file_request request = {.devices = p, .microbatches = replicas};
    struct kerf_text text = {0};
    kerf_text_printf(&text, "%s\n", header);
    for (int32_t device = 0; device < p; device++) {
        kerf_text_printf(&text, "device %d {", device);
        for (int32_t replica = 0, first = 0; replica < replicas; replica++) {
            int32_t here = 0;
            for (int32_t k = 0; k < stages; k++)
                if (device_of[replica * stages + k] == device)
                    kerf_text_printf(&text, " F%d@%d", first + here++, replica);
            for (int32_t k = here; k-- > 0;) kerf_text_printf(&text, " B%d@%d", first + k, replica);
            first += here;
        }
        kerf_text_add(&text, " }\n");
    }
    struct kerf_schedule *schedule = parse(text.data, &request);
    assert_int_equal(schedule->replicas, replicas);
    assert_int_equal(schedule->stages, stages);
    assert_memory_equal(schedule->device_of, device_of, (size_t)(stages * replicas) * sizeof(int32_t));
    check_written(schedule);
    kerf_schedule_free(schedule);
    kerf_text_free(&text);
}

static void test_placements(void **state) {
    (void)state;
    static const struct {
        const char *header;
        int32_t p, v, stages, chunks, replicas, device_of[16];
    } cases[] = {
        {"", 2, 0, 2, 1, 1, {0, 1}},
        {"placement loop", 2, 3, 6, 3, 1, {0, 1, 0, 1, 0, 1}},
        {"chunks 2", 2, 0, 4, 2, 1, {0, 1, 0, 1}},
        {"placement v", 2, 0, 4, 2, 1, {0, 1, 1, 0}},
        {"placement v chunks 4", 2, 0, 8, 4, 1, {0, 1, 1, 0, 0, 1, 1, 0}},
        {"placement both", 2, 0, 2, 1, 2, {0, 1, 1, 0}},
        {"placement 1 0 0", 2, 0, 3, 2, 1, {1, 0, 0}},
        {"placement loop 1", 2, 0, 2, 1, 1, {0, 1}},
        {"placement loop 2", 2, 0, 2, 1, 2, {0, 1, 1, 0}},
        {"placement loop 2 chunks 2", 2, 0, 4, 2, 2, {0, 1, 0, 1, 1, 0, 1, 0}},
        {"placement v 2", 2, 0, 4, 2, 2, {0, 1, 1, 0, 1, 0, 0, 1}},
        {"placement both_v 2", 2, 0, 4, 2, 2, {0, 1, 1, 0, 1, 0, 0, 1}},
        {"placement ring 4", 2, 0, 2, 1, 4, {0, 1, 1, 0, 1, 0, 0, 1}},
        {"placement loop 4", 2, 0, 2, 1, 4, {0, 1, 1, 0, 1, 0, 0, 1}},
        {"placement 0 1 / 1 0", 2, 0, 2, 1, 2, {0, 1, 1, 0}},
        {"placement 0 1 / 0 1 / 1 0", 2, 0, 2, 1, 3, {0, 1, 0, 1, 1, 0}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[512];
        const struct kerf_schedule_file_request request = {
            .devices = cases[k].p, .microbatches = 4, .chunks = cases[k].v};
        /* all forwards from the first stage on, then all backwards: in an order that every placement has */
        snprintf(text, sizeof text,
                 "%s device i { repeat 9 as c { if c < %s { repeat m { F[c]? } } } repeat 9 as c "
                 "{ if c < %s { repeat m { B[%s - 1 - c]? } } } }",
                 cases[k].header, k == 6 ? "2 - i" : "v", k == 6 ? "2 - i" : "v", k == 6 ? "2 - i" : "v");
        if (cases[k].replicas > 1) { /* each replica by itself, which the order above would not do */
            check_replicas(cases[k].header, cases[k].replicas, cases[k].stages, cases[k].device_of, cases[k].p);
            continue;
        }
        struct kerf_schedule *schedule = parse(text, &request);
        assert_int_equal(schedule->stages, cases[k].stages);
        assert_int_equal(schedule->chunks, cases[k].chunks);
        assert_int_equal(schedule->replicas, cases[k].replicas);
        assert_memory_equal(schedule->device_of, cases[k].device_of,
                            (size_t)(cases[k].stages * cases[k].replicas) * sizeof(int32_t));
        kerf_schedule_free(schedule);
    }
}

static void test_blocks_of_devices(void **state) {
    (void)state;
    static const char text[] =
        "schedule 1f1b.by-hand+2\ndevices 4 microbatches 4\n"
        "device 0 { F F F repeat 1 { F B } B B B }\n"
        "device 1 .. p - 2 { repeat p - 1 - i { F } repeat m - p + 1 + i { F B } repeat p - 1 - i "
        "{ B } }\n"
        "device i { repeat m { F B } }\n";
    const struct kerf_schedule_request request = {.rule = "1f1b", .devices = 4, .microbatches = 4};
    struct kerf_schedule *own = parse(text, NULL), *made;
    assert_int_equal(kerf_schedule_make(&request, &made, NULL), KERF_OK);
    same(own, made);
    assert_string_equal(own->name, "1f1b.by-hand+2");
    kerf_schedule_free(own);
    kerf_schedule_free(made);
}

static void test_syntax_errors(void **state) {
    (void)state;
    refuses("", 1, 1, "no device has operations; `device i { ... }`");
    refuses("devices 2\ndevices 3", 2, 1, "devices are given twice");
    refuses("devices 0", 1, 9, "devices must lie between 1 and 4096, not 0");
    refuses("microbatches many", 1, 14, "a number is expected here, not 'many'");
    refuses("placement up", 1, 11, "loop, v, both, both_v, ring, or the device of each stage");
    refuses("placement loop placement v", 1, 16, "the placement is given twice");
    refuses("schedule {", 1, 10, "a name is expected here");
    refuses("schedule a schedule b", 1, 12, "already has a name");
    refuses("stages 4", 1, 1,
            "schedule, devices, microbatches, chunks, slices, placement, require, let or device is expected");
    refuses("device i F", 1, 10, "'{' is expected here, not 'F'");
    refuses("device i { F", 1, 13, "F, B, I, W, let, repeat, while, if or '}'");
    refuses("device i { X }", 1, 12, "'X' is not an operation; operations are F, B, I, W, R, O and L");
    refuses("device i { F0x }", 1, 12, "'F0x' is not an operation");
    refuses("device i { F99999 }", 1, 12, "'F99999' is not of a chunk");
    refuses("device i { F[0 }", 1, 16, "']' is expected here, not '}'");
    refuses("device i { F[*] }", 1, 12, "is only for W");
    refuses("device i { W[*]@1 }", 1, 12, "it cannot have an @");
    refuses("device i { F+F }", 1, 12, "only an F and a B can run together");
    refuses("device i { I+F }", 1, 12, "only an F and a B can run together");
    refuses("device i { repeat { F } }", 1, 19, "a value, such as 2, m or (p - 1), is expected here, not '{'");
    refuses("device i { repeat n { F } }", 1, 19, "no value is called 'n'; `let` gives one a name");
    refuses("device i { let warm = 1\n repeat wram { F } }", 2, 9, "no value is called 'wram'; did you mean warm?");
    refuses("device i { if 1 { let a = 1 } repeat a { F } }", 1, 38, "no value is called 'a'");
    refuses("device i { let m = 1 }", 1, 16, "'m' is a reserved word");
    refuses("device i { let a = 1 let a = 2 }", 1, 26, "'a' has a value already");
    refuses("let f(a) = a device i { repeat f(1, 2) { } }", 1, 32, "f takes 1 value, not 2");
    refuses("let f(a) = f(a)", 1, 12, "no value is called 'f'");
    refuses("device i { repeat 1 < 2 < 3 { } }", 1, 25, "comparisons cannot be chained; write a < b and b < c");
    refuses("device i { repeat 2147483648 { } }", 1, 19, "is too large; numbers go up to 2147483647");
    refuses("device i { repeat 2x { } }", 1, 19, "'2x' is not a number and not a name; a name begins with a letter");
    refuses("device i { F ; B }", 1, 14, "';' means nothing here");
    refuses("device i { if waiting(F) { } }", 1, 23,
            "waiting is only for W: waiting(W1), or waiting(W[*]) for all chunks");
    refuses("let a = 1 let a = 2", 1, 15, "'a' has a value already");
}

static void test_bounds(void **state) {
    (void)state;
    struct kerf_text text = {0};
    kerf_text_add(&text, "device i { repeat ");
    kerf_text_repeat(&text, "(", 300);
    refuses(text.data, 1, 219, "more than 200 levels deep");
    kerf_text_clear(&text);
    kerf_text_add(&text, "device i { repeat 1");
    kerf_text_repeat(&text, " + 1", 300);
    refuses(text.data, 1, 817, "is more than 200 levels deep; split it");
    kerf_text_clear(&text);
    kerf_text_add(&text, "let f0 = 1\n");
    for (int k = 1; k < 300; k++) kerf_text_printf(&text, "let f%d = f%d + f%d\n", k, k - 1, k - 1);
    refuses(text.data, 101, 16, "is more than 200 levels deep; split it");
    kerf_text_clear(&text);
    kerf_text_add(&text, "let f0 = 1\n");
    for (int k = 1; k < 90; k++) kerf_text_printf(&text, "let f%d = f%d + f%d\n", k, k - 1, k - 1);
    kerf_text_add(&text, "device i { repeat f89 { F } }");
    refuses(text.data, 3, 10, "too many steps for so few operations");
    kerf_text_clear(&text);
    kerf_text_add(&text, "device i { ");
    kerf_text_repeat(&text, "if 1 { ", 40);
    refuses(text.data, 1, 12 + 7 * 31 + 5, "blocks nest more than 32 deep");
    kerf_text_free(&text);
    refuses("device i { while 1 { } }", 1, 18, "too many steps");
    refuses("device i { repeat 2147483647 { } }", 1, 12, "too many steps");
    refuses("device i { while 1 { F@0 } }", 1, 22, "device 0 has more operations than its 1 chunk can");
}

static void test_errors_of_evaluation(void **state) {
    (void)state;
    refuses(
        "device i { repeat m + 1 { F } }", 1, 27,
        "no micro-batch is left for this F on device 0: stage 0 has run all 2; write `?` behind it to leave it out");
    refuses("device i { F W }", 1, 14, "no I of this chunk waits for its W on device 0");
    refuses("device i { F B W[*] }", 1, 16, "no I waits for its W on device 0");
    refuses("device i { F1 }", 1, 12, "device 0 has chunks 0 to 0, not 1");
    refuses("device i { F@2 }", 1, 14, "stage 0 of device 0 has micro-batches 0 to 1, not 2");
    refuses("device i { F@0.1 }", 1, 16, "a micro-batch has slices 0 to 0, not 1");
    refuses("slices 2 device i { F@0 }", 1, 21, "name one of the 2 slices");
    refuses("slices 2 device i { F F+B }", 1, 23, "slices do not run together");
    refuses("device i { repeat 1 - m { F } }", 1, 12, "repeat -1 times on device 0: the number is below 0");
    refuses("device i { repeat 1 / (p - 2) { F } }", 1, 21, "division by zero");
    refuses("device i { repeat 1 % 0 { F } }", 1, 21, "division by zero");
    refuses("let a = 2147483647 * 2147483647 device i { repeat a * a { F } }", 1, 53, "beyond 64 bits");
    refuses("device 0 { repeat m { F } repeat m { B } }", 0, 0, "no block is for device 1");
    refuses("require i == 0 device i { }", 1, 9, "only known in the block of a device");
    refuses("require count(F) == 0 device i { }", 1, 15, "only allowed in the block of a device");
    refuses("require m >= 2 * p - 1 device i { }", 1, 11,
            "the schedule requires m >= 2 * p - 1; here p is 2, m 2 and v 1");
    refuses("placement 0 1 2 device i { }", 1, 1, "stage 2 is on device 2; with 2 devices they are 0 to 1");
    refuses("placement 0 0 device i { }", 1, 1, "device 1 has no stage");
    refuses("placement both chunks 2 device i { }", 1, 1,
            "with the placement both a device has 1 chunk of each replica");
    refuses("chunks 1\nplacement both_v device i { }", 2, 1, "has 2 chunks of each replica, not 1");
    refuses("placement\n  ring 3 device i { }", 2, 8, "of them: not 3");
    refuses("placement ring 1 device i { }", 1, 16, "of them: not 1");
    refuses("placement v 0 device i { }", 1, 13, "of them: not 0");
    refuses("placement both 4 device i { }", 1, 16,
            "the placement both has 2 replicas, not 4; loop has any even number");
    refuses("placement both_v 1 device i { }", 1, 18, "has 2 replicas, not 1; v has any even number");
    refuses("placement loop 2147483646 device i { }", 1, 16, "of them: not 2147483646");
    refuses("placement loop 99999999999 device i { }", 1, 16, "is too large");
    refuses("placement loop 6 device i { }", 1, 1, "3 pairs of replicas do not go evenly around 2 devices");
    refuses("placement 0 1 / 1 device i { }", 1, 17, "this replica has 1 stage, the first one 2");
    refuses("placement 0 1 /\n device i { }", 2, 2, "this replica has 0 stages, the first one 2");
    refuses("placement 0 0 / 0 0 device i { }", 1, 1, "device 1 has no stage");
    refuses("placement 0 1 / 1 4096 device i { }", 1, 19, "on devices 0 to 4095");
    const struct kerf_schedule_file_request wide = {.devices = 4096, .microbatches = 1};
    refuses_at("chunks 7 placement loop 8192 device i { }", &wide, 1, 10,
               "28672 stages in 8192 replicas are more than");
    refuses("device i { F F B }", 0, 0, "0B1 is missing");
    refuses("device i { repeat m { B } repeat m { F } }", 0, 0, "deadlock: 0B0 on device 0 waits for 0F0");
    refuses("device 0 { F B F B } device 1 { F F B B }", 0, 0, "deadlock: ");
    const struct kerf_schedule_file_request none = {.devices = 0},
                                            chunks = {.devices = 2, .microbatches = 2, .chunks = 3};
    refuses_at("microbatches 2 device i { }", &none, 0, 0, "the number of devices is missing");
    refuses_at("devices 2 device i { }", NULL, 0, 0, "the number of micro-batches is missing");
    refuses_at("placement 0 1 device i { }", &chunks, 1, 1, "the placement has 1 chunk on a device, not 3");
    const struct kerf_schedule_file_request large = {.devices = 5000, .microbatches = 1};
    refuses_at("device i { }", &large, 0, 0, "devices must lie between 1 and 4096");
    const struct kerf_schedule_file_request many = {.devices = 4096, .microbatches = 1 << 20};
    refuses_at("device i { }", &many, 0, 0, "operations of a kind");
}

/* ---- Writing ---------------------------------------------------------------------------------------------- */

static void test_what_is_written_reads_as_the_same(void **state) {
    (void)state;
    const struct kerf_schedule_rule *rule;
    for (size_t r = 0; (rule = kerf_schedule_rule_at(r)); r++)
        for (int32_t p = 1; p <= 4; p++)
            for (int32_t m = 1; m <= 9; m++)
                for (int32_t v = 0; v <= 3; v++) {
                    const struct kerf_schedule_request request = {
                        .rule = rule->name, .devices = p, .microbatches = m, .chunks = v, .search_steps = 20000};
                    struct kerf_schedule *schedule;
                    if (kerf_schedule_make(&request, &schedule, NULL) != KERF_OK) continue;
                    check_written(schedule);
                    kerf_schedule_free(schedule);
                }
    const struct kerf_schedule_file_request two = {.devices = 2, .microbatches = 1};
    struct kerf_schedule *odd = parse("placement 1 0 0 device 0 { F0 F1 B1 B0 } device 1 { F B }", &two);
    check_written(odd);
    kerf_schedule_free(odd);
}

static void test_written_text(void **state) {
    (void)state;
    const struct kerf_schedule_file_request request = {.devices = 2, .microbatches = 1};
    struct kerf_schedule *schedule = parse("schedule s placement v device i { F0 F1 I1 I0 W[*] W[*] }", &request);
    struct kerf_text text = {0};
    assert_int_equal(kerf_schedule_text(&text, schedule, NULL), KERF_OK);
    assert_string_equal(text.data, "schedule s\ndevices 2\nmicrobatches 1\nchunks 2\nplacement v\n"
                                   "\ndevice 0 {\n    F0@0 F1@0 I1@0 I0@0 W1@0 W0@0\n}\n"
                                   "\ndevice 1 {\n    F0@0 F1@0 I1@0 I0@0 W1@0 W0@0\n}\n");
    kerf_text_free(&text);
    kerf_schedule_free(schedule);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_are_the_rules),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_placements),
        cmocka_unit_test(test_blocks_of_devices),
        cmocka_unit_test(test_syntax_errors),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_errors_of_evaluation),
        cmocka_unit_test(test_what_is_written_reads_as_the_same),
        cmocka_unit_test(test_written_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
