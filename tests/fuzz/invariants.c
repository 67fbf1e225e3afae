/* SPDX-License-Identifier: Apache-2.0 */
#include "invariants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xA5 };

_Noreturn void broken(const char *condition, const char *file, int line) {
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    abort();
}

void poison(void *output, size_t size) { memset(output, POISON, size); }

int is_poisoned(const void *output, size_t size) {
    const unsigned char *bytes = output;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != POISON) return 0;
    return 1;
}

int is_plain(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    for (; *c; c++)
        if (*c < ' ' || *c == 127 || (*c == 0xC2 && c[1] < 0xA0)) return 0;
    json_t *utf8 = json_string(text); /* NULL for what is no UTF-8 */
    json_decref(utf8);
    return utf8 != NULL;
}

/* ---- Errors ------------------------------------------------------------------------------------------- */

static void check_place(const struct kerf_error *err, const char *text, size_t length) {
    const char *end = text + length, *start = text;
    for (int32_t line = 1; line < err->line; line++) {
        const char *newline = start < end ? memchr(start, '\n', (size_t)(end - start)) : NULL;
        CHECK(newline != NULL);
        start = newline + 1;
    }
    const char *newline = start < end ? memchr(start, '\n', (size_t)(end - start)) : NULL;
    CHECK(err->column <= (newline ? newline : end) - start + 1);
}

void check_error(int32_t code, const struct kerf_error *err, const char *source, const char *text, size_t length) {
    CHECK(code < 0 && strcmp(kerf_error_name(code), "?") != 0);
    CHECK(err->code == code);
    CHECK(memchr(err->message, 0, sizeof err->message) && memchr(err->file, 0, sizeof err->file));
    CHECK(err->message[0] != 0 && is_plain(err->message) && is_plain(err->file));
    CHECK(err->line >= 0 && err->column >= 0);
    CHECK((err->line == 0) == (err->column == 0));
    CHECK(err->file[0] != 0 || err->line == 0);
    char line[sizeof err->file + sizeof err->message + 32];
    kerf_error_format(err, line, sizeof line);
    CHECK(is_plain(line) && strstr(line, err->message));
    if (text && strcmp(err->file, source) == 0) {
        CHECK(err->line > 0);
        check_place(err, text, length);
    }
}

/* ---- What was read ------------------------------------------------------------------------------------ */

static void check_name(const char name[KERF_NAME_SIZE]) {
    CHECK(memchr(name, 0, KERF_NAME_SIZE));
    CHECK(is_plain(name));
}

void check_model(const struct kerf_model *model) {
    check_name(model->name);
    CHECK(model->hidden_size >= 1 && model->hidden_size <= 1 << 24);
    CHECK(model->intermediate_size >= 1 && model->intermediate_size <= 1 << 26);
    CHECK(model->num_hidden_layers >= 1 && model->num_hidden_layers <= 1 << 20);
    CHECK(model->num_attention_heads >= 1 && model->num_attention_heads <= 1 << 20);
    CHECK(model->max_position_embeddings >= 0 && model->max_position_embeddings <= 1 << 30);
    CHECK(model->num_runs > 0 || model->hidden_size % model->num_attention_heads == 0);
}

static int is_rate(double value) { return value >= 1e-30 && value <= 1e30; }
static int is_share(double value) { return value >= 1e-30 && value <= 1; }
static int is_latency(double value) { return value >= 0 && value <= 1e30; }

void check_system(const struct kerf_system *system) {
    check_name(system->name);
    CHECK(is_rate(system->matrix_flops_per_s));
    CHECK(is_rate(system->vector_flops_per_s));
    CHECK(is_rate(system->memory_bandwidth_bytes_per_s));
    CHECK(is_rate(system->memory_capacity_bytes));
    CHECK(system->scale_up.size >= 1 && system->scale_up.size <= 1 << 20);
    CHECK(is_rate(system->scale_up.bandwidth_bytes_per_s));
    CHECK(is_share(system->scale_up.efficiency));
    CHECK(is_latency(system->scale_up.latency_s));
    CHECK(is_rate(system->scale_out.bandwidth_bytes_per_s));
    CHECK(is_share(system->scale_out.efficiency));
    CHECK(is_latency(system->scale_out.latency_s));
    CHECK(is_rate(system->scale_out.nics_per_device));
}

/* ---- Estimates ---------------------------------------------------------------------------------------- */

static double sum_of(const struct kerf_parts *parts) {
    double sum = 0;
    CHECK(parts->count >= 1 && parts->count <= KERF_PARTS_MAX);
    for (int32_t i = 0; i < parts->count; i++) {
        CHECK(parts->of[i].value >= 0 && isfinite(parts->of[i].value));
        sum += parts->of[i].value;
    }
    return sum;
}

static int is_part_of(int64_t asked, int64_t placed, int64_t all) {
    return asked ? asked == placed : placed >= 1 && all % placed == 0;
}

/* The layout that was asked for, its placement chosen where it was not named. */
static void check_placement(const struct kerf_problem *problem, const struct kerf_layout *asked,
                            const struct kerf_layout *found) {
    struct kerf_layout same = *found;
    same.scale_up = asked->scale_up;
    CHECK(kerf_layout_compare(&same, asked) == 0);
    CHECK(is_part_of(asked->scale_up.tp1, found->scale_up.tp1, found->tp1));
    CHECK(is_part_of(asked->scale_up.tp2, found->scale_up.tp2, found->tp2));
    CHECK(is_part_of(asked->scale_up.dp, found->scale_up.dp, found->dp));
    CHECK(is_part_of(asked->scale_up.pp, found->scale_up.pp, found->pp));
    CHECK(kerf_layout_check(problem, found, NULL) == KERF_OK);
}

void check_estimate(const struct kerf_problem *problem, const struct kerf_layout *layout,
                    const struct kerf_estimate *estimate) {
    const double wholes[] = {estimate->flops_per_gpu, estimate->memory_bytes, estimate->step_time_s,
                             estimate->throughput};
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) CHECK(wholes[i] >= 0 && isfinite(wholes[i]));
    check_placement(problem, layout, &estimate->layout);
    CHECK(estimate->fits == (estimate->memory_bytes <= problem->system.memory_capacity_bytes));
    CHECK(estimate->memory_bytes == sum_of(&estimate->memory));
    CHECK(estimate->step_time_s > 0);
    CHECK(estimate->throughput == (double)problem->global_batch / estimate->step_time_s);
    double sum_s = sum_of(&estimate->time_s);
    if (problem->attention != KERF_ATTENTION_RECOMPUTED)
        CHECK(fabs(sum_s - estimate->step_time_s) <= 1e-9 * estimate->step_time_s);
}

int same_estimate(const struct kerf_estimate *a, const struct kerf_estimate *b) {
    return kerf_layout_compare(&a->layout, &b->layout) == 0 && a->fits == b->fits &&
           memcmp(&a->throughput, &b->throughput, sizeof a->throughput) == 0 &&
           memcmp(&a->step_time_s, &b->step_time_s, sizeof a->step_time_s) == 0 &&
           memcmp(&a->memory_bytes, &b->memory_bytes, sizeof a->memory_bytes) == 0 &&
           memcmp(&a->time_s, &b->time_s, sizeof a->time_s) == 0 &&
           memcmp(&a->memory, &b->memory, sizeof a->memory) == 0 &&
           memcmp(&a->flops_per_gpu, &b->flops_per_gpu, sizeof a->flops_per_gpu) == 0;
}

/* ---- What was printed --------------------------------------------------------------------------------- */

json_t *read_back(const struct kerf_text *text) {
    json_error_t error;
    CHECK(!text->failed && text->data);
    /* an integer may have more digits than jansson's own */
    json_t *root = json_loadb(text->data, text->length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    CHECK(root != NULL);
    return root;
}

void check_number(const json_t *object, const char *key, double value) {
    const json_t *json = json_object_get(object, key);
    CHECK(json != NULL);
    if (!isfinite(value)) {
        CHECK(json_is_null(json));
        return;
    }
    CHECK(json_is_number(json));
    CHECK(isfinite(json_number_value(json)) && json_number_value(json) == value);
}

void check_estimate_json(const json_t *object, const struct kerf_estimate *estimate) {
    const json_t *layout = json_object_get(object, "layout"), *up = json_object_get(layout, "scale_up");
    const json_t *time_s = json_object_get(object, "time_s"), *memory = json_object_get(object, "memory");
    check_number(object, "throughput", estimate->throughput);
    check_number(object, "step_time_s", estimate->step_time_s);
    check_number(object, "memory_bytes", estimate->memory_bytes);
    check_number(object, "flops_per_gpu", estimate->flops_per_gpu);
    CHECK(json_is_boolean(json_object_get(object, "fits")));
    CHECK(json_is_true(json_object_get(object, "fits")) == (estimate->fits == 1));
    check_number(layout, "dp", (double)estimate->layout.dp);
    check_number(layout, "tp1", (double)estimate->layout.tp1);
    check_number(layout, "tp2", (double)estimate->layout.tp2);
    check_number(layout, "pp", (double)estimate->layout.pp);
    check_number(layout, "micro_batch", (double)estimate->layout.micro_batch);
    check_number(layout, "summa_blocks", (double)estimate->layout.summa_blocks);
    check_number(up, "tp1", (double)estimate->layout.scale_up.tp1);
    check_number(up, "tp2", (double)estimate->layout.scale_up.tp2);
    check_number(up, "dp", (double)estimate->layout.scale_up.dp);
    check_number(up, "pp", (double)estimate->layout.scale_up.pp);
    check_number(time_s, "compute", kerf_part_value(&estimate->time_s, "compute"));
    check_number(time_s, "memory", kerf_part_value(&estimate->time_s, "memory"));
    check_number(time_s, "tp_comm", kerf_part_value(&estimate->time_s, "tp_comm"));
    check_number(time_s, "dp_comm", kerf_part_value(&estimate->time_s, "dp_comm"));
    check_number(time_s, "pp_comm", kerf_part_value(&estimate->time_s, "pp_comm"));
    check_number(time_s, "bubble", kerf_part_value(&estimate->time_s, "bubble"));
    check_number(memory, "weights", kerf_part_value(&estimate->memory, "weights"));
    check_number(memory, "gradients", kerf_part_value(&estimate->memory, "gradients"));
    check_number(memory, "optimizer", kerf_part_value(&estimate->memory, "optimizer"));
    check_number(memory, "activations", kerf_part_value(&estimate->memory, "activations"));
}
