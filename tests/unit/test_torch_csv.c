/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's schedule CSV: what is written reads as the same, both letterings, what is refused and where, sends and
 * receives, and the cells of PyTorch's own files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kerf/schedule.h"

static struct kerf_schedule *make(const char *rule, int32_t p, int32_t m, int32_t v) {
    const struct kerf_schedule_request request = {.rule = rule, .devices = p, .microbatches = m, .chunks = v};
    struct kerf_schedule *schedule = NULL;
    kerf_schedule_make(&request, &schedule, NULL);
    return schedule;
}

static struct kerf_schedule *parse(const char *csv) {
    struct kerf_schedule *schedule = NULL;
    struct kerf_error err;
    if (kerf_schedule_parse_csv(csv, strlen(csv), "x.csv", &schedule, &err) != KERF_OK)
        fail_msg("%d:%d: %s in\n%s", err.line, err.column, err.message, csv);
    return schedule;
}

static void refuses(const char *csv, int32_t line, int32_t column, const char *words) {
    struct kerf_schedule *schedule = NULL;
    struct kerf_error err = {0};
    if (kerf_schedule_parse_csv(csv, strlen(csv), "dir/x.csv", &schedule, &err) == KERF_OK)
        fail_msg("accepted:\n%s", csv);
    assert_null(schedule);
    assert_string_equal(err.file, "dir/x.csv");
    if (err.line != line || err.column != column || !strstr(err.message, words))
        fail_msg("%d:%d: %s\nshould be %d:%d: ... %s", err.line, err.column, err.message, line, column, words);
    assert_int_equal(kerf_schedule_parse_csv(csv, strlen(csv), "dir/x.csv", &schedule, NULL), err.code);
}

static void same_ops(const struct kerf_schedule *a, const struct kerf_schedule *b) {
    assert_int_equal(a->devices, b->devices);
    assert_int_equal(a->stages, b->stages);
    assert_int_equal(a->microbatches, b->microbatches);
    assert_int_equal(a->chunks, b->chunks);
    assert_memory_equal(a->device_of, b->device_of, (size_t)a->stages * sizeof *a->device_of);
    for (int32_t i = 0; i < a->devices; i++) {
        assert_int_equal(a->num_ops[i], b->num_ops[i]);
        assert_memory_equal(a->ops[i], b->ops[i], (size_t)a->num_ops[i] * sizeof **a->ops);
    }
}

static struct kerf_text write_torch(const struct kerf_schedule *schedule, enum kerf_torch_form form) {
    struct kerf_text out = {0};
    struct kerf_error err;
    if (kerf_schedule_torch(&out, schedule, form, &err) != KERF_OK) fail_msg("%s: %s", schedule->name, err.message);
    return out;
}

/* ---- Writing and reading again ---------------------------------------------------------------------------- */

static const char *const rules[] = {"gpipe",
                                    "1f1b",
                                    "eager_1f1b",
                                    "1f1b_overlap",
                                    "zb_h1",
                                    "zb_h2",
                                    "zb_v",
                                    "dualpipe_v",
                                    "looped_bfs",
                                    "zb1p",
                                    "interleaved_1f1b",
                                    "interleaved_zb",
                                    "interleaved_1f1b_overlap"};

/* A split backward pass, which PyTorch's lowering merges where it can: ranks' turns are then others. */
static int has_split(const struct kerf_schedule *schedule) {
    for (int32_t k = 0; k < schedule->num_ops[0]; k++)
        if (schedule->ops[0][k].kind == KERF_OP_I) return 1;
    return 0;
}

static void check_forms(const struct kerf_schedule *schedule) {
    for (int form = KERF_TORCH_COMPUTE; form <= KERF_TORCH_COMMS_LATE; form++) {
        struct kerf_text csv = write_torch(schedule, (enum kerf_torch_form)form);
        struct kerf_schedule *back = parse(csv.data);
        struct kerf_text again = write_torch(back, (enum kerf_torch_form)form);
        if (form == KERF_TORCH_COMPUTE) same_ops(schedule, back);
        if (form != KERF_TORCH_COMMS || !has_split(schedule)) assert_string_equal(again.data, csv.data);
        kerf_schedule_free(back);
        kerf_text_free(&again);
        kerf_text_free(&csv);
    }
}

static void test_round_trip(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (int32_t p = 1; p <= 5; p++)
            for (int32_t m = 1; m <= 11; m++) {
                struct kerf_schedule *schedule = make(rules[r], p, m, 0);
                if (schedule) check_forms(schedule);
                kerf_schedule_free(schedule);
            }
}

/* What PyTorch pull request 172833 shows, without UNSHARD, RESHARD and REDUCE_GRAD. */
static void test_late_receives(void **state) {
    (void)state;
    struct kerf_schedule *schedule = make("interleaved_1f1b", 2, 4, 2);
    struct kerf_text csv = write_torch(schedule, KERF_TORCH_COMMS_LATE);
    assert_string_equal(
        csv.data,
        "0F0,0SEND_F0,0F1,0SEND_F1,2RECV_F0,2F0,2SEND_F0,2RECV_F1,2F1,2SEND_F1,0F2,0SEND_F2,2RECV_B0,2B0,2SEND_B0,0F3,"
        "0SEND_F3,2RECV_B1,2B1,2SEND_B1,2RECV_F2,2F2,2SEND_F2,0RECV_B0,0B0,2RECV_F3,2F3,2SEND_F3,0RECV_B1,0B1,2RECV_B2,"
        "2B2,2SEND_B2,2RECV_B3,2B3,2SEND_B3,0RECV_B2,0B2,0RECV_B3,0B3\n"
        "1RECV_F0,1F0,1SEND_F0,1RECV_F1,1F1,1SEND_F1,3RECV_F0,3F0,3B0,3SEND_B0,3RECV_F1,3F1,3B1,3SEND_B1,1RECV_F2,1F2,"
        "1SEND_F2,1RECV_B0,1B0,1SEND_B0,1RECV_F3,1F3,1SEND_F3,1RECV_B1,1B1,1SEND_B1,3RECV_F2,3F2,3B2,3SEND_B2,3RECV_F3,"
        "3F3,3B3,3SEND_B3,1RECV_B2,1B2,1SEND_B2,1RECV_B3,1B3,1SEND_B3\n");
    kerf_text_free(&csv);
    kerf_schedule_free(schedule);
}

static void test_what_cannot_be_written(void **state) {
    (void)state;
    static const struct {
        const char *rule, *words;
    } cases[] = {{"dualpipe", "use dualpipe_v"}, {"seq1f1b", "cuts them into 4 slices"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int form = 0; form <= KERF_TORCH_COMMS_LATE; form++) {
            struct kerf_schedule *schedule = make(cases[i].rule, 4, 8, 0);
            struct kerf_text out = {0};
            struct kerf_error err;
            assert_int_equal(kerf_schedule_torch(&out, schedule, (enum kerf_torch_form)form, &err), KERF_EINVALID);
            assert_non_null(strstr(err.message, cases[i].words));
            assert_int_equal(out.length, 0);
            kerf_schedule_free(schedule);
        }
    struct kerf_schedule *schedule = make("1f1b", 4, 8, 0);
    struct kerf_text out = {0};
    struct kerf_error err;
    assert_int_equal(kerf_schedule_torch(&out, schedule, (enum kerf_torch_form)99, &err), KERF_EINVALID);
    assert_string_equal(err.message, "form 99 does not exist");
    kerf_schedule_free(schedule);
}

/* ---- Reading ---------------------------------------------------------------------------------------------- */

static void test_tolerance(void **state) {
    (void)state;
    struct kerf_schedule *plain = parse("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
    static const char *const same[] = {
        "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1", /* no newline at the end */
        "\xEF\xBB\xBF"
        "0F0,0F1,0B0,0B1\r\n1F0,1B0,1F1,1B1\r\n\r\n\n",             /* a BOM, CRLF, empty lines at the end */
        " 0F0 ,\t0F1, 0B0,0B1 \n1F0,1B0,1F1,1B1,\n",                /* blanks, a comma at the end */
        ",,0F0,0F1,,\"0B0\",0B1\n,\"1F0\",1B0, \"1F1 \" ,1B1,,,\n", /* idle steps, quotes */
        "0UNSHARD,0F0,0F1,0B0,0B1,0REDUCE_GRAD,0RESHARD\n1F0,1B0,1F1,1B1\n"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct kerf_schedule *schedule = parse(same[i]);
        same_ops(plain, schedule);
        assert_string_equal(schedule->name, "x");
        kerf_schedule_free(schedule);
    }
    kerf_schedule_free(plain);
}

static void test_old_letters(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"0F0,0B0,0W0\n", "0F0,0I0,0W0\n"},                                 /* a W and no I */
        {"0F0,0F1,0BW0,0B1,0W1\n", "0F0,0F1,0B0,0I1,0W1\n"},                /* both */
        {"0F0,0BW0\n", "0F0,0B0\n"},                                        /* a BW alone */
        {"0F0,0F1,0F2,0B0,0I1,0B2,0W1\n", "0F0,0F1,0F2,0B0,0I1,0B2,0W1\n"}, /* an I: the new ones */
        {"0F0,0B0\n", "0F0,0B0\n"}};                                        /* neither: the new ones */
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct kerf_schedule *schedule = parse(pairs[i][0]);
        struct kerf_text out = write_torch(schedule, KERF_TORCH_COMPUTE);
        assert_string_equal(out.data, pairs[i][1]);
        kerf_text_free(&out);
        kerf_schedule_free(schedule);
    }
}

static void test_overlap(void **state) {
    (void)state;
    struct kerf_schedule *schedule = parse("0F0,0F1,1F0,(0F2;1B0)OVERLAP_F_B,\"( 0B0 ; 1F1)OVERLAP_F_B\",1B1,1F2,1B2,"
                                           "0B1,0B2\n");
    struct kerf_text out = write_torch(schedule, KERF_TORCH_COMPUTE);
    assert_string_equal(out.data, "0F0,0F1,1F0,(0F2;1B0)OVERLAP_F_B,(1F1;0B0)OVERLAP_F_B,1B1,1F2,1B2,0B1,0B2\n");
    kerf_text_free(&out);
    kerf_schedule_free(schedule);
}

static void test_refusals(void **state) {
    (void)state;
    refuses("", 1, 1, "an empty file");
    refuses("\n \r\n", 1, 1, "an empty file");
    refuses("0F0,0X0,0B0\n", 1, 5, "'0X0' is not an action: after the stage comes F, I, W, B");
    refuses("0F0, F0,0B0\n", 1, 6, "'F0' is not an action: an action begins with a stage");
    refuses("0F0,0F,0B0\n", 1, 5, "'0F' is not an action: an action ends in a micro-batch");
    refuses("0F0,0F1048576,0B0\n", 1, 5, "from 0 to 1048575");
    refuses("32767F0\n", 1, 1, "a stage from 0 to 32766");
    refuses("0F0 0B0\n", 1, 1, "there is something after it; put a comma");
    refuses("0F0,\"0B0\n", 1, 5, "has no closing quote");
    refuses("0F0,\"0B0\"1,0B1\n", 1, 5, "continues after its closing quote");
    refuses("0F0,(0F1;0B0)OVERLAP\n", 1, 5, "(0F7;7B3)OVERLAP_F_B");
    refuses("0F0,(0F1;0I0)OVERLAP_F_B\n", 1, 5, "only a forward and a whole backward");
    refuses("0F0,0B0\n\n1F0,1B0\n", 2, 1, "rank 1 has no operation");
    refuses("0F0,0B0\n0F1,1F0,1B0\n", 2, 1,
            "0F1 on rank 1 is of stage 0, which rank 0 has; a stage must be on one rank");
    refuses("0F0,0B0\n2F0,2B0\n", 2, 1, "stage 1 is on no rank, but stage 2 is on rank 1");
    refuses("0F0,0B0\n1F0,1F1,1B0,1B1\n", 1, 1, "0F1 is missing on rank 0; the file has micro-batches 0 to 1");
    refuses("32766F1048575\n", 1, 1, "stage 0 is on no rank");
    refuses("0F0,0F1048575,0B0\n", 1, 1, "0F1 is missing");
    refuses("0F0,0B0,0F0\n", 1, 9, "0F0 on rank 0 appears twice");
    refuses("0F0,0F1,0B0,0I1\n", 1, 5, "0F1 on rank 0 has no backward: 0W1 is missing");
    refuses("0F0,0F1,0B0\n", 1, 5, "0F1 on rank 0 has no backward: 0B1 is missing");
    refuses("0F0,0F1,0I0,0W0,0W1\n", 1, 5, "0I1 is missing");
    refuses("0F0,0F1,0B0,0W0,0W1\n", 1, 5, "0B1 is missing (in the letters of PyTorch up to 2.5)");
    refuses("0F0,0I0,0W0,0B0\n", 1, 13, "micro-batch 0 has a whole and a split one on stage 0");
    refuses("0F0,0BW0,0B0\n", 1, 10, "(B is read as the backward of the input");
    refuses("0F0,0F1,0BW0,0I1,0W1\n", 1, 14, "PyTorch's new letters");
    refuses("0B0,0F0\n", 0, 0, "deadlock: 0B0 on device 0 waits for 0F0");
    refuses("0F0,0B0\n1B0,1F0\n", 0, 0, "deadlock: 1B0 on device 1 waits for 1F0");
}

static void test_comms(void **state) {
    (void)state;
    static const char good[] = "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
                               "1RECV_F0,1F0,1RECV_F1,1F1,1B0,1SEND_B0,1B1,1SEND_B1\n";
    kerf_schedule_free(parse(good));
    refuses("0F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
            "1RECV_F0,1F0,1RECV_F1,1F1,1B0,1SEND_B0,1B1,1SEND_B1\n",
            2, 1, "1RECV_F0 on rank 1 has no 0SEND_F0 on rank 0; it must come after 0F0 there");
    refuses("0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
            "1RECV_F0,1F0,1F1,1B0,1SEND_B0,1B1,1SEND_B1\n",
            2, 14, "1F1 on rank 1 needs what rank 0 computes: 1RECV_F1 must come before it, and 0SEND_F1 after 0F1");
    refuses("0SEND_F0,0F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
            "1RECV_F0,1F0,1RECV_F1,1F1,1B0,1SEND_B0,1B1,1SEND_B1\n",
            1, 1, "0SEND_F0 on rank 0 comes before 0F0, which computes what it sends");
    refuses("0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
            "1RECV_F1,1RECV_F0,1F0,1F1,1B0,1SEND_B0,1B1,1SEND_B1\n",
            2, 10, "1RECV_F0 on rank 1 comes after 1RECV_F1, but rank 0 sends it first");
    refuses("0F0,0SEND_F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", 1, 14, "appears twice");
    refuses("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1RECV_F0,1B0,1SEND_B0\n", 2, 14, "appears twice");
    refuses("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0,1SEND_F0\n", 2, 27, "has no other end: stage 1");
    refuses("0F0,1F0,0SEND_F0,1B0,0B0\n", 1, 9, "is not needed: stages 0 and 1 are both on this rank");
    refuses("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0,0SEND_F0\n", 2, 27, "must be on rank 0");
    refuses("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B7\n", 2, 18, "belongs to no operation");
    refuses("0F0,0SEND_F0,0RECV_B0,0RECV_B1,0F1,0SEND_F1,0B0,0B1\n"
            "1RECV_F0,1F0,1RECV_F1,1F1,1B0,1SEND_B0,1B1,1SEND_B1\n",
            1, 14,
            "0RECV_B0 on rank 0 is in a deadlock: it waits for rank 1, which is at 1RECV_F1 and waits for "
            "rank 0");
}

/* ---- PyTorch's files -------------------------------------------------------------------------------------- */

/* FNV-1a */
static uint64_t hash_of(const struct kerf_text *text) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < text->length; i++) hash = (hash ^ (unsigned char)text->data[i]) * 0x100000001B3u;
    return hash;
}

/* What kerf writes is what PyTorch's own files hold, and what its rules make: the hashes are of their cells without
 * idle steps and blanks. The first three are pytorch/pytorch, test/distributed/pipelining/artifacts (a2af973f, a8e954a5,
 * bf69c149). */
static void test_published(void **state) {
    (void)state;
    static const struct {
        const char *rule;
        int32_t p, m, v;
        enum kerf_torch_form form;
        uint64_t hash;
    } files[] = {
        {"dualpipe_v", 4, 10, 0, KERF_TORCH_COMPUTE, 0xD8E3EC6872FC0C24u},    /* dualpipev_4rank_10mb.csv */
        {"interleaved_zb", 2, 8, 2, KERF_TORCH_COMPUTE, 0x85E0F211E4D84B65u}, /* zb1p_2rank_2stagep_compute.csv */
        {"interleaved_zb", 2, 8, 2, KERF_TORCH_COMMS, 0x48275067AF4466E5u},   /* zb1p_2rank_2stagep_comms.csv */
        {"interleaved_1f1b", 4, 8, 2, KERF_TORCH_COMPUTE, 0xDBAFEB4EC7A654CDu},
        {"interleaved_zb", 4, 8, 2, KERF_TORCH_COMPUTE, 0xAE9C45C88D3A4A35u},
        {"looped_bfs", 4, 8, 2, KERF_TORCH_COMPUTE, 0xC23451D537207E65u},
        {"zb_v", 4, 8, 0, KERF_TORCH_COMPUTE, 0x36A1541E6DABF009u},
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        struct kerf_schedule *schedule = make(files[k].rule, files[k].p, files[k].m, files[k].v);
        struct kerf_text csv = write_torch(schedule, files[k].form);
        if (hash_of(&csv) != files[k].hash) fail_msg("%s %dx%d: other cells", files[k].rule, files[k].p, files[k].m);
        kerf_text_free(&csv);
        kerf_schedule_free(schedule);
    }
}

static void test_load(void **state) {
    (void)state;
    char path[] = "/tmp/kerf_test_XXXXXX.csv";
    struct kerf_schedule *schedule = NULL;
    struct kerf_error err;
    int file = mkstemps(path, 4);
    assert_true(file >= 0 && write(file, "0F0,0B0\n", 8) == 8);
    close(file);
    struct kerf_schedule_file_request request = {.path = path, .devices = 1};
    assert_int_equal(kerf_schedule_load(&request, &schedule, &err), KERF_OK);
    assert_non_null(strstr(path, schedule->name));
    kerf_schedule_free(schedule);
    request.microbatches = 2;
    assert_int_equal(kerf_schedule_load(&request, &schedule, &err), KERF_EINVALID);
    assert_string_equal(err.message, "the file has 1 micro-batches, not 2; the sizes of a CSV cannot be changed");
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(kerf_schedule_load(&request, &schedule, &err), KERF_ESYNTAX);
    assert_string_equal(err.file, path);
    unlink(path);
    assert_int_equal(kerf_schedule_load(&request, &schedule, &err), KERF_EIO);
    assert_string_equal(err.message, "no such file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_late_receives),
        cmocka_unit_test(test_what_cannot_be_written),
        cmocka_unit_test(test_tolerance),
        cmocka_unit_test(test_old_letters),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_comms),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
