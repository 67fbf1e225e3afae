/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with all its descendants: started, read, and ended so that no process is left.
 *
 * Its first process stays a zombie until the rest has ended. Its number, which is also that of its session and group,
 * can therefore not become another process's while signals are sent to it.
 */
#ifndef KERF_TRIAL_PROGRAM_H
#define KERF_TRIAL_PROGRAM_H

#include <poll.h>
#include "trial/child.h"
#include "trial/process_family.h"
#include "trial/memory_cap.h"
#include "trial/program_output.h"

enum program_stream { STREAM_OUT, STREAM_ERR, STREAMS };

/* How far its end has come. */
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
    int leaves_rest; /* processes that it leaves behind live on */
    int pidfd, in, out[STREAMS];
    int rest_fd;     /* pidfd of a descendant that is waited for while the program ends; -1 */
    int is_over;     /* the first process has ended */
    int is_killed;   /* kerf sent the SIGKILL */
    int wait_status; /* then; -1 where another process took it */
    enum program_stage stage;
    double started_s, stage_until_s;
    struct memory_cap cap;
    int64_t cap_kills; /* how many processes the cap killed, once all are gone */
    size_t unheard;    /* bytes of its input that it had not read when it ended */
    struct output_lines lines[STREAMS];
    struct kerf_text input; /* not yet written */
    void (*line)(void *context, enum program_stream stream, char *line, size_t length);
    void *context;
};

struct program_launch {
    char *const *words, *const *environment;
    int has_input;     /* a pipe; else /dev/null */
    int wants_group;   /* 1: a cgroup, to measure memory */
    int64_t cap_bytes; /* of memory; 0: none */
    const char *root;  /* as in interference.h */
    int death_signal;  /* as in child.h, and the next one */
    const cpu_set_t *processors;
};

/* 0 or an errno. */
int program_launch(struct program *program, const struct program_launch *start, double now_s);

/* Writes to its input, now or when it reads. */
void program_send(struct program *program, const char *bytes, size_t length);

/* Writes to standard error, for the person reading. */
void program_pass_on(const char *bytes, size_t length);

/* Begins to end it: by closing its input (STAGE_ASKED), by SIGTERM or by SIGKILL. */
void program_end(struct program *program, enum program_stage stage, double now_s);

/* Does what is due: reads what it wrote, sees whether it is over, and goes on ending it. Afterwards pid is 0 when all
 * of it is gone. */
void program_step(struct program *program, double now_s);

/* Fills in what to sleep on, up to PROGRAM_FDS, and returns how many. Lowers *until_s to the time of its next step. */
enum { PROGRAM_FDS = 5 };
int program_poll(const struct program *program, struct pollfd *fds, double *until_s);

/* After program_family_read: processor time of all processes that were ever here. */
double program_cpu_s(const struct program *program);

void program_free(struct program *program); /* of a program that is gone */

#endif
