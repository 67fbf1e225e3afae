/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/best/lazy_state.h"

#include <assert.h>
#include <stdlib.h>

/* ---- Clauses and what watches them ------------------------------------------------------------------------ */

void lazy_watch(struct lazy_solver *solver, int32_t clause) {
    assert(solver->clauses.items[clause].count >= 2);
    const struct lazy_literal *literals = &solver->literals.items[solver->clauses.items[clause].begin];
    for (int32_t k = 0; k < 2; k++) {
        struct lazy_literal against = opposite(literals[k]);
        PUSH(solver, &solver->watches[against.code],
             (struct watch){against.value, clause, literals[1 - k].code, literals[1 - k].value});
    }
}

int32_t lazy_store(struct lazy_solver *solver, const struct lazy_literal *literals, int32_t count, int32_t levels) {
    PUSH(solver, &solver->clauses, (struct clause){solver->literals.count, count, levels, 1});
    for (int32_t k = 0; k < count; k++) PUSH(solver, &solver->literals, literals[k]);
    if (!solver->no_memory) lazy_watch(solver, solver->clauses.count - 1);
    return solver->clauses.count - 1;
}

/* ---- Truth values by activity ----------------------------------------------------------------------------- */

static inline int more_active(const struct lazy_solver *solver, int32_t a, int32_t b) {
    return solver->activity[a] > solver->activity[b] || (solver->activity[a] == solver->activity[b] && a < b);
}

static void heap_up(struct lazy_solver *solver, int32_t at) {
    int32_t variable = solver->heap[at];
    while (at > 0 && more_active(solver, variable, solver->heap[(at - 1) / 2])) {
        solver->heap[at] = solver->heap[(at - 1) / 2];
        solver->place[solver->heap[at]] = at;
        at = (at - 1) / 2;
    }
    solver->heap[at] = variable;
    solver->place[variable] = at;
}

void lazy_heap_add(struct lazy_solver *solver, int32_t variable) {
    if (solver->place[variable] >= 0) return;
    assert(solver->heap_count <= solver->codes / 2);
    solver->heap[solver->heap_count] = variable;
    heap_up(solver, solver->heap_count++);
}

int32_t lazy_heap_take(struct lazy_solver *solver) {
    int32_t top = solver->heap[0], variable = solver->heap[--solver->heap_count], at = 0;
    solver->place[top] = -1;
    if (solver->heap_count == 0) return top;
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= solver->heap_count) break;
        if (child + 1 < solver->heap_count && more_active(solver, solver->heap[child + 1], solver->heap[child]))
            child++;
        if (!more_active(solver, solver->heap[child], variable)) break;
        solver->heap[at] = solver->heap[child];
        solver->place[solver->heap[at]] = at;
        at = child;
    }
    solver->heap[at] = variable;
    solver->place[variable] = at;
    return top;
}

void lazy_activate(struct lazy_solver *solver, int32_t variable) {
    if (solver->guess[variable] < 0) return;
    if ((solver->activity[variable] += solver->bump) > 1e100) {
        for (int32_t v = 0; v < solver->codes / 2; v++) solver->activity[v] *= 1e-100;
        solver->bump *= 1e-100;
    }
    if (solver->place[variable] >= 0) heap_up(solver, solver->place[variable]);
}
