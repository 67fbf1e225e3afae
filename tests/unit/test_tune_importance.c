/* SPDX-License-Identifier: Apache-2.0 */
/* What matters: shares computed by hand, on whole grids and on parts of them, and what a study says of a known surface. */
#include "tune_bed.h"

#include "tune/importance.h"

enum { PARAMS_MAX = 4, NUM_MAX = 512 };

static struct kerf_tune_space *space_of(const char *const *params, int32_t num, const char *where) {
    struct kerf_tune_space *space;
    struct kerf_error err;
    if (kerf_tune_space_create(params, num, &where, where != NULL, NULL, &space, &err) != KERF_OK)
        fail_msg("%s", err.message);
    return space;
}

/* Shares [axes, then pairs] of a surface over all settings of a space; returns its variance. */
static double shares_of(const struct kerf_tune_space *space, const double *y, double *ret_shares) {
    struct arena arena = {0};
    struct variance_parts parts;
    int32_t settings[NUM_MAX];
    for (int32_t i = 0; i < space->num_settings; i++) settings[i] = i;
    assert_true(variance_parts_make(space, settings, space->num_settings, 0, &arena, &parts));
    variance_parts_fit(&parts, NULL);
    double variance = variance_parts_of(&parts, y, ret_shares);
    arena_free(&arena);
    return variance;
}

static void assert_share(double is, double expected) {
    if (!(fabs(is - expected) < 2e-6)) fail_msg("%.9g instead of %.9g", is, expected);
}

/* a = 0, 1, 2 and b = 0, 3: variances 2/3 and 9/4 of 35/12. */
static void sum_of_two_effects(void **state) {
    (void)state;
    const char *params[] = {"a=0..2", "b=0..1"};
    struct kerf_tune_space *space = space_of(params, 2, NULL);
    const double y[] = {0, 3, 1, 4, 2, 5};
    double shares[3];
    assert_share(shares_of(space, y, shares), 35 / 12.0);
    assert_share(shares[0], 8 / 35.0);
    assert_share(shares[1], 27 / 35.0);
    assert_share(shares[2], 0);
    kerf_tune_space_free(space);
}

/* 0 0 / 0 4: mean 1, variance 3; each main effect has means 0 and 2, and so has a variance of 1; what is left is
 * 1 -1 / -1 1. */
static void an_interaction(void **state) {
    (void)state;
    const char *params[] = {"a=0..1", "b=0..1"};
    struct kerf_tune_space *space = space_of(params, 2, NULL);
    const double y[] = {0, 0, 0, 4};
    double shares[3];
    assert_share(shares_of(space, y, shares), 3);
    for (int k = 0; k < 3; k++) assert_share(shares[k], 1 / 3.0);
    kerf_tune_space_free(space);
}

/* What three do together is nobody's: the parity of three. */
static void three_together(void **state) {
    (void)state;
    const char *params[] = {"a=0..1", "b=0..1", "c=0..1"};
    struct kerf_tune_space *space = space_of(params, 3, NULL);
    double y[8], shares[6];
    for (int32_t i = 0; i < 8; i++) y[i] = (value_of(space, i, 0) + value_of(space, i, 1) + value_of(space, i, 2)) % 2;
    shares_of(space, y, shares);
    for (int k = 0; k < 6; k++) assert_share(shares[k], 0);
    kerf_tune_space_free(space);
}

/* ubatch <= batch: means over the settings that there are would give ubatch a share, as a large one stands with large
 * batches alone. */
static void a_bound_parameter_gets_nothing(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid(NULL);
    double y[NUM_MAX], shares[3], sum[16] = {0}, count[16] = {0};
    for (int32_t i = 0; i < space->num_settings; i++) {
        y[i] = value_of(space, i, 0);
        sum[value_of(space, i, 1)] += y[i];
        count[value_of(space, i, 1)]++;
    }
    shares_of(space, y, shares);
    assert_true(sum[0] / count[0] + 1 < sum[7] / count[7]);
    assert_share(shares[0], 1);
    assert_share(shares[1], 0);
    assert_share(shares[2], 0);
    kerf_tune_space_free(space);
}

/* off: 0; on with 4: 1; on with 8: 3. The mean is 4/3, the variance 14/9. On is 2 above off, and 8 above 4 by 2 where
 * there is a draft at all. */
static void where_it_has_no_effect(void **state) {
    (void)state;
    const char *params[] = {"spec?=--spec", "draft=4,8 when spec"};
    struct kerf_tune_space *space = space_of(params, 2, NULL);
    const double y[] = {0, 1, 3};
    double shares[3];
    assert_int_equal(space->num_settings, 3);
    assert_share(shares_of(space, y, shares), 14 / 9.0);
    assert_share(shares[0], 4 / 7.0);
    assert_share(shares[1], 3 / 7.0);
    assert_share(shares[2], 0);
    kerf_tune_space_free(space);
}

/* Two that always go together have half of it each: nothing tells them apart. */
static void two_that_go_together(void **state) {
    (void)state;
    const char *params[] = {"a=0..3", "b=0..3"};
    struct kerf_tune_space *space = space_of(params, 2, "a == b");
    const double y[] = {0, 1, 5, 2};
    double shares[3];
    shares_of(space, y, shares);
    assert_share(shares[0], 0.5);
    assert_share(shares[1], 0.5);
    assert_share(shares[2], 0);
    kerf_tune_space_free(space);
}

/* A surface of all interactions on a part of a grid has the same shares in each order of the parameters. */
static void the_order_does_not_matter(void **state) {
    (void)state;
    static const char *const texts[] = {"a=1..4", "b=1..3", "c=x,y,z", "d=1..2"};
    static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    double first[4 + 6] = {0};
    for (int order = 0; order < 24; order++) {
        int at[4], left[4] = {0, 1, 2, 3}, code = order, pair = 0;
        const char *params[4];
        for (int k = 0; k < 4; code /= 4 - k, k++) {
            at[k] = left[code % (4 - k)];
            for (int i = code % (4 - k); i < 3; i++) left[i] = left[i + 1];
            params[k] = texts[at[k]];
        }
        struct kerf_tune_space *space = space_of(params, 4, "a + b <= 6 && (d == 1 || a > 1)");
        double y[NUM_MAX], shares[4 + 6], named[4 + 6] = {0};
        assert_true(space->num_settings < 72);
        for (int32_t i = 0; i < space->num_settings; i++) {
            int32_t of[4];
            for (int k = 0; k < 4; k++) of[at[k]] = value_of(space, i, k);
            y[i] = sin(1 + of[0] * 1.7 + of[1] * of[2] * 0.9 + of[3] * of[0] * 2.3) + 0.4 * of[2];
        }
        shares_of(space, y, shares);
        for (int k = 0; k < 4; k++) named[at[k]] = shares[k];
        for (int a = 0; a < 4; a++)
            for (int b = a + 1; b < 4; b++, pair++)
                for (int k = 0; k < 6; k++)
                    if ((pairs[k][0] == at[a] && pairs[k][1] == at[b]) ||
                        (pairs[k][0] == at[b] && pairs[k][1] == at[a]))
                        named[4 + k] = shares[4 + pair];
        for (int k = 0; k < 10; k++) {
            if (order == 0) first[k] = named[k];
            assert_share(named[k], first[k]);
        }
        for (int k = 4; k < 10; k++) assert_true(named[k] > 0.001);
        kerf_tune_space_free(space);
    }
}

/* Halves that serve one another: what agrees by chance within a sample is nobody's share. */
static void a_sample_of_noise(void **state) {
    (void)state;
    enum { SAMPLE = 200, ROUNDS = 60 };
    const char *params[] = {"a=1..40", "b=1..40", "c=1..40"};
    struct kerf_tune_space *space = space_of(params, 3, NULL);
    struct pcg64 rng = random_seed(3);
    double sum[6] = {0}, whole = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct arena arena = {0};
        struct variance_parts parts;
        int32_t settings[SAMPLE];
        double y[SAMPLE], shares[6];
        unsigned char fit[SAMPLE];
        for (int32_t i = 0; i < SAMPLE; i++) {
            settings[i] = i * 320 + (int32_t)random_to(&rng, 319);
            y[i] = random_normal(&rng, 0, 1);
            fit[i] = random_to(&rng, 1) == 0;
        }
        assert_true(variance_parts_make(space, settings, SAMPLE, 16, &arena, &parts));
        assert_int_equal(parts.num_levels[1], 16);
        variance_parts_fit(&parts, fit);
        variance_parts_of(&parts, y, shares);
        for (int k = 0; k < 3; k++) sum[k] += shares[k] / ROUNDS;
        for (int k = 3; k < 6; k++) sum[k] += isnan(shares[k]) ? 0 : shares[k] / ROUNDS;
        variance_parts_fit(&parts, NULL);
        variance_parts_of(&parts, y, shares);
        whole += shares[0] / ROUNDS;
        arena_free(&arena);
    }
    for (int k = 0; k < 6; k++) assert_true(fabs(sum[k]) < 0.03);
    assert_true(whole > 0.05); /* what it would be without halves */
    kerf_tune_space_free(space);
}

/* ---- Studies ------------------------------------------------------------------------------------------------------ */

static struct kerf_tune_importance importance_of(struct kerf_tune_study *study) {
    struct kerf_tune_importance importance = {.size = sizeof importance};
    struct kerf_error err;
    if (kerf_tune_study_importance(study, &importance, &err) != KERF_OK) fail_msg("%s", err.message);
    for (int32_t k = 0; k < importance.num_effects; k++) {
        const struct kerf_tune_effect *of = &importance.effects[k];
        if (isnan(of->share)) continue;
        assert_true(0 <= of->interval[0] && of->interval[0] <= of->interval[1] && of->interval[1] <= 1);
        assert_true(of->params[1] < 0 || of->params[0] < of->params[1]);
    }
    return importance;
}

static const struct kerf_tune_effect *effect_of(const struct kerf_tune_importance *importance, int32_t a, int32_t b) {
    for (int32_t k = 0; k < importance->num_effects; k++)
        if (importance->effects[k].params[0] == a && importance->effects[k].params[1] == b)
            return &importance->effects[k];
    fail_msg("no effect of %d and %d", (int)a, (int)b);
    return NULL;
}

static void tell(struct kerf_tune_study *study, int32_t setting, double value) {
    struct kerf_tune_observation seen = {.setting = setting, .value = value};
    assert_int_equal(kerf_tune_study_observe(study, &seen, NULL), KERF_OK);
}

static double width(const struct kerf_tune_effect *of) { return of->interval[1] - of->interval[0]; }

/* ln of the time: 0.2 a, and 0.1 b of c's second word alone: an interaction. */
static double known_surface(const struct kerf_tune_space *space, int32_t setting) {
    return 0.2 * value_of(space, setting, 0) + 0.1 * value_of(space, setting, 1) * value_of(space, setting, 2);
}

static struct kerf_tune_space *known_space(int reversed) {
    static const char *const params[] = {"a=1..5", "b=1..4", "c=x,y"}, *const back[] = {"c=x,y", "b=1..4", "a=1..5"};
    return space_of(reversed ? back : params, 3, NULL);
}

static struct kerf_tune_study *known_study(const struct kerf_tune_space *space, const char *policy, int32_t runs) {
    struct kerf_tune_question question = ask(space, policy);
    struct kerf_tune_study *study = begin(&question);
    struct pcg64 rng = random_seed(4);
    for (int32_t k = 0; k < runs; k++) {
        int32_t setting = k * 17 % space->num_settings;
        tell(study, setting, exp(known_surface(space, setting) + random_normal(&rng, 0, 0.01)));
    }
    return study;
}

/* By hand: a 0.08, b 0.003125, c 0.005625, b with c 0.003125, of their sum. */
static void a_known_surface(void **state) {
    (void)state;
    static const char *const policies[] = {"kerf", "race", "exhaustive"};
    static const struct {
        int32_t params[2];
        double variance;
    } parts[] = {{{0, -1}, 0.08},    {{1, -1}, 0.003125}, {{2, -1}, 0.005625},
                 {{1, 2}, 0.003125}, {{0, 1}, 0},         {{0, 2}, 0}};
    const double whole = 0.091875;
    struct kerf_tune_space *space = known_space(0);
    for (int p = 0; p < 3; p++) {
        struct kerf_tune_study *study = known_study(space, policies[p], 80);
        struct kerf_tune_importance importance = importance_of(study);
        assert_int_equal(importance.num_effects, 6);
        assert_int_equal(importance.settings, 40);
        assert_false(importance.is_sample);
        assert_true(importance.is_ratio && fabs(importance.spread - sqrt(whole)) < 0.01);
        assert_true(importance.rest < 0.01);
        for (int k = 0; k < 6; k++) {
            const struct kerf_tune_effect *of = effect_of(&importance, parts[k].params[0], parts[k].params[1]);
            double share = parts[k].variance / whole;
            assert_true(of->interval[0] - 0.005 < share && share < of->interval[1] + 0.005);
            assert_true(width(of) < 0.05);
        }
        assert_int_equal(importance.effects[0].params[0], 0); /* the largest share first, parameters before pairs */
        assert_int_equal(importance.effects[1].params[0], 2);
        assert_true(importance.effects[2].params[1] < 0 && importance.effects[3].params[1] >= 0);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* After one run anything may matter, and more runs tell more; what is true, 0.871, is among what may be. */
static void little_is_known_of_few_runs(void **state) {
    (void)state;
    static const struct {
        int32_t runs;
        double least, most; /* the interval's width */
    } steps[] = {{1, 0.7, 1}, {8, 0.5, 1}, {16, 0.08, 0.4}, {64, 0.001, 0.03}};
    struct kerf_tune_space *space = known_space(0);
    for (int k = 0; k < 4; k++) {
        struct kerf_tune_study *study = known_study(space, NULL, steps[k].runs);
        struct kerf_tune_importance importance = importance_of(study);
        const struct kerf_tune_effect *of = effect_of(&importance, 0, -1);
        assert_true(steps[k].least < width(of) && width(of) < steps[k].most);
        assert_true(k == 0 || (of->interval[0] < 0.881 && 0.861 < of->interval[1]));
        if (k == 0)
            assert_true(width(effect_of(&importance, 1, -1)) > 0.7 && width(effect_of(&importance, 2, -1)) > 0.7);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* The same runs, told of a space with its parameters in another order. */
static void a_study_in_another_order(void **state) {
    (void)state;
    struct kerf_tune_space *space = known_space(0), *back = known_space(1);
    struct kerf_tune_study *study = known_study(space, NULL, 24);
    struct kerf_tune_question question = ask(back, NULL);
    struct kerf_tune_study *other = begin(&question);
    struct pcg64 rng = random_seed(4);
    for (int32_t k = 0; k < 24; k++) {
        int32_t setting = k * 17 % space->num_settings, values[3];
        for (int i = 0; i < 3; i++) values[2 - i] = value_of(space, setting, i);
        tell(other, kerf_tune_space_find(back, values),
             exp(known_surface(space, setting) + random_normal(&rng, 0, 0.01)));
    }
    struct kerf_tune_importance one = importance_of(study), two = importance_of(other);
    for (int a = 0; a < 3; a++)
        for (int b = -1; b < 3; b++) {
            if (b >= 0 && b <= a) continue;
            const struct kerf_tune_effect *of = effect_of(&one, a, b);
            const struct kerf_tune_effect *as = b < 0 ? effect_of(&two, 2 - a, -1) : effect_of(&two, 2 - b, 2 - a);
            assert_true(fabs(of->share - as->share) < 0.01); /* other draws */
        }
    kerf_tune_study_free(study);
    kerf_tune_study_free(other);
    kerf_tune_space_free(space);
    kerf_tune_space_free(back);
}

/* 2304 settings, of which 256 are looked at: 0.1 a + 0.01 b c from 0 has the variances 0.1192, 0.0670 and 0.0643 of a,
 * b and c, and 0.0253 of b with c. */
static void a_large_space(void **state) {
    (void)state;
    enum { RUNS = 60 };
    const char *params[] = {"a=1..12", "b=1..12", "c=1..16"};
    struct kerf_tune_space *space = space_of(params, 3, NULL);
    struct kerf_tune_question question = ask(space, NULL);
    struct kerf_tune_study *study = begin(&question);
    struct pcg64 rng = random_seed(4);
    for (int32_t k = 0; k < RUNS; k++) {
        int32_t setting = (int32_t)random_to(&rng, (uint32_t)space->num_settings - 1);
        double y = 0.1 * value_of(space, setting, 0) + 0.01 * value_of(space, setting, 1) * value_of(space, setting, 2);
        tell(study, setting, exp(y + random_normal(&rng, 0, 0.01)));
    }
    double b = 143 / 12.0, c = 255 / 12.0, of_b = 1e-4 * b * 7.5 * 7.5, of_c = 1e-4 * c * 5.5 * 5.5,
           both = 1e-4 * b * c;
    double of[] = {0.01 * b, of_b, of_c}, whole = of[0] + of_b + of_c + both;
    struct kerf_tune_importance importance = importance_of(study);
    assert_int_equal(importance.settings, 256);
    assert_true(importance.is_sample);
    assert_true(fabs(importance.spread - sqrt(whole)) < 0.05);
    for (int k = 0; k < 3; k++) {
        const struct kerf_tune_effect *main = effect_of(&importance, k, -1);
        assert_true(main->interval[0] - 0.05 < of[k] / whole && of[k] / whole < main->interval[1] + 0.05);
        assert_true(width(main) < 0.3);
    }
    assert_true(fabs(effect_of(&importance, 1, 2)->share - both / whole) < 0.06);
    assert_true(effect_of(&importance, 0, 1)->share < 0.03 && effect_of(&importance, 0, 2)->share < 0.03);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

/* Main effects of random surfaces with an interaction, after so few runs that the intervals are wide: they hold the true
 * shares about as often as they say, 90 %. */
static void intervals_hold_what_they_say(void **state) {
    (void)state;
    enum { SURFACES = 24, RUNS = 14, SETTINGS = 40 };
    struct kerf_tune_space *space = known_space(0);
    int32_t held = 0;
    double widths = 0;
    for (uint64_t seed = 0; seed < SURFACES; seed++) {
        struct pcg64 rng = random_seed(70 + seed);
        double y[SETTINGS], shares[6], slopes[4];
        for (int k = 0; k < 4; k++) slopes[k] = random_normal(&rng, 0, 0.1);
        for (int32_t i = 0; i < SETTINGS; i++) {
            int32_t a = value_of(space, i, 0), b = value_of(space, i, 1), c = value_of(space, i, 2);
            y[i] = slopes[0] * a + slopes[1] * fabs(b - 1.5) + 2 * slopes[2] * c + slopes[3] * (a - 2) * (c - 0.5);
        }
        shares_of(space, y, shares);
        struct kerf_tune_question question = ask(space, NULL);
        struct kerf_tune_study *study = begin(&question);
        for (int32_t k = 0; k < RUNS; k++) {
            int32_t setting = (int32_t)random_to(&rng, SETTINGS - 1);
            tell(study, setting, exp(y[setting] + random_normal(&rng, 0, 0.02)));
        }
        struct kerf_tune_importance importance = importance_of(study);
        for (int k = 0; k < 3; k++) {
            const struct kerf_tune_effect *of = effect_of(&importance, k, -1);
            held += of->interval[0] - 0.005 <= shares[k] && shares[k] <= of->interval[1] + 0.005;
            widths += width(of) / (3 * SURFACES);
        }
        kerf_tune_study_free(study);
    }
    if (held < 0.8 * 3 * SURFACES || widths < 0.1 || widths > 0.7)
        fail_msg("%d of %d, %.2f wide", (int)held, 3 * SURFACES, widths);
    kerf_tune_space_free(space);
}

/* What is not said: of nothing, of one setting, of settings that must not be measured, without a size. */
static void where_there_is_nothing_to_say(void **state) {
    (void)state;
    struct kerf_tune_space *space = known_space(0);
    struct kerf_tune_study *study = known_study(space, NULL, 0);
    struct kerf_tune_importance importance = importance_of(study), without = {.size = 0};
    struct kerf_error err;
    assert_int_equal(importance.num_effects, 0);
    assert_true(isnan(importance.spread) && isnan(importance.rest));
    assert_int_equal(kerf_tune_study_importance(study, &without, &err), KERF_EINVALID);
    for (int32_t i = 0; i < space->num_settings; i++)
        if (value_of(space, i, 2) == 1) kerf_tune_study_skip(study, i, "too large");
    tell(study, 0, 1);
    tell(study, 2, 2);
    importance = importance_of(study);
    assert_int_equal(importance.settings, 20);
    assert_int_equal(importance.num_effects, 3); /* c has one value left */
    for (int32_t i = 1; i < space->num_settings; i++) kerf_tune_study_skip(study, i, "too large");
    assert_int_equal(importance_of(study).num_effects, 0);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

/* Values that may be 0 have no ratio: the surface itself is shared out, and the spread is in its unit. */
static void without_a_ratio(void **state) {
    (void)state;
    const char *params[] = {"a=0..2", "b=0..1"};
    struct kerf_tune_space *space = space_of(params, 2, NULL);
    struct kerf_tune_question question = ask(space, NULL);
    question.is_time = 0;
    struct kerf_tune_study *study = begin(&question);
    const double y[] = {0, 300, 100, 400, 200, 500};
    for (int32_t k = 0; k < 18; k++) tell(study, k % 6, y[k % 6]);
    struct kerf_tune_importance importance = importance_of(study);
    assert_false(importance.is_ratio);
    assert_true(fabs(importance.spread - 100 * sqrt(35 / 12.0)) < 2);
    assert_true(fabs(effect_of(&importance, 0, -1)->share - 8 / 35.0) < 0.02);
    assert_true(fabs(effect_of(&importance, 1, -1)->share - 27 / 35.0) < 0.02);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_of_two_effects),
        cmocka_unit_test(an_interaction),
        cmocka_unit_test(three_together),
        cmocka_unit_test(a_bound_parameter_gets_nothing),
        cmocka_unit_test(where_it_has_no_effect),
        cmocka_unit_test(two_that_go_together),
        cmocka_unit_test(the_order_does_not_matter),
        cmocka_unit_test(a_sample_of_noise),
        cmocka_unit_test(a_known_surface),
        cmocka_unit_test(little_is_known_of_few_runs),
        cmocka_unit_test(a_study_in_another_order),
        cmocka_unit_test(a_large_space),
        cmocka_unit_test(intervals_hold_what_they_say),
        cmocka_unit_test(where_there_is_nothing_to_say),
        cmocka_unit_test(without_a_ratio),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
