/* SPDX-License-Identifier: Apache-2.0 */
/* How a setting is written for llama.cpp's programs, and what best_bub would have searched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "kerf/llama.h"

static void written(const char *tool, const struct kerf_llama_setting *setting, const char *expected) {
    struct kerf_text out = {0};
    struct kerf_error err = {0};
    assert_int_equal(kerf_llama_flags(tool, setting, &out, &err), KERF_OK);
    assert_string_equal(out.data ? out.data : "", expected);
    kerf_text_free(&out);
}

static void flags_of_every_program(void **state) {
    (void)state;
    struct kerf_llama_setting setting;
    kerf_llama_setting_defaults(&setting);
    for (size_t i = 0; kerf_llama_tool_at(i); i++) written(kerf_llama_tool_at(i), &setting, "");
    setting.batch = 512;
    setting.ubatch = 128;
    for (size_t i = 0; kerf_llama_tool_at(i); i++) written(kerf_llama_tool_at(i), &setting, "-b 512 -ub 128");
    setting.threads = 8;
    setting.threads_batch = 8;
    setting.flash_attention = KERF_LLAMA_ATTENTION_ON;
    setting.kv_type_k = "q8_0";
    setting.kv_type_v = "q4_0";
    setting.gpu_layers = 0;
    setting.mmap = 0;
    written("llama-bench", &setting, "-b 512 -ub 128 -t 8 -fa on -ctk q8_0 -ctv q4_0 -ngl 0 -lm none");
    setting.context = 4096;
    setting.threads_batch = 4;
    setting.gpu_layers = -1;
    setting.mmap = 1;
    static const char *const common[] = {"llama-server", "llama-cli", "llama-completion", "llama-perplexity",
                                         "llama-imatrix"};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        written(common[i], &setting, "-c 4096 -b 512 -ub 128 -t 8 -tb 4 -fa on -ctk q8_0 -ctv q4_0 -ngl all -lm mmap");
    setting.context = 0;
    setting.threads = 0;
    setting.flash_attention = KERF_LLAMA_ATTENTION_OFF;
    written("llama-bench", &setting, "-b 512 -ub 128 -t 4 -fa off -ctk q8_0 -ctv q4_0 -ngl -1 -lm mmap");
}

static void refused(const char *tool, const struct kerf_llama_setting *setting, int32_t code, const char *message) {
    struct kerf_text out = {0};
    struct kerf_error err = {0};
    assert_int_equal(kerf_llama_flags(tool, setting, &out, &err), code);
    assert_string_equal(err.message, message);
    assert_null(out.data);
}

static void what_a_program_cannot_be_told(void **state) {
    (void)state;
    struct kerf_llama_setting setting;
    kerf_llama_setting_defaults(&setting);
    setting.batch = -5;
    refused("llama-server", &setting, KERF_EINVALID, "batch cannot be -5");
    kerf_llama_setting_defaults(&setting);
    setting.flash_attention = 9;
    refused("llama-server", &setting, KERF_EINVALID, "flash_attention cannot be 9");
    kerf_llama_setting_defaults(&setting);
    refused("llama-serve", &setting, KERF_EUNKNOWN,
            "llama.cpp has no program 'llama-serve' that takes settings; did you mean llama-server?");
    refused("cat", &setting, KERF_EUNKNOWN, "llama.cpp has no program 'cat' that takes settings");
    setting.context = 512;
    refused("llama-bench", &setting, KERF_EUNSUPPORTED, "llama-bench has no option for the context");
    setting.context = 0;
    setting.threads = 4;
    setting.threads_batch = 8;
    refused("llama-bench", &setting, KERF_EUNSUPPORTED, "llama-bench has one option for threads and threads_batch");
    setting.threads = 0;
    setting.sequences = 2;
    refused("llama-bench", &setting, KERF_EUNSUPPORTED, "llama-bench runs one sequence");
}

/* ---- best_bub --------------------------------------------------------------------------------------------- */

/* Llama 2 7B in F16: the sizes of its published file. */
static const struct kerf_gguf llama7b = {.architecture = "llama",
                                         .file_bytes = 13478104576,
                                         .block_count = 32,
                                         .embedding_length = 4096,
                                         .feed_forward_length = 11008,
                                         .context_length = 4096,
                                         .vocab_size = 32000};

static struct kerf_bub_limits limits_of(int64_t context, double memory_bytes, int32_t imatrix) {
    struct kerf_bub_limits limits;
    assert_int_equal(kerf_bub_limits_estimate(&llama7b, context, memory_bytes, imatrix, &limits, NULL), KERF_OK);
    return limits;
}

static void best_bub_searches_as_many_as_it_did(void **state) {
    (void)state;
    static const int64_t expected[][3] = {
        /* context, trials, most exponent */ {512, 22, 9}, {2048, 26, 11}, {8192, 29, 13}, {32768, 31, 15}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct kerf_bub_limits limits = limits_of(expected[i][0], 24e9, 0);
        assert_int_equal(limits.max_batch, expected[i][0]);
        assert_int_equal(limits.trials, expected[i][1]);
        assert_int_equal(limits.batch_exponents[0], 4);
        assert_int_equal(limits.batch_exponents[1], expected[i][2]);
        assert_int_equal(limits.ubatch_exponents[0], 1);
        assert_int_equal(limits.ubatch_exponents[1], expected[i][2]);
        assert_int_equal(limits.chunks, 5);
    }
    assert_int_equal(limits_of(32768, 24e9, 1).ubatch_exponents[1], 12); /* the model's context */
}

static void best_bub_knows_memory_as_it_did(void **state) {
    (void)state;
    struct kerf_bub_limits limits = limits_of(1 << 20, 24e9, 0);
    double weights = 32000.0 * 4096 + 32 * (4.0 * 4096 * 4096 + 4.0 * 4096 * 11008);
    assert_true(fabs(limits.bits - 8 * 13478104576.0 / weights) < 1e-12);
    assert_int_equal(limits.max_batch, (int64_t)((24e9 - 13478104576.0) / (4096 * 32 * limits.bits / 8)));
    limits = limits_of(512, 1e9, 0); /* less memory than the file: it would have tried nothing */
    assert_int_equal(limits.max_batch, 0);
    assert_int_equal(limits.trials, 0);
    assert_true(limits.batch_exponents[1] < limits.batch_exponents[0]);
    struct kerf_gguf nothing = {.architecture = "clip"};
    struct kerf_error err = {0};
    assert_int_equal(kerf_bub_limits_estimate(&nothing, 512, 1e9, 0, &limits, &err), KERF_EINVALID);
    assert_string_equal(err.message, "the model (clip) does not say its embedding_length or block_count");
    assert_int_equal(kerf_bub_limits_estimate(&llama7b, 0, 1e9, 0, &limits, &err), KERF_EINVALID);
    assert_int_equal(kerf_bub_limits_estimate(&llama7b, 512, NAN, 0, &limits, &err), KERF_EINVALID);
    assert_int_equal(kerf_bub_limits_estimate(&llama7b, 512, -1, 0, &limits, &err), KERF_EINVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_of_every_program),
        cmocka_unit_test(what_a_program_cannot_be_told),
        cmocka_unit_test(best_bub_searches_as_many_as_it_did),
        cmocka_unit_test(best_bub_knows_memory_as_it_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
