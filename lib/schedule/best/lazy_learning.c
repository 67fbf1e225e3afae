/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learns a clause from a conflict: its literals are explained backwards until one of the current level is left, whose
 * opposite follows from the others (the first unique implication point). Literals that others of the clause imply are
 * left out. Clauses of few levels are kept; of the others those that were used lately.
 */
#include "schedule/best/lazy_state.h"

#include <assert.h>

/* ---- Clauses and what watches them ------------------------------------------------------------------------ */

static void lazy_watch(struct lazy_solver *solver, int32_t clause) {
    assert(solver->clauses.items[clause].count >= 2);
    const struct lazy_literal *literals = &solver->literals.items[solver->clauses.items[clause].begin];
    for (int32_t k = 0; k < 2; k++) {
        struct lazy_literal against = opposite(literals[k]);
        PUSH(solver, &solver->watches[against.code],
             (struct watch){against.value, clause, literals[1 - k].code, literals[1 - k].value});
    }
}

int32_t lazy_store(struct lazy_solver *solver, const struct lazy_literal *literals, int32_t count, int32_t levels,
                   int32_t number) {
    PUSH(solver, &solver->clauses, (struct clause){solver->literals.count, count, levels, 1, number});
    for (int32_t k = 0; k < count; k++) PUSH(solver, &solver->literals, literals[k]);
    if (!solver->no_memory) lazy_watch(solver, solver->clauses.count - 1);
    return solver->clauses.count - 1;
}

/* ---- Learning --------------------------------------------------------------------------------------------- */

/* The rise that made a literal true; -1: at level 0. */
static inline int32_t find_rise(const struct lazy_solver *solver, struct lazy_literal literal) {
    if (solver->root[literal.code] >= literal.value) return -1;
    int32_t at = solver->last[literal.code];
    while (solver->trail.items[at].old >= literal.value) at = solver->trail.items[at].before;
    return at;
}

/* Marks the rises of what is in `because`; returns how many of the current level are new. */
static int32_t mark(struct lazy_solver *solver) {
    int32_t current = 0;
    for (int32_t k = 0; k < solver->because.count; k++) {
        struct lazy_literal literal = solver->because.items[k];
        int32_t at = find_rise(solver, literal);
        if (at < 0) continue;
        struct rise *rise = &solver->trail.items[at];
        if (!rise->marked) {
            rise->marked = 1;
            rise->needed = literal.value;
            PUSH(solver, &solver->marks, at);
            lazy_activate(solver, literal.code / 2);
            current += rise->level == solver->level;
        } else if (literal.value > rise->needed) {
            rise->needed = literal.value;
        }
    }
    return current;
}

/* Whether a marked rise follows from other marked ones. */
static int is_redundant(struct lazy_solver *solver, int32_t at) {
    const struct rise *rise = &solver->trail.items[at];
    if (rise->kind == REASON_NONE) return 0;
    lazy_explain(solver, rise, rise->needed);
    for (int32_t k = 0; k < solver->because.count; k++) {
        int32_t from = find_rise(solver, solver->because.items[k]);
        if (from < 0) continue;
        const struct rise *other = &solver->trail.items[from];
        if (other->marked != 1 || other->needed < solver->because.items[k].value) return 0;
    }
    return 1;
}

/* A literal is not needed where a stronger one of the same code is in the clause. */
static void drop_weaker(struct lazy_solver *solver, int32_t at, const struct rise *first) {
    struct rise *rise = &solver->trail.items[at];
    if (rise->marked != 1 || rise->level == solver->level) return;
    int weaker = rise->code == first->code;
    for (int32_t later = solver->last[rise->code]; !weaker && later != at; later = solver->trail.items[later].before)
        weaker = solver->trail.items[later].marked == 1;
    if (weaker) rise->marked = 3;
}

/* Of how many levels the learned literals are. */
static int32_t count_levels(struct lazy_solver *solver) {
    int32_t count = 0;
    solver->stamp++;
    for (int32_t k = 0; k < solver->learned.count; k++) {
        struct lazy_literal held = opposite(solver->learned.items[k]);
        if (!is_true(solver, held)) continue; /* the one that follows */
        int32_t at = find_rise(solver, held), level = at < 0 ? 0 : solver->trail.items[at].level;
        count += solver->level_stamp[level] != solver->stamp;
        solver->level_stamp[level] = solver->stamp;
    }
    return count + 1;
}

/* Learns from the conflict in `because`: a clause whose first literal is then the only one that can be true. Returns
 * the level to go back to. */
int32_t lazy_learn(struct lazy_solver *solver) {
    solver->marks.count = 0;
    solver->learned.count = 0;
    int32_t open = mark(solver), at = solver->trail.count, back = 0;
    for (;;) {
        while (!solver->trail.items[--at].marked) continue;
        struct rise *rise = &solver->trail.items[at];
        if (--open == 0) break;
        rise->marked = 2; /* explained */
        lazy_explain(solver, rise, rise->needed);
        open += mark(solver);
    }
    const struct rise *first = &solver->trail.items[at];
    PUSH(solver, &solver->learned, (struct lazy_literal){first->needed, first->code});
    for (int32_t k = 0; k < solver->marks.count; k++) drop_weaker(solver, solver->marks.items[k], first);
    for (int32_t k = 0; k < solver->marks.count; k++) {
        int32_t other = solver->marks.items[k];
        const struct rise *rise = &solver->trail.items[other];
        if (rise->marked != 1 || rise->level == solver->level || is_redundant(solver, other)) continue;
        PUSH(solver, &solver->learned, (struct lazy_literal){rise->needed, rise->code});
        if (rise->level <= back) continue;
        back = rise->level; /* the second literal is the last to become false */
        struct lazy_literal *items = solver->learned.items, swap = items[1];
        items[1] = items[solver->learned.count - 1];
        items[solver->learned.count - 1] = swap;
    }
    for (int32_t k = 0; k < solver->marks.count; k++) solver->trail.items[solver->marks.items[k]].marked = 0;
    for (int32_t k = 0; k < solver->learned.count; k++) solver->learned.items[k] = opposite(solver->learned.items[k]);
    return back;
}

/* Adds the learned clause, whose first literal follows. */
int lazy_use_learned(struct lazy_solver *solver) {
    struct lazy_literal first = solver->learned.items[0];
    int32_t count = solver->learned.count;
    const int32_t number = lazy_record_clause(solver, 'a', solver->learned.items, count);
    if (count == 1) {
        if (!lazy_raise(solver, first.code, first.value, REASON_NONE, -1, 0)) return 0;
        return 1;
    }
    int32_t clause = lazy_store(solver, solver->learned.items, count, count_levels(solver), number);
    return lazy_raise(solver, first.code, first.value, REASON_CLAUSE, clause, 0);
}

/* ---- Forgetting ------------------------------------------------------------------------------------------- */

/* At level 0: keeps what was given, what few levels made, and of the rest the better half; leaves out what is known. */
void lazy_forget(struct lazy_solver *solver) {
    enum { LEVELS_MAX = 64, KEPT = 2 };
    int32_t of_levels[LEVELS_MAX + 1] = {0}, learned = 0, limit = KEPT, sum = 0;
    for (int32_t k = 0; k < solver->clauses.count; k++) {
        const struct clause *clause = &solver->clauses.items[k];
        if (clause->levels == 0) continue;
        of_levels[clause->levels < LEVELS_MAX ? clause->levels : LEVELS_MAX]++;
        learned++;
    }
    for (sum = of_levels[1] + of_levels[2]; limit < LEVELS_MAX && sum + of_levels[limit + 1] <= learned / 2;)
        sum += of_levels[++limit];
    struct clause *clauses = solver->clauses.items;
    struct lazy_literal *literals = solver->literals.items;
    int32_t count = solver->clauses.count, end = 0;
    solver->clauses.count = 0;
    for (int32_t c = 0; c < solver->codes; c++) solver->watches[c].count = 0;
    for (int32_t k = 0; k < count; k++) {
        const struct clause old = clauses[k];
        int32_t begin = end, known = old.levels > limit && !old.used;
        for (int32_t l = old.begin; l < old.begin + old.count && !known; l++) {
            if (is_true(solver, literals[l]))
                known = 1;
            else if (!is_false(solver, literals[l]))
                literals[end++] = literals[l];
        }
        if (known) {
            if (solver->record) kerf_text_printf(solver->record, "d %d\n", old.number);
            end = begin;
            continue;
        }
        clauses[solver->clauses.count++] = (struct clause){begin, end - begin, old.levels, 0, old.number};
    }
    solver->literals.count = end;
    for (int32_t k = 0; k < solver->clauses.count; k++) lazy_watch(solver, k);
}
