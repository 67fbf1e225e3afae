/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of a sequence: where they are cut, what they take, and what schedules of unequal ones take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "kerf/schedule.h"

/* A schedule of a rule with its times: F, I and W of a stage, of which attention takes a share. */
struct sliced {
    struct kerf_schedule *schedule;
    struct kerf_schedule_times *times;
    struct kerf_schedule_slices *slices;
};

static const double SAME[3] = {1, 1, 1};

static int32_t make(const char *rule, int32_t p, int32_t m, int32_t count, const double time[3],
                    const struct kerf_schedule_slices_request *asked, struct sliced *ret, struct kerf_error *err) {
    const struct kerf_schedule_request request = {.rule = rule, .devices = p, .microbatches = m, .slices = count};
    struct kerf_schedule_times_request said;
    struct kerf_schedule_slices_request slices = *asked;
    kerf_schedule_times_unsaid(&said);
    said.forward_s = time[0], said.backward_input_s = time[1], said.backward_weight_s = time[2];
    slices.rule = rule;
    *ret = (struct sliced){NULL, NULL, NULL};
    if (kerf_schedule_make_timed(&request, &said, &ret->schedule, &ret->times, err) != KERF_OK)
        fail_msg("%s", err->message);
    return kerf_schedule_slices_make(ret->schedule, ret->times, &slices, &ret->slices, err);
}

static struct sliced must_make(const char *rule, int32_t p, int32_t m, int32_t count, const double time[3],
                               const struct kerf_schedule_slices_request *asked) {
    struct sliced made;
    struct kerf_error err;
    if (make(rule, p, m, count, time, asked, &made, &err) != KERF_OK) fail_msg("%s", err.message);
    return made;
}

static void let_go(struct sliced *made) {
    kerf_schedule_slices_free(made->slices);
    kerf_schedule_times_free(made->times);
    kerf_schedule_free(made->schedule);
}

static void near(const char *what, double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%s: %.15g, not %.15g", what, value, expected);
}

static double sum(const double *shares, int32_t count) {
    double all = 0;
    for (int32_t j = 0; j < count; j++) all += shares[j];
    return all;
}

/* What the tokens from x to y take: the work of each token, added up. */
static double work(double attention, double x, double y) {
    enum { TOKENS = 20000 };
    double all = 0;
    for (int k = 0; k < TOKENS; k++) all += (1 - attention) + 2 * attention * (x + (y - x) * (k + 0.5) / TOKENS);
    return all * (y - x) / TOKENS;
}

/* ---- Where they are cut --------------------------------------------------------------------------------------- */

static void test_balanced(void **state) {
    (void)state;
    for (int32_t count = 2; count <= 9; count++)
        for (double attention = 0.05; attention < 1.01; attention += 0.19) {
            const struct kerf_schedule_slices_request asked = {.attention = attention};
            struct sliced made = must_make("seq1f1b", 2, 2, count, SAME, &asked);
            const struct kerf_schedule_slices *slices = made.slices;
            double x = 0;
            assert_int_equal(slices->count, count);
            for (int32_t j = 0; j < count; j++) {
                near("a slice", work(attention, x, x + slices->tokens[j]), 1. / count, 1e-9);
                near("its share", slices->forward[j], 1. / count, 1e-15);
                near("of B", slices->backward[j], 1. / count, 1e-15);
                if (j > 0) assert_true(slices->tokens[j] < slices->tokens[j - 1]);
                x += slices->tokens[j];
            }
            near("the sequence", x, 1, 1e-12);
            let_go(&made);
        }
}

/* sequence_split.py of thunlp/Seq1F1B prints these tokens for its own example and for two longer sequences, with 24 layers
 * of 4096, 32 heads of 128, an MLP of 16384 and 32000 words; it rounds each slice but the first down. The shares are those
 * of attention's operations in its count of all. */
static void test_authors_slices(void **state) {
    (void)state;
    static const struct {
        double attention;
        int32_t sequence, count, tokens[8];
    } cases[] = {
        {0.24129314383882555, 16384, 4, {4930, 4238, 3776, 3440}},
        {0.3887770508303976, 32768, 4, {11040, 8418, 7080, 6230}},
        {0.559884036963218, 65536, 8, {14526, 10526, 8692, 7575, 6802, 6227, 5776, 5412}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct kerf_schedule_slices_request asked = {.attention = cases[k].attention};
        struct sliced made = must_make("seq1f1b", 2, 2, cases[k].count, SAME, &asked);
        for (int32_t j = 0; j < cases[k].count; j++)
            near("tokens", made.slices->tokens[j] * cases[k].sequence, cases[k].tokens[j], 6);
        let_go(&made);
    }
}

/* Slices of as many tokens: of attention alone the j-th takes 2 j + 1 parts of count^2. */
static void test_equal(void **state) {
    (void)state;
    const struct kerf_schedule_slices_request asked = {.cut = KERF_SLICE_CUT_EQUAL, .attention = 1};
    struct sliced made = must_make("seq1f1b", 1, 1, 5, SAME, &asked);
    struct kerf_timeline *timeline = NULL;
    assert_int_equal(kerf_schedule_simulate_slices(made.schedule, made.times, made.slices, &timeline, NULL), KERF_OK);
    for (int32_t j = 0; j < 5; j++) {
        near("tokens", made.slices->tokens[j], 0.2, 1e-15);
        near("F", timeline->end_s[0][j] - timeline->start_s[0][j], (2 * j + 1) / 25., 1e-12);
        near("B", timeline->end_s[0][5 + j] - timeline->start_s[0][5 + j], 2 * (9 - 2 * j) / 25., 1e-12);
    }
    near("all", timeline->makespan_s, 3, 1e-12);
    kerf_timeline_free(timeline);
    let_go(&made);
}

/* W has no attention where I has room for it, and each slice's I and W are its B. */
static void test_parts_of_the_backward_pass(void **state) {
    (void)state;
    static const double times[][3] = {{1, 1, 1}, {1, 1.3, 0.7}, {2, 1, 3}, {1, 2, 0}};
    for (size_t t = 0; t < sizeof times / sizeof *times; t++)
        for (int how = KERF_SLICE_CUT_BALANCED; how < KERF_SLICE_CUTS; how++)
            for (double attention = 0; attention <= 1; attention += 0.125) {
                const struct kerf_schedule_slices_request asked = {.cut = (enum kerf_slice_cut)how,
                                                                   .attention = attention};
                struct sliced made = must_make("seq_zb", 3, 4, 6, times[t], &asked);
                const struct kerf_schedule_slices *slices = made.slices;
                for (int32_t j = 0; slices && j < 6; j++) {
                    const double parts =
                        times[t][1] * slices->backward_input[j] + times[t][2] * slices->backward_weight[j];
                    near("I + W", parts, (times[t][1] + times[t][2]) * slices->backward[j], 1e-12);
                    if (attention * (times[t][1] + times[t][2]) <= times[t][1])
                        near("W", slices->backward_weight[j], slices->tokens[j], 1e-12);
                }
                if (slices) near("all", sum(slices->forward, 6) + sum(slices->backward_input, 6), 2, 1e-12);
                assert_true(slices || attention == 0 || how == KERF_SLICE_CUT_EXCHANGED);
                let_go(&made);
            }
}

/* ---- Times of the file ---------------------------------------------------------------------------------------- */

static void test_file(void **state) {
    (void)state;
    struct kerf_schedule_slices_request asked = {.file = "t.json", .attention = 0.5};
    asked.file_text = "{\"slices\": {\"tokens\": [100, 50, 50], \"forward\": [3, 3, 2], \"backward_input\": [2, 1, 1],"
                      " \"backward_weight\": [1, 1, 2]}}";
    struct sliced made = must_make("seq_zb", 3, 4, 3, (const double[3]){1, 3, 1}, &asked);
    const double tokens[] = {0.5, 0.25, 0.25}, forward[] = {0.375, 0.375, 0.25}, input[] = {0.5, 0.25, 0.25},
                 weight[] = {0.25, 0.25, 0.5};
    for (int32_t j = 0; j < 3; j++) {
        near("tokens", made.slices->tokens[j], tokens[j], 1e-15);
        near("F", made.slices->forward[j], forward[j], 1e-15);
        near("I", made.slices->backward_input[j], input[j], 1e-15);
        near("W", made.slices->backward_weight[j], weight[j], 1e-15);
        near("B", made.slices->backward[j], (3 * input[j] + weight[j]) / 4, 1e-15);
    }
    let_go(&made);
    asked.file_text = "{\"slices\": {\"tokens\": [2, 1, 1], \"backward\": [2, 1, 1]}}"; /* I is what W leaves of B */
    made = must_make("seq_zb", 3, 4, 3, (const double[3]){1, 1, 1}, &asked);
    for (int32_t j = 0; j < 3; j++) {
        near("F", made.slices->forward[j], work(0.5, j ? 0.25 * (j + 1) : 0, 0.25 * (j + 2)), 1e-9);
        near("I + W", made.slices->backward_input[j] + made.slices->backward_weight[j], 2 * tokens[j], 1e-12);
    }
    let_go(&made);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *rule, *text;
        double attention;
        int32_t count, line, column;
        const char *words;
    } cases[] = {
        {"seq1f1b", "{\"slices\":\n{\"tokens\": [1, 2]}}", 0, 3, 2, 12, "\"tokens\" must be an array of 3 numbers"},
        {"seq1f1b", "{\"slices\": {\"forward\": [1, -2]}}", 0, 2, 1, 24, "\"forward\"[1] must be a number from 0 to"},
        {"seq1f1b", "{\"slices\": {\"forward\": [1, \"2\"]}}", 0, 2, 1, 24, "must be a number"},
        {"seq1f1b", "{\"slices\": {\"forward\": [1, 1e999]}}", 0, 2, 1, 28, ""},
        {"seq1f1b", "{\"slices\": {\"backward\": [0, 0]}}", 0, 2, 1, 25, "must not be all zeros"},
        {"seq1f1b", "{\"slices\": {\"token\": [1, 1]}}", 0, 2, 1, 13, "did you mean \"tokens\""},
        {"seq1f1b", "{\"slices\": [1, 1]}", 0, 2, 1, 12, "must be an object"},
        {"seq1f1b", NULL, 1.5, 2, 0, 0, "attention must be a share from 0 to 1, not 1.5"},
        {"seq1f1b", NULL, -0.1, 2, 0, 0, "not -0.1"},
        {"seq1f1b", NULL, NAN, 2, 0, 0, "not nan"},
        {"gpipe", NULL, 0.5, 0, 0, 0, "gpipe does not cut micro-batches into slices"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct kerf_schedule_slices_request asked = {
            .attention = cases[k].attention, .file = cases[k].text ? "t.json" : NULL, .file_text = cases[k].text};
        struct sliced made;
        struct kerf_error err = {0};
        if (make(cases[k].rule, 2, 2, cases[k].count, SAME, &asked, &made, &err) == KERF_OK)
            fail_msg("case %zu is taken", k);
        if (!strstr(err.message, cases[k].words)) fail_msg("'%s' does not say '%s'", err.message, cases[k].words);
        if (err.line != cases[k].line || err.column != cases[k].column)
            fail_msg("%s: at %d:%d, not %d:%d", err.message, err.line, err.column, cases[k].line, cases[k].column);
        let_go(&made);
    }
    const struct kerf_schedule_slices_request unknown = {.cut = (enum kerf_slice_cut)99};
    struct sliced made;
    struct kerf_error err;
    assert_int_equal(make("seq1f1b", 2, 2, 2, SAME, &unknown, &made, &err), KERF_EINVALID);
    assert_string_equal(err.message, "cut 99 does not exist");
    let_go(&made);
    const struct kerf_schedule_slices_request asked = {.attention = 0.5};
    struct sliced whole = must_make("seq1f1b", 2, 2, 1, SAME, &asked); /* one slice has all of it */
    assert_null(whole.slices);
    let_go(&whole);
    struct sliced four = must_make("seq1f1b", 2, 2, 4, SAME, &asked),
                  three = must_make("seq1f1b", 2, 2, 3, SAME, &asked);
    struct kerf_timeline *timeline = NULL;
    assert_int_equal(kerf_schedule_simulate_slices(four.schedule, four.times, three.slices, &timeline, &err),
                     KERF_EINVALID);
    assert_string_equal(err.message, "seq1f1b cuts micro-batches into 4 slices, not 3");
    let_go(&four);
    let_go(&three);
}

/* ---- What schedules of them take ------------------------------------------------------------------------------ */

/* What the first device holds of 6 micro-batches before its backward n: the slices of k + p - 1 + n forwards without
 * those of n backwards. */
static double held_by_first(const double *tokens, int32_t count, int32_t p) {
    double most = 0;
    for (int32_t n = 0; count + p - 1 + n <= 6 * count; n++) {
        double held = 0;
        for (int32_t u = 0; u < count + p - 1 + n; u++) held += tokens[u % count];
        for (int32_t u = 0; u < n; u++) held -= tokens[count - 1 - u % count];
        most = fmax(most, held);
    }
    return most;
}

/* Balanced slices take as long as equal ones do without attention: m s + (p - 1) s / k. */
static void test_balanced_seq1f1b(void **state) {
    (void)state;
    const double time[3] = {2, 3, 1.5};
    for (int32_t p = 2; p <= 5; p++)
        for (int32_t count = p; count <= 8; count++) {
            const struct kerf_schedule_slices_request asked = {.attention = 0.4};
            struct sliced made = must_make("seq1f1b", p, 6, count, time, &asked);
            struct kerf_timeline *timeline = NULL;
            assert_int_equal(kerf_schedule_simulate_slices(made.schedule, made.times, made.slices, &timeline, NULL),
                             KERF_OK);
            near("seq1f1b", timeline->makespan_s, 6 * 6.5 + (p - 1) * 6.5 / count, 1e-9);
            near("held", timeline->peak_activations[0], held_by_first(made.slices->tokens, count, p), 1e-9);
            kerf_timeline_free(timeline);
            let_go(&made);
        }
}

/* Unequal ones wait for each other: slimpipe without its exchange is longer than with it. */
static void test_exchange(void **state) {
    (void)state;
    const struct kerf_schedule_slices_request own = {.attention = 0.5},
                                              equal = {.attention = 0.5, .cut = KERF_SLICE_CUT_EQUAL};
    struct sliced made = must_make("slimpipe", 4, 4, 8, SAME, &own),
                  apart = must_make("slimpipe", 4, 4, 8, SAME, &equal);
    struct kerf_timeline *timeline = NULL, *longer = NULL;
    assert_null(made.slices); /* all alike in all */
    assert_int_equal(kerf_schedule_simulate_slices(made.schedule, made.times, made.slices, &timeline, NULL), KERF_OK);
    assert_int_equal(kerf_schedule_simulate_slices(apart.schedule, apart.times, apart.slices, &longer, NULL), KERF_OK);
    near("slimpipe", timeline->makespan_s, 4 * 3 + 3 * 3. / 8, 1e-12);
    assert_true(longer->makespan_s > timeline->makespan_s * 1.05);
    assert_true(longer->peak_activations[0] == timeline->peak_activations[0]);
    kerf_timeline_free(timeline);
    kerf_timeline_free(longer);
    let_go(&made);
    let_go(&apart);
}

/* ---- The bound ------------------------------------------------------------------------------------------------ */

enum { P = 2, M = 2, K = 3, UNITS = M * K, OPS = 2 * UNITS, ORDERS = 20 };

/* The order of a device whose F are the bits of a mask: F in order, B in reverse within each micro-batch. */
static void order_of(int mask, int32_t device, struct kerf_op ops[OPS]) {
    int32_t forwards = 0, backwards = 0;
    for (int at = 0; at < OPS; at++) {
        const int back = !(mask >> at & 1);
        const int32_t unit = back ? backwards++ : forwards++;
        ops[at] = (struct kerf_op){.microbatch = unit / K,
                                   .with_microbatch = -1,
                                   .stage = (int16_t)device,
                                   .with_stage = -1,
                                   .kind = back ? KERF_OP_B : KERF_OP_F,
                                   .slice = (int16_t)(back ? K - 1 - unit % K : unit % K)};
    }
}

/* The orders of a device in which each B follows all F of its micro-batch; there are C(2 K, K). */
static int list_orders(int masks[ORDERS]) {
    int count = 0;
    for (int mask = 0; mask < 1 << OPS; mask++) {
        int32_t forwards = 0, backwards = 0, good = __builtin_popcount((unsigned)mask) == UNITS;
        for (int at = 0; at < OPS && good; at++) {
            if (mask >> at & 1)
                forwards++;
            else
                good = forwards >= (backwards++ / K + 1) * K;
        }
        if (good) masks[count++] = mask;
    }
    return count;
}

/* Of all orders of a small pipeline with its slices in their order: none that holds no more than one of them is shorter
 * than that one's bound. */
static void bound_of_all_orders(const struct kerf_schedule_times *times, const struct kerf_schedule_slices *slices) {
    static const int32_t device_of[P] = {0, 1}, num_ops[P] = {OPS, OPS};
    struct {
        double makespan, span, peak, bound, span_bound;
    } found[ORDERS * ORDERS];
    int masks[ORDERS], count = 0;
    assert_int_equal(list_orders(masks), ORDERS);
    for (int order = 0; order < ORDERS * ORDERS; order++) {
        struct kerf_op first[OPS], second[OPS];
        const struct kerf_op *const ops[P] = {first, second};
        struct kerf_timeline *timeline = NULL;
        order_of(masks[order / ORDERS], 0, first);
        order_of(masks[order % ORDERS], 1, second);
        const struct kerf_schedule schedule = {.name = "own",
                                               .devices = P,
                                               .stages = P,
                                               .microbatches = M,
                                               .chunks = 1,
                                               .replicas = 1,
                                               .slices = K,
                                               .device_of = device_of,
                                               .ops = ops,
                                               .num_ops = num_ops};
        if (kerf_schedule_simulate_slices(&schedule, times, slices, &timeline, NULL) != KERF_OK) continue;
        const struct kerf_schedule_bound bound = kerf_schedule_lower_bound(&schedule, times, timeline);
        found[count].makespan = timeline->makespan_s;
        found[count].span = timeline->span_s;
        found[count].peak = fmax(timeline->peak_activations[0], timeline->peak_activations[1]);
        found[count].bound = bound.makespan_s;
        found[count++].span_bound = bound.span_s;
        kerf_timeline_free(timeline);
    }
    assert_true(count > 100);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            if (found[k].peak > found[i].peak * (1 + 1e-12)) continue;
            if (found[k].makespan < found[i].bound * (1 - 1e-12) || found[k].span < found[i].span_bound * (1 - 1e-12))
                fail_msg("%g and %g are below the bounds %g and %g", found[k].makespan, found[k].span, found[i].bound,
                         found[i].span_bound);
        }
}

static double draw(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / (double)(1 << 24);
}

static void test_bound(void **state) {
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 40; round++) {
        double shares[3][K], stage[3][P];
        for (int i = 0; i < 3; i++) {
            double all = 0;
            for (int j = 0; j < K; j++) all += shares[i][j] = 0.02 + draw(&seed);
            for (int j = 0; j < K; j++) shares[i][j] /= all;
            for (int d = 0; d < P; d++) stage[i][d] = 0.1 + 2 * draw(&seed);
        }
        const struct kerf_schedule_slices slices = {.count = K,
                                                    .tokens = shares[0],
                                                    .forward = shares[1],
                                                    .backward = shares[2],
                                                    .backward_input = shares[2],
                                                    .backward_weight = shares[2]};
        const struct kerf_schedule_times times = {.forward_s = stage[0],
                                                  .backward_s = stage[1],
                                                  .backward_input_s = stage[1],
                                                  .backward_weight_s = stage[2],
                                                  .p2p_s = round % 3 * 0.2};
        bound_of_all_orders(&times, &slices);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balanced),
        cmocka_unit_test(test_authors_slices),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_parts_of_the_backward_pass),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_balanced_seq1f1b),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
