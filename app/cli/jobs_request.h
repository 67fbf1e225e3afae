/* SPDX-License-Identifier: Apache-2.0 */
/* A `kerf jobs` command: its options, what it asks the server, and the JSON that comes back. */
#ifndef KERF_CLI_JOBS_REQUEST_H
#define KERF_CLI_JOBS_REQUEST_H

#include "cli/command.h"
#include "client/ask_server.h"

enum { EXIT_KEEP_TRAINING = 10 };

struct jobs_options {
    struct string_list words, outputs; /* words: the action and what it acts on */
    const char *server, *ca, *token, *format, *metric_regex, *epoch_regex, *meter, *gpus, *store;
    int64_t batch_size, trial, epoch, limit;
    double timeout_s, time_s, energy_j, metric, power_w, grace_s;
    int32_t all, force, create;
};

struct jobs_request {
    const struct jobs_options *options;
    struct http_client *client;
    struct http_answer answer; /* the latest */
};

/* Prints the error; the server's silence is a failure, not bad usage. */
int jobs_fail(const struct kerf_error *err);

/* The job that the action is about; NULL after a word about what is missing. */
const char *jobs_name(const struct jobs_request *request, struct kerf_error *err);

/* Text for one cell of a table or CSV: no tabs, no newlines. */
void jobs_cell(struct kerf_text *out, const char *text);

/* A value as JSON has it, NaN for null; "inf", "-inf" and "nan" are numbers too. */
double jobs_real(const json_t *object, const char *key);
int64_t jobs_integer(const json_t *object, const char *key);
const char *jobs_text(const json_t *object, const char *key);
void jobs_put_json(struct kerf_text *out, const json_t *json);

/* Every row of a list that the server gives page by page: target is "/api/v1/jobs", key "jobs". Rows are valid during
 * the call; not KERF_OK ends the list with this code. */
typedef int32_t (*jobs_visit)(void *context, const json_t *row, struct kerf_error *err);
int32_t jobs_each(struct jobs_request *request, const char *target, const char *key, jobs_visit visit, void *context,
                  struct kerf_error *err);

/* "/api/v1/jobs/JOB" and what follows it. */
void jobs_target(struct kerf_text *out, const char *job_id, const char *rest);

/* The actions. Each returns an exit status. */
int jobs_list(struct jobs_request *request);
int jobs_export(struct jobs_request *request);
int jobs_show(struct jobs_request *request);
int jobs_backup(struct jobs_request *request); /* without a client */
int jobs_import(struct jobs_request *request); /* without a client */
int jobs_run(struct jobs_request *request);

#endif
