/* SPDX-License-Identifier: Apache-2.0 */
/* Published models: their parameters to the last unit, and Megatron-LM's FLOP and shards of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerf/model.h"
#include "spec/parameters.h"

enum { ROWS_MAX = 256, LINE_SIZE = 4096 };

static struct row {
    char name[64];
    int64_t parameters, active, embedding; /* 0: not published */
    struct kerf_model model;
} rows[ROWS_MAX];
static int num_rows;

static FILE *open_reference(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/reference/%s", KERF_TEST_DIR, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) fail_msg("cannot open %s", path);
    return file;
}

static int read_models(void **state) {
    (void)state;
    char line[LINE_SIZE];
    FILE *file = open_reference("models.tsv");
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        char *rest = line, *fields[5];
        for (int i = 0; i < 5; i++) fields[i] = strsep(&rest, i < 4 ? "\t" : "\n");
        assert_true(num_rows < ROWS_MAX);
        struct row *row = &rows[num_rows++];
        snprintf(row->name, sizeof row->name, "%s", fields[0]);
        row->parameters = strtoll(fields[1], NULL, 10);
        row->active = strtoll(fields[2], NULL, 10);
        row->embedding = strtoll(fields[3], NULL, 10);
        struct kerf_error err;
        if (kerf_model_parse(fields[4], strlen(fields[4]), row->name, &row->model, &err) != KERF_OK)
            fail_msg("%s: %s", row->name, err.message);
        assert_string_equal(row->model.name, row->name);
    }
    fclose(file);
    assert_true(num_rows > 80);
    return 0;
}

static void every_parameter_is_counted(void **state) {
    (void)state;
    for (int i = 0; i < num_rows; i++) {
        struct kerf_model_counts counts;
        kerf_model_count(&rows[i].model, &counts);
        if (counts.parameters != rows[i].parameters)
            fail_msg("%s: %" PRId64 " parameters, published are %" PRId64, rows[i].name, counts.parameters,
                     rows[i].parameters);
        if (rows[i].active) assert_int_equal(counts.active_parameters, rows[i].active);
        if (rows[i].embedding) assert_int_equal(counts.embedding_parameters, rows[i].embedding);
    }
}

static void no_key_of_a_published_model_is_ignored(void **state) {
    (void)state;
    for (int i = 0; i < num_rows; i++)
        if (rows[i].model.num_ignored) fail_msg("%s: %s is ignored", rows[i].name, rows[i].model.ignored);
}

static const struct kerf_model *find(const char *name) {
    for (int i = 0; i < num_rows; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i].model;
    fail_msg("no model %s", name);
    return NULL;
}

/* Parameters of a device that holds all layers, embedding and head. */
static int64_t on_device(const struct kerf_model *model, int64_t tp, int64_t ep, int64_t etp) {
    struct parameters parts[KERF_COMPONENT_COUNT], sum;
    int64_t total = 0;
    for (int32_t i = 0; i < model->num_runs; i++) {
        const struct kerf_layer_kind *kind = &model->kinds[model->runs[i].kind];
        layer_parameters(model, kind, parts);
        sum = parameters_sum(parts);
        total += model->runs[i].count * parameters_on_device(&sum, kind->attention.kv_heads, tp, ep, etp);
    }
    embedding_parameters(model, parts);
    sum = parameters_sum(parts);
    total += parameters_on_device(&sum, 1, tp, ep, etp);
    head_parameters(model, 0, parts);
    sum = parameters_sum(parts);
    return total + parameters_on_device(&sum, 1, tp, ep, etp);
}

static void flop_and_shards_are_megatrons(void **state) {
    (void)state;
    char line[LINE_SIZE], name[64];
    int flops = 0, shards = 0;
    FILE *file = open_reference("megatron.csv");
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        int64_t seq, batch, mtp, tp, ep, etp;
        double step, shard;
        assert_int_equal(
            sscanf(line, "%63[^,],%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%lf,%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%lf",
                   name, &seq, &batch, &mtp, &step, &tp, &ep, &etp, &shard),
            9);
        const struct kerf_model *model = find(name);
        double ours = 3 * kerf_model_flops(model, seq, mtp) * (double)seq * (double)batch;
        if (fabs(ours / step - 1) > 1e-12) fail_msg("%s: %.17g FLOP, Megatron-LM's are %.17g", name, ours, step);
        flops++;
        if (shard == 0) continue;
        if (fabs((double)on_device(model, tp, ep, etp) / shard - 1) > 1e-9)
            fail_msg("%s on tp %d: %" PRId64 " parameters, Megatron-LM's are %.0f", name, (int)tp,
                     on_device(model, tp, ep, etp), shard);
        shards++;
    }
    fclose(file);
    assert_true(flops > 150 && shards > 30);
}

/* Key-value heads are copied where there are fewer of them than devices. */
static void key_value_heads_are_not_split(void **state) {
    (void)state;
    struct parameters p = {.sharded = 800, .key_value = 80, .replicated = 3, .experts = 600, .experts_replicated = 10};
    assert_int_equal(parameters_on_device(&p, 8, 1, 1, 1), 1493);
    assert_int_equal(parameters_on_device(&p, 8, 8, 1, 1), 100 + 10 + 3 + 600 + 10);
    assert_int_equal(parameters_on_device(&p, 2, 8, 1, 1), 100 + 40 + 3 + 600 + 10);
    assert_int_equal(parameters_on_device(&p, 1, 8, 5, 4), 100 + 80 + 3 + 30 + 2);
    assert_int_equal(parameters_total(&p), 1493);
}

/* What each component holds, of a model small enough to count by hand. */
static void components_are_counted_apart(void **state) {
    (void)state;
    static const char json[] =
        "{\"model_type\":\"qwen2_moe\",\"hidden_size\":8,\"num_hidden_layers\":3,\"num_attention_heads\":4,"
        "\"num_key_value_heads\":2,\"intermediate_size\":10,\"moe_intermediate_size\":5,\"num_experts\":6,"
        "\"num_experts_per_tok\":2,\"shared_expert_intermediate_size\":7,\"mlp_only_layers\":[1],\"vocab_size\":100,"
        "\"tie_word_embeddings\":false}";
    struct kerf_model model;
    struct kerf_model_counts counts;
    assert_int_equal(kerf_model_parse(json, sizeof json - 1, "m", &model, NULL), KERF_OK);
    kerf_model_count(&model, &counts);
    /* queries and output 8 x 8, keys and values 8 x 4, a bias on each of the first three */
    assert_int_equal(counts.components[KERF_COMPONENT_ATTENTION], 3 * (64 + 64 + 32 + 32 + 8 + 4 + 4));
    assert_int_equal(counts.components[KERF_COMPONENT_MLP], 3 * 8 * 10 + 2 * 3 * 8 * 7);
    assert_int_equal(counts.components[KERF_COMPONENT_EXPERTS], 2 * 6 * 3 * 8 * 5);
    assert_int_equal(counts.components[KERF_COMPONENT_ROUTER], 2 * (8 * 6 + 8));
    assert_int_equal(counts.components[KERF_COMPONENT_NORMS], 3 * 2 * 8 + 8);
    assert_int_equal(counts.components[KERF_COMPONENT_EMBEDDING], 800);
    assert_int_equal(counts.components[KERF_COMPONENT_HEAD], 800);
    assert_int_equal(counts.active_parameters, counts.parameters - 2 * 4 * 3 * 8 * 5);
    assert_int_equal(model.num_runs, 3);
    assert_int_equal(model.num_kinds, 2);
    assert_int_equal(model.runs[1].count, 1);
    assert_int_equal(model.kinds[model.runs[1].kind].mlp.experts, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_is_counted),    cmocka_unit_test(no_key_of_a_published_model_is_ignored),
        cmocka_unit_test(flop_and_shards_are_megatrons), cmocka_unit_test(key_value_heads_are_not_split),
        cmocka_unit_test(components_are_counted_apart),
    };
    return cmocka_run_group_tests(tests, read_models, NULL);
}
