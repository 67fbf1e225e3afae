/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a table of runs. What is read has its counts in range and a reason for each refused row; what is not refused
 * is predicted in finite numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "invariants.h"
#include "score/predict.h"

static void predict(const struct runs *runs) {
    static struct score_constants *constants;
    struct prediction *predictions = calloc(runs->count + 1, sizeof *predictions);
    struct kerf_error err;
    if (constants == NULL) {
        constants = malloc(sizeof *constants);
        CHECK(constants && constants_load(constants, &err) == KERF_OK);
    }
    CHECK(predictions && predict_runs(constants, runs, NULL, predictions, &err) == KERF_OK);
    for (size_t i = 0; i < runs->count; i++) {
        const struct prediction *p = &predictions[i];
        CHECK(p->why ? p->why[0] != 0 : isfinite(p->step_s) && p->step_s > 0 && p->step_high_s >= p->step_s);
        CHECK(p->why || (p->p_oom >= 0 && p->p_oom <= 1 && p->memory_bytes > 0));
    }
    free(predictions);
}

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
    if (runs->count <= 16) predict(runs);
    runs_free(runs);
    return 0;
}
