/* SPDX-License-Identifier: Apache-2.0 */
#include "call/plan_words.h"

#include <math.h>
#include <string.h>
#include "base/quantity.h"

/* ---- Parts ------------------------------------------------------------------------------------------------- */

/* Names of the JSON in words, for charts and for cells of tables, of both cost models. A name that is not here stands
 * for itself. */
struct part_word {
    const char *key, *words, *brief;
};
static const struct part_word reference_words[] = {
    {"memory", "exposed memory", "exposed memory"},
    {"tp_comm", "TP communication", "TP comm"},
    {"dp_comm", "DP communication", "DP comm"},
    {"pp_comm", "PP communication", "PP comm"},
    {NULL, NULL, NULL},
};
static const struct part_word analytic_words[] = {
    {"gemm", "GEMM", "GEMM"},   {"memory", "memory-bound", "memory-bound"},
    {"tp", "exposed TP", "TP"}, {"cp", "exposed CP", "CP"},
    {"ep", "exposed EP", "EP"}, {"dp", "exposed DP", "DP"},
    {"pp", "exposed PP", "PP"}, {NULL, NULL, NULL},
};

static const struct part_word *words_of(const struct kerf_parts *parts) {
    return parts->count > 0 && strcmp(parts->of[0].name, "gemm") == 0 ? analytic_words : reference_words;
}

static const char *name_of(const struct part_word *words, const char *key, int brief) {
    for (; words->key; words++)
        if (strcmp(words->key, key) == 0) return brief ? words->brief : words->words;
    return key;
}

static void list_parts(const struct kerf_parts *parts, struct part_list *ret_parts) {
    ret_parts->count = parts->count;
    for (int32_t i = 0; i < parts->count; i++) {
        ret_parts->names[i] = name_of(words_of(parts), parts->of[i].name, 0);
        ret_parts->values[i] = parts->of[i].value;
    }
}

void words_time_parts(const struct kerf_estimate *estimate, struct part_list *ret_parts) {
    list_parts(&estimate->time_s, ret_parts);
}

void words_memory_parts(const struct kerf_estimate *estimate, struct part_list *ret_parts) {
    list_parts(&estimate->memory, ret_parts);
}

/* ---- Problems ---------------------------------------------------------------------------------------------- */

/* "1 layer", "2 layers", "2 micro-batches" */
static void plural(struct kerf_text *out, int64_t count, const char *noun) {
    quantity_count(out, count);
    kerf_text_printf(out, " %s%s", noun, count == 1 ? "" : noun[strlen(noun) - 1] == 'h' ? "es" : "s");
}

static void words_sizes(struct kerf_text *out, const struct kerf_model *model, int64_t dense_width) {
    plural(out, model->num_hidden_layers, "layer");
    kerf_text_add(out, ", hidden size ");
    quantity_count(out, model->hidden_size);
    if (dense_width > 0) kerf_text_add(out, ", feed-forward "), quantity_count(out, dense_width);
    kerf_text_add(out, ", ");
    plural(out, model->num_attention_heads, "head");
}

void words_model(struct kerf_text *out, const struct kerf_model *model) {
    words_sizes(out, model, model->intermediate_size);
}

/* "65,216", "124 M", "70.6 B", "1.01 T" */
static void short_count(struct kerf_text *out, int64_t count) {
    const double value = (double)count;
    if (value < 1e6)
        quantity_count(out, count);
    else if (value < 999.5e6)
        kerf_text_printf(out, "%.3g M", value / 1e6);
    else
        kerf_text_printf(out, value < 999.5e9 ? "%.3g B" : "%.3g T", value / (value < 999.5e9 ? 1e9 : 1e12));
}

/* What reference does not look at: parameters, key-value heads, experts. */
static void words_decoder(struct kerf_text *out, const struct kerf_model *model) {
    const struct kerf_layer_kind *kind = &model->kinds[model->runs[model->num_runs - 1].kind];
    struct kerf_model_counts counts;
    int64_t dense_width = 0; /* intermediate_size may be that of no layer */
    for (int32_t k = 0; k < model->num_kinds; k++)
        if (model->kinds[k].mlp.width > dense_width) dense_width = model->kinds[k].mlp.width;
    kerf_model_count(model, &counts);
    short_count(out, counts.parameters);
    kerf_text_add(out, " parameters");
    if (counts.active_parameters < counts.parameters) {
        kerf_text_add(out, ", ");
        short_count(out, counts.active_parameters);
        kerf_text_add(out, " of them active");
    }
    kerf_text_add(out, ": ");
    words_sizes(out, model, dense_width);
    if (kind->attention.kv_rank > 0)
        kerf_text_add(out, ", latent attention");
    else if (kind->attention.kv_heads < kind->attention.heads)
        kerf_text_add(out, ", "), plural(out, kind->attention.kv_heads, "key-value head");
    if (kind->mlp.experts == 0) return;
    kerf_text_add(out, ", ");
    plural(out, kind->mlp.experts, "expert");
    kerf_text_add(out, " of ");
    quantity_count(out, kind->mlp.expert_width);
    kerf_text_printf(out, ", %lld a token", (long long)kind->mlp.top_k);
}

void words_dimensions(struct kerf_text *out, const struct kerf_problem *problem) {
    if (problem->strategy == KERF_STRATEGY_HYBRID)
        words_decoder(out, &problem->model);
    else
        words_model(out, &problem->model);
    kerf_text_add(out, "; ");
    quantity_bytes(out, problem->system.memory_capacity_bytes);
    kerf_text_add(out, " on each accelerator");
    if (problem->model.overridden || problem->system.overridden) {
        kerf_text_add(out, "; set: ");
        kerf_problem_set_text(out, &problem->model, &problem->system);
    }
}

void words_training(struct kerf_text *out, const struct kerf_problem *problem) {
    kerf_text_printf(out, ", %s", kerf_precision_name(problem->precision));
    if (problem->has_bf16_gradients) kerf_text_add(out, ", gradients in bf16");
    if (problem->mtp_layers == 0) return;
    kerf_text_add(out, ", ");
    plural(out, problem->mtp_layers, "layer");
    kerf_text_add(out, " of multi-token prediction");
}

void words_problem(struct kerf_text *out, const struct kerf_problem *problem) {
    kerf_text_printf(out, "%s on ", problem->model.name);
    quantity_count(out, problem->gpus);
    kerf_text_printf(out, " x %s in domains of ", problem->system.name);
    quantity_count(out, problem->system.scale_up.size);
    if (problem->strategy == KERF_STRATEGY_HYBRID)
        words_training(out, problem);
    else
        kerf_text_printf(out, ", %s", kerf_strategy_name(problem->strategy));
    if (problem->space && problem->space->runner) kerf_text_printf(out, ", for %s", problem->space->runner->name);
    kerf_text_add(out, ": a global batch of ");
    quantity_count(out, problem->global_batch);
    kerf_text_printf(out, " sample%s of ", problem->global_batch == 1 ? "" : "s");
    quantity_count(out, problem->seq_length);
    kerf_text_printf(out, " token%s", problem->seq_length == 1 ? "" : "s");
    if (problem->attention != KERF_ATTENTION_FUSED)
        kerf_text_printf(out, ", attention %s", kerf_attention_name(problem->attention));
}

/* "2-way X" for every kind that is more than one. */
static void way(struct kerf_text *out, int *any, int64_t count, const char *kind) {
    if (count == 1) return;
    kerf_text_add(out, *any ? " x " : "");
    quantity_count(out, count);
    kerf_text_printf(out, "-way %s", kind);
    *any = 1;
}

static const char *tp2_words(enum kerf_strategy strategy) {
    return strategy == KERF_STRATEGY_SEQP ? "context parallel (tp2)" : "tensor parallel over rows (tp2)";
}

/* "10 layers a stage", "9, 10, 10 and 9 layers a stage", of virtual stages in the order of a micro-batch. */
static void words_stages(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout) {
    enum { TOLD = 8 };
    int64_t stages = layout->pp * layout->vpp, layers = problem->model.num_hidden_layers;
    int32_t least = 0, most = 0;
    for (int64_t i = 0; layout->stage_layers && i < stages; i++) {
        if (i == 0 || layout->stage_layers[i] < least) least = layout->stage_layers[i];
        if (i == 0 || layout->stage_layers[i] > most) most = layout->stage_layers[i];
    }
    if (layout->stage_layers == NULL || least == most) {
        plural(out, layers / stages, "layer");
    } else if (stages <= TOLD) {
        for (int64_t i = 0; i < stages; i++)
            kerf_text_printf(out, "%s%d", i == 0 ? "" : i + 1 < stages ? ", " : " and ", layout->stage_layers[i]);
        kerf_text_add(out, " layers");
    } else {
        kerf_text_printf(out, "%d to %d layers", least, most);
    }
    kerf_text_printf(out, " a %sstage", layout->vpp > 1 ? "virtual " : "");
}

static void words_micro_batches(struct kerf_text *out, const struct kerf_problem *problem,
                                const struct kerf_layout *layout) {
    plural(out, problem->global_batch / layout->dp / layout->micro_batch, "micro-batch");
    kerf_text_add(out, " of ");
    plural(out, layout->micro_batch, "sample");
    kerf_text_add(out, " a step");
}

static void words_hybrid(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout) {
    int any = 0;
    way(out, &any, layout->tp1, "tensor and sequence parallel (tp)");
    way(out, &any, layout->cp, "context parallel (cp)");
    way(out, &any, layout->pp, "pipeline (pp)");
    way(out, &any, layout->dp, "data parallel (dp)");
    if (!any) kerf_text_add(out, "Everything on one accelerator");
    if (layout->pp > 1) kerf_text_add(out, ", "), words_stages(out, problem, layout);
    kerf_text_add(out, ". ");
    if (layout->ep > 1 || layout->etp > 1)
        kerf_text_printf(out, "Experts over ep %d x etp %d. ", layout->ep, layout->etp);
    words_micro_batches(out, problem, layout);
    if (layout->pp > 1) kerf_text_printf(out, ", schedule %s", layout->schedule);
    if (layout->vpp > 1) kerf_text_printf(out, " with %d virtual stages a device", layout->vpp);
    kerf_text_printf(out, ", ZeRO %d, ", layout->zero);
    static const char *const recomputed[] = {[KERF_RECOMPUTE_NONE] = "nothing",
                                             [KERF_RECOMPUTE_SELECTIVE] = "attention",
                                             [KERF_RECOMPUTE_FULL] = "all layers",
                                             [KERF_RECOMPUTE_BLOCK] = "the first "};
    kerf_text_add(out, recomputed[layout->recompute]);
    if (layout->recompute == KERF_RECOMPUTE_BLOCK) {
        plural(out, layout->recompute_layers, "layer");
        kerf_text_printf(out, " of each %sstage", layout->vpp > 1 ? "virtual " : "");
    }
    kerf_text_add(out, " recomputed");
    if (layout->cp > 1) kerf_text_printf(out, ", cp by %s", kerf_cp_comm_name((enum kerf_cp_comm)layout->cp_comm));
    if (layout->order) kerf_text_printf(out, ", order %s", kerf_order_name((enum kerf_order)layout->order));
    kerf_text_add(out, ".");
}

void words_layout(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout) {
    int any = 0;
    if (problem->strategy == KERF_STRATEGY_HYBRID) {
        words_hybrid(out, problem, layout);
        return;
    }
    way(out, &any, layout->dp, "data parallel (dp)");
    way(out, &any, layout->tp1, "tensor parallel (tp1)");
    way(out, &any, layout->tp2, tp2_words(problem->strategy));
    way(out, &any, layout->pp, "pipeline (pp)");
    if (!any) kerf_text_add(out, "Everything on one accelerator");
    if (layout->pp > 1) {
        kerf_text_add(out, ", ");
        plural(out, problem->model.num_hidden_layers / layout->pp, "layer");
        kerf_text_add(out, " a stage");
    }
    kerf_text_add(out, ". ");
    words_micro_batches(out, problem, layout);
    if (layout->summa_blocks) {
        kerf_text_add(out, ", SUMMA in ");
        plural(out, layout->summa_blocks, "block");
    }
    kerf_text_add(out, ". Neighbours in a domain: ");
    any = 0;
    way(out, &any, layout->scale_up.tp1, "tp1");
    way(out, &any, layout->scale_up.tp2, "tp2");
    way(out, &any, layout->scale_up.dp, "dp");
    way(out, &any, layout->scale_up.pp, "pp");
    kerf_text_add(out, any ? "." : "none.");
}

/* What is 1 and not tp, pp or dp is left out. */
static void hybrid_short(struct kerf_text *out, const struct kerf_layout *layout) {
    kerf_text_printf(out, "tp %lld", (long long)layout->tp1);
    if (layout->cp > 1) kerf_text_printf(out, " cp %d", layout->cp);
    kerf_text_printf(out, " pp %lld", (long long)layout->pp);
    if (layout->vpp > 1) kerf_text_printf(out, " vpp %d", layout->vpp);
    if (layout->ep > 1) kerf_text_printf(out, " ep %d", layout->ep);
    if (layout->etp > 1) kerf_text_printf(out, " etp %d", layout->etp);
    kerf_text_printf(out, " dp %lld", (long long)layout->dp);
    if (layout->micro_batch > 1) kerf_text_printf(out, " mb %lld", (long long)layout->micro_batch);
}

void words_layout_short(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout) {
    if (problem->strategy == KERF_STRATEGY_HYBRID) {
        hybrid_short(out, layout);
        return;
    }
    kerf_text_printf(out, "dp %lld tp %lld", (long long)layout->dp, (long long)layout->tp1);
    if (problem->strategy != KERF_STRATEGY_1D) kerf_text_printf(out, "x%lld", (long long)layout->tp2);
    kerf_text_printf(out, " pp %lld mb %lld", (long long)layout->pp, (long long)layout->micro_batch);
    if (layout->summa_blocks) kerf_text_printf(out, " nb %lld", (long long)layout->summa_blocks);
}

/* What words_layout_short does not say of a layout: of hybrid what is recomputed and the like; else who are neighbours
 * in a domain, without what is 1: "in a domain: tp 4", "in a domain: dp 2 tp 2x4". */
void words_layout_detail(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout) {
    int64_t dp = layout->scale_up.dp, tp1 = layout->scale_up.tp1, tp2 = layout->scale_up.tp2, pp = layout->scale_up.pp;
    const char *gap = "";
    if (problem->strategy == KERF_STRATEGY_HYBRID) {
        kerf_text_printf(out, "ZeRO %d, ", layout->zero);
        if (layout->recompute) kerf_text_add(out, "recompute "), kerf_layout_value(out, layout, "recompute");
        kerf_text_printf(out, "%s%s", layout->recompute ? ", " : "", layout->pp > 1 ? layout->schedule : "no pipeline");
        if (layout->order) kerf_text_printf(out, ", %s", kerf_order_name((enum kerf_order)layout->order));
        return;
    }
    kerf_text_add(out, "in a domain: ");
    if (dp > 1) kerf_text_printf(out, "dp %lld", (long long)dp), gap = " ";
    if (tp1 * tp2 > 1) {
        kerf_text_printf(out, "%stp %lld", gap, (long long)tp1), gap = " ";
        if (problem->strategy != KERF_STRATEGY_1D) kerf_text_printf(out, "x%lld", (long long)tp2);
    }
    if (pp > 1) kerf_text_printf(out, "%spp %lld", gap, (long long)pp), gap = " ";
    if (!*gap) kerf_text_add(out, "-");
}

void words_rate(struct kerf_text *out, double per_second) {
    if (per_second >= 1000 && per_second < 1e15)
        quantity_count(out, llround(per_second));
    else
        kerf_text_printf(out, "%.4g", per_second);
}

void words_trade(struct kerf_text *out, const struct kerf_estimate *best, const struct kerf_estimate *other,
                 int32_t most) {
    double left[KERF_PARTS_MAX]; /* by how much the other is slower, in the parts that are not told yet */
    int32_t count = best->time_s.count;
    for (int32_t i = 0; i < count; i++) left[i] = other->time_s.of[i].value - best->time_s.of[i].value;
    for (int32_t told = 0; told < most; told++) {
        int32_t largest = 0;
        for (int32_t i = 1; i < count; i++)
            if (fabs(left[i]) > fabs(left[largest])) largest = i;
        if (!(fabs(left[largest]) >= 5e-4 * best->step_time_s)) {
            if (told == 0) kerf_text_add(out, "as fast");
            return;
        }
        kerf_text_printf(out, "%s%s %s", told ? ", " : "",
                         name_of(words_of(&best->time_s), best->time_s.of[largest].name, 1),
                         left[largest] < 0 ? "-" : "+");
        quantity_seconds(out, fabs(left[largest]));
        left[largest] = 0;
    }
}

/* ---- No answer --------------------------------------------------------------------------------------------- */

static void numbers_that_work(struct kerf_text *out, const int64_t gpus[2]) {
    kerf_text_add(out, ". ");
    if (gpus[0]) quantity_count(out, gpus[0]);
    if (gpus[0] && gpus[1]) kerf_text_add(out, " and ");
    if (gpus[1]) quantity_count(out, gpus[1]);
    kerf_text_printf(out, " accelerators %s.", gpus[0] && gpus[1] ? "work" : "would work");
}

int words_is_only_unsafe(const struct kerf_search *search) {
    const struct kerf_estimate *nearest = search->nearest;
    return search->num_plans == 0 && nearest && nearest->memory_bytes <= search->problem.system.memory_capacity_bytes;
}

void words_no_answer(struct kerf_text *out, const struct kerf_search *search) {
    const struct kerf_problem *problem = &search->problem;
    if (!search->complete) {
        kerf_text_add(out, search->candidates ? "Nothing that was considered before the interruption fits."
                                              : "Interrupted before any layout was considered.");
        return;
    }
    if (search->reason) {
        kerf_text_printf(out, "No layout. %s", search->reason);
        if (search->gpus_that_work[0] || search->gpus_that_work[1])
            numbers_that_work(out, search->gpus_that_work);
        else
            kerf_text_add(out, ".");
        return;
    }
    double capacity = problem->system.memory_capacity_bytes;
    int is_unsafe = words_is_only_unsafe(search);
    kerf_text_add(out, is_unsafe ? "Nothing is safe. " : "Nothing fits. ");
    if (search->nearest) {
        kerf_text_add(out, "The least memory that any layout needs is ");
        quantity_bytes(out, search->nearest->memory_bytes);
    }
    if (is_unsafe) {
        kerf_text_add(out, " of ");
        quantity_bytes(out, capacity);
        kerf_text_printf(out, ", and it runs out of memory with a chance of %.0f %%: without --safe it fits. ",
                         100 * search->nearest->p_oom);
    } else if (search->nearest) {
        kerf_text_add(out, ", ");
        quantity_bytes(out, search->nearest->memory_bytes - capacity);
        kerf_text_add(out, " more than there is. ");
    }
    if (search->least_gpus) {
        kerf_text_add(out, "Doubling from here, ");
        quantity_count(out, search->least_gpus);
        kerf_text_printf(out, " accelerators are the fewest on which something %s.", is_unsafe ? "is safe" : "fits");
    } else if (problem->gpus * 2 <= KERF_LEAST_GPUS_MAX) {
        kerf_text_add(out, "Doubling the accelerators does not help, up to ");
        quantity_count(out, KERF_LEAST_GPUS_MAX);
        kerf_text_add(out, " of them.");
    }
}

/* ---- Several searches -------------------------------------------------------------------------------------- */

int plan_same_series(const struct kerf_problem *a, const struct kerf_problem *b) {
    return kerf_model_equal(&a->model, &b->model) && kerf_system_equal(&a->system, &b->system) &&
           a->system.scale_up.size == b->system.scale_up.size && a->strategy == b->strategy &&
           a->seq_length == b->seq_length;
}

struct variety plan_variety(const struct kerf_plan *plan) {
    struct variety varies = {0};
    const struct kerf_problem *first = &plan->searches[0].problem;
    for (size_t i = 1; i < plan->num_searches; i++) {
        const struct kerf_problem *one = &plan->searches[i].problem;
        varies.model |= !kerf_model_equal(&one->model, &first->model);
        varies.system |= !kerf_system_equal(&one->system, &first->system);
        varies.domain |= one->system.scale_up.size != first->system.scale_up.size;
        varies.strategy |= one->strategy != first->strategy;
        varies.gpus |= one->gpus != first->gpus;
        varies.seq_length |= one->seq_length != first->seq_length;
    }
    return varies;
}

void words_model_name(struct kerf_text *out, const struct kerf_plan *plan, const struct kerf_model *model) {
    int has_namesake = 0;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_model *other = &plan->searches[i].problem.model;
        has_namesake |= strcmp(other->name, model->name) == 0 && !kerf_model_equal(other, model);
    }
    kerf_text_add(out, model->name);
    if (!has_namesake) return;
    kerf_text_printf(out, " (%lld x %lld)", (long long)model->num_hidden_layers, (long long)model->hidden_size);
}

void words_system_name(struct kerf_text *out, const struct kerf_plan *plan, const struct kerf_system *system) {
    int has_namesake = 0;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_system *other = &plan->searches[i].problem.system;
        has_namesake |= strcmp(other->name, system->name) == 0 && !kerf_system_equal(other, system);
    }
    kerf_text_add(out, system->name);
    if (!has_namesake) return;
    kerf_text_printf(out, " (%.4g TFLOP/s, ", system->matrix_flops_per_s / 1e12);
    quantity_bytes(out, system->memory_capacity_bytes);
    kerf_text_add(out, ")");
}
