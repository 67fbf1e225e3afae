/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial_guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trial/child.h"

enum { ROUNDS_MOST = 100 }; /* a program that forks faster than it is killed is left */
static const double LOOK_S = 0.02;

static int is_zombie(pid_t pid) {
    char path[64], text[512], state = 'Z'; /* it is gone */
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) return 1;
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = 0;
    fclose(file);
    const char *name_end = strrchr(text, ')');
    return name_end == NULL || sscanf(name_end + 1, " %c", &state) != 1 || state == 'Z' || state == 'X';
}

int signal_session(pid_t session, int number) {
    DIR *folder = opendir("/proc");
    int found = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        pid_t pid = atoi(entry->d_name);
        if (pid > 0 && getsid(pid) == session && !is_zombie(pid) && kill(pid, number) == 0) found++;
    }
    if (folder) closedir(folder);
    return found;
}

void kill_session(pid_t session) {
    kill(-session, SIGKILL);
    for (int round = 0; signal_session(session, SIGKILL) > 0 && round < ROUNDS_MOST; round++) usleep(1000);
}

static void end_sessions(const struct trial_guard *guard) {
    int left = guard->grace_s > 0;
    for (int32_t i = 0; left && i < guard->count; i++)
        if (guard->sessions[i] > 0) signal_session(guard->sessions[i], SIGTERM);
    for (double waited_s = 0; left && waited_s < guard->grace_s; waited_s += LOOK_S) {
        usleep((useconds_t)(1e6 * LOOK_S));
        left = 0;
        for (int32_t i = 0; i < guard->count; i++)
            left += guard->sessions[i] > 0 ? signal_session(guard->sessions[i], 0) : 0;
    }
    for (int32_t i = 0; i < guard->count; i++)
        if (guard->sessions[i] > 0) kill_session(guard->sessions[i]);
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
    if (count == 0) end_sessions(guard);
    _exit(0);
}

int trial_guard_start(struct trial_guard *guard, int32_t count, double grace_s) {
    int ends[2];
    size_t size = (size_t)count * sizeof(pid_t);
    *guard = (struct trial_guard){.pipe = -1, .count = count, .grace_s = grace_s};
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
