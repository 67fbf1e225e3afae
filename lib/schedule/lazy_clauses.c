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
 */
#include "schedule/lazy_clauses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum reason_kind {
    REASON_NONE,    /* a decision */
    REASON_EDGE,    /* an edge's other end, and its condition */
    REASON_CUT,     /* an edge that would have raised a bound too far: its condition cannot hold */
    REASON_IMPLIED, /* a truth value */
    REASON_CLAUSE
};

struct rise {                /* of a bound */
    int64_t value, old, aux; /* aux: of a cut, the bound of the edge's start */
    int64_t needed;          /* by the conflict at hand, where it is marked */
    int32_t code, before;    /* the code's rise before this one, or -1 */
    int32_t level, marked;
    int32_t kind, reason; /* edge, code or clause */
};

struct edge {
    int64_t lag;
    int32_t from, to, guard; /* code that has to be true, or -1 */
    int32_t group, group_end;
};

struct watch {
    int64_t value; /* when the code of the list reaches it, the clause's literal becomes false */
    int32_t clause, other_code;
    int64_t other_value; /* another literal of the clause, which may be true */
};

struct watch_list {
    struct watch *items;
    int32_t count, room;
};

struct clause {
    int32_t begin, count; /* of its literals */
    int32_t levels;       /* that its literals came from; 0: not learned */
    int32_t used;
};

#define LIST(type)                                                                                                     \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        int32_t count, room;                                                                                           \
    }

struct lazy_solver {
    int32_t codes;
    int32_t level, head; /* of the trail: what is propagated */
    int32_t no_memory, impossible, compiled, followed;
    int64_t conflicts;
    int64_t *bound;             /* [codes] */
    int64_t *root;              /* [codes] at level 0 */
    int32_t *last;              /* [codes] its latest rise, or -1 */
    int32_t *implied;           /* [codes][2] or -1 */
    struct watch_list *watches; /* [codes] */
    LIST(struct rise) trail;
    LIST(int32_t) level_begin;
    LIST(struct edge) edges;          /* by from, once compiled: */
    int32_t *edge_begin;              /* [codes + 1] */
    int32_t *guarded, *guarded_begin; /* edges by guard */
    LIST(struct clause) clauses;
    LIST(struct lazy_literal) literals;
    LIST(struct lazy_literal) learned, because;
    LIST(int32_t) marks; /* rises that the conflict has marked */
    /* branching */
    double *activity;      /* [codes / 2] */
    int32_t *heap, *place; /* most active first; place of a variable, -1: not in it */
    int8_t *guess;         /* [codes / 2] of a truth value to branch on, else -1 */
    int32_t heap_count;
    double bump;
    int64_t forget_at, forget_step, restarts;
    int32_t *level_stamp, stamp; /* [codes / 2 + 1] */
};

/* ---- Growing lists ---------------------------------------------------------------------------------------- */

static void *grown(struct lazy_solver *solver, void *items, int32_t count, int32_t *room, size_t size) {
    if (count < *room) return items;
    int32_t more = *room ? *room * 2 : 16;
    void *bigger = more > *room ? realloc(items, (size_t)more * size) : NULL;
    if (bigger == NULL) {
        solver->no_memory = 1;
        return items;
    }
    *room = more;
    return bigger;
}

/* Adds to a list; without memory it stays as it is. */
#define PUSH(solver, list, ...)                                                                                        \
    do {                                                                                                               \
        (list)->items = grown(solver, (list)->items, (list)->count, &(list)->room, sizeof *(list)->items);             \
        if ((list)->count < (list)->room) (list)->items[(list)->count++] = __VA_ARGS__;                                \
    } while (0)

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

/* The value that makes a code of a truth value true. */
static inline int64_t truth(int32_t code) { return code & 1 ? 0 : 1; }

static inline struct lazy_literal opposite(struct lazy_literal literal) {
    return (struct lazy_literal){1 - literal.value, literal.code ^ 1};
}
static inline int is_true(const struct lazy_solver *solver, struct lazy_literal literal) {
    return solver->bound[literal.code] >= literal.value;
}
static inline int is_false(const struct lazy_solver *solver, struct lazy_literal literal) {
    return solver->bound[literal.code ^ 1] >= 1 - literal.value;
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
    memcpy(solver->edges.items, sorted, count * sizeof *sorted);
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

static void back_to(struct lazy_solver *solver, int32_t level);

static void watch_clause(struct lazy_solver *solver, int32_t clause) {
    const struct lazy_literal *literals = &solver->literals.items[solver->clauses.items[clause].begin];
    for (int32_t k = 0; k < 2; k++) {
        struct lazy_literal against = opposite(literals[k]);
        PUSH(solver, &solver->watches[against.code],
             (struct watch){against.value, clause, literals[1 - k].code, literals[1 - k].value});
    }
}

static int32_t store_clause(struct lazy_solver *solver, const struct lazy_literal *literals, int32_t count,
                            int32_t levels) {
    PUSH(solver, &solver->clauses, (struct clause){solver->literals.count, count, levels, 1});
    for (int32_t k = 0; k < count; k++) PUSH(solver, &solver->literals, literals[k]);
    if (!solver->no_memory) watch_clause(solver, solver->clauses.count - 1);
    return solver->clauses.count - 1;
}

void lazy_add_clause(struct lazy_solver *solver, const struct lazy_literal *literals, int32_t count) {
    int32_t open = 0;
    back_to(solver, 0);
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
        store_clause(solver, solver->learned.items, open, 0);
    else if (!lazy_tighten(solver, solver->learned.items[0].code, solver->learned.items[0].value))
        solver->impossible = 1;
}

/* ---- Branching -------------------------------------------------------------------------------------------- */

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

static void heap_add(struct lazy_solver *solver, int32_t variable) {
    if (solver->place[variable] >= 0) return;
    solver->heap[solver->heap_count] = variable;
    heap_up(solver, solver->heap_count++);
}

static int32_t heap_take(struct lazy_solver *solver) {
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

void lazy_decide(struct lazy_solver *solver, int32_t variable, int32_t guess) {
    solver->guess[variable] = (int8_t)guess;
    heap_add(solver, variable);
}

static void make_active(struct lazy_solver *solver, int32_t variable) {
    if (solver->guess[variable] < 0) return;
    if ((solver->activity[variable] += solver->bump) > 1e100) {
        for (int32_t v = 0; v < solver->codes / 2; v++) solver->activity[v] *= 1e-100;
        solver->bump *= 1e-100;
    }
    if (solver->place[variable] >= 0) heap_up(solver, solver->place[variable]);
}

/* ---- The trail -------------------------------------------------------------------------------------------- */

/* Writes to `because` why a rise made its code >= value. */
static void explain(struct lazy_solver *solver, const struct rise *rise, int64_t value) {
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

/* Raises a bound. 0 when it would exceed the opposite one: `because` is then why, all of it true. */
static int raise_bound(struct lazy_solver *solver, int32_t code, int64_t value, enum reason_kind kind, int32_t reason,
                       int64_t aux) {
    int64_t old = solver->bound[code], against = solver->bound[code ^ 1];
    if (value <= old) return 1;
    const struct rise rise = {value, old, aux, 0, code, solver->last[code], solver->level, 0, kind, reason};
    if (value + against > 0) {
        explain(solver, &rise, 1 - against);
        PUSH(solver, &solver->because, (struct lazy_literal){against, code ^ 1});
        return 0;
    }
    PUSH(solver, &solver->trail, rise);
    if (solver->no_memory) return 1;
    solver->last[code] = solver->trail.count - 1;
    solver->bound[code] = value;
    return 1;
}

static void back_to(struct lazy_solver *solver, int32_t level) {
    if (solver->level <= level) return;
    int32_t begin = solver->level_begin.items[level];
    for (int32_t at = solver->trail.count; at-- > begin;) {
        const struct rise *rise = &solver->trail.items[at];
        int32_t variable = rise->code / 2;
        solver->bound[rise->code] = rise->old;
        solver->last[rise->code] = rise->before;
        if (solver->guess[variable] >= 0) {
            solver->guess[variable] = (int8_t) !(rise->code & 1);
            heap_add(solver, variable);
        }
    }
    solver->trail.count = solver->head = begin;
    solver->level_begin.count = solver->level = level;
}

/* What is known at level 0 needs no reason. */
static void settle(struct lazy_solver *solver) {
    for (int32_t at = 0; at < solver->trail.count; at++) {
        int32_t code = solver->trail.items[at].code;
        solver->root[code] = solver->bound[code];
        solver->last[code] = -1;
    }
    solver->trail.count = solver->head = 0;
}

/* ---- Propagation ------------------------------------------------------------------------------------------ */

static inline int follow_edge(struct lazy_solver *solver, int32_t e) {
    const struct edge *edge = &solver->edges.items[e];
    int64_t from = solver->bound[edge->from], value = from + edge->lag;
    int32_t guard = edge->guard;
    if (guard < 0 || solver->bound[guard] >= truth(guard))
        return raise_bound(solver, edge->to, value, REASON_EDGE, e, 0);
    if (value + solver->bound[edge->to ^ 1] > 0 && solver->bound[guard ^ 1] < truth(guard ^ 1))
        return raise_bound(solver, guard ^ 1, truth(guard ^ 1), REASON_CUT, e, from);
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
            if (value > bound[to] && !raise_bound(solver, to, value, REASON_EDGE, e, 0)) return 0;
        } else if (bound[guard] >= truth(guard)) {
            if (value > bound[to] && !raise_bound(solver, to, value, REASON_EDGE, e, 0)) return 0;
            e = edges[e].group_end - 1;
        } else if (e >= fits_until && bound[guard ^ 1] < truth(guard ^ 1)) {
            if (value + bound[to ^ 1] <= 0)
                fits_until = edges[e].group_end;
            else if (!raise_bound(solver, guard ^ 1, truth(guard ^ 1), REASON_CUT, e, from))
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
    return raise_bound(solver, literals[0].code, literals[0].value, REASON_CLAUSE, watch->clause, 0) ? 1 : -1;
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

/* 0 on a conflict, whose literals, all true, are in `because`. */
static int propagate(struct lazy_solver *solver) {
    solver->because.count = 0;
    while (solver->head < solver->trail.count && !solver->no_memory) {
        const struct rise rise = solver->trail.items[solver->head];
        int32_t code = rise.code, latest = solver->last[code] == solver->head;
        solver->head++;
        if (!visit_clauses(solver, code, rise.old, rise.value)) return 0;
        if (!latest) continue; /* a later rise does the rest */
        for (int32_t k = 0; k < 2 && solver->implied[2 * code + k] >= 0; k++) {
            int32_t implied = solver->implied[2 * code + k];
            if (!raise_bound(solver, implied, truth(implied), REASON_IMPLIED, code, 0)) return 0;
        }
        for (int32_t k = solver->guarded_begin[code]; k < solver->guarded_begin[code + 1]; k++)
            if (!follow_edge(solver, solver->guarded[k])) return 0;
        if (!follow_edges(solver, code)) return 0;
    }
    return 1;
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
            make_active(solver, literal.code / 2);
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
    explain(solver, rise, rise->needed);
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
static int32_t learn(struct lazy_solver *solver) {
    solver->marks.count = 0;
    solver->learned.count = 0;
    int32_t open = mark(solver), at = solver->trail.count, back = 0;
    for (;;) {
        while (!solver->trail.items[--at].marked) continue;
        struct rise *rise = &solver->trail.items[at];
        if (--open == 0) break;
        rise->marked = 2; /* explained */
        explain(solver, rise, rise->needed);
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
static int use_learned(struct lazy_solver *solver) {
    struct lazy_literal first = solver->learned.items[0];
    int32_t count = solver->learned.count;
    if (count == 1) {
        if (!raise_bound(solver, first.code, first.value, REASON_NONE, -1, 0)) return 0;
        return 1;
    }
    int32_t clause = store_clause(solver, solver->learned.items, count, count_levels(solver));
    return raise_bound(solver, first.code, first.value, REASON_CLAUSE, clause, 0);
}

/* ---- Forgetting ------------------------------------------------------------------------------------------- */

/* At level 0: keeps what was given, what few levels made, and of the rest the better half; leaves out what is known. */
static void forget(struct lazy_solver *solver) {
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
            end = begin;
            continue;
        }
        clauses[solver->clauses.count++] = (struct clause){begin, end - begin, old.levels, 0};
    }
    solver->literals.count = end;
    for (int32_t k = 0; k < solver->clauses.count; k++) watch_clause(solver, k);
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
        int32_t variable = heap_take(solver), code = 2 * variable;
        if (solver->bound[code] == -solver->bound[code + 1]) continue;
        PUSH(solver, &solver->level_begin, solver->trail.count);
        solver->level++;
        if (!solver->guess[variable]) code++;
        raise_bound(solver, code, truth(code), REASON_NONE, -1, 0);
        return 1;
    }
    return 0;
}

static enum lazy_answer give_up(struct lazy_solver *solver) {
    solver->impossible = 1;
    return LAZY_IMPOSSIBLE;
}

int32_t lazy_tighten(struct lazy_solver *solver, int32_t code, int64_t value) {
    back_to(solver, 0);
    if (!raise_bound(solver, code, value, REASON_NONE, -1, 0)) solver->impossible = 1;
    return !solver->impossible;
}

static enum lazy_answer search(struct lazy_solver *solver, int64_t conflicts, int64_t interval, lazy_stop stop,
                               void *context) {
    enum { STEPS = 64 }; /* between two looks at the clock */
    int32_t steps = 0;
    int64_t until = solver->conflicts + interval, most = solver->conflicts + conflicts;
    for (;;) {
        if (++steps % STEPS == 0 && stop && stop(context)) return LAZY_UNKNOWN;
        if (!propagate(solver)) {
            solver->conflicts++;
            if (solver->level == 0) return give_up(solver);
            back_to(solver, learn(solver));
            solver->bump *= 1 / 0.95;
            if (!use_learned(solver)) return give_up(solver);
        } else {
            if (solver->no_memory) return LAZY_NO_MEMORY;
            if (solver->level == 0) {
                settle(solver);
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
    if (!solver->compiled) compile(solver);
    back_to(solver, 0);
    if (solver->impossible) return LAZY_IMPOSSIBLE;
    /* all edges once, from the bounds that were set */
    for (int32_t e = 0; e < solver->edges.count && !solver->followed && !solver->no_memory; e++)
        if (!follow_edge(solver, e)) return give_up(solver);
    solver->followed = 1;
    for (;;) {
        if (solver->no_memory) return LAZY_NO_MEMORY;
        enum lazy_answer answer =
            search(solver, conflicts - (solver->conflicts - begin), UNIT * luby(++solver->restarts), stop, context);
        if (answer != LAZY_UNKNOWN) return answer;
        back_to(solver, 0);
        if (solver->conflicts - begin >= conflicts || (stop && stop(context))) return LAZY_UNKNOWN;
        if (solver->conflicts >= solver->forget_at) {
            if (!propagate(solver)) return give_up(solver);
            settle(solver);
            forget(solver);
            drop_edges(solver);
            solver->forget_step += 600;
            solver->forget_at = solver->conflicts + solver->forget_step;
        }
    }
}

int64_t lazy_value(const struct lazy_solver *solver, int32_t variable) { return solver->bound[2 * variable]; }
int64_t lazy_conflicts(const struct lazy_solver *solver) { return solver->conflicts; }
