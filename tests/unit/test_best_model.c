/* SPDX-License-Identifier: Apache-2.0 */
/* The question of the exact search where some operations keep their order: an answer keeps it, the order known is one,
 * and where all keep it there is no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "schedule/best/best_model.h"

enum { P = 3, M = 4, STAGES = 6, OPS = 3 * M * STAGES, DEVICE_OPS = OPS / P };

static const int32_t device_of[STAGES] = {0, 1, 2, 2, 1, 0};

/* One micro-batch after the other: F0 F5 I5 W5 I0 W0 on device 0. */
static void fill_order(const struct best_problem *problem, int32_t *order) {
    for (int32_t d = 0; d < P; d++)
        for (int32_t unit = 0; unit < M; unit++) {
            const int32_t *on = &problem->on[problem->on_begin[d]];
            const int32_t lanes[6] = {lane_of(on[0], LANE_F), lane_of(on[1], LANE_F), lane_of(on[1], LANE_I),
                                      lane_of(on[1], LANE_W), lane_of(on[0], LANE_I), lane_of(on[0], LANE_W)};
            memcpy(&order[d * DEVICE_OPS + unit * 6], lanes, sizeof lanes);
        }
}

/* Where each operation is, by output. */
static void find_places(const struct best_problem *problem, const int32_t *order, int32_t *place) {
    int32_t done[LANE_KINDS * STAGES] = {0};
    for (int32_t at = 0; at < OPS; at++) place[problem->output[order[at]] + done[order[at]]++] = at;
}

static void test_kept_operations_keep_their_order(void **unused) {
    (void)unused;
    double forward[STAGES], input[STAGES], weight[STAGES], whole[STAGES], cap[P];
    for (int32_t s = 0; s < STAGES; s++) forward[s] = 1, input[s] = 2, weight[s] = 1, whole[s] = 3;
    for (int32_t d = 0; d < P; d++) cap[d] = 2;
    const struct kerf_schedule_times times = {.forward_s = forward,
                                              .backward_s = whole,
                                              .backward_input_s = input,
                                              .backward_weight_s = weight,
                                              .p2p_s = 0.5,
                                              .cap = cap};
    const struct kerf_schedule frame = {.name = "best",
                                        .devices = P,
                                        .stages = STAGES,
                                        .microbatches = M,
                                        .chunks = 2,
                                        .replicas = 1,
                                        .slices = 1,
                                        .device_of = device_of};
    struct best_problem problem;
    struct best_run run;
    struct arena arena = {NULL};
    struct model model;
    int32_t order[OPS], before[OPS], after[OPS];
    char freed[OPS] = {0};
    uint32_t state = 7;
    int shorter = 0;
    assert_int_equal(best_problem_make(&problem, &frame, &times, KERF_OBJECTIVE_MAKESPAN), KERF_OK);
    assert_int_equal(best_run_make(&run, &problem, &arena), KERF_OK);
    assert_int_equal(problem.ops, OPS);
    fill_order(&problem, order);
    find_places(&problem, order, before);
    const double value = best_evaluate(&problem, &run, order);
    assert_true(model_make(&model, &problem, KERF_OBJECTIVE_MAKESPAN, value));
    const int64_t ticks = (int64_t)(value / model.ticks.tick_s + 0.5);
    model.freed = freed;
    for (int round = 0; round < 60; round++) {
        for (int32_t k = 0; k < OPS; k++) freed[k] = round > 0 && (state = state * 1664525u + 1013904223u) >> 30 == 0;
        assert_true(model_build(&model, order, NULL, NULL, ticks));
        assert_int_equal(lazy_solve(model.solver, 100000, NULL, NULL), LAZY_SOLVED);
        const int64_t less = round > 0 ? ticks - 1 - round % 9 : ticks - 1;
        assert_true(model_build(&model, order, NULL, NULL, less));
        const enum lazy_answer answer = lazy_solve(model.solver, 100000, NULL, NULL);
        assert_true(answer == LAZY_SOLVED || answer == LAZY_IMPOSSIBLE);
        if (round == 0) assert_int_equal(answer, LAZY_IMPOSSIBLE);
        if (answer != LAZY_SOLVED) continue;
        shorter++;
        model_read(&model);
        assert_true(best_evaluate(&problem, &run, model.order) < value);
        assert_true(best_held(&problem, model.order) <= 4);
        find_places(&problem, model.order, after);
        for (int32_t a = 0; a < OPS; a++)
            for (int32_t b = 0; b < OPS; b++) {
                if (freed[a] || freed[b] || before[a] / DEVICE_OPS != before[b] / DEVICE_OPS) continue;
                assert_true((before[a] < before[b]) == (after[a] < after[b]));
            }
    }
    assert_true(shorter > 5);
    model_free(&model);
    arena_free(&arena);
    arena_free(&problem.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept_operations_keep_their_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
