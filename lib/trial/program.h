/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with all that descends from it: started, read, and ended without a trace.
 *
 * Its first process stays a zombie until the rest has ended, so that its number, which is that of its session and
 * group, is nobody else's while signals are sent to it.
 */
#ifndef KERF_TRIAL_PROGRAM_H
#define KERF_TRIAL_PROGRAM_H

#include <poll.h>
#include "trial/child.h"
#include "trial/process_family.h"
#include "trial/memory_cap.h"
#include "trial/program_output.h"

enum program_stream { STREAM_OUT, STREAM_ERR, STREAMS };

/* How far its end is. */
enum program_stage {
    STAGE_LIVE,
    STAGE_ASKED,      /* its input is closed */
    STAGE_TERMINATED, /* SIGTERM */
    STAGE_KILLED,     /* SIGKILL */
};

struct program {
    pid_t pid; /* 0: there is none */
    struct program_family *family;
    int32_t index;   /* in the family */
    int leaves_rest; /* what it leaves behind lives on */
    int pidfd, in, out[STREAMS];
    int rest_fd;     /* pidfd of one of those that are waited for while it ends; -1 */
    int is_over;     /* the first process has ended */
    int is_killed;   /* SIGKILL was this side's */
    int wait_status; /* then; -1 where somebody else took it */
    enum program_stage stage;
    double started_s, stage_until_s;
    struct memory_cap cap;
    int64_t cap_kills; /* processes that the cap ended, once it is gone */
    size_t unheard;    /* bytes of its input that it had not read when it ended */
    struct output_lines lines[STREAMS];
    struct kerf_text input; /* not yet written */
    void (*line)(void *context, enum program_stream stream, char *line, size_t length);
    void *context;
};

struct program_launch {
    char *const *words, *const *environment;
    int has_input;     /* a pipe; else /dev/null */
    int wants_group;   /* a cgroup to measure memory in */
    int64_t cap_bytes; /* 0: none */
    const char *root;  /* as in interference.h */
    int death_signal;  /* as in child.h, and the next one */
    const cpu_set_t *processors;
};

/* 0 or an errno. */
int program_launch(struct program *program, const struct program_launch *start, double now_s);

/* Writes to its input, now or when it reads. */
void program_send(struct program *program, const char *bytes, size_t length);

/* To standard error, for the person reading. */
void program_pass_on(const char *bytes, size_t length);

/* Begins its end: by closing its input (STAGE_ASKED) or by SIGTERM. */
void program_end(struct program *program, enum program_stage stage, double now_s);

/* Does what is due: takes what it wrote, sees whether it is over, and goes on with its end. Afterwards pid is 0 when
 * all of it is gone. */
void program_step(struct program *program, double now_s);

/* What to sleep on: up to PROGRAM_FDS. Returns how many; *until_s is brought forward to what is due by itself. */
enum { PROGRAM_FDS = 5 };
int program_poll(const struct program *program, struct pollfd *fds, double *until_s);

/* After program_family_read: processor time of all that was ever here. */
double program_cpu_s(const struct program *program);

void program_free(struct program *program); /* of one that is gone */

#endif
