/* SPDX-License-Identifier: Apache-2.0 */
/* kerf models, kerf systems: what comes with kerf, and the text of one to start an own file from. */
#include <stdio.h>
#include <string.h>
#include "cli/command.h"
#include "cli/output.h"

struct catalogue_options {
    const char *format;
    struct kerf_strings names;
};

static const struct kerf_option options[] = {
    {.name = "format", .type = KERF_OPTION_CHOICE, .offset = offsetof(struct catalogue_options, format), .value = "FORMAT",
     .choices = "table,json", .help = "How to print the list (default: table)."},
    {.name = NULL},
};

static const char *const model_examples[] = {
    "Which models come with kerf", "kerf models",
    "Start an own model from one", "kerf models gpt3 > mine.json",
    NULL,
};

static const char *const system_examples[] = {
    "Which systems come with kerf", "kerf systems",
    "Start an own system from one", "kerf systems a100 > mine.json",
    NULL,
};

static const struct kerf_command models_table = {
    .name = "models",
    .summary = "the models that come with kerf",
    .arguments = "[NAME]",
    .description = "Without a name, lists the catalogue. With a name, prints that model's file: a subset of a Hugging Face "
                   "config.json, which any command takes in the place of a name.",
    .options = options,
    .examples = model_examples,
    .arguments_offset = offsetof(struct catalogue_options, names),
};

static const struct kerf_command systems_table = {
    .name = "systems",
    .summary = "the systems that come with kerf",
    .arguments = "[NAME]",
    .description = "Without a name, lists the catalogue. With a name, prints that system's file, which any command takes in the "
                   "place of a name. Quantities are plain numbers in SI units or text such as \"312 TFLOP/s\".",
    .options = options,
    .examples = system_examples,
    .arguments_offset = offsetof(struct catalogue_options, names),
};

static void models_list(struct kerf_text *out, const struct kerf_catalogue_entry *entries, size_t count) {
    kerf_text_printf(out, "%-12s %11s %18s %7s %6s %16s %12s\n", "model", "hidden_size", "intermediate_size", "layers", "heads",
                     "sequence_length", "weights");
    for (size_t i = 0; i < count; i++) {
        struct kerf_model model;
        if (kerf_model_parse(entries[i].json, entries[i].length, entries[i].name, &model, NULL) != KERF_OK) continue;
        double e = (double)model.hidden_size, f = (double)model.intermediate_size;
        double weights = (double)model.num_hidden_layers * (4 * e * e + 2 * e * f); /* the products' alone */
        kerf_text_printf(out, "%-12s %11lld %18lld %7lld %6lld %16lld %10.0f B\n", entries[i].name, (long long)model.hidden_size,
                         (long long)model.intermediate_size, (long long)model.num_hidden_layers,
                         (long long)model.num_attention_heads, (long long)model.max_position_embeddings, weights / 1e9);
    }
}

static void systems_list(struct kerf_text *out, const struct kerf_catalogue_entry *entries, size_t count) {
    kerf_text_printf(out, "%-10s %13s %10s %14s %6s %15s %17s\n", "system", "matrix", "memory", "bandwidth", "domain",
                     "scale-up", "scale-out");
    for (size_t i = 0; i < count; i++) {
        struct kerf_system system;
        if (kerf_system_parse(entries[i].json, entries[i].length, entries[i].name, &system, NULL) != KERF_OK) continue;
        kerf_text_printf(out, "%-10s %6.0f TFLOP/s %7.0f GB %9.0f GB/s %6lld %10.0f GB/s %5g x %4.0f GB/s\n", entries[i].name,
                         system.matrix_flops_per_s / 1e12, system.memory_capacity_bytes / 1e9,
                         system.memory_bandwidth_bytes_per_s / 1e9, (long long)system.scale_up.size,
                         system.scale_up.bandwidth_bytes_per_s / 1e9, system.scale_out.nics_per_device,
                         system.scale_out.bandwidth_bytes_per_s / 1e9);
    }
}

static void json_list(struct kerf_text *out, const char *key, const struct kerf_catalogue_entry *entries, size_t count) {
    kerf_text_printf(out, "{\"kerf\":\"%s\",\"%s\":[", kerf_version(), key);
    for (size_t i = 0; i < count; i++) kerf_text_printf(out, "%s%s", i ? "," : "", entries[i].json);
    kerf_text_add(out, "]}\n");
}

static int show(const struct cli_command *command, int argc, char **argv, const struct kerf_catalogue_entry *entries,
                size_t count, void (*list)(struct kerf_text *, const struct kerf_catalogue_entry *, size_t)) {
    struct catalogue_options values = {.format = "table"};
    int status = cli_parse(command, argc, argv, &values);
    if (status >= 0) return status;
    struct kerf_text out = {0};
    struct kerf_error err = {.code = KERF_OK};
    if (values.names.count > 0) {
        const char *name = values.names.items[0], *names[256];
        for (size_t i = 0; i < count && i < 256; i++) {
            names[i] = entries[i].name;
            if (strcmp(entries[i].name, name) == 0) kerf_text_write(&out, entries[i].json, entries[i].length);
        }
        const char *nearest = kerf_text_nearest(name, names, count < 256 ? count : 256);
        if (out.length == 0)
            kerf_error_set(&err, KERF_EUNKNOWN, "%s has no '%.64s'%s%s%s", command->table->name, name,
                           nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    } else if (strcmp(values.format, "json") == 0) {
        json_list(&out, command->table->name, entries, count);
    } else {
        list(&out, entries, count);
    }
    kerf_options_free(command->table, &values);
    if (err.code != KERF_OK) return cli_fail(&err);
    return output_print(&out);
}

static int run_models(int argc, char **argv) {
    size_t count;
    const struct kerf_catalogue_entry *entries = kerf_catalogue_models(&count);
    return show(&models_cli, argc, argv, entries, count, models_list);
}

static int run_systems(int argc, char **argv) {
    size_t count;
    const struct kerf_catalogue_entry *entries = kerf_catalogue_systems(&count);
    return show(&systems_cli, argc, argv, entries, count, systems_list);
}

const struct cli_command models_cli = {&models_table, run_models};
const struct cli_command systems_cli = {&systems_table, run_systems};
