/* SPDX-License-Identifier: Apache-2.0 */
/* For the server's tests: a server in this process or as a program, in a folder of its own, and a client. */
#ifndef KERF_TESTS_SERVE_CLIENT_H
#define KERF_TESTS_SERVE_CLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "server/server.h"

struct reply {
    int status;
    char headers[4096];
    char *body; /* the client's, until its next question */
    size_t length;
};

struct client {
    int port, fd;     /* fd -1: not connected */
    int buffer_bytes; /* that the system may hold for it; 0: as many as it likes */
    char *room;
    size_t size;
};

void client_open(struct client *client, int port);
void client_close(struct client *client);
/* 1, or 0 when the connection ended. content_type "": none is sent. body NULL: there is none. */
int client_try(struct client *client, const char *method, const char *path, const char *content_type, const char *body,
               size_t length, struct reply *ret_reply);
/* As JSON; connects anew when needed; the test fails when there is no answer. Returns the status. */
int client_ask(struct client *client, struct reply *ret_reply, const char *method, const char *path, const char *body);
int client_send(struct client *client, const char *bytes, size_t length);                /* raw */
int client_ask_raw(struct client *client, struct reply *ret_reply, const char *request); /* the status; 0: no answer */
int client_read(struct client *client, int is_head, struct reply *ret_reply);
/* The value of a header in lower case, or NULL. */
const char *reply_header(const struct reply *reply, const char *name, char *room, size_t size);
int64_t reply_integer(const struct reply *reply, const char *name); /* "name":12; -1 where it is not */

/* ---- Servers ------------------------------------------------------------------------------------------------ */

struct place { /* a folder with a store */
    char folder[64], store[96];
    struct server *server; /* in this process */
    pid_t program;         /* or as a program */
    int port;
    int most_files;        /* that the program may open; 0: as many as this process */
    char first_line[1024]; /* that the program said, before where it listens */
    int keeps_log;         /* 1: what the program says is there for place_log */
    int log_fd;
};

void place_make(struct place *place);
void place_clear(struct place *place); /* ends its server, removes the folder */
struct server_options place_options(const struct place *place, int compat);
void place_start(struct place *place, int compat);
void place_start_with(struct place *place, const struct server_options *options);
void place_stop(struct place *place);
/* `kerf serve` of its own; file_bytes > 0: no file may become larger. */
void place_run(struct place *place, long file_bytes, const char *const *more);
int place_end(struct place *place, int signal); /* the wait status */
/* The next line of the program's log that has these words; the test fails where none comes. */
void place_log(struct place *place, const char *words, char *ret_line, size_t size);

/* POST /jobs with these sizes, "64,128", and more keys (",\"beta_knob\":null") or "". Returns the status. */
int register_job(struct client *client, const char *job_id, const char *sizes, const char *more);
/* GET /jobs/batch_size; the status, and on 200 what was said. */
int predict(struct client *client, const char *job_id, int64_t *ret_batch_size, int64_t *ret_trial);
int report(struct client *client, struct reply *reply, const char *job_id, int64_t batch_size, int64_t trial,
           double energy, double metric, int epoch);

void pause_ms(int ms);
/* Of /metrics: "kerf_http_connections". The test fails when there is none. */
int64_t client_metric(struct client *client, const char *name);
void client_await_metric(struct client *client, const char *name, int64_t value); /* until it is so */

#endif
