/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/split_value.h"

#include <limits.h>
#include "cost/split_equal.h"

void split_devices_begin(const struct stage_split_question *question, struct split_device *devices) {
    for (int32_t d = 0; d < question->num_devices; d++)
        devices[d] = (struct split_device){0, question->device_bytes[d], INT32_MAX, 0};
    for (int32_t k = 0; k < question->num_stages; k++) devices[question->device_of[k]].s += split_fixed_s(question, k);
}

struct split_value split_value_of(const struct stage_split_question *question, struct split_device *devices,
                                  const int32_t *layers) {
    struct split_value value = {0, 0, 1};
    int32_t run = 0, in_run = 0;
    split_devices_begin(question, devices);
    for (int32_t k = 0; k < question->num_stages; k++) {
        struct split_device *device = &devices[question->device_of[k]];
        if (layers[k] < device->low) device->low = layers[k];
        if (layers[k] > device->high) device->high = layers[k];
        for (int32_t left = layers[k]; left > 0;) {
            int32_t here = question->runs[run].count - in_run, kind = question->runs[run].kind;
            int32_t count = here < left ? here : left;
            device->s += count * question->layer_s[kind];
            device->bytes += count * split_layer_bytes(question, k, kind);
            left -= count, in_run += count;
            if (in_run == question->runs[run].count && run + 1 < question->num_runs) run++, in_run = 0;
        }
    }
    for (int32_t d = 0; d < question->num_devices; d++) {
        if (devices[d].s > value.s) value.s = devices[d].s;
        if (devices[d].bytes > value.bytes) value.bytes = devices[d].bytes;
        if (question->is_even && devices[d].high - devices[d].low > value.spread)
            value.spread = devices[d].high - devices[d].low;
    }
    return value;
}

static int compare(double a, double b) {
    return a > b * (1 + SPLIT_TOLERANCE) ? 1 : b > a * (1 + SPLIT_TOLERANCE) ? -1 : 0;
}

int split_value_compare(const struct split_value *a, const struct split_value *b) {
    int order = (a->spread > b->spread) - (a->spread < b->spread);
    if (order == 0) order = compare(a->s, b->s);
    return order ? order : compare(a->bytes, b->bytes);
}

int split_order(const int32_t *a, const int32_t *b, int32_t num_stages) {
    for (int32_t k = 0; k < num_stages; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}
