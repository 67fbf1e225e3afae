/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/run/trial_guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tune/run/child.h"

enum { ROUNDS_MOST = 100 }; /* a program that forks faster than it is killed is left */

void kill_session(pid_t session) {
    kill(-session, SIGKILL);
    for (int round = 0, found = 1; found && round < ROUNDS_MOST; round++) {
        DIR *folder = opendir("/proc");
        found = 0;
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            pid_t pid = atoi(entry->d_name);
            if (pid > 0 && getsid(pid) == session && pid != session && kill(pid, SIGKILL) == 0) found = 1;
        }
        if (folder) closedir(folder);
        if (found) usleep(1000);
    }
}

static _Noreturn void run_guard(const struct trial_guard *guard, int from) {
    sigset_t all;
    char byte;
    ssize_t count;
    setsid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_NAME, "kerf-guard");
    int nothing = open("/dev/null", O_RDWR); /* it keeps nobody's terminal or pipe open */
    for (int fd = 0; fd < 3; fd++) dup2(nothing, fd);
    dup2(from, 3);
    close_range(4, ~0U, 0);
    do count = read(3, &byte, 1);
    while (count < 0 && errno == EINTR);
    for (int32_t i = 0; count == 0 && i < guard->count; i++)
        if (guard->sessions[i] > 0) kill_session(guard->sessions[i]);
    _exit(0);
}

int trial_guard_start(struct trial_guard *guard, int32_t count) {
    int ends[2];
    size_t size = (size_t)count * sizeof(pid_t);
    *guard = (struct trial_guard){.pipe = -1, .count = count};
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return errno;
    guard->sessions = shared;
    int number = child_pipe(ends);
    if (number == 0) {
        guard->pid = fork();
        if (guard->pid == 0) run_guard(guard, ends[0]);
        if (guard->pid < 0) number = errno;
        guard->pipe = ends[1];
        close(ends[0]);
    }
    if (number != 0) {
        guard->pid = 0;
        trial_guard_stop(guard);
    }
    return number;
}

void trial_guard_stop(struct trial_guard *guard) {
    if (guard->pid > 0) {
        ssize_t done = child_write(guard->pipe, "q", 1);
        (void)done; /* a guard that is no more needs no word */
        while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (guard->pipe >= 0) close(guard->pipe);
    if (guard->sessions) munmap((void *)(uintptr_t)guard->sessions, (size_t)guard->count * sizeof(pid_t));
    *guard = (struct trial_guard){.pipe = -1};
}
