/* SPDX-License-Identifier: Apache-2.0 */
/* How long operations take: numbers for all stages, or a file with one for each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/input.h"
#include "base/json_read.h"
#include "kerf/schedule.h"

enum { TIMES_BYTES_MAX = 64 << 20 };
static const double SECONDS_MAX = 1e15; /* so that no sum of operations is infinite */

struct owned_times {
    struct kerf_schedule_times times;
    struct arena arena;
};

struct kerf_schedule_times *kerf_schedule_times_free(struct kerf_schedule_times *times) {
    if (times == NULL) return NULL;
    struct owned_times *owned = (struct owned_times *)(void *)times;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

static int32_t read_element(const struct json_object *file, const char *key, size_t i, const json_t *json, double *ret,
                            struct kerf_error *err) {
    double value = json_number_value(json);
    if (!json_is_number(json) || !(value >= 0 && value <= SECONDS_MAX))
        return json_fail(file, key, KERF_EINVALID, err, "\"%s\"[%zu] must be a number of seconds from 0 to %g", key, i,
                         SECONDS_MAX);
    *ret = value;
    return KERF_OK;
}

/* An array of the file, `count` long, or NULL where the file has none. */
static int32_t read_array(const struct json_object *file, const char *key, size_t count, struct arena *arena,
                          const double **ret, struct kerf_error *err) {
    const json_t *json = file->json ? json_object_get(file->json, key) : NULL;
    if (json == NULL) return KERF_OK;
    if (!json_is_array(json) || json_array_size(json) != count)
        return json_fail(file, key, KERF_EINVALID, err, "\"%s\" must be an array of %zu numbers, one for each stage",
                         key, count);
    double *values = arena_alloc(arena, count, sizeof *values);
    if (values == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the times");
    for (size_t i = 0; i < count; i++) {
        int32_t code = read_element(file, key, i, json_array_get(json, i), &values[i], err);
        if (code != KERF_OK) return code;
    }
    *ret = values;
    return KERF_OK;
}

static int32_t read_p2p(const struct json_object *file, size_t devices, struct owned_times *owned,
                        struct kerf_error *err) {
    const json_t *json = file->json ? json_object_get(file->json, "p2p") : NULL;
    if (json == NULL) return KERF_OK;
    if (json_is_number(json)) return read_element(file, "p2p", 0, json, &owned->times.p2p_s, err);
    if (!json_is_array(json) || json_array_size(json) != devices)
        return json_fail(file, "p2p", KERF_EINVALID, err,
                         "\"p2p\" must be a number or a matrix of %zu rows, one for each device", devices);
    double *matrix = arena_alloc(&owned->arena, devices * devices, sizeof *matrix);
    if (matrix == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the times");
    for (size_t i = 0; i < devices; i++) {
        const json_t *row = json_array_get(json, i);
        if (!json_is_array(row) || json_array_size(row) != devices)
            return json_fail(file, "p2p", KERF_EINVALID, err, "\"p2p\"[%zu] must have %zu numbers, one for each device",
                             i, devices);
        for (size_t k = 0; k < devices; k++) {
            int32_t code = read_element(file, "p2p", i, json_array_get(row, k), &matrix[i * devices + k], err);
            if (code != KERF_OK) return code;
        }
    }
    owned->times.p2p_of_s = matrix;
    return KERF_OK;
}

static const double *filled(struct arena *arena, size_t count, double value) {
    double *values = arena_alloc(arena, count, sizeof *values);
    for (size_t i = 0; values && i < count; i++) values[i] = value;
    return values;
}

/* a[i] * x + b[i] * y; b may be NULL */
static const double *combined(struct arena *arena, size_t count, const double *a, double x, const double *b, double y) {
    double *values = arena_alloc(arena, count, sizeof *values);
    for (size_t i = 0; values && i < count; i++) values[i] = a[i] * x + (b ? b[i] * y : 0);
    return values;
}

/* What the file does not say comes from the request, and what that does not say from the defaults. */
static void fill_in(const struct kerf_schedule_times_request *request, size_t stages, struct owned_times *owned) {
    struct kerf_schedule_times *times = &owned->times;
    struct arena *arena = &owned->arena;
    if (times->forward_s == NULL)
        times->forward_s = filled(arena, stages, isnan(request->forward_s) ? 1 : request->forward_s);
    if (times->backward_s == NULL && !isnan(request->backward_s))
        times->backward_s = filled(arena, stages, request->backward_s);
    if (times->backward_input_s == NULL && !isnan(request->backward_input_s))
        times->backward_input_s = filled(arena, stages, request->backward_input_s);
    if (times->backward_weight_s == NULL && !isnan(request->backward_weight_s))
        times->backward_weight_s = filled(arena, stages, request->backward_weight_s);
    const double *whole = times->backward_s;
    if (times->backward_input_s == NULL)
        times->backward_input_s = whole ? combined(arena, stages, whole, 0.5, NULL, 0) : filled(arena, stages, 1);
    if (times->backward_weight_s == NULL)
        times->backward_weight_s = whole ? combined(arena, stages, whole, 0.5, NULL, 0) : filled(arena, stages, 1);
    if (whole == NULL && times->backward_input_s && times->backward_weight_s)
        times->backward_s = combined(arena, stages, times->backward_input_s, 1, times->backward_weight_s, 1);
    if (times->fused_s == NULL && !isnan(request->fused_s)) times->fused_s = filled(arena, stages, request->fused_s);
}

static int32_t read_file(const struct json_object *file, const struct kerf_schedule *schedule,
                         struct owned_times *owned, struct kerf_error *err) {
    static const char *const keys[] = {"forward", "backward", "backward_input", "backward_weight", "fused", "p2p"};
    struct kerf_schedule_times *times = &owned->times;
    size_t stages = (size_t)schedule->stages;
    int32_t code = json_check_keys(file, keys, sizeof keys / sizeof *keys, err);
    if (code == KERF_OK) code = read_array(file, "forward", stages, &owned->arena, &times->forward_s, err);
    if (code == KERF_OK) code = read_array(file, "backward", stages, &owned->arena, &times->backward_s, err);
    if (code == KERF_OK)
        code = read_array(file, "backward_input", stages, &owned->arena, &times->backward_input_s, err);
    if (code == KERF_OK)
        code = read_array(file, "backward_weight", stages, &owned->arena, &times->backward_weight_s, err);
    if (code == KERF_OK) code = read_array(file, "fused", stages, &owned->arena, &times->fused_s, err);
    if (code == KERF_OK) code = read_p2p(file, (size_t)schedule->devices, owned, err);
    return code;
}

static int32_t check_number(const char *name, double value, struct kerf_error *err) {
    if (isnan(value) || (value >= 0 && value <= SECONDS_MAX)) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s must be a number of seconds from 0 to %g, not %g", name, SECONDS_MAX,
                          value);
}

int32_t kerf_schedule_times_make(const struct kerf_schedule *schedule,
                                 const struct kerf_schedule_times_request *request,
                                 struct kerf_schedule_times **ret_times, struct kerf_error *err) {
    struct kerf_text text = {0};
    struct json_document document = {.root = NULL};
    struct json_object file;
    struct owned_times *owned = calloc(1, sizeof *owned);
    if (owned == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the times");
    int32_t code = check_number("forward", request->forward_s, err);
    if (code == KERF_OK) code = check_number("backward", request->backward_s, err);
    if (code == KERF_OK) code = check_number("backward-input", request->backward_input_s, err);
    if (code == KERF_OK) code = check_number("backward-weight", request->backward_weight_s, err);
    if (code == KERF_OK) code = check_number("fused", request->fused_s, err);
    if (code == KERF_OK) code = check_number("p2p", request->p2p_s, err);
    owned->times.p2p_s = isnan(request->p2p_s) ? 0 : request->p2p_s;
    owned->times.blocking = request->blocking;
    owned->times.free_at_input = request->free_at_input;
    if (code == KERF_OK && request->file) {
        code = input_read(request->file, TIMES_BYTES_MAX, &text, err);
        if (code == KERF_OK) code = json_document_parse(&document, text.data, text.length, request->file, &file, err);
        if (code == KERF_OK) code = read_file(&file, schedule, owned, err);
    }
    if (code == KERF_OK) fill_in(request, (size_t)schedule->stages, owned);
    const struct kerf_schedule_times *times = &owned->times;
    if (code == KERF_OK &&
        !(times->forward_s && times->backward_s && times->backward_input_s && times->backward_weight_s))
        code = kerf_error_set(err, KERF_ENOMEM, "not enough memory for the times");
    json_document_free(&document);
    kerf_text_free(&text);
    if (code != KERF_OK) {
        kerf_schedule_times_free(&owned->times);
        return code;
    }
    *ret_times = &owned->times;
    return KERF_OK;
}
