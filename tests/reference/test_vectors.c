/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded layout of the reference, whole: step time, memory, their parts, arithmetic, and the number of
 * candidates of each recorded search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vector_file.h"

static const double TOLERANCE = 1e-12;

static const struct kerf_cost_model *reference(void) {
    const struct kerf_cost_model *model = NULL;
    assert_int_equal(kerf_cost_model_find("reference", &model, NULL), KERF_OK);
    return model;
}

static double worst_error(const struct vector *v, const struct kerf_estimate *e) {
    const double got[] = {e->step_time_s,
                          e->memory_bytes / 1e9,
                          e->flops_per_gpu / 1e12,
                          kerf_part_value(&e->time_s, "compute"),
                          kerf_part_value(&e->time_s, "memory"),
                          kerf_part_value(&e->time_s, "tp_comm"),
                          kerf_part_value(&e->time_s, "dp_comm"),
                          kerf_part_value(&e->time_s, "pp_comm"),
                          kerf_part_value(&e->time_s, "bubble"),
                          kerf_part_value(&e->memory, "weights") / 1e9,
                          kerf_part_value(&e->memory, "gradients") / 1e9,
                          kerf_part_value(&e->memory, "optimizer") / 1e9,
                          kerf_part_value(&e->memory, "activations") / 1e9};
    double want[13] = {v->t, v->memory, v->flops}, worst = 0;
    memcpy(want + 3, v->time, sizeof v->time);
    memcpy(want + 9, v->memory_parts, sizeof v->memory_parts);
    for (int i = 0; i < 13; i++)
        if (!(relative_error(got[i], want[i]) <= worst)) worst = relative_error(got[i], want[i]);
    return worst;
}

static void test_every_layout(void **state) {
    (void)state;
    size_t count;
    struct vector *vectors = read_vectors(&count);
    assert_true(count > 2000);
    for (size_t i = 0; i < count; i++) {
        struct kerf_estimate estimate;
        struct kerf_error err;
        if (kerf_layout_estimate(reference(), &vectors[i].problem, &vectors[i].layout, &estimate, &err) != KERF_OK)
            fail_msg("vector %zu: %s", i + 1, err.message);
        if (!(worst_error(&vectors[i], &estimate) <= TOLERANCE))
            fail_msg("vector %zu is off by %g", i + 1, worst_error(&vectors[i], &estimate));
        assert_int_equal(estimate.fits, vectors[i].memory * 1e9 <= vectors[i].problem.system.memory_capacity_bytes);
    }
    free(vectors);
}

static void test_the_parts_sum_to_the_step(void **state) {
    (void)state;
    size_t count;
    struct vector *vectors = read_vectors(&count);
    for (size_t i = 0; i < count; i++) {
        struct kerf_estimate e;
        assert_int_equal(kerf_layout_estimate(reference(), &vectors[i].problem, &vectors[i].layout, &e, NULL), KERF_OK);
        double sum = kerf_part_value(&e.time_s, "compute") + kerf_part_value(&e.time_s, "memory") +
                     kerf_part_value(&e.time_s, "tp_comm") + kerf_part_value(&e.time_s, "dp_comm") +
                     kerf_part_value(&e.time_s, "pp_comm") + kerf_part_value(&e.time_s, "bubble");
        if (vectors[i].problem.attention != KERF_ATTENTION_RECOMPUTED) /* its second forward pass is in no part */
            assert_true(relative_error(sum, e.step_time_s) < 1e-12);
        sum = kerf_part_value(&e.memory, "weights") + kerf_part_value(&e.memory, "gradients") +
              kerf_part_value(&e.memory, "optimizer") + kerf_part_value(&e.memory, "activations");
        assert_true(relative_error(sum, e.memory_bytes) < 1e-12);
    }
    free(vectors);
}

static void test_candidate_counts(void **state) {
    (void)state;
    size_t count, searches = 0;
    struct vector *vectors = read_vectors(&count);
    for (size_t i = 0; i < count; i++) {
        const struct vector *v = &vectors[i];
        if (v->candidates == 0 || (i > 0 && memcmp(&v->problem, &v[-1].problem, sizeof v->problem) == 0)) continue;
        const struct kerf_plan_options options = {.cost_model = reference(), .top = 1};
        struct kerf_plan *plan;
        assert_int_equal(kerf_plan_search(&v->problem, 1, &options, &plan, NULL), KERF_OK);
        if (plan->searches[0].candidates != v->candidates)
            fail_msg("vector %zu: %lld candidates, recorded %lld", i + 1, (long long)plan->searches[0].candidates,
                     (long long)v->candidates);
        kerf_plan_free(plan);
        searches++;
    }
    assert_true(searches > 300);
    free(vectors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_layout),
        cmocka_unit_test(test_the_parts_sum_to_the_step),
        cmocka_unit_test(test_candidate_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
