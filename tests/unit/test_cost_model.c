/* SPDX-License-Identifier: Apache-2.0 */
/* Cost models by name, and what an estimate promises whatever the model: parts that sum up, layers, JSON. The numbers
 * of the reference are held in tests/reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include "kerf/plan.h"

static const struct kerf_cost_model *cost_model;

static int find_model(void **state) {
    (void)state;
    return kerf_cost_model_find("reference", &cost_model, NULL);
}

static struct kerf_problem problem_of(const char *model, const char *system, enum kerf_strategy strategy, int64_t gpus,
                                      int64_t global_batch) {
    struct kerf_problem problem;
    memset(&problem, 0, sizeof problem);
    assert_int_equal(kerf_model_load(model, &problem.model, NULL), KERF_OK);
    assert_int_equal(kerf_system_load(system, &problem.system, NULL), KERF_OK);
    problem.strategy = strategy;
    problem.gpus = gpus;
    problem.global_batch = global_batch;
    problem.seq_length = problem.model.max_position_embeddings;
    return problem;
}

static struct kerf_layout layout_of(const char *text) {
    struct kerf_layout layout;
    struct kerf_error err;
    if (kerf_layout_parse_as(text, KERF_STRATEGY_1D, &layout, &err) != KERF_OK) fail_msg("%s", err.message);
    return layout;
}

static int near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b)); }

/* Problems and layouts of every strategy and attention. */
static const struct {
    const char *model, *system;
    enum kerf_strategy strategy;
    enum kerf_attention attention;
    int64_t gpus;
    const char *layout;
} samples[] = {
    {"gpt3", "a100", KERF_STRATEGY_1D, KERF_ATTENTION_FUSED, 64, "dp=2,tp1=8,pp=4,scale_up.tp1=4"},
    {"gpt3", "a100", KERF_STRATEGY_1D, KERF_ATTENTION_UNFUSED, 64,
     "dp=4,tp1=8,pp=2,micro_batch=2,scale_up.dp=2,scale_up.pp=2"},
    {"gpt3", "b200", KERF_STRATEGY_1D, KERF_ATTENTION_RECOMPUTED, 16, "dp=1,tp1=8,pp=2,scale_up.tp1=4"},
    {"gpt3", "h200", KERF_STRATEGY_SUMMA, KERF_ATTENTION_FUSED, 64,
     "dp=2,tp1=4,tp2=4,pp=2,summa_blocks=8,scale_up.tp1=4,scale_up.tp2=4"},
    {"gpt3", "a100", KERF_STRATEGY_SUMMA, KERF_ATTENTION_SUMMA, 64,
     "dp=2,tp1=4,tp2=4,pp=2,summa_blocks=4,scale_up.tp1=2,scale_up.tp2=2"},
    {"gpt3", "a100", KERF_STRATEGY_SUMMA, KERF_ATTENTION_UNFUSED, 64,
     "dp=2,tp1=4,tp2=4,pp=2,summa_blocks=4,scale_up.tp1=2"},
    {"vit_era5", "a100", KERF_STRATEGY_SEQP, KERF_ATTENTION_FUSED, 128, "dp=2,tp1=4,tp2=8,pp=2,scale_up.tp2=4"},
    {"vit_era5", "b200-next", KERF_STRATEGY_SEQP, KERF_ATTENTION_UNFUSED, 128,
     "dp=2,tp1=16,tp2=2,pp=2,scale_up.tp1=16,scale_up.tp2=2"},
    {"gpt3", "a100", KERF_STRATEGY_1D, KERF_ATTENTION_FUSED, 1, ""},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static void sample(size_t i, struct kerf_problem *problem, struct kerf_layout *layout) {
    *problem = problem_of(samples[i].model, samples[i].system, samples[i].strategy, samples[i].gpus, 64);
    problem->attention = samples[i].attention;
    *layout = layout_of(samples[i].layout[0] ? samples[i].layout : "dp=1");
}

/* ---- Names -------------------------------------------------------------------------------------------- */

static void finds_models_by_name(void **state) {
    (void)state;
    const struct kerf_cost_model *found = NULL;
    struct kerf_error err;
    assert_true(kerf_cost_model_count() >= 1);
    for (size_t i = 0; i < kerf_cost_model_count(); i++) {
        assert_int_equal(kerf_cost_model_find(kerf_cost_model_name(i), &found, &err), KERF_OK);
        assert_non_null(found);
        assert_true(strlen(kerf_cost_model_summary(i)) > 10);
    }
    assert_null(kerf_cost_model_name(kerf_cost_model_count()));
    assert_null(kerf_cost_model_summary(kerf_cost_model_count()));
    found = cost_model;
    assert_int_equal(kerf_cost_model_find("refrence", &found, &err), KERF_EUNKNOWN);
    assert_non_null(strstr(err.message, "unknown cost model 'refrence'; there is analytic, reference"));
    assert_int_equal(err.code, KERF_EUNKNOWN);
    assert_ptr_equal(found, cost_model);
    assert_int_equal(kerf_cost_model_find("", &found, NULL), KERF_EUNKNOWN);
}

/* ---- Estimates ---------------------------------------------------------------------------------------- */

static void the_parts_are_the_whole(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        struct kerf_problem problem;
        struct kerf_layout layout;
        struct kerf_estimate estimate;
        struct kerf_error err;
        sample(i, &problem, &layout);
        if (kerf_layout_estimate(cost_model, &problem, &layout, &estimate, &err) != KERF_OK)
            fail_msg("%zu: %s", i, err.message);
        const struct kerf_parts *time = &estimate.time_s, *memory = &estimate.memory;
        double sum_s = 0, sum_bytes = 0;
        assert_int_equal(time->count, 6);
        assert_int_equal(memory->count, 4);
        for (int32_t p = 0; p < time->count; p++) {
            assert_true(time->of[p].value >= 0 && isfinite(time->of[p].value));
            sum_s += time->of[p].value;
        }
        for (int32_t p = 0; p < memory->count; p++) {
            assert_true(memory->of[p].value >= 0 && isfinite(memory->of[p].value));
            sum_bytes += memory->of[p].value;
        }
        assert_true(estimate.flops_per_gpu >= 0 && isfinite(estimate.flops_per_gpu));
        if (problem.attention == KERF_ATTENTION_RECOMPUTED)
            assert_true(sum_s <
                        estimate.step_time_s); /* what runs again is in the whole alone: docs/reference-model.md */
        else
            assert_true(near(sum_s, estimate.step_time_s, 1e-12));
        assert_true(near(sum_bytes, estimate.memory_bytes, 1e-15));
        assert_true(near(estimate.throughput * estimate.step_time_s, (double)problem.global_batch, 1e-15));
        layout.scale_up = estimate.layout.scale_up;
        assert_int_equal(kerf_layout_compare(&layout, &estimate.layout), 0);
        if (layout.pp == 1) assert_true(kerf_part_value(time, "pp_comm") == 0 && kerf_part_value(time, "bubble") == 0);
        if (problem.gpus == 1)
            assert_true(kerf_part_value(time, "tp_comm") == 0 && kerf_part_value(time, "dp_comm") == 0);
    }
}

static void fits_up_to_the_last_byte(void **state) {
    (void)state;
    struct kerf_problem problem;
    struct kerf_layout layout;
    struct kerf_estimate estimate, exact, below;
    sample(0, &problem, &layout);
    assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &estimate, NULL), KERF_OK);
    problem.system.memory_capacity_bytes = estimate.memory_bytes;
    assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &exact, NULL), KERF_OK);
    assert_int_equal(exact.fits, 1);
    problem.system.memory_capacity_bytes = nextafter(estimate.memory_bytes, 0);
    assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &below, NULL), KERF_OK);
    assert_int_equal(below.fits, 0);
    assert_true(below.step_time_s == estimate.step_time_s); /* the capacity changes nothing else */
}

static void refuses_what_breaks_a_rule(void **state) {
    (void)state;
    struct kerf_problem problem;
    struct kerf_layout layout;
    struct kerf_estimate estimate, before;
    struct kerf_layer layers[KERF_LAYERS_MAX];
    struct kerf_error err;
    int32_t count = 42;
    sample(0, &problem, &layout);
    layout.micro_batch = 3;
    memset(&estimate, 0x5A, sizeof estimate);
    before = estimate;
    assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &estimate, &err), KERF_EINVALID);
    assert_string_equal(err.message, "micro_batch 3 does not divide 32 samples of a replica; 2 and 4 do");
    assert_memory_equal(&estimate, &before, sizeof estimate);
    assert_int_equal(kerf_layout_estimate_layers(cost_model, &problem, &layout, layers, &count, &err), KERF_EINVALID);
    assert_int_equal(count, 42);
    assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &estimate, NULL), KERF_EINVALID);
}

static void layers_add_up_to_the_step(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        struct kerf_problem problem;
        struct kerf_layout layout;
        struct kerf_estimate estimate;
        struct kerf_layer layers[KERF_LAYERS_MAX];
        int32_t count = 0;
        sample(i, &problem, &layout);
        assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &estimate, NULL), KERF_OK);
        assert_int_equal(kerf_layout_estimate_layers(cost_model, &problem, &layout, layers, &count, NULL), KERF_OK);
        assert_true(count > 0 && count <= KERF_LAYERS_MAX);
        double passes = (double)(problem.global_batch / layout.dp / layout.micro_batch *
                                 (problem.model.num_hidden_layers / layout.pp));
        double compute = 0, memory = 0, comm = 0, flops = 0, weights = 0;
        int modules[KERF_MODULE_COUNT] = {0};
        for (int32_t k = 0; k < count; k++) {
            const struct kerf_layer *layer = &layers[k];
            modules[layer->module]++;
            assert_true(strlen(layer->name) > 0);
            double again = problem.attention == KERF_ATTENTION_RECOMPUTED ? layer->t_fwd_s : 0;
            double fwd = layer->t_fwd_comp_s + layer->t_fwd_mem_s + layer->t_fwd_comm_s;
            double bwd = layer->t_bwd_comp_s + layer->t_bwd_mem_s + layer->t_bwd_comm_s;
            assert_true(near(fwd, layer->t_fwd_s, 1e-12));
            assert_true(near(bwd, layer->t_bwd_s, 1e-12) || (again > 0 && near(bwd + again, layer->t_bwd_s, 1e-12)));
            compute += layer->t_fwd_comp_s + layer->t_bwd_comp_s;
            memory += layer->t_fwd_mem_s + layer->t_bwd_mem_s;
            comm += layer->t_fwd_comm_s + layer->t_bwd_comm_s;
            flops += layer->flops_fwd + layer->flops_bwd;
            weights += layer->weights_bytes;
        }
        assert_true(modules[KERF_MODULE_MLP] > 0 && modules[KERF_MODULE_SA] > 0);
        assert_true(near(compute * passes, kerf_part_value(&estimate.time_s, "compute"), 1e-12));
        assert_true(near(memory * passes, kerf_part_value(&estimate.time_s, "memory"), 1e-12));
        assert_true(near(comm * passes, kerf_part_value(&estimate.time_s, "tp_comm"), 1e-12));
        assert_true(near(flops * passes, estimate.flops_per_gpu, 1e-12));
        assert_true(near(weights * (double)(problem.model.num_hidden_layers / layout.pp),
                         kerf_part_value(&estimate.memory, "weights"), 1e-12));
    }
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

static void expect_number(const json_t *object, const char *key, double value) {
    const json_t *json = json_object_get(object, key);
    if (!json_is_number(json) || json_number_value(json) != value) fail_msg("\"%s\" is not %.17g", key, value);
}

static void expect_keys(json_t *object, const char *keys) {
    char found[1024] = "";
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", *found ? " " : "", key);
    assert_string_equal(found, keys);
}

static void estimates_print_to_the_last_bit(void **state) {
    (void)state;
    struct kerf_problem problem;
    struct kerf_layout layout;
    struct kerf_estimate estimate;
    sample(0, &problem, &layout);
    assert_int_equal(kerf_layout_estimate(cost_model, &problem, &layout, &estimate, NULL), KERF_OK);
    for (int32_t rank = 0; rank <= 3; rank += 3) {
        struct kerf_text text = {0};
        struct kerf_json json;
        kerf_json_begin(&json, &text);
        kerf_json_open(&json, NULL, '{');
        kerf_estimate_json(&json, &problem, &estimate, rank);
        kerf_json_close(&json, '}');
        json_t *root = json_loadb(text.data, text.length, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(root);
        expect_keys(root, rank ? "rank throughput step_time_s memory_bytes fits layout time_s memory flops_per_gpu"
                               : "throughput step_time_s memory_bytes fits layout time_s memory flops_per_gpu");
        if (rank) expect_number(root, "rank", 3);
        expect_number(root, "throughput", estimate.throughput);
        expect_number(root, "step_time_s", estimate.step_time_s);
        expect_number(root, "memory_bytes", estimate.memory_bytes);
        expect_number(root, "flops_per_gpu", estimate.flops_per_gpu);
        assert_true(json_is_true(json_object_get(root, "fits")));
        json_t *time = json_object_get(root, "time_s"), *memory = json_object_get(root, "memory");
        expect_keys(time, "compute memory tp_comm dp_comm pp_comm bubble");
        expect_number(time, "compute", kerf_part_value(&estimate.time_s, "compute"));
        expect_number(time, "memory", kerf_part_value(&estimate.time_s, "memory"));
        expect_number(time, "tp_comm", kerf_part_value(&estimate.time_s, "tp_comm"));
        expect_number(time, "dp_comm", kerf_part_value(&estimate.time_s, "dp_comm"));
        expect_number(time, "pp_comm", kerf_part_value(&estimate.time_s, "pp_comm"));
        expect_number(time, "bubble", kerf_part_value(&estimate.time_s, "bubble"));
        expect_keys(memory, "weights gradients optimizer activations");
        expect_number(memory, "weights", kerf_part_value(&estimate.memory, "weights"));
        expect_number(memory, "gradients", kerf_part_value(&estimate.memory, "gradients"));
        expect_number(memory, "optimizer", kerf_part_value(&estimate.memory, "optimizer"));
        expect_number(memory, "activations", kerf_part_value(&estimate.memory, "activations"));
        json_decref(root);
        kerf_text_free(&text);
    }
}

static void layers_print_by_module(void **state) {
    (void)state;
    struct kerf_problem problem;
    struct kerf_layout layout;
    struct kerf_layer layers[KERF_LAYERS_MAX];
    int32_t count = 0;
    sample(0, &problem, &layout);
    assert_int_equal(kerf_layout_estimate_layers(cost_model, &problem, &layout, layers, &count, NULL), KERF_OK);
    struct kerf_text text = {0};
    struct kerf_json json;
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_layers_json(&json, layers, count);
    kerf_json_close(&json, '}');
    json_t *root = json_loadb(text.data, text.length, JSON_REJECT_DUPLICATES, NULL),
           *modules = json_object_get(root, "layers");
    expect_keys(modules, "mlp sa");
    size_t at[KERF_MODULE_COUNT] = {0};
    for (int32_t i = 0; i < count; i++) {
        const struct kerf_layer *layer = &layers[i];
        json_t *one = json_array_get(json_object_get(modules, layer->module == KERF_MODULE_MLP ? "mlp" : "sa"),
                                     at[layer->module]++);
        expect_keys(one,
                    "name flops_fwd flops_bwd weights_bytes activation_bytes t_fwd_s t_bwd_s t_fwd_comp_s t_fwd_mem_s "
                    "t_fwd_comm_s t_bwd_comp_s t_bwd_mem_s t_bwd_comm_s");
        assert_string_equal(json_string_value(json_object_get(one, "name")), layer->name);
        expect_number(one, "flops_fwd", layer->flops_fwd);
        expect_number(one, "flops_bwd", layer->flops_bwd);
        expect_number(one, "weights_bytes", layer->weights_bytes);
        expect_number(one, "activation_bytes", layer->activation_bytes);
        expect_number(one, "t_fwd_s", layer->t_fwd_s);
        expect_number(one, "t_bwd_s", layer->t_bwd_s);
        expect_number(one, "t_fwd_comp_s", layer->t_fwd_comp_s);
        expect_number(one, "t_fwd_mem_s", layer->t_fwd_mem_s);
        expect_number(one, "t_fwd_comm_s", layer->t_fwd_comm_s);
        expect_number(one, "t_bwd_comp_s", layer->t_bwd_comp_s);
        expect_number(one, "t_bwd_mem_s", layer->t_bwd_mem_s);
        expect_number(one, "t_bwd_comm_s", layer->t_bwd_comm_s);
    }
    assert_int_equal(json_array_size(json_object_get(modules, "mlp")), at[KERF_MODULE_MLP]);
    assert_int_equal(json_array_size(json_object_get(modules, "sa")), at[KERF_MODULE_SA]);
    json_decref(root);
    kerf_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_models_by_name),      cmocka_unit_test(the_parts_are_the_whole),
        cmocka_unit_test(fits_up_to_the_last_byte),  cmocka_unit_test(refuses_what_breaks_a_rule),
        cmocka_unit_test(layers_add_up_to_the_step), cmocka_unit_test(estimates_print_to_the_last_bit),
        cmocka_unit_test(layers_print_by_module),
    };
    return cmocka_run_group_tests(tests, find_model, NULL);
}
