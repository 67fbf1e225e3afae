/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a training run: whatever is taken has times above 0. */
#include <math.h>
#include "invariants.h"
#include "score/step_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct step_log log;
    struct kerf_error err;
    if (step_log_read((const char *)data, size, "fuzz.log", &log, &err) != KERF_OK) return 0;
    CHECK(log.steps >= 3 && isnan(log.step_s) != isnan(log.tokens_per_s));
    CHECK(isnan(log.step_s) || (log.step_s > 0 && isfinite(log.step_s)));
    CHECK(isnan(log.tokens_per_s) || (log.tokens_per_s > 0 && isfinite(log.tokens_per_s)));
    CHECK(log.deviation >= 0);
    return 0;
}
