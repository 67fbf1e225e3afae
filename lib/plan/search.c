/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search. A task is one problem with one choice of the first level of its strategy; tasks of all problems go to one
 * pool of threads, so that a sweep of small searches and one large search use the machine alike. How layouts are gone
 * through is walk.c's business, how they are priced is the cost model's.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/threads.h"
#include "cost/strategy.h"
#include "plan/best_first.h"
#include "plan/estimate_layout.h"
#include "plan/no_answer.h"
#include "plan/owned_plan.h"
#include "plan/pipeline_rules.h"
#include "plan/ranking.h"

struct search {
    const struct kerf_problem *problem;
    const struct divisors *batches; /* micro-batches: divisors of the global batch */
    struct kerf_layout *roots;      /* choices of the first level */
    int32_t num_roots;
    pthread_mutex_t mutex; /* over what follows */
    struct ranking best;
    int64_t candidates, feasible, priced;
    int32_t tasks_done;
    int32_t is_bounded, proved; /* of a strategy with bounds: best_first.h */
    double bound_s;
    struct kerf_layout nearest;
    int32_t has_nearest, unexplained; /* unexplained: interrupted while looking for the nearest */
    int64_t least_gpus;
    const char *reason;
    int64_t gpus_that_work[2];
};

struct task {
    struct search *search;
    int32_t root;
};

struct run {
    const struct kerf_plan_options *options;
    struct search *searches;
    size_t num_searches;
    struct task *tasks;
    size_t num_tasks;
    struct arena *scratch;      /* [threads] for one task at a time */
    struct arena *kept;         /* [threads] for the whole run */
    double share_before, share; /* of the whole, that the round at hand begins with and is */
    size_t round_tasks;
    atomic_size_t round_done;
    int32_t proof_threads;    /* of one search that proves its answer */
    _Atomic double task_done; /* what of the one task that is under way */
    atomic_int stop, out_of_memory;
    pthread_mutex_t progress_mutex;
};

/* A round of tasks that are alike; what it is of the whole is known before it, so that progress never runs back. */
static void run_round(struct run *run, int32_t threads, size_t num_tasks, double share, threads_task task) {
    run->share_before += run->share;
    run->share = share;
    run->round_tasks = num_tasks;
    atomic_store(&run->round_done, 0);
    threads_run(threads, num_tasks, task, run);
}

/* Tells how far the work is, unless another thread is at it; 1 when the work should end. */
static int should_stop(void *context) {
    struct run *run = context;
    if (run->options->progress && pthread_mutex_trylock(&run->progress_mutex) == 0) {
        double done = (double)atomic_load(&run->round_done) + atomic_load(&run->task_done);
        done = run->round_tasks ? done / (double)run->round_tasks : 1;
        if (run->options->progress(run->options->progress_context, run->share_before + run->share * done))
            atomic_store(&run->stop, 1);
        pthread_mutex_unlock(&run->progress_mutex);
    }
    return atomic_load_explicit(&run->stop, memory_order_relaxed);
}

/* ---- One task --------------------------------------------------------------------------------------------- */

/* The layouts of one task on their way into its ranking. */
struct contest {
    struct walk walk;
    struct ranking best;
};

/* Whatever takes longer cannot enter the full ranking: throughputs within a rounding of the worst are compared in
 * full. */
static double cutoff_of(const struct ranking *best, int64_t global_batch) {
    return best->count < best->most ? INFINITY : (double)global_batch / best->heap[0].throughput * (1 + 1e-15);
}

static void compete(struct cost_sink *sink, const struct kerf_layout *layout, double memory_bytes, double step_time_s) {
    struct contest *contest = (struct contest *)(void *)sink;
    int64_t global_batch = contest->walk.space.problem->global_batch;
    struct ranked entry = {(double)global_batch / step_time_s, memory_bytes, *layout};
    ranking_offer(&contest->best, &entry);
    double own_s = cutoff_of(&contest->best, global_batch);
    if (own_s < sink->cutoff_s) sink->cutoff_s = own_s; /* the search's may be the smaller one */
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
    const struct kerf_problem *problem = search->problem;
    struct arena *arena = &run->scratch[worker];
    if (should_stop(run)) return;
    arena_reset(arena);
    struct contest contest = {
        .walk =
            {
                .sink = {.capacity_bytes = problem_memory(problem), .take = compete},
                .cost_model = run->options->cost_model,
                .space = {.problem = problem, .batches = search->batches, .pipeliner = &pipeline_rules},
                .arena = arena,
                .should_stop = should_stop,
                .context = run,
            },
        .best.most = run->options->top,
    };
    contest.best.heap = arena_take(arena, (size_t)contest.best.most, sizeof *contest.best.heap);
    pthread_mutex_lock(&search->mutex);
    contest.walk.sink.cutoff_s =
        search->best.count < contest.best.most ? INFINITY : cutoff_of(&search->best, problem->global_batch);
    pthread_mutex_unlock(&search->mutex);
    if (contest.best.heap == NULL || !walk_below(&contest.walk, 0, &search->roots[run->tasks[index].root]))
        atomic_store(&run->out_of_memory, 1);
    pthread_mutex_lock(&search->mutex);
    if (make_room(search, contest.best.count, contest.best.most, &run->kept[worker]))
        for (int32_t i = 0; i < contest.best.count; i++) ranking_offer(&search->best, &contest.best.heap[i]);
    else
        atomic_store(&run->out_of_memory, 1);
    search->candidates += contest.walk.candidates;
    search->feasible += contest.walk.feasible;
    search->priced += contest.walk.priced;
    if (!atomic_load(&run->stop)) search->tasks_done++;
    pthread_mutex_unlock(&search->mutex);
    atomic_fetch_add(&run->round_done, 1);
}

/* ---- Searches that prove their answer ----------------------------------------------------------------------- */

static int should_stop_proof(void *context, double done) {
    struct run *run = context;
    if (run->proof_threads > 1) atomic_store(&run->task_done, done);
    return should_stop(run);
}

static void prove_task(void *context, size_t index, int32_t worker) {
    struct run *run = context;
    struct search *search = &run->searches[index];
    if (search->is_bounded && !should_stop(run)) {
        struct best_first proof = {
            .cost_model = run->options->cost_model,
            .space = {search->problem, search->batches, &pipeline_rules},
            .top = run->options->top,
            .threads = run->proof_threads,
            .exhaustive = run->options->exhaustive,
            .should_stop = should_stop_proof,
            .context = run,
        };
        if (!best_first_search(&proof, &run->kept[worker])) atomic_store(&run->out_of_memory, 1);
        search->best = proof.best;
        search->candidates = proof.candidates;
        search->feasible = proof.feasible;
        search->priced = proof.priced;
        search->proved = proof.proved;
        search->bound_s = proof.bound_s;
    }
    atomic_store(&run->task_done, 0);
    atomic_fetch_add(&run->round_done, 1);
}

/* Many searches have a thread each, a few have all threads one after the other. */
static void prove_all(struct run *run, int32_t threads) {
    int at_once = run->num_searches >= (size_t)threads;
    run->proof_threads = at_once ? 1 : threads;
    run_round(run, at_once ? threads : 1, run->num_searches, run->num_tasks ? 0 : 0.95, prove_task);
}

/* ---- The last round: what to say of searches without an answer ------------------------------------------ */

static void find_reason(struct run *run, struct no_answer *with, struct search *search, struct arena *kept) {
    struct kerf_text words = {0};
    no_answer_reason(with, search->problem, &words, search->gpus_that_work);
    search->reason = arena_strdup(kept, words.data ? words.data : "");
    if (search->reason == NULL || words.failed) atomic_store(&run->out_of_memory, 1);
    kerf_text_free(&words);
}

static int is_done(const struct search *search) {
    return search->is_bounded ? search->proved : search->tasks_done == search->num_roots;
}

static void explain_task(void *context, size_t index, int32_t worker) {
    struct run *run = context;
    struct search *search = &run->searches[index];
    struct no_answer with = {run->options->cost_model, search->batches, &run->scratch[worker], should_stop, run, 0};
    int searched = is_done(search) && !search->unexplained;
    if (searched && !run->options->is_brief && search->feasible == 0) {
        if (search->candidates == 0 && !should_stop(run)) find_reason(run, &with, search, &run->kept[worker]);
        search->has_nearest =
            search->candidates > 0 && !should_stop(run) && no_answer_nearest(&with, search->problem, &search->nearest);
        search->least_gpus = should_stop(run) ? 0 : no_answer_least_gpus(&with, search->problem);
        search->unexplained = atomic_load(&run->stop);
        if (with.out_of_memory) atomic_store(&run->out_of_memory, 1);
        if (search->unexplained) search->has_nearest = 0, search->least_gpus = 0; /* maybe not the least */
    }
    atomic_fetch_add(&run->round_done, 1);
}

/* ---- The run ---------------------------------------------------------------------------------------------- */

struct kerf_plan *kerf_plan_free(struct kerf_plan *plan) {
    if (plan == NULL) return NULL;
    struct owned_plan *owned = owned_of(plan);
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

static int32_t check(const struct kerf_problem *problems, size_t num_problems, const struct kerf_plan_options *options,
                     struct kerf_error *err) {
    if (options->top < 1 || options->top > KERF_TOP_MAX)
        return kerf_error_set(err, KERF_EINVALID, "top must lie between 1 and %d, not %d", KERF_TOP_MAX, options->top);
    if (options->threads < 0)
        return kerf_error_set(err, KERF_EINVALID, "threads must be 0 or above, not %d", options->threads);
    for (size_t i = 0; i < num_problems; i++) {
        int32_t code = problem_rules(&problems[i], err);
        if (code == KERF_OK) code = cost_model_check(options->cost_model, problems[i].strategy, err);
        if (code == KERF_OK) code = space_check_schedules(&problems[i], err);
        if (code != KERF_OK) return code;
    }
    return KERF_OK;
}

/* What all searches start from; 0 when memory ran out. */
static int begin_searches(struct run *run, const struct kerf_problem *problems, struct arena *arena) {
    for (size_t i = 0; i < run->num_searches; i++) {
        struct search *search = &run->searches[i];
        search->problem = &problems[i];
        search->is_bounded = strategy_of(problems[i].strategy)->task_level > 0;
        int as_before = i > 0 && problems[i].global_batch == problems[i - 1].global_batch;
        struct divisors *batches = as_before ? NULL : arena_alloc(arena, 1, sizeof *batches);
        if (batches) divisors_find(problems[i].global_batch, batches);
        search->batches = as_before ? run->searches[i - 1].batches : batches;
        if (search->batches == NULL) return 0;
    }
    return 1;
}

/* The first round: the choices of the first level of one problem. */
static void list_task(void *context, size_t index, int32_t worker) {
    struct run *run = context;
    struct search *search = &run->searches[index];
    if (should_stop(run)) {
        search->unexplained = 1;
        return;
    }
    if (search->is_bounded) {
        atomic_fetch_add(&run->round_done, 1);
        return;
    }
    const struct space space = {.problem = search->problem, .batches = search->batches, .pipeliner = &pipeline_rules};
    search->roots = walk_roots(&space, &run->kept[worker], &search->num_roots);
    if (search->roots == NULL) atomic_store(&run->out_of_memory, 1);
    atomic_fetch_add(&run->round_done, 1);
}

static int list_tasks(struct run *run, struct arena *arena) {
    size_t next = 0;
    for (size_t i = 0; i < run->num_searches; i++) run->num_tasks += (size_t)run->searches[i].num_roots;
    run->tasks = arena_alloc(arena, run->num_tasks, sizeof *run->tasks);
    for (size_t i = 0; run->tasks && i < run->num_searches; i++)
        for (int32_t r = 0; r < run->searches[i].num_roots; r++)
            run->tasks[next++] = (struct task){&run->searches[i], r};
    return run->tasks != NULL;
}

/* No candidate takes less: the best once that is proved. */
static double bound_of(const struct search *search) {
    if (search->is_bounded) return search->bound_s;
    if (!is_done(search) || search->best.count == 0) return 0;
    return (double)search->problem->global_batch / search->best.heap[0].throughput;
}

/* Copies what was found into the plan; the winners are estimated in full. */
static int collect(const struct run *run, struct owned_plan *owned) {
    struct kerf_search *searches = arena_alloc(&owned->arena, run->num_searches, sizeof *searches);
    if (searches == NULL) return 0;
    owned->plan = (struct kerf_plan){searches, run->num_searches, 1};
    owned->searches = searches;
    for (size_t i = 0; i < run->num_searches; i++) {
        struct search *search = &run->searches[i];
        struct kerf_estimate *plans = arena_alloc(&owned->arena, (size_t)search->best.count + 1, sizeof *plans);
        if (plans == NULL) return 0;
        ranking_sort(&search->best);
        for (int32_t p = 0; p < search->best.count; p++) {
            const struct ranked *found = &search->best.heap[p];
            if (estimate_layout(run->options->cost_model, search->problem, &found->layout, &owned->arena, &plans[p],
                                NULL) != KERF_OK)
                return 0; /* memory ran out: every candidate obeys the rules */
            assert(plans[p].throughput == found->throughput && plans[p].memory_bytes == found->memory_bytes);
            assert(plans[p].fits && (p == 0 || plans[p].throughput <= plans[p - 1].throughput));
        }
        if (search->has_nearest && estimate_layout(run->options->cost_model, search->problem, &search->nearest,
                                                   &owned->arena, &plans[0], NULL) != KERF_OK)
            return 0;
        assert(search->feasible <= search->candidates && search->best.count <= search->feasible);
        searches[i] = (struct kerf_search){
            .problem = *search->problem,
            .cost_model = run->options->cost_model->name,
            .candidates = search->candidates,
            .feasible = search->feasible,
            .plans = plans,
            .num_plans = search->best.count,
            .nearest = search->has_nearest ? plans : NULL,
            .least_gpus = search->least_gpus,
            .reason = search->reason ? arena_strdup(&owned->arena, search->reason) : NULL,
            .gpus_that_work = {search->gpus_that_work[0], search->gpus_that_work[1]},
            .priced = search->priced,
            .proved = is_done(search),
            .bound_s = bound_of(search),
            .complete = is_done(search) && !search->unexplained,
        };
        if (search->reason && searches[i].reason == NULL) return 0;
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
        run_round(&run, threads, num_problems, 0.02, list_task);
        good = !run.out_of_memory && list_tasks(&run, &arena);
    }
    if (good) {
        run_round(&run, threads, run.num_tasks, run.num_tasks ? 0.95 : 0, run_task);
        prove_all(&run, threads);
        run_round(&run, threads, run.num_searches, 0.03, explain_task);
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
