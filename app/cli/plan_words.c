/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>
#include "cli/plan_print.h"

const char *const time_part_names[TIME_PARTS] = {"compute",          "exposed memory",   "TP communication",
                                                 "DP communication", "PP communication", "bubble"};
const char *const memory_part_names[MEMORY_PARTS] = {"weights", "gradients", "optimizer", "activations"};

void time_parts(const struct kerf_estimate *estimate, double ret_seconds[TIME_PARTS]) {
    for (int i = 0; i < TIME_PARTS; i++) ret_seconds[i] = estimate->time_s.of[i].value;
}

void memory_parts(const struct kerf_estimate *estimate, double ret_bytes[MEMORY_PARTS]) {
    for (int i = 0; i < MEMORY_PARTS; i++) ret_bytes[i] = estimate->memory.of[i].value;
}

void words_problem(struct kerf_text *out, const struct kerf_problem *problem) {
    kerf_text_printf(out, "%s on ", problem->model.name);
    kerf_text_count(out, problem->gpus);
    kerf_text_printf(out, " x %s in domains of ", problem->system.name);
    kerf_text_count(out, problem->system.scale_up.size);
    kerf_text_printf(out, ", %s: a global batch of ", kerf_strategy_name(problem->strategy));
    kerf_text_count(out, problem->global_batch);
    kerf_text_printf(out, " sample%s of ", problem->global_batch == 1 ? "" : "s");
    kerf_text_count(out, problem->seq_length);
    kerf_text_printf(out, " token%s", problem->seq_length == 1 ? "" : "s");
    if (problem->attention != KERF_ATTENTION_FUSED)
        kerf_text_printf(out, ", attention %s", kerf_attention_name(problem->attention));
}

/* "1 layer", "2 layers", "2 micro-batches" */
static void plural(struct kerf_text *out, int64_t count, const char *noun) {
    kerf_text_count(out, count);
    kerf_text_printf(out, " %s%s", noun, count == 1 ? "" : noun[strlen(noun) - 1] == 'h' ? "es" : "s");
}

/* "2-way X" for every kind that is more than one. */
static void way(struct kerf_text *out, int *any, int64_t count, const char *kind) {
    if (count == 1) return;
    kerf_text_add(out, *any ? " x " : "");
    kerf_text_count(out, count);
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
        kerf_text_count(out, llround(per_second));
    else
        kerf_text_printf(out, "%.4g", per_second);
}

void words_trade(struct kerf_text *out, const struct kerf_estimate *best, const struct kerf_estimate *other,
                 int32_t most) {
    static const char *const names[TIME_PARTS] = {"compute", "exposed memory", "TP comm",
                                                  "DP comm", "PP comm",        "bubble"};
    double a[TIME_PARTS], b[TIME_PARTS];
    time_parts(best, a);
    time_parts(other, b);
    for (int32_t told = 0; told < most; told++) { /* the part that differs most, then the next */
        int largest = 0;
        for (int i = 1; i < TIME_PARTS; i++)
            if (fabs(b[i] - a[i]) > fabs(b[largest] - a[largest])) largest = i;
        double more = b[largest] - a[largest];
        if (!(fabs(more) >= 5e-4 * best->step_time_s)) {
            if (told == 0) kerf_text_add(out, "as fast");
            return;
        }
        kerf_text_printf(out, "%s%s %s", told ? ", " : "", names[largest], more < 0 ? "-" : "+");
        kerf_text_seconds(out, fabs(more));
        b[largest] = a[largest];
    }
}
