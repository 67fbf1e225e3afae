/* SPDX-License-Identifier: Apache-2.0 */
/* What comes with kerf: every entry is the file in share/ to the letter, can be read, and is what the reference has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "kerf/spec.h"
#include "spec/catalogue.h"

static void expect_files(const struct kerf_catalogue_entry *entries, size_t count, const char *folder) {
    for (size_t i = 0; i < count; i++) {
        char path[512];
        struct kerf_text text = {0};
        snprintf(path, sizeof path, "%s/share/%s/%s.json", KERF_SOURCE_DIR, folder, entries[i].name);
        assert_int_equal(input_read(path, 1 << 20, &text, NULL), KERF_OK);
        assert_int_equal(entries[i].length, text.length);
        assert_int_equal(strlen(entries[i].json), text.length);
        assert_memory_equal(entries[i].json, text.data, text.length);
        kerf_text_free(&text);
    }
    assert_null(entries[count].name);
}

static void holds_the_files_of_share(void **state) {
    (void)state;
    size_t count;
    const struct kerf_catalogue_entry *entries = kerf_catalogue_models(&count);
    assert_true(count >= 30);
    expect_files(entries, count, "models");
    entries = kerf_catalogue_systems(&count);
    assert_true(count >= 4);
    expect_files(entries, count, "systems");
}

static void every_entry_can_be_read_by_its_name(void **state) {
    (void)state;
    size_t count;
    const struct kerf_catalogue_entry *entries = kerf_catalogue_models(&count);
    for (size_t i = 0; i < count; i++) {
        struct kerf_model model;
        assert_int_equal(kerf_model_load(entries[i].name, &model, NULL), KERF_OK);
        assert_string_equal(model.name, entries[i].name);
        assert_true(model.max_position_embeddings > 0); /* no question about them needs --seq-length */
        assert_int_equal(model.num_ignored, 0);
        assert_int_equal(model.assumed, 0);
        assert_ptr_equal(catalogue_find(catalogue_models, entries[i].name), &entries[i]);
    }
    entries = kerf_catalogue_systems(&count);
    for (size_t i = 0; i < count; i++) {
        struct kerf_system system;
        assert_int_equal(kerf_system_load(entries[i].name, &system, NULL), KERF_OK);
        assert_string_equal(system.name, entries[i].name);
    }
    assert_null(catalogue_find(catalogue_models, "a100"));
    assert_null(catalogue_find(catalogue_models, ""));
    assert_null(catalogue_find(catalogue_models, "gpt"));
    assert_null(catalogue_find(catalogue_models, "GPT3"));
}

static void the_models_are_the_published_shapes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, max_position_embeddings, vocab_size;
    } expected[] = {
        {"gpt3", 12288, 49152, 96, 96, 2048, 51200},
        {"gpt3_1t", 25600, 102400, 128, 160, 2048, 51200},
        {"vit_era5", 12288, 49152, 48, 64, 64800, 0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct kerf_model model;
        assert_int_equal(kerf_model_load(expected[i].name, &model, NULL), KERF_OK);
        assert_int_equal(model.hidden_size, expected[i].hidden_size);
        assert_int_equal(model.intermediate_size, expected[i].intermediate_size);
        assert_int_equal(model.num_hidden_layers, expected[i].num_hidden_layers);
        assert_int_equal(model.num_attention_heads, expected[i].num_attention_heads);
        assert_int_equal(model.max_position_embeddings, expected[i].max_position_embeddings);
        assert_int_equal(model.vocab_size, expected[i].vocab_size);
    }
}

/* Figures of the reference's systems/ files, to the last bit. */
static void the_systems_are_the_references(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double matrix, vector, bandwidth, capacity, up, up_efficiency, up_latency, out, out_efficiency, out_latency;
    } expected[] = {
        {"a100", 312e12, 78e12, 1555e9, 80e9, 300e9, 0.7, 2.5e-6, 25e9, 0.7, 5e-6},
        {"h200", 989.4e12, 133.8e12, 4800e9, 141e9, 450e9, 0.7, 2.5e-6, 50e9, 0.7, 5e-6},
        {"b200", 2500e12, 339e12, 8000e9, 192e9, 900e9, 0.7, 2.5e-6, 100e9, 0.7, 5e-6},
        {"b200-next", 3750e12, 508.5e12, 16000e9, 384e9, 3600e9, 0.8, 5e-6, 200e9, 0.8, 1e-5},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct kerf_system system;
        assert_int_equal(kerf_system_load(expected[i].name, &system, NULL), KERF_OK);
        assert_true(system.matrix_flops_per_s == expected[i].matrix);
        assert_true(system.vector_flops_per_s == expected[i].vector);
        assert_true(system.memory_bandwidth_bytes_per_s == expected[i].bandwidth);
        assert_true(system.memory_capacity_bytes == expected[i].capacity);
        assert_true(system.scale_up.bandwidth_bytes_per_s == expected[i].up);
        assert_true(system.scale_up.efficiency == expected[i].up_efficiency);
        assert_true(system.scale_up.latency_s == expected[i].up_latency);
        assert_true(system.scale_out.bandwidth_bytes_per_s == expected[i].out);
        assert_true(system.scale_out.efficiency == expected[i].out_efficiency);
        assert_true(system.scale_out.latency_s == expected[i].out_latency);
        assert_true(system.scale_out.nics_per_device == 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_the_files_of_share),
        cmocka_unit_test(every_entry_can_be_read_by_its_name),
        cmocka_unit_test(the_models_are_the_published_shapes),
        cmocka_unit_test(the_systems_are_the_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
