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

#include <stdatomic.h>
#include "server/job_cache.h"
#include "base/arena.h"
#include "server/rate.h"
#include "zeus/request.h"
#include "server/token.h"
#include "store/store.h"

struct MHD_Connection;
struct server;
struct exchange;
struct route;

typedef void (*exchange_step)(struct exchange *exchange);

/* What a connection does, for those who look after slow and idle ones (watch.c). */
enum exchange_state { EXCHANGE_IDLE, EXCHANGE_READING, EXCHANGE_RUNNING, EXCHANGE_GIVEN_UP };

struct text_view {
    const char *bytes;
    size_t length;
};

enum { EXCHANGE_PARAMETERS = 2 }; /* parts of the path that a route takes */

struct exchange {
    struct server *server;
    struct MHD_Connection *connection;
    struct exchange *previous, *following; /* all connections */
    int fd;
    struct rate_address address; /* the client's */
    _Atomic int state;           /* enum exchange_state */
    _Atomic double since_s;      /* of this state, or of the first byte of a request that is not whole yet */
    _Atomic uint64_t settled;    /* bytes that had come in when the last request was over; 0: there was none */
    size_t drained;              /* bytes of this body, kept or not */
    _Atomic int has_partial;     /* watch.c: some of the next one came in */

    /* The request */
    struct arena arena;
    const char *method;
    char *target;
    struct text_view path, plain, query; /* as they came; plain: the path without its %-escapes (router.c) */
    const char *parameters[EXCHANGE_PARAMETERS];
    struct kerf_text body;
    const char *body_type, *host; /* Content-Type, Host; NULL: none */
    const char *scheme;           /* of the client's way here: http, or https to a proxy before us */
    int is_begun, is_too_large, is_chosen;
    double wait_s;        /* above 0: its address asked too much, and may ask again then */
    enum token_role role; /* what its token lets it do */
    double began_s;
    const struct route *route;

    /* The answer */
    exchange_step step;
    int *waited;   /* of the one who calls step: it waits */
    int is_handed; /* a worker makes the answer (workers.c) */
    struct exchange *next_for_worker;
    int status;
    const char *content_type; /* NULL: none */
    const char *allow;
    char retry_after[16]; /* "": none */
    char *location;
    int is_last; /* the connection ends with it */
    struct kerf_text answer;

    /* A decision on its way (decisions.c) */
    struct job_turn turn;
    struct store_turn held; /* the store's lock on the job */
    struct store_write write;
    struct kerf_job_spec spec;
    struct request_report report;
    struct request_trial ended;
    struct kerf_trial trial;
    int is_forgotten; /* it ended so long ago that its row was removed */
    struct kerf_decision decision;
    struct kerf_text message, reason;
    const char *late;    /* request.h; NULL: nothing */
    exchange_step again; /* when another server changed the job meanwhile */
};

/* Answers with status and what stands in exchange->answer, as JSON. */
void exchange_answer(struct exchange *exchange, int status);
void exchange_message(struct exchange *exchange, int status, const char *message); /* {"message": ...} */
void exchange_detail(struct exchange *exchange, int status, const char *detail);   /* {"detail": ...} */
void exchange_fail(struct exchange *exchange, int32_t code, const struct kerf_error *err);
void exchange_refuse(struct exchange *exchange, struct request_refusal *refusal);

/* Calls step. 1: the answer stands; 0: it waits, and the exchange is not the caller's any more. */
int exchange_run(struct exchange *exchange);
/* A worker goes on with it. */
void exchange_hand_over(struct exchange *exchange);

/* From here on exchange_wake may come; the step returns without touching the exchange again. */
void exchange_wait(struct exchange *exchange);
void exchange_wake(struct exchange *exchange);

/* Ready for the next request of its connection. */
void exchange_reset(struct exchange *exchange);
void exchange_free(struct exchange *exchange);

#endif
