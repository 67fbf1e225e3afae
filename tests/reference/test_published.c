/* SPDX-License-Identifier: Apache-2.0 */
/* The searches that the authors of the reference published: the step times and memory of their ten best layouts, and
 * those in which nothing fits (published.csv). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "vector_file.h"

/* One line: a layout of a search, or a search without one. */
struct published {
    char model[32], system[32], strategy[16];
    long long domain, gpus;
    double step_time_s, memory_gb; /* 0: nothing fits */
};

static int read_line(FILE *file, struct published *ret) {
    char line[256];
    do {
        if (!fgets(line, sizeof line, file)) return 0;
    } while (line[0] == '#' || strncmp(line, "model,", 6) == 0);
    ret->step_time_s = ret->memory_gb = 0;
    int fields = sscanf(line, "%31[^,],%31[^,],%lld,%15[^,],%lld,%lf,%lf", ret->model, ret->system, &ret->domain,
                        ret->strategy, &ret->gpus, &ret->step_time_s, &ret->memory_gb);
    assert_true(fields == 5 || fields == 7);
    return 1;
}

static int same_search(const struct published *a, const struct published *b) {
    return strcmp(a->model, b->model) == 0 && strcmp(a->system, b->system) == 0 && a->domain == b->domain &&
           strcmp(a->strategy, b->strategy) == 0 && a->gpus == b->gpus;
}

static struct kerf_plan *search(const struct published *line) {
    struct kerf_problem problem = {.gpus = line->gpus, .global_batch = 4096};
    struct kerf_plan_options options = {.top = 10};
    struct kerf_plan *plan = NULL;
    assert_int_equal(kerf_model_load(line->model, &problem.model, NULL), KERF_OK);
    assert_int_equal(kerf_system_load(line->system, &problem.system, NULL), KERF_OK);
    assert_int_equal(kerf_strategy_parse(line->strategy, &problem.strategy, NULL), KERF_OK);
    assert_int_equal(kerf_cost_model_find("reference", &options.cost_model, NULL), KERF_OK);
    problem.system.scale_up.size = line->domain;
    problem.seq_length = problem.model.max_position_embeddings;
    assert_int_equal(kerf_plan_search(&problem, 1, &options, &plan, NULL), KERF_OK);
    return plan;
}

static void published_searches_are_found_again(void **state) {
    (void)state;
    struct published line, next;
    FILE *file = fopen(KERF_TEST_DIR "/reference/published.csv", "r");
    assert_non_null(file);
    int searches = 0, more = read_line(file, &line);
    for (; more; searches++) {
        struct kerf_plan *plan = search(&line);
        const struct kerf_search *found = &plan->searches[0];
        int32_t rank = 0;
        if (line.step_time_s > 0) {
            assert_true(rank < found->num_plans);
            next = line;
            do {
                const struct kerf_estimate *estimate = &found->plans[rank++];
                assert_true(relative_error(estimate->step_time_s, next.step_time_s) <= 1e-12);
                assert_true(relative_error(estimate->throughput, 4096 / next.step_time_s) <= 1e-12);
                assert_true(relative_error(estimate->memory_bytes, next.memory_gb * 1e9) <= 1e-12);
            } while ((more = read_line(file, &next)) && same_search(&line, &next) && rank < found->num_plans);
        } else {
            more = read_line(file, &next);
        }
        assert_int_equal(rank, found->num_plans); /* as many as were published */
        assert_true(!more || !same_search(&line, &next));
        kerf_plan_free(plan);
        line = next;
    }
    fclose(file);
    assert_int_equal(searches, 120 + 3 * 13);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_searches_are_found_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
