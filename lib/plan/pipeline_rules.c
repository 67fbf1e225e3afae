/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/pipeline_rules.h"

#include "schedule/pipeline.h"

/* Rules with an order of their own that a framework runs, each by one name. Rules that search for an order answer another
 * question, and take a second each. */
static const char *const schedules[] = {
    "1f1b", "interleaved_1f1b", "gpipe", "zb_h1",      "zb_h2", "interleaved_zb", "looped_bfs",
    "zb_v", "v_half",           "v_min", "dualpipe_v", NULL};

static struct pipeline_question question_of(const struct pipeliner_question *question) {
    return (struct pipeline_question){
        .rule = question->schedule,
        .devices = question->devices,
        .chunks = question->chunks,
        .microbatches = question->microbatches,
        .forward_s = question->forward_s,
        .backward_input_s = question->backward_input_s,
        .backward_weight_s = question->backward_weight_s,
        .activation_bytes = question->activation_bytes,
        .latency_s = question->latency_s,
    };
}

static double least_s(const struct pipeliner_question *question) {
    struct pipeline_question asked = question_of(question);
    return pipeline_least_of_rule_s(&asked);
}

static struct pipeliner_memory *begin(void) { return (struct pipeliner_memory *)(void *)pipeline_made_begin(); }

static struct pipeline_made *made_of(struct pipeliner_memory *memory) { return (struct pipeline_made *)(void *)memory; }

static void end(struct pipeliner_memory *memory) { pipeline_made_end(made_of(memory)); }

static int peak(struct pipeliner_memory *memory, const struct pipeliner_question *question, double *ret_peak_bytes) {
    struct pipeline_question asked = question_of(question);
    return pipeline_peak(&asked, made_of(memory), ret_peak_bytes);
}

static int time(struct pipeliner_memory *memory, const struct pipeliner_question *question, struct arena *arena,
                double *ret_makespan_s, double *ret_peak_bytes) {
    struct pipeline_question asked = question_of(question);
    struct pipeline_answer answer = {.peak_bytes = ret_peak_bytes};
    if (!pipeline_time(&asked, made_of(memory), arena, &answer)) return 0;
    *ret_makespan_s = answer.makespan_s;
    return 1;
}

const struct pipeliner pipeline_rules = {
    .schedules = schedules,
    .takes = pipeline_takes,
    .devices = pipeline_devices,
    .in_flight = pipeline_in_flight,
    .least_s = least_s,
    .begin = begin,
    .end = end,
    .peak = peak,
    .time = time,
};
