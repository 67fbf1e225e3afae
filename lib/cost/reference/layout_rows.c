/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many layouts: the times of a layer for one way of tensor parallelism, each distinct shape priced once.
 *
 * A shape is (micro-batch, SUMMA blocks) and how many of tp1 and of tp2 are neighbours in a scale-up domain. All
 * placements of one (micro-batch, blocks) are priced together as a row, [n1][n2] by the number of tp1 and tp2
 * neighbours, because they differ in communication alone: its volume over each axis is worked out once. What is left for
 * one layout is a dozen multiplications; and where no layout of a row can be faster than the cutoff, one comparison.
 */
#include "cost/reference/layer.h"
#include "cost/reference/step.h"
#include "cost/strategy.h"
#include "cost/tensor_space.h"

enum { NEIGHBOURS_MAX = 240 }; /* divisors of a scale-up domain of at most 2^20 */

/* The ways to place an axis. */
struct axis {
    int32_t count;
    int64_t neighbours[NEIGHBOURS_MAX]; /* divisors of the domain that divide the axis, rising; or the axis itself */
    struct axis_links links[NEIGHBOURS_MAX];
};

struct row {
    double stage_bytes;             /* what one stage sends to the next */
    double least_s;                 /* the least forward + backward of all places */
    double *forward_s, *backward_s; /* [n1 * n2] */
};

/* A placement with what it costs at given stages. */
struct spot {
    int32_t column; /* in a row */
    struct link stage;
    double data_parallel_s; /* one collective over a layer's weights */
};

struct cost_pricer {
    const struct kerf_problem *problem;
    const struct divisors *batches;
    struct arena *arena;
    struct device device;
    int32_t over_tp2;

    struct kerf_layout prefix; /* where the walk is */
    int32_t batch;             /* its micro-batch in batches */
    double weights_bytes;      /* of a layer */
    double memory_bytes;       /* of the whole prefix */
    struct axis tp1, tp2;

    const struct kerf_layout *variants; /* [num_blocks * num_spots] */
    int32_t num_blocks, num_spots;
    struct spot *spots;       /* [num_spots] */
    struct row **rows;        /* [batches * num_blocks], NULL where not yet priced; NULL before the first variants */
    double *activation_bytes; /* [batches] of a layer and micro-batch, -1 where not yet known */
};

struct cost_pricer *rows_begin(const struct space *space, const struct cost_sink *sink, struct arena *arena) {
    struct cost_pricer *pricer = arena_take(arena, 1, sizeof *pricer);
    (void)sink; /* limits are looked at where layouts are priced */
    if (pricer == NULL) return NULL;
    pricer->problem = space->problem;
    pricer->batches = space->batches;
    pricer->arena = arena;
    pricer->device = device_of(&space->problem->system);
    pricer->over_tp2 = strategy_of(space->problem->strategy)->replicas_over_tp2;
    return pricer;
}

/* ---- Entering a prefix ------------------------------------------------------------------------------------ */

static void find_neighbours(const struct kerf_problem *problem, int64_t m, struct axis *axis) {
    axis->count = 0;
    if (problem->gpus <= problem->system.scale_up.size) {
        axis->neighbours[axis->count++] = m;
    } else {
        struct divisors domain;
        divisors_find(problem->system.scale_up.size, &domain);
        for (int32_t i = 0; i < domain.count; i++)
            if (m % domain.of[i] == 0) {
                assert(axis->count < NEIGHBOURS_MAX);
                axis->neighbours[axis->count++] = domain.of[i];
            }
    }
    for (int32_t i = 0; i < axis->count; i++) links_of_axis(&problem->system, m, axis->neighbours[i], &axis->links[i]);
}

static void describe(const struct cost_pricer *pricer, int64_t micro_batch, int64_t blocks, struct layer *ret_layer) {
    struct kerf_layout layout = pricer->prefix;
    layout.micro_batch = micro_batch;
    layout.summa_blocks = blocks;
    layer_describe(pricer->problem, &layout, pricer->device.vector_slowdown, ret_layer);
}

static int enter_shards(struct cost_pricer *pricer) {
    struct layer layer;
    size_t count = (size_t)pricer->batches->count;
    find_neighbours(pricer->problem, pricer->prefix.tp1, &pricer->tp1);
    find_neighbours(pricer->problem, pricer->prefix.tp2, &pricer->tp2);
    describe(pricer, 1, 1, &layer);
    pricer->weights_bytes = layer_weights_bytes(&layer); /* the same for every micro-batch and number of blocks */
    pricer->rows = NULL;
    pricer->activation_bytes = arena_take(pricer->arena, count, sizeof *pricer->activation_bytes);
    for (size_t i = 0; pricer->activation_bytes && i < count; i++) pricer->activation_bytes[i] = -1;
    return pricer->activation_bytes != NULL;
}

/* Memory of the prefix, with these activations. */
static double memory_of(const struct cost_pricer *pricer, double activation_bytes, double micro_batches) {
    const struct kerf_layout *prefix = &pricer->prefix;
    struct memory memory = step_memory(
        pricer->weights_bytes, activation_bytes, (double)(pricer->problem->model.num_hidden_layers / prefix->pp),
        (double)(prefix->dp * (pricer->over_tp2 ? prefix->tp2 : 1)), (double)prefix->pp, micro_batches);
    return memory_sum(&memory);
}

static double micro_batches_of(const struct cost_pricer *pricer) {
    return (double)(pricer->problem->global_batch / pricer->prefix.dp / pricer->prefix.micro_batch);
}

static void enter_micro_batch(struct cost_pricer *pricer) {
    int32_t b = pricer->batch;
    if (b < 0 || pricer->batches->of[b] > pricer->prefix.micro_batch) b = 0; /* they come rising */
    while (pricer->batches->of[b] != pricer->prefix.micro_batch) b++;
    pricer->batch = b;
    if (pricer->activation_bytes[b] < 0) {
        struct layer layer;
        describe(pricer, pricer->prefix.micro_batch, 1, &layer); /* the same for every number of blocks */
        pricer->activation_bytes[b] = layer_activation_bytes(&layer);
    }
    pricer->memory_bytes = memory_of(pricer, pricer->activation_bytes[b], micro_batches_of(pricer));
}

int rows_enter(struct cost_pricer *pricer, int32_t level, const struct kerf_layout *prefix,
               struct cost_bound *ret_bound) {
    pricer->prefix = *prefix;
    ret_bound->memory_bytes = ret_bound->step_time_s = 0;
    switch ((enum tensor_level)level) {
    case TENSOR_LEVEL_SHARDS: return enter_shards(pricer);
    case TENSOR_LEVEL_STAGES:
        pricer->batch = -1;
        ret_bound->memory_bytes = memory_of(pricer, 0, 1);
        return 1;
    case TENSOR_LEVEL_MICRO_BATCH:
        enter_micro_batch(pricer);
        ret_bound->memory_bytes = pricer->memory_bytes;
        return 1;
    case TENSOR_LEVELS: break;
    }
    assert(!"a level of the space");
    return 0;
}

/* ---- Variants --------------------------------------------------------------------------------------------- */

static int32_t column_of(const struct cost_pricer *pricer, const struct kerf_layout *layout) {
    int32_t i = 0, j = 0;
    while (pricer->tp1.neighbours[i] != layout->scale_up.tp1) i++;
    while (pricer->tp2.neighbours[j] != layout->scale_up.tp2) j++;
    assert(i < pricer->tp1.count && j < pricer->tp2.count);
    return i * pricer->tp2.count + j;
}

/* Variants come block by block, each with all placements. */
int rows_prepare(struct cost_pricer *pricer, const struct kerf_layout *variants, int32_t num_variants) {
    const struct kerf_system *system = &pricer->problem->system;
    const struct kerf_layout *prefix = &pricer->prefix;
    int64_t replicas = prefix->dp * (pricer->over_tp2 ? prefix->tp2 : 1);
    int32_t num_spots = 0;
    while (num_spots < num_variants && variants[num_spots].summa_blocks == variants[0].summa_blocks) num_spots++;
    assert(num_spots > 0 && num_variants % num_spots == 0);
    pricer->variants = variants;
    pricer->num_spots = num_spots;
    pricer->num_blocks = num_variants / num_spots;
    pricer->spots = arena_take(pricer->arena, (size_t)num_spots, sizeof *pricer->spots);
    if (pricer->rows == NULL)
        pricer->rows =
            arena_alloc(pricer->arena, (size_t)(pricer->batches->count * pricer->num_blocks), sizeof(struct row *));
    if (pricer->spots == NULL || pricer->rows == NULL) return 0;
    for (int32_t i = 0; i < num_spots; i++) {
        int64_t in_domain = variants[i].scale_up.dp * (pricer->over_tp2 ? variants[i].scale_up.tp2 : 1);
        struct link gradients = link_collective(system, COMM_REDUCESCATTER, replicas, in_domain);
        pricer->spots[i] = (struct spot){
            .column = column_of(pricer, &variants[i]),
            .stage = link_stages(system, prefix->pp, variants[i].scale_up.pp),
            .data_parallel_s = link_s(&gradients, pricer->weights_bytes),
        };
    }
    return 1;
}

/* ---- Rows ------------------------------------------------------------------------------------------------- */

/* Adds one pass of one operation to every place of the row. */
static void add_pass(const struct cost_pricer *pricer, const struct volumes *volumes, const struct pass_volumes *pass,
                     const double *again_s, double *sum_s, double *ret_pass_s) {
    const struct axis *tp1 = &pricer->tp1, *tp2 = &pricer->tp2;
    double arithmetic = arithmetic_s(&pricer->device, volumes, pass), traffic = traffic_s(&pricer->device, pass);
    double busy_s = arithmetic > traffic ? arithmetic : traffic, along_tp2[NEIGHBOURS_MAX];
    if (pass->num_messages == 0 && again_s == NULL && ret_pass_s == NULL) {
        for (int32_t i = 0; i < tp1->count * tp2->count; i++) sum_s[i] += busy_s;
        return;
    }
    for (int32_t j = 0; j < tp2->count; j++) along_tp2[j] = axis_s(volumes, pass, AXIS_TP2, &tp2->links[j]);
    for (int32_t i = 0, at = 0; i < tp1->count; i++) {
        double along_tp1 = axis_s(volumes, pass, AXIS_TP1, &tp1->links[i]);
        for (int32_t j = 0; j < tp2->count; j++, at++) {
            double pass_s = busy_s + exposed_s(along_tp1 + along_tp2[j], volumes->blocks, busy_s);
            if (again_s) pass_s += again_s[at];
            if (ret_pass_s) ret_pass_s[at] = pass_s;
            sum_s[at] += pass_s;
        }
    }
}

/* The row of the micro-batch at hand and a number of blocks, priced at the first call; NULL when memory ran out. */
static const struct row *row_of(struct cost_pricer *pricer, int32_t block_index, int64_t blocks) {
    struct row **place = &pricer->rows[pricer->batch * pricer->num_blocks + block_index];
    if (*place) return *place;
    size_t columns = (size_t)pricer->tp1.count * (size_t)pricer->tp2.count;
    struct row *row = arena_alloc(pricer->arena, 1, sizeof *row);
    double *times = arena_alloc(pricer->arena, 3 * columns, sizeof *times);
    if (row == NULL || times == NULL) return NULL;
    struct layer layer;
    describe(pricer, pricer->prefix.micro_batch, blocks, &layer);
    row->stage_bytes = layer_stage_bytes(&layer);
    row->forward_s = times;
    row->backward_s = times + columns;
    double *forward_of_operation = times + 2 * columns; /* for operations that run it again */
    for (int32_t i = 0; i < layer.count; i++) {
        const struct volumes *volumes = &layer.of[i];
        double *kept = volumes->recomputed ? forward_of_operation : NULL;
        add_pass(pricer, volumes, &volumes->forward, NULL, row->forward_s, kept);
        add_pass(pricer, volumes, &volumes->backward, kept, row->backward_s, NULL);
    }
    row->least_s = row->forward_s[0] + row->backward_s[0];
    for (size_t i = 1; i < columns; i++) {
        double sum_s = row->forward_s[i] + row->backward_s[i];
        if (sum_s < row->least_s) row->least_s = sum_s;
    }
    return *place = row;
}

/* Every operation of step_s rises with each of its arguments, rounding included: with the least of them it is a bound
 * of what it gives. */
static double least_step_s(const struct row *row, struct step step) {
    step.forward_s = row->least_s;
    step.backward_s = step.stage_s = step.data_parallel_s = 0;
    return step_s(&step);
}

int rows_price(struct cost_pricer *pricer, struct cost_sink *sink) {
    const struct kerf_layout *prefix = &pricer->prefix, *variant = pricer->variants;
    struct step step = {
        .micro_batches = micro_batches_of(pricer),
        .layers = (double)(pricer->problem->model.num_hidden_layers / prefix->pp),
        .pp = (double)prefix->pp,
    };
    for (int32_t nb = 0; nb < pricer->num_blocks; nb++, variant += pricer->num_spots) {
        const struct row *row = row_of(pricer, nb, variant->summa_blocks);
        if (row == NULL) return 0;
        double least_s = least_step_s(row, step);
        if (least_s > sink->cutoff_s) continue;
        for (int32_t i = 0; i < pricer->num_spots; i++) {
            const struct spot *spot = &pricer->spots[i];
            step.forward_s = row->forward_s[spot->column];
            step.backward_s = row->backward_s[spot->column];
            step.stage_s = link_s(&spot->stage, row->stage_bytes);
            step.data_parallel_s = data_parallel_s(spot->data_parallel_s, step.forward_s, step.backward_s, step.layers);
            double time_s = step_s(&step);
            assert(time_s >= least_s);
            if (time_s > sink->cutoff_s) continue;
            struct kerf_layout layout = variant[i];
            layout.micro_batch = prefix->micro_batch;
            sink->take(sink, &layout, pricer->memory_bytes, time_s);
        }
    }
    return 1;
}
