/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that prints one sample a line. The observation is the mean of all samples of one process, which has to end
 * with status 0. Other lines are ignored; a sample that is NaN or infinite fails the run, as its mean would be.
 *
 * With a limit it is stopped when the mean of the samples so far is above the limit, or will be with the next sample:
 * its line is so late that the sample is too long, even if as much time passed beside it as beside any before.
 */
#include <math.h>
#include "trial/trial_slot.h"

static const double NEAR_END_S = 0.1; /* after its last sample a program ends by itself: the result is whole */

static void begin(struct slot *slot, double now_s) { slot->trial.last_s = now_s; }

static void arm_cut(struct slot *slot, double now_s) {
    struct trial *trial = &slot->trial;
    double limit = trial->limit, samples = (double)trial->samples;
    if (!(limit > 0)) return;
    if (trial->sum > limit * samples)
        trial->cut_s = fmin(trial->cut_s, now_s + NEAR_END_S);
    else if (slot->runner->command.objective == KERF_TRIAL_WALL)
        trial->cut_s = now_s + limit * (samples + 1) - trial->sum + trial->pause_s + NEAR_END_S;
    else
        trial->cut_s = (double)INFINITY;
}

static void line(struct slot *slot, enum program_stream stream, char *text, size_t length, double now_s) {
    struct trial *trial = &slot->trial;
    char why[160];
    double sample;
    int found = stream == STREAM_OUT ? objective_sample(slot, text, length, &sample, why, sizeof why) : 0;
    if (found < 0) slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "%s", why);
    if (found <= 0) return;
    if (slot->runner->command.objective == KERF_TRIAL_WALL && !(sample > 0)) {
        slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "%.60s is not a time", text);
        return;
    }
    double beside_s = fmax(0, now_s - trial->last_s - sample);
    if (trial->samples == 0) slot_loaded(slot, beside_s, now_s);
    trial->pause_s =
        trial->samples == 1 ? beside_s : fmax(trial->pause_s, beside_s); /* that of the first sample was the load */
    trial->last_s = now_s;
    trial->sum += sample;
    trial->samples++;
    arm_cut(slot, now_s);
}

static void cut(struct slot *slot, double now_s) {
    (void)now_s;
    slot_censored(slot, slot->trial.limit);
}

static void over(struct slot *slot) {
    const struct trial *trial = &slot->trial;
    if (trial->samples > 0)
        slot_value(slot, trial->sum / (double)trial->samples);
    else if (trial->said[STREAM_OUT][0])
        slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "no line of its output is a sample; the last line is \"%s\"",
                    trial->said[STREAM_OUT]);
    else
        slot_failed(slot, KERF_TUNE_FAILURE_OUTPUT, "it printed nothing");
}

const struct trial_protocol lines_protocol = {
    .about = {"lines", "a program that prints one sample on each line; the value is their mean"},
    .objectives = OBJECTIVE_BIT(KERF_TRIAL_WALL) | OBJECTIVE_BIT(KERF_TRIAL_REGEX) | OBJECTIVE_BIT(KERF_TRIAL_JSON) |
                  OBJECTIVE_BIT(KERF_TRIAL_VALUE),
    .has_load = 1,
    .begin = begin,
    .line = line,
    .cut = cut,
    .over = over};
