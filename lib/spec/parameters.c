/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters, component by component. Sums and products stop at INT64_MAX instead of overflowing, so that a model of any
 * sizes can be counted and refused when it has too many.
 */
#include "spec/parameters.h"

#include <assert.h>
#include <string.h>

static const int64_t PARAMETERS_MAX = INT64_C(1) << 62;

static int64_t times(int64_t a, int64_t b) {
    int64_t product;
    assert(a >= 0 && b >= 0);
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t plus(int64_t a, int64_t b) {
    int64_t sum;
    assert(a >= 0 && b >= 0);
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void parameters_add(struct parameters *sum, const struct parameters *more) {
    sum->sharded = plus(sum->sharded, more->sharded);
    sum->key_value = plus(sum->key_value, more->key_value);
    sum->replicated = plus(sum->replicated, more->replicated);
    sum->experts = plus(sum->experts, more->experts);
    sum->experts_replicated = plus(sum->experts_replicated, more->experts_replicated);
}

int64_t parameters_total(const struct parameters *p) {
    return plus(plus(plus(p->sharded, p->key_value), p->replicated), plus(p->experts, p->experts_replicated));
}

struct parameters parameters_sum(const struct parameters components[KERF_COMPONENT_COUNT]) {
    struct parameters sum = {0};
    for (int i = 0; i < KERF_COMPONENT_COUNT; i++) parameters_add(&sum, &components[i]);
    return sum;
}

static int64_t share(int64_t whole, int64_t parts) { return whole / parts + (whole % parts != 0); }

int64_t parameters_on_device(const struct parameters *p, int64_t kv_heads, int64_t tp, int64_t ep, int64_t etp) {
    assert(kv_heads >= 1 && tp >= 1 && ep >= 1 && etp >= 1);
    return share(p->sharded, tp) + share(p->key_value, tp < kv_heads ? tp : kv_heads) + p->replicated +
           share(p->experts, ep * etp) + share(p->experts_replicated, ep);
}

/* ---- Components --------------------------------------------------------------------------------------- */

/* One normalisation of so many features. */
static int64_t norm_parameters(const struct kerf_model *model, int64_t features) {
    switch ((enum kerf_norm)model->norm) {
    case KERF_NORM_RMS:
    case KERF_NORM_LAYER_PLAIN: return features;
    case KERF_NORM_LAYER: return times(2, features);
    case KERF_NORM_FIXED:
    case KERF_NORM_COUNT: break;
    }
    return 0;
}

/* Queries, keys, values and the output, each a product with hidden_size on one side. */
static struct parameters attention_parameters(const struct kerf_layer_kind *kind, int64_t hidden) {
    int64_t heads = kind->attention.heads, kv_heads = kind->attention.kv_heads, qk = kind->attention.qk_size;
    int64_t queries = times(heads, qk), values = times(heads, kind->attention.v_size);
    int64_t keys_values = times(kv_heads, plus(qk, kind->attention.v_size));
    int64_t bias = kind->attention.qkv_bias, per_norm = 1 + kind->attention.qk_norm_bias;
    struct parameters p = {
        .sharded = plus(times(hidden + bias, queries), times(hidden, values)),
        .key_value = times(hidden + bias, keys_values),
        .replicated = kind->attention.output_bias ? hidden : 0,
    };
    if (kind->attention.sinks) p.sharded = plus(p.sharded, heads);
    if (kind->attention.qk_norm == KERF_QK_NORM_HEAD) p.replicated = plus(p.replicated, times(2 * per_norm, qk));
    if (kind->attention.qk_norm == KERF_QK_NORM_WHOLE) {
        p.sharded = plus(p.sharded, times(per_norm, queries));
        p.key_value = plus(p.key_value, times(per_norm, times(kv_heads, qk)));
    }
    return p;
}

/* Down to the ranks, a norm each, and up again head by head. All of it is divided by tp, as Megatron-LM counts it. */
static struct parameters latent_parameters(const struct kerf_layer_kind *kind, int64_t hidden) {
    int64_t heads = kind->attention.heads, qk = kind->attention.qk_size, rope = kind->attention.rope_size;
    int64_t q_rank = kind->attention.q_rank, kv_rank = kind->attention.kv_rank, v = kind->attention.v_size;
    int64_t inputs = hidden + kind->attention.qkv_bias;
    int64_t queries = times(q_rank ? q_rank : hidden, times(heads, qk));
    int64_t keys_values = times(kv_rank, times(heads, qk - rope + v));
    int64_t down = plus(plus(times(inputs, kv_rank + rope), kv_rank), plus(times(inputs, q_rank), q_rank));
    return (struct parameters){
        .sharded = plus(plus(queries, keys_values), plus(down, times(hidden, times(heads, v)))),
        .replicated = kind->attention.output_bias ? hidden : 0,
    };
}

void layer_parameters(const struct kerf_model *model, const struct kerf_layer_kind *kind,
                      struct parameters ret[KERF_COMPONENT_COUNT]) {
    int64_t hidden = model->hidden_size, ups = kind->mlp.is_gated ? 2 : 1, products = ups + 1;
    int64_t experts = kind->mlp.experts;
    memset(ret, 0, KERF_COMPONENT_COUNT * sizeof *ret);
    ret[KERF_COMPONENT_ATTENTION] =
        kind->attention.kv_rank > 0 ? latent_parameters(kind, hidden) : attention_parameters(kind, hidden);

    struct parameters *mlp = &ret[KERF_COMPONENT_MLP];
    mlp->sharded = times(products * hidden, plus(kind->mlp.width, kind->mlp.shared_width));
    if (kind->mlp.bias) {
        mlp->sharded = plus(mlp->sharded, times(ups, kind->mlp.width));
        mlp->replicated = hidden;
    }

    struct parameters *routed = &ret[KERF_COMPONENT_EXPERTS];
    routed->experts =
        times(experts, times(products * hidden + (kind->mlp.expert_bias ? ups : 0), kind->mlp.expert_width));
    routed->experts_replicated = kind->mlp.expert_bias ? times(experts, hidden) : 0;

    ret[KERF_COMPONENT_ROUTER].replicated =
        plus(times(experts, hidden + kind->mlp.router_bias), kind->mlp.shared_gate ? hidden : 0);
    ret[KERF_COMPONENT_NORMS].replicated = kind->norms * norm_parameters(model, hidden);
}

void embedding_parameters(const struct kerf_model *model, struct parameters ret[KERF_COMPONENT_COUNT]) {
    memset(ret, 0, KERF_COMPONENT_COUNT * sizeof *ret);
    ret[KERF_COMPONENT_EMBEDDING].sharded = times(model->vocab_size, model->embedding_size);
    if (model->embedding_size != model->hidden_size) /* one projection in, one out */
        ret[KERF_COMPONENT_EMBEDDING].replicated = times(2 * model->embedding_size, model->hidden_size);
    ret[KERF_COMPONENT_POSITIONS].replicated = times(model->position_rows, model->hidden_size);
    if (model->embedding_norm) ret[KERF_COMPONENT_NORMS].replicated = norm_parameters(model, model->hidden_size);
}

void head_parameters(const struct kerf_model *model, int is_copy, struct parameters ret[KERF_COMPONENT_COUNT]) {
    memset(ret, 0, KERF_COMPONENT_COUNT * sizeof *ret);
    if (model->final_norm) ret[KERF_COMPONENT_NORMS].replicated = norm_parameters(model, model->hidden_size);
    if (!model->is_tied || is_copy) ret[KERF_COMPONENT_HEAD].sharded = times(model->vocab_size, model->embedding_size);
    if (model->head_bias) ret[KERF_COMPONENT_HEAD].sharded = plus(ret[KERF_COMPONENT_HEAD].sharded, model->vocab_size);
}

void mtp_parameters(const struct kerf_model *model, struct parameters ret[KERF_COMPONENT_COUNT]) {
    const struct kerf_layer_run *last = &model->runs[model->num_runs - 1];
    layer_parameters(model, &model->kinds[last->kind], ret);
    ret[KERF_COMPONENT_MLP].sharded =
        plus(ret[KERF_COMPONENT_MLP].sharded, times(2 * model->hidden_size, model->hidden_size));
    ret[KERF_COMPONENT_NORMS].replicated += 3 * norm_parameters(model, model->hidden_size);
}

/* ---- Whole models ------------------------------------------------------------------------------------- */

const char *kerf_component_name(enum kerf_component component) {
    static const char *const names[] = {"attention", "mlp",       "experts",   "router",
                                        "norms",     "embedding", "positions", "head"};
    _Static_assert(sizeof names / sizeof *names == KERF_COMPONENT_COUNT, "a name for each component");
    assert((uint32_t)component < KERF_COMPONENT_COUNT);
    return names[component];
}

static void add_components(int64_t sums[KERF_COMPONENT_COUNT], const struct parameters parts[KERF_COMPONENT_COUNT],
                           int64_t count) {
    for (int i = 0; i < KERF_COMPONENT_COUNT; i++) sums[i] = plus(sums[i], times(count, parameters_total(&parts[i])));
}

/* The experts of one layer that a token does not visit. */
static int64_t idle_experts(const struct kerf_layer_kind *kind, const struct parameters *experts) {
    if (kind->mlp.experts == 0) return 0;
    return times(kind->mlp.experts - kind->mlp.top_k, parameters_total(experts) / kind->mlp.experts);
}

void kerf_model_count(const struct kerf_model *model, struct kerf_model_counts *ret_counts) {
    struct kerf_model_counts counts = {.parameters = 0};
    struct parameters parts[KERF_COMPONENT_COUNT];
    int64_t idle = 0;
    assert(model->num_runs > 0);
    for (int32_t i = 0; i < model->num_runs; i++) {
        const struct kerf_layer_kind *kind = &model->kinds[model->runs[i].kind];
        layer_parameters(model, kind, parts);
        add_components(counts.components, parts, model->runs[i].count);
        idle = plus(idle, times(model->runs[i].count, idle_experts(kind, &parts[KERF_COMPONENT_EXPERTS])));
    }
    embedding_parameters(model, parts);
    add_components(counts.components, parts, 1);
    counts.embedding_parameters = parts[KERF_COMPONENT_EMBEDDING].sharded;
    head_parameters(model, 0, parts);
    add_components(counts.components, parts, 1);
    counts.embedding_parameters = plus(counts.embedding_parameters, parts[KERF_COMPONENT_HEAD].sharded);
    for (int i = 0; i < KERF_COMPONENT_COUNT; i++) counts.parameters = plus(counts.parameters, counts.components[i]);
    counts.active_parameters = counts.parameters - idle;
    mtp_parameters(model, parts);
    struct parameters one = parameters_sum(parts);
    counts.mtp_parameters = times(model->mtp_layers, parameters_total(&one));
    *ret_counts = counts;
}

int parameters_are_too_many(const struct kerf_model *model) {
    struct kerf_model_counts counts;
    kerf_model_count(model, &counts);
    return counts.parameters > PARAMETERS_MAX || counts.mtp_parameters > PARAMETERS_MAX;
}

/* ---- FLOP --------------------------------------------------------------------------------------------- */

static double attention_flops(const struct kerf_model *model, const struct kerf_layer_kind *kind, double seq_length) {
    double hidden = (double)model->hidden_size, heads = (double)kind->attention.heads;
    double qk = (double)kind->attention.qk_size, v = (double)kind->attention.v_size;
    double seen = model->is_causal ? seq_length / 2 : seq_length, products;
    if (kind->attention.kv_rank > 0) {
        double q_rank = (double)kind->attention.q_rank, kv_rank = (double)kind->attention.kv_rank;
        double rope = (double)kind->attention.rope_size;
        double queries = q_rank > 0 ? q_rank * (hidden + heads * qk + 1) : hidden * heads * qk;
        products = queries + kv_rank * (hidden + heads * (qk - rope + v) + 1) + hidden * rope + heads * v * hidden;
    } else {
        products = hidden * (heads * qk + (double)kind->attention.kv_heads * (qk + v) + heads * v);
    }
    return 2 * (products + seen * heads * (qk + v));
}

static double layer_flops(const struct kerf_model *model, const struct kerf_layer_kind *kind, double seq_length) {
    double width = (double)kind->mlp.width + (double)kind->mlp.shared_width +
                   (double)kind->mlp.top_k * (double)kind->mlp.expert_width;
    double products = kind->mlp.is_gated ? 3 : 2;
    return attention_flops(model, kind, seq_length) + 2 * products * (double)model->hidden_size * width;
}

double kerf_model_flops(const struct kerf_model *model, int64_t seq_length, int64_t mtp_layers) {
    assert(model->num_runs > 0);
    double hidden = (double)model->hidden_size, s = (double)seq_length, mtp = (double)mtp_layers, flops = 0;
    for (int32_t i = 0; i < model->num_runs; i++)
        flops += (double)model->runs[i].count * layer_flops(model, &model->kinds[model->runs[i].kind], s);
    const struct kerf_layer_kind *last = &model->kinds[model->runs[model->num_runs - 1].kind];
    flops += mtp * (layer_flops(model, last, s) + 2 * (2 * hidden * hidden + 3 * hidden));
    return flops + (1 + mtp) * 2 * hidden * (double)model->vocab_size;
}
