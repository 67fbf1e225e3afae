/* SPDX-License-Identifier: Apache-2.0 */
#include "client/script.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/error_fill.h"

enum { LINE_BYTES = 65536, CHUNK_BYTES = 8192, TICK_MS = 500 };
static const double LINGER_S = 1; /* for output of what the program left behind */

struct stream {
    int from, to; /* from -1: it is over */
    char *line;
    size_t length;
};

struct script {
    sigset_t before;
    int signals; /* a signalfd */
    pid_t pid;
    struct stream streams[2];
    int is_over, is_stopped, is_killed, is_interrupted, status;
    double over_s, stopped_s;
};

/* ---- Signals ------------------------------------------------------------------------------------------------ */

int32_t script_signals(struct script **ret_script, struct kerf_error *err) {
    struct script *script = calloc(1, sizeof *script);
    sigset_t set;
    if (script == NULL) return error_no_memory(err, "a process");
    script->streams[0] = (struct stream){-1, STDOUT_FILENO, malloc(LINE_BYTES + 1), 0};
    script->streams[1] = (struct stream){-1, STDERR_FILENO, malloc(LINE_BYTES + 1), 0};
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &script->before);
    script->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (script->signals >= 0 && script->streams[0].line && script->streams[1].line) {
        *ret_script = script;
        return KERF_OK;
    }
    kerf_error_set(err, KERF_EUNSUPPORTED, "signals cannot be watched: %s", strerror(errno));
    script_free(script);
    return KERF_EUNSUPPORTED;
}

static void signal_group(struct script *script, int number) {
    if (script->pid > 0) kill(-script->pid, number);
}

static void begin_to_stop(struct script *script) {
    if (!script->is_stopped) script->stopped_s = clock_ticks_s();
    script->is_stopped = 1;
}

void script_stop(struct script *script) {
    begin_to_stop(script);
    signal_group(script, SIGTERM);
    signal_group(script, SIGCONT);
}

static void reap(struct script *script) {
    int status;
    if (script->is_over || waitpid(script->pid, &status, WNOHANG) != script->pid) return;
    script->is_over = 1;
    script->over_s = clock_ticks_s();
    script->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void take_signals(struct script *script) {
    struct signalfd_siginfo info;
    while (read(script->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD) {
            reap(script);
            continue;
        }
        script->is_interrupted = 1;
        begin_to_stop(script);
        signal_group(script, (int)info.ssi_signo);
    }
}

/* ---- Start -------------------------------------------------------------------------------------------------- */

static int spawn(struct script *script, char *const argv[], const int ends[2]) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    if (isatty(STDIN_FILENO)) /* another group than the terminal's would stop when it reads */
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &script->before);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int number = posix_spawnp(&script->pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return number;
}

int32_t script_start(struct script *script, char *const argv[], struct kerf_error *err) {
    int ends[2] = {-1, -1}, number = 0;
    for (int i = 0; i < 2 && number == 0; i++) {
        int both[2];
        if (pipe2(both, O_CLOEXEC) != 0) {
            number = errno;
            break;
        }
        script->streams[i].from = both[0];
        ends[i] = both[1];
    }
    if (number == 0) number = spawn(script, argv, ends);
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) close(ends[i]);
    if (number == 0) return KERF_OK;
    script->pid = 0;
    return kerf_error_set(err, number == ENOENT ? KERF_EUNKNOWN : KERF_EUNSUPPORTED, "%.200s cannot be started: %s",
                          argv[0], strerror(number));
}

/* ---- Output ------------------------------------------------------------------------------------------------- */

/* Where nobody reads it any more, the run goes on all the same. */
static void pass_on(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t done = write(fd, bytes, length);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return;
        bytes += done, length -= (size_t)done;
    }
}

static void end_line(struct stream *stream, const struct script_watcher *watcher) {
    stream->line[stream->length] = 0;
    if (stream->length > 0) watcher->line(watcher->context, stream->line);
    stream->length = 0;
}

/* count: what read returned. */
static void take(struct stream *stream, const char *bytes, ssize_t count, const struct script_watcher *watcher) {
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) {
        end_line(stream, watcher);
        close(stream->from);
        stream->from = -1;
        return;
    }
    pass_on(stream->to, bytes, (size_t)count);
    for (ssize_t i = 0; i < count; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r' || stream->length == LINE_BYTES) end_line(stream, watcher);
        if (bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != 0) stream->line[stream->length++] = bytes[i];
    }
}

static void take_output(struct stream *stream, const struct script_watcher *watcher) {
    char bytes[CHUNK_BYTES];
    take(stream, bytes, read(stream->from, bytes, sizeof bytes), watcher);
}

/* What is in the pipe now, and no more: a program may write for ever. */
static void take_waiting(struct stream *stream, const struct script_watcher *watcher) {
    int waiting = 0;
    if (stream->from < 0 || ioctl(stream->from, FIONREAD, &waiting) != 0) return;
    for (; waiting > 0 && stream->from >= 0; waiting -= CHUNK_BYTES) take_output(stream, watcher);
}

/* What the program wrote to standard error before a line of standard output is passed on before the line is acted
 * on. */
static void take_outputs(struct script *script, int is_out, int is_error, const struct script_watcher *watcher) {
    char bytes[CHUNK_BYTES];
    if (!is_out) {
        if (is_error) take_output(&script->streams[1], watcher);
        return;
    }
    ssize_t count = read(script->streams[0].from, bytes, sizeof bytes);
    int number = errno;
    take_waiting(&script->streams[1], watcher);
    errno = number;
    take(&script->streams[0], bytes, count, watcher);
}

/* ---- Wait --------------------------------------------------------------------------------------------------- */

static int is_complete(const struct script *script, double now_s, double grace_s) {
    int is_silent = script->streams[0].from < 0 && script->streams[1].from < 0;
    if (!script->is_over) return 0;
    if (is_silent || script->is_killed) return 1;
    return !(script->is_stopped && now_s < script->stopped_s + grace_s) && now_s > script->over_s + LINGER_S;
}

void script_wait(struct script *script, const struct script_watcher *watcher) {
    for (;;) {
        double now_s = clock_ticks_s();
        if (is_complete(script, now_s, watcher->grace_s)) break;
        if (script->is_stopped && !script->is_killed && now_s > script->stopped_s + watcher->grace_s) {
            signal_group(script, SIGKILL);
            script->is_killed = 1;
        }
        struct pollfd fds[3] = {{.fd = script->signals, .events = POLLIN},
                                {.fd = script->streams[0].from, .events = POLLIN},
                                {.fd = script->streams[1].from, .events = POLLIN}};
        if (poll(fds, 3, TICK_MS) < 0 && errno != EINTR) break;
        if (fds[0].revents) take_signals(script);
        take_outputs(script, fds[1].revents != 0, fds[2].revents != 0, watcher);
        watcher->tick(watcher->context);
    }
    for (int i = 1; i >= 0; i--) { /* what it left behind may still write, but what it wrote counts */
        take_waiting(&script->streams[i], watcher);
        if (script->streams[i].from >= 0) end_line(&script->streams[i], watcher);
    }
}

void script_pause(struct script *script, double seconds) {
    double until_s = clock_ticks_s() + seconds;
    for (double left_s; !script->is_interrupted && (left_s = until_s - clock_ticks_s()) > 0;) {
        struct pollfd fd = {.fd = script->signals, .events = POLLIN};
        if (poll(&fd, 1, (int)(1000 * left_s) + 1) > 0) take_signals(script);
    }
}

int script_status(const struct script *script) { return script->status; }
int script_is_interrupted(const struct script *script) { return script->is_interrupted; }

void script_free(struct script *script) {
    if (script == NULL) return;
    for (int i = 0; i < 2; i++) {
        if (script->streams[i].from >= 0) close(script->streams[i].from);
        free(script->streams[i].line);
    }
    if (script->signals >= 0) close(script->signals);
    sigprocmask(SIG_SETMASK, &script->before, NULL);
    free(script);
}
