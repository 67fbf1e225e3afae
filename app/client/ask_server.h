/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kerf serve, as its clients ask it. Each question returns KERF_OK and what it asked for, or
 *
 *     KERF_EINVALID, KERF_EUNKNOWN   the server refused it: 4xx, 404; err has its words
 *     KERF_EIO                       nobody answered, or the server cannot for now: 5xx
 */
#ifndef KERF_CLIENT_ASK_SERVER_H
#define KERF_CLIENT_ASK_SERVER_H

#include <jansson.h>
#include "client/http_client.h"

/* Adds text with everything escaped that means something in a URL. */
void service_escape(struct kerf_text *out, const char *text);

/* answer: all zeros, or left from before; it holds the answer as it came in. ret_json may be NULL; it is given back
 * with json_decref. */
int32_t service_ask(struct http_client *client, const char *method, const char *target, const char *body,
                    struct http_answer *answer, json_t **ret_json, struct kerf_error *err);

struct service_trial {
    int64_t batch_size, number;
};
int32_t service_next(struct http_client *client, const char *job_id, struct http_answer *answer,
                     struct service_trial *ret_trial, struct kerf_error *err);

struct service_report {
    struct service_trial trial;
    double time_s, energy_j, metric; /* since the run began */
    int64_t epoch;
};
struct service_verdict {
    int32_t stop, converged;
    char message[256]; /* one line */
};
int32_t service_report(struct http_client *client, const char *job_id, const struct service_report *report,
                       struct http_answer *answer, struct service_verdict *ret_verdict, struct kerf_error *err);

/* The trial is given up. */
int32_t service_end(struct http_client *client, const char *job_id, const struct service_trial *trial,
                    struct kerf_error *err);

#endif
