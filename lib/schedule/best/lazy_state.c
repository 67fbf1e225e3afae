/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/best/lazy_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void *lazy_list_grown(void *items, int32_t count, int32_t *room, size_t size, int32_t *no_memory) {
    assert(count >= 0 && count <= *room);
    if (count < *room) return items;
    int32_t more = *room ? *room * 2 : 16;
    void *bigger = more > *room ? realloc(items, (size_t)more * size) : NULL;
    if (bigger == NULL) {
        *no_memory = 1;
        return items;
    }
    *room = more;
    return bigger;
}

/* ---- The record ------------------------------------------------------------------------------------------- */

static char *write_whole(char *at, int64_t value) {
    char digits[24];
    int count = 0;
    uint64_t left = value < 0 ? (uint64_t)-value : (uint64_t)value;
    *at++ = ' ';
    if (value < 0) *at++ = '-';
    do digits[count++] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    while (count > 0) *at++ = digits[--count];
    return at;
}

int32_t lazy_record_clause(struct lazy_solver *solver, char what, const struct lazy_literal *literals, int32_t count) {
    enum { LENGTH_MAX = 384 << 20 }; /* kerf schedule verify reads 512 MiB: more than anyone would check */
    char line[64];
    if (solver->record == NULL) return 0;
    if (solver->record->length > LENGTH_MAX) solver->record->failed = 1;
    kerf_text_write(solver->record, &what, 1);
    for (int32_t k = 0; k < count; k++) {
        char *end = write_whole(write_whole(line, literals[k].code), literals[k].value);
        kerf_text_write(solver->record, line, (size_t)(end - line));
    }
    kerf_text_write(solver->record, "\n", 1);
    return solver->recorded++;
}

void lazy_record_end(struct lazy_solver *solver) { lazy_record_clause(solver, 'a', NULL, 0); }

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
