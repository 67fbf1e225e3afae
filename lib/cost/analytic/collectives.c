/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives. Within a domain, of S bytes among n:
 *
 *     start + f S / bus + sqrt(f S start / bus),   f = (n - 1) / n
 *
 * The square root is what protocols of middle-sized messages lose; with it published NCCL tables are met to 2-5 %
 * (docs/cost-model.md). Between domains a ring passes each once; k members of a domain use k accelerators' cards:
 *
 *     start + hop (domains - 1) + max(f S / (k nic), f S / bus)
 *
 * Ranks are numbered as Megatron-LM does (core/parallel_state.py, RankGenerator): tp fastest, then cp, then dp and pp or pp
 * and dp; of experts etp, then ep, then the rest of dp and pp in the same order.
 */
#include "cost/analytic/collectives.h"

#include <math.h>

static double larger(double a, double b) { return a > b ? a : b; }

/* ---- Groups -------------------------------------------------------------------------------------------- */

struct rank_group group_of(const struct analytic_device *device, int64_t members, int64_t stride) {
    int64_t domain = device->domain, span = members * stride;
    double n = (double)members;
    if (members == 1 || domain >= device->problem->gpus || (span <= domain && domain % span == 0))
        return (struct rank_group){n, n, 1};
    if (stride >= domain) return (struct rank_group){n, 1, n};
    if (span <= domain) return (struct rank_group){n, n / 2, 2}; /* some groups lie across a border */
    int64_t in_domain = domain / stride, domains = (members + in_domain - 1) / in_domain;
    return (struct rank_group){n, n / (double)domains, (double)domains};
}

/* A group of `outer` ranks or groups of ranks, each of which is `inner`. */
static struct rank_group group_product(const struct rank_group *inner, const struct rank_group *outer) {
    if (inner->domains == 1)
        return (struct rank_group){inner->members * outer->members, inner->members * outer->in_domain, outer->domains};
    return (struct rank_group){inner->members * outer->members, inner->in_domain, inner->domains * outer->members};
}

struct rank_group group_tp(const struct analytic_device *device, const struct kerf_layout *layout) {
    return group_of(device, layout->tp1, 1);
}

struct rank_group group_cp(const struct analytic_device *device, const struct kerf_layout *layout) {
    return group_of(device, layout->cp, layout->tp1);
}

struct rank_group group_etp(const struct analytic_device *device, const struct kerf_layout *layout) {
    return group_of(device, layout->etp, 1);
}

struct rank_group group_ep(const struct analytic_device *device, const struct kerf_layout *layout) {
    return group_of(device, layout->ep, layout->etp);
}

struct rank_group group_dense_states(const struct analytic_device *device, const struct kerf_layout *layout) {
    if (layout->order == KERF_ORDER_TP_CP_DP_PP || layout->pp == 1)
        return group_of(device, layout->cp * layout->dp, layout->tp1);
    struct rank_group inner = group_cp(device, layout);
    struct rank_group outer = group_of(device, layout->dp, layout->tp1 * layout->cp * layout->pp);
    return group_product(&inner, &outer);
}

struct rank_group group_expert_states(const struct analytic_device *device, const struct kerf_layout *layout) {
    int64_t experts = (int64_t)layout->ep * layout->etp, stride = experts;
    int64_t members = layout->dp * layout->cp * layout->tp1 / experts;
    if (layout->order != KERF_ORDER_TP_CP_DP_PP) stride *= layout->pp;
    return group_of(device, members, stride);
}

/* ---- Messages ------------------------------------------------------------------------------------------ */

double gather_s(const struct analytic_device *device, const struct rank_group *group, double bytes) {
    if (group->members == 1 || bytes <= 0) return 0;
    double moved = bytes * (group->members - 1) / group->members, bus_s = moved * device->bus_s_per_byte;
    if (group->domains == 1) return device->bus_start_s + bus_s + sqrt(bus_s * device->bus_start_s);
    return device->bus_start_s + device->hop_s * (group->domains - 1) +
           larger(bus_s, moved * device->nic_s_per_byte / group->in_domain);
}

double all_to_all_s(const struct analytic_device *device, const struct rank_group *group, double bytes) {
    if (group->members == 1) return 0;
    double near = (group->in_domain - 1) / group->members, far = (group->members - group->in_domain) / group->members;
    double bus_s = bytes * near * device->bus_s_per_byte;
    if (group->domains == 1) return device->bus_start_s + bus_s + sqrt(bus_s * device->bus_start_s);
    return device->bus_start_s + device->hop_s + larger(bus_s, bytes * far * device->nic_s_per_byte);
}

double ring_step_s(const struct analytic_device *device, const struct rank_group *group, double bytes) {
    if (group->members == 1) return 0;
    if (group->domains == 1) return device->bus_start_s + bytes * device->bus_s_per_byte;
    return device->hop_s + bytes * device->nic_s_per_byte;
}

/* Small whole powers without pow(). */
static double power(double base, double exponent) {
    double result = 1;
    for (int64_t n = (int64_t)exponent; n > 0; n /= 2, base *= base)
        if (n % 2) result *= base;
    return result;
}

/* A token goes once to each of the domains in which it has an expert, d (1 - (1 - 1/d)^top_k) of d on average, and there to
 * each expert's accelerator (as DeepEP and HybridEP send it). */
double dispatch_s(const struct analytic_device *device, const struct rank_group *group, double tokens, double bytes,
                  double top_k) {
    if (group->members == 1) return 0;
    double near = (group->in_domain - 1) / group->in_domain, all = tokens * bytes;
    double bus_s = all * top_k * near * device->bus_s_per_byte;
    double s = device->bus_start_s + bus_s + sqrt(bus_s * device->bus_start_s);
    if (group->domains == 1) return s;
    double d = group->domains, visited = d * (1 - power(1 - 1 / d, top_k));
    return s + device->hop_s + all * visited * (d - 1) / d * device->nic_s_per_byte;
}
