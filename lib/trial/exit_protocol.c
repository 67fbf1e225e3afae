/* SPDX-License-Identifier: Apache-2.0 */
/* A program that runs once and ends: the time it takes, or what it used or printed. */
#include <math.h>
#include "trial/trial_slot.h"

/* Processor time is read no more often than this, so that reading costs nothing. */
static const double LOOK_S = 0.5;

static double next_look_s(const struct slot *slot, double used_s, double now_s) {
    int32_t processors = slot->trial.before.processors;
    return now_s + fmax(LOOK_S, (slot->trial.limit - used_s) / (processors > 0 ? processors : 1));
}

void time_limit_begin(struct slot *slot, double now_s) {
    struct trial *trial = &slot->trial;
    if (!(trial->limit > 0) || !slot_measures_time(slot)) return;
    trial->cut_s = slot->runner->command.objective == KERF_TRIAL_WALL ? trial->start_s + trial->limit
                                                                      : next_look_s(slot, 0, now_s);
}

void time_limit_cut(struct slot *slot, double now_s) {
    double limit = slot->trial.limit;
    if (slot->runner->command.objective == KERF_TRIAL_CPU) {
        double used_s = measure_cpu_s(slot);
        if (used_s < limit) {
            slot->trial.cut_s = next_look_s(slot, used_s, now_s);
            return;
        }
    }
    slot_censored(slot, limit);
}

const struct trial_protocol exit_protocol = {
    .about = {"exit", "a program that ends: its time, what it used, or what it printed"},
    .objectives = OBJECTIVE_BIT(KERF_TRIAL_WALL) | OBJECTIVE_BIT(KERF_TRIAL_CPU) | OBJECTIVE_BIT(KERF_TRIAL_MEMORY) |
                  OBJECTIVE_BIT(KERF_TRIAL_REGEX) | OBJECTIVE_BIT(KERF_TRIAL_JSON),
    .begin = time_limit_begin,
    .line = objective_line,
    .cut = time_limit_cut,
    .over = objective_over};
