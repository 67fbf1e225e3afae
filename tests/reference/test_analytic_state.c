/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model "analytic" against Megatron-LM's arithmetic: parameters and states of a device; and FLOP behind the times of
 * every published model. */
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

#include "cost/analytic/kernels.h"

enum { ROWS_MAX = 256, LINE_SIZE = 4096 };

static struct {
    char name[64];
    struct kerf_model model;
} models[ROWS_MAX];
static int num_models;
static struct arena arena;

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
        assert_true(num_models < ROWS_MAX);
        snprintf(models[num_models].name, sizeof models->name, "%s", fields[0]);
        struct kerf_error err;
        if (kerf_model_parse(fields[4], strlen(fields[4]), fields[0], &models[num_models++].model, &err) != KERF_OK)
            fail_msg("%s: %s", fields[0], err.message);
    }
    fclose(file);
    assert_true(num_models > 80);
    return 0;
}

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

static const struct kerf_model *model_named(const char *name) {
    for (int i = 0; i < num_models; i++)
        if (strcmp(models[i].name, name) == 0) return &models[i].model;
    fail_msg("no model %s", name);
    return NULL;
}

static struct kerf_problem problem_of(const struct kerf_model *model, int64_t gpus) {
    struct kerf_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.model = *model;
    assert_int_equal(kerf_system_load("h100", &problem.system, NULL), KERF_OK);
    problem.gpus = gpus;
    problem.global_batch = gpus;
    problem.seq_length = 4096;
    return problem;
}

static struct kerf_layout layout_of(int tp, int cp, int ep, int etp, int dp, int zero) {
    struct kerf_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.dp = dp;
    layout.tp1 = tp;
    layout.tp2 = layout.pp = layout.vpp = layout.micro_batch = 1;
    layout.cp = cp;
    layout.ep = ep;
    layout.etp = etp;
    layout.zero = (int8_t)zero;
    return layout;
}

static void add(struct analytic_parameters *sum, struct analytic_parameters more, double times) {
    sum->dense += times * more.dense;
    sum->experts += times * more.experts;
}

static struct analytic_parameters whole_model(const struct analytic_device *device, const struct kerf_layout *layout) {
    struct analytic_parameters sum = {.dense = 0};
    for (int32_t i = 0; i < device->num_kinds; i++)
        add(&sum, analytic_layer_parameters(device, layout, i), device->layers_of_kind[i]);
    add(&sum, analytic_embedding_parameters(device, layout), 1);
    add(&sum, analytic_head_parameters(device, layout, 0), 1);
    return sum;
}

/* A device without pipeline holds the parameters that Megatron-LM counts, and 18 bytes for each, or 6 + 12 / replicas. */
static void states_are_megatrons(void **state) {
    (void)state;
    char line[LINE_SIZE];
    FILE *file = open_reference("megatron_states.csv");
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        char name[64];
        int tp, cp, ep, etp, dp, zero;
        double parameters, bytes;
        if (line[0] == '#') continue;
        assert_int_equal(sscanf(line, "%63[^,],%d,%d,%d,%d,%d,%d,%lf,%lf", name, &tp, &cp, &ep, &etp, &dp, &zero,
                                &parameters, &bytes),
                         9);
        struct kerf_problem problem = problem_of(model_named(name), (int64_t)dp * cp * tp);
        struct kerf_layout layout = layout_of(tp, cp, ep, etp, dp, zero);
        const struct analytic_device *device = analytic_device(&problem, &arena);
        struct analytic_parameters sum = whole_model(device, &layout);
        struct analytic_state_bytes states = analytic_state(device, &layout, &sum);
        double all = states.weights + states.gradients + states.optimizer;
        if (fabs(sum.dense + sum.experts - parameters) > 1e-9 * parameters)
            fail_msg("%s: %.0f parameters, not %.0f", line, sum.dense + sum.experts, parameters);
        if (bytes > 0 && fabs(all - bytes) > 1e-9 * bytes) fail_msg("%s: %.0f bytes, not %.0f", line, all, bytes);
        arena_reset(&arena);
        rows++;
    }
    fclose(file);
    assert_true(rows >= 30);
}

/* What devices multiply adds up to the model FLOP of all layers, however they are cut. */
static void flop_of_all_devices_is_the_models(void **state) {
    (void)state;
    static const struct { int tp, cp, ep; } cuts[] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {2, 2, 2}};
    int checked = 0;
    for (int i = 0; i < num_models; i++)
        for (size_t j = 0; j < sizeof cuts / sizeof *cuts; j++) {
            const struct kerf_model *model = &models[i].model;
            struct kerf_problem problem = problem_of(model, 8);
            struct kerf_layout layout = layout_of(cuts[j].tp, cuts[j].cp, cuts[j].ep, 1, 8, 0);
            const struct analytic_device *device = analytic_device(&problem, &arena);
            struct shard shard = shard_of(device, &layout);
            double devices = shard.tp * shard.cp, flops = 0;
            int copies = 0;
            for (int32_t kind = 0; kind < device->num_kinds; kind++) {
                const struct analytic_layer *layer = &device->layers[kind];
                if (layer->kv_heads < shard.tp || (layer->experts > 0 && model->kinds[kind].mlp.experts % 2 != 0))
                    copies = 1;
                flops += device->layers_of_kind[kind] * devices * layer_model_flops(&shard, layer);
            }
            double tokens = shard.tokens * shard.cp, head = 6 * (double)model->hidden_size * (double)model->vocab_size;
            double expected = tokens * (3 * kerf_model_flops(model, problem.seq_length, 0) - head);
            if (!copies && fabs(flops - expected) > 1e-12 * expected)
                fail_msg("%s, tp %d, cp %d: %.17g FLOP, not %.17g", models[i].name, cuts[j].tp, cuts[j].cp, flops,
                         expected);
            checked += !copies;
            arena_reset(&arena);
        }
    assert_true(checked > 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_megatrons),
        cmocka_unit_test(flop_of_all_devices_is_the_models),
    };
    return cmocka_run_group_tests(tests, read_models, free_arena);
}
