/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/tensor_space.h"

#include <assert.h>
#include "base/quantity.h"

/* ---- The levels. Each list is made twice: without room, which counts, and into the room for as many. ------- */

static int32_t list_shards(const struct space *space, const struct tensor_rules *rules, const struct divisors *gpus,
                           struct kerf_layout *ret) {
    const struct kerf_problem *problem = space->problem;
    int64_t e = problem->model.hidden_size, h = problem->model.num_attention_heads;
    int32_t count = 0;
    for (int32_t i = 0; i < gpus->count; i++) {
        int64_t tp1 = gpus->of[i];
        if (h % tp1 != 0 || e % tp1 != 0) continue;
        for (int32_t j = 0; j < (rules->has_tp2 ? gpus->count : 1); j++) {
            int64_t tp2 = gpus->of[j];
            if (problem->gpus / tp1 % tp2 != 0 || !rules->can_cut(problem, tp1, tp2)) continue;
            if (ret) ret[count] = (struct kerf_layout){.tp1 = tp1, .tp2 = tp2};
            count++;
        }
    }
    return count;
}

static struct kerf_layout *shards(const struct space *space, const struct tensor_rules *rules, struct arena *arena,
                                  int32_t *ret_count) {
    struct divisors gpus;
    divisors_find(space->problem->gpus, &gpus);
    *ret_count = list_shards(space, rules, &gpus, NULL);
    struct kerf_layout *list = arena_take(arena, (size_t)*ret_count, sizeof *list);
    if (list) list_shards(space, rules, &gpus, list);
    return list;
}

static struct kerf_layout *stages(const struct space *space, const struct kerf_layout *prefix, struct arena *arena,
                                  int32_t *ret_count) {
    int64_t depth = space->problem->model.num_hidden_layers;
    int64_t left = space->problem->gpus / (prefix->tp1 * prefix->tp2);
    struct divisors most;
    divisors_find(left < depth ? left : depth, &most);
    struct kerf_layout *list = arena_take(arena, (size_t)most.count, sizeof *list);
    *ret_count = 0;
    for (int32_t i = 0; list && i < most.count; i++) {
        int64_t pp = most.of[i];
        if (left % pp != 0 || depth % pp != 0) continue;
        if (space->problem->global_batch % (left / pp) != 0) continue; /* dp must divide the samples */
        struct kerf_layout *one = &list[(*ret_count)++];
        *one = *prefix;
        one->pp = pp, one->dp = left / pp;
    }
    return list;
}

static struct kerf_layout *micro_batches(const struct space *space, const struct tensor_rules *rules,
                                         const struct kerf_layout *prefix, struct arena *arena, int32_t *ret_count) {
    int64_t samples = space->problem->global_batch / prefix->dp, tokens = space->problem->seq_length;
    int64_t sequence_shards = rules->sequence_shards(prefix);
    struct kerf_layout *list = arena_take(arena, (size_t)space->batches->count, sizeof *list);
    *ret_count = 0;
    for (int32_t i = 0; list && i < space->batches->count && space->batches->of[i] <= samples; i++) {
        int64_t micro_batch = space->batches->of[i];
        if (samples % micro_batch != 0 || micro_batch * tokens % sequence_shards != 0) continue;
        struct kerf_layout *one = &list[(*ret_count)++];
        *one = *prefix;
        one->micro_batch = micro_batch;
    }
    return list;
}

struct kerf_layout *tensor_choices(const struct space *space, const struct tensor_rules *rules, int32_t level,
                                   const struct kerf_layout *prefix, struct arena *arena, int32_t *ret_count) {
    switch ((enum tensor_level)level) {
    case TENSOR_LEVEL_SHARDS: return shards(space, rules, arena, ret_count);
    case TENSOR_LEVEL_STAGES: return stages(space, prefix, arena, ret_count);
    case TENSOR_LEVEL_MICRO_BATCH: return micro_batches(space, rules, prefix, arena, ret_count);
    case TENSOR_LEVELS: break;
    }
    assert(!"a level of the space");
    return NULL;
}

/* ---- Placements ------------------------------------------------------------------------------------------- */

struct placement_axes {
    struct divisors tp1, tp2, dp;
    int64_t pp, domain;
};

/* The divisors of the domain that divide n, the number of accelerators of one kind. */
static void keep_dividing(const struct divisors *domain, int64_t n, struct divisors *ret) {
    ret->count = 0;
    for (int32_t i = 0; i < domain->count && domain->of[i] <= n; i++)
        if (n % domain->of[i] == 0) ret->of[ret->count++] = domain->of[i];
}

/* All (tp1, tp2, dp, pp) whose product is the domain; with ret NULL only counts them. */
static int32_t list_placements(const struct placement_axes *axes, const struct kerf_layout *layout,
                               struct kerf_layout *ret) {
    int32_t count = 0;
    for (int32_t i = 0; i < axes->tp1.count; i++) {
        int64_t after_tp1 = axes->domain / axes->tp1.of[i];
        for (int32_t j = 0; j < axes->tp2.count && axes->tp2.of[j] <= after_tp1; j++) {
            if (after_tp1 % axes->tp2.of[j] != 0) continue;
            int64_t left = after_tp1 / axes->tp2.of[j];
            for (int32_t k = 0; k < axes->dp.count && axes->dp.of[k] <= left; k++) {
                int64_t pp = left / axes->dp.of[k];
                if (pp * axes->dp.of[k] != left || axes->pp % pp != 0) continue;
                if (ret) {
                    ret[count] = *layout;
                    ret[count].scale_up.tp1 = axes->tp1.of[i], ret[count].scale_up.tp2 = axes->tp2.of[j];
                    ret[count].scale_up.dp = axes->dp.of[k], ret[count].scale_up.pp = pp;
                    assert(axes->tp1.of[i] * axes->tp2.of[j] * axes->dp.of[k] * pp == axes->domain);
                }
                count++;
            }
        }
    }
    return count;
}

struct kerf_layout *tensor_neighbours(const struct space *space, const struct kerf_layout *layout, struct arena *arena,
                                      int32_t *ret_count) {
    struct kerf_layout *list;
    if (space->problem->gpus <= space->problem->system.scale_up.size) {
        *ret_count = 1;
        list = arena_take(arena, 1, sizeof *list);
        if (list == NULL) return NULL;
        *list = *layout;
        list->scale_up.tp1 = layout->tp1, list->scale_up.tp2 = layout->tp2;
        list->scale_up.dp = layout->dp, list->scale_up.pp = layout->pp;
        return list;
    }
    struct divisors domain;
    struct placement_axes axes; /* large: filled in, not cleared */
    axes.pp = layout->pp;
    axes.domain = space->problem->system.scale_up.size;
    divisors_find(axes.domain, &domain);
    keep_dividing(&domain, layout->tp1, &axes.tp1);
    keep_dividing(&domain, layout->tp2, &axes.tp2);
    keep_dividing(&domain, layout->dp, &axes.dp);
    *ret_count = list_placements(&axes, layout, NULL);
    list = arena_take(arena, (size_t)*ret_count, sizeof *list);
    if (list) list_placements(&axes, layout, list);
    return list;
}

/* ---- Variants --------------------------------------------------------------------------------------------- */

struct kerf_layout *tensor_variants(const struct space *space, const struct tensor_rules *rules,
                                    const struct kerf_layout *prefix, struct arena *arena, int32_t *ret_count) {
    int64_t blocks[SUMMA_BLOCKS_MAX] = {0};
    int32_t num_blocks = rules->blocks ? rules->blocks(space->problem, prefix, blocks) : 1, num_placements;
    struct kerf_layout *placements = tensor_neighbours(space, prefix, arena, &num_placements);
    *ret_count = num_blocks * num_placements;
    if (placements == NULL) return NULL;
    if (num_blocks == 1) {
        for (int32_t i = 0; i < num_placements; i++) placements[i].summa_blocks = blocks[0];
        return placements;
    }
    struct kerf_layout *list = arena_take(arena, (size_t)*ret_count, sizeof *list), *next = list;
    for (int32_t b = 0; list && b < num_blocks; b++)
        for (int32_t i = 0; i < num_placements; i++) {
            *next = placements[i];
            next++->summa_blocks = blocks[b];
        }
    return list;
}

/* ---- Why there is none -------------------------------------------------------------------------------------- */

void tensor_explain(const struct space *space, int32_t level, struct kerf_text *out) {
    const struct kerf_problem *problem = space->problem;
    switch ((enum tensor_level)level) {
    case TENSOR_LEVEL_SHARDS:
        kerf_text_printf(out, "No shard is wide enough: each needs %d features or tokens, and there are ",
                         (int)TENSOR_LEAST_WIDTH);
        quantity_count(out, problem->model.hidden_size);
        kerf_text_add(out, " features and ");
        quantity_count(out, problem->seq_length);
        kerf_text_add(out, " tokens");
        return;
    case TENSOR_LEVEL_STAGES:
        quantity_count(out, problem->gpus);
        kerf_text_add(out, " accelerators leave no number of replicas that divides the global batch of ");
        quantity_count(out, problem->global_batch);
        kerf_text_add(out, ": tensor parallelism must divide ");
        quantity_count(out, problem->model.num_attention_heads);
        kerf_text_add(out, " heads, and pipeline stages ");
        quantity_count(out, problem->model.num_hidden_layers);
        kerf_text_add(out, " layers");
        return;
    case TENSOR_LEVEL_MICRO_BATCH:
        kerf_text_add(out, "No micro-batch has a number of tokens, ");
        quantity_count(out, problem->seq_length);
        kerf_text_add(out, " a sample, that divides by the shards of the sequence");
        return;
    case TENSOR_LEVELS:
        kerf_text_add(out, "No placement fills a scale-up domain of ");
        quantity_count(out, problem->system.scale_up.size);
        kerf_text_add(out, ": the parts into which ");
        quantity_count(out, problem->gpus);
        kerf_text_printf(out, " accelerators divide have no product of %lld", (long long)problem->system.scale_up.size);
        return;
    }
    assert(!"a level of the space");
}

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

/* The rules that all three have; those of one of them are in its file. */

typedef long long ll;

static int32_t check_product(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_error *err) {
    int64_t product = 0;
    int wide = __builtin_mul_overflow(l->dp, l->tp1, &product) || __builtin_mul_overflow(product, l->tp2, &product) ||
               __builtin_mul_overflow(product, l->pp, &product);
    if (wide || product > KERF_COUNT_MAX)
        return kerf_error_set(err, KERF_EINVALID,
                              "dp %lld x tp1 %lld x tp2 %lld x pp %lld are more than %lld accelerators", (ll)l->dp,
                              (ll)l->tp1, (ll)l->tp2, (ll)l->pp, (ll)KERF_COUNT_MAX);
    if (product != problem->gpus)
        return kerf_error_set(err, KERF_EINVALID,
                              "dp %lld x tp1 %lld x tp2 %lld x pp %lld is %lld accelerators, not %lld", (ll)l->dp,
                              (ll)l->tp1, (ll)l->tp2, (ll)l->pp, (ll)product, (ll)problem->gpus);
    return KERF_OK;
}

/* The members that are chosen; 0 is any. */
static int32_t check_placement(const struct kerf_problem *problem, const struct kerf_layout *l,
                               struct kerf_error *err) {
    const struct {
        const char *key;
        int64_t placed, all;
    } axes[] = {{"tp1", l->scale_up.tp1, l->tp1},
                {"tp2", l->scale_up.tp2, l->tp2},
                {"dp", l->scale_up.dp, l->dp},
                {"pp", l->scale_up.pp, l->pp}};
    int64_t placed = 1;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        char words[48];
        if (axes[i].placed == 0) continue;
        if (axes[i].all % axes[i].placed != 0)
            return kerf_error_set(err, KERF_EINVALID, "scale_up.%s %lld does not divide %s %lld; %s", axes[i].key,
                                  (ll)axes[i].placed, axes[i].key, (ll)axes[i].all,
                                  nearest_divisors(axes[i].all, axes[i].placed, axes[i].all, words));
        if (__builtin_mul_overflow(placed, axes[i].placed, &placed)) placed = INT64_MAX;
    }
    if (placed > problem->system.scale_up.size)
        return kerf_error_set(err, KERF_EINVALID, "scale_up places more than the %lld accelerators of a domain",
                              (ll)problem->system.scale_up.size);
    return KERF_OK;
}

int32_t tensor_check_problem(const struct kerf_problem *problem, struct kerf_error *err) {
    const struct kerf_model *model = &problem->model;
    if (model->hidden_size % model->num_attention_heads == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%lld heads do not divide hidden_size %lld",
                          (ll)model->num_attention_heads, (ll)model->hidden_size);
}

int32_t tensor_check(const struct kerf_problem *problem, const struct tensor_rules *rules,
                     const struct kerf_layout *layout, struct kerf_error *err) {
    const struct kerf_model *model = &problem->model;
    const struct kerf_layout *l = layout;
    int32_t code = check_product(problem, layout, err);
    if (code == KERF_OK) code = must_divide("pp", l->pp, model->num_hidden_layers, "layers", err);
    if (code == KERF_OK) code = must_divide("tp1", l->tp1, model->num_attention_heads, "attention heads", err);
    if (code == KERF_OK) code = rules->check(problem, layout, err);
    if (code == KERF_OK && l->tp2 > problem->seq_length)
        code = kerf_error_set(err, KERF_EINVALID, "tp2 %lld is more than the %lld tokens of a sample", (ll)l->tp2,
                              (ll)problem->seq_length);
    if (code == KERF_OK) code = must_divide("dp", l->dp, problem->global_batch, "samples of the global batch", err);
    if (code == KERF_OK)
        code = must_divide("micro_batch", l->micro_batch, problem->global_batch / l->dp, "samples of a replica", err);
    if (code != KERF_OK) return code;
    int64_t shards = rules->sequence_shards(layout);
    if (l->micro_batch * problem->seq_length % shards != 0)
        return kerf_error_set(err, KERF_EINVALID, "the %lld tokens of a micro-batch do not divide into %lld shards",
                              (ll)(l->micro_batch * problem->seq_length), (ll)shards);
    return check_placement(problem, layout, err);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

struct cost_operation *describe_product(const struct describer *at, enum cost_kind kind, const char *name, int64_t m,
                                        int64_t n, int64_t k) {
    struct cost_operation *operation = operation_add(at->operations, at->module, kind, name);
    operation->m = m, operation->n = n, operation->k = k;
    operation->tp1 = at->tp1, operation->tp2 = at->tp2, operation->blocks = at->blocks;
    return operation;
}

struct cost_operation *describe_pointwise(const struct describer *at, enum cost_kind kind, const char *name,
                                          int64_t batch, int64_t m, int64_t n) {
    struct cost_operation *operation = operation_add(at->operations, at->module, kind, name);
    operation->batch = batch, operation->m = m, operation->n = n;
    return operation;
}

static void heads(const struct describer *at, enum cost_kind kind, const char *name,
                  const struct attention_shape *shape, int recomputed) {
    struct cost_operation *operation = operation_add(at->operations, at->module, kind, name);
    operation->batch = shape->heads, operation->m = shape->queries, operation->n = shape->keys;
    operation->k = shape->features, operation->tp2 = shape->tp2, operation->recomputed = recomputed;
}

/* Each step in a kernel of its own, the matrix of queries x keys written in between. */
static void separate_kernels(const struct describer *at, const struct attention_shape *shape, int recomputed) {
    heads(at, COST_LOGITS, "logits", shape, recomputed);
    describe_pointwise(at, COST_SOFTMAX, "softmax", shape->heads, shape->queries, shape->keys)->recomputed = recomputed;
    describe_pointwise(at, COST_DROPOUT, "dpr_at", shape->heads, shape->queries, shape->keys)->recomputed = recomputed;
    heads(at, COST_ATTEND, "attend", shape, recomputed);
}

void describe_attention(const struct describer *at, enum kerf_attention attention,
                        const struct attention_shape *shape) {
    switch (attention) {
    case KERF_ATTENTION_FUSED: heads(at, COST_FUSED_ATTENTION, "fusedla", shape, 0); return;
    case KERF_ATTENTION_UNFUSED: separate_kernels(at, shape, 0); return;
    case KERF_ATTENTION_RECOMPUTED: separate_kernels(at, shape, 1); return;
    case KERF_ATTENTION_SUMMA: /* spreads the features of a head: strategy_summa.c */
    case KERF_ATTENTION_COUNT: break;
    }
    assert(!"an attention that keeps heads whole");
}
