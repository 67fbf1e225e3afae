/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What else the machine does while a trial runs, read from files of the system below root, which is "" or, for tests, a
 * folder that stands for /.
 */
#ifndef KERF_TRIAL_INTERFERENCE_H
#define KERF_TRIAL_INTERFERENCE_H

#include <sched.h>
#include <stdint.h>
#include "kerf/trial.h"

/* ---- What the machine does ---------------------------------------------------------------------------------- */

/* Sums over the processors of a set, from /proc/stat and /proc/pressure/cpu. */
struct machine_load {
    double at_s;     /* by the caller's clock */
    double busy_s;   /* processor time of all processes since the machine's start; NAN where it is not known */
    double steal_s;  /* processor time that the hypervisor took */
    double waited_s; /* time in which something waited for a processor */
    int32_t processors;
};

struct machine_load machine_load_read(const char *root, const cpu_set_t *set, double now_s);

/* Nothing is known: NAN everywhere. */
struct kerf_trial_machine machine_unknown(void);

/* What happened between two readings. own_s: processor time of the trials and of kerf, which is not others'. */
void machine_load_compare(const struct machine_load *before, const struct machine_load *after, double own_s,
                          struct kerf_trial_machine *ret_machine);

/* Mean clock rate now over the highest allowed; NAN where it is not known. */
double machine_frequency(const char *root, const cpu_set_t *set);

#endif
