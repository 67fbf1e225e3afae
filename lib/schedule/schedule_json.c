/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules as JSON; the keys are documented in docs/json.md. */
#include "kerf/schedule.h"

struct kerf_bubble kerf_timeline_bubble(const struct kerf_timeline *t) {
    double idle = t->makespan_s - t->busy_mean_s;
    return (struct kerf_bubble){
        .of_makespan = t->makespan_s > 0 ? idle / t->makespan_s : 0,
        .of_span = t->span_s > 0 ? (t->span_s - t->busy_max_s) / t->span_s : 0,
        .of_ideal = t->busy_mean_s > 0 ? idle / t->busy_mean_s : 0,
    };
}

static void part_json(struct kerf_json *json, const char *kind, int32_t stage, int32_t microbatch) {
    kerf_json_string(json, "kind", kind);
    kerf_json_integer(json, "stage", stage);
    kerf_json_integer(json, "microbatch", microbatch);
}

static void op_json(struct kerf_json *json, int32_t device, const struct kerf_op *op, int32_t slices, double start_s,
                    double end_s) {
    static const char *const kinds[KERF_OP_KINDS] = {"F", "B", "I", "W", "FB", "R", "O", "L"};
    kerf_json_open(json, NULL, '{');
    kerf_json_integer(json, "device", device);
    if (op->kind == KERF_OP_FB) {
        kerf_json_string(json, "kind", "FB");
        kerf_json_open(json, "parts", '[');
        kerf_json_open(json, NULL, '{');
        part_json(json, "F", op->stage, op->microbatch);
        kerf_json_close(json, '}');
        kerf_json_open(json, NULL, '{');
        part_json(json, "B", op->with_stage, op->with_microbatch);
        kerf_json_close(json, '}');
        kerf_json_close(json, ']');
    } else {
        part_json(json, kinds[op->kind], op->stage, op->microbatch);
        if (slices > 1) kerf_json_integer(json, "slice", op->slice);
    }
    kerf_json_number(json, "start_s", start_s);
    kerf_json_number(json, "end_s", end_s);
    kerf_json_close(json, '}');
}

/* What the slices of a micro-batch take, where they are unequal. */
static void slices_json(struct kerf_json *json, const struct kerf_schedule_slices *slices) {
    const struct {
        const char *key;
        const double *shares;
    } all[] = {{"tokens", slices->tokens},
               {"forward", slices->forward},
               {"backward", slices->backward},
               {"backward_input", slices->backward_input},
               {"backward_weight", slices->backward_weight}};
    kerf_json_open(json, "slice_shares", '{');
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        kerf_json_open(json, all[i].key, '[');
        for (int32_t j = 0; j < slices->count; j++) kerf_json_number(json, NULL, all[i].shares[j]);
        kerf_json_close(json, ']');
    }
    kerf_json_close(json, '}');
}

void kerf_schedule_json(struct kerf_json *json, const struct kerf_schedule *schedule,
                        const struct kerf_timeline *timeline, const struct kerf_schedule_bound *bound,
                        int32_t with_ops) {
    struct kerf_bubble bubble = kerf_timeline_bubble(timeline);
    kerf_json_string(json, "schedule", schedule->name);
    kerf_json_integer(json, "devices", schedule->devices);
    kerf_json_integer(json, "stages", schedule->stages);
    kerf_json_integer(json, "microbatches", schedule->microbatches);
    if (schedule->slices > 1) kerf_json_integer(json, "slices", schedule->slices);
    if (timeline->slices) slices_json(json, timeline->slices);
    kerf_json_number(json, "makespan_s", timeline->makespan_s);
    kerf_json_number(json, "span_s", timeline->span_s);
    kerf_json_open(json, "bubble", '{');
    kerf_json_number(json, "of_makespan", bubble.of_makespan);
    kerf_json_number(json, "of_span", bubble.of_span);
    kerf_json_number(json, "of_ideal", bubble.of_ideal);
    kerf_json_close(json, '}');
    kerf_json_open(json, "peak_activations", '[');
    for (int32_t i = 0; i < schedule->devices; i++) kerf_json_number(json, NULL, timeline->peak_activations[i]);
    kerf_json_close(json, ']');
    if (timeline->peak_bytes) {
        kerf_json_open(json, "peak_bytes", '[');
        for (int32_t i = 0; i < schedule->devices; i++) kerf_json_number(json, NULL, timeline->peak_bytes[i]);
        kerf_json_close(json, ']');
    }
    kerf_json_number(json, "lower_bound_s", bound->makespan_s);
    kerf_json_number(json, "span_lower_bound_s", bound->span_s);
    kerf_json_number(json, "step_lower_bound_s", bound->step_s);
    kerf_json_number(json, "step_s", timeline->step_s);
    kerf_json_number(json, "busy_mean_s", timeline->busy_mean_s);
    kerf_json_number(json, "busy_max_s", timeline->busy_max_s);
    kerf_json_integer(json, "messages", timeline->messages);
    kerf_json_integer(json, "parameter_copies", schedule->replicas);
    if (!with_ops) return;
    kerf_json_open(json, "ops", '[');
    for (int32_t i = 0; i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++)
            op_json(json, i, &schedule->ops[i][k], schedule->slices, timeline->start_s[i][k], timeline->end_s[i][k]);
    kerf_json_close(json, ']');
}
