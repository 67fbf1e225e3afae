/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that die with this one: how they are started, and the guard that ends what they started. */
#ifndef KERF_TRIAL_CHILD_H
#define KERF_TRIAL_CHILD_H

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- Starting one ------------------------------------------------------------------------------------------------- */

/*
 * Starting a process that dies with the thread that started it (PR_SET_PDEATHSIG) and leads a session and a process
 * group of its own. posix_spawn can set neither of the first two, so that it is a fork; the child calls nothing but
 * what is safe after one.
 */
struct child_start {
    const char *path;
    char *const *words;       /* ended by NULL */
    char *const *environment; /* ended by NULL */
    int in;                   /* -1: /dev/null */
    int out, err;
    int64_t address_space_bytes; /* RLIMIT_AS; 0: as kerf's */
    int group_fd;                /* cgroup.procs of the cgroup that it joins; -1: none */
    int death_signal;            /* when the thread that started it dies; 0: SIGKILL */
    const cpu_set_t *processors; /* that it may use; NULL: as kerf */
};

/* 0, or why it could not be started: an errno. */
int child_start(const struct child_start *start, pid_t *ret_pid);

/* Where the program is, as a shell would find it: malloc'ed; NULL with errno where there is none. */
char *child_find_program(const char *name);

/* A pipe whose ends are closed by exec and are none of the standard three. 0 or an errno. */
int child_pipe(int ret_ends[2]);

/* Writes without the signal that ends a program when nobody reads. As write(2). */
ssize_t child_write(int fd, const char *bytes, size_t length);

/* ---- The guard ---------------------------------------------------------------------------------------------------- */

/*
 * What ends trials when this process is killed. PR_SET_PDEATHSIG reaches the first process of a trial alone: of `sh -c`
 * the shell, not what it runs. The guard is a process that sleeps on a pipe; when this process dies the pipe ends, and
 * the guard ends every session that it was told of. Where that is a launcher, what it launched elsewhere ends only by
 * what the launcher does on SIGTERM: it has a grace for that.
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

/* Kills every process in the session of this id, and its group. */
void kill_session(pid_t session);

/* Signals those processes once; how many it reached. 0: only looks how many there are. */
int signal_session(pid_t session, int number);

#endif
