/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slot: one trial at a time from prepare to cleanup, and the program that runs it. How a program and kerf talk is
 * behind `struct trial_protocol`: one file for each protocol, registered in trial_runner.c.
 *
 *     NONE -> PREPARE -> REPLACE -> LOAD -> RUN -> ENDING -> CLEANUP -> LISTEN -> DONE -> NONE
 *
 * A phase with nothing to do is skipped. A trial is decided once, by what happens first; the later phases only tidy up.
 */
#ifndef KERF_TRIAL_TRIAL_SLOT_H
#define KERF_TRIAL_TRIAL_SLOT_H

#include <regex.h>
#include <sched.h>
#include <stddef.h>
#include "base/arena.h"
#include "kerf/trial.h"
#include "trial/interference.h"
#include "trial/limits.h"
#include "trial/placeholders.h"
#include "trial/program.h"
#include "trial/worker_answer.h"

struct slot;

struct trial_protocol {
    struct kerf_trial_protocol about;
    uint32_t objectives; /* OBJECTIVE_BIT of those that it can measure */
    int is_persistent;   /* one program runs many trials */
    int is_asked;        /* it is asked on its standard input, and answers on its output */
    int has_client;      /* a second program, after a lone -- in the command, measures each trial */
    int has_load;        /* the load time-out runs until slot_loaded */

    /* The program runs, and the trial begins: sets trial->cut_s, or asks the worker. */
    void (*begin)(struct slot *slot, double now_s);
    /* A line that the program wrote while the trial is not decided. */
    void (*line)(struct slot *slot, enum program_stream stream, char *line, size_t length, double now_s);
    /* trial->cut_s has come. */
    void (*cut)(struct slot *slot, double now_s);
    /* The program ended with status 0 and is gone: decides the trial. */
    void (*over)(struct slot *slot);
    /* While the program loads, and while the trial runs: what the client has come to. NULL: there is none. */
    void (*client)(struct slot *slot, double now_s);
};
extern const struct trial_protocol exit_protocol, lines_protocol, worker_protocol, llama_bench_protocol, bench_protocol;

enum trial_phase {
    PHASE_NONE,
    PHASE_PREPARE,
    PHASE_REPLACE, /* an earlier program is still ending */
    PHASE_LOAD,
    PHASE_RUN,
    PHASE_ENDING, /* decided, or the program is over: waits until all of it is gone */
    PHASE_CLEANUP,
    PHASE_LISTEN, /* watches the gap after the trial: are others as busy while nothing is measured? */
    PHASE_DONE
};

/* A time in which a slot measures nothing. What others do in it tells neighbours from the trial's own server. */
struct gap {
    int is_open;
    struct machine_load since;
    double own_before_s;
};

struct trial {
    enum trial_phase phase;
    int is_decided, must_end; /* must_end: the program is of no further use */
    double limit;             /* of a time objective; 0: none */
    double until_s;           /* the time-out of the phase; INFINITY */
    double silent_s;          /* until when a worker may load without a warning; INFINITY */
    double cut_s;             /* when `limit` is reached; INFINITY */
    double retry_s;           /* when the client tries again whether the server is ready; INFINITY */
    double start_s;
    int64_t request;    /* id of the question to a worker */
    size_t asked_bytes; /* its length */
    int is_asked_again;
    int was_loaded; /* the load time is told */
    int is_ready;   /* the program can be measured */
    int is_closed;  /* the worker closed its output, and must end soon */
    int is_measured;
    int has_told;          /* a worker told when it measured */
    struct time_span told; /* by its own clock */
    /* samples, of lines and llama-bench */
    double sum, last_s, pause_s;
    int64_t samples;
    /* what objectives look for in the output */
    struct kerf_text unsearched; /* lines, each with its NUL */
    int has_found;
    double found;
    char odd[160];                        /* says what was found instead of a number; "" */
    struct kerf_text captured;            /* the output, where JSON is looked for in it */
    int is_cut;                           /* what was before that, or one line of it, was too long to be kept */
    const json_t *answer;                 /* of a worker, while it is read */
    char said[STREAMS][120], memory[120]; /* last lines, and one that says that memory ran out; "" */
    char client_said[120];                /* the client's last line; "" */
    int tries;                            /* of the client, while the server loads */
    /* as it was at the start */
    struct machine_load before;
    double own_before_s, cpu_before_s;
    double gap_s,
        gap_others; /* length of the gap before the trial, 0: it was not watched; others in it, in processors */
    int64_t memory_kills;
    struct kerf_trial_result result;
    double wanted; /* the number that limits.h wants; NAN */
};

struct slot {
    struct kerf_trial_runner *runner;
    int32_t index;
    cpu_set_t processors;          /* that it may use */
    struct program program, shell; /* shell: of prepare and cleanup, and a client */
    struct trial trial;
    int32_t port; /* of its server; 0: none was chosen */
    struct worker_clock clock;
    struct gap gap;
    int has_server;         /* a trial's server was found: every gap is watched */
    struct kerf_text words; /* what the program was started with, each ended by a NUL */
    int32_t setting;        /* for which it was started */
    struct arena arena;     /* of one start */
};

struct kerf_trial_runner {
    const struct kerf_tune_space *space;
    struct kerf_trial_command command; /* with its defaults */
    const struct trial_protocol *protocol;
    const char *root; /* as in interference.h */
    regex_t regex;
    int has_regex;
    struct limits limits;
    struct command_part main, client; /* of the command's words */
    int captures;                     /* JSON is looked for in the whole output: the objective, or what a limit is of */
    int knows_setting;                /* the command's words depend on the setting, or `prepare` may */
    struct slot *slots;               /* [command.slots] */
    int32_t share; /* how many processors each slot has for itself; 0: all share those that kerf may use */
    struct pollfd *fds;
    struct program_family family;
    struct trial_guard guard;
    int subreaper_before;
    int is_ending;
    int is_silence_told; /* the warning about a silent worker was given */
    double created_s;
    double told; /* the number that limits want, of the trial that was waited for last; NAN */
    int64_t loads, requests;
};

/* Passes a line of a worker's standard output that is not an answer on to standard error. */
void slot_stray_line(const struct slot *slot, char *line, size_t length);

/* ---- From phase to phase ------------------------------------------------------------------------------------ */

void slot_begin(struct slot *slot, int32_t id, int32_t setting, double limit, double now_s);
void slot_step(struct slot *slot, double now_s);
double slot_until(const struct slot *slot);

/* Ends the slot's program, and its trial with its cleanup. */
void slot_interrupt(struct slot *slot, double now_s);

/* The load time-out is over, the trial's own begins. */
void slot_loaded(struct slot *slot, double load_s, double now_s);

/* Starts the client with the trial's setting. 0 or an errno. */
int slot_start_client(struct slot *slot, int is_warmup, double now_s);

/* Its objective is a time, which has to be above 0. */
int slot_measures_time(const struct slot *slot);

/* The last JSON value of the output that was kept; NULL: why says why there is none. */
json_t *slot_captured_json(const struct slot *slot, char *why, size_t size);

/* Decide the trial: the first call counts. */
void slot_value(struct slot *slot, double value);
void slot_censored(struct slot *slot, double value);
void slot_failed(struct slot *slot, int32_t failure, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- What a trial took --------------------------------------------------------------------------------------- */

void measure_end(struct slot *slot, double now_s); /* once; the program may live on */
double measure_cpu_s(struct slot *slot);           /* of the trial until now */

/* ---- Objectives (objective.c) ------------------------------------------------------------------------------------ */

/* Where the number of a trial comes from: a clock, the system's account of the program, or what the program printed. */

/* What a protocol says of the objectives that it can serve. */
#define OBJECTIVE_BIT(objective) (1U << (objective))

/* KERF_EINVALID where the protocol cannot serve the command's objective, or its pattern cannot be read. */
int32_t objective_check(const struct trial_protocol *protocol, struct kerf_trial_runner *runner,
                        struct kerf_error *err);

/* Keeps a line of standard output, in which JSON is looked for at the end. */
void objective_capture(struct slot *slot, const char *line, size_t length);

/* Looks for the number in a line of either stream. */
void objective_line(struct slot *slot, enum program_stream stream, char *line, size_t length, double now_s);

/* The line's own number, for protocols with a sample a line: 1 and *ret_value; 0: the line has none; -1: why says what it
 * has instead of a finite number. */
int objective_sample(const struct slot *slot, const char *line, size_t length, double *ret_value, char *why,
                     size_t size);

/* Decides the trial of a program that ended with success. */
void objective_over(struct slot *slot);

/* ---- Cutting a time at its limit (exit_protocol.c) -------------------------------------------------------------- */

/* Of wall or processor time: arms trial->cut_s, and what happens then. */
void time_limit_begin(struct slot *slot, double now_s);
void time_limit_cut(struct slot *slot, double now_s);

/* ---- llama-bench (llama_bench_protocol.c) ---------------------------------------------------------------------- */

/* One line of `llama-bench -o jsonl`: one object a test, with samples_ns, avg_ns, avg_ts and the test's settings. */
enum llama_bench_kind { LLAMA_BENCH_NO_RESULT, LLAMA_BENCH_RESULT, LLAMA_BENCH_BAD };

/* Reads the mean of samples_ns (avg_ns where there are none) in seconds, or the number at the path unless that is NULL.
 * With LLAMA_BENCH_BAD why says what is wrong. */
enum llama_bench_kind llama_bench_line(const char *line, size_t length, const char *path, double *ret_value, char *why,
                                       size_t size);

#endif
