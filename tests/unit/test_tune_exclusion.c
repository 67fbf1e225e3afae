/* SPDX-License-Identifier: Apache-2.0 */
/* Failures: what they rule out, and that a study goes on with the rest. */
#include "tune_bed.h"

/* Nothing with both values as large is ever measured again, and the answer says why. */
static void out_of_memory_rules_out_what_is_larger(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=256,ubatch=256");
    struct kerf_tune_question question = ask(space, NULL);
    struct kerf_tune_study *study = begin(&question);
    struct bed bed = {space, random_seed(6), 0};
    int32_t failed = -1, failures = 0;
    for (int step = 0; step < 200; step++) {
        struct kerf_tune_decision decision = next_of(study);
        if (decision.action == KERF_TUNE_STOP) break;
        struct kerf_tune_observation o = run(&bed, &decision);
        if (value_of(space, o.setting, 1) >= 3) { /* ubatch 16 and more do not fit */
            o = (struct kerf_tune_observation){
                .setting = o.setting, .outcome = KERF_TUNE_FAILED, .failure = KERF_TUNE_FAILURE_MEMORY};
            failed = o.setting;
            failures++;
        }
        observe(study, &o);
        if (failed < 0) continue;
        decision = next_of(study);
        assert_false(decision.action == KERF_TUNE_MEASURE &&
                     value_of(space, decision.setting, 0) >= value_of(space, failed, 0) &&
                     value_of(space, decision.setting, 1) >= value_of(space, failed, 1));
    }
    struct kerf_tune_answer answer = answer_of(study);
    assert_int_equal(value_of(space, answer.best, 1), 2); /* ubatch 8: the best that fits */
    assert_int_equal(answer.failed, failures);
    assert_int_equal(answer.settings[space->default_setting].status, KERF_TUNE_ALL_FAILED);
    assert_string_equal(answer.settings[space->default_setting].reason, "out of memory");
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

static void ends_when_everything_fails(void **state) {
    (void)state;
    const int32_t failures[] = {KERF_TUNE_FAILURE_CRASH, KERF_TUNE_FAILURE_HANG, KERF_TUNE_FAILURE_MEMORY};
    struct kerf_tune_space *space = grid("batch=16,ubatch=2");
    const int32_t runs_most[] = {2 * space->num_settings, space->num_settings, 1};
    for (size_t p = 0; kerf_tune_policy_at(p); p++)
        for (int k = 0; k < 3; k++) {
            const char *name = kerf_tune_policy_at(p)->name;
            struct kerf_tune_question question = ask(space, name);
            struct kerf_tune_study *study = begin(&question);
            struct kerf_tune_decision decision;
            int32_t runs = 0;
            for (; (decision = next_of(study)).action == KERF_TUNE_MEASURE; runs++) {
                struct kerf_tune_observation o = {
                    .setting = decision.setting, .outcome = KERF_TUNE_FAILED, .failure = failures[k]};
                observe(study, &o);
                assert_in_range(runs, 0, p < 2 ? runs_most[k] : 2 * space->num_settings);
            }
            assert_int_equal(decision.stop, KERF_TUNE_NOTHING_LEFT);
            if (p < 2) assert_int_equal(runs, runs_most[k]);
            assert_int_equal(answer_of(study).best, -1);
            kerf_tune_study_free(study);
        }
    kerf_tune_space_free(space);
}

static struct kerf_tune_space *grid_of_words(const char *batches) {
    const char *params[] = {batches, "kv=f16,q8_0,q4_1", "fa?=-fa"};
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 3, NULL, 0, NULL, &space, NULL), KERF_OK);
    return space;
}

/* Tells what came of a setting: 0 a value, else a failure. */
static void tell(struct kerf_tune_study *study, const struct kerf_tune_space *space, const char *setting,
                 int32_t failure) {
    static double clock;
    struct kerf_tune_observation o = {.value = 1, .failure = failure, .start_s = clock, .end_s = clock + 1};
    clock++;
    o.outcome = failure ? KERF_TUNE_FAILED : KERF_TUNE_VALUE;
    assert_int_equal(kerf_tune_setting_read(space, setting, &o.setting, NULL), KERF_OK);
    observe(study, &o);
}

/* How many settings are skipped; *ret_reason is the last one's. */
static int32_t count_skipped(struct kerf_tune_study *study, const struct kerf_tune_space *space,
                             const char **ret_reason) {
    struct kerf_tune_answer answer = answer_of(study);
    int32_t count = 0;
    *ret_reason = "";
    for (int32_t i = 0; i < space->num_settings; i++) {
        if (answer.settings[i].status != KERF_TUNE_SKIPPED) continue;
        count++;
        *ret_reason = answer.settings[i].reason;
    }
    return count;
}

/* What goes with a word is learnt from three settings, as far as they say it: only what all of them have in common,
 * only between their integers at first, only where another word works, and not of memory or time. */
static void a_word_that_always_fails_is_left_out(void **state) {
    (void)state;
    enum { CRASH = KERF_TUNE_FAILURE_CRASH, MEMORY = KERF_TUNE_FAILURE_MEMORY, HANG = KERF_TUNE_FAILURE_HANG };
    const struct {
        const char *settings[9];
        int32_t failures[9], skipped;
        const char *reason;
    } of[] = {
        {{"batch=64,kv=f16,fa=on", "batch=32,kv=q4_1,fa=on", "batch=64,kv=q4_1,fa=off"}, {0, CRASH, CRASH}, 0, ""},
        {{"batch=64,kv=f16,fa=on", "batch=32,kv=q4_1,fa=on", "batch=64,kv=q4_1,fa=off", "batch=128,kv=q4_1,fa=on"},
         {0, CRASH, CRASH, CRASH},
         3, /* of the six with 32 to 128 */
         "kv=q4_1 failed in 3 of 3 settings"},
        {{"batch=64,kv=f16,fa=on", "batch=32,kv=q4_1,fa=on", "batch=64,kv=q4_1,fa=on", "batch=128,kv=q4_1,fa=on"},
         {0, CRASH, CRASH, CRASH},
         0, /* with fa=off it may work */
         ""},
        {{"batch=64,kv=f16,fa=on", "batch=64,kv=q4_1,fa=on", "batch=64,kv=q8_0,fa=off", "batch=16,kv=q8_0,fa=off",
          "batch=256,kv=q8_0,fa=off"},
         {0, 0, CRASH, CRASH, CRASH},
         2, /* with batch=32 and 128; with fa=on it may work */
         "kv=q8_0,fa=off failed in 3 of 3 settings"},
        {{"batch=16,kv=f16,fa=on", "batch=32,kv=q4_1,fa=on", "batch=64,kv=q4_1,fa=off", "batch=128,kv=q4_1,fa=on"},
         {0, CRASH, CRASH, CRASH},
         3, /* where others work is far away; between the failed ones it is the same, whatever is at fault */
         "kv=q4_1 failed in 3 of 3 settings"},
        {{"batch=16,kv=f16,fa=on", "batch=32,kv=q4_1,fa=on", "batch=64,kv=q4_1,fa=off", "batch=64,kv=q4_1,fa=on",
          "batch=32,kv=q4_1,fa=off", "batch=128,kv=q4_1,fa=on", "batch=128,kv=q4_1,fa=off"},
         {0, CRASH, CRASH, CRASH, CRASH, CRASH, CRASH},
         0, /* with batch=16 it may work: it may be the size */
         ""},
        {{"batch=64,kv=f16,fa=on", "batch=16,kv=q4_1,fa=off", "batch=32,kv=q4_1,fa=on", "batch=64,kv=q4_1,fa=off",
          "batch=128,kv=q4_1,fa=on"},
         {0, 0, CRASH, CRASH, CRASH},
         0, /* it worked once */
         ""},
        {{"batch=64,kv=f16,fa=on", "batch=32,kv=q4_1,fa=on", "batch=64,kv=q4_1,fa=off", "batch=128,kv=q4_1,fa=on"},
         {0, HANG, HANG, HANG},
         0,
         ""},
        {{"batch=64,kv=f16,fa=on", "batch=256,kv=q4_1,fa=on", "batch=256,kv=q4_1,fa=off", "batch=128,kv=q4_1,fa=on"},
         {0, MEMORY, MEMORY, MEMORY},
         0,
         ""},
        {{"batch=64,kv=f16,fa=on", "batch=32,kv=q4_1,fa=on", "batch=64,kv=q4_1,fa=off", "batch=64,kv=q4_1,fa=on",
          "batch=32,kv=q4_1,fa=off", "batch=128,kv=q4_1,fa=on", "batch=128,kv=q4_1,fa=off"},
         {0, CRASH, CRASH, CRASH, CRASH, CRASH, CRASH},
         4, /* with batch=16 and 256, too, after six */
         "kv=q4_1 failed in 6 of 6 settings"},
    };
    struct kerf_tune_space *space = grid_of_words("batch=16..256:x2");
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct kerf_tune_question question = ask(space, NULL);
        struct kerf_tune_study *study = begin(&question);
        const char *reason;
        for (int k = 0; k < 9 && of[i].settings[k]; k++) tell(study, space, of[i].settings[k], of[i].failures[k]);
        int32_t skipped = count_skipped(study, space, &reason);
        if (skipped != of[i].skipped) fail_msg("case %zu: %d are skipped", i, (int)skipped);
        assert_string_equal(reason, of[i].reason);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* Out of memory rules out what needs no less, unless that has worked since memory lacked before: then it was something
 * else. What was under way meanwhile, and works, takes it back. */
static void memory_that_lacks_once(void **state) {
    (void)state;
    enum { MEMORY = KERF_TUNE_FAILURE_MEMORY, HANG = KERF_TUNE_FAILURE_HANG };
    const struct {
        const char *settings[7];
        int32_t failures[7];
        const char *left_out; /* of batch=16..256 with kv=f16,fa=on */
    } of[] = {
        {{"batch=64,kv=f16,fa=on", "batch=128,kv=f16,fa=on"}, {0, MEMORY}, "128 256 "},
        {{"batch=256,kv=f16,fa=on", "batch=128,kv=f16,fa=on"}, {0, MEMORY}, ""},
        {{"batch=256,kv=q8_0,fa=on", "batch=128,kv=f16,fa=on"}, {0, MEMORY}, "128 256 "},
        {{"batch=256,kv=f16,fa=on", "batch=128,kv=f16,fa=on", "batch=256,kv=f16,fa=on", "batch=128,kv=f16,fa=on"},
         {0, MEMORY, 0, MEMORY},
         "128 "}, /* twice, as any failure */
        {{"batch=128,kv=f16,fa=on", "batch=128,kv=f16,fa=on", "batch=128,kv=f16,fa=on"}, {0, MEMORY, 0}, ""},
        {{"batch=256,kv=f16,fa=on", "batch=32,kv=f16,fa=on", "batch=64,kv=f16,fa=on"},
         {0, MEMORY, MEMORY},
         "64 "}, /* of the second one it is believed; 256 was measured, and so 128 may fit */
        {{"batch=64,kv=f16,fa=on", "batch=256,kv=f16,fa=on"}, {MEMORY, 0}, "64 "}, /* 256 was under way */
        {{"batch=64,kv=f16,fa=on", "batch=128,kv=f16,fa=on", "batch=256,kv=f16,fa=on"},
         {MEMORY, HANG, 0},
         "64 128 "}, /* 128, too, and it failed of its own */
    };
    struct kerf_tune_space *space = grid_of_words("batch=16..256:x2");
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct kerf_tune_question question = ask(space, NULL);
        struct kerf_tune_study *study = begin(&question);
        struct kerf_text left_out = {0};
        for (int k = 0; k < 7 && of[i].settings[k]; k++) tell(study, space, of[i].settings[k], of[i].failures[k]);
        struct kerf_tune_answer answer = answer_of(study);
        for (int32_t batch = 16; batch <= 256; batch *= 2) {
            char setting[40];
            int32_t index;
            snprintf(setting, sizeof setting, "batch=%d,kv=f16,fa=on", (int)batch);
            assert_int_equal(kerf_tune_setting_read(space, setting, &index, NULL), KERF_OK);
            const char *reason = answer.settings[index].reason;
            int is_failure_alone = strcmp(reason, "memory") == 0;
            if (reason[0] && !is_failure_alone) kerf_text_printf(&left_out, "%d ", (int)batch);
        }
        const char *is = left_out.data ? left_out.data : "";
        if (strcmp(is, of[i].left_out) != 0) fail_msg("case %zu: %s", i, is);
        kerf_text_free(&left_out);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* What more shards leave of a batch has to fit: memory falls with one integer, and grows with the other. The best, 8 shards of
 * 16, needs more of both than most that run out of memory. */
static void memory_that_falls_rules_out_nothing_larger(void **state) {
    (void)state;
    static const char *const params[] = {"shards=1..8:x2", "batch=1..16:x2"};
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 2, NULL, 0, "shards=1,batch=4", &space, NULL), KERF_OK);
    for (int64_t seed = 0; seed < 8; seed++) {
        struct kerf_tune_question question = ask(space, NULL);
        struct kerf_tune_decision decision;
        struct pcg64 rng = random_seed((uint64_t)seed);
        question.seed = seed;
        struct kerf_tune_study *study = begin(&question);
        for (int run = 0; (decision = next_of(study)).action == KERF_TUNE_MEASURE; run++) {
            int32_t shards = 1 << value_of(space, decision.setting, 0),
                    batch = 1 << value_of(space, decision.setting, 1);
            struct kerf_tune_observation o = {.setting = decision.setting, .start_s = run, .end_s = run + 1};
            assert_in_range(run, 0, 60);
            if (batch > 2 * shards)
                o.outcome = KERF_TUNE_FAILED, o.failure = KERF_TUNE_FAILURE_MEMORY;
            else
                o.value = (1 + 8.0 / batch) * (1 + 0.02 * shards) * exp(random_normal(&rng, 0, 0.01));
            observe(study, &o);
        }
        struct kerf_tune_answer answer = answer_of(study);
        assert_int_equal(value_of(space, answer.best, 0), 3);
        assert_int_equal(value_of(space, answer.best, 1), 4);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* No policy recommends what began to fail, as long as there is anything else: n=1, the fastest, crashes from its third
 * run on. */
static void no_policy_recommends_what_began_to_fail(void **state) {
    (void)state;
    enum { CRASH = KERF_TUNE_FAILURE_CRASH, GOOD_RUNS = 2 };
    static const char *const policies[] = {"exhaustive", "random", "race", "kerf"};
    const char *params[] = {"n=1,2"};
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 1, NULL, 0, NULL, &space, NULL), KERF_OK);
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        struct kerf_tune_question question = ask(space, NULL);
        question.policy = policies[p];
        struct kerf_tune_study *study = begin(&question);
        struct kerf_tune_decision decision;
        int32_t runs = 0;
        for (int i = 0; i < 100 && (decision = next_of(study)).action == KERF_TUNE_MEASURE; i++) {
            struct kerf_tune_observation o = {
                .setting = decision.setting, .value = 1 + decision.setting, .start_s = i, .end_s = i + 1};
            if (o.setting == 0 && runs++ >= GOOD_RUNS) o.outcome = KERF_TUNE_FAILED, o.failure = CRASH;
            observe(study, &o);
        }
        if (answer_of(study).recommended != 1) fail_msg("%s recommends it", policies[p]);
        for (int i = 0; i < 3; i++) tell(study, space, "n=2", CRASH);
        assert_true(answer_of(study).best >= 0); /* what is known */
        assert_int_equal(answer_of(study).open, 0);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* What worked before it began to crash is no answer, and is not tried for ever. */
static void the_best_that_begins_to_crash_is_left_out(void **state) {
    (void)state;
    enum { GOOD_RUNS = 6 };
    struct kerf_tune_space *space = grid("batch=256,ubatch=256");
    struct kerf_tune_question question = ask(space, NULL);
    struct kerf_tune_study *study = begin(&question);
    struct bed bed = {space, random_seed(8), 0};
    int32_t runs = 0, failures = 0;
    struct kerf_tune_decision next;
    for (; (next = next_of(study)).action == KERF_TUNE_MEASURE; runs++) {
        struct kerf_tune_observation o = run(&bed, &next);
        if (runs >= GOOD_RUNS && value_of(space, o.setting, 1) == 4) { /* ubatch 32, the best */
            o = (struct kerf_tune_observation){
                .setting = o.setting, .outcome = KERF_TUNE_FAILED, .failure = KERF_TUNE_FAILURE_CRASH};
            failures++;
        }
        observe(study, &o);
    }
    struct kerf_tune_answer answer = answer_of(study);
    assert_int_equal(next.stop, KERF_TUNE_CONFIDENT);
    assert_in_range(failures, 3, 3 * space->params[0].num_values);
    assert_in_range(runs, GOOD_RUNS, 80);
    assert_true(truth(space, answer.best) > 1 && truth(space, answer.best) < 1.03 * exp(0.2));
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

/* A study of a program in which one word always crashes finds the best of the others in few failures. */
static void a_study_with_a_word_that_fails_ends_soon(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid_of_words("batch=16..2048:x2");
    for (int seed = 0; seed < 8; seed++) {
        struct kerf_tune_question question = ask(space, NULL);
        question.seed = seed;
        struct kerf_tune_study *study = begin(&question);
        struct pcg64 rng = random_seed(9 + (uint64_t)seed);
        double clock = 0;
        struct kerf_tune_decision decision;
        for (int step = 0; (decision = next_of(study)).action == KERF_TUNE_MEASURE; step++) {
            assert_in_range(step, 0, 199);
            struct kerf_tune_observation o = {.setting = decision.setting, .start_s = clock, .end_s = clock + 1};
            o.value = exp(0.1 * fabs(value_of(space, o.setting, 0) - 2.0) + random_normal(&rng, 0, 0.01));
            if (value_of(space, o.setting, 1) == 2) {
                o.outcome = KERF_TUNE_FAILED;
                o.failure = KERF_TUNE_FAILURE_CRASH;
            }
            clock++;
            observe(study, &o);
        }
        struct kerf_tune_answer answer = answer_of(study);
        assert_int_equal(decision.stop, KERF_TUNE_CONFIDENT);
        assert_int_equal(value_of(space, answer.best, 0), 2);
        assert_in_range(answer.failed, 0, 14); /* of 32, two for each setting with it */
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* A program that breaks: every setting works once and then never again. */
static void ends_when_nothing_works_any_more(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=16,ubatch=2");
    for (size_t p = 0; kerf_tune_policy_at(p); p++) {
        struct kerf_tune_question question = ask(space, kerf_tune_policy_at(p)->name);
        struct kerf_tune_study *study = begin(&question);
        struct bed bed = {space, random_seed(12), 0};
        struct kerf_tune_decision decision;
        int32_t *worked = calloc((size_t)space->num_settings, sizeof *worked), runs = 0;
        assert_non_null(worked);
        for (; runs < 3000 && (decision = next_of(study)).action == KERF_TUNE_MEASURE; runs++) {
            struct kerf_tune_observation o = run(&bed, &decision);
            if (worked[o.setting]++) {
                o.outcome = KERF_TUNE_FAILED;
                o.failure = KERF_TUNE_FAILURE_CRASH;
            }
            observe(study, &o);
        }
        if (runs == 3000) fail_msg("%s goes on and on", question.policy);
        free(worked);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

static void skipped_settings_are_left_alone(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid(NULL);
    for (size_t p = 0; kerf_tune_policy_at(p); p++) {
        struct kerf_tune_question question = ask(space, kerf_tune_policy_at(p)->name);
        struct kerf_tune_study *study = begin(&question);
        struct bed bed = {space, random_seed(7), 0};
        struct kerf_tune_decision last;
        for (int32_t i = 0; i < space->num_settings; i++)
            if (value_of(space, i, 1) == 4) kerf_tune_study_skip(study, i, "too large by estimate");
        for (int step = 0; step < 300 && (last = next_of(study)).action == KERF_TUNE_MEASURE; step++) {
            assert_int_not_equal(value_of(space, last.setting, 1), 4);
            struct kerf_tune_observation o = run(&bed, &last);
            observe(study, &o);
        }
        struct kerf_tune_answer answer = answer_of(study);
        if (answer.best >= 0) assert_int_not_equal(value_of(space, answer.best, 1), 4);
        for (int32_t i = 0; i < space->num_settings; i++)
            if (value_of(space, i, 1) == 4) assert_string_equal(answer.settings[i].reason, "too large by estimate");
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_memory_rules_out_what_is_larger),
        cmocka_unit_test(ends_when_everything_fails),
        cmocka_unit_test(a_word_that_always_fails_is_left_out),
        cmocka_unit_test(memory_that_lacks_once),
        cmocka_unit_test(memory_that_falls_rules_out_nothing_larger),
        cmocka_unit_test(no_policy_recommends_what_began_to_fail),
        cmocka_unit_test(the_best_that_begins_to_crash_is_left_out),
        cmocka_unit_test(a_study_with_a_word_that_fails_ends_soon),
        cmocka_unit_test(ends_when_nothing_works_any_more),
        cmocka_unit_test(skipped_settings_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
