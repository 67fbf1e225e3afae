/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the machine was too busy with other things for an observation to count.
 *
 * Others' processor time is harmless while processors are idle all the same, and ruins a trial that uses them all: with
 * a thread on every processor one spinning neighbour makes each barrier wait, so that a tenth of one processor is the
 * most. With idle processors a quarter of these is. Where tasks had to wait for processors, whoever's they were, the
 * strict bound holds. Pressure alone says nothing: a program with more threads than processors waits for itself.
 *
 * A program that is measured may have a server elsewhere (a database, a daemon that compiles), whose processes are not
 * below kerf. Its work looks like others' and stops with the trial. So others count only as far as they are busy in the
 * gaps beside the trial too; both gaps, since a neighbour that comes or goes in the middle of a trial is in one of them.
 */
#include <math.h>
#include <stdio.h>
#include "kerf/trial.h"

static const double STRICT = 0.10;        /* processors */
static const double OF_IDLE = 0.25;       /* share of the processors that the trial left idle */
static const double PRESSED = 0.10;       /* share of the time */
static const double STEAL = 0.05;         /* processors, for each that the trial used */
static const double COUNTED_LEAST = 0.03; /* processor seconds: three ticks of the kernel's clock are no evidence */

int32_t kerf_trial_disturbed(const struct kerf_trial_result *result, char *reason, size_t size) {
    const struct kerf_trial_machine *machine = &result->machine;
    double wall_s = result->wall_s, used = result->cpu_s / wall_s, idle = machine->processors - used;
    const char *plural = machine->processors == 1 ? "" : "s";
    if (size > 0) reason[0] = 0;
    if (!(wall_s > 0)) return 0;
    if (!isfinite(used)) used = 1, idle = 0;
    double most = idle < 1 || machine->pressure > PRESSED ? STRICT : fmax(STRICT, OF_IDLE * idle);
    double others = isnan(machine->between) ? machine->others : fmin(machine->others, machine->between);
    if (others > most && others * wall_s > COUNTED_LEAST) {
        snprintf(reason, size, "others used %.2f of %d processor%s", others, machine->processors, plural);
        return 1;
    }
    if (machine->steal > STEAL * fmax(1, used) && machine->steal * wall_s > COUNTED_LEAST) {
        snprintf(reason, size, "the hypervisor took %.2f of %d processor%s", machine->steal, machine->processors,
                 plural);
        return 1;
    }
    return 0;
}
