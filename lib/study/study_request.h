/* SPDX-License-Identifier: Apache-2.0 */
/* What a study was asked: enough to begin it, to go on with it later, and to know other studies of the same program.
 * It comes from the command line or from the first line of a journal, whose strings it points to. */
#ifndef KERF_STUDY_STUDY_REQUEST_H
#define KERF_STUDY_STUDY_REQUEST_H

#include <jansson.h>
#include "base/option.h"
#include "kerf/trial.h"
#include "kerf/tune.h"

enum { STUDY_SLOTS_MAX = 256 };

struct study_request {
    struct string_list params, wheres, words; /* words: the command */
    struct string_list earlier;               /* ids of earlier studies whose observations count */
    const char *preset;                        /* "llama", NULL: none */
    const char *defaults, *prefer, *policy;    /* NULL: none; policy: kerf */
    const char *objective;                     /* wall, cpu, memory, value, regex:EXPRESSION, json:PATH */
    const char *protocol, *prepare, *cleanup, *launcher;
    double within, margin, confidence;
    double load_timeout_s, trial_timeout_s; /* 0: the runner's own */
    int64_t memory_cap_bytes, max_observations, seed;
    int32_t maximize, slots, warmups;
    int32_t ignore_interference, show_output;
};

/* Everything at its default; the lists are empty. */
void study_request_defaults(struct study_request *ret_request);

void study_request_write(const struct study_request *request, struct kerf_json *json);

/* document has to live as long as the request. study_request_free gives back the lists that read made. */
int32_t study_request_read(const json_t *document, struct study_request *ret_request, struct kerf_error *err);
void study_request_free(struct study_request *request);

/* From the request to what the library takes; these point into the request. */
int32_t study_request_space(const struct study_request *request, struct kerf_tune_space **ret_space,
                            struct kerf_error *err);
int32_t study_request_command(const struct study_request *request, struct kerf_trial_command *ret_command,
                              struct kerf_error *err);
void study_request_question(const struct study_request *request, const struct kerf_tune_space *space,
                            struct kerf_tune_question *ret_question);

/* 1 when a slow run can be stopped early: the objective is a time, and less of it is better. */
int study_request_is_time(const struct study_request *request);

/* "s", "B", or "" where the unit is the program's own. */
const char *study_request_unit(const struct study_request *request);

/* Sixteen hexadecimal digits and a NUL that are equal for studies whose observations can be compared: the same command
 * with the same files in it, the same objective, on the same machine. */
enum { STUDY_KEY_SIZE = 17 };
void study_request_key(const struct study_request *request, char key[STUDY_KEY_SIZE]);

#endif
