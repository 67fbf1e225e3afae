/* SPDX-License-Identifier: Apache-2.0 */
/* A plan's pipeline is read as it was written, and simulated it takes what the plan says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "kerf/plan.h"
#include "kerf/schedule.h"

static const char config[] =
    "{\"model_type\":\"llama\",\"hidden_size\":1536,\"intermediate_size\":4608,\"num_hidden_layers\":13,"
    "\"num_attention_heads\":12,\"num_key_value_heads\":4,\"vocab_size\":50000,\"max_position_embeddings\":4096,"
    "\"hidden_act\":\"silu\",\"tie_word_embeddings\":true}";

/* What is written of the pipeline is what a file of times may hold. */
static double simulate(const struct kerf_pipeline *pipeline) {
    const struct kerf_schedule_request request = {.rule = pipeline->schedule,
                                                  .devices = pipeline->devices,
                                                  .chunks = pipeline->chunks,
                                                  .microbatches = pipeline->microbatches};
    struct kerf_schedule_times_request said;
    struct kerf_schedule_times *times;
    struct kerf_schedule *schedule;
    struct kerf_timeline *timeline;
    struct kerf_text text = {0};
    struct kerf_json json;
    struct kerf_error err = {.code = KERF_OK};
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_pipeline_json(&json, "pipeline", pipeline);
    kerf_json_close(&json, '}');
    text.data[text.length - 1] = 0; /* {"pipeline":{...}} without what is around the inner object */
    kerf_schedule_times_unsaid(&said);
    said.file = "pipeline.json";
    said.file_text = strchr(text.data + 1, '{');
    if (kerf_schedule_times_make(pipeline->devices, pipeline->num_stages, &said, &times, &err) != KERF_OK ||
        kerf_schedule_make(&request, &schedule, &err) != KERF_OK ||
        kerf_schedule_simulate(schedule, times, &timeline, &err) != KERF_OK)
        fail_msg("%s", err.message);
    const double makespan_s = timeline->makespan_s;
    kerf_timeline_free(timeline);
    kerf_schedule_free(schedule);
    kerf_schedule_times_free(times);
    kerf_text_free(&text);
    return makespan_s;
}

static void check_same(const struct kerf_pipeline *a, const struct kerf_pipeline *b) {
    const size_t bytes = (size_t)a->num_stages * sizeof(double);
    assert_string_equal(a->schedule, b->schedule);
    assert_int_equal(a->devices, b->devices);
    assert_int_equal(a->chunks, b->chunks);
    assert_int_equal(a->microbatches, b->microbatches);
    assert_int_equal(a->num_stages, b->num_stages);
    assert_memory_equal(a->forward_s, b->forward_s, bytes);
    assert_memory_equal(a->backward_input_s, b->backward_input_s, bytes);
    assert_memory_equal(a->backward_weight_s, b->backward_weight_s, bytes);
    assert_memory_equal(a->activation_bytes, b->activation_bytes, bytes);
    assert_true(a->p2p_s == b->p2p_s && a->makespan_s == b->makespan_s);
}

static void every_plan(void **state) {
    enum { TOP = 400 };
    (void)state;
    struct kerf_problem problem;
    struct kerf_plan_options options = {.top = TOP, .threads = 1};
    struct kerf_plan *plan;
    struct kerf_pipeline *pipeline;
    struct kerf_text text = {0};
    struct kerf_json json;
    struct kerf_error err;
    int32_t looped = 0;
    memset(&problem, 0, sizeof problem);
    assert_int_equal(kerf_cost_model_find("analytic", &options.cost_model, NULL), KERF_OK);
    assert_int_equal(kerf_model_parse(config, strlen(config), "config.json", &problem.model, NULL), KERF_OK);
    assert_int_equal(kerf_system_load("h100", &problem.system, NULL), KERF_OK);
    problem.strategy = KERF_STRATEGY_HYBRID;
    problem.gpus = 32;
    problem.global_batch = 64;
    problem.seq_length = 2048;
    assert_int_equal(kerf_plan_search(&problem, 1, &options, &plan, NULL), KERF_OK);
    kerf_json_begin(&json, &text);
    kerf_plan_json(&json, plan);
    const struct kerf_search *search = &plan->searches[0];
    assert_int_equal(search->num_plans, TOP);
    for (int32_t i = 0; i < TOP; i++) {
        const struct kerf_estimate *estimate = &search->plans[i];
        if (kerf_pipeline_parse(text.data, text.length, "plan.json", i + 1, &pipeline, &err) != KERF_OK)
            fail_msg("%s", err.message);
        check_same(pipeline, estimate->pipeline);
        assert_true(pipeline->makespan_s == estimate->pipeline_s);
        const double simulated_s = simulate(pipeline);
        if (fabs(simulated_s - estimate->pipeline_s) > 1e-11 * simulated_s)
            fail_msg("rank %d, %s on %d devices: %.17g, but simulated %.17g", i + 1, pipeline->schedule,
                     pipeline->devices, estimate->pipeline_s, simulated_s);
        looped += pipeline->chunks > 1;
        kerf_pipeline_free(pipeline);
    }
    assert_true(looped > 0);
    assert_int_equal(kerf_pipeline_parse(text.data, text.length, "plan.json", TOP + 1, &pipeline, &err), KERF_EINVALID);
    assert_int_equal(kerf_pipeline_parse(text.data, text.length, "plan.json", 0, &pipeline, &err), KERF_EINVALID);
    assert_int_equal(kerf_pipeline_parse(text.data, text.length / 2, "plan.json", 1, &pipeline, &err), KERF_ESYNTAX);
    kerf_text_free(&text);
    kerf_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
