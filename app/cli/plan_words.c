/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/plan_words.h"

#include <math.h>
#include <string.h>
#include "base/quantity.h"

/* ---- Parts ------------------------------------------------------------------------------------------------- */

/* The names of the JSON in words, for a chart and for a cell of a table. What is not here is told by its own name. */
static const struct {
    const char *key, *words, *brief;
} part_words[] = {
    {"memory", "exposed memory", "exposed memory"},
    {"tp_comm", "TP communication", "TP comm"},
    {"dp_comm", "DP communication", "DP comm"},
    {"pp_comm", "PP communication", "PP comm"},
};

static const char *name_of(const char *key, int brief) {
    for (size_t i = 0; i < sizeof part_words / sizeof *part_words; i++)
        if (strcmp(part_words[i].key, key) == 0) return brief ? part_words[i].brief : part_words[i].words;
    return key;
}

static void list_parts(const struct kerf_parts *parts, struct part_list *ret_parts) {
    ret_parts->count = parts->count;
    for (int32_t i = 0; i < parts->count; i++) {
        ret_parts->names[i] = name_of(parts->of[i].name, 0);
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

void words_model(struct kerf_text *out, const struct kerf_model *model) {
    plural(out, model->num_hidden_layers, "layer");
    kerf_text_add(out, ", hidden size ");
    quantity_count(out, model->hidden_size);
    kerf_text_add(out, ", feed-forward ");
    quantity_count(out, model->intermediate_size);
    kerf_text_add(out, ", ");
    plural(out, model->num_attention_heads, "head");
}

void words_dimensions(struct kerf_text *out, const struct kerf_problem *problem) {
    words_model(out, &problem->model);
    kerf_text_add(out, "; ");
    quantity_bytes(out, problem->system.memory_capacity_bytes);
    kerf_text_add(out, " on each accelerator");
    if (problem->model.overridden || problem->system.overridden) {
        kerf_text_add(out, "; set: ");
        kerf_problem_set_text(out, &problem->model, &problem->system);
    }
}

void words_problem(struct kerf_text *out, const struct kerf_problem *problem) {
    kerf_text_printf(out, "%s on ", problem->model.name);
    quantity_count(out, problem->gpus);
    kerf_text_printf(out, " x %s in domains of ", problem->system.name);
    quantity_count(out, problem->system.scale_up.size);
    kerf_text_printf(out, ", %s: a global batch of ", kerf_strategy_name(problem->strategy));
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

void words_layout(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout) {
    int any = 0;
    way(out, &any, layout->dp, "data parallel (dp)");
    way(out, &any, layout->tp1, "tensor parallel (tp1)");
    way(out, &any, layout->tp2, tp2_words(problem->strategy));
    way(out, &any, layout->pp, "pipeline (pp)");
    if (!any) kerf_text_add(out, "Everything on one accelerator");
    int64_t layers = problem->model.num_hidden_layers / layout->pp, samples = problem->global_batch / layout->dp;
    if (layout->pp > 1) {
        kerf_text_add(out, ", ");
        plural(out, layers, "layer");
        kerf_text_add(out, " a stage");
    }
    kerf_text_add(out, ". ");
    plural(out, samples / layout->micro_batch, "micro-batch");
    kerf_text_add(out, " of ");
    plural(out, layout->micro_batch, "sample");
    kerf_text_add(out, " a step");
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

void words_layout_short(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout) {
    kerf_text_printf(out, "dp %lld tp %lld", (long long)layout->dp, (long long)layout->tp1);
    if (problem->strategy != KERF_STRATEGY_1D) kerf_text_printf(out, "x%lld", (long long)layout->tp2);
    kerf_text_printf(out, " pp %lld mb %lld", (long long)layout->pp, (long long)layout->micro_batch);
    if (layout->summa_blocks) kerf_text_printf(out, " nb %lld", (long long)layout->summa_blocks);
}

/* What is 1 is left out: "tp 4", "dp 2 tp 2x4". */
void words_placement_short(struct kerf_text *out, const struct kerf_problem *problem,
                           const struct kerf_layout *layout) {
    int64_t dp = layout->scale_up.dp, tp1 = layout->scale_up.tp1, tp2 = layout->scale_up.tp2, pp = layout->scale_up.pp;
    const char *gap = "";
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
        kerf_text_printf(out, "%s%s %s", told ? ", " : "", name_of(best->time_s.of[largest].name, 1),
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
    kerf_text_add(out, "Nothing fits. ");
    if (search->nearest) {
        kerf_text_add(out, "The least memory that any layout needs is ");
        quantity_bytes(out, search->nearest->memory_bytes);
        kerf_text_add(out, ", ");
        quantity_bytes(out, search->nearest->memory_bytes - problem->system.memory_capacity_bytes);
        kerf_text_add(out, " more than there is. ");
    }
    if (search->least_gpus) {
        kerf_text_add(out, "Doubling from here, ");
        quantity_count(out, search->least_gpus);
        kerf_text_add(out, " accelerators are the fewest on which something fits.");
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
