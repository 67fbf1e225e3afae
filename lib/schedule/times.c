/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operations take: numbers for all stages, or a file with one for each, and the same file written.
 *
 * What is said takes the place of what the file says. Of the backward pass B and its parts I and W two are enough:
 * B = I + W. A B that is said alone is divided as the file's parts are, or in halves.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "base/input.h"
#include "base/json_read.h"
#include "base/quantity.h"
#include "kerf/schedule.h"

enum { TIMES_BYTES_MAX = 64 << 20 };
static const double LARGEST = 1e15; /* seconds or bytes, so that no sum is infinite */

/* A step of FNV-1a, on eight bytes at a time. */
static uint64_t mixed(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x100000001B3u;
    return hash ^ hash >> 32;
}

static uint64_t mixed_numbers(uint64_t hash, const double *values, size_t count) {
    hash = mixed(hash, values ? count : ~(uint64_t)0);
    for (size_t i = 0; values && i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = mixed(hash, bits);
    }
    return hash;
}

uint64_t kerf_schedule_times_fingerprint(const struct kerf_schedule_times *times, int32_t devices, int32_t stages) {
    const size_t p = (size_t)devices, k = (size_t)stages;
    const double numbers[] = {times->p2p_s, times->overhead_s};
    const int32_t flags[] = {times->blocking, times->shared_link, times->free_at_input, times->cap_in_bytes,
                             times->host_link_shared};
    uint64_t hash = 0xCBF29CE484222325u;
    hash = mixed_numbers(hash, times->forward_s, k);
    hash = mixed_numbers(hash, times->backward_s, k);
    hash = mixed_numbers(hash, times->backward_input_s, k);
    hash = mixed_numbers(hash, times->backward_weight_s, k);
    hash = mixed_numbers(hash, times->fused_s, k);
    hash = mixed_numbers(hash, times->p2p_of_s, p * p);
    hash = mixed_numbers(hash, times->activation_bytes, k);
    hash = mixed_numbers(hash, times->cap, p);
    hash = mixed_numbers(hash, times->recompute_share, k);
    hash = mixed_numbers(hash, times->recompute_s, k);
    hash = mixed_numbers(hash, times->offload_share, k);
    hash = mixed_numbers(hash, times->offload_s, k);
    hash = mixed_numbers(hash, times->load_s, k);
    hash = mixed_numbers(hash, numbers, sizeof numbers / sizeof *numbers);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) hash = mixed(hash, flags[i] != 0);
    return hash ? hash : 1;
}

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

static int32_t read_element(const struct json_object *file, const char *key, const char *unit, size_t i,
                            const json_t *json, double *ret, struct kerf_error *err) {
    double value = json_number_value(json);
    if (!json_is_number(json) || !(value >= 0 && value <= LARGEST))
        return json_fail(file, key, KERF_EINVALID, err, "\"%s\"[%zu] must be a number of %s from 0 to %g", key, i, unit,
                         LARGEST);
    *ret = value;
    return KERF_OK;
}

/* Parts of a model as stages: sums of several parts, or shares of one. One number divides the other. */
static const double *regrouped(struct arena *arena, const double *parts, size_t num_parts, size_t stages) {
    double *values = arena_alloc(arena, stages, sizeof *values);
    for (size_t k = 0; values && k < stages; k++) {
        if (num_parts < stages) values[k] = parts[k / (stages / num_parts)] * (double)num_parts / (double)stages;
        for (size_t i = 0; num_parts >= stages && i < num_parts / stages; i++)
            values[k] += parts[k * (num_parts / stages) + i];
    }
    return values;
}

/* An array of the file with a number for each stage, or of any that can be regrouped; NULL where the file has none. */
static int32_t read_array(const struct json_object *file, const char *key, const char *unit, size_t stages, int regroup,
                          struct arena *arena, const double **ret, struct kerf_error *err) {
    const json_t *json = json_object_get(file->json, key);
    if (json == NULL) return KERF_OK;
    size_t count = json_array_size(json);
    int fits = count == stages || (regroup && count > 0 && (count % stages == 0 || stages % count == 0));
    if (!json_is_array(json) || !fits)
        return json_fail(file, key, KERF_EINVALID, err, "\"%s\" must be an array of %zu numbers, one for each stage%s",
                         key, stages, regroup ? ", or of a multiple or a divisor of that" : "");
    double *values = arena_alloc(arena, count, sizeof *values);
    if (values == NULL) return error_no_memory(err, "the times");
    for (size_t i = 0; i < count; i++) {
        int32_t code = read_element(file, key, unit, i, json_array_get(json, i), &values[i], err);
        if (code != KERF_OK) return code;
    }
    *ret = count == stages ? values : regrouped(arena, values, count, stages);
    return *ret ? KERF_OK : error_no_memory(err, "the times");
}

/* Shares by stage: a stage of several parts has their mean, a part of a stage the same share. */
static int32_t read_shares(const struct json_object *file, const char *key, size_t stages, int regroup,
                           struct owned_times *owned, const double **ret, struct kerf_error *err) {
    const size_t count = json_array_size(json_object_get(file->json, key));
    const double *values = NULL;
    int32_t code = read_array(file, key, "shares", stages, regroup, &owned->arena, &values, err);
    if (code != KERF_OK || values == NULL) return code;
    double *shares = arena_alloc(&owned->arena, stages, sizeof *shares);
    if (shares == NULL) return error_no_memory(err, "the times");
    for (size_t k = 0; k < stages; k++) {
        shares[k] = values[k] * (double)stages / (double)count;
        if (!(shares[k] <= 1))
            return json_fail(file, key, KERF_EINVALID, err, "\"%s\" must be shares from 0 to 1", key);
    }
    *ret = shares;
    return KERF_OK;
}

static int32_t read_p2p(const struct json_object *file, size_t devices, struct owned_times *owned,
                        struct kerf_error *err) {
    const json_t *json = json_object_get(file->json, "p2p");
    if (json == NULL) return KERF_OK;
    if (json_is_number(json)) return read_element(file, "p2p", "seconds", 0, json, &owned->times.p2p_s, err);
    if (!json_is_array(json) || json_array_size(json) != devices)
        return json_fail(file, "p2p", KERF_EINVALID, err,
                         "\"p2p\" must be a number or a matrix of %zu rows, one for each device", devices);
    double *matrix = arena_alloc(&owned->arena, devices * devices, sizeof *matrix);
    if (matrix == NULL) return error_no_memory(err, "the times");
    for (size_t i = 0; i < devices; i++) {
        const json_t *row = json_array_get(json, i);
        if (!json_is_array(row) || json_array_size(row) != devices)
            return json_fail(file, "p2p", KERF_EINVALID, err, "\"p2p\"[%zu] must have %zu numbers, one for each device",
                             i, devices);
        for (size_t k = 0; k < devices; k++) {
            int32_t code =
                read_element(file, "p2p", "seconds", i, json_array_get(row, k), &matrix[i * devices + k], err);
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

/* A cap a device: numbers of micro-batches, or strings of bytes. */
static int32_t read_cap(const struct json_object *file, size_t devices, struct owned_times *owned,
                        struct kerf_error *err) {
    const json_t *json = json_object_get(file->json, "memory_cap");
    if (json == NULL) return KERF_OK;
    size_t strings = 0;
    for (size_t i = 0; i < json_array_size(json); i++) strings += json_is_string(json_array_get(json, i));
    if (!json_is_array(json) || json_array_size(json) != devices || (strings != 0 && strings != devices))
        return json_fail(file, "memory_cap", KERF_EINVALID, err,
                         "\"memory_cap\" must be an array of %zu, one for each device: numbers of micro-batches, or "
                         "strings of bytes such as \"40GB\"",
                         devices);
    double *cap = arena_alloc(&owned->arena, devices, sizeof *cap);
    if (cap == NULL) return error_no_memory(err, "the times");
    for (size_t i = 0; i < devices; i++) {
        const json_t *element = json_array_get(json, i);
        struct kerf_error why;
        int32_t code = KERF_OK;
        if (!json_is_string(element))
            code = read_element(file, "memory_cap", "micro-batches", i, element, &cap[i], err);
        else if (quantity_parse(json_string_value(element), "B", &cap[i], &why) != KERF_OK)
            code = json_fail(file, "memory_cap", KERF_EINVALID, err, "\"memory_cap\"[%zu]: %s", i, why.message);
        else if (!(cap[i] > 0))
            code = json_fail(file, "memory_cap", KERF_EINVALID, err, "\"memory_cap\"[%zu] must be above 0 bytes", i);
        if (code != KERF_OK) return code;
    }
    owned->times.cap = cap;
    owned->times.cap_in_bytes = strings != 0;
    return KERF_OK;
}

/* ---- The backward pass and its parts ---------------------------------------------------------------------- */

enum part { WHOLE, INPUT, WEIGHT, PARTS };

/* [stages] each; NULL: not known. */
struct backward {
    const double *said[PARTS], *file[PARTS];
    const double *known[PARTS]; /* what comes of it */
};

static const double *sum_of(struct arena *arena, size_t stages, const double *a, const double *b) {
    double *sum = arena_alloc(arena, stages, sizeof *sum);
    for (size_t k = 0; sum && k < stages; k++) sum[k] = a[k] + b[k];
    return sum;
}

/* What a part leaves of the whole. */
static int32_t rest_of(struct arena *arena, size_t stages, const double *whole, const double *part, const char *name,
                       const double **ret, struct kerf_error *err) {
    double *rest = arena_alloc(arena, stages, sizeof *rest);
    if (rest == NULL) return error_no_memory(err, "the times");
    for (size_t k = 0; k < stages; k++) {
        rest[k] = whole[k] - part[k];
        if (rest[k] < -1e-9 * whole[k])
            return kerf_error_set(err, KERF_EINVALID,
                                  "the backward pass of the %s takes %g s on stage %zu, longer than the whole backward "
                                  "pass, %g s",
                                  name, part[k], k, whole[k]);
        rest[k] = fmax(rest[k], 0);
    }
    *ret = rest;
    return KERF_OK;
}

/* The input's part of a whole that is said alone: the file's share, or half. */
static const double *share_of(struct arena *arena, size_t stages, const struct backward *backward) {
    const double *whole = backward->known[WHOLE], *input = backward->file[INPUT], *weight = backward->file[WEIGHT];
    double *part = arena_alloc(arena, stages, sizeof *part);
    for (size_t k = 0; part && k < stages; k++) {
        const int divided = input && weight && input[k] + weight[k] > 0;
        part[k] = whole[k] * (divided ? input[k] / (input[k] + weight[k]) : 0.5);
    }
    return part;
}

/* Chooses what counts of what is said and what the file says, at most two of three unless one source names all. */
static void choose_parts(struct backward *backward) {
    const double *const *said = backward->said, *const *file = backward->file;
    int count = 0;
    for (int part = 0; part < PARTS; part++) count += (backward->known[part] = said[part]) != NULL;
    if (count >= 2) return;
    if (count == 0) {
        for (int part = 0; part < PARTS; part++) backward->known[part] = file[part];
    } else if (said[WHOLE]) { /* of a file with both parts their proportion is kept: share_of */
        for (int part = INPUT; part <= WEIGHT; part++)
            if (!(file[INPUT] && file[WEIGHT])) backward->known[part] = file[part];
    } else {
        const enum part other = said[INPUT] ? WEIGHT : INPUT;
        backward->known[other] = file[other];
        if (file[other] == NULL) backward->known[WHOLE] = file[WHOLE];
    }
}

/* Completes the three; a part of which nothing is known takes `each`. */
static int32_t complete_parts(struct arena *arena, size_t stages, double each, struct backward *backward,
                              struct kerf_error *err) {
    const double **known = backward->known;
    int32_t code = KERF_OK;
    choose_parts(backward);
    if (known[WHOLE] && known[INPUT] == NULL && known[WEIGHT] == NULL) known[INPUT] = share_of(arena, stages, backward);
    if (known[WHOLE] && known[INPUT] && known[WEIGHT] == NULL)
        code = rest_of(arena, stages, known[WHOLE], known[INPUT], "input", &known[WEIGHT], err);
    else if (known[WHOLE] && known[WEIGHT] && known[INPUT] == NULL)
        code = rest_of(arena, stages, known[WHOLE], known[WEIGHT], "weights", &known[INPUT], err);
    for (int part = INPUT; part <= WEIGHT && code == KERF_OK; part++)
        if (known[part] == NULL) known[part] = filled(arena, stages, each);
    if (code == KERF_OK && known[WHOLE] == NULL && known[INPUT] && known[WEIGHT])
        known[WHOLE] = sum_of(arena, stages, known[INPUT], known[WEIGHT]);
    return code;
}

/* ---- What is said, and what nobody says ------------------------------------------------------------------- */

/* values, or their products with shares. */
static const double *shared(struct arena *arena, size_t stages, const double *values, const double *shares) {
    double *products = arena_alloc(arena, stages, sizeof *products);
    for (size_t k = 0; products && k < stages; k++) products[k] = values[k] * (shares ? shares[k] : 1);
    return products;
}

/* Recomputation and offload. Times of all activations of a stage become those of the shares. */
static int32_t fill_in_moves(const struct kerf_schedule_times_request *request, size_t stages, double share,
                             struct owned_times *owned, struct kerf_error *err) {
    struct kerf_schedule_times *times = &owned->times;
    struct arena *arena = &owned->arena;
    int offloads = 0;
    if (!isnan(request->recompute)) times->recompute_share = filled(arena, stages, request->recompute);
    if (!isnan(request->offload)) times->offload_share = filled(arena, stages, request->offload);
    if (!isnan(request->recompute_s)) times->recompute_s = filled(arena, stages, request->recompute_s * share);
    if (!isnan(request->offload_s)) {
        times->offload_s = filled(arena, stages, request->offload_s * share);
        times->load_s = NULL;
    }
    for (size_t k = 0; times->offload_share && k < stages; k++) offloads |= times->offload_share[k] > 0;
    if (offloads && times->offload_s == NULL)
        return kerf_error_set(err, KERF_EINVALID,
                              "offloading needs --offload-time, or \"offload_time\" in the file of times: how long the "
                              "activations of one micro-batch and stage take to the host");
    if (times->recompute_s) times->recompute_s = shared(arena, stages, times->recompute_s, times->recompute_share);
    const double *const away = times->offload_share;
    double *moved = arena_alloc(arena, stages, sizeof *moved); /* the share of all activations that is offloaded */
    if (moved == NULL) return error_no_memory(err, "the times");
    for (size_t k = 0; k < stages; k++)
        moved[k] = (away ? away[k] : 1) * (times->recompute_share ? 1 - times->recompute_share[k] : 1);
    if (times->offload_s) times->offload_s = shared(arena, stages, times->offload_s, moved);
    if (times->load_s) times->load_s = shared(arena, stages, times->load_s, moved);
    return KERF_OK;
}

static int32_t fill_in(const struct kerf_schedule_times_request *request, size_t devices, size_t stages,
                       struct owned_times *owned, struct kerf_error *err) {
    struct kerf_schedule_times *times = &owned->times;
    struct arena *arena = &owned->arena;
    const double share = request->per_device ? (double)devices / (double)stages : 1; /* of a number, for a stage */
    struct backward backward = {.file = {times->backward_s, times->backward_input_s, times->backward_weight_s}};
    const struct {
        double said;
        const double **ret;
    } numbers[] = {
        {request->forward_s, &times->forward_s},
        {request->fused_s, &times->fused_s},
        {request->backward_s, &backward.said[WHOLE]},
        {request->backward_input_s, &backward.said[INPUT]},
        {request->backward_weight_s, &backward.said[WEIGHT]},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (isnan(numbers[i].said)) continue;
        *numbers[i].ret = filled(arena, stages, numbers[i].said * share);
        if (*numbers[i].ret == NULL) return error_no_memory(err, "the times");
    }
    if (!isnan(request->p2p_s)) times->p2p_s = request->p2p_s, times->p2p_of_s = NULL;
    if (!isnan(request->cap)) {
        times->cap = filled(arena, devices, request->cap);
        if (times->cap == NULL) return error_no_memory(err, "the times");
        times->cap_in_bytes = request->cap_in_bytes;
    }
    if (times->forward_s == NULL) times->forward_s = filled(arena, stages, share);
    int32_t code = complete_parts(arena, stages, share, &backward, err);
    if (code != KERF_OK) {
        if (err && request->file) error_set_file(err, request->file);
        return code;
    }
    times->backward_s = backward.known[WHOLE];
    times->backward_input_s = backward.known[INPUT];
    times->backward_weight_s = backward.known[WEIGHT];
    if (!times->forward_s || !times->backward_s || !times->backward_input_s || !times->backward_weight_s)
        return error_no_memory(err, "the times");
    if (!isnan(request->overhead_s)) times->overhead_s = request->overhead_s;
    if (!isnan(request->optimizer_s)) times->optimizer_s = request->optimizer_s;
    code = fill_in_moves(request, stages, share, owned, err);
    times->blocking = request->blocking;
    times->shared_link = request->shared_link;
    times->free_at_input = request->free_at_input;
    times->unsynchronised = request->unsynchronised;
    times->host_link_shared = request->host_link_shared;
    return code;
}

static int32_t read_file(const struct json_object *file, size_t devices, size_t stages, int regroup,
                         struct owned_times *owned, struct kerf_error *err) {
    /* schedule to makespan_s are what the pipeline of a plan says besides of its schedule, and measured what a trace's
     * times rest on, whatever is asked now */
    static const char *const keys[] = {
        "forward",    "backward",  "backward_input", "backward_weight", "fused",        "activation_bytes",
        "memory_cap", "p2p",       "schedule",       "devices",         "chunks",       "microbatches",
        "makespan_s", "recompute", "recompute_time", "offload",         "offload_time", "load_time",
        "measured",   "slices"}; /* slices are what kerf_schedule_slices_make reads */
    struct kerf_schedule_times *times = &owned->times;
    const struct {
        const char *key, *unit;
        const double **ret;
    } arrays[] = {
        {"forward", "seconds", &times->forward_s},
        {"backward", "seconds", &times->backward_s},
        {"backward_input", "seconds", &times->backward_input_s},
        {"backward_weight", "seconds", &times->backward_weight_s},
        {"fused", "seconds", &times->fused_s},
        {"activation_bytes", "bytes", &times->activation_bytes},
        {"recompute_time", "seconds", &times->recompute_s},
        {"offload_time", "seconds", &times->offload_s},
        {"load_time", "seconds", &times->load_s},
    };
    int32_t code = json_check_keys(file, keys, sizeof keys / sizeof *keys, err);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && code == KERF_OK; i++)
        code = read_array(file, arrays[i].key, arrays[i].unit, stages, regroup, &owned->arena, arrays[i].ret, err);
    if (code == KERF_OK) code = read_shares(file, "recompute", stages, regroup, owned, &times->recompute_share, err);
    if (code == KERF_OK) code = read_shares(file, "offload", stages, regroup, owned, &times->offload_share, err);
    if (code == KERF_OK) code = read_p2p(file, devices, owned, err);
    if (code == KERF_OK) code = read_cap(file, devices, owned, err);
    return code;
}

static int32_t check_number(const char *name, const char *unit, double value, struct kerf_error *err) {
    if (isnan(value) || (value >= 0 && value <= LARGEST)) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s must be a number of %s from 0 to %g, not %g", name, unit, LARGEST,
                          value);
}

static int32_t check_numbers(const struct kerf_schedule_times_request *request, struct kerf_error *err) {
    const struct {
        const char *name, *unit;
        double value;
    } numbers[] = {
        {"forward", "seconds", request->forward_s},
        {"backward", "seconds", request->backward_s},
        {"backward-input", "seconds", request->backward_input_s},
        {"backward-weight", "seconds", request->backward_weight_s},
        {"fused", "seconds", request->fused_s},
        {"p2p", "seconds", request->p2p_s},
        {"overhead", "seconds", request->overhead_s},
        {"optimizer", "seconds", request->optimizer_s},
        {"recompute-time", "seconds", request->recompute_s},
        {"offload-time", "seconds", request->offload_s},
        {"memory-cap", request->cap_in_bytes ? "bytes" : "micro-batches", request->cap},
    };
    int32_t code = KERF_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && code == KERF_OK; i++)
        code = check_number(numbers[i].name, numbers[i].unit, numbers[i].value, err);
    if (code == KERF_OK && (request->recompute < 0 || request->recompute > 1))
        code = kerf_error_set(err, KERF_EINVALID, "recompute must be a share from 0 to 1, not %g", request->recompute);
    if (code == KERF_OK && (request->offload < 0 || request->offload > 1))
        code = kerf_error_set(err, KERF_EINVALID, "offload must be a share from 0 to 1, not %g", request->offload);
    return code;
}

void kerf_schedule_times_unsaid(struct kerf_schedule_times_request *ret_request) {
    *ret_request = (struct kerf_schedule_times_request){.forward_s = NAN,
                                                        .backward_s = NAN,
                                                        .backward_input_s = NAN,
                                                        .backward_weight_s = NAN,
                                                        .fused_s = NAN,
                                                        .p2p_s = NAN,
                                                        .overhead_s = NAN,
                                                        .optimizer_s = NAN,
                                                        .recompute = NAN,
                                                        .recompute_s = NAN,
                                                        .offload = NAN,
                                                        .offload_s = NAN,
                                                        .cap = NAN};
}

int32_t kerf_schedule_times_make(int32_t devices, int32_t stages, const struct kerf_schedule_times_request *request,
                                 struct kerf_schedule_times **ret_times, struct kerf_error *err) {
    struct kerf_text text = {0};
    struct json_document document = {.root = NULL};
    struct json_object file;
    assert(devices >= 1 && stages >= 1);
    struct owned_times *owned = calloc(1, sizeof *owned);
    if (owned == NULL) return error_no_memory(err, "the times");
    int32_t code = check_numbers(request, err);
    if (code == KERF_OK && request->file) {
        if (request->file_text)
            kerf_text_add(&text, request->file_text);
        else
            code = input_read(request->file, TIMES_BYTES_MAX, &text, err);
        if (code == KERF_OK) code = json_document_parse(&document, text.data, text.length, request->file, &file, err);
        if (code == KERF_OK) code = read_file(&file, (size_t)devices, (size_t)stages, request->per_device, owned, err);
    }
    if (code == KERF_OK) code = fill_in(request, (size_t)devices, (size_t)stages, owned, err);
    const struct kerf_schedule_times *times = &owned->times;
    if (code == KERF_OK && times->cap_in_bytes && times->activation_bytes == NULL)
        code = kerf_error_set(err, KERF_EINVALID,
                              "a memory cap in bytes needs \"activation_bytes\" in the file of times; without them "
                              "a cap is a number of micro-batches");
    json_document_free(&document);
    kerf_text_free(&text);
    if (code != KERF_OK) {
        kerf_schedule_times_free(&owned->times);
        return code;
    }
    *ret_times = &owned->times;
    return KERF_OK;
}

/* ---- Times as the file that is read ----------------------------------------------------------------------- */

static void write_array(struct kerf_json *json, const char *key, const double *values, int32_t count, double more_s) {
    if (values == NULL) return;
    kerf_json_open(json, key, '[');
    for (int32_t i = 0; i < count; i++) kerf_json_number(json, NULL, values[i] + more_s);
    kerf_json_close(json, ']');
}

static void write_latency(struct kerf_json *json, const struct kerf_schedule_times *times, int32_t devices) {
    if (times->p2p_of_s == NULL) {
        kerf_json_number(json, "p2p", times->p2p_s);
        return;
    }
    kerf_json_open(json, "p2p", '[');
    for (int32_t i = 0; i < devices; i++)
        write_array(json, NULL, times->p2p_of_s + (size_t)i * (size_t)devices, devices, 0);
    kerf_json_close(json, ']');
}

/* Bytes are strings with their unit, so that they are not taken for micro-batches. */
static void write_cap(struct kerf_json *json, const struct kerf_schedule_times *times, int32_t devices) {
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
    write_array(json, "forward", times->forward_s, stages, more_s);
    write_array(json, "backward", times->backward_s, stages, more_s);
    write_array(json, "backward_input", times->backward_input_s, stages, more_s);
    write_array(json, "backward_weight", times->backward_weight_s, stages, more_s);
    write_array(json, "fused", times->fused_s, stages, more_s);
    write_array(json, "activation_bytes", times->activation_bytes, stages, 0);
    write_latency(json, times, devices);
    write_cap(json, times, devices);
}
