/* SPDX-License-Identifier: Apache-2.0 */
/* The fast search against the plain one: on random problems both find the same candidates and, bit for bit, the same
 * best layouts in the same order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plain_search.h"

static uint64_t random_state = 20241001;

static int64_t one_of(const int64_t *values, size_t count) {
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return values[random_state % count];
}
#define ONE_OF(...) one_of((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void random_problem(struct kerf_problem *problem) {
    static const char *const systems[] = {"a100", "h200", "b200", "b200-next"};
    static const enum kerf_attention attentions[][3] = {
        {KERF_ATTENTION_FUSED, KERF_ATTENTION_UNFUSED, KERF_ATTENTION_RECOMPUTED},
        {KERF_ATTENTION_FUSED, KERF_ATTENTION_UNFUSED, KERF_ATTENTION_SUMMA},
        {KERF_ATTENTION_FUSED, KERF_ATTENTION_UNFUSED, KERF_ATTENTION_FUSED}};
    memset(problem, 0, sizeof *problem);
    struct kerf_model *model = &problem->model;
    snprintf(model->name, sizeof model->name, "random");
    model->num_attention_heads = ONE_OF(8, 12, 16, 40, 64, 96);
    model->hidden_size = model->num_attention_heads * ONE_OF(64, 96, 128, 160);
    model->intermediate_size = model->hidden_size * ONE_OF(2, 3, 4) + ONE_OF(0, 0, 128);
    model->num_hidden_layers = ONE_OF(1, 7, 12, 32, 48, 60, 96);
    assert_int_equal(kerf_system_load(systems[ONE_OF(0, 1, 2, 3)], &problem->system, NULL), KERF_OK);
    problem->system.scale_up.size = ONE_OF(1, 2, 4, 6, 8, 12, 16, 64, 72);
    problem->system.scale_out.nics_per_device = (double)ONE_OF(1, 2, 4) / 4;
    problem->system.memory_capacity_bytes *= (double)ONE_OF(1, 4, 16) / 8;
    problem->strategy = (enum kerf_strategy)ONE_OF(0, 1, 2);
    problem->attention = attentions[problem->strategy][ONE_OF(0, 0, 1, 2)];
    problem->gpus = ONE_OF(1, 2, 6, 8, 24, 32, 60, 64, 96, 128, 144, 256);
    problem->global_batch = ONE_OF(1, 12, 32, 60, 64, 96, 128, 1024);
    problem->seq_length = ONE_OF(128, 500, 512, 1024, 1536, 2048, 4096, 64800);
}

static void compare(const struct kerf_problem *problem, const struct kerf_search *fast,
                    const struct plain_search *plain, int32_t top) {
    assert_int_equal(fast->candidates, plain->count);
    assert_int_equal(fast->feasible, plain->feasible);
    assert_int_equal(fast->num_plans, plain->feasible < (size_t)top ? plain->feasible : (size_t)top);
    for (int32_t i = 0; i < fast->num_plans; i++)
        assert_memory_equal(&fast->plans[i], &plain->all[i], sizeof plain->all[i]);
    if (plain->feasible > 0 || plain->count == 0) {
        assert_null(fast->nearest);
        return;
    }
    const struct kerf_estimate *least = &plain->all[0]; /* least memory, of those the fastest */
    for (size_t i = 1; i < plain->count; i++)
        if (plain->all[i].memory_bytes < least->memory_bytes) least = &plain->all[i];
    assert_non_null(fast->nearest);
    assert_memory_equal(&fast->nearest->layout, &least->layout, sizeof least->layout);
    assert_true(fast->nearest->memory_bytes > problem->system.memory_capacity_bytes);
}

static void test_random_problems(void **state) {
    (void)state;
    enum { PROBLEMS = 400 };
    const struct kerf_cost_model *reference;
    int with_answer = 0, without_fit = 0, without_candidates = 0;
    assert_int_equal(kerf_cost_model_find("reference", &reference, NULL), KERF_OK);
    for (int i = 0; i < PROBLEMS; i++) {
        struct kerf_problem problem;
        struct plain_search plain;
        struct kerf_plan *plan;
        random_problem(&problem);
        const struct kerf_plan_options options = {
            .cost_model = reference, .top = (int32_t)ONE_OF(1, 3, 10, 100), .threads = (int32_t)ONE_OF(1, 2, 5)};
        assert_int_equal(kerf_plan_search(&problem, 1, &options, &plan, NULL), KERF_OK);
        assert_true(plain_search(reference, &problem, &plain));
        compare(&problem, &plan->searches[0], &plain, options.top);
        with_answer += plain.feasible > 0;
        without_fit += plain.count > 0 && plain.feasible == 0;
        without_candidates += plain.count == 0;
        free(plain.all);
        kerf_plan_free(plan);
    }
    assert_true(with_answer > PROBLEMS / 4 && without_fit > PROBLEMS / 10 && without_candidates > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_problems)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
