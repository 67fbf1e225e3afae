/* SPDX-License-Identifier: Apache-2.0 */
/* What a llama-server may answer: whatever the bytes and however they are cut, reading ends, says why, and says the
 * same. */
#include <string.h>
#include "invariants.h"
#include "llama/llama_stream.h"

static void check(const struct llama_stream *stream) {
    CHECK(stream->tokens >= 0 && stream->prompt_tokens >= 0 && stream->events >= 0);
    CHECK(memchr(stream->fault, 0, sizeof stream->fault));
    CHECK(stream->is_over || stream->fault[0] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct llama_stream whole = {0}, parts = {0};
    llama_stream_feed(&whole, (const char *)data, size);
    for (size_t at = 0; at < size; at += 3)
        llama_stream_feed(&parts, (const char *)data + at, size - at < 3 ? size - at : 3);
    check(&whole);
    check(&parts);
    CHECK(whole.is_over == parts.is_over && whole.events == parts.events && whole.tokens == parts.tokens);
    CHECK(strcmp(whole.fault, parts.fault) == 0);
    llama_stream_end(&whole);
    CHECK(whole.is_over);
    check(&whole);
    llama_stream_reset(&whole);
    CHECK(whole.part == STREAM_HEAD && whole.status == 0 && !whole.is_over);
    llama_stream_free(&whole);
    llama_stream_free(&parts);
    return 0;
}
