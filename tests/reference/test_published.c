/* SPDX-License-Identifier: Apache-2.0 */
/* The searches that the authors of the reference published: their lists of the ten highest throughputs, and those in
 * which nothing fits. The file is theirs and is not part of this project: the test is skipped where it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vector_file.h"

#define PUBLISHED KERF_SOURCE_DIR "/../shared/reference/plan/published_top10.json.gz"

static void load_lower(const char *name, struct kerf_problem *problem, int is_model) {
    char lower[32];
    size_t i = 0;
    for (; name[i] && i + 1 < sizeof lower; i++) lower[i] = (char)tolower((unsigned char)name[i]);
    lower[i] = 0;
    assert_int_equal(is_model ? kerf_model_load(lower, &problem->model, NULL)
                              : kerf_system_load(lower, &problem->system, NULL),
                     KERF_OK);
}

static void check_search(const struct kerf_problem *problem, const json_t *top) {
    const struct kerf_cost_model *reference;
    struct kerf_plan *plan;
    assert_int_equal(kerf_cost_model_find("reference", &reference, NULL), KERF_OK);
    const struct kerf_plan_options options = {.cost_model = reference, .top = 10};
    assert_int_equal(kerf_plan_search(problem, 1, &options, &plan, NULL), KERF_OK);
    const struct kerf_search *search = &plan->searches[0];
    assert_int_equal(search->num_plans, json_array_size(top)); /* 0 for NULL: nothing fits */
    for (int32_t i = 0; i < search->num_plans; i++) {
        double want = json_number_value(json_object_get(json_array_get(top, (size_t)i), "throughput"));
        assert_true(relative_error(search->plans[i].throughput, want) <= 1e-12);
    }
    kerf_plan_free(plan);
}

static void test_published_searches(void **state) {
    (void)state;
    FILE *file = popen("gzip -dc " PUBLISHED, "r");
    assert_non_null(file);
    json_error_t error;
    json_t *searches = json_loadf(file, 0, &error);
    assert_int_equal(pclose(file), 0);
    assert_int_equal(json_array_size(searches), 123);
    size_t i;
    json_t *one;
    json_array_foreach(searches, i, one) {
        struct kerf_problem problem = {.global_batch = 4096};
        load_lower(json_string_value(json_object_get(one, "model")), &problem, 1);
        load_lower(json_string_value(json_object_get(one, "system")), &problem, 0);
        problem.system.scale_up.size = json_integer_value(json_object_get(one, "nvlink_size"));
        problem.seq_length = problem.model.max_position_embeddings;
        assert_int_equal(
            kerf_strategy_parse(json_string_value(json_object_get(one, "strategy")), &problem.strategy, NULL), KERF_OK);
        const json_t *gpus = json_object_get(one, "n_gpus");
        for (size_t k = 0; k < (json_is_array(gpus) ? json_array_size(gpus) : 1); k++) {
            problem.gpus = json_integer_value(json_is_array(gpus) ? json_array_get(gpus, k) : gpus);
            check_search(&problem, json_is_true(json_object_get(one, "infeasible_everywhere"))
                                       ? NULL
                                       : json_object_get(one, "top"));
        }
    }
    json_decref(searches);
}

int main(void) {
    if (access(PUBLISHED, R_OK) != 0) {
        puts("skipped: the authors' published searches are not here");
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_published_searches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
