/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llama-bench -o jsonl. A process may run several tests (-p 512 -n 128 are two); the observation is the sum of their
 * mean times, which is the time of one pass through all of them. Of a path it is the last test's number.
 *
 * A test's line comes when all of its repetitions are done, so that a limit can only spare the tests behind the one
 * that exceeds it.
 */
#include <math.h>
#include "trial/llama_bench_line.h"
#include "trial/trial_slot.h"

static const double NEAR_END_S = 1; /* after its last test it ends by itself: a whole result */

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
