/* SPDX-License-Identifier: Apache-2.0 */
/* A program that stays, and measures one setting after the other: docs/workers.md. Lines that do not answer the open
 * question are ignored. */
#include <math.h>
#include "trial/trial_slot.h"

static int is_wall(const struct slot *slot) { return slot->runner->command.objective == KERF_TRIAL_WALL; }

static void begin(struct slot *slot, double now_s) {
    (void)now_s;
    struct trial *trial = &slot->trial;
    struct kerf_text text = {0};
    struct kerf_json json;
    int64_t next = slot->runner->requests + 1, asked = trial->result.id;
    trial->request = slot->runner->requests = next > asked ? next : asked; /* never the same twice */
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_json_integer(&json, "id", trial->request);
    kerf_tune_setting_json(&json, "setting", slot->runner->space, trial->result.observation.setting);
    if (trial->limit > 0 && is_wall(slot)) kerf_json_number(&json, "limit_s", trial->limit);
    kerf_json_close(&json, '}');
    kerf_text_add(&text, "\n");
    trial->asked_bytes = text.length;
    if (text.failed)
        slot_failed(slot, KERF_TUNE_FAILURE_OTHER, "kerf has not enough memory to ask the worker");
    else
        program_send(&slot->program, text.data, text.length);
    kerf_text_free(&text);
}

/* Where kerf measures the objective itself, the worker's answer only says that the trial is over. */
static void take_value(struct slot *slot, double value) {
    struct kerf_trial_result *result = &slot->trial.result;
    switch (slot->runner->command.objective) {
    case KERF_TRIAL_CPU: slot_value(slot, result->cpu_s); break;
    case KERF_TRIAL_MEMORY:
        if (result->peak_bytes > 0)
            slot_value(slot, (double)result->peak_bytes);
        else
            slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "the system does not report how much memory the worker used");
        break;
    default: slot_value(slot, value); break;
    }
}

/* The limits look for their numbers in the same answer. */
static void take_told(struct slot *slot, double value, const char *text, size_t length) {
    json_t *answer = slot->runner->limits.are_told ? json_loadb(text, length, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
    slot->trial.answer = answer;
    take_value(slot, value);
    slot->trial.answer = NULL;
    json_decref(answer);
}

static void take_censored(struct slot *slot, double value) {
    if (!(slot->trial.limit > 0) || !is_wall(slot))
        slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "the worker answered censored, but was given no limit_s");
    else if (!(value > 0))
        slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "the worker answered censored with %g s, which is not a time",
                    value);
    else
        slot_censored(slot, slot->trial.limit); /* a run that was stopped there tells no more */
}

static void line(struct slot *slot, enum program_stream stream, char *text, size_t length, double now_s) {
    struct trial *trial = &slot->trial;
    struct worker_answer answer;
    if (stream != STREAM_OUT) return;
    worker_answer_read(text, length, trial->phase == PHASE_RUN ? trial->request : 0, &answer);
    if (answer.says == WORKER_OTHER) {
        slot_stray_line(slot, text, length);
        return;
    }
    if (answer.says == WORKER_READY) {
        slot_loaded(slot, now_s - slot->program.started_s, now_s);
        return;
    }
    measure_end(slot, now_s);
    switch (answer.says) {
    case WORKER_VALUE: take_told(slot, answer.value, text, length); break;
    case WORKER_CENSORED: take_censored(slot, answer.value); break;
    case WORKER_ERROR: slot_failed(slot, answer.failure, "%s", answer.text); break;
    default: slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "%s", answer.text); break;
    }
    if (isnan(answer.start_s)) return;
    trial->has_told = 1;
    trial->told = (struct time_span){answer.start_s, answer.end_s};
}

const struct trial_protocol worker_protocol = {
    .about = {"worker", "a program that keeps running and answers for one setting after the other"},
    .objectives = OBJECTIVE_BIT(KERF_TRIAL_WALL) | OBJECTIVE_BIT(KERF_TRIAL_CPU) | OBJECTIVE_BIT(KERF_TRIAL_MEMORY) |
                  OBJECTIVE_BIT(KERF_TRIAL_VALUE),
    .is_persistent = 1,
    .is_asked = 1,
    .has_load = 1,
    .begin = begin,
    .line = line};
