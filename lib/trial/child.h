/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that die with this one: how they are started, and the guard that ends what they started themselves. */
#ifndef KERF_TRIAL_CHILD_H
#define KERF_TRIAL_CHILD_H

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- Starting one ------------------------------------------------------------------------------------------- */

/*
 * Starts a process that dies with the thread that started it (PR_SET_PDEATHSIG) and leads a session and a process group
 * of its own. posix_spawn cannot do the first, so this is a fork; the child calls only what is safe after one.
 */
struct child_start {
    const char *path;
    char *const *words;       /* ended by NULL */
    char *const *environment; /* ended by NULL */
    int in;                   /* -1: /dev/null */
    int out, err;
    int64_t address_space_bytes; /* RLIMIT_AS; 0: kerf's own */
    int group_fd;                /* cgroup.procs of the cgroup to join; -1: none */
    int death_signal;            /* sent when the thread that started it dies; 0: SIGKILL */
    const cpu_set_t *processors; /* that it may use; NULL: those of kerf */
};

/* 0, or why it could not be started: an errno. */
int child_start(const struct child_start *start, pid_t *ret_pid);

/* Where the program is, as a shell would find it: malloc'ed; NULL with errno where there is none. */
char *child_find_program(const char *name);

/* A pipe whose ends are closed by exec and are not among the three standard descriptors. 0 or an errno. */
int child_pipe(int ret_ends[2]);

/* As write(2), but without SIGPIPE when nobody reads. */
ssize_t child_write(int fd, const char *bytes, size_t length);

/* ---- The guard ---------------------------------------------------------------------------------------------- */

/*
 * Ends trials when this process is killed. PR_SET_PDEATHSIG reaches only the first process of a trial: of `sh -c` the
 * shell, not the program that it runs. The guard is a process that sleeps on a pipe. When this process dies, the pipe
 * ends, and the guard ends every session in its list. A launcher gets SIGTERM and a grace first, because only the
 * launcher can end what it launched on other machines.
 */
struct trial_guard {
    pid_t pid; /* 0: none */
    int pipe;
    int32_t count;
    double grace_s;           /* between SIGTERM and SIGKILL; 0: SIGKILL at once */
    volatile pid_t *sessions; /* [count], shared with the guard; 0: none */
};

/* 0 or an errno. */
int trial_guard_start(struct trial_guard *guard, int32_t count, double grace_s);
void trial_guard_stop(struct trial_guard *guard);

#endif
