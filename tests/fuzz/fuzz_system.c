/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a system's file. What is read obeys its bounds and, written again, reads as the same. */
#include "invariants.h"

#include <string.h>
#include "spec/system.h"

static const char source[] = "systems/input.json";

/* Whole numbers from 2^63 to 1e21 are printed in digits, which the reader refuses as integers. */
static int is_readable(double value) { return value < 0x1p63 || value >= 1e21; }

static int prints_readably(const struct kerf_system *system) {
    const double values[] = {
        system->matrix_flops_per_s,
        system->vector_flops_per_s,
        system->memory_bandwidth_bytes_per_s,
        system->memory_capacity_bytes,
        system->scale_up.bandwidth_bytes_per_s,
        system->scale_up.latency_s,
        system->scale_out.bandwidth_bytes_per_s,
        system->scale_out.latency_s,
        system->scale_out.nics_per_device,
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!is_readable(values[i])) return 0;
    return 1;
}

static void check_round_trip(const struct kerf_system *system) {
    struct kerf_text text = {0};
    struct kerf_json json;
    struct kerf_system again;
    kerf_json_begin(&json, &text);
    system_json(&json, system);
    json_decref(read_back(&text));
    if (prints_readably(system)) {
        CHECK(kerf_system_parse(text.data, text.length, source, &again, NULL) == KERF_OK);
        CHECK(memcmp(&again, system, sizeof again) == 0); /* no padding, and what follows a name is zeros */
    }
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
