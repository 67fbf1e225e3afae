/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator against the plain one: every rule, uneven stages, latencies by pair, blocking sends, shared links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
static double peak_bytes(const struct kerf_schedule *schedule, const struct own_times *own,
                         const struct kerf_schedule_slices *slices, int32_t device) {
    double held = 0, most = 0;
    for (int32_t k = 0; k < schedule->num_ops[device]; k++) {
        const struct kerf_op *op = &schedule->ops[device][k];
        const double share = slices ? slices->tokens[op->slice] : 1. / schedule->slices;
        if (op->kind == KERF_OP_F || op->kind == KERF_OP_FB) held += own->bytes[op->stage] * share;
        most = fmax(most, held);
        if (op->kind == KERF_OP_B || op->kind == (own->times.free_at_input ? KERF_OP_I : KERF_OP_W))
            held -= own->bytes[op->stage] * share;
        if (op->kind == KERF_OP_FB) held -= own->bytes[op->with_stage];
    }
    return most;
}

static void compare(const struct kerf_schedule *schedule, const struct own_times *own,
                    const struct kerf_schedule_slices *slices) {
    static double starts[DEVICES_MAX][OPS_MAX], ends[DEVICES_MAX][OPS_MAX];
    double *start[DEVICES_MAX], *end[DEVICES_MAX], x[2 * OPS_MAX], y[2 * OPS_MAX];
    struct kerf_timeline *timeline;
    struct kerf_error err;
    for (int i = 0; i < DEVICES_MAX; i++) start[i] = starts[i], end[i] = ends[i];
    if (kerf_schedule_simulate_slices(schedule, &own->times, slices, &timeline, &err) != KERF_OK)
        fail_msg("%s", err.message);
    assert_true(plain_simulate(schedule, &own->times, slices, start, end));
    for (int32_t i = 0; i < schedule->devices; i++) {
        for (int32_t k = 0; k < schedule->num_ops[i]; k++)
            if (!(fabs(timeline->start_s[i][k] - start[i][k]) < 1e-9 && fabs(timeline->end_s[i][k] - end[i][k]) < 1e-9))
                fail_msg("%s, device %d, operation %d: %.12g to %.12g, plain %.12g to %.12g", schedule->name, i, k,
                         timeline->start_s[i][k], timeline->end_s[i][k], start[i][k], end[i][k]);
        double most = 0, peak = peak_bytes(schedule, own, slices, i);
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
                    compare(schedule, &own, NULL);
                    kerf_schedule_free(schedule);
                }
}

/* Slices of any length that take any time. */
static void draw_shares(int32_t count, double *shares) {
    double sum = 0;
    for (int32_t j = 0; j < count; j++) sum += shares[j] = 0.01 + draw(1);
    for (int32_t j = 0; j < count; j++) shares[j] /= sum;
}

static void test_unequal_slices(void **state) {
    (void)state;
    static struct own_times own;
    static double shares[5][16];
    const struct kerf_schedule_rule *rule;
    int compared = 0;
    for (size_t r = 0; (rule = kerf_schedule_rule_at(r)); r++)
        for (int32_t p = 1; p <= 4 && kerf_schedule_takes_slices(rule->name); p++)
            for (int32_t count = 1; count <= 8; count++)
                for (int variant = 0; variant < 16; variant++) {
                    struct kerf_schedule *schedule;
                    const struct kerf_schedule_request request = {
                        .rule = rule->name, .devices = p, .microbatches = 4, .slices = count};
                    if (kerf_schedule_make(&request, &schedule, NULL) != KERF_OK) continue;
                    seed = (uint32_t)(variant * 1000 + p * 10 + count);
                    draw_times(&own, variant);
                    for (int of = 0; of < 5; of++) draw_shares(count, shares[of]);
                    const struct kerf_schedule_slices slices = {.count = count,
                                                                .tokens = shares[0],
                                                                .forward = shares[1],
                                                                .backward = shares[2],
                                                                .backward_input = shares[3],
                                                                .backward_weight = shares[4]};
                    compare(schedule, &own, &slices);
                    compared++;
                    kerf_schedule_free(schedule);
                }
    assert_true(compared > 1000);
}

/* ---- Recomputation and offload ---------------------------------------------------------------------------- */

struct own_moves {
    double recompute[STAGES_MAX], recompute_s[STAGES_MAX], offload[STAGES_MAX], offload_s[STAGES_MAX],
        load_s[STAGES_MAX];
};

static void draw_moves(struct own_times *own, struct own_moves *moves, int variant) {
    for (int k = 0; k < STAGES_MAX; k++) {
        moves->recompute[k] = 0.1 + draw(0.9);
        moves->recompute_s[k] = 0.1 + draw(1);
        moves->offload[k] = 0.1 + draw(0.9);
        moves->offload_s[k] = 0.1 + draw(1);
        moves->load_s[k] = 0.1 + draw(1);
        own->forward[k] += 0.01, own->input[k] += 0.01, own->weight[k] += 0.01, own->whole[k] += 0.02;
    }
    if (variant & 1) own->times.recompute_share = moves->recompute, own->times.recompute_s = moves->recompute_s;
    if (variant & 2) own->times.offload_share = moves->offload;
    own->times.offload_s = moves->offload_s;
    own->times.load_s = moves->load_s;
    own->times.host_link_shared = variant & 4;
}

/* The operation of a kind of a unit on its device; a fused one has two. */
static int32_t find_op(const struct kerf_schedule *schedule, int32_t device, int kind, const struct kerf_op *of) {
    for (int32_t k = 0; k < schedule->num_ops[device]; k++) {
        const struct kerf_op *op = &schedule->ops[device][k];
        if (op->kind == kind && op->stage == of->stage && op->microbatch == of->microbatch && op->slice == of->slice)
            return k;
    }
    return -1;
}

/* What is held at a time, unit by unit. */
static double held_at(const struct kerf_schedule *schedule, const struct own_times *own,
                      const struct kerf_timeline *timeline, int32_t device, double time) {
    const double *start = timeline->start_s[device], *end = timeline->end_s[device];
    double held = 0;
    for (int32_t k = 0; k < schedule->num_ops[device]; k++) {
        const struct kerf_op *op = &schedule->ops[device][k];
        if (op->kind != KERF_OP_F || start[k] > time) continue;
        int32_t last = find_op(schedule, device, KERF_OP_B, op), r = find_op(schedule, device, KERF_OP_R, op),
                o = find_op(schedule, device, KERF_OP_O, op), l = find_op(schedule, device, KERF_OP_L, op);
        if (last < 0) last = find_op(schedule, device, own->times.free_at_input ? KERF_OP_I : KERF_OP_W, op);
        if (end[last] <= time) continue;
        const double all = own->bytes[op->stage] / schedule->slices;
        const double again = r >= 0 ? all * own->times.recompute_share[op->stage] : 0;
        held += all;
        if (r >= 0 && end[k] <= time && start[r] > time) held -= again;
        if (o >= 0 && end[o] <= time && start[l] > time) held -= (all - again) * own->times.offload_share[op->stage];
    }
    return held;
}

static void compare_moved(const struct kerf_schedule *schedule, const struct own_times *own) {
    static double starts[DEVICES_MAX][OPS_MAX], ends[DEVICES_MAX][OPS_MAX];
    double *start[DEVICES_MAX], *end[DEVICES_MAX], x[2 * OPS_MAX], y[2 * OPS_MAX];
    struct kerf_timeline *timeline;
    struct kerf_error err;
    for (int i = 0; i < DEVICES_MAX; i++) start[i] = starts[i], end[i] = ends[i];
    if (kerf_schedule_check(schedule, &err) != KERF_OK) fail_msg("%s: %s", schedule->name, err.message);
    if (kerf_schedule_simulate(schedule, &own->times, &timeline, &err) != KERF_OK) fail_msg("%s", err.message);
    assert_true(plain_simulate(schedule, &own->times, NULL, start, end));
    for (int32_t i = 0; i < schedule->devices; i++) {
        double most = 0, peak = 0;
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            if (!(fabs(timeline->start_s[i][k] - start[i][k]) < 1e-9 && fabs(timeline->end_s[i][k] - end[i][k]) < 1e-9))
                fail_msg("%s, device %d, operation %d: %.12g to %.12g, plain %.12g to %.12g", schedule->name, i, k,
                         timeline->start_s[i][k], timeline->end_s[i][k], start[i][k], end[i][k]);
            peak = fmax(peak, held_at(schedule, own, timeline, i, timeline->start_s[i][k]));
        }
        const int32_t steps = kerf_timeline_memory(schedule, &own->times, timeline, i, 1, x, y);
        for (int32_t k = 0; k < steps; k++) most = fmax(most, y[k]);
        assert_true(steps <= 2 * schedule->num_ops[i] && fabs(timeline->peak_bytes[i] - most) < 1e-6);
        if (!(fabs(most - peak) < 1e-6))
            fail_msg("%s, device %d: %.12g held, plain %.12g", schedule->name, i, most, peak);
        assert_true(fabs(y[steps - 1]) < 1e-6);
    }
    const struct kerf_schedule_bound bound = kerf_schedule_lower_bound(schedule, &own->times, timeline);
    if (!(bound.makespan_s <= timeline->makespan_s && bound.span_s <= timeline->span_s))
        fail_msg("%s, %d devices: bounds %.12g and %.12g of %.12g and %.12g", schedule->name, schedule->devices,
                 bound.makespan_s, bound.span_s, timeline->makespan_s, timeline->span_s);
    kerf_timeline_free(timeline);
}

/* What is written as text is read as the same. */
static void compare_text(const struct kerf_schedule *schedule) {
    struct kerf_text text = {0};
    struct kerf_schedule *again;
    struct kerf_error err;
    assert_int_equal(kerf_schedule_text(&text, schedule, &err), KERF_OK);
    if (kerf_schedule_parse_text(text.data, text.length, "x.sched", NULL, &again, &err) != KERF_OK)
        fail_msg("%s: %s", schedule->name, err.message);
    assert_int_equal(again->moves, schedule->moves);
    for (int32_t i = 0; i < schedule->devices; i++) {
        assert_int_equal(again->num_ops[i], schedule->num_ops[i]);
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            const struct kerf_op *a = &schedule->ops[i][k], *b = &again->ops[i][k];
            assert_true(a->kind == b->kind && a->stage == b->stage && a->microbatch == b->microbatch &&
                        a->slice == b->slice);
        }
    }
    kerf_schedule_free(again);
    kerf_text_free(&text);
}

static void test_recomputation_and_offload(void **state) {
    (void)state;
    static struct own_times own;
    static struct own_moves moves;
    const struct kerf_schedule_rule *rule;
    int offloads = 0;
    for (size_t r = 0; (rule = kerf_schedule_rule_at(r)); r++)
        for (int32_t p = 2; p <= 4; p++)
            for (int variant = 1; variant < 24; variant++) {
                struct kerf_schedule *schedule, *moved;
                struct kerf_error err;
                const struct kerf_schedule_request request = {
                    .rule = rule->name, .devices = p, .microbatches = 8, .search_steps = 20000};
                if (kerf_schedule_make(&request, &schedule, NULL) != KERF_OK) continue;
                seed = (uint32_t)(variant * 100 + p);
                draw_times(&own, variant & 8 ? 4 : variant & 16 ? 1 : 0);
                draw_moves(&own, &moves, variant);
                if (variant & 1 && variant & 8) own.times.blocking = 1;
                if (kerf_schedule_move(schedule, &own.times, &moved, &err) != KERF_OK) fail_msg("%s", err.message);
                int fused = 0;
                for (int32_t i = 0; i < p; i++)
                    for (int32_t k = 0; k < moved->num_ops[i]; k++) {
                        offloads += moved->ops[i][k].kind == KERF_OP_O;
                        fused |= moved->ops[i][k].kind == KERF_OP_FB;
                    }
                if (!fused) compare_moved(moved, &own);
                if (variant == 3 && strcmp(rule->name, "chimera") != 0) compare_text(moved);
                kerf_schedule_free(moved);
                kerf_schedule_free(schedule);
            }
    assert_true(offloads > 100);
}

/* R, O and L have their places. */
static void test_moves_out_of_place(void **state) {
    (void)state;
    static const struct {
        const char *ops, *why;
    } cases[] = {
        {"F R B", NULL},
        {"F O L R B", NULL},
        {"R F B", "0R0 must be after its F and before its backward pass"},
        {"F B R", "0R0 must be after its F and before its backward pass"},
        {"F O B L", "0L0 must be after its O and before its backward pass"},
        {"F L O B", "0L0 must be after its O and before its backward pass"},
        {"F O B", "0L0 is missing"},
        {"F O L O B", "device 0"},
        {"F R R B", "no micro-batch is left for this R"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        struct kerf_schedule *schedule = NULL;
        struct kerf_error err = {0};
        snprintf(text, sizeof text, "devices 1\nmicrobatches 1\ndevice 0 { %s }\n", cases[i].ops);
        const int32_t code = kerf_schedule_parse_text(text, strlen(text), "x.sched", NULL, &schedule, &err);
        if (cases[i].why == NULL && code != KERF_OK) fail_msg("%s: %s", cases[i].ops, err.message);
        if (cases[i].why && (code == KERF_OK || !strstr(err.message, cases[i].why)))
            fail_msg("%s: %s", cases[i].ops, err.message);
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
        cmocka_unit_test(test_unequal_slices),
        cmocka_unit_test(test_recomputation_and_offload),
        cmocka_unit_test(test_moves_out_of_place),
        cmocka_unit_test(test_more_constraints_take_longer),
        cmocka_unit_test(test_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
