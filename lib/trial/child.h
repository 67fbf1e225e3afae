/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a process that dies with the thread that started it (PR_SET_PDEATHSIG) and leads a session and a process
 * group of its own. posix_spawn can set neither of the first two, so that it is a fork; the child calls nothing but
 * what is safe after one.
 */
#ifndef KERF_TRIAL_CHILD_H
#define KERF_TRIAL_CHILD_H

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
