/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hybrid: tensor, context, pipeline, expert and data parallelism with virtual stages, ZeRO and recomputation, as
 * Megatron-LM has them. Which layouts are searched is in hybrid_space.c, which are layouts at all is here.
 */
#include <assert.h>
#include <string.h>
#include "base/quantity.h"
#include "cost/hybrid_space.h"

typedef long long ll;

/* ---- Rules of a layout ---------------------------------------------------------------------------------------- */

static int32_t check_product(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_error *err) {
    int64_t product = kerf_layout_devices(l);
    if (product == problem->gpus) return KERF_OK;
    if (product > KERF_COUNT_MAX)
        return kerf_error_set(err, KERF_EINVALID, "dp %lld x tp %lld x cp %d x pp %lld are more than %lld accelerators",
                              (ll)l->dp, (ll)l->tp1, l->cp, (ll)l->pp, (ll)KERF_COUNT_MAX);
    return kerf_error_set(err, KERF_EINVALID, "dp %lld x tp %lld x cp %d x pp %lld is %lld accelerators, not %lld",
                          (ll)l->dp, (ll)l->tp1, l->cp, (ll)l->pp, (ll)product, (ll)problem->gpus);
}

static int32_t check_tp(const struct kerf_problem *problem, int64_t tp, struct kerf_error *err) {
    const struct kerf_model *model = &problem->model;
    for (int32_t i = 0; i < model->num_kinds; i++) {
        const struct kerf_layer_kind *kind = &model->kinds[i];
        int64_t heads = kind->attention.heads, kv_heads = kind->attention.kv_heads;
        int32_t code = must_divide("tp", tp, heads, "attention heads", err);
        if (code != KERF_OK) return code;
        if (kind->attention.kv_rank == 0 && kv_heads % tp != 0 && tp % kv_heads != 0)
            return kerf_error_set(err, KERF_EINVALID,
                                  "tp %lld neither divides the %lld key-value heads nor is a multiple of them", (ll)tp,
                                  (ll)kv_heads);
    }
    return KERF_OK;
}

static int32_t check_cp(const struct kerf_problem *problem, int64_t cp, struct kerf_error *err) {
    if (cp == 1 || problem->seq_length % (2 * cp) == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "cp %lld cuts a sequence into %lld equal parts, two for each shard, and %lld tokens do not "
                          "divide so",
                          (ll)cp, (ll)(2 * cp), (ll)problem->seq_length);
}

static int32_t check_shards(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_error *err) {
    int32_t code = check_tp(problem, l->tp1, err);
    if (code == KERF_OK) code = check_cp(problem, l->cp, err);
    if (code != KERF_OK) return code;
    if (problem->seq_length / l->cp % l->tp1 != 0)
        return kerf_error_set(
            err, KERF_EINVALID,
            "tp %lld does not divide the %lld tokens of a shard, which sequence parallelism cuts again", (ll)l->tp1,
            (ll)(problem->seq_length / l->cp));
    if (l->cp == 1 && l->cp_comm != KERF_CP_COMM_ANY)
        return kerf_error_set(err, KERF_EINVALID, "cp_comm %s is for layouts with cp above 1",
                              kerf_cp_comm_name((enum kerf_cp_comm)l->cp_comm));
    if (!hybrid_cp_comm_occurs(&problem->model, l->tp1, l->cp, (enum kerf_cp_comm)l->cp_comm))
        return kerf_error_set(
            err, KERF_EINVALID,
            "cp_comm all_to_all needs a cp that divides the heads of a tensor shard, %lld / tp %lld; use "
            "ring or all_gather",
            (ll)problem->model.num_attention_heads, (ll)l->tp1);
    return KERF_OK;
}

static int32_t check_experts(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_error *err) {
    int64_t experts = hybrid_experts(&problem->model), devices = l->dp * l->cp * l->tp1;
    if (experts == 0 && (l->ep > 1 || l->etp > 1))
        return kerf_error_set(err, KERF_EINVALID, "ep %d and etp %d must be 1: the model has no experts", l->ep,
                              l->etp);
    if (experts == 0) return KERF_OK;
    int32_t code = must_divide("ep", l->ep, experts, "experts", err);
    if (code != KERF_OK || devices % ((int64_t)l->ep * l->etp) == 0) return code;
    return kerf_error_set(err, KERF_EINVALID,
                          "ep %d x etp %d does not divide dp %lld x cp %d x tp %lld, the %lld accelerators of a stage",
                          l->ep, l->etp, (ll)l->dp, l->cp, (ll)l->tp1, (ll)devices);
}

static int32_t check_stage_layers(const struct kerf_problem *problem, const int32_t *layers, int64_t stages,
                                  struct kerf_error *err) {
    int64_t sum = 0;
    for (int64_t i = 0; i < stages; i++) {
        if (layers[i] < 1)
            return kerf_error_set(err, KERF_EINVALID, "stage_layers: virtual stage %lld has %d layers; each needs one",
                                  (ll)i, layers[i]);
        sum += layers[i];
    }
    if (sum == problem->model.num_hidden_layers) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "stage_layers add up to %lld layers, and the model has %lld", (ll)sum,
                          (ll)problem->model.num_hidden_layers);
}

static int32_t check_stages(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_error *err) {
    int64_t layers = problem->model.num_hidden_layers;
    if (l->pp > KERF_PP_MAX || l->pp * l->vpp > KERF_STAGES_MAX)
        return kerf_error_set(err, KERF_EINVALID,
                              "pp %lld x vpp %d: at most %d pipeline stages and %d virtual stages are possible",
                              (ll)l->pp, l->vpp, KERF_PP_MAX, KERF_STAGES_MAX);
    if (l->pp * l->vpp > layers)
        return kerf_error_set(err, KERF_EINVALID,
                              "pp %lld x vpp %d is more virtual stages than the %lld layers; each needs one", (ll)l->pp,
                              l->vpp, (ll)layers);
    if (l->vpp > 1 && l->pp == 1)
        return kerf_error_set(err, KERF_EINVALID, "vpp %d is for pipelines: pp must be 2 or more", l->vpp);
    if (l->stage_layers) return check_stage_layers(problem, l->stage_layers, l->pp * l->vpp, err);
    return KERF_OK;
}

static int32_t check_samples(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_error *err) {
    int32_t code = must_divide("dp", l->dp, problem->global_batch, "samples of the global batch", err);
    if (code != KERF_OK) return code;
    return must_divide("micro_batch", l->micro_batch, problem->global_batch / l->dp, "samples of a replica", err);
}

static int32_t check_schedule(const struct kerf_layout *l, struct kerf_error *err) {
    if (l->pp == 1 && l->schedule[0] && strcmp(l->schedule, "1f1b") != 0)
        return kerf_error_set(err, KERF_EINVALID, "schedule %s is for pipelines, and pp is 1: use 1f1b", l->schedule);
    if (strcmp(l->schedule, "1f1b") == 0 && l->vpp > 1)
        return kerf_error_set(err, KERF_EINVALID,
                              "schedule 1f1b has one stage on a device, and vpp is %d: use interleaved_1f1b", l->vpp);
    if (strcmp(l->schedule, "interleaved_1f1b") == 0 && l->vpp == 1)
        return kerf_error_set(err, KERF_EINVALID, "schedule interleaved_1f1b needs vpp above 1: use 1f1b");
    return KERF_OK;
}

static int32_t check_choices(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_error *err) {
    int64_t fullest = hybrid_fullest_stage(&problem->model, l->pp * l->vpp, l->stage_layers);
    if (l->zero > 0 && l->dp * l->cp == 1)
        return kerf_error_set(err, KERF_EINVALID, "zero %d shards over dp x cp, which is 1: use zero=0", l->zero);
    if (l->recompute == KERF_RECOMPUTE_BLOCK && l->recompute_layers >= fullest)
        return kerf_error_set(err, KERF_EINVALID,
                              "recompute full:%d: the fullest virtual stage has %lld layers, and full is all of them",
                              l->recompute_layers, (ll)fullest);
    if (!hybrid_order_occurs(&problem->model, l, (enum kerf_order)l->order))
        return kerf_error_set(
            err, KERF_EINVALID,
            "order %s needs ep %d x etp %d to be tp %lld x cp %d where there are experts and stages, as "
            "Megatron-LM does; use tp-cp-dp-pp",
            kerf_order_name((enum kerf_order)l->order), l->ep, l->etp, (ll)l->tp1, l->cp);
    return KERF_OK;
}

static int32_t check(const struct kerf_problem *problem, const struct kerf_layout *layout, struct kerf_error *err) {
    int32_t code = check_product(problem, layout, err);
    if (code == KERF_OK) code = check_shards(problem, layout, err);
    if (code == KERF_OK) code = check_stages(problem, layout, err);
    if (code == KERF_OK) code = check_experts(problem, layout, err);
    if (code == KERF_OK) code = check_samples(problem, layout, err);
    if (code == KERF_OK) code = check_schedule(layout, err);
    if (code == KERF_OK) code = check_choices(problem, layout, err);
    return code;
}

/* ---- Rules of a space ----------------------------------------------------------------------------------------- */

static int32_t check_rising(const char *key, const struct kerf_values *values, int64_t least, int64_t most,
                            struct kerf_error *err) {
    if (values->count < 0 || values->count > KERF_VALUES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "%s: at most %d values can be named", key, KERF_VALUES_MAX);
    for (int32_t i = 0; i < values->count; i++) {
        if (values->of[i] < least || values->of[i] > most)
            return kerf_error_set(err, KERF_EINVALID, "%s %d must lie between %lld and %lld", key, values->of[i],
                                  (ll)least, (ll)most);
        if (i > 0 && values->of[i] <= values->of[i - 1])
            return kerf_error_set(err, KERF_EINVALID, "%s: the values must rise, and %d comes behind %d", key,
                                  values->of[i], values->of[i - 1]);
    }
    return KERF_OK;
}

static int32_t all_must_divide(const char *key, const struct kerf_values *values, int64_t whole, const char *noun,
                               struct kerf_error *err) {
    for (int32_t i = 0; i < values->count; i++) {
        int32_t code = must_divide(key, values->of[i], whole, noun, err);
        if (code != KERF_OK) return code;
    }
    return KERF_OK;
}

static int32_t check_named_shards(const struct kerf_problem *problem, const struct kerf_space *space,
                                  struct kerf_error *err) {
    int64_t gpus = problem->gpus;
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < space->tp.count && code == KERF_OK; i++) {
        code = check_tp(problem, space->tp.of[i], err);
        if (code == KERF_OK) code = must_divide("tp", space->tp.of[i], gpus, "accelerators", err);
        if (code == KERF_OK) code = must_divide("tp", space->tp.of[i], problem->seq_length, "tokens of a sample", err);
    }
    for (int32_t i = 0; i < space->cp.count && code == KERF_OK; i++) {
        code = check_cp(problem, space->cp.of[i], err);
        if (code == KERF_OK) code = must_divide("cp", space->cp.of[i], gpus, "accelerators", err);
    }
    if (code == KERF_OK) code = all_must_divide("pp", &space->pp, gpus, "accelerators", err);
    if (code == KERF_OK) code = all_must_divide("dp", &space->dp, gpus, "accelerators", err);
    if (code == KERF_OK)
        code = all_must_divide("dp", &space->dp, problem->global_batch, "samples of the global batch", err);
    if (code == KERF_OK)
        code = all_must_divide("micro_batch", &space->micro_batch, problem->global_batch, "samples of the global batch",
                               err);
    return code;
}

static int32_t check_named_experts(const struct kerf_problem *problem, const struct kerf_space *space,
                                   struct kerf_error *err) {
    int64_t experts = hybrid_experts(&problem->model);
    const struct {
        const char *key;
        const struct kerf_values *values;
    } both[] = {{"ep", &space->ep}, {"etp", &space->etp}};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        for (int32_t j = 0; experts == 0 && j < both[i].values->count; j++)
            if (both[i].values->of[j] > 1)
                return kerf_error_set(err, KERF_EINVALID, "%s %d: the model has no experts", both[i].key,
                                      both[i].values->of[j]);
    int32_t code = experts ? all_must_divide("ep", &space->ep, experts, "experts", err) : KERF_OK;
    if (code == KERF_OK) code = all_must_divide("ep", &space->ep, problem->gpus, "accelerators", err);
    if (code == KERF_OK) code = all_must_divide("etp", &space->etp, problem->gpus, "accelerators", err);
    return code;
}

static int32_t check_named_stages(const struct kerf_problem *problem, const struct kerf_space *space,
                                  struct kerf_error *err) {
    int64_t layers = problem->model.num_hidden_layers;
    for (int32_t i = 0; i < space->pp.count; i++)
        if (space->pp.of[i] > layers)
            return kerf_error_set(err, KERF_EINVALID, "pp %d is more stages than the %lld layers; each needs one",
                                  space->pp.of[i], (ll)layers);
    for (int32_t i = 0; i < space->vpp.count; i++)
        if (space->vpp.of[i] > 1 && 2 * (int64_t)space->vpp.of[i] > layers)
            return kerf_error_set(
                err, KERF_EINVALID,
                "vpp %d is for 2 or more pipeline stages, which would be %lld virtual stages for %lld "
                "layers",
                space->vpp.of[i], 2 * (ll)space->vpp.of[i], (ll)layers);
    for (int32_t i = 0; i < space->recompute.count; i++) {
        int32_t value = space->recompute.of[i];
        if (value >= KERF_RECOMPUTE_BLOCK && value <= 100)
            return kerf_error_set(err, KERF_EINVALID, "recompute %d does not exist", value);
        if (value - 100 >= layers)
            return kerf_error_set(err, KERF_EINVALID,
                                  "recompute full:%d: the model has %lld layers, and full is all of them", value - 100,
                                  (ll)layers);
    }
    if (space->stage_layers == NULL) return KERF_OK;
    if (space->num_stage_layers < 1 || space->num_stage_layers > KERF_STAGES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "stage_layers: there must be 1 to %d, not %d", KERF_STAGES_MAX,
                              space->num_stage_layers);
    return check_stage_layers(problem, space->stage_layers, space->num_stage_layers, err);
}

static int32_t check_named_schedules(const struct kerf_space *space, struct kerf_error *err) {
    if (space->num_schedules < 0 || space->num_schedules > KERF_VALUES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "schedules: at most %d can be named", KERF_VALUES_MAX);
    for (int32_t i = 0; i < space->num_schedules; i++)
        if (space->schedules[i][0] == 0 || memchr(space->schedules[i], 0, sizeof space->schedules[i]) == NULL)
            return kerf_error_set(err, KERF_EINVALID, "schedules: a name must have 1 to %d letters",
                                  KERF_SCHEDULE_NAME_SIZE - 1);
    return KERF_OK;
}

static int all_are(const struct kerf_values *values, int32_t value) {
    for (int32_t i = 0; i < values->count; i++)
        if (values->of[i] != value) return 0;
    return values->count > 0;
}

static int all_named(const struct kerf_space *space, const char *schedule) {
    for (int32_t i = 0; i < space->num_schedules; i++)
        if (strcmp(space->schedules[i], schedule) != 0) return 0;
    return space->num_schedules > 0;
}

static int names_schedule(const struct kerf_space *space, const char *schedule) {
    for (int32_t i = 0; i < space->num_schedules; i++)
        if (strcmp(space->schedules[i], schedule) == 0) return 1;
    return 0;
}

/* Values that go with no layout of one stage, one context shard or one replica. */
static int32_t check_named_ones(const struct kerf_space *space, struct kerf_error *err) {
    int is_pp_1 = all_are(&space->pp, 1);
    if (is_pp_1 && space->num_schedules && !names_schedule(space, "1f1b"))
        return kerf_error_set(err, KERF_EINVALID, "schedule %s is for pipelines, and pp is 1: use 1f1b, or other sizes",
                              space->schedules[0]);
    if (all_are(&space->cp, 1) && space->cp_comm.count && space->cp_comm.of[0] != KERF_CP_COMM_ANY)
        return kerf_error_set(err, KERF_EINVALID, "cp_comm %s is for layouts with cp above 1, and cp is 1",
                              kerf_cp_comm_name((enum kerf_cp_comm)space->cp_comm.of[0]));
    if (all_are(&space->order, KERF_ORDER_TP_CP_PP_DP) && (is_pp_1 || all_are(&space->dp, 1)))
        return kerf_error_set(
            err, KERF_EINVALID,
            "order tp-cp-pp-dp differs from tp-cp-dp-pp only where pp and dp are above 1, and %s is 1",
            is_pp_1 ? "pp" : "dp");
    return KERF_OK;
}

/* Values that go with none of the others that are named. Lists rise. */
static int32_t check_named_pairs(const struct kerf_space *space, struct kerf_error *err) {
    int32_t least_vpp = space->vpp.count ? space->vpp.of[0] : 1;
    if (least_vpp > 1 && all_are(&space->pp, 1))
        return kerf_error_set(err, KERF_EINVALID, "vpp %d is for pipelines, and pp is 1: 2 or more stages have it",
                              least_vpp);
    if (least_vpp > 1 && all_named(space, "1f1b"))
        return kerf_error_set(err, KERF_EINVALID,
                              "schedule 1f1b has one virtual stage on a device, and vpp is %d: use interleaved_1f1b",
                              least_vpp);
    if (all_named(space, "interleaved_1f1b") && all_are(&space->vpp, 1))
        return kerf_error_set(err, KERF_EINVALID,
                              "schedule interleaved_1f1b needs vpp above 1: use 1f1b, or other sizes");
    return check_named_ones(space, err);
}

/* What is excluded need not occur, and is left out of the copy. */
static int32_t check_space(const struct kerf_problem *problem, struct kerf_space *space, struct kerf_error *err) {
    const struct {
        const char *key;
        struct kerf_values *values;
        int64_t least, most;
    } lists[] = {
        {"tp", &space->tp, 1, KERF_COUNT_MAX},
        {"cp", &space->cp, 1, KERF_COUNT_MAX},
        {"pp", &space->pp, 1, KERF_PP_MAX},
        {"vpp", &space->vpp, 1, KERF_STAGES_MAX},
        {"ep", &space->ep, 1, KERF_COUNT_MAX},
        {"etp", &space->etp, 1, KERF_COUNT_MAX},
        {"dp", &space->dp, 1, KERF_COUNT_MAX},
        {"zero", &space->zero, 0, 3},
        {"micro_batch", &space->micro_batch, 1, KERF_COUNT_MAX},
        {"recompute", &space->recompute, 0, KERF_COUNT_MAX},
        {"order", &space->order, 0, KERF_ORDER_COUNT - 1},
        {"cp_comm", &space->cp_comm, 0, KERF_CP_COMM_COUNT - 1},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int32_t code = check_rising(lists[i].key, lists[i].values, lists[i].least, lists[i].most, err);
        if (code != KERF_OK) return code;
        if (lists[i].values->are_excluded) lists[i].values->count = 0;
    }
    int32_t code = check_named_shards(problem, space, err);
    if (code == KERF_OK) code = check_named_experts(problem, space, err);
    if (code == KERF_OK) code = check_named_stages(problem, space, err);
    if (code == KERF_OK) code = check_named_schedules(space, err);
    if (code == KERF_OK) code = check_named_pairs(space, err);
    return code;
}

static int32_t check_problem(const struct kerf_problem *problem, struct kerf_error *err) {
    if (problem->model.num_kinds == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "%s has no layers, which strategy hybrid looks at: kerf_model_complete fills them in",
                              problem->model.name);
    if (problem->space == NULL) return KERF_OK;
    struct kerf_space copy = *problem->space;
    return check_space(problem, &copy, err);
}

/* ---- Why there is none ---------------------------------------------------------------------------------------- */

/* What of a layout the space's runner cannot run; 0: it is not the runner that leaves no layout. */
static int explain_runner(const struct space *space, struct kerf_text *out) {
    struct kerf_layout layout;
    struct kerf_text why = {0};
    int refuses = hybrid_runner_refuses(space, &layout, &why);
    if (refuses) {
        kerf_text_printf(out, "%s can run none of the layouts that are left, such as ",
                         space->problem->space->runner->name);
        layout_hybrid_text(out, &layout);
        kerf_text_printf(out, ": it has no %s", why.data ? why.data : "");
    }
    kerf_text_free(&why);
    return refuses;
}

static void explain(const struct space *space, int32_t level, struct kerf_text *out) {
    const struct kerf_problem *problem = space->problem;
    const struct kerf_model *model = &problem->model;
    int is_named = problem->space != NULL;
    switch ((enum hybrid_level)level) {
    case HYBRID_LEVEL_SHARDS:
        kerf_text_add(out, "No tp and cp go together: both must divide ");
        quantity_count(out, problem->gpus);
        kerf_text_add(out, " accelerators, tp the heads and the tokens of a shard");
        break;
    case HYBRID_LEVEL_EXPERTS:
        kerf_text_add(out, "No ep and etp go together: ep must divide ");
        quantity_count(out, hybrid_experts(model));
        kerf_text_add(out, " experts, and ep x etp the accelerators of a stage");
        break;
    case HYBRID_LEVEL_MICRO_BATCH:
        kerf_text_add(out, "No micro-batch divides the global batch of ");
        quantity_count(out, problem->global_batch);
        break;
    case HYBRID_LEVEL_RECOMPUTE: kerf_text_add(out, "No kind of recomputation is left"); break;
    case HYBRID_LEVEL_STAGES:
        if (is_named && (problem->space->num_schedules || problem->space->pp.count || problem->space->vpp.count)) {
            kerf_text_add(out, "No stages, virtual stages and schedules go together on ");
            quantity_count(out, problem->gpus);
            kerf_text_add(out, " accelerators with a global batch of ");
            quantity_count(out, problem->global_batch);
            break;
        }
        quantity_count(out, problem->gpus);
        kerf_text_add(out, " accelerators leave no number of replicas that divides the global batch of ");
        quantity_count(out, problem->global_batch);
        kerf_text_add(out, ": tensor parallelism must divide ");
        quantity_count(out, model->num_attention_heads);
        kerf_text_add(out, " heads, and there are ");
        quantity_count(out, model->num_hidden_layers);
        kerf_text_add(out, " layers for pipeline stages");
        break;
    case HYBRID_LEVEL_SCHEDULE: kerf_text_add(out, "No schedule takes such stages and micro-batches"); break;
    case HYBRID_LEVEL_BLOCK: kerf_text_add(out, "No virtual stage has more layers than are recomputed"); break;
    case HYBRID_LEVEL_ZERO:
        if (explain_runner(space, out)) return;
        kerf_text_add(out, "No ZeRO stage is left: above 0 it shards over dp x cp, which is 1");
        break;
    case HYBRID_LEVELS: assert(!"a layout has its one variant"); break;
    }
    if (is_named) kerf_text_add(out, ", among the values that were asked for");
}

static int is_plain(const struct kerf_layout *layout) {
    (void)layout;
    return 0;
}

static int has_attention(enum kerf_attention attention) { return attention == KERF_ATTENTION_FUSED; }

const struct strategy strategy_hybrid = {
    .name = "hybrid",
    .layouts = LAYOUT_HYBRID,
    .num_levels = HYBRID_LEVELS,
    .task_level = HYBRID_LEVEL_RECOMPUTE,
    .choices = hybrid_choices,
    .variants = hybrid_variants,
    .remember = hybrid_remember,
    .count = hybrid_count,
    .explain = explain,
    .check_problem = check_problem,
    .check = check,
    .is_plain = is_plain,
    .has_attention = has_attention,
};
