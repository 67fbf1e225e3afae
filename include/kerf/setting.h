/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of a program that is tuned, and what a trial of one told: the words that deciding (kerf/tune.h) and running
 * (kerf/trial.h) share.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         const char *params[] = {"batch=128..512:x2", "kv=f16,q8_0"};
 *         struct kerf_tune_space *space;
 *         struct kerf_text line = {0};
 *         struct kerf_error err;
 *         if (kerf_tune_space_create(params, 2, NULL, 0, NULL, &space, &err) != KERF_OK) return 1;
 *         kerf_tune_setting_write(space, space->num_settings - 1, &line);
 *         printf("%d settings, the last: %s\n", (int)space->num_settings, line.data);
 *         kerf_text_free(&line);
 *         kerf_tune_space_free(space);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     6 settings, the last: batch=512,kv=q8_0
 */
#ifndef KERF_SETTING_H
#define KERF_SETTING_H

#include "kerf/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Settings --------------------------------------------------------------------------------------------- */

enum kerf_tune_kind {
    KERF_TUNE_INTEGER, /* ascending integers: near values are alike */
    KERF_TUNE_CHOICE,  /* words, without an order unless they are numbers that ascend */
    KERF_TUNE_FLAG     /* words in the command, or none */
};

struct kerf_tune_param {
    const char *name;
    int32_t kind;             /* enum kerf_tune_kind */
    int32_t num_values;       /* 1 or more; a flag has 2: off, on */
    const int64_t *integers;  /* [num_values] of KERF_TUNE_INTEGER, else NULL */
    const char *const *texts; /* [num_values] what stands for {name} in a command; "" of a flag that is off */
    const double *numbers; /* [num_values] of a choice of numbers that ascend, as 0.1,0.2,0.5: near ones are alike. Else
                                 NULL */
};

/** What may be chosen: the grid of all parameters' values without what the constraints forbid. */
struct kerf_tune_space {
    const struct kerf_tune_param *params; /* [num_params] */
    const int32_t *values;                /* [num_settings][num_params]: indexes into a parameter's values */
    int32_t num_params;
    int32_t num_settings;    /* 1 or more; in the order of the grid, the last parameter fastest */
    int32_t default_setting; /* index, -1: none was named */
    int32_t has_unused;      /* 0, or one of these: */
};

/** Behind the values of such a space lie [num_settings][num_params] bytes, 1 where the setting does not use the parameter:
 * kerf_tune_setting_uses may say 0. No number that an older program may have left there. */
#define KERF_TUNE_HAS_UNUSED 0x57484e55

/** A large grid (kerf_tune_space_create) is not listed: settings are numbered as the search meets them, the first ones at
 * random, and `num_settings` counts those so far, up to KERF_TUNE_GROWN_MAX. The bytes lie behind the values of so many. */
#define KERF_TUNE_GROWS 0x57484e56
#define KERF_TUNE_GROWN_MAX 262144

/** Whether the parameter has an effect in the setting: 0 where its condition ("draft=4,8 when spec") does not hold. The
 * setting has its first value then. */
KERF_API int32_t kerf_tune_setting_uses(const struct kerf_tune_space *space, int32_t setting, int32_t param);

/** "batch=512,kv=f16,map=on"; of a flag off or on; without parameters that the setting does not use. */
KERF_API void kerf_tune_setting_write(const struct kerf_tune_space *space, int32_t setting, struct kerf_text *out);

/** One value of a parameter as kerf_tune_setting_write writes it: its text; of a flag "off" or "on". */
KERF_API const char *kerf_tune_value_word(const struct kerf_tune_param *param, int32_t value);

/** The word of the parameter's value in the setting; "-" where the setting does not use it. */
KERF_API const char *kerf_tune_setting_word(const struct kerf_tune_space *space, int32_t setting, int32_t param);

/** "key":{"batch":512,"kv":"f16","map":true}; key as in kerf/json.h. Without parameters that the setting does not use. */
KERF_API void kerf_tune_setting_json(struct kerf_json *json, const char *key, const struct kerf_tune_space *space,
                                     int32_t setting);

/* ---- Observations ----------------------------------------------------------------------------------------- */

enum kerf_tune_outcome {
    KERF_TUNE_VALUE,    /* measured */
    KERF_TUNE_CENSORED, /* stopped at `value`: the whole would have been more */
    KERF_TUNE_FAILED    /* no value; what happened is in `failure` */
};

/* X(name, word, what it means) */
#define KERF_TUNE_FAILURES(X)                                                                                          \
    X(KERF_TUNE_FAILURE_NONE, "none", "it did not fail")                                                               \
    X(KERF_TUNE_FAILURE_MEMORY, "memory", "out of memory")                                                             \
    X(KERF_TUNE_FAILURE_CRASH, "crash", "ended by a signal or with a status other than 0")                             \
    X(KERF_TUNE_FAILURE_LOAD, "load", "not ready within the load time-out")                                            \
    X(KERF_TUNE_FAILURE_HANG, "hang", "no answer within the trial time-out")                                           \
    X(KERF_TUNE_FAILURE_OUTPUT, "output", "no number where one was expected")                                          \
    X(KERF_TUNE_FAILURE_OTHER, "other", "what the program said")                                                       \
    X(KERF_TUNE_FAILURE_LIMIT, "limit", "it ran, and a further number of it broke a limit")

enum kerf_tune_failure {
#define KERF_TUNE_FAILURE_ENUM(name, word, meaning) name,
    KERF_TUNE_FAILURES(KERF_TUNE_FAILURE_ENUM)
#undef KERF_TUNE_FAILURE_ENUM
        KERF_TUNE_FAILURE_COUNT
};
KERF_API const char *kerf_tune_failure_word(int32_t failure);

struct kerf_tune_observation {
    int32_t setting;
    int32_t outcome;       /* enum kerf_tune_outcome */
    int32_t failure;       /* enum kerf_tune_failure */
    int32_t slot;          /* which of the machines or places that run trials, 0 .. */
    int32_t warmup;        /* 1: counts as an observation, and says nothing about its setting: of a program that warms
                              up, or of a worker that failed before it was told the setting */
    int32_t disturbed;     /* 1: the machine was busy with something else; measured again, and not used */
    double value;          /* in the objective's unit */
    double start_s, end_s; /* of one clock for the whole study: what drifts, drifts with it */
};

#ifdef __cplusplus
}
#endif
#endif
