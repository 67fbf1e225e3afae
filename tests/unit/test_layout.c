/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts: reading, writing, ordering, and each rule that one must obey. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerf/cost.h"
#include "spec/layout.h"

static const char *line_of(const struct kerf_error *err) {
    static char line[1024];
    kerf_error_format(err, line, sizeof line);
    return line;
}

/* ---- Reading and writing ------------------------------------------------------------------------------ */

static const char *json_of(const struct kerf_layout *layout) {
    static char buffer[512];
    struct kerf_text text = {0};
    struct kerf_json json;
    kerf_json_begin(&json, &text);
    kerf_layout_json(&json, NULL, layout);
    snprintf(buffer, sizeof buffer, "%s", text.data);
    kerf_text_free(&text);
    return buffer;
}

static void reads_parts_in_any_order(void **state) {
    (void)state;
    struct kerf_layout layout;
    struct kerf_error err;
    assert_int_equal(kerf_layout_parse_as("dp=2", KERF_STRATEGY_SEQP, &layout, &err), KERF_OK);
    assert_string_equal(json_of(&layout), "{\"dp\":2,\"tp1\":1,\"tp2\":1,\"pp\":1,\"micro_batch\":1,\"summa_blocks\":0,"
                                          "\"scale_up\":{\"tp1\":0,\"tp2\":0,\"dp\":0,\"pp\":0}}");
    assert_int_equal(
        kerf_layout_parse("scale_up.pp=10,scale_up.dp=9,scale_up.tp2=8,scale_up.tp1=7,summa_blocks=6,micro_batch=5,"
                          "pp=4,tp2=3,tp1=2,dp=1073741824",
                          &layout, &err),
        KERF_OK);
    assert_string_equal(json_of(&layout),
                        "{\"dp\":1073741824,\"tp1\":2,\"tp2\":3,\"pp\":4,\"micro_batch\":5,\"summa_blocks\":6,"
                        "\"scale_up\":{\"tp1\":7,\"tp2\":8,\"dp\":9,\"pp\":10}}");
    assert_int_equal(kerf_layout_parse("dp=0000000000000000000000000002", &layout, &err), KERF_OK);
    assert_int_equal(layout.dp, 2);
}

#define KNOWN                                                                                                          \
    "there are tp, cp, pp, vpp, ep, etp, dp, zero, micro_batch, recompute, schedule, order, cp_comm and "              \
    "stage_layers; "                                                                                                   \
    "for 1d, summa and seqp dp, tp1, tp2, pp, micro_batch, summa_blocks and scale_up.*"

static void refuses_what_is_no_layout(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int32_t code;
        const char *line;
    } cases[] = {
        {"", KERF_EUNKNOWN, "layout: unknown part ''; " KNOWN},
        {"dp=2,", KERF_EUNKNOWN, "layout: unknown part ''; " KNOWN},
        {"dp=2,,pp=3", KERF_EUNKNOWN, "layout: unknown part ''; " KNOWN},
        {"=2", KERF_EUNKNOWN, "layout: unknown part ''; " KNOWN},
        {"dp", KERF_EINVALID, "layout: dp has no value; write dp=N"},
        {"dp=2,micro_batch", KERF_EINVALID, "layout: micro_batch has no value; write micro_batch=N"},
        {"microbatch=1", KERF_EUNKNOWN, "layout: unknown part 'microbatch'; did you mean micro_batch?"},
        {"scaleup.tp1=1", KERF_EUNKNOWN, "layout: unknown part 'scaleup.tp1'; did you mean scale_up.tp1?"},
        {"tp3=1", KERF_EUNKNOWN, "layout: unknown part 'tp3'; did you mean tp?"},
        {"quite=1", KERF_EUNKNOWN, "layout: unknown part 'quite'; " KNOWN},
        {"dp=2,pp=3,dp=2", KERF_EINVALID, "layout: dp is given twice"},
        {"dp=0", KERF_EINVALID, "layout: dp must be a whole number from 1 to 1073741824, not '0'"},
        {"dp=-1", KERF_EINVALID, "layout: dp must be a whole number from 1 to 1073741824, not '-1'"},
        {"summa_blocks=-1", KERF_EINVALID,
         "layout: summa_blocks must be a whole number from 0 to 1073741824, not '-1'"},
        {"dp=1073741825", KERF_EINVALID, "layout: dp must be a whole number from 1 to 1073741824, not '1073741825'"},
        {"dp=", KERF_EINVALID, "layout: dp must be a whole number from 1 to 1073741824, not ''"},
        {"dp=x", KERF_EINVALID, "layout: dp must be a whole number from 1 to 1073741824, not 'x'"},
        {"dp=2x", KERF_EINVALID, "layout: dp must be a whole number from 1 to 1073741824, not '2x'"},
        {"dp= 2", KERF_EINVALID, "layout: dp must be a whole number from 1 to 1073741824, not ' 2'"},
        {"dp=+2", KERF_EINVALID, "layout: dp must be a whole number from 1 to 1073741824, not '+2'"},
        {"dp=2.0", KERF_EINVALID, "layout: dp must be a whole number from 1 to 1073741824, not '2.0'"},
        {"dp=1e1", KERF_EINVALID, "layout: dp must be a whole number from 1 to 1073741824, not '1e1'"},
        {"dp=2=2", KERF_EINVALID, "layout: dp must be a whole number from 1 to 1073741824, not '2=2'"},
        {"dp=99999999999999999999999999999999999999", KERF_EINVALID,
         "layout: dp must be a whole number from 1 to 1073741824, not '9999999999999999999999999999999'"},
        {"dp=0000000000000000000000000000012345", KERF_EINVALID, /* more than is looked at: not 12 */
         "layout: dp must be a whole number from 1 to 1073741824, not '0000000000000000000000000000012'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_layout layout, before;
        struct kerf_error err;
        memset(&layout, 0x5A, sizeof layout);
        before = layout;
        assert_int_equal(kerf_layout_parse(cases[i].text, &layout, &err), cases[i].code);
        assert_int_equal(err.code, cases[i].code);
        assert_string_equal(line_of(&err), cases[i].line);
        assert_memory_equal(&layout, &before, sizeof layout);
        assert_int_equal(kerf_layout_parse(cases[i].text, &layout, NULL), cases[i].code);
    }
}

/* ---- Order -------------------------------------------------------------------------------------------- */

static void is_ordered_by_each_member_in_turn(void **state) {
    (void)state;
    static const char *const keys[] = {"dp",           "tp1",          "tp2",          "pp",          "micro_batch",
                                       "summa_blocks", "scale_up.tp1", "scale_up.tp2", "scale_up.dp", "scale_up.pp"};
    enum { KEYS = sizeof keys / sizeof *keys };
    for (size_t i = 0; i < KEYS; i++) {
        char text[256] = "";
        struct kerf_layout less, more;
        snprintf(text, sizeof text, "%s=2", keys[i]);
        for (size_t j = i + 1; j < KEYS; j++) /* less in this member outweighs more in all that follow */
            snprintf(text + strlen(text), sizeof text - strlen(text), ",%s=9", keys[j]);
        assert_int_equal(kerf_layout_parse(text, &less, NULL), KERF_OK);
        snprintf(text, sizeof text, "%s=3", keys[i]);
        assert_int_equal(kerf_layout_parse(text, &more, NULL), KERF_OK);
        assert_true(kerf_layout_compare(&less, &more) < 0);
        assert_true(kerf_layout_compare(&more, &less) > 0);
        assert_int_equal(kerf_layout_compare(&less, &less), 0);
    }
}

/* ---- Rules -------------------------------------------------------------------------------------------- */

static const char *const base =
    "dp=2,tp1=4,tp2=2,pp=4,micro_batch=2,scale_up.tp1=2,scale_up.tp2=2,scale_up.dp=1,scale_up.pp=2";

static struct kerf_problem problem_of(enum kerf_strategy strategy) {
    struct kerf_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.model = (struct kerf_model){.name = "m",
                                        .hidden_size = 1024,
                                        .intermediate_size = 4096,
                                        .num_hidden_layers = 12,
                                        .num_attention_heads = 16,
                                        .max_position_embeddings = 2048};
    assert_int_equal(kerf_system_load("a100", &problem.system, NULL), KERF_OK);
    problem.system.scale_up.size = 8;
    problem.strategy = strategy;
    problem.gpus = 64;
    problem.global_batch = 16;
    problem.seq_length = 2048;
    return problem;
}

static void takes_a_layout_that_obeys(void **state) {
    (void)state;
    struct kerf_layout layout;
    struct kerf_error err;
    struct kerf_problem problem = problem_of(KERF_STRATEGY_SEQP);
    assert_int_equal(kerf_layout_parse(base, &layout, NULL), KERF_OK);
    assert_int_equal(kerf_layout_check(&problem, &layout, &err), KERF_OK);
    problem.strategy = KERF_STRATEGY_SUMMA;
    layout.summa_blocks = 4;
    assert_int_equal(kerf_layout_check(&problem, &layout, &err), KERF_OK);
    problem.attention = KERF_ATTENTION_SUMMA;
    assert_int_equal(kerf_layout_check(&problem, &layout, &err), KERF_OK);
    problem.seq_length = 2; /* as short as tp2 allows, and as long as there is */
    assert_int_equal(kerf_layout_check(&problem, &layout, &err), KERF_OK);
    problem.seq_length = INT64_C(1) << 30;
    assert_int_equal(kerf_layout_check(&problem, &layout, &err), KERF_OK);
    problem = problem_of(KERF_STRATEGY_1D);
    problem.attention = KERF_ATTENTION_RECOMPUTED;
    layout.summa_blocks = 0, layout.tp2 = 1, layout.scale_up.tp2 = 1, layout.dp = 4;
    assert_int_equal(kerf_layout_check(&problem, &layout, &err), KERF_OK);
}

enum change { NOTHING, GPUS, BATCH, LENGTH, DOMAIN, ATTENTION, LAYERS, HEADS, WIDTH };

static void says_the_rule_that_is_broken(void **state) {
    (void)state;
    static const struct {
        enum kerf_strategy strategy;
        const char *more; /* parts in the place of the base's */
        enum change change;
        int64_t value;
        const char *line;
    } cases[] = {
        {KERF_STRATEGY_SEQP, "dp=4", NOTHING, 0, "dp 4 x tp1 4 x tp2 2 x pp 4 is 128 accelerators, not 64"},
        {KERF_STRATEGY_SEQP, "", GPUS, 128, "dp 2 x tp1 4 x tp2 2 x pp 4 is 64 accelerators, not 128"},
        {KERF_STRATEGY_SEQP, "dp=1073741824,tp1=1073741824,tp2=1073741824,pp=1073741824", NOTHING, 0,
         "dp 1073741824 x tp1 1073741824 x tp2 1073741824 x pp 1073741824 are more than 1073741824 accelerators"},
        {KERF_STRATEGY_SEQP, "dp=1,pp=8", NOTHING, 0, "pp 8 does not divide 12 layers; 6 and 12 do"},
        {KERF_STRATEGY_SEQP, "", LAYERS, 6, "pp 4 does not divide 6 layers; 3 and 6 do"},
        {KERF_STRATEGY_SEQP, "", HEADS, 6, "tp1 4 does not divide 6 attention heads; 3 and 6 do"},
        {KERF_STRATEGY_1D, "", NOTHING, 0, "tp2 must be 1 with 1d; use summa or seqp for tp2 2"},
        {KERF_STRATEGY_SUMMA, "summa_blocks=4", WIDTH, 1025, "16 heads do not divide hidden_size 1025"},
        {KERF_STRATEGY_SEQP, "", LENGTH, 1, "tp2 2 is more than the 1 tokens of a sample"},
        {KERF_STRATEGY_SUMMA, "", NOTHING, 0, "summa_blocks must be 1 or more with summa, not 0"},
        {KERF_STRATEGY_SEQP, "summa_blocks=4", NOTHING, 0, "summa_blocks must be 0 without summa, not 4"},
        {KERF_STRATEGY_SEQP, "", BATCH, 15, "dp 2 does not divide 15 samples of the global batch; 1 and 3 do"},
        {KERF_STRATEGY_SEQP, "micro_batch=3", NOTHING, 0,
         "micro_batch 3 does not divide 8 samples of a replica; 2 and 4 do"},
        {KERF_STRATEGY_SEQP, "micro_batch=16", NOTHING, 0,
         "micro_batch 16 does not divide 8 samples of a replica; 8 does"},
        {KERF_STRATEGY_SEQP, "", LENGTH, 1026, "the 2052 tokens of a micro-batch do not divide into 8 shards"},
        {KERF_STRATEGY_SUMMA, "summa_blocks=4,micro_batch=1", LENGTH, 1025,
         "the 1025 tokens of a micro-batch do not divide into 2 shards"},
        {KERF_STRATEGY_1D, "tp2=1,scale_up.tp2=1,dp=4,micro_batch=1", LENGTH, 1026,
         "the 1026 tokens of a micro-batch do not divide into 4 shards"},
        {KERF_STRATEGY_SEQP, "scale_up.tp1=3", NOTHING, 0, "scale_up.tp1 3 does not divide tp1 4; 2 and 4 do"},
        {KERF_STRATEGY_SEQP, "scale_up.tp2=4", NOTHING, 0, "scale_up.tp2 4 does not divide tp2 2; 2 does"},
        {KERF_STRATEGY_SEQP, "scale_up.dp=4", NOTHING, 0, "scale_up.dp 4 does not divide dp 2; 2 does"},
        {KERF_STRATEGY_SEQP, "scale_up.pp=3", NOTHING, 0, "scale_up.pp 3 does not divide pp 4; 2 and 4 do"},
        {KERF_STRATEGY_SEQP, "scale_up.dp=2", NOTHING, 0, "scale_up places more than the 8 accelerators of a domain"},
        {KERF_STRATEGY_SEQP, "", DOMAIN, 7, "scale_up places more than the 7 accelerators of a domain"},
        {KERF_STRATEGY_SEQP, "", ATTENTION, KERF_ATTENTION_RECOMPUTED,
         "recomputed attention is not for seqp; use fused or unfused"},
        {KERF_STRATEGY_SEQP, "", ATTENTION, KERF_ATTENTION_SUMMA,
         "summa attention is not for seqp; use fused or unfused"},
        {KERF_STRATEGY_SEQP, "", LENGTH, 0,
         "m has no max_position_embeddings: give a sequence length from 1 to 1073741824"},
        {KERF_STRATEGY_SEQP, "", LENGTH, 1073741825, "seq_length must lie between 1 and 1073741824, not 1073741825"},
        {KERF_STRATEGY_SEQP, "", BATCH, 0, "global_batch must lie between 1 and 1073741824, not 0"},
        {KERF_STRATEGY_SEQP, "", BATCH, -16, "global_batch must lie between 1 and 1073741824, not -16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_problem problem = problem_of(cases[i].strategy);
        char text[512] = "";
        int64_t value = cases[i].value;
        /* the base, without what is given anew */
        char parts[256];
        snprintf(parts, sizeof parts, "%s", base);
        for (char *rest = parts, *part; (part = strsep(&rest, ","));) {
            char key[64];
            snprintf(key, sizeof key, ",%.*s", (int)(strchr(part, '=') - part + 1), part);
            char more[256];
            snprintf(more, sizeof more, ",%s", cases[i].more);
            if (!strstr(more, key))
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? "," : "", part);
        }
        if (cases[i].more[0]) snprintf(text + strlen(text), sizeof text - strlen(text), ",%s", cases[i].more);
        struct kerf_layout layout;
        struct kerf_error err = {.message = ""};
        if (kerf_layout_parse(text, &layout, &err) != KERF_OK) fail_msg("%s: %s", text, err.message);
        switch (cases[i].change) {
        case NOTHING: break;
        case GPUS: problem.gpus = value; break;
        case BATCH: problem.global_batch = value; break;
        case LENGTH: problem.seq_length = value; break;
        case DOMAIN: problem.system.scale_up.size = value; break;
        case ATTENTION: problem.attention = (enum kerf_attention)value; break;
        case LAYERS: problem.model.num_hidden_layers = value; break;
        case HEADS: problem.model.num_attention_heads = value, problem.model.hidden_size = 128 * value; break;
        case WIDTH: problem.model.hidden_size = value; break;
        }
        if (kerf_layout_check(&problem, &layout, &err) != KERF_EINVALID) fail_msg("case %zu passes", i);
        assert_string_equal(line_of(&err), cases[i].line);
        assert_int_equal(err.code, KERF_EINVALID);
        assert_int_equal(kerf_layout_check(&problem, &layout, NULL), KERF_EINVALID);
    }
}

/* Layouts of a caller's own making hold any number. */
static void every_member_has_bounds(void **state) {
    (void)state;
    struct kerf_problem problem = problem_of(KERF_STRATEGY_SEQP);
    struct kerf_layout good;
    assert_int_equal(kerf_layout_parse(base, &good, NULL), KERF_OK);
    static const char *const keys[] = {"dp",           "tp1",          "tp2",          "pp",          "micro_batch",
                                       "summa_blocks", "scale_up.tp1", "scale_up.tp2", "scale_up.dp", "scale_up.pp"};
    static const int64_t bad[] = {INT64_MIN, -1, 0, 1073741825, INT64_MAX};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
            struct kerf_layout layout = good;
            int64_t *members[] = {&layout.dp,          &layout.tp1,          &layout.tp2,          &layout.pp,
                                  &layout.micro_batch, &layout.summa_blocks, &layout.scale_up.tp1, &layout.scale_up.tp2,
                                  &layout.scale_up.dp, &layout.scale_up.pp};
            struct kerf_error err;
            char line[200];
            if (k >= 5 && bad[b] == 0) continue; /* no SUMMA; a placement to be chosen */
            *members[k] = bad[b];
            snprintf(line, sizeof line, "%s must lie between %d and 1073741824, not %lld", keys[k],
                     members[k] == &layout.summa_blocks ? 0 : 1, (long long)bad[b]);
            assert_int_equal(kerf_layout_check(&problem, &layout, &err), KERF_EINVALID);
            assert_string_equal(line_of(&err), line);
        }
}

static void knows_the_names_of_choices(void **state) {
    (void)state;
    struct kerf_error err;
    for (int i = 0; i < KERF_STRATEGY_COUNT; i++) {
        enum kerf_strategy strategy = KERF_STRATEGY_COUNT;
        assert_int_equal(kerf_strategy_parse(kerf_strategy_name((enum kerf_strategy)i), &strategy, &err), KERF_OK);
        assert_int_equal(strategy, i);
    }
    for (int i = 0; i < KERF_ATTENTION_COUNT; i++) {
        enum kerf_attention attention = KERF_ATTENTION_COUNT;
        assert_int_equal(kerf_attention_parse(kerf_attention_name((enum kerf_attention)i), &attention, &err), KERF_OK);
        assert_int_equal(attention, i);
    }
    enum kerf_strategy strategy = KERF_STRATEGY_COUNT;
    enum kerf_attention attention = KERF_ATTENTION_COUNT;
    assert_int_equal(kerf_strategy_parse("2d", &strategy, &err), KERF_EUNKNOWN);
    assert_string_equal(line_of(&err), "unknown strategy '2d'; there are 1d, summa, seqp and hybrid");
    assert_int_equal(strategy, KERF_STRATEGY_COUNT);
    assert_int_equal(kerf_strategy_parse("", &strategy, NULL), KERF_EUNKNOWN);
    assert_int_equal(kerf_attention_parse("flash", &attention, &err), KERF_EUNKNOWN);
    assert_string_equal(line_of(&err), "unknown attention 'flash'; there are fused, unfused, recomputed and summa");
    assert_int_equal(attention, KERF_ATTENTION_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_parts_in_any_order),          cmocka_unit_test(refuses_what_is_no_layout),
        cmocka_unit_test(is_ordered_by_each_member_in_turn), cmocka_unit_test(takes_a_layout_that_obeys),
        cmocka_unit_test(says_the_rule_that_is_broken),      cmocka_unit_test(every_member_has_bounds),
        cmocka_unit_test(knows_the_names_of_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
