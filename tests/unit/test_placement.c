/* SPDX-License-Identifier: Apache-2.0 */
/* Placements that are not named, layouts as text that can be pasted, and which layouts are worth recommending. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "../reference/plain_search.h"

static const struct kerf_cost_model *cost_model;

static int find_model(void **state) {
    (void)state;
    return kerf_cost_model_find("reference", &cost_model, NULL);
}

static struct kerf_problem problem_of(enum kerf_strategy strategy, int64_t gpus, int64_t domain) {
    struct kerf_problem problem;
    memset(&problem, 0, sizeof problem);
    assert_int_equal(kerf_model_load("gpt3", &problem.model, NULL), KERF_OK);
    assert_int_equal(kerf_system_load("a100", &problem.system, NULL), KERF_OK);
    problem.system.scale_up.size = domain;
    problem.system.memory_capacity_bytes = 1e15;
    problem.strategy = strategy;
    problem.gpus = gpus;
    problem.global_batch = 48;
    problem.seq_length = 2048;
    return problem;
}

static const struct { int64_t gpus, domain; } sizes[] = {{64, 8}, {16, 16}, {8, 16}, {96, 6}, {24, 1}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int same_but_placed(struct kerf_layout a, const struct kerf_layout *b) {
    a.scale_up = b->scale_up;
    return kerf_layout_compare(&a, b) == 0;
}

/* Against the search without any thought of speed, whose list begins with the fastest. */
static void an_unnamed_placement_is_the_fastest(void **state) {
    (void)state;
    for (int s = 0; s < KERF_STRATEGY_HYBRID; s++)
        for (size_t i = 0; i < SIZES; i++) {
            struct kerf_problem problem = problem_of((enum kerf_strategy)s, sizes[i].gpus, sizes[i].domain);
            struct plain_search all;
            assert_true(plain_search(cost_model, &problem, &all));
            assert_true(all.count > 0);
            for (size_t k = 0; k < all.count; k += 1 + all.count / 40) {
                struct kerf_layout layout = all.all[k].layout;
                struct kerf_estimate found;
                memset(&layout.scale_up, 0, sizeof layout.scale_up);
                assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &found, NULL), KERF_OK);
                size_t best = 0;
                while (!same_but_placed(all.all[best].layout, &layout)) best++;
                assert_int_equal(kerf_layout_compare(&found.layout, &all.all[best].layout), 0);
                assert_true(found.step_time_s == all.all[best].step_time_s);
                /* one member is named: the fastest that agrees with it */
                layout.scale_up.pp = all.all[k].layout.scale_up.pp;
                assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &found, NULL), KERF_OK);
                for (best = 0; !same_but_placed(all.all[best].layout, &layout) ||
                               all.all[best].layout.scale_up.pp != layout.scale_up.pp;)
                    best++;
                assert_int_equal(kerf_layout_compare(&found.layout, &all.all[best].layout), 0);
            }
            free(all.all);
        }
}

/* Where no placement fills the domain, as many as can be are neighbours. */
static void a_domain_that_cannot_be_filled_is_filled_as_far_as_possible(void **state) {
    (void)state;
    struct kerf_problem problem = problem_of(KERF_STRATEGY_1D, 12, 8);
    struct kerf_layout layout;
    struct kerf_estimate found;
    assert_int_equal(kerf_layout_parse("dp=3,tp1=4", &layout, NULL), KERF_OK);
    assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &found, NULL), KERF_OK);
    assert_int_equal(found.layout.scale_up.tp1 * found.layout.scale_up.dp, 6);
    assert_int_equal(kerf_layout_parse("dp=3,tp1=4,scale_up.dp=1", &layout, NULL), KERF_OK);
    assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &found, NULL), KERF_OK);
    assert_int_equal(found.layout.scale_up.tp1, 4);
    assert_int_equal(found.layout.scale_up.dp, 1);
    problem.gpus = 4; /* all of it would fit, and less is asked for */
    assert_int_equal(kerf_layout_parse("tp1=4,scale_up.tp1=2", &layout, NULL), KERF_OK);
    assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &found, NULL), KERF_OK);
    assert_int_equal(found.layout.scale_up.tp1, 2);
}

/* The text of a layout, read again and estimated, is the same layout. */
static void layouts_can_be_pasted(void **state) {
    (void)state;
    for (int s = 0; s < KERF_STRATEGY_HYBRID; s++)
        for (size_t i = 0; i < SIZES; i++) {
            struct kerf_problem problem = problem_of((enum kerf_strategy)s, sizes[i].gpus, sizes[i].domain);
            struct plain_search all;
            assert_true(plain_search(cost_model, &problem, &all));
            for (size_t k = 0; k < all.count; k++) {
                struct kerf_text text = {0};
                struct kerf_layout layout;
                struct kerf_estimate found;
                kerf_layout_text(&text, &problem, &all.all[k].layout);
                assert_int_equal(kerf_layout_parse(text.data, &layout, NULL), KERF_OK);
                assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &found, NULL), KERF_OK);
                assert_int_equal(kerf_layout_compare(&found.layout, &all.all[k].layout), 0);
                enum kerf_strategy strategy = kerf_layout_strategy(&layout);
                assert_true(strategy == problem.strategy || (s == KERF_STRATEGY_SEQP && layout.tp2 == 1));
                kerf_text_free(&text);
            }
            free(all.all);
        }
    /* a placement that fills nothing is written in full */
    struct kerf_problem problem = problem_of(KERF_STRATEGY_1D, 64, 8);
    struct kerf_layout layout, again;
    struct kerf_text text = {0};
    const char *partial = "dp=2,tp1=8,pp=4,scale_up.tp1=2,scale_up.tp2=1,scale_up.dp=1,scale_up.pp=1";
    assert_int_equal(kerf_layout_parse(partial, &layout, NULL), KERF_OK);
    kerf_layout_text(&text, &problem, &layout);
    assert_string_equal(text.data, partial);
    assert_int_equal(kerf_layout_parse(text.data, &again, NULL), KERF_OK);
    assert_int_equal(kerf_layout_compare(&layout, &again), 0);
    kerf_text_free(&text);
}

/* ---- Recommendations -------------------------------------------------------------------------------------- */

static struct kerf_plan *search(const struct kerf_problem *problems, size_t count) {
    const struct kerf_plan_options options = {.cost_model = cost_model, .top = 10, .threads = 1};
    struct kerf_plan *plan = NULL;
    assert_int_equal(kerf_plan_search(problems, count, &options, &plan, NULL), KERF_OK);
    return plan;
}

/* On one accelerator SUMMA over 1 x 1 is faster than 1d, because its norm follows the sequence length. */
static void summa_over_one_is_not_recommended_beside_1d(void **state) {
    (void)state;
    const struct kerf_problem problems[] = {problem_of(KERF_STRATEGY_SUMMA, 1, 1), problem_of(KERF_STRATEGY_1D, 1, 1)};
    struct kerf_plan *plan = search(problems, 2);
    const struct kerf_search *summa = &plan->searches[0], *one = &plan->searches[1];
    assert_true(summa->plans[0].throughput > one->plans[0].throughput);
    assert_int_equal(summa->plans[0].layout.tp1 * summa->plans[0].layout.tp2, 1);
    assert_int_equal(kerf_plan_has_twin(plan, summa, &summa->plans[0]), 1);
    assert_int_equal(kerf_plan_has_twin(plan, one, &one->plans[0]), 0);
    assert_ptr_equal(kerf_plan_best(plan, NULL), one);
    kerf_plan_free(plan);
    plan = search(problems, 1); /* alone it is the answer */
    assert_ptr_equal(kerf_plan_best(plan, NULL), &plan->searches[0]);
    kerf_plan_free(plan);
}

/* Two files may have one name. */
static void models_are_told_apart_by_content(void **state) {
    (void)state;
    struct kerf_problem problems[] = {problem_of(KERF_STRATEGY_1D, 8, 8), problem_of(KERF_STRATEGY_1D, 8, 8)};
    assert_int_equal(kerf_problem_set(&problems[1].model, &problems[1].system, "num_hidden_layers=48", NULL), KERF_OK);
    struct kerf_plan *plan = search(problems, 2);
    assert_int_equal(kerf_model_equal(&problems[0].model, &problems[1].model), 0);
    assert_ptr_equal(kerf_plan_best(plan, &problems[0].model), &plan->searches[0]);
    assert_ptr_equal(kerf_plan_best(plan, &problems[1].model), &plan->searches[1]);
    kerf_plan_free(plan);
    problems[1].system.memory_capacity_bytes *= 2;
    assert_int_equal(kerf_system_equal(&problems[0].system, &problems[1].system), 0);
    problems[1].system = problems[0].system;
    problems[1].system.scale_up.size *= 2; /* a dimension of its own */
    assert_int_equal(kerf_system_equal(&problems[0].system, &problems[1].system), 1);
}

/* ---- No layout -------------------------------------------------------------------------------------------- */

static void a_search_without_layouts_says_why_and_what_works(void **state) {
    (void)state;
    const struct {
        int64_t gpus, domain, global_batch, hidden_size;
        const char *reason;
        int64_t works[2];
    } cases[] = {
        {12, 8, 24, 0, "scale-up domain of 8", {8, 16}},
        {509, 4, 512, 0, "divides the global batch of 512", {384, 512}},
        {7, 4, 512, 0, "96 heads, and pipeline stages 96 layers", {4, 8}},
        {8, 4, 512, 32, "No shard is wide enough", {0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_problem problem = problem_of(KERF_STRATEGY_1D, cases[i].gpus, cases[i].domain);
        problem.global_batch = cases[i].global_batch;
        if (cases[i].hidden_size)
            problem.model.hidden_size = cases[i].hidden_size, problem.model.num_attention_heads = 1;
        struct kerf_plan *plan = search(&problem, 1);
        const struct kerf_search *found = &plan->searches[0];
        assert_int_equal(found->candidates, 0);
        assert_non_null(found->reason);
        if (!strstr(found->reason, cases[i].reason)) fail_msg("%s", found->reason);
        for (int side = 0; side < 2; side++) {
            assert_int_equal(found->gpus_that_work[side], cases[i].works[side]);
            if (cases[i].works[side] == 0) continue;
            struct kerf_problem other = problem;
            other.gpus = cases[i].works[side];
            struct kerf_plan *works = search(&other, 1);
            assert_true(works->searches[0].candidates > 0);
            assert_null(works->searches[0].reason);
            kerf_plan_free(works);
        }
        kerf_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unnamed_placement_is_the_fastest),
        cmocka_unit_test(a_domain_that_cannot_be_filled_is_filled_as_far_as_possible),
        cmocka_unit_test(layouts_can_be_pasted),
        cmocka_unit_test(summa_over_one_is_not_recommended_beside_1d),
        cmocka_unit_test(models_are_told_apart_by_content),
        cmocka_unit_test(a_search_without_layouts_says_why_and_what_works),
    };
    return cmocka_run_group_tests(tests, find_model, NULL);
}
