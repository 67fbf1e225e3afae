/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to Zeus's five routes: from their bytes to typed values, or to the answer that refuses them.
 *
 *     POST /jobs                    request_parse_job, request_write_job
 *     GET /jobs/batch_size?job_id=  request_parse_query
 *     POST /report                  request_parse_report
 *     PATCH /trials                 request_parse_trial
 *     DELETE /jobs?job_id=          request_parse_query
 *
 * Everything is as Zeus's server has it, which reads bodies with Starlette and Python's json, and checks them with
 * pydantic 1: which texts count as numbers, the errors, their order and their words, to the byte.
 *
 * Each parse returns KERF_OK and fills its result, or a negative code and fills the refusal, which is the whole answer
 * (after KERF_ENOMEM a 500). Without REQUEST_MENDED, what passes pydantic but no database is taken as well, and what
 * the reference's database says to it is in the refusal's late: a 500, unless the job makes another answer. Texts of
 * the result live as long as the arena. They are UTF-8, but what Python's strings may hold besides: NUL is C0 80, a lone
 * surrogate its three bytes. Such text is in job_ids that are asked for, and without REQUEST_MENDED a NUL in a job's
 * texts. request_write_message and request_write_job write it as Python does.
 *
 * REQUEST_MENDED (all but --compat zeus): numbers that are not finite, negative times and energies, batch sizes below 1
 * or twice, seeds below 0, and texts that no database takes, among them a longer job_id than REQUEST_JOB_ID_MAX, are
 * refused with 422 here; the keys policy and lease_s of
 * POST /jobs count. Without it all of that is as Zeus's server has it.
 */
#ifndef KERF_ZEUS_REQUEST_H
#define KERF_ZEUS_REQUEST_H

#include "base/arena.h"
#include "kerf/jobs.h"

enum request_flags { REQUEST_MENDED = 1 };

/* Bytes of a job_id, with REQUEST_MENDED: PostgreSQL indexes at most 2,704 bytes, SQLite any number. */
enum { REQUEST_JOB_ID_MAX = 1024 };

struct request_body {
    const char *bytes; /* any */
    size_t length;
    const char *content_type; /* the header's value; NULL: there is none */
};

/* All zeros at first; given back with request_refusal_free, and used again without. */
struct request_refusal {
    int32_t status; /* 422, 400 or 500 */
    int32_t plain;  /* 1: text/plain; charset=utf-8, 0: application/json */
    struct kerf_text document;
    const char *late; /* after KERF_OK: what a database says to it, once it is asked; NULL: it is stored as it is */
};

struct request_report {
    const char *job_id;
    struct kerf_report report;
};

struct request_trial {
    const char *job_id;
    int64_t batch_size;
    int64_t trial_number;
};

/** job_id is NULL when the server is to choose one; policy NULL and lease_s 0 when they were not sent. */
int32_t request_parse_job(const struct request_body *body, int32_t flags, struct arena *arena,
                          struct kerf_job_spec *ret_spec, struct request_refusal *refusal);
int32_t request_parse_report(const struct request_body *body, int32_t flags, struct arena *arena,
                             struct request_report *ret_report, struct request_refusal *refusal);
int32_t request_parse_trial(const struct request_body *body, int32_t flags, struct arena *arena,
                            struct request_trial *ret_trial, struct request_refusal *refusal);

/** query: what stands behind the first '?' of the target, undecoded; NULL or "": nothing. */
int32_t request_parse_query(const char *query, size_t length, struct arena *arena, const char **ret_job_id,
                            struct request_refusal *refusal);

/** The body of POST /jobs' answer, added to out. KERF_EINVALID when a number is not finite, which JSON has no form for:
 * Zeus's server answers 500 with the text "Internal Server Error" then, after it stored the job. out is as it was. */
int32_t request_write_job(const struct kerf_job_spec *spec, struct kerf_text *out);

/* * {"message":"..."}, which Zeus's server answers wherever there is no result. */
void request_write_message(const char *message, struct kerf_text *out);

void request_refusal_free(struct request_refusal *refusal);

/* ---- How the parses refuse (request_answer.c) -------------------------------------------------------------------- */

/* Each function fills one and returns its code, KERF_EINVALID, or KERF_ENOMEM from refuse_no_memory. */
int32_t refuse_with(struct request_refusal *refusal, int32_t status, const char *document);
int32_t refuse_internal_error(struct request_refusal *refusal);               /* 500, plain: what no handler caught */
int32_t refuse_message(struct request_refusal *refusal, const char *message); /* 500 {"message":...} */
int32_t refuse_no_memory(struct request_refusal *refusal);

#endif
