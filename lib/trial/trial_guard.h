/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ends trials when this process is killed. PR_SET_PDEATHSIG reaches the first process of a trial alone: of `sh -c`
 * the shell, not what it runs. The guard is a process that sleeps on a pipe; when this process dies the pipe ends, and
 * the guard ends every session that it was told of. Where that is a launcher, what it launched elsewhere ends only by
 * what the launcher does on SIGTERM: it has a grace for that.
 */
#ifndef KERF_TRIAL_TRIAL_GUARD_H
#define KERF_TRIAL_TRIAL_GUARD_H

#include <stdint.h>
#include <sys/types.h>

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
