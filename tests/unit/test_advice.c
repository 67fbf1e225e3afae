/* SPDX-License-Identifier: Apache-2.0 */
/* What the sizes of models cost at a shard: shapes that measured runs showed to be slow are told, with what mends them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kerf/kerf.h"

static struct kerf_layout shards(int64_t tp, int32_t ep) {
    return (struct kerf_layout){
        .dp = 1, .tp1 = tp, .tp2 = 1, .pp = 1, .micro_batch = 1, .cp = 1, .vpp = 1, .ep = ep, .etp = 1};
}

static int32_t advise(const char *config, const char *system, const struct kerf_layout *layout,
                      struct kerf_advice *ret_advice, struct kerf_error *err) {
    struct kerf_problem problem = {.gpus = 0}; /* it is not looked at */
    assert_int_equal(kerf_model_parse(config, strlen(config), "test.json", &problem.model, NULL), KERF_OK);
    assert_int_equal(kerf_system_load(system, &problem.system, NULL), KERF_OK);
    problem.seq_length = problem.model.max_position_embeddings;
    return kerf_model_advise(&problem, layout, ret_advice, err);
}

static const char *llama(char text[512], int heads, int hidden, int width, int vocabulary) {
    snprintf(text, 512,
             "{\"model_type\":\"llama\",\"hidden_size\":%d,\"intermediate_size\":%d,\"num_hidden_layers\":40,"
             "\"num_attention_heads\":%d,\"vocab_size\":%d,\"max_position_embeddings\":4096}",
             hidden, width, heads, vocabulary);
    return text;
}

static const struct kerf_size *size_of(const struct kerf_advice *advice, const char *name) {
    for (int32_t i = 0; i < advice->num_sizes; i++)
        if (strcmp(advice->sizes[i].name, name) == 0) return &advice->sizes[i];
    fail_msg("no %s", name);
    return NULL;
}

static void good_shapes_cost_nothing(void **state) {
    (void)state;
    char text[512];
    struct kerf_advice advice;
    struct kerf_layout layout = shards(8, 1);
    assert_int_equal(advise(llama(text, 64, 8192, 28672, 131072), "h100", &layout, &advice, NULL), KERF_OK);
    assert_true(advice.micro_batch_s > 0 && advice.tokens == 4096);
    assert_int_equal(advice.num_sizes, 5);
    for (int32_t i = 0; i < advice.num_sizes; i++) {
        assert_true(advice.sizes[i].cost_s == 0);
        assert_int_equal(advice.sizes[i].better, 0);
    }
    assert_true(size_of(&advice, "intermediate_size")->of_shard == 3584);
}

/* BLOOM's developers measured 14,400 features in heads of 150 and 13,824 in heads of 108: both were a third slower. */
static void heads_of_odd_sizes_are_slow(void **state) {
    (void)state;
    const struct { int heads, hidden, head; } models[] = {{96, 14400, 150}, {128, 13824, 108}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char text[512];
        struct kerf_advice advice;
        struct kerf_layout layout = shards(4, 1);
        int width = 4 * models[i].hidden / 512 * 512;
        assert_int_equal(
            advise(llama(text, models[i].heads, models[i].hidden, width, 250880), "a100-80", &layout, &advice, NULL),
            KERF_OK);
        const struct kerf_size *head = size_of(&advice, "head_dim");
        assert_int_equal(head->value, models[i].head);
        assert_true(head->cost_s > 0.03 * advice.micro_batch_s);
        assert_true(head->better % 8 == 0 && llabs(head->better - head->value) < 8);
        assert_true(head->saved_s > 0 && head->saved_s < 0.5 * advice.micro_batch_s);
    }
}

/* The better value is indeed faster, by as much as is told. */
static void what_is_saved_is_saved(void **state) {
    (void)state;
    char text[512];
    struct kerf_advice before, after;
    struct kerf_layout layout = shards(8, 1);
    assert_int_equal(advise(llama(text, 32, 4096, 11008, 32000), "a100-80", &layout, &before, NULL), KERF_OK);
    const struct kerf_size *width = size_of(&before, "intermediate_size");
    assert_true(width->of_shard == 1376 && width->cost_s > 0);
    assert_int_equal(width->better, 11264); /* 22 x 64 on a shard; 10,752 is as near and has fewer parameters */
    assert_int_equal(advise(llama(text, 32, 4096, 11264, 32000), "a100-80", &layout, &after, NULL), KERF_OK);
    assert_true(fabs(before.micro_batch_s - after.micro_batch_s - width->saved_s) < 1e-12);
    assert_int_equal(size_of(&after, "intermediate_size")->better, 0);
}

static void experts_with_few_tokens_are_slow(void **state) {
    (void)state;
    const char *config =
        "{\"model_type\":\"mixtral\",\"hidden_size\":2048,\"intermediate_size\":768,\"num_hidden_layers\":24,"
        "\"num_attention_heads\":32,\"num_key_value_heads\":8,\"num_local_experts\":128,\"num_experts_per_tok\":8,"
        "\"vocab_size\":131072,\"max_position_embeddings\":4096}";
    struct kerf_advice advice;
    struct kerf_layout layout = shards(1, 8);
    assert_int_equal(advise(config, "h100", &layout, &advice, NULL), KERF_OK);
    const struct kerf_size *experts = size_of(&advice, "num_experts");
    assert_true(experts->rows == 4096.0 * 8 * 8 / 128 && experts->of_shard == 16);
    assert_true(experts->cost_s > 0.003 * advice.micro_batch_s);
    assert_int_equal(experts->better, 64);
    layout.micro_batch = 64; /* then each has enough */
    double share = experts->cost_s / advice.micro_batch_s;
    assert_int_equal(advise(config, "h100", &layout, &advice, NULL), KERF_OK);
    experts = size_of(&advice, "num_experts");
    assert_true(experts->cost_s < 0.5 * share * advice.micro_batch_s);
}

static void impossible_shards_are_refused(void **state) {
    (void)state;
    char text[512];
    struct kerf_advice advice;
    struct kerf_error err;
    struct kerf_layout layout = shards(3, 1);
    assert_int_equal(advise(llama(text, 32, 4096, 11008, 32000), "h100", &layout, &advice, &err), KERF_EINVALID);
    assert_string_equal(err.message, "tp 3 does not divide 32 attention heads and 32 key-value heads");
    layout = shards(1, 2);
    assert_int_equal(advise(llama(text, 32, 4096, 11008, 32000), "h100", &layout, &advice, &err), KERF_EINVALID);
    assert_string_equal(err.message, "ep and etp must be 1: test has no experts");
    layout = (struct kerf_layout){.tp1 = 2}; /* what a program forgot is 0 */
    assert_int_equal(advise(llama(text, 32, 4096, 11008, 32000), "h100", &layout, &advice, &err), KERF_EINVALID);
    assert_string_equal(err.message, "cp must lie between 1 and 1073741824, not 0");
    layout = shards(1, 1);
    layout.micro_batch = -1;
    assert_int_equal(advise(llama(text, 32, 4096, 11008, 32000), "h100", &layout, &advice, &err), KERF_EINVALID);
    assert_string_equal(err.message, "micro_batch must lie between 1 and 1073741824, not -1");
}

static void unknown_precisions_are_refused(void **state) {
    (void)state;
    struct kerf_problem problem = {.seq_length = 4096};
    struct kerf_advice advice;
    struct kerf_error err;
    const struct kerf_layout layout = shards(1, 1);
    assert_int_equal(kerf_model_load("llama3_8b", &problem.model, NULL), KERF_OK);
    assert_int_equal(kerf_system_load("a100-80", &problem.system, NULL), KERF_OK);
    problem.precision = (enum kerf_precision)99;
    assert_int_equal(kerf_model_advise(&problem, &layout, &advice, &err), KERF_EINVALID);
    assert_string_equal(err.message, "precision 99 does not exist");
    problem.precision = KERF_PRECISION_FP8;
    assert_int_equal(kerf_model_advise(&problem, &layout, &advice, &err), KERF_EINVALID);
    assert_string_equal(err.message, "a100-80 has no fp8, or no fp8_flops_per_s; bf16 and fp16 work");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_shapes_cost_nothing),      cmocka_unit_test(heads_of_odd_sizes_are_slow),
        cmocka_unit_test(what_is_saved_is_saved),        cmocka_unit_test(experts_with_few_tokens_are_slow),
        cmocka_unit_test(impossible_shards_are_refused), cmocka_unit_test(unknown_precisions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
