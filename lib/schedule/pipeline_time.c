/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pipeline takes and holds. The orders of gpipe, 1f1b, eager_1f1b, interleaved_1f1b and zb_h1 are known beforehand
 * (pipeline_orders.h); the schedules of other rules are made and simulated. A search for an order has KERF_PIPELINE_STEPS
 * and no clock, so that the answer is the same at every call.
 */
#include "schedule/pipeline.h"

#include <assert.h>
#include <string.h>
#include "schedule/build.h"
#include "schedule/pipeline_orders.h"
#include "schedule/rules/rule.h"

/* ---- Rules ---------------------------------------------------------------------------------------------------- */

/* Where the orders of pipeline_orders.h are those of a rule. */
enum known_for {
    ALWAYS,
    WHOLE_GROUPS /* one chunk, or micro-batches in groups of as many as there are devices */
};

/* What is known of a rule by itself. */
struct known_rule {
    const char *name;
    /* Micro-batches whose activations each virtual stage of a device holds at most. Exact where each device has one. */
    double (*held)(int32_t p, int32_t v, int32_t m, int32_t device);
    int (*makespan)(const struct pipeline_question *question, struct arena *arena,
                    double *ret_makespan_s); /* or NULL */
    enum known_for makespan_for;
    int whole;     /* 1: backward passes are not split */
    int own_order; /* 1: its order is the same whatever operations take, and is worth keeping once it is made */
    enum kerf_placement placement;
};

static double all(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)p, (void)v, (void)i, m; }
static double down_to_1(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)v, (void)m, p - i; }
static double down_by_2(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)v, (void)m, 2 * (p - 1 - i) + 1; }
static double overlapped(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)v, (void)m, 2 * (p - i); }
static double one_p(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)v, (void)m, (void)i, p; }
static double two_p(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)v, (void)m, (void)i, 2 * p; }
static double almost_two_p(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)v, (void)m, (void)i, 2 * p - 1; }
static double half_more(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)v, (void)m, (void)i, p + 0.5; }
static double one_more(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)v, (void)m, (void)i, p + 1; }
static double half(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)v, (void)m, (void)i, (p + 2) / 2; }
static double third(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)v, (void)m, (void)i, (p + 4) / 3; }
static double quarter_more(int32_t p, int32_t v, int32_t m, int32_t i) {
    return (void)v, (void)m, (void)i, (p + 3) / 4.;
}
static double looped(int32_t p, int32_t v, int32_t m, int32_t i) {
    return (void)m, ((v - 1.) * p + 2. * (p - 1 - i) + 1) / v;
}
static double looped_overlap(int32_t p, int32_t v, int32_t m, int32_t i) { return looped(p, v, m, i) + 1. / v; }
static double looped_zb(int32_t p, int32_t v, int32_t m, int32_t i) { return (void)m, (void)i, ((v - 1.) * p + p) / v; }

static const struct known_rule known_rules[] = {
    {"1f1b", down_to_1, pipeline_1f1b, ALWAYS, 1, 0, KERF_PLACE_LOOP},
    {"interleaved_1f1b", looped, pipeline_interleaved, WHOLE_GROUPS, 1, 0, KERF_PLACE_LOOP},
    {"zb_h1", one_p, pipeline_zb_h1, ALWAYS, 0, 0, KERF_PLACE_LOOP},
    {"zb1p", one_p, pipeline_zb_h1, ALWAYS, 0, 0, KERF_PLACE_LOOP},
    {"gpipe", all, pipeline_gpipe, ALWAYS, 1, 0, KERF_PLACE_LOOP},
    {"eager_1f1b", down_by_2, pipeline_interleaved, ALWAYS, 1, 0, KERF_PLACE_LOOP},
    {"1f1b_overlap", overlapped, NULL, ALWAYS, 1, 0, KERF_PLACE_LOOP},
    {"interleaved_1f1b_overlap", looped_overlap, NULL, ALWAYS, 1, 0, KERF_PLACE_LOOP},
    {"interleaved_zb", looped_zb, NULL, ALWAYS, 0, 1, KERF_PLACE_LOOP},
    {"looped_bfs", all, NULL, ALWAYS, 1, 1, KERF_PLACE_LOOP},
    {"zb_h2", almost_two_p, NULL, ALWAYS, 0, 1, KERF_PLACE_LOOP},
    {"zb_v", one_p, NULL, ALWAYS, 0, 1, KERF_PLACE_V},
    {"dualpipe", one_more, NULL, ALWAYS, 0, 0, KERF_PLACE_BOTH},
    {"dualpipe_v", half_more, NULL, ALWAYS, 0, 1, KERF_PLACE_V},
    {"chimera", one_p, NULL, ALWAYS, 1, 0, KERF_PLACE_BOTH},
    {"seq1f1b", quarter_more, NULL, ALWAYS, 1, 0, KERF_PLACE_LOOP},
    {"zb_1p", one_p, NULL, ALWAYS, 0, 0, KERF_PLACE_LOOP},
    {"zb_2p", two_p, NULL, ALWAYS, 0, 0, KERF_PLACE_LOOP},
    {"zb_v_searched", one_p, NULL, ALWAYS, 0, 0, KERF_PLACE_V},
    {"v_half", half, NULL, ALWAYS, 0, 1, KERF_PLACE_V},
    {"v_min", third, NULL, ALWAYS, 0, 1, KERF_PLACE_V},
};

static const struct known_rule *known(const char *rule) {
    for (size_t i = 0; i < sizeof known_rules / sizeof *known_rules; i++)
        if (known_rules[i].name[0] == rule[0] && strcmp(known_rules[i].name, rule) == 0) return &known_rules[i];
    return NULL;
}

static int is_known(const struct known_rule *rule, int32_t p, int32_t v, int32_t m) {
    return rule && rule->makespan && (rule->makespan_for == ALWAYS || v == 1 || m % p == 0);
}

struct pipeline_rule pipeline_rule_of(const char *name) {
    struct pipeline_rule ret = {.placement = KERF_PLACE_LOOP, .slices = 1};
    const struct known_rule *by_itself = known(name);
    const struct rule *rule;
    if (by_itself) {
        ret.placement = by_itself->placement;
        ret.whole = by_itself->whole;
        ret.walks = by_itself->makespan == pipeline_1f1b;
        ret.is_gpipe = by_itself->makespan == pipeline_gpipe;
        if (by_itself->held != quarter_more) return ret; /* no slices */
    }
    for (size_t i = 0; (rule = rules_at(i)); i++) {
        if (strcmp(rule->shown.name, name) != 0) continue;
        ret.placement = rule->placement;
        if (rule->default_slices) ret.slices = rule->default_slices;
        ret.by_device = rule->slices_by_device;
        break;
    }
    return ret;
}

static struct kerf_schedule_request request_of(const char *rule, int32_t devices, int32_t chunks,
                                               int32_t microbatches) {
    return (struct kerf_schedule_request){.rule = rule,
                                          .devices = devices,
                                          .chunks = chunks,
                                          .microbatches = microbatches,
                                          .search_steps = KERF_PIPELINE_STEPS};
}

int pipeline_takes(const char *rule, int32_t devices, int32_t chunks, int32_t microbatches) {
    const struct kerf_schedule_request request = request_of(rule, devices, chunks, microbatches);
    int32_t stages;
    return chunks >= 1 && kerf_schedule_stages(&request, &stages, NULL) == KERF_OK;
}

int pipeline_has_replicas(const char *rule) { return pipeline_rule_of(rule).placement == KERF_PLACE_BOTH; }

void pipeline_devices(const char *rule, int32_t devices, int32_t chunks, int32_t *ret_device_of) {
    const enum kerf_placement placement = pipeline_rule_of(rule).placement;
    for (int32_t k = 0; k < devices * chunks; k++)
        ret_device_of[k] = placement_device(placement, devices, placement_replicas(placement, 0), 0, k);
}

/* ---- Memory --------------------------------------------------------------------------------------------------- */

void pipeline_in_flight(const char *name, int32_t devices, int32_t chunks, int32_t microbatches,
                        double *ret_in_flight) {
    const struct known_rule *rule = known(name);
    const enum kerf_placement placement = pipeline_rule_of(name).placement;
    const int exact = rule && rule->makespan == pipeline_interleaved && is_known(rule, devices, chunks, microbatches);
    for (int32_t k = 0; k < devices * chunks; k++) {
        const int32_t i = placement_device(placement, devices, placement_replicas(placement, 0), 0, k);
        const double held = exact  ? pipeline_interleaved_held(devices, chunks, microbatches, i, k / devices)
                            : rule ? rule->held(devices, chunks, microbatches, i)
                                   : microbatches;
        ret_in_flight[k] = held < microbatches ? held : microbatches;
    }
}

/* Of orders that are known. */
static void peaks(const struct pipeline_question *question, const struct known_rule *rule, double *ret_bytes) {
    const int32_t p = question->devices, v = question->chunks, m = question->microbatches;
    for (int32_t i = 0; i < p; i++) {
        if (v > 1) {
            ret_bytes[i] = pipeline_interleaved_peak(p, v, m, i, question->activation_bytes);
        } else {
            const double held = rule->held(p, v, m, i);
            ret_bytes[i] = (held < m ? held : m) * question->activation_bytes[i];
        }
    }
}

/* ---- Time ----------------------------------------------------------------------------------------------------- */

/* Whether the rule searches for an order. */
static int searches(const char *name) {
    const struct rule *rule;
    if (strcmp(rule_best.shown.name, name) == 0) return 1; /* it is in no list */
    for (size_t i = 0; (rule = rules_at(i)); i++)
        if (strcmp(rule->shown.name, name) == 0) return rule->search != NULL;
    return 0;
}

static int simulate(const struct pipeline_question *question, const struct pipeline_made_one *made, struct arena *arena,
                    struct pipeline_answer *ret_answer) {
    const int32_t stages = question->devices * question->chunks;
    struct kerf_schedule_request request =
        request_of(question->rule, question->devices, question->chunks, question->microbatches);
    struct kerf_schedule *schedule = made ? made->schedule : NULL;
    struct kerf_timeline *timeline = NULL;
    double *whole = arena_take(arena, (size_t)stages, sizeof *whole);
    if (whole == NULL) return 0;
    for (int32_t k = 0; k < stages; k++) whole[k] = question->backward_input_s[k] + question->backward_weight_s[k];
    const struct kerf_schedule_times times = {.forward_s = question->forward_s,
                                              .backward_s = whole,
                                              .backward_input_s = question->backward_input_s,
                                              .backward_weight_s = question->backward_weight_s,
                                              .activation_bytes = question->activation_bytes,
                                              .p2p_s = question->latency_s};
    request.times = &times;
    int32_t code = made ? KERF_OK : kerf_schedule_make(&request, &schedule, NULL);
    if (code == KERF_OK) code = kerf_schedule_simulate(schedule, &times, &timeline, NULL);
    assert(code == KERF_OK || code == KERF_ENOMEM);
    if (code == KERF_OK) {
        ret_answer->makespan_s = timeline->makespan_s;
        if (searches(question->rule))
            ret_answer->bound_s = kerf_schedule_lower_bound(schedule, &times, timeline).makespan_s;
        if (ret_answer->peak_bytes && timeline->peak_bytes)
            memcpy(ret_answer->peak_bytes, timeline->peak_bytes, (size_t)question->devices * sizeof *whole);
    }
    kerf_timeline_free(timeline);
    if (made == NULL) kerf_schedule_free(schedule);
    return code == KERF_OK;
}

/* Whether a schedule may be remembered. */
static int is_kept(const struct known_rule *rule, const struct pipeline_question *question) {
    return rule && rule->own_order && question->chunks <= PIPELINE_MADE_CHUNKS_MAX;
}

/* The peaks of a schedule that was made before. */
static void held_peaks(const struct pipeline_question *question, const struct pipeline_made_one *one,
                       double *ret_bytes) {
    const int32_t p = question->devices, chunks = question->chunks;
    const enum kerf_placement placement = pipeline_rule_of(question->rule).placement;
    for (int32_t d = 0; d < p; d++) {
        double bytes[PIPELINE_MADE_CHUNKS_MAX]; /* a device has a stage of every p in a row */
        int32_t count = 0;
        ret_bytes[d] = 0;
        for (int32_t row = 0; row < chunks; row++) {
            int32_t turned = placement == KERF_PLACE_V && row % 2 ? p - 1 - d : d;
            bytes[count++] = question->activation_bytes[row * p + turned];
            assert(placement_device(placement, p, placement_replicas(placement, 0), 0, row * p + turned) == d);
        }
        for (int32_t i = 0; i < one->held[d].count; i++) {
            double sum = 0;
            for (int32_t c = 0; c < count; c++) sum += one->held[d].of[i * chunks + c] * bytes[c];
            if (sum > ret_bytes[d]) ret_bytes[d] = sum;
        }
    }
}

int pipeline_peak(const struct pipeline_question *question, struct pipeline_made *made, double *ret_peak_bytes) {
    const struct known_rule *rule = known(question->rule);
    if (is_known(rule, question->devices, question->chunks, question->microbatches)) {
        peaks(question, rule, ret_peak_bytes);
        return 1;
    }
    if (!is_kept(rule, question)) return -1;
    const struct kerf_schedule_request request =
        request_of(question->rule, question->devices, question->chunks, question->microbatches);
    const struct pipeline_made_one *one = pipeline_made_of(made, &request, 0);
    if (one) held_peaks(question, one, ret_peak_bytes);
    return one != NULL;
}

double pipeline_operations(const char *rule, int32_t devices, int32_t chunks, int32_t microbatches) {
    return is_known(known(rule), devices, chunks, microbatches) ? 0 : 3.0 * devices * chunks * microbatches;
}

int pipeline_time(const struct pipeline_question *question, struct pipeline_made *made, struct arena *arena,
                  struct pipeline_answer *ret_answer) {
    const struct known_rule *rule = known(question->rule);
    ret_answer->bound_s = 0;
    if (is_known(rule, question->devices, question->chunks, question->microbatches)) {
        if (!rule->makespan(question, arena, &ret_answer->makespan_s)) return 0;
        if (ret_answer->peak_bytes && question->activation_bytes) peaks(question, rule, ret_answer->peak_bytes);
        return 1;
    }
    assert(pipeline_takes(question->rule, question->devices, question->chunks, question->microbatches));
    if (made == NULL || !is_kept(rule, question)) return simulate(question, NULL, arena, ret_answer);
    const struct kerf_schedule_request request =
        request_of(question->rule, question->devices, question->chunks, question->microbatches);
    const struct pipeline_made_one *one = pipeline_made_of(made, &request, 1);
    if (one == NULL) return 0;
    struct pipeline_question times_alone = *question;
    times_alone.activation_bytes = NULL;
    if (!simulate(&times_alone, one, arena, ret_answer)) return 0;
    if (ret_answer->peak_bytes && question->activation_bytes) held_peaks(question, one, ret_answer->peak_bytes);
    return 1;
}
