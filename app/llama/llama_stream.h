/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading llama-server's answer to POST /completion with "stream": true, as its bytes come: HTTP/1.1 (RFC 9112), its
 * body plain until the end of the connection or in chunks, and in it server-sent events, each a line "data: {...}". Every
 * event has the tokens since the one before; the last one has "stop": true, and says how many there were in all.
 */
#ifndef KERF_LLAMA_LLAMA_STREAM_H
#define KERF_LLAMA_LLAMA_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include "kerf/text.h"

enum stream_part { STREAM_HEAD, STREAM_BODY, STREAM_CHUNK_SIZE, STREAM_CHUNK, STREAM_CHUNK_END };

struct llama_stream { /* all zeros: nothing was read yet */
    enum stream_part part;
    int32_t status;     /* of HTTP; 0: not read yet */
    int32_t is_chunked; /* the body comes in chunks */
    int32_t is_over;    /* the last event came, or a fault */
    int64_t left;       /* bytes of the chunk */
    int64_t events;
    int64_t prompt_tokens, tokens; /* as the last event says */
    struct kerf_text head, body;   /* the line that is being read, in each */
    char fault[160];               /* why the answer does not count; "" */
};

/* Nothing is read after the end. */
void llama_stream_feed(struct llama_stream *stream, const char *bytes, size_t length);

/* The server closed the connection: a fault, unless the answer is over. */
void llama_stream_end(struct llama_stream *stream);

/* For the next answer; keeps the memory. */
void llama_stream_reset(struct llama_stream *stream);
void llama_stream_free(struct llama_stream *stream);

#endif
