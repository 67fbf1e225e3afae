/* SPDX-License-Identifier: Apache-2.0 */
/* A meter over what this machine has: NVML, RAPL, a constant power or nothing. */
#include "client/energy.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/error_fill.h"

struct energy_meter {
    struct nvml *nvml;
    struct rapl *rapl;
    double power_w, began_s; /* without a source */
    char words[64];
};

static const char *plural(int32_t count) { return count == 1 ? "" : "s"; }

static int32_t open_source(struct energy_meter *meter, const struct energy_options *options, struct kerf_error *err) {
    struct kerf_error of_nvml = {.message = "not asked"}, of_rapl = {.message = "not asked"};
    int32_t code = KERF_EUNSUPPORTED;
    if (options->source != ENERGY_RAPL) code = nvml_open(options->gpus, &meter->nvml, &of_nvml);
    if (code == KERF_EINVALID) {
        *err = of_nvml;
        return code;
    }
    if (code == KERF_OK) {
        int32_t count = nvml_count(meter->nvml);
        snprintf(meter->words, sizeof meter->words, "NVML, %d GPU%s", count, plural(count));
        return code;
    }
    if (options->source != ENERGY_NVML) code = rapl_open(&meter->rapl, &of_rapl);
    if (code == KERF_OK) {
        int32_t count = rapl_count(meter->rapl);
        snprintf(meter->words, sizeof meter->words, "RAPL, %d counter%s", count, plural(count));
        return code;
    }
    return kerf_error_set(
        err, KERF_EUNSUPPORTED,
        "nothing on this machine measures energy (NVML: %.120s; RAPL: %.120s); --power WATTS assumes a constant power",
        of_nvml.message, of_rapl.message);
}

int32_t energy_open(const struct energy_options *options, struct energy_meter **ret_meter, struct kerf_error *err) {
    struct energy_meter *meter = calloc(1, sizeof *meter);
    if (meter == NULL) return error_no_memory(err, "a meter");
    meter->began_s = clock_ticks_s();
    meter->power_w = options->source == ENERGY_NONE ? 0 : options->power_w;
    int32_t code = KERF_OK;
    if (options->source == ENERGY_NONE)
        snprintf(meter->words, sizeof meter->words, "not measured");
    else if (options->power_w > 0)
        snprintf(meter->words, sizeof meter->words, "%g W, not measured", options->power_w);
    else
        code = open_source(meter, options, err);
    if (code == KERF_OK)
        *ret_meter = meter;
    else
        energy_close(meter);
    return code;
}

double energy_read_j(struct energy_meter *meter, double now_s) {
    if (meter->nvml) return nvml_read_j(meter->nvml, now_s);
    if (meter->rapl) return rapl_read_j(meter->rapl);
    return meter->power_w * (now_s - meter->began_s);
}

const char *energy_words(const struct energy_meter *meter) { return meter->words; }

void energy_close(struct energy_meter *meter) {
    if (meter == NULL) return;
    nvml_close(meter->nvml);
    rapl_close(meter->rapl);
    free(meter);
}
