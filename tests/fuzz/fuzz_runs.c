/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a table of runs. What is read has its counts in range and a reason for each refused row. */
#include <string.h>
#include "invariants.h"
#include "score/runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct runs *runs;
    struct kerf_error err;
    poison(&runs, sizeof runs);
    poison(&err, sizeof err);
    const int32_t code = runs_parse((const char *)data, size, "runs.csv", &runs, &err);
    if (code != KERF_OK) {
        CHECK(is_poisoned(&runs, sizeof runs));
        CHECK(runs_parse((const char *)data, size, "runs.csv", &runs, NULL) == code);
        return 0;
    }
    size_t refused = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->rows[i];
        refused += run->why != NULL;
        CHECK(run->why == NULL || run->why[0]);
        CHECK(run->line > 1);
        if (run->why) continue;
        CHECK(run->id[0] && run->gpus >= 1);
        CHECK(run->vpp >= RUN_SEVERAL && run->vpp != RUN_MISSING);
        if (run->tp && run->pp && run->dp) CHECK(run->tp * run->pp * (run->cp ? run->cp : 1) * run->dp == run->gpus);
        CHECK(run_set_length(run) <= strlen(run->id));
    }
    CHECK(refused == runs->refused);
    runs_free(runs);
    return 0;
}
