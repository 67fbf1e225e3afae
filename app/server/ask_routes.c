/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /api/v1/plan, estimate, schedule, launch, score: what the command line answers, for programs and for the page. The
 * body is a request of kerf_call, the answer is its answer. Files are never read.
 *
 * Threads of their own answer (ROUTE_COMPUTES), so that jobs never wait for a search. A question ends with what is known after
 * --compute-limit, or when the client goes. With Accept: text/event-stream the answer is a stream: "begun" with a number,
 * "progress" with a share, then "answer", as json or html, or "error"; POST /api/v1/asks/{ask}/stop ends the work with what is known.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/input.h"
#include "kerf/call.h"
#include "kerf/json.h"
#include "kerf/schedule.h"
#include "kerf/spec.h"
#include "server/exchange.h"
#include "server/service.h"
#include "server/stream.h"

enum { OPERATIONS_MAX = 1 << 22 };

static const double LOOK_S = 0.05, TELL_S = 0.2; /* between two looks at the client, and two events */

struct ask {
    struct work work;
    struct service *service;
    struct ask *previous, *following; /* of all that have streams */
    uint64_t number;
    const char *verb, *format;
    struct kerf_text request;
    int fd;                /* of the client that waits; -1: there is a stream */
    struct stream *stream; /* or NULL */
    double began_s, looked_s, told_s;
    _Atomic int is_stopped;
    char *answer;
    int32_t code;
    struct kerf_error err;
};

/* ---- All of them --------------------------------------------------------------------------------------------- */

static void enter(struct ask *ask) {
    struct asks *asks = &ask->service->asks;
    pthread_mutex_lock(&asks->lock);
    ask->number = ++asks->last;
    ask->following = asks->first;
    if (ask->following) ask->following->previous = ask;
    asks->first = ask;
    pthread_mutex_unlock(&asks->lock);
}

static void leave(struct ask *ask) {
    struct asks *asks = &ask->service->asks;
    pthread_mutex_lock(&asks->lock);
    *(ask->previous ? &ask->previous->following : &asks->first) = ask->following;
    if (ask->following) ask->following->previous = ask->previous;
    pthread_mutex_unlock(&asks->lock);
}

static int stop(struct asks *asks, uint64_t number) {
    int found = 0;
    pthread_mutex_lock(&asks->lock);
    for (struct ask *ask = asks->first; ask; ask = ask->following)
        if (ask->number == number) ask->is_stopped = found = 1;
    pthread_mutex_unlock(&asks->lock);
    return found;
}

/* ---- The work ------------------------------------------------------------------------------------------------ */

/* The client has closed its side: browsers do that when they no longer want the answer. What it sent before may still lie
 * there, the end of a TLS session too. */
static int has_gone(const struct ask *ask) {
    struct pollfd client = {.fd = ask->fd, .events = POLLRDHUP};
    if (ask->stream) return stream_is_gone(ask->stream);
    return poll(&client, 1, 0) > 0;
}

static int32_t tell(void *context, double done) {
    struct ask *ask = context;
    double now_s = clock_ticks_s();
    if (ask->is_stopped) return 1;
    if (now_s - ask->looked_s < LOOK_S) return 0;
    ask->looked_s = now_s;
    if (ask->service->is_stopping || now_s - ask->began_s > ask->service->compute_limit_s || has_gone(ask))
        ask->is_stopped = 1;
    if (ask->stream && now_s - ask->told_s >= TELL_S) {
        char data[64];
        snprintf(data, sizeof data, "{\"done\":%.4f,\"elapsed_s\":%.1f}", done, now_s - ask->began_s);
        ask->told_s = now_s;
        stream_put(ask->stream, "progress", data, 1);
    }
    return ask->is_stopped;
}

/* {"detail":..., "file":..., "line":..., "column":...} as the command line has them. */
static void put_error(struct kerf_text *out, const struct kerf_error *err) {
    struct kerf_json json;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "detail", err->message);
    if (err->file[0]) kerf_json_string(&json, "file", err->file);
    if (err->line > 0) kerf_json_integer(&json, "line", err->line);
    if (err->column > 0) kerf_json_integer(&json, "column", err->column);
    kerf_json_close(&json, '}');
}

static const char *trace_of(const struct server_opened *opened) {
    return opened->kind && strcmp(opened->kind, "trace") == 0 ? opened->path : NULL;
}

static void compute(struct ask *ask) {
    const struct kerf_call_options options = {.size = sizeof options,
                                              .progress = tell,
                                              .progress_context = ask,
                                              .format = ask->format,
                                              .operations = OPERATIONS_MAX,
                                              .trace = trace_of(&ask->service->opened)};
    ask->began_s = clock_ticks_s();
    if (ask->service->is_stopping || has_gone(ask))
        ask->code = kerf_error_set(&ask->err, KERF_EINTERRUPTED, "the question was given up");
    else
        ask->code = kerf_call(ask->verb, ask->request.data ? ask->request.data : "", ask->request.length, &options,
                              &ask->answer, &ask->err);
}

static void run_stream(struct work *work) {
    struct ask *ask = (struct ask *)((char *)work - offsetof(struct ask, work));
    struct kerf_text text = {0};
    compute(ask);
    if (ask->code == KERF_OK) {
        ask->answer[strcspn(ask->answer, "\n")] = 0; /* it ends its one line */
        stream_put(ask->stream, "answer", ask->answer, 0);
    } else {
        put_error(&text, &ask->err);
        stream_put(ask->stream, "error", text.data ? text.data : "{}", 0);
    }
    stream_end(ask->stream);
    leave(ask);
    kerf_text_free(&text);
    kerf_text_free(&ask->request);
    kerf_call_free(ask->answer);
    free(ask);
}

/* ---- The answer ---------------------------------------------------------------------------------------------- */

static int status_of(int32_t code) {
    switch (code) {
    case KERF_EINFEASIBLE: return 422;
    case KERF_ESYNTAX:
    case KERF_EINVALID:
    case KERF_EUNKNOWN:
    case KERF_EUNSUPPORTED: return 400;
    case KERF_EINTERRUPTED: return 503;
    default: return 500;
    }
}

static const char *type_of(const char *format) {
    static const char *const types[][2] = {{"svg", "image/svg+xml; charset=utf-8"},
                                           {"text", "text/plain; charset=utf-8"},
                                           {"csv", "text/csv; charset=utf-8"}};
    for (size_t i = 0; format && i < sizeof types / sizeof *types; i++)
        if (strcmp(format, types[i][0]) == 0) return types[i][1];
    return "application/json";
}

static void begin_stream(struct exchange *exchange, const struct ask *asked) {
    char data[48];
    struct ask *ask = malloc(sizeof *ask);
    if (ask == NULL) {
        exchange_detail(exchange, 503, "There is no memory for the answer");
        return;
    }
    *ask = *asked;
    ask->fd = -1;
    ask->work.run = run_stream;
    ask->request = (struct kerf_text){0};
    kerf_text_write(&ask->request, asked->request.data ? asked->request.data : "", asked->request.length);
    ask->stream = stream_open(exchange, 0);
    if (ask->stream == NULL) {
        kerf_text_free(&ask->request);
        free(ask);
        return;
    }
    enter(ask);
    snprintf(data, sizeof data, "{\"ask\":%" PRIu64 "}", ask->number);
    stream_put(ask->stream, "begun", data, 0);
    workers_add(exchange->service->askers, &ask->work);
}

static void begin(struct exchange *exchange, const char *verb) {
    const char *accept = exchange->head.accept;
    struct ask ask = {.service = exchange->service,
                      .verb = verb,
                      .format = target_query(&exchange->arena, exchange->query, "format"),
                      .request = exchange->body,
                      .fd = exchange->connection.fd};
    if (accept && strstr(accept, "text/event-stream")) {
        const char *asked = ask.format ? ask.format : "json";
        ask.format = strcmp(asked, "html") == 0 ? "html" : "json"; /* it outlives the exchange */
        if (strcmp(asked, ask.format) == 0)
            begin_stream(exchange, &ask);
        else
            exchange_detail(exchange, 400, "A stream answers as json or html; other formats have lines");
        return;
    }
    compute(&ask);
    kerf_text_clear(&exchange->answer);
    if (ask.code == KERF_OK)
        kerf_text_add(&exchange->answer, ask.answer);
    else
        put_error(&exchange->answer, &ask.err);
    exchange_answer(exchange, ask.code == KERF_OK ? 200 : status_of(ask.code));
    if (ask.code == KERF_OK) exchange->content_type = type_of(ask.format);
    kerf_call_free(ask.answer);
}

static void ask_plan(struct exchange *exchange) { begin(exchange, "plan"); }
static void ask_estimate(struct exchange *exchange) { begin(exchange, "estimate"); }
static void ask_schedule(struct exchange *exchange) { begin(exchange, "schedule"); }
static void ask_launch(struct exchange *exchange) { begin(exchange, "launch"); }
static void ask_score(struct exchange *exchange) { begin(exchange, "score"); }

static void ask_stop(struct exchange *exchange) {
    char *end = NULL;
    errno = 0;
    uint64_t number = strtoull(exchange->parameters[0], &end, 10);
    if (errno || end == exchange->parameters[0] || *end || !stop(&exchange->service->asks, number)) {
        exchange_detail(exchange, 404, "No such question is being answered");
        return;
    }
    kerf_text_clear(&exchange->answer);
    kerf_text_add(&exchange->answer, "null");
    exchange_answer(exchange, 200);
}

/* ---- Names --------------------------------------------------------------------------------------------------- */

static void put_catalogue(struct kerf_json *json, const char *kind) {
    struct kerf_catalogue *catalogue = NULL;
    struct kerf_error err;
    kerf_json_open(json, kind, '[');
    if (kerf_catalogue_list(kind, &catalogue, &err) == KERF_OK)
        for (size_t i = 0; i < catalogue->count; i++) kerf_json_string(json, NULL, catalogue->entries[i].name);
    kerf_catalogue_free(catalogue);
    kerf_json_close(json, ']');
}

static void ask_names(struct exchange *exchange) {
    struct kerf_json json;
    const struct kerf_schedule_rule *rule;
    kerf_text_clear(&exchange->answer);
    kerf_json_begin(&json, &exchange->answer);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    put_catalogue(&json, "models");
    put_catalogue(&json, "systems");
    put_catalogue(&json, "stacks");
    kerf_json_open(&json, "schedules", '[');
    for (size_t i = 0; (rule = kerf_schedule_rule_at(i)) != NULL; i++) {
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "name", rule->name);
        kerf_json_string(&json, "summary", rule->summary);
        kerf_json_boolean(&json, "takes_chunks", kerf_schedule_takes_chunks(rule->name));
        kerf_json_boolean(&json, "takes_slices", kerf_schedule_takes_slices(rule->name));
        kerf_json_close(&json, '}');
    }
    kerf_json_close(&json, ']');
    kerf_json_close(&json, '}');
    exchange_answer(exchange, 200);
}

/* ---- What kerf open was given ---------------------------------------------------------------------------------- */

static void ask_opened(struct exchange *exchange) {
    enum { OPENED_MAX = 64 << 20 };
    const struct server_opened *opened = &exchange->service->opened;
    struct kerf_text text = {0};
    struct kerf_error err;
    struct kerf_json json;
    if (opened->kind == NULL) {
        exchange_detail(exchange, 404, "This server was not started with a file: kerf open FILE");
        return;
    }
    int has_text = strcmp(opened->kind, "trace") != 0 && strcmp(opened->kind, "study") != 0;
    int32_t code = has_text ? input_read(opened->path, OPENED_MAX, &text, &err) : KERF_OK;
    if (code != KERF_OK) {
        exchange_detail(exchange, 404, err.message);
        return;
    }
    kerf_text_clear(&exchange->answer);
    kerf_json_begin(&json, &exchange->answer);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "name", opened->name);
    kerf_json_string(&json, "kind", opened->kind);
    kerf_json_string(&json, "text", text.data);
    kerf_json_close(&json, '}');
    kerf_text_free(&text);
    exchange_answer(exchange, 200);
}

/* ---- Routes -------------------------------------------------------------------------------------------------- */

static const struct schema_field rule_fields[] = {{"name", "string", SCHEMA_REQUIRED, NULL},
                                                  {"summary", "string", SCHEMA_REQUIRED, NULL},
                                                  {"takes_chunks", "boolean", SCHEMA_REQUIRED, NULL},
                                                  {"takes_slices", "boolean", SCHEMA_REQUIRED, NULL},
                                                  {0}};
static const struct schema_field names[] = {{"kerf", "string", SCHEMA_REQUIRED, NULL},
                                            {"models", "[string]", SCHEMA_REQUIRED, NULL},
                                            {"systems", "[string]", SCHEMA_REQUIRED, NULL},
                                            {"stacks", "[string]", SCHEMA_REQUIRED, NULL},
                                            {"schedules", "[ScheduleRule]", SCHEMA_REQUIRED, NULL},
                                            {0}};
static const struct schema_field opened_fields[] = {
    {"name", "string", SCHEMA_REQUIRED, NULL},
    {"kind", "string", SCHEMA_REQUIRED, "plan,config,schedule,trace,study"},
    {"text", "string", SCHEMA_NULLABLE, NULL},
    {0}};
static const struct schema_field mistake[] = {{"detail", "string", SCHEMA_REQUIRED, NULL},
                                              {"file", "string", 0, NULL},
                                              {"line", "integer", 0, NULL},
                                              {"column", "integer", 0, NULL},
                                              {0}};
static const struct schema_field any_answer[] = {{"kerf", "string", SCHEMA_REQUIRED, NULL}, {0}};
static const struct schema schemas[] = {{"ScheduleRule", rule_fields},
                                        {"Names", names},
                                        {"Opened", opened_fields},
                                        {"WrongQuestion", mistake},
                                        {"Answer", any_answer}};

static const struct schema_field ask_json[] = {{"format", "string", 0, "json"}, {0}};
static const struct schema_field ask_pictures[] = {{"format", "string", 0, "json,svg"}, {0}};
static const struct schema_field ask_drawings[] = {{"format", "string", 0, "json,svg,html,text,csv"}, {0}};

#define ASK(verb, make, what, asks, schema)                                                                            \
    {                                                                                                                  \
        .method = "POST", .pattern = "/api/v1/" verb, .step = (make), .needs = TOKEN_READ, .flags = ROUTE_COMPUTES,    \
        .summary = (what), .query = (asks), .body = (schema), .answer = "Answer",                                      \
        .statuses = "400 WrongQuestion,413 Detail,422 WrongQuestion,503 Detail"                                        \
    }

static const struct route routes[] = {
    ASK("plan", ask_plan, "The best layouts of a model over accelerators, as `kerf plan` finds them", ask_pictures,
        "verb:plan"),
    ASK("estimate", ask_estimate, "What one layout costs, as `kerf estimate` says", ask_json, "verb:estimate"),
    ASK("schedule", ask_schedule, "What a pipeline schedule costs, as `kerf schedule` says", ask_drawings,
        "verb:schedule"),
    ASK("launch", ask_launch, "A framework's launch, read or written, as `kerf launch` does", ask_json, "verb:launch"),
    ASK("score", ask_score, "How far predictions are from measured runs, as `kerf score` says", ask_pictures,
        "verb:score"),
    {.method = "POST",
     .pattern = "/api/v1/asks/{ask}/stop",
     .step = ask_stop,
     .needs = TOKEN_READ,
     .flags = ROUTE_QUICK,
     .summary = "End a question that is being answered as a stream: its answer is what is known so far",
     .answer = "null",
     .statuses = "404 Detail"},
    {.method = "GET",
     .pattern = "/api/v1/names",
     .step = ask_names,
     .needs = TOKEN_READ,
     .flags = ROUTE_QUICK | ROUTE_HEAD,
     .summary = "The models, systems, stacks and schedules that questions may name",
     .answer = "Names",
     .statuses = ""},
    {.method = "GET",
     .pattern = "/api/v1/opened",
     .step = ask_opened,
     .needs = TOKEN_READ,
     .flags = ROUTE_COMPUTES,
     .summary = "The file that kerf open was given",
     .answer = "Opened",
     .statuses = "404 Detail"},
};

const struct api asks_api = API(routes, schemas);
