/* SPDX-License-Identifier: Apache-2.0 */
/* kerf models, kerf systems: the models and systems that have names, and the text of one to start a file of one's own from. */
#include <string.h>
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/terminal.h"

struct catalogue_options {
    const char *format;
    struct string_list names;
};

static const struct option options[] = {
    {.name = "format",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct catalogue_options, format),
     .value = "FORMAT",
     .choices = "table,json",
     .help = "How to print the list (default: table)."},
    {.name = NULL},
};

static const char *const model_examples[] = {
    "Which models there are", "kerf models", "Start a model of your own from one", "kerf models gpt3 > mine.json", NULL,
};

static const char *const system_examples[] = {
    "Which systems there are",       "kerf systems", "Start a system of your own from one",
    "kerf systems a100 > mine.json", NULL,
};

static const struct command models_table = {
    .name = "models",
    .summary = "the models that kerf knows by name",
    .arguments = "[NAME]",
    .description =
        "Without a name, lists the models. With a name, prints that model's file: a subset of a Hugging Face "
        "config.json, which any command takes in the place of a name.\n\n"
        "A file NAME.json in share/kerf/models of the place where kerf is installed, or in $KERF_DATA_DIR/models, adds "
        "NAME. It cannot replace a model that is built in: copy one to a name of its own to change it.",
    .options = options,
    .examples = model_examples,
    .arguments_offset = offsetof(struct catalogue_options, names),
};

static const struct command systems_table = {
    .name = "systems",
    .summary = "the systems that kerf knows by name",
    .arguments = "[NAME]",
    .description =
        "Without a name, lists the systems. With a name, prints that system's file, which any command takes in the "
        "place of a name. Quantities are plain numbers in SI units or text such as \"312 TFLOP/s\".\n\n"
        "A file NAME.json in share/kerf/systems of the place where kerf is installed, or in $KERF_DATA_DIR/systems, "
        "adds NAME. It cannot replace a system that is built in: copy one to a name of its own to change it.",
    .options = options,
    .examples = system_examples,
    .arguments_offset = offsetof(struct catalogue_options, names),
};

static void models_list(struct kerf_text *out, const struct kerf_catalogue *catalogue) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 3}, {1, 0},
                                                                   {1, 1}, {1, 4}, {1, 2}};
    struct kerf_text cells = {0};
    kerf_text_add(&cells, "model\thidden_size\tintermediate_size\tlayers\theads\tsequence_length\tweights\n");
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct kerf_catalogue_entry *entry = &catalogue->entries[i];
        struct kerf_model model;
        if (kerf_model_parse(entry->json, entry->length, entry->name, &model, NULL) != KERF_OK) continue;
        double e = (double)model.hidden_size, f = (double)model.intermediate_size;
        double weights = (double)model.num_hidden_layers * (4 * e * e + 2 * e * f); /* the products' alone */
        kerf_text_printf(&cells, "%s\t%lld\t%lld\t%lld\t%lld\t%lld\t%.0f billion\n", entry->name,
                         (long long)model.hidden_size, (long long)model.intermediate_size,
                         (long long)model.num_hidden_layers, (long long)model.num_attention_heads,
                         (long long)model.max_position_embeddings, weights / 1e9);
    }
    terminal_table(out, &cells, columns, terminal_columns(), terminal_colour(), -1);
    kerf_text_free(&cells);
}

static void systems_list(struct kerf_text *out, const struct kerf_catalogue *catalogue) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 0}, {1, 4},
                                                                   {1, 1}, {1, 2}, {1, 3}};
    struct kerf_text cells = {0};
    kerf_text_add(&cells, "system\tmatrix\tmemory\tbandwidth\tdomain\tscale-up\tscale-out\n");
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct kerf_catalogue_entry *entry = &catalogue->entries[i];
        struct kerf_system system;
        if (kerf_system_parse(entry->json, entry->length, entry->name, &system, NULL) != KERF_OK) continue;
        kerf_text_printf(&cells, "%s\t%.0f TFLOP/s\t%.0f GB\t%.0f GB/s\t%lld\t%.0f GB/s\t%g x %.0f GB/s\n", entry->name,
                         system.matrix_flops_per_s / 1e12, system.memory_capacity_bytes / 1e9,
                         system.memory_bandwidth_bytes_per_s / 1e9, (long long)system.scale_up.size,
                         system.scale_up.bandwidth_bytes_per_s / 1e9, system.scale_out.nics_per_device,
                         system.scale_out.bandwidth_bytes_per_s / 1e9);
    }
    terminal_table(out, &cells, columns, terminal_columns(), terminal_colour(), -1);
    kerf_text_free(&cells);
}

static void json_list(struct kerf_text *out, const char *key, const struct kerf_catalogue *catalogue) {
    kerf_text_printf(out, "{\"kerf\":\"%s\",\"%s\":[", kerf_version(), key);
    for (size_t i = 0; i < catalogue->count; i++)
        kerf_text_printf(out, "%s%s", i ? "," : "", catalogue->entries[i].json);
    kerf_text_add(out, "]}\n");
}

/* The file of one name, as it is. */
static int32_t one(struct kerf_text *out, const char *kind, const char *name, const struct kerf_catalogue *catalogue,
                   struct kerf_error *err) {
    enum { MOST = 256 };
    const char *names[MOST];
    size_t count = 0;
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct kerf_catalogue_entry *entry = &catalogue->entries[i];
        if (count < MOST) names[count++] = entry->name;
        if (strcmp(entry->name, name) != 0) continue;
        kerf_text_write(out, entry->json, entry->length);
        return KERF_OK;
    }
    const char *nearest = nearest_name(name, names, count);
    int what = (int)strlen(kind) - 1; /* "model" of "models" */
    return kerf_error_set(err, KERF_EUNKNOWN, "no %.*s is called '%.64s'; %s%s%s`kerf %s` lists the names", what, kind,
                          name, nearest ? "did you mean " : "", nearest ? nearest : "", nearest ? "? " : "", kind);
}

static int show(const struct cli_command *command, int argc, char **argv,
                void (*list)(struct kerf_text *, const struct kerf_catalogue *)) {
    struct catalogue_options values = {.format = "table"};
    const char *kind = command->table->name;
    int status = cli_parse(command, argc, argv, &values);
    if (status >= 0) return status;
    struct kerf_text out = {0};
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_catalogue *catalogue = NULL;
    if (values.names.count > 1)
        kerf_error_set(&err, KERF_EINVALID, "one name at a time, not '%.64s' too", values.names.items[1]);
    else if (kerf_catalogue_list(kind, &catalogue, &err) != KERF_OK)
        ; /* err says why */
    else if (values.names.count > 0)
        one(&out, kind, values.names.items[0], catalogue, &err);
    else if (strcmp(values.format, "json") == 0)
        json_list(&out, kind, catalogue);
    else {
        list(&out, catalogue);
        terminal_plain(&out);
    }
    kerf_catalogue_free(catalogue);
    options_free(command->table, &values);
    if (err.code == KERF_OK) return output_print(&out);
    kerf_text_free(&out);
    return cli_fail(&err);
}

static int run_models(int argc, char **argv) { return show(&models_cli, argc, argv, models_list); }
static int run_systems(int argc, char **argv) { return show(&systems_cli, argc, argv, systems_list); }

const struct cli_command models_cli = {&models_table, run_models};
const struct cli_command systems_cli = {&systems_table, run_systems};
