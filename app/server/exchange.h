/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request and its answer. A connection has one exchange, which it uses for one request after the other.
 *
 * A route's step makes the answer, or lets the exchange wait (exchange_wait) and is called again after exchange_wake,
 * which any thread may call: for the turn of a job, for a commit. A step names the step that follows it, or NULL when
 * the answer is complete.
 */
#ifndef KERF_SERVER_EXCHANGE_H
#define KERF_SERVER_EXCHANGE_H

#include "base/arena.h"
#include "kerf/text.h"
#include "server/connections.h"
#include "server/head.h"
#include "server/route.h"
#include "server/workers.h"

struct MHD_Connection;
struct service;
struct stream;

enum {
    EXCHANGE_BODY_MAX = 1 << 20, /* bytes; 413 to more */
    EXCHANGE_PARAMETERS = 2      /* parts of the path that a route takes */
};

struct exchange {
    struct service *service;
    struct MHD_Connection *mhd;
    struct connection connection;

    /* The request */
    struct arena arena; /* until the answer is sent */
    const char *method;
    const char *target;
    struct text_view raw_target;         /* where the HTTP library has it */
    struct text_view path, plain, query; /* as they came; plain: the path without its %-escapes */
    const char *parameters[EXCHANGE_PARAMETERS];
    struct head head;
    struct kerf_text body;
    size_t drained; /* bytes of the body, kept or not */
    int is_begun, is_too_large;
    double began_s;

    /* Who asks, and whether they may (gate.c) */
    int refusal;     /* a status; 0: none so far */
    const char *why; /* of a refusal */
    double wait_s;   /* 429: when the next request may come */
    enum token_role role;
    const char *token;                 /* the name of the token; NULL: none */
    int is_named_origin, is_preflight; /* a page of another site that may ask; and asks whether it may */

    /* What it is about */
    const struct route *route;
    const char *job_id; /* for the log; NULL: none */
    int64_t trial;
    void *own;                                  /* the route's own */
    void (*release)(struct exchange *exchange); /* gives back what `own` holds; NULL: nothing */

    /* The answer */
    exchange_step step;
    int *waited;      /* of the caller of step: set when it waits */
    struct work work; /* workers make the answer where the store blocks */
    int is_handed;
    int status;
    const char *content_type; /* NULL: none */
    const char *allow;
    char retry_after[16]; /* "": none */
    const char *location;
    const char *policy;           /* Content-Security-Policy; NULL: the strictest */
    const char *content_encoding; /* NULL: none */
    char etag[24];                /* "": none */
    struct stream *stream;        /* the answer goes on in it; NULL: it is complete */
    int is_last;                  /* the connection ends with it */
    struct kerf_text answer;
};

/* Answers with status and what stands in exchange->answer, as JSON. */
void exchange_answer(struct exchange *exchange, int status);
void exchange_answer_text(struct exchange *exchange, int status, const char *text); /* text/plain */
void exchange_message(struct exchange *exchange, int status, const char *message);  /* {"message": ...} */
void exchange_detail(struct exchange *exchange, int status, const char *detail);    /* {"detail": ...} */
/* 503 after KERF_EIO, 500 after others, and a line in the log. */
void exchange_fail(struct exchange *exchange, int32_t code, const struct kerf_error *err);

/* The exchange as a line of the log. */
struct log_request exchange_log(const struct exchange *exchange);

/* Calls the step. 1: the answer is complete. 0: the exchange waits, and the caller must not touch it any more. */
int exchange_run(struct exchange *exchange);
/* A worker goes on with it: one that may wait for the store, or one that computes. 0: too many do, and it was answered
 * so. */
int exchange_hand_over(struct exchange *exchange);

/* From here on exchange_wake may come; the step returns without touching the exchange again. */
void exchange_wait(struct exchange *exchange);
void exchange_wake(struct exchange *exchange);

/* Ready for the next request of its connection. */
void exchange_reset(struct exchange *exchange);
void exchange_free(struct exchange *exchange);

#endif
