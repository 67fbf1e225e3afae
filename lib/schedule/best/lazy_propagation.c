/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Propagation: bounds along edges, truth values from each other, and the last open literal of clauses, each
 * of which watches two that are not false (lazy_search.c tells the whole).
 *
 * Of a group's edges that all hold, the first implies the others; of those that may hold, once one fits, all behind it
 * do. A rise of a bound looks at its own edges and the watches that it reaches. Bounds that rise again and again are
 * looked at for a cycle of edges, which would raise them one small time after another.
 */
#include "schedule/best/lazy_state.h"

#include <assert.h>

/* ---- The trail -------------------------------------------------------------------------------------------- */

/* Writes to `because` why a rise made its code >= value. */
void lazy_explain(struct lazy_solver *solver, const struct rise *rise, int64_t value) {
    solver->because.count = 0;
    if (rise->kind == REASON_EDGE || rise->kind == REASON_CUT) {
        const struct edge *edge = &solver->edges.items[rise->reason];
        if (rise->kind == REASON_EDGE) {
            PUSH(solver, &solver->because, (struct lazy_literal){value - edge->lag, edge->from});
            if (edge->guard >= 0)
                PUSH(solver, &solver->because, (struct lazy_literal){truth(edge->guard), edge->guard});
        } else {
            PUSH(solver, &solver->because, (struct lazy_literal){rise->aux, edge->from});
            PUSH(solver, &solver->because, (struct lazy_literal){1 - edge->lag - rise->aux, edge->to ^ 1});
        }
    } else if (rise->kind == REASON_IMPLIED) {
        PUSH(solver, &solver->because, (struct lazy_literal){truth(rise->reason), rise->reason});
    } else if (rise->kind == REASON_CLAUSE) {
        struct clause *clause = &solver->clauses.items[rise->reason];
        clause->used = 1;
        for (int32_t k = 0; k < clause->count; k++) {
            struct lazy_literal literal = solver->literals.items[clause->begin + k];
            if (literal.code != rise->code || literal.value != rise->value)
                PUSH(solver, &solver->because, opposite(literal));
        }
    }
}

/* Whether edges lead from a code back to itself and would raise it for ever. Then their conditions are in `because`. */
static int is_cycle(struct lazy_solver *solver, int32_t code, int64_t value, int32_t e) {
    enum { LENGTH_MAX = 4096 };
    int64_t needed = value;
    solver->because.count = 0;
    for (int32_t length = 0; length < LENGTH_MAX; length++) {
        const struct edge *edge = &solver->edges.items[e];
        solver->walked++;
        if (edge->guard >= 0) PUSH(solver, &solver->because, (struct lazy_literal){truth(edge->guard), edge->guard});
        needed -= edge->lag;
        if (edge->from == code && needed < value) return 1;
        if (solver->root[edge->from] >= needed) break;
        int32_t at = solver->last[edge->from];
        for (; solver->trail.items[at].old >= needed; solver->walked++) at = solver->trail.items[at].before;
        if (solver->trail.items[at].kind != REASON_EDGE) break;
        e = solver->trail.items[at].reason;
    }
    solver->because.count = 0;
    return 0;
}

int lazy_raise(struct lazy_solver *solver, int32_t code, int64_t value, enum reason_kind kind, int32_t reason,
               int64_t aux) {
    enum { SUSPICIOUS = 8 };
    int64_t old = solver->bound[code], against = solver->bound[code ^ 1];
    int32_t last = solver->last[code], again = 0;
    if (value <= old) return 1;
    if (last >= 0 && solver->trail.items[last].level == solver->level) again = solver->trail.items[last].again + 1;
    if (again % SUSPICIOUS == SUSPICIOUS - 1 && kind == REASON_EDGE && is_cycle(solver, code, value, reason)) return 0;
    const struct rise rise = {value, old, aux, 0, code, last, solver->level, 0, kind, reason, again};
    if (value + against > 0) {
        lazy_explain(solver, &rise, 1 - against);
        PUSH(solver, &solver->because, (struct lazy_literal){against, code ^ 1});
        return 0;
    }
    PUSH(solver, &solver->trail, rise);
    if (solver->no_memory) return 1;
    solver->last[code] = solver->trail.count - 1;
    solver->bound[code] = value;
    return 1;
}

void lazy_back_to(struct lazy_solver *solver, int32_t level) {
    if (solver->level <= level) return;
    int32_t begin = solver->level_begin.items[level];
    for (int32_t at = solver->trail.count; at-- > begin;) {
        const struct rise *rise = &solver->trail.items[at];
        int32_t variable = rise->code / 2;
        solver->bound[rise->code] = rise->old;
        solver->last[rise->code] = rise->before;
        if (solver->guess[variable] >= 0) {
            solver->guess[variable] = (int8_t) !(rise->code & 1);
            lazy_heap_add(solver, variable);
        }
    }
    assert(solver->level_begin.count == solver->level && begin <= solver->trail.count);
    solver->trail.count = solver->head = begin;
    solver->level_begin.count = solver->level = level;
}

/* What is known at level 0 needs no reason. */
void lazy_settle(struct lazy_solver *solver) {
    for (int32_t at = 0; at < solver->trail.count; at++) {
        int32_t code = solver->trail.items[at].code;
        solver->root[code] = solver->bound[code];
        solver->last[code] = -1;
    }
    solver->trail.count = solver->head = 0;
}

/* ---- Propagation ------------------------------------------------------------------------------------------ */

int lazy_follow_edge(struct lazy_solver *solver, int32_t e) {
    const struct edge *edge = &solver->edges.items[e];
    int64_t from = solver->bound[edge->from], value = from + edge->lag;
    int32_t guard = edge->guard;
    if (guard < 0 || solver->bound[guard] >= truth(guard))
        return lazy_raise(solver, edge->to, value, REASON_EDGE, e, 0);
    if (value + solver->bound[edge->to ^ 1] > 0 && solver->bound[guard ^ 1] < truth(guard ^ 1))
        return lazy_raise(solver, guard ^ 1, truth(guard ^ 1), REASON_CUT, e, from);
    return 1;
}

/* The edges of a code whose bound rose: of a group all that are cut, and the first whose condition holds. */
static int follow_edges(struct lazy_solver *solver, int32_t code) {
    const struct edge *edges = solver->edges.items;
    const int64_t *bound = solver->bound;
    int64_t from = bound[code];
    int32_t fits_until = 0; /* edges of a group grow easier: behind one that fits all do */
    for (int32_t e = solver->edge_begin[code], end = solver->edge_begin[code + 1]; e < end; e++) {
        int32_t guard = edges[e].guard, to = edges[e].to;
        int64_t value = from + edges[e].lag;
        if (guard < 0) {
            if (value > bound[to] && !lazy_raise(solver, to, value, REASON_EDGE, e, 0)) return 0;
        } else if (bound[guard] >= truth(guard)) {
            if (value > bound[to] && !lazy_raise(solver, to, value, REASON_EDGE, e, 0)) return 0;
            e = edges[e].group_end - 1;
        } else if (e >= fits_until && bound[guard ^ 1] < truth(guard ^ 1)) {
            if (value + bound[to ^ 1] <= 0)
                fits_until = edges[e].group_end;
            else if (!lazy_raise(solver, guard ^ 1, truth(guard ^ 1), REASON_CUT, e, from))
                return 0;
        }
    }
    return 1;
}

/* A literal of the clause became false. 1: the watch stays; 0: it went elsewhere; -1: conflict. */
static int visit_clause(struct lazy_solver *solver, struct watch *watch, struct lazy_literal gone) {
    const struct clause *clause = &solver->clauses.items[watch->clause];
    struct lazy_literal *literals = &solver->literals.items[clause->begin];
    if (literals[0].code == gone.code && literals[0].value == gone.value) literals[0] = literals[1], literals[1] = gone;
    watch->other_code = literals[0].code, watch->other_value = literals[0].value;
    if (is_true(solver, literals[0])) return 1;
    for (int32_t k = 2; k < clause->count; k++) {
        if (is_false(solver, literals[k])) continue;
        struct lazy_literal next = literals[k], against = opposite(next);
        literals[k] = gone;
        literals[1] = next;
        PUSH(solver, &solver->watches[against.code],
             (struct watch){against.value, watch->clause, literals[0].code, literals[0].value});
        return 0;
    }
    if (is_false(solver, literals[0])) {
        solver->because.count = 0;
        for (int32_t k = 0; k < clause->count; k++) PUSH(solver, &solver->because, opposite(literals[k]));
        solver->clauses.items[watch->clause].used = 1;
        return -1;
    }
    return lazy_raise(solver, literals[0].code, literals[0].value, REASON_CLAUSE, watch->clause, 0) ? 1 : -1;
}

static int visit_clauses(struct lazy_solver *solver, int32_t code, int64_t old, int64_t value) {
    struct watch_list *list = &solver->watches[code];
    int32_t kept = 0, at = 0, count = list->count;
    for (; at < count; at++) {
        struct watch watch = list->items[at];
        if (watch.value > old && watch.value <= value && solver->bound[watch.other_code] < watch.other_value) {
            int stays = visit_clause(solver, &watch, (struct lazy_literal){1 - watch.value, code ^ 1});
            if (stays == 0) continue;
            list->items[kept++] = watch;
            if (stays < 0) {
                at++;
                break;
            }
        } else {
            list->items[kept++] = watch;
        }
    }
    int fine = at == count && solver->because.count == 0;
    for (; at < count; at++) list->items[kept++] = list->items[at];
    list->count = kept;
    return fine;
}

/* Bounds that rise in a circle may do so for a long time. Steps are counted elsewhere, so that a limit in steps has one
 * answer. */
static int has_to_stop(struct lazy_solver *solver) {
    enum { WALKED = 1 << 20 }; /* between two questions */
    if (solver->walked < WALKED) return solver->is_stopped;
    solver->walked = 0;
    if (solver->stop && solver->stop(solver->stop_context, 0)) solver->is_stopped = 1;
    return solver->is_stopped;
}

/* 0 on a conflict, whose literals, all true, are in `because`. Where it was stopped, the rest of the trail is left. */
int lazy_propagate(struct lazy_solver *solver) {
    solver->because.count = 0;
    while (solver->head < solver->trail.count && !solver->no_memory && !has_to_stop(solver)) {
        const struct rise rise = solver->trail.items[solver->head];
        int32_t code = rise.code, latest = solver->last[code] == solver->head;
        solver->head++;
        const int32_t looked = solver->watches[code].count + solver->edge_begin[code + 1] - solver->edge_begin[code];
        solver->steps += looked;
        solver->walked += looked;
        if (!visit_clauses(solver, code, rise.old, rise.value)) return 0;
        if (!latest) continue; /* a later rise does the rest */
        for (int32_t k = 0; k < 2 && solver->implied[2 * code + k] >= 0; k++) {
            int32_t implied = solver->implied[2 * code + k];
            if (!lazy_raise(solver, implied, truth(implied), REASON_IMPLIED, code, 0)) return 0;
        }
        for (int32_t k = solver->guarded_begin[code]; k < solver->guarded_begin[code + 1]; k++)
            if (!lazy_follow_edge(solver, solver->guarded[k])) return 0;
        if (!follow_edges(solver, code)) return 0;
    }
    return 1;
}
