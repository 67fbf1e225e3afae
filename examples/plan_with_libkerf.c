/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans GPT-3 1T over 1,024 A100 through the public interface of libkerf and prints the best three layouts.
 *
 *     cc plan_with_libkerf.c $(pkg-config --cflags --libs kerf) -o plan_with_libkerf
 */
#include <stdio.h>
#include <kerf/kerf.h>

static int fail(const struct kerf_error *err) {
    char line[1024];
    kerf_error_format(err, line, sizeof line);
    fprintf(stderr, "%s\n", line);
    return 1;
}

int main(void) {
    struct kerf_error err;
    struct kerf_problem problem = {.strategy = KERF_STRATEGY_1D, .gpus = 1024, .global_batch = 4096};
    struct kerf_plan_options options = {.top = 3};
    struct kerf_plan *plan;
    struct kerf_text layout = {0};

    /* a name from the catalogue, or the path of a config.json */
    if (kerf_model_load("gpt3_1t", &problem.model, &err) != KERF_OK) return fail(&err);
    if (kerf_system_load("a100", &problem.system, &err) != KERF_OK) return fail(&err);
    if (kerf_cost_model_find("reference", &options.cost_model, &err) != KERF_OK) return fail(&err);
    problem.seq_length = problem.model.max_position_embeddings;

    if (kerf_plan_search(&problem, 1, &options, &plan, &err) != KERF_OK) return fail(&err);
    const struct kerf_search *search = &plan->searches[0];
    printf("%lld layouts, %lld fit\n", (long long)search->candidates, (long long)search->feasible);
    for (int i = 0; i < search->num_plans; i++) {
        const struct kerf_estimate *estimate = &search->plans[i];
        kerf_text_clear(&layout);
        kerf_layout_text(&layout, &problem, &estimate->layout);
        if (layout.failed) break;
        printf("%s: %.2f samples/s, %.1f GB\n", layout.data, estimate->throughput, estimate->memory_bytes / 1e9);
    }
    kerf_text_free(&layout);
    kerf_plan_free(plan);
    return 0;
}
