/* SPDX-License-Identifier: Apache-2.0 */
/* The memory estimate against what llama.cpp v0.5.0 logged ("KV buffer size", "compute buffer size") for models of
 * tests/llama/make_gguf, its bounds, and its errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kerf/llama.h"

enum { LAYERS = 12, WINDOW = 512 };
static const double mib = 1024 * 1024;

enum model { T50, VOCAB, EXPERTS, GEMMA2, QWEN3, WIDE };

static struct kerf_gguf_layer layers[LAYERS];

/* Those that docs/tune-llama.md names. */
static struct kerf_gguf model(enum model which) {
    static const struct {
        int64_t layers, embd, heads, kv, ff, vocab, experts;
    } sizes[] = {{12, 512, 8, 4, 1536, 8192, 0}, {4, 256, 8, 2, 704, 32000, 0}, {4, 256, 8, 2, 512, 4096, 8},
                 {6, 256, 4, 2, 1024, 16000, 0}, {6, 256, 8, 2, 768, 8000, 0},  {2, 512, 8, 8, 4096, 1000, 0}};
    struct kerf_gguf gguf = {.architecture = "llama",
                             .block_count = sizes[which].layers,
                             .embedding_length = sizes[which].embd,
                             .context_length = 4096,
                             .vocab_size = sizes[which].vocab,
                             .feed_forward_length = sizes[which].ff,
                             .expert_count = sizes[which].experts,
                             .expert_used_count = sizes[which].experts ? 2 : 0,
                             .is_listed = 1,
                             .layers = layers};
    for (int64_t i = 0; i < gguf.block_count; i++) {
        int32_t head = (int32_t)(sizes[which].embd / sizes[which].heads);
        layers[i] = (struct kerf_gguf_layer){.bytes = 1000 + i,
                                             .feed_forward_length = sizes[which].ff,
                                             .head_count = (int32_t)sizes[which].heads,
                                             .head_count_kv = (int32_t)sizes[which].kv,
                                             .key_length = head,
                                             .value_length = head,
                                             .window = which == GEMMA2 && i % 2 == 0 ? WINDOW : 0,
                                             .keeps_kv = 1};
    }
    gguf.embedding_bytes = 500;
    gguf.output_bytes = 70;
    gguf.tensor_bytes = gguf.embedding_bytes + gguf.output_bytes;
    for (int64_t i = 0; i < gguf.block_count; i++) gguf.tensor_bytes += layers[i].bytes;
    return gguf;
}

static struct kerf_llama_memory estimate(const struct kerf_gguf *gguf, const struct kerf_llama_setting *setting) {
    struct kerf_llama_memory memory;
    struct kerf_error err = {0};
    int32_t code = kerf_llama_memory_estimate(gguf, setting, &memory, &err);
    if (code != KERF_OK) print_error("%s\n", err.message);
    assert_int_equal(code, KERF_OK);
    return memory;
}

static void as_llama_cpp_logged_it(void **state) {
    (void)state;
    static const struct {
        enum model model;
        int64_t context, outputs, batch, ubatch;
        int32_t attention;
        const char *kv;
        double kv_mib, compute_mib;
    } logged[] = {
        {T50, 512, 0, 2048, 512, KERF_LLAMA_ATTENTION_ON, "f16", 6.00, 18.00},
        {T50, 4096, 0, 2048, 512, KERF_LLAMA_ATTENTION_OFF, "f16", 48.00, 78.01},
        {T50, 4096, 0, 2048, 2048, KERF_LLAMA_ATTENTION_ON, "q8_0", 25.50, 76.01},
        {T50, 4096, 1, 2048, 512, KERF_LLAMA_ATTENTION_ON, "f16", 48.00, 17.01},
        {VOCAB, 512, 0, 256, 64, KERF_LLAMA_ATTENTION_ON, "q8_0", 0.27, 7.94},
        {VOCAB, 4096, 0, 2048, 512, KERF_LLAMA_ATTENTION_OFF, "f16", 4.00, 74.76},
        {VOCAB, 4096, 1, 2048, 2048, KERF_LLAMA_ATTENTION_ON, "f16", 4.00, 40.55},
        {EXPERTS, 4096, 0, 2048, 512, KERF_LLAMA_ATTENTION_ON, "f16", 4.00, 12.01},
        {EXPERTS, 512, 1, 2048, 512, KERF_LLAMA_ATTENTION_OFF, "f16", 0.50, 11.76},
        {GEMMA2, 512, 0, 512, 128, KERF_LLAMA_ATTENTION_ON, "f16", 1.50, 8.06},
        {GEMMA2, 4096, 1, 2048, 512, KERF_LLAMA_ATTENTION_ON, "f16", 7.50, 13.02},
        {GEMMA2, 4096, 0, 2048, 512, KERF_LLAMA_ATTENTION_OFF, "f16", 7.50, 45.51},
        {QWEN3, 4096, 1, 2048, 512, KERF_LLAMA_ATTENTION_OFF, "f16", 6.00, 74.76},
        {WIDE, 4096, 0, 256, 64, KERF_LLAMA_ATTENTION_ON, "f16", 16.00, 4.00},
        {WIDE, 512, 0, 2048, 512, KERF_LLAMA_ATTENTION_OFF, "f16", 2.00, 30.01},
    };
    for (size_t i = 0; i < sizeof logged / sizeof *logged; i++) {
        struct kerf_gguf gguf = model(logged[i].model);
        struct kerf_llama_setting setting;
        kerf_llama_setting_defaults(&setting);
        setting.context = logged[i].context;
        setting.outputs = logged[i].outputs;
        setting.batch = logged[i].batch;
        setting.ubatch = logged[i].ubatch;
        setting.flash_attention = logged[i].attention;
        setting.kv_type_k = setting.kv_type_v = logged[i].kv;
        struct kerf_llama_memory memory = estimate(&gguf, &setting);
        double kv = (double)memory.kv_host / mib, compute = (double)memory.compute_host / mib;
        if (fabs(kv - logged[i].kv_mib) > 0.006 || fabs(compute / logged[i].compute_mib - 1) > 0.08)
            print_error("row %zu: KV %.2f, compute %.2f\n", i, kv, compute);
        assert_true(fabs(kv - logged[i].kv_mib) <= 0.006); /* it prints two decimals */
        assert_true(fabs(compute / logged[i].compute_mib - 1) <= 0.08);
        assert_int_equal(memory.host, memory.weights_host + memory.kv_host + memory.compute_host + memory.output_host);
        assert_int_equal(memory.device, 0);
    }
}

static void sizes_are_rounded_as_llama_cpp_does(void **state) {
    (void)state;
    struct kerf_gguf gguf = model(T50);
    struct kerf_llama_setting setting;
    kerf_llama_setting_defaults(&setting);
    struct kerf_llama_memory memory = estimate(&gguf, &setting);
    assert_int_equal(memory.context, 4096); /* what the model was trained with */
    assert_int_equal(memory.batch, 2048);
    assert_int_equal(memory.ubatch, 512);
    assert_int_equal(memory.output_host, 4 * 8192 * 2048);
    setting.context = 1000;
    setting.ubatch = 4000;
    memory = estimate(&gguf, &setting);
    assert_int_equal(memory.context, 1024);
    assert_int_equal(memory.batch, 1000);
    assert_int_equal(memory.ubatch, 1000);
    int64_t alone = memory.kv_host;
    setting.sequences = 3;
    memory = estimate(&gguf, &setting);
    assert_int_equal(memory.context, 3 * 512);
    assert_int_equal(memory.kv_host, alone / 1024 * 1536);
}

static void layers_move_to_devices_from_the_last_one_on(void **state) {
    (void)state;
    struct kerf_gguf gguf = model(T50);
    struct kerf_llama_setting setting;
    kerf_llama_setting_defaults(&setting);
    int64_t kv = estimate(&gguf, &setting).kv_host;
    for (int64_t n = 0; n <= LAYERS + 2; n++) {
        setting.gpu_layers = n;
        struct kerf_llama_memory memory = estimate(&gguf, &setting);
        int64_t expected = n > 0 ? 70 : 0; /* the output is the first to go */
        for (int64_t i = LAYERS; i-- > 0 && LAYERS - i < n;) expected += layers[i].bytes;
        assert_int_equal(memory.weights_device, expected);
        assert_int_equal(memory.weights_host + memory.weights_device, gguf.tensor_bytes);
        assert_int_equal(memory.kv_host + memory.kv_device, kv);
        assert_int_equal(memory.kv_device, n > 1 ? kv / LAYERS * (n > LAYERS ? LAYERS : n - 1) : 0);
        assert_int_equal(memory.compute_device > 0, n > 0);
        assert_true(memory.compute_host > 0);
    }
    setting.gpu_layers = -1;
    gguf.tied = 1; /* the embedding stays, and a copy serves as the output */
    struct kerf_llama_memory memory = estimate(&gguf, &setting);
    assert_int_equal(memory.weights_host, 500);
    assert_int_equal(memory.weights_device, gguf.tensor_bytes);
}

static void states_count_once_a_sequence(void **state) {
    (void)state;
    struct kerf_gguf gguf = model(QWEN3);
    for (int64_t i = 0; i < gguf.block_count; i++) layers[i].keeps_kv = 0, layers[i].keeps_state = 1;
    gguf.state_values = 1000;
    struct kerf_llama_setting setting;
    kerf_llama_setting_defaults(&setting);
    setting.sequences = 4;
    assert_int_equal(estimate(&gguf, &setting).kv_host, 6 * 1000 * 4 * 4);
}

static void compressed_keys_are_values_too(void **state) {
    (void)state;
    struct kerf_gguf gguf = model(QWEN3);
    struct kerf_llama_setting setting;
    kerf_llama_setting_defaults(&setting);
    int64_t both = estimate(&gguf, &setting).kv_host;
    gguf.is_mla = 1;
    assert_int_equal(estimate(&gguf, &setting).kv_host, both / 2);
}

static void more_is_never_less(void **state) {
    (void)state;
    for (enum model which = T50; which <= WIDE; which++) {
        struct kerf_gguf gguf = model(which);
        struct kerf_llama_setting setting;
        kerf_llama_setting_defaults(&setting);
        setting.context = 4096;
        for (int32_t attention = KERF_LLAMA_ATTENTION_ON; attention <= KERF_LLAMA_ATTENTION_OFF; attention++) {
            struct kerf_llama_memory before = {0};
            setting.flash_attention = attention;
            for (setting.ubatch = 1; setting.ubatch <= 2048; setting.ubatch *= 2) {
                struct kerf_llama_memory memory = estimate(&gguf, &setting);
                assert_true(memory.compute_host > before.compute_host && memory.kv_host >= before.kv_host);
                before = memory;
            }
        }
    }
}

static void refused(const struct kerf_gguf *gguf, const struct kerf_llama_setting *setting, const char *message) {
    struct kerf_llama_memory memory;
    struct kerf_error err = {0};
    assert_int_equal(kerf_llama_memory_estimate(gguf, setting, &memory, &err), KERF_EINVALID);
    assert_string_equal(err.message, message);
}

static void what_cannot_be_estimated(void **state) {
    (void)state;
    struct kerf_gguf gguf = model(T50);
    struct kerf_llama_setting setting;
    kerf_llama_setting_defaults(&setting);
    setting.batch = -1;
    refused(&gguf, &setting, "batch is -1; it must be between 1 and 1073741824");
    setting.batch = 0;
    setting.outputs = -1;
    refused(&gguf, &setting, "outputs must be 1 or more, or 0 for all");
    setting.outputs = 0;
    setting.kv_type_v = "f17";
    refused(&gguf, &setting, "'f17' is not a type of KV cache");
    setting.kv_type_v = NULL;
    setting.gpu_layers = -3;
    refused(&gguf, &setting, "gpu_layers must be -1 or more");
    setting.gpu_layers = 0;
    layers[3].head_count = 0;
    refused(&gguf, &setting, "the model (llama) does not say its attention.head_count");
    gguf.vocab_size = 0;
    refused(&gguf, &setting, "the model (llama) does not say its vocabulary");
}

static void the_machine_has_memory(void **state) {
    (void)state;
    struct kerf_machine_memory memory = {0};
    struct kerf_error err = {0};
    assert_int_equal(kerf_machine_memory_read(&memory, &err), KERF_OK);
    assert_true(memory.available > 0 && memory.available <= memory.total);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_llama_cpp_logged_it),
        cmocka_unit_test(sizes_are_rounded_as_llama_cpp_does),
        cmocka_unit_test(layers_move_to_devices_from_the_last_one_on),
        cmocka_unit_test(states_count_once_a_sequence),
        cmocka_unit_test(compressed_keys_are_values_too),
        cmocka_unit_test(more_is_never_less),
        cmocka_unit_test(what_cannot_be_estimated),
        cmocka_unit_test(the_machine_has_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
