/* SPDX-License-Identifier: Apache-2.0 */
/* Models of make_gguf, read back: sizes, types, and that a seed makes the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/input.h"
#include "kerf/gguf.h"

static char folder[] = "/tmp/kerf_make_XXXXXX";
static char model[128];

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(model, sizeof model, "%s/model.gguf", folder);
    return 0;
}
static int remove_folder(void **state) {
    (void)state;
    unlink(model);
    return rmdir(folder);
}

static int make(const char *options) {
    char command[1024];
    snprintf(command, sizeof command, "'%s' '%s' %s 2>/dev/null", KERF_MAKE_GGUF, model, options);
    return system(command);
}

static struct kerf_gguf *made(const char *options) {
    struct kerf_gguf *gguf = NULL;
    struct kerf_error err = {0};
    assert_int_equal(make(options), 0);
    int32_t code = kerf_gguf_read(model, &gguf, &err);
    if (code != KERF_OK) print_error("%s\n", err.message);
    assert_int_equal(code, KERF_OK);
    return gguf;
}

static void the_smallest_is_read_back(void **state) {
    (void)state;
    struct kerf_gguf *gguf = made("");
    int64_t weights = 512 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 128), norms = 5 * 64;
    assert_string_equal(gguf->architecture, "llama");
    assert_string_equal(gguf->precision, "F16");
    assert_int_equal(gguf->parameters, weights + norms);
    assert_int_equal(gguf->tensor_bytes, 2 * weights + 4 * norms);
    assert_int_equal(gguf->tensors, 1 + 2 * 9 + 1);
    assert_int_equal(gguf->block_count, 2);
    assert_int_equal(gguf->vocab_size, 512);
    assert_int_equal(gguf->file_type, 1);
    assert_int_equal(gguf->tied, 1);
    assert_true(gguf->file_bytes < 233000);
    kerf_gguf_free(gguf);
}

static void types_and_architectures(void **state) {
    (void)state;
    static const struct {
        const char *options, *precision;
        int64_t row_bytes; /* of 64 weights */
    } types[] = {{"--type f32", "F32", 256},
                 {"--type f16", "F16", 128},
                 {"--type q8_0", "Q8_0", 68},
                 {"--type q4_0", "Q4_0", 36}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct kerf_gguf *gguf = made(types[i].options);
        assert_string_equal(gguf->precision, types[i].precision);
        assert_int_equal(gguf->embedding_bytes, 512 * types[i].row_bytes);
        kerf_gguf_free(gguf);
    }
    struct kerf_gguf *gguf = made("--architecture gemma2 --layers 4 --window 100 --kv-heads 2");
    assert_int_equal(gguf->layers[0].window, 100);
    assert_int_equal(gguf->layers[1].window, 0);
    assert_int_equal(gguf->layers[1].head_count_kv, 2);
    kerf_gguf_free(gguf);
    gguf = made("--experts 4 --tokenizer spm --vocab 300");
    assert_int_equal(gguf->expert_count, 4);
    assert_int_equal(gguf->vocab_size, 300);
    kerf_gguf_free(gguf);
}

static void a_seed_makes_the_same_bytes(void **state) {
    (void)state;
    struct kerf_text texts[3] = {{0}};
    static const char *const options[] = {"--seed 5", "--seed 5", "--seed 6"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(make(options[i]), 0);
        assert_int_equal(input_read(model, 1 << 20, &texts[i], NULL), KERF_OK);
    }
    assert_int_equal(texts[0].length, texts[1].length);
    assert_memory_equal(texts[0].data, texts[1].data, texts[0].length);
    assert_memory_not_equal(texts[0].data, texts[2].data, texts[0].length);
    for (int i = 0; i < 3; i++) kerf_text_free(&texts[i]);
}

static void what_cannot_be_made(void **state) {
    (void)state;
    assert_int_not_equal(make("--embd 63"), 0);
    assert_int_not_equal(make("--heads 4 --kv-heads 3"), 0);
    assert_int_not_equal(make("--tokenizer spm --vocab 100"), 0);
    assert_int_not_equal(make("--architecture qwen3 --experts 4"), 0);
    assert_int_not_equal(make("--type q5_0"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_is_read_back),
        cmocka_unit_test(types_and_architectures),
        cmocka_unit_test(a_seed_makes_the_same_bytes),
        cmocka_unit_test(what_cannot_be_made),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
