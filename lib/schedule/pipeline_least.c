/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds on a pipeline's makespan: of every schedule with the same placement, or of every one whose backward passes are
 * whole. A few operations for each stage, and no memory.
 *
 * F, I and W are the times of a micro-batch on a stage; with whole backward passes I stands for them, and W is 0. On the
 * way of one micro-batch through all stages and back, latencies in, stage k has
 *
 *   entry_k   from the first start until its F can start     turn_k   the same until its I can
 *   way_k     from the end of its F to the end of all        back_k   from the end of its I to the end of all,
 *
 * where the end of all is that of W on stage 0. Sums are over all that a device does; lo is its least stage and hi its
 * last one. Then no schedule is shorter than
 *
 *   load      entry_lo + sum of F + I + W      all of it follows the device's first F
 *   back      entry_lo + sum of F + I + back_lo     the last I follows all F and I, and has to go back
 *   turn      turn_hi + sum of I + max(sum of W, back_lo)     the same behind its first I
 *   way       entry_lo + sum of F + way_hi     the last F follows all F
 *   chain     turn_0 + I_0 + W_0     one micro-batch
 *
 * Where stages are placed in another way than here, the mean of the devices' loads and the chain are left.
 *
 * A fused pass takes as long as its parts, which only begin earlier or end later for it.
 *
 * 1f1b. What pipeline_1f1b.c takes the largest of is a walk over the devices; some walks are bounds: from the first
 * device to the last, down to device a and there for all slots but those of the last way up, or up and up again.
 */
#include "schedule/build.h"
#include "schedule/pipeline.h"
#include "schedule/pipeline_orders.h"

static inline double larger(double a, double b) { return a > b ? a : b; }

/* Sums of the same terms in another order may round up. */
static const double BELOW = 1 - 1e-12;

struct problem {
    const struct pipeline_question *question;
    enum kerf_placement placement;
    int32_t p, stages;
    double share;               /* of a micro-batch that goes through the stages at once: 1, or one of its slices */
    double units[2];            /* of those in each replica */
    int whole;                  /* 1: backward passes are not split */
    double forward, back, last; /* F of all stages, I of all stages, with latencies; W of stage 0 */
};

static inline double forward_of(const struct problem *problem, int32_t k) {
    return problem->question->forward_s[k] * problem->share;
}
static inline double back_of(const struct problem *problem, int32_t k) {
    const struct pipeline_question *question = problem->question;
    return (question->backward_input_s[k] + (problem->whole ? question->backward_weight_s[k] : 0)) * problem->share;
}
static inline double weight_of(const struct problem *problem, int32_t k) {
    return problem->whole ? 0 : problem->question->backward_weight_s[k] * problem->share;
}

/* From stage k to the one behind it, where there is one. */
static inline double hop_of(const struct problem *problem, int32_t k) {
    const int32_t p = problem->p;
    if (k + 1 == problem->stages || p == 1) return 0;
    return placements[problem->placement].zigzag && (k + 1) % p == 0 ? 0 : problem->question->latency_s;
}

/* ---- A device ------------------------------------------------------------------------------------------------- */

struct load {
    double forward, back, weight;
};

static inline void add_stage(const struct problem *problem, int32_t replica, int32_t k, struct load *load) {
    load->forward += problem->units[replica] * forward_of(problem, k);
    load->back += problem->units[replica] * back_of(problem, k);
    load->weight += problem->units[replica] * weight_of(problem, k);
}

/* A stage's place on the way of a micro-batch: F and I, with latencies, of the stages before it. */
struct place {
    double forward, back;
};

static inline struct place behind(const struct problem *problem, int32_t k, struct place place) {
    const double latency = hop_of(problem, k);
    return (struct place){place.forward + forward_of(problem, k) + latency, place.back + back_of(problem, k) + latency};
}

/* The bounds of a device; lo_at and hi_at are the places of its least and its last stage. */
static double bound(const struct problem *problem, const struct load *load, const struct place *lo_at,
                    const struct place *hi_at, int32_t hi) {
    const double entry = lo_at->forward, back = larger(load->weight, lo_at->back + problem->last);
    const double turn = problem->forward + problem->back - hi_at->back - back_of(problem, hi);
    const double way = problem->forward - hi_at->forward - forward_of(problem, hi) + problem->back + problem->last;
    return larger(larger(entry + load->forward, turn) + load->back + back, entry + load->forward + way);
}

/* Stages i, p + i, ... on device i. */
static double bound_loop(const struct problem *problem) {
    const int32_t p = problem->p, top = problem->stages - p;
    struct place lo = {0, 0}, hi = {0, 0};
    double most = 0;
    for (int32_t k = 0; k < top; k++) hi = behind(problem, k, hi);
    for (int32_t i = 0; i < p; i++) {
        struct load load = {0, 0, 0};
        for (int32_t k = i; k < problem->stages; k += p) add_stage(problem, 0, k, &load);
        most = larger(most, bound(problem, &load, &lo, &hi, top + i));
        lo = behind(problem, i, lo);
        hi = behind(problem, top + i, hi);
    }
    return most;
}

/* Two streams that meet: stages i and 2 p - 1 - i of a V; or two replicas, which have stages i and p - 1 - i on a device
 * and the other way round on another. */
static double bound_folded(const struct problem *problem) {
    const int32_t last = problem->stages - 1, both = problem->placement == KERF_PLACE_BOTH;
    struct place lo = {0, 0}, hi = {problem->forward, problem->back};
    double most = 0;
    for (int32_t i = 0; 2 * i <= last; i++) {
        struct load load = {0, 0, 0}, other = {0, 0, 0};
        const int32_t k = last - i;
        hi.forward -= forward_of(problem, k) + hop_of(problem, k); /* from the place of the stage behind it */
        hi.back -= back_of(problem, k) + hop_of(problem, k);
        add_stage(problem, 0, i, &load);
        add_stage(problem, both, k, &load);
        most = larger(most, bound(problem, &load, &lo, &hi, k));
        if (both && k != i) {
            add_stage(problem, 1, i, &other);
            add_stage(problem, 0, k, &other);
            most = larger(most, bound(problem, &other, &lo, &hi, k));
        }
        lo = behind(problem, i, lo);
    }
    return most;
}

/* Of any placement: no device does less than the mean. */
static double bound_mean(const struct problem *problem) {
    double sum = 0;
    for (int32_t k = 0; k < problem->stages; k++)
        sum += forward_of(problem, k) + back_of(problem, k) + weight_of(problem, k);
    return problem->question->microbatches / problem->share * sum / problem->p;
}

/* ---- All of it ------------------------------------------------------------------------------------------------ */

static double least_of(const struct pipeline_question *question, const struct pipeline_rule *rule, int whole) {
    const int32_t slices = rule->slices * (rule->by_device ? question->devices : 1);
    struct problem problem = {.question = question,
                              .placement = rule->placement,
                              .p = question->devices,
                              .stages = question->devices * question->chunks,
                              .share = 1. / slices,
                              .whole = whole};
    const double units = (double)question->microbatches * slices;
    struct place end = {0, 0};
    problem.units[0] = units;
    if (rule->placement == KERF_PLACE_BOTH) {
        problem.units[0] = question->microbatches / 2;
        problem.units[1] = units - problem.units[0];
    }
    for (int32_t k = 0; k < problem.stages; k++) end = behind(&problem, k, end);
    problem.forward = end.forward;
    problem.back = end.back;
    problem.last = weight_of(&problem, 0);
    const double chain = end.forward + end.back + problem.last;
    if (rule->placement == KERF_PLACE_LOOP) return larger(chain, bound_loop(&problem)) * BELOW;
    if (rule->placement == KERF_PLACE_BOTH || (rule->placement == KERF_PLACE_V && question->chunks == 2))
        return larger(chain, bound_folded(&problem)) * BELOW;
    return larger(chain, bound_mean(&problem)) * BELOW;
}

/* Walks of 1f1b, m > p. All go up from the first device to the last and leave its last slots on such a way. */
static double least_walk(const struct pipeline_question *question) {
    const int32_t p = question->devices, m = question->microbatches;
    const double hop = 2 * question->latency_s, ups = (m + p - 1) / p;
    double sum = 0, slowest = 0, behind_it = 0, most = 0;
    for (int32_t a = p; a-- > 0;) {
        const double u = question->forward_s[a] + question->backward_input_s[a] + question->backward_weight_s[a];
        most = larger(most, (m - p + a) * u + behind_it); /* all it can on device a, then up */
        behind_it += u + hop;
        sum += u;
        slowest = larger(slowest, u);
    }
    most += sum + hop * (p - 1);
    return larger(most, ups * (sum + hop * (p - 1)) + ((m + p - 1) % p) * slowest); /* up and up again */
}

double pipeline_least_s(const struct pipeline_question *question) {
    const struct pipeline_rule rule = pipeline_rule_of(question->rule);
    return least_of(question, &rule, 0);
}

double pipeline_least_of_rule_s(const struct pipeline_question *question) {
    const struct pipeline_rule rule = pipeline_rule_of(question->rule);
    double least_s = least_of(question, &rule, rule.whole), exact_s;
    if (rule.is_gpipe && pipeline_gpipe(question, NULL, &exact_s)) return larger(least_s, exact_s * BELOW);
    if (!rule.walks || question->microbatches <= question->devices) return least_s;
    return larger(least_s, least_walk(question) * BELOW);
}
