/* SPDX-License-Identifier: Apache-2.0 */
/* Each stream is held by its answer and by who puts events into it. The answer's reader suspends the connection while
 * there is nothing to send. */
#include "server/stream.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/text.h"
#include "server/exchange.h"
#include "server/service.h"

enum { QUIET_TICKS = 5 };

struct stream {
    struct streams *all;
    struct stream *previous, *following;
    struct MHD_Connection *mhd;
    struct kerf_text pending; /* [sent, length) is still to go */
    size_t sent;
    int holders;
    int listens, is_over, is_gone, is_waiting;
    int quiet; /* ticks without an event */
};

struct streams {
    pthread_mutex_t lock; /* of all of them: an event is short */
    struct stream *first;
    int count, is_over;
};

struct streams *streams_new(void) {
    struct streams *streams = calloc(1, sizeof *streams);
    if (streams) pthread_mutex_init(&streams->lock, NULL);
    return streams;
}

struct streams *streams_free(struct streams *streams) {
    if (streams) pthread_mutex_destroy(&streams->lock);
    free(streams);
    return NULL;
}

/* ---- With the lock ------------------------------------------------------------------------------------------- */

static void let_go(struct stream *stream) {
    struct streams *streams = stream->all;
    if (--stream->holders > 0) return;
    *(stream->previous ? &stream->previous->following : &streams->first) = stream->following;
    if (stream->following) stream->following->previous = stream->previous;
    streams->count--;
    kerf_text_free(&stream->pending);
    free(stream);
}

static void wake(struct stream *stream) {
    if (stream->is_waiting) MHD_resume_connection(stream->mhd);
    stream->is_waiting = 0;
}

static void put(struct stream *stream, const char *event, const char *data, int droppable) {
    size_t left = stream->pending.length - stream->sent;
    if (stream->is_over || stream->is_gone || (droppable && left > STREAM_PENDING_MAX)) return;
    if (left == 0) {
        kerf_text_clear(&stream->pending);
        stream->sent = 0;
    }
    if (event)
        kerf_text_printf(&stream->pending, "event: %s\ndata: ", event);
    else
        kerf_text_add(&stream->pending, ":");
    kerf_text_add(&stream->pending, data);
    kerf_text_add(&stream->pending, "\n\n");
    if (stream->pending.failed) stream->is_over = 1;
    stream->quiet = 0;
    wake(stream);
}

/* ---- All of them --------------------------------------------------------------------------------------------- */

void streams_end(struct streams *streams) {
    pthread_mutex_lock(&streams->lock);
    streams->is_over = 1;
    for (struct stream *stream = streams->first; stream; stream = stream->following) {
        if (stream->listens) stream->is_over = 1; /* the others end with their work, which is told to */
        wake(stream);
    }
    pthread_mutex_unlock(&streams->lock);
}

void streams_tell(struct streams *streams, const char *event, uint64_t version) {
    char data[48];
    snprintf(data, sizeof data, "{\"version\":%" PRIu64 "}", version);
    pthread_mutex_lock(&streams->lock);
    for (struct stream *stream = streams->first; stream; stream = stream->following)
        if (stream->listens) put(stream, event, data, 1);
    pthread_mutex_unlock(&streams->lock);
}

void streams_tick(struct streams *streams) {
    pthread_mutex_lock(&streams->lock);
    for (struct stream *stream = streams->first; stream; stream = stream->following)
        if (++stream->quiet >= QUIET_TICKS) put(stream, NULL, "", 1);
    pthread_mutex_unlock(&streams->lock);
}

int streams_listeners(struct streams *streams) {
    int count = 0;
    pthread_mutex_lock(&streams->lock);
    for (struct stream *stream = streams->first; stream; stream = stream->following) count += stream->listens;
    pthread_mutex_unlock(&streams->lock);
    return count;
}

/* ---- One ----------------------------------------------------------------------------------------------------- */

struct stream *stream_open(struct exchange *exchange, int listens) {
    struct streams *streams = exchange->service->streams;
    struct stream *stream = calloc(1, sizeof *stream);
    pthread_mutex_lock(&streams->lock);
    if (stream == NULL || streams->is_over || streams->count >= STREAMS_MAX) {
        pthread_mutex_unlock(&streams->lock);
        free(stream);
        exchange_detail(exchange, 503, "Too many pages listen to this server");
        return NULL;
    }
    *stream = (struct stream){
        .all = streams, .following = streams->first, .mhd = exchange->mhd, .holders = 2, .listens = listens};
    if (stream->following) stream->following->previous = stream;
    streams->first = stream;
    streams->count++;
    pthread_mutex_unlock(&streams->lock);
    kerf_text_clear(&exchange->answer);
    exchange_answer(exchange, 200);
    exchange->content_type = "text/event-stream";
    exchange->stream = stream;
    return stream;
}

int stream_put(struct stream *stream, const char *event, const char *data, int droppable) {
    pthread_mutex_lock(&stream->all->lock);
    put(stream, event, data, droppable);
    int is_there = !stream->is_gone;
    pthread_mutex_unlock(&stream->all->lock);
    return is_there;
}

int stream_is_gone(struct stream *stream) {
    pthread_mutex_lock(&stream->all->lock);
    int is_gone = stream->is_gone;
    pthread_mutex_unlock(&stream->all->lock);
    return is_gone;
}

void stream_end(struct stream *stream) {
    struct streams *streams = stream->all;
    pthread_mutex_lock(&streams->lock);
    stream->is_over = 1;
    wake(stream);
    let_go(stream);
    pthread_mutex_unlock(&streams->lock);
}

void stream_leave(struct stream *stream) {
    struct streams *streams = stream->all;
    pthread_mutex_lock(&streams->lock);
    let_go(stream);
    pthread_mutex_unlock(&streams->lock);
}

/* ---- The answer ---------------------------------------------------------------------------------------------- */

static ssize_t read_stream(void *context, uint64_t at, char *buffer, size_t room) {
    struct stream *stream = context;
    ssize_t count = 0;
    (void)at;
    pthread_mutex_lock(&stream->all->lock);
    size_t left = stream->pending.length - stream->sent;
    if (left > 0) {
        count = (ssize_t)(left < room ? left : room);
        memcpy(buffer, stream->pending.data + stream->sent, (size_t)count);
        stream->sent += (size_t)count;
    } else if (stream->is_over) {
        count = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        stream->is_waiting = 1;
        MHD_suspend_connection(stream->mhd);
    }
    pthread_mutex_unlock(&stream->all->lock);
    return count;
}

static void close_stream(void *context) {
    struct stream *stream = context;
    struct streams *streams = stream->all;
    pthread_mutex_lock(&streams->lock);
    stream->is_gone = 1;
    stream->is_waiting = 0;
    let_go(stream);
    pthread_mutex_unlock(&streams->lock);
}

struct MHD_Response *stream_response(struct stream *stream) {
    enum { BLOCK = 16384 };
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, stream, close_stream);
}

void stream_drop(struct stream *stream) { close_stream(stream); }
