/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of strategy hybrid: reading, writing, ordering, and each rule that one must obey. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerf/plan.h"
#include "spec/layout.h"

static struct kerf_layout layout_of(const char *text) {
    struct kerf_layout layout;
    struct kerf_error err;
    if (kerf_layout_parse(text, &layout, &err) != KERF_OK) fail_msg("%s: %s", text, err.message);
    return layout;
}

static void expect_json(const struct kerf_layout *layout, const char *expected) {
    struct kerf_text text = {0};
    struct kerf_json json;
    kerf_json_begin(&json, &text);
    kerf_layout_json(&json, NULL, layout);
    assert_string_equal(text.data, expected);
    kerf_text_free(&text);
}

static void expect_text(const struct kerf_layout *layout, const char *expected) {
    struct kerf_text text = {0};
    kerf_layout_text(&text, NULL, layout);
    assert_string_equal(text.data, expected);
    kerf_text_free(&text);
}

/* ---- Reading and writing ------------------------------------------------------------------------------ */

static void what_is_not_named_has_a_default(void **state) {
    (void)state;
    struct kerf_layout layout = layout_of("dp=2");
    expect_json(&layout,
                "{\"dp\":2,\"tp\":1,\"cp\":1,\"pp\":1,\"vpp\":1,\"ep\":1,\"etp\":1,\"zero\":1,\"micro_batch\":1,"
                "\"recompute\":\"none\",\"schedule\":\"1f1b\",\"order\":\"tp-cp-dp-pp\"}");
    expect_text(&layout, "dp=2,tp=1,pp=1");
    assert_int_equal(kerf_layout_strategy(&layout), KERF_STRATEGY_HYBRID);
    layout = layout_of("tp=8,pp=4,vpp=2");
    assert_int_equal(layout.zero, 0); /* nobody to share with */
    assert_string_equal(layout.schedule, "interleaved_1f1b");
    expect_text(&layout, "dp=1,tp=8,pp=4,vpp=2");
    layout = layout_of("cp=2");
    assert_int_equal(layout.zero, 1);
    assert_int_equal(kerf_layout_devices(&layout), 2);
}

static void every_part_is_read_and_written(void **state) {
    (void)state;
    const char *text = "dp=8,tp=4,cp=2,pp=2,vpp=2,ep=16,etp=2,zero=0,micro_batch=3,recompute=full:2,schedule=zb_v,"
                       "order=tp-cp-pp-dp,cp_comm=all_gather,stage_layers=1/2/3/4";
    struct kerf_layout layout = layout_of(text), again;
    expect_json(&layout,
                "{\"dp\":8,\"tp\":4,\"cp\":2,\"pp\":2,\"vpp\":2,\"ep\":16,\"etp\":2,\"zero\":0,\"micro_batch\":3,"
                "\"recompute\":\"full:2\",\"schedule\":\"zb_v\",\"order\":\"tp-cp-pp-dp\","
                "\"cp_comm\":\"all_gather\",\"stage_layers\":[1,2,3,4]}");
    expect_text(&layout, text);
    assert_int_equal(layout.recompute, KERF_RECOMPUTE_BLOCK);
    assert_int_equal(layout.recompute_layers, 2);
    assert_int_equal(kerf_layout_devices(&layout), 128);
    layout.has_best_split = 1; /* as if it were not said */
    again = layout_of("dp=8,tp=4,cp=2,pp=2,vpp=2,ep=16,etp=2,zero=0,micro_batch=3,recompute=full:2,schedule=zb_v,"
                      "order=tp-cp-pp-dp,cp_comm=all_gather");
    assert_int_equal(kerf_layout_compare(&layout, &again), 0);
    kerf_layout_release(&layout);
    assert_null(layout.stage_layers);
    kerf_layout_release(&layout);
}

static void refuses_what_is_no_layout(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int32_t code;
        const char *line;
    } cases[] = {
        {"tp=8,tp1=2", KERF_EINVALID,
         "layout: tp1 is for 1d, summa and seqp, and tp for hybrid: a layout has tp1 or tp, and not parts of both"},
        {"dp=8,tp2=2,recompute=full", KERF_EINVALID,
         "layout: tp2 is for 1d, summa and seqp, and recompute for hybrid: a layout has tp1 or tp, and not parts of "
         "both"},
        {"zero=4", KERF_EINVALID, "layout: zero must be a whole number from 0 to 3, not '4'"},
        {"vpp=0", KERF_EINVALID, "layout: vpp must be a whole number from 1 to 1073741824, not '0'"},
        {"recompute", KERF_EINVALID, "layout: recompute has no value; write recompute=..."},
        {"recompute=some", KERF_EUNKNOWN, "unknown recompute 'some'; there are none, selective, full and full:K"},
        {"recompute=full:0", KERF_EINVALID,
         "recompute full:K needs a whole number of layers from 1 to 1048576, not '0'"},
        {"recompute=full:", KERF_EINVALID, "recompute full:K needs a whole number of layers from 1 to 1048576, not ''"},
        {"order=tp-pp", KERF_EUNKNOWN, "unknown order 'tp-pp'; there are tp-cp-dp-pp and tp-cp-pp-dp"},
        {"cp_comm=p2p", KERF_EUNKNOWN, "unknown cp_comm 'p2p'; there are ring, all_gather, all_to_all and any"},
        {"schedule=1F1B", KERF_EINVALID, "layout: schedule must be a name that `kerf schedule --list` has, not '1F1B'"},
        {"schedule=", KERF_EINVALID, "layout: schedule must be a name that `kerf schedule --list` has, not ''"},
        {"schedule=a234567890123456789012345678901", KERF_EINVALID,
         "layout: schedule must be a name that `kerf schedule --list` has, not 'a234567890123456789012345678901'"},
        {"stage_layers=1//2", KERF_EINVALID,
         "layout: stage_layers are whole numbers of layers from 1 to 1048576, such as 11/11/10, not '1//2'"},
        {"stage_layers=0", KERF_EINVALID,
         "layout: stage_layers are whole numbers of layers from 1 to 1048576, such as 11/11/10, not '0'"},
        {"stage_layers=1/2,pp=2,vpp=2", KERF_EINVALID,
         "layout: stage_layers has 2 stages, and pp 2 x vpp 2 is 4: it needs as many numbers"},
        {"stage_layers=1/2,pp=2,stage_layers=1/2", KERF_EINVALID, "layout: stage_layers is given twice"},
        {"order=tp-cp-dp-pp,order=tp-cp-dp-pp", KERF_EINVALID, "layout: order is given twice"},
        {"recomput=full", KERF_EUNKNOWN, "layout: unknown part 'recomput'; did you mean recompute?"},
        {"stage_layer=3", KERF_EUNKNOWN, "layout: unknown part 'stage_layer'; did you mean stage_layers?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_layout layout, before;
        struct kerf_error err;
        memset(&layout, 0x5A, sizeof layout);
        before = layout;
        assert_int_equal(kerf_layout_parse(cases[i].text, &layout, &err), cases[i].code);
        assert_string_equal(err.message, cases[i].line);
        assert_memory_equal(&layout, &before, sizeof layout);
        assert_int_equal(kerf_layout_parse(cases[i].text, &layout, NULL), cases[i].code);
    }
    struct kerf_layout layout;
    struct kerf_error err;
    assert_int_equal(kerf_layout_parse_as("tp=8", KERF_STRATEGY_1D, &layout, &err), KERF_EINVALID);
    assert_string_equal(err.message, "layout: tp is for hybrid alone; 1d, summa and seqp have tp1");
    assert_int_equal(kerf_layout_parse_as("tp1=8", KERF_STRATEGY_HYBRID, &layout, &err), KERF_EINVALID);
    assert_string_equal(err.message, "layout: tp1 is for 1d, summa and seqp alone; hybrid has tp");
    assert_int_equal(kerf_layout_parse_as("dp=8", KERF_STRATEGY_1D, &layout, &err), KERF_OK);
    assert_int_equal(kerf_layout_strategy(&layout), KERF_STRATEGY_1D);
}

static void expect_object(const char *json, int32_t code, const char *line) {
    struct json_document document;
    struct json_object root;
    struct kerf_layout layout;
    struct kerf_error err = {.code = 0};
    assert_int_equal(json_document_parse(&document, json, strlen(json), "l", &root, &err), KERF_OK);
    int32_t found = layout_from_object(&root, LAYOUT_ANY, &layout, &err);
    if (found != code) fail_msg("%s: %s", json, err.message);
    if (code == KERF_OK) {
        expect_text(&layout, line);
        kerf_layout_release(&layout);
    } else {
        assert_string_equal(err.message, line);
    }
    json_document_free(&document);
}

static void objects_are_read_too(void **state) {
    (void)state;
    expect_object("{\"tp\":8,\"pp\":2,\"stage_layers\":[3,4],\"recompute\":\"full:3\"}", KERF_OK,
                  "dp=1,tp=8,pp=2,recompute=full:3,stage_layers=3/4");
    expect_object("{}", KERF_OK, "dp=1,tp=1,pp=1");
    expect_object("{\"tp\":8,\"scale_up\":{}}", KERF_EINVALID,
                  "layout: scale_up.tp1 is for 1d, summa and seqp, and tp for hybrid: a layout has tp1 or tp, and not "
                  "parts of both");
    expect_object("{\"stage_layers\":\"3/4\"}", KERF_EINVALID,
                  "\"stage_layers\" must be a list of layers, such as [11,11,10]");
    expect_object("{\"stage_layers\":[1.5]}", KERF_EINVALID,
                  "\"stage_layers\" must hold whole numbers of layers alone");
    expect_object("{\"recompute\":[1]}", KERF_EINVALID, "\"recompute\" must be a word");
    expect_object("{\"recompute\":\"half\"}", KERF_EUNKNOWN,
                  "unknown recompute 'half'; there are none, selective, full and full:K");
    expect_object("{\"zero\":4}", KERF_EINVALID, "\"zero\" must lie between 0 and 3, not 4");
}

/* ---- Order -------------------------------------------------------------------------------------------- */

static void layouts_have_one_order(void **state) {
    (void)state;
    static const char *const rising[] = {
        "dp=1,tp=8,zero=0",
        "dp=1,tp=8,cp=2,zero=0",
        "dp=2,tp=1,pp=4,zero=0",
        "dp=2,tp=1,pp=4",
        "dp=2,tp=1,pp=4,recompute=full",
        "dp=2,tp=1,pp=4,recompute=full:1",
        "dp=2,tp=1,pp=4,recompute=full:2",
        "dp=2,tp=1,pp=4,ep=2",
        "dp=2,tp=1,pp=4,cp=2,cp_comm=ring",
        "dp=2,tp=1,pp=4,cp=2,cp_comm=all_gather",
        "dp=2,tp=1,pp=4,micro_batch=2",
        "dp=2,tp=2",
        "dp=2,tp=2,order=tp-cp-pp-dp",
        "dp=2,tp=2,schedule=gpipe",
        "dp=2,tp=2,vpp=2",
        "dp=2,tp=2,pp=2,stage_layers=1/2",
        "dp=2,tp=2,pp=2,stage_layers=2/1",
    };
    enum { COUNT = sizeof rising / sizeof *rising };
    struct kerf_layout layouts[COUNT];
    for (int i = 0; i < COUNT; i++) layouts[i] = layout_of(rising[i]);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            int32_t order = kerf_layout_compare(&layouts[i], &layouts[j]);
            if ((order > 0) - (order < 0) != (i > j) - (i < j)) fail_msg("%s and %s", rising[i], rising[j]);
        }
    for (int i = 0; i < COUNT; i++) kerf_layout_release(&layouts[i]);
}

/* ---- Rules -------------------------------------------------------------------------------------------- */

static struct kerf_problem problem_of(const char *model) {
    struct kerf_problem problem;
    memset(&problem, 0, sizeof problem);
    assert_int_equal(kerf_model_load(model, &problem.model, NULL), KERF_OK);
    assert_int_equal(kerf_system_load("h100", &problem.system, NULL), KERF_OK);
    problem.strategy = KERF_STRATEGY_HYBRID;
    problem.global_batch = 64, problem.seq_length = 4096;
    return problem;
}

/* 80 layers, 64 heads, 8 key-value heads; 32 layers, 32 heads, 8 key-value heads, 8 experts. */
static const char *const dense = "llama3_70b", *const experts = "mixtral_8x7b";

static void says_the_rule_that_is_broken(void **state) {
    (void)state;
    static const struct {
        const char *const *model;
        const char *text;
        int64_t gpus; /* 0: as many as the layout has */
        const char *line;
    } cases[] = {
        {&dense, "dp=2,tp=8", 8, "dp 2 x tp 8 x cp 1 x pp 1 is 16 accelerators, not 8"},
        {&dense, "dp=1073741824,tp=8", 8, "dp 1073741824 x tp 8 x cp 1 x pp 1 are more than 1073741824 accelerators"},
        {&dense, "tp=3", 0, "tp 3 does not divide 64 attention heads; 2 and 4 do"},
        {&dense, "cp=3", 0,
         "cp 3 cuts a sequence into 6 equal parts, two for each shard, and 4096 tokens do not divide so"},
        {&dense, "tp=64,cp=128", 0,
         "tp 64 does not divide the 32 tokens of a shard, which sequence parallelism cuts again"},
        {&dense, "cp_comm=ring", 0, "cp_comm ring is for layouts with cp above 1"},
        {&dense, "tp=16,cp=8,cp_comm=all_to_all", 0,
         "cp_comm all_to_all needs a cp that divides the heads of a tensor shard, 64 / tp 16; use ring or all_gather"},
        {&dense, "pp=128", 0, "pp 128 x vpp 1 is more virtual stages than the 80 layers; each needs one"},
        {&dense, "pp=8192", 0, "pp 8192 x vpp 1: at most 4096 pipeline stages and 32767 virtual stages are possible"},
        {&dense, "vpp=2", 0, "vpp 2 is for pipelines: pp must be 2 or more"},
        {&dense, "pp=2,stage_layers=40/41", 0, "stage_layers add up to 81 layers, and the model has 80"},
        {&dense, "ep=2", 0, "ep 2 and etp 1 must be 1: the model has no experts"},
        {&experts, "dp=8,ep=3", 0, "ep 3 does not divide 8 experts; 2 and 4 do"},
        {&experts, "dp=4,tp=2,ep=8,etp=2", 0,
         "ep 8 x etp 2 does not divide dp 4 x cp 1 x tp 2, the 8 accelerators of a stage"},
        {&dense, "dp=3", 0, "dp 3 does not divide 64 samples of the global batch; 2 and 4 do"},
        {&dense, "dp=2,micro_batch=3", 0, "micro_batch 3 does not divide 32 samples of a replica; 2 and 4 do"},
        {&dense, "pp=2,vpp=2,schedule=1f1b", 0,
         "schedule 1f1b has one stage on a device, and vpp is 2: use interleaved_1f1b"},
        {&dense, "pp=2,schedule=interleaved_1f1b", 0, "schedule interleaved_1f1b needs vpp above 1: use 1f1b"},
        {&dense, "zero=1,tp=8", 0, "zero 1 shards over dp x cp, which is 1: use zero=0"},
        {&dense, "pp=2,recompute=full:40", 0,
         "recompute full:40: the fullest virtual stage has 40 layers, and full is all of them"},
        {&experts, "dp=4,pp=2,ep=2,order=tp-cp-pp-dp", 0,
         "order tp-cp-pp-dp needs ep 2 x etp 1 to be tp 1 x cp 1 where there are experts and stages, as Megatron-LM "
         "does; "
         "use tp-cp-dp-pp"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_problem problem = problem_of(*cases[i].model);
        struct kerf_layout layout = layout_of(cases[i].text);
        struct kerf_error err;
        problem.gpus = cases[i].gpus ? cases[i].gpus : kerf_layout_devices(&layout);
        if (kerf_layout_check(&problem, &layout, &err) != KERF_EINVALID) fail_msg("%s passes", cases[i].text);
        assert_string_equal(err.message, cases[i].line);
        assert_int_equal(kerf_layout_check(&problem, &layout, NULL), KERF_EINVALID);
        kerf_layout_release(&layout);
    }
}

static void takes_what_obeys(void **state) {
    (void)state;
    static const char *const texts[] = {"tp=16,dp=2",
                                        "tp=64",
                                        "pp=3",
                                        "pp=5,vpp=16",
                                        "dp=64,cp=2,zero=3",
                                        "pp=2,stage_layers=79/1,recompute=full:78",
                                        "pp=2,dp=2,order=tp-cp-pp-dp",
                                        "tp=8,cp=8,cp_comm=all_to_all"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct kerf_problem problem = problem_of(dense);
        struct kerf_layout layout = layout_of(texts[i]);
        struct kerf_error err;
        problem.gpus = kerf_layout_devices(&layout);
        if (kerf_layout_check(&problem, &layout, &err) != KERF_OK) fail_msg("%s: %s", texts[i], err.message);
        kerf_layout_release(&layout);
    }
}

/* Layouts of a caller's own making hold anything. */
static void every_member_has_bounds(void **state) {
    (void)state;
    struct kerf_problem problem = problem_of(dense);
    struct kerf_error err;
    problem.gpus = 8;
    const struct kerf_layout good = layout_of("dp=8");
    assert_int_equal(kerf_layout_check(&problem, &good, &err), KERF_OK);
    struct kerf_layout bad[] = {good, good, good, good, good, good, good, good, good, good};
    static const char *const lines[] = {
        "cp must lie between 1 and 1073741824, not 0",
        "zero must lie between 0 and 3, not -1",
        "recompute must lie between 0 and 3, not 4",
        "recompute_layers must lie between 0 and 0, not 2",
        "order must lie between 0 and 1, not 2",
        "cp_comm must lie between 0 and 3, not -1",
        "the schedule's name has more than 30 letters",
        "scale_up.pp is for layouts of 1d, summa and seqp, and must be 0 here",
        "tp2 is for layouts of 1d, summa and seqp, and must be 1 here",
        "a layout with tp1 is not one of hybrid, whose layouts have tp",
    };
    bad[0].cp = 0, bad[1].zero = -1, bad[2].recompute = 4, bad[3].recompute_layers = 2, bad[4].order = 2;
    bad[5].cp_comm = -1, bad[7].scale_up.pp = 2, bad[8].tp2 = 2, bad[9].schedule[0] = 0;
    memset(bad[6].schedule, 'a', sizeof bad[6].schedule);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(kerf_layout_check(&problem, &bad[i], &err), KERF_EINVALID);
        assert_string_equal(err.message, lines[i]);
    }
    problem.strategy = KERF_STRATEGY_1D;
    assert_int_equal(kerf_layout_check(&problem, &good, &err), KERF_EINVALID);
    assert_string_equal(err.message, "a layout with tp is not one of 1d, whose layouts have tp1");
    problem.strategy = KERF_STRATEGY_HYBRID;
    problem.model.num_kinds = problem.model.num_runs = 0;
    assert_int_equal(kerf_layout_check(&problem, &good, &err), KERF_EINVALID);
    assert_string_equal(err.message,
                        "llama3_70b has no layers, which strategy hybrid looks at: kerf_model_complete fills "
                        "them in");
}

/* What a schedule asks of stages and micro-batches is said where layouts are priced and spaces searched. */
static void schedules_are_checked_where_they_are_priced(void **state) {
    (void)state;
    static const struct {
        const char *schedule, *line;
    } cases[] = {
        {"zbv", "no schedule 'zbv'; did you mean zb_v?"},
        {"dualpipe", "schedule dualpipe keeps a second copy of the model on the devices, which is not priced"},
        {"seq1f1b", "schedule seq1f1b cuts the sequences of a micro-batch, which is not priced"},
        {"zb_v", "zb_v has 2 chunks a device, not 1"},
    };
    const struct kerf_cost_model *analytic;
    assert_int_equal(kerf_cost_model_find("analytic", &analytic, NULL), KERF_OK);
    struct kerf_plan_options options = {.cost_model = analytic, .top = 1, .threads = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_problem problem = problem_of(dense);
        struct kerf_space space = {.num_schedules = 1};
        struct kerf_layout layout = layout_of("dp=2,tp=8,pp=2");
        struct kerf_estimate estimate;
        struct kerf_plan *plan = NULL;
        struct kerf_error err = {.code = 0};
        problem.gpus = 32;
        strcpy(layout.schedule, cases[i].schedule);
        assert_true(kerf_layout_estimate(analytic, &problem, &layout, &estimate, &err) != KERF_OK);
        assert_string_equal(err.message, cases[i].line);
        if (i == 3) break; /* a search has pipelines that it takes */
        strcpy(space.schedules[0], cases[i].schedule);
        problem.space = &space;
        assert_true(kerf_plan_search(&problem, 1, &options, &plan, &err) != KERF_OK);
        assert_string_equal(err.message, cases[i].line);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_named_has_a_default),
        cmocka_unit_test(every_part_is_read_and_written),
        cmocka_unit_test(refuses_what_is_no_layout),
        cmocka_unit_test(objects_are_read_too),
        cmocka_unit_test(layouts_have_one_order),
        cmocka_unit_test(says_the_rule_that_is_broken),
        cmocka_unit_test(takes_what_obeys),
        cmocka_unit_test(every_member_has_bounds),
        cmocka_unit_test(schedules_are_checked_where_they_are_priced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
