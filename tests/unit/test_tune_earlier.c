/* SPDX-License-Identifier: Apache-2.0 */
/* Earlier studies: those that still hold save measurements; those of a surface that has changed since are dropped, and
 * the answer is as often right as it says. Surfaces are made up, of 38 settings, with 2 % of noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/random.h"
#include "kerf/tune.h"

enum { SEEDS = 32, EARLIER_MAX = 200 };

/* A valley over the logarithm of ubatch at `floor`; left and right of it the time grows by these for each step squared;
 * and all of it takes `times` as long. Or stairs over the first parameter, as of memory: from `step` on 1.8 times, from
 * three times that on 4 times as long. */
struct surface {
    double floor, left, right, times, step;
};

struct outcome {
    int32_t runs, right, dropped, earlier;
    double stated;
};

static double truth(const struct kerf_tune_space *space, const struct surface *surface, int32_t setting) {
    const int32_t *values = space->values + space->num_params * (int64_t)setting;
    if (surface->step > 0) {
        double first = (double)space->params[0].integers[values[0]];
        return 0.4 * (first < surface->step ? 1 : first < 3 * surface->step ? 1.8 : 4);
    }
    double batch = log2((double)space->params[0].integers[values[0]]);
    double ubatch = log2((double)space->params[1].integers[values[1]]), off = ubatch - surface->floor;
    double slow = (off < 0 ? surface->left : surface->right) * off * off;
    return 0.4 * surface->times * (1 + slow) * (1 + 0.002 * (batch - ubatch));
}

static double regret(const struct kerf_tune_space *space, const struct surface *surface, int32_t setting) {
    double best = INFINITY;
    for (int32_t i = 0; i < space->num_settings; i++) best = fmin(best, truth(space, surface, i));
    return truth(space, surface, setting) / best - 1;
}

/* Runs a study to its end; its observations go to ret_seen [EARLIER_MAX]. */
static struct outcome study_on(const struct kerf_tune_space *space, const struct surface *surface, uint64_t seed,
                               const struct kerf_tune_observation *earlier, int32_t num_earlier,
                               struct kerf_tune_observation *ret_seen) {
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_decision decision;
    struct kerf_tune_answer answer;
    struct pcg64 rng = random_seed(seed * 7919 + 1);
    double clock = 0;
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.is_time = 1;
    question.seed = (int64_t)seed;
    question.earlier = earlier;
    question.num_earlier = num_earlier;
    assert_int_equal(kerf_tune_study_create(&question, &study, NULL), KERF_OK);
    for (int32_t n = 0;; n++) {
        assert_int_equal(kerf_tune_study_next(study, NULL, 0, 0, &decision, NULL), KERF_OK);
        if (decision.action == KERF_TUNE_STOP) break;
        double value = truth(space, surface, decision.setting) * exp(random_normal(&rng, 0, 0.02));
        int is_cut = decision.limit > 0 && value > decision.limit;
        struct kerf_tune_observation seen = {.setting = decision.setting,
                                             .outcome = is_cut ? KERF_TUNE_CENSORED : KERF_TUNE_VALUE,
                                             .value = is_cut ? decision.limit : value,
                                             .start_s = clock};
        seen.end_s = clock += seen.value;
        assert_int_equal(kerf_tune_study_observe(study, &seen, NULL), KERF_OK);
        if (ret_seen && n < EARLIER_MAX) ret_seen[n] = seen;
    }
    assert_int_equal(kerf_tune_study_answer(study, &answer, NULL), KERF_OK);
    struct outcome outcome = {answer.observations, regret(space, surface, answer.best) <= 0.03, answer.earlier_dropped,
                              answer.earlier, answer.settings[answer.best].probability_within};
    kerf_tune_study_free(study);
    return outcome;
}

static struct kerf_tune_space *grid(void) {
    static const char *const params[] = {"batch=256..2048:x2", "ubatch=2..2048:x2"}, *const wheres[] = {
                                                                                         "ubatch<=batch"};
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 2, wheres, 1, "batch=2048,ubatch=512", &space, NULL), KERF_OK);
    return space;
}

static const struct surface then = {8, 0.035, 0.02, 1, 0};
static struct kerf_tune_observation kept[SEEDS][EARLIER_MAX]; /* of studies on it */
static int32_t num_kept[SEEDS];

/* Means over seeds of studies on `now`, each after one on `then`. */
static struct outcome after_one(const struct surface *now, double *ret_runs) {
    struct kerf_tune_space *space = grid();
    struct outcome sum = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct outcome second = study_on(space, now, seed + 1000, kept[seed], num_kept[seed], NULL);
        sum.runs += second.runs;
        sum.right += second.right;
        sum.dropped += second.dropped;
        sum.stated += second.stated / SEEDS;
    }
    kerf_tune_space_free(space);
    *ret_runs = (double)sum.runs / SEEDS;
    return sum;
}

/* Of the same surface, or one that is slower everywhere, they are kept, and a study needs far fewer runs than a fresh one. */
static void those_that_hold_help(void **state) {
    (void)state;
    const struct surface slower = {8, 0.035, 0.02, 1.5, 0};
    struct kerf_tune_space *space = grid();
    double fresh = 0, runs;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        fresh += (double)study_on(space, &then, seed + 1000, NULL, 0, NULL).runs / SEEDS;
    kerf_tune_space_free(space);
    struct outcome same = after_one(&then, &runs);
    assert_true(same.dropped <= SEEDS / 5 && same.right >= SEEDS - 2);
    assert_true(runs < 0.7 * fresh);
    struct outcome shifted = after_one(&slower, &runs);
    assert_true(shifted.dropped <= SEEDS / 2 && shifted.right >= SEEDS - 2);
}

/* Whatever has changed: the answer is right as often as it says, less what so few seeds may miss. */
static void those_that_do_not_are_dropped(void **state) {
    (void)state;
    static const struct surface changed[] = {
        {4, 0.035, 0.02, 1, 0},   /* small is fast by now */
        {10, 0.035, 0.02, 1, 0},  /* large is */
        {8, 0.002, 0.05, 1.3, 0}, /* small ones are hardly slower */
    };
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        double runs;
        struct outcome of = after_one(&changed[i], &runs);
        assert_true(of.right >= SEEDS * (of.stated - 0.04) - 1);
        assert_true(of.dropped >= SEEDS * 13 / 16);
    }
}

/* Three studies of the same stairs, one after the other, and then one of stairs elsewhere. What is far above all else is no
 * reason to take a study for one of something else. */
static void stairs_hold(void **state) {
    (void)state;
    enum { CHAIN = 3, STAIRS_SEEDS = 10 };
    static const char *const params[] = {"b=1..64"};
    static struct kerf_tune_observation seen[CHAIN * EARLIER_MAX];
    struct kerf_tune_space *space;
    int32_t had = 0, dropped = 0, dropped_moved = 0;
    assert_int_equal(kerf_tune_space_create(params, 1, NULL, 0, NULL, &space, NULL), KERF_OK);
    for (uint64_t seed = 0; seed < STAIRS_SEEDS; seed++) {
        const struct surface stairs = {0, 0, 0, 1, 9 + (double)seed}, moved = {0, 0, 0, 1, 5};
        int32_t count = 0;
        for (int32_t k = 0; k < CHAIN; k++) {
            struct outcome one = study_on(space, &stairs, seed + 100 * (uint64_t)k, seen, count, seen + count);
            had += k;
            dropped += one.dropped;
            for (int32_t i = 0; i < one.runs; i++) seen[count + i].slot = k;
            count += one.runs;
        }
        dropped_moved += study_on(space, &moved, seed + 999, seen, count, NULL).dropped;
    }
    kerf_tune_space_free(space);
    assert_true(dropped <= had / 6);
    assert_true(dropped_moved >= CHAIN * STAIRS_SEEDS * 2 / 3);
}

static int make_earlier(void **state) {
    (void)state;
    struct kerf_tune_space *space = grid();
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        num_kept[seed] = study_on(space, &then, seed, NULL, 0, kept[seed]).runs;
    kerf_tune_space_free(space);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_hold_help),
        cmocka_unit_test(those_that_do_not_are_dropped),
        cmocka_unit_test(stairs_hold),
    };
    return cmocka_run_group_tests(tests, make_earlier, NULL);
}
