/* SPDX-License-Identifier: Apache-2.0 */
/* The input is PyTorch's schedule CSV. What is accepted is a schedule, is written as the same, and simulates. */
#include "schedule_invariants.h"

static const char file[] = "input.csv";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct kerf_schedule *schedule;
    struct kerf_error err;
    poison(&schedule, sizeof schedule);
    poison(&err, sizeof err);
    int32_t code = kerf_schedule_parse_csv((const char *)data, size, file, &schedule, &err);
    if (code == KERF_OK) {
        check_schedule(schedule);
        kerf_schedule_free(schedule);
    } else {
        CHECK(is_poisoned(&schedule, sizeof schedule));
        check_refusal(code, &err, file, (const char *)data, size);
        CHECK(kerf_schedule_parse_csv((const char *)data, size, file, &schedule, NULL) == code);
    }
    return 0;
}
