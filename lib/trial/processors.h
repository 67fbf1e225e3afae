/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processors are a slot's own. They are read from files of the system below root, which is "" or, for tests, a folder
 * that stands for /. What sizes the machine has (kerf_trial_machine_sizes) is read there too.
 *
 * Where several slots run trials on one machine, each has processors of its own: whole cores where there are enough, so
 * that no two slots share a core, and the same number for each, so that slots can be compared. The rest stay idle.
 */
#ifndef KERF_TRIAL_PROCESSORS_H
#define KERF_TRIAL_PROCESSORS_H

#include <sched.h>
#include <stdint.h>
#include "kerf/trial.h"

/* Those that this thread may use; all where that is not known. */
void processors_allowed(cpu_set_t *ret_set);

/* The share of one slot of the allowed processors. Returns how many there are in it; 0, and an empty set, where there
 * are fewer processors than slots. Where the system does not tell which processors are one core, each counts as a
 * core. */
int32_t processor_share(const char *root, const cpu_set_t *allowed, int32_t slots, int32_t slot, cpu_set_t *ret_set);

/* The sizes of a machine of which these processors are allowed, as of kerf_trial_machine_sizes. */
int32_t processor_sizes(const char *root, const cpu_set_t *allowed, int64_t ret_sizes[KERF_TRIAL_SIZES_MAX]);

#endif
