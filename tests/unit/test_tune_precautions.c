/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is run before a study says that it is sure: settings at which machines are known to be fast, or slow, and runs of
 * which one may have been chance. Of whole studies, each with a seed of its own, or of what comes next after told runs.
 */
#include "rough_bed.h"
#include "tune_bed.h"

/* Threads that share two nodes of 28 cores evenly, and none beside them do. */
static double even(const int64_t *of) {
    double t = (double)of[0];
    return (1 + 0.02 * (t - 1) + 0.0006 * t * (t - 1)) / t * (of[0] == 56 ? 0.88 : 1);
}

/* What the machine says of itself is looked at before a study is sure, whatever lies beside it. */
static void sizes_of_the_machine_are_tried(void **state) {
    static const struct rough rough = {{"t=1..112", NULL}, even, 0.02, 0, 10, 9, 0};
    int32_t unknown = 0, known = 0;
    (void)state;
    for (int64_t seed = 0; seed < rough.studies; seed++) {
        known += study_machine(&rough, seed, 0, 56).right;
        unknown += study_machine(&rough, seed, 0, 0).right;
    }
    assert_in_range(known, rough.right_least, rough.studies);
    assert_true(unknown < known);
}

/* As many threads as there are processors are fast, and one more are slow. */
static double step(const int64_t *of) {
    double t = (double)of[0];
    return (1 + 0.02 * (t - 1) + 0.0003 * t * (t - 1)) / t * (of[0] == 56 ? 0.92 : 1) * (t > 56 ? 1.2 : 1);
}

/* The gap in which a step lies is halved, although nothing tells of it. */
static void the_last_value_before_a_step_is_found(void **state) {
    static const struct rough rough = {{"t=1..112", NULL}, step, 0.02, 0, 20, 19, 0};
    int32_t right = 0;
    (void)state;
    for (int64_t seed = 0; seed < rough.studies; seed++) right += study_rough(&rough, seed, 0).right;
    assert_in_range(right, rough.right_least, rough.studies);
}

/* As many threads as cores, and a cliff behind them. */
static double cores(const int64_t *of) {
    double t = (double)(of[0] < 8 ? of[0] : 8);
    return (1 + 0.03 * (t - 1)) / t * (of[0] > 8 ? 1.6 + 0.05 * ((double)of[0] - 8) : 1);
}

/* On a machine of two modes all runs of the best but one may have been slow ones, and look like the cliff. */
static void one_slow_run_rules_nothing_out(void **state) {
    static const struct rough rough = {{"t=1..32", NULL}, cores, 0.02, 0.3, 100, 95, 0};
    int32_t right = 0;
    (void)state;
    for (int64_t seed = 0; seed < rough.studies; seed++) right += study_rough(&rough, seed, 0).right;
    assert_in_range(right, rough.right_least, rough.studies);
}

/* What a study measures next, after these runs. */
struct told {
    int32_t place; /* of the setting in the grid, from 1 on: the number of threads of 1 to 32 */
    double value;
    int32_t is_stopped;
};

static const char *const threads[] = {"t=1..32", NULL};

static struct kerf_tune_study *study_told(const char *const *params, const struct told *told, size_t num, int64_t seed,
                                          struct kerf_tune_space **ret_space) {
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    double clock = 1;
    int32_t num_params = 0;
    while (params[num_params]) num_params++;
    assert_int_equal(kerf_tune_space_create(params, num_params, NULL, 0, NULL, ret_space, NULL), KERF_OK);
    kerf_tune_question_defaults(&question);
    question.space = *ret_space;
    question.is_time = 1;
    question.seed = seed;
    assert_int_equal(kerf_tune_study_create(&question, &study, NULL), KERF_OK);
    for (size_t i = 0; i < num; i++) {
        struct kerf_tune_observation o = {.setting = told[i].place - 1,
                                          .outcome = told[i].is_stopped ? KERF_TUNE_CENSORED : KERF_TUNE_VALUE,
                                          .value = told[i].value,
                                          .start_s = clock};
        o.end_s = clock += 2;
        assert_int_equal(kerf_tune_study_observe(study, &o, NULL), KERF_OK);
    }
    return study;
}

static void assert_next(const char *const *params, const struct told *told, size_t num, int64_t seed, int32_t place,
                        const char *reason) {
    struct kerf_tune_space *space;
    struct kerf_tune_study *study = study_told(params, told, num, seed, &space);
    struct kerf_tune_decision decision;
    assert_int_equal(kerf_tune_study_next(study, NULL, 0, 0, &decision, NULL), KERF_OK);
    assert_int_equal(decision.action, KERF_TUNE_MEASURE);
    assert_string_equal(decision.reason, reason);
    assert_int_equal(decision.setting, place - 1);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

/* Sixteen threads lie where a valley is expected to be deepest, and their one run may have been a slow one. But others were
 * fast in each of their runs. */
static void what_was_never_fast_is_no_answer(void **state) {
    static const int32_t tried[] = {1, 32, 8, 24, 12, 20, 14, 18, 15, 17, 13, 19, 11, 21, 10, 22};
    enum { TRIED = sizeof tried / sizeof *tried };
    struct told told[2 * TRIED + 1];
    struct kerf_tune_space *space;
    for (int32_t i = 0; i < 2 * TRIED; i++) {
        int32_t place = tried[i % TRIED];
        told[i] = (struct told){place, exp(0.1 * abs(place - 16)) * (1 + 0.001 * (i % 5)), 0};
    }
    told[2 * TRIED] = (struct told){16, 1.9, 0};
    struct kerf_tune_study *study = study_told(threads, told, 2 * TRIED + 1, 1, &space);
    int32_t best = answer_of(study).best + 1;
    (void)state;
    assert_true(best == 15 || best == 17);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

/* The second word of b was run twice, with another word of a, and is slow there. Eleven is the best number with the first. */
static void another_word_is_tried_with_the_leader(void **state) {
    static const char *const params[] = {"a=x,y,z", "b=p,q,r", "n=1..16", NULL};
    static const struct told told[] = {{127, 2.659, 0}, {56, 1.552, 0},  {87, 2.319, 0}, {64, 1.6, 0},   {41, 2.057, 0},
                                       {12, 0.987, 0},  {97, 2.365, 1},  {59, 1.498, 0}, {2, 1.911, 0},  {12, 1.004, 0},
                                       {74, 2.274, 1},  {13, 0.998, 0},  {14, 1.007, 0}, {12, 1.021, 0}, {9, 1.017, 0},
                                       {11, 1, 0},      {15, 1.014, 0},  {13, 0.997, 0}, {10, 0.995, 0}, {4, 1.327, 0},
                                       {13, 1.023, 0},  {10, 0.996, 0},  {16, 1.06, 0},  {7, 1.081, 0},  {10, 1.02, 0},
                                       {11, 0.999, 0},  {127, 2.703, 0}, {107, 1.786, 0}};
    (void)state;
    assert_next(params, told, sizeof told / sizeof *told, 90, 27,
                "another word, where little like the leader was measured");
}

/* Eight threads take 0.19 s, and 0.15 s twice: is the machine faster now, so that seven threads, which took 0.17 s, would
 * lead? They are run again before that is said. */
static void a_changed_machine_is_asked_for_the_leader(void **state) {
    static const struct told told[] = {
        {32, 0.4228, 0}, {12, 0.2726, 0}, {1, 0.6554, 1}, {14, 0.2726, 0}, {13, 0.2823, 0}, {5, 0.2764, 0},
        {8, 0.192, 0},   {2, 0.4486, 1},  {7, 0.1685, 0}, {6, 0.1897, 0},  {9, 0.2545, 0},  {21, 0.3829, 1},
        {7, 0.1691, 0},  {32, 0.4165, 0}, {6, 0.1893, 0}, {8, 0.1543, 0},  {8, 0.1514, 0}};
    (void)state;
    assert_next(threads, told, sizeof told / sizeof *told, 1021, 7,
                "the leader again: the machine has changed since it was measured");
}

/* Eight threads took 0.15 s once of three times, and seven never less than 0.167 s. */
static void what_was_once_faster_is_run_again(void **state) {
    static const struct told told[] = {{9, 0.2487, 0},  {1, 0.5596, 1},  {15, 0.2913, 0}, {9, 0.2504, 0},
                                       {12, 0.2711, 0}, {32, 0.5119, 0}, {4, 0.2761, 0},  {6, 0.1904, 0},
                                       {7, 0.1673, 0},  {22, 0.3812, 1}, {5, 0.281, 0},   {8, 0.1887, 0},
                                       {2, 0.3782, 1},  {9, 0.2422, 0},  {6, 0.1956, 0},  {6, 0.1907, 0},
                                       {8, 0.1494, 0},  {8, 0.1877, 0},  {7, 0.1669, 0}};
    (void)state;
    assert_next(threads, told, sizeof told / sizeof *told, 20337, 8,
                "it was once faster than the leader ever was: by chance?");
}

/* Twelve threads took 0.19 s once, between eleven and fourteen that take 0.15 s: something else kept that run. */
static void what_one_run_rules_out_is_run_again(void **state) {
    static const struct told told[] = {
        {25, 0.1821, 0}, {1, 0.4097, 1},  {6, 0.1787, 0},  {1, 0.4052, 1},  {32, 0.201, 0},  {10, 0.1532, 0},
        {12, 0.1935, 0}, {18, 0.1594, 0}, {18, 0.1595, 0}, {10, 0.1483, 0}, {8, 0.1622, 0},  {14, 0.1498, 0},
        {10, 0.1531, 0}, {15, 0.1576, 0}, {17, 0.1581, 0}, {14, 0.1517, 0}, {16, 0.1528, 0}, {9, 0.1603, 0},
        {19, 0.1606, 0}, {13, 0.1893, 0}, {20, 0.1658, 0}, {3, 0.2571, 0},  {14, 0.1471, 0}, {22, 0.2449, 0},
        {22, 0.1692, 0}, {22, 0.1679, 0}, {7, 0.1698, 0},  {11, 0.1509, 0}, {24, 0.1799, 0}, {14, 0.1509, 0},
        {21, 0.1661, 0}, {11, 0.1481, 0}, {11, 0.1517, 0}, {5, 0.1931, 0},  {25, 0.1821, 0}, {13, 0.1537, 0},
        {13, 0.1552, 0}};
    (void)state;
    assert_next(threads, told, sizeof told / sizeof *told, 1, 12, "one run alone speaks against it: was that chance?");
}

/* Static shares of the threads' work: as slow as the slowest core, and best on all of a kind. Shares that are handed out
 * lose a little everywhere. */
static double shares(const int64_t *of) {
    double t = (double)of[0], fast = fmin(t, 8), slow = fmin(fmax(t - 8, 0), 16), twin = fmax(t - 24, 0);
    double each = t > 24 ? 0.35 : t > 8 ? 0.6 : 1, all = fast + 0.6 * slow + 0.1 * twin;
    return 0.01 + (of[1] == 0 ? 1 / (each * t) : (of[1] == 1 ? 1.42 : 1.36) / all);
}

/* What one word loses at other sizes it may win at those of the machine. */
static void sizes_of_the_machine_are_tried_with_each_word(void **state) {
    static const struct rough rough = {
        {"t=1..40", "schedule=static,dynamic,guided", NULL}, shares, 0.015, 0, 10, 10, 0};
    int32_t right = 0;
    (void)state;
    for (int64_t seed = 0; seed < rough.studies; seed++) right += study_machine(&rough, seed, 0, 24).right;
    assert_in_range(right, rough.right_least, rough.studies);
}

/* The rows of a matrix, padded: a fast load needs multiples of 16, and without any padding the rows share a set. */
static double padded(const int64_t *of) {
    double tile = log2((double)of[1] / 56);
    return (1 + 0.15 * tile * tile) * (of[0] == 0 ? 5 : of[0] % 16 ? 1.17 : 1) * (1 + 1e-4 * (double)of[0]);
}

/* Three of 64 values show that multiples are fast, and one hides it. */
static void a_multiple_of_each_power_of_two_is_tried(void **state) {
    static const struct rough rough = {{"pad=0..63", "tile=8..128:+8", NULL}, padded, 0.01, 0, 4, 4, 0};
    int32_t right = 0;
    (void)state;
    for (int64_t seed = 0; seed < rough.studies; seed++) right += study_rough(&rough, seed, 0).right;
    assert_in_range(right, rough.right_least, rough.studies);
}

/* Batches beyond a memory that depends on the context: from 8 behind the wall to the best with another context. */
static double beside_full_memory(int32_t batch, int32_t context) {
    double bytes = (8 + 8 * batch) * (1 + 0.3 * context);
    return (1 + 14.0 / (8 + 8 * batch)) * (1 + 0.005 * abs(4 * context - 6)) * (bytes > 60 ? 1.5 : 1);
}

/* Memory that workers share: slow where it is full, and INFINITY where it lacks. */
static double in_shared_memory(int32_t workers, int32_t batch) {
    int32_t size = 16 + 16 * batch;
    double bytes = (1 + workers) * (4 + size);
    double one = size / (60.0 + size), busy = (1 + workers) / (1 + 0.01 * workers);
    if (bytes > 1.5 * 820) return INFINITY;
    return (1 + fmax(bytes / 820 - 1, 0) * 4) * 10 / one / busy;
}

static void looks_at_walls(void **state) {
    (void)state;
    enum { STUDIES = 6 };
    static const struct {
        const char *params[2];
        double (*surface)(int32_t a, int32_t b);
        const char *look;
        int32_t most; /* looks of a study */
    } cases[] = {{{"batch=8..128:+8", "context=0..8:+4"}, beside_full_memory, "behind a wall", 6},
                 {{"workers=1..24", "batch=16..192:+16"}, in_shared_memory, "over a wall", 4}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct kerf_tune_space *space;
        const char *params[2] = {cases[c].params[0], cases[c].params[1]};
        int32_t right = 0, looks = 0;
        double best = INFINITY;
        assert_int_equal(kerf_tune_space_create(params, 2, NULL, 0, NULL, &space, NULL), KERF_OK);
        for (int32_t i = 0; i < space->num_settings; i++)
            best = fmin(best, cases[c].surface(value_of(space, i, 0), value_of(space, i, 1)));
        for (uint64_t seed = 1; seed <= STUDIES; seed++) {
            struct kerf_tune_question question = ask(space, NULL);
            question.seed = seed;
            struct kerf_tune_study *study = begin(&question);
            struct pcg64 rng = random_seed(seed);
            struct kerf_tune_decision decision = {.setting = -1};
            for (int run = 0; decision.action != KERF_TUNE_STOP; run++) {
                assert_int_equal(kerf_tune_study_next(study, NULL, 0, 0, &decision, NULL), KERF_OK);
                if (decision.action == KERF_TUNE_STOP) break;
                looks += strncmp(decision.reason, cases[c].look, strlen(cases[c].look)) == 0;
                struct kerf_tune_observation o = {.setting = decision.setting, .start_s = run, .end_s = run + 1};
                o.value = cases[c].surface(value_of(space, o.setting, 0), value_of(space, o.setting, 1)) *
                          exp(random_normal(&rng, 0, 0.01));
                if (isinf(o.value)) {
                    o.outcome = KERF_TUNE_FAILED;
                    o.failure = KERF_TUNE_FAILURE_MEMORY;
                    o.value = 0;
                }
                observe(study, &o);
            }
            int32_t answer = answer_of(study).best;
            right += cases[c].surface(value_of(space, answer, 0), value_of(space, answer, 1)) <= 1.03 * best;
            kerf_tune_study_free(study);
        }
        print_message("%s: right %d of %d, looks %d\n", cases[c].look, (int)right, STUDIES, (int)looks);
        assert_true(looks > 0 && looks <= cases[c].most * STUDIES);
        assert_in_range(right, STUDIES - 1, STUDIES);
        kerf_tune_space_free(space);
    }
}

/* A run that is needed once is not started on two slots. */
static void precautions_are_not_run_twice(void **state) {
    (void)state;
    static const char *const once[] = {"the first setting again",
                                       "beside the leader,",
                                       "nothing tells of",
                                       "at a size of the machine",
                                       "before a step",
                                       "behind a wall",
                                       "over a wall",
                                       "another word",
                                       "a multiple"};
    const int64_t sizes[] = {7, 14};
    int32_t seen = 0;
    for (int seed = 1; seed <= 8; seed++) {
        const char *params[] = {"threads=1..16", "batch=1..4", "bind=none,close,spread"};
        struct kerf_tune_space *space;
        assert_int_equal(kerf_tune_space_create(params, 1 + seed % 3, NULL, 0, NULL, &space, NULL), KERF_OK);
        struct kerf_tune_question question = ask(space, NULL);
        question.seed = (uint64_t)seed;
        struct kerf_tune_study *study = begin(&question);
        assert_int_equal(kerf_tune_study_sizes(study, sizes, 2, NULL), KERF_OK);
        struct pcg64 rng = random_seed((uint64_t)seed);
        for (int round = 0; round < 60; round++) {
            int32_t pending[3], count = 0;
            for (struct kerf_tune_decision decision; count < 3; pending[count++] = decision.setting) {
                assert_int_equal(kerf_tune_study_next(study, pending, count, count, &decision, NULL), KERF_OK);
                if (decision.action == KERF_TUNE_STOP) break;
                for (size_t k = 0; k < sizeof once / sizeof *once; k++) {
                    if (strncmp(decision.reason, once[k], strlen(once[k])) != 0) continue;
                    seen++;
                    for (int32_t i = 0; i < count; i++) assert_int_not_equal(pending[i], decision.setting);
                }
            }
            for (int32_t k = 0; k < count; k++) {
                double off = fabs(value_of(space, pending[k], 0) - 11.0), e = random_normal(&rng, 0, 0.005);
                struct kerf_tune_observation o = {.setting = pending[k], .value = 1 + 0.03 * off + e, .slot = k};
                o.start_s = 3 * round;
                o.end_s = 3 * round + 1;
                observe(study, &o);
            }
            if (count == 0) break;
        }
        kerf_tune_study_free(study);
        kerf_tune_space_free(space);
    }
    assert_true(seen > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_the_machine_are_tried),
        cmocka_unit_test(sizes_of_the_machine_are_tried_with_each_word),
        cmocka_unit_test(another_word_is_tried_with_the_leader),
        cmocka_unit_test(a_multiple_of_each_power_of_two_is_tried),
        cmocka_unit_test(looks_at_walls),
        cmocka_unit_test(precautions_are_not_run_twice),
        cmocka_unit_test(what_was_never_fast_is_no_answer),
        cmocka_unit_test(the_last_value_before_a_step_is_found),
        cmocka_unit_test(one_slow_run_rules_nothing_out),
        cmocka_unit_test(a_changed_machine_is_asked_for_the_leader),
        cmocka_unit_test(what_was_once_faster_is_run_again),
        cmocka_unit_test(what_one_run_rules_out_is_run_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
