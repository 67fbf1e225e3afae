/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/model_table.h"

#include <stdio.h>
#include "cli/terminal.h"

/* 7.06e10 as "70.6 billion". */
static void amount(struct kerf_text *out, double value) {
    static const struct {
        double one;
        const char *name;
    } units[] = {{1e15, "quadrillion"}, {1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (value >= units[i].one) {
            kerf_text_printf(out, value < 100 * units[i].one ? "%.3g %s" : "%.0f %s", value / units[i].one,
                             units[i].name);
            return;
        }
    kerf_text_count(out, (int64_t)value);
}

/* 1.41e11 as "141 GFLOP". */
static void flops(struct kerf_text *out, double value) {
    static const char *const units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"};
    size_t i = 0;
    for (; value >= 1000 && i + 1 < sizeof units / sizeof *units; i++) value /= 1000;
    kerf_text_printf(out, value < 100 ? "%.3g %s" : "%.0f %s", value, units[i]);
}

static void cell_count(struct kerf_text *cells, int64_t value) {
    kerf_text_add(cells, "\t");
    if (value > 0)
        kerf_text_count(cells, value);
    else
        kerf_text_add(cells, "-");
}

static void kinds(struct kerf_text *out, const struct kerf_model *model) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{1, 0}, {0, 0}, {1, 0}, {1, 1}, {1, 2}, {1, 4},
                                                                   {0, 0}, {1, 0}, {1, 0}, {1, 1}, {1, 3}};
    struct kerf_text cells = {0};
    kerf_text_add(&cells,
                  "layers\tattention\theads\tkv_heads\thead_size\twindow\tmlp\twidth\texperts\tper_token\tshared\n");
    for (int32_t k = 0; k < model->num_kinds; k++) {
        const struct kerf_layer_kind *kind = &model->kinds[k];
        int64_t layers = 0;
        for (int32_t i = 0; i < model->num_runs; i++) layers += model->runs[i].kind == k ? model->runs[i].count : 0;
        if (layers == 0) continue;
        kerf_text_count(&cells, layers);
        kerf_text_printf(&cells, "\t%s", kerf_attention_kind(kind));
        cell_count(&cells, kind->attention.heads);
        cell_count(&cells, kind->attention.kv_heads);
        cell_count(&cells, kind->attention.qk_size);
        cell_count(&cells, kind->attention.window);
        kerf_text_printf(&cells, "\t%s%s", kind->mlp.experts > 0 ? "moe" : "dense",
                         kind->mlp.is_gated ? ", gated" : "");
        cell_count(&cells, kind->mlp.experts > 0 ? kind->mlp.expert_width : kind->mlp.width);
        cell_count(&cells, kind->mlp.experts);
        cell_count(&cells, kind->mlp.top_k);
        cell_count(&cells, kind->mlp.shared_width);
        kerf_text_add(&cells, "\n");
    }
    terminal_table(out, &cells, columns, terminal_columns(), terminal_colour(), -1);
    kerf_text_free(&cells);
    if (model->num_runs > model->num_kinds)
        kerf_text_printf(out, "The kinds alternate in %d runs of equal layers; --format json lists them.\n",
                         model->num_runs);
}

static void components(struct kerf_text *out, const struct kerf_model_counts *counts) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 0}};
    struct kerf_text cells = {0};
    kerf_text_add(&cells, "component\tparameters\tshare\n");
    for (int i = 0; i < KERF_COMPONENT_COUNT; i++) {
        if (counts->components[i] == 0) continue;
        kerf_text_printf(&cells, "%s\t", kerf_component_name((enum kerf_component)i));
        kerf_text_count(&cells, counts->components[i]);
        kerf_text_printf(&cells, "\t%.1f %%\n", 100 * (double)counts->components[i] / (double)counts->parameters);
    }
    terminal_table(out, &cells, columns, terminal_columns(), terminal_colour(), -1);
    kerf_text_free(&cells);
}

void model_table(struct kerf_text *out, const struct kerf_model *model, int64_t seq_length) {
    struct kerf_model_counts counts;
    kerf_model_count(model, &counts);
    kerf_text_printf(out, "%s: %s\n", model->name, model->architecture);
    kerf_text_count(out, counts.parameters);
    kerf_text_add(out, " parameters (");
    amount(out, (double)counts.parameters);
    kerf_text_add(out, ")");
    if (counts.active_parameters < counts.parameters) {
        kerf_text_add(out, ", of which a token uses ");
        amount(out, (double)counts.active_parameters);
    }
    kerf_text_add(out, "\nhidden size ");
    kerf_text_count(out, model->hidden_size);
    kerf_text_add(out, ", vocabulary ");
    kerf_text_count(out, model->vocab_size);
    kerf_text_printf(out, "%s\n", model->vocab_size == 0 ? "" : model->is_tied ? ", tied head" : ", untied head");
    if (seq_length > 0) {
        double forward = kerf_model_flops(model, seq_length, 0);
        flops(out, forward);
        kerf_text_add(out, " a token forward, ");
        flops(out, 3 * forward);
        kerf_text_add(out, " a token and step, at ");
        kerf_text_count(out, seq_length);
        kerf_text_add(out, " tokens\n");
    }
    if (model->mtp_layers > 0) {
        kerf_text_printf(out, "%lld layers of multi-token prediction, ", (long long)model->mtp_layers);
        amount(out, (double)counts.mtp_parameters);
        kerf_text_add(out, " parameters, are not counted above\n");
    }
    kerf_text_add(out, "\n");
    kinds(out, model);
    kerf_text_add(out, "\n");
    components(out, &counts);
}

void model_notes(const struct kerf_model *model) {
    struct kerf_text notes = {0};
    kerf_model_notes(model, &notes);
    if (notes.length > 0 && !notes.failed) fwrite(notes.data, 1, notes.length, stderr);
    kerf_text_free(&notes);
}
