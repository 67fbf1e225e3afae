/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a plan, after a byte with the rank: what is accepted is written as the same, and is a pipeline whose time
 * and bounds agree with each other. */
#include <stdlib.h>
#include <string.h>
#include "invariants.h"
#include "kerf/plan.h"
#include "kerf/schedule.h"
#include "schedule/pipeline.h"

static const char file[] = "plan.json";
enum { OPS_MAX = 20000 };

static void check_again(const struct kerf_pipeline *pipeline) {
    const size_t bytes = (size_t)pipeline->num_stages * sizeof(double);
    struct kerf_text text = {0};
    struct kerf_json json;
    struct kerf_pipeline *back = NULL;
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_json_number(&json, "step_time_s", 1);
    kerf_json_number(&json, "pipeline_s", pipeline->makespan_s);
    kerf_pipeline_json(&json, "pipeline", pipeline);
    kerf_json_close(&json, '}');
    CHECK(kerf_pipeline_parse(text.data, text.length, file, 1, &back, NULL) == KERF_OK);
    CHECK(strcmp(back->schedule, pipeline->schedule) == 0 && back->devices == pipeline->devices);
    CHECK(back->chunks == pipeline->chunks && back->microbatches == pipeline->microbatches);
    CHECK(back->p2p_s == pipeline->p2p_s && back->makespan_s == pipeline->makespan_s);
    CHECK(memcmp(back->forward_s, pipeline->forward_s, bytes) == 0);
    CHECK(memcmp(back->activation_bytes, pipeline->activation_bytes, bytes) == 0);
    kerf_pipeline_free(back);
    kerf_text_free(&text);
}

static void check_times(const struct kerf_pipeline *pipeline) {
    const struct pipeline_question question = {.rule = pipeline->schedule,
                                               .devices = pipeline->devices,
                                               .chunks = pipeline->chunks,
                                               .microbatches = pipeline->microbatches,
                                               .forward_s = pipeline->forward_s,
                                               .backward_input_s = pipeline->backward_input_s,
                                               .backward_weight_s = pipeline->backward_weight_s,
                                               .activation_bytes = pipeline->activation_bytes,
                                               .latency_s = pipeline->p2p_s};
    struct pipeline_answer answer = {.peak_bytes = calloc((size_t)pipeline->devices, sizeof(double))};
    struct arena arena = {NULL};
    CHECK(pipeline_takes(question.rule, question.devices, question.chunks, question.microbatches));
    CHECK(answer.peak_bytes && pipeline_time(&question, NULL, &arena, &answer));
    CHECK(pipeline_least_s(&question) <= answer.makespan_s * (1 + 1e-12));
    CHECK(pipeline_least_of_rule_s(&question) <= answer.makespan_s * (1 + 1e-12));
    for (int32_t i = 0; i < pipeline->devices; i++) CHECK(answer.peak_bytes[i] >= 0);
    free(answer.peak_bytes);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct kerf_pipeline *pipeline;
    struct kerf_error err;
    if (size == 0) return 0;
    const char *text = (const char *)data + 1;
    poison(&pipeline, sizeof pipeline);
    poison(&err, sizeof err);
    int32_t code = kerf_pipeline_parse(text, size - 1, file, data[0] % 10, &pipeline, &err);
    if (code != KERF_OK) {
        CHECK(is_poisoned(&pipeline, sizeof pipeline));
        check_error(code, &err, file, text, size - 1);
        return 0;
    }
    check_again(pipeline);
    if (strcmp(pipeline->schedule, "best") != 0 && (int64_t)pipeline->num_stages * pipeline->microbatches <= OPS_MAX)
        check_times(pipeline);
    kerf_pipeline_free(pipeline);
    return 0;
}
