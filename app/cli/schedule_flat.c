/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules for programs: JSON objects, and CSV with a row for each operation or, of several schedules, for each. */
#include <math.h>
#include "cli/flat_cells.h"
#include "cli/schedule_print.h"

/* ---- JSON (docs/json.md) ---------------------------------------------------------------------------------- */

static void answer_json(struct kerf_json *json, const struct schedule_answers *answers,
                        const struct schedule_answer *answer) {
    kerf_schedule_json(json, answer->schedule, answer->timeline, &answer->bound, answers->with_ops);
    if (!isnan(answer->cap)) {
        kerf_json_number(json, answer->cap_in_bytes ? "memory_cap_bytes" : "memory_cap", answer->cap);
    }
    if (answer->times->cap) kerf_json_boolean(json, "within_cap", answer->timeline->over_cap < 0);
    if (answer->warning) kerf_json_string(json, "refused_elsewhere", answer->warning);
}

static void refusals_json(struct kerf_json *json, const struct schedule_answers *answers) {
    int32_t refused = 0;
    for (int32_t i = 0; i < answers->count; i++) refused += answers->items[i].timeline == NULL;
    if (refused == 0) return;
    kerf_json_open(json, "refused", '[');
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        if (answer->timeline) continue;
        kerf_json_open(json, NULL, '{');
        kerf_json_string(json, "schedule", answer->name);
        kerf_json_integer(json, "microbatches", answer->microbatches);
        if (!isnan(answer->cap))
            kerf_json_number(json, answer->cap_in_bytes ? "memory_cap_bytes" : "memory_cap", answer->cap);
        kerf_json_string(json, "why", answer->error.message);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
}

void print_schedule_json(struct kerf_text *out, const struct schedule_answers *answers) {
    struct kerf_json json;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    if (!answers->several) {
        answer_json(&json, answers, &answers->items[0]);
    } else {
        kerf_json_open(&json, "schedules", '[');
        for (int32_t i = 0; i < answers->count; i++) {
            if (answers->items[i].timeline == NULL) continue;
            kerf_json_open(&json, NULL, '{');
            answer_json(&json, answers, &answers->items[i]);
            kerf_json_close(&json, '}');
        }
        kerf_json_close(&json, ']');
        refusals_json(&json, answers);
    }
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}

/* ---- CSV -------------------------------------------------------------------------------------------------- */

static void ops_csv(struct kerf_text *out, const struct kerf_schedule *schedule, const struct kerf_timeline *timeline) {
    static const char *const kinds[KERF_OP_KINDS] = {"F", "B", "I", "W", "FB"};
    int sliced = schedule->slices > 1;
    kerf_text_printf(out, "device,kind,stage,microbatch,%swith_stage,with_microbatch,start_s,end_s\n",
                     sliced ? "slice," : "");
    for (int32_t i = 0; i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            const struct kerf_op *op = &schedule->ops[i][k];
            kerf_text_printf(out, "%d,%s,%d,%d,", i, kinds[op->kind], op->stage, op->microbatch);
            if (sliced) kerf_text_printf(out, "%d,", op->slice);
            if (op->kind == KERF_OP_FB)
                kerf_text_printf(out, "%d,%d", op->with_stage, op->with_microbatch);
            else
                kerf_text_add(out, ",");
            csv_number(out, timeline->start_s[i][k]);
            csv_number(out, timeline->end_s[i][k]);
            kerf_text_add(out, "\n");
        }
}

static void answers_csv(struct kerf_text *out, const struct schedule_answers *answers) {
    kerf_text_add(out, "schedule,devices,stages,microbatches,memory_cap,memory_cap_bytes,makespan_s,span_s,step_s,"
                       "bubble_of_makespan,bubble_of_span,bubble_of_ideal,peak_activations,peak_bytes,lower_bound_s,"
                       "messages,parameter_copies,span_lower_bound_s,within_cap,refused_elsewhere\n");
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        const struct kerf_timeline *timeline = answer->timeline;
        if (timeline == NULL) continue;
        struct kerf_bubble bubble = kerf_timeline_bubble(timeline);
        kerf_text_printf(out, "%s,%d,%d,%d", answer->schedule->name, answer->schedule->devices,
                         answer->schedule->stages, answer->schedule->microbatches);
        const double values[] = {answer->cap_in_bytes ? NAN : answer->cap,
                                 answer->cap_in_bytes ? answer->cap : NAN,
                                 timeline->makespan_s,
                                 timeline->span_s,
                                 timeline->step_s,
                                 bubble.of_makespan,
                                 bubble.of_span,
                                 bubble.of_ideal,
                                 answer_peak(answer),
                                 answer_peak_bytes(answer),
                                 answer->bound.makespan_s};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) csv_number(out, values[k]);
        kerf_text_printf(out, ",%lld,%d", (long long)timeline->messages, answer->schedule->replicas);
        csv_number(out, answer->bound.span_s);
        kerf_text_printf(out, ",%s,", answer->times->cap == NULL ? "" : timeline->over_cap < 0 ? "true" : "false");
        csv_text(out, answer->warning ? answer->warning : "");
        kerf_text_add(out, "\n");
    }
}

void print_schedule_csv(struct kerf_text *out, const struct schedule_answers *answers) {
    if (answers->several)
        answers_csv(out, answers);
    else
        ops_csv(out, answers->items[0].schedule, answers->items[0].timeline);
}
