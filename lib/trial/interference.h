/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What else the machine does while a trial runs, and which processors are a slot's own. All of it is read from files of
 * the system, below root: "" or, for tests, a folder that stands for /.
 */
#ifndef KERF_TRIAL_INTERFERENCE_H
#define KERF_TRIAL_INTERFERENCE_H

#include <sched.h>
#include <stdint.h>
#include "kerf/trial.h"

/* ---- What the machine does ---------------------------------------------------------------------------------------- */

/* What the machine does beside a trial, from the files of the system: /proc/stat, /proc/pressure/cpu and the clocks, of
 * the processors in a set. root is "" or, for tests, a folder that stands for /. */
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

/* ---- Processors of a slot ----------------------------------------------------------------------------------------- */

/*
 * The processors of a slot, where several slots run trials on one machine: whole cores where there are enough, so that
 * no two slots share a core, and the same number for each, so that they can be compared. What is left over is nobody's.
 */

/* Those that this thread may use; all where that cannot be told. */
void processors_allowed(cpu_set_t *ret_set);

/* The share of a slot of these. How many they are; 0, and no set, where there are fewer than slots. Cores are told by
 * the files of the system below root, as in interference.h; where they do not tell, each processor is one. */
int32_t processor_share(const char *root, const cpu_set_t *allowed, int32_t slots, int32_t slot, cpu_set_t *ret_set);

#endif
