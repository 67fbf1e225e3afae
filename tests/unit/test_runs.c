/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of runs: cells in quotes, spellings, what is missing, which rows are refused and why, and gzip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/unpack.h"
#include "score/runs.h"

#define HEADER                                                                                                         \
    "id,source,provenance,gpu,gpus,gpus_per_node,framework,model,params_b,layers,hidden,ffn,glu,heads,kv_heads,vocab," \
    "experts,topk,seq,gbs,mbs,tp,pp,vpp,cp,ep,dp,zero,seqpar,recompute,attn,precision,step_s,tflops_gpu,tflops_kind,"  \
    "tok_s_gpu,mfu_pct,mem_gib,status,notes\n"

/* A row of the table with these cells in place of the usual ones. */
struct cells {
    const char *id, *gpus, *tp, *vpp, *cp, *dp, *zero, *recompute, *attn, *precision, *step, *notes;
};

static void add_row(struct kerf_text *text, struct cells c) {
#define OR(cell, usual) ((cell) ? (cell) : (usual))
    kerf_text_printf(text,
                     "%s,paper,repo-file,H100,%s,8,NeMo,x,7.5,32,4096,11008,1,32,,32000,,,4096,512,1,%s,2,%s,%s,,%s,",
                     OR(c.id, "a_b-1"), OR(c.gpus, "64"), OR(c.tp, "4"), OR(c.vpp, ""), OR(c.cp, ""), OR(c.dp, ""));
    kerf_text_printf(text, "%s,,%s,%s,%s,%s,,,,,,ok,%s\n", OR(c.zero, ""), OR(c.recompute, ""), OR(c.attn, ""),
                     OR(c.precision, "bf16"), OR(c.step, "2.5"), OR(c.notes, ""));
#undef OR
}

static struct runs *parse(const char *csv) {
    struct runs *runs = NULL;
    struct kerf_error err;
    if (runs_parse(csv, strlen(csv), "x.csv", &runs, &err) != KERF_OK) fail_msg("%d: %s", err.line, err.message);
    return runs;
}

static struct runs *parse_one(struct cells cells) {
    struct kerf_text text = {0};
    kerf_text_add(&text, HEADER);
    add_row(&text, cells);
    struct runs *runs = parse(text.data);
    kerf_text_free(&text);
    assert_int_equal(runs->count, 1);
    return runs;
}

static void row_is_read(void **state) {
    (void)state;
    struct runs *runs = parse_one((struct cells){.notes = "\"two, \"\"quoted\"\"\nlines\""});
    const struct run *run = runs->rows;
    if (run->why) fail_msg("%s", run->why);
    assert_string_equal(run->id, "a_b-1");
    assert_int_equal(run_set_length(run), 3);
    assert_string_equal(run->notes, "two, \"quoted\"\nlines");
    assert_int_equal(run->layers, 32);
    assert_int_equal(run->kv_heads, 0);
    assert_int_equal(run->glu, 1);
    assert_true(run->params == 7.5e9);
    assert_int_equal(run->dp, 8);
    assert_int_equal(run->zero, RUN_MISSING);
    assert_int_equal(run->recompute, RUN_RECOMPUTE_MISSING);
    assert_true(run->measured.step_s == 2.5);
    assert_true(isnan(run->measured.mem_gib));
    assert_int_equal(runs->refused, 0);
    runs_free(runs);
}

static void spellings(void **state) {
    (void)state;
    struct runs *runs = parse_one((struct cells){.vpp = ">1",
                                                 .zero = "3(HSDP: 128-256-way FSDP x DP)",
                                                 .recompute = "none?",
                                                 .attn = "flash_attention2 + RMS kernel",
                                                 .precision = "fp8-cs (fp8-mx)"});
    if (runs->rows[0].why) fail_msg("%s", runs->rows[0].why);
    assert_int_equal(runs->rows[0].vpp, RUN_SEVERAL);
    assert_int_equal(runs->rows[0].zero, 3);
    assert_int_equal(runs->rows[0].recompute, RUN_NOTHING);
    assert_int_equal(runs->rows[0].attention, RUN_FLASH2);
    assert_int_equal(runs->rows[0].rms_kernel, 1);
    assert_int_equal(runs->rows[0].precision, RUN_FP8);
    runs_free(runs);
    runs = parse_one((struct cells){.zero = "FSDP", .recompute = "selective(op)", .precision = "fp8(linear)"});
    assert_int_equal(runs->rows[0].zero, 3);
    assert_int_equal(runs->rows[0].recompute, RUN_MODULES);
    assert_int_equal(runs->rows[0].precision, RUN_FP8);
    runs_free(runs);
}

static void refused_rows(void **state) {
    (void)state;
    static const struct {
        struct cells cells;
        const char *why;
    } cases[] = {
        {{.dp = "16"}, "tp 4 x pp 2 x cp 1 x dp 16 is not gpus 64"},
        {{.gpus = "64 GPUs"}, "gpus is '64 GPUs': expected a whole number from 1 to 1e9"},
        {{.gpus = ""}, "gpus is missing"},
        {{.gpus = "-8"}, "gpus is '-8'"},
        {{.tp = "2.5"}, "tp is '2.5'"},
        {{.tp = "1e300"}, "tp is '1e300'"},
        {{.precision = "int3"}, "precision is 'int3': expected fp16, bf16, fp8, mxfp8 or nvfp4"},
        {{.zero = "4"}, "zero is '4'"},
        {{.attn = "flash_attention_of_a_much_longer_name"}, "attn is"},
        {{.id = ""}, "it has no id"},
        {{.notes = "a,b"}, "it has 41 cells, the header has 40"},
        {{.notes = "\"cut"}, "a quote opens and never closes"},
        {{.notes = "\"a\"b"}, "text behind the quote"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct runs *runs = parse_one(cases[i].cells);
        if (runs->rows[0].why == NULL || strncmp(runs->rows[0].why, cases[i].why, strlen(cases[i].why)) != 0)
            fail_msg("%s\nshould be: %s", runs->rows[0].why ? runs->rows[0].why : "accepted", cases[i].why);
        assert_int_equal(runs->refused, 1);
        runs_free(runs);
    }
}

static void measurement_alone_is_refused(void **state) {
    (void)state;
    static const char *const cells[] = {"2.5 s", "nan", "-3", "1e-320", "1e300"}; /* no ratio to these is a number */
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char why[80];
        struct runs *runs = parse_one((struct cells){.step = cells[i]});
        snprintf(why, sizeof why, "step_s is '%s': expected a number from 1e-6 to 1e9", cells[i]);
        assert_null(runs->rows[0].why);
        assert_string_equal(runs->rows[0].measured.why, why);
        runs_free(runs);
    }
}

static void repeated_id(void **state) {
    (void)state;
    struct kerf_text text = {0};
    kerf_text_add(&text, "\xef\xbb\xbf" HEADER "\r\n\n");
    add_row(&text, (struct cells){0});
    add_row(&text, (struct cells){.id = "other-1"});
    add_row(&text, (struct cells){0});
    struct runs *runs = parse(text.data);
    assert_int_equal(runs->count, 3);
    assert_int_equal(runs->refused, 1);
    assert_null(runs->rows[0].why);
    assert_string_equal(runs->rows[2].why, "line 4 has the same id");
    assert_int_equal(runs->rows[2].line, 6);
    runs_free(runs);
    kerf_text_free(&text);
}

static void refuses_table(const char *csv, const char *words) {
    struct runs *runs = NULL;
    struct kerf_error err = {0};
    assert_int_not_equal(runs_parse(csv, strlen(csv), "dir/x.csv", &runs, &err), KERF_OK);
    assert_null(runs);
    assert_string_equal(err.file, "dir/x.csv");
    if (!strstr(err.message, words)) fail_msg("%s\nshould say: %s", err.message, words);
    assert_int_equal(runs_parse(csv, strlen(csv), "dir/x.csv", &runs, NULL), err.code);
}

static void refused_tables(void **state) {
    (void)state;
    refuses_table("", "empty");
    refuses_table("id,source\n", "38 of the 40 columns are missing, the first is provenance; a cell may be empty, "
                                 "docs/runs.md says what it means then");
    refuses_table("id,id\n", "the column id is there twice");
    refuses_table("id,sourse\n", "unknown column 'sourse': did you mean source?");
    refuses_table("\"id", "never closes");
}

static void pack(const char *plain, struct kerf_text *packed) {
    unsigned char out[4096];
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)plain, .avail_in = (unsigned)strlen(plain)};
    deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    stream.next_out = out;
    stream.avail_out = sizeof out;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    kerf_text_write(packed, (char *)out, sizeof out - stream.avail_out);
    deflateEnd(&stream);
}

static void unpacking(void **state) {
    (void)state;
    struct kerf_text text = {0};
    struct kerf_error err;
    pack("one ", &text);
    pack("two", &text);
    assert_int_equal(input_unpack("x.gz", 100, &text, &err), KERF_OK);
    assert_string_equal(text.data, "one two");
    assert_int_equal(input_unpack("x", 100, &text, &err), KERF_OK); /* plain text stays */
    assert_string_equal(text.data, "one two");
    kerf_text_clear(&text);
    pack(HEADER, &text);
    const size_t whole = text.length;
    assert_int_equal(input_unpack("x.gz", 20, &text, &err), KERF_EIO);
    assert_int_equal(text.length, whole);
    text.length = whole / 2;
    assert_int_equal(input_unpack("x.gz", 4096, &text, &err), KERF_ESYNTAX);
    assert_string_equal(err.message, "the compressed file is cut off");
    kerf_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_is_read),  cmocka_unit_test(spellings),
        cmocka_unit_test(refused_rows), cmocka_unit_test(measurement_alone_is_refused),
        cmocka_unit_test(repeated_id),  cmocka_unit_test(refused_tables),
        cmocka_unit_test(unpacking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
