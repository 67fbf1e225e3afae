/* SPDX-License-Identifier: Apache-2.0 */
/* What a system can do: seconds per FLOP and byte, and collectives as rings. The rest of step.h is inline. */
#include "cost/reference/step.h"

static double larger(double a, double b) { return a > b ? a : b; }

struct device device_of(const struct kerf_system *system) {
    const double efficiency = 0.8, launch_s = 20e-6;
    return (struct device){
        .launch_s = launch_s,
        .s_per_matrix_flop = 1 / (system->matrix_flops_per_s * efficiency),
        .s_per_vector_flop = 1 / (system->vector_flops_per_s * efficiency),
        .s_per_byte = 1 / system->memory_bandwidth_bytes_per_s,
        .vector_slowdown = system->matrix_flops_per_s / system->vector_flops_per_s,
    };
}

/* Rings: each byte passes (n-1)/n of the way round, a broadcast or reduction all of it; the latency is that of
 * every hop. Over several domains as many rings run as a domain has network cards. */
struct link link_collective(const struct kerf_system *system, enum comm_kind kind, int64_t group, int64_t in_domain) {
    assert(in_domain >= 1 && group % in_domain == 0);
    if (group == 1) return (struct link){0, 0};
    double n = (double)group, slow = system->scale_out.bandwidth_bytes_per_s * system->scale_out.efficiency;
    double fast = system->scale_up.bandwidth_bytes_per_s * system->scale_up.efficiency;
    double share = kind == COMM_BROADCAST || kind == COMM_REDUCE ? 1 : (n - 1) / n;
    int64_t domains = group / in_domain;
    if (in_domain == 1) return (struct link){system->scale_out.latency_s * (n - 1), share / slow};
    if (domains == 1) return (struct link){system->scale_up.latency_s * (n - 1), share / fast};
    double rings = system->scale_out.nics_per_device * (double)in_domain;
    return (struct link){
        .latency_s = system->scale_out.latency_s * (double)(domains - 1) +
                     system->scale_up.latency_s * (double)(group - domains),
        .s_per_byte = larger(share / (rings * slow), share / fast) * (kind == COMM_ALLREDUCE ? 2 : 1),
    };
}

/* With several stages in a domain, the links between domains cost nothing: the reference asks for their time in
 * a group of one. */
struct link link_stages(const struct kerf_system *system, int64_t pp, int64_t in_domain) {
    assert(in_domain >= 1 && pp % in_domain == 0);
    if (pp == 1) return (struct link){0, 0};
    if (in_domain == 1)
        return (struct link){system->scale_out.latency_s,
                             1 / (system->scale_out.bandwidth_bytes_per_s * system->scale_out.efficiency)};
    int64_t links = pp - 1, slow = pp / in_domain - 1;
    double share = (double)(links - slow) / (double)links;
    return (struct link){share * system->scale_up.latency_s,
                         share / (system->scale_up.bandwidth_bytes_per_s * system->scale_up.efficiency)};
}

void links_of_axis(const struct kerf_system *system, int64_t group, int64_t in_domain, struct axis_links *ret_links) {
    for (int kind = 0; kind < COMM_KINDS; kind++)
        ret_links->of[kind] = link_collective(system, (enum comm_kind)kind, group, in_domain);
}
