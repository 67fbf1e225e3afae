/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a request of kerf_asker_create, then observations, a line each: taken, or refused in one line; and the study
 * can be asked all the same. */
#include "invariants.h"

#include <jansson.h>
#include <string.h>
#include "kerf/call.h"

enum { LINES_MAX = 12, SETTINGS_TEXT_MAX = 300 };

static void look_at(int32_t code, char *answer, const struct kerf_error *err) {
    if (code == KERF_OK) {
        json_t *json = json_loads(answer, JSON_REJECT_DUPLICATES, NULL);
        CHECK(json_is_object(json));
        json_decref(json);
    } else {
        CHECK(err->message[0] && is_plain(err->message));
    }
    kerf_call_free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data, *end = memchr(text, '\n', size), *last = text + size;
    struct kerf_error err;
    struct kerf_asker *asker = NULL;
    if (end == NULL || end - text > SETTINGS_TEXT_MAX || memmem(text, (size_t)(end - text), "..", 2)) return 0;
    int32_t code = kerf_asker_create(text, (size_t)(end - text), &asker, &err);
    if (code != KERF_OK) {
        CHECK(asker == NULL && err.message[0] && is_plain(err.message));
        return 0;
    }
    for (int i = 0; i < LINES_MAX && end < last; i++) {
        char *answer = NULL;
        text = end + 1;
        end = memchr(text, '\n', (size_t)(last - text));
        if (end == NULL) end = last;
        code = kerf_asker_tell(asker, text, (size_t)(end - text), &err);
        CHECK(code == KERF_OK || (err.message[0] && is_plain(err.message)));
        code = kerf_asker_ask(asker, &answer, &err);
        look_at(code, answer, &err);
    }
    char *answer = NULL;
    code = kerf_asker_answer(asker, &answer, &err);
    look_at(code, answer, &err);
    kerf_asker_free(asker);
    return 0;
}
