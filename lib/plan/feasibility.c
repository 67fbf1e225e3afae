/* SPDX-License-Identifier: Apache-2.0 */
/* Memory does not depend on the placement or on the SUMMA blocks, so that the least of it is found without
 * pricing any time. */
#include "plan/feasibility.h"

#include "plan/ranking.h"
#include "plan/shapes.h"

/* What has been found of one tensor parallelism, stages and micro-batch. */
typedef int (*visit)(void *context, const struct shapes *shapes, int64_t dp, int64_t pp, int32_t batch,
                     double memory_bytes, struct arena *scratch);

/* Calls visit for every combination that has candidates, until it returns other than 0. */
static int walk(struct feasibility *with, const struct kerf_problem *problem, visit visit_one, void *context) {
    const struct kerf_cost_model *cost_model = with->cost_model;
    struct arena *scratch = with->scratch;
    int32_t num_tensors, stop = 0;
    struct divisors batches;
    struct shapes shapes;
    int64_t pps[DIVISORS_MAX];
    struct arena own = {NULL};
    divisors_find(problem->global_batch, &batches);
    struct space_tensor *tensors = space_tensors(problem, &own, &num_tensors);
    if (tensors == NULL) with->out_of_memory = 1;
    for (int32_t t = 0; tensors && t < num_tensors && !stop; t++) {
        arena_reset(scratch);
        if (!shapes_begin(&shapes, cost_model, problem, &tensors[t], &batches, scratch)) {
            with->out_of_memory = 1;
            break;
        }
        if (shapes.num_blocks == 0) continue;
        int32_t num_pps = space_stages(problem, &tensors[t], pps);
        for (int32_t p = 0; p < num_pps && !stop && !with->should_stop(with->context); p++) {
            int64_t pp = pps[p], dp = problem->gpus / (tensors[t].tp1 * tensors[t].tp2 * pp);
            int64_t samples = problem->global_batch / dp;
            int32_t num_placements;
            if (!space_placements(problem, &tensors[t], dp, pp, scratch, &num_placements)) with->out_of_memory = 1;
            for (int32_t b = 0; b < batches.count && num_placements && !stop; b++) {
                int64_t micro_batch = batches.of[b];
                if (samples % micro_batch != 0 || !space_has_micro_batch(problem, &tensors[t], micro_batch)) continue;
                double activation_bytes = shapes_activation_bytes(&shapes, b);
                struct kerf_memory_parts memory = step_memory(
                    cost_model, shapes.weights_bytes, activation_bytes, (double)(problem->model.num_hidden_layers / pp),
                    (double)weight_replicas(problem->strategy, dp, tensors[t].tp2), (double)pp,
                    (double)(samples / micro_batch));
                stop = visit_one(context, &shapes, dp, pp, b, memory_sum(&memory), scratch);
            }
        }
    }
    arena_free(&own);
    return stop;
}

struct nearest {
    struct feasibility *with;
    const struct kerf_problem *problem;
    int found;
    struct kerf_estimate best;
};

static int keep_nearest(void *context, const struct shapes *shapes, int64_t dp, int64_t pp, int32_t batch,
                        double memory_bytes, struct arena *scratch) {
    struct nearest *nearest = context;
    if (nearest->found && memory_bytes > nearest->best.memory_bytes) return 0;
    int32_t count;
    struct space_placement *placements = space_placements(nearest->problem, &shapes->tensor, dp, pp, scratch, &count);
    for (int32_t i = 0; placements && i < count && !nearest->with->should_stop(nearest->with->context); i++) {
        for (int32_t nb = 0; nb < shapes->num_blocks; nb++) {
            struct kerf_layout layout = {
                .dp = dp,
                .tp1 = shapes->tensor.tp1,
                .tp2 = shapes->tensor.tp2,
                .pp = pp,
                .micro_batch = shapes->batches->of[batch],
                .summa_blocks = shapes->blocks[nb],
                .scale_up = {placements[i].tp1, placements[i].tp2, placements[i].dp, placements[i].pp},
            };
            struct kerf_estimate one;
            if (kerf_layout_estimate(nearest->with->cost_model, nearest->problem, &layout, &one, NULL) != KERF_OK)
                continue;
            const struct kerf_estimate *best = &nearest->best;
            struct ranked a = {one.throughput, 0, one.layout}, b = {best->throughput, 0, best->layout};
            if (nearest->found && (one.memory_bytes > best->memory_bytes ||
                                   (one.memory_bytes == best->memory_bytes && ranked_compare(&a, &b) > 0)))
                continue;
            nearest->best = one;
            nearest->found = 1;
        }
    }
    return 0;
}

int feasibility_nearest(struct feasibility *with, const struct kerf_problem *problem,
                        struct kerf_estimate *ret_nearest) {
    struct nearest nearest = {.with = with, .problem = problem};
    walk(with, problem, keep_nearest, &nearest);
    if (nearest.found) *ret_nearest = nearest.best;
    return nearest.found;
}

static int stop_when_fitting(void *context, const struct shapes *shapes, int64_t dp, int64_t pp, int32_t batch,
                             double memory_bytes, struct arena *scratch) {
    (void)shapes, (void)dp, (void)pp, (void)batch, (void)scratch;
    return memory_bytes <= *(const double *)context;
}

int64_t feasibility_least_gpus(struct feasibility *with, const struct kerf_problem *problem) {
    struct kerf_problem larger = *problem;
    double capacity = problem->system.memory_capacity_bytes;
    for (larger.gpus = problem->gpus * 2; larger.gpus <= KERF_LEAST_GPUS_MAX; larger.gpus *= 2)
        if (walk(with, &larger, stop_when_fitting, &capacity)) return larger.gpus;
    return 0;
}
