/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every process below this one, and which trial it belongs to. As a subreaper (PR_SET_CHILD_SUBREAPER) this process is
 * the parent of what a trial's processes leave behind, so that all of a trial is below it.
 *
 * What a process is a trial's by: being below the trial's first process, being in its session or group, or, once it is
 * an orphan in a session of its own, having TRIAL_MARK=slot in its environment.
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
    double cpu_s;     /* its own and that of its children that it waited for */
    uint64_t started; /* ticks since the machine's start */
};

struct descendants {      /* all zeros: none */
    struct process *list; /* parents before their children */
    size_t count, capacity;
};

/* Where /proc cannot be read or memory runs out the list is what was found. */
void descendants_read(struct descendants *all);
void descendants_read_plainly(struct descendants *all); /* from all of /proc */
void descendants_free(struct descendants *all);

/* Marks what belongs to the trial whose first process is root, on the slot. */
void descendants_claim(struct descendants *all, pid_t root, int32_t slot);

/* Processor time of the trial's. */
double descendants_cpu_s(const struct descendants *all, pid_t root);

/* Ticks since the machine's start, as `started` counts. */
uint64_t descendants_now(void);

/* Most memory that the process had resident since the last reset, in bytes; 0: not known. */
int64_t process_peak(pid_t pid);
void process_peak_reset(pid_t pid);

/* What the programs of a runner share: each slot has two, the trial's (2 * slot) and a shell (2 * slot + 1). */
struct program_family {
    int32_t slots;
    double grace_s;
    int show_output;
    uint64_t since;         /* descendants_now() at its beginning */
    pid_t guard;            /* the one child that is nobody's program */
    volatile pid_t *roots;  /* [2 * slots] first processes, which the guard knows, too; 0: none */
    double *cpu_s;          /* [2 * slots] of those that were reaped, of all programs that were there */
    int64_t *peak_bytes;    /* [2 * slots] of those that were reaped, of the last program there */
    struct descendants all; /* as last read */
};

/* Reads family->all, says whose each process is, and takes the zombies of orphans. 1 when the list is whole for sure:
 * while a process ends its children move up the tree, past what was read, and its environment is gone. Then it is read
 * again. */
int program_family_read(struct program_family *family);

/* What wait4 told of a process of the program at index. */
struct rusage;
void program_reaped(struct program_family *family, int32_t index, const struct rusage *usage);

/* Kills what is left of anybody's: for the end. */
void program_family_end(struct program_family *family);

#endif
