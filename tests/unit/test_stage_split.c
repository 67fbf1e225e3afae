/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits of layers over virtual stages against all of them, one after the other: evenness where it is asked for, then the
 * least time of the slowest device, then the least memory of the fullest device, then the order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/stage_split.h"

enum { LAYERS_MAX = 13, STAGES_MAX = 12 };
static const double EQUAL = 1e-12;

/* ---- All splits ------------------------------------------------------------------------------------------- */

struct score {
    double s, bytes;
    int32_t spread;
};

static struct score score_of(const struct stage_split_question *q, const int32_t *layers) {
    struct score score = {0, 0, 1};
    int32_t kinds[64], num = 0;
    for (int32_t r = 0; r < q->num_runs; r++)
        for (int32_t i = 0; i < q->runs[r].count; i++) kinds[num++] = q->runs[r].kind;
    for (int32_t d = 0; d < q->num_devices; d++) {
        double s = 0, bytes = q->device_bytes[d];
        int32_t low = num, high = 0, layer = 0;
        for (int32_t k = 0; k < q->num_stages; k++)
            for (int32_t i = 0; i < layers[k]; i++, layer++) {
                if (q->device_of[k] != d) continue;
                s += q->layer_s[kinds[layer]];
                bytes += q->layer_bytes[kinds[layer]] + q->in_flight[k] * q->activation_bytes[kinds[layer]];
            }
        for (int32_t k = 0; k < q->num_stages; k++) {
            if (q->device_of[k] != d) continue;
            s += q->stage_s + (k == 0 ? q->first_s : 0) + (k == q->num_stages - 1 ? q->last_s : 0);
            if (layers[k] < low) low = layers[k];
            if (layers[k] > high) high = layers[k];
        }
        if (s > score.s) score.s = s;
        if (bytes > score.bytes) score.bytes = bytes;
        if (q->is_even && high - low > score.spread) score.spread = high - low;
    }
    return score;
}

static int is_below(double a, double b) { return a * (1 + EQUAL) < b; }

static int is_better(const struct score *a, const struct score *b) {
    if (a->spread != b->spread) return a->spread < b->spread;
    if (is_below(a->s, b->s) || is_below(b->s, a->s)) return a->s < b->s;
    return is_below(a->bytes, b->bytes);
}

/* In lexicographic order, so that the first of the best is kept. */
static void try_all(const struct stage_split_question *q, int32_t k, int32_t left, int32_t *layers, struct score *best,
                    int32_t *ret_best) {
    if (k == q->num_stages - 1) {
        layers[k] = left;
        struct score score = score_of(q, layers);
        if (!is_better(&score, best)) return;
        *best = score;
        memcpy(ret_best, layers, (size_t)q->num_stages * sizeof *layers);
        return;
    }
    for (layers[k] = 1; left - layers[k] >= q->num_stages - 1 - k; layers[k]++)
        try_all(q, k + 1, left - layers[k], layers, best, ret_best);
}

/* ---- Questions -------------------------------------------------------------------------------------------- */

static uint64_t seed = 0x9E3779B97F4A7C15;

static int32_t below(int32_t n) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (int32_t)(seed % (uint64_t)n);
}

struct sample {
    struct stage_split_question question;
    struct kerf_layer_run runs[LAYERS_MAX];
    int32_t device_of[STAGES_MAX];
    double in_flight[STAGES_MAX], device_bytes[STAGES_MAX];
};

/* Small whole numbers, so that much is equal, or any. */
static double cost(int is_whole, int32_t most) {
    return is_whole ? below(most + 1) : (double)most * below(1 << 20) / (1 << 20);
}

static void make_sample(struct sample *sample, int32_t num_runs, int32_t devices, int32_t chunks, int32_t layers) {
    struct stage_split_question *q = &sample->question;
    int is_whole = below(3) > 0, is_v = below(3) == 0;
    memset(sample, 0, sizeof *sample);
    q->num_devices = devices, q->num_stages = devices * chunks, q->is_even = below(2);
    q->runs = sample->runs, q->device_of = sample->device_of;
    q->in_flight = sample->in_flight, q->device_bytes = sample->device_bytes;
    q->num_runs = num_runs;
    for (int32_t r = 0; r < num_runs; r++)
        sample->runs[r] = (struct kerf_layer_run){1, r == 0 ? below(4) : (sample->runs[r - 1].kind + 1 + below(3)) % 4};
    for (int32_t i = num_runs; i < layers; i++)
        sample->runs[below(4) ? num_runs - 1 - below(num_runs) / 2 : below(num_runs)].count++;
    for (int32_t k = 0; k < q->num_stages; k++) {
        int32_t back = k / devices % 2;
        sample->device_of[k] = is_v && back ? devices - 1 - k % devices : k % devices;
        sample->in_flight[k] = below(4) ? q->num_stages - k : cost(is_whole, 8);
    }
    for (int32_t d = 0; d < devices; d++) sample->device_bytes[d] = below(2) ? cost(is_whole, 30) : 0;
    for (int32_t i = 0; i < KERF_KINDS_MAX; i++) {
        q->layer_s[i] = below(20) ? 1 + cost(is_whole, 6) : 0;
        q->layer_bytes[i] = cost(is_whole, 9);
        q->activation_bytes[i] = cost(is_whole, 4);
    }
    q->first_s = below(2) ? cost(is_whole, 6) : 0;
    q->last_s = below(2) ? cost(is_whole, 18) : 0;
    q->stage_s = below(3) ? 0 : cost(is_whole, 2);
    if (below(6) == 0)
        for (int32_t i = 0; i < KERF_KINDS_MAX; i++) q->layer_s[i] = q->layer_s[0];
}

static void say(const struct stage_split_question *q, const int32_t *found, const int32_t *expected) {
    printf("%d devices, %s, runs", q->num_devices, q->is_even ? "even" : "any");
    for (int32_t r = 0; r < q->num_runs; r++)
        printf(" %d of %g s %g B %g B", q->runs[r].count, q->layer_s[q->runs[r].kind], q->layer_bytes[q->runs[r].kind],
               q->activation_bytes[q->runs[r].kind]);
    printf(", first %g last %g each %g s\n", q->first_s, q->last_s, q->stage_s);
    for (int32_t k = 0; k < q->num_stages; k++)
        printf("  stage %d on device %d (%g B) in flight %g: %d for %d\n", k, q->device_of[k],
               q->device_bytes[q->device_of[k]], q->in_flight[k], found[k], expected[k]);
    struct score a = score_of(q, found), b = score_of(q, expected);
    printf("  %.17g s spread %d %.17g B for %.17g s spread %d %.17g B\n", a.s, a.spread, a.bytes, b.s, b.spread,
           b.bytes);
}

static void expect_best(const struct stage_split_question *q, int32_t layers, struct arena *arena) {
    int32_t tried[STAGES_MAX], expected[STAGES_MAX], found[STAGES_MAX], sum = 0;
    struct score best = {INFINITY, INFINITY, INT32_MAX};
    struct stage_split split;
    try_all(q, 0, layers, tried, &best, expected);
    arena_reset(arena);
    assert_true(stage_split_find(q, arena, found, &split));
    for (int32_t k = 0; k < q->num_stages; k++) sum += found[k];
    assert_int_equal(sum, layers);
    if (!split.is_exact || memcmp(found, expected, (size_t)q->num_stages * sizeof *found) != 0) {
        say(q, found, expected);
        fail_msg("%s", split.is_exact ? "another split" : "not exact");
    }
    struct score score = score_of(q, found);
    assert_true(fabs(split.largest_s - score.s) <= EQUAL * score.s);
    assert_true(fabs(split.largest_bytes - score.bytes) <= EQUAL * score.bytes);
    double least_s = stage_split_least_s(q, arena);
    assert_true(least_s <= split.largest_s && least_s >= 0);
    int are_equal = 1;
    for (int32_t r = 1; r < q->num_runs; r++) are_equal &= q->layer_s[q->runs[r].kind] == q->layer_s[q->runs[0].kind];
    if (are_equal) assert_true(least_s >= split.largest_s * (1 - 2 * EQUAL));
}

/* ---- Tests ------------------------------------------------------------------------------------------------ */

static void expect_all(int32_t runs_max, int32_t chunks_max, int32_t samples) {
    struct arena arena = {NULL};
    for (int32_t i = 0; i < samples; i++) {
        struct sample sample;
        int32_t devices = 1 + below(4), chunks = 1 + below(chunks_max);
        if (devices * chunks > 8) chunks = 8 / devices;
        int32_t layers = devices * chunks + below(LAYERS_MAX - devices * chunks + 1);
        int32_t runs = 1 + below(runs_max < layers ? runs_max : layers);
        make_sample(&sample, runs, devices, chunks, layers);
        expect_best(&sample.question, layers, &arena);
    }
    arena_free(&arena);
}

static void equal_layers(void **state) {
    (void)state;
    expect_all(1, 1, 3000);
    expect_all(1, 4, 3000);
}

static void any_runs_with_one_stage_a_device(void **state) {
    (void)state;
    expect_all(2, 1, 3000);
    expect_all(LAYERS_MAX, 1, 3000);
}

static void any_runs_and_several_stages(void **state) {
    (void)state;
    expect_all(2, 4, 3000);
    expect_all(LAYERS_MAX, 4, 3000);
}

/* Large questions: the answer has the bound's time where layers are equal, and one stage a device is always exact. */
static void large_questions(void **state) {
    (void)state;
    enum { DEVICES = 64, CHUNKS = 8, STAGES = DEVICES * CHUNKS };
    static int32_t device_of[STAGES], layers[STAGES];
    static double in_flight[STAGES], device_bytes[DEVICES];
    struct arena arena = {NULL};
    struct kerf_layer_run runs[64];
    for (int32_t r = 0; r < 64; r++) runs[r] = (struct kerf_layer_run){r == 0 ? 3 : 40, r % 2};
    for (int32_t k = 0; k < STAGES; k++) device_of[k] = k % DEVICES, in_flight[k] = STAGES - k;
    for (int chunks = 1; chunks <= CHUNKS; chunks += 7)
        for (int32_t num_runs = 1; num_runs <= 64; num_runs *= 4) {
            struct stage_split split;
            struct stage_split_question q = {.runs = runs,
                                             .num_runs = num_runs,
                                             .num_stages = DEVICES * chunks,
                                             .num_devices = DEVICES,
                                             .device_of = device_of,
                                             .layer_s = {1, 3.5},
                                             .first_s = 0.5,
                                             .last_s = 4,
                                             .layer_bytes = {1, 5},
                                             .activation_bytes = {1, 1},
                                             .in_flight = in_flight,
                                             .device_bytes = device_bytes,
                                             .is_even = 1};
            int32_t total = 0, sum = 0;
            runs[0].count = num_runs == 1 ? 700 : num_runs == 4 ? 600 : 3;
            for (int32_t r = 0; r < num_runs; r++) total += runs[r].count;
            assert_true(total >= q.num_stages);
            arena_reset(&arena);
            assert_true(stage_split_find(&q, &arena, layers, &split));
            for (int32_t k = 0; k < q.num_stages; k++) {
                assert_true(layers[k] >= 1);
                sum += layers[k];
            }
            assert_int_equal(sum, total);
            assert_true(stage_split_least_s(&q, &arena) <= split.largest_s);
            if (num_runs == 1) assert_true(stage_split_least_s(&q, &arena) >= split.largest_s * (1 - 2 * EQUAL));
            if (chunks == 1 || num_runs == 1) assert_true(split.is_exact);
            if (chunks == 1 && split.largest_s > stage_split_least_s(&q, &arena) + 2 * 3.5)
                fail_msg("%d runs over %d stages: %g s for %g", num_runs, q.num_stages, split.largest_s,
                         stage_split_least_s(&q, &arena));
        }
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_layers),
        cmocka_unit_test(any_runs_with_one_stage_a_device),
        cmocka_unit_test(any_runs_and_several_stages),
        cmocka_unit_test(large_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
