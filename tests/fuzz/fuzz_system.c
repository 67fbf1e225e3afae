/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a system's file. What is read obeys its bounds and, written again, reads as the same. */
#include "invariants.h"

#include <string.h>
#include "spec/description.h"

static const char source[] = "systems/input.json";

static void check_round_trip(const struct kerf_system *system) {
    struct kerf_text text = {0};
    struct kerf_json json;
    struct kerf_system again;
    kerf_json_begin(&json, &text);
    system_json(&json, system);
    json_decref(read_back(&text));
    CHECK(kerf_system_parse(text.data, text.length, source, &again, NULL) == KERF_OK);
    CHECK(memcmp(&again, system, sizeof again) == 0); /* no padding, and what follows a name is zeros */
    kerf_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct kerf_system system;
    struct kerf_error err;
    poison(&system, sizeof system);
    poison(&err, sizeof err);
    int32_t code = kerf_system_parse((const char *)data, size, source, &system, &err);
    if (code == KERF_OK) {
        check_system(&system);
        check_round_trip(&system);
    } else {
        check_error(code, &err, source, (const char *)data, size);
        CHECK(strcmp(err.file, source) == 0);
        CHECK(is_poisoned(&system, sizeof system));
    }
    CHECK(kerf_system_parse((const char *)data, size, source, &system, NULL) == code);
    return 0;
}
