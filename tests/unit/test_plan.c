/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search as a whole: the same for any number of threads, ended early, what it says when nothing fits, and what it
 * refuses. That it finds the best of all candidates is held in tests/reference/test_search_oracle.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../reference/plain_search.h"
#include "kerf/plan.h"

static const struct kerf_cost_model *cost_model;

static int find_model(void **state) {
    (void)state;
    return kerf_cost_model_find("reference", &cost_model, NULL);
}

static struct kerf_problem problem_of(const char *model, const char *system, enum kerf_strategy strategy,
                                      int64_t domain, int64_t gpus, int64_t global_batch) {
    struct kerf_problem problem;
    memset(&problem, 0, sizeof problem);
    assert_int_equal(kerf_model_load(model, &problem.model, NULL), KERF_OK);
    assert_int_equal(kerf_system_load(system, &problem.system, NULL), KERF_OK);
    problem.strategy = strategy;
    problem.system.scale_up.size = domain;
    problem.gpus = gpus;
    problem.global_batch = global_batch;
    problem.seq_length = problem.model.max_position_embeddings;
    return problem;
}

static struct kerf_model model_of(const char *name, int64_t hidden, int64_t width, int64_t layers, int64_t heads,
                                  int64_t length) {
    struct kerf_model model = {.hidden_size = hidden,
                               .intermediate_size = width,
                               .num_hidden_layers = layers,
                               .num_attention_heads = heads,
                               .max_position_embeddings = length};
    snprintf(model.name, sizeof model.name, "%s", name);
    return model;
}

/* A model so small that its searches take no time. */
static struct kerf_problem small_problem(enum kerf_strategy strategy, int64_t gpus, double capacity) {
    struct kerf_problem problem = problem_of("gpt3", "a100", strategy, 4, gpus, 16);
    problem.model = model_of("small", 1024, 4096, 8, 16, 1024);
    problem.seq_length = 1024;
    problem.system.memory_capacity_bytes = capacity;
    return problem;
}

static struct kerf_plan *search(const struct kerf_problem *problems, size_t count, int32_t top, int32_t threads) {
    const struct kerf_plan_options options = {.cost_model = cost_model, .top = top, .threads = threads};
    struct kerf_plan *plan = NULL;
    struct kerf_error err;
    if (kerf_plan_search(problems, count, &options, &plan, &err) != KERF_OK) fail_msg("%s", err.message);
    assert_int_equal(plan->num_searches, count);
    return plan;
}

static struct kerf_text json_of(const struct kerf_plan *plan) {
    struct kerf_text text = {0};
    struct kerf_json json;
    kerf_json_begin(&json, &text);
    kerf_plan_json(&json, plan);
    assert_int_equal(text.failed, 0);
    return text;
}

/* ---- Threads ------------------------------------------------------------------------------------------ */

static void threads_change_nothing(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 7, 0, INT32_MAX};
    enum { PROBLEMS = 9 };
    struct kerf_problem problems[PROBLEMS];
    for (int i = 0; i < KERF_STRATEGY_HYBRID; i++) {
        problems[3 * i] = problem_of("gpt3", "a100", (enum kerf_strategy)i, 4, 256, 1024);
        problems[3 * i + 1] = problem_of("vit_era5", "b200", (enum kerf_strategy)i, 8, 512, 512);
        problems[3 * i + 2] = problem_of("gpt3_1t", "h200", (enum kerf_strategy)i, 8, 64, 64); /* nothing fits */
    }
    struct kerf_text first = {0};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct kerf_plan *plan = search(problems, PROBLEMS, 20, threads[i]);
        struct kerf_text text = json_of(plan);
        assert_int_equal(plan->complete, 1);
        if (i == 0) {
            first = text;
        } else {
            assert_string_equal(text.data, first.data);
            kerf_text_free(&text);
        }
        kerf_plan_free(plan);
    }
    assert_true(first.length > 10000);
    kerf_text_free(&first);
}

/* Ties are settled by the layout: a system on which everything costs the same has many. */
static void ties_change_nothing(void **state) {
    (void)state;
    struct kerf_problem problem = small_problem(KERF_STRATEGY_SEQP, 64, 1e12);
    problem.system.scale_up.bandwidth_bytes_per_s = problem.system.scale_out.bandwidth_bytes_per_s = 1e30;
    problem.system.scale_up.efficiency = problem.system.scale_out.efficiency = 1;
    problem.system.scale_up.latency_s = problem.system.scale_out.latency_s = 0;
    struct kerf_plan *one = search(&problem, 1, 1000, 1), *seven = search(&problem, 1, 1000, 7);
    struct kerf_text a = json_of(one), b = json_of(seven);
    assert_string_equal(a.data, b.data);
    const struct kerf_search *found = &one->searches[0];
    int32_t ties = 0;
    for (int32_t i = 1; i < found->num_plans; i++) {
        const struct kerf_estimate *before = &found->plans[i - 1], *after = &found->plans[i];
        assert_true(before->throughput >= after->throughput);
        if (before->throughput != after->throughput) continue;
        assert_true(before->memory_bytes <= after->memory_bytes);
        if (before->memory_bytes != after->memory_bytes) continue;
        assert_true(kerf_layout_compare(&before->layout, &after->layout) < 0);
        ties++;
    }
    assert_true(ties > 20);
    kerf_text_free(&a), kerf_text_free(&b);
    kerf_plan_free(one), kerf_plan_free(seven);
}

static void fewer_are_the_first_of_more(void **state) {
    (void)state;
    struct kerf_problem problem = problem_of("gpt3", "a100", KERF_STRATEGY_SUMMA, 4, 128, 512);
    struct kerf_plan *most = search(&problem, 1, KERF_TOP_MAX, 2);
    static const int32_t tops[] = {1, 2, 10, 999};
    assert_int_equal(most->searches[0].num_plans, KERF_TOP_MAX);
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        struct kerf_plan *plan = search(&problem, 1, tops[i], 2);
        assert_int_equal(plan->searches[0].num_plans, tops[i]);
        assert_memory_equal(plan->searches[0].plans, most->searches[0].plans,
                            (size_t)tops[i] * sizeof(struct kerf_estimate));
        assert_int_equal(plan->searches[0].candidates, most->searches[0].candidates);
        assert_int_equal(plan->searches[0].feasible, most->searches[0].feasible);
        kerf_plan_free(plan);
    }
    for (int32_t i = 0; i < KERF_TOP_MAX; i++) { /* each is what an estimate of its layout says */
        struct kerf_estimate estimate;
        const struct kerf_estimate *found = &most->searches[0].plans[i];
        assert_int_equal(kerf_layout_estimate(cost_model, &problem, &found->layout, &estimate, NULL), KERF_OK);
        assert_true(estimate.throughput == found->throughput && estimate.memory_bytes == found->memory_bytes &&
                    estimate.fits == 1);
    }
    kerf_plan_free(most);
}

/* ---- Many problems ------------------------------------------------------------------------------------ */

static void answers_in_the_order_of_the_questions(void **state) {
    (void)state;
    enum { PROBLEMS = 40 };
    struct kerf_problem problems[PROBLEMS];
    double best_throughput = 0;
    size_t best = 0;
    for (int i = 0; i < PROBLEMS; i++)
        problems[i] = small_problem((enum kerf_strategy)(i % 3), (int64_t)1 << (i * 7 % 8), i % 5 ? 80e9 : 1e6);
    struct kerf_plan *plan = search(problems, PROBLEMS, 2, 3);
    for (int i = 0; i < PROBLEMS; i++) {
        struct kerf_plan *alone = search(&problems[i], 1, 2, 1);
        struct kerf_plan one_of_many = {&plan->searches[i], 1, 1};
        struct kerf_text a = json_of(&one_of_many), b = json_of(alone);
        assert_string_equal(a.data, b.data);
        assert_memory_equal(&plan->searches[i].problem, &problems[i], sizeof problems[i]);
        if (alone->searches[0].num_plans && alone->searches[0].plans[0].throughput > best_throughput)
            best_throughput = alone->searches[0].plans[0].throughput, best = (size_t)i;
        kerf_text_free(&a), kerf_text_free(&b);
        kerf_plan_free(alone);
    }
    assert_ptr_equal(kerf_plan_best(plan, NULL), &plan->searches[best]);
    kerf_plan_free(plan);

    struct kerf_problem unequal[3] = {small_problem(KERF_STRATEGY_1D, 16, 80e9),
                                      small_problem(KERF_STRATEGY_1D, 8, 80e9),
                                      small_problem(KERF_STRATEGY_1D, 16, 80e9)};
    plan = search(unequal, 3, 1, 1);
    assert_ptr_equal(kerf_plan_best(plan, NULL), &plan->searches[0]); /* the first of equals */
    kerf_plan_free(plan);

    plan = search(NULL, 0, 1, 2); /* no question, no answer */
    assert_int_equal(plan->complete, 1);
    assert_null(kerf_plan_best(plan, NULL));
    struct kerf_text text = json_of(plan);
    assert_non_null(strstr(text.data, "\"searches\":[]}"));
    kerf_text_free(&text);
    kerf_plan_free(plan);
    assert_null(kerf_plan_free(NULL));
}

/* ---- Ending early ------------------------------------------------------------------------------------- */

struct watch {
    int calls, stop_at; /* stop at this call; 0: never */
    double stop_done;   /* stop when this much is done */
    double least, most;
    int inside, overlaps;
    double last;
    int backwards;
};

static int32_t watch_progress(void *context, double done) {
    struct watch *watch = context;
    watch->overlaps += watch->inside++ > 0;
    if (!(done >= watch->least)) watch->least = done; /* a NaN too */
    if (!(done <= watch->most)) watch->most = done;
    watch->calls++;
    watch->backwards += done < watch->last;
    watch->last = done;
    watch->inside--;
    return (watch->stop_at && watch->calls >= watch->stop_at) || done >= watch->stop_done;
}

/* Billions of candidates: it could not end within a test if it were not interrupted. */
static void the_progress_callback_can_end_it(void **state) {
    (void)state;
    struct kerf_problem problems[2];
    problems[0] = small_problem(KERF_STRATEGY_1D, 8, 80e9);
    problems[1] = problem_of("gpt3", "b200-next", KERF_STRATEGY_SUMMA, 720720, 735134400, 735134400);
    problems[1].model = model_of("abundant", 14414400, 14414400, 720720, 720720, 720720);
    problems[1].seq_length = 720720;
    for (int32_t threads = 1; threads <= 3; threads++) {
        struct watch watch = {.stop_at = 2, .stop_done = 2, .least = 1, .most = 0};
        const struct kerf_plan_options options = {.cost_model = cost_model,
                                                  .top = 3,
                                                  .threads = threads,
                                                  .progress = watch_progress,
                                                  .progress_context = &watch};
        struct kerf_plan *plan = NULL;
        struct kerf_error err = {.code = 77};
        assert_int_equal(kerf_plan_search(problems, 2, &options, &plan, &err), KERF_OK);
        assert_int_equal(err.code, 77);
        assert_int_equal(plan->complete, 0);
        assert_int_equal(plan->searches[1].complete, 0);
        assert_null(plan->searches[1].nearest);
        assert_int_equal(plan->searches[1].least_gpus, 0);
        assert_true(watch.calls >= 2);
        assert_int_equal(watch.overlaps, 0);
        assert_int_equal(watch.backwards, 0);
        assert_true(watch.least >= 0 && watch.most <= 1);
        struct kerf_text text = json_of(plan);
        assert_non_null(strstr(text.data, "\"complete\":false"));
        kerf_text_free(&text);
        kerf_plan_free(plan);
    }
}

/* What is not known is not told: least memory and fewest accelerators are the truth, or are not there. */
static void nothing_is_guessed_after_an_interruption(void **state) {
    (void)state;
    enum { PROBLEMS = 500 };
    struct kerf_problem *problems = calloc(PROBLEMS, sizeof *problems);
    for (int i = 0; i < PROBLEMS; i++) {
        problems[i] = problem_of("gpt3_1t", "h200", KERF_STRATEGY_SEQP, 8, 64, 64);
        problems[i].system.memory_capacity_bytes = 1e9;
    }
    struct kerf_plan *whole = search(problems, 1, 1, 1);
    const struct kerf_search *truth = &whole->searches[0];
    assert_non_null(truth->nearest);
    assert_int_equal(truth->complete, 1);
    static const double ends[] = {0.5, 0.9, 2};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        struct watch watch = {.stop_done = ends[e], .least = 1, .most = 0};
        const struct kerf_plan_options options = {
            .cost_model = cost_model, .top = 1, .threads = 2, .progress = watch_progress, .progress_context = &watch};
        struct kerf_plan *plan = NULL;
        assert_int_equal(kerf_plan_search(problems, PROBLEMS, &options, &plan, NULL), KERF_OK);
        int all = 1;
        for (int i = 0; i < PROBLEMS; i++) {
            const struct kerf_search *one = &plan->searches[i];
            all &= one->complete;
            if (!one->complete) {
                assert_null(one->nearest);
                assert_int_equal(one->least_gpus, 0);
                continue;
            }
            assert_int_equal(one->candidates, truth->candidates);
            assert_non_null(one->nearest);
            assert_memory_equal(one->nearest, truth->nearest, sizeof *one->nearest);
            assert_int_equal(one->least_gpus, truth->least_gpus);
        }
        assert_int_equal(plan->complete, all);
        if (ends[e] > 1) assert_int_equal(all, 1);
        if (watch.calls) assert_true(watch.least >= 0 && watch.most <= 1);
        assert_int_equal(watch.backwards, 0);
        kerf_plan_free(plan);
    }
    kerf_plan_free(whole);
    free(problems);
}

/* ---- When nothing fits -------------------------------------------------------------------------------- */

/* The layout with the least memory, of those the fastest, by estimating every candidate. */
static struct kerf_estimate least_memory(const struct kerf_problem *problem, int64_t *ret_count) {
    struct plain_search all;
    struct kerf_estimate best;
    memset(&best, 0, sizeof best);
    assert_true(plain_search(cost_model, problem, &all));
    for (size_t i = 0; i < all.count; i++) { /* the fastest come first */
        if (i == 0 || all.all[i].memory_bytes < best.memory_bytes) best = all.all[i];
    }
    *ret_count = (int64_t)all.count;
    free(all.all);
    return best;
}

static void the_nearest_needs_least_memory(void **state) {
    (void)state;
    static const struct {
        int64_t gpus, domain, batch, width, heads, layers, length;
    } shapes[] = {
        {1, 4, 16, 1024, 16, 8, 1024},     {6, 4, 16, 1024, 16, 8, 1024},   {8, 4, 16, 1024, 16, 8, 1024},
        {16, 4, 16, 1024, 16, 8, 1024},    {64, 4, 16, 1024, 16, 8, 1024},  {32, 2, 64, 4096, 32, 16, 4096},
        {128, 8, 256, 4096, 32, 16, 4096}, {48, 6, 96, 1536, 24, 12, 1536}, {256, 8, 32, 12288, 96, 96, 2048},
        {64, 64, 8, 2048, 16, 1, 8192},    {36, 4, 36, 2304, 18, 18, 2304}, {256, 1, 4, 8192, 64, 2, 32768},
        {8, 4, 4, 384, 1, 8, 128}, /* several micro-batches need as much memory, and the larger are faster */
    };
    int checked = 0;
    for (int strategy = 0; strategy < KERF_STRATEGY_HYBRID; strategy++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            struct kerf_problem problem = small_problem((enum kerf_strategy)strategy, shapes[i].gpus, 1e6);
            problem.system.scale_up.size = shapes[i].domain;
            problem.global_batch = shapes[i].batch;
            problem.seq_length = shapes[i].length;
            problem.model = model_of("m", shapes[i].width, 4 * shapes[i].width, shapes[i].layers, shapes[i].heads,
                                     shapes[i].length);
            int64_t count;
            struct kerf_estimate expected = least_memory(&problem, &count);
            struct kerf_plan *plan = search(&problem, 1, 5, 2);
            const struct kerf_search *found = &plan->searches[0];
            assert_int_equal(found->candidates, count);
            assert_int_equal(found->feasible, 0);
            assert_int_equal(found->num_plans, 0);
            assert_null(kerf_plan_best(plan, NULL));
            if (count == 0) {
                assert_null(found->nearest);
            } else {
                checked++;
                assert_non_null(found->nearest);
                assert_int_equal(found->nearest->fits, 0);
                assert_true(found->nearest->memory_bytes == expected.memory_bytes);
                assert_true(found->nearest->throughput == expected.throughput);
                assert_int_equal(kerf_layout_compare(&found->nearest->layout, &expected.layout), 0);
            }
            kerf_plan_free(plan);
        }
    assert_true(checked >= 24);
}

/* By searching the doubled sizes one after the other. */
static void the_fewest_accelerators_are_the_fewest(void **state) {
    (void)state;
    static const double capacities[] = {1e6, 2e7, 5e7, 1e8, 1.3e8, 2e8, 4e8, 1e9, 3e9};
    static const int64_t starts[] = {1, 2, 3, 6, 12};
    int with_answer = 0, without = 0;
    for (int strategy = 0; strategy < KERF_STRATEGY_HYBRID; strategy++)
        for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++)
            for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
                struct kerf_problem problem = small_problem((enum kerf_strategy)strategy, starts[s], capacities[c]),
                                    larger = problem;
                struct kerf_plan *plan = search(&problem, 1, 1, 1);
                if (plan->searches[0].feasible == 0) {
                    int64_t expected = 0;
                    for (larger.gpus *= 2; larger.gpus <= 4096 && !expected; larger.gpus *= 2) {
                        struct kerf_plan *one = search(&larger, 1, 1, 1);
                        if (one->searches[0].feasible) expected = larger.gpus;
                        kerf_plan_free(one);
                    }
                    /* beyond 4,096 the batch of 16, 8 layers and 16 heads have no candidates left */
                    assert_int_equal(plan->searches[0].least_gpus, expected);
                    with_answer += expected > 0, without += expected == 0;
                } else {
                    assert_int_equal(plan->searches[0].least_gpus, 0);
                    assert_null(plan->searches[0].nearest);
                }
                kerf_plan_free(plan);
            }
    assert_true(with_answer >= 20 && without >= 20);
}

static void the_search_for_the_fewest_ends(void **state) {
    (void)state;
    struct kerf_problem problem = small_problem(KERF_STRATEGY_1D, KERF_LEAST_GPUS_MAX, 1);
    struct kerf_plan *plan = search(&problem, 1, 1, 1); /* already there */
    assert_int_equal(plan->searches[0].least_gpus, 0);
    kerf_plan_free(plan);
    problem = small_problem(KERF_STRATEGY_1D, (int64_t)1 << 30, 1);
    problem.global_batch = (int64_t)1 << 30;
    problem.seq_length = (int64_t)1 << 30; /* as much of everything as there may be */
    plan = search(&problem, 1, 1, 1);
    assert_int_equal(plan->searches[0].least_gpus, 0);
    assert_true(plan->searches[0].candidates > 0);
    kerf_plan_free(plan);
}

/* ---- Errors ------------------------------------------------------------------------------------------- */

static void refuses_questions_without_sense(void **state) {
    (void)state;
    static const struct {
        int64_t gpus, batch, length;
        int32_t top;
        enum kerf_strategy strategy;
        enum kerf_attention attention;
        const char *message;
    } cases[] = {
        {0, 16, 1024, 1, KERF_STRATEGY_1D, KERF_ATTENTION_FUSED, "gpus must lie between 1 and 1073741824, not 0"},
        {-8, 16, 1024, 1, KERF_STRATEGY_1D, KERF_ATTENTION_FUSED, "gpus must lie between 1 and 1073741824, not -8"},
        {1073741825, 16, 1024, 1, KERF_STRATEGY_1D, KERF_ATTENTION_FUSED,
         "gpus must lie between 1 and 1073741824, not 1073741825"},
        {8, 0, 1024, 1, KERF_STRATEGY_1D, KERF_ATTENTION_FUSED,
         "global_batch must lie between 1 and 1073741824, not 0"},
        {8, 1073741825, 1024, 1, KERF_STRATEGY_1D, KERF_ATTENTION_FUSED,
         "global_batch must lie between 1 and 1073741824, not 1073741825"},
        {8, 16, 0, 1, KERF_STRATEGY_1D, KERF_ATTENTION_FUSED,
         "small has no max_position_embeddings: give a sequence length from 1 to 1073741824"},
        {8, 16, 1024, 0, KERF_STRATEGY_1D, KERF_ATTENTION_FUSED, "top must lie between 1 and 1000, not 0"},
        {8, 16, 1024, -1, KERF_STRATEGY_1D, KERF_ATTENTION_FUSED, "top must lie between 1 and 1000, not -1"},
        {8, 16, 1024, 1001, KERF_STRATEGY_1D, KERF_ATTENTION_FUSED, "top must lie between 1 and 1000, not 1001"},
        {8, 16, 1024, 1, KERF_STRATEGY_SEQP, KERF_ATTENTION_RECOMPUTED,
         "recomputed attention is not for seqp; use fused or unfused"},
        {8, 16, 1024, 1, KERF_STRATEGY_1D, KERF_ATTENTION_SUMMA, "summa attention is not for 1d; use fused or unfused"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_problem problems[2] = {small_problem(KERF_STRATEGY_1D, 8, 80e9),
                                           small_problem(cases[i].strategy, cases[i].gpus, 80e9)};
        problems[1].global_batch = cases[i].batch;
        problems[1].seq_length = cases[i].length;
        problems[1].attention = cases[i].attention;
        const struct kerf_plan_options options = {.cost_model = cost_model, .top = cases[i].top, .threads = 1};
        struct kerf_plan *plan = (struct kerf_plan *)(void *)problems;
        struct kerf_error err;
        assert_int_equal(kerf_plan_search(problems, 2, &options, &plan, &err), KERF_EINVALID);
        assert_int_equal(err.code, KERF_EINVALID);
        assert_string_equal(err.message, cases[i].message);
        assert_ptr_equal(plan, problems); /* written on success alone */
        assert_int_equal(kerf_plan_search(problems, 2, &options, &plan, NULL), KERF_EINVALID);
    }
    const struct kerf_problem problem = small_problem(KERF_STRATEGY_1D, 8, 80e9);
    const struct kerf_plan_options options = {.cost_model = cost_model, .top = 1, .threads = -5};
    struct kerf_plan *plan = NULL;
    struct kerf_error err;
    assert_int_equal(kerf_plan_search(&problem, 1, &options, &plan, &err), KERF_EINVALID);
    assert_string_equal(err.message, "threads must be 0 or above, not -5");
}

static void refuses_amounts_without_sense(void **state) {
    (void)state;
    static const size_t members[] = {offsetof(struct kerf_problem, memory_share),
                                     offsetof(struct kerf_problem, training_tokens),
                                     offsetof(struct kerf_problem, device_hour_price)};
    static const double amounts[] = {-1, INFINITY, NAN};
    const struct kerf_plan_options options = {.cost_model = cost_model, .top = 1, .threads = 1};
    for (size_t i = 0; i < 9; i++) {
        struct kerf_problem problem = small_problem(KERF_STRATEGY_1D, 8, 80e9);
        struct kerf_plan *plan = NULL;
        struct kerf_error err;
        memcpy((char *)&problem + members[i / 3], &amounts[i % 3], sizeof *amounts);
        assert_int_equal(kerf_plan_search(&problem, 1, &options, &plan, &err), KERF_EINVALID);
        assert_non_null(strstr(err.message, " must be a number of at least 0, not "));
        assert_null(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),           cmocka_unit_test(ties_change_nothing),
        cmocka_unit_test(fewer_are_the_first_of_more),      cmocka_unit_test(answers_in_the_order_of_the_questions),
        cmocka_unit_test(the_progress_callback_can_end_it), cmocka_unit_test(nothing_is_guessed_after_an_interruption),
        cmocka_unit_test(the_nearest_needs_least_memory),   cmocka_unit_test(the_fewest_accelerators_are_the_fewest),
        cmocka_unit_test(the_search_for_the_fewest_ends),   cmocka_unit_test(refuses_amounts_without_sense),
        cmocka_unit_test(refuses_questions_without_sense),
    };
    return cmocka_run_group_tests(tests, find_model, NULL);
}
