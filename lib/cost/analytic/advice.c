/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sizes of a model cost at a shard. The model is priced with other sizes, one at a time, as a layout is
 * (analytic_shape): kernels like multiples of 64 and 128 (kernels.c has their measured losses).
 *
 * The cost of a size v is its time less what well-shaped sizes above it let expect: with b the next well-shaped one and c
 * another, a quarter larger, T(v) - (T(b) - (b - v) (T(c) - T(b)) / (c - b)). Well-shaped is a multiple of 128 on each
 * shard. Experts are products of few rows each; their cost is the time beyond that of as few experts as could do the
 * same work.
 */
#include <math.h>
#include <stdlib.h>
#include "base/error_fill.h"
#include "cost/analytic/analytic.h"
#include "spec/description.h"
#include "spec/parameters.h"

typedef long long ll;

static const double WORTH = 0.002; /* of the micro-batch: less is not told as a gain */

/* ---- Sizes ------------------------------------------------------------------------------------------------ */

enum size { HEAD, HEADS, HIDDEN, WIDTH, EXPERT_WIDTH, SHARED_WIDTH, EXPERTS, VOCABULARY, SIZES };
static const char *const names[SIZES] = {
    [HEAD] = "head_dim",
    [HEADS] = "num_attention_heads",
    [HIDDEN] = "hidden_size",
    [WIDTH] = "intermediate_size",
    [EXPERT_WIDTH] = "moe_intermediate_size",
    [SHARED_WIDTH] = "shared_expert_intermediate_size",
    [EXPERTS] = "num_experts",
    [VOCABULARY] = "vocab_size",
};
_Static_assert(SIZES <= KERF_SIZES_MAX, "room for all sizes");

static int64_t of_kind(const struct kerf_layer_kind *kind, enum size size) {
    switch (size) {
    case HEAD: return kind->attention.qk_size;
    case HEADS: return kind->attention.heads;
    case WIDTH: return kind->mlp.width;
    case EXPERT_WIDTH: return kind->mlp.experts > 0 ? kind->mlp.expert_width : 0;
    case SHARED_WIDTH: return kind->mlp.shared_width;
    case EXPERTS: return kind->mlp.experts;
    case HIDDEN:
    case VOCABULARY:
    case SIZES: break;
    }
    return 0;
}

/* The first kind's that has one; 0: the model has none. */
static int64_t get_size(const struct kerf_model *model, enum size size) {
    if (size == HIDDEN) return model->hidden_size;
    if (size == VOCABULARY) return model->vocab_size;
    for (int32_t i = 0; i < model->num_kinds; i++)
        if (of_kind(&model->kinds[i], size) > 0) return of_kind(&model->kinds[i], size);
    return 0;
}

/* As many features in fewer or more heads; the queries of a group of keys stay as many. */
static void set_heads(struct kerf_layer_kind *kind, int64_t heads) {
    int64_t features = kind->attention.heads * kind->attention.qk_size, values = kind->attention.heads;
    values *= kind->attention.v_size;
    kind->attention.kv_heads = kind->attention.kv_heads * heads / kind->attention.heads;
    if (kind->attention.kv_heads < 1) kind->attention.kv_heads = 1;
    kind->attention.heads = heads;
    kind->attention.qk_size = features / heads;
    kind->attention.v_size = values / heads;
}

static void set_of_kind(struct kerf_layer_kind *kind, enum size size, int64_t value) {
    switch (size) {
    case HEAD:
        if (kind->attention.v_size == kind->attention.qk_size) kind->attention.v_size = value;
        kind->attention.qk_size = value;
        return;
    case HEADS: set_heads(kind, value); return;
    case WIDTH: kind->mlp.width = value; return;
    case EXPERT_WIDTH: kind->mlp.expert_width = value; return;
    case SHARED_WIDTH: kind->mlp.shared_width = value; return;
    case EXPERTS: kind->mlp.experts = value; return;
    case HIDDEN:
    case VOCABULARY:
    case SIZES: break;
    }
    assert(!"a size of layers");
}

/* In all layers that have the same. */
static void set_size(struct kerf_model *model, enum size size, int64_t value) {
    int64_t before = get_size(model, size);
    if (size == HIDDEN) {
        if (model->embedding_size == before) model->embedding_size = value;
        model->hidden_size = value;
        return;
    }
    if (size == VOCABULARY) {
        model->vocab_size = value;
        return;
    }
    for (int32_t i = 0; i < model->num_kinds; i++)
        if (of_kind(&model->kinds[i], size) == before) set_of_kind(&model->kinds[i], size, value);
}

/* ---- Pricing ---------------------------------------------------------------------------------------------- */

struct adviser {
    const struct kerf_problem *problem;
    struct kerf_problem other; /* the same with another size */
    const struct kerf_layout *layout;
    struct arena arena;
    double micro_batch_s;
    int out_of_memory;
};

static double time_of(struct adviser *adviser, const struct kerf_problem *problem) {
    struct analytic_shape shape;
    arena_reset(&adviser->arena);
    const struct analytic_device *device = analytic_device(problem, &adviser->arena);
    if (device == NULL) {
        adviser->out_of_memory = 1;
        return 0;
    }
    analytic_shape(device, adviser->layout, &shape);
    return shape.least_s;
}

static double time_at(struct adviser *adviser, enum size size, int64_t value) {
    adviser->other = *adviser->problem;
    set_size(&adviser->other.model, size, value);
    return time_of(adviser, &adviser->other);
}

/* Accelerators that a size is spread over. */
static int64_t ways_of(const struct kerf_layout *layout, enum size size) {
    switch (size) {
    case HEAD:
    case HIDDEN: return 1;
    case HEADS:
    case WIDTH:
    case SHARED_WIDTH:
    case VOCABULARY: return layout->tp1;
    case EXPERT_WIDTH: return layout->etp;
    case EXPERTS: return layout->ep;
    case SIZES: break;
    }
    assert(!"a size");
    return 1;
}

static double cost_of(struct adviser *adviser, enum size size, int64_t value) {
    int64_t step = 128 * ways_of(adviser->layout, size), next = (value + step - 1) / step * step;
    if (next == value) return 0;
    int64_t far = next + (value / 4 + step - 1) / step * step;
    double at_next = time_at(adviser, size, next), at_far = time_at(adviser, size, far);
    double expected = at_next - (double)(next - value) * (at_far - at_next) / (double)(far - next);
    return fmax(adviser->micro_batch_s - expected, 0);
}

/* Whether the model can have it: tensor parallelism needs heads that divide. */
static int is_possible(const struct adviser *adviser, enum size size, int64_t value) {
    const struct kerf_layer_kind *kind = &adviser->problem->model.kinds[0];
    if (value < 1) return 0;
    if (size == EXPERTS) return value >= kind->mlp.top_k;
    if (size == HEAD) return value > kind->attention.rope_size || kind->attention.kv_rank == 0;
    return 1;
}

/* Seconds saved by another value; 0 where that is not worth telling, or where it only does less work. */
static double saved_by(struct adviser *adviser, enum size size, int64_t value) {
    int64_t seq_length = adviser->problem->seq_length, mtp_layers = adviser->problem->mtp_layers;
    double before_s = adviser->micro_batch_s, after_s = time_at(adviser, size, value);
    double work = kerf_model_flops(&adviser->problem->model, seq_length, mtp_layers);
    double other = kerf_model_flops(&adviser->other.model, seq_length, mtp_layers);
    int is_gain = after_s <= before_s * (1 - WORTH) && after_s / other < before_s / work * (1 - WORTH / 2);
    return is_gain ? before_s - after_s : 0;
}

/* The nearest well-shaped value that is faster, up to a quarter away (of heads' sizes as far as it is wide); of two that
 * are as near the larger one. */
static void find_better(struct adviser *adviser, enum size size, struct kerf_size *advice) {
    int64_t value = advice->value, step = (size == HEAD && value % 8 != 0 ? 8 : 64) * ways_of(adviser->layout, size);
    int64_t farthest = size == HEAD ? value : value / 4, below = value / step * step, above = below + step;
    if (below == value) below -= step;
    while (value - below <= farthest || above - value <= farthest) {
        int64_t *nearer = value - below < above - value ? &below : &above, tried = *nearer;
        *nearer += nearer == &below ? -step : step;
        if (!is_possible(adviser, size, tried)) {
            if (tried < 1) below = -KERF_COUNT_MAX;
            continue;
        }
        advice->saved_s = saved_by(adviser, size, tried);
        if (advice->saved_s == 0) continue;
        advice->better = tried;
        return;
    }
}

/* The same attention in heads of 64 or 128 features, the nearest number that tp and the key-value heads divide. */
static void find_better_heads(struct adviser *adviser, struct kerf_size *advice) {
    const struct kerf_layer_kind *kind = &adviser->problem->model.kinds[0];
    int64_t features = kind->attention.heads * kind->attention.qk_size, tp = adviser->layout->tp1;
    int64_t groups = kind->attention.heads / kind->attention.kv_heads;
    if (kind->attention.kv_rank > 0 || kind->attention.qk_size != kind->attention.v_size) return;
    for (int64_t size = 64; size <= 256; size += 64) {
        int64_t heads = features / size;
        if (features % size != 0 || heads % tp != 0 || heads % groups != 0 || heads == advice->value) continue;
        double saved = saved_by(adviser, HEADS, heads);
        int is_nearer = advice->better == 0 || llabs(heads - advice->value) < llabs(advice->better - advice->value);
        if (saved > 0 && is_nearer) advice->better = heads, advice->saved_s = saved;
    }
}

static void advise_on_experts(struct adviser *adviser, struct kerf_size *advice) {
    const struct kerf_layout *l = adviser->layout;
    const struct kerf_model *model = &adviser->problem->model;
    int64_t top_k = 1, fewest, half = advice->value / 2 / l->ep * l->ep;
    for (int32_t i = 0; i < model->num_kinds; i++)
        if (model->kinds[i].mlp.experts > 0) top_k = model->kinds[i].mlp.top_k;
    double tokens = (double)(l->micro_batch * adviser->problem->seq_length) / (double)l->cp / (double)l->tp1;
    advice->rows = tokens * (double)top_k * (double)(l->ep * l->etp) / (double)advice->value;
    fewest = (top_k + l->ep - 1) / l->ep * l->ep;
    if (fewest >= advice->value) return;
    advice->cost_s = fmax(adviser->micro_batch_s - time_at(adviser, EXPERTS, fewest), 0);
    if (half < fewest || advice->cost_s < WORTH * adviser->micro_batch_s) return;
    advice->saved_s = saved_by(adviser, EXPERTS, half);
    if (advice->saved_s > 0) advice->better = half;
}

static void advise_on(struct adviser *adviser, enum size size, struct kerf_size *advice) {
    int64_t value = get_size(&adviser->problem->model, size);
    *advice = (struct kerf_size){
        .name = names[size],
        .value = value,
        .of_shard = (double)value / (double)ways_of(adviser->layout, size),
    };
    if (size == EXPERTS) {
        advise_on_experts(adviser, advice);
        return;
    }
    if (size == HEADS) {
        find_better_heads(adviser, advice);
        advice->cost_s = advice->saved_s;
        return;
    }
    advice->cost_s = cost_of(adviser, size, value);
    if (advice->cost_s >= WORTH * adviser->micro_batch_s) find_better(adviser, size, advice);
}

/* ---- The question ----------------------------------------------------------------------------------------- */

static int32_t check(const struct kerf_problem *problem, const struct kerf_layout *layout, struct kerf_error *err) {
    const struct kerf_model *model = &problem->model;
    struct kerf_problem priced = *problem; /* as a hybrid layout is, for whatever work */
    priced.strategy = KERF_STRATEGY_HYBRID, priced.gpus = priced.global_batch = 1;
    int32_t code = problem_check(&priced, err);
    if (code != KERF_OK) return code;
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"tp", layout->tp1},
                  {"cp", layout->cp},
                  {"ep", layout->ep},
                  {"etp", layout->etp},
                  {"micro_batch", layout->micro_batch}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].value < 1 || counts[i].value > KERF_COUNT_MAX)
            return kerf_error_set(err, KERF_EINVALID, "%s must lie between 1 and %lld, not %lld", counts[i].name,
                                  (ll)KERF_COUNT_MAX, (ll)counts[i].value);
    for (int32_t i = 0; i < model->num_kinds; i++) {
        const struct kerf_layer_kind *kind = &model->kinds[i];
        int64_t tp = layout->tp1, kv_heads = kind->attention.kv_rank > 0 ? tp : kind->attention.kv_heads;
        if (kind->attention.heads % tp != 0 || (kv_heads % tp != 0 && tp % kv_heads != 0))
            return kerf_error_set(err, KERF_EINVALID,
                                  "tp %lld does not divide %lld attention heads and %lld key-value heads", (ll)tp,
                                  (ll)kind->attention.heads, (ll)kind->attention.kv_heads);
        if (kind->mlp.experts == 0 ? 0 : kind->mlp.experts % layout->ep != 0)
            return kerf_error_set(err, KERF_EINVALID, "ep %d does not divide %lld experts", layout->ep,
                                  (ll)kind->mlp.experts);
    }
    if (get_size(model, EXPERTS) == 0 && (layout->ep > 1 || layout->etp > 1))
        return kerf_error_set(err, KERF_EINVALID, "ep and etp must be 1: %s has no experts", model->name);
    if (problem->seq_length % (layout->cp * layout->tp1) != 0)
        return kerf_error_set(err, KERF_EINVALID, "tp %lld does not divide the %lld tokens of a sample",
                              (ll)layout->tp1, (ll)problem->seq_length);
    return KERF_OK;
}

int32_t kerf_model_advise(const struct kerf_problem *problem, const struct kerf_layout *layout,
                          struct kerf_advice *ret_advice, struct kerf_error *err) {
    int32_t code = check(problem, layout, err);
    if (code != KERF_OK) return code;
    struct kerf_advice advice = {.num_sizes = 0};
    struct adviser adviser = {.problem = problem, .layout = layout};
    adviser.micro_batch_s = time_of(&adviser, problem);
    for (int size = 0; size < SIZES; size++)
        if (get_size(&problem->model, (enum size)size) > 0)
            advise_on(&adviser, (enum size)size, &advice.sizes[advice.num_sizes++]);
    advice.micro_batch_s = adviser.micro_batch_s;
    advice.tokens = (double)(layout->micro_batch * problem->seq_length);
    arena_free(&adviser.arena);
    if (adviser.out_of_memory) return error_no_memory(err, "the model");
    *ret_advice = advice;
    return KERF_OK;
}

void kerf_advice_json(struct kerf_json *json, const char *key, const struct kerf_advice *advice) {
    kerf_json_open(json, key, '{');
    kerf_json_number(json, "micro_batch_s", advice->micro_batch_s);
    kerf_json_number(json, "tokens", advice->tokens);
    kerf_json_open(json, "sizes", '[');
    for (int32_t i = 0; i < advice->num_sizes; i++) {
        const struct kerf_size *size = &advice->sizes[i];
        kerf_json_open(json, NULL, '{');
        kerf_json_string(json, "name", size->name);
        kerf_json_integer(json, "value", size->value);
        kerf_json_number(json, "of_shard", size->of_shard);
        if (size->rows > 0) kerf_json_number(json, "rows", size->rows);
        kerf_json_number(json, "cost_s", size->cost_s);
        if (size->better > 0) {
            kerf_json_integer(json, "better", size->better);
            kerf_json_number(json, "saved_s", size->saved_s);
        }
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    kerf_json_close(json, '}');
}
