/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost model of arXiv 2410.00273 as published: estimates.py and the classes DataParallel and
 * PipelineParallel of layers.py in ShashankSubramanian/transformer-perf-estimates. Where that code is odd, so is
 * this; docs/reference-model.md lists the oddities and says what would be right.
 */
#include "cost/cost_model.h"

static double larger(double a, double b) { return a > b ? a : b; }

static struct cost_device device(const struct kerf_system *system) {
    const double efficiency = 0.8, launch_s = 20e-6;
    return (struct cost_device){
        .launch_s = launch_s,
        .s_per_matrix_flop = 1 / (system->matrix_flops_per_s * efficiency),
        .s_per_vector_flop = 1 / (system->vector_flops_per_s * efficiency),
        .s_per_byte = 1 / system->memory_bandwidth_bytes_per_s,
        .elements = {.element_bytes = 2,
                     .mask_bytes = 1,
                     .vector_slowdown = system->matrix_flops_per_s / system->vector_flops_per_s},
    };
}

/* Rings: each byte passes (n-1)/n of the way round, a broadcast or reduction all of it; the latency is that of
 * every hop. Over several domains as many rings run as a domain has network cards. */
static struct cost_link collective(const struct kerf_system *system, enum comm_kind kind, int64_t group,
                                   int64_t in_domain) {
    if (group == 1) return (struct cost_link){0, 0};
    double n = (double)group, slow = system->scale_out.bandwidth_bytes_per_s * system->scale_out.efficiency;
    double fast = system->scale_up.bandwidth_bytes_per_s * system->scale_up.efficiency;
    double share = kind == COMM_BROADCAST || kind == COMM_REDUCE ? 1 : (n - 1) / n;
    int64_t domains = group / in_domain;
    if (in_domain == 1) return (struct cost_link){system->scale_out.latency_s * (n - 1), share / slow};
    if (domains == 1) return (struct cost_link){system->scale_up.latency_s * (n - 1), share / fast};
    double rings = system->scale_out.nics_per_device * (double)in_domain;
    return (struct cost_link){
        .latency_s = system->scale_out.latency_s * (double)(domains - 1) +
                     system->scale_up.latency_s * (double)(group - domains),
        .s_per_byte = larger(share / (rings * slow), share / fast) * (kind == COMM_ALLREDUCE ? 2 : 1),
    };
}

/* With several stages in a domain, the links between domains cost nothing: the reference asks for their time in
 * a group of one. */
static struct cost_link stage_link(const struct kerf_system *system, int64_t pp, int64_t in_domain) {
    if (pp == 1) return (struct cost_link){0, 0};
    if (in_domain == 1)
        return (struct cost_link){system->scale_out.latency_s,
                                  1 / (system->scale_out.bandwidth_bytes_per_s * system->scale_out.efficiency)};
    int64_t links = pp - 1, slow = pp / in_domain - 1; /* in_domain divides pp */
    double share = (double)(links - slow) / (double)links;
    return (struct cost_link){share * system->scale_up.latency_s,
                              share / (system->scale_up.bandwidth_bytes_per_s * system->scale_up.efficiency)};
}

/* The weights of the first layer are gathered, and the gradients of the last scattered, beside nothing; those of
 * the others beside a layer's pass of one micro-batch. */
static double data_parallel_s(double one_s, double forward_s, double backward_s, double layers) {
    double gather_s = one_s + larger(one_s - forward_s, 0) * (layers - 1);
    double scatter_s = one_s + larger(one_s - backward_s, 0) * (layers - 1);
    return gather_s + scatter_s;
}

const struct kerf_cost_model reference_model = {
    .name = "reference",
    .summary = "arXiv 2410.00273 as published, its oddities included (docs/reference-model.md)",
    .optimizer_ratio = 6, /* fp32 weights, momentum and variance beside 2-byte weights */
    .device = device,
    .describe = block_describe,
    .collective = collective,
    .stage_link = stage_link,
    .data_parallel_s = data_parallel_s,
};
