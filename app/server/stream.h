/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that go on: server-sent events (HTML Living Standard, 9.2). Any thread puts events into a stream; they go out as
 * the client takes them, and no thread waits for it. What a client that never reads is not sent any more is dropped, and
 * connections.h ends it.
 */
#ifndef KERF_SERVER_STREAM_H
#define KERF_SERVER_STREAM_H

#include <stddef.h>
#include "kerf/error.h"

struct exchange;
struct MHD_Response;
struct stream;
struct streams;

enum { STREAMS_MAX = 512, STREAM_PENDING_MAX = 1 << 20 };

struct streams *streams_new(void);                     /* NULL: not enough memory */
struct streams *streams_free(struct streams *streams); /* always NULL; none may be open */

/* Ends all of them: what was put goes out, then the answers are complete. */
void streams_end(struct streams *streams);

/* Once a second: tells those who listen that something of this name has changed, and the others that the line lives. */
void streams_tell(struct streams *streams, const char *event, uint64_t version);
void streams_tick(struct streams *streams);
int streams_listeners(struct streams *streams);

/* Makes the exchange's answer a stream, 200, and gives it to the caller too, who gives it back with stream_end; or answers
 * 503 and returns NULL. listens: streams_tell is for it. */
struct stream *stream_open(struct exchange *exchange, int listens);

/* Sends an event; data has no line breaks. 0: the client has gone. droppable: it may be left out where the client is
 * slow. */
int stream_put(struct stream *stream, const char *event, const char *data, int droppable);
int stream_is_gone(struct stream *stream);
void stream_end(struct stream *stream);
void stream_leave(struct stream *stream); /* it goes on: streams_tell puts what comes */

/* The answer for the HTTP library, which gives it back. */
struct MHD_Response *stream_response(struct stream *stream);
/* Where no answer was made of it. */
void stream_drop(struct stream *stream);

#endif
