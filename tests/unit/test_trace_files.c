/* SPDX-License-Identifier: Apache-2.0 */
/* The files of runs: steps, replicas, what is missing, what is refused and with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <zlib.h>
#include "trace/trace_events.h"
#include "trace_folder.h"

/* ---- Steps, replicas and what is missing ------------------------------------------------------------------ */

static void test_steps(void **state) {
    (void)state;
    for (int numbered = 0; numbered < 2; numbered++) {
        struct writer writer = uneven("zb_h1", 4, 8, 0);
        writer.jitter = 0.1;
        assert_true(writer_torch(&writer, &(struct torch_style){.profiler_steps = numbered}, folder, 5, 0));
        double makespan_s[5], middle_s;
        struct kerf_trace *run;
        for (int32_t step = 0; step < 5; step++) {
            run = load(step);
            assert_int_equal(run->steps, 5);
            assert_int_equal(run->steps_left_out, 0);
            assert_int_equal(run->step, step);
            assert_int_equal(run->step_number, numbered ? step + 3 : -1);
            makespan_s[step] = run->timeline->makespan_s;
            kerf_trace_free(run);
        }
        run = load(-1);
        middle_s = run->timeline->makespan_s;
        int below = 0, above = 0;
        for (int step = 0; step < 5; step++) below += makespan_s[step]<middle_s, above += makespan_s[step]> middle_s;
        assert_true(below == 2 && above == 2);
        kerf_trace_free(run);
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
    struct kerf_trace *run = load(-1);
    assert_int_equal(run->ranks_left_out, 4);
    for (int32_t d = 0; d < 4; d++) assert_int_equal(run->rank_of[d], 2 * d);
    kerf_trace_free(run);
    empty_folder();
    assert_true(writer_torch(&writer, &(struct torch_style){0}, folder, 1, 0));
    assert_true(writer_torch(&writer, &(struct torch_style){0}, folder, 1, 1));
    run = load(-1);
    assert_int_equal(run->ranks_left_out, 4);
    for (int32_t d = 0; d < 4; d++) assert_int_equal(run->rank_of[d], 2 * d);
    kerf_trace_free(run);
    writer_free(&writer);
    empty_folder();
}

/* One rank's file of a Megatron run with p = 1 and two micro-batches, in one of which something lacks. */
static void test_incomplete(void **state) {
    (void)state;
    const char *name = "event_times_PP1_VPP1_TPxCPxDP_rank_0_pp_rank_0_rank_0.json";
    put(name, "{\"forward-0-start\": 1, \"forward-0-end\": 2, \"backward-0-start\": 5, \"backward-0-end\": 7,"
              " \"forward-1-start\": 3, \"forward-1-end\": 4, \"backward-1-start\": 8, \"optimizer\": 3}");
    struct kerf_trace *run = load(-1);
    struct kerf_trace_fit *fit = fit_of(run);
    assert_int_equal(run->steps, 0);
    assert_int_equal(run->step, -1);
    assert_int_equal(run->microbatches_complete, 1);
    assert_true(run->complete[0] == 1 && run->complete[1] == 0);
    assert_non_null(strstr(run->notes, "\"backward-1-start\" has no \"backward-1-end\""));
    assert_non_null(strstr(run->notes, "1 of 2 micro-batches are incomplete: 0B1 is missing"));
    assert_true(isnan(fit->residual));
    near("F", 0, fit->times->forward_s[0], 1e-3, 1e-15);
    kerf_trace_fit_free(fit);
    kerf_trace_free(run);
    refused(NULL, 0, KERF_EINVALID, "step 0", "no step of the trace is complete");
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
    kerf_trace_free(run);
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
        {"{\"forward-0-start\": 2,\n \"forward-0-end\": 1}", ".json:2:19:", "before its start"},
        {"{\"forward-0-start\": \"2\", \"forward-0-end\": 3}", ".json:1:21:", "must be a number of milliseconds"},
        {"{\"forward-0-start\": 2, \"forward-0-end\": 1e300}", ".json:1:41:", "must be a number of milliseconds"},
        {"{\"forward-0-begin\": 2}", ".json:1:21:", "like \"forward-3-start\""},
        {"{\"forward-0-0-start\": 2}", ".json:1:", "VPP1"},
        {"{\"forward-1048576-start\": 2}", ".json:1:", "there may be at most 1048576"},
        {"{\"forward-0-start\": 2", ".json:1:", "not valid JSON"},
        {"[]", ".json:1:1:", "a JSON object"},
        {"{\"forward-1048575-start\": 1, \"forward-1048575-end\": 2}", "micro-batch 1048575", "most are missing"},
        {"{\"forward-0-start\": 1, \"forward-0-end\": 1e15}",
         ".json:1:21:", "lies more than 1e+09 s from the first time"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(name, bad[i].text);
        refused(NULL, -1,
                bad[i].text[0] == '{' && strstr(bad[i].text, "-start\": 2") == NULL && i == 3 ? KERF_EUNKNOWN
                : i == 3 || i == 4                                                            ? KERF_EUNKNOWN
                : i == 6                                                                      ? KERF_ESYNTAX
                                                                                              : KERF_EINVALID,
                bad[i].word, bad[i].other);
    }
    drop(name);
    refused(NULL, -1, KERF_EINVALID, "pp rank 2 of 4 is missing", "_pp_rank_2_");
    put("event_times_PP4_VPP1_TPxCPxDP_rank_0_pp_rank_4_rank_4.json", "{}");
    refused(NULL, -1, KERF_EINVALID, "pp_rank_4", "0 to 3");
    drop("event_times_PP4_VPP1_TPxCPxDP_rank_0_pp_rank_4_rank_4.json");
    put("event_times_PP8_VPP1_TPxCPxDP_rank_0_pp_rank_4_rank_4.json", "{}");
    refused(NULL, -1, KERF_EINVALID, "PP8", "one trace");
    drop("event_times_PP8_VPP1_TPxCPxDP_rank_0_pp_rank_4_rank_4.json");
    put("event_times_PP4_VPP1_TPxCPxDP_rank_0_pp_rank_1_rank_9.json", "{}");
    refused(NULL, -1, KERF_EINVALID, "pp rank 1 is in ", "keep one");
    drop("event_times_PP4_VPP1_TPxCPxDP_rank_0_pp_rank_1_rank_9.json");
    put("event_times_PP4.json", "{}");
    refused(NULL, -1, KERF_EINVALID, "event_times_PP4.json", "a name like");
    writer_free(&writer);
    empty_folder();
}

#define EVENT(name, ts, dur)                                                                                           \
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"" name "\", \"pid\": 1, \"tid\": 1, \"ts\": " ts        \
    ", \"dur\": " dur "}"

static void test_torch_refusals(void **state) {
    (void)state;
    static const struct {
        int32_t code;
        const char *text, *word, *other;
    } bad[] = {
        {KERF_EUNKNOWN, "{\"loss\": 3}", "no trace in it", "event_times_PP{p}"},
        {KERF_EUNKNOWN, "[1, 2]", "no trace in it", "\"traceEvents\""},
        {KERF_EINVALID, "{\"traceEvents\": []}", "no ranges like \"PP:1F3\"", "1 file"},
        {KERF_EINVALID, "{\"traceEvents\": [\n" EVENT("PP:0F0", "1", "-2") "]}",
         "rank0.json:2:1:", "ends before it starts"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:0F0", "\"x\"", "2") "]}",
         "rank0.json:1:18:", "\"ts\" of PP:0F0"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:0F0", "1", "null") "]}",
         "rank0.json:1:18:", "\"dur\" of PP:0F0"},
        {KERF_EINVALID, "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"PP:0F0\", \"ts\": 1}]}",
         "rank0.json:1:18:", "has no \"dur\""},
        {KERF_ESYNTAX, "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ",", "rank0.json:1:", "the end is missing"},
        {KERF_ESYNTAX, "{\"traceEvents\": [{\"name\": \"PP:0F0\" \"ts\": 3}]}", "rank0.json:1:", "not valid JSON"},
        {KERF_ESYNTAX, "{\"traceEvents\": [5]}", "rank0.json:1:18:", "an event {...}"},
        {KERF_ESYNTAX, "{\"traceEvents\": {}}", "rank0.json:1:17:", "an array"},
        {KERF_ESYNTAX, "", "rank0.json:1:1:", "the end is missing"},
        {KERF_EINVALID, "{\"baseTimeNanoseconds\": 1.5, \"traceEvents\": []}", "rank0.json:1:25:", "whole number"},
        {KERF_EINVALID,
         "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ", " EVENT("PP:0B0", "4", "2") ", " //
         EVENT("PP:0SEND_F0", "3", "1") "]}",
         "stage 1 is in none", "a folder with one file for each rank"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:1F0", "1", "2") ", " EVENT("PP:1B0", "4", "2") "]}",
         "stage 0 is in none", "1 files"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") "]}", "no micro-batch went through", "0B0"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ", " EVENT("PP:0B0", "-1e16", "2") "]}",
         "rank0.json:1:", "PP:0B0 lies more than 1e+09 s from the first range"},
        {KERF_EINVALID, "{\"traceEvents\": [" EVENT("PP:32766F1048575", "1", "2") "]}", "most are missing", "32766"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put("rank0.json", bad[i].text);
        refused(NULL, -1, bad[i].code, bad[i].word, bad[i].other);
    }
    put("rank0.json", "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ", " EVENT("PP:0B0", "4", "2") "]}");
    kerf_trace_free(load(-1));
    put("other_rank0.json", "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ", " EVENT("PP:0B0", "4", "2") "]}");
    refused(NULL, -1, KERF_EINVALID, "rank 0 is in ", "one file for each rank");
    drop("other_rank0.json");
    put("rank1.json", "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ", " EVENT("PP:1B0", "4", "2") "]}");
    refused(NULL, -1, KERF_EINVALID, "rank 1 runs stage 0, as rank 0 does", "stage 1");
    empty_folder();
    refused(NULL, -1, KERF_EUNKNOWN, "no trace in it", "PyTorch profiler");
    refused("/no/such/folder", -1, KERF_EIO, "/no/such/folder", "no such file or folder");
    char pipe_name[128];
    snprintf(pipe_name, sizeof pipe_name, "%s/rank0.json", folder);
    assert_int_equal(mkfifo(pipe_name, 0600), 0);
    refused(NULL, -1, KERF_EIO, "rank0.json", "a pipe or a device, not a file");
    empty_folder();
    assert_int_equal(symlink("/dev/zero", pipe_name), 0);
    refused(NULL, -1, KERF_EIO, "rank0.json", "a pipe or a device, not a file");
    empty_folder();
    refused("/no/such/file.json.gz", -1, KERF_EIO, "/no/such", "no such file or folder");
}

/* Where one file says no base, its clock is aligned by messages, and all times keep their digits. */
static void test_a_file_without_a_base(void **state) {
    (void)state;
    empty_folder();
    put("rank0.json", "{\"traceEvents\": [" EVENT("PP:0F0", "1", "0.1") ", " EVENT("PP:0B0", "4", "0.1") "]}");
    put("rank1.json", "{\"baseTimeNanoseconds\": 1727650800000000000, \"traceEvents\": [" //
        EVENT("PP:1F0", "2", "0.1") ", " EVENT("PP:1B0", "3", "0.1") "]}");
    struct kerf_trace *run = load(-1);
    for (int32_t d = 0; d < 2; d++)
        for (int32_t k = 0; k < 2; k++)
            near("took", k, run->timeline->end_s[d][k] - run->timeline->start_s[d][k], 1e-7, 1e-12);
    kerf_trace_free(run);
}

/* The search for a process takes as many steps as there are: 4096 may be in a file. */
static void test_processes_are_bounded(void **state) {
    (void)state;
    struct kerf_text text = {0};
    for (int i = 0; i <= 4096; i++)
        kerf_text_printf(&text, "%s{\"ph\": \"X\", \"name\": \"PP:0F%d\", \"ts\": 1, \"dur\": 1, \"pid\": %d}",
                         i ? ",\n" : "{\"traceEvents\": [", i, i);
    kerf_text_add(&text, "]}");
    assert_false(text.failed);
    empty_folder();
    put("rank0.json", text.data);
    refused(NULL, -1, KERF_EINVALID, "rank0.json:4097:1: ", "at most 4096 processes");
    kerf_text_free(&text);
}

/* ---- Compressed ------------------------------------------------------------------------------------------- */

#define ONE_OPERATION "{\"traceEvents\": [" EVENT("PP:0F0", "1", "2") ", " EVENT("PP:0B0", "4", "2") "]}"

/* Writes a compressed file, of which the last so many bytes are missing. */
static void put_compressed(const char *name, const char *content, off_t cut) {
    char path[512];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, content, (unsigned)strlen(content)), strlen(content));
    assert_int_equal(gzclose(file), Z_OK);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size - cut), 0);
}

static void test_compressed_files(void **state) {
    (void)state;
    char path[512];
    put_compressed("rank0.json.gz", ONE_OPERATION, 0);
    struct kerf_trace *alone = load(-1);
    assert_int_equal(alone->schedule->num_ops[0], 2);
    kerf_trace_free(alone);
    put("rank0.json", ONE_OPERATION); /* the same file, once */
    kerf_trace_free(load(-1));
    drop("rank0.json");
    snprintf(path, sizeof path, "%s/rank0.json.gz", folder);
    struct kerf_trace *file = NULL;
    assert_int_equal(kerf_trace_load(path, -1, &file, NULL), KERF_OK);
    kerf_trace_free(file);
    put_compressed("rank0.json.gz", "{\"traceEvents\": [", 0); /* places are those of the text */
    refused(NULL, -1, KERF_ESYNTAX, "rank0.json.gz:1:18", "cut off");
    put_compressed("rank0.json.gz", ONE_OPERATION, 12);
    refused(NULL, -1, KERF_ESYNTAX, "rank0.json.gz", "cut off");
    put("rank0.json.gz", "x");
    refused(NULL, -1, KERF_ESYNTAX, "rank0.json.gz", "not a gzip file");
    empty_folder();
}

/* What comes out is counted: a small file cannot fill the memory. */
static void test_decompressed_size_is_bounded(void **state) {
    (void)state;
    enum { LENGTH = 3 << 20 };
    char path[512], *blanks = malloc(LENGTH + 1);
    struct kerf_text text = {0};
    struct kerf_error err = {0};
    assert_non_null(blanks);
    memset(blanks, ' ', LENGTH);
    blanks[LENGTH] = 0;
    put_compressed("rank0.json.gz", blanks, 0);
    snprintf(path, sizeof path, "%s/rank0.json.gz", folder);
    const struct trace_file file = {.path = path, .name = "rank0.json"};
    assert_int_equal(trace_file_read(&file, 1 << 20, &text, &err), KERF_EIO);
    assert_non_null(strstr(err.message, "larger than the 1 MiB"));
    assert_true(text.length <= 1 << 20);
    kerf_text_clear(&text);
    assert_int_equal(trace_file_read(&file, LENGTH, &text, &err), KERF_OK);
    assert_int_equal(text.length, LENGTH);
    kerf_text_free(&text);
    free(blanks);
    empty_folder();
}

/* ---- One file, other shapes ------------------------------------------------------------------------------- */

/* Two processes in one file are two ranks; a bare array is a trace; traces count from their own base. */
static void test_one_file_of_all(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s/all.json", folder);
    put("all.json",
        "[" EVENT("PP:0F0", "10", "5") ", " EVENT(
            "PP:0B0", "40", "5") ","
                                 "{\"ph\": \"X\", \"name\": \"PP:1F0\", \"pid\": 2, \"ts\": 17, \"dur\": 5},\n"
                                 "{\"ph\": \"X\", \"name\": \"PP:1B0\", \"pid\": 2, \"ts\": 22, \"dur\": 16}]");
    struct kerf_trace *run;
    assert_int_equal(kerf_trace_load(path, -1, &run, NULL), KERF_OK);
    assert_int_equal(run->schedule->devices, 2);
    assert_int_equal(run->clocks, KERF_CLOCKS_AGREE);
    assert_string_equal(run->notes, "ranges are those of the CPU, which only launches the GPU's work\n");
    near("makespan", 0, run->timeline->makespan_s, 35e-6, 1e-15);
    struct kerf_trace_fit *fit = fit_of(run);
    near("p2p", 0, fit->times->p2p_s, 2e-6, 1e-15);
    kerf_trace_fit_free(fit);
    kerf_trace_free(run);
    empty_folder();
    put("a_rank0.json", "{\"baseTimeNanoseconds\": 1727650800000000000, \"traceEvents\": [" EVENT(
                            "PP:0F0", "10", "5") ", " EVENT("PP:0B0", "40", "5") "]}");
    put("a_rank1.json", "{\"traceEvents\": [" EVENT("PP:1F0", "7", "5") ", " EVENT(
                            "PP:1B0", "12", "16") "], \"baseTimeNanoseconds\": 1727650800000010000}");
    run = load(-1);
    near("start", 0, run->timeline->start_s[1][0], 7e-6, 1e-15);
    kerf_trace_free(run);
    empty_folder();
}

/* ---- The runs that ship ----------------------------------------------------------------------------------- */

/* examples/runs is what the writer writes; KERF_UPDATE=1 in the environment writes it anew. */
static void compare_with_example(const char *name) {
    char path[1024], made[65536], shipped[65536];
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t made_length = fread(made, 1, sizeof made, file), length = 0;
        fclose(file);
        snprintf(path, sizeof path, "%s/examples/runs/%s/%s", KERF_SOURCE_DIR, name, entry->d_name);
        if (getenv("KERF_UPDATE")) {
            file = fopen(path, "wb");
            assert_non_null(file);
            assert_int_equal(fwrite(made, 1, made_length, file), made_length);
            assert_int_equal(fclose(file), 0);
        }
        file = fopen(path, "rb");
        if (file) length = fread(shipped, 1, sizeof shipped, file), fclose(file);
        if (length != made_length || memcmp(made, shipped, length) != 0)
            fail_msg("%s is not what the test writes; KERF_UPDATE=1 in the environment writes it anew", path);
    }
    closedir(entries);
    empty_folder();
}

/* Milliseconds, 3 % of jitter, and clocks that differ by as much. */
static struct writer example(const char *rule, int32_t p, int32_t m) {
    struct writer writer = uneven(rule, p, m, 0);
    for (int kind = 0; kind < KERF_OP_MEASURED; kind++)
        for (int s = 0; s < WRITER_STAGES; s++) writer.time_s[kind][s] *= 0.012;
    for (int i = 0; i < WRITER_DEVICES; i++)
        for (int k = 0; k < WRITER_DEVICES; k++) writer.latency_s[i][k] = 4e-4;
    for (int d = 0; d < WRITER_DEVICES; d++) writer.offset_s[d] = 0.0031 * d - 0.0007 * d * d;
    writer.replicas = 1;
    writer.jitter = 0.03;
    writer.grid_s = 1e-7;
    return writer;
}

static void test_examples(void **state) {
    (void)state;
    struct writer writer = example("1f1b", 4, 8);
    writer.time_s[KERF_OP_F][3] *= 1.3; /* the stage with the loss */
    writer.time_s[KERF_OP_B][3] *= 1.3;
    assert_true(writer_make(&writer) && writer_megatron(&writer, folder, 0));
    struct kerf_trace *run = load(-1);
    assert_int_equal(run->clocks, KERF_CLOCKS_ALIGNED);
    kerf_trace_free(run);
    compare_with_example("megatron");
    writer_free(&writer);
    writer = example("zb_v", 2, 4);
    const struct torch_style style = {.profiler_steps = 1};
    assert_true(writer_torch(&writer, &style, folder, 3, 0));
    run = load(-1);
    assert_int_equal(run->steps, 3);
    kerf_trace_free(run);
    compare_with_example("torch");
    writer_free(&writer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_replicas),
        cmocka_unit_test(test_incomplete),
        cmocka_unit_test(test_megatron_refusals),
        cmocka_unit_test(test_torch_refusals),
        cmocka_unit_test(test_processes_are_bounded),
        cmocka_unit_test(test_a_file_without_a_base),
        cmocka_unit_test(test_one_file_of_all),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_compressed_files),
        cmocka_unit_test(test_decompressed_size_is_bounded),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
