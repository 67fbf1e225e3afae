/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a verb, perhaps with "?" and a format, a line end and a request of kerf_call, which reads no files: it is
 * answered, with JSON where no other format is named, or refused in one line. Work is ended early, so that no request keeps
 * a machine busy. */
#include "invariants.h"

#include <jansson.h>
#include <string.h>
#include "kerf/call.h"

enum { TOLD_MAX = 20, OPERATIONS_MAX = 1 << 16 };

static int32_t end_soon(void *context, double done) {
    (void)done;
    return ++*(int *)context > TOLD_MAX;
}

/* What is large is the caller's to allow: no more operations than this. */
static int is_large(const char *request, size_t length) {
    int digits = 0;
    for (size_t i = 0; i < length; i++) {
        digits = request[i] >= '0' && request[i] <= '9' ? digits + 1 : 0;
        if (digits > 3) return 1;
    }
    return memmem(request, length, "best", 4) != NULL || memmem(request, length, "why", 3) != NULL ||
           memmem(request, length, "search", 6) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data, *end = memchr(text, '\n', size);
    char verb[32] = {0}, *answer = NULL;
    int told = 0;
    struct kerf_error err;
    struct kerf_call_options options = {
        .size = sizeof options, .progress = end_soon, .progress_context = &told, .operations = OPERATIONS_MAX};
    if (end == NULL || end - text >= (ptrdiff_t)sizeof verb || is_large(end, size - (size_t)(end - text))) return 0;
    memcpy(verb, text, (size_t)(end - text));
    char *mark = strchr(verb, '?');
    if (mark) *mark = 0, options.format = mark + 1;
    size_t length = size - (size_t)(end + 1 - text);
    if (kerf_call(verb, end + 1, length, &options, &answer, &err) == KERF_OK) {
        int is_json =
            options.format == NULL || strcmp(options.format, "json") == 0 || strcmp(options.format, "html") == 0;
        json_t *json = is_json ? json_loads(answer, JSON_REJECT_DUPLICATES, NULL) : NULL;
        CHECK(json_is_object(json) == is_json);
        json_decref(json);
    } else {
        CHECK(answer == NULL && err.message[0] && is_plain(err.message));
    }
    kerf_call_free(answer);
    return 0;
}
