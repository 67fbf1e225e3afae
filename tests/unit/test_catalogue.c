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
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "kerf/spec.h"

static void expect_files(const char *kind) {
    struct kerf_catalogue *catalogue;
    assert_int_equal(kerf_catalogue_list(kind, &catalogue, NULL), KERF_OK);
    assert_true(catalogue->count >= 3);
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct kerf_catalogue_entry *entry = &catalogue->entries[i];
        char path[512];
        struct kerf_text text = {0};
        snprintf(path, sizeof path, "%s/share/%s/%s.json", KERF_SOURCE_DIR, kind, entry->name);
        assert_int_equal(input_read(path, 1 << 20, &text, NULL), KERF_OK);
        assert_int_equal(entry->length, text.length);
        assert_memory_equal(entry->json, text.data, text.length);
        kerf_text_free(&text);
    }
    assert_null(kerf_catalogue_free(catalogue));
}

static void holds_the_files_of_share(void **state) {
    (void)state;
    expect_files("models");
    expect_files("systems");
}

static void every_entry_can_be_read_by_its_name(void **state) {
    (void)state;
    struct kerf_catalogue *catalogue;
    assert_int_equal(kerf_catalogue_list("models", &catalogue, NULL), KERF_OK);
    for (size_t i = 0; i < catalogue->count; i++) {
        struct kerf_model model;
        assert_int_equal(kerf_model_load(catalogue->entries[i].name, &model, NULL), KERF_OK);
        assert_string_equal(model.name, catalogue->entries[i].name);
        assert_true(model.max_position_embeddings > 0); /* no question about them needs --seq-length */
        assert_int_equal(model.num_ignored, 0);
        assert_int_equal(model.assumed, 0);
    }
    kerf_catalogue_free(catalogue);
    assert_int_equal(kerf_catalogue_list("systems", &catalogue, NULL), KERF_OK);
    for (size_t i = 0; i < catalogue->count; i++) {
        struct kerf_system system;
        assert_int_equal(kerf_system_load(catalogue->entries[i].name, &system, NULL), KERF_OK);
        assert_string_equal(system.name, catalogue->entries[i].name);
    }
    kerf_catalogue_free(catalogue);
    static const char *const wrong[] = {"a100", "", "gpt", "GPT3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(kerf_model_load(wrong[i], &(struct kerf_model){0}, NULL), KERF_EUNKNOWN);
}

static const char *const file_names[] = {"mine", "gpt3", ".hidden"};

/* ROOT/BELOW/models with a file of each name, whose models are `hidden` wide. */
static void make_folder(const char *root, const char *below, int hidden) {
    char path[128];
    snprintf(path, sizeof path, "%s%s", root, below);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s%s/models", root, below);
    assert_int_equal(mkdir(path, 0777), 0);
    for (size_t i = 0; i < sizeof file_names / sizeof *file_names; i++) {
        snprintf(path, sizeof path, "%s%s/models/%s.json", root, below, file_names[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file,
                "{\"hidden_size\":%d,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"intermediate_size\":256}",
                hidden);
        fclose(file);
    }
}

static void remove_folder(const char *root, const char *below) {
    char path[128];
    for (size_t i = 0; i < sizeof file_names / sizeof *file_names; i++) {
        snprintf(path, sizeof path, "%s%s/models/%s.json", root, below, file_names[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s%s/models", root, below);
    rmdir(path);
    snprintf(path, sizeof path, "%s%s", root, below);
    rmdir(path);
}

static int64_t hidden_size_of(const char *name) {
    struct kerf_model model;
    return kerf_model_load(name, &model, NULL) == KERF_OK ? model.hidden_size : 0;
}

/* Folders add names. One that the library has too is an error where the user made the file: neither of the two meanings
 * is taken in silence. */
static void files_of_folders_have_names(void **state) {
    (void)state;
    char root[] = "/tmp/kerf_catalogue_XXXXXX", path[64];
    struct kerf_model model;
    struct kerf_catalogue *catalogue;
    struct kerf_error err;
    assert_non_null(mkdtemp(root));
    make_folder(root, "/installed", 64);
    make_folder(root, "/kerf", 128);
    make_folder(root, "/named", 192);
    setenv("XDG_DATA_HOME", "/nowhere", 1);
    assert_int_equal(hidden_size_of("mine"), 0);
    snprintf(path, sizeof path, "%s/installed", root);
    setenv("KERF_DATA_DIR", path, 1);
    assert_int_equal(hidden_size_of("mine"), 64);
    assert_int_equal(hidden_size_of("gpt3"), 12288); /* an older installation's */
    setenv("XDG_DATA_HOME", root, 1);
    assert_int_equal(hidden_size_of("mine"), 128);
    snprintf(path, sizeof path, "%s/named", root);
    setenv("KERF_CATALOGUE", path, 1);
    assert_int_equal(hidden_size_of("mine"), 192);
    assert_int_equal(kerf_model_load("gpt3", &model, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "'gpt3' is a name of kerf's own, and of /tmp/kerf_catalogue_"));
    assert_int_equal(hidden_size_of(".hidden"), 0);
    assert_int_equal(kerf_model_load("mime", &model, &err), KERF_EUNKNOWN);
    assert_non_null(strstr(err.message, "did you mean mine?"));
    assert_int_equal(kerf_catalogue_list("models", &catalogue, NULL), KERF_OK);
    assert_string_equal(catalogue->entries[catalogue->count - 1].name, "mine");
    assert_string_not_equal(catalogue->entries[catalogue->count - 2].name, "mine"); /* once */
    assert_non_null(strstr(catalogue->entries[catalogue->count - 1].json, "192"));
    kerf_catalogue_free(catalogue);
    unsetenv("KERF_CATALOGUE");
    unsetenv("KERF_DATA_DIR");
    unsetenv("XDG_DATA_HOME");
    remove_folder(root, "/installed");
    remove_folder(root, "/kerf");
    remove_folder(root, "/named");
    rmdir(root);
}

static void the_models_are_the_published_shapes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, max_position_embeddings,
            vocab_size;
    } expected[] = {
        {.name = "gpt3",
         .hidden_size = 12288,
         .intermediate_size = 49152,
         .num_hidden_layers = 96,
         .num_attention_heads = 96,
         .max_position_embeddings = 2048,
         .vocab_size = 51200},
        {.name = "gpt3_1t",
         .hidden_size = 25600,
         .intermediate_size = 102400,
         .num_hidden_layers = 128,
         .num_attention_heads = 160,
         .max_position_embeddings = 2048,
         .vocab_size = 51200},
        {.name = "vit_era5",
         .hidden_size = 12288,
         .intermediate_size = 49152,
         .num_hidden_layers = 48,
         .num_attention_heads = 64,
         .max_position_embeddings = 64800},
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
        cmocka_unit_test(holds_the_files_of_share),       cmocka_unit_test(every_entry_can_be_read_by_its_name),
        cmocka_unit_test(files_of_folders_have_names),    cmocka_unit_test(the_models_are_the_published_shapes),
        cmocka_unit_test(the_systems_are_the_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
