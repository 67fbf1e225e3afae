/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates: what a search proves is verified, and what is forged is refused or still true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/schedule.h"

enum { STAGES = 16, DEVICES = 8 };
static const int64_t TO_THE_END = 20000000000;

static uint64_t state;
static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

struct question {
    struct kerf_schedule_request request;
    struct kerf_schedule_times times;
    double forward[STAGES], whole[STAGES], input[STAGES], weight[STAGES], cap[DEVICES];
};

static void ask(struct question *q, int32_t p, int32_t m, enum kerf_placement placement, enum kerf_objective objective,
                const double times[3], double p2p, double cap) {
    memset(q, 0, sizeof *q);
    q->request = (struct kerf_schedule_request){.rule = "best",
                                                .devices = p,
                                                .microbatches = m,
                                                .objective = objective,
                                                .placement = placement,
                                                .certificate = 1,
                                                .search_steps = TO_THE_END,
                                                .times = &q->times};
    for (int32_t s = 0; s < STAGES; s++) {
        q->forward[s] = times[0], q->input[s] = times[1], q->weight[s] = times[2];
        q->whole[s] = times[1] + times[2];
    }
    for (int32_t d = 0; d < DEVICES; d++) q->cap[d] = cap;
    q->times = (struct kerf_schedule_times){.forward_s = q->forward,
                                            .backward_s = q->whole,
                                            .backward_input_s = q->input,
                                            .backward_weight_s = q->weight,
                                            .p2p_s = p2p,
                                            .cap = q->cap};
}

static struct kerf_schedule *solve(const struct question *q) {
    struct kerf_schedule *schedule = NULL;
    struct kerf_error err;
    if (kerf_schedule_make(&q->request, &schedule, &err) != KERF_OK) fail_msg("%s", err.message);
    return schedule;
}

static int32_t verify(const char *text, struct kerf_schedule_verdict *verdict, struct kerf_error *err) {
    return kerf_schedule_verify(text, strlen(text), "proof", verdict, err);
}

/* The text with another sum at its end, as a forger would have it. */
static void sum_again(char *text) {
    uint64_t hash = 0xCBF29CE484222325u;
    char *last = strstr(text, "\nsum ");
    assert_non_null(last);
    for (const char *at = text; at <= last; at++) hash = (hash ^ (unsigned char)*at) * 0x100000001B3u;
    sprintf(last + 1, "sum %016llx\n", (unsigned long long)hash);
}

/* A copy in which the words behind a name at a line's beginning are others. */
static char *forged(const char *text, const char *name, const char *words) {
    char *copy = malloc(strlen(text) + strlen(words) + 64);
    char line[64];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(text, line);
    assert_non_null(copy);
    assert_non_null(at);
    at += strlen(line);
    memcpy(copy, text, (size_t)(at - text));
    sprintf(copy + (at - text), "%s%s", words, strchr(at, '\n'));
    sum_again(copy);
    return copy;
}

static void refuse(const char *text, const char *name, const char *words) {
    struct kerf_schedule_verdict verdict;
    struct kerf_error err;
    char *copy = forged(text, name, words);
    if (verify(copy, &verdict, &err) == KERF_OK) fail_msg("%s %s is verified", name, words);
    free(copy);
}

/* ---- What is proved is verified --------------------------------------------------------------------------- */

static const struct {
    int32_t p, m;
    enum kerf_placement placement;
    double times[3], p2p, cap;
} cases[] = {
    {4, 8, KERF_PLACE_LOOP, {1, 1.9, .8}, .05, 4},   {4, 12, KERF_PLACE_LOOP, {1, 1.9, .8}, .05, 3},
    {3, 6, KERF_PLACE_LOOP, {2, 2, 1}, 1, 2},        {2, 4, KERF_PLACE_V, {1, 1, 1}, 0, 1.5},
    {3, 4, KERF_PLACE_V, {1, 1.9, .8}, .05, 2},      {2, 4, KERF_PLACE_BOTH, {1, 2, 1}, 0.5, 2},
    {4, 8, KERF_PLACE_LOOP, {.97, 1.31, .7}, .3, 3}, {1, 5, KERF_PLACE_LOOP, {1, 1, 0}, 0, 1},
    {2, 1, KERF_PLACE_BOTH, {1.51, .8, 1.85}, 0, 9}, {2, 1, KERF_PLACE_BOTH, {1, 1, 9}, .5, 9},
    {2, 2, KERF_PLACE_LOOP, {0, 0, 0}, 0, 9},
};

static void test_verified(void **unused) {
    (void)unused;
    static struct question q;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int span = 0; span < 2; span++) {
            struct kerf_schedule_verdict verdict;
            struct kerf_error err;
            ask(&q, cases[k].p, cases[k].m, cases[k].placement, span ? KERF_OBJECTIVE_SPAN : KERF_OBJECTIVE_MAKESPAN,
                cases[k].times, cases[k].p2p, cases[k].cap);
            struct kerf_schedule *schedule = solve(&q);
            const double proved = span ? schedule->proof.span_s : schedule->proof.makespan_s;
            assert_non_null(schedule->certificate);
            if (verify(schedule->certificate, &verdict, &err) != KERF_OK)
                fail_msg("case %zu, span %d: %s (line %d)", k, span, err.message, err.line);
            assert_true(fabs(verdict.bound_s - proved) <= 1e-9 * proved);
            if (!span) assert_int_equal(verdict.optimal, 1);
            kerf_schedule_free(schedule);
        }
}

/* ---- What is forged is not -------------------------------------------------------------------------------- */

static void test_forged(void **unused) {
    (void)unused;
    static struct question q;
    for (size_t k = 0; k < 5; k++) {
        char words[64];
        ask(&q, cases[k].p, cases[k].m, cases[k].placement, KERF_OBJECTIVE_MAKESPAN, cases[k].times, cases[k].p2p,
            cases[k].cap);
        struct kerf_schedule *schedule = solve(&q);
        const char *text = schedule->certificate;
        snprintf(words, sizeof words, "%.17g", schedule->proof.makespan_s * (1 + 1e-6));
        refuse(text, "bound_s", words);
        snprintf(words, sizeof words, "%.17g", schedule->proof.makespan_s * (1 - 1e-6));
        refuse(text, "takes_s", words);
        if (strstr(text, "\ngoal ")) {
            snprintf(words, sizeof words, "%lld", atoll(strstr(text, "\ngoal ") + 6) + 1);
            char *higher = forged(text, "goal", words); /* steps that refute less */
            struct kerf_schedule_verdict verdict;
            assert_int_not_equal(verify(higher, &verdict, NULL), KERF_OK);
            free(higher);
        }
        kerf_schedule_free(schedule);
    }
}

/* The certificate of one problem with the figures of another: it is refused, or true of the other one. */
/* Sums that overflow prove nothing: the order of one micro-batch after the other takes 20 s. */
static void test_overflow(void **unused) {
    struct kerf_schedule_verdict verdict;
    struct kerf_error err;
    char text[2048] = "kerf schedule proof 1\n"
                      "devices 2\n"
                      "stages 2\n"
                      "microbatches 4\n"
                      "replicas 1\n"
                      "device_of 0 1\n"
                      "forward_s 1 1\n"
                      "input_s 1 1\n"
                      "weight_s 1 1\n"
                      "latency_s 0\n"
                      "amount 1e308 1e308\n"
                      "cap 1e308 1e308\n"
                      "frees W\n"
                      "sends asynchronous\n"
                      "objective makespan\n"
                      "bound_s 1e9\n"
                      "argument residence 0\n"
                      "end\n"
                      "sum 0\n";
    (void)unused;
    sum_again(text);
    if (verify(text, &verdict, &err) == KERF_OK) fail_msg("a bound of %g s is verified", verdict.bound_s);
    for (char *big; (big = strstr(text, "1e308"));) memcpy(big, "1.000", 5); /* numbers as they may be */
    sum_again(text);
    assert_int_not_equal(verify(text, &verdict, &err), KERF_OK);
    if (strstr(err.message, "its proof gives only 20 s") == NULL) fail_msg("%s", err.message);
}

static void test_of_another_problem(void **unused) {
    (void)unused;
    static const char *const names[] = {"microbatches", "cap", "forward_s", "weight_s", "latency_s", "frees"};
    static struct question q;
    int verified = 0;
    state = 7;
    for (int round = 0; round < 60; round++) {
        const int32_t p = 2 + (int32_t)draw(2), m = 3 + (int32_t)draw(3);
        double times[3] = {1 + draw(3) / 2., 1 + draw(3) / 2., draw(3) / 2.}, p2p = draw(2) / 2.;
        double cap = 1 + draw(3);
        const int what = (int)draw(6);
        char words[256] = "";
        ask(&q, p, m, KERF_PLACE_LOOP, KERF_OBJECTIVE_MAKESPAN, times, p2p, cap);
        struct kerf_schedule *schedule = solve(&q);
        char *text = strdup(schedule->certificate), *order;
        kerf_schedule_free(schedule);
        while ((order = strstr(text, "\norder ")))
            memmove(order, strchr(order + 1, '\n'), strlen(strchr(order + 1, '\n')) + 1);
        order = strstr(text, "\ntakes_s ");
        memmove(order, strchr(order + 1, '\n'), strlen(strchr(order + 1, '\n')) + 1);
        if (what == 0) snprintf(words, sizeof words, "%d", m - 1);
        if (what == 5) q.times.free_at_input = 1;
        for (int32_t d = 0; what > 0 && d < (what == 4 ? 1 : p); d++) {
            const double value = what == 1 ? (cap += d == 0) : what == 4 ? (p2p = 0) : times[what == 2 ? 0 : 2] / 2;
            snprintf(words + strlen(words), sizeof words - strlen(words), "%s%g", d ? " " : "", value);
        }
        if (what == 5) strcpy(words, "I");
        if (what == 2 || what == 3) times[what == 2 ? 0 : 2] /= 2;
        char *other = forged(text, names[what], words);
        const int free_at_input = q.times.free_at_input;
        struct kerf_schedule_verdict verdict;
        if (verify(other, &verdict, NULL) == KERF_OK) {
            ask(&q, p, what == 0 ? m - 1 : m, KERF_PLACE_LOOP, KERF_OBJECTIVE_MAKESPAN, times, p2p, cap);
            q.times.free_at_input = free_at_input;
            schedule = solve(&q);
            verified++;
            if (verdict.bound_s > schedule->proof.makespan_s * (1 + 1e-9))
                fail_msg("round %d: a forged %s %s proves %g, the optimum is %g", round, names[what], words,
                         verdict.bound_s, schedule->proof.makespan_s);
            kerf_schedule_free(schedule);
        }
        free(other);
        free(text);
    }
    assert_in_range(verified, 1, 59);
}

/* Damage of any byte, and steps that are missing. */
static void test_damaged(void **unused) {
    (void)unused;
    static struct question q;
    const double times[3] = {1, 1.9, .8};
    struct kerf_schedule_verdict verdict;
    struct kerf_error err;
    ask(&q, 4, 12, KERF_PLACE_LOOP, KERF_OBJECTIVE_MAKESPAN, times, .05, 3);
    struct kerf_schedule *schedule = solve(&q);
    const size_t length = strlen(schedule->certificate);
    char *text = strdup(schedule->certificate);
    for (size_t at = 0; at < length; at += 7) {
        text[at] ^= 1;
        assert_int_not_equal(verify(text, &verdict, &err), KERF_OK);
        text[at] ^= 1;
    }
    assert_int_equal(verify(text, &verdict, &err), KERF_OK);
    for (size_t cut = 0; cut < length; cut += 13)
        assert_int_not_equal(kerf_schedule_verify(text, cut, "proof", &verdict, &err), KERF_OK);
    char *steps = strstr(text, "\na "), *end = strstr(text, "\nend\n");
    assert_non_null(steps);
    static const char *const behind[] = {"nonsense", "a 0", "d 1000000", "d", ""};
    for (size_t k = 0; k < sizeof behind / sizeof *behind; k++) { /* behind the refutation */
        char *more = malloc(length + 64);
        sprintf(more, "%.*s\n%s%s", (int)(end - text), text, behind[k], end);
        sum_again(more);
        if (verify(more, &verdict, &err) == KERF_OK) fail_msg("the step '%s' is ignored", behind[k]);
        free(more);
    }
    memmove(steps, end, strlen(end) + 1); /* all steps left out */
    sum_again(text);
    assert_int_equal(verify(text, &verdict, &err), KERF_ESYNTAX);
    assert_string_equal(err.message, "the steps do not refute the goal");
    free(text);
    kerf_schedule_free(schedule);
}

/* An error is about the line that is wrong, and an order that is not there takes no room. */
static void test_wrong_lines(void **unused) {
    (void)unused;
    static const struct {
        const char *name, *words;
        int32_t line;
    } wrong[] = {{"forward_s", "none 1", 7}, {"latency_s", "none", 10},       {"amount", "1 none", 11},
                 {"cap", "-1 2", 12},        {"microbatches", "1048576", 16}, {"order", "0 F0", 16}};
    static struct question q;
    const double times[3] = {1, 1, 1};
    struct kerf_schedule_verdict verdict;
    struct kerf_error err;
    ask(&q, 2, 3, KERF_PLACE_LOOP, KERF_OBJECTIVE_MAKESPAN, times, 0, 2);
    struct kerf_schedule *schedule = solve(&q);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        char *copy = forged(schedule->certificate, wrong[k].name, wrong[k].words);
        assert_int_equal(verify(copy, &verdict, &err), KERF_ESYNTAX);
        if (err.line != wrong[k].line) fail_msg("%s %s: line %d", wrong[k].name, wrong[k].words, err.line);
        free(copy);
    }
    kerf_schedule_free(schedule);
}

/* Less than a round a device: the last micro-batches wait for places, one whole stay after the other. */
static void test_rounds(void **unused) {
    (void)unused;
    static const double times[3] = {1, 1.9, .8};
    static struct question q;
    struct kerf_schedule_verdict verdict;
    struct kerf_error err;
    for (int span = 0; span < 2; span++) {
        ask(&q, 8, 32, KERF_PLACE_LOOP, span ? KERF_OBJECTIVE_SPAN : KERF_OBJECTIVE_MAKESPAN, times, .05, 6);
        q.request.search_steps = 1000; /* before anything is refuted */
        struct kerf_schedule *schedule = solve(&q);
        assert_non_null(strstr(schedule->certificate, "\nargument rounds 0 4\n"));
        if (verify(schedule->certificate, &verdict, &err) != KERF_OK) fail_msg("%s", err.message);
        /* F of unit 7 comes after 7 F, 2 (I + W) and 16 s of idle time; then 4 stays of 24.7 s, and the way of the last */
        assert_true(fabs(verdict.bound_s - (7 + 5.4 + 16 + 4 * 24.7 + 24.7)) < 1e-9);
        refuse(schedule->certificate, "argument", "rounds 0 1");
        refuse(schedule->certificate, "argument", "rounds 0 5");
        refuse(schedule->certificate, "argument", "rounds 7 4");
        refuse(schedule->certificate, "argument", "rounds 0 0");
        refuse(schedule->certificate, "argument", "rounds 0 33");
        refuse(schedule->certificate, "argument", "rounds 0");
        kerf_schedule_free(schedule);
    }
}

/* Whole backward passes that are shorter than their parts make a shorter answer, which no certificate is of. */
static void test_of_the_answer(void **unused) {
    (void)unused;
    static const double times[3] = {1, 4, 4};
    static struct question q;
    struct kerf_schedule *schedule = NULL;
    struct kerf_schedule_verdict verdict;
    struct kerf_error err;
    for (int shorter = 0; shorter < 3; shorter++) {
        ask(&q, 3, 4, KERF_PLACE_LOOP, KERF_OBJECTIVE_MAKESPAN, times, 0, 9);
        q.request.search_steps = 100000;
        for (int32_t s = 0; s < STAGES; s++) q.whole[s] = shorter == 1 ? 5 : 8;
        q.times.overhead_s = shorter == 2 ? 5 : 0;
        if (shorter) {
            assert_int_equal(kerf_schedule_make(&q.request, &schedule, &err), KERF_EINVALID);
            assert_non_null(strstr(err.message, "whole or fused passes"));
            q.request.certificate = 0;
        }
        schedule = solve(&q);
        if (!shorter) assert_int_equal(verify(schedule->certificate, &verdict, &err), KERF_OK);
        kerf_schedule_free(schedule);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verified),           cmocka_unit_test(test_forged),      cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_of_another_problem), cmocka_unit_test(test_damaged),     cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_of_the_answer),      cmocka_unit_test(test_wrong_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
