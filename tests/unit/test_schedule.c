/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: the rules' closed forms over grids of devices, micro-batches and times; the validator; the bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/schedule.h"

static const double GRID[][3] = {
    {1, 1, 1}, {2, 2, 1}, {1, 2, 3}, {4, 5, 3}, {1.5, 1.25, 0.75}}; /* F, B of the input, W */
enum { GRIDS = sizeof GRID / sizeof *GRID };

struct answer {
    double makespan, span, peak, bound;
};

static struct answer simulate_request(const struct kerf_schedule_request *request, const double time[3], double fused,
                                      double c) {
    const char *rule = request->rule;
    int32_t p = request->devices, m = request->microbatches;
    struct kerf_schedule *schedule;
    struct kerf_schedule_times *times;
    struct kerf_timeline *timeline;
    struct kerf_error err;
    struct kerf_schedule_times_request durations;
    kerf_schedule_times_unsaid(&durations);
    durations.forward_s = time[0], durations.backward_input_s = time[1], durations.backward_weight_s = time[2];
    durations.fused_s = fused, durations.p2p_s = c;
    if (kerf_schedule_make(request, &schedule, &err) != KERF_OK) fail_msg("%s %dx%d: %s", rule, p, m, err.message);
    if (kerf_schedule_check(schedule, &err) != KERF_OK) fail_msg("%s %dx%d: %s", rule, p, m, err.message);
    assert_int_equal(kerf_schedule_times_make(p, schedule->stages, &durations, &times, &err), KERF_OK);
    assert_int_equal(kerf_schedule_simulate(schedule, times, &timeline, &err), KERF_OK);
    struct answer answer = {timeline->makespan_s, timeline->span_s, 0,
                            kerf_schedule_lower_bound(schedule, times, timeline).makespan_s};
    for (int32_t i = 0; i < p; i++) answer.peak = fmax(answer.peak, timeline->peak_activations[i]);
    if (!(answer.bound <= answer.makespan * (1 + 1e-12)))
        fail_msg("%s %dx%d: bound %g above %g", rule, p, m, answer.bound, answer.makespan);
    kerf_timeline_free(timeline);
    kerf_schedule_times_free(times);
    kerf_schedule_free(schedule);
    return answer;
}

static struct answer simulate(const char *rule, int32_t p, int32_t m, int32_t v, const double time[3], double fused,
                              double c) {
    const struct kerf_schedule_request request = {.rule = rule, .devices = p, .microbatches = m, .chunks = v};
    return simulate_request(&request, time, fused, c);
}

static struct answer simulate_slices(const char *rule, int32_t p, int32_t m, int32_t slices, const double time[3],
                                     double c) {
    const struct kerf_schedule_request request = {.rule = rule, .devices = p, .microbatches = m, .slices = slices};
    return simulate_request(&request, time, NAN, c);
}

static void equals(const char *what, int32_t p, int32_t m, double got, double want) {
    if (!(fabs(got - want) <= 1e-9 * fmax(1, want)))
        fail_msg("%s, p=%d m=%d: %.12g, the form says %.12g", what, p, m, got, want);
}

/* Every p of 2..8, m of 2p, 3p, 4p, times of the grid, and latency c. */
#define FOR_GRID(c_values)                                                                                             \
    for (int32_t p = 2; p <= 8; p++)                                                                                   \
        for (int32_t m = 2 * p; m <= 4 * p; m += p)                                                                    \
            for (int g = 0; g < GRIDS; g++)                                                                            \
                for (int k = 0; k < (int)(sizeof(c_values) / sizeof *(c_values)); k++)

static const double NO_LATENCY[] = {0}, LATENCIES[] = {0, 0.05, 0.1};

static void test_forms_of_one_stage_a_device(void **state) {
    (void)state;
    FOR_GRID(LATENCIES) {
        const double *t = GRID[g], F = t[0], B = t[1], W = t[2], s = F + B + W, c = LATENCIES[k], P = p, M = m;
        equals("gpipe", p, m, simulate("gpipe", p, m, 0, t, NAN, c).makespan, (M + P - 1) * s + 2 * (P - 1) * c);
        equals("eager_1f1b", p, m, simulate("eager_1f1b", p, m, 0, t, NAN, c).makespan,
               (M + P - 1) * s + 2 * (P - 1) * c);
        if (p > 2)
            equals("1f1b", p, m, simulate("1f1b", p, m, 0, t, NAN, c).makespan,
                   (M + P - 1) * s + c * (2 * (P - 1) * M / P + 2 * (P - 2)));
        if (W <= fmin(F, B) && c <= W / 2)
            equals("zb_h1", p, m, simulate("zb_h1", p, m, 0, t, NAN, c).makespan,
                   M * s + (P - 1) * (F + B - W + 4 * c));
    }
    FOR_GRID(NO_LATENCY) {
        const double *t = GRID[g], F = t[0], B = t[1], W = t[2], s = F + B + W, P = p, M = m;
        if (2 * W <= F + B && W <= fmin(F, B))
            equals("zb_h2 span", p, m, simulate("zb_h2", p, m, 0, t, NAN, 0).span, M * s + (P - 1) * (F + B - 2 * W));
        equals("1f1b_overlap", p, m, simulate("1f1b_overlap", p, m, 0, t, s, 0).makespan,
               P * F + (M - 1) * s + P * (B + W));
    }
}

static void test_forms_of_chunks(void **state) {
    (void)state;
    FOR_GRID(NO_LATENCY) {
        const double *t = GRID[g], F = t[0], B = t[1], W = t[2], s = F + B + W, P = p, M = m;
        for (int32_t v = 2; v <= 4; v += 2) {
            equals("interleaved_1f1b", p, m, simulate("interleaved_1f1b", p, m, v, t, NAN, 0).makespan,
                   M * v * s + (P - 1) * s);
            equals("looped_bfs", p, m, simulate("looped_bfs", p, m, v, t, NAN, 0).makespan, M * v * s + (P - 1) * s);
            if (W <= fmin(F, B))
                equals("interleaved_zb", p, m, simulate("interleaved_zb", p, m, v, t, NAN, 0).makespan,
                       M * v * s + (P - 1) * (F + B - W));
            equals("interleaved_1f1b_overlap", p, m, simulate("interleaved_1f1b_overlap", p, m, v, t, s, 0).makespan,
                   P * v * s + (M * v - 1 - P * (v - 1)) * s);
        }
        if (F == B && B == W) {
            equals("zb_v span", p, m, simulate("zb_v", p, m, 0, t, NAN, 0).span, 2 * M * s);
            equals("zb_v", p, m, simulate("zb_v", p, m, 0, t, NAN, 0).makespan, 2 * M * s + (P - 1) * F);
        }
        if (F == B)
            equals("dualpipe_v", p, m, simulate("dualpipe_v", p, m, 0, t, s, 0).makespan,
                   2 * M * s + (P - 1) * (s + B + W - 3 * W));
        if (F == B && p % 2 == 0 && m % 2 == 0)
            equals("dualpipe", p, m, simulate("dualpipe", p, m, 0, t, s, 0).makespan,
                   M * s + (P / 2 - 1) * (s + B + W - 3 * W));
    }
}

/* Latency between devices alone: a V turns within one, and W follows its I there. The figures are those that a
 * simulator with these rules gives; charging same-device hops would give 214.2, 66.5 and 108.3. */
static void test_nothing_travels_within_a_device(void **state) {
    (void)state;
    const double ones[] = {1, 1, 1};
    equals("dualpipe_v", 8, 32, simulate("dualpipe_v", 8, 32, 0, ones, 3, 0.1).makespan, 213.2);
    equals("dualpipe_v", 4, 8, simulate("dualpipe_v", 4, 8, 0, ones, 3, 0.5).makespan, 64);
    equals("zb_h1", 8, 32, simulate("zb_h1", 8, 32, 0, ones, NAN, 0.1).makespan, 105.8);
    equals("1f1b", 8, 32, simulate("1f1b", 8, 32, 0, ones, NAN, 0.1).makespan, 123.8);
}

static void test_memory(void **state) {
    (void)state;
    for (int32_t p = 2; p <= 8; p++) {
        int32_t m = 4 * p;
        const double *t = GRID[0], P = p;
        equals("gpipe", p, m, simulate("gpipe", p, m, 0, t, NAN, 0).peak, m);
        equals("1f1b", p, m, simulate("1f1b", p, m, 0, t, NAN, 0).peak, P);
        equals("eager_1f1b", p, m, simulate("eager_1f1b", p, m, 0, t, NAN, 0).peak, 2 * P - 1);
        equals("1f1b_overlap", p, m, simulate("1f1b_overlap", p, m, 0, t, NAN, 0).peak, 2 * P);
        equals("zb_h1", p, m, simulate("zb_h1", p, m, 0, t, NAN, 0).peak, P);
        equals("zb_h2", p, m, simulate("zb_h2", p, m, 0, t, NAN, 0).peak, 2 * P - 1);
        equals("interleaved_1f1b", p, m, simulate("interleaved_1f1b", p, m, 2, t, NAN, 0).peak, (P + 2 * P - 1) / 2);
        equals("interleaved_zb", p, m, simulate("interleaved_zb", p, m, 2, t, NAN, 0).peak, P);
        equals("looped_bfs", p, m, simulate("looped_bfs", p, m, 2, t, NAN, 0).peak, m);
        equals("zb_v", p, m, simulate("zb_v", p, m, 0, t, NAN, 0).peak, P);
        equals("dualpipe_v", p, m, simulate("dualpipe_v", p, m, 0, t, NAN, 0).peak, P + 0.5);
        if (p % 2 == 0) equals("dualpipe", p, m, simulate("dualpipe", p, m, 0, t, NAN, 0).peak, P + 1);
    }
}

static void test_every_size_has_an_order(void **state) {
    (void)state;
    const struct kerf_schedule_rule *rule;
    for (size_t r = 0; (rule = kerf_schedule_rule_at(r)); r++)
        for (int32_t p = 1; p <= 6; p++)
            for (int32_t m = 1; m <= 14; m++)
                for (int32_t group = 0; group <= 9; group += 3)
                    for (int32_t v = 0; v <= 3; v++) {
                        const struct kerf_schedule_request request = {.rule = rule->name,
                                                                      .devices = p,
                                                                      .microbatches = m,
                                                                      .chunks = v,
                                                                      .group = group,
                                                                      .search_steps = 20000};
                        struct kerf_schedule *schedule;
                        struct kerf_error err;
                        if (kerf_schedule_make(&request, &schedule, &err) !=
                            KERF_OK) { /* refused by its constraint, in words */
                            assert_true(v > 0 || rule->constraint || (group > 0 && group < p));
                            assert_true(strlen(err.message) > 10);
                            continue;
                        }
                        if (kerf_schedule_check(schedule, &err) != KERF_OK)
                            fail_msg("%s p=%d m=%d v=%d group=%d: %s", rule->name, p, m, v, group, err.message);
                        kerf_schedule_free(schedule);
                    }
}

/* Where a short last group would deadlock, groups that nobody asked for are larger; the error of others names one that
 * works. */
static void test_interleaved_takes_any_remainder(void **state) {
    (void)state;
    static const char *const rules[] = {"interleaved_1f1b", "interleaved_1f1b_overlap", "interleaved_zb"};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (int32_t p = 1; p <= 6; p++)
            for (int32_t m = 1; m <= 2 * p + 3; m++)
                for (int32_t v = 2; v <= 4; v++)
                    for (int32_t group = 0; group <= m + 1; group++) {
                        struct kerf_schedule_request request = {
                            .rule = rules[r], .devices = p, .microbatches = m, .chunks = v, .group = group};
                        struct kerf_schedule *schedule = NULL;
                        struct kerf_error err = {.code = KERF_OK};
                        if (kerf_schedule_make(&request, &schedule, &err) != KERF_OK && group > 0) {
                            const char *nearest = strstr(err.message, "; a group of ");
                            assert_non_null(nearest);
                            request.group = (int32_t)strtol(nearest + strlen("; a group of "), NULL, 10);
                            assert_true(request.group > group);
                            kerf_schedule_make(&request, &schedule, &err);
                        }
                        if (schedule == NULL)
                            fail_msg("%s p=%d m=%d v=%d group=%d: %s", rules[r], p, m, v, group, err.message);
                        assert_int_equal(kerf_schedule_check(schedule, NULL), KERF_OK);
                        kerf_schedule_free(schedule);
                    }
}

/* A schedule of two devices and one micro-batch, given by its operations. */
static int32_t check_two(const struct kerf_op *first, int32_t num_first, const struct kerf_op *second,
                         int32_t num_second, struct kerf_error *err) {
    const int32_t device_of[] = {0, 1}, num_ops[] = {num_first, num_second};
    const struct kerf_op *const ops[] = {first, second};
    const struct kerf_schedule schedule = {.name = "own",
                                           .devices = 2,
                                           .stages = 2,
                                           .microbatches = 1,
                                           .chunks = 1,
                                           .replicas = 1,
                                           .slices = 1,
                                           .device_of = device_of,
                                           .ops = ops,
                                           .num_ops = num_ops};
    return kerf_schedule_check(&schedule, err);
}

static void test_validator(void **state) {
    (void)state;
    const struct kerf_op f0 = {0, -1, 0, -1, KERF_OP_F, 0}, f1 = {0, -1, 1, -1, KERF_OP_F, 0},
                         b0 = {0, -1, 0, -1, KERF_OP_B, 0}, b1 = {0, -1, 1, -1, KERF_OP_B, 0},
                         i1 = {0, -1, 1, -1, KERF_OP_I, 0}, w1 = {0, -1, 1, -1, KERF_OP_W, 0};
    struct kerf_error err;
    assert_int_equal(check_two((struct kerf_op[]){f0, b0}, 2, (struct kerf_op[]){f1, b1}, 2, &err), KERF_OK);
    assert_int_equal(check_two((struct kerf_op[]){f0, b0}, 2, (struct kerf_op[]){f1, i1, w1}, 3, &err), KERF_OK);
    assert_int_equal(check_two((struct kerf_op[]){f0, b0}, 2, (struct kerf_op[]){f1, i1}, 2, &err), KERF_EINVALID);
    assert_string_equal(err.message, "1W0 is missing");
    assert_int_equal(check_two((struct kerf_op[]){f0}, 1, (struct kerf_op[]){f1, b1}, 2, &err), KERF_EINVALID);
    assert_string_equal(err.message, "0B0 is missing");
    assert_int_equal(check_two((struct kerf_op[]){f0, f0, b0}, 3, (struct kerf_op[]){f1, b1}, 2, &err), KERF_EINVALID);
    assert_string_equal(err.message, "0F0 appears twice on device 0");
    assert_int_equal(check_two((struct kerf_op[]){f0, b0, f1}, 3, (struct kerf_op[]){b1}, 1, &err), KERF_EINVALID);
    assert_string_equal(err.message, "1F0 is on device 0, but stage 1 is on device 1");
    assert_int_equal(check_two((struct kerf_op[]){f0, b0}, 2, (struct kerf_op[]){f1, b1, w1}, 3, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "both a whole and a split backward"));
    assert_int_equal(check_two((struct kerf_op[]){b0, f0}, 2, (struct kerf_op[]){f1, b1}, 2, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "deadlock: 0B0 on device 0 waits for 0F0"));
    assert_int_equal(check_two((struct kerf_op[]){f0, b0}, 2, (struct kerf_op[]){b1, f1}, 2, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "deadlock: 1B0 on device 1 waits for 1F0"));
}

static void test_refusals_say_what_would_be_right(void **state) {
    (void)state;
    static const struct {
        const char *rule;
        int32_t devices, microbatches, chunks, group, slices;
        const char *words;
    } cases[] = {
        {"1f2b", 4, 8, 0, 0, 0, "did you mean 1f1b?"},
        {"1f1b", 0, 8, 0, 0, 0, "devices must lie between 1 and 4096, not 0"},
        {"1f1b", 4, 0, 0, 0, 0, "microbatches must lie between 1 and 1048576, not 0"},
        {"1f1b", 4, 8, 2, 0, 0, "1f1b has 1 chunk a device, not 2"},
        {"1f1b_overlap", 4, 6, 0, 0, 0, "at least 2p-1 = 7 micro-batches on 4 devices, not 6"},
        {"dualpipe_v", 4, 6, 0, 0, 0, "at least 2p-1 = 7 micro-batches on 4 devices, not 6"},
        {"dualpipe", 3, 8, 0, 0, 0, "an even number of devices, such as 2 or 4, not 3"},
        {"dualpipe", 4, 7, 0, 0, 0, "an even number of micro-batches, such as 8, not 7"},
        {"dualpipe", 8, 12, 0, 0, 0, "at least 2p-2 = 14 micro-batches on 8 devices, not 12"},
        {"interleaved_1f1b", 4, 8, 2, 2, 0, "deadlock: "},
        {"interleaved_1f1b", 4096, 8, 9, 0, 0, "there may be 1 to 32767 stages"},
        {"interleaved_1f1b", 4096, 1048576, 4, 0, 0, "are more than"},
        {"1f1b", 4, 8, 0, 0, 2, "seq1f1b does"},
        {"seq1f1b", 4, 8, 0, 0, 5000, "slices must lie between 1 and 4096, not 5000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_schedule *schedule = NULL;
        struct kerf_error err;
        const struct kerf_schedule_request request = {.rule = cases[i].rule,
                                                      .devices = cases[i].devices,
                                                      .microbatches = cases[i].microbatches,
                                                      .chunks = cases[i].chunks,
                                                      .group = cases[i].group,
                                                      .slices = cases[i].slices};
        assert_int_not_equal(kerf_schedule_make(&request, &schedule, &err), KERF_OK);
        if (!strstr(err.message, cases[i].words)) fail_msg("'%s' does not say '%s'", err.message, cases[i].words);
        assert_null(schedule);
    }
}

/* Idle share (p-2)/(3m/2+p-2) at m = p and a backward twice as long as a forward (the paper's, exact for these). */
static void test_chimera(void **state) {
    (void)state;
    const double t[] = {1, 1, 1};
    for (int32_t p = 4; p <= 16; p *= 2) {
        struct answer answer = simulate("chimera", p, p, 0, t, NAN, 0);
        equals("chimera", p, p, answer.makespan, 3 * p + 2 * (p - 2));
        assert_true(answer.peak <= p);
    }
}

/* 1F1B over k slices: the bubble of a pipeline of slices, and p + k - 1 of them held. */
static void test_seq1f1b(void **state) {
    (void)state;
    FOR_GRID(NO_LATENCY) {
        const double *t = GRID[g], s = t[0] + t[1] + t[2], P = p, M = m;
        for (int32_t slices = 1; slices <= 4; slices++) {
            struct answer answer = simulate_slices("seq1f1b", p, m, slices, t, NO_LATENCY[k]);
            equals("seq1f1b memory", p, m, answer.peak, fmin(M * slices, P + slices - 1) / slices);
            equals("seq1f1b", p, m, answer.makespan, M * s + (P - 1) * s / slices);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_of_one_stage_a_device),
        cmocka_unit_test(test_forms_of_chunks),
        cmocka_unit_test(test_nothing_travels_within_a_device),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_every_size_has_an_order),
        cmocka_unit_test(test_interleaved_takes_any_remainder),
        cmocka_unit_test(test_validator),
        cmocka_unit_test(test_chimera),
        cmocka_unit_test(test_seq1f1b),
        cmocka_unit_test(test_refusals_say_what_would_be_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
