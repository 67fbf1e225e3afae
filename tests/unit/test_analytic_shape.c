/* SPDX-License-Identifier: Apache-2.0 */
/* What layers take under a layout: sums, orders that must hold, context parallelism, ZeRO, recomputation, and what a step
 * adds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/analytic/context.h"
#include "cost/analytic/kernels.h"

static struct arena arena;
static struct kerf_problem problem;

static struct analytic_device *device_of(const char *model, const char *system, int64_t gpus, int64_t seq_length) {
    struct kerf_error err;
    memset(&problem, 0, sizeof problem);
    if (kerf_model_load(model, &problem.model, &err) != KERF_OK) fail_msg("%s", err.message);
    if (kerf_system_load(system, &problem.system, &err) != KERF_OK) fail_msg("%s", err.message);
    problem.gpus = gpus;
    problem.global_batch = gpus;
    problem.seq_length = seq_length;
    return (struct analytic_device *)(uintptr_t)analytic_device(&problem, &arena);
}

/* tp, cp, ep and micro_batch, pp 1, on as many accelerators as the problem has. */
static struct kerf_layout layout_of(int tp, int cp, int ep, int micro_batch) {
    struct kerf_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.tp1 = tp, layout.cp = cp, layout.ep = ep, layout.micro_batch = micro_batch;
    layout.tp2 = layout.pp = layout.vpp = layout.etp = 1;
    layout.dp = problem.gpus / (tp * cp);
    layout.zero = layout.dp * cp > 1;
    return layout;
}

/* Links of the problem's system, as its file has them. */
#define BUS problem.system.scale_up.bus_bytes_per_s
#define HOP problem.system.scale_out.hop_s
#define NIC (50e9 * problem.system.scale_out.bus_share)

static struct analytic_shape shape_of(const struct analytic_device *device, const struct kerf_layout *layout) {
    struct analytic_shape shape;
    memset(&shape, 0xA5, sizeof shape); /* whatever is not written is seen */
    analytic_shape(device, layout, &shape);
    return shape;
}

static double part_s(const struct analytic_item *item, enum analytic_part part) {
    double sum = 0;
    for (int pass = 0; pass < ANALYTIC_PASSES; pass++) sum += item->part_s[pass][part];
    return sum;
}

static double item_s(const struct analytic_item *item) {
    double sum = 0;
    for (int pass = 0; pass < ANALYTIC_PASSES; pass++) sum += item->pass_s[pass];
    return sum;
}

static void expect(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected))) fail_msg("%.17g, not %.17g", value, expected);
}

static void expect_less(double a, double b) {
    if (!(a < b)) fail_msg("%.17g is not less than %.17g", a, b);
}

static int empty(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

/* ---- Sums ------------------------------------------------------------------------------------------------ */

static void expect_whole(const struct analytic_item *item, const char *what) {
    for (int pass = 0; pass < ANALYTIC_PASSES; pass++) {
        double sum = 0;
        for (int part = 0; part < ANALYTIC_PARTS; part++) {
            if (!(item->part_s[pass][part] >= 0)) fail_msg("%s: part %d of pass %d", what, part, pass);
            sum += item->part_s[pass][part];
        }
        if (item->pass_s[pass] != sum) fail_msg("%s: pass %d is not the sum of its parts", what, pass);
    }
    assert_true(item->activation_bytes >= 0 && item->working_bytes >= 0);
}

/* Every member is written, parts sum to passes, passes to least_s, for many layouts. */
static void every_shape_is_whole(void **state) {
    (void)state;
    static const char *const names[] = {"llama3_8b", "gpt3",         "deepseek_v3", "gemma3_27b",  "gpt_oss_20b",
                                        "bloom",     "mixtral_8x7b", "dbrx",        "falcon_180b", "llama4_scout"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        device_of(names[i], "h100", 64, 4096);
        problem.mtp_layers = problem.model.mtp_layers;
        const struct analytic_device *device = analytic_device(&problem, &arena);
        int experts = problem.model.kinds[problem.model.num_kinds - 1].mlp.experts > 0;
        for (int n = 0; n < 2 * 2 * 2 * 4 * 4 * 2; n++) {
            struct kerf_layout layout = layout_of(n % 2 ? 4 : 1, n / 2 % 2 ? 2 : 1, experts && n / 4 % 2 ? 8 : 1, 1);
            layout.recompute = (int8_t)(n / 8 % 4);
            layout.recompute_layers = layout.recompute == KERF_RECOMPUTE_BLOCK;
            layout.zero = (int8_t)(n / 32 % 4);
            if (layout.ep > 1 && n / 128) layout.etp = (int32_t)layout.tp1;
            struct analytic_shape shape = shape_of(device, &layout);
            double sum = item_s(&shape.embedding) + item_s(&shape.head);
            for (int32_t kind = 0; kind < device->num_kinds; kind++) {
                expect_whole(&shape.kinds[kind], names[i]);
                expect_whole(&shape.recomputed_kinds[kind], names[i]);
                sum += device->layers_of_kind[kind] * item_s(&shape.kinds[kind]);
            }
            expect_whole(&shape.embedding, "embedding");
            expect_whole(&shape.head, "head");
            expect_whole(&shape.mtp, "mtp");
            expect_whole(&shape.every_stage, "every stage");
            expect(shape.least_s, sum + (double)problem.mtp_layers * item_s(&shape.mtp));
            assert_int_equal(shape.cp_comm > 0, layout.cp > 1);
            if (problem.mtp_layers > 0) expect_less(item_s(&shape.kinds[device->mtp_kind]), item_s(&shape.mtp));
        }
        arena_reset(&arena);
    }
}

/* On an ideal device a layer's products and attention take its model FLOP over the peak. */
static void times_are_flop_where_nothing_is_lost(void **state) {
    (void)state;
    static const struct {
        const char *model;
        int tp, cp;
    } cases[] = {{"llama3_70b", 1, 1}, {"llama3_70b", 8, 2}, {"gpt3", 4, 1}, {"llama2_7b", 1, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct analytic_device *device = device_of(cases[i].model, "h100", 64, 4096);
        double peak = analytic_peak(device);
        device->low.edge = device->product_start_s = device->product_s_per_byte = 0;
        device->low.s_per_flop = device->attention_s_per_flop = 1 / peak;
        struct kerf_layout layout = layout_of(cases[i].tp, cases[i].cp, 1, 2);
        struct analytic_shape shape = shape_of(device, &layout);
        struct shard shard = shard_of(device, &layout);
        double forward_s = shape.kinds[0].part_s[ANALYTIC_FORWARD][ANALYTIC_ATTENTION];
        double busy_s = part_s(&shape.kinds[0], ANALYTIC_GEMM) + 3 * forward_s, devices = shard.tp * shard.cp;
        double head = 2 * device->hidden * device->vocab, tokens = 2 * 4096;
        double layers = device->layers_of_kind[0];
        expect(busy_s * peak, layer_model_flops(&shard, &device->layers[0]));
        expect(busy_s * peak * devices * layers, 3 * tokens * (kerf_model_flops(&problem.model, 4096, 0) - head));
        arena_reset(&arena);
    }
}

/* ---- Orders ---------------------------------------------------------------------------------------------- */

static void more_shards_compute_less(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("llama3_70b", "h100", 64, 8192);
    double gemm = HUGE_VAL, attention = HUGE_VAL, tp_share = 0, kept = HUGE_VAL;
    for (int tp = 1; tp <= 8; tp *= 2) {
        struct kerf_layout layout = layout_of(tp, 1, 1, 1);
        struct analytic_shape shape = shape_of(device, &layout);
        const struct analytic_item *layer = &shape.kinds[0];
        expect_less(part_s(layer, ANALYTIC_GEMM), gemm);
        expect_less(part_s(layer, ANALYTIC_ATTENTION), attention);
        expect_less(layer->activation_bytes, kept);
        if (tp > 1) expect_less(tp_share, part_s(layer, ANALYTIC_TP) / item_s(layer));
        gemm = part_s(layer, ANALYTIC_GEMM), attention = part_s(layer, ANALYTIC_ATTENTION);
        tp_share = part_s(layer, ANALYTIC_TP) / item_s(layer), kept = layer->activation_bytes;
    }
    struct kerf_layout in_domain = layout_of(8, 1, 1, 1), across = layout_of(16, 1, 1, 1);
    struct analytic_shape a = shape_of(device, &in_domain), b = shape_of(device, &across);
    expect_less(2 * part_s(&a.kinds[0], ANALYTIC_TP), part_s(&b.kinds[0], ANALYTIC_TP));
    expect(shape_of(device, &in_domain).logits_bytes, 2 * b.logits_bytes);
}

static void larger_micro_batches_take_less_a_sample(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("qwen3_30b_a3b", "h100", 64, 4096);
    double before = HUGE_VAL;
    for (int micro_batch = 1; micro_batch <= 16; micro_batch *= 2) {
        struct kerf_layout layout = layout_of(1, 1, 8, micro_batch);
        struct analytic_shape shape = shape_of(device, &layout);
        expect_less(shape.least_s / micro_batch, before);
        before = shape.least_s / micro_batch;
    }
}

static void recomputation_trades_memory_for_time(void **state) {
    (void)state;
    for (int unfused = 0; unfused < 2; unfused++) {
        device_of("gpt3", "a100-80", 64, 2048);
        problem.attention = unfused ? KERF_ATTENTION_UNFUSED : KERF_ATTENTION_FUSED;
        const struct analytic_device *device = analytic_device(&problem, &arena);
        struct kerf_layout layout = layout_of(8, 1, 1, 1);
        struct analytic_item none, selective, full;
        none = shape_of(device, &layout).kinds[0];
        layout.recompute = KERF_RECOMPUTE_SELECTIVE;
        selective = shape_of(device, &layout).kinds[0];
        layout.recompute = KERF_RECOMPUTE_FULL;
        full = shape_of(device, &layout).kinds[0];
        expect_less(item_s(&none), item_s(&selective));
        expect_less(item_s(&selective), item_s(&full));
        expect_less(selective.activation_bytes, none.activation_bytes);
        expect_less(full.activation_bytes, selective.activation_bytes);
        expect(full.activation_bytes, 2 * 2048.0 * 12288 / 8 * device->stack.fragmentation);
        expect_less(none.working_bytes, full.working_bytes);
        /* forward once more, but for its host */
        expect(part_s(&full, ANALYTIC_GEMM) - part_s(&none, ANALYTIC_GEMM),
               device->stack.recompute_ratio * none.part_s[ANALYTIC_FORWARD][ANALYTIC_GEMM]);
        layout.recompute = KERF_RECOMPUTE_BLOCK;
        struct analytic_shape block = shape_of(device, &layout);
        assert_memory_equal(&block.kinds[0], &none, sizeof none);
        assert_memory_equal(&block.recomputed_kinds[0], &full, sizeof full);
    }
}

static void windows_save_attention(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("gemma3_27b", "h100", 64, 32768);
    struct kerf_layout layout = layout_of(4, 1, 1, 1);
    struct analytic_shape shape = shape_of(device, &layout);
    int windowed = problem.model.kinds[1].attention.window > 0;
    expect_less(5 * part_s(&shape.kinds[windowed], ANALYTIC_ATTENTION),
                part_s(&shape.kinds[!windowed], ANALYTIC_ATTENTION));
}

static void eight_bits_are_faster(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("llama3_70b", "h100", 64, 8192);
    struct kerf_layout layout = layout_of(4, 1, 1, 1);
    struct analytic_shape bf16 = shape_of(device, &layout);
    problem.precision = KERF_PRECISION_FP8;
    struct analytic_shape fp8 = shape_of(analytic_device(&problem, &arena), &layout);
    problem.precision = KERF_PRECISION_FP16;
    struct analytic_shape fp16 = shape_of(analytic_device(&problem, &arena), &layout);
    expect_less(part_s(&fp8.kinds[0], ANALYTIC_GEMM), part_s(&bf16.kinds[0], ANALYTIC_GEMM));
    expect_less(part_s(&bf16.kinds[0], ANALYTIC_MEMORY), part_s(&fp8.kinds[0], ANALYTIC_MEMORY)); /* casts */
    expect(item_s(&fp8.head), item_s(&bf16.head));                                                /* stays at 16 bits */
    /* two normed inputs and the MLP's inner features are kept at a byte less */
    double saved = (2 * 8192.0 / 4 + 28672.0 / 4) * 8192 * device->stack.fragmentation;
    expect(bf16.kinds[0].activation_bytes - fp8.kinds[0].activation_bytes, saved);
    expect(fp16.least_s, bf16.least_s);
}

/* ---- Context and expert parallelism ------------------------------------------------------------------------ */

static void the_cheapest_cp_comm_is_taken(void **state) {
    (void)state;
    static const int64_t lengths[] = {2048, 8192, 131072};
    static const int degrees[] = {2, 8, 16};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            const struct analytic_device *device = device_of("llama3_8b", "h100", 64, lengths[i]);
            struct kerf_layout layout = layout_of(1, degrees[j], 1, 1);
            struct analytic_shape best = shape_of(device, &layout);
            double least_s = HUGE_VAL;
            for (int comm = KERF_CP_COMM_RING; comm < KERF_CP_COMM_COUNT; comm++) {
                if (!cp_comm_is_possible(&problem.model, 1, degrees[j], (enum kerf_cp_comm)comm)) continue;
                layout.cp_comm = (int8_t)comm;
                struct analytic_shape shape = shape_of(device, &layout);
                assert_int_equal(shape.cp_comm, comm);
                if (shape.least_s < least_s) least_s = shape.least_s;
                if (comm == best.cp_comm) expect(best.least_s, shape.least_s);
            }
            assert_true(best.least_s <= least_s * (1 + 1e-12));
            arena_reset(&arena);
        }
    /* of long sequences a ring hides behind attention */
    struct analytic_device *device = device_of("llama3_8b", "h100", 64, 131072);
    struct kerf_layout layout = layout_of(1, 8, 1, 1);
    struct analytic_shape shape = shape_of(device, &layout);
    assert_int_equal(shape.cp_comm, KERF_CP_COMM_RING);
    expect(part_s(&shape.kinds[0], ANALYTIC_CP), 0);
}

static void all_to_all_needs_heads(void **state) {
    (void)state;
    device_of("llama3_8b", "h100", 64, 8192); /* 32 heads, 8 key-value heads */
    assert_true(cp_comm_is_possible(&problem.model, 1, 8, KERF_CP_COMM_ALL_TO_ALL));
    assert_true(cp_comm_is_possible(&problem.model, 4, 2, KERF_CP_COMM_ALL_TO_ALL));
    assert_false(cp_comm_is_possible(&problem.model, 1, 16, KERF_CP_COMM_ALL_TO_ALL));
    assert_false(cp_comm_is_possible(&problem.model, 8, 2, KERF_CP_COMM_ALL_TO_ALL));
    assert_true(cp_comm_is_possible(&problem.model, 8, 2, KERF_CP_COMM_RING));
    device_of("deepseek_v3", "h100", 64, 8192); /* 128 heads, each with keys of its own */
    assert_true(cp_comm_is_possible(&problem.model, 8, 16, KERF_CP_COMM_ALL_TO_ALL));
    device_of("gpt3", "h100", 64, 8192); /* 96 heads */
    assert_false(cp_comm_is_possible(&problem.model, 1, 64, KERF_CP_COMM_ALL_TO_ALL));
}

/* A gather of 4,096 tokens' keys and values over cp 4, by hand. */
static void gathered_keys_take_their_bytes(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("llama3_8b", "h100", 64, 4096);
    struct kerf_layout layout = layout_of(2, 4, 1, 1);
    layout.cp_comm = KERF_CP_COMM_ALL_GATHER;
    struct analytic_shape shape = shape_of(device, &layout);
    double bytes = 2 * 4096.0 * (8.0 / 2) * 256, bus_s = 0.75 * bytes / BUS, start_s = 12e-6;
    expect(shape.kinds[0].part_s[ANALYTIC_FORWARD][ANALYTIC_CP], start_s + bus_s + sqrt(bus_s * start_s));
    expect(shape.kinds[0].part_s[ANALYTIC_BACKWARD_INPUT][ANALYTIC_CP], 2 * (start_s + bus_s + sqrt(bus_s * start_s)));
}

static void experts_far_away_cost_more(void **state) {
    (void)state;
    const struct analytic_device *h100 = device_of("deepseek_v3", "h100", 128, 4096);
    int32_t moe = h100->mtp_kind;
    struct kerf_layout near = layout_of(1, 1, 8, 1), far = layout_of(1, 1, 64, 1), alone = layout_of(1, 1, 1, 1);
    double near_s = part_s(&shape_of(h100, &near).kinds[moe], ANALYTIC_EP);
    double far_s = part_s(&shape_of(h100, &far).kinds[moe], ANALYTIC_EP);
    expect_less(2 * near_s, far_s);
    expect(part_s(&shape_of(h100, &alone).kinds[moe], ANALYTIC_EP), 0);
    expect(part_s(&shape_of(h100, &near).kinds[0], ANALYTIC_EP), 0); /* a dense layer */
    const struct analytic_device *gb200 = device_of("deepseek_v3", "gb200", 128, 4096);
    expect_less(4 * part_s(&shape_of(gb200, &far).kinds[moe], ANALYTIC_EP), far_s); /* one domain */
}

/* ---- States, ZeRO, what a step adds -------------------------------------------------------------------------- */

static void zero_waits_where_there_are_replicas(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("llama3_70b", "h100", 64, 8192);
    struct kerf_layout layout = layout_of(1, 1, 1, 1);
    double before = 0;
    for (int zero = 1; zero <= 3; zero++) {
        layout.zero = (int8_t)zero;
        struct analytic_shape shape = shape_of(device, &layout);
        double dp_s = part_s(&shape.kinds[0], ANALYTIC_DP);
        if (zero == 1) expect(dp_s, 0);
        if (zero > 1) expect_less(before, dp_s);
        before = dp_s;
    }
    layout.zero = 3;
    layout.tp1 = 8, layout.dp = 1; /* no replicas: nothing to gather */
    problem.gpus = 8;
    expect(part_s(&shape_of(device, &layout).kinds[0], ANALYTIC_DP), 0);
}

static void states_shrink_as_zero_says(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("mixtral_8x7b", "h100", 64, 4096);
    struct analytic_parameters parameters = {.dense = 1000, .experts = 8000};
    struct kerf_layout layout = layout_of(2, 4, 8, 1); /* dp 8: 32 replicas, 64 / 8 = 8 of experts */
    static const double per_dense[] = {18, 6 + 12.0 / 32, 2 + 16.0 / 32, 18.0 / 32};
    static const double per_expert[] = {18, 6 + 12.0 / 8, 2 + 16.0 / 8, 18.0 / 8};
    for (int zero = 0; zero <= 3; zero++) {
        layout.zero = (int8_t)zero;
        struct analytic_state_bytes bytes = analytic_state(device, &layout, &parameters);
        expect(bytes.weights + bytes.gradients + bytes.optimizer, 1000 * per_dense[zero] + 8000 * per_expert[zero]);
    }
    problem.has_bf16_gradients = 1;
    layout.zero = 0;
    struct analytic_state_bytes bytes = analytic_state(device, &layout, &parameters);
    expect(bytes.weights + bytes.gradients + bytes.optimizer, 16 * 9000);
}

/* Transformer Engine keeps weights at 16 bits too, unless the distributed optimizer gathers them in 8. */
static void weights_in_8_bits_are_there_twice_without_zero(void **state) {
    (void)state;
    device_of("mixtral_8x7b", "h100", 8, 4096);
    problem.precision = KERF_PRECISION_FP8;
    const struct analytic_device *device = analytic_device(&problem, &arena);
    struct kerf_layout layout = layout_of(2, 1, 1, 1);
    struct analytic_parameters layer = analytic_layer_parameters(device, &layout, 0);
    double hidden = 4096, norms = 2 * hidden, router = 8 * hidden;
    expect(layer.doubled, layer.dense + layer.experts - norms - router);
    expect(analytic_embedding_parameters(device, &layout).doubled, 0);
    expect(analytic_head_parameters(device, &layout, 0).doubled, 0);
    expect(analytic_state(device, &layout, &layer).weights, 2 * (layer.dense + layer.experts));
    layout.zero = 0;
    expect(analytic_state(device, &layout, &layer).weights, 2 * (layer.dense + layer.experts) + 2 * layer.doubled);
    problem.precision = KERF_PRECISION_BF16;
    device = analytic_device(&problem, &arena);
    expect(analytic_layer_parameters(device, &layout, 0).doubled, 0);
}

static void a_step_reduces_gathers_and_updates(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("llama3_8b", "h100", 64, 8192);
    struct analytic_parameters parameters = {.dense = 1e9};
    struct kerf_layout layout = layout_of(8, 1, 1, 1);
    double one_s = 12e-6 + 7 * HOP + 1e9 * 7 / 8 / NIC; /* a byte a parameter, one of 8 in a domain */
    double start_s = 12e-6 + 7 * HOP, x = device->stack.dp_exposed;
    struct analytic_step_extras extras = analytic_step_extras(device, &layout, &parameters, 100);
    expect(extras.dp_s, x * (start_s + 4 * (one_s - start_s)) + x * (start_s + 2 * (one_s - start_s)));
    expect(extras.optimizer_s, device->stack.optimizer_bytes * 1e9 / 8 / (0.82 * 3.35e12));
    expect(extras.fixed_s, device->stack.step_host_s);
    /* nothing to hide behind */
    expect(analytic_step_extras(device, &layout, &parameters, 0).dp_s, 2 * start_s + 6 * (one_s - start_s));
    layout.zero = 0; /* reduced and gathered in 4 bytes */
    expect(analytic_step_extras(device, &layout, &parameters, 100).dp_s, x * 2 * (start_s + 4 * (one_s - start_s)));
    layout.zero = 3;
    expect(analytic_step_extras(device, &layout, &parameters, 0).dp_s, 0);
}

static void stages_pass_their_share_on(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("llama3_8b", "h100", 64, 8192);
    struct kerf_layout layout = layout_of(4, 1, 1, 2);
    expect(analytic_hop(device, &layout).latency_s, 0);
    layout.pp = 2, layout.dp = 8;
    struct analytic_hop far = analytic_hop(device, &layout);
    double bytes = 2 * 2 * 8192.0 * 4096 / 4;
    expect(far.latency_s + far.sender_s, HOP + bytes / NIC);
    layout.order = KERF_ORDER_TP_CP_PP_DP; /* two stages of 4 in a domain of 8 */
    struct analytic_hop near = analytic_hop(device, &layout);
    expect(near.latency_s + near.sender_s, 12e-6 + bytes / BUS);
    layout.pp = 4, layout.dp = 4; /* of three hops one leaves a domain */
    struct analytic_hop mixed = analytic_hop(device, &layout);
    double far_s = far.latency_s + far.sender_s, near_s = near.latency_s + near.sender_s;
    expect(mixed.latency_s + mixed.sender_s, near_s + (far_s - near_s) / 3);
    expect(mixed.sender_s, device->stack.pp_exposed * (mixed.latency_s + mixed.sender_s));
}

static void stragglers_grow_with_the_job(void **state) {
    (void)state;
    const struct analytic_device *device = device_of("llama3_8b", "h100", 64, 8192);
    expect(analytic_scale(device, 1), 1);
    expect(analytic_scale(device, 8), 1);
    expect(analytic_scale(device, 1024), 1 + 7 * device->stack.straggling);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_shape_is_whole, empty),
        cmocka_unit_test_teardown(times_are_flop_where_nothing_is_lost, empty),
        cmocka_unit_test_teardown(more_shards_compute_less, empty),
        cmocka_unit_test_teardown(larger_micro_batches_take_less_a_sample, empty),
        cmocka_unit_test_teardown(recomputation_trades_memory_for_time, empty),
        cmocka_unit_test_teardown(windows_save_attention, empty),
        cmocka_unit_test_teardown(eight_bits_are_faster, empty),
        cmocka_unit_test_teardown(the_cheapest_cp_comm_is_taken, empty),
        cmocka_unit_test_teardown(all_to_all_needs_heads, empty),
        cmocka_unit_test_teardown(gathered_keys_take_their_bytes, empty),
        cmocka_unit_test_teardown(experts_far_away_cost_more, empty),
        cmocka_unit_test_teardown(zero_waits_where_there_are_replicas, empty),
        cmocka_unit_test_teardown(states_shrink_as_zero_says, empty),
        cmocka_unit_test_teardown(weights_in_8_bits_are_there_twice_without_zero, empty),
        cmocka_unit_test_teardown(a_step_reduces_gathers_and_updates, empty),
        cmocka_unit_test_teardown(stages_pass_their_share_on, empty),
        cmocka_unit_test_teardown(stragglers_grow_with_the_job, empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
