/* SPDX-License-Identifier: Apache-2.0 */
/* What a trial took, and what else the machine did meanwhile. Processor time is that of all processes below the
 * program: of those that live as the kernel tells it now, of those that ended as wait4 told it. */
#include <math.h>
#include <sys/resource.h>
#include "trial/trial_slot.h"

/* A gap that is as long as the trial tells as much of others as the trial does; but others that only just disturb use
 * five ticks of the kernel's clock in GAP_MOST_S, and more is not needed. It is looked at for longer than the trial
 * took, since it is the gap before the next trial, too, which may take longer. */
static const double GAP_MOST_S = 0.5, GAP_SPARE = 2;

static double kerf_cpu_s(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Of kerf and of all trials on the slot's processors: what is not "others". A slot with processors of its own shares
 * them with no other slot. */
static double own_s(const struct slot *slot) {
    const struct kerf_trial_runner *runner = slot->runner;
    double sum_s = kerf_cpu_s();
    for (int32_t i = 0; i < runner->command.slots; i++) {
        const struct slot *other = &runner->slots[i];
        if (other == slot || runner->share == 0) sum_s += program_cpu_s(&other->program) + program_cpu_s(&other->shell);
    }
    return sum_s;
}

/* Resident memory at its peak: the most of one process. */
static int64_t peak_of_living(const struct program *program) {
    const struct descendants *all = &program->family->all;
    int64_t most = memory_cap_peak(&program->cap);
    if (most > 0 || program->pid == 0) return most;
    for (size_t i = 0; i < all->count; i++) {
        int64_t peak = all->list[i].root == program->pid ? process_peak(all->list[i].pid) : 0;
        if (peak > most) most = peak;
    }
    return most;
}

void measure_begin(struct slot *slot, double now_s) {
    struct kerf_trial_runner *runner = slot->runner;
    struct trial *trial = &slot->trial;
    const struct descendants *all = &runner->family.all;
    program_family_read(&runner->family);
    for (size_t i = 0; slot->program.pid > 0 && i < all->count; i++)
        if (all->list[i].root == slot->program.pid) process_peak_reset(all->list[i].pid);
    trial->is_measured = 0;
    trial->memory_kills = machine_memory_kills(runner->root);
    trial->before = machine_load_read(runner->root, &slot->processors, now_s);
    trial->own_before_s = own_s(slot);
    trial->cpu_before_s = program_cpu_s(&slot->program);
    trial->start_s = trial->before.at_s = trial_clock();
}

double measure_cpu_s(struct slot *slot) {
    program_family_read(&slot->runner->family);
    return program_cpu_s(&slot->program) - slot->trial.cpu_before_s;
}

void measure_end(struct slot *slot, double now_s) {
    struct kerf_trial_runner *runner = slot->runner;
    struct trial *trial = &slot->trial;
    struct kerf_trial_result *result = &trial->result;
    if (trial->is_measured) return;
    trial->is_measured = 1;
    result->wall_s = now_s - trial->start_s;
    result->observation.start_s = trial->start_s - runner->created_s;
    result->observation.end_s = now_s - runner->created_s;
    result->cpu_s = measure_cpu_s(slot);
    result->peak_bytes = peak_of_living(&slot->program);
    if (!runner->command.watch_machine) return;
    const struct machine_load after = machine_load_read(runner->root, &slot->processors, trial_clock());
    machine_load_compare(&trial->before, &after, own_s(slot) - trial->own_before_s, &result->machine);
    result->machine.frequency = machine_frequency(runner->root, &slot->processors);
}

void measure_gone(struct slot *slot) {
    const struct program_family *family = &slot->runner->family;
    struct trial *trial = &slot->trial;
    int32_t index = slot->program.index;
    trial->result.cpu_s = family->cpu_s[index] - trial->cpu_before_s;
    if (family->peak_bytes[index] > 0) trial->result.peak_bytes = family->peak_bytes[index];
}

/* ---- The gaps between trials --------------------------------------------------------------------------------- */

double measure_gap_s(const struct slot *slot) { return fmin(GAP_SPARE * slot->trial.result.wall_s, GAP_MOST_S); }

void measure_gap_begin(struct slot *slot, double now_s) {
    program_family_read(&slot->runner->family);
    slot->gap.since = machine_load_read(slot->runner->root, &slot->processors, now_s);
    slot->gap.own_before_s = own_s(slot);
    slot->gap.is_open = 1;
}

/* Others in the gap until now, in processors. */
static double gap_others(struct slot *slot, double now_s) {
    struct kerf_trial_machine machine;
    program_family_read(&slot->runner->family);
    const struct machine_load now = machine_load_read(slot->runner->root, &slot->processors, now_s);
    machine_load_compare(&slot->gap.since, &now, own_s(slot) - slot->gap.own_before_s, &machine);
    return machine.others;
}

void measure_gap_before(struct slot *slot, double now_s) {
    if (!slot->gap.is_open) return;
    slot->trial.gap_s = now_s - slot->gap.since.at_s;
    slot->trial.gap_others = gap_others(slot, now_s);
    slot->gap.is_open = 0;
}

void measure_gap_after(struct slot *slot, double now_s) {
    struct trial *trial = &slot->trial;
    double least_s = fmin(trial->result.wall_s, GAP_MOST_S);
    if (trial->gap_s < least_s || now_s - slot->gap.since.at_s < least_s) return;
    trial->result.machine.between = fmax(trial->gap_others, gap_others(slot, now_s));
}
