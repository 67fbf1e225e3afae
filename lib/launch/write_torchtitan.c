/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of torchtitan: a TOML config. Its models are flavors of its registry, so that a shape of another kind cannot be
 * written. The rules are those of ParallelDims (torchtitan/distributed/parallel_dims.py) and of parallelize_llama: replicas
 * that do not shard go with no other parallelism, experts borrow all of cp (and of tp, unless they are cut by it).
 * Parameters are sharded over dp x cp; fsdp_reshard_after_forward tells ZeRO 3 (always) from 2 (never).
 */
#include <stdio.h>
#include <string.h>
#include "launch/launch_reading.h"
#include "launch/launch_writing.h"

static const struct flavor {
    const char *model, *name;
} flavors[] = {{"llama3", "8B"},       {"llama3", "70B"},      {"llama3", "405B"},      {"llama4", "17bx16e"},
               {"llama4", "17bx128e"}, {"deepseek_v3", "16B"}, {"deepseek_v3", "236B"}, {"deepseek_v3", "671B"},
               {"qwen3", "0.6B"},      {"qwen3", "1.7B"},      {"qwen3", "4B"},         {"qwen3", "8B"},
               {"qwen3", "14B"},       {"qwen3", "32B"},       {"qwen3", "30B-A3B"},    {"qwen3", "235B-A22B"}};

static int is_same_shape(const struct kerf_launch_model *a, const struct kerf_launch_model *b) {
    return a->hidden_size == b->hidden_size && a->num_hidden_layers == b->num_hidden_layers &&
           a->num_attention_heads == b->num_attention_heads && a->num_key_value_heads == b->num_key_value_heads &&
           a->vocab_size == b->vocab_size && a->is_tied == b->is_tied && a->has_qk_norm == b->has_qk_norm &&
           a->is_gated == b->is_gated && a->is_rms_norm == b->is_rms_norm && a->has_qkv_bias == b->has_qkv_bias &&
           a->has_linear_bias == b->has_linear_bias && a->sliding_window == b->sliding_window &&
           (a->kv_lora_rank ? a->kv_lora_rank == b->kv_lora_rank && a->q_lora_rank == b->q_lora_rank &&
                                  a->qk_nope_head_dim == b->qk_nope_head_dim &&
                                  a->qk_rope_head_dim == b->qk_rope_head_dim && a->v_head_dim == b->v_head_dim
                            : b->kv_lora_rank == 0 && a->head_dim == b->head_dim) &&
           (a->num_experts
                ? a->num_experts == b->num_experts && a->num_experts_per_tok == b->num_experts_per_tok &&
                      a->moe_intermediate_size == b->moe_intermediate_size &&
                      a->shared_expert_intermediate_size == b->shared_expert_intermediate_size &&
                      a->first_dense_layers == b->first_dense_layers && a->expert_layer_step == b->expert_layer_step &&
                      a->has_shared_gate == b->has_shared_gate
                : b->num_experts == 0) &&
           ((a->num_experts && a->first_dense_layers == 0 && a->expert_layer_step <= 1) ||
            a->intermediate_size == b->intermediate_size);
}

static const struct flavor *find_flavor(const struct kerf_launch_model *shape) {
    for (size_t i = 0; i < sizeof flavors / sizeof *flavors; i++) {
        struct kerf_launch_model of = {.hidden_size = 0};
        char name[64];
        strcpy(name, flavors[i].model);
        strcat(name, "-");
        strcat(name, flavors[i].name);
        if (launch_shape(&of, name) && is_same_shape(shape, &of)) return &flavors[i];
    }
    return NULL;
}

static int refuses_model(const struct kerf_problem *problem, const struct kerf_launch_model *shape,
                         struct kerf_text *why) {
    (void)problem;
    if (shape->mtp_layers) return launch_refuse(why, "it has no multi-token prediction");
    if (find_flavor(shape) == NULL)
        return launch_refuse(why, "no flavor of llama3, llama4, deepseek_v3 or qwen3 has this shape");
    return 0;
}

static int refuses_layout(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_text *why) {
    const struct kerf_layer_kind *kind = &problem->model.kinds[0];
    int64_t shards = l->zero ? l->dp : 1;
    int has_experts = 0;
    for (int32_t k = 0; k < problem->model.num_kinds; k++) has_experts |= problem->model.kinds[k].mlp.experts > 0;
    if (l->zero == 0 && l->dp > 1 && (l->tp1 > 1 || l->pp > 1 || l->cp > 1 || l->ep > 1))
        return launch_refuse(why, "replicas that are not sharded beside other parallelism");
    if (l->zero == 0 && l->cp > 1) return launch_refuse(why, "context parallelism without FSDP");
    if (kind->attention.kv_rank == 0 && kind->attention.kv_heads % l->tp1)
        return launch_refuse(why, "%lld key-value heads in %lld parts", (long long)kind->attention.kv_heads,
                             (long long)l->tp1);
    if (problem->seq_length % (l->tp1 * (l->cp > 1 ? 2 * (int64_t)l->cp : 1)))
        return launch_refuse(why, "%lld tokens in tp %lld x 2 cp %d parts", (long long)problem->seq_length,
                             (long long)l->tp1, l->cp);
    if (!has_experts) return 0;
    if (problem->precision == KERF_PRECISION_FP8 && (l->pp > 1 || l->cp > 1))
        return launch_refuse(why, "experts in 8 bits beside pipeline or context parallelism");
    if (l->ep == 1) {
        if (l->etp != l->tp1)
            return launch_refuse(why, "whole experts beside tp %lld where ep is 1", (long long)l->tp1);
        return 0;
    }
    if (l->etp == l->tp1) {
        if (l->ep % l->cp || shards * l->cp % l->ep)
            return launch_refuse(why, "ep %d that is no multiple of cp %d or does not divide dp x cp", l->ep, l->cp);
    } else if (l->etp != 1 || l->ep % (l->cp * l->tp1) || shards * l->cp * l->tp1 % l->ep) {
        return launch_refuse(why, "ep %d with etp %d: experts borrow all of cp x tp, or of cp where etp is tp", l->ep,
                             l->etp);
    }
    return 0;
}

/* The first release with a TOML had Llama 3 alone. */
static const char *needs_release(const struct launch_writing *w, struct kerf_text *what) {
    const struct flavor *flavor = find_flavor(&w->shape);
    if (flavor == NULL || strcmp(flavor->model, "llama3") == 0) return NULL;
    kerf_text_printf(what, "model %s", flavor->model);
    return "0.2.0";
}

/* ---- Keys ---------------------------------------------------------------------------------------------------------- */

static const char *const schedules[] = {"1f1b", "interleaved_1f1b", "gpipe", "looped_bfs", "interleaved_zb",
                                        "zb_v", "dualpipe_v",       NULL};
static const char *const classes[] = {"1F1B",          "Interleaved1F1B", "GPipe", "LoopedBFS", "InterleavedZeroBubble",
                                      "ZBVZeroBubble", "DualPipeV"};

/* A list for each virtual stage of its modules. */
static const char *modules_text(struct launch_writing *w) {
    const struct kerf_layout *l = w->layout;
    struct kerf_text out = {0};
    int64_t stages = l->pp * l->vpp, layer = 0, layers = w->problem->model.num_hidden_layers;
    kerf_text_add(&out, "[");
    for (int64_t i = 0; i < stages; i++) {
        int64_t count = l->stage_layers ? l->stage_layers[i] : layers / stages;
        const char *between = "";
        kerf_text_add(&out, "\n    [");
        if (i == 0) kerf_text_add(&out, "\"tok_embeddings\""), between = ", ";
        for (int64_t j = 0; j < count; j++, between = ", ")
            kerf_text_printf(&out, "%s\"layers.%lld\"", between, (long long)layer++);
        if (i == stages - 1) kerf_text_printf(&out, "%s\"norm\", \"output\"", between);
        kerf_text_add(&out, "],");
    }
    kerf_text_add(&out, "\n]");
    const char *text = out.failed ? NULL : arena_strdup(w->arena, out.data);
    kerf_text_free(&out);
    return text;
}

static void add_layout(struct launch_writing *w) {
    const struct kerf_layout *l = w->layout;
    int is_sharded = l->zero > 0;
    writing_integer(w, "parallelism.data_parallel_replicate_degree", is_sharded ? 1 : l->dp);
    writing_integer(w, "parallelism.data_parallel_shard_degree", is_sharded ? l->dp : 1);
    writing_word(w, "parallelism.fsdp_reshard_after_forward", l->zero == 2 ? "never" : "always");
    writing_integer(w, "parallelism.tensor_parallel_degree", l->tp1);
    writing_integer(w, "parallelism.context_parallel_degree", l->cp);
    if (l->cp > 1)
        writing_word(w, "parallelism.context_parallel_rotate_method",
                     l->cp_comm == KERF_CP_COMM_ALL_GATHER ? "allgather" : "alltoall");
    writing_integer(w, "parallelism.pipeline_parallel_degree", l->pp);
    if (l->pp > 1) {
        size_t i = 0;
        while (schedules[i] && strcmp(schedules[i], l->schedule) != 0) i++;
        if (schedules[i]) writing_word(w, "parallelism.pipeline_parallel_schedule", classes[i]);
        writing_integer(w, "parallelism.pipeline_parallel_microbatch_size", l->micro_batch);
        writing_literal(w, "parallelism.module_fqns_per_model_part", modules_text(w));
    }
    if (w->shape.num_experts == 0) return;
    writing_integer(w, "parallelism.expert_parallel_degree", l->ep);
    writing_integer(w, "parallelism.expert_tensor_parallel_degree", l->etp);
}

/* Products in 8 bits: those of the experts too, but neither the head's nor the router's. */
static void add_float8(struct launch_writing *w) {
    static const char *const kept = "[\"output\", \"router.gate\"]";
    int has_experts = w->shape.num_experts > 0;
    if (!writing_has(w, KERF_FRAMEWORK_TORCHTITAN, "quantize.linear.float8.filter_fqns")) {
        writing_literal(w, "model.converters", "[\"float8\"]");
        writing_literal(w, "float8.filter_fqns", kept);
        return;
    }
    writing_literal(w, "model.converters",
                    has_experts ? "[\"quantize.linear.float8\", \"quantize.grouped_mm.float8\"]"
                                : "[\"quantize.linear.float8\"]");
    writing_literal(w, "quantize.linear.float8.filter_fqns", kept);
    if (has_experts) writing_literal(w, "quantize.grouped_mm.float8.fqns", "[\"experts\"]");
}

static void add_keys(struct launch_writing *w) {
    const struct kerf_layout *l = w->layout;
    const struct flavor *flavor = find_flavor(&w->shape);
    writing_word(w, "model.name", flavor ? flavor->model : "");
    writing_word(w, "model.flavor", flavor ? flavor->name : "");
    if (w->problem->precision == KERF_PRECISION_FP8) add_float8(w);
    /* a pipeline goes through the whole local batch at once; else it is one micro-batch, and the rest accumulates */
    writing_integer(w, "training.local_batch_size", l->pp > 1 ? w->problem->global_batch / l->dp : l->micro_batch);
    writing_integer(w, "training.global_batch_size", w->problem->global_batch);
    writing_integer(w, "training.seq_len", w->problem->seq_length);
    if (writing_has(w, KERF_FRAMEWORK_TORCHTITAN, "training.dtype")) writing_word(w, "training.dtype", "float32");
    writing_word(w, "training.mixed_precision_param", "bfloat16");
    writing_word(w, "training.mixed_precision_reduce", "float32");
    add_layout(w);
    writing_word(w, "activation_checkpoint.mode", l->recompute == KERF_RECOMPUTE_FULL ? "full" : "none");
    const char *compile =
        writing_has(w, KERF_FRAMEWORK_TORCHTITAN, "compile.enable") ? "compile.enable" : "training.compile";
    writing_boolean(w, compile, l->pp == 1 || strstr(l->schedule, "1f1b") != NULL);
}

static void print(const struct launch_writing *w, struct kerf_text *out) {
    char start[128];
    snprintf(start, sizeof start,
             "NGPU=%lld CONFIG_FILE=THIS ./run_train.sh; add the sections job, optimizer, lr_scheduler, metrics and "
             "checkpoint,",
             (long long)writing_node_size(w->problem));
    const char *const lines[] = {
        start, "training.dataset and training.steps. The TOML is that of releases up to 0.2.2.", NULL};
    launch_print_head(w, out, lines);
    launch_print_toml(w, out);
}

const struct launch_writer launch_write_torchtitan = {
    .runner = {.name = "torchtitan", .takes = launch_runner_takes},
    .framework = KERF_FRAMEWORK_TORCHTITAN,
    .ending = "toml",
    .version = "0.2.2", /* the last with TOML */
    .schedules = schedules,
    .zeros = LAUNCH_BIT(0) | LAUNCH_BIT(2) | LAUNCH_BIT(3),
    .zeros_of_stages = LAUNCH_BIT(0) | LAUNCH_BIT(2) | LAUNCH_BIT(3),
    .recomputes = LAUNCH_BIT(KERF_RECOMPUTE_NONE) | LAUNCH_BIT(KERF_RECOMPUTE_FULL),
    .cp_comms = LAUNCH_BIT(KERF_CP_COMM_RING) | LAUNCH_BIT(KERF_CP_COMM_ALL_GATHER),
    .precisions = LAUNCH_BIT(KERF_PRECISION_BF16) | LAUNCH_BIT(KERF_PRECISION_FP8),
    .orders = LAUNCH_BIT(KERF_ORDER_TP_CP_DP_PP),
    .has_experts = 1,
    .has_virtual_stages = 1,
    .refuses_model = refuses_model,
    .refuses_layout = refuses_layout,
    .needs_release = needs_release,
    .add_keys = add_keys,
    .print = print,
};
