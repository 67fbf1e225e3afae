/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as rows: CSV for programs and spreadsheets, Markdown for reports. */
#include "cli/plan_flat.h"

#include "base/quantity.h"
#include "cli/flat_cells.h"
#include "cli/plan_words.h"

static void integer(struct kerf_text *out, int64_t value) { kerf_text_printf(out, ",%lld", (long long)value); }

/* One layout of a search; rank 0: it does not fit and is the nearest to it. */
static void csv_row(struct kerf_text *out, const struct kerf_search *search, const struct kerf_estimate *estimate,
                    int32_t rank) {
    const struct kerf_problem *problem = &search->problem;
    const struct kerf_layout *layout = &estimate->layout;
    csv_text(out, problem->model.name);
    kerf_text_add(out, ",");
    csv_text(out, problem->system.name);
    integer(out, problem->system.scale_up.size);
    kerf_text_printf(out, ",%s", kerf_strategy_name(problem->strategy));
    const int64_t counts[] = {problem->gpus, problem->global_batch, problem->seq_length, search->candidates,
                              search->feasible};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) integer(out, counts[k]);
    if (rank)
        integer(out, rank);
    else
        kerf_text_add(out, ",");
    csv_number(out, estimate->throughput);
    csv_number(out, estimate->step_time_s);
    csv_number(out, estimate->memory_bytes);
    integer(out, estimate->fits);
    const int64_t parts[] = {layout->dp,          layout->tp1,          layout->tp2,          layout->pp,
                             layout->micro_batch, layout->summa_blocks, layout->scale_up.tp1, layout->scale_up.tp2,
                             layout->scale_up.dp, layout->scale_up.pp};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) integer(out, parts[k]);
    for (int32_t k = 0; k < estimate->time_s.count; k++) csv_number(out, estimate->time_s.of[k].value);
    for (int32_t k = 0; k < estimate->memory.count; k++) csv_number(out, estimate->memory.of[k].value);
    csv_number(out, estimate->flops_per_gpu);
    if (search->least_gpus)
        integer(out, search->least_gpus);
    else
        kerf_text_add(out, ",");
    kerf_text_printf(out, ",%s", search->cost_model);
    csv_number(out, problem->system.memory_capacity_bytes);
    struct kerf_text words = {0};
    kerf_problem_set_text(&words, &problem->model, &problem->system);
    kerf_text_add(out, ",");
    csv_text(out, words.data ? words.data : "");
    kerf_text_clear(&words);
    kerf_layout_text(&words, problem, layout);
    kerf_text_add(out, ",");
    csv_text(out, words.data ? words.data : "");
    kerf_text_free(&words);
    kerf_text_add(out, "\n");
}

/* The columns of the parts are those of the cost model, which all searches share. */
static void part_titles(struct kerf_text *out, const struct kerf_parts *parts, const char *ending) {
    for (int32_t i = 0; i < parts->count; i++) kerf_text_printf(out, ",%s_%s", parts->of[i].name, ending);
}

static const struct kerf_estimate *any_estimate(const struct kerf_plan *plan) {
    for (size_t i = 0; i < plan->num_searches; i++)
        if (plan->searches[i].num_plans || plan->searches[i].nearest)
            return plan->searches[i].num_plans ? plan->searches[i].plans : plan->searches[i].nearest;
    return NULL;
}

void print_plan_csv(struct kerf_text *out, const struct kerf_plan *plan) {
    const struct kerf_estimate *any = any_estimate(plan);
    kerf_text_add(out, "model,system,scale_up_size,strategy,gpus,global_batch,seq_length,candidates,feasible,rank,"
                       "throughput,step_time_s,memory_bytes,fits,dp,tp1,tp2,pp,micro_batch,summa_blocks,scale_up_tp1,"
                       "scale_up_tp2,scale_up_dp,scale_up_pp");
    if (any) part_titles(out, &any->time_s, "s"), part_titles(out, &any->memory, "bytes");
    kerf_text_add(out, ",flops_per_gpu,least_gpus,cost_model,memory_capacity_bytes,set,layout\n");
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        for (int32_t p = 0; p < search->num_plans; p++) csv_row(out, search, &search->plans[p], p + 1);
        if (search->nearest) csv_row(out, search, search->nearest, 0);
    }
}

static void markdown_rows(struct kerf_text *out, const struct kerf_search *search) {
    struct part_list parts;
    words_time_parts(&search->plans[0], &parts);
    kerf_text_add(out, "\n| rank | layout | step | samples/s | memory |");
    for (int32_t k = 0; k < parts.count; k++) kerf_text_printf(out, " %s |", parts.names[k]);
    kerf_text_add(out, "\n|---:|---|---:|---:|---:|");
    kerf_text_repeat(out, "---:|", parts.count);
    kerf_text_add(out, "\n");
    for (int32_t p = 0; p < search->num_plans; p++) {
        const struct kerf_estimate *estimate = &search->plans[p];
        words_time_parts(estimate, &parts);
        kerf_text_printf(out, "| %d | ", p + 1);
        kerf_layout_text(out, &search->problem, &estimate->layout);
        kerf_text_add(out, " | ");
        quantity_seconds(out, estimate->step_time_s);
        kerf_text_printf(out, " | %.4g | ", estimate->throughput);
        quantity_bytes(out, estimate->memory_bytes);
        kerf_text_add(out, " |");
        for (int32_t k = 0; k < parts.count; k++)
            kerf_text_printf(out, " %.1f %% |", 100 * parts.values[k] / estimate->step_time_s);
        kerf_text_add(out, "\n");
    }
}

void print_plan_markdown(struct kerf_text *out, const struct kerf_plan *plan) {
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        kerf_text_printf(out, "%s### ", i ? "\n" : "");
        words_problem(out, &search->problem);
        kerf_text_add(out, "\n\n");
        words_dimensions(out, &search->problem);
        kerf_text_add(out, ". ");
        quantity_count(out, search->candidates);
        kerf_text_add(out, " layouts considered, ");
        quantity_count(out, search->feasible);
        kerf_text_printf(out, " fit%s (cost model: %s).\n", search->complete ? "" : " before the interruption",
                         search->cost_model);
        if (search->num_plans) {
            markdown_rows(out, search);
            continue;
        }
        kerf_text_add(out, "\n");
        words_no_answer(out, search);
        kerf_text_add(out, "\n");
    }
}

void print_layers_csv(struct kerf_text *out, const struct kerf_layer *layers, int32_t num_layers) {
    kerf_text_add(
        out, "module,name,flops_fwd,flops_bwd,weights_bytes,activation_bytes,t_fwd_s,t_bwd_s,t_fwd_comp_s,t_fwd_mem_s,"
             "t_fwd_comm_s,t_bwd_comp_s,t_bwd_mem_s,t_bwd_comm_s\n");
    for (int32_t i = 0; i < num_layers; i++) {
        const struct kerf_layer *layer = &layers[i];
        const double values[] = {layer->flops_fwd,        layer->flops_bwd,   layer->weights_bytes,
                                 layer->activation_bytes, layer->t_fwd_s,     layer->t_bwd_s,
                                 layer->t_fwd_comp_s,     layer->t_fwd_mem_s, layer->t_fwd_comm_s,
                                 layer->t_bwd_comp_s,     layer->t_bwd_mem_s, layer->t_bwd_comm_s};
        kerf_text_printf(out, "%s,%s", layer->module == KERF_MODULE_MLP ? "mlp" : "sa", layer->name);
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) csv_number(out, values[k]);
        kerf_text_add(out, "\n");
    }
}
