/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study: one tuning question asked of a program that runs. kerf/tune.h decides what to measure, kerf/trial.h measures
 * it; a study is the loop around both, and the journal in which everything that was measured is kept.
 *
 * Studies are kept in the folder $KERF_STUDIES, else $XDG_STATE_HOME/kerf/studies, else ~/.local/state/kerf/studies.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         const char *params[] = {"batch=1..4"};
 *         const char *words[] = {"sh", "-c", "echo took $(( ({batch} - 3) * ({batch} - 3) + 5 ))"};
 *         struct kerf_study_request request;
 *         struct kerf_study_plan plan = {0};
 *         struct kerf_study_state *state;
 *         struct kerf_tune_answer answer;
 *         struct kerf_error err;
 *         kerf_study_request_defaults(&request);
 *         request.params.items = params;
 *         request.params.count = 1;
 *         request.words.items = words;
 *         request.words.count = 3;
 *         request.objective = "regex:took ([0-9]+)";
 *         request.policy = "exhaustive";
 *         request.ignore_interference = 1;
 *         plan.request = &request;
 *         plan.wake_fd = -1;
 *         if (kerf_study_run(&plan, &state, &err) != KERF_OK) return 1;
 *         if (kerf_tune_study_answer(state->study, &answer, &err) != KERF_OK) return 1;
 *         printf("%s: %g\n", state->space->params[0].texts[state->space->values[answer.best]], answer.settings[answer.best].mean);
 *         kerf_study_state_free(state);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     3: 5
 */
#ifndef KERF_STUDY_H
#define KERF_STUDY_H

#include "kerf/trial.h"
#include "kerf/tune.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    KERF_STUDY_SLOTS_MAX = 256,
    KERF_STUDY_ID_SIZE = 64,
    KERF_STUDY_PATH_SIZE = 4096,
    KERF_STUDY_KEY_SIZE = 17,
    KERF_STUDY_TIME_SIZE = 32
};

struct kerf_study_strings {
    const char **items; /* [count] */
    int32_t count;
};

/* ---- What is asked ------------------------------------------------------------------------------------------- */

/** Enough to begin a study, to go on with it later, and to know other studies of the same program. Its strings stay the
 * caller's. */
struct kerf_study_request {
    struct kerf_study_strings params, wheres; /* as kerf_tune_space_create takes them */
    struct kerf_study_strings words;          /* the command */
    struct kerf_study_strings earlier;        /* ids of earlier studies whose observations count */
    /* names of environment variables that are part of the key, commas between them */
    struct kerf_study_strings key_env;
    const char *preset;                     /* "llama", NULL: none */
    const char *defaults, *prefer, *policy; /* NULL: none; policy: kerf */
    /* wall, cpu, memory, value, regex:EXPRESSION or json:PATH; then, where there is a second objective, "and less NAME" or
     * "and more NAME", as of kerf_trial_runner_tell; then, where there are limits, as of kerf_trial_runner_limit:
     * "wall and less memory subject to p99_ms <= 50, cpu <= 8s". */
    const char *objective;
    const char *protocol, *prepare, *cleanup, *launcher; /* as kerf_trial_command */
    double within, margin, confidence;                   /* as kerf_tune_question */
    double load_timeout_s, trial_timeout_s;              /* 0: the runner's own */
    int64_t memory_cap_bytes, max_observations, seed;
    int32_t maximize, slots, warmups; /* warmups: trials at the beginning, of each slot, that do not count */
    int32_t ignore_interference, show_output;
};

/** Everything at its default; the lists are empty. */
KERF_API void kerf_study_request_defaults(struct kerf_study_request *ret_request);

/** Its space; kerf_tune_space_free gives it back. */
KERF_API int32_t kerf_study_request_space(const struct kerf_study_request *request, struct kerf_tune_space **ret_space,
                                          struct kerf_error *err);

/** The unit of the objective: "s", "B", or "" where it is the program's own. */
KERF_API const char *kerf_study_request_unit(const struct kerf_study_request *request);

/** The second objective's name; 0: it has one objective. *ret_maximize: more of it is better. */
enum { KERF_STUDY_NAME_SIZE = 96 };
KERF_API int32_t kerf_study_request_second(const struct kerf_study_request *request, char name[KERF_STUDY_NAME_SIZE],
                                           int32_t *ret_maximize);

/** Its unit: "s" of wall and cpu, "B" of memory, else "". */
KERF_API const char *kerf_study_second_unit(const char *name);

/** Its members, into an object that is open. */
KERF_API void kerf_study_request_write(const struct kerf_study_request *request, struct kerf_json *json);

/* ---- What was measured ----------------------------------------------------------------------------------------- */

/** One measurement. */
struct kerf_study_entry {
    struct kerf_trial_result result;
    char why[200]; /* the decision's reason; of a slot's anchor KERF_STUDY_ANCHOR_REASON and the slot's number */
    int64_t loads; /* starts of the program since the study began */
};
#define KERF_STUDY_ANCHOR_REASON "anchor of slot "

/** "value", "censored" or "failed", of enum kerf_tune_outcome. */
KERF_API const char *kerf_study_outcome_word(int32_t outcome);

/** What a journal says of a measurement beside its number and its setting, into an object that is open. */
KERF_API void kerf_study_entry_members(struct kerf_json *json, const struct kerf_study_entry *entry);

/** A journal as it was read; everything is its own. */
struct kerf_study_record {
    char id[KERF_STUDY_ID_SIZE], path[KERF_STUDY_PATH_SIZE];
    char key[KERF_STUDY_KEY_SIZE]; /* equal for studies whose measurements can be compared */
    struct kerf_study_request request;
    struct kerf_tune_space *space;
    struct kerf_study_entry *entries; /* [num_entries] */
    int32_t num_entries;
    const char **skipped; /* [capacity of the space] why a setting was not measured, NULL: it may be; NULL: the journal
                             does not say */
    int64_t began_s;      /* since 1970 */
    int64_t loads;        /* starts of the program, in all */
    double elapsed_s;
    char stopped[16]; /* kerf_study_stop_word; "" while it runs or after a crash */
    char reason[400];
    int64_t whole_bytes; /* up to the end of the last whole line */
    double *seconds;     /* [num_entries] of the second objective, NAN of a run that failed; NULL: there is none */
};

/** study is an id, or the path of a journal (with a slash or ending in .jsonl). Measurements that are missing or there
 * twice are errors, with the file and the line. KERF_EUNKNOWN: there is none. */
KERF_API int32_t kerf_study_record_read(const char *study, struct kerf_study_record **ret_record,
                                        struct kerf_error *err);
KERF_API struct kerf_study_record *kerf_study_record_free(struct kerf_study_record *record);

/** The folder where studies are kept; it need not exist. */
KERF_API int32_t kerf_study_folder(char path[KERF_STUDY_PATH_SIZE], struct kerf_error *err);

/** The ids of all studies that are kept, the newest first; kerf_study_ids_free gives them back. */
KERF_API int32_t kerf_study_ids(struct kerf_study_strings *ret_ids, struct kerf_error *err);
KERF_API void kerf_study_ids_free(struct kerf_study_strings *ids);

/** "2026-11-21T21:30:02Z" */
KERF_API void kerf_study_time_write(int64_t seconds, char text[KERF_STUDY_TIME_SIZE]);

/* ---- What is known ---------------------------------------------------------------------------------------------- */

enum kerf_study_stop {
    KERF_STUDY_CONFIDENT,
    KERF_STUDY_BUDGET,
    KERF_STUDY_INTERRUPTED,
    KERF_STUDY_TOO_NOISY,
    KERF_STUDY_NOTHING, /* nothing could be measured */
    KERF_STUDY_STOPS
};
/** "confident", "budget", "interrupted", "too_noisy", "failed" */
KERF_API const char *kerf_study_stop_word(int32_t stop);

/** Of a study that runs, has ended, or is in a journal. */
struct kerf_study_state {
    char id[KERF_STUDY_ID_SIZE]; /* "" without a journal */
    const struct kerf_study_request *request;
    const struct kerf_tune_space *space;
    struct kerf_tune_study *study;          /* the decision, which was told of all entries */
    const struct kerf_study_entry *entries; /* [num_entries] */
    int32_t num_entries;
    int32_t num_disturbed;    /* observations */
    int32_t remeasured;       /* of these, made again */
    int32_t disturbed_counts; /* 1: all were disturbed, and count all the same: better than no answer */
    int32_t num_studies;      /* earlier studies that it began with; the answer tells how many still count */
    int32_t stop;             /* enum kerf_study_stop */
    char reason[400];         /* why it stopped, one line */
    int32_t broke_off;        /* kerf itself could not go on: the disk was full, or there was no memory */
    double elapsed_s;         /* of all its runs */
    double run_s;             /* of this one, which is what a budget is for */
    int64_t loads;            /* starts of the program */
    const char *measuring;    /* the setting that is being measured, and why; "" */

    struct kerf_study_own *own; /* what the above points to */
    const double *seconds; /* [num_entries] of the second objective, NAN of a run that failed; NULL: there is none */
    struct kerf_study_strings missing; /* names of earlier studies whose journals are gone or cannot be read */
};
KERF_API struct kerf_study_state *kerf_study_state_free(struct kerf_study_state *state);

/** Says in one line, without its end, which earlier studies are missing; nothing where none is. */
KERF_API void kerf_study_missing_write(const struct kerf_study_state *state, struct kerf_text *out);

/** Why a setting failed or was skipped: what its last failed run said of the limit that it broke, else what the policy says
 * (kerf_tune_estimate.reason); "". As long as the state. */
KERF_API const char *kerf_study_reason(const struct kerf_study_state *state, const struct kerf_tune_estimate *estimates,
                                       int32_t setting);

/** A study as its journal holds it, without running anything. policy: NULL for its own. The record has to live as long. */
KERF_API int32_t kerf_study_replay(const struct kerf_study_record *record, const char *policy,
                                   struct kerf_study_state **ret_state, struct kerf_error *err);

/** What the policy decides before each measurement of the journal and after the last one: ret_decisions
 * [num_entries + 1]. */
KERF_API int32_t kerf_study_decisions(const struct kerf_study_record *record, const char *policy,
                                      struct kerf_tune_decision *ret_decisions, struct kerf_error *err);

/* ---- Running it -------------------------------------------------------------------------------------------------- */

/** What it points to lives as long as the state that comes of it. */
struct kerf_study_plan {
    const struct kerf_study_request *request;
    const struct kerf_study_record *resumed; /* NULL: a new study */
    const double *prior_log;                 /* [num_settings] or NULL: as kerf_tune_question */
    const char *const *skipped;  /* [num_settings] why a setting must not be measured, NULL: it may; or NULL. What the
                                    resumed study's journal says counts instead. Not of a grid that grows */
    char id[KERF_STUDY_ID_SIZE]; /* "" or the new study's name */
    double budget_s;             /* 0: none */
    double patience_s;           /* for how long a busy machine is waited for; 0: 31 */
    int32_t keep_journal, use_earlier;
    int32_t wake_fd;                                                  /* readable after an interruption; -1: none */
    void (*warn)(void *show_context, const char *line);               /* what the person should know; NULL */
    int (*interrupted)(void);                                         /* 1: end it, with what is known; NULL */
    void (*show)(void *show_context, struct kerf_study_state *state); /* after every change and once a second; NULL */
    void *show_context;
};

/** Runs a study to its end: confident, out of budget, interrupted, or on too noisy a machine. An error is one that leaves
 * no study: bad input, a journal that cannot be made. One that comes when something was measured ends the study with what
 * is known. Calls for the runner of kerf/trial.h hold: SIGCHLD must not be ignored. */
KERF_API int32_t kerf_study_run(const struct kerf_study_plan *plan, struct kerf_study_state **ret_state,
                                struct kerf_error *err);

#ifdef __cplusplus
}
#endif
#endif
