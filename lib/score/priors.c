/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priors of devices: efficiencies of kernel tables, less what training loses to them; NCCL's tables. Of stacks: their
 * operators counted (a norm in eager mode is ten passes, a fused one two), their switches for overlap and precision of
 * gradients. docs/accuracy.md says what each fit made of them.
 */
#include "score/priors.h"

#include <stdio.h>
#include <string.h>

static const struct device_prior {
    const char *name; /* systems that begin so; the first row that does */
    double gemm, fp8, mxfp8, nvfp4;
    double fused, flash2, flash, unfused, eager;
    double bus_bytes_per_s;
} devices[] = {
    {"a100", .81, .55, .55, .47, .60, .65, .41, .58, .44, 196e9},
    {"v100", .68, .55, .55, .47, .50, .50, .40, .50, .40, 113e9},
    {"h100-96", .67, .56, .56, .50, .61, .40, .22, .50, .40, 326e9},
    {"h100", .70, .63, .63, .50, .61, .40, .22, .50, .40, 326e9},
    {"h200", .70, .63, .63, .50, .61, .40, .22, .50, .40, 326e9},
    {"h800", .70, .63, .63, .50, .61, .40, .22, .50, .40, 0},
    {"b200", .47, .58, .58, .47, .54, .30, .30, .40, .30, 574e9},
    {"b300", .51, .60, .60, .47, .54, .30, .30, .40, .30, 574e9},
    {"gb200", .55, .61, .56, .47, .54, .30, .30, .40, .30, 574e9},
    {"gb300", .53, .68, .63, .47, .54, .30, .30, .40, .30, 574e9},
    {"mi3", .48, .48, .48, .40, .40, .40, .40, .40, .30, 0},
};
static const double EDGE = 86, FP8_EDGE = 133, BUS_SHARE = 0.79, HOP_S = 6.3e-6;

enum bytes_of { EAGER, COMPILED, TRANSFORMER_ENGINE }; /* how much is kept for the backward pass */

static const struct stack_prior {
    const char *name, *summary;
    double hidden_passes, wide_passes, layer_host_s;
    double tp_exposed, pp_exposed, dp_exposed, ep_exposed;
    double moe_host_ratio, grouped_efficiency;
    double hidden_bytes, gradient_bytes, reduced_bytes;
    enum bytes_of kept;
    double runtime_gib; /* of a device; less where what was read is the allocator's */
} stacks[] = {
    {"megatron-core", "Megatron-Core with Transformer Engine, 2025", 8.6, 4.2, .41e-3, .37, .37, .37, .46, 6, .67, 8, 0,
     4, TRANSFORMER_ENGINE, 2.3},
    {"megatron-core-0.14", "Megatron-Core 0.14 without overlapped communication", 8.6, 4.2, .41e-3, 1, .37, 1, 1, 6,
     .67, 8, 4, 4, TRANSFORMER_ENGINE, .85},
    {"megatron-2022", "Megatron-LM of 2021 and 2022, fp16", 9.4, 4.2, .74e-3, .65, .60, .90, .46, 5, .67, 13.6, 3.4, 2,
     EAGER, 2.3},
    {"megatron-deepspeed", "Megatron-DeepSpeed of 2022", 17.6, 4.2, .5e-3, 2, 1, 1.22, .46, 5, .67, 21, 3.9, 2, EAGER,
     2.3},
    {"deepspeed", "DeepSpeed ZeRO-3 of 2021", 17.6, 4.2, .5e-3, 2, 1, 1.22, .46, 5, .67, 21, 3.9, 2, EAGER, 2.3},
    {"aleph-alpha", "a pipeline framework in eager mode that broadcasts its parameters", 71, 12, .6e-3, 1.35, 1.06,
     1.13, .46, 5, .67, 21, 1.9, 2, EAGER, 2.3},
    {"nemo", "NeMo 24 and 25 with Transformer Engine", 10, 4.2, .7e-3, .43, .37, .18, .45, 2.5, .85, 8, 2.5, 2,
     TRANSFORMER_ENGINE, 2.3},
    {"megatron-bridge-25.09", "Megatron-Bridge 25.09", 8.6, 4.2, .41e-3, .37, .25, .37, .75, 6.2, .71, 8, 0, 2,
     TRANSFORMER_ENGINE, 2.3},
    {"megatron-bridge-26.04", "Megatron-Bridge 26.02 to 26.04", 8.6, 4.2, .41e-3, .37, .25, .37, .75, 6.2, .71, 8, 0, 2,
     TRANSFORMER_ENGINE, 2.3},
    {"megatron-bridge-26.06", "Megatron-Bridge 26.06 and later", 8.6, 4.2, .41e-3, .37, .25, .37, .46, 4.7, .67, 8, 0,
     2, TRANSFORMER_ENGINE, 2.3},
    {"composer-fsdp", "Composer with PyTorch FSDP, eager", 26, 4.2, .4e-3, .6, .6, .5, .5, 5, .67, 21, 0, 2, EAGER,
     2.3},
    {"torchtitan", "torchtitan with torch.compile and FSDP2", 9, 4.2, .3e-3, 1, .5, .5, .5, 5, .67, 21, 0, 4, COMPILED,
     .85},
    {"nanotron", "nanotron, eager", 11, 4.2, .5e-3, .7, .88, .7, .5, 5, .67, 21, 4.7, 4, EAGER, .85},
    {"maxtext", "MaxText and Pax on XLA", 8.4, 4.2, .1e-3, .6, .5, .5, .5, 5, .67, 21, 0, 2, COMPILED, 2.3},
};

/* What all stacks begin with. */
static const struct kerf_stack COMMON = {
    .fp8_passes = 3.5,
    .backward_ratio = 1.6,
    .permute_passes = 4.5,
    .router_passes = 10,
    .tp_host_ratio = 1.1,
    .tp8_host_ratio = 1.4,
    .backward_host_ratio = 1.9,
    .stage_host_s = 4e-3,
    .step_host_s = 6e-3,
    .zero_tax = 0.17,
    .zero_power = 3.3,
    .straggling = 0.0054,
    .grouped_rows = 520,
    .imbalance = 1.11, /* of routing that learns, to a balanced one */
    .recompute_ratio = 0.96,
    .optimizer_bytes = 30,
    .score_traffic_bytes = 14.5,
    .loss_bytes = 13,
    .site_network = 1,
    .scores_bytes = 4.6,
    .expert_bytes = 6,
    .permuted_bytes = 4,
    .logit_bytes = 9.7,
    .fragmentation = 1.09,
    .working_ratio = 1.3,
    .group_bytes = 0.05 * 1073741824,
};

static void set_system(struct kerf_system *system) {
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        const struct device_prior *prior = &devices[i];
        if (strncmp(system->name, prior->name, strlen(prior->name)) != 0) continue;
        system->gemm.efficiency = prior->gemm;
        system->gemm.fp8_efficiency = prior->fp8;
        system->gemm.mxfp8_efficiency = prior->mxfp8;
        system->gemm.nvfp4_efficiency = prior->nvfp4;
        system->attention.fused_efficiency = prior->fused;
        system->attention.flash2_efficiency = prior->flash2;
        system->attention.flash_efficiency = prior->flash;
        system->attention.unfused_efficiency = prior->unfused;
        system->attention.eager_efficiency = prior->eager;
        if (prior->bus_bytes_per_s > 0) system->scale_up.bus_bytes_per_s = prior->bus_bytes_per_s;
        break;
    }
    system->gemm.edge = EDGE;
    system->gemm.fp8_edge = FP8_EDGE;
    system->scale_out.bus_share = BUS_SHARE;
    system->scale_out.hop_s = HOP_S;
}

static void set_stack(const struct stack_prior *prior, struct kerf_stack *stack) {
    *stack = COMMON;
    snprintf(stack->name, sizeof stack->name, "%s", prior->name);
    snprintf(stack->summary, sizeof stack->summary, "%s", prior->summary);
    stack->hidden_passes = prior->hidden_passes;
    stack->wide_passes = prior->wide_passes;
    stack->layer_host_s = prior->layer_host_s;
    stack->tp_exposed = prior->tp_exposed;
    stack->pp_exposed = prior->pp_exposed;
    stack->dp_exposed = prior->dp_exposed;
    stack->ep_exposed = prior->ep_exposed;
    stack->moe_host_ratio = prior->moe_host_ratio;
    stack->grouped_efficiency = prior->grouped_efficiency;
    stack->hidden_bytes = prior->hidden_bytes;
    stack->gradient_bytes = prior->gradient_bytes;
    stack->reduced_bytes = prior->reduced_bytes;
    stack->runtime_bytes = prior->runtime_gib * 1073741824;
    stack->gated_bytes = prior->kept == TRANSFORMER_ENGINE ? 6 : 8.2;
    stack->plain_bytes = prior->kept == TRANSFORMER_ENGINE ? 4 : 3;
    if (strstr(prior->name, "deepspeed")) stack->sends_whole = 1;
    if (strcmp(prior->name, "megatron-deepspeed") == 0) stack->bf16_gradient_bytes = 8.9; /* an accumulator in fp32 */
    if (strcmp(prior->name, "torchtitan") == 0) stack->unsharded_bytes = 6;
    if (strcmp(prior->name, "aleph-alpha") == 0) { /* logits of all ranks, one broadcast a parameter and rank */
        stack->sends_whole = 1;
        stack->broadcast_s = 1.9e-3;
        stack->gathered_logit_bytes = 18.5;
        stack->logit_bytes = 0.01;
    }
}

int32_t priors_load(struct score_constants *ret_constants, struct kerf_error *err) {
    int32_t code = constants_load(ret_constants, err);
    if (code != KERF_OK) return code;
    for (int32_t i = 0; i < ret_constants->num_systems; i++) set_system(&ret_constants->systems[i]);
    ret_constants->num_stacks = 0;
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++)
        set_stack(&stacks[i], &ret_constants->stacks[ret_constants->num_stacks++]);
    return KERF_OK;
}
