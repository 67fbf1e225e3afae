/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search. A task is one problem with one way of tensor parallelism; tasks of all problems go to one pool of
 * threads, so that a sweep of small searches and one large search use the machine alike.
 *
 * Within a task the candidates are a product of independent choices, and each choice's cost is worked out as far up
 * as it can be: layer times per shape (shapes.h), memory per stages and micro-batch, links per placement. What is
 * left for one candidate is a dozen multiplications and one comparison with the worst layout that is kept. Layouts
 * that do not fit are counted without being timed.
 */
#include "kerf/plan.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/threads.h"
#include "plan/feasibility.h"
#include "plan/ranking.h"
#include "plan/shapes.h"
#include "spec/problem.h"

struct search {
    const struct kerf_problem *problem;
    const struct divisors *batches; /* micro-batches: divisors of the global batch */
    struct space_tensor *tensors;
    int32_t num_tensors;
    pthread_mutex_t mutex; /* over what follows */
    struct ranking best;
    int64_t candidates, feasible;
    int32_t tasks_done;
    struct kerf_estimate nearest;
    int32_t has_nearest, unexplained; /* unexplained: interrupted while looking for the nearest */
    int64_t least_gpus;
};

struct task {
    struct search *search;
    int32_t tensor;
};

struct run {
    const struct kerf_plan_options *options;
    struct search *searches;
    size_t num_searches;
    struct task *tasks;
    size_t num_tasks;
    struct arena *scratch;    /* [threads] for one task at a time */
    struct arena *kept;       /* [threads] for the whole run */
    atomic_size_t tasks_done; /* of num_searches listing, num_tasks searching and num_searches explaining */
    atomic_int stop, out_of_memory;
    pthread_mutex_t progress_mutex;
};

/* Tells how far the work is, unless another thread is at it; 1 when the work should end. */
static int should_stop(struct run *run) {
    if (run->options->progress && pthread_mutex_trylock(&run->progress_mutex) == 0) {
        double all = (double)(run->num_tasks + 2 * run->num_searches),
               done = (double)atomic_load(&run->tasks_done) / all;
        if (run->options->progress(run->options->progress_context, done)) atomic_store(&run->stop, 1);
        pthread_mutex_unlock(&run->progress_mutex);
    }
    return atomic_load_explicit(&run->stop, memory_order_relaxed);
}

/* ---- One task --------------------------------------------------------------------------------------------- */

/* A placement with what it costs at given stages. */
struct spot {
    int32_t column; /* in a row of shapes */
    struct space_placement placement;
    struct cost_link stage;
    double data_parallel_s; /* one collective over a layer's weights */
};

/* The candidates of one (tensor parallelism, stages) while they are gone through. */
struct group {
    const struct kerf_problem *problem;
    const struct kerf_cost_model *cost_model;
    struct kerf_layout layout; /* the one at hand, but for its placement */
    const struct spot *spots;
    int32_t num_spots;
    double memory_bytes;
    struct ranking *best;
    double cutoff_s; /* slower than this cannot be among the best */
};

/* Whatever takes longer cannot enter the full ranking: throughputs within a rounding of the worst are compared in
 * full. */
static double cutoff_of(const struct ranking *best, int64_t global_batch) {
    return best->count < best->most ? INFINITY : (double)global_batch / best->heap[0].throughput * (1 + 1e-15);
}

static void consider(struct group *group, const struct spot *spot, double time_s) {
    struct ranked entry = {(double)group->problem->global_batch / time_s, group->memory_bytes, group->layout};
    entry.layout.scale_up.tp1 = spot->placement.tp1;
    entry.layout.scale_up.tp2 = spot->placement.tp2;
    entry.layout.scale_up.dp = spot->placement.dp;
    entry.layout.scale_up.pp = spot->placement.pp;
    ranking_offer(group->best, &entry);
    double own_s = cutoff_of(group->best, group->problem->global_batch);
    if (own_s < group->cutoff_s) group->cutoff_s = own_s; /* the search's may be the smaller one */
}

/* Times every placement of one micro-batch and number of blocks. */
static void time_placements(struct group *group, const struct shape_row *row, struct cost_step step) {
    for (int32_t i = 0; i < group->num_spots; i++) {
        const struct spot *spot = &group->spots[i];
        step.forward_s = row->forward_s[spot->column];
        step.backward_s = row->backward_s[spot->column];
        step.stage_s = link_s(&spot->stage, row->stage_bytes);
        step.data_parallel_s =
            group->cost_model->data_parallel_s(spot->data_parallel_s, step.forward_s, step.backward_s, step.layers);
        double time_s = step_s(&step);
        if (time_s <= group->cutoff_s) consider(group, spot, time_s);
    }
}

static struct spot *price_placements(const struct shapes *shapes, int64_t dp, int64_t pp, int32_t *ret_count) {
    const struct kerf_problem *problem = shapes->problem;
    const struct space_tensor *tensor = &shapes->tensor;
    struct space_placement *placements = space_placements(problem, tensor, dp, pp, shapes->arena, ret_count);
    struct spot *spots = arena_alloc(shapes->arena, (size_t)*ret_count, sizeof *spots);
    if (placements == NULL || spots == NULL) return NULL;
    int64_t replicas = weight_replicas(problem->strategy, dp, tensor->tp2);
    for (int32_t i = 0; i < *ret_count; i++) {
        const struct space_placement *placement = &placements[i];
        int64_t in_domain = weight_replicas(problem->strategy, placement->dp, placement->tp2);
        struct cost_link link =
            shapes->cost_model->collective(&problem->system, COMM_REDUCESCATTER, replicas, in_domain);
        spots[i] = (struct spot){
            .column = shapes_column(shapes, placement),
            .placement = *placement,
            .stage = shapes->cost_model->stage_link(&problem->system, pp, placement->pp),
            .data_parallel_s = link_s(&link, shapes->weights_bytes),
        };
    }
    return spots;
}

/* Goes through the stages of one tensor parallelism; 0 when memory ran out. */
static int explore(struct run *run, const struct search *search, const struct space_tensor *tensor, struct arena *arena,
                   struct ranking *best, double cutoff_s, int64_t *candidates, int64_t *feasible) {
    const struct kerf_problem *problem = search->problem;
    const struct kerf_cost_model *cost_model = run->options->cost_model;
    const double capacity = problem->system.memory_capacity_bytes;
    struct shapes shapes;
    int64_t pps[DIVISORS_MAX];
    if (!shapes_begin(&shapes, cost_model, problem, tensor, search->batches, arena)) return 0;
    struct group group = {.problem = problem, .cost_model = cost_model, .best = best, .cutoff_s = cutoff_s};
    int32_t num_pps = shapes.num_blocks ? space_stages(problem, tensor, pps) : 0;
    shapes_activation_bytes(&shapes, 0); /* for the weights, which the placements' prices need */
    for (int32_t p = 0; p < num_pps && !should_stop(run); p++) {
        int64_t pp = pps[p], dp = problem->gpus / (tensor->tp1 * tensor->tp2 * pp),
                samples = problem->global_batch / dp;
        double replicas = (double)weight_replicas(problem->strategy, dp, tensor->tp2);
        group.spots = price_placements(&shapes, dp, pp, &group.num_spots);
        if (group.spots == NULL) return 0;
        struct cost_step step = {.layers = (double)(problem->model.num_hidden_layers / pp), .pp = (double)pp};
        for (int32_t b = 0; b < search->batches->count && search->batches->of[b] <= samples; b++) {
            int64_t micro_batch = search->batches->of[b];
            if (samples % micro_batch != 0 || !space_has_micro_batch(problem, tensor, micro_batch)) continue;
            *candidates += (int64_t)shapes.num_blocks * group.num_spots;
            step.micro_batches = (double)(samples / micro_batch);
            struct kerf_memory_parts memory =
                step_memory(cost_model, shapes.weights_bytes, shapes_activation_bytes(&shapes, b), step.layers,
                            replicas, step.pp, step.micro_batches);
            group.memory_bytes = memory_sum(&memory);
            if (group.memory_bytes > capacity) continue;
            *feasible += (int64_t)shapes.num_blocks * group.num_spots;
            for (int32_t nb = 0; nb < shapes.num_blocks && group.num_spots; nb++) {
                const struct shape_row *row = shapes_row(&shapes, b, nb);
                if (row == NULL) return 0;
                group.layout = (struct kerf_layout){dp,          tensor->tp1,       tensor->tp2, pp,
                                                    micro_batch, shapes.blocks[nb], {0, 0, 0, 0}};
                time_placements(&group, row, step);
            }
        }
    }
    return 1;
}

/* Room for more entries in the search's ranking, under its mutex; 0 when memory ran out. */
static int make_room(struct search *search, int32_t more, int32_t top, struct arena *arena) {
    enum { LEAST = 16 };
    int32_t wanted = search->best.count + more < top ? search->best.count + more : top;
    if (wanted <= search->best.most) return 1;
    if (wanted < 2 * search->best.most) wanted = 2 * search->best.most;
    if (wanted < LEAST) wanted = LEAST;
    if (wanted > top) wanted = top;
    struct ranked *heap = arena_alloc(arena, (size_t)wanted, sizeof *heap);
    if (heap == NULL) return 0;
    if (search->best.count) memcpy(heap, search->best.heap, (size_t)search->best.count * sizeof *heap);
    search->best.heap = heap;
    search->best.most = wanted;
    return 1;
}

static void run_task(void *context, size_t index, int32_t worker) {
    struct run *run = context;
    struct search *search = run->tasks[index].search;
    struct arena *arena = &run->scratch[worker];
    int64_t candidates = 0, feasible = 0;
    if (should_stop(run)) return;
    arena_reset(arena);
    struct ranking best = {.most = run->options->top};
    best.heap = arena_alloc(arena, (size_t)best.most, sizeof *best.heap);
    pthread_mutex_lock(&search->mutex);
    double cutoff_s =
        search->best.count < best.most ? INFINITY : cutoff_of(&search->best, search->problem->global_batch);
    pthread_mutex_unlock(&search->mutex);
    if (best.heap == NULL || !explore(run, search, &search->tensors[run->tasks[index].tensor], arena, &best, cutoff_s,
                                      &candidates, &feasible))
        atomic_store(&run->out_of_memory, 1);
    pthread_mutex_lock(&search->mutex);
    if (make_room(search, best.count, best.most, &run->kept[worker]))
        for (int32_t i = 0; i < best.count; i++) ranking_offer(&search->best, &best.heap[i]);
    else
        atomic_store(&run->out_of_memory, 1);
    search->candidates += candidates;
    search->feasible += feasible;
    if (!atomic_load(&run->stop)) search->tasks_done++;
    pthread_mutex_unlock(&search->mutex);
    atomic_fetch_add(&run->tasks_done, 1);
}

static int is_stopping(void *context) { return should_stop(context); }

/* The second round: what to say of the searches in which nothing fits. */
static void explain_task(void *context, size_t index, int32_t worker) {
    struct run *run = context;
    struct search *search = &run->searches[index];
    struct feasibility with = {run->options->cost_model, &run->scratch[worker], is_stopping, run, 0};
    int searched = search->tasks_done == search->num_tensors && !search->unexplained;
    if (searched && search->feasible == 0) {
        search->has_nearest = !should_stop(run) && feasibility_nearest(&with, search->problem, &search->nearest);
        search->least_gpus = should_stop(run) ? 0 : feasibility_least_gpus(&with, search->problem);
        search->unexplained = atomic_load(&run->stop);
        if (with.out_of_memory) atomic_store(&run->out_of_memory, 1);
        if (search->unexplained) search->has_nearest = 0, search->least_gpus = 0; /* maybe not the least */
    }
    atomic_fetch_add(&run->tasks_done, 1);
}

/* ---- The run ---------------------------------------------------------------------------------------------- */

struct owned_plan {
    struct kerf_plan plan;
    struct arena arena;
};

struct kerf_plan *kerf_plan_free(struct kerf_plan *plan) {
    if (plan == NULL) return NULL;
    struct owned_plan *owned = (struct owned_plan *)(void *)plan;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

static int32_t check(const struct kerf_problem *problems, size_t num_problems, const struct kerf_plan_options *options,
                     struct kerf_error *err) {
    if (options->top < 1 || options->top > KERF_TOP_MAX)
        return kerf_error_set(err, KERF_EINVALID, "top must lie between 1 and %d, not %d", KERF_TOP_MAX, options->top);
    for (size_t i = 0; i < num_problems; i++) {
        int32_t code = problem_check(&problems[i], err);
        if (code != KERF_OK) return code;
    }
    return KERF_OK;
}

/* What all searches start from; 0 when memory ran out. */
static int begin_searches(struct run *run, const struct kerf_problem *problems, struct arena *arena) {
    for (size_t i = 0; i < run->num_searches; i++) {
        struct search *search = &run->searches[i];
        search->problem = &problems[i];
        int as_before = i > 0 && problems[i].global_batch == problems[i - 1].global_batch;
        struct divisors *batches = as_before ? NULL : arena_alloc(arena, 1, sizeof *batches);
        if (batches) divisors_find(problems[i].global_batch, batches);
        search->batches = as_before ? run->searches[i - 1].batches : batches;
        if (search->batches == NULL) return 0;
    }
    return 1;
}

/* The first round: the ways of tensor parallelism of one problem. */
static void list_task(void *context, size_t index, int32_t worker) {
    struct run *run = context;
    struct search *search = &run->searches[index];
    if (should_stop(run)) {
        search->unexplained = 1;
        return;
    }
    search->tensors = space_tensors(search->problem, &run->kept[worker], &search->num_tensors);
    if (search->tensors == NULL) atomic_store(&run->out_of_memory, 1);
    atomic_fetch_add(&run->tasks_done, 1);
}

static int list_tasks(struct run *run, struct arena *arena) {
    size_t next = 0;
    for (size_t i = 0; i < run->num_searches; i++) run->num_tasks += (size_t)run->searches[i].num_tensors;
    run->tasks = arena_alloc(arena, run->num_tasks, sizeof *run->tasks);
    for (size_t i = 0; run->tasks && i < run->num_searches; i++)
        for (int32_t t = 0; t < run->searches[i].num_tensors; t++)
            run->tasks[next++] = (struct task){&run->searches[i], t};
    return run->tasks != NULL;
}

/* Copies what was found into the plan; the winners are estimated in full. */
static int collect(const struct run *run, struct owned_plan *owned) {
    struct kerf_search *searches = arena_alloc(&owned->arena, run->num_searches, sizeof *searches);
    if (searches == NULL) return 0;
    owned->plan = (struct kerf_plan){searches, run->num_searches, 1};
    for (size_t i = 0; i < run->num_searches; i++) {
        struct search *search = &run->searches[i];
        struct kerf_estimate *plans = arena_alloc(&owned->arena, (size_t)search->best.count + 1, sizeof *plans);
        if (plans == NULL) return 0;
        ranking_sort(&search->best);
        for (int32_t p = 0; p < search->best.count; p++)
            if (kerf_layout_estimate(run->options->cost_model, search->problem, &search->best.heap[p].layout, &plans[p],
                                     NULL))
                return 0; /* cannot be: every candidate obeys the rules */
        if (search->has_nearest) plans[0] = search->nearest;
        searches[i] = (struct kerf_search){
            .problem = *search->problem,
            .candidates = search->candidates,
            .feasible = search->feasible,
            .plans = plans,
            .num_plans = search->best.count,
            .nearest = search->has_nearest ? plans : NULL,
            .least_gpus = search->least_gpus,
            .complete = search->tasks_done == search->num_tensors && !search->unexplained,
        };
        owned->plan.complete &= searches[i].complete;
    }
    return 1;
}

int32_t kerf_plan_search(const struct kerf_problem *problems, size_t num_problems,
                         const struct kerf_plan_options *options, struct kerf_plan **ret_plan, struct kerf_error *err) {
    int32_t code = check(problems, num_problems, options, err);
    if (code != KERF_OK) return code;
    int32_t threads = options->threads > 0 ? options->threads : threads_available();
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    struct arena arena = {NULL};
    struct run run = {.options = options, .num_searches = num_problems};
    struct owned_plan *owned = calloc(1, sizeof *owned);
    run.searches = arena_alloc(&arena, num_problems, sizeof *run.searches);
    run.scratch = arena_alloc(&arena, (size_t)threads, sizeof *run.scratch);
    run.kept = arena_alloc(&arena, (size_t)threads, sizeof *run.kept);
    pthread_mutex_init(&run.progress_mutex, NULL);
    for (size_t i = 0; run.searches && i < num_problems; i++) pthread_mutex_init(&run.searches[i].mutex, NULL);
    int good = owned && run.searches && run.scratch && run.kept && begin_searches(&run, problems, &arena);
    if (good) {
        threads_run(threads, num_problems, list_task, &run);
        good = !run.out_of_memory && list_tasks(&run, &arena);
    }
    if (good) {
        threads_run(threads, run.num_tasks, run_task, &run);
        threads_run(threads, run.num_searches, explain_task, &run);
        good = !run.out_of_memory && collect(&run, owned);
    }
    for (int32_t i = 0; run.scratch && i < threads; i++) arena_free(&run.scratch[i]);
    for (int32_t i = 0; run.kept && i < threads; i++) arena_free(&run.kept[i]);
    for (size_t i = 0; run.searches && i < num_problems; i++) pthread_mutex_destroy(&run.searches[i].mutex);
    pthread_mutex_destroy(&run.progress_mutex);
    arena_free(&arena);
    if (!good) {
        if (owned) kerf_plan_free(&owned->plan);
        return kerf_error_set(err, KERF_ENOMEM, "not enough memory for %zu searches", num_problems);
    }
    *ret_plan = &owned->plan;
    return KERF_OK;
}

const struct kerf_search *kerf_plan_best(const struct kerf_plan *plan, const char *model) {
    const struct kerf_search *best = NULL;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        if (search->num_plans == 0 || (model && strcmp(search->problem.model.name, model) != 0)) continue;
        if (best == NULL || search->plans[0].throughput > best->plans[0].throughput) best = search;
    }
    return best;
}
