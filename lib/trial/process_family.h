/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every process below this one, and the trial that it belongs to. As a subreaper (PR_SET_CHILD_SUBREAPER) this process
 * is the parent of orphans that a trial's processes leave behind, so that all of a trial is below it.
 *
 * A process belongs to a trial if it is below the trial's first process, in its session or group, or, as an orphan in
 * a session of its own, has TRIAL_MARK=slot in its environment.
 */
#ifndef KERF_TRIAL_PROCESS_FAMILY_H
#define KERF_TRIAL_PROCESS_FAMILY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TRIAL_MARK "KERF_TRIAL"

struct process {
    pid_t pid, parent, group, session;
    pid_t root; /* first process of the trial that it belongs to; 0: none */
    int is_zombie;
    double cpu_s;     /* its own, and that of children that it waited for */
    uint64_t started; /* ticks since the machine's start */
};

struct descendants {      /* all zeros: none */
    struct process *list; /* parents before their children */
    size_t count, capacity;
};

/* Where /proc cannot be read or memory runs out, the list has what was found until then. */
void descendants_read(struct descendants *all);
void descendants_read_plainly(struct descendants *all); /* from all of /proc */
void descendants_free(struct descendants *all);

/* Sets the root of each process that is below root, or in its session or group. */
void descendants_claim(struct descendants *all, pid_t root);
/* Then, of those that belong to no root, of each that the slot's mark tells: it left its session, and its parent ended. */
void descendants_claim_marked(struct descendants *all, pid_t root, int32_t slot);

/* Processor time of the processes with this root. */
double descendants_cpu_s(const struct descendants *all, pid_t root);

/* Ticks since the machine's start, as `started` counts. */
uint64_t descendants_now(void);

/* The most memory that was resident since the last reset, in bytes; 0: not known. */
int64_t process_peak(pid_t pid);
void process_peak_reset(pid_t pid);

/* What all programs of a runner share. Each slot has two programs: the trial's (2 * slot) and a shell (2 * slot +
 * 1). */
struct program_family {
    int32_t slots;
    double grace_s;
    int show_output;
    uint64_t since;         /* descendants_now() at its beginning */
    pid_t guard;            /* the guard (child.h), a child that is not a program */
    volatile pid_t *roots;  /* [2 * slots] first processes, shared with the guard; 0: none */
    double *cpu_s;          /* [2 * slots] processor time of all reaped processes, since the runner began */
    int64_t *peak_bytes;    /* [2 * slots] largest reaped process of the last program */
    struct descendants all; /* as last read */
};

/* Reads family->all with the root of each process, and reaps orphans that ended. 1 when the list is certainly complete:
 * while a process ends, its children move up the tree past what was read already, and its environment is gone. Then the
 * list has to be read again. */
int program_family_read(struct program_family *family);

/* Adds what wait4 told of a process of the program at index. */
struct rusage;
void program_reaped(struct program_family *family, int32_t index, const struct rusage *usage);

/* Kills every process that is left, at the end. */
void program_family_end(struct program_family *family);

#endif
