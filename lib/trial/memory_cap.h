/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cgroup (version 2) around one program: its memory with that of its children is capped and measured together. It can
 * be made where this process's cgroup, or the one above it, is writable and hands the memory controller down: as root,
 * or in a unit with Delegate=yes.
 */
#ifndef KERF_TRIAL_MEMORY_CAP_H
#define KERF_TRIAL_MEMORY_CAP_H

#include <stdint.h>

struct memory_cap {
    char folder[512]; /* "": there is none */
    int procs_fd;     /* what a process writes 0 to, to join */
};

/* 1: it was made. bytes: the cap, 0: none, it is only measured. root: as in interference.h. */
int memory_cap_open(struct memory_cap *cap, const char *root, int32_t slot, int64_t bytes);
void memory_cap_close(struct memory_cap *cap);

int64_t memory_cap_peak(const struct memory_cap *cap);  /* 0: not known */
int64_t memory_cap_kills(const struct memory_cap *cap); /* processes that the cap ended */

/* How often the kernel has ended a process for want of memory; -1 where it does not tell. */
int64_t machine_memory_kills(const char *root);

#endif
