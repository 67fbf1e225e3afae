/* SPDX-License-Identifier: Apache-2.0 */
/* kerf schedule --plan: from the file of a plan to the question of its pipeline, and of schedules to compare it
 * with. */
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/input.h"
#include "cli/schedule_answers.h"

enum { PLAN_BYTES_MAX = 256 << 20 };

static int32_t read_file(const char *path, int32_t rank, struct schedule_plan *plan, struct kerf_error *err) {
    struct kerf_text text = {0};
    int32_t code = input_read(path, PLAN_BYTES_MAX, &text, err);
    if (code == KERF_OK)
        code = kerf_pipeline_parse(text.data ? text.data : "", text.length,
                                   strcmp(path, "-") == 0 ? "standard input" : path, rank, &plan->pipeline, err);
    kerf_text_free(&text);
    return code;
}

/* What --times would read: each schedule of a comparison sums or splits it for its own stages. */
static int32_t write_times(struct schedule_plan *plan, struct kerf_error *err) {
    const struct kerf_pipeline *pipeline = plan->pipeline;
    const struct kerf_schedule_times times = {.forward_s = pipeline->forward_s,
                                              .backward_input_s = pipeline->backward_input_s,
                                              .backward_weight_s = pipeline->backward_weight_s,
                                              .activation_bytes = pipeline->activation_bytes,
                                              .p2p_s = pipeline->p2p_s};
    struct kerf_json json;
    kerf_json_begin(&json, &plan->times);
    kerf_json_open(&json, NULL, '{');
    kerf_schedule_times_json(&json, &times, pipeline->devices, pipeline->num_stages);
    kerf_json_close(&json, '}');
    return plan->times.failed ? error_no_memory(err, "the times of the plan") : KERF_OK;
}

/* The plan's schedule first, then the words between commas. */
static int32_t list_names(struct schedule_plan *plan, const char *compare, int32_t *ret_count, struct kerf_error *err) {
    int32_t count = 1, code = KERF_OK;
    size_t room = 2;
    for (const char *c = compare; c && *c; c++) room += *c == ',';
    plan->names = calloc(room, sizeof *plan->names);
    plan->words = strdup(compare ? compare : "");
    if (plan->names == NULL || plan->words == NULL) return error_no_memory(err, "the schedules");
    plan->names[0] = plan->pipeline->schedule;
    for (char *word = plan->words, *next; compare && word && code == KERF_OK; word = next) {
        int32_t is_file;
        next = strchr(word, ',');
        if (next) *next++ = 0;
        code = *word ? schedule_name_check(word, &is_file, err)
                     : kerf_error_set(err, KERF_EINVALID,
                                      "--compare takes schedules with commas between, such as "
                                      "zb_h1,zb_v");
        plan->names[count++] = word;
    }
    *ret_count = count;
    return code;
}

int32_t schedule_plan_read(const char *path, int32_t rank, const char *compare, struct schedule_plan *plan,
                           struct schedule_question *question, struct kerf_error *err) {
    *plan = (struct schedule_plan){.pipeline = NULL};
    int32_t count = 0, code = read_file(path, rank, plan, err);
    if (code == KERF_OK) code = write_times(plan, err);
    if (code == KERF_OK) code = list_names(plan, compare, &count, err);
    if (code != KERF_OK) return code;
    question->pipeline = plan->pipeline;
    question->names = plan->names;
    question->num_names = count;
    question->compare = compare != NULL;
    question->request.devices = plan->pipeline->devices;
    question->request.chunks = plan->pipeline->chunks > 1 ? plan->pipeline->chunks : 0;
    question->times.file = path;
    question->times.file_text = plan->times.data;
    return KERF_OK;
}

void schedule_plan_free(struct schedule_plan *plan) {
    kerf_pipeline_free(plan->pipeline);
    kerf_text_free(&plan->times);
    free(plan->words);
    free(plan->names);
    *plan = (struct schedule_plan){.pipeline = NULL};
}
