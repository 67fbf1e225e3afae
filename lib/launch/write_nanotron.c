/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of nanotron: a YAML config for its Llama. What it splits over the pipeline it decides itself: blocks go to a
 * stage until their cost passes the stage's share (build_model of src/nanotron/models/base.py, with the costs of
 * get_block_compute_costs in llama.py), and so kerf prices its layouts.
 */
#include "launch/launch_writing.h"

static int refuses_model(const struct kerf_problem *problem, const struct kerf_launch_model *shape,
                         struct kerf_text *why) {
    (void)problem;
    if (shape->kv_lora_rank) return launch_refuse(why, "its Llama has no multi-latent attention (MLA)");
    if (shape->num_experts) return launch_refuse(why, "its Llama has no experts (MoE)");
    if (!shape->is_gated || !shape->is_rms_norm || shape->has_linear_bias || shape->has_qkv_bias || shape->has_qk_norm)
        return launch_refuse(why, "its Llama has gated MLPs, RMSNorm, no biases, and no norms of queries and keys");
    if (shape->has_learned_positions) return launch_refuse(why, "its Llama has rotary positions");
    if (shape->sliding_window) return launch_refuse(why, "its Llama has no sliding windows");
    if (shape->mtp_layers) return launch_refuse(why, "it has no multi-token prediction");
    if (shape->head_dim * shape->num_attention_heads != shape->hidden_size)
        return launch_refuse(why, "its Llama has heads of hidden_size / num_attention_heads features");
    return 0;
}

static void split(const struct kerf_problem *problem, const struct kerf_layout *layout, int32_t *ret_layers) {
    const struct kerf_model *model = &problem->model;
    const struct kerf_layer_kind *kind = &model->kinds[0];
    double hidden = (double)model->hidden_size;
    double layer = 4 * (double)kind->attention.heads * (double)kind->attention.qk_size * hidden +
                   3 * (double)kind->mlp.width * hidden;
    double total = layer * (double)model->num_hidden_layers + (double)model->vocab_size * hidden, cost = 0;
    int32_t stage = 0;
    for (int64_t i = 0; i < layout->pp; i++) ret_layers[i] = 0;
    for (int64_t i = 0; i < model->num_hidden_layers; i++) {
        cost += layer;
        ret_layers[stage]++;
        if (cost > total * ((double)(stage + 1) / (double)layout->pp)) stage++;
    }
}

static int refuses_layout(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_text *why) {
    enum { STAGES_MAX = 4096 };
    int32_t layers[STAGES_MAX];
    const struct kerf_layer_kind *kind = &problem->model.kinds[0];
    if (kind->attention.kv_heads % l->tp1)
        return launch_refuse(why, "%lld key-value heads in %lld parts", (long long)kind->attention.kv_heads,
                             (long long)l->tp1);
    if (kind->mlp.width % l->tp1)
        return launch_refuse(why, "MLP of %lld features in %lld parts", (long long)kind->mlp.width, (long long)l->tp1);
    if (l->pp > STAGES_MAX) return launch_refuse(why, "more than %d stages", STAGES_MAX);
    split(problem, l, layers);
    for (int64_t i = 0; i < l->pp; i++)
        if (layers[i] == 0)
            return launch_refuse(why, "layer left for stage %lld of %lld, as it splits them", (long long)i,
                                 (long long)l->pp);
    return 0;
}

static void add_keys(struct launch_writing *w) {
    static const char *const key = "model.model_config.";
    const struct kerf_launch_model *m = &w->shape;
    const struct kerf_layout *l = w->layout;
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {{"hidden_size", m->hidden_size},
                 {"intermediate_size", m->intermediate_size},
                 {"num_hidden_layers", m->num_hidden_layers},
                 {"num_attention_heads", m->num_attention_heads},
                 {"num_key_value_heads", m->num_key_value_heads},
                 {"vocab_size", m->vocab_size},
                 {"max_position_embeddings", m->max_position_embeddings}};
    writing_integer(w, "parallelism.dp", l->dp);
    writing_integer(w, "parallelism.pp", l->pp);
    writing_integer(w, "parallelism.tp", l->tp1);
    writing_literal(w, "parallelism.pp_engine", l->pp > 1 && l->schedule[0] == 'g' ? "afab" : "1f1b");
    writing_literal(w, "parallelism.tp_mode", "REDUCE_SCATTER");
    writing_boolean(w, "parallelism.tp_linear_async_communication", l->tp1 > 1);
    writing_boolean(w, "parallelism.recompute_layer", l->recompute == KERF_RECOMPUTE_FULL);
    writing_integer(w, "parallelism.expert_parallel_size", 1);
    writing_integer(w, "parallelism.context_parallel_size", 1);
    writing_integer(w, "tokens.sequence_length", w->problem->seq_length);
    writing_integer(w, "tokens.micro_batch_size", l->micro_batch);
    writing_integer(w, "tokens.batch_accumulation_per_replica", writing_micro_batches(w));
    writing_integer(w, "optimizer.zero_stage", l->zero);
    writing_boolean(w, "optimizer.accumulate_grad_in_fp32", !w->problem->has_bf16_gradients);
    writing_literal(w, "model.dtype", "bfloat16");
    writing_integer(w, "model.make_vocab_size_divisible_by", 1);
    writing_boolean(w, "model.model_config.is_llama_config", 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *name = arena_printf(w->arena, "%s%s", key, sizes[i].name);
        if (name == NULL) w->failed = 1;
        if (name && sizes[i].value) writing_integer(w, name, sizes[i].value);
    }
    writing_boolean(w, "model.model_config.tie_word_embeddings", m->is_tied);
    writing_boolean(w, "model.model_config.attention_bias", 0);
}

static void print(const struct launch_writing *w, struct kerf_text *out) {
    static const char *const lines[] = {
        "torchrun ... run_train.py --config-file THIS; add the sections checkpoints, data_stages, general, logging and",
        "tokenizer, model.init_method, the rest of optimizer, and tokens.train_steps.", NULL};
    launch_print_head(w, out, lines);
    launch_print_yaml(w, out);
}

static const char *const schedules[] = {"1f1b", "gpipe", NULL};

const struct launch_writer launch_write_nanotron = {
    .runner = {.name = "nanotron", .takes = launch_runner_takes, .split = split},
    .framework = KERF_FRAMEWORK_NANOTRON,
    .ending = "yaml",
    .schedules = schedules,
    .zeros = LAUNCH_BIT(0) | LAUNCH_BIT(1),
    .zeros_of_stages = LAUNCH_BIT(0) | LAUNCH_BIT(1),
    .recomputes = LAUNCH_BIT(KERF_RECOMPUTE_NONE) | LAUNCH_BIT(KERF_RECOMPUTE_FULL),
    .precisions = LAUNCH_BIT(KERF_PRECISION_BF16),
    .orders = LAUNCH_BIT(KERF_ORDER_TP_CP_DP_PP),
    .has_bf16_gradients = 1,
    .refuses_model = refuses_model,
    .refuses_layout = refuses_layout,
    .add_keys = add_keys,
    .print = print,
};
