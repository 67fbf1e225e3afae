/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/pipeline_rules.h"

#include <string.h>
#include "kerf/schedule.h"
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
                double *ret_makespan_s, double *ret_bound_s, double *ret_peak_bytes) {
    struct pipeline_question asked = question_of(question);
    struct pipeline_answer answer = {.peak_bytes = ret_peak_bytes};
    if (!pipeline_time(&asked, made_of(memory), arena, &answer)) return 0;
    *ret_makespan_s = answer.makespan_s;
    *ret_bound_s = answer.bound_s;
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

/* Whether a plan can have such a schedule at all: each device holds the model's stages once, and whole sequences go
 * through them. */
static int32_t check_kind(const char *schedule, struct kerf_error *err) {
    if (kerf_schedule_takes_slices(schedule))
        return kerf_error_set(err, KERF_EINVALID,
                              "schedule %s cuts the sequences of a micro-batch, which is not priced", schedule);
    if (pipeline_has_replicas(schedule))
        return kerf_error_set(err, KERF_EINVALID,
                              "schedule %s keeps a second copy of the model on the devices, which is not priced",
                              schedule);
    return KERF_OK;
}

int32_t layout_check_schedule(const struct kerf_problem *problem, const struct kerf_layout *layout,
                              struct kerf_error *err) {
    const struct kerf_layout *l = layout;
    int64_t microbatches = problem->global_batch / (l->dp * l->micro_batch);
    int is_plain =
        strcmp(l->schedule, "1f1b") == 0 || (strcmp(l->schedule, "interleaved_1f1b") == 0 && microbatches % l->pp == 0);
    if (l->schedule[0] == 0 || is_plain) return KERF_OK; /* kerf_layout_check has said what is to be said */
    struct kerf_schedule_request request = {
        .rule = l->schedule, .devices = (int32_t)l->pp, .chunks = l->vpp, .microbatches = (int32_t)microbatches};
    int32_t stages;
    int32_t code = kerf_schedule_stages(&request, &stages, err);
    return code == KERF_OK ? check_kind(l->schedule, err) : code;
}

int32_t space_check_schedules(const struct kerf_problem *problem, struct kerf_error *err) {
    for (int32_t i = 0; problem->space && i < problem->space->num_schedules; i++) {
        const char *schedule = problem->space->schedules[i];
        struct kerf_error why;
        struct kerf_schedule_request request = {.rule = schedule, .devices = 2, .microbatches = 64};
        int32_t stages;
        int32_t code = kerf_schedule_stages(&request, &stages, &why);
        if (code == KERF_EUNKNOWN) {
            if (err) *err = why;
            return code;
        }
        code = check_kind(schedule, err);
        if (code != KERF_OK) return code;
    }
    return KERF_OK;
}
