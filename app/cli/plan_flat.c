/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as rows: CSV for programs and spreadsheets, Markdown for reports. */
#include <string.h>
#include "cli/flat_cells.h"
#include "cli/plan_print.h"

static void number(struct kerf_text *out, double value) {
    kerf_text_add(out, ",");
    kerf_text_number(out, value);
}

static void integer(struct kerf_text *out, int64_t value) { kerf_text_printf(out, ",%lld", (long long)value); }

/* One layout of a search; rank 0: it does not fit and is the nearest to it. */
static void csv_row(struct kerf_text *out, const struct kerf_search *search, const struct kerf_estimate *estimate,
                    int32_t rank) {
    const struct kerf_problem *problem = &search->problem;
    const struct kerf_layout *layout = &estimate->layout;
    double seconds[TIME_PARTS], bytes[MEMORY_PARTS];
    time_parts(estimate, seconds);
    memory_parts(estimate, bytes);
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
    number(out, estimate->throughput);
    number(out, estimate->step_time_s);
    number(out, estimate->memory_bytes);
    integer(out, estimate->fits);
    const int64_t parts[] = {layout->dp,          layout->tp1,          layout->tp2,          layout->pp,
                             layout->micro_batch, layout->summa_blocks, layout->scale_up.tp1, layout->scale_up.tp2,
                             layout->scale_up.dp, layout->scale_up.pp};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) integer(out, parts[k]);
    for (int k = 0; k < TIME_PARTS; k++) number(out, seconds[k]);
    for (int k = 0; k < MEMORY_PARTS; k++) number(out, bytes[k]);
    number(out, estimate->flops_per_gpu);
    if (search->least_gpus)
        integer(out, search->least_gpus);
    else
        kerf_text_add(out, ",");
    kerf_text_add(out, "\n");
}

void print_plan_csv(struct kerf_text *out, const struct kerf_plan *plan) {
    kerf_text_add(
        out, "model,system,scale_up_size,strategy,gpus,global_batch,seq_length,candidates,feasible,rank,throughput,"
             "step_time_s,memory_bytes,fits,dp,tp1,tp2,pp,micro_batch,summa_blocks,scale_up_tp1,scale_up_tp2,"
             "scale_up_dp,scale_up_pp,compute_s,memory_s,tp_comm_s,dp_comm_s,pp_comm_s,bubble_s,weights_bytes,"
             "gradients_bytes,optimizer_bytes,activations_bytes,flops_per_gpu,least_gpus\n");
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        for (int32_t p = 0; p < search->num_plans; p++) csv_row(out, search, &search->plans[p], p + 1);
        if (search->nearest) csv_row(out, search, search->nearest, 0);
    }
}

void print_plan_markdown(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style) {
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        kerf_text_printf(out, "%s### ", i ? "\n" : "");
        words_problem(out, &search->problem);
        kerf_text_add(out, "\n\n");
        kerf_text_count(out, search->candidates);
        kerf_text_add(out, " layouts considered, ");
        kerf_text_count(out, search->feasible);
        kerf_text_printf(out, " fit%s (cost model: %s).\n", search->complete ? "" : " before the interruption",
                         style->cost_model);
        if (search->nearest) {
            kerf_text_add(out, "\nNothing fits: the least memory that any layout needs is ");
            kerf_text_bytes(out, search->nearest->memory_bytes);
            kerf_text_add(out, " (");
            words_layout_short(out, &search->problem, &search->nearest->layout);
            kerf_text_add(out, ").");
        }
        if (search->least_gpus) {
            kerf_text_add(out, search->nearest ? " Something fits on " : "\nSomething fits on ");
            kerf_text_count(out, search->least_gpus);
            kerf_text_add(out, " accelerators.");
        }
        if (search->num_plans == 0) {
            kerf_text_add(out, search->nearest || search->least_gpus ? "\n" : "");
            continue;
        }
        kerf_text_add(out, "\n| rank | layout | in a domain | step | samples/s | memory |");
        for (int k = 0; k < TIME_PARTS; k++) kerf_text_printf(out, " %s |", time_part_names[k]);
        kerf_text_add(out, "\n|---:|---|---|---:|---:|---:|");
        kerf_text_repeat(out, "---:|", TIME_PARTS);
        kerf_text_add(out, "\n");
        for (int32_t p = 0; p < search->num_plans; p++) {
            const struct kerf_estimate *estimate = &search->plans[p];
            double seconds[TIME_PARTS];
            time_parts(estimate, seconds);
            kerf_text_printf(out, "| %d | ", p + 1);
            words_layout_short(out, &search->problem, &estimate->layout);
            kerf_text_add(out, " | ");
            words_placement_short(out, &search->problem, &estimate->layout);
            kerf_text_add(out, " | ");
            kerf_text_seconds(out, estimate->step_time_s);
            kerf_text_printf(out, " | %.4g | ", estimate->throughput);
            kerf_text_bytes(out, estimate->memory_bytes);
            kerf_text_add(out, " |");
            for (int k = 0; k < TIME_PARTS; k++)
                kerf_text_printf(out, " %.1f %% |", 100 * seconds[k] / estimate->step_time_s);
            kerf_text_add(out, "\n");
        }
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
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) number(out, values[k]);
        kerf_text_add(out, "\n");
    }
}
