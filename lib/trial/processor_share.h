/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processors of a slot, where several slots run trials on one machine: whole cores where there are enough, so that
 * no two slots share a core, and the same number for each, so that they can be compared. What is left over is nobody's.
 */
#ifndef KERF_TRIAL_PROCESSOR_SHARE_H
#define KERF_TRIAL_PROCESSOR_SHARE_H

#include <sched.h>
#include <stdint.h>

/* Those that this thread may use; all where that cannot be told. */
void processors_allowed(cpu_set_t *ret_set);

/* The share of a slot of these. How many they are; 0, and no set, where there are fewer than slots. Cores are told by
 * the files of the system below root, as in machine_load.h; where they do not tell, each processor is one. */
int32_t processor_share(const char *root, const cpu_set_t *allowed, int32_t slots, int32_t slot, cpu_set_t *ret_set);

#endif
