/* SPDX-License-Identifier: Apache-2.0 */
/* The searches for zero-bubble orders, on random pipelines: what they make is a schedule, keeps the cap, and is no
 * shorter than any bound; what nothing can keep is refused in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/schedule.h"

enum { DEVICES_MAX = 9, STAGES_MAX = 2 * DEVICES_MAX };

static uint64_t random_state = 1;
static int32_t random_up_to(int32_t most) {
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (int32_t)((random_state >> 33) % (uint64_t)(most + 1));
}

/* Times with room for any pipeline of the test. */
struct pipeline {
    struct kerf_schedule_times times;
    double forward[STAGES_MAX], input[STAGES_MAX], weight[STAGES_MAX], both[STAGES_MAX], bytes[STAGES_MAX];
    double p2p[DEVICES_MAX * DEVICES_MAX], cap[DEVICES_MAX];
};

static void connect(struct pipeline *pipeline) {
    pipeline->times.forward_s = pipeline->forward;
    pipeline->times.backward_input_s = pipeline->input;
    pipeline->times.backward_weight_s = pipeline->weight;
    pipeline->times.backward_s = pipeline->both;
}

static void set_equal_times(struct pipeline *pipeline, double forward, double input, double weight, double p2p) {
    memset(pipeline, 0, sizeof *pipeline);
    for (int32_t k = 0; k < STAGES_MAX; k++) {
        pipeline->forward[k] = forward, pipeline->input[k] = input, pipeline->weight[k] = weight;
        pipeline->both[k] = input + weight;
    }
    pipeline->times.p2p_s = p2p;
    connect(pipeline);
}

static void set_random_times(struct pipeline *pipeline, int32_t p) {
    static const double units[] = {1, 0.1, 1e-6, 0.37};
    double unit = units[random_up_to(3)];
    int32_t longest = 1 << random_up_to(10), even = random_up_to(1);
    set_equal_times(pipeline, unit * random_up_to(longest), unit * random_up_to(longest), unit * random_up_to(longest),
                    random_up_to(1) ? 0 : unit * random_up_to(longest));
    for (int32_t k = 0; k < STAGES_MAX && !even; k++) {
        pipeline->forward[k] = unit * random_up_to(longest);
        pipeline->input[k] = unit * random_up_to(longest);
        pipeline->weight[k] = unit * random_up_to(longest);
        pipeline->both[k] = pipeline->input[k] + pipeline->weight[k];
    }
    for (int32_t k = 0; k < p * p; k++) pipeline->p2p[k] = unit * random_up_to(longest);
    if (random_up_to(3) == 0) pipeline->times.p2p_of_s = pipeline->p2p;
    pipeline->times.free_at_input = random_up_to(4) == 0;
}

/* Caps that hold a micro-batch at least, in micro-batches or in bytes; sometimes none. */
static void set_random_cap(struct pipeline *pipeline, int32_t p, int32_t stages) {
    int32_t how = random_up_to(3);
    for (int32_t k = 0; k < stages; k++) pipeline->bytes[k] = 1 + random_up_to(1000) / 8.0;
    for (int32_t d = 0; d < p; d++) {
        double least = stages == p ? pipeline->bytes[d] : pipeline->bytes[d] + pipeline->bytes[2 * p - 1 - d];
        pipeline->cap[d] = how == 1 ? 1 + p / 2 : 1 + random_up_to(4 * p) / 2.0;
        if (how == 3) pipeline->cap[d] *= least;
    }
    if (how == 0) return;
    pipeline->times.cap = pipeline->cap;
    pipeline->times.cap_in_bytes = how == 3;
    if (how == 3) pipeline->times.activation_bytes = pipeline->bytes;
}

struct result {
    double makespan, span, peak, bound;
    int32_t over_cap;
};

static struct result search(const char *rule, int32_t p, int32_t m, const struct pipeline *pipeline) {
    const struct kerf_schedule_request request = {
        .rule = rule, .devices = p, .microbatches = m, .times = &pipeline->times};
    struct kerf_schedule *schedule;
    struct kerf_timeline *timeline;
    struct kerf_error err;
    if (kerf_schedule_make(&request, &schedule, &err) != KERF_OK) fail_msg("%s %dx%d: %s", rule, p, m, err.message);
    if (kerf_schedule_check(schedule, &err) != KERF_OK) fail_msg("%s %dx%d: %s", rule, p, m, err.message);
    assert_int_equal(kerf_schedule_simulate(schedule, &pipeline->times, &timeline, &err), KERF_OK);
    struct result result = {timeline->makespan_s, timeline->span_s, 0,
                            kerf_schedule_lower_bound(schedule, &pipeline->times, timeline).makespan_s,
                            timeline->over_cap};
    for (int32_t d = 0; d < p; d++) result.peak = fmax(result.peak, timeline->peak_activations[d]);
    kerf_timeline_free(timeline);
    kerf_schedule_free(schedule);
    return result;
}

static const struct {
    const char *name;
    int32_t chunks, keeps_cap;
} rules[] = {{"zb_1p", 1, 1}, {"zb_2p", 1, 1}, {"zb_v_searched", 2, 1}, {"v_half", 2, 0}, {"v_min", 2, 0}};
enum { RULES = sizeof rules / sizeof *rules };

static void test_random_pipelines(void **state) {
    (void)state;
    for (int n = 0; n < 3000; n++) {
        struct pipeline pipeline;
        int r = n % RULES;
        int32_t p = 1 + random_up_to(DEVICES_MAX - 1), m = 1 + random_up_to(random_up_to(1) ? 3 : 4 * p);
        set_random_times(&pipeline, p);
        set_random_cap(&pipeline, p, p * rules[r].chunks);
        struct result result = search(rules[r].name, p, m, &pipeline);
        assert_true(result.span <= result.makespan);
        if (rules[r].keeps_cap) assert_int_equal(result.over_cap, -1);
        if (result.over_cap < 0 && !(result.bound <= result.makespan * (1 + 1e-12)))
            fail_msg("%s %dx%d: %.17g below the bound %.17g", rules[r].name, p, m, result.makespan, result.bound);
    }
}

/* The least cap of all, one micro-batch, is always kept. */
static void test_one_place(void **state) {
    (void)state;
    for (int r = 0; r < RULES; r++)
        for (int32_t p = 1; p <= DEVICES_MAX && rules[r].keeps_cap; p++)
            for (int32_t m = 1; m <= 4; m++) {
                struct pipeline pipeline;
                set_random_times(&pipeline, p);
                for (int32_t d = 0; d < p; d++) pipeline.cap[d] = 1;
                pipeline.times.cap = pipeline.cap;
                assert_true(search(rules[r].name, p, m, &pipeline).peak <= 1);
            }
}

static void test_memory_without_a_cap(void **state) {
    (void)state;
    for (int32_t p = 1; p <= DEVICES_MAX; p++)
        for (int32_t m = 1; m <= 4 * p; m += p) {
            struct pipeline pipeline;
            set_random_times(&pipeline, p);
            pipeline.times.free_at_input = 0;
            assert_true(search("zb_1p", p, m, &pipeline).peak <= p);
            assert_true(search("zb_2p", p, m, &pipeline).peak <= 2 * p);
            assert_true(search("zb_v_searched", p, m, &pipeline).peak <= p);
            assert_true(search("v_half", p, m, &pipeline).peak <= (p + 2) / 2);
            assert_true(search("v_min", p, m, &pipeline).peak <= (p + 4) / 3);
        }
}

/* Equal stages without latency: what the hand-made schedules reach is reached. */
static void test_equal_stages(void **state) {
    (void)state;
    static const double grid[][3] = {{1, 1, 1}, {2, 2, 1}, {18.5, 18.1, 9.3}, {10, 11, 8}};
    for (size_t g = 0; g < sizeof grid / sizeof *grid; g++)
        for (int32_t p = 1; p <= DEVICES_MAX; p++)
            for (int32_t m = 2 * p; m <= 4 * p; m += p) {
                const double F = grid[g][0], B = grid[g][1], W = grid[g][2], s = F + B + W;
                struct pipeline pipeline;
                set_equal_times(&pipeline, F, B, W, 0);
                double enough = 1 + 1e-12;
                assert_true(search("zb_1p", p, m, &pipeline).span <= (m * s + (p - 1) * (F + B - W)) * enough);
                assert_true(search("zb_2p", p, m, &pipeline).span <= (m * s + (p - 1) * (F + B - 2 * W)) * enough);
                if (g == 0) assert_true(search("zb_v_searched", p, m, &pipeline).span <= 2 * m * s * enough);
            }
}

static void test_one_device_or_one_microbatch(void **state) {
    (void)state;
    struct pipeline pipeline;
    set_equal_times(&pipeline, 3, 4, 2, 0.5);
    for (int r = 0; r < RULES; r++)
        for (int32_t k = 1; k <= DEVICES_MAX; k++) {
            double stages = rules[r].chunks * k, way = rules[r].chunks * 2 * (k - 1) * 0.5;
            assert_float_equal(search(rules[r].name, 1, k, &pipeline).makespan, stages * 9, 1e-9);
            double whole = search(rules[r].name, k, 1, &pipeline).makespan;
            assert_true(whole >= stages * 7 + way + 2 - 1e-9 && whole <= stages * 7 + way + 2 * rules[r].chunks + 1e-9);
        }
}

static void test_infeasible_caps(void **state) {
    (void)state;
    static const struct {
        const char *rule, *words;
        double cap;
        int32_t in_bytes;
    } cases[] = {
        {"zb_1p", "zb_1p needs a cap of at least 1 micro-batch on device 2, not 0.5", 0.5, 0},
        {"zb_2p", "zb_2p needs a cap of at least 1 micro-batch on device 2, not 0", 0, 0},
        {"zb_v_searched", "zb_v_searched needs a cap of at least 1 micro-batch on device 2, not 0.99", 0.99, 0},
        {"zb_1p", "at least 1000 bytes, one micro-batch, on device 2, not 999", 999, 1},
        {"zb_v_searched", "at least 2000 bytes, one micro-batch through both chunks, on device 2, not 1500", 1500, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct pipeline pipeline;
        struct kerf_schedule *schedule = NULL;
        struct kerf_error err;
        set_equal_times(&pipeline, 1, 1, 1, 0);
        for (int32_t i = 0; i < STAGES_MAX; i++) pipeline.bytes[i] = 1000;
        for (int32_t d = 0; d < 4; d++) pipeline.cap[d] = d == 2 ? cases[k].cap : 1e6;
        pipeline.times.cap = pipeline.cap;
        pipeline.times.cap_in_bytes = cases[k].in_bytes;
        if (cases[k].in_bytes) pipeline.times.activation_bytes = pipeline.bytes;
        const struct kerf_schedule_request request = {
            .rule = cases[k].rule, .devices = 4, .microbatches = 8, .times = &pipeline.times};
        assert_int_equal(kerf_schedule_make(&request, &schedule, &err), KERF_EINFEASIBLE);
        if (!strstr(err.message, cases[k].words)) fail_msg("'%s' does not say '%s'", err.message, cases[k].words);
        assert_null(schedule);
    }
}

/* Tenths, which no double holds exactly, give zb_1p and zb_2p the order that whole numbers give. (zb_v_searched sums as
 * its original does, where roundings break ties.) */
static void test_the_unit_of_time_does_not_matter(void **state) {
    (void)state;
    for (int n = 0; n < 60; n++) {
        int32_t p = 1 + random_up_to(DEVICES_MAX - 1), m = 1 + random_up_to(2 * p);
        struct pipeline whole, tenths;
        set_equal_times(&whole, 1, 1, 1, random_up_to(3));
        for (int32_t k = 0; k < STAGES_MAX; k++) whole.forward[k] = 1 + random_up_to(9);
        tenths = whole;
        connect(&tenths);
        for (int32_t k = 0; k < STAGES_MAX; k++)
            tenths.forward[k] /= 10, tenths.input[k] /= 10, tenths.weight[k] /= 10, tenths.both[k] /= 10;
        tenths.times.p2p_s /= 10;
        const char *rule = rules[n % 2].name;
        struct result a = search(rule, p, m, &whole), b = search(rule, p, m, &tenths);
        assert_float_equal(a.makespan, 10 * b.makespan, 1e-9 * a.makespan);
        assert_float_equal(a.span, 10 * b.span, 1e-9 * a.span);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_pipelines),
        cmocka_unit_test(test_one_place),
        cmocka_unit_test(test_memory_without_a_cap),
        cmocka_unit_test(test_equal_stages),
        cmocka_unit_test(test_one_device_or_one_microbatch),
        cmocka_unit_test(test_infeasible_caps),
        cmocka_unit_test(test_the_unit_of_time_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
