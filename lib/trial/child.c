/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- In the child: only what is safe after a fork ---------------------------------------------------------- */

static void reset_signals(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &action, NULL); /* SIGKILL and SIGSTOP cannot be set */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int prepare_child(const struct child_start *start, pid_t parent) {
    setsid();
    if (prctl(PR_SET_PDEATHSIG, start->death_signal ? start->death_signal : SIGKILL) != 0) return errno;
    if (getppid() != parent) _exit(127); /* the parent died before the prctl */
    if (start->group_fd >= 0 && write(start->group_fd, "0", 1) != 1) return errno;
    if (start->address_space_bytes > 0) {
        const struct rlimit limit = {(rlim_t)start->address_space_bytes, (rlim_t)start->address_space_bytes};
        if (setrlimit(RLIMIT_AS, &limit) != 0) return errno;
    }
    if (start->processors && sched_setaffinity(0, sizeof *start->processors, start->processors) != 0) return errno;
    int in = start->in >= 0 ? start->in : open("/dev/null", O_RDONLY);
    if (in < 0 || dup2(in, STDIN_FILENO) < 0) return errno;
    if (dup2(start->out, STDOUT_FILENO) < 0 || dup2(start->err, STDERR_FILENO) < 0) return errno;
    if (start->in < 0 && in > STDERR_FILENO) close(in);
    return 0;
}

static _Noreturn void run_child(const struct child_start *start, pid_t parent, int report) {
    reset_signals();
    int number = prepare_child(start, parent);
    if (number == 0) {
        execve(start->path, start->words, start->environment);
        number = errno;
    }
    ssize_t done = write(report, &number, sizeof number);
    _exit(done == (ssize_t)sizeof number ? 127 : 126);
}

/* ---- In the parent ------------------------------------------------------------------------------------------ */

int child_start(const struct child_start *start, pid_t *ret_pid) {
    int report[2], number = child_pipe(report);
    sigset_t all, before;
    if (number != 0) return number;
    pid_t parent = getpid();
    sigfillset(&all); /* no handler of this program runs in the child */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) run_child(start, parent, report[1]);
    number = pid < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    if (pid > 0) {
        ssize_t count;
        int from_child;
        do count = read(report[0], &from_child, sizeof from_child);
        while (count < 0 && errno == EINTR);
        if (count == (ssize_t)sizeof from_child) {
            number = from_child;
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
            }
        }
    }
    close(report[0]);
    if (number == 0) *ret_pid = pid;
    return number;
}

static int is_program(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return 0;
    errno = EACCES;
    return S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *child_find_program(const char *name) {
    if (strchr(name, '/')) return is_program(name) ? strdup(name) : NULL;
    const char *path = getenv("PATH");
    int worst = ENOENT;
    if (path == NULL) path = "/bin:/usr/bin";
    while (*name) {
        size_t length = strcspn(path, ":");
        char *full = NULL;
        if (asprintf(&full, "%.*s%s%s", (int)length, path, length ? "/" : "./", name) < 0) return NULL;
        if (is_program(full)) return full;
        if (errno != ENOENT && errno != ENOTDIR) worst = errno;
        free(full);
        if (path[length] == 0) break;
        path += length + 1;
    }
    errno = worst;
    return NULL;
}

static int above_standard(int fd) {
    if (fd > STDERR_FILENO) return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return higher;
}

int child_pipe(int ret_ends[2]) {
    if (pipe2(ret_ends, O_CLOEXEC) != 0) return errno;
    for (int i = 0; i < 2; i++) {
        ret_ends[i] = above_standard(ret_ends[i]);
        if (ret_ends[i] >= 0) continue;
        int number = errno;
        close(ret_ends[!i]);
        return number;
    }
    return 0;
}

ssize_t child_write(int fd, const char *bytes, size_t length) {
    const struct timespec at_once = {0};
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    ssize_t done = write(fd, bytes, length);
    int number = errno;
    if (done < 0 && number == EPIPE && !sigismember(&pending, SIGPIPE))
        while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR) {
        }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return done;
}

/* ---- The guard ---------------------------------------------------------------------------------------------- */

enum { ROUNDS_MAX = 100 }; /* gives up on a program that forks faster than it is killed */
static const double LOOK_S = 0.02;

static int is_zombie(pid_t pid) {
    char path[64], text[512], state = 'Z'; /* also of one that is gone */
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) return 1;
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = 0;
    fclose(file);
    const char *name_end = strrchr(text, ')');
    return name_end == NULL || sscanf(name_end + 1, " %c", &state) != 1 || state == 'Z' || state == 'X';
}

/* Sends a signal to every process in this session once, and returns how many got it; with 0 only counts them. */
static int signal_session(pid_t session, int number) {
    DIR *folder = opendir("/proc");
    int found = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        pid_t pid = atoi(entry->d_name);
        if (pid > 0 && getsid(pid) == session && !is_zombie(pid) && kill(pid, number) == 0) found++;
    }
    if (folder) closedir(folder);
    return found;
}

/* Kills every process in this session, and its group. */
static void kill_session(pid_t session) {
    kill(-session, SIGKILL);
    for (int round = 0; signal_session(session, SIGKILL) > 0 && round < ROUNDS_MAX; round++) usleep(1000);
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
    int nothing = open("/dev/null", O_RDWR); /* so that it keeps no terminal or pipe open */
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
        (void)done; /* if it fails, the guard is gone already */
        while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (guard->pipe >= 0) close(guard->pipe);
    if (guard->sessions) munmap((void *)(uintptr_t)guard->sessions, (size_t)guard->count * sizeof(pid_t));
    *guard = (struct trial_guard){.pipe = -1};
}
