/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search that proves its answer, beside the one that prices everything: the same lists, whatever the threads; what
 * is left open when it is stopped; what it says where nothing fits; and each plan beside the estimate of its layout.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kerf/plan.h"

static const char dense[] =
    "{\"model_type\":\"llama\",\"hidden_size\":1536,\"intermediate_size\":4608,\"num_hidden_layers\":13,"
    "\"num_attention_heads\":12,\"num_key_value_heads\":4,\"vocab_size\":50000,\"max_position_embeddings\":4096,"
    "\"hidden_act\":\"silu\",\"tie_word_embeddings\":true}";
static const char experts[] =
    "{\"model_type\":\"mixtral\",\"hidden_size\":2048,\"intermediate_size\":7168,\"num_hidden_layers\":16,"
    "\"num_attention_heads\":32,\"num_key_value_heads\":8,\"num_local_experts\":8,\"num_experts_per_tok\":2,"
    "\"vocab_size\":32000,\"max_position_embeddings\":8192,\"hidden_act\":\"silu\",\"tie_word_embeddings\":false}";

static const struct kerf_cost_model *cost_model;

static int find_model(void **state) {
    (void)state;
    return kerf_cost_model_find("analytic", &cost_model, NULL);
}

static struct kerf_problem problem_of(const char *config, int64_t gpus, int64_t batch, int64_t length) {
    struct kerf_problem problem;
    memset(&problem, 0, sizeof problem);
    assert_int_equal(kerf_model_parse(config, strlen(config), "config.json", &problem.model, NULL), KERF_OK);
    assert_int_equal(kerf_system_load("h100", &problem.system, NULL), KERF_OK);
    problem.strategy = KERF_STRATEGY_HYBRID;
    problem.gpus = gpus;
    problem.global_batch = batch;
    problem.seq_length = length;
    return problem;
}

static struct kerf_plan *search(const struct kerf_problem *problem, int32_t top, int32_t threads, int32_t exhaustive) {
    struct kerf_plan *plan;
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_plan_options options = {
        .cost_model = cost_model, .top = top, .threads = threads, .exhaustive = exhaustive};
    if (kerf_plan_search(problem, 1, &options, &plan, &err) != KERF_OK) fail_msg("%s", err.message);
    return plan;
}

static void check_same_layout(const struct kerf_layout *a, const struct kerf_layout *b, int64_t stages) {
    assert_int_equal(kerf_layout_compare(a, b), 0);
    for (int64_t s = 0; s < stages; s++) assert_int_equal(a->stage_layers[s], b->stage_layers[s]);
}

static void check_same(const struct kerf_search *a, const struct kerf_search *b) {
    assert_int_equal(a->candidates, b->candidates);
    assert_int_equal(a->num_plans, b->num_plans);
    for (int32_t i = 0; i < a->num_plans; i++) {
        assert_true(a->plans[i].step_time_s == b->plans[i].step_time_s);
        assert_true(a->plans[i].memory_bytes == b->plans[i].memory_bytes);
        check_same_layout(&a->plans[i].layout, &b->plans[i].layout, a->plans[i].pipeline->num_stages);
    }
}

static void check_plan(const struct kerf_problem *problem, const struct kerf_estimate *plan) {
    struct kerf_estimate again;
    double time_s = 0, bytes = 0;
    struct kerf_layout layout = plan->layout;
    layout.stage_layers = NULL; /* found again */
    assert_int_equal(kerf_layout_estimate(cost_model, problem, &layout, &again, NULL), KERF_OK);
    assert_true(again.step_time_s == plan->step_time_s && again.memory_bytes == plan->memory_bytes);
    check_same_layout(&again.layout, &plan->layout, plan->pipeline->num_stages);
    kerf_estimate_release(&again);
    for (int32_t i = 0; i < plan->time_s.count; i++) time_s += plan->time_s.of[i].value;
    for (int32_t i = 0; i < plan->memory.count; i++) bytes += plan->memory.of[i].value;
    assert_true(fabs(time_s / plan->step_time_s - 1) < 1e-9 && fabs(bytes / plan->memory_bytes - 1) < 1e-9);
    assert_true(plan->pipeline_s <= plan->step_time_s * (1 + 1e-12));
    assert_true(plan->mfu > 0 && plan->mfu < 1 && plan->fits);
}

static void check_proof(const struct kerf_problem *problem) {
    struct kerf_plan *all = search(problem, 20, 2, 1), *first = NULL;
    const struct kerf_search *slow = &all->searches[0];
    assert_true(slow->priced == slow->candidates && slow->proved);
    for (int32_t threads = 1; threads <= 3; threads++) {
        struct kerf_plan *plan = search(problem, 20, threads, 0);
        const struct kerf_search *fast = &plan->searches[0];
        check_same(fast, slow);
        assert_true(fast->proved && fast->complete);
        assert_true(fast->priced < slow->priced || slow->candidates < 100);
        assert_true(fast->num_plans == 0 || fast->bound_s == fast->plans[0].step_time_s);
        if (first) assert_int_equal(fast->priced, first->searches[0].priced);
        for (int32_t i = 0; i < fast->num_plans && threads == 1; i++) check_plan(problem, &fast->plans[i]);
        if (first)
            kerf_plan_free(plan);
        else
            first = plan;
    }
    kerf_plan_free(first);
    kerf_plan_free(all);
}

static void test_proved_equals_exhaustive(void **state) {
    (void)state;
    const struct kerf_problem problems[] = {
        problem_of(dense, 12, 36, 3072),  problem_of(dense, 16, 32, 4096),   problem_of(dense, 1, 4, 1024),
        problem_of(experts, 8, 32, 2048), problem_of(experts, 16, 64, 4096),
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) check_proof(&problems[i]);
}

static void test_wide_space(void **state) {
    (void)state;
    const struct kerf_space space = {.is_wide = 1};
    struct kerf_problem problems[] = {problem_of(dense, 4, 8, 2048), problem_of(experts, 4, 8, 2048)};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        problems[i].space = &space;
        check_proof(&problems[i]);
    }
}

/* Of every layout that could be named, with a capacity that nothing has, the one with the least memory is told. */
static void test_nothing_fits(void **state) {
    (void)state;
    struct kerf_problem problem = problem_of(dense, 4, 8, 2048);
    struct kerf_plan *plan = search(&problem, KERF_TOP_MAX, 1, 1), *none;
    double least = INFINITY;
    for (int32_t i = 0; i < plan->searches[0].num_plans; i++)
        if (plan->searches[0].plans[i].memory_bytes < least) least = plan->searches[0].plans[i].memory_bytes;
    assert_true(plan->searches[0].num_plans < KERF_TOP_MAX); /* all that fit */
    problem.system.memory_capacity_bytes = least / 2;
    none = search(&problem, 10, 2, 0);
    assert_int_equal(none->searches[0].num_plans, 0);
    assert_true(none->searches[0].proved && none->searches[0].nearest != NULL);
    assert_true(none->searches[0].nearest->memory_bytes == least);
    kerf_plan_free(none);
    kerf_plan_free(plan);
}

struct stop {
    int after, calls;
};

static int32_t stop_after(void *context, double done) {
    struct stop *stop = context;
    assert_true(done >= 0 && done <= 1 + 1e-9);
    return ++stop->calls > stop->after;
}

/* Stopped at any moment: what is known is among the candidates, and nothing is below the bound. */
static void test_stopped(void **state) {
    (void)state;
    struct kerf_problem problem = problem_of(experts, 16, 64, 4096);
    struct kerf_plan *whole = search(&problem, 5, 1, 0);
    double best_s = whole->searches[0].plans[0].step_time_s;
    for (int after = 0; after < 4000; after = after * 2 + 1) {
        struct stop stop = {after, 0};
        struct kerf_plan *plan;
        struct kerf_plan_options options = {
            .cost_model = cost_model, .top = 5, .threads = 2, .progress = stop_after, .progress_context = &stop};
        assert_int_equal(kerf_plan_search(&problem, 1, &options, &plan, NULL), KERF_OK);
        const struct kerf_search *search = &plan->searches[0];
        assert_true(search->bound_s <= best_s * (1 + 1e-12));
        if (search->proved) check_same(search, &whole->searches[0]);
        if (search->num_plans) assert_true(search->plans[0].step_time_s >= best_s);
        assert_int_equal(search->complete, search->proved);
        kerf_plan_free(plan);
    }
    kerf_plan_free(whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proved_equals_exhaustive),
        cmocka_unit_test(test_wide_space),
        cmocka_unit_test(test_nothing_fits),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, find_model, NULL);
}
