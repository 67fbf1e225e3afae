/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a solver (lazy_search.c) and what its parts share. */
#ifndef KERF_SCHEDULE_BEST_LAZY_STATE_H
#define KERF_SCHEDULE_BEST_LAZY_STATE_H

#include <stddef.h>
#include "schedule/best/lazy_clauses.h"
#include "kerf/text.h"

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
    int32_t again;        /* rises of the code before this one on its level */
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
    int32_t number; /* in the record */
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
    int64_t steps;  /* edges and watches looked at since the caller was asked last */
    int64_t walked; /* the same, and what was walked back, since a propagation asked */
    lazy_stop stop; /* the caller's; NULL: none */
    void *stop_context;
    int32_t is_stopped;
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
    struct kerf_text *record;    /* NULL, or where every clause is written */
    int32_t recorded;            /* clauses in it */
};

/* The items with room for one more than count of them; as they are, and *no_memory 1, where memory runs out. */
void *lazy_list_grown(void *items, int32_t count, int32_t *room, size_t size, int32_t *no_memory);

/* Adds to a list; without memory it stays as it is. */
#define PUSH(solver, list, ...)                                                                                        \
    do {                                                                                                               \
        (list)->items =                                                                                                \
            lazy_list_grown((list)->items, (list)->count, &(list)->room, sizeof *(list)->items, &(solver)->no_memory); \
        if ((list)->count < (list)->room) (list)->items[(list)->count++] = __VA_ARGS__;                                \
    } while (0)

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

/* Writes a line of the record, 'a' or 'm' and its literals; its number. */
int32_t lazy_record_clause(struct lazy_solver *solver, char what, const struct lazy_literal *literals, int32_t count);
void lazy_record_end(struct lazy_solver *solver);
void lazy_heap_add(struct lazy_solver *solver, int32_t variable);
int32_t lazy_heap_take(struct lazy_solver *solver); /* the most active */
void lazy_activate(struct lazy_solver *solver, int32_t variable);

/* lazy_propagation.c: 0 on a conflict, whose literals, all true, are then in `because` */
int lazy_raise(struct lazy_solver *solver, int32_t code, int64_t value, enum reason_kind kind, int32_t reason,
               int64_t aux);
int lazy_follow_edge(struct lazy_solver *solver, int32_t e);
int lazy_propagate(struct lazy_solver *solver);
void lazy_explain(struct lazy_solver *solver, const struct rise *rise, int64_t value);
void lazy_back_to(struct lazy_solver *solver, int32_t level);
void lazy_settle(struct lazy_solver *solver);

#endif
