/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launch_writing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "launch/launch_flags.h"
#include "launch/launch_reading.h"

typedef long long ll;

int launch_refuse(struct kerf_text *why, const char *format, ...) {
    if (why) {
        char text[256];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        kerf_text_add(why, text);
    }
    return 1;
}

/* ---- The shape ------------------------------------------------------------------------------------------------------ */

/* Which layers have experts: the first dense ones, then each step-th. 0: not so. */
static int find_expert_layers(const struct kerf_model *model, struct kerf_launch_model *m) {
    int64_t layer = 0, first = -1, second = -1;
    for (int32_t i = 0; i < model->num_runs; i++) {
        const struct kerf_layer_run *run = &model->runs[i];
        if (model->kinds[run->kind].mlp.experts) {
            if (first < 0)
                first = layer, second = run->count > 1 ? layer + 1 : -1;
            else if (second < 0)
                second = layer;
        }
        layer += run->count;
    }
    if (first < 0) return 1;
    m->expert_layer_step = second < 0 ? (first == 0 ? layer : 1) : second - first;
    int is_regular = (first + 1) % m->expert_layer_step == 0;
    m->first_dense_layers = is_regular && first == m->expert_layer_step - 1 ? 0 : first;
    return is_regular;
}

static int is_alike(const struct kerf_layer_kind *a, const struct kerf_layer_kind *b) {
    int is_same =
        a->attention.heads == b->attention.heads && a->attention.kv_heads == b->attention.kv_heads &&
        a->attention.qk_size == b->attention.qk_size && a->attention.v_size == b->attention.v_size &&
        a->attention.q_rank == b->attention.q_rank && a->attention.kv_rank == b->attention.kv_rank &&
        a->attention.rope_size == b->attention.rope_size && a->attention.window == b->attention.window &&
        a->attention.qkv_bias == b->attention.qkv_bias && a->attention.output_bias == b->attention.output_bias &&
        a->attention.qk_norm == b->attention.qk_norm && a->attention.qk_norm_bias == b->attention.qk_norm_bias &&
        a->mlp.is_gated == b->mlp.is_gated && a->mlp.experts == b->mlp.experts;
    if (a->mlp.experts == 0) return is_same && a->mlp.width == b->mlp.width && a->mlp.bias == b->mlp.bias;
    /* how tokens are routed (router_bias) is the recipe's */
    return is_same && a->mlp.top_k == b->mlp.top_k && a->mlp.expert_width == b->mlp.expert_width &&
           a->mlp.shared_width == b->mlp.shared_width && a->mlp.shared_gate == b->mlp.shared_gate &&
           a->mlp.expert_bias == b->mlp.expert_bias;
}

/* What a launch cannot say, by name, for the kinds of models there are. */
static const char *feature_beyond(const struct kerf_model *model) {
    const struct kerf_layer_kind *first = &model->kinds[0];
    if (!model->is_causal) return "attention to later tokens";
    if (model->embedding_size && model->embedding_size != model->hidden_size) return "an embedding of another size";
    if (model->embedding_norm) return "a normalised embedding";
    if (model->head_bias) return "a bias of the head";
    if (model->norm != KERF_NORM_RMS && model->norm != KERF_NORM_LAYER) return "norms without weights or biases";
    for (int32_t k = 0; k < model->num_kinds; k++) {
        const struct kerf_layer_kind *kind = &model->kinds[k];
        if (kind->is_parallel) return "attention and MLP side by side";
        if (kind->norms != 2) return "other than two norms a layer";
        if (kind->attention.sinks) return "attention sinks";
        if (kind->attention.is_chunked) return "chunked attention";
        if (kind->attention.window != first->attention.window) return "windows in some layers alone";
        if (kind->attention.qk_norm == KERF_QK_NORM_WHOLE) return "norms over all queries and keys of a layer";
    }
    return NULL;
}

/* The model without windows that no sequence of the problem reaches. */
static void without_idle_windows(const struct kerf_problem *problem, struct kerf_model *ret_model) {
    *ret_model = problem->model;
    for (int32_t k = 0; k < ret_model->num_kinds; k++)
        if (ret_model->kinds[k].attention.window >= problem->seq_length)
            ret_model->kinds[k].attention.window = ret_model->kinds[k].attention.is_chunked = 0;
}

/* Whether layer by layer all is alike. */
static int are_alike(const struct kerf_model *a, const struct kerf_model *b) {
    int32_t i = 0, j = 0, of_a = 0, of_b = 0; /* runs, and layers of them that are passed */
    while (i < a->num_runs && j < b->num_runs) {
        if (!is_alike(&a->kinds[a->runs[i].kind], &b->kinds[b->runs[j].kind])) return 0;
        int32_t rest_a = a->runs[i].count - of_a, rest_b = b->runs[j].count - of_b;
        int32_t both = rest_a < rest_b ? rest_a : rest_b;
        of_a += both, of_b += both;
        if (of_a == a->runs[i].count) i++, of_a = 0;
        if (of_b == b->runs[j].count) j++, of_b = 0;
    }
    return i == a->num_runs && j == b->num_runs;
}

int launch_shape_of(const struct kerf_problem *problem, struct kerf_launch_model *ret_shape, struct kerf_text *why) {
    struct kerf_model reached;
    const struct kerf_model *model = &reached;
    without_idle_windows(problem, &reached);
    const struct kerf_layer_kind *kind = &model->kinds[0], *moe = NULL, *dense = NULL;
    const char *beyond = model->num_kinds ? feature_beyond(model) : "layers that are not given";
    if (beyond) return !launch_refuse(why, "%s", beyond);
    for (int32_t k = 0; k < model->num_kinds; k++)
        if (model->kinds[k].mlp.experts)
            moe = &model->kinds[k];
        else
            dense = &model->kinds[k];
    struct kerf_launch_model m = {
        .hidden_size = model->hidden_size,
        .num_hidden_layers = model->num_hidden_layers,
        .intermediate_size = dense ? dense->mlp.width : model->intermediate_size,
        .num_attention_heads = kind->attention.heads,
        .num_key_value_heads = kind->attention.kv_heads,
        .head_dim = kind->attention.qk_size,
        .vocab_size = model->vocab_size,
        .max_position_embeddings = model->position_rows ? model->position_rows : model->max_position_embeddings,
        .mtp_layers = problem->mtp_layers,
        .sliding_window = kind->attention.window,
        .is_gated = kind->mlp.is_gated != 0,
        .is_tied = model->is_tied != 0,
        .has_linear_bias = kind->attention.output_bias != 0,
        .has_qkv_bias = kind->attention.qkv_bias != 0,
        .has_qk_norm = kind->attention.qk_norm == KERF_QK_NORM_HEAD,
        .is_rms_norm = model->norm == KERF_NORM_RMS,
        .has_learned_positions = model->position_rows > 0,
    };
    if (kind->attention.kv_rank) {
        m.q_lora_rank = kind->attention.q_rank;
        m.kv_lora_rank = kind->attention.kv_rank;
        m.qk_rope_head_dim = kind->attention.rope_size;
        m.qk_nope_head_dim = kind->attention.qk_size - kind->attention.rope_size;
        m.v_head_dim = kind->attention.v_size;
    }
    if (moe) {
        m.num_experts = moe->mlp.experts;
        m.num_experts_per_tok = moe->mlp.top_k;
        m.moe_intermediate_size = moe->mlp.expert_width;
        m.shared_expert_intermediate_size = moe->mlp.shared_width;
        m.has_shared_gate = moe->mlp.shared_gate != 0;
        if (!find_expert_layers(model, &m)) return !launch_refuse(why, "experts in layers without a regular pattern");
    }
    if (m.max_position_embeddings < problem->seq_length && !m.has_learned_positions)
        m.max_position_embeddings = problem->seq_length;
    /* what is written must read back as the same layers */
    struct kerf_launch again = {.config = m};
    launch_model(&again);
    if (!again.has_model || !are_alike(&again.model, model))
        return !launch_refuse(why, "layers with biases, norms or sizes that differ from each other");
    *ret_shape = m;
    return 1;
}

/* ---- What a framework can run ---------------------------------------------------------------------------------------- */

int launch_writer_has_schedule(const struct launch_writer *writer, const char *schedule) {
    for (const char *const *name = writer->schedules; *name; name++)
        if (strcmp(*name, schedule) == 0) return 1;
    return 0;
}

/* ZeRO stage and number of pipeline stages. */
int launch_writer_has_zero(const struct launch_writer *writer, const struct kerf_layout *layout) {
    return launch_has_bit(layout->pp > 1 ? writer->zeros_of_stages : writer->zeros, layout->zero);
}

int launch_writer_refuses(const struct launch_writer *w, const struct kerf_problem *problem,
                          const struct kerf_layout *l, struct kerf_text *why) {
    if (!launch_writer_has_zero(w, l))
        return launch_refuse(why, "ZeRO stage %d%s", l->zero, l->pp > 1 ? " in a pipeline" : "");
    if (!launch_has_bit(w->recomputes, l->recompute))
        return launch_refuse(why, "recomputation of %s",
                             l->recompute == KERF_RECOMPUTE_SELECTIVE ? "the core of attention"
                             : l->recompute == KERF_RECOMPUTE_BLOCK   ? "some layers of a stage"
                             : l->recompute == KERF_RECOMPUTE_FULL    ? "whole layers"
                                                                      : "nothing");
    if (l->cp > 1 && w->cp_comms == 0) return launch_refuse(why, "context parallelism");
    if (l->cp > 1 && l->cp_comm != KERF_CP_COMM_ANY && !launch_has_bit(w->cp_comms, l->cp_comm))
        return launch_refuse(why, "context parallelism by %s", kerf_cp_comm_name((enum kerf_cp_comm)l->cp_comm));
    if (l->ep > 1 && !w->has_experts) return launch_refuse(why, "expert parallelism");
    if (l->vpp > 1 && !w->has_virtual_stages) return launch_refuse(why, "virtual stages");
    if (l->pp > 1 && !launch_writer_has_schedule(w, l->schedule))
        return launch_refuse(why, "the schedule %s", l->schedule);
    if (!launch_has_bit(w->orders, l->order) && l->pp > 1 && l->dp > 1)
        return launch_refuse(why, "ranks in the order %s", kerf_order_name((enum kerf_order)l->order));
    return w->refuses_layout(problem, l, why);
}

int launch_runner_takes(const struct kerf_runner *runner, const struct kerf_problem *problem,
                        const struct kerf_layout *layout, struct kerf_text *why) {
    return !launch_writer_refuses((const struct launch_writer *)(const void *)runner, problem, layout, why);
}

/* ---- Keys ----------------------------------------------------------------------------------------------------------------- */

static void add_key(struct launch_writing *w, const char *key, const char *value, int8_t is_text) {
    if (w->count == w->capacity) {
        int32_t capacity = w->capacity ? 2 * w->capacity : 64;
        struct launch_key *grown = arena_alloc(w->arena, (size_t)capacity, sizeof *grown);
        if (grown == NULL) {
            w->failed = 1;
            return;
        }
        if (w->count) memcpy(grown, w->keys, (size_t)w->count * sizeof *grown);
        w->keys = grown, w->capacity = capacity;
    }
    w->keys[w->count++] = (struct launch_key){w->group, key, value, is_text};
}

void writing_integer(struct launch_writing *w, const char *key, int64_t value) {
    const char *text = arena_printf(w->arena, "%lld", (ll)value);
    if (text == NULL) w->failed = 1;
    add_key(w, key, text ? text : "", 0);
}

void writing_word(struct launch_writing *w, const char *key, const char *value) { add_key(w, key, value, 1); }

void writing_flag(struct launch_writing *w, const char *key) { add_key(w, key, NULL, 0); }

void writing_boolean(struct launch_writing *w, const char *key, int value) {
    add_key(w, key, value ? "true" : "false", 0);
}

void writing_literal(struct launch_writing *w, const char *key, const char *value) {
    if (value == NULL) w->failed = 1;
    add_key(w, key, value ? value : "", 0);
}

/* ---- Facts ---------------------------------------------------------------------------------------------------------------- */

int64_t writing_micro_batches(const struct launch_writing *w) {
    return w->problem->global_batch / w->layout->dp / w->layout->micro_batch;
}

int writing_is_even(const struct launch_writing *w) {
    int64_t stages = w->layout->pp * w->layout->vpp;
    if (w->layout->stage_layers == NULL) return w->problem->model.num_hidden_layers % stages == 0;
    for (int64_t i = 1; i < stages; i++)
        if (w->layout->stage_layers[i] != w->layout->stage_layers[0]) return 0;
    return 1;
}

int64_t writing_node_size(const struct kerf_problem *problem) {
    int64_t domain = problem->system.scale_up.size, size = domain;
    if (domain > 8) size = domain % 36 == 0 ? 4 : 8;      /* a rack of 72 or 36 has nodes of 4 */
    while (problem->gpus % size || domain % size) size--; /* no node is in two domains */
    return size;
}

int writing_has(const struct launch_writing *w, enum kerf_framework framework, const char *key) {
    const struct launch_flags *flags = launch_flags_of(framework);
    const struct launch_flag *flag = flags ? launch_flags_find(flags, key) : NULL;
    return flag == NULL || launch_version_has(flags, w->version, flag);
}
