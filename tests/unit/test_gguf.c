/* SPDX-License-Identifier: Apache-2.0 */
/* Reading GGUF files: sizes and layers of many architectures, split models, and every way in which a file is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>

#include "gguf_bytes.h"
#include "kerf/gguf.h"

static char folder[] = "/tmp/kerf_gguf_XXXXXX";
static char path[256];

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(path, sizeof path, "%s/model.gguf", folder);
    return 0;
}
static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static struct kerf_gguf *read_model(struct gguf_bytes *file) {
    struct kerf_gguf *gguf = NULL;
    struct kerf_error err = {0};
    gguf_bytes_write(file, path);
    int32_t code = kerf_gguf_read(path, &gguf, &err);
    if (code != KERF_OK) print_error("%s\n", err.message);
    assert_int_equal(code, KERF_OK);
    unlink(path);
    return gguf;
}

static void refused(struct gguf_bytes *file, int32_t code, const char *message) {
    struct kerf_gguf *gguf = NULL;
    struct kerf_error err = {0};
    gguf_bytes_write(file, path);
    assert_int_equal(kerf_gguf_read(path, &gguf, &err), code);
    assert_string_equal(err.message, message);
    assert_string_equal(err.file, path);
    assert_null(gguf);
    unlink(path);
}

/* ---- What a model is -------------------------------------------------------------------------------------- */

static void sums_what_the_tensors_are(void **state) {
    (void)state;
    struct gguf_bytes file = {.data = 9216 + 96};
    pair_sizes(&file, "llama", 2);
    pair_text(&file, "general.name", "a \xff\x1b model");
    pair_number(&file, "general.file_type", 7);
    tensor(&file, "token_embd.weight", 64, 32, 1, 0);
    tensor(&file, "blk.0.attn_q.weight", 64, 32, 8, 4096);
    tensor(&file, "blk.1.attn_q.weight", 256, 20, 12, 6272); /* Q4_K: 2,880 */
    tensor(&file, "output_norm.weight", 32, 0, 0, 9152);     /* F32: 128 */
    tensor(&file, "output_norm.bias", 8, 0, 0, 9280);
    struct kerf_gguf *gguf = read_model(&file);
    assert_string_equal(gguf->architecture, "llama");
    assert_string_equal(gguf->name, "a ?? model");
    assert_string_equal(gguf->precision, "Q4_K");
    assert_int_equal(gguf->file_type, 7);
    assert_int_equal(gguf->parameters, 2048 + 2048 + 5120 + 32 + 8);
    assert_int_equal(gguf->tensor_bytes, 4096 + 2176 + 2880 + 128 + 32);
    assert_int_equal(gguf->embedding_bytes, 4096);
    assert_int_equal(gguf->output_bytes, 160);
    assert_int_equal(gguf->tied, 1);
    assert_int_equal(gguf->layers[0].bytes, 2176);
    assert_int_equal(gguf->layers[1].bytes, 2880);
    assert_int_equal(gguf->num_types, 4);
    assert_string_equal(gguf->types[0].name, "F16");
    assert_int_equal(gguf->types[3].tensors, 2);
    assert_int_equal(gguf->head_count_kv, 8); /* as many as heads where the file does not say */
    assert_int_equal(gguf->layers[0].key_length, 32);
    assert_int_equal(gguf->vocab_size, 1000);
    assert_null(kerf_gguf_free(gguf));
}

static void a_type_that_is_not_known_fills_its_place(void **state) {
    (void)state;
    struct gguf_bytes file = {.data = 1000};
    pair_sizes(&file, "llama", 1);
    tensor(&file, "token_embd.weight", 64, 4, 99, 0);
    tensor(&file, "blk.0.attn_q.weight", 64, 1, 0, 320);
    tensor(&file, "blk.0.attn_k.weight", 64, 1, 4, 576);
    struct kerf_gguf *gguf = read_model(&file);
    assert_int_equal(gguf->embedding_bytes, 320);
    assert_int_equal(gguf->layers[0].bytes, 256 + 424);
    assert_string_equal(gguf->precision, "type 99");
    assert_int_equal(gguf->num_types, 3);
    kerf_gguf_free(gguf);
}

static void lists_say_what_differs_by_layer(void **state) {
    (void)state;
    static const uint32_t kv[] = {2, 0, 4}, ff[] = {512, 0, 1024};
    struct gguf_bytes file = {0};
    pair_text(&file, "general.architecture", "deci");
    pair_number(&file, "deci.block_count", 3);
    pair_number(&file, "deci.embedding_length", 256);
    pair_number(&file, "deci.attention.head_count", 8);
    pair_list(&file, "deci.attention.head_count_kv", kv, 3);
    pair_list(&file, "deci.feed_forward_length", ff, 3);
    struct kerf_gguf *gguf = read_model(&file);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gguf->layers[i].head_count_kv, kv[i]);
        assert_int_equal(gguf->layers[i].feed_forward_length, ff[i]);
        assert_int_equal(gguf->layers[i].keeps_kv, kv[i] > 0);
        assert_int_equal(gguf->layers[i].keeps_state, 0);
    }
    assert_int_equal(gguf->feed_forward_length, 1024);
    assert_int_equal(gguf->head_count_kv, 4);
    kerf_gguf_free(gguf);
}

/* ---- What layers keep ------------------------------------------------------------------------------------- */

/* One letter a layer: A attention to all, w to a window, s a state, b state and attention, - nothing. */
static void layers_are(const char *architecture, const char *more, uint32_t value, const char *expected) {
    struct gguf_bytes file = {0};
    char key[128];
    pair_sizes(&file, architecture, (uint32_t)strlen(expected));
    if (more) {
        snprintf(key, sizeof key, "%s.%s", architecture, more);
        pair_number(&file, key, value);
    }
    struct kerf_gguf *gguf = read_model(&file);
    char found[64] = "";
    for (int64_t i = 0; i < gguf->block_count; i++) {
        const struct kerf_gguf_layer *layer = &gguf->layers[i];
        found[i] = layer->keeps_state ? (layer->keeps_kv ? 'b' : 's')
                   : !layer->keeps_kv ? '-'
                   : layer->window    ? 'w'
                                      : 'A';
    }
    assert_string_equal(found, expected);
    kerf_gguf_free(gguf);
}

static void windows_are_where_llama_cpp_has_them(void **state) {
    (void)state;
    static const char window[] = "attention.sliding_window";
    layers_are("llama", window, 512, "AAAA"); /* it says one, and llama.cpp uses none */
    layers_are("qwen2", window, 512, "AAAA");
    layers_are("phi3", window, 512, "AAAA");
    layers_are("gemma2", NULL, 0, "wAwAwA"); /* 4,096 where the file does not say */
    layers_are("gemma3", window, 512, "wwwwwAwwwwwA");
    layers_are("gemma3", NULL, 0, "AAAAAA");
    layers_are("cohere2", window, 512, "wwwAwwwA");
    layers_are("cohere2moe", window, 512, "AwwwAwww");
    layers_are("gpt-oss", window, 128, "wAwA");
    layers_are("llama4", NULL, 0, "wwwAwwwA");
    layers_are("llama4", window, 0, "AAAA");
    layers_are("smallthinker", window, 77, "AwwwAwww");
    layers_are("smallthinker", NULL, 0, "AAAA");
    layers_are("deepseek4", window, 128, "wwww");
}

static void states_and_what_keeps_nothing(void **state) {
    (void)state;
    layers_are("mamba2", NULL, 0, "sss");
    layers_are("rwkv7", "wkv.head_size", 64, "sss");
    layers_are("qwen3next", NULL, 0, "sssAsssA");
    layers_are("qwen3next", "full_attention_interval", 2, "sAsA");
    layers_are("falcon-h1", NULL, 0, "bb");
    layers_are("bert", NULL, 0, "---");
    layers_are("llada", NULL, 0, "---");
    layers_are("glm4moe", "nextn_predict_layers", 1, "AAA-");
    layers_are("gemma4", "attention.shared_kv_layers", 2, "AA--");
    layers_are("no-such-architecture", NULL, 0, "AA");
}

static void a_pattern_lists_windows_and_heads_list_states(void **state) {
    (void)state;
    static const uint32_t pattern[] = {1, 0, 1}, heads[] = {0, 2, 0};
    struct gguf_bytes file = {0};
    pair_sizes(&file, "mimo2", 3);
    pair_number(&file, "mimo2.attention.sliding_window", 128);
    pair_number(&file, "mimo2.attention.key_length_swa", 96);
    pair_list(&file, "mimo2.attention.sliding_window_pattern", pattern, 3);
    struct kerf_gguf *gguf = read_model(&file);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gguf->layers[i].window, pattern[i] ? 128 : 0);
        assert_int_equal(gguf->layers[i].key_length, pattern[i] ? 96 : 32);
    }
    kerf_gguf_free(gguf);

    struct gguf_bytes jamba = {0};
    pair_sizes(&jamba, "jamba", 3);
    pair_list(&jamba, "jamba.attention.head_count_kv", heads, 3);
    pair_number(&jamba, "jamba.ssm.conv_kernel", 4);
    pair_number(&jamba, "jamba.ssm.inner_size", 512);
    pair_number(&jamba, "jamba.ssm.state_size", 16);
    gguf = read_model(&jamba);
    assert_int_equal(gguf->layers[0].keeps_state, 1);
    assert_int_equal(gguf->layers[1].keeps_state, 0);
    assert_int_equal(gguf->layers[1].keeps_kv, 1);
    assert_int_equal(gguf->state_values, 3 * 512 + 16 * 512);
    assert_int_equal(gguf->is_listed, 1);
    kerf_gguf_free(gguf);
}

/* ---- Split models ----------------------------------------------------------------------------------------- */

static void write_part(uint32_t index, uint32_t files, const char *suffix) {
    struct gguf_bytes file = {.data = 256};
    char name[64], part[320];
    if (index == 0) pair_sizes(&file, "llama", files);
    pair_number(&file, "split.count", files);
    pair_number(&file, "split.no", index);
    snprintf(name, sizeof name, "blk.%u.attn_q.weight", index);
    tensor(&file, name, 64, 0, 0, 0);
    snprintf(part, sizeof part, "%s/m%s", folder, suffix);
    gguf_bytes_write(&file, part);
}

static void a_split_model_is_the_sum_of_its_files(void **state) {
    (void)state;
    static const char *const suffixes[] = {"-00001-of-00003.gguf", "-00002-of-00003.gguf", "-00003-of-00003.gguf"};
    struct kerf_gguf *gguf = NULL;
    struct kerf_error err = {0};
    char part[320];
    for (uint32_t i = 0; i < 3; i++) write_part(i, 3, suffixes[i]);
    int64_t bytes = 0;
    for (int i = 0; i < 3; i++) {
        struct stat status;
        snprintf(part, sizeof part, "%s/m%s", folder, suffixes[i]);
        assert_int_equal(stat(part, &status), 0);
        bytes += status.st_size;
    }
    for (int i = 0; i < 3; i++) { /* whichever is named */
        snprintf(part, sizeof part, "%s/m%s", folder, suffixes[i]);
        assert_int_equal(kerf_gguf_read(part, &gguf, &err), KERF_OK);
        assert_int_equal(gguf->files, 3);
        assert_non_null(strstr(gguf->path, suffixes[0]));
        assert_int_equal(gguf->parameters, 3 * 64);
        assert_int_equal(gguf->file_bytes, bytes);
        for (int l = 0; l < 3; l++) assert_int_equal(gguf->layers[l].bytes, 256);
        kerf_gguf_free(gguf);
    }
    snprintf(part, sizeof part, "%s/m%s", folder, suffixes[1]);
    unlink(part);
    snprintf(part, sizeof part, "%s/m%s", folder, suffixes[2]);
    assert_int_equal(kerf_gguf_read(part, &gguf, &err), KERF_EIO);
    assert_string_equal(err.message, "No such file or directory");
    assert_non_null(strstr(err.file, suffixes[1]));
    unlink(part);
    snprintf(part, sizeof part, "%s/m%s", folder, suffixes[0]);
    rename(part, path);
    assert_int_equal(kerf_gguf_read(path, &gguf, &err), KERF_EIO);
    assert_string_equal(err.message,
                        "it is file 1 of 3 of a split model, and its name does not end in -00001-of-00003.gguf");
    unlink(path);
}

/* ---- What is wrong ---------------------------------------------------------------------------------------- */

static void versions(void **state) {
    (void)state;
    struct gguf_bytes two = {.version = 2}, one = {.version = 1}, four = {.version = 4}, big = {.version = 0x03000000};
    pair_sizes(&two, "llama", 1);
    struct kerf_gguf *gguf = read_model(&two);
    assert_int_equal(gguf->version, 2);
    kerf_gguf_free(gguf);
    refused(&one, KERF_EUNSUPPORTED,
            "GGUF version 1, of August 2023; kerf and llama.cpp read versions 2 and 3, at byte 4");
    refused(&four, KERF_EUNSUPPORTED, "GGUF version 4; kerf reads versions 2 and 3, at byte 4");
    refused(&big, KERF_EUNSUPPORTED, "a big-endian GGUF file; only little-endian ones are read, at byte 4");
}

static void no_model_at_all(void **state) {
    (void)state;
    struct kerf_gguf *gguf = NULL;
    struct kerf_error err = {0};
    struct gguf_bytes empty = {0};
    refused(&empty, KERF_ESYNTAX, "general.architecture is missing: this GGUF file is not a model");
    assert_int_equal(kerf_gguf_read("/nowhere/model.gguf", &gguf, &err), KERF_EIO);
    assert_string_equal(err.message, "No such file or directory");
    assert_int_equal(kerf_gguf_read(folder, &gguf, &err), KERF_EIO);
    write_bytes(path, "PK\3\4 and so on", 14);
    assert_int_equal(kerf_gguf_read(path, &gguf, &err), KERF_ESYNTAX);
    assert_string_equal(err.message, "not a GGUF file: it does not begin with the letters GGUF, at byte 0");
    write_bytes(path, "GG", 2);
    assert_int_equal(kerf_gguf_read(path, &gguf, NULL), KERF_ESYNTAX);
    unlink(path);
}

/* Whatever number of bytes is missing, it is noticed. */
static void cut_off_anywhere(void **state) {
    (void)state;
    struct gguf_bytes file = {.data = 256};
    static const uint32_t list[] = {8, 8};
    pair_sizes(&file, "llama", 2);
    pair_list(&file, "llama.attention.head_count_kv", list, 2);
    tensor(&file, "token_embd.weight", 64, 1, 0, 0);
    gguf_bytes_finish(&file);
    struct kerf_gguf *gguf = NULL;
    struct kerf_error err = {0};
    for (size_t length = 0; length < file.length; length++) {
        write_bytes(path, file.whole, length);
        int32_t code = kerf_gguf_read(path, &gguf, &err);
        assert_int_equal(code, KERF_ESYNTAX);
        assert_non_null(strstr(err.message, "byte"));
    }
    write_bytes(path, file.whole, file.length);
    assert_int_equal(kerf_gguf_read(path, &gguf, &err), KERF_OK);
    kerf_gguf_free(gguf);
    free(file.whole);
    unlink(path);
}

static void counts_that_cannot_be(void **state) {
    (void)state;
    struct gguf_bytes pairs = {.num_pairs = UINT64_C(1) << 60}, tensors = {.num_tensors = UINT64_C(1) << 60},
                      text = {0}, list = {0}, nested = {0}, kind = {0};
    refused(
        &pairs, KERF_ESYNTAX,
        "1152921504606846976 key-value pairs, for which the file is too short (was it copied completely?), at byte 16");
    refused(&tensors, KERF_ESYNTAX,
            "1152921504606846976 tensors, for which the file is too short (was it copied completely?), at byte 8");
    put_string(&text.pairs, "a");
    put_u32(&text.pairs, 8);
    put_u64(&text.pairs, 5000);
    text.num_pairs = 1;
    refused(&text, KERF_ESYNTAX,
            "5000 bytes of text, for which the file is too short (was it copied completely?), at byte 37");
    put_string(&list.pairs, "a");
    put_u32(&list.pairs, 9);
    put_u32(&list.pairs, 10);
    put_u64(&list.pairs, UINT64_MAX);
    list.num_pairs = 1;
    refused(&list, KERF_ESYNTAX,
            "18446744073709551615 values of a list, for which the file is too short (was it copied completely?), at "
            "byte 41");
    put_string(&nested.pairs, "a");
    put_u32(&nested.pairs, 9);
    put_u32(&nested.pairs, 9);
    put_u64(&nested.pairs, 1);
    nested.num_pairs = 1;
    refused(&nested, KERF_ESYNTAX, "a: a list of values of kind 9, at byte 37");
    put_string(&kind.pairs, "a");
    put_u32(&kind.pairs, 13);
    kind.num_pairs = 1;
    refused(&kind, KERF_ESYNTAX, "a: a value of kind 13, at byte 33");
}

static void keys_that_cannot_be(void **state) {
    (void)state;
    static const uint32_t list[] = {4, 4};
    struct gguf_bytes name = {0}, twice = {0}, few = {0}, word = {0}, alignment = {0}, layers = {0};
    pair_number(&name, "a\xc3(", 1);
    refused(&name, KERF_ESYNTAX, "a key that is not UTF-8, at byte 33");
    pair_sizes(&twice, "llama", 2);
    pair_number(&twice, "llama.block_count", 3);
    refused(&twice, KERF_ESYNTAX, "llama.block_count appears twice, at byte 320");
    pair_sizes(&few, "llama", 3);
    pair_list(&few, "llama.attention.head_count_kv", list, 2);
    refused(&few, KERF_ESYNTAX, "llama.attention.head_count_kv is a list too short for the layers, at byte 332");
    pair_sizes(&word, "llama", 3);
    pair_text(&word, "llama.expert_count", "many");
    refused(&word, KERF_ESYNTAX, "llama.expert_count is not a whole number, at byte 321");
    pair_sizes(&alignment, "llama", 3);
    pair_number(&alignment, "general.alignment", 48);
    refused(&alignment, KERF_ESYNTAX, "general.alignment is 48, not a power of two");
    pair_sizes(&layers, "llama", 5000);
    refused(&layers, KERF_ESYNTAX, "llama.block_count is 5000, at byte 98");
}

static void tensor_refused(const char *message, uint64_t row, uint64_t rows, uint32_t type, uint64_t offset) {
    struct gguf_bytes file = {.data = 512};
    tensor(&file, "a", row, rows, type, offset);
    tensor(&file, "b", 32, 0, 0, 128);
    pair_sizes(&file, "llama", 1);
    refused(&file, KERF_ESYNTAX, message);
}

static void tensors_that_cannot_be(void **state) {
    (void)state;
    tensor_refused("a has too many weights, at byte 304", UINT64_C(1) << 60, UINT64_C(1) << 60, 0, 0);
    tensor_refused("a: rows of 33 values are not whole blocks of Q8_0, at byte 291", 33, 1, 8, 0);
    tensor_refused("a begins at 1125899906842624, beyond the end of the file (was it copied completely?), at byte 324",
                   32, 1, 0, UINT64_C(1) << 50);
    tensor_refused("a begins at 8, which is not aligned, at byte 324", 8, 1, 0, 8);
    tensor_refused("a overlaps b, at byte 291", 64, 1, 0, 0);
    tensor_refused("a ends beyond the end of the file (was it copied completely?), at byte 291", 64, 10, 0, 256);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_what_the_tensors_are),
        cmocka_unit_test(a_type_that_is_not_known_fills_its_place),
        cmocka_unit_test(lists_say_what_differs_by_layer),
        cmocka_unit_test(windows_are_where_llama_cpp_has_them),
        cmocka_unit_test(states_and_what_keeps_nothing),
        cmocka_unit_test(a_pattern_lists_windows_and_heads_list_states),
        cmocka_unit_test(a_split_model_is_the_sum_of_its_files),
        cmocka_unit_test(versions),
        cmocka_unit_test(no_model_at_all),
        cmocka_unit_test(cut_off_anywhere),
        cmocka_unit_test(counts_that_cannot_be),
        cmocka_unit_test(keys_that_cannot_be),
        cmocka_unit_test(tensors_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
