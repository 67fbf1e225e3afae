/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: what was written with known times is read, aligned and fitted back to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include "trace_folder.h"

/* Every time that the run has is what was written, or near it as the median of so many can be: with triangular jitter
 * the median of n is off by 0.51 jitter / sqrt(n) in the mean square. */
static void check_times(const struct writer *writer, const struct kerf_trace_fit *fit, double tolerance) {
    const double *of[KERF_OP_MEASURED] = {fit->times->forward_s, fit->times->backward_s, fit->times->backward_input_s,
                                       fit->times->backward_weight_s, fit->times->fused_s};
    static const char *const names[KERF_OP_MEASURED] = {"F", "B", "I", "W", "FB"};
    assert_int_equal(fit->stages, writer->schedule->stages);
    for (int kind = 0; kind < KERF_OP_MEASURED; kind++)
        for (int32_t s = 0; s < fit->stages; s++)
            if (fit->of_kind[kind][s].count) {
                double allowed = tolerance + 4 * 0.51 * writer->jitter / sqrt(fit->of_kind[kind][s].count);
                near(names[kind], s, of[kind][s], writer->time_s[kind][s], allowed * writer->time_s[kind][s]);
            }
    for (int32_t i = 0; i < fit->devices; i++)
        for (int32_t k = 0; k < fit->devices; k++) {
            double latency_s = fit->times->p2p_of_s ? fit->times->p2p_of_s[i * fit->devices + k] : fit->times->p2p_s;
            if (k == i + 1 || i == k + 1) near("p2p", i, latency_s, writer->latency_s[i][k], tolerance);
        }
}

/* The same order and times, from the first start on. */
static void check_timeline(const struct writer *writer, const struct kerf_trace *run, double tolerance) {
    double first_s = INFINITY;
    for (int32_t d = 0; d < writer->devices; d++) first_s = fmin(first_s, writer->start[d][0]);
    assert_int_equal(run->schedule->devices, writer->devices);
    assert_int_equal(run->schedule->microbatches, writer->microbatches);
    assert_int_equal(run->schedule->chunks, writer->schedule->chunks);
    assert_int_equal(kerf_schedule_check(run->schedule, NULL), KERF_OK);
    for (int32_t d = 0; d < writer->devices; d++) {
        assert_int_equal(run->schedule->num_ops[d], writer->schedule->num_ops[d]);
        for (int32_t k = 0; k < run->schedule->num_ops[d]; k++) {
            assert_memory_equal(&run->schedule->ops[d][k], &writer->schedule->ops[d][k], sizeof(struct kerf_op));
            near("start", k, run->timeline->start_s[d][k], writer->start[d][k] - first_s, tolerance);
            near("end", k, run->timeline->end_s[d][k], writer->end[d][k] - first_s, tolerance);
        }
    }
}

static void check_exact(const struct writer *writer, const char *source) {
    struct kerf_trace *run = load(-1);
    struct kerf_trace_fit *fit = fit_of(run);
    struct kerf_timeline *timeline;
    assert_string_equal(run->source, source);
    check_timeline(writer, run, 1e-9);
    check_times(writer, fit, 1e-9);
    near("residual", 0, fit->residual, 0, 1e-9);
    near("overhead", 0, fit->times->overhead_s, 0, 0);
    assert_int_equal(kerf_schedule_simulate(run->schedule, fit->times, &timeline, NULL), KERF_OK);
    near("busy", 0, run->timeline->busy_mean_s, timeline->busy_mean_s, 1e-9);
    near("span", 0, run->timeline->span_s, timeline->span_s, 1e-9);
    for (int32_t d = 0; d < run->schedule->devices; d++)
        near("peak", d, run->timeline->peak_activations[d], timeline->peak_activations[d], 0);
    assert_true(run->timeline->messages == timeline->messages);
    kerf_timeline_free(timeline);
    kerf_trace_fit_free(fit);
    kerf_trace_free(run);
    empty_folder();
}

static const struct {
    const char *rule;
    int32_t p, m, v;
} WHOLE[] = {{"1f1b", 4, 8, 0},       {"gpipe", 2, 3, 0}, {"eager_1f1b", 3, 7, 0}, {"interleaved_1f1b", 4, 8, 2},
             {"looped_bfs", 2, 4, 3}, {"1f1b", 1, 3, 0}},
  ANY[] = {{"1f1b", 4, 8, 0},        {"zb_h1", 4, 8, 0},          {"zb_v", 4, 8, 0},
           {"dualpipe_v", 4, 10, 0}, {"interleaved_zb", 4, 8, 2}, {"interleaved_1f1b_overlap", 2, 6, 2},
           {"zb_h2", 8, 20, 0}};

static void test_megatron_round_trip(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof WHOLE / sizeof *WHOLE; i++) {
        struct writer writer = uneven(WHOLE[i].rule, WHOLE[i].p, WHOLE[i].m, WHOLE[i].v);
        assert_true(writer_make(&writer) && writer_megatron(&writer, folder, 0));
        if (WHOLE[i].p == 1) writer.latency_s[0][0] = 0;
        check_exact(&writer, "Megatron timers");
        writer_free(&writer);
    }
}

static void test_torch_round_trip(void **state) {
    (void)state;
    static const struct torch_style styles[] = {{0},
                                                {.quoted_times = 1, .profiler_steps = 1, .nested = 1},
                                                {.both_sides = 1, .receives = 1, .profiler_steps = 1},
                                                {.no_rank = 1}};
    for (size_t i = 0; i < sizeof ANY / sizeof *ANY; i++)
        for (size_t style = 0; style < sizeof styles / sizeof *styles; style++) {
            struct writer writer = uneven(ANY[i].rule, ANY[i].p, ANY[i].m, ANY[i].v);
            assert_true(writer_torch(&writer, &styles[style], folder, 1, 0));
            check_exact(&writer, "PyTorch profiler");
            writer_free(&writer);
        }
}

static void test_old_letters(void **state) {
    (void)state;
    static const char *const rules[] = {"zb_h1", "interleaved_1f1b"};
    for (int i = 0; i < 2; i++) {
        struct writer writer = uneven(rules[i], 4, 8, 0);
        assert_true(writer_torch(&writer, &(struct torch_style){.old_letters = 1}, folder, 1, 0));
        check_exact(&writer, "PyTorch profiler");
        writer_free(&writer);
    }
}

/* ---- Latency, overhead and clocks ------------------------------------------------------------------------- */

static void test_latency_by_pair(void **state) {
    (void)state;
    struct writer writer = uneven("1f1b", 4, 8, 0);
    writer.latency_s[2][3] = writer.latency_s[3][2] = 0.2;
    assert_true(writer_make(&writer) && writer_megatron(&writer, folder, 0));
    struct kerf_trace *run = load(-1);
    struct kerf_trace_fit *fit = fit_of(run);
    assert_non_null(fit->times->p2p_of_s);
    check_times(&writer, fit, 1e-9);
    near("residual", 0, fit->residual, 0, 1e-9);
    kerf_trace_fit_free(fit);
    kerf_trace_free(run);
    writer_free(&writer);
    empty_folder();
}

static void test_pauses_are_overhead(void **state) {
    (void)state;
    struct writer writer = uneven("1f1b", 4, 16, 0);
    writer.pause_s = 0.01;
    assert_true(writer_make(&writer) && writer_megatron(&writer, folder, 0));
    struct kerf_trace *run = load(-1);
    struct kerf_trace_fit *fit = fit_of(run);
    near("overhead", 0, fit->times->overhead_s, 0.01, 1e-9);
    near("p2p", 0, fit->times->p2p_s, 0.04, 1e-9); /* a maker's overhead goes before its message */
    near("residual", 0, fit->residual, 0, 1e-3);
    kerf_trace_fit_free(fit);
    kerf_trace_free(run);
    writer_free(&writer);
    empty_folder();
}

static void test_clocks_are_aligned(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ANY / sizeof *ANY; i++) {
        struct writer writer = uneven(ANY[i].rule, ANY[i].p, ANY[i].m, ANY[i].v);
        for (int d = 0; d < WRITER_DEVICES; d++) writer.offset_s[d] = 3.5 * (d % 3) - 1.25 * d;
        assert_true(writer_torch(&writer, &(struct torch_style){.profiler_steps = 1}, folder, 1, 0));
        struct kerf_trace *run = load(-1);
        assert_int_equal(run->clocks, KERF_CLOCKS_ALIGNED);
        assert_non_null(strstr(run->notes, "aligned"));
        /* where no message of one way is waited for the bounds leave room: a tenth of a second in interleaved_zb */
        int loose = strcmp(ANY[i].rule, "interleaved_zb") == 0;
        for (int32_t d = 0; d < writer.devices; d++)
            near("offset", d, run->offset_s[d], writer.offset_s[d] - writer.offset_s[0], loose ? 0.05 + 1e-9 : 1e-9);
        kerf_trace_free(run);
        if (!loose) check_exact(&writer, "PyTorch profiler");
        writer_free(&writer);
        empty_folder();
    }
}

/* Jitter of 5 % in everything, and clocks that differ by many operations. */
static void test_noise(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ANY / sizeof *ANY; i++) {
        struct writer writer = uneven(ANY[i].rule, ANY[i].p, 40, ANY[i].v);
        writer.jitter = 0.05;
        for (int d = 0; d < WRITER_DEVICES; d++) writer.offset_s[d] = 100.0 * d;
        assert_true(writer_torch(&writer, &(struct torch_style){0}, folder, 1, 0));
        struct kerf_trace *run = load(-1);
        struct kerf_trace_fit *fit = fit_of(run);
        assert_int_equal(run->clocks, KERF_CLOCKS_ALIGNED);
        for (int32_t d = 0; d < writer.devices; d++) near("offset", d, run->offset_s[d], writer.offset_s[d], 0.06);
        check_times(&writer, fit, 0.005);
        near("residual", 0, fit->residual, 0, 0.03);
        kerf_trace_fit_free(fit);
        kerf_trace_free(run);
        writer_free(&writer);
        empty_folder();
    }
}

static void test_clocks_that_contradict(void **state) {
    (void)state;
    struct writer writer = uneven("1f1b", 4, 8, 0);
    writer.drift = -0.5; /* of the last device's clock */
    assert_true(writer_make(&writer) && writer_megatron(&writer, folder, 0));
    struct kerf_trace *run = load(-1);
    struct kerf_trace_fit *fit = fit_of(run);
    assert_int_equal(run->clocks, KERF_CLOCKS_CONTRADICT);
    assert_non_null(strstr(run->notes, "no clock offsets"));
    for (int32_t d = 0; d < 4; d++) near("offset", d, run->offset_s[d], 0, 0);
    assert_true(isfinite(fit->residual));
    kerf_trace_fit_free(fit);
    kerf_trace_free(run);
    writer_free(&writer);
    empty_folder();
}

/* Ranges of the CPU begin when the operation before ends, and hold the wait. */
static void test_waits_are_cut_off(void **state) {
    (void)state;
    struct writer writer = uneven("1f1b", 4, 8, 0);
    for (int i = 0; i < WRITER_DEVICES; i++)
        for (int k = 0; k < WRITER_DEVICES; k++) writer.latency_s[i][k] = 0;
    assert_true(writer_torch(&writer, &(struct torch_style){.waits = 1}, folder, 1, 0));
    struct kerf_trace *run = load(-1);
    struct kerf_trace_fit *fit = fit_of(run);
    assert_int_equal(run->clocks, KERF_CLOCKS_WAITS);
    assert_non_null(strstr(run->notes, "removed this wait"));
    for (int32_t s = 1; s < 4; s++) near("F", s, fit->times->forward_s[s], writer.time_s[KERF_OP_F][s], 1e-9);
    for (int32_t s = 0; s < 4; s++) near("B", s, fit->times->backward_s[s], writer.time_s[KERF_OP_B][s], 1e-9);
    kerf_trace_fit_free(fit);
    kerf_trace_free(run);
    writer_free(&writer);
    empty_folder();
}

/* What is fitted goes through the file that --times reads. */
static void test_times_as_a_file(void **state) {
    (void)state;
    struct writer writer = uneven("dualpipe_v", 4, 10, 0);
    writer.latency_s[0][1] = writer.latency_s[1][0] = 0.3;
    assert_true(writer_torch(&writer, &(struct torch_style){0}, folder, 1, 0));
    struct kerf_trace *run = load(-1);
    struct kerf_trace_fit *fit = fit_of(run);
    struct kerf_text text = {0};
    struct kerf_json json = {0};
    struct kerf_schedule_times *read;
    struct kerf_schedule_times_request request;
    struct kerf_timeline *timeline;
    char path[512];
    double bytes[8], cap[4] = {1.5e9, 2e9, 3e9, 4e9};
    for (int s = 0; s < 8; s++) bytes[s] = 1e6 * (s + 1);
    struct kerf_schedule_times times = *fit->times;
    times.activation_bytes = bytes, times.cap = cap, times.cap_in_bytes = 1;
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_schedule_times_json(&json, &times, fit->devices, fit->stages);
    kerf_json_close(&json, '}');
    assert_true(writer_save(folder, "times", &text));
    snprintf(path, sizeof path, "%s/times", folder);
    kerf_schedule_times_unsaid(&request);
    request.file = path;
    assert_int_equal(kerf_schedule_times_make(4, 8, &request, &read, NULL), KERF_OK);
    assert_int_equal(kerf_schedule_simulate(run->schedule, read, &timeline, NULL), KERF_OK);
    near("makespan", 0, timeline->makespan_s, fit->simulated_s, 1e-12);
    near("cap", 3, read->cap[3], 4e9, 0);
    near("bytes", 7, read->activation_bytes[7], 8e6, 0);
    kerf_timeline_free(timeline);
    kerf_schedule_times_free(read);
    kerf_text_free(&text);
    kerf_trace_fit_free(fit);
    kerf_trace_free(run);
    writer_free(&writer);
    empty_folder();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_megatron_round_trip),
        cmocka_unit_test(test_torch_round_trip),
        cmocka_unit_test(test_old_letters),
        cmocka_unit_test(test_latency_by_pair),
        cmocka_unit_test(test_pauses_are_overhead),
        cmocka_unit_test(test_clocks_are_aligned),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_clocks_that_contradict),
        cmocka_unit_test(test_waits_are_cut_off),
        cmocka_unit_test(test_times_as_a_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
