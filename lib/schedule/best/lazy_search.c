/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lazy clause generation (Ohrimenko, Stuckey and Codish, Propagation via lazy clause generation, Constraints 14, 2009)
 * for difference constraints: depth-first search over the truth values, bounds propagated along the edges whose
 * condition holds, and of each conflict a clause learned (first unique implication point), as SAT solvers do (MiniSat).
 *
 * What is known is "code >= value" (lazy_clauses.h). The trail lists each rise of a bound with its reason; literals are
 * not listed for each value, so that the range of the integers costs nothing. Looking for where a literal became true
 * walks back over the rises of its code. Explanations are made when they are asked for and ask for no more than is
 * needed: if x + lag <= y, then y >= v because x >= v - lag, even where x was larger.
 *
 * The truth values to branch on are picked by activity in recent conflicts, and first tried as they were last. What is
 * known at level 0 has no reason and is taken off the trail. Clauses that have not been of use are forgotten at
 * restarts, which follow Luby's sequence.
 *
 * To learn a clause from a conflict, its literals are explained backwards until one of the current level is left, whose
 * opposite follows from the others (the first unique implication point). Literals that others of the clause imply are
 * left out. Clauses of few levels are kept; of the others those that were used lately.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "schedule/best/lazy_clauses.h"
#include "schedule/best/lazy_state.h"

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

static int32_t lazy_store(struct lazy_solver *solver, const struct lazy_literal *literals, int32_t count,
                          int32_t levels, int32_t number) {
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
static int32_t lazy_learn(struct lazy_solver *solver) {
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
static int lazy_use_learned(struct lazy_solver *solver) {
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
static void lazy_forget(struct lazy_solver *solver) {
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

/* ---- Building --------------------------------------------------------------------------------------------- */

struct lazy_solver *lazy_free(struct lazy_solver *solver) {
    if (solver == NULL) return NULL;
    for (int32_t c = 0; solver->watches && c < solver->codes; c++) free(solver->watches[c].items);
    free(solver->bound), free(solver->root), free(solver->last), free(solver->implied), free(solver->watches);
    free(solver->trail.items), free(solver->level_begin.items), free(solver->edges.items), free(solver->edge_begin);
    free(solver->guarded), free(solver->guarded_begin), free(solver->clauses.items), free(solver->literals.items);
    free(solver->learned.items), free(solver->because.items), free(solver->marks.items), free(solver->activity);
    free(solver->heap), free(solver->place), free(solver->guess), free(solver->level_stamp), free(solver);
    return NULL;
}

struct lazy_solver *lazy_make(int32_t variables) {
    struct lazy_solver *solver = calloc(1, sizeof *solver);
    if (solver == NULL) return NULL;
    size_t codes = 2 * (size_t)variables, half = (size_t)variables + 1;
    solver->codes = (int32_t)codes;
    solver->bump = 1;
    solver->forget_step = solver->forget_at = 4000;
    solver->bound = calloc(codes + 1, sizeof *solver->bound);
    solver->root = calloc(codes + 1, sizeof *solver->root);
    solver->last = malloc((codes + 1) * sizeof *solver->last);
    solver->implied = malloc((codes + 1) * 2 * sizeof *solver->implied);
    solver->watches = calloc(codes + 1, sizeof *solver->watches);
    solver->activity = calloc(half, sizeof *solver->activity);
    solver->heap = malloc(half * sizeof *solver->heap);
    solver->place = malloc(half * sizeof *solver->place);
    solver->guess = malloc(half * sizeof *solver->guess);
    solver->level_stamp = calloc(half, sizeof *solver->level_stamp);
    if (!(solver->bound && solver->root && solver->last && solver->implied && solver->watches && solver->activity &&
          solver->heap && solver->place && solver->guess && solver->level_stamp))
        return lazy_free(solver);
    memset(solver->last, -1, (codes + 1) * sizeof *solver->last);
    memset(solver->implied, -1, (codes + 1) * 2 * sizeof *solver->implied);
    memset(solver->place, -1, half * sizeof *solver->place);
    memset(solver->guess, -1, half * sizeof *solver->guess);
    return solver;
}

void lazy_record(struct lazy_solver *solver, struct kerf_text *record) { solver->record = record; }

void lazy_set_bounds(struct lazy_solver *solver, int32_t variable, int64_t least, int64_t most) {
    int32_t code = 2 * variable;
    solver->bound[code] = solver->root[code] = least;
    solver->bound[code + 1] = solver->root[code + 1] = -most;
    if (least > most) solver->impossible = 1;
}

void lazy_add_edge(struct lazy_solver *solver, int32_t x, int32_t y, int64_t lag, int32_t if_code, int32_t group) {
    PUSH(solver, &solver->edges, (struct edge){lag, 2 * x, 2 * y, if_code, group, 0});
    PUSH(solver, &solver->edges, (struct edge){lag, 2 * y + 1, 2 * x + 1, if_code, group, 0});
}

void lazy_add_implied(struct lazy_solver *solver, int32_t code, int32_t implied) {
    int32_t *list = &solver->implied[2 * code];
    list[list[0] < 0 ? 0 : 1] = implied;
}

/* Where the edges of each code begin and each group ends, and which have a condition. */
static void index_edges(struct lazy_solver *solver) {
    size_t codes = (size_t)solver->codes;
    int32_t count = solver->edges.count;
    struct edge *edges = solver->edges.items;
    memset(solver->edge_begin, 0, (codes + 2) * sizeof *solver->edge_begin);
    memset(solver->guarded_begin, 0, (codes + 2) * sizeof *solver->guarded_begin);
    for (int32_t e = count; e-- > 0;) {
        int same = e + 1 < count && edges[e].group >= 0 && edges[e + 1].group == edges[e].group &&
                   edges[e + 1].from == edges[e].from;
        edges[e].group_end = same ? edges[e + 1].group_end : e + 1;
        solver->edge_begin[edges[e].from + 1]++;
        if (edges[e].guard >= 0) solver->guarded_begin[edges[e].guard + 2]++;
    }
    for (size_t c = 0; c < codes; c++) {
        solver->edge_begin[c + 1] += solver->edge_begin[c];
        solver->guarded_begin[c + 2] += solver->guarded_begin[c + 1];
    }
    for (int32_t e = 0; e < count; e++)
        if (edges[e].guard >= 0) solver->guarded[solver->guarded_begin[edges[e].guard + 1]++] = e;
}

/* Sorts the edges by where they begin; those of an odd code the last one first. */
static void compile(struct lazy_solver *solver) {
    size_t codes = (size_t)solver->codes, count = (size_t)solver->edges.count;
    struct edge *sorted = malloc((count + 1) * sizeof *sorted);
    solver->edge_begin = calloc(codes + 2, sizeof *solver->edge_begin);
    solver->guarded_begin = calloc(codes + 2, sizeof *solver->guarded_begin);
    solver->guarded = malloc((count + 1) * sizeof *solver->guarded);
    solver->compiled = 1;
    if (!(sorted && solver->edge_begin && solver->guarded_begin && solver->guarded)) {
        solver->no_memory = 1;
        free(sorted);
        return;
    }
    int32_t *end = solver->edge_begin;
    for (size_t e = 0; e < count; e++) end[solver->edges.items[e].from + 1]++;
    for (size_t c = 0; c < codes; c++) end[c + 1] += end[c];
    for (size_t e = count; e-- > 0;) /* from behind, so that even codes keep their order */
        if (!(solver->edges.items[e].from & 1)) sorted[--end[solver->edges.items[e].from + 1]] = solver->edges.items[e];
    for (size_t e = 0; e < count; e++)
        if (solver->edges.items[e].from & 1) sorted[--end[solver->edges.items[e].from + 1]] = solver->edges.items[e];
    if (count > 0) memcpy(solver->edges.items, sorted, count * sizeof *sorted);
    free(sorted);
    index_edges(solver);
}

/* At level 0: leaves out the edges whose condition never holds again, and those that others make superfluous. */
static void drop_edges(struct lazy_solver *solver) {
    int32_t kept = 0, count = solver->edges.count;
    struct edge *edges = solver->edges.items;
    for (int32_t e = 0; e < count; e++) {
        const struct edge edge = edges[e];
        int32_t end = edge.group_end;
        if (edge.guard >= 0 && solver->bound[edge.guard ^ 1] >= truth(edge.guard ^ 1)) continue;
        edges[kept++] = edge;
        if (edge.guard >= 0 && solver->bound[edge.guard] >= truth(edge.guard)) e = end - 1;
    }
    solver->edges.count = kept;
    index_edges(solver);
}

void lazy_add_clause(struct lazy_solver *solver, const struct lazy_literal *literals, int32_t count) {
    int32_t open = 0;
    lazy_back_to(solver, 0);
    const int32_t number = lazy_record_clause(solver, 'm', literals, count);
    solver->learned.count = 0;
    for (int32_t k = 0; k < count; k++) {
        if (is_true(solver, literals[k])) return;
        if (is_false(solver, literals[k])) continue;
        open++;
        PUSH(solver, &solver->learned, literals[k]);
    }
    if (open == 0)
        solver->impossible = 1;
    else if (open > 1)
        lazy_store(solver, solver->learned.items, open, 0, number);
    else if (!lazy_tighten(solver, solver->learned.items[0].code, solver->learned.items[0].value))
        solver->impossible = 1;
}

/* ---- Branching -------------------------------------------------------------------------------------------- */

void lazy_decide(struct lazy_solver *solver, int32_t variable, int32_t guess) {
    solver->guess[variable] = (int8_t)guess;
    lazy_heap_add(solver, variable);
}

/* ---- Searching -------------------------------------------------------------------------------------------- */

/* The i-th of Luby, Sinclair and Zuckerman's restart intervals, from 1: 1 1 2 1 1 2 4 ... */
static int64_t luby(int64_t i) {
    for (;;) {
        int64_t power = 1;
        while (2 * power - 1 < i) power *= 2;
        if (2 * power - 1 == i) return power;
        i -= power - 1;
    }
}

static int decide(struct lazy_solver *solver) {
    while (solver->heap_count > 0) {
        int32_t variable = lazy_heap_take(solver), code = 2 * variable;
        if (solver->bound[code] == -solver->bound[code + 1]) continue;
        PUSH(solver, &solver->level_begin, solver->trail.count);
        solver->level++;
        if (!solver->guess[variable]) code++;
        lazy_raise(solver, code, truth(code), REASON_NONE, -1, 0);
        return 1;
    }
    return 0;
}

static enum lazy_answer give_up(struct lazy_solver *solver) {
    solver->impossible = 1;
    lazy_record_end(solver);
    return LAZY_IMPOSSIBLE;
}

int32_t lazy_tighten(struct lazy_solver *solver, int32_t code, int64_t value) {
    lazy_back_to(solver, 0);
    if (!lazy_raise(solver, code, value, REASON_NONE, -1, 0)) solver->impossible = 1;
    return !solver->impossible;
}

/* Hands the work since the last time over; 1: stop. */
static int has_to_stop(struct lazy_solver *solver, lazy_stop stop, void *context) {
    const int64_t steps = solver->steps;
    solver->steps = 0;
    return stop && stop(context, steps);
}

static enum lazy_answer search(struct lazy_solver *solver, int64_t conflicts, int64_t interval, lazy_stop stop,
                               void *context) {
    enum { STEPS = 10000 }; /* between two questions */
    int64_t until = solver->conflicts + interval, most = solver->conflicts + conflicts;
    for (;;) {
        if (++solver->steps >= STEPS && has_to_stop(solver, stop, context)) return LAZY_UNKNOWN;
        if (!lazy_propagate(solver)) {
            solver->conflicts++;
            if (solver->level == 0) return give_up(solver);
            lazy_back_to(solver, lazy_learn(solver));
            solver->bump *= 1 / 0.95;
            if (!lazy_use_learned(solver)) return give_up(solver);
        } else {
            if (solver->no_memory) return LAZY_NO_MEMORY;
            if (solver->is_stopped) return LAZY_UNKNOWN;
            if (solver->level == 0) {
                lazy_settle(solver);
                if (solver->restarts == 1) drop_edges(solver);
            }
            if (solver->conflicts >= until || solver->conflicts >= most) return LAZY_UNKNOWN;
            if (!decide(solver)) return LAZY_SOLVED;
        }
    }
}

enum lazy_answer lazy_solve(struct lazy_solver *solver, int64_t conflicts, lazy_stop stop, void *context) {
    enum { UNIT = 100 };
    int64_t begin = solver->conflicts;
    solver->stop = stop;
    solver->stop_context = context;
    solver->is_stopped = 0;
    if (!solver->compiled) compile(solver);
    lazy_back_to(solver, 0);
    if (solver->impossible) return give_up(solver);
    /* all edges once, from the bounds that were set */
    for (int32_t e = 0; e < solver->edges.count && !solver->followed && !solver->no_memory; e++)
        if (!lazy_follow_edge(solver, e)) return give_up(solver);
    solver->followed = 1;
    for (;;) {
        if (solver->no_memory) return LAZY_NO_MEMORY;
        enum lazy_answer answer =
            search(solver, conflicts - (solver->conflicts - begin), UNIT * luby(++solver->restarts), stop, context);
        const int stopped = has_to_stop(solver, stop, context) || solver->is_stopped;
        if (answer != LAZY_UNKNOWN) return answer;
        lazy_back_to(solver, 0);
        if (stopped || solver->conflicts - begin >= conflicts) return LAZY_UNKNOWN;
        if (solver->conflicts >= solver->forget_at) {
            if (!lazy_propagate(solver)) return give_up(solver);
            if (solver->is_stopped) return LAZY_UNKNOWN;
            lazy_settle(solver);
            lazy_forget(solver);
            drop_edges(solver);
            solver->forget_step += 600;
            solver->forget_at = solver->conflicts + solver->forget_step;
        }
    }
}

int64_t lazy_value(const struct lazy_solver *solver, int32_t variable) { return solver->bound[2 * variable]; }
int64_t lazy_conflicts(const struct lazy_solver *solver) { return solver->conflicts; }
