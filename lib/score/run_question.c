/* SPDX-License-Identifier: Apache-2.0 */
#include "score/run_question.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/number.h"

static const char TOO_LARGE[] = "a size is larger than any model or machine";
static const char NO_MODEL[] = "no model of this name is known, and the row has no layers, hidden size and heads";
static const int64_t OPERATIONS_MAX = 1 << 22; /* of a pipeline that is simulated */

/* ---- Names ------------------------------------------------------------------------------------------------ */

/* Letters and digits alone, in lower case. */
static void plain_name(const char *name, char out[KERF_NAME_SIZE]) {
    size_t length = 0;
    for (; *name && length + 1 < KERF_NAME_SIZE; name++)
        if (isalnum((unsigned char)*name)) out[length++] = (char)tolower((unsigned char)*name);
    out[length] = '\0';
}

static int begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static int contains(const char *text, const char *part) { return strcasestr(text, part) != NULL; }

struct named {
    const char *part, *name; /* what has the part is called so */
};

/* The first row whose part the text has. */
static const char *look_up(const struct named *rows, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++)
        if (contains(text, rows[i].part)) return rows[i].name;
    return NULL;
}

#define LOOK_UP(rows, text) look_up(rows, sizeof(rows) / sizeof *(rows), text)

/* NULL: it is in no system file, as are cards that share their name with another's chip or its memory. */
static const char *system_of(const struct run *run) {
    static const struct named systems[] = {
        {"pcie", NULL},        {"h100nvl", NULL},         {"h200nvl", NULL},     {"gh200", NULL},
        {"mi300a", NULL},      {"a10064", NULL},          {"v10016", NULL},      {"v100sxm216", NULL},
        {"gb300", "gb300"},    {"gb200", "gb200"},        {"b300", "b300"},      {"b200", "b200-hgx"},
        {"h200", "h200-hgx"},  {"h800", "h800"},          {"h10096", "h100-96"}, {"h100", "h100"},
        {"a10040", "a100-40"}, {"a100sxm440", "a100-40"}, {"a100", "a100-80"},   {"v100", "v100-32"},
        {"mi300", "mi300x"},   {"mi325", "mi325x"},       {"mi355", "mi355x"},
    };
    char plain[KERF_NAME_SIZE];
    plain_name(run->gpu, plain);
    return LOOK_UP(systems, plain);
}

/* Releases of NeMo's successor are named by year and month, in the source: "...:v26.04" */
static const char *bridge_release(const char *source) {
    static const struct named releases[] = {
        {"26.06", "megatron-bridge-26.06"},
        {"26.08", "megatron-bridge-26.06"},
        {"26.07", "megatron-bridge-26.06"},
        {"25.", "megatron-bridge-25.09"},
    };
    const char *name = LOOK_UP(releases, source);
    return name ? name : "megatron-bridge-26.04";
}

static const char *stack_of(const struct run *run) {
    static const struct named stacks[] = {
        {"bridge", ""},
        {"nemo", "nemo"},
        {"torchtitan", "torchtitan"},
        {"nanotron", "nanotron"},
        {"composer", "composer-fsdp"},
        {"maxtext", "maxtext"},
        {"pax", "maxtext"},
        {"aleph", "aleph-alpha"},
        {"megatron-deepspeed", "megatron-deepspeed"},
        {"deepspeed", "deepspeed"},
        {"vtrain", "megatron-2022"},
        {"megatron-lm 0", "megatron-core-0.14"},
        {"megatron-core", "megatron-core"},
        {"megatron-lm", "megatron-2022"},
    };
    const char *name = LOOK_UP(stacks, run->framework);
    if (name == NULL) return "megatron-core";
    return *name ? name : bridge_release(run->source);
}

/* ---- The model -------------------------------------------------------------------------------------------- */

/* Whether so many billions are the model's parameters, or those that a token uses, give or take a fifth. */
static int is_size(double billions, const struct kerf_model *model) {
    struct kerf_model_counts counts;
    kerf_model_count(model, &counts);
    return fabs(billions * 1e9 / (double)counts.parameters - 1) < 0.2 ||
           fabs(billions * 1e9 / (double)counts.active_parameters - 1) < 0.2;
}

/* Whether what stands behind the first `letters` letters and digits of the name says that it is another model of that
 * name: a size, such as 13b of gpt3-13b, that is not this one's, or "lite". */
static int is_other_model(const char *name, size_t letters, const struct kerf_model *model) {
    static const struct named smaller[] = {{"lite", ""}, {"mini", ""}, {"small", ""}, {"tiny", ""}};
    int sizes = 0, fits = 0;
    for (; *name && letters > 0; name++) letters -= isalnum((unsigned char)*name) != 0;
    if (LOOK_UP(smaller, name)) return 1;
    while (*(name += strcspn(name, "0123456789"))) {
        char *end;
        double value = number_read(name, &end);
        name = end;
        if (tolower((unsigned char)*end) != 'b' || isalpha((unsigned char)end[1])) continue;
        sizes++;
        fits |= is_size(value, model);
    }
    return sizes > 0 && !fits;
}

/* The model of the catalogue whose name the run's begins with; *ret_letters: how many of its letters and digits. */
static int known_model(const char *name, struct kerf_model *ret_model, size_t *ret_letters) {
    struct kerf_catalogue *catalogue;
    char plain[KERF_NAME_SIZE], other[KERF_NAME_SIZE];
    const struct kerf_catalogue_entry *best = NULL;
    size_t longest = 0;
    plain_name(name, plain);
    int is_31 = begins(plain, "llama31"); /* shapes of 3 and 3.1 are one */
    if (is_31) memmove(plain + 6, plain + 7, strlen(plain + 7) + 1);
    if (kerf_catalogue_list("models", &catalogue, NULL) != KERF_OK) return 0;
    for (size_t i = 0; i < catalogue->count; i++) {
        plain_name(catalogue->entries[i].name, other);
        if (strlen(other) > longest && begins(plain, other)) longest = strlen(other), best = &catalogue->entries[i];
    }
    int found = best && kerf_model_parse(best->json, best->length, best->name, ret_model, NULL) == KERF_OK;
    kerf_catalogue_free(catalogue);
    *ret_letters = longest + (size_t)is_31;
    return found;
}

/* A decoder of equal layers from its sizes: LLaMA's where the MLP is gated, else GPT's. */
static void shaped_model(const struct run *run, struct kerf_model *ret_model) {
    int is_gated = run->glu == 1;
    int64_t heads = run->heads, kv_heads = run->kv_heads > 0 ? run->kv_heads : heads;
    int64_t size = run->hidden / heads > 0 ? run->hidden / heads : 1;
    *ret_model = (struct kerf_model){
        .hidden_size = run->hidden,
        .intermediate_size = run->ffn > 0 ? run->ffn : 4 * run->hidden,
        .num_hidden_layers = run->layers,
        .num_attention_heads = heads,
        .max_position_embeddings = run->seq,
        .vocab_size = run->vocab,
        .embedding_size = run->hidden,
        .position_rows = is_gated ? 0 : run->seq,
        .norm = is_gated ? KERF_NORM_RMS : KERF_NORM_LAYER,
        .is_tied = !is_gated,
        .final_norm = 1,
        .is_causal = 1,
        .num_kinds = 1,
        .num_runs = 1,
    };
    struct kerf_layer_kind *kind = &ret_model->kinds[0];
    kind->attention.heads = heads;
    kind->attention.kv_heads = kv_heads;
    kind->attention.qk_size = kind->attention.v_size = size;
    kind->attention.qkv_bias = kind->attention.output_bias = !is_gated;
    kind->mlp.is_gated = is_gated;
    kind->mlp.bias = !is_gated;
    if (run->experts > 1)
        kind->mlp.experts = run->experts, kind->mlp.top_k = run->topk > 0 ? run->topk : 2,
        kind->mlp.expert_width = ret_model->intermediate_size;
    else
        kind->mlp.width = ret_model->intermediate_size;
    kind->norms = 2;
    ret_model->runs[0] = (struct kerf_layer_run){(int32_t)run->layers, 0};
}

/* A model with fewer layers for a benchmark keeps its share of leading dense ones, and one of each kind. */
static int shorten(struct kerf_model *model, int64_t layers) {
    if (model->num_runs != 2 || layers < 2 || layers > model->num_hidden_layers) return 0;
    double share = (double)layers / (double)model->num_hidden_layers;
    int32_t first = (int32_t)lround((double)model->runs[0].count * share);
    if (first < 1) first = 1;
    if (first > layers - 1) first = (int32_t)layers - 1;
    model->runs[0].count = first;
    model->runs[1].count = (int32_t)layers - first;
    model->num_hidden_layers = layers;
    return 1;
}

static const char *find_model(const struct run *run, const char *system_name, struct kerf_model *ret_model) {
    static const char *const hybrids[] = {"nemotron_3", "nemotron-h", "mamba", "jamba", "zamba"};
    for (size_t i = 0; i < sizeof hybrids / sizeof *hybrids; i++)
        if (contains(run->model, hybrids[i])) return "its layers have state-space blocks, which kerf does not price";
    int is_shaped = run->layers > 0 && run->hidden > 0 && run->heads > 0;
    size_t letters;
    if (known_model(run->model, ret_model, &letters)) {
        struct kerf_system system;
        char set[64];
        if (!is_shaped) return is_other_model(run->model, letters, ret_model) ? NO_MODEL : NULL;
        if (kerf_system_load(system_name, &system, NULL) != KERF_OK) return "its system file cannot be read";
        snprintf(set, sizeof set, "num_hidden_layers=%lld", (long long)run->layers);
        if (ret_model->hidden_size == run->hidden &&
            (ret_model->num_hidden_layers == run->layers || shorten(ret_model, run->layers) ||
             kerf_problem_set(ret_model, &system, set, NULL) == KERF_OK))
            return NULL;
    }
    if (!is_shaped) return NO_MODEL;
    if (run->layers > (1 << 20) || run->hidden % run->heads != 0) return "hidden is not divided by heads";
    if (run->kv_heads > 0 && run->heads % run->kv_heads != 0) return "heads is not divided by kv_heads";
    shaped_model(run, ret_model);
    return NULL;
}

/* ---- The layout ------------------------------------------------------------------------------------------- */

static int64_t or_one(int64_t value) { return value > 0 ? value : 1; }

/* Layers of the virtual stages as frameworks split them: equal, or with embedding and head as a layer each. */
static const int32_t *split(int64_t layers, int64_t stages, struct arena *arena) {
    int32_t *of = arena_take(arena, (size_t)stages, sizeof *of);
    if (of == NULL) return NULL;
    int64_t ends = layers % stages != 0 && (layers + 2) % stages == 0 && (layers + 2) / stages > 1;
    int64_t base = (layers + 2 * ends) / stages, more = (layers + 2 * ends) % stages;
    for (int64_t s = 0; s < stages; s++) of[s] = (int32_t)(base + (s < more));
    if (ends) of[0]--, of[stages - 1]--;
    return of;
}

/* Sizes that kerf_model and kerf_problem allow, so that no product of them overflows. */
static const char *check_sizes(const struct run *run) {
    if (run->layers > 1 << 20 || run->heads > 1 << 20 || run->hidden > 1 << 24 || run->ffn > 1 << 26) return TOO_LARGE;
    if (run->experts > 1 << 16 || run->topk > 1 << 16 || run->vocab > KERF_COUNT_MAX) return TOO_LARGE;
    if (run->gpus > KERF_COUNT_MAX || run->gbs > KERF_COUNT_MAX || run->seq > KERF_COUNT_MAX) return TOO_LARGE;
    return run->pp > KERF_PP_MAX || run->cp > KERF_COUNT_MAX || run->ep > 1 << 16 ? TOO_LARGE : NULL;
}

static const char *set_layout(const struct run *run, struct arena *arena, struct job *job) {
    struct kerf_layout *l = &job->layout;
    struct kerf_problem *problem = job->problem;
    const struct kerf_model *model = &problem->model;
    int is_new = begins(job->stack, "nemo") || begins(job->stack, "megatron-core") || begins(job->stack, "megatron-b");
    int64_t layers = model->num_hidden_layers;
    l->tp1 = or_one(run->tp), l->tp2 = 1, l->pp = or_one(run->pp), l->cp = (int32_t)or_one(run->cp);
    if (l->pp > layers) return "pp is more stages than layers";
    if (run->gpus % (l->tp1 * l->pp * l->cp) != 0) return "tp x pp x cp does not divide gpus";
    l->dp = run->gpus / (l->tp1 * l->pp * l->cp);
    l->micro_batch = run->mbs > 0                 ? run->mbs
                     : l->pp > 1                  ? 1
                     : problem->seq_length < 8192 ? 8192 / problem->seq_length
                                                  : 1;
    int64_t batch = problem->global_batch / l->dp;
    if (batch < 1) return "gbs is below the number of replicas";
    if (problem->global_batch % l->dp != 0) return "gbs is no multiple of the number of replicas";
    if (begins(job->stack, "torchtitan") && l->pp > 1) l->micro_batch = batch / l->pp > 0 ? batch / l->pp : 1;
    if (l->micro_batch > batch) l->micro_batch = batch;
    while (batch % l->micro_batch != 0) l->micro_batch--;
    if (model->num_attention_heads % l->tp1 != 0) return "tp does not divide the heads";

    l->ep = l->etp = 1;
    if (job->has_experts) {
        int64_t ranks = l->dp * l->cp * l->tp1,
                experts = model->kinds[model->runs[model->num_runs - 1].kind].mlp.experts;
        l->ep = (int32_t)or_one(run->ep);
        if (experts % l->ep != 0 || ranks % l->ep != 0) return "ep does not divide the experts or their ranks";
        if (begins(job->stack, "nemo") && ranks % (l->ep * l->tp1) == 0) l->etp = (int32_t)l->tp1;
    }

    int64_t vpp = run->vpp == RUN_SEVERAL ? 2 : or_one(run->vpp), microbatches = batch / l->micro_batch;
    if (l->pp == 1) vpp = 1;
    if (l->pp > 1 && run->vpp <= 0 && begins(job->stack, "nemo") && layers % l->pp == 0 && !job->has_experts)
        vpp = layers / l->pp;
    while (vpp > 1 && l->pp * vpp > layers) vpp--;
    if (microbatches % l->pp != 0) vpp = 1;
    if (l->pp > 1 && microbatches > OPERATIONS_MAX / (l->pp * vpp)) return "its pipeline has too many micro-batches";
    l->vpp = (int32_t)vpp;
    strcpy(l->schedule, vpp > 1 ? "interleaved_1f1b" : "1f1b");
    int is_by_hand = job->has_experts && (layers % (l->pp * vpp) != 0 || problem->mtp_layers > 0);
    l->stage_layers = l->pp > 1 && !is_by_hand ? split(layers, l->pp * vpp, arena) : NULL;
    if (l->pp > 1 && !is_by_hand && l->stage_layers == NULL) job->is_out_of_memory = 1;

    int64_t zero = run->zero >= 0 ? run->zero : is_new ? 1 : 0;
    l->zero = (int8_t)(l->dp * l->cp == 1 ? 0 : zero);
    job->lacks_sequence_parallel =
        l->tp1 > 1 && (run->seqpar >= 0 ? run->seqpar == 0 : !is_new && !begins(job->stack, "torchtitan"));
    return NULL;
}

static void set_recompute(const struct run *run, struct job *job) {
    static const struct {
        enum run_recompute of;
        enum kerf_recompute is;
        double share;
    } rows[] = {{RUN_NOTHING, KERF_RECOMPUTE_NONE, 1},
                {RUN_SELECTIVE, KERF_RECOMPUTE_SELECTIVE, 1},
                {RUN_FULL, KERF_RECOMPUTE_FULL, 1},
                {RUN_MODULES, KERF_RECOMPUTE_FULL, 0.5}};
    job->recomputed = 1;
    job->layout.recompute = KERF_RECOMPUTE_NONE;
    job->recompute_is_open = run->recompute == RUN_RECOMPUTE_MISSING;
    if (run->recompute == RUN_RECOMPUTE_MISSING && begins(job->stack, "maxtext")) {
        job->layout.recompute = KERF_RECOMPUTE_FULL;
        job->recomputed = 0.46;
    }
    if (run->recompute == RUN_MODULES && job->has_experts) {
        job->recomputed = 0.1; /* norms and activations of experts */
        job->layout.recompute = KERF_RECOMPUTE_FULL;
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].of == run->recompute) job->layout.recompute = (int8_t)rows[i].is, job->recomputed = rows[i].share;
}

/* Without units of 8 bits, and from before FlashAttention was everywhere. */
static int is_old(const char *system) { return begins(system, "a100") || begins(system, "v100"); }

static enum job_attention attention_of(const struct run *run, const struct job *job) {
    switch (run->attention) {
    case RUN_UNFUSED: return JOB_UNFUSED;
    case RUN_FUSED_SOFTMAX: return JOB_SOFTMAX;
    case RUN_FLASH:
    case RUN_FLASH1: return JOB_FLASH;
    case RUN_FLASH2: return JOB_FLASH2;
    case RUN_ATTENTION_MISSING: break;
    }
    if (is_old(job->system)) return JOB_SOFTMAX;
    if (begins(job->stack, "torchtitan") || begins(job->stack, "nanotron") || begins(job->stack, "composer"))
        return JOB_FLASH;
    return JOB_FUSED;
}

int job_of_run(const struct run *run, struct arena *arena, struct job *ret_job) {
    struct job job = {.why = run->why, .recomputed = 1, .has_rms_kernel = (int8_t)run->rms_kernel};
    *ret_job = job;
    if (job.why) return 1;
    job.problem = arena_alloc(arena, 1, sizeof *job.problem);
    if (job.problem == NULL) return 0;
    job.system = system_of(run);
    job.stack = stack_of(run);
    if (job.system == NULL) job.why = "this accelerator is in no system file", job.unknown = run->gpu;
    if (job.why == NULL) job.why = check_sizes(run);
    if (job.why == NULL) job.why = find_model(run, job.system, &job.problem->model);
    if (job.why == NO_MODEL) job.unknown = run->model;
    if (job.why == NULL) {
        struct kerf_problem *problem = job.problem;
        const struct kerf_model *model = &problem->model;
        for (int32_t k = 0; k < model->num_kinds; k++) job.has_experts |= model->kinds[k].mlp.experts > 0;
        job.attention = attention_of(run, &job);
        job.precision = run->precision == RUN_FP8     ? JOB_FP8
                        : run->precision == RUN_MXFP8 ? JOB_MXFP8
                        : run->precision == RUN_NVFP4 ? JOB_NVFP4
                                                      : JOB_16;
        problem->strategy = KERF_STRATEGY_HYBRID;
        problem->attention = job.attention <= JOB_FLASH ? KERF_ATTENTION_FUSED : KERF_ATTENTION_UNFUSED;
        problem->precision = job.precision != JOB_16      ? KERF_PRECISION_FP8
                             : run->precision == RUN_FP16 ? KERF_PRECISION_FP16
                                                          : KERF_PRECISION_BF16;
        problem->gpus = run->gpus;
        problem->seq_length = run->seq > 0 ? run->seq : model->max_position_embeddings;
        problem->global_batch = run->gbs > 0 ? run->gbs : run->gpus;
        problem->mtp_layers =
            contains(run->model, "w/o mtp") || begins(job.stack, "nemo") || contains(run->model, "reduced")
                ? 0
                : model->mtp_layers;
        job.drops_tokens = contains(run->model, "tokendrop");
        job.is_balanced = !contains(run->model, "dropless");
        if (job.precision != JOB_16 && is_old(job.system)) job.why = "its accelerator has no units of 8 bits";
        if (problem->seq_length <= 0) job.why = "no sequence length";
        if (job.why == NULL) job.why = set_layout(run, arena, &job);
        if (job.is_out_of_memory) return 0;
        set_recompute(run, &job);
    }
    *ret_job = job;
    return 1;
}
