/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks of the search side by side, on any number of threads with one and the same answer.
 *
 * Each task has its own copy of what is known, and in a round so many steps of its own. At the end of a round what they
 * found is taken over in the order of the tasks, and all go on with the best of it. Nothing else passes between them, so
 * that a round gives the same whether one thread does it or many. Where a task has found what cannot be better, those
 * behind it do not count any more and stop, and those before it end their round.
 *
 * The caller's thread looks at the clock and reports progress; when the time is up, all tasks stop at once. Only then
 * does the answer depend on how fast they were.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include "base/threads.h"
#include "schedule/best/best_search.h"
#include "schedule/search_how.h"

enum { ALONE_OPS = 1600, EXACT_OPS = 12000 }; /* above: not the exact search alone at first; none at all */
static const int64_t ROUND_STEPS = 10000000;

/* The exact search has the time of one of two threads, all others that of the second. */
static const struct {
    const struct best_task *task;
    int32_t rounds; /* so many times the steps of a round */
} tasks[] = {{&best_task_exact, 4},
             {&best_task_windows, 1},
             {&best_task_climbs, 1},
             {&best_task_ascent, 2},
             {&best_task_neighbours, 1}};
enum { TASKS = sizeof tasks / sizeof *tasks };

struct rounds;

struct member {
    struct best_budget budget;
    struct best_search search;
    struct kerf_text refutation;
    struct rounds *rounds;
    const struct best_task *task;
    void *state; /* NULL: it has no more to do */
    int32_t is_made, index;
    int32_t on_caller; /* it runs on the caller's thread */
};

struct rounds {
    struct best_search *search;
    struct member members[TASKS];
    atomic_int counting; /* members below this number count */
    atomic_int ended;    /* the time is up */
};

static int32_t has_to_stop(struct best_budget *budget) {
    struct member *member = (struct member *)(void *)((char *)budget - offsetof(struct member, budget));
    struct rounds *rounds = member->rounds;
    if (member->on_caller && best_budget_look(rounds->search->budget)) atomic_store(&rounds->ended, 1);
    return atomic_load(&rounds->ended) || atomic_load(&rounds->counting) <= member->index;
}

/* ---- Members ---------------------------------------------------------------------------------------------- */

/* Gives a member what is known. */
static void inform(struct member *member, const struct best_search *search) {
    struct best_search *own = &member->search;
    own->bound = search->bound;
    own->makespan_bound = search->makespan_bound;
    own->refuted = search->refuted;
    if (own->value == search->value && own->held == search->held) return;
    own->value = search->value;
    own->makespan = search->makespan;
    own->held = search->held;
    memcpy(own->order, search->order, (size_t)search->problem.ops * sizeof *own->order);
}

static void make_member(struct member *member, struct rounds *rounds, int32_t index) {
    const struct best_search *search = rounds->search;
    *member = (struct member){.rounds = rounds, .task = tasks[index].task, .index = index};
    member->budget.has_to_stop = has_to_stop;
    member->search = (struct best_search){.problem = search->problem, .budget = &member->budget};
    member->search.problem.arena = (struct arena){NULL}; /* its arrays are the search's, */
    member->search.pool = search->pool;                  /* and so is the pool, which nobody adds to any more */
    member->search.pool.room = 0;
    if (search->refutation) member->search.refutation = &member->refutation;
    if (best_search_make(&member->search) != KERF_OK) return;
    inform(member, search);
    member->is_made = 1;
    member->state = member->task->make(&member->search);
}

static void end_member(struct member *member) {
    if (member->state) member->task->free(member->state);
    member->state = NULL;
}

static void free_member(struct member *member) {
    end_member(member);
    arena_free(&member->search.arena);
    kerf_text_free(&member->refutation);
}

/* ---- Rounds ----------------------------------------------------------------------------------------------- */

static void run_member(void *context, size_t index, int32_t worker) {
    struct rounds *rounds = context;
    struct member *member = &rounds->members[index];
    if (member->state == NULL || atomic_load(&rounds->counting) <= member->index) return;
    member->on_caller = worker == 0;
    if (member->task->run(member->state)) end_member(member);
    if (!best_is_optimal(&member->search)) return;
    int counting = atomic_load(&rounds->counting);
    while (counting > member->index + 1 &&
           !atomic_compare_exchange_weak(&rounds->counting, &counting, member->index + 1))
        continue;
}

/* Takes over what a member found in its round. */
static void take(struct best_search *search, struct member *member) {
    struct best_search *own = &member->search;
    best_offer(search, own->order);
    if (own->makespan_bound > search->makespan_bound) search->makespan_bound = own->makespan_bound;
    if (!(own->bound > search->bound)) return;
    search->bound = own->bound;
    if (search->refutation == NULL || !(own->refuted > search->refuted)) return;
    const struct kerf_text swap = *search->refutation;
    *search->refutation = member->refutation;
    member->refutation = swap;
    search->refuted = own->refuted;
}

/* One round of the first `count` members; 0: none of them has anything left to do. */
static int run_round(struct rounds *rounds, int32_t count) {
    struct best_search *search = rounds->search;
    struct best_budget *budget = search->budget;
    const int32_t asked = budget->how ? budget->how->threads : 1;
    const int64_t left = budget->until_steps - budget->steps;
    int32_t live = 0;
    for (int32_t k = 0; k < count; k++) live += rounds->members[k].state ? tasks[k].rounds : 0;
    if (live == 0) return 0;
    for (int32_t k = 0; k < count; k++) {
        struct best_budget *own = &rounds->members[k].budget;
        if (rounds->members[k].state == NULL) continue;
        own->steps = own->used_up = 0;
        own->until_steps = tasks[k].rounds * (left / live < ROUND_STEPS ? left / live + 1 : ROUND_STEPS);
        inform(&rounds->members[k], search);
    }
    atomic_store(&rounds->counting, count);
    threads_run(asked > 0 ? asked : threads_available(), (size_t)count, run_member, rounds);
    for (int32_t k = 0; k < count && k < atomic_load(&rounds->counting); k++) {
        if (!rounds->members[k].is_made) continue;
        best_spend(budget, rounds->members[k].budget.steps);
        take(search, &rounds->members[k]);
    }
    return 1;
}

void best_rounds(struct best_search *search) {
    struct rounds rounds = {.search = search};
    search->pool.room = 0;
    const int exact = search->problem.ops <= EXACT_OPS;
    int32_t count = search->problem.ops <= ALONE_OPS; /* at first the exact search alone, which may be all it takes */
    for (int32_t k = 0; k < TASKS; k++)
        if (exact || (tasks[k].task != &best_task_exact && tasks[k].task != &best_task_ascent))
            make_member(&rounds.members[k], &rounds, k);
    if (count > 0) run_round(&rounds, count);
    while (!best_is_done(search))
        if (!run_round(&rounds, TASKS)) break;
    for (int32_t k = 0; k < TASKS; k++) free_member(&rounds.members[k]);
}
