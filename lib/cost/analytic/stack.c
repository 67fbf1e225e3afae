/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks that are built in. All constants are fitted on published training runs but where a comment says otherwise;
 * none of them is fitted to one model, run or layout (docs/cost-model.md, "Constants of a stack").
 */
#include "cost/analytic/stack.h"

static const struct analytic_stack stacks[] = {
    {
        .name = "megatron-core",
        .hidden_passes = 8.6,
        .wide_passes = 4.2,
        .fp8_passes = 3.5,
        .backward_ratio = 1.6,
        .permute_passes = 4.5,
        .router_passes = 10,
        .layer_host_s = 0.41e-3,
        .moe_host_ratio = 6,
        .tp_host_ratio = 1.1,
        .tp8_host_ratio = 1.4,
        .backward_host_ratio = 1.9,
        .stage_host_s = 0.5e-3,
        .step_host_s = 6e-3,
        .tp_exposed = 0.37,
        .ep_exposed = 0.46,
        .dp_exposed = 0.37,
        .pp_exposed = 0.37,
        .zero_tax = 0.17,
        .zero_power = 3.3,
        .straggling = 0.0054,
        .grouped_efficiency = 0.67,
        .grouped_rows = 520,
        .imbalance = 1.11,
        .recompute_ratio = 0.96,
        .optimizer_bytes = 30,
        .score_traffic_bytes = 14.5,
        .loss_bytes = 13,
        .hidden_bytes = 8,
        .gated_bytes = 6,
        .plain_bytes = 4,
        .scores_bytes = 4.6,
        .expert_bytes = 6,
        .permuted_bytes = 4,
        .logit_bytes = 8,
        .fragmentation = 1.09,
        .working_ratio = 1.3,
        .runtime_bytes = 1.5 * 1073741824,
        .group_bytes = 0.2 * 1073741824,
    },
};

const struct analytic_stack *analytic_stack_default(void) { return &stacks[0]; }
