/* SPDX-License-Identifier: Apache-2.0 */
/* Times as the file that --times reads (times.c). */
#include "kerf/trace.h"

static void array(struct kerf_json *json, const char *key, const double *values, int32_t count, double more_s) {
    if (values == NULL) return;
    kerf_json_open(json, key, '[');
    for (int32_t i = 0; i < count; i++) kerf_json_number(json, NULL, values[i] + more_s);
    kerf_json_close(json, ']');
}

static void latency(struct kerf_json *json, const struct kerf_schedule_times *times, int32_t devices) {
    if (times->p2p_of_s == NULL) {
        kerf_json_number(json, "p2p", times->p2p_s);
        return;
    }
    kerf_json_open(json, "p2p", '[');
    for (int32_t i = 0; i < devices; i++) array(json, NULL, times->p2p_of_s + (size_t)i * (size_t)devices, devices, 0);
    kerf_json_close(json, ']');
}

/* Bytes are strings with their unit, so that they are not taken for micro-batches. */
static void cap(struct kerf_json *json, const struct kerf_schedule_times *times, int32_t devices) {
    if (times->cap == NULL) return;
    struct kerf_text bytes = {0};
    kerf_json_open(json, "memory_cap", '[');
    for (int32_t i = 0; i < devices; i++) {
        if (!times->cap_in_bytes) {
            kerf_json_number(json, NULL, times->cap[i]);
            continue;
        }
        kerf_text_clear(&bytes);
        kerf_text_number(&bytes, times->cap[i]);
        kerf_text_add(&bytes, "B");
        kerf_json_string(json, NULL, bytes.data);
    }
    kerf_json_close(json, ']');
    json->out->failed |= bytes.failed;
    kerf_text_free(&bytes);
}

void kerf_schedule_times_json(struct kerf_json *json, const struct kerf_schedule_times *times, int32_t devices,
                              int32_t stages) {
    double more_s = times->overhead_s;
    array(json, "forward", times->forward_s, stages, more_s);
    array(json, "backward", times->backward_s, stages, more_s);
    array(json, "backward_input", times->backward_input_s, stages, more_s);
    array(json, "backward_weight", times->backward_weight_s, stages, more_s);
    array(json, "fused", times->fused_s, stages, more_s);
    array(json, "activation_bytes", times->activation_bytes, stages, 0);
    latency(json, times, devices);
    cap(json, times, devices);
}
