/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model "analytic", kernel by kernel and message by message, against values worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cost/analytic/kernels.h"

static struct arena arena;
static struct kerf_problem problem;

/* A system of round figures: 1 PFLOP/s of which products reach half, 1 TB/s, domains of 8, a bus of 100 GB/s that starts in
 * 10 us, cards of 10 GB/s, hops of 5 us. */
static const char *const round_system =
    "{\"matrix_flops_per_s\":1e15,\"vector_flops_per_s\":1e14,\"fp8_flops_per_s\":2e15,"
    "\"memory_bandwidth_bytes_per_s\":1e12,\"memory_capacity_bytes\":8e10,"
    "\"scale_up\":{\"size\":8,\"bandwidth_bytes_per_s\":2e11,\"efficiency\":0.7,\"latency_s\":1e-6,"
    "\"bus_bytes_per_s\":1e11,\"start_s\":1e-5},"
    "\"scale_out\":{\"bandwidth_bytes_per_s\":2e10,\"efficiency\":0.7,\"latency_s\":1e-6,\"nics_per_device\":1,"
    "\"bus_share\":0.5,\"hop_s\":5e-6},"
    "\"gemm\":{\"efficiency\":0.5,\"fp8_efficiency\":0.4,\"edge\":64,\"fp8_edge\":128,\"start_s\":1e-6},"
    "\"attention\":{\"fused_efficiency\":0.25,\"unfused_efficiency\":0.5}}";

static struct analytic_device *device_of(const char *model, const char *system, int64_t gpus, int64_t seq_length) {
    struct kerf_error err;
    memset(&problem, 0, sizeof problem);
    if (kerf_model_load(model, &problem.model, &err) != KERF_OK) fail_msg("%s", err.message);
    int32_t code = system ? kerf_system_load(system, &problem.system, &err)
                          : kerf_system_parse(round_system, strlen(round_system), "round", &problem.system, &err);
    if (code != KERF_OK) fail_msg("%s", err.message);
    problem.gpus = gpus;
    problem.global_batch = gpus;
    problem.seq_length = seq_length;
    return (struct analytic_device *)(uintptr_t)analytic_device(&problem, &arena);
}

static void expect(double value, double expected) {
    if (fabs(value - expected) > 1e-12 * fabs(expected)) fail_msg("%.17g, not %.17g", value, expected);
}

static int empty(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

/* ---- Kernels --------------------------------------------------------------------------------------------- */

/* 1024 x 512 by 512 x 2048: 2.147 GFLOP at 0.5 PFLOP/s are 4.295 us, 1 + 64 (1/1024 + 1/2048 + 1/512) times as long. */
static void products_have_edges(void **state) {
    (void)state;
    struct analytic_device *device = device_of("llama3_8b", NULL, 8, 4096);
    struct pass_seconds sums = {{0}};
    double ideal_s = 2.0 * 1024 * 2048 * 512 / 5e14, edges = 1 + 64 * (1.0 / 1024 + 1.0 / 2048 + 1.0 / 512);
    expect(edges, 1.21875);
    device->product_s_per_byte /= 10;
    product_add(device, &device->wide, 1024, 2048, 512, &sums);
    for (int pass = 0; pass < ANALYTIC_PASSES; pass++) expect(sums.of[pass], 1e-6 + ideal_s * edges);
    /* the weights' gradient moves 2 x 1024 (2048 + 512) + 8 x 2048 x 512 bytes: longer, at 0.7 TB/s */
    device->product_s_per_byte *= 10;
    sums = (struct pass_seconds){{0}};
    product_add(device, &device->wide, 1024, 2048, 512, &sums);
    expect(sums.of[ANALYTIC_BACKWARD_WEIGHT], 1e-6 + (2 * 1024 * 2560.0 + 8 * 2048 * 512.0) / 7e11);
}

/* Columns are computed in tiles of 128; n or k that 64 does not divide cost 1.37 times as much. */
static void products_have_shapes(void **state) {
    (void)state;
    struct analytic_device *device = device_of("llama3_8b", NULL, 8, 4096);
    device->product_start_s = device->product_s_per_byte = 0;
    device->wide.edge = 0;
    struct pass_seconds sums = {{0}};
    product_add(device, &device->wide, 4096, 192, 1024, &sums);
    expect(sums.of[ANALYTIC_FORWARD], 2.0 * 4096 * 256 * 1024 / 5e14);
    expect(sums.of[ANALYTIC_BACKWARD_INPUT], 2.0 * 4096 * 192 * 1024 / 5e14);
    sums = (struct pass_seconds){{0}};
    product_add(device, &device->wide, 4096, 1000, 1024, &sums);
    expect(sums.of[ANALYTIC_BACKWARD_INPUT], 1.37 * 2.0 * 4096 * 1000 * 1024 / 5e14);
    expect(sums.of[ANALYTIC_FORWARD], 1.37 * 2.0 * 4096 * 1024 * 1024 / 5e14);
}

static void small_products_are_bound_by_memory(void **state) {
    (void)state;
    struct analytic_device *device = device_of("llama3_8b", NULL, 8, 4096);
    struct pass_seconds sums = {{0}};
    product_add(device, &device->wide, 128, 8192, 8192, &sums);
    expect(sums.of[ANALYTIC_FORWARD], 1e-6 + 2 * (128 * 8192.0 + 8192 * 8192.0 + 128 * 8192.0) / 7e11);
}

/* 8 experts of 256 rows: half of the grouped kernel's rate lost at grouped_rows. */
static void grouped_products_want_rows(void **state) {
    (void)state;
    struct analytic_device *device = device_of("mixtral_8x7b", NULL, 8, 4096);
    device->product_start_s = device->product_s_per_byte = 0;
    device->wide.edge = 0;
    device->stack.grouped_efficiency = 0.5;
    device->stack.grouped_rows = 256;
    struct pass_seconds sums = {{0}};
    grouped_product_add(device, &device->wide, 8, 2048, 1024, 1024, &sums);
    expect(sums.of[ANALYTIC_FORWARD], 4 * 2.0 * 2048 * 1024 * 1024 / 5e14);
}

static void eight_bits_have_a_rate_of_their_own(void **state) {
    (void)state;
    struct analytic_device *device = device_of("llama3_8b", NULL, 8, 4096);
    expect(analytic_peak(device), 1e15);
    problem.precision = KERF_PRECISION_FP16;
    expect(analytic_peak(analytic_device(&problem, &arena)), 1e15);
    problem.precision = KERF_PRECISION_FP8;
    const struct analytic_device *fp8 = analytic_device(&problem, &arena);
    expect(analytic_peak(fp8), 2e15);
    expect(fp8->low.s_per_flop, 1 / 0.8e15);
    expect(fp8->wide.s_per_flop, 1 / 0.5e15);
    expect(fp8->layers[0].hidden_passes - device->layers[0].hidden_passes, device->stack.fp8_passes);
}

/* What a file does not say is derived from what it must. */
static void defaults_stand_in(void **state) {
    (void)state;
    device_of("llama3_8b", NULL, 64, 4096);
    memset(&problem.system.gemm, 0, sizeof problem.system.gemm);
    memset(&problem.system.attention, 0, sizeof problem.system.attention);
    problem.system.scale_up.bus_bytes_per_s = problem.system.scale_up.start_s = 0;
    problem.system.scale_out.bus_share = problem.system.scale_out.hop_s = 0;
    const struct analytic_device *device = analytic_device(&problem, &arena);
    expect(device->wide.s_per_flop, 1 / 0.6e15);
    expect(device->wide.edge, 86);
    expect(device->product_start_s, 4e-6);
    expect(device->attention_s_per_flop, 1 / 0.5e15);
    expect(device->bus_s_per_byte, 1 / 1.4e11);
    expect(device->bus_start_s, 6e-6);
    expect(device->nic_s_per_byte, 1 / 1.4e10);
    expect(device->hop_s, 1e-6);
}

/* 32 heads of 128 at 4,096 tokens: 2 x 4096 x 2048 x 32 x 256 FLOP, causal, at 0.25 PFLOP/s; backward 3.25 times. */
static void attention_counts_half(void **state) {
    (void)state;
    struct analytic_device *device = device_of("llama3_8b", NULL, 8, 4096);
    double forward, backward, flop_s = 2.0 * 4096 * 2048 * 32 * 256 / 2.5e14;
    attention_s(device, &device->layers[0], 4096, 32, &forward, &backward);
    expect(forward, 1e-6 + flop_s);
    expect(backward, 1e-6 + 3.25 * flop_s);
    /* unfused: all scores, 0.5 PFLOP/s, and the stack's bytes a score at 0.82 TB/s */
    problem.attention = KERF_ATTENTION_UNFUSED;
    device = (struct analytic_device *)(uintptr_t)analytic_device(&problem, &arena);
    double scores = 4096.0 * 4096 * 32, traffic_s = scores * device->stack.score_traffic_bytes / 8.2e11;
    attention_s(device, &device->layers[0], 4096, 32, &forward, &backward);
    expect(forward, 2e-6 + scores * 512 / 5e14 + traffic_s);
    expect(backward, 4e-6 + 2 * scores * 512 / 5e14 + 1.3 * traffic_s);
}

/* A window of w meets w - w^2 / (2 s) keys and a tile's edge; a chunk of w half of itself. */
static void windows_limit_keys(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("gemma3_27b", NULL, 8, 8192); /* windows of 1,024 */
    int windows = 0;
    for (int32_t i = 0; i < device->num_kinds; i++) {
        int64_t window = problem.model.kinds[i].attention.window;
        expect(device->layers[i].keys, 4096);
        expect(device->layers[i].keys_met, window ? 1024 - 1024.0 * 1024 / 16384 + 128 : 4096);
        windows += window == 1024;
    }
    assert_int_equal(windows, 1);
    device = device_of("llama4_scout", NULL, 8, 20480); /* chunks of 8,192: two whole ones and 4,096 */
    for (int32_t i = 0; i < device->num_kinds; i++)
        expect(device->layers[i].keys_met,
               problem.model.kinds[i].attention.window ? (2 * 8192.0 * 8192 / 2 + 4096.0 * 4096 / 2) / 20480 : 10240);
    device = device_of("gemma3_27b", NULL, 8, 512); /* no longer than the window */
    for (int32_t i = 0; i < device->num_kinds; i++) expect(device->layers[i].keys_met, 256);
}

static void the_host_is_a_floor(void **state) {
    (void)state;
    expect(launched_s(1, 0), 1);
    expect(launched_s(0, 3), 3);
    expect(launched_s(2, 2), 2 * pow(2, 1.0 / 6));
    expect(launched_s(1, 2), launched_s(2, 1));
    expect(launched_s(0, 0), 0);
    assert_true(launched_s(1, 0.5) < 1.003);
}

/* ---- Groups and messages --------------------------------------------------------------------------------- */

static void expect_group(struct rank_group group, double members, double in_domain, double domains) {
    if (group.members != members || group.in_domain != in_domain || group.domains != domains)
        fail_msg("%g members, %g in each of %g domains, not %g, %g, %g", group.members, group.in_domain, group.domains,
                 members, in_domain, domains);
}

/* tp 4, cp 2, pp 4, dp 2 on 64 accelerators in domains of 8. */
static void ranks_lie_in_megatrons_order(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("mixtral_8x7b", NULL, 64, 4096);
    struct kerf_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.tp1 = 4, layout.cp = 2, layout.dp = 2, layout.pp = 4, layout.ep = 8, layout.etp = 1;
    layout.order = KERF_ORDER_TP_CP_DP_PP;
    expect_group(group_tp(device, &layout), 4, 4, 1);
    expect_group(group_cp(device, &layout), 2, 2, 1);
    expect_group(group_ep(device, &layout), 8, 8, 1);
    expect_group(group_dense_states(device, &layout), 4, 2, 2);  /* ranks 0, 4, 8, 12 */
    expect_group(group_expert_states(device, &layout), 2, 1, 2); /* ranks 0, 8 */
    layout.order = KERF_ORDER_TP_CP_PP_DP;
    expect_group(group_dense_states(device, &layout), 4, 2, 2); /* ranks 0, 4, 32, 36 */
    expect_group(group_expert_states(device, &layout), 2, 1, 2);
    layout.cp = 1, layout.dp = 16, layout.pp = 1;
    layout.order = KERF_ORDER_TP_CP_DP_PP;
    expect_group(group_dense_states(device, &layout), 16, 2, 8);
    layout.tp1 = 16, layout.dp = 4, layout.ep = 4, layout.etp = 16;
    expect_group(group_tp(device, &layout), 16, 8, 2);
    expect_group(group_etp(device, &layout), 16, 8, 2);
    expect_group(group_ep(device, &layout), 4, 1, 4);
    expect_group(group_of(device, 6, 1), 6, 3, 2); /* the second such group has ranks 6 .. 11 */
    expect_group(group_of(device, 4, 3), 4, 2, 2);
}

/* A domain of 72 gives 64 to a job of 128, and all of it to one of 144. */
static void domains_are_used_whole(void **state) {
    (void)state;
    assert_int_equal(device_of("llama3_8b", "gb200", 128, 4096)->domain, 64);
    assert_int_equal(device_of("llama3_8b", "gb200", 144, 4096)->domain, 72);
    assert_int_equal(device_of("llama3_8b", "gb200", 100, 4096)->domain, 72);
    assert_int_equal(device_of("llama3_8b", "h100", 1024, 4096)->domain, 8);
    expect_group(group_of(device_of("llama3_8b", "gb200", 48, 4096), 5, 7), 5, 5, 1); /* all are in one */
}

static void messages_take_their_links(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("llama3_8b", NULL, 64, 4096);
    struct rank_group near = group_of(device, 4, 1), far = group_of(device, 16, 1), none = group_of(device, 1, 1);
    double bus_s = 0.75 * 1e8 / 1e11;
    expect(gather_s(device, &near, 1e8), 1e-5 + bus_s + sqrt(bus_s * 1e-5));
    expect(gather_s(device, &none, 1e8), 0);
    /* 16 ranks in two domains: 8 cards of 10 GB/s carry 15/16 of the bytes, less than the bus */
    expect(gather_s(device, &far, 1e8), 1e-5 + 5e-6 + 1e8 * 15 / 16 / 8e10);
    /* 16 in 16 domains: one card each */
    struct rank_group apart = group_of(device, 8, 8);
    expect(gather_s(device, &apart, 1e8), 1e-5 + 7 * 5e-6 + 1e8 * 7 / 8 / 1e10);
    /* each sends half of what it has to the other domain through its own card */
    expect(all_to_all_s(device, &far, 1e8), 1e-5 + 5e-6 + 1e8 / 2 / 1e10);
    expect(all_to_all_s(device, &near, 1e8), 1e-5 + bus_s + sqrt(bus_s * 1e-5));
    expect(ring_step_s(device, &near, 1e8), 1e-5 + 1e-3);
    expect(ring_step_s(device, &far, 1e8), 5e-6 + 1e-2);
}

/* 2 experts a token in 2 domains: a token goes to 2 (1 - 1/4) = 1.5 of them, half of which are its own. */
static void tokens_visit_a_domain_once(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("mixtral_8x7b", NULL, 64, 4096);
    struct rank_group near = group_of(device, 8, 1), far = group_of(device, 16, 1);
    double bus_s = 1000 * 8192.0 * 2 * 7 / 8 / 1e11, bus = 1e-5 + bus_s + sqrt(bus_s * 1e-5);
    expect(dispatch_s(device, &near, 1000, 8192, 2), bus);
    expect(dispatch_s(device, &far, 1000, 8192, 2), bus + 5e-6 + 1000 * 8192.0 * 0.75 / 1e10);
}

/* ---- Constants ------------------------------------------------------------------------------------------- */

/* Replaces comments and provenance by blanks: what a file is "fitted" on, and all that follows "sources". What is left are
 * constants and code. */
static void strip(char *text) {
    char *sources = strstr(text, "\"sources\""), *fitted = strstr(text, "\"fitted\": {");
    if (sources) *sources = 0;
    for (char *at = fitted; at && *at && *at != '}'; at++) *at = ' ';
    for (char *at = text; (at = strstr(at, "/*")) != NULL;) {
        char *end = strstr(at, "*/");
        while (at < end + 2) *at++ = ' ';
    }
}

static void expect_no_name(const char *path, const char *text, const char *name, size_t length) {
    for (const char *at = text; *at; at++)
        if ((at == text || !isalpha((unsigned char)at[-1])) && strncasecmp(at, name, length) == 0 &&
            !isalpha((unsigned char)at[length]))
            fail_msg("%s knows %.*s", path, (int)length, name);
}

/* Constants belong to devices, precisions, links and stacks: no model, family or set of runs is named where they stand. */
static void no_constant_belongs_to_a_model(void **state) {
    (void)state;
    static const char *const others[] = {"gpt",        "opt",  "phi",     "vtrain", "simumax",
                                         "alephalpha", "dgxc", "foundry", "zoo",    "korthikanti"};
    static const char *const patterns[] = {KERF_SOURCE_DIR "/lib/cost/analytic/*", KERF_SOURCE_DIR "/share/systems/*",
                                           KERF_SOURCE_DIR "/share/stacks/*", KERF_SOURCE_DIR "/lib/score/priors.c",
                                           KERF_SOURCE_DIR "/lib/score/fit.c"};
    struct kerf_catalogue *catalogue;
    glob_t files;
    assert_int_equal(kerf_catalogue_list("models", &catalogue, NULL), KERF_OK);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        assert_int_equal(glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &files), 0);
    assert_true(files.gl_pathc > 25);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        static char text[1 << 17];
        FILE *file = fopen(files.gl_pathv[i], "r");
        assert_non_null(file);
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        strip(text);
        for (size_t j = 0; j < catalogue->count; j++) {
            const char *name = catalogue->entries[j].name;
            size_t family = strcspn(name, "0123456789_-");
            if (family >= 3) expect_no_name(files.gl_pathv[i], text, name, family);
        }
        for (size_t j = 0; j < sizeof others / sizeof *others; j++)
            expect_no_name(files.gl_pathv[i], text, others[j], strlen(others[j]));
    }
    globfree(&files);
    kerf_catalogue_free(catalogue);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(products_have_edges, empty),
        cmocka_unit_test_teardown(products_have_shapes, empty),
        cmocka_unit_test_teardown(small_products_are_bound_by_memory, empty),
        cmocka_unit_test_teardown(grouped_products_want_rows, empty),
        cmocka_unit_test_teardown(eight_bits_have_a_rate_of_their_own, empty),
        cmocka_unit_test_teardown(defaults_stand_in, empty),
        cmocka_unit_test_teardown(attention_counts_half, empty),
        cmocka_unit_test_teardown(windows_limit_keys, empty),
        cmocka_unit_test(the_host_is_a_floor),
        cmocka_unit_test_teardown(ranks_lie_in_megatrons_order, empty),
        cmocka_unit_test_teardown(domains_are_used_whole, empty),
        cmocka_unit_test_teardown(messages_take_their_links, empty),
        cmocka_unit_test_teardown(tokens_visit_a_domain_once, empty),
        cmocka_unit_test(no_constant_belongs_to_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
