/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator against the plain one: every rule, uneven stages, latencies by pair, blocking sends, shared links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include "kerf/schedule.h"
#include "plain_simulate.h"

enum { STAGES_MAX = 64, DEVICES_MAX = 8, OPS_MAX = 4096 };

static uint32_t seed;
static double draw(double most) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) * (most / (1 << 24));
}

struct own_times {
    double forward[STAGES_MAX], whole[STAGES_MAX], input[STAGES_MAX], weight[STAGES_MAX], fused[STAGES_MAX];
    double p2p[DEVICES_MAX * DEVICES_MAX], bytes[STAGES_MAX];
    struct kerf_schedule_times times;
};

static void draw_times(struct own_times *own, int variant) {
    for (int k = 0; k < STAGES_MAX; k++) {
        own->forward[k] = draw(2);
        own->input[k] = draw(2);
        own->weight[k] = draw(2);
        own->whole[k] = own->input[k] + own->weight[k];
        own->fused[k] = draw(3);
        own->bytes[k] = floor(draw(1000));
    }
    for (int k = 0; k < DEVICES_MAX * DEVICES_MAX; k++) own->p2p[k] = draw(0.5);
    own->times = (struct kerf_schedule_times){.forward_s = own->forward,
                                              .backward_s = own->whole,
                                              .backward_input_s = own->input,
                                              .backward_weight_s = own->weight,
                                              .fused_s = variant & 8 ? own->fused : NULL,
                                              .p2p_s = 0.25,
                                              .p2p_of_s = variant & 1 ? own->p2p : NULL,
                                              .overhead_s = variant & 8 ? 0.01 : 0,
                                              .blocking = (variant & 2) != 0,
                                              .shared_link = (variant & 4) != 0,
                                              .free_at_input = variant & 1,
                                              .activation_bytes = own->bytes};
}

/* Held over time, from the operations' times alone. */
static double peak_bytes(const struct kerf_schedule *schedule, const struct own_times *own, int32_t device) {
    double held = 0, most = 0;
    for (int32_t k = 0; k < schedule->num_ops[device]; k++) {
        const struct kerf_op *op = &schedule->ops[device][k];
        if (op->kind == KERF_OP_F || op->kind == KERF_OP_FB) held += own->bytes[op->stage] / schedule->slices;
        most = fmax(most, held);
        if (op->kind == KERF_OP_B || op->kind == (own->times.free_at_input ? KERF_OP_I : KERF_OP_W))
            held -= own->bytes[op->stage] / schedule->slices;
        if (op->kind == KERF_OP_FB) held -= own->bytes[op->with_stage];
    }
    return most;
}

static void compare(const struct kerf_schedule *schedule, const struct own_times *own) {
    static double starts[DEVICES_MAX][OPS_MAX], ends[DEVICES_MAX][OPS_MAX];
    double *start[DEVICES_MAX], *end[DEVICES_MAX], x[2 * OPS_MAX], y[2 * OPS_MAX];
    struct kerf_timeline *timeline;
    struct kerf_error err;
    for (int i = 0; i < DEVICES_MAX; i++) start[i] = starts[i], end[i] = ends[i];
    if (kerf_schedule_simulate(schedule, &own->times, &timeline, &err) != KERF_OK) fail_msg("%s", err.message);
    assert_true(plain_simulate(schedule, &own->times, start, end));
    for (int32_t i = 0; i < schedule->devices; i++) {
        for (int32_t k = 0; k < schedule->num_ops[i]; k++)
            if (!(fabs(timeline->start_s[i][k] - start[i][k]) < 1e-9 && fabs(timeline->end_s[i][k] - end[i][k]) < 1e-9))
                fail_msg("%s, device %d, operation %d: %.12g to %.12g, plain %.12g to %.12g", schedule->name, i, k,
                         timeline->start_s[i][k], timeline->end_s[i][k], start[i][k], end[i][k]);
        double most = 0, peak = peak_bytes(schedule, own, i);
        int32_t steps = kerf_timeline_memory(schedule, &own->times, timeline, i, 1, x, y);
        for (int32_t k = 0; k < steps; k++) most = fmax(most, y[k]);
        assert_true(fabs(most - peak) < 1e-6 && timeline->peak_bytes[i] == most);
        assert_true(fabs(y[steps - 1]) < 1e-6); /* nothing is held in the end */
        for (int32_t k = 1; k < steps; k++) assert_true(x[k] >= x[k - 1]);
    }
    const struct kerf_schedule_bound bound = kerf_schedule_lower_bound(schedule, &own->times, timeline);
    assert_true(bound.makespan_s <= timeline->makespan_s && bound.span_s <= timeline->span_s);
    kerf_timeline_free(timeline);
}

static void test_every_rule(void **state) {
    (void)state;
    static struct own_times own;
    const struct kerf_schedule_rule *rule;
    for (size_t r = 0; (rule = kerf_schedule_rule_at(r)); r++)
        for (int32_t p = 1; p <= 6; p++)
            for (int32_t m = 4; m <= 12; m += 4)
                for (int variant = 0; variant < 16; variant++) {
                    struct kerf_schedule *schedule;
                    const struct kerf_schedule_request request = {
                        .rule = rule->name, .devices = p, .microbatches = m, .search_steps = 20000};
                    if (kerf_schedule_make(&request, &schedule, NULL) != KERF_OK) continue;
                    seed = (uint32_t)(variant * 1000 + p * 10 + m);
                    draw_times(&own, variant);
                    compare(schedule, &own);
                    kerf_schedule_free(schedule);
                }
}

/* Blocking sends, a shared link and an overhead make a step longer, or leave it as it is. */
static void test_more_constraints_take_longer(void **state) {
    (void)state;
    static struct own_times own;
    struct kerf_schedule *schedule;
    const struct kerf_schedule_request request = {
        .rule = "interleaved_1f1b", .devices = 4, .microbatches = 8, .chunks = 2};
    assert_int_equal(kerf_schedule_make(&request, &schedule, NULL), KERF_OK);
    for (uint32_t round = 0; round < 50; round++) {
        double least = 0;
        for (int variant = 0; variant < 4; variant++) {
            struct kerf_timeline *timeline;
            seed = round;
            draw_times(&own, variant == 0 ? 0 : variant == 1 ? 4 : variant == 2 ? 2 : 6);
            assert_int_equal(kerf_schedule_simulate(schedule, &own.times, &timeline, NULL), KERF_OK);
            if (variant == 0) least = timeline->makespan_s;
            assert_true(timeline->makespan_s >= least - 1e-9);
            kerf_timeline_free(timeline);
        }
    }
    kerf_schedule_free(schedule);
}

/* The time until the next step: when all are done, or when the device is done that takes longest by itself. */
static void test_step(void **state) {
    (void)state;
    static struct own_times own;
    struct kerf_schedule *schedule;
    struct kerf_timeline *timeline;
    const struct kerf_schedule_request request = {.rule = "zb_h2", .devices = 4, .microbatches = 8};
    assert_int_equal(kerf_schedule_make(&request, &schedule, NULL), KERF_OK);
    draw_times(&own, 0);
    own.times.optimizer_s = 2;
    assert_int_equal(kerf_schedule_simulate(schedule, &own.times, &timeline, NULL), KERF_OK);
    assert_true(timeline->step_s == timeline->makespan_s + 2 && timeline->span_s <= timeline->makespan_s);
    kerf_timeline_free(timeline);
    own.times.unsynchronised = 1;
    assert_int_equal(kerf_schedule_simulate(schedule, &own.times, &timeline, NULL), KERF_OK);
    assert_true(timeline->step_s == timeline->span_s + 2);
    kerf_timeline_free(timeline);
    kerf_schedule_free(schedule);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rule),
        cmocka_unit_test(test_more_constraints_take_longer),
        cmocka_unit_test(test_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
