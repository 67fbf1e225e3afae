/* SPDX-License-Identifier: Apache-2.0 */
/* Studies: what they decide, that it can be replayed, and what busy machines and odd objectives do to them. */
#include "tune_bed.h"

static void default_is_first_and_gain_is_known(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=256,ubatch=64");
    struct kerf_tune_question question = ask(space, NULL);
    struct kerf_tune_study *study = begin(&question);
    struct bed bed = {space, random_seed(1), 0};
    struct kerf_tune_decision last = next_of(study);
    assert_int_equal(last.setting, space->default_setting);
    assert_true(last.limit == 0);
    int32_t runs = run_all(study, &bed, NULL, &last);
    struct kerf_tune_answer answer = answer_of(study);
    assert_int_equal(last.stop, KERF_TUNE_CONFIDENT);
    assert_in_range(runs, 3, 40);
    assert_true(truth(space, answer.best) < 1.03);
    assert_true(answer.settings[answer.best].probability_within >= 0.95);
    assert_true(answer.gain_interval[0] < exp(0.2) && exp(0.2) < answer.gain_interval[1]);
    assert_true(answer.default_gain > answer.gain_interval[0] && answer.default_gain < answer.gain_interval[1]);
    assert_true(answer.noise > 0.004 && answer.noise < 0.025);
    assert_int_equal(answer.recommended, answer.best);
    for (int32_t i = 0; i < space->num_settings; i++) {
        const struct kerf_tune_estimate *of = &answer.settings[i];
        assert_true(of->interval[0] <= of->mean && of->mean <= of->interval[1]);
        assert_true(of->probability_within <= of->probability_within_margin);
    }
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

/* The machine gets three or ten times as slow at once, when the limit is known: runs are not all stopped at it for
 * ever, and those of settings that were new right after it are not taken for slow ones. */
static void a_machine_that_slows_down_at_once(void **state) {
    (void)state;
    enum { SLOW_FROM = 4, SEEDS = 12, MOST = 40 };
    struct kerf_tune_space *space = grid("batch=256,ubatch=64");
    int32_t is_sure = 0, is_right = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct kerf_tune_question question = ask(space, NULL);
        struct kerf_tune_study *study = begin(&question);
        struct bed bed = {space, random_seed(40 + seed), 0};
        struct kerf_tune_decision next;
        int32_t runs = 0, stopped = 0;
        while ((next = next_of(study)).action == KERF_TUNE_MEASURE) {
            double slower = runs++ < SLOW_FROM ? 1 : seed % 2 ? 3 : 10;
            next.limit /= slower;
            struct kerf_tune_observation o = run(&bed, &next);
            o.value *= slower;
            stopped += o.outcome == KERF_TUNE_CENSORED;
            observe(study, &o);
        }
        struct kerf_tune_answer answer = answer_of(study);
        is_sure += next.stop == KERF_TUNE_CONFIDENT;
        is_right += truth(space, answer.best) < 1.03;
        assert_in_range(runs, SLOW_FROM, MOST);
        assert_true(fabs(log(answer.drift / (seed % 2 ? 3 : 10))) < 0.1);
        assert_true(stopped < runs / 2);
        kerf_tune_study_free(study);
    }
    assert_int_equal(is_sure, SEEDS);
    assert_true(is_right >= SEEDS - 1);
    kerf_tune_space_free(space);
}

/* The first run, of the default, is a cold one; or the machine gets twice as fast at some time, which makes all that is
 * measured from then on look best: the default is measured again before the answer, and the gain over it is right. */
static void the_first_is_measured_again(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=256,ubatch=256");
    double gain = truth(space, space->default_setting);
    for (int32_t change = 0; change < 16; change += 3) {
        struct kerf_tune_question question = ask(space, NULL);
        struct kerf_tune_study *study = begin(&question);
        struct bed bed = {space, random_seed(80 + (uint64_t)change), 0};
        struct kerf_tune_decision next;
        int32_t runs = 0;
        for (; (next = next_of(study)).action == KERF_TUNE_MEASURE; runs++) {
            double factor = change == 0 ? (runs == 0 ? 1.4 : 1) : runs < change ? 1 : 0.5;
            next.limit /= factor;
            struct kerf_tune_observation o = run(&bed, &next);
            o.value *= factor;
            observe(study, &o);
        }
        struct kerf_tune_answer answer = answer_of(study);
        assert_int_equal(next.stop, KERF_TUNE_CONFIDENT);
        assert_in_range(runs, 10, 50);
        assert_true(truth(space, answer.best) < 1.03);
        assert_true(answer.gain_interval[0] < gain * 1.01 && gain < answer.gain_interval[1] * 1.01);
        assert_true(answer.settings[space->default_setting].observations > 1);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* A run that takes twice as long, and none after it: no machine that is another one, and nothing that is told. */
static void a_hitch_is_no_drift(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=256,ubatch=64");
    for (int32_t hitch = 0; hitch < 12; hitch += 3) {
        struct kerf_tune_question question = ask(space, NULL);
        struct kerf_tune_study *study = begin(&question);
        struct bed bed = {space, random_seed(60 + (uint64_t)hitch), 0};
        struct kerf_tune_decision next;
        for (int32_t runs = 0; (next = next_of(study)).action == KERF_TUNE_MEASURE; runs++) {
            double slower = runs == hitch ? 2 : 1;
            next.limit /= slower;
            struct kerf_tune_observation o = run(&bed, &next);
            o.value *= slower;
            observe(study, &o);
        }
        struct kerf_tune_answer answer = answer_of(study);
        assert_int_equal(next.stop, KERF_TUNE_CONFIDENT);
        assert_true(truth(space, answer.best) < 1.03);
        assert_true(fabs(log(answer.drift)) < 0.02);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* Fed one by one, or all at once, or only now and then asked: the same decision. */
static void a_restored_study_goes_on(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=256,ubatch=256");
    for (size_t p = 0; kerf_tune_policy_at(p); p++) {
        struct kerf_tune_question question = ask(space, kerf_tune_policy_at(p)->name);
        question.prefer = p ? NULL : "smaller:ubatch,batch";
        struct kerf_tune_study *study = begin(&question);
        struct bed bed = {space, random_seed(2), 0};
        struct kerf_tune_observation *seen = calloc(1200, sizeof *seen);
        struct kerf_tune_decision last, again;
        int32_t runs = run_all(study, &bed, seen, &last);
        for (int32_t upto = 0; upto <= runs; upto += upto < 12 ? 1 : 1 + runs / 4) {
            struct kerf_tune_study *restored = begin(&question);
            for (int32_t i = 0; i < upto; i++) observe(restored, &seen[i]);
            again = next_of(restored);
            assert_int_equal(again.action, upto < runs ? KERF_TUNE_MEASURE : KERF_TUNE_STOP);
            if (upto < runs) assert_int_equal(again.setting, seen[upto].setting);
            again = next_of(restored); /* asking changes nothing */
            if (upto < runs) assert_int_equal(again.setting, seen[upto].setting);
            if (upto == runs) assert_string_equal(again.reason, last.reason);
            kerf_tune_study_free(restored);
        }
        free(seen);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

static void every_policy_finds_a_clear_best(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=256,ubatch=256");
    for (size_t p = 0; kerf_tune_policy_at(p); p++) {
        const char *name = kerf_tune_policy_at(p)->name;
        struct kerf_tune_question question = ask(space, name);
        struct kerf_tune_study *study = begin(&question);
        struct bed bed = {space, random_seed(3), 0};
        struct kerf_tune_decision last;
        run_all(study, &bed, NULL, &last);
        struct kerf_tune_answer answer = answer_of(study);
        if (strcmp(name, "null") == 0)
            assert_int_equal(answer.best, space->default_setting);
        else if (strcmp(name, "best_bub") == 0)
            assert_true(truth(space, answer.best) < 1.3); /* no more is promised */
        else
            assert_true(truth(space, answer.best) < 1.03);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

static void prefers_the_smaller_of_equals(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid(NULL);
    struct kerf_tune_question question = ask(space, NULL);
    question.prefer = "smaller:batch";
    struct kerf_tune_study *study = begin(&question);
    struct bed bed = {space, random_seed(4), 0};
    struct kerf_tune_decision last;
    run_all(study, &bed, NULL, &last);
    struct kerf_tune_answer answer = answer_of(study);
    struct kerf_text words = {0};
    kerf_tune_setting_write(space, answer.recommended, &words);
    assert_string_equal(words.data, "batch=32,ubatch=32");
    assert_true(answer.settings[answer.recommended].probability_within_margin >= 0.95);
    kerf_text_free(&words);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

static void refuses_what_means_nothing(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid(NULL);
    const struct {
        const char *policy, *prefer;
        double within, confidence;
        int32_t code;
        const char *words;
    } of[] = {
        {"krf", NULL, 0.03, 0.95, KERF_EUNKNOWN, "no policy is called 'krf'; did you mean 'kerf'?"},
        {NULL, "smaller", 0.03, 0.95, KERF_ESYNTAX,
         "prefer: 'smaller' must be like smaller:ubatch,batch or larger:threads"},
        {NULL, "smaller:x", 0.03, 0.95, KERF_EUNKNOWN, "prefer: no parameter is called 'x'"},
        {NULL, "smaller:batch;larger:batch", 0.03, 0.95, KERF_EINVALID, "prefer: the parameter 'batch' is named twice"},
        {NULL, NULL, -1, 0.95, KERF_EINVALID, "'within' must be from 0 to below 1, not -1"},
        {NULL, NULL, 0.03, 1, KERF_EINVALID, "'confidence' must be from 0.5 to below 1, not 1"},
    };
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct kerf_tune_question question = ask(space, of[i].policy);
        struct kerf_tune_study *study = NULL;
        struct kerf_error err;
        question.prefer = of[i].prefer;
        question.within = of[i].within;
        question.confidence = of[i].confidence;
        assert_int_equal(kerf_tune_study_create(&question, &study, &err), of[i].code);
        assert_string_equal(err.message, of[i].words);
        assert_null(study);
    }
    struct kerf_tune_question question = ask(space, NULL);
    struct kerf_tune_study *study = begin(&question);
    struct kerf_tune_observation bad[] = {{.setting = -1, .value = 1},
                                          {.setting = space->num_settings, .value = 1},
                                          {.value = 0},
                                          {.value = NAN},
                                          {.value = INFINITY},
                                          {.value = 1, .outcome = 7},
                                          {.outcome = KERF_TUNE_FAILED, .failure = KERF_TUNE_FAILURE_COUNT},
                                          {.value = 1, .end_s = NAN},
                                          {.value = 1, .slot = -1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(kerf_tune_study_observe(study, &bad[i], NULL), KERF_EINVALID);
    assert_int_equal(answer_of(study).observations, 0);
    assert_int_equal(answer_of(study).best, -1);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

static void too_noisy_is_said(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid(NULL);
    struct kerf_tune_question question = ask(space, NULL);
    struct kerf_tune_decision last = {0};
    for (int how = 0; how < 3; how++) {
        struct pcg64 rng = random_seed(8);
        question.max_observations = how == 1 ? 10 : 0;
        struct kerf_tune_study *study = begin(&question);
        int32_t runs = 0;
        for (; (last = next_of(study)).action == KERF_TUNE_MEASURE; runs++) {
            struct kerf_tune_observation o = {.setting = last.setting,
                                              .value = exp(random_normal(&rng, 0, how == 0 ? 0.5 : 0.05)),
                                              .start_s = runs,
                                              .end_s = runs + 1,
                                              .disturbed = how == 2};
            observe(study, &o);
        }
        assert_int_equal(last.stop, KERF_TUNE_TOO_NOISY);
        if (how == 0) assert_in_range(runs, 24, 60);
        if (how == 1) assert_int_equal(runs, 10);
        if (how == 2) assert_int_equal(answer_of(study).disturbed, runs);
        if (how == 2) assert_int_equal(answer_of(study).best, -1);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* Throughput, more is better; and an objective around 0, which has no logarithm. */
static void other_objectives(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=256,ubatch=256");
    for (int how = 0; how < 3; how++) {
        struct kerf_tune_question question = ask(space, NULL);
        struct pcg64 rng = random_seed(9);
        question.is_time = 0;
        question.maximize = how > 0;
        struct kerf_tune_study *study = begin(&question);
        struct kerf_tune_decision last;
        for (int step = 0; step < 300 && (last = next_of(study)).action == KERF_TUNE_MEASURE; step++) {
            double off = fabs(value_of(space, last.setting, 1) - 4.0), e = random_normal(&rng, 0, 0.01);
            double value = how == 0 ? off - 2 + e : how == 1 ? 100 * exp(-0.2 * off + e) : 3 - off + e;
            assert_true(last.limit == 0);
            struct kerf_tune_observation o = {
                .setting = last.setting, .value = value, .start_s = step, .end_s = step + 1};
            observe(study, &o);
        }
        assert_int_equal(last.stop, KERF_TUNE_CONFIDENT);
        assert_int_equal(value_of(space, answer_of(study).best, 1), 4);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* A parallel study measures other settings than those that run already, and learns what slots differ by. */
static void pending_settings_and_slots(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=256,ubatch=256");
    struct kerf_tune_question question = ask(space, NULL);
    struct kerf_tune_study *study = begin(&question);
    struct bed bed = {space, random_seed(10), 0};
    struct kerf_tune_decision decision;
    int32_t distinct = 0, rounds = 0;
    for (; rounds < 60; rounds++) {
        int32_t pending[4];
        struct kerf_tune_observation o[4];
        int32_t count = 0;
        for (; count < 4; count++) {
            assert_int_equal(kerf_tune_study_next(study, pending, count, count, &decision, NULL), KERF_OK);
            if (decision.action == KERF_TUNE_STOP) break;
            int fresh = 1;
            for (int32_t k = 0; k < count; k++) fresh &= pending[k] != decision.setting;
            distinct += fresh;
            pending[count] = decision.setting;
            o[count] = run(&bed, &decision);
            o[count].slot = count;
            if (o[count].outcome == KERF_TUNE_VALUE) o[count].value *= 1 + 0.1 * count; /* slots differ */
        }
        for (int32_t k = 0; k < count; k++) observe(study, &o[k]);
        if (count == 0) break;
    }
    assert_in_range(rounds, 2, 30);
    assert_true(distinct > 2 * rounds);
    assert_true(truth(space, answer_of(study).best) < 1.03);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

/* One run that is far too long may be a hitch. Where every run of a setting is, that is what it takes. */
static void settings_that_are_always_slow(void **state) {
    (void)state;
    const char *params[] = {"batch=8..256:+8", "cores=0..8"};
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 2, NULL, 0, NULL, &space, NULL), KERF_OK);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct kerf_tune_question question = ask(space, NULL);
        struct kerf_tune_study *study = begin(&question);
        struct pcg64 rng = random_seed(seed);
        const int32_t slow = 13 * 9 + 6;
        for (int run = 0; run < 64; run++) {
            const int32_t batch = (int32_t)random_to(&rng, 12), cores = (int32_t)random_to(&rng, 8);
            const int32_t setting = run < 60 ? batch * 9 + cores : slow;
            const double value = 1 + 0.3 / (1 + setting / 9) + 0.01 * (8 - setting % 9);
            struct kerf_tune_observation o = {.setting = setting, .start_s = run, .end_s = run + 1};
            o.value = value * exp(random_normal(&rng, 0, 0.01)) * (setting == slow ? 1.7 : 1);
            observe(study, &o);
        }
        assert_int_equal(value_of(space, slow, 0), 13);
        struct kerf_tune_estimate of = answer_of(study).settings[slow];
        assert_true(of.mean > 0.9 * of.observed_mean);
        assert_true(of.probability_within < 0.01);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* Where runs agree to the last bit, what is 4 % worse than another one has no chance to be within 3 % of the best. */
static void exact_values_have_no_chance_beyond(void **state) {
    (void)state;
    const char *params[] = {"x=1..12"};
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 1, NULL, 0, NULL, &space, NULL), KERF_OK);
    for (int32_t maximize = 0; maximize <= 1; maximize++) {
        struct kerf_tune_question question = ask(space, NULL);
        question.maximize = maximize;
        question.is_time = !maximize;
        struct kerf_tune_study *study = begin(&question);
        struct kerf_tune_decision decision;
        int32_t beyond = 0;
        for (int run = 0; (decision = next_of(study)).action == KERF_TUNE_MEASURE; run++) {
            double time = 3 * (1 + 0.04 * abs(decision.setting - 6));
            struct kerf_tune_observation o = {.setting = decision.setting, .start_s = run, .end_s = run + 1};
            o.value = maximize ? 1 / time : time;
            observe(study, &o);
        }
        struct kerf_tune_answer answer = answer_of(study);
        assert_int_equal(answer.best, 6);
        assert_true(answer.settings[6].probability_within > 0.9);
        for (int32_t i = 0; i < space->num_settings; i++) {
            if (i == 6 || answer.settings[i].status != KERF_TUNE_MEASURED) continue;
            assert_true(answer.settings[i].probability_within == 0);
            assert_true(abs(i - 6) == 1 || answer.settings[i].probability_within_margin == 0);
            beyond++;
        }
        assert_true(beyond > 2);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* A run that is stopped at a limit rules its setting out: no share of the draws has it as the best, as that of the
 * normal distribution would that stands for what is left. Right beside a fast one it may have been a hitch. */
static void what_was_stopped_is_ruled_out(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=256,ubatch=256");
    struct kerf_tune_question question = ask(space, NULL);
    for (int32_t stopped = 0; stopped < space->num_settings; stopped++) {
        int32_t first = space->default_setting;
        if (stopped == first || stopped == 0) continue;
        struct kerf_tune_study *study = begin(&question);
        for (int run = 0; run < 6; run++) {
            struct kerf_tune_observation o = {.setting = first, .value = 1 + 0.01 * (run % 3)};
            if (run == 3) o.setting = 0, o.value = 2.2;
            if (run == 5) o.setting = stopped, o.outcome = KERF_TUNE_CENSORED, o.value = 2.5;
            o.start_s = run;
            o.end_s = run + 1;
            observe(study, &o);
        }
        struct kerf_tune_answer answer = answer_of(study);
        int is_beside = value_of(space, stopped, 0) == value_of(space, first, 0) &&
                        value_of(space, stopped, 1) >= value_of(space, first, 1) - 2;
        assert_true(is_beside || answer.settings[stopped].probability_within == 0);
        assert_int_equal(answer.best, first);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* Runs of a real model: from 128 on nothing depends on ubatch, and far below all is slow. Some shapes of the surface
 * would have it that ubatch=32 is as fast as 128 and its one run was held up. What was measured many times is known all
 * the same, and the question is answered. */
static void what_was_stopped_unsettles_no_other(void **state) {
    (void)state;
    static const struct {
        int32_t batch, ubatch;
        double value;
        int32_t is_stopped;
    } runs[] = {
        {512, 512, 17.26, 0}, {16, 8, 43.14, 1},    {512, 4, 43.14, 1},   {128, 32, 43.15, 1},  {512, 256, 16.74, 0},
        {256, 128, 16.48, 0}, {512, 128, 16.26, 0}, {256, 256, 16.55, 0}, {512, 128, 16.55, 0}, {128, 128, 16.50, 0},
        {512, 128, 16.35, 0}, {512, 128, 16.20, 0}, {512, 256, 16.49, 0}, {128, 128, 16.27, 0}, {128, 128, 16.33, 0},
        {128, 128, 16.36, 0}, {512, 128, 16.24, 0}, {256, 256, 16.20, 0}, {512, 512, 16.59, 0}, {128, 128, 16.24, 0},
    };
    const char *params[] = {"batch=16..512:x2", "ubatch=2..512:x2"}, *where = "ubatch <= batch";
    struct kerf_tune_space *space;
    struct kerf_error err;
    assert_int_equal(kerf_tune_space_create(params, 2, &where, 1, "batch=512,ubatch=512", &space, NULL), KERF_OK);
    struct kerf_tune_question question = ask(space, NULL);
    question.prefer = "smaller:ubatch,batch";
    struct kerf_tune_study *study = begin(&question);
    double clock = 0;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct kerf_tune_observation o = {.outcome = runs[i].is_stopped ? KERF_TUNE_CENSORED : KERF_TUNE_VALUE,
                                          .value = runs[i].value,
                                          .start_s = clock};
        char words[40];
        snprintf(words, sizeof words, "batch=%d,ubatch=%d", (int)runs[i].batch, (int)runs[i].ubatch);
        assert_int_equal(kerf_tune_setting_read(space, words, &o.setting, &err), KERF_OK);
        o.end_s = clock = clock + o.value;
        observe(study, &o);
    }
    struct kerf_tune_answer answer = answer_of(study);
    const struct kerf_tune_estimate *of = &answer.settings[answer.recommended];
    assert_int_equal(of->observations, 5); /* batch=128,ubatch=128 */
    assert_true(of->probability_within_margin >= question.confidence);
    assert_true(of->interval[1] < 1.03 * of->interval[0]);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

/* A run that was stopped says of no setting how long it takes, with whichever policy. */
static void nothing_is_best_while_all_was_stopped(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=256,ubatch=256");
    const struct kerf_tune_policy *policy;
    for (size_t i = 0; (policy = kerf_tune_policy_at(i)); i++) {
        struct kerf_tune_question question = ask(space, policy->name);
        struct kerf_tune_study *study = begin(&question);
        struct kerf_tune_observation stopped = {
            .setting = space->default_setting, .outcome = KERF_TUNE_CENSORED, .value = 5, .end_s = 5};
        observe(study, &stopped);
        const struct kerf_tune_answer answer = answer_of(study);
        const struct kerf_tune_estimate *of = &answer.settings[space->default_setting];
        assert_int_equal(answer.best, -1);
        assert_int_equal(answer.recommended, -1);
        assert_true(isnan(answer.default_gain) && isnan(answer.gain_interval[0]));
        assert_string_equal(answer.reason, "nothing was measured");
        assert_int_equal(of->status, KERF_TUNE_ALL_CENSORED);
        assert_true(of->bound == 5 && isnan(of->probability_within));
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* What an earlier study saw, on a day when all was 30 % slower, and a good guess each save runs; a bad guess does no
 * harm. */
static void earlier_studies_and_guesses_help(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid("batch=256,ubatch=256");
    double guess[100], runs[4] = {0};
    struct kerf_tune_observation *seen = calloc(1200, sizeof *seen);
    for (uint64_t seed = 0; seed < 6; seed++) {
        int32_t num_seen = 0;
        for (int how = 0; how < 4; how++) {
            struct kerf_tune_question question = ask(space, NULL);
            question.seed = (int64_t)seed;
            if (how == 1) question.earlier = seen, question.num_earlier = num_seen;
            if (how >= 2) question.prior_log = guess;
            for (int32_t i = 0; i < space->num_settings; i++)
                guess[i] = how == 2 ? log(truth(space, i)) + 5 : sin(7.0 * i);
            struct kerf_tune_study *study = begin(&question);
            struct bed bed = {space, random_seed(100 + seed), 0};
            struct kerf_tune_decision last;
            int32_t count = run_all(study, &bed, how == 0 ? seen : NULL, &last);
            runs[how] += count;
            assert_true(truth(space, answer_of(study).best) < 1.03);
            assert_true(answer_of(study).settings[answer_of(study).best].observations > 0);
            kerf_tune_study_free(study);
            for (int32_t i = 0; how == 0 && i < count; i++) seen[i].value *= 1.3;
            if (how == 0) num_seen = count;
        }
    }
    assert_true(runs[1] < 0.7 * runs[0]);
    assert_true(runs[2] < 0.9 * runs[0]);
    assert_true(runs[3] < 1.6 * runs[0]);
    free(seen);
    kerf_tune_space_free(space);
}

static void choices_without_an_order(void **state) {
    (void)state;
    const char *params[] = {"kernel=a,b,c,d,e", "fa?=-fa", "threads=1..8"};
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 3, NULL, 0, NULL, &space, NULL), KERF_OK);
    static const double by_kernel[] = {0.3, 0.05, 0.5, 0, 0.12};
    int32_t right = 0;
    for (int64_t seed = 0; seed < 10; seed++) {
        struct kerf_tune_question question = ask(space, NULL);
        question.seed = seed;
        struct kerf_tune_study *study = begin(&question);
        struct pcg64 rng = random_seed((uint64_t)seed);
        struct kerf_tune_decision last;
        for (int step = 0; step < 200 && (last = next_of(study)).action == KERF_TUNE_MEASURE; step++) {
            const int32_t *v = space->values + 3 * (int64_t)last.setting;
            double y = by_kernel[v[0]] - 0.1 * v[1] + 0.15 * fabs(v[2] - 5.0) + random_normal(&rng, 0, 0.01);
            struct kerf_tune_observation o = {
                .setting = last.setting, .value = exp(y), .start_s = step, .end_s = step + 1};
            observe(study, &o);
        }
        const int32_t *v = space->values + 3 * (int64_t)answer_of(study).best;
        right += by_kernel[v[0]] + 0.1 * (1 - v[1]) + 0.15 * fabs(v[2] - 5.0) <= log(1.03);
        kerf_tune_study_free(study);
    }
    assert_in_range(right, 9, 10);
    kerf_tune_space_free(space);
}

/* Of what was always above 0 an interval does not reach below, as that of two so different runs would; where one value
 * was below 0 it may. */
static void intervals_of_times_end_at_zero(void **state) {
    (void)state;
    static const double values[2][4] = {{0.1, 9, 2, 2.5}, {0.1, 9, -2, 2.5}};
    const char *params[] = {"n=1,2"};
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 1, NULL, 0, NULL, &space, NULL), KERF_OK);
    for (int k = 0; k < 2; k++) {
        struct kerf_tune_question question = ask(space, "exhaustive");
        question.is_time = 0;
        struct kerf_tune_study *study = begin(&question);
        for (int i = 0; i < 4; i++) {
            struct kerf_tune_observation o = {.setting = i / 2, .value = values[k][i], .start_s = i, .end_s = i + 1};
            observe(study, &o);
        }
        double low = answer_of(study).settings[0].interval[0];
        assert_true(k == 0 ? low == 0 : low < 0);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

static void words(void **state) {
    (void)state;
    assert_string_equal(kerf_tune_failure_word(KERF_TUNE_FAILURE_MEMORY), "memory");
    assert_string_equal(kerf_tune_failure_word(-1), "?");
    assert_string_equal(kerf_tune_failure_word(KERF_TUNE_FAILURE_COUNT), "?");
    assert_string_equal(kerf_tune_status_word(KERF_TUNE_SKIPPED), "skipped");
    assert_string_equal(kerf_tune_status_word(9), "?");
    assert_string_equal(kerf_tune_policy_at(0)->name, "kerf");
    assert_null(kerf_tune_policy_at(99));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_is_first_and_gain_is_known),
        cmocka_unit_test(a_machine_that_slows_down_at_once),
        cmocka_unit_test(the_first_is_measured_again),
        cmocka_unit_test(a_hitch_is_no_drift),
        cmocka_unit_test(a_restored_study_goes_on),
        cmocka_unit_test(every_policy_finds_a_clear_best),
        cmocka_unit_test(prefers_the_smaller_of_equals),
        cmocka_unit_test(refuses_what_means_nothing),
        cmocka_unit_test(too_noisy_is_said),
        cmocka_unit_test(other_objectives),
        cmocka_unit_test(pending_settings_and_slots),
        cmocka_unit_test(exact_values_have_no_chance_beyond),
        cmocka_unit_test(settings_that_are_always_slow),
        cmocka_unit_test(what_was_stopped_is_ruled_out),
        cmocka_unit_test(what_was_stopped_unsettles_no_other),
        cmocka_unit_test(nothing_is_best_while_all_was_stopped),
        cmocka_unit_test(earlier_studies_and_guesses_help),
        cmocka_unit_test(choices_without_an_order),
        cmocka_unit_test(intervals_of_times_end_at_zero),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
