/* SPDX-License-Identifier: Apache-2.0 */
/* What a pipeline takes and holds is what its simulated schedule does, for every rule and any times; bounds are not
 * above it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "schedule/pipeline.h"

enum { DEVICES_MAX = 70, CHUNKS_MAX = 8, STAGES_MAX = 600 };

/* ---- Questions ------------------------------------------------------------------------------------------------ */

struct pipeline {
    struct pipeline_question question;
    double forward[STAGES_MAX], input[STAGES_MAX], weight[STAGES_MAX], bytes[STAGES_MAX];
};

static void connect(struct pipeline *pipeline, const char *rule, int32_t p, int32_t v, int32_t m) {
    assert_true(p * v <= STAGES_MAX);
    pipeline->question = (struct pipeline_question){.rule = rule,
                                                    .devices = p,
                                                    .chunks = v,
                                                    .microbatches = m,
                                                    .forward_s = pipeline->forward,
                                                    .backward_input_s = pipeline->input,
                                                    .backward_weight_s = pipeline->weight,
                                                    .activation_bytes = pipeline->bytes,
                                                    .latency_s = pipeline->question.latency_s};
}

/* How stages differ. */
enum unevenness { EVEN, ENDS, NOISE, TWO_SIZES, WILD, SPARSE, WHOLE_NUMBERS, UNEVENNESSES };

static double stage_factor(struct pcg64 *rng, enum unevenness unevenness, int32_t k, int32_t stages) {
    switch (unevenness) {
    case ENDS: return k == 0 || k == stages - 1 ? 1 + 0.3 * random_double(rng) : 1;
    case NOISE: return 1 + 0.1 * random_double(rng);
    case TWO_SIZES: return random_to(rng, 1) ? 1 : 1.05;
    case WILD: return pow(10, 3 * random_double(rng));
    case SPARSE: /* many times are 0 */ return random_to(rng, 2) ? 0 : random_double(rng);
    default: return 1;
    }
}

/* Times of a stage's passes, and a latency from none to longer than a stage. */
static void fill(struct pcg64 *rng, struct pipeline *pipeline, enum unevenness unevenness, int32_t stages) {
    static const double latencies[] = {0, 0, 1e-3, 0.01, 0.3, 1, 5, 40};
    for (int32_t k = 0; k < stages; k++) {
        double *const passes[] = {&pipeline->forward[k], &pipeline->input[k], &pipeline->weight[k]};
        const double together = stage_factor(rng, unevenness, k, stages);
        for (int kind = 0; kind < 3; kind++) {
            const double apart =
                unevenness == WILD || unevenness == SPARSE ? stage_factor(rng, unevenness, k, stages) : 1;
            *passes[kind] = unevenness == WHOLE_NUMBERS ? random_to(rng, 4) : together * apart * (kind == 1 ? 1.25 : 1);
        }
        pipeline->bytes[k] = unevenness == EVEN ? 64 : 1 + random_to(rng, 1000);
    }
    pipeline->question.latency_s = latencies[random_to(rng, 7)];
    if (unevenness == WHOLE_NUMBERS) pipeline->question.latency_s = random_to(rng, 3);
    if (random_to(rng, 19) == 0) /* every time is 0, or every one but the latency */
        for (int32_t k = 0; k < stages; k++) pipeline->forward[k] = pipeline->input[k] = pipeline->weight[k] = 0;
}

/* The plain way. */
struct simulated {
    double makespan_s, peak_bytes[DEVICES_MAX];
};

static struct simulated simulate(const struct pipeline_question *question) {
    const int32_t stages = question->devices * question->chunks;
    static double whole[STAGES_MAX];
    for (int32_t k = 0; k < stages; k++) whole[k] = question->backward_input_s[k] + question->backward_weight_s[k];
    const struct kerf_schedule_times times = {.forward_s = question->forward_s,
                                              .backward_s = whole,
                                              .backward_input_s = question->backward_input_s,
                                              .backward_weight_s = question->backward_weight_s,
                                              .activation_bytes = question->activation_bytes,
                                              .p2p_s = question->latency_s};
    const struct kerf_schedule_request request = {.rule = question->rule,
                                                  .devices = question->devices,
                                                  .chunks = question->chunks,
                                                  .microbatches = question->microbatches,
                                                  .times = &times,
                                                  .search_steps = KERF_PIPELINE_STEPS};
    struct kerf_schedule *schedule;
    struct kerf_timeline *timeline;
    struct kerf_error err;
    if (kerf_schedule_make(&request, &schedule, &err) != KERF_OK ||
        kerf_schedule_simulate(schedule, &times, &timeline, &err) != KERF_OK)
        fail_msg("%s %d x %d x %d: %s", question->rule, question->devices, question->chunks, question->microbatches,
                 err.message);
    struct simulated simulated = {.makespan_s = timeline->makespan_s};
    memcpy(simulated.peak_bytes, timeline->peak_bytes, (size_t)question->devices * sizeof(double));
    kerf_timeline_free(timeline);
    kerf_schedule_free(schedule);
    return simulated;
}

static int near(double a, double b, double share) { return fabs(a - b) <= share * fmax(fabs(a), fabs(b)); }

/* The simulator adds one time after the other, and its sums drift: at worst half a last digit each time, all one way. */
static double drift(const struct pipeline_question *question) {
    return 1e-12 + 2.3e-16 * question->chunks * (double)question->microbatches;
}

static struct pipeline_made *remembered;

static int begin_made(void **state) {
    (void)state;
    return (remembered = pipeline_made_begin()) == NULL;
}

static int end_made(void **state) {
    (void)state;
    return (remembered = pipeline_made_end(remembered)) != NULL;
}

static void check(const struct pipeline_question *question, struct arena *arena) {
    const struct simulated simulated = simulate(question);
    double peaks[DEVICES_MAX], in_flight[STAGES_MAX];
    struct pipeline_answer answer = {.peak_bytes = peaks};
    assert_true(pipeline_takes(question->rule, question->devices, question->chunks, question->microbatches));
    assert_true(pipeline_time(question, NULL, arena, &answer));
    if (!near(answer.makespan_s, simulated.makespan_s, drift(question)))
        fail_msg("%s %d x %d x %d, latency %g: %.17g, but simulated %.17g", question->rule, question->devices,
                 question->chunks, question->microbatches, question->latency_s, answer.makespan_s,
                 simulated.makespan_s);
    for (int32_t i = 0; i < question->devices; i++)
        if (!near(peaks[i], simulated.peak_bytes[i], 1e-12))
            fail_msg("%s %d x %d x %d holds %.17g on device %d, but simulated %.17g", question->rule, question->devices,
                     question->chunks, question->microbatches, peaks[i], i, simulated.peak_bytes[i]);
    /* The same with what was made for times before. */
    const double makespan_s = answer.makespan_s;
    assert_true(pipeline_time(question, remembered, arena, &answer) && answer.makespan_s == makespan_s);
    for (int32_t i = 0; i < question->devices; i++) assert_true(near(peaks[i], simulated.peak_bytes[i], 1e-12));
    memset(peaks, 0, sizeof peaks);
    if (pipeline_peak(question, remembered, peaks) == 1)
        for (int32_t i = 0; i < question->devices; i++) assert_true(near(peaks[i], simulated.peak_bytes[i], 1e-12));
    const double least_s = pipeline_least_s(question), own_least_s = pipeline_least_of_rule_s(question);
    if (!(least_s >= 0 && least_s <= own_least_s * (1 + 1e-12) && own_least_s <= answer.makespan_s))
        fail_msg("%s %d x %d x %d, latency %g: bounds %.17g and %.17g, makespan %.17g", question->rule,
                 question->devices, question->chunks, question->microbatches, question->latency_s, least_s, own_least_s,
                 answer.makespan_s);
    pipeline_in_flight(question->rule, question->devices, question->chunks, question->microbatches, in_flight);
    for (int32_t k = 0; k < question->devices * question->chunks; k++)
        assert_true(in_flight[k] > 0 && in_flight[k] <= question->microbatches);
    arena_reset(arena);
}

/* ---- Tests ---------------------------------------------------------------------------------------------------- */

static int is_searched(const char *rule) {
    static const char *const searched[] = {"best", "zb_1p", "zb_2p", "zb_v_searched", "v_half", "v_min"};
    for (size_t i = 0; i < sizeof searched / sizeof *searched; i++)
        if (strcmp(rule, searched[i]) == 0) return 1;
    return 0;
}

/* Every rule that there is, on small pipelines of all sorts. */
static void all_rules(void **state) {
    (void)state;
    struct pcg64 rng = random_seed(20250601);
    struct arena arena = {NULL};
    static struct pipeline pipeline;
    const struct kerf_schedule_rule *rule;
    for (size_t index = 0; (rule = kerf_schedule_rule_at(index)); index++) {
        int32_t asked = 0;
        for (int32_t left = strcmp(rule->name, "best") == 0 ? 8 : is_searched(rule->name) ? 150 : 300; left > 0;) {
            const int32_t p = 1 + (int32_t)random_to(&rng, left % 3 ? 5 : 11), v = 1 + (int32_t)random_to(&rng, 3);
            const int32_t m = 1 + (int32_t)random_to(&rng, left % 2 ? 12 : 70);
            left--;
            if (!pipeline_takes(rule->name, p, v, m)) continue;
            asked++;
            fill(&rng, &pipeline, random_to(&rng, UNEVENNESSES - 1), p * v);
            connect(&pipeline, rule->name, p, v, m);
            check(&pipeline.question, &arena);
        }
        assert_true(asked > 0);
    }
    arena_free(&arena);
}

/* The rules whose order is known, on larger ones. */
static void known_orders(void **state) {
    static const char *const rules[] = {"1f1b", "interleaved_1f1b", "zb_h1", "eager_1f1b", "gpipe"};
    (void)state;
    struct pcg64 rng = random_seed(7);
    struct arena arena = {NULL};
    static struct pipeline pipeline;
    for (int32_t round = 0; round < 4000; round++) {
        const char *rule = rules[round % 5];
        const int32_t p = 1 + (int32_t)random_to(&rng, round % 10 < 8 ? 8 : round % 40 < 32 ? 18 : DEVICES_MAX - 6);
        const int32_t v = round % 5 != 1 ? 1 : 1 + (int32_t)random_to(&rng, CHUNKS_MAX - 1);
        const int32_t groups = (int32_t)random_to(&rng, round % 7 ? 12 : 60);
        const int32_t m = round % 5 == 1 && random_to(&rng, 3)
                              ? p * (1 + groups)
                              : 1 + p * groups + (int32_t)random_to(&rng, (uint32_t)p - 1);
        fill(&rng, &pipeline, random_to(&rng, UNEVENNESSES - 1), p * v);
        connect(&pipeline, rule, p, v, m);
        check(&pipeline.question, &arena);
    }
    arena_free(&arena);
}

/* Up to a million micro-batches: times are multiples of 2^-10, whose sums are exact. */
static void many_microbatches(void **state) {
    static const struct {
        const char *rule;
        int32_t p, v, m;
    } cases[] = {{"1f1b", 3, 1, 1 << 20},          {"1f1b", 16, 1, 65521},       {"interleaved_1f1b", 2, 2, 1 << 18},
                 {"interleaved_1f1b", 8, 4, 8192}, {"eager_1f1b", 4, 1, 100000}, {"zb_h1", 4, 1, 100000}};
    (void)state;
    struct pcg64 rng = random_seed(3);
    struct arena arena = {NULL};
    static struct pipeline pipeline;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int32_t stages = cases[i].p * cases[i].v;
        for (int32_t k = 0; k < stages; k++) {
            pipeline.forward[k] = (1000 + random_to(&rng, 60)) / 1024.;
            pipeline.input[k] = (1000 + random_to(&rng, 60)) / 1024.;
            pipeline.weight[k] = (900 + random_to(&rng, 60)) / 1024.;
            pipeline.bytes[k] = 1 + random_to(&rng, 9);
        }
        pipeline.question.latency_s = random_to(&rng, 40) / 1024.;
        connect(&pipeline, cases[i].rule, cases[i].p, cases[i].v, cases[i].m);
        const struct simulated simulated = simulate(&pipeline.question);
        struct pipeline_answer answer = {0};
        assert_true(pipeline_time(&pipeline.question, NULL, &arena, &answer));
        if (!near(answer.makespan_s, simulated.makespan_s, 1e-12))
            fail_msg("%s with %d micro-batches: %.17g, but simulated %.17g", cases[i].rule, cases[i].m,
                     answer.makespan_s, simulated.makespan_s);
    }
    arena_free(&arena);
}

/* More chunks than are remembered. */
static void many_chunks(void **state) {
    static const char *const rules[] = {"looped_bfs", "interleaved_zb", "interleaved_1f1b", "interleaved_1f1b_overlap"};
    (void)state;
    struct pcg64 rng = random_seed(5);
    struct arena arena = {NULL};
    static struct pipeline pipeline;
    for (int32_t rule = 0; rule < 4; rule++)
        for (int32_t v = 63; v <= 80; v += 1 + (int32_t)random_to(&rng, 4)) {
            fill(&rng, &pipeline, random_to(&rng, UNEVENNESSES - 1), 5 * v);
            connect(&pipeline, rules[rule], 5, v, 10 + (int32_t)random_to(&rng, 5));
            check(&pipeline.question, &arena);
        }
    arena_free(&arena);
}

/* What is taken is what can be made, and placed as the schedule has it. */
static void takes_and_places(void **state) {
    (void)state;
    const struct kerf_schedule_rule *rule;
    for (size_t index = 0; (rule = kerf_schedule_rule_at(index)); index++)
        for (int32_t p = 1; p <= 5; p++)
            for (int32_t v = 0; v <= 4; v++)
                for (int32_t m = 1; m <= (strcmp(rule->name, "best") == 0 ? 2 : 11); m++) {
                    const struct kerf_schedule_request request = {
                        .rule = rule->name, .devices = p, .chunks = v, .microbatches = m, .search_steps = 1000};
                    struct kerf_schedule *schedule = NULL;
                    const int made = kerf_schedule_make(&request, &schedule, NULL) == KERF_OK;
                    assert_int_equal(pipeline_takes(rule->name, p, v, m), v > 0 && made);
                    if (made && v > 0) {
                        int32_t device_of[STAGES_MAX];
                        pipeline_devices(rule->name, p, v, device_of);
                        assert_int_equal(p * v, schedule->stages);
                        assert_memory_equal(device_of, schedule->device_of, (size_t)(p * v) * sizeof *device_of);
                    }
                    kerf_schedule_free(schedule);
                }
    assert_false(pipeline_takes("1f2b", 4, 1, 8));
    assert_false(pipeline_takes("1f1b", 4, 2, 8));
    assert_false(pipeline_takes("1f1b", 0, 1, 8));
    assert_false(pipeline_takes("1f1b", 4096, 1, 1 << 20));
}

/* Micro-batches in flight, with activations of one size, are the peak. */
static void in_flight(void **state) {
    static const char *const rules[] = {"1f1b", "interleaved_1f1b", "gpipe", "eager_1f1b", "zb_h1"};
    (void)state;
    static struct pipeline pipeline;
    for (int32_t k = 0; k < STAGES_MAX; k++)
        pipeline.forward[k] = pipeline.input[k] = pipeline.weight[k] = pipeline.bytes[k] = 1;
    for (int32_t rule = 0; rule < 5; rule++)
        for (int32_t p = 1; p <= 6; p++)
            for (int32_t v = 1; v <= (rule == 1 ? 4 : 1); v++)
                for (int32_t m = rule == 1 ? p : 1; m <= 6 * p; m += rule == 1 ? p : 1) {
                    double held[STAGES_MAX];
                    connect(&pipeline, rules[rule], p, v, m);
                    const struct simulated simulated = simulate(&pipeline.question);
                    pipeline_in_flight(rules[rule], p, v, m, held);
                    for (int32_t i = 0; i < p; i++) {
                        double sum = 0;
                        for (int32_t k = i; k < p * v; k += p) sum += held[k];
                        if (sum != simulated.peak_bytes[i])
                            fail_msg("%s %d x %d x %d: %g in flight on device %d, simulated %g", rules[rule], p, v, m,
                                     sum, i, simulated.peak_bytes[i]);
                    }
                }
}

static struct kerf_schedule *make(const char *rule, int32_t p, int32_t v, int32_t m) {
    const struct kerf_schedule_request request = {
        .rule = rule, .devices = p, .chunks = v, .microbatches = m, .search_steps = 1000};
    struct kerf_schedule *schedule = NULL;
    assert_int_equal(kerf_schedule_make(&request, &schedule, NULL), KERF_OK);
    return schedule;
}

static int same_placement(const struct kerf_schedule *a, const struct kerf_schedule *b) {
    return a->replicas == b->replicas && a->slices == b->slices && a->stages == b->stages &&
           memcmp(a->device_of, b->device_of, (size_t)(a->replicas * a->stages) * sizeof *a->device_of) == 0;
}

/* The bound of a placement is not above any schedule with it. */
static void bounds_of_placements(void **state) {
    enum { RULES_MAX = 64 };
    (void)state;
    struct pcg64 rng = random_seed(11);
    struct arena arena = {NULL};
    static struct pipeline pipeline;
    for (int32_t round = 0; round < 150; round++) {
        const int32_t p = 1 + (int32_t)random_to(&rng, 6), v = 1 + (int32_t)random_to(&rng, 2);
        const int32_t m = 1 + (int32_t)random_to(&rng, 20);
        struct kerf_schedule *schedules[RULES_MAX];
        double least_s[RULES_MAX], makespan_s[RULES_MAX];
        const struct kerf_schedule_rule *rule;
        int32_t count = 0, met = 0;
        fill(&rng, &pipeline, random_to(&rng, UNEVENNESSES - 1), p * v);
        for (size_t i = 0; (rule = kerf_schedule_rule_at(i)); i++) {
            struct pipeline_answer answer = {0};
            if (!pipeline_takes(rule->name, p, v, m) || strcmp(rule->name, "best") == 0) continue;
            assert_in_range(count, 0, RULES_MAX - 1);
            connect(&pipeline, rule->name, p, v, m);
            schedules[count] = make(rule->name, p, v, m);
            least_s[count] = pipeline_least_s(&pipeline.question);
            assert_true(pipeline_time(&pipeline.question, NULL, &arena, &answer));
            makespan_s[count++] = answer.makespan_s;
            arena_reset(&arena);
        }
        for (int32_t a = 0; a < count; a++)
            for (int32_t b = 0; b < count; b++) {
                if (!same_placement(schedules[a], schedules[b])) continue;
                met += a != b;
                if (!(least_s[a] <= makespan_s[b]))
                    fail_msg("no schedule placed as %s is said to be below %.17g, %s is %.17g", schedules[a]->name,
                             least_s[a], schedules[b]->name, makespan_s[b]);
            }
        assert_true(met > 0);
        for (int32_t a = 0; a < count; a++) kerf_schedule_free(schedules[a]);
    }
    arena_free(&arena);
}

/* A global batch of 2^30 samples: more micro-batches than a schedule is made of have a time by formula. */
static void more_than_can_be_simulated(void **state) {
    (void)state;
    struct arena arena = {NULL};
    static struct pipeline pipeline;
    const int32_t m = 1 << 30;
    for (int32_t v = 1; v <= 2; v++) {
        struct pipeline_answer answer = {0};
        for (int32_t k = 0; k < 4 * v; k++) pipeline.forward[k] = pipeline.input[k] = pipeline.weight[k] = 1;
        pipeline.question.latency_s = 0;
        connect(&pipeline, v == 1 ? "1f1b" : "interleaved_1f1b", 4, v, m);
        assert_false(pipeline_takes(pipeline.question.rule, 4, v, m));
        assert_true(pipeline_time(&pipeline.question, NULL, &arena, &answer));
        assert_true(near(answer.makespan_s, 3 * ((double)m * v + 3), 1e-12));
    }
    arena_free(&arena);
}

/* Equal stages and no latency: the bound of whole backward passes is exact. */
static void bounds_are_close(void **state) {
    (void)state;
    struct arena arena = {NULL};
    static struct pipeline pipeline;
    for (int32_t v = 1; v <= 4; v += 3) {
        struct pipeline_answer answer = {0};
        for (int32_t k = 0; k < 8 * v; k++) pipeline.forward[k] = pipeline.input[k] = pipeline.weight[k] = 1;
        pipeline.question.latency_s = 0;
        connect(&pipeline, v == 1 ? "1f1b" : "interleaved_1f1b", 8, v, 64);
        assert_true(pipeline_time(&pipeline.question, NULL, &arena, &answer));
        assert_true(near(pipeline_least_of_rule_s(&pipeline.question), answer.makespan_s, 1e-9));
        assert_true(near(answer.makespan_s, 3 * (64 * v + 7), 1e-12));
    }
    pipeline.question.latency_s = 0.25;
    connect(&pipeline, "gpipe", 8, 1, 64);
    assert_true(near(pipeline_least_of_rule_s(&pipeline.question), 3 * 71 + 3.5, 1e-9));
    connect(&pipeline, "1f1b", 8, 1, 64); /* up and up again: a hop to and fro but for one in eight */
    assert_true(near(pipeline_least_of_rule_s(&pipeline.question), 3 * 71 + 0.5 * (8 * 7), 1e-9));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_rules),
                                       cmocka_unit_test(known_orders),
                                       cmocka_unit_test(many_microbatches),
                                       cmocka_unit_test(many_chunks),
                                       cmocka_unit_test(takes_and_places),
                                       cmocka_unit_test(in_flight),
                                       cmocka_unit_test(bounds_of_placements),
                                       cmocka_unit_test(more_than_can_be_simulated),
                                       cmocka_unit_test(bounds_are_close)};
    return cmocka_run_group_tests(tests, begin_made, end_made);
}
