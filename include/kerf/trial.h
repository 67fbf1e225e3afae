/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running trials: a program is started with a setting, measured, and whatever it does becomes one observation.
 *
 * A runner has slots (one, unless trials run in parallel). Each runs one trial at a time. kerf_trial_start begins one
 * and returns at once; kerf_trial_wait sleeps until one has ended. Nothing polls: the caller's thread sleeps in
 * poll(2) on the processes (pidfd), their output and a timer.
 *
 * Every process of a trial is in a process group of its own, is ended with it (SIGTERM, then SIGKILL), and dies with
 * kerf (PR_SET_PDEATHSIG); of a launcher by SIGTERM first, so that it ends what runs elsewhere. Children of children
 * are found as a subreaper's. Output is bytes: it may hold anything, and lines longer than 1 MiB are cut.
 *
 * A runner is used by the thread that created it. It needs SIGCHLD not to be ignored.
 */
#ifndef KERF_TRIAL_H
#define KERF_TRIAL_H

#include "kerf/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What to run ------------------------------------------------------------------------------------------ */

/** How a program and kerf talk: one file behind each. */
struct kerf_trial_protocol {
    const char *name; /* exit, lines, worker, llama-bench */
    const char *summary;
};
KERF_API const struct kerf_trial_protocol *kerf_trial_protocol_at(size_t index);

enum kerf_trial_objective {
    KERF_TRIAL_WALL,   /* seconds from start to end; of `worker` its value, of `lines` their mean */
    KERF_TRIAL_CPU,    /* processor seconds of the program and its children */
    KERF_TRIAL_MEMORY, /* bytes at the peak */
    KERF_TRIAL_REGEX,  /* the first group of the last match in the output */
    KERF_TRIAL_JSON,   /* a path such as results.0.tokens_per_s into the last JSON value of the output */
    KERF_TRIAL_VALUE   /* of `worker` its value, of `lines` their mean: any number, no time */
};

struct kerf_trial_command {
    const char *const *words; /* [num_words], {param} and {setting} (its JSON) are replaced; a word that is but a flag's
                                 placeholder and empty is left out */
    int32_t num_words;
    const char *protocol; /* NULL: exit */
    int32_t fresh_worker; /* 1: a worker measures one setting, and another one is started for the next */
    int32_t objective;    /* enum kerf_trial_objective */
    const char *pattern;  /* of KERF_TRIAL_REGEX (POSIX extended) and KERF_TRIAL_JSON */
    const char *prepare;  /* for sh -c before each trial, not measured, with KERF_SETTING (JSON) and KERF_SLOT in its
                             environment; NULL: nothing. What it leaves running lives until the runner is freed */
    const char *cleanup;  /* after each trial, and when kerf is interrupted; the same */
    const char *launcher; /* words before the command: "srun --exclusive -n1"; NULL */
    int32_t slots; /* trials at a time; 0: 1. Each finds its number, from 0, in KERF_SLOT. Without a launcher each
                      has processors of its own where there are enough (kerf_trial_processors) */
    double load_timeout_s;    /* until a worker is ready, the first sample of `lines`, the end of prepare or cleanup;
                                 0: 600 */
    double trial_timeout_s;   /* of one trial from then on; 0: none but `limit` */
    double grace_s;           /* between SIGTERM and SIGKILL; 0: 2, with a launcher 10 */
    int64_t memory_cap_bytes; /* of a trial with its children: a cgroup of its own where one can be made, else
                                 RLIMIT_AS; 0: none */
    int32_t show_output;      /* 1: what the program writes goes on to standard error */
    int32_t watch_machine; /* 1: measure what else this machine did meanwhile. After a trial in which others were busy
                                 kerf_trial_wait also looks at the gap behind it, for twice the trial's time and 0.5 s at
                                 most */
    const char *root;      /* a folder that stands for / where the system tells of that, for tests; NULL: / */
    void (*warn)(void *context, const char *line); /* what the person should know while trials run; NULL: nothing */
    void *warn_context;
    double silence_s; /* a worker that is not ready by then is warned of, once; 0: 10 */
};

struct kerf_trial_runner;

/** space and command, with all they point to, stay the caller's and as long as the runner. While there is a runner this
 * process is the parent of orphans below it (PR_SET_CHILD_SUBREAPER); those in a session of their own are taken for a
 * trial's and ended. Trials die with the calling thread.
 * KERF_EINVALID: a parameter that the command does not use (unless the protocol is worker), a placeholder that is no
 * parameter, a bad expression, an objective that the protocol has not; KERF_EUNKNOWN: a protocol that there is not;
 * KERF_EIO: a program that cannot be found; KERF_EUNSUPPORTED: a Linux before 5.3. */
KERF_API int32_t kerf_trial_runner_create(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                                          struct kerf_trial_runner **ret_runner, struct kerf_error *err);

/** Ends what still runs, runs `cleanup`, and gives everything back. Safe after an interruption. */
KERF_API struct kerf_trial_runner *kerf_trial_runner_free(struct kerf_trial_runner *runner);

/** The words that a setting makes, the launcher's first, quoted for a shell: "./bench -b 512 -ub 128". */
KERF_API void kerf_trial_command_write(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                                       int32_t setting, struct kerf_text *out);

/* ---- Running it ------------------------------------------------------------------------------------------- */

/** What else the machine did while a trial ran. Shares are of the trial's wall time times the processors that it
 * could use; NAN where the system does not tell. */
struct kerf_trial_machine {
    double others;    /* processor time of others (/proc/stat without the trial's own), in processors */
    double between;   /* the same in the gaps before and after the trial, in which nothing is measured: the larger one;
                           NAN: a gap was not looked at, or was too short to tell */
    double steal;     /* taken by the hypervisor, in processors */
    double pressure;  /* share of the time in which something waited for a processor (PSI, cpu some) */
    double frequency; /* mean clock over the highest allowed */
    int32_t processors; /* that the trial may use */
};

struct kerf_trial_result {
    struct kerf_tune_observation observation; /* its slot too; start_s is since the runner was created, or of the
                                                 worker's own clock where there is one slot, and never goes back */
    double load_s;      /* until a worker that this trial had to start was ready; of `lines` what the first line took
                           beside its sample; 0: nothing was loaded, or it is not known */
    double wall_s;      /* of the trial by kerf's clock */
    double cpu_s;       /* of the trial's processes; NAN: none was started */
    int64_t peak_bytes; /* resident, of all together in a cgroup, else of the largest process; 0: not known */
    int32_t id;         /* as given to kerf_trial_start */
    int32_t is_of_no_setting; /* 1: a worker that is started alike for every setting failed before it was told one */
    int32_t status;           /* as waitpid tells, of a program that ended; -1: none did */
    struct kerf_trial_machine machine;
    char message[200]; /* of a failure: what happened, in words; that cleanup failed; "" */
};

/** Begins a trial on a free slot. A worker is told id, or the next number that it was not told yet. limit: as in
 * kerf_tune_decision. KERF_EINVALID: a slot or setting that there is not, or a slot whose trial has not been waited
 * for. Whatever goes wrong with the program is the trial's result. */
KERF_API int32_t kerf_trial_start(struct kerf_trial_runner *runner, int32_t slot, int32_t id, int32_t setting,
                                  double limit, struct kerf_error *err);

/** Waits until a trial has ended or timeout_s have passed (negative: for ever). *ret_ended is 1 when *ret_result is
 * one; 0 after the time-out. KERF_EINTERRUPTED when wake_fd (-1: none) became readable; KERF_EINVALID when no trial was
 * started. */
KERF_API int32_t kerf_trial_wait(struct kerf_trial_runner *runner, double timeout_s, int32_t wake_fd,
                                 struct kerf_trial_result *ret_result, int32_t *ret_ended, struct kerf_error *err);

/** 1 when the machine was too busy with other things for the observation to count; says why in reason. What others use
 * while a trial runs, and in neither gap beside it, is the work of the trial's own server, and is no disturbance. */
KERF_API int32_t kerf_trial_disturbed(const struct kerf_trial_result *result, char *reason, size_t size);

/** The trial time-out of trials that begin from now on, in place of the command's; 0: none but `limit`. */
KERF_API void kerf_trial_timeout(struct kerf_trial_runner *runner, double trial_timeout_s);

/** What holds the memory cap: "cgroup" (all of a trial together), "RLIMIT_AS" (the address space of each process), ""
 * where none was asked for. */
KERF_API const char *kerf_trial_memory_cap(const struct kerf_trial_runner *runner);

/** How many processors each slot has for itself; 0: slots share what there is, because there is but one slot or fewer
 * processors than slots, or because a launcher decides where trials run. */
KERF_API int32_t kerf_trial_processors(const struct kerf_trial_runner *runner);

/** How often a program or worker was started. */
KERF_API int64_t kerf_trial_loads(const struct kerf_trial_runner *runner);

#ifdef __cplusplus
}
#endif
#endif
