/* SPDX-License-Identifier: Apache-2.0 */
/* The list of rules, and making a schedule by one of them. */
#include "schedule/rules/rule.h"

#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

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
    &rule_chimera,
    &rule_seq1f1b,
    &rule_zb_1p,
    &rule_zb_2p,
    &rule_zb_v_searched,
    &rule_v_half,
    &rule_v_min,
    &rule_v_adaptive,
    &rule_hanayo,
    &rule_bitpipe,
    &rule_gis,
    &rule_1f1b_v,
    &rule_seq_zb,
    &rule_seq1f1b_interleaved,
    &rule_slimpipe,
};

const struct rule *rules_at(size_t index) { return index < sizeof rules / sizeof *rules ? rules[index] : NULL; }

enum kerf_slice_cut rule_slice_cut(const char *name) {
    const struct rule *rule;
    for (size_t i = 0; name && (rule = rules_at(i)); i++)
        if (strcmp(rule->shown.name, name) == 0 && rule->slice_cut != KERF_SLICE_CUT_OWN) return rule->slice_cut;
    return KERF_SLICE_CUT_BALANCED;
}

/* ---- What is asked for ------------------------------------------------------------------------------------ */

/* A request with the rule's own values where it names none. */
struct shape {
    enum kerf_placement placement;
    int32_t p, m, chunks, group, slices, replicas;
    const struct search_how *how; /* of the request's rule; NULL: on one thread, and nobody is told */
};

static int32_t default_slices(const struct rule *rule, int32_t devices) {
    if (rule->default_slices == 0) return 1;
    return rule->default_slices * (rule->slices_by_device ? devices : 1);
}

static struct shape shape_of(const struct rule *rule, const struct kerf_schedule_request *request) {
    const int ring = rule->any_replicas && request->replicas != 0 && request->replicas != 2;
    const enum kerf_placement placement = ring                  ? KERF_PLACE_RING
                                          : rule->any_placement ? request->placement
                                                                : rule->placement;
    return (struct shape){.placement = placement,
                          .p = request->devices,
                          .m = request->microbatches,
                          .chunks = request->chunks       ? request->chunks
                                    : rule->any_placement ? placements[placement].default_chunks
                                                          : rule->default_chunks,
                          .replicas = placement_replicas(placement, request->replicas),
                          .group = request->group || rule->own_group ? request->group : request->devices,
                          .slices = request->slices ? request->slices : default_slices(rule, request->devices)};
}

static int32_t check_kinds(const struct rule *rule, const struct kerf_schedule_request *request,
                           struct kerf_error *err) {
    if (!rule->any_placement) return KERF_OK; /* the others look at neither */
    if ((uint32_t)request->objective > KERF_OBJECTIVE_SPAN)
        return kerf_error_set(err, KERF_EINVALID, "objective %d does not exist", (int)request->objective);
    if ((uint32_t)request->placement >= KERF_PLACEMENTS)
        return kerf_error_set(err, KERF_EINVALID, "placement %d does not exist", (int)request->placement);
    return KERF_OK;
}

static int32_t check_size(const struct rule *rule, const struct kerf_schedule_request *request,
                          const struct shape *shape, struct kerf_error *err) {
    const char *name = rule->shown.name;
    if (shape->placement == KERF_PLACE_ANY)
        return kerf_error_set(err, KERF_EINVALID,
                              "the placement any needs times of all stages of a device together "
                              "(kerf_schedule_make_timed); loop, v and both do not");
    if (shape->p < 1 || shape->p > DEVICES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "devices must lie between 1 and %d, not %d", DEVICES_MAX, shape->p);
    if (shape->m < 1 || shape->m > MICROBATCHES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "microbatches must lie between 1 and %d, not %d", MICROBATCHES_MAX,
                              shape->m);
    if (rule->fixed_chunks && shape->chunks != rule->default_chunks)
        return kerf_error_set(err, KERF_EINVALID, "%s has %d chunk%s a device, not %d", name, rule->default_chunks,
                              rule->default_chunks == 1 ? "" : "s", shape->chunks);
    const struct placement *place = &placements[shape->placement];
    if (place->fixed_chunks && shape->chunks != place->default_chunks)
        return kerf_error_set(err, KERF_EINVALID, "the placement %s has %d chunk%s a device, not %d", place->word,
                              place->default_chunks, place->default_chunks == 1 ? "" : "s", shape->chunks);
    if (place->zigzag && shape->chunks % 2 == 1)
        return kerf_error_set(err, KERF_EINVALID,
                              "the placement %s goes down and back: its chunks are an even number, not %d", place->word,
                              shape->chunks);
    if (request->replicas && place->replicas && request->replicas != place->replicas)
        return kerf_error_set(err, KERF_EINVALID, "%s has %d replica%s; only chimera has any number", name,
                              place->replicas, place->replicas == 1 ? "" : "s");
    if (shape->replicas < 1 || shape->replicas > shape->p * 2 ||
        (shape->replicas > 2 && shape->p % (shape->replicas / 2)) || (shape->replicas > 1 && shape->replicas % 2 == 1))
        return kerf_error_set(err, KERF_EINVALID,
                              "replicas go in pairs, whose number divides the %d devices: not %d replicas", shape->p,
                              shape->replicas);
    if (shape->chunks < 1 || (int64_t)shape->chunks * shape->p > STAGES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "%d chunks on %d devices: there may be 1 to %d stages", shape->chunks,
                              shape->p, STAGES_MAX);
    if (request->group < 0)
        return kerf_error_set(err, KERF_EINVALID, "group must be 1 or more, not %d", request->group);
    if (request->slices && !rule->default_slices)
        return kerf_error_set(err, KERF_EINVALID, "%s does not cut micro-batches into slices; seq1f1b does", name);
    if (shape->slices < 1 || shape->slices > SLICES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "slices must lie between 1 and %d, not %d", SLICES_MAX,
                              shape->slices);
    if ((int64_t)shape->chunks * shape->p * shape->m * shape->slices > OPS_MAX)
        return kerf_error_set(err, KERF_EINVALID,
                              "%d devices x %d chunks x %d micro-batches x %d slices are more than %d operations of a "
                              "kind",
                              shape->p, shape->chunks, shape->m, shape->slices, OPS_MAX);
    return rule->check ? rule->check(request, err) : KERF_OK;
}

static int32_t checked_shape(const struct rule *rule, const struct kerf_schedule_request *request,
                             struct shape *ret_shape, struct kerf_error *err) {
    int32_t code = check_kinds(rule, request, err);
    if (code != KERF_OK) return code;
    *ret_shape = shape_of(rule, request);
    return check_size(rule, request, ret_shape, err);
}

int32_t rule_stages(const struct rule *rule, const struct kerf_schedule_request *request, int32_t *ret_stages,
                    struct kerf_error *err) {
    struct shape shape;
    int32_t code = checked_shape(rule, request, &shape, err);
    if (code == KERF_OK) *ret_stages = shape.p * shape.chunks;
    return code;
}

/* ---- Making it -------------------------------------------------------------------------------------------- */

/* A search with times; the caller's, or those of nothing said. */
static int32_t search(const struct rule *rule, struct builder *builder, const struct kerf_schedule_request *request,
                      struct kerf_error *err) {
    struct kerf_schedule_request asked = *request;
    struct kerf_schedule_times *own = NULL;
    struct kerf_schedule_times_request nothing;
    int32_t code = KERF_OK;
    kerf_schedule_times_unsaid(&nothing);
    if (asked.times == NULL) code = kerf_schedule_times_make(builder->p, builder->p * builder->v, &nothing, &own, err);
    if (asked.times == NULL) asked.times = own;
    if (code == KERF_OK) code = rule->search(builder, &asked, err);
    if (code == KERF_OK)
        builder->proof.of_times = kerf_schedule_times_fingerprint(asked.times, builder->p, builder->p * builder->v);
    kerf_schedule_times_free(own);
    return code;
}

static int32_t make(const struct rule *rule, const struct kerf_schedule_request *request, const struct shape *shape,
                    struct owned_schedule *owned, struct kerf_error *err) {
    int32_t p = shape->p, stages = p * shape->chunks, replicas = shape->replicas;
    struct arena *arena = &owned->arena;
    struct builder builder = {.p = p,
                              .m = shape->m,
                              .v = shape->chunks,
                              .group = shape->group,
                              .slices = shape->slices,
                              .replicas = replicas,
                              .how = shape->how};
    size_t passes = (size_t)shape->m * (size_t)shape->chunks * (size_t)shape->slices; /* of a kind on a device */
    int32_t *device_of = arena_alloc(arena, (size_t)stages * (size_t)replicas, sizeof *device_of);
    builder.ops = arena_alloc(arena, (size_t)p, sizeof *builder.ops);
    builder.num_ops = arena_alloc(arena, (size_t)p, sizeof *builder.num_ops);
    builder.scratch = malloc(2 * (size_t)shape->m * sizeof *builder.scratch);
    builder.scratch_count = malloc(2 * (size_t)shape->chunks * sizeof *builder.scratch_count);
    int32_t code = KERF_OK;
    int good = device_of && builder.ops && builder.num_ops && builder.scratch && builder.scratch_count;
    builder.room = 3 * (int64_t)passes; /* F, I, W at most; of several replicas the most on a device */
    if (good) placement_fill(shape->placement, p, shape->chunks, replicas, device_of);
    for (int32_t i = 0; i < p && good; i++) {
        builder.ops[i] = arena_take(arena, 3 * passes + 4, sizeof **builder.ops); /* see order_row */
        good = builder.ops[i] != NULL;
        if (good && rule->device) rule->device(&builder, i);
    }
    if (good && rule->search) code = search(rule, &builder, request, err);
    free(builder.scratch);
    free(builder.scratch_count);
    if (!good) return error_no_memory(err, "the schedule");
    owned->certificate = builder.certificate;
    owned->schedule = (struct kerf_schedule){
        .name = rule->shown.name,
        .devices = p,
        .stages = stages,
        .microbatches = shape->m,
        .chunks = shape->chunks,
        .replicas = replicas,
        .slices = shape->slices,
        .proof = builder.proof,
        .certificate = builder.certificate.data,
        .device_of = device_of,
        .ops = (const struct kerf_op *const *)builder.ops,
        .num_ops = builder.num_ops,
    };
    return code;
}

/* The least group from here on that has an order for any number of chunks: Megatron-LM's condition. */
static int32_t sure_group(const struct shape *shape) {
    int32_t m = shape->m, p = shape->p, group = shape->group > p ? shape->group : p;
    while (group < m && m % group != 0 && m % group < p) group++;
    return group;
}

/* Odd groups are not refused beforehand, as Megatron and PyTorch do: the validator has the last word. */
static int32_t check_group(const struct owned_schedule *owned, const struct shape *shape, struct kerf_error *err) {
    struct kerf_error why;
    if (shape->group >= shape->p && shape->m % shape->group == 0) return KERF_OK;
    if (kerf_schedule_check(&owned->schedule, &why) == KERF_OK) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s with groups of %d on %d devices: %s; a group of %d works",
                          owned->schedule.name, shape->group, shape->p, why.message, sure_group(shape));
}

static int32_t make_checked(const struct rule *rule, const struct kerf_schedule_request *request,
                            const struct shape *shape, struct owned_schedule **ret_owned, struct kerf_error *err) {
    struct owned_schedule *owned = calloc(1, sizeof *owned);
    if (owned == NULL) return error_no_memory(err, "the schedule");
    int32_t code = make(rule, request, shape, owned, err);
    if (code == KERF_OK && rule->grouped) code = check_group(owned, shape, err);
    if (code != KERF_OK)
        kerf_schedule_free(&owned->schedule);
    else
        *ret_owned = owned;
    return code;
}

int32_t rule_make(const struct rule *rule, const struct kerf_schedule_request *request, const struct search_how *how,
                  struct kerf_schedule **ret_schedule, struct kerf_error *err) {
    struct shape shape;
    struct owned_schedule *owned = NULL;
    int32_t code = checked_shape(rule, request, &shape, err);
    if (code != KERF_OK) return code;
    shape.how = how;
    code = make_checked(rule, request, &shape, &owned, err);
    if (code == KERF_EINVALID && rule->grouped && request->group == 0) { /* a short last group is in the way */
        shape.group = sure_group(&shape);
        code = make_checked(rule, request, &shape, &owned, err);
    }
    if (code != KERF_OK) return code;
    *ret_schedule = &owned->schedule;
    return KERF_OK;
}
