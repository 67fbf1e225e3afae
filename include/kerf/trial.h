/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running trials. A trial is one run of the tuned program: it is started with a setting and measured, and whatever it
 * does becomes one observation.
 *
 * A runner has slots (one, unless trials run in parallel). Each slot runs one trial at a time. kerf_trial_start begins
 * a trial and returns at once; kerf_trial_wait sleeps until one has ended. The caller's thread sleeps in poll(2) on
 * the processes (pidfd), their output and a timer.
 *
 * A trial has a session and process group of its own. All its processes end with it (SIGTERM, then SIGKILL), also its
 * children's children, and when kerf is killed (PR_SET_PDEATHSIG and a guard process). A launcher gets SIGTERM first,
 * so that it can end what runs on other machines. Output may be any bytes; lines longer than 1 MiB are cut.
 *
 * Only the thread that created a runner may use it. SIGCHLD must not be ignored.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         const char *params[] = {"batch=1..4"};
 *         const char *words[] = {"sh", "-c", "echo $(( {batch} * 10 )) tokens"};
 *         struct kerf_trial_command command = {.words = words, .num_words = 3, .objective = KERF_TRIAL_REGEX};
 *         struct kerf_trial_runner *runner;
 *         struct kerf_trial_result result;
 *         struct kerf_tune_space *space;
 *         struct kerf_error err;
 *         int32_t ended;
 *         command.pattern = "([0-9]+) tokens";
 *         if (kerf_tune_space_create(params, 1, NULL, 0, NULL, &space, &err) != KERF_OK) return 1;
 *         if (kerf_trial_runner_create(space, &command, &runner, &err) != KERF_OK) return 1;
 *         // on slot 0, as number 1, the space's setting 2, without a limit
 *         if (kerf_trial_start(runner, 0, 1, 2, 0, &err) != KERF_OK) return 1;
 *         if (kerf_trial_wait(runner, -1, -1, &result, &ended, &err) != KERF_OK) return 1;
 *         printf("batch 3: %g\n", result.observation.value);
 *         kerf_trial_runner_free(runner);
 *         kerf_tune_space_free(space);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     batch 3: 30
 */
#ifndef KERF_TRIAL_H
#define KERF_TRIAL_H

#include "kerf/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What to run ------------------------------------------------------------------------------------------ */

/** How a program and kerf talk. */
struct kerf_trial_protocol {
    const char *name; /* exit, lines, worker, llama-bench, bench */
    const char *summary;
};
KERF_API const struct kerf_trial_protocol *kerf_trial_protocol_at(size_t index);

enum kerf_trial_objective {
    KERF_TRIAL_WALL,   /* seconds from start to end; a worker's value; the mean of `lines` */
    KERF_TRIAL_CPU,    /* processor seconds of the program and its children */
    KERF_TRIAL_MEMORY, /* bytes at the peak */
    KERF_TRIAL_REGEX,  /* the first group of the last match in the output */
    KERF_TRIAL_JSON,   /* a path such as results.0.tokens_per_s into the last JSON value of the output */
    KERF_TRIAL_VALUE   /* a worker's value or the mean of `lines`: any number, not a time */
};

struct kerf_trial_command {
    /* [num_words]; {param} and {setting} (as JSON) are replaced; a word that is only the placeholder of a flag is left out
     * where the flag is off. With the protocol bench they are a server's, the word "--", and its client's, and {port} is
     * a free port in both. */
    const char *const *words;
    int32_t num_words;
    const char *protocol; /* NULL: exit */
    int32_t fresh_worker; /* 1: each setting gets a worker of its own */
    int32_t objective;    /* enum kerf_trial_objective */
    const char *pattern;  /* of KERF_TRIAL_REGEX (POSIX extended) and KERF_TRIAL_JSON */
    const char *prepare;  /* run by sh -c before each trial and not measured, with KERF_SETTING (JSON) and KERF_SLOT in
                             its environment; {param} and {setting} are replaced, other braces are the shell's. NULL:
                             nothing. Processes that it leaves live until the runner is freed */
    const char *cleanup;  /* the same, after each trial and when kerf is interrupted */
    const char *launcher; /* words before the command: "srun --exclusive -n1"; NULL */
    /* trials at a time; 0: 1. A program finds its slot's number, from 0, in KERF_SLOT. Without a launcher each slot has
     * processors of its own where there are enough (kerf_trial_processors) */
    int32_t slots;
    double load_timeout_s;    /* until a worker is ready, `lines` has its first sample, prepare or cleanup has ended;
                                 0: 600 */
    double trial_timeout_s;   /* of one trial from then on; 0: none but `limit` */
    double grace_s;           /* between SIGTERM and SIGKILL; 0: 2, with a launcher 10 */
    int64_t memory_cap_bytes; /* of a trial with its children, by a cgroup where one can be made; else RLIMIT_AS of each
                                 process; 0: none */
    int32_t show_output;      /* 1: pass what the program writes on to standard error */
    int32_t watch_machine; /* 1: measure what else this machine did during a trial. If others were busy, kerf_trial_wait
                              also watches the gap after the trial, for twice the trial's time and 0.5 s at most */
    const char *root;      /* a folder that stands for / when that is read from /proc and /sys, for tests; NULL: / */
    void (*warn)(void *context, const char *line); /* tells the person what to know while trials run; NULL */
    void *warn_context;
    double silence_s; /* how long a worker may load before the person is told, once; 0: 10 */
};

struct kerf_trial_runner;

/** The caller keeps space and command, with all they point to, as long as the runner. While there is a runner, this
 * process is the parent of orphans below it (PR_SET_CHILD_SUBREAPER); orphans in a session of their own are taken for
 * a trial's, and ended. Trials die with the calling thread. KERF_EINVALID: a parameter that the command does not use
 * (unless the protocol is worker), a placeholder that is not a parameter, a bad expression, an objective that the
 * protocol cannot measure, with bench a launcher or no client; KERF_EUNKNOWN: there is no such protocol; KERF_EIO: the
 * program cannot be found; KERF_EUNSUPPORTED: a Linux before 5.3. */
KERF_API int32_t kerf_trial_runner_create(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                                          struct kerf_trial_runner **ret_runner, struct kerf_error *err);

/** Before the first trial: a limit on a further number of each run, at most 16. "memory <= 8GB", "wall < 90s" and "cpu"
 * are of what kerf measures; any other name is a path into a worker's answer, else into the last JSON value of the output,
 * in the program's own unit: "p99_ms <= 50", "results.0.loss <= 2.1", "tokens_per_s >= 100". A run that breaks it
 * failed with KERF_TUNE_FAILURE_LIMIT; one that does not tell it, with KERF_TUNE_FAILURE_OUTPUT. KERF_EINVALID. */
KERF_API int32_t kerf_trial_runner_limit(struct kerf_trial_runner *runner, const char *limit, struct kerf_error *err);

/** Before the first trial: a further number that each run has to tell, named as in a limit: "memory", "p99_ms". One run
 * has one. A run that does not tell it failed with KERF_TUNE_FAILURE_OUTPUT. KERF_EINVALID. */
KERF_API int32_t kerf_trial_runner_tell(struct kerf_trial_runner *runner, const char *name, struct kerf_error *err);

/** Ends what still runs, runs `cleanup`, and gives everything back. Safe after an interruption. */
KERF_API struct kerf_trial_runner *kerf_trial_runner_free(struct kerf_trial_runner *runner);

/** The words of the command with a setting, the launcher's first, quoted for a shell: "./bench -b 512 -ub 128". */
KERF_API void kerf_trial_command_write(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                                       int32_t setting, struct kerf_text *out);

/* ---- Running it ------------------------------------------------------------------------------------------- */

/** Sizes of this machine at which programs change: how many of the processors that this thread may use, and of their cores,
 * share a last-level cache, a node of memory or a package, and how many there are in all; and its caches, in bytes and from
 * 256 kB on in kB too. Ascending, 2 and more, each once. Returns how many; 0 where the system does not tell. root: as in
 * kerf_trial_command. */
enum { KERF_TRIAL_SIZES_MAX = 32 };
KERF_API int32_t kerf_trial_machine_sizes(const char *root, int64_t ret_sizes[KERF_TRIAL_SIZES_MAX]);

/** What else the machine did while a trial ran; NAN where the system does not tell. */
struct kerf_trial_machine {
    double others; /* processor time of others (/proc/stat less the trial's and kerf's own), in processors */
    /* the same in the gaps before and after the trial, where nothing is measured: the larger one; NAN: a gap was not
     * watched, or was too short to tell */
    double between;
    double steal;       /* processor time that the hypervisor took, in processors */
    double pressure;    /* share of the time in which a task waited for a processor (PSI, cpu some) */
    double frequency;   /* mean clock rate over the highest allowed */
    int32_t processors; /* that the trial may use */
};

struct kerf_trial_result {
    struct kerf_tune_observation observation; /* with its slot; times count from the creation of the runner or, with one
                                                 slot, by the worker's own clock, and never go back */
    double load_s; /* until a worker that this trial had to start was ready; with `lines` the time of the first line
                           beyond its sample; 0: nothing was loaded, or it is not known */
    double wall_s; /* of the trial by kerf's clock */
    double cpu_s;  /* of the trial's processes; NAN: none was started */
    /* Resident memory of the trial in its cgroup (of a worker: from Linux 6.12), else of its largest process; 0: not
     * known. */
    int64_t peak_bytes;
    int32_t id; /* as given to kerf_trial_start */
    /* 1: the worker's command is the same for every setting, and it failed before it got one */
    int32_t is_of_no_setting;
    int32_t status; /* of a program that ended, as waitpid returns it; -1: none ended */
    struct kerf_trial_machine machine;
    char message[200]; /* why it failed, or that cleanup failed; "" */
};

/** Begins a trial on a free slot. A worker gets id, or the next number if it had that one. limit: as in
 * kerf_tune_decision. KERF_EINVALID: there is no such slot or setting, or the slot's last trial was not waited for.
 * Whatever goes wrong with the program is the trial's result. */
KERF_API int32_t kerf_trial_start(struct kerf_trial_runner *runner, int32_t slot, int32_t id, int32_t setting,
                                  double limit, struct kerf_error *err);

/** Waits until a trial has ended or timeout_s have passed (negative: for ever). *ret_ended is 1 with a *ret_result,
 * and 0 after the time-out. KERF_EINTERRUPTED: wake_fd (-1: none) became readable; KERF_EINVALID: no trial is
 * running. */
KERF_API int32_t kerf_trial_wait(struct kerf_trial_runner *runner, double timeout_s, int32_t wake_fd,
                                 struct kerf_trial_result *ret_result, int32_t *ret_ended, struct kerf_error *err);

/** That number of the trial that kerf_trial_wait returned last, in seconds, bytes, or the program's own unit; NAN where
 * none was asked for or the trial failed. */
KERF_API double kerf_trial_told(const struct kerf_trial_runner *runner);

/** 1 when the machine was too busy with other things for the observation to count; reason then says why. What others
 * use during the trial but not in the gaps beside it is the work of the trial's own server, and does not count. */
KERF_API int32_t kerf_trial_disturbed(const struct kerf_trial_result *result, char *reason, size_t size);

/** Replaces the command's trial time-out for trials that begin from now on; 0: none but `limit`. */
KERF_API void kerf_trial_timeout(struct kerf_trial_runner *runner, double trial_timeout_s);

/** How memory is capped: "cgroup" (a trial as a whole), "RLIMIT_AS" (the address space of each process), "" (no
 * cap). */
KERF_API const char *kerf_trial_memory_cap(const struct kerf_trial_runner *runner);

/** How many processors each slot has for itself; 0: slots share all processors, because there is only one slot, there
 * are fewer processors than slots, or a launcher decides where trials run. */
KERF_API int32_t kerf_trial_processors(const struct kerf_trial_runner *runner);

/** How many times a program or worker was started. */
KERF_API int64_t kerf_trial_loads(const struct kerf_trial_runner *runner);

#ifdef __cplusplus
}
#endif
#endif
