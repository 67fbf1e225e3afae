/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cgroup (version 2) around one program: it caps and measures the memory of the program and all its children
 * together. It can be made where this process's cgroup, or the one above it, is writable and hands the memory
 * controller down: as root, or in a unit with Delegate=yes.
 */
#ifndef KERF_TRIAL_MEMORY_CAP_H
#define KERF_TRIAL_MEMORY_CAP_H

#include <stdint.h>

struct memory_cap {
    char folder[512]; /* "": there is no cgroup */
    int procs_fd;     /* a process joins by writing 0 to it */
    int peak_fd;      /* through which the peak was reset, and is read since; -1: none */
    int is_peak_old;  /* it could not be reset: it is of the program's whole life, and nobody is told it */
};

/* 1: it was made. bytes: the cap; 0: none, memory is only measured. root: as in interference.h. */
int memory_cap_open(struct memory_cap *cap, const char *root, int32_t slot, int64_t bytes);
void memory_cap_close(struct memory_cap *cap);

int64_t memory_cap_peak(const struct memory_cap *cap);  /* bytes, since it was reset; 0: not known */
void memory_cap_peak_reset(struct memory_cap *cap);     /* needs Linux 6.12 */
int64_t memory_cap_kills(const struct memory_cap *cap); /* how many processes the cap killed */

/* How many processes of the machine the kernel has killed because memory ran out; -1: not known. */
int64_t machine_memory_kills(const char *root);

#endif
