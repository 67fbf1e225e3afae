/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether integers within bounds can obey precedences "if z = 1 then x + lag <= y" and clauses: lazy clause generation
 * (lazy_search.c).
 */
#ifndef KERF_SCHEDULE_BEST_LAZY_CLAUSES_H
#define KERF_SCHEDULE_BEST_LAZY_CLAUSES_H

#include <stddef.h>
#include "kerf/text.h"

/*
 * A variable x has two codes, 2x for x itself and 2x + 1 for -x. Each code has a lower bound, so that the upper bound of
 * x is minus the bound of 2x + 1, and every known fact is "code >= value". The opposite of code >= value is code ^ 1 >=
 * 1 - value. A variable of 0 and 1 is a truth value.
 */
struct lazy_literal { /* code >= value */
    int64_t value;
    int32_t code;
};

struct lazy_solver;
enum lazy_answer { LAZY_UNKNOWN, LAZY_SOLVED, LAZY_IMPOSSIBLE, LAZY_NO_MEMORY };

/* Asked now and then whether to stop; steps: the edges and clauses looked at since it was asked last. */
typedef int32_t (*lazy_stop)(void *context, int64_t steps);

struct lazy_solver *lazy_make(int32_t variables);
struct lazy_solver *lazy_free(struct lazy_solver *solver); /* always NULL */

/* Writes every clause from here on: "m" and the literals of a given one, "a" of a learned one, "d" and the number of
 * one that is forgotten, "a" alone when there is no solution. Clauses are numbered from 0. */
void lazy_record(struct lazy_solver *solver, struct kerf_text *record);

/* Building; a solver that ran out of memory says so when it is asked. All before the first lazy_solve. */
void lazy_set_bounds(struct lazy_solver *solver, int32_t variable, int64_t least, int64_t most);
/* if_code -1: always. Edges of one group (else -1) are from an x to y1 <= y2 <= ... in the order in which they are
 * added, or from x1 <= x2 <= ... to a y, and a condition implies that of those with later y and earlier x. */
void lazy_add_edge(struct lazy_solver *solver, int32_t x, int32_t y, int64_t lag, int32_t if_code, int32_t group);
void lazy_add_implied(struct lazy_solver *solver, int32_t code, int32_t implied); /* of truth values, at most 2 */
void lazy_add_clause(struct lazy_solver *solver, const struct lazy_literal *literals, int32_t count);
void lazy_decide(struct lazy_solver *solver, int32_t variable, int32_t guess); /* a truth value to branch on */

/* Between calls: bounds only grow tighter. 0 when that leaves no solution. */
int32_t lazy_tighten(struct lazy_solver *solver, int32_t code, int64_t value);

/* Ends after so many conflicts, or when told to stop. */
enum lazy_answer lazy_solve(struct lazy_solver *solver, int64_t conflicts, lazy_stop stop, void *context);

int64_t lazy_value(const struct lazy_solver *solver, int32_t variable); /* of the solution: its least */
int64_t lazy_conflicts(const struct lazy_solver *solver);

#endif
