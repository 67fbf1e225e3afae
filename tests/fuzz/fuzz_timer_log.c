/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM's timers in a log: names are plain and times are not below 0. */
#include <math.h>
#include <string.h>
#include "invariants.h"
#include "score/timer_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct timer_log log;
    struct kerf_error err;
    CHECK(timer_log_read((const char *)data, size, &log, &err) == KERF_OK);
    CHECK(log.count >= 0 && log.count <= TIMERS_MAX);
    for (int32_t i = 0; i < log.count; i++) {
        CHECK(log.of[i].name[0] && strlen(log.of[i].name) < TIMER_NAME_SIZE && log.of[i].steps >= 1);
        CHECK(log.of[i].seconds >= 0 && isfinite(log.of[i].seconds));
    }
    return 0;
}
