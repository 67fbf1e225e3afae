/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formulas of `kerf schedule --list`, read as they stand there, against simulation:
 *
 *     [at most|about|up to|makespan] FORMULA [of the span|of two replicas] [where CONDITION {, CONDITION}] [; more]
 *
 * A letter behind another multiplies, and a condition with a new letter defines it. Where `more` says that a shorter FB
 * shortens the makespan by a formula, that is tested too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/schedule.h"

/* ---- Formulas ----------------------------------------------------------------------------------------------- */

enum { P, M, V, K, GROUP, F, B, W, S, B_FULL, FB, N, NAMES };
static const char *const names[NAMES] = {"p", "m", "v", "k", "group", "F", "B", "W", "s", "B_full", "FB", "n"};

struct reader {
    const char *c;
    double value[NAMES]; /* NAN: not defined */
};

static int take(struct reader *reader, const char *word) {
    const char *c = reader->c + strspn(reader->c, " ");
    const size_t length = strlen(word);
    if (strncmp(c, word, length) != 0 ||
        (isalpha((unsigned char)word[length - 1]) && isalnum((unsigned char)c[length])))
        return 0;
    reader->c = c + length;
    return 1;
}

static double sum(struct reader *reader);

static int name(struct reader *reader, int *ret_name) {
    for (int k = 0; k < NAMES; k++) {
        const char *before = reader->c;
        if (take(reader, names[k]) && *reader->c != '_') {
            *ret_name = k;
            return 1;
        }
        reader->c = before;
    }
    return 0;
}

static double call(struct reader *reader) {
    const int is_min = take(reader, "min("), is_max = !is_min && take(reader, "max(");
    if (!is_min && !is_max) take(reader, "floor(");
    double value = sum(reader);
    while (take(reader, ",")) value = is_min ? fmin(value, sum(reader)) : fmax(value, sum(reader));
    assert_true(take(reader, ")"));
    return is_min || is_max ? value : floor(value);
}

/* 0 where none begins here. */
static int factor(struct reader *reader, double *ret) {
    const char *c = reader->c + strspn(reader->c, " ");
    int known;
    if (isdigit((unsigned char)*c)) {
        char *end;
        *ret = strtod(c, &end);
        reader->c = end;
    } else if (take(reader, "(")) {
        *ret = sum(reader);
        assert_true(take(reader, ")"));
    } else if (take(reader, "|")) {
        *ret = fabs(sum(reader));
        assert_true(take(reader, "|"));
    } else if (strncmp(c, "min(", 4) == 0 || strncmp(c, "max(", 4) == 0 || strncmp(c, "floor(", 6) == 0) {
        *ret = call(reader);
    } else if (name(reader, &known)) {
        *ret = reader->value[known];
    } else {
        return 0;
    }
    return 1;
}

static double product(struct reader *reader) {
    double value = NAN, next;
    if (!factor(reader, &value)) return NAN;
    for (;;) {
        if (take(reader, "/")) {
            assert_true(factor(reader, &next));
            value /= next;
        } else if (*(reader->c + strspn(reader->c, " ")) != '|' && factor(reader, &next)) {
            value *= next;
        } else if (reader->c[0] == ' ' && reader->c[1] == '|' && factor(reader, &next)) {
            value *= next;
        } else {
            return value;
        }
    }
}

/* NAN where no formula begins here. */
static double sum(struct reader *reader) {
    double value = product(reader);
    for (;;)
        if (take(reader, "+"))
            value += product(reader);
        else if (take(reader, "-"))
            value -= product(reader);
        else
            return value;
}

static int holds(double left, const char *relation, double right) {
    if (strcmp(relation, "<=") == 0) return left <= right + 1e-9;
    if (strcmp(relation, ">=") == 0) return left >= right - 1e-9;
    if (strcmp(relation, "=") == 0) return fabs(left - right) < 1e-9;
    return fmod(right, left) == 0; /* divides */
}

/* Whether a condition, or a chain such as F = B = W, holds. */
static int condition(struct reader *reader) {
    static const char *const relations[] = {"<=", ">=", "=", "divides"};
    int whole = 1, defined;
    const char *begin = reader->c;
    if (name(reader, &defined) && isnan(reader->value[defined]) && take(reader, "=")) {
        reader->value[defined] = sum(reader);
        return 1;
    }
    reader->c = begin;
    double left = sum(reader);
    for (size_t k = 0; k < sizeof relations / sizeof *relations; k++)
        if (take(reader, relations[k])) {
            const double right = sum(reader);
            whole &= holds(left, relations[k], right);
            left = right, k = (size_t)-1;
        }
    return whole;
}

/* Those behind "where"; FB = s alone is told in *ret_fused. */
static int conditions(struct reader *reader, const char *text, int *ret_fused) {
    const char *where = strstr(text, " where "), *more = strchr(text, ';');
    int whole = 1;
    *ret_fused = 1;
    if (where == NULL || (more && more < where)) return 1;
    reader->c = where + strlen(" where ");
    do {
        const int is_fused = strncmp(reader->c, " FB = s", 7) == 0, here = condition(reader);
        if (is_fused)
            *ret_fused = here;
        else
            whole &= here;
    } while (take(reader, ","));
    if (*reader->c && *reader->c != ';') fail_msg("not understood: %s", reader->c);
    return whole;
}

/* ---- Simulations ---------------------------------------------------------------------------------------------- */

struct answer {
    double makespan, idle, idle_of_span, peak;
};

static int simulate(const struct kerf_schedule_request *request, const double value[NAMES], struct answer *ret) {
    struct kerf_schedule_times_request said;
    struct kerf_schedule *schedule = NULL;
    struct kerf_schedule_times *times = NULL;
    struct kerf_timeline *timeline = NULL;
    struct kerf_error err;
    kerf_schedule_times_unsaid(&said);
    said.forward_s = value[F], said.backward_input_s = value[B], said.backward_weight_s = value[W];
    said.fused_s = value[FB];
    said.per_device = 1;
    if (kerf_schedule_make_timed(request, &said, &schedule, &times, &err) != KERF_OK) return 0;
    if (kerf_schedule_simulate(schedule, times, &timeline, &err) != KERF_OK) fail_msg("%s", err.message);
    *ret = (struct answer){.makespan = timeline->makespan_s,
                           .idle = timeline->makespan_s - timeline->busy_mean_s,
                           .idle_of_span = timeline->span_s - timeline->busy_max_s};
    for (int32_t d = 0; d < schedule->devices; d++) ret->peak = fmax(ret->peak, timeline->peak_activations[d]);
    kerf_timeline_free(timeline);
    kerf_schedule_times_free(times);
    kerf_schedule_free(schedule);
    return 1;
}

/* ---- The list ------------------------------------------------------------------------------------------------ */

static int has_formula(const char *text) {
    struct reader reader = {.c = text};
    for (int k = 0; k < NAMES; k++) reader.value[k] = 1;
    if (take(&reader, "at most") || take(&reader, "about") || take(&reader, "up to")) return 1;
    return take(&reader, "makespan") || !isnan(sum(&reader));
}

static void compare(const struct kerf_schedule_rule *rule, const double value[NAMES], const char *text, double found,
                    double expected, const char *said) {
    const double tolerance = 1e-9 * (1 + value[M] * value[S]);
    const int agrees = strcmp(said, "at most") == 0 || strcmp(said, "up to") == 0 ? found <= expected + tolerance
                       : strcmp(said, "about") == 0 ? fabs(found - expected) <= value[S] / 3 + tolerance
                                                    : fabs(found - expected) <= tolerance;
    if (agrees) return;
    fail_msg("%s, p %g, m %g, v %g, k %g, group %g, F %g, B %g, W %g, FB %g: %.9g, and '%s' says %.9g", rule->name,
             value[P], value[M], value[V], value[K], value[GROUP], value[F], value[B], value[W], value[FB], found, text,
             expected);
}

/* What stands before a formula, which the reader then is at. */
static const char *said_before(struct reader *reader) {
    static const char *const words[] = {"at most", "about", "up to", "makespan"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (take(reader, words[k])) return words[k];
    return "";
}

/* Whether the conditions of the formulas hold, and so both were compared. */
static int check(const struct kerf_schedule_rule *rule, const double value[NAMES], const struct answer *answer) {
    struct reader reader = {.c = rule->bubble};
    int is_fused_alike;
    memcpy(reader.value, value, sizeof reader.value);
    if (!conditions(&reader, rule->bubble, &is_fused_alike)) return 0;
    const double fb = reader.value[FB];
    if (!is_fused_alike) reader.value[FB] = reader.value[S];
    reader.c = rule->bubble;
    const char *said = said_before(&reader);
    double expected = sum(&reader), found = strcmp(said, "makespan") == 0 ? answer->makespan : answer->idle;
    if (take(&reader, "of the span")) found = answer->idle_of_span;
    take(&reader, "of two replicas");
    if (strncmp(reader.c, " where", 6) != 0 && *reader.c != ';' && *reader.c) fail_msg("not understood: %s", reader.c);
    if (!is_fused_alike) {
        reader.c = strstr(rule->bubble, " by ");
        assert_non_null(reader.c);
        reader.c += 4;
        reader.value[FB] = fb;
        expected += value[M] * value[S] - sum(&reader);
        found = answer->makespan;
    }
    compare(rule, value, rule->bubble, found, expected, said);
    if (!has_formula(rule->memory)) return 1;
    reader.c = rule->memory;
    said = said_before(&reader);
    compare(rule, value, rule->memory, answer->peak, fmin(value[M], sum(&reader)), said);
    return 1;
}

/* F, B and W of a device, and FB as a share of s; FB is never below F or B + W. */
static const double times[][4] = {{1, 1, 1, 1},     {1, 2, 1, 1},       {1, 1.9, 0.8, 0.85}, {2, 2, 1, 0.8},
                                  {3, 1, 1, 1},     {1, 1, 2, 1},       {1, 3, 1, 0.9},      {2, 1.5, 1.8, 0.9},
                                  {3, 1, 2, 0.75},  {1, 1.2, 0.5, 0.7}, {2, 3, 2.8, 1},      {1, 4, 3.9, 1},
                                  {0.5, 1, 0.9, 1}, {4, 0.8, 0.5, 0.8}, {1, 1.3, 0.6, 0.8}};

static int check_times(const struct kerf_schedule_rule *rule, const struct kerf_schedule_request *request,
                       double value[NAMES]) {
    int count = 0;
    for (size_t t = 0; t < sizeof times / sizeof *times; t++) {
        struct answer answer;
        value[F] = times[t][0], value[B] = times[t][1], value[W] = times[t][2], value[N] = NAN;
        value[B_FULL] = value[B] + value[W];
        value[S] = value[F] + value[B_FULL];
        value[FB] = times[t][3] * value[S];
        if (!simulate(request, value, &answer)) return count; /* the rule takes no such number */
        count += check(rule, value, &answer);
    }
    return count;
}

static int check_rule(const struct kerf_schedule_rule *rule) {
    static const int32_t devices[] = {2, 3, 4, 6};
    const int chunked = kerf_schedule_takes_chunks(rule->name), sliced = kerf_schedule_takes_slices(rule->name);
    const int grouped = strstr(rule->bubble, "group") != NULL;
    int count = 0;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        for (int32_t v = chunked ? 2 : 0; v <= 3 * chunked; v++)
            for (int32_t k = sliced ? 2 : 0; k <= 8 * sliced; k += k ? k : 1)
                for (int32_t more = 0; more <= 2 * grouped; more++) {
                    const int32_t p = devices[i], ms[] = {p - 1, p, 2 * p - 1, 2 * p, 3 * p + 3, 4 * p};
                    struct kerf_schedule_request request = {
                        .rule = rule->name, .devices = p, .chunks = v, .slices = k, .group = grouped ? p + more : 0};
                    double value[NAMES] = {[P] = p, [V] = v, [K] = k, [GROUP] = p + more};
                    for (size_t j = 0; j < sizeof ms / sizeof *ms; j++) {
                        value[M] = request.microbatches = ms[j];
                        count += check_times(rule, &request, value);
                    }
                }
    return count;
}

static void test_list(void **unused) {
    (void)unused;
    const struct kerf_schedule_rule *rule;
    int without = 0;
    for (size_t i = 0; (rule = kerf_schedule_rule_at(i)); i++) {
        if (!has_formula(rule->bubble))
            without++;
        else if (check_rule(rule) == 0)
            fail_msg("%s: nothing was compared", rule->name);
    }
    assert_int_equal(without, 3); /* hanayo, v_adaptive and best */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
