/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llama-bench -o jsonl. A process may run several tests (-p 512 -n 128 are two). The observation is the sum of their
 * mean times, the time of one pass through all of them; with a path it is the number there of the last test.
 *
 * The line of a test comes when all of its repetitions are done. So a limit only saves the tests after the one that
 * exceeds it.
 */
#include <math.h>
#include <stdio.h>
#include "trial/trial_slot.h"
#include "trial/program_output.h"

/* ---- One line ----------------------------------------------------------------------------------------------- */

static double mean_ns(const json_t *root) {
    const json_t *samples = json_object_get(root, "samples_ns");
    size_t count = json_array_size(samples);
    double sum = 0;
    if (count == 0) return json_number_value(json_object_get(root, "avg_ns"));
    for (size_t i = 0; i < count; i++) {
        const json_t *sample = json_array_get(samples, i);
        if (!json_is_number(sample) || !(json_number_value(sample) > 0)) return 0;
        sum += json_number_value(sample);
    }
    return sum / (double)count;
}

enum llama_bench_kind llama_bench_line(const char *line, size_t length, const char *path, double *ret_value, char *why,
                                       size_t size) {
    json_t *root = json_last_value(line, length, 0, why, size);
    enum llama_bench_kind kind = why[0] ? LLAMA_BENCH_BAD : LLAMA_BENCH_NO_RESULT;
    if (json_is_object(root) && (json_object_get(root, "samples_ns") || json_object_get(root, "avg_ns"))) {
        double value = mean_ns(root) * 1e-9;
        kind = LLAMA_BENCH_BAD;
        if (!(value > 0) || !isfinite(value))
            snprintf(why, size, "llama-bench printed no time as samples_ns or avg_ns");
        else if (path == NULL || json_path_number(root, path, &value, why, size) > 0)
            kind = LLAMA_BENCH_RESULT;
        if (kind == LLAMA_BENCH_RESULT) *ret_value = value;
    }
    json_decref(root);
    return kind;
}

/* ---- The protocol ------------------------------------------------------------------------------------------- */

static const double NEAR_END_S = 1; /* after its last test it ends by itself: the result is whole */

static void begin(struct slot *slot, double now_s) {
    (void)slot;
    (void)now_s;
}

static void line(struct slot *slot, enum program_stream stream, char *text, size_t length, double now_s) {
    const struct kerf_trial_command *command = &slot->runner->command;
    struct trial *trial = &slot->trial;
    char why[160];
    double value;
    if (stream != STREAM_OUT) return;
    int is_path = command->objective == KERF_TRIAL_JSON;
    switch (llama_bench_line(text, length, is_path ? command->pattern : NULL, &value, why, sizeof why)) {
    case LLAMA_BENCH_NO_RESULT: return;
    case LLAMA_BENCH_BAD: slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "%s", why); return;
    case LLAMA_BENCH_RESULT: break;
    }
    trial->samples++;
    trial->sum = is_path ? value : trial->sum + value;
    if (!is_path && trial->limit > 0 && trial->sum > trial->limit)
        trial->cut_s = fmin(trial->cut_s, now_s + NEAR_END_S);
}

static void cut(struct slot *slot, double now_s) {
    (void)now_s;
    slot_censored(slot, slot->trial.sum);
}

static void over(struct slot *slot) {
    const struct trial *trial = &slot->trial;
    if (trial->samples > 0)
        slot_value(slot, trial->sum);
    else
        slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "it printed no result; run it with -o jsonl");
}

const struct trial_protocol llama_bench_protocol = {
    .about = {"llama-bench", "llama-bench -o jsonl; the sum of its tests' mean times, or a number of the last"},
    .objectives = OBJECTIVE_BIT(KERF_TRIAL_WALL) | OBJECTIVE_BIT(KERF_TRIAL_JSON),
    .begin = begin,
    .line = line,
    .cut = cut,
    .over = over};
