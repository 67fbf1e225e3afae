/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a schedule in the text form, of small sizes: what is accepted is a schedule, is written as the same,
 * and simulates. */
#include "schedule_invariants.h"

static const char file[] = "input.sched";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int32_t v = 0; v <= 2; v += 2) {
        const struct kerf_schedule_file_request request = {.devices = 3 - v / 2, .microbatches = 4, .chunks = v};
        struct kerf_schedule *schedule;
        struct kerf_error err;
        poison(&schedule, sizeof schedule);
        poison(&err, sizeof err);
        int32_t code = kerf_schedule_parse_text((const char *)data, size, file, &request, &schedule, &err);
        if (code == KERF_OK) {
            check_schedule(schedule);
            kerf_schedule_free(schedule);
        } else {
            CHECK(is_poisoned(&schedule, sizeof schedule));
            check_refusal(code, &err, file, (const char *)data, size);
        }
    }
    return 0;
}
