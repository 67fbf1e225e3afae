/* SPDX-License-Identifier: Apache-2.0 */
/* The solver of precedences and clauses against every assignment there is, of small questions at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "schedule/best/lazy_clauses.h"

enum { INTEGERS = 7, TRUTHS = 10, EDGES = 32, CLAUSES = 5, MOST = 12 };

static uint64_t state;
static int32_t draw(int32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int32_t)((uint32_t)(state >> 33) % (uint32_t)below);
}

struct edge {
    int32_t x, y, lag, guard; /* code, -1: always */
};

struct question {
    int32_t least[INTEGERS], most[INTEGERS];
    struct edge edges[EDGES];
    int32_t clauses[CLAUSES][3]; /* codes of truth values */
    int32_t implied[2];
    int32_t num_edges, num_clauses;
};

static int32_t draw_truth(void) { return 2 * (INTEGERS + draw(TRUTHS)) + draw(2); }

static void draw_question(struct question *q) {
    *q = (struct question){.num_edges = 2 * TRUTHS + draw(EDGES - 2 * TRUTHS), .num_clauses = draw(CLAUSES + 1)};
    int32_t room = 4 + draw(MOST - 4);
    for (int i = 0; i < INTEGERS; i++) {
        q->least[i] = draw(3);
        q->most[i] = q->least[i] + room + draw(3);
    }
    for (int e = 0; e < q->num_edges; e++) {
        int32_t x = draw(INTEGERS), y = (x + 1 + draw(INTEGERS - 1)) % INTEGERS, z = 2 * (INTEGERS + e / 2);
        if (e >= 2 * TRUTHS)
            q->edges[e] = (struct edge){x, y, draw(6) - 3, draw(3) ? draw_truth() : -1};
        else if (e % 2 == 0)
            q->edges[e] = (struct edge){x, y, 1 + draw(4), z}; /* one before the other */
        else
            q->edges[e] = (struct edge){q->edges[e - 1].y, q->edges[e - 1].x, 1 + draw(4), z + 1};
    }
    for (int c = 0; c < q->num_clauses; c++)
        for (int k = 0; k < 3; k++) q->clauses[c][k] = 2 * (INTEGERS + (c + 2 * k + draw(2)) % TRUTHS) + draw(2);
    q->implied[0] = 2 * INTEGERS + draw(2);
    q->implied[1] = 2 * (INTEGERS + 1) + draw(2);
}

/* Of bit k of truths, whether a code is true. */
static int holds(int32_t truths, int32_t code) { return (truths >> (code / 2 - INTEGERS) & 1) != (code & 1); }

static int fits(const struct question *q, int32_t truths) {
    for (int c = 0; c < q->num_clauses; c++)
        if (!holds(truths, q->clauses[c][0]) && !holds(truths, q->clauses[c][1]) && !holds(truths, q->clauses[c][2]))
            return 0;
    return !holds(truths, q->implied[0]) || holds(truths, q->implied[1]);
}

/* Whether the truth values leave integers that obey all edges: they are raised until nothing moves. */
static int is_feasible(const struct question *q, int32_t truths) {
    int32_t value[INTEGERS], moved = fits(q, truths);
    if (!moved) return 0;
    memcpy(value, q->least, sizeof value);
    while (moved) {
        moved = 0;
        for (int e = 0; e < q->num_edges; e++) {
            const struct edge *edge = &q->edges[e];
            if (edge->guard >= 0 && !holds(truths, edge->guard)) continue;
            if (value[edge->x] + edge->lag <= value[edge->y]) continue;
            value[edge->y] = value[edge->x] + edge->lag;
            moved = 1;
            if (value[edge->y] > q->most[edge->y]) return 0;
        }
    }
    return 1;
}

static int has_solution(const struct question *q) {
    for (int32_t truths = 0; truths < 1 << TRUTHS; truths++)
        if (is_feasible(q, truths)) return 1;
    return 0;
}

static struct lazy_solver *build(const struct question *q) {
    struct lazy_solver *solver = lazy_make(INTEGERS + TRUTHS);
    assert_non_null(solver);
    for (int i = 0; i < INTEGERS; i++) lazy_set_bounds(solver, i, q->least[i], q->most[i]);
    for (int k = 0; k < TRUTHS; k++) {
        lazy_set_bounds(solver, INTEGERS + k, 0, 1);
        lazy_decide(solver, INTEGERS + k, draw(2));
    }
    for (int e = 0; e < q->num_edges; e++)
        lazy_add_edge(solver, q->edges[e].x, q->edges[e].y, q->edges[e].lag, q->edges[e].guard, -1);
    lazy_add_implied(solver, q->implied[0], q->implied[1]);
    lazy_add_implied(solver, q->implied[1] ^ 1, q->implied[0] ^ 1);
    for (int c = 0; c < q->num_clauses; c++) {
        struct lazy_literal literals[3];
        for (int k = 0; k < 3; k++) literals[k] = (struct lazy_literal){q->clauses[c][k] & 1 ? 0 : 1, q->clauses[c][k]};
        lazy_add_clause(solver, literals, 3);
    }
    return solver;
}

static void check_solution(const struct question *q, const struct lazy_solver *solver) {
    int32_t truths = 0;
    for (int k = 0; k < TRUTHS; k++) truths |= (int32_t)lazy_value(solver, INTEGERS + k) << k;
    assert_true(fits(q, truths));
    for (int i = 0; i < INTEGERS; i++)
        assert_true(lazy_value(solver, i) >= q->least[i] && lazy_value(solver, i) <= q->most[i]);
    for (int e = 0; e < q->num_edges; e++) {
        const struct edge *edge = &q->edges[e];
        if (edge->guard < 0 || holds(truths, edge->guard))
            assert_true(lazy_value(solver, edge->x) + edge->lag <= lazy_value(solver, edge->y));
    }
}

static void test_every_assignment(void **unused) {
    (void)unused;
    int solved = 0, impossible = 0;
    state = 11;
    for (int time = 0; time < 3000; time++) {
        struct question q;
        draw_question(&q);
        struct lazy_solver *solver = build(&q);
        enum lazy_answer answer = LAZY_SOLVED;
        while (answer == LAZY_SOLVED) { /* tighter and tighter */
            answer = lazy_solve(solver, 100000, NULL, NULL);
            assert_true(answer == LAZY_SOLVED || answer == LAZY_IMPOSSIBLE);
            if ((answer == LAZY_SOLVED) != has_solution(&q)) fail_msg("question %d", time);
            if (answer != LAZY_SOLVED) break;
            check_solution(&q, solver);
            int32_t i = draw(INTEGERS);
            q.most[i] = (int32_t)lazy_value(solver, i) - (lazy_value(solver, i) > q.least[i]);
            solved++;
            if (q.most[i] == q.least[i] && draw(4) == 0) break;
            lazy_tighten(solver, 2 * i + 1, -q.most[i]);
        }
        impossible += answer == LAZY_IMPOSSIBLE;
        lazy_free(solver);
    }
    assert_true(solved > 1000 && impossible > 1000);
}

/* So many operations on one machine that the orders cannot be gone through: pigeonholes by their durations. */
static void test_one_machine(void **unused) {
    (void)unused;
    for (int32_t jobs = 2; jobs <= 6; jobs++)
        for (int32_t late = 0; late < 2; late++) {
            int32_t pairs = jobs * (jobs - 1) / 2, z = jobs;
            struct lazy_solver *solver = lazy_make(jobs + pairs);
            assert_non_null(solver);
            for (int32_t i = 0; i < jobs; i++) lazy_set_bounds(solver, i, 0, 3 * jobs - 3 - late);
            for (int32_t i = 0; i < jobs; i++)
                for (int32_t j = i + 1; j < jobs; j++, z++) {
                    lazy_set_bounds(solver, z, 0, 1);
                    lazy_decide(solver, z, 1);
                    lazy_add_edge(solver, i, j, 3, 2 * z, -1);
                    lazy_add_edge(solver, j, i, 3, 2 * z + 1, -1);
                }
            assert_int_equal(lazy_solve(solver, INT64_MAX / 2, NULL, NULL), late ? LAZY_IMPOSSIBLE : LAZY_SOLVED);
            lazy_free(solver);
        }
}

static int32_t refuse(void *context, int64_t steps) {
    assert_true(steps >= 0);
    ++*(int32_t *)context;
    return 1;
}

static void test_limits(void **unused) {
    (void)unused;
    int32_t jobs = 9, z = jobs, asked = 0;
    struct lazy_solver *solver = lazy_make(jobs * (jobs + 1) / 2);
    for (int32_t i = 0; i < jobs; i++) lazy_set_bounds(solver, i, 0, 3 * jobs - 4);
    for (int32_t i = 0; i < jobs; i++)
        for (int32_t j = i + 1; j < jobs; j++, z++) {
            lazy_set_bounds(solver, z, 0, 1);
            lazy_decide(solver, z, 1);
            lazy_add_edge(solver, i, j, 3, 2 * z, -1);
            lazy_add_edge(solver, j, i, 3, 2 * z + 1, -1);
        }
    assert_int_equal(lazy_solve(solver, 10, NULL, NULL), LAZY_UNKNOWN);
    assert_int_equal(lazy_conflicts(solver), 10);
    assert_int_equal(lazy_solve(solver, INT64_MAX / 2, refuse, &asked), LAZY_UNKNOWN);
    assert_true(asked > 0);
    assert_null(lazy_free(solver));
    assert_null(lazy_free(NULL));
}

/* Bounds that rise in a circle too long to be seen: one propagation would not end. */
static void test_a_propagation_is_stopped(void **unused) {
    (void)unused;
    enum { LENGTH = 5000 };
    int32_t asked = 0;
    struct lazy_solver *solver = lazy_make(LENGTH);
    assert_non_null(solver);
    for (int32_t i = 0; i < LENGTH; i++) lazy_set_bounds(solver, i, 0, INT64_C(1) << 50);
    for (int32_t i = 0; i < LENGTH; i++) lazy_add_edge(solver, i, (i + 1) % LENGTH, 1, -1, -1);
    for (int i = 0; i < 2; i++) assert_int_equal(lazy_solve(solver, INT64_MAX / 2, refuse, &asked), LAZY_UNKNOWN);
    assert_true(asked >= 2);
    lazy_free(solver);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_assignment),
        cmocka_unit_test(test_one_machine),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_a_propagation_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
