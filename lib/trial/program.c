/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/program.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES_AT_ONCE = 1 << 16, READS_MAX = 64 };
static const double STUCK_S = 10; /* after SIGKILL, of a process that hangs in a driver or a file system */

/* pidfd_open is in glibc only since 2.36. */
static int open_pidfd(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0U); }

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void close_all(struct program *program) {
    close_fd(&program->pidfd);
    close_fd(&program->rest_fd);
    close_fd(&program->in);
    for (int i = 0; i < STREAMS; i++) close_fd(&program->out[i]);
}

/* ---- Its start ---------------------------------------------------------------------------------------------- */

static int open_pipes(struct program *program, int has_input, struct child_start *child) {
    int ends[2], number;
    for (int i = 0; i < STREAMS; i++) {
        if ((number = child_pipe(ends)) != 0) return number;
        program->out[i] = ends[0];
        *(i == STREAM_OUT ? &child->out : &child->err) = ends[1];
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    if (!has_input) return 0;
    if ((number = child_pipe(ends)) != 0) return number;
    program->in = ends[1];
    child->in = ends[0];
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    return 0;
}

int program_launch(struct program *program, const struct program_launch *start, double now_s) {
    struct child_start child = {.words = start->words,
                                .environment = start->environment,
                                .group_fd = -1,
                                .death_signal = start->death_signal,
                                .processors = start->processors};
    struct program_family *family = program->family;
    assert(program->pid == 0 && program->index < 2 * family->slots && family->roots[program->index] == 0);
    child.in = child.out = child.err = -1;
    program->pidfd = program->in = program->rest_fd = program->out[0] = program->out[1] = -1;
    program->is_over = program->is_killed = 0;
    program->cap_kills = 0;
    program->wait_status = -1;
    program->stage = STAGE_LIVE;
    program->started_s = now_s;
    program->stage_until_s = (double)INFINITY;
    program->cap = (struct memory_cap){.procs_fd = -1, .peak_fd = -1};
    kerf_text_clear(&program->input);
    family->peak_bytes[program->index] = 0;
    char *path = child_find_program(start->words[0]);
    int number = path ? open_pipes(program, start->has_input, &child) : errno;
    if (number == 0 && (start->cap_bytes > 0 || start->wants_group) &&
        memory_cap_open(&program->cap, start->root, program->index, start->cap_bytes))
        child.group_fd = program->cap.procs_fd;
    else
        child.address_space_bytes = start->cap_bytes;
    child.path = path;
    if (number == 0) number = child_start(&child, &program->pid);
    free(path);
    close_fd(&child.in);
    close_fd(&child.out);
    close_fd(&child.err);
    if (number == 0) {
        family->roots[program->index] = program->pid;
        program->pidfd = open_pidfd(program->pid);
        if (program->pidfd < 0)
            program_end(program, STAGE_KILLED, now_s); /* a Linux before 5.3, which runner_create refuses */
    } else {
        program->pid = 0;
        close_all(program);
        memory_cap_close(&program->cap);
    }
    return number;
}

/* ---- What goes in and comes out ----------------------------------------------------------------------------- */

static void write_input(struct program *program) {
    struct kerf_text *input = &program->input;
    while (program->in >= 0 && input->length > 0) {
        ssize_t done = child_write(program->in, input->data, input->length);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0 && errno == EAGAIN) return;
        if (done < 0) {
            close_fd(&program->in); /* nobody reads: its end or its silence will show why */
            return;
        }
        memmove(input->data, input->data + done, input->length - (size_t)done);
        input->length -= (size_t)done;
    }
}

void program_send(struct program *program, const char *bytes, size_t length) {
    kerf_text_write(&program->input, bytes, length);
    write_input(program);
}

struct heard {
    struct program *program;
    enum program_stream stream;
};

static void take_line(void *context, char *line, size_t length) {
    const struct heard *heard = context;
    heard->program->line(heard->program->context, heard->stream, line, length);
}

void program_pass_on(const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t done = child_write(STDERR_FILENO, bytes, length);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return;
        bytes += done;
        length -= (size_t)done;
    }
}

static void read_output(struct program *program, enum program_stream stream) {
    char bytes[BYTES_AT_ONCE];
    struct heard heard = {program, stream};
    for (int i = 0; i < READS_MAX && program->out[stream] >= 0; i++) {
        ssize_t count = read(program->out[stream], bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count <= 0) {
            output_lines_end(&program->lines[stream], take_line, &heard);
            close_fd(&program->out[stream]);
            return;
        }
        if (program->family->show_output) program_pass_on(bytes, (size_t)count);
        output_lines_feed(&program->lines[stream], bytes, (size_t)count, take_line, &heard);
    }
}

static void end_output(struct program *program) {
    for (int i = 0; i < STREAMS; i++) {
        struct heard heard = {program, (enum program_stream)i};
        read_output(program, heard.stream);
        output_lines_end(&program->lines[i], take_line, &heard);
    }
}

/* ---- Its end ------------------------------------------------------------------------------------------------ */

/* Looks whether the first process has ended, and leaves it a zombie. */
static void look_at_first(struct program *program) {
    siginfo_t info = {0};
    int result;
    do result = waitid(P_PID, (id_t)program->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    while (result < 0 && errno == EINTR);
    if (result == 0 && info.si_pid == 0) return;
    int unread = 0;
    if (program->in >= 0 && ioctl(program->in, FIONREAD, &unread) != 0) unread = 0;
    program->unheard = program->input.length + (size_t)unread;
    program->is_over = 1;
    if (result == 0) program->wait_status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : info.si_status;
    end_output(program);
}

static void send_signal(const struct program *program, int number) {
    const struct descendants *all = &program->family->all;
    kill(-program->pid, number);
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].root == program->pid && all->list[i].group != program->pid) kill(all->list[i].pid, number);
}

static void enter(struct program *program, enum program_stage stage, double now_s) {
    double grace_s = program->family->grace_s;
    program->stage = stage;
    program->stage_until_s = now_s + (stage == STAGE_KILLED ? STUCK_S : grace_s);
    if (stage == STAGE_ASKED) close_fd(&program->in);
    if (stage == STAGE_TERMINATED) {
        send_signal(program, SIGTERM);
        send_signal(program, SIGCONT);
    }
    if (stage == STAGE_KILLED && !program->is_over) program->is_killed = 1;
}

/* Reaps the first process and forgets the program. */
static void is_gone(struct program *program) {
    struct program_family *family = program->family;
    struct rusage usage;
    int64_t peak = memory_cap_peak(&program->cap);
    program->cap_kills = memory_cap_kills(&program->cap);
    if (!program->leaves_rest) kill(-program->pid, SIGKILL); /* only the zombie is left, unless /proc cannot be read */
    if (wait4(program->pid, NULL, WNOHANG, &usage) == program->pid) program_reaped(family, program->index, &usage);
    if (peak > 0) family->peak_bytes[program->index] = peak;
    close_all(program);
    memory_cap_close(&program->cap);
    family->roots[program->index] = 0;
    program->pid = 0;
}

static pid_t first_living(const struct program *program) {
    const struct descendants *all = &program->family->all;
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].root == program->pid && !all->list[i].is_zombie) return all->list[i].pid;
    return 0;
}

static void go_on_ending(struct program *program, double now_s) {
    close_fd(&program->rest_fd);
    for (;;) {
        int is_sure = program_family_read(program->family);
        pid_t living = first_living(program);
        if (living == 0 && program->is_over) {
            if (!is_sure) continue;
            is_gone(program);
            return;
        }
        if (program->stage == STAGE_LIVE) {
            enter(program, STAGE_TERMINATED, now_s);
        } else if (now_s >= program->stage_until_s) {
            if (program->stage == STAGE_KILLED) {
                is_gone(program);
                return;
            }
            enter(program, (enum program_stage)(program->stage + 1), now_s);
        }
        if (program->stage == STAGE_KILLED) send_signal(program, SIGKILL);
        if (!program->is_over) return; /* its pidfd wakes kerf */
        program->rest_fd = open_pidfd(living);
        if (program->rest_fd >= 0) return;
    }
}

void program_end(struct program *program, enum program_stage stage, double now_s) {
    assert(stage > STAGE_LIVE);
    if (program->pid == 0 || program->stage >= stage) return;
    program_family_read(program->family);
    enter(program, stage, now_s);
    if (stage == STAGE_KILLED) send_signal(program, SIGKILL);
}

void program_step(struct program *program, double now_s) {
    if (program->pid == 0) return;
    write_input(program);
    for (int i = 0; i < STREAMS; i++) read_output(program, (enum program_stream)i);
    if (!program->is_over) look_at_first(program);
    if (program->is_over && program->leaves_rest)
        is_gone(program);
    else if (program->is_over || program->stage != STAGE_LIVE)
        go_on_ending(program, now_s);
}

/* ---- Waiting ------------------------------------------------------------------------------------------------- */

int program_poll(const struct program *program, struct pollfd *fds, double *until_s) {
    int count = 0;
    if (program->pid == 0) return 0;
    if (!program->is_over) fds[count++] = (struct pollfd){program->pidfd, POLLIN, 0};
    if (program->rest_fd >= 0) fds[count++] = (struct pollfd){program->rest_fd, POLLIN, 0};
    if (program->in >= 0 && program->input.length > 0) fds[count++] = (struct pollfd){program->in, POLLOUT, 0};
    for (int i = 0; i < STREAMS; i++)
        if (program->out[i] >= 0) fds[count++] = (struct pollfd){program->out[i], POLLIN, 0};
    *until_s = fmin(*until_s, program->stage_until_s);
    return count;
}

double program_cpu_s(const struct program *program) {
    const struct program_family *family = program->family;
    double living_s = program->pid > 0 ? descendants_cpu_s(&family->all, program->pid) : 0;
    return family->cpu_s[program->index] + living_s;
}

void program_free(struct program *program) {
    for (int i = 0; i < STREAMS; i++) output_lines_free(&program->lines[i]);
    kerf_text_free(&program->input);
}
