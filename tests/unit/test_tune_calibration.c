/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether what a study says is true as often as it says: valleys with a kink and steps between neighbours, noise from
 * 0.5 % to 5 %, with and without drift, each with seeds of its own; and surfaces that are not smooth at all. All is decided
 * by the seeds; the bounds leave room for the chance of so few studies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "kerf/tune.h"
#include "rough_bed.h"

enum { SURFACES = 24, UBATCHES = 9, SETTINGS_MAX = 64 };

struct family {
    double truth[SETTINGS_MAX], best, noise, drift;
};

static struct kerf_tune_space *grid(void) {
    const char *params[] = {"batch=16..512:x2", "ubatch=2..512:x2"}, *where = "ubatch <= batch";
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 2, &where, 1, "batch=512,ubatch=512", &space, NULL), KERF_OK);
    return space;
}

static void make(struct family *family, const struct kerf_tune_space *space, uint64_t seed) {
    struct pcg64 rng = random_seed(seed);
    double bottom = 3 + 5 * random_double(&rng), steep = 0.1 + 0.3 * random_double(&rng), step[UBATCHES];
    double kink = 2 + 4 * random_double(&rng);
    family->noise = 0.005 * pow(10, random_double(&rng));
    family->drift = seed % 2 ? 0.15 : 0;
    family->best = INFINITY;
    for (int u = 0; u < UBATCHES; u++) step[u] = random_normal(&rng, 0, 0.015);
    for (int32_t i = 0; i < space->num_settings; i++) {
        int32_t u = space->values[2 * (int64_t)i + 1];
        double y = u < bottom ? steep * (bottom - u) : 0.05 * (u - bottom);
        if (u < kink) y += 0.3;
        family->truth[i] = exp(y + step[u]);
        family->best = fmin(family->best, family->truth[i]);
    }
}

struct tally {
    double right, said, runs;
};

static void study_one(const struct kerf_tune_space *space, const struct family *family, int64_t seed,
                      const char *prefer, struct tally *tally) {
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_decision decision;
    struct kerf_tune_answer answer;
    struct pcg64 rng = random_seed((uint64_t)seed + 1000);
    double clock = 0;
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.is_time = 1;
    question.seed = seed;
    question.prefer = prefer;
    assert_int_equal(kerf_tune_study_create(&question, &study, NULL), KERF_OK);
    for (;;) {
        assert_int_equal(kerf_tune_study_next(study, NULL, 0, 0, &decision, NULL), KERF_OK);
        if (decision.action == KERF_TUNE_STOP) break;
        double value = family->truth[decision.setting] * exp(random_normal(&rng, 0, family->noise));
        value *= 1 + family->drift * (1 - exp(-clock / 60));
        int32_t stopped = decision.limit > 0 && value > decision.limit;
        struct kerf_tune_observation o = {.setting = decision.setting,
                                          .outcome = stopped ? KERF_TUNE_CENSORED : KERF_TUNE_VALUE,
                                          .value = stopped ? decision.limit : value,
                                          .start_s = clock};
        o.end_s = clock = clock + o.value;
        assert_int_equal(kerf_tune_study_observe(study, &o, NULL), KERF_OK);
        tally->runs++;
    }
    assert_int_equal(kerf_tune_study_answer(study, &answer, NULL), KERF_OK);
    int32_t setting = prefer ? answer.recommended : answer.best;
    const struct kerf_tune_estimate *of = &answer.settings[setting];
    tally->right += family->truth[setting] <= family->best * (1 + (prefer ? question.margin : question.within));
    tally->said += prefer ? of->probability_within_margin : of->probability_within;
    kerf_tune_study_free(study);
}

static struct tally study_all(const char *prefer) {
    struct kerf_tune_space *space = grid();
    struct tally tally = {0, 0, 0};
    for (uint64_t k = 0; k < SURFACES; k++) {
        struct family family;
        make(&family, space, k);
        study_one(space, &family, (int64_t)k, prefer, &tally);
    }
    kerf_tune_space_free(space);
    return (struct tally){tally.right / SURFACES, tally.said / SURFACES, tally.runs / SURFACES};
}

static void answers_are_as_right_as_they_say(void **state) {
    (void)state;
    struct tally tally = study_all(NULL);
    if (!(tally.right > 0.9 && tally.said > 0.93 && tally.runs < 40))
        fail_msg("right in %.3f, said %.3f, %.1f runs", tally.right, tally.said, tally.runs);
}

static void recommendations_are_within_the_margin(void **state) {
    (void)state;
    struct tally tally = study_all("smaller:ubatch,batch");
    if (!(tally.right > 0.9 && tally.said > 0.93 && tally.runs < 60))
        fail_msg("right in %.3f, said %.3f, %.1f runs", tally.right, tally.said, tally.runs);
}

/* ---- Rough surfaces ---------------------------------------------------------------------------------------------- */

static double tile(const int64_t *of) {
    double b = (double)of[0];
    return (1 + 4 / b + 0.004 * b) * (of[0] % 8 ? 1.15 : 1);
}

static double needle(const int64_t *of) { return of[0] == 23 ? 0.8 : 1; }

/* One in ten is fast, each by another factor, as sizes of a Fourier transform are. */
static double needles(const int64_t *of) {
    uint32_t bits = (uint32_t)of[0] * 2654435761u;
    bits ^= bits >> 15;
    return bits % 10 ? 1 : 0.3 + 0.4 * (double)(bits / 10 % 100) / 100;
}

/* One in fifty. */
static double few_needles(const int64_t *of) {
    uint32_t bits = (uint32_t)of[0] * 2654435761u;
    bits ^= bits >> 15;
    return bits % 50 ? 1 : 0.15 + 0.1 * (double)(bits / 50 % 100) / 100;
}

static double two_tiles(const int64_t *of) {
    double a = (double)of[0] - 200, b = (double)of[1] - 60;
    return (1 + 4e-5 * a * a + 1e-4 * b * b) * (of[0] % 16 ? 1.15 : 1) * (of[1] % 8 ? 1.1 : 1);
}

static double words(const int64_t *of) {
    static const double values[] = {1.3, 1.1, 1.12, 1, 1.25, 1.08, 1.4, 1.04, 1.9, 1.15, 1.2, 1.06};
    return values[of[0]];
}

static void rough_surfaces_are_found(void **state) {
    static const struct rough roughs[] = {{{"b=1..64", NULL}, tile, 0.01, 0, 6, 6, 45},
                                          {{"x=1..32", NULL}, needle, 0.01, 0, 6, 5, 45},
                                          {{"x=1..64", NULL}, needle, 0.05, 0, 12, 11, 200},
                                          {{"a=1..300", "b=1..100"}, two_tiles, 0.01, 0, 2, 2, 200}};
    (void)state;
    for (size_t k = 0; k < sizeof roughs / sizeof *roughs; k++) {
        int32_t right = 0;
        for (int32_t seed = 0; seed < roughs[k].studies; seed++) {
            struct rough_result result = study_rough(&roughs[k], seed, 0);
            right += result.right;
            if (result.runs > roughs[k].runs_most) fail_msg("%s: %d runs", roughs[k].params[0], (int)result.runs);
        }
        if (right < roughs[k].right_least) fail_msg("%s: %d right", roughs[k].params[0], (int)right);
    }
}

/* A dozen words with noise of 20 %: no study of 60 runs can know, and none says that it does. */
static void what_cannot_be_known_is_not_said(void **state) {
    static const struct rough rough = {{"o=a,b,c,d,e,f,g,h,i,j,k,l", NULL}, words, 0.2, 0, 0, 0, 0};
    double said = 0, right = 0;
    (void)state;
    for (int64_t seed = 0; seed < 16; seed++) {
        struct rough_result result = study_rough(&rough, seed, 60);
        said += result.said / 16;
        right += result.right / 16.0;
    }
    if (said > right + 0.15) fail_msg("said %.3f, right in %.3f", said, right);
}

static double octaves(const int64_t *of) { return 1 + 0.04 * fabs(log2((double)of[0]) - 8); }

/* Seventeen powers of two that differ by no more than 4 % from the next, with noise of 10 %: neighbours tell little, and a
 * lucky run leads. A study says that it is sure after enough runs, or not at all; and it knows the noise. */
static void few_sizes_in_much_noise(void **state) {
    enum { STUDIES = 16, MOST = 100 };
    static const struct rough rough = {{"a=1..65536:x2", NULL}, octaves, 0.1, 0, 0, 0, 0};
    int32_t sure = 0, wrong = 0;
    double noise = 0;
    (void)state;
    for (int64_t seed = 0; seed < STUDIES; seed++) {
        struct rough_result result = study_rough(&rough, seed, MOST);
        sure += result.said >= 0.95;
        wrong += result.said >= 0.95 && !result.right;
        noise += result.answer.noise / STUDIES;
    }
    if (wrong > 1 || fabs(noise / 0.1 - 1) > 0.15)
        fail_msg("%d wrong of %d that are sure, noise %.4f", (int)wrong, (int)sure, noise);
}

/* Three runs in ten take a quarter longer, whatever the setting: that is found out, and then a slow run of the best word
 * rules it out no more. As noise of one kind it would take four times as many runs. */
static void two_modes_are_told_apart(void **state) {
    static const struct rough rough = {{"o=a,b,c,d,e,f,g,h,i,j,k,l", NULL}, words, 0.02, 0.3, 0, 0, 0};
    double said = 0, right = 0, runs = 0, share = 0, slower = 0, found = 0;
    (void)state;
    for (int64_t seed = 0; seed < 24; seed++) {
        struct rough_result result = study_rough(&rough, seed, 0);
        said += result.said / 24;
        right += result.right / 24.0;
        runs += result.runs / 24.0;
        if (result.modes.share == 0) continue;
        found++, share += result.modes.share, slower += result.modes.slower;
    }
    if (said > right + 0.09 || runs > 45) fail_msg("said %.3f, right in %.3f, %.1f runs", said, right, runs);
    if (found < 15 || fabs(share / found - 0.3) > 0.12 || fabs(slower / found - 1.25) > 0.05)
        fail_msg("found %.0f times: %.3f of the runs, by %.3f", found, share / found, slower / found);
}

/* Four words of twelve runs each, with so much noise: the probability that the first is the best. */
static double said_of_words(const double noise[4], uint64_t seed) {
    static const double mean[] = {1, 1.04, 1.2, 1.3};
    const char *param = "o=a,b,c,d";
    struct kerf_tune_space *space;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_answer answer;
    struct pcg64 rng = random_seed(seed);
    assert_int_equal(kerf_tune_space_create(&param, 1, NULL, 0, NULL, &space, NULL), KERF_OK);
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.is_time = 1;
    assert_int_equal(kerf_tune_study_create(&question, &study, NULL), KERF_OK);
    for (int32_t run = 0; run < 48; run++) {
        int32_t setting = run % 4;
        double value = mean[setting] * exp(random_normal(&rng, 0, noise[setting]));
        struct kerf_tune_observation o = {
            .setting = setting, .value = value, .start_s = 2 * run, .end_s = 2 * run + value};
        assert_int_equal(kerf_tune_study_observe(study, &o, NULL), KERF_OK);
    }
    assert_int_equal(kerf_tune_study_answer(study, &answer, NULL), KERF_OK);
    double said = answer.settings[0].probability_within;
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
    return said;
}

/* The same noise of all runs together says less where it is that of the two best. */
static void noise_of_the_best_counts(void **state) {
    static const double even[] = {0.06, 0.06, 0.06, 0.06}, of_best[] = {0.084, 0.084, 0.01, 0.01};
    double doubt = 0, loud = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        doubt += (1 - said_of_words(even, seed)) / 8;
        loud += (1 - said_of_words(of_best, seed)) / 8;
    }
    if (!(doubt < 0.01 && loud > 3 * doubt))
        fail_msg("in doubt %.4f, and %.4f with the noise of the best", doubt, loud);
}

/* How probable a study of two words holds its best to be, after these runs of either. */
static double probability_of_pair(const int32_t *settings, const double *values, int32_t runs) {
    const char *param = "o=a,b";
    struct kerf_tune_space *space;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_answer answer;
    assert_int_equal(kerf_tune_space_create(&param, 1, NULL, 0, NULL, &space, NULL), KERF_OK);
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.is_time = 1;
    assert_int_equal(kerf_tune_study_create(&question, &study, NULL), KERF_OK);
    for (int32_t run = 0; run < runs; run++) {
        struct kerf_tune_observation o = {.setting = settings[run], .value = values[run]};
        o.start_s = 2 * run, o.end_s = o.start_s + o.value;
        assert_int_equal(kerf_tune_study_observe(study, &o, NULL), KERF_OK);
    }
    assert_int_equal(kerf_tune_study_answer(study, &answer, NULL), KERF_OK);
    double probability = answer.settings[answer.best].probability_within;
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
    return probability;
}

/*
 * Two words, each run three times, 10 % apart, with a variance of 0.0025. That the second is better by more than 3 % has, by
 * Student's t with the 4 degrees of freedom that there are, a probability of 0.0188, and counts 1 + log2(6 / 2) times.
 */
static void a_pair_is_looked_at_often(void **state) {
    static const int32_t settings[] = {0, 1, 0, 1, 0, 1};
    static const double values[] = {0.95, 1.045, 1.05, 1.155, 1, 1.1};
    (void)state;
    assert_float_equal(probability_of_pair(settings, values, 6), 0.9513, 0.001);
}

/* Just beyond what counts as right. */
static double two(const int64_t *of) { return of[0] > 1 ? 1.04 : 1; }

/* A setting that leads is lucky, and of two sizes none tells of the other: with noise of 5 % five runs do not do. */
static void few_sizes_are_looked_at_often(void **state) {
    static const struct rough rough = {{"x=1..2", NULL}, two, 0.05, 0, 40, 37, 0};
    int32_t right = 0;
    double said = 0;
    (void)state;
    for (int64_t seed = 0; seed < rough.studies; seed++) {
        struct rough_result result = study_rough(&rough, seed, 0);
        right += result.right;
        said += result.said / rough.studies;
    }
    assert_in_range(right, rough.right_least, rough.studies);
    if (said < 0.95) fail_msg("said %.3f", said);
}

/* Each setting has a time of its own, whatever those beside it have. */
static double disorder(const int64_t *of) {
    struct pcg64 rng = random_seed((uint64_t)(of[0] * 64 + of[1]));
    return exp(random_normal(&rng, 0, 0.08));
}

/* Where the surface has no order, what was not tried may be the best of all. */
static void all_is_tried_where_there_is_no_order(void **state) {
    static const struct rough roughs[] = {{{"x=1..6", "y=1..6"}, disorder, 0.02, 0, 8, 7, 70},
                                          {{"x=33..48", NULL}, disorder, 0.02, 0, 16, 15, 70}};
    (void)state;
    for (size_t k = 0; k < sizeof roughs / sizeof *roughs; k++) {
        int32_t right = 0;
        for (int64_t seed = 0; seed < roughs[k].studies; seed++) {
            struct rough_result result = study_rough(&roughs[k], seed, 0);
            right += result.right;
            assert_in_range(result.runs, 14, roughs[k].runs_most);
        }
        assert_in_range(right, roughs[k].right_least, roughs[k].studies);
    }
}

/* Of more settings than are modelled together, the share that was not tried counts too. */
static void no_order_counts_in_large_spaces(void **state) {
    static const struct rough rough = {{"x=1..16", "y=1..16"}, disorder, 0.02, 0, 0, 0, 0};
    (void)state;
    struct rough_result part = study_rough(&rough, 1, 60);
    assert_true(part.answer.chance_isolated > 0.3);
    assert_true(part.said < 0.7);
}

/* 40,320 settings of six parameters, 56 of them measured, each once: slow ones are of the model too, so that what is beside
 * them is not taken for ordinary. */
static void slow_settings_count_in_large_spaces(void **state) {
    enum { RUNS = 56 };
    const char *params[] = {"a=16..512:x2", "b=1..8", "c=x,y,z", "d=0..4", "e=1..64:x2", "f=1..8"};
    struct kerf_tune_space *space;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_answer answer;
    struct pcg64 rng = random_seed(3);
    int32_t modelled = 0, expected = 0, inside = 0;
    double *truth;
    (void)state;
    assert_int_equal(kerf_tune_space_create(params, 6, NULL, 0, NULL, &space, NULL), KERF_OK);
    truth = malloc((size_t)space->num_settings * sizeof *truth);
    assert_non_null(truth);
    for (int32_t i = 0; i < space->num_settings; i++) {
        const int32_t *at = space->values + (int64_t)i * space->num_params;
        double a = 16 << at[0], b = 1 + at[1];
        truth[i] = 1 + 30 / a + a / 900 + 2 / b + 0.15 * b + 0.1 * (at[2] == 0) + 0.05 * at[3];
    }
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.is_time = 1;
    assert_int_equal(kerf_tune_study_create(&question, &study, NULL), KERF_OK);
    for (int32_t run = 0; run < RUNS; run++) {
        int32_t setting = (int32_t)random_to(&rng, (uint64_t)space->num_settings - 1);
        double value = truth[setting] * exp(random_normal(&rng, 0, 0.01));
        struct kerf_tune_observation o = {
            .setting = setting, .value = value, .start_s = 4 * run, .end_s = 4 * run + value};
        assert_int_equal(kerf_tune_study_observe(study, &o, NULL), KERF_OK);
    }
    assert_int_equal(kerf_tune_study_answer(study, &answer, NULL), KERF_OK);
    for (int32_t i = 0; i < space->num_settings; i++) {
        const struct kerf_tune_estimate *of = &answer.settings[i];
        if (isnan(of->probability_within)) continue;
        modelled += of->observations > 0;
        expected += of->observations == 0;
        inside += of->observations == 0 && of->interval[0] <= truth[i] && truth[i] <= of->interval[1];
    }
    if (modelled != RUNS || expected < 50 || inside < 0.9 * expected)
        fail_msg("%d of %d runs modelled, %d of %d intervals right", (int)modelled, RUNS, (int)inside, (int)expected);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
    free(truth);
}

/* What was found first, and was the same four times, is not given up for noise because all that follows is alike. */
static void a_fast_value_is_not_given_up(void **state) {
    const char *param = "x=1..64";
    struct kerf_tune_space *space;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_answer answer;
    struct pcg64 rng = random_seed(54);
    (void)state;
    assert_int_equal(kerf_tune_space_create(&param, 1, NULL, 0, NULL, &space, NULL), KERF_OK);
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.is_time = 1;
    assert_int_equal(kerf_tune_study_create(&question, &study, NULL), KERF_OK);
    for (int32_t run = 0; run < 68; run++) {
        int fast = run == 3 || run == 8 || run == 11 || run == 13;
        double value = (fast ? 0.8 : 1) * exp(random_normal(&rng, 0, 0.01));
        struct kerf_tune_observation o = {.setting = fast ? 36 : (run * 27 + 15) % 64,
                                          .outcome = KERF_TUNE_VALUE,
                                          .value = value,
                                          .start_s = 2 * run,
                                          .end_s = 2 * run + value};
        if (!fast && o.setting == 36) continue;
        assert_int_equal(kerf_tune_study_observe(study, &o, NULL), KERF_OK);
    }
    assert_int_equal(kerf_tune_study_answer(study, &answer, NULL), KERF_OK);
    assert_int_equal(answer.best, 36);
    assert_true(answer.settings[36].mean < 0.85);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

/* Six runs with noise of 20 % can look like two modes, 0.7 s and 1.15 s: that is no reason to be sure. */
static void noise_is_not_taken_for_modes(void **state) {
    static const int32_t settings[] = {0, 1, 1, 1, 0, 0};
    static const double values[] = {0.7483, 1.1283, 0.6328, 1.0754, 1.2614, 0.6661};
    (void)state;
    assert_true(probability_of_pair(settings, values, 6) < 0.8);
}

/* As long as runs were not repeated, a model is as sure as its prior of the noise. */
static void little_is_said_without_repeats(void **state) {
    static const int32_t settings[] = {0, 1, 0, 1, 0, 1};
    static const double values[] = {1, 2, 1.001, 2.002, 0.999, 1.998}, most[] = {0.7, 0.8, 0.9, 1};
    (void)state;
    for (int32_t repeats = 0; repeats < 4; repeats++)
        assert_true(probability_of_pair(settings, values, 2 + repeats) <= most[repeats]);
    assert_true(probability_of_pair(settings, values, 6) > 0.95);
}

/* Of a flat axis everything is tried before it is said that there is nothing; a part of it, and the doubt is told. */
static void a_flat_axis_hides_nothing(void **state) {
    static const struct rough rough = {{"x=40..80", NULL}, needle, 0.01, 0, 0, 0, 0};
    (void)state;
    struct rough_result part = study_rough(&rough, 1, 15), whole = study_rough(&rough, 1, 0);
    assert_true(part.answer.chance_isolated > 0.2);
    assert_true(part.said < 0.8);
    assert_true(whole.runs > 30);
    assert_true(whole.said >= 0.95);
    assert_true(whole.answer.predictions > 20);
}

/* Where one value is fast alone, it may be one of many. */
static void a_fast_value_may_be_one_of_many(void **state) {
    static const struct rough rough[] = {{{"x=1000..1199", NULL}, needles, 0.01, 0, 0, 0, 0},
                                         {{"x=1000..1199", NULL}, few_needles, 0.01, 0, 0, 0, 0}};
    (void)state;
    for (int32_t r = 0; r < 2; r++) {
        int32_t sure = 0, right = 0;
        for (int64_t seed = 0; seed < 5; seed++) {
            struct rough_result of = study_rough(&rough[r], seed, 0);
            sure += of.said >= 0.95;
            right += of.said >= 0.95 && of.right;
        }
        assert_int_equal(right, sure);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_as_right_as_they_say), cmocka_unit_test(recommendations_are_within_the_margin),
        cmocka_unit_test(rough_surfaces_are_found),         cmocka_unit_test(what_cannot_be_known_is_not_said),
        cmocka_unit_test(few_sizes_in_much_noise),          cmocka_unit_test(a_flat_axis_hides_nothing),
        cmocka_unit_test(a_fast_value_may_be_one_of_many),  cmocka_unit_test(two_modes_are_told_apart),
        cmocka_unit_test(noise_of_the_best_counts),         cmocka_unit_test(a_pair_is_looked_at_often),
        cmocka_unit_test(noise_is_not_taken_for_modes),     cmocka_unit_test(little_is_said_without_repeats),
        cmocka_unit_test(few_sizes_are_looked_at_often),    cmocka_unit_test(all_is_tried_where_there_is_no_order),
        cmocka_unit_test(no_order_counts_in_large_spaces),  cmocka_unit_test(slow_settings_count_in_large_spaces),
        cmocka_unit_test(a_fast_value_is_not_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
