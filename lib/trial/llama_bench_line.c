/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/llama_bench_line.h"

#include <math.h>
#include <stdio.h>
#include "trial/json_path.h"

static double mean_ns(const json_t *root) {
    const json_t *samples = json_object_get(root, "samples_ns");
    size_t count = json_array_size(samples);
    double sum = 0;
    if (count == 0) return json_number_value(json_object_get(root, "avg_ns"));
    for (size_t i = 0; i < count; i++) {
        const json_t *sample = json_array_get(samples, i);
        if (!json_is_number(sample) || !(json_number_value(sample) > 0)) return 0;
        sum += json_number_value(sample);
    }
    return sum / (double)count;
}

enum llama_bench_kind llama_bench_line(const char *line, size_t length, const char *path, double *ret_value, char *why,
                                       size_t size) {
    json_t *root = json_loadb(line, length, JSON_DECODE_INT_AS_REAL, NULL);
    enum llama_bench_kind kind = LLAMA_BENCH_NO_RESULT;
    if (json_is_object(root) && (json_object_get(root, "samples_ns") || json_object_get(root, "avg_ns"))) {
        double value = mean_ns(root) * 1e-9;
        kind = LLAMA_BENCH_BAD;
        if (!(value > 0) || !isfinite(value))
            snprintf(why, size, "llama-bench tells no time in samples_ns or avg_ns");
        else if (path == NULL || json_path_number(root, path, &value, why, size))
            kind = LLAMA_BENCH_RESULT;
        if (kind == LLAMA_BENCH_RESULT) *ret_value = value;
    }
    json_decref(root);
    return kind;
}
