/* SPDX-License-Identifier: Apache-2.0 */
/* The list of rules, and making a schedule by one of them. */
#include <stdlib.h>
#include <string.h>
#include "schedule/rule.h"

static const struct rule *const rules[] = {
    &rule_gpipe,
    &rule_1f1b,
    &rule_eager_1f1b,
    &rule_1f1b_overlap,
    &rule_interleaved_1f1b,
    &rule_interleaved_1f1b_overlap,
    &rule_interleaved_zb,
    &rule_looped_bfs,
    &rule_zb_h1,
    &rule_zb1p,
    &rule_zb_h2,
    &rule_zb_v,
    &rule_dualpipe,
    &rule_dualpipe_v,
};
enum {
    RULES = sizeof rules / sizeof *rules,
    DEVICES_MAX = 4096,
    MICROBATCHES_MAX = 1 << 20,
    OPS_MAX = 1 << 27,
    STAGES_MAX = 32767
};

const struct kerf_schedule_rule *const *kerf_schedule_rules(size_t *ret_count) {
    static const struct kerf_schedule_rule *const shown[RULES] = {&rule_gpipe.shown,
                                                                  &rule_1f1b.shown,
                                                                  &rule_eager_1f1b.shown,
                                                                  &rule_1f1b_overlap.shown,
                                                                  &rule_interleaved_1f1b.shown,
                                                                  &rule_interleaved_1f1b_overlap.shown,
                                                                  &rule_interleaved_zb.shown,
                                                                  &rule_looped_bfs.shown,
                                                                  &rule_zb_h1.shown,
                                                                  &rule_zb1p.shown,
                                                                  &rule_zb_h2.shown,
                                                                  &rule_zb_v.shown,
                                                                  &rule_dualpipe.shown,
                                                                  &rule_dualpipe_v.shown};
    *ret_count = RULES;
    return shown;
}

static const struct rule *find(const char *name, struct kerf_error *err) {
    const char *names[RULES];
    for (size_t i = 0; i < RULES; i++) {
        if (strcmp(rules[i]->shown.name, name) == 0) return rules[i];
        names[i] = rules[i]->shown.name;
    }
    const char *nearest = kerf_text_nearest(name, names, RULES);
    kerf_error_set(err, KERF_EUNKNOWN, "no schedule '%.64s'%s%s%s", name,
                   nearest ? "; did you mean " : "; `kerf schedule --list` shows them", nearest ? nearest : "",
                   nearest ? "?" : "");
    return NULL;
}

static int32_t check_size(const struct rule *rule, const struct kerf_schedule_request *request, int32_t chunks,
                          struct kerf_error *err) {
    const char *name = rule->shown.name;
    if (request->devices < 1 || request->devices > DEVICES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "devices must lie between 1 and %d, not %d", DEVICES_MAX,
                              request->devices);
    if (request->microbatches < 1 || request->microbatches > MICROBATCHES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "microbatches must lie between 1 and %d, not %d", MICROBATCHES_MAX,
                              request->microbatches);
    if (rule->fixed_chunks && request->chunks && request->chunks != rule->default_chunks)
        return kerf_error_set(err, KERF_EINVALID, "%s has %d chunk%s a device, not %d", name, rule->default_chunks,
                              rule->default_chunks == 1 ? "" : "s", request->chunks);
    if (chunks < 1 || (int64_t)chunks * request->devices > STAGES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "%d chunks on %d devices: there may be 1 to %d stages", chunks,
                              request->devices, STAGES_MAX);
    if (request->group < 0)
        return kerf_error_set(err, KERF_EINVALID, "group must be 1 or more, not %d", request->group);
    if ((int64_t)chunks * request->devices * request->microbatches > OPS_MAX)
        return kerf_error_set(err, KERF_EINVALID,
                              "%d devices x %d chunks x %d micro-batches are more than %d operations of a kind",
                              request->devices, chunks, request->microbatches, OPS_MAX);
    return rule->check ? rule->check(request, err) : KERF_OK;
}

struct owned_schedule {
    struct kerf_schedule schedule;
    struct arena arena;
};

struct kerf_schedule *kerf_schedule_free(struct kerf_schedule *schedule) {
    if (schedule == NULL) return NULL;
    struct owned_schedule *owned = (struct owned_schedule *)(void *)schedule;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

static void place(const struct rule *rule, int32_t p, int32_t stages, int32_t *device_of) {
    for (int32_t k = 0; k < stages; k++) {
        device_of[k] = rule->placement == PLACE_V && k >= p ? 2 * p - 1 - k : k % p;
        if (rule->placement == PLACE_BOTH) device_of[stages + k] = p - 1 - k;
    }
}

/* 0 when memory ran out. */
static int make(const struct rule *rule, const struct kerf_schedule_request *request, int32_t chunks,
                struct owned_schedule *owned) {
    int32_t p = request->devices, m = request->microbatches, stages = p * chunks,
            replicas = rule->placement == PLACE_BOTH ? 2 : 1;
    struct arena *arena = &owned->arena;
    struct builder builder = {.p = p, .m = m, .v = chunks, .group = request->group ? request->group : p};
    int32_t *device_of = arena_alloc(arena, (size_t)stages * (size_t)replicas, sizeof *device_of);
    builder.ops = arena_alloc(arena, (size_t)p, sizeof *builder.ops);
    builder.num_ops = arena_alloc(arena, (size_t)p, sizeof *builder.num_ops);
    builder.scratch = malloc(2 * (size_t)m * sizeof *builder.scratch);
    int good = device_of && builder.ops && builder.num_ops && builder.scratch;
    for (int32_t i = 0; i < p && good; i++) {
        builder.ops[i] = arena_alloc(arena, 3 * (size_t)m * (size_t)chunks, sizeof **builder.ops); /* F, I, W at most */
        good = builder.ops[i] != NULL;
        if (good) rule->device(&builder, i);
    }
    free(builder.scratch);
    if (!good) return 0;
    place(rule, p, stages, device_of);
    owned->schedule = (struct kerf_schedule){
        .name = rule->shown.name,
        .devices = p,
        .stages = stages,
        .microbatches = m,
        .chunks = chunks,
        .replicas = replicas,
        .device_of = device_of,
        .ops = (const struct kerf_op *const *)builder.ops,
        .num_ops = builder.num_ops,
    };
    return 1;
}

int32_t kerf_schedule_make(const struct kerf_schedule_request *request, struct kerf_schedule **ret_schedule,
                           struct kerf_error *err) {
    const struct rule *rule = find(request->rule, err);
    if (rule == NULL) return KERF_EUNKNOWN;
    int32_t chunks = request->chunks ? request->chunks : rule->default_chunks;
    int32_t code = check_size(rule, request, chunks, err);
    if (code != KERF_OK) return code;
    struct owned_schedule *owned = calloc(1, sizeof *owned);
    if (owned == NULL || !make(rule, request, chunks, owned)) {
        if (owned) kerf_schedule_free(&owned->schedule);
        return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the schedule");
    }
    int32_t group = request->group ? request->group : request->devices;
    struct kerf_error why;
    if (rule->grouped && (group < request->devices || request->microbatches % group != 0) &&
        kerf_schedule_check(&owned->schedule, &why) != KERF_OK) {
        kerf_schedule_free(&owned->schedule);
        return kerf_error_set(err, KERF_EINVALID, "%s with groups of %d on %d devices: %s; a group of %d or more works",
                              request->rule, group, request->devices, why.message, request->devices);
    }
    *ret_schedule = &owned->schedule;
    return KERF_OK;
}
