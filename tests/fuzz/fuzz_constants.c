/* SPDX-License-Identifier: Apache-2.0 */
/* A file of constants (kerf calibrate): whatever is taken prices a run in finite numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "invariants.h"
#include "score/constants_file.h"
#include "spec/description.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct score_constants *shipped, *constants;
    static struct runs *runs;
    static struct prediction predictions[4];
    struct kerf_error err;
    if (shipped == NULL) {
        shipped = malloc(sizeof *shipped), constants = malloc(sizeof *constants);
        if (shipped == NULL || constants == NULL || constants_load(shipped, &err) != KERF_OK) abort();
        const struct kerf_catalogue_entry *entry = &catalogue_runs[0];
        if (runs_parse(entry->json, entry->length, entry->name, &runs, &err) != KERF_OK) abort();
        runs->count = 4;
    }
    *constants = *shipped;
    if (constants_file_read((const char *)data, size, "fuzz.json", constants, &err) != KERF_OK) return 0;
    if (predict_runs(constants, runs, NULL, predictions, &err) != KERF_OK) return 0;
    for (size_t i = 0; i < runs->count; i++)
        CHECK(predictions[i].why || (isfinite(predictions[i].step_s) && predictions[i].step_s > 0));
    return 0;
}
