/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine does beside a trial, from the files of the system: /proc/stat, /proc/pressure/cpu and the clocks, of
 * the processors in a set. root is "" or, for tests, a folder that stands for /. */
#ifndef KERF_TRIAL_MACHINE_LOAD_H
#define KERF_TRIAL_MACHINE_LOAD_H

#include <sched.h>
#include "kerf/trial.h"

struct machine_load {
    double at_s;     /* of the caller's clock */
    double busy_s;   /* processor time of all processes, since some time; NAN where the system does not tell */
    double steal_s;  /* taken by the hypervisor */
    double waited_s; /* in which something waited for a processor */
    int32_t processors;
};

struct machine_load machine_load_read(const char *root, const cpu_set_t *set, double now_s);

/* Nothing was looked at. */
struct kerf_trial_machine machine_unknown(void);

/* own_s: processor time that was the trials' or kerf's. */
void machine_load_compare(const struct machine_load *before, const struct machine_load *after, double own_s,
                          struct kerf_trial_machine *ret_machine);

/* Mean clock now over the highest allowed; NAN. */
double machine_frequency(const char *root, const cpu_set_t *set);

/* How often the kernel has ended a process for want of memory; -1 where it does not tell. */
int64_t machine_memory_kills(const char *root);

#endif
