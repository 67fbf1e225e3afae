/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/best_first.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/threads.h"
#include "cost/strategy.h"

enum { BATCH_MIN = 4, BATCH_MAX = 64 };

/* A prefix of the strategy's task level. */
struct task {
    double bound_s;
    struct kerf_layout prefix;
};

/* Tasks of one choice of the first level, in the order of the space. */
struct task_list {
    struct task *tasks;
    size_t count, room;
};

/* What one thread works with. */
struct worker {
    struct walk walk; /* the first member: what its sink is given, finds the worker */
    struct cost_pricer *pricer;
    struct arena kept, choices;
    struct ranking best; /* of the task at hand */
    double capacity_bytes;
};

/* What one task found, until the batch ends. */
struct found {
    struct ranking best;
    struct arena arena;
    int64_t feasible, priced;
    int done;
};

struct run {
    struct best_first *search;
    const struct strategy *strategy;
    struct worker *workers; /* [threads] */
    struct kerf_layout *roots;
    struct task_list *lists; /* [num_roots] */
    struct task *tasks;      /* all, sorted */
    size_t num_tasks, begin; /* begin: of the batch */
    int is_partial;          /* stopped before all tasks were listed */
    struct found found[BATCH_MAX];
    struct ranking seeds; /* the best of the default space, where the wide one is searched */
    double seed_s;        /* `top` of them take no longer */
    double cutoff_s; /* of the batch */
    atomic_int stop, out_of_memory;
    double done;
};

static int should_stop(void *context) {
    struct run *run = context;
    if (run->search->should_stop && run->search->should_stop(run->search->context, run->done))
        atomic_store(&run->stop, 1);
    return atomic_load_explicit(&run->stop, memory_order_relaxed) ||
           atomic_load_explicit(&run->out_of_memory, memory_order_relaxed);
}

/* ---- Listing ---------------------------------------------------------------------------------------------- */

static int append(struct task_list *list, double bound_s, const struct kerf_layout *prefix) {
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        struct task *tasks = realloc(list->tasks, room * sizeof *tasks);
        if (tasks == NULL) return 0;
        list->tasks = tasks;
        list->room = room;
    }
    list->tasks[list->count++] = (struct task){bound_s, *prefix};
    return 1;
}

static int list_below(struct run *run, struct worker *worker, struct task_list *list, int32_t level,
                      const struct kerf_layout *prefix) {
    struct cost_bound bound;
    int32_t count;
    if (should_stop(run)) return 1;
    if (!run->search->cost_model->enter(worker->pricer, level, prefix, &bound)) return 0;
    if (level == run->strategy->task_level) return append(list, bound.step_time_s, prefix);
    const struct kerf_layout *choices =
        run->strategy->choices(&worker->walk.space, level + 1, prefix, &worker->choices, &count);
    if (choices == NULL) return 0;
    for (int32_t i = 0; i < count; i++)
        if (!list_below(run, worker, list, level + 1, &choices[i])) return 0;
    return 1;
}

static void list_task(void *context, size_t index, int32_t w) {
    struct run *run = context;
    struct worker *worker = &run->workers[w];
    arena_reset(&worker->choices);
    if (!list_below(run, worker, &run->lists[index], 0, &run->roots[index])) atomic_store(&run->out_of_memory, 1);
}

/* By bound; equal ones as the space lists them. */
static int compare_tasks(const void *a, const void *b) {
    const struct task *x = a, *y = b;
    if (x->bound_s != y->bound_s) return x->bound_s < y->bound_s ? -1 : 1;
    return kerf_layout_compare(&x->prefix, &y->prefix);
}

static int list_all(struct run *run, struct arena *arena) {
    static const struct kerf_layout nothing_chosen;
    const struct best_first *search = run->search;
    int32_t num_roots;
    run->roots = run->strategy->choices(&search->space, 0, &nothing_chosen, arena, &num_roots);
    run->lists = run->roots ? arena_alloc(arena, (size_t)num_roots, sizeof *run->lists) : NULL;
    if (run->lists == NULL) return 0;
    threads_run(search->threads, (size_t)num_roots, list_task, run);
    for (int32_t r = 0; r < num_roots; r++) run->num_tasks += run->lists[r].count;
    run->tasks = malloc((run->num_tasks + 1) * sizeof *run->tasks);
    size_t at = 0;
    for (int32_t r = 0; r < num_roots; r++) {
        if (run->tasks && run->lists[r].count)
            memcpy(&run->tasks[at], run->lists[r].tasks, run->lists[r].count * sizeof *run->tasks);
        at += run->lists[r].count;
        free(run->lists[r].tasks);
    }
    if (run->tasks == NULL || atomic_load(&run->out_of_memory)) return 0;
    run->is_partial = atomic_load(&run->stop);
    qsort(run->tasks, run->num_tasks, sizeof *run->tasks, compare_tasks);
    return 1;
}

/* ---- One task --------------------------------------------------------------------------------------------- */

/* Whatever takes longer cannot enter the full ranking: throughputs within a rounding of the worst are compared in
 * full. */
static double cutoff_of(const struct ranking *best, int64_t global_batch) {
    return best->count < best->most ? INFINITY : (double)global_batch / best->heap[0].throughput * (1 + 1e-15);
}

static void keep(struct cost_sink *sink, const struct kerf_layout *layout, double memory_bytes, double step_time_s) {
    struct worker *worker = (struct worker *)(void *)sink;
    int64_t global_batch = worker->walk.space.problem->global_batch;
    if (memory_bytes > worker->capacity_bytes) {
        worker->walk.feasible--; /* of an exhaustive search, whose sink has no capacity */
        return;
    }
    struct ranked entry = {(double)global_batch / step_time_s, memory_bytes, *layout};
    ranking_offer(&worker->best, &entry);
    double cutoff_s = cutoff_of(&worker->best, global_batch);
    if (!isinf(sink->capacity_bytes) && cutoff_s < sink->cutoff_s) sink->cutoff_s = cutoff_s;
}

static void run_task(void *context, size_t index, int32_t w) {
    struct run *run = context;
    struct worker *worker = &run->workers[w];
    struct found *found = &run->found[index];
    const struct task *task = &run->tasks[run->begin + index];
    if (should_stop(run)) return;
    arena_reset(&worker->choices);
    arena_reset(&found->arena);
    worker->walk.sink.cutoff_s = run->cutoff_s;
    worker->walk.candidates = worker->walk.feasible = worker->walk.priced = 0;
    worker->walk.stopped = 0;
    worker->best.count = 0;
    if (!walk_on(&worker->walk, worker->pricer, run->strategy->task_level, &task->prefix)) {
        atomic_store(&run->out_of_memory, 1);
        return;
    }
    found->feasible = worker->walk.feasible;
    found->priced = worker->walk.priced;
    found->best.count = found->best.most = worker->best.count;
    found->best.heap = arena_take(&found->arena, (size_t)worker->best.count + 1, sizeof *found->best.heap);
    if (found->best.heap == NULL)
        atomic_store(&run->out_of_memory, 1);
    else
        memcpy(found->best.heap, worker->best.heap, (size_t)worker->best.count * sizeof *found->best.heap);
    found->done = !worker->walk.stopped;
}

/* ---- All tasks -------------------------------------------------------------------------------------------- */

/* What an interrupted search of the wide space has not reached yet, the default space has. */
static void answer_with_seeds(struct run *run) {
    struct best_first *search = run->search;
    for (int32_t i = 0; i < run->seeds.count; i++) {
        int is_there = 0;
        for (int32_t k = 0; k < search->best.count && !is_there; k++)
            is_there = kerf_layout_compare(&search->best.heap[k].layout, &run->seeds.heap[i].layout) == 0;
        if (is_there) continue;
        ranking_offer(&search->best, &run->seeds.heap[i]);
        search->priced++;
        search->feasible++;
    }
}

/* No layout takes less than the least bound of what is unfinished, or than the best that was found. */
static void bound_interrupted(struct run *run, double unfinished_s) {
    struct best_first *search = run->search;
    double least_s = unfinished_s;
    for (int32_t i = 0; i < search->best.count; i++) {
        double step_s = (double)search->space.problem->global_batch / search->best.heap[i].throughput;
        if (step_s < least_s) least_s = step_s;
    }
    search->bound_s = isinf(least_s) ? 0 : least_s;
}

/* Takes up batches until nothing that is left can be better; says what no candidate can be below. */
static void run_all(struct run *run) {
    struct best_first *search = run->search;
    size_t size = BATCH_MIN;
    double unfinished_s = INFINITY;
    int64_t global_batch = search->space.problem->global_batch;
    while (run->begin < run->num_tasks && !should_stop(run)) {
        run->cutoff_s = search->exhaustive ? INFINITY : cutoff_of(&search->best, global_batch);
        if (run->seed_s < run->cutoff_s) run->cutoff_s = run->seed_s;
        size_t end = run->begin;
        while (end < run->num_tasks && end - run->begin < size && run->tasks[end].bound_s <= run->cutoff_s) end++;
        if (end == run->begin) break;
        for (size_t i = 0; i < end - run->begin; i++) run->found[i].done = 0;
        threads_run(search->threads, end - run->begin, run_task, run);
        for (size_t i = 0; i < end - run->begin; i++) {
            const struct found *found = &run->found[i];
            if (!found->done) {
                if (run->tasks[run->begin + i].bound_s < unfinished_s)
                    unfinished_s = run->tasks[run->begin + i].bound_s;
                continue;
            }
            search->feasible += found->feasible;
            search->priced += found->priced;
            for (int32_t k = 0; k < found->best.count; k++) ranking_offer(&search->best, &found->best.heap[k]);
        }
        run->begin = end;
        run->done = (double)run->begin / (double)run->num_tasks;
        if (size < BATCH_MAX) size *= 2;
    }
    if (atomic_load(&run->stop)) {
        if (run->begin < run->num_tasks && run->tasks[run->begin].bound_s < unfinished_s)
            unfinished_s = run->tasks[run->begin].bound_s;
        answer_with_seeds(run);
        bound_interrupted(run, run->is_partial ? 0 : unfinished_s);
    } else {
        search->proved = 1;
    }
}

static int begin_workers(struct run *run, struct arena *arena) {
    const struct best_first *search = run->search;
    run->workers = arena_alloc(arena, (size_t)search->threads, sizeof *run->workers);
    for (int32_t w = 0; run->workers && w < search->threads; w++) {
        struct worker *worker = &run->workers[w];
        double capacity_bytes = problem_memory(search->space.problem);
        worker->capacity_bytes = capacity_bytes;
        worker->walk = (struct walk){
            .sink = {.capacity_bytes = search->exhaustive ? INFINITY : capacity_bytes,
                     .cutoff_s = INFINITY,
                     .take = keep},
            .cost_model = search->cost_model,
            .space = search->space,
            .arena = &worker->choices,
            .should_stop = should_stop,
            .context = run,
            .uncounted = 1,
        };
        worker->best.most = search->top;
        worker->best.heap = arena_take(&worker->kept, (size_t)search->top, sizeof *worker->best.heap);
        worker->walk.space.memory = run->strategy->remember(&search->space, &worker->kept);
        worker->pricer = search->cost_model->begin(&search->space, &worker->walk.sink, &worker->kept);
        if (worker->best.heap == NULL || worker->walk.space.memory == NULL || worker->pricer == NULL) return 0;
    }
    return run->workers != NULL;
}

static void end_workers(struct run *run) {
    const struct best_first *search = run->search;
    for (int32_t w = 0; run->workers && w < search->threads; w++) {
        struct worker *worker = &run->workers[w];
        if (worker->pricer && search->cost_model->end) search->cost_model->end(worker->pricer);
        arena_free(&worker->kept);
        arena_free(&worker->choices);
    }
    for (size_t i = 0; i < BATCH_MAX; i++) arena_free(&run->found[i].arena);
    free(run->tasks);
}

/* The default space is part of the wide one, and searched in no time: its answer is a limit for the wide search. 0 when
 * memory ran out. */
static int find_seed(struct run *run, struct arena *kept) {
    const struct best_first *search = run->search;
    const struct kerf_space *wide = search->space.problem->space;
    run->seed_s = INFINITY;
    if (search->exhaustive || wide == NULL || !wide->is_wide) return 1;
    struct kerf_problem problem = *search->space.problem;
    struct kerf_space space = *wide;
    struct arena arena = {NULL};
    struct best_first narrow = *search;
    space.is_wide = 0;
    problem.space = &space;
    narrow.space.problem = &problem;
    narrow.should_stop = NULL; /* it would tell the wrong share */
    int good = best_first_search(&narrow, &arena);
    run->seeds.heap = good ? arena_take(kept, (size_t)narrow.best.count + 1, sizeof *run->seeds.heap) : NULL;
    good = run->seeds.heap != NULL;
    if (good) {
        run->seeds.count = run->seeds.most = narrow.best.count;
        memcpy(run->seeds.heap, narrow.best.heap, (size_t)narrow.best.count * sizeof *run->seeds.heap);
    }
    if (good && narrow.best.count == narrow.top)
        run->seed_s = (double)problem.global_batch / narrow.best.heap[narrow.top - 1].throughput * (1 + 1e-15);
    arena_free(&arena);
    return good;
}

int best_first_search(struct best_first *search, struct arena *arena) {
    static const struct kerf_layout nothing_chosen;
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL) return 0;
    run->search = search;
    run->strategy = strategy_of(search->space.problem->strategy);
    search->candidates = run->strategy->count(&search->space, 0, &nothing_chosen);
    search->feasible = search->priced = 0;
    search->proved = 0;
    search->bound_s = 0;
    search->best = (struct ranking){arena_take(arena, (size_t)search->top, sizeof *search->best.heap), 0, search->top};
    int good = search->best.heap && find_seed(run, arena) && begin_workers(run, arena) && list_all(run, arena);
    if (good) run_all(run);
    if (good && search->proved && search->best.count) {
        ranking_sort(&search->best);
        search->bound_s = (double)search->space.problem->global_batch / search->best.heap[0].throughput;
    }
    good = good && !atomic_load(&run->out_of_memory);
    end_workers(run);
    free(run);
    return good;
}
