/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is a small problem, one character a field, in the order below; '0' is the first choice of a
 * field, '1' the second, and so on, and a field that is missing is '0'. It is searched, and the answer is
 * held against the definition of what a search finds.
 */
#include "invariants.h"

#include <string.h>

struct bytes {
    const uint8_t *data;
    size_t left;
};

/* One of `count` choices, 0 .. count - 1. */
static size_t choose(struct bytes *bytes, size_t count) {
    if (bytes->left == 0) return 0;
    bytes->left--;
    return (uint8_t)(*bytes->data++ - '0') % count;
}

#define CHOOSE_OF(bytes, list) (list)[choose(bytes, sizeof(list) / sizeof *(list))]

/* value times 2^0, 2^1 .. 2^7, 2^-1 .. 2^-24 */
static double scaled(struct bytes *bytes, double value) {
    size_t power = choose(bytes, 32);
    return power < 8 ? value * (double)(1 << power) : value / (double)(1 << (power - 7));
}

static void read_model(struct bytes *bytes, struct kerf_model *model) {
    static const int64_t heads[] = {8, 1, 2, 3, 6, 12, 16, 32, 48, 64, 96, 5, 7};
    static const int64_t widths[] = {128, 1, 2, 3, 16, 64, 80, 96, 192, 256, 512};
    static const int64_t depths[] = {8, 1, 2, 3, 6, 12, 24, 32, 48, 64, 7};
    static const int64_t ratios[] = {4, 1, 2, 3, 8};
    memcpy(model->name, "fuzzed", 7);
    model->num_attention_heads = CHOOSE_OF(bytes, heads);
    model->hidden_size = model->num_attention_heads * CHOOSE_OF(bytes, widths);
    model->num_hidden_layers = CHOOSE_OF(bytes, depths);
    size_t ratio = choose(bytes, 9);
    model->intermediate_size = ratio < 5 ? ratios[ratio] * model->hidden_size : (int64_t)(ratio - 4) * 3;
}

static void read_system(struct bytes *bytes, struct kerf_system *system) {
    static const int64_t domains[] = {4, 1, 2, 3, 6, 8, 12, 16, 32, 36, 64, 72, 60, 5};
    static const double nics[] = {1, 0.25, 0.5, 2, 8};
    memcpy(system->name, "fuzzed", 7);
    system->scale_up.size = CHOOSE_OF(bytes, domains);
    system->memory_capacity_bytes = scaled(bytes, 80e9);
    system->matrix_flops_per_s = scaled(bytes, 312e12);
    system->vector_flops_per_s = scaled(bytes, 78e12);
    system->memory_bandwidth_bytes_per_s = scaled(bytes, 1555e9);
    system->scale_up.bandwidth_bytes_per_s = scaled(bytes, 300e9);
    system->scale_up.efficiency = 1 - 0.01 * (double)choose(bytes, 100);
    system->scale_up.latency_s = 2.5e-6 * (double)choose(bytes, 8);
    system->scale_out.bandwidth_bytes_per_s = scaled(bytes, 25e9);
    system->scale_out.efficiency = 1 - 0.01 * (double)choose(bytes, 100);
    system->scale_out.latency_s = 5e-6 * (double)choose(bytes, 8);
    system->scale_out.nics_per_device = CHOOSE_OF(bytes, nics);
}

static void read_problem(struct bytes *bytes, struct kerf_problem *problem, int32_t *ret_top) {
    static const int64_t lengths[] = {2048, 1, 2, 64, 127, 128, 384, 1000, 1024, 4096, 32768, 129600, 0};
    static const int32_t tops[] = {10, 1, 2, 3, 7, 100, KERF_TOP_MAX, 0, KERF_TOP_MAX + 1};
    memset(problem, 0, sizeof *problem);
    problem->strategy = (enum kerf_strategy)choose(bytes, KERF_STRATEGY_HYBRID);
    problem->attention = (enum kerf_attention)choose(bytes, KERF_ATTENTION_COUNT);
    problem->gpus = (1 + (int64_t)choose(bytes, 65)) % 65; /* 1, 2 .. 64, 0 */
    problem->global_batch = (1 + (int64_t)choose(bytes, 65)) % 65;
    problem->seq_length = CHOOSE_OF(bytes, lengths);
    *ret_top = CHOOSE_OF(bytes, tops);
    read_model(bytes, &problem->model);
    read_system(bytes, &problem->system);
}

/* ---- What a search finds ----------------------------------------------------------------------------------
 */

static struct kerf_plan *search(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                                int32_t top) {
    struct kerf_plan *plan;
    struct kerf_plan_options options = {.cost_model = cost_model, .top = top, .threads = 1};
    CHECK(kerf_plan_search(problem, 1, &options, &plan, NULL) == KERF_OK);
    CHECK(plan->complete && plan->num_searches == 1 && plan->searches[0].complete);
    return plan;
}

static void check_plan(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                       const struct kerf_estimate *plan) {
    struct kerf_estimate alone;
    CHECK(kerf_layout_check(problem, &plan->layout, NULL) == KERF_OK);
    CHECK(kerf_layout_estimate(cost_model, problem, &plan->layout, &alone, NULL) == KERF_OK);
    CHECK(same_estimate(plan, &alone));
    check_estimate(problem, &plan->layout, plan);
}

/* Below 0 when a comes before b in a plan. */
static int compare(const struct kerf_estimate *a, const struct kerf_estimate *b) {
    if (a->throughput != b->throughput) return a->throughput > b->throughput ? -1 : 1;
    if (a->memory_bytes != b->memory_bytes) return a->memory_bytes < b->memory_bytes ? -1 : 1;
    return kerf_layout_compare(&a->layout, &b->layout);
}

static void check_feasible(const struct kerf_cost_model *cost_model, struct kerf_problem problem, int64_t gpus,
                           int fits) {
    enum { SEARCH_MAX = 1024 }; /* what is searched again, for the sake of speed */
    if (gpus > SEARCH_MAX) return;
    problem.gpus = gpus;
    struct kerf_plan *plan = search(cost_model, &problem, 1);
    CHECK((plan->searches[0].feasible > 0) == fits);
    kerf_plan_free(plan);
}

/* Something fits on least_gpus, and nothing on half of it. */
static void check_least_gpus(const struct kerf_cost_model *cost_model, const struct kerf_search *found) {
    int64_t gpus = found->problem.gpus, least = found->least_gpus;
    CHECK(least >= 0 && least <= KERF_LEAST_GPUS_MAX);
    if (least) {
        CHECK(least > gpus && least % gpus == 0 && __builtin_popcountll((unsigned long long)(least / gpus)) == 1);
        check_feasible(cost_model, found->problem, least, 1);
    }
    if (least != 2 * gpus) check_feasible(cost_model, found->problem, least ? least / 2 : 2 * gpus, 0);
}

static void check_search(const struct kerf_cost_model *cost_model, const struct kerf_search *found, int32_t top) {
    int64_t expected = found->feasible < top ? found->feasible : top;
    CHECK(found->candidates >= found->feasible && found->feasible >= found->num_plans);
    CHECK(found->num_plans == expected);
    for (int32_t i = 0; i < found->num_plans; i++) {
        check_plan(cost_model, &found->problem, &found->plans[i]);
        CHECK(found->plans[i].fits == 1);
        CHECK(i == 0 || compare(&found->plans[i - 1], &found->plans[i]) < 0);
    }
    CHECK((found->nearest != NULL) == (found->num_plans == 0 && found->candidates > 0));
    if (found->nearest) {
        check_plan(cost_model, &found->problem, found->nearest);
        CHECK(found->nearest->fits == 0);
    }
    if (found->num_plans == 0)
        check_least_gpus(cost_model, found);
    else
        CHECK(found->least_gpus == 0);
}

static void check_json(const struct kerf_plan *plan) {
    const struct kerf_search *found = &plan->searches[0];
    struct kerf_text text = {0};
    struct kerf_json json;
    kerf_json_begin(&json, &text);
    kerf_plan_json(&json, plan);
    json_t *root = read_back(&text), *one = json_array_get(json_object_get(root, "searches"), 0);
    const json_t *plans = json_object_get(one, "plans");
    check_number(one, "candidates", (double)found->candidates);
    check_number(one, "feasible", (double)found->feasible);
    CHECK(json_array_size(plans) == (size_t)found->num_plans);
    for (int32_t i = 0; i < found->num_plans; i++) {
        check_estimate_json(json_array_get(plans, (size_t)i), &found->plans[i]);
        check_number(json_array_get(plans, (size_t)i), "rank", i + 1);
    }
    if (found->nearest) check_estimate_json(json_object_get(one, "nearest"), found->nearest);
    json_decref(root);
    kerf_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes bytes = {data, size};
    struct kerf_problem problem;
    const struct kerf_cost_model *cost_model;
    struct kerf_plan *plan = NULL;
    struct kerf_error err;
    int32_t top;
    read_problem(&bytes, &problem, &top);
    CHECK(kerf_cost_model_find("reference", &cost_model, NULL) == KERF_OK);
    struct kerf_plan_options options = {.cost_model = cost_model, .top = top, .threads = 1};
    poison(&err, sizeof err);
    int32_t code = kerf_plan_search(&problem, 1, &options, &plan, &err);
    if (code != KERF_OK) {
        check_error(code, &err, "", NULL, 0);
        CHECK(plan == NULL);
        return 0;
    }
    CHECK(plan->complete && plan->num_searches == 1);
    const struct kerf_search *found = &plan->searches[0];
    check_search(cost_model, found, top);
    check_json(plan);
    CHECK(kerf_plan_best(plan, NULL) == (found->num_plans ? found : NULL));
    CHECK(kerf_plan_best(plan, &problem.model) == (found->num_plans ? found : NULL));
    struct kerf_model another = problem.model;
    another.num_hidden_layers++; /* of the same name */
    CHECK(kerf_plan_best(plan, &another) == NULL);
    CHECK((found->candidates == 0) == (found->reason != NULL));

    /* the best few are the first of the best many */
    if (found->num_plans) {
        struct kerf_plan *wider =
            search(cost_model, &problem, found->num_plans < 100 ? 2 * found->num_plans : KERF_TOP_MAX);
        const struct kerf_search *more = &wider->searches[0];
        CHECK(more->candidates == found->candidates && more->feasible == found->feasible);
        CHECK(more->num_plans >= found->num_plans);
        for (int32_t i = 0; i < found->num_plans; i++) CHECK(same_estimate(&more->plans[i], &found->plans[i]));
        kerf_plan_free(wider);
    }
    kerf_plan_free(plan);
    return 0;
}
