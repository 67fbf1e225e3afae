/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: what was written with known times is read, aligned and fitted back to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kerf/run.h"
#include "run_writer.h"

/* ---- Folders ---------------------------------------------------------------------------------------------- */

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/kerf-test-run-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static void empty_folder(void) {
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    if (entries) closedir(entries);
}

static int remove_folder(void **state) {
    (void)state;
    empty_folder();
    return rmdir(folder);
}

static void put(const char *name, const char *content) {
    const struct kerf_text text = {.data = (char *)(uintptr_t)content, .length = strlen(content)};
    assert_true(writer_save(folder, name, &text));
}

static void drop(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

static struct kerf_run *load(int32_t step) {
    struct kerf_run *run = NULL;
    struct kerf_error err = {0};
    char line[900];
    if (kerf_run_load(folder, step, &run, &err) != KERF_OK) {
        kerf_error_format(&err, line, sizeof line);
        fail_msg("%s", line);
    }
    return run;
}

/* The whole error line holds each of the words; path: NULL for the folder. */
static void refused(const char *path, int32_t step, int32_t code, const char *word, const char *other) {
    struct kerf_run *run = NULL;
    struct kerf_error err = {0};
    char line[900];
    assert_int_equal(kerf_run_load(path ? path : folder, step, &run, &err), code);
    assert_null(run);
    kerf_error_format(&err, line, sizeof line);
    if (!strstr(line, word) || !strstr(line, other)) fail_msg("'%s' lacks '%s' or '%s'", line, word, other);
    assert_int_equal(kerf_run_load(path ? path : folder, step, &run, NULL), code);
}

/* ---- Runs with known times -------------------------------------------------------------------------------- */

static struct writer uneven(const char *rule, int32_t p, int32_t m, int32_t v) {
    struct writer writer = {.rule = rule, .devices = p, .microbatches = m, .chunks = v, .begin_s = 10, .state = 7};
    for (int s = 0; s < WRITER_STAGES; s++) {
        writer.time_s[KERF_OP_F][s] = 1 + 0.07 * s;
        writer.time_s[KERF_OP_I][s] = 1.25 - 0.02 * s;
        writer.time_s[KERF_OP_W][s] = 0.75 + 0.01 * s;
        writer.time_s[KERF_OP_B][s] = 2.1 + 0.03 * s;
        writer.time_s[KERF_OP_FB][s] = 2.9 + 0.05 * s;
    }
    for (int i = 0; i < WRITER_DEVICES; i++)
        for (int k = 0; k < WRITER_DEVICES; k++) writer.latency_s[i][k] = 0.05;
    return writer;
}

static struct kerf_run_fit *fit_of(const struct kerf_run *run) {
    struct kerf_run_fit *fit = NULL;
    assert_int_equal(kerf_run_fit_make(run, &fit, NULL), KERF_OK);
    return fit;
}

static void near(const char *what, int32_t at, double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("%s[%d]: %.12g, written %.12g", what, at, got, want);
}

/* Every time that the run has is what was written. */
static void check_times(const struct writer *writer, const struct kerf_run_fit *fit, double tolerance) {
    const double *of[KERF_OP_KINDS] = {fit->times->forward_s, fit->times->backward_s, fit->times->backward_input_s,
                                       fit->times->backward_weight_s, fit->times->fused_s};
    static const char *const names[KERF_OP_KINDS] = {"F", "B", "I", "W", "FB"};
    assert_int_equal(fit->stages, writer->schedule->stages);
    for (int kind = 0; kind < KERF_OP_KINDS; kind++)
        for (int32_t s = 0; s < fit->stages; s++)
            if (fit->of_kind[kind][s].count)
                near(names[kind], s, of[kind][s], writer->time_s[kind][s], tolerance * writer->time_s[kind][s]);
    for (int32_t i = 0; i < fit->devices; i++)
        for (int32_t k = 0; k < fit->devices; k++) {
            double latency_s = fit->times->p2p_of_s ? fit->times->p2p_of_s[i * fit->devices + k] : fit->times->p2p_s;
            if (k == i + 1 || i == k + 1) near("p2p", i, latency_s, writer->latency_s[i][k], tolerance);
        }
}

/* The same order and times, from the first start on. */
static void check_timeline(const struct writer *writer, const struct kerf_run *run, double tolerance) {
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
    struct kerf_run *run = load(-1);
    struct kerf_run_fit *fit = fit_of(run);
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
    kerf_run_fit_free(fit);
    kerf_run_free(run);
    empty_folder();
}

static const struct {
    const char *rule;
    int32_t p, m, v;
} WHOLE[] = {{"1f1b", 4, 8, 0}, {"gpipe", 2, 3, 0}, {"eager_1f1b", 3, 7, 0}, {"interleaved_1f1b", 4, 8, 2},
             {"looped_bfs", 2, 4, 3}, {"1f1b", 1, 3, 0}},
  ANY[] = {{"1f1b", 4, 8, 0}, {"zb_h1", 4, 8, 0}, {"zb_v", 4, 8, 0}, {"dualpipe_v", 4, 10, 0},
           {"interleaved_zb", 4, 8, 2}, {"interleaved_1f1b_overlap", 2, 6, 2}, {"zb_h2", 8, 20, 0}};

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
    struct kerf_run *run = load(-1);
    struct kerf_run_fit *fit = fit_of(run);
    assert_non_null(fit->times->p2p_of_s);
    check_times(&writer, fit, 1e-9);
    near("residual", 0, fit->residual, 0, 1e-9);
    kerf_run_fit_free(fit);
    kerf_run_free(run);
    writer_free(&writer);
    empty_folder();
}

static void test_pauses_are_overhead(void **state) {
    (void)state;
    struct writer writer = uneven("1f1b", 4, 16, 0);
    writer.pause_s = 0.01;
    assert_true(writer_make(&writer) && writer_megatron(&writer, folder, 0));
    struct kerf_run *run = load(-1);
    struct kerf_run_fit *fit = fit_of(run);
    near("overhead", 0, fit->times->overhead_s, 0.01, 1e-9);
    near("p2p", 0, fit->times->p2p_s, 0.04, 1e-9); /* a maker's overhead goes before its message */
    near("residual", 0, fit->residual, 0, 1e-3);
    kerf_run_fit_free(fit);
    kerf_run_free(run);
    writer_free(&writer);
    empty_folder();
}

static void test_clocks_are_aligned(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ANY / sizeof *ANY; i++) {
        struct writer writer = uneven(ANY[i].rule, ANY[i].p, ANY[i].m, ANY[i].v);
        for (int d = 0; d < WRITER_DEVICES; d++) writer.offset_s[d] = 3.5 * (d % 3) - 1.25 * d;
        assert_true(writer_torch(&writer, &(struct torch_style){.profiler_steps = 1}, folder, 1, 0));
        struct kerf_run *run = load(-1);
        assert_int_equal(run->clocks, KERF_CLOCKS_ALIGNED);
        assert_non_null(strstr(run->notes, "aligned"));
        for (int32_t d = 0; d < writer.devices; d++)
            near("offset", d, run->offset_s[d], writer.offset_s[d] - writer.offset_s[0], 1e-9);
        kerf_run_free(run);
        check_exact(&writer, "PyTorch profiler");
        writer_free(&writer);
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
        struct kerf_run *run = load(-1);
        struct kerf_run_fit *fit = fit_of(run);
        assert_int_equal(run->clocks, KERF_CLOCKS_ALIGNED);
        for (int32_t d = 0; d < writer.devices; d++) near("offset", d, run->offset_s[d], writer.offset_s[d], 0.02);
        check_times(&writer, fit, 0.02);
        near("residual", 0, fit->residual, 0, 0.03);
        kerf_run_fit_free(fit);
        kerf_run_free(run);
        writer_free(&writer);
        empty_folder();
    }
}

static void test_clocks_that_contradict(void **state) {
    (void)state;
    struct writer writer = uneven("1f1b", 4, 8, 0);
    writer.drift = -0.5; /* of the last device's clock */
    assert_true(writer_make(&writer) && writer_megatron(&writer, folder, 0));
    struct kerf_run *run = load(-1);
    struct kerf_run_fit *fit = fit_of(run);
    assert_int_equal(run->clocks, KERF_CLOCKS_CONTRADICT);
    assert_non_null(strstr(run->notes, "no clock offsets"));
    for (int32_t d = 0; d < 4; d++) near("offset", d, run->offset_s[d], 0, 0);
    assert_true(isfinite(fit->residual));
    kerf_run_fit_free(fit);
    kerf_run_free(run);
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
    struct kerf_run *run = load(-1);
    struct kerf_run_fit *fit = fit_of(run);
    assert_int_equal(run->clocks, KERF_CLOCKS_WAITS);
    assert_non_null(strstr(run->notes, "cut off"));
    for (int32_t s = 1; s < 4; s++) near("F", s, fit->times->forward_s[s], writer.time_s[KERF_OP_F][s], 1e-9);
    for (int32_t s = 0; s < 4; s++) near("B", s, fit->times->backward_s[s], writer.time_s[KERF_OP_B][s], 1e-9);
    kerf_run_fit_free(fit);
    kerf_run_free(run);
    writer_free(&writer);
    empty_folder();
}

/* ---- Steps, replicas and what is missing ------------------------------------------------------------------ */

static void test_steps(void **state) {
    (void)state;
    for (int numbered = 0; numbered < 2; numbered++) {
        struct writer writer = uneven("zb_h1", 4, 8, 0);
        writer.jitter = 0.1;
        assert_true(writer_torch(&writer, &(struct torch_style){.profiler_steps = numbered}, folder, 5, 0));
        double makespan_s[5], middle_s;
        struct kerf_run *run;
        for (int32_t step = 0; step < 5; step++) {
            run = load(step);
            assert_int_equal(run->steps, 5);
            assert_int_equal(run->steps_left_out, 0);
            assert_int_equal(run->step, step);
            assert_int_equal(run->step_number, numbered ? step + 3 : -1);
            makespan_s[step] = run->timeline->makespan_s;
            kerf_run_free(run);
        }
        run = load(-1);
        middle_s = run->timeline->makespan_s;
        int below = 0, above = 0;
        for (int step = 0; step < 5; step++) below += makespan_s[step] < middle_s, above += makespan_s[step] > middle_s;
        assert_true(below == 2 && above == 2);
        kerf_run_free(run);
        refused(NULL, 5, KERF_EINVALID, "step 5", "0 to 4");
        refused(NULL, -2, KERF_EINVALID, "step -2", "0 to 4");
        writer_free(&writer);
        empty_folder();
    }
}

static void test_replicas(void **state) {
    (void)state;
    struct writer writer = uneven("1f1b", 4, 8, 0);
    assert_true(writer_make(&writer));
    assert_true(writer_megatron(&writer, folder, 0) && writer_megatron(&writer, folder, 1));
    struct kerf_run *run = load(-1);
    assert_int_equal(run->ranks_left_out, 4);
    for (int32_t d = 0; d < 4; d++) assert_int_equal(run->rank_of[d], 2 * d);
    kerf_run_free(run);
    empty_folder();
    assert_true(writer_torch(&writer, &(struct torch_style){0}, folder, 1, 0));
    assert_true(writer_torch(&writer, &(struct torch_style){0}, folder, 1, 1));
    run = load(-1);
    assert_int_equal(run->ranks_left_out, 4);
    for (int32_t d = 0; d < 4; d++) assert_int_equal(run->rank_of[d], 2 * d);
    kerf_run_free(run);
    writer_free(&writer);
    empty_folder();
}

/* One rank's file of a Megatron run with p = 1 and two micro-batches, in one of which something lacks. */
static void test_incomplete(void **state) {
    (void)state;
    const char *name = "event_times_PP1_VPP1_TPxCPxDP_rank_0_pp_rank_0_rank_0.json";
    put(name, "{\"forward-0-start\": 1, \"forward-0-end\": 2, \"backward-0-start\": 5, \"backward-0-end\": 7,"
              " \"forward-1-start\": 3, \"forward-1-end\": 4, \"backward-1-start\": 8, \"optimizer\": 3}");
    struct kerf_run *run = load(-1);
    struct kerf_run_fit *fit = fit_of(run);
    assert_int_equal(run->steps, 0);
    assert_int_equal(run->step, -1);
    assert_int_equal(run->microbatches_complete, 1);
    assert_true(run->complete[0] == 1 && run->complete[1] == 0);
    assert_non_null(strstr(run->notes, "\"backward-1-start\" has no \"backward-1-end\""));
    assert_non_null(strstr(run->notes, "1 of 2 micro-batches are incomplete: 0B1 is missing"));
    assert_true(isnan(fit->residual));
    near("F", 0, fit->times->forward_s[0], 1e-3, 1e-15);
    kerf_run_fit_free(fit);
    kerf_run_free(run);
    refused(NULL, 0, KERF_EINVALID, "step 0", "no step of the run is complete");
    put(name, "{\"forward-0-start\": 1, \"forward-0-end\": 2}");
    refused(NULL, -1, KERF_EINVALID, "no micro-batch went through", "0B0 is missing");
    put(name, "{}");
    refused(NULL, -1, KERF_EINVALID, "no operation", "forward-0-start");
    empty_folder();
    struct writer writer = uneven("1f1b", 2, 4, 0);
    assert_true(writer_torch(&writer, &(struct torch_style){0}, folder, 3, 0));
    char path[512], *at, text[16384] = "";
    snprintf(path, sizeof path, "%s/rank2_trace.json", folder);
    FILE *file = fopen(path, "rb");
    assert_true(file && fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_non_null(at = strstr(text, "PP:1B3")); /* of the first step */
    memcpy(at, "PP:gone", 6);
    put("rank2_trace.json", text);
    run = load(-1);
    assert_int_equal(run->steps, 2);
    assert_int_equal(run->steps_left_out, 1);
    assert_non_null(strstr(run->notes, "1 of 3 steps are incomplete and left out: 1B3 is missing"));
    kerf_run_free(run);
    writer_free(&writer);
    empty_folder();
}

/* ---- Refusals --------------------------------------------------------------------------------------------- */

static void test_megatron_refusals(void **state) {
    (void)state;
    struct writer writer = uneven("1f1b", 4, 8, 0);
    assert_true(writer_make(&writer) && writer_megatron(&writer, folder, 0));
    const char *name = "event_times_PP4_VPP1_TPxCPxDP_rank_0_pp_rank_2_rank_4.json";
    static const struct {
        const char *text, *word, *other;
    } bad[] = {
        {"{\"forward-0-start\": 2,\n \"forward-0-end\": 1}", ".json:2:18:", "before its start"},
        {"{\"forward-0-start\": \"2\", \"forward-0-end\": 3}", ".json:1:21:", "must be a number of milliseconds"},
        {"{\"forward-0-start\": 2, \"forward-0-end\": 1e300}", ".json:1:41:", "must be a number of milliseconds"},
        {"{\"forward-0-begin\": 2}", ".json:1:21:", "like \"forward-3-start\""},
        {"{\"forward-0-0-start\": 2}", ".json:1:", "VPP1"},
        {"{\"forward-1048576-start\": 2}", ".json:1:", "there may be 1048576"},
        {"{\"forward-0-start\": 2", ".json:1:", "not valid JSON"},
        {"[]", ".json:1:1:", "a JSON object"},
        {"{\"forward-1048575-start\": 1, \"forward-1048575-end\": 2}", "micro-batch 1048575", "most are missing"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(name, bad[i].text);
        refused(NULL, -1, bad[i].text[0] == '{' && strstr(bad[i].text, "-start\": 2") == NULL && i == 3 ? KERF_EUNKNOWN
                          : i == 3 || i == 4                                                           ? KERF_EUNKNOWN
                          : i == 6                                                                     ? KERF_ESYNTAX
                                                                                                       : KERF_EINVALID,
                bad[i].word, bad[i].other);
    }
    drop(name);
    refused(NULL, -1, KERF_EINVALID, "pp rank 2 of 4 is missing", "_pp_rank_2_");
    put("event_times_PP4_VPP1_TPxCPxDP_rank_0_pp_rank_4_rank_4.json", "{}");
    refused(NULL, -1, KERF_EINVALID, "pp_rank_4", "0 to 3");
    drop("event_times_PP4_VPP1_TPxCPxDP_rank_0_pp_rank_4_rank_4.json");
    put("event_times_PP8_VPP1_TPxCPxDP_rank_0_pp_rank_4_rank_4.json", "{}");
    refused(NULL, -1, KERF_EINVALID, "PP8", "one run");
    drop("event_times_PP8_VPP1_TPxCPxDP_rank_0_pp_rank_4_rank_4.json");
    put("event_times_PP4_VPP1_TPxCPxDP_rank_0_pp_rank_1_rank_9.json", "{}");
    refused(NULL, -1, KERF_EINVALID, "pp rank 1 again", "keep one");
    drop("event_times_PP4_VPP1_TPxCPxDP_rank_0_pp_rank_1_rank_9.json");
    put("event_times_PP4.json", "{}");
    refused(NULL, -1, KERF_EINVALID, "event_times_PP4.json", "a name like");
    writer_free(&writer);
    empty_folder();
}

#define EVENT(name, ts, dur)                                                                                           \
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"" name "\", \"pid\": 1, \"tid\": 1, \"ts\": " ts           \
    ", \"dur\": " dur "}"

static void test_torch_refusals(void **state) {
    (void)state;
    static const struct {
        int32_t code;
        const char *text, *word, *other;
    } bad[] = {
        {KERF_EUNKNOWN, "{\"loss\": 3}", "no run in it", "event_times_PP{p}"},
        {KERF_EUNKNOWN, "[1, 2]", "no run in it", "\"traceEvents\""},
        {KERF_EINVALID, "{\"traceEvents\": []}", "no ranges like \"PP:1F3\"", "1 trace"},
        {KERF_EINVALID, "{\"traceEvents\": [\n" EVENT("PP:0F0", "1", "-2") "]}", "rank0.json:2:1:", "ends before it starts"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:0F0", "\"x\"", "2") "]}", "rank0.json:1:17:", "\"ts\" of PP:0F0"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:0F0", "1", "null") "]}", "rank0.json:1:17:", "\"dur\" of PP:0F0"},
        {KERF_EINVALID, "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"PP:0F0\", \"ts\": 1}]}", "rank0.json:1:17:",
         "has no \"dur\""},
        {KERF_ESYNTAX, "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ",", "rank0.json:1:", "the end is missing"},
        {KERF_ESYNTAX, "{\"traceEvents\": [{\"name\": \"PP:0F0\" \"ts\": 3}]}", "rank0.json:1:", "not valid JSON"},
        {KERF_ESYNTAX, "{\"traceEvents\": [5]}", "rank0.json:1:17:", "an event {...}"},
        {KERF_ESYNTAX, "{\"traceEvents\": {}}", "rank0.json:1:17:", "an array"},
        {KERF_ESYNTAX, "", "rank0.json:1:1:", "the end is missing"},
        {KERF_EINVALID, "{\"baseTimeNanoseconds\": 1.5, \"traceEvents\": []}", "rank0.json:1:25:", "whole number"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ", " EVENT("PP:0B0", "4", "2") ", " //
         EVENT("PP:0SEND_F0", "3", "1") "]}", "stage 1 is in none", "a folder with one for each rank"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:1F0", "1", "2") ", " EVENT("PP:1B0", "4", "2") "]}",
         "stage 0 is in none", "1 traces"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") "]}", "no micro-batch went through", "0B0"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:32766F1048575", "1", "2") "]}", "most are missing", "32766"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put("rank0.json", bad[i].text);
        refused(NULL, -1, bad[i].code, bad[i].word, bad[i].other);
    }
    put("rank0.json", "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ", " EVENT("PP:0B0", "4", "2") "]}");
    kerf_run_free(load(-1));
    put("other_rank0.json", "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ", " EVENT("PP:0B0", "4", "2") "]}");
    refused(NULL, -1, KERF_EINVALID, "rank 0 again", "one trace a rank");
    drop("other_rank0.json");
    put("rank1.json", "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ", " EVENT("PP:1B0", "4", "2") "]}");
    refused(NULL, -1, KERF_EINVALID, "rank 1 runs stage 0, as rank 0 does", "stage 1");
    empty_folder();
    refused(NULL, -1, KERF_EUNKNOWN, "no run in it", "PyTorch profiler");
    put("rank0.json.gz", "x");
    refused(NULL, -1, KERF_EUNSUPPORTED, "rank0.json.gz", "gunzip");
    empty_folder();
    refused("/no/such/folder", -1, KERF_EIO, "/no/such/folder", "no such file or folder");
    refused("/no/such/file.json.gz", -1, KERF_EIO, "/no/such", "no such file or folder");
}

/* ---- One file, other shapes ------------------------------------------------------------------------------- */

/* Two processes in one file are two ranks; a bare array is a trace; traces count from their own base. */
static void test_one_file_of_all(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s/all.json", folder);
    put("all.json", "[" EVENT("PP:0F0", "10", "5") ", " EVENT("PP:0B0", "40", "5") ","
                    "{\"ph\": \"X\", \"name\": \"PP:1F0\", \"pid\": 2, \"ts\": 17, \"dur\": 5},\n"
                    "{\"ph\": \"X\", \"name\": \"PP:1B0\", \"pid\": 2, \"ts\": 22, \"dur\": 16}]");
    struct kerf_run *run;
    assert_int_equal(kerf_run_load(path, -1, &run, NULL), KERF_OK);
    assert_int_equal(run->schedule->devices, 2);
    assert_int_equal(run->clocks, KERF_CLOCKS_AGREE);
    assert_string_equal(run->notes, "");
    near("makespan", 0, run->timeline->makespan_s, 35e-6, 1e-15);
    struct kerf_run_fit *fit = fit_of(run);
    near("p2p", 0, fit->times->p2p_s, 2e-6, 1e-15);
    kerf_run_fit_free(fit);
    kerf_run_free(run);
    empty_folder();
    put("a_rank0.json", "{\"baseTimeNanoseconds\": 1727650800000000000, \"traceEvents\": [" EVENT("PP:0F0", "10", "5") ", "
                        EVENT("PP:0B0", "40", "5") "]}");
    put("a_rank1.json", "{\"traceEvents\": [" EVENT("PP:1F0", "7", "5") ", " EVENT("PP:1B0", "12", "16")
                        "], \"baseTimeNanoseconds\": 1727650800000010000}");
    run = load(-1);
    near("start", 0, run->timeline->start_s[1][0], 7e-6, 1e-15);
    kerf_run_free(run);
    empty_folder();
}

/* What is fitted goes through the file that --times reads. */
static void test_times_as_a_file(void **state) {
    (void)state;
    struct writer writer = uneven("dualpipe_v", 4, 10, 0);
    writer.latency_s[0][1] = writer.latency_s[1][0] = 0.3;
    assert_true(writer_torch(&writer, &(struct torch_style){0}, folder, 1, 0));
    struct kerf_run *run = load(-1);
    struct kerf_run_fit *fit = fit_of(run);
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
    kerf_run_fit_free(fit);
    kerf_run_free(run);
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
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_replicas),
        cmocka_unit_test(test_incomplete),
        cmocka_unit_test(test_megatron_refusals),
        cmocka_unit_test(test_torch_refusals),
        cmocka_unit_test(test_one_file_of_all),
        cmocka_unit_test(test_times_as_a_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
