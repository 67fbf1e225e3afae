/* SPDX-License-Identifier: Apache-2.0 */
/* kerf models, kerf systems: the models and systems that have names, what kerf understands of a model, and the text of a
 * file to start one of one's own from. */
#include <string.h>
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/model_table.h"
#include "cli/output.h"
#include "cli/terminal.h"

struct catalogue_options {
    const char *format, *catalogue;
    int64_t seq_length;
    int32_t source;
    struct string_list names;
};

static const struct option model_options[] = {
    {.name = "format",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct catalogue_options, format),
     .value = "FORMAT",
     .choices = "table,json",
     .help = "How to print the list or the model (default: table)."},
    {.name = "seq-length",
     .type = OPTION_INTEGER,
     .offset = offsetof(struct catalogue_options, seq_length),
     .value = "TOKENS",
     .minimum = 1,
     .maximum = KERF_COUNT_MAX,
     .help = "Tokens in a sample, for the FLOP of a token (default: the model's max_position_embeddings)."},
    {.name = "source",
     .type = OPTION_FLAG,
     .offset = offsetof(struct catalogue_options, source),
     .help = "Print the file of NAME as it is."},
    {.name = "catalogue",
     .type = OPTION_STRING,
     .offset = offsetof(struct catalogue_options, catalogue),
     .value = "DIR",
     .help = CLI_CATALOGUE_HELP},
    {.name = NULL},
};

static const struct option system_options[] = {
    {.name = "format",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct catalogue_options, format),
     .value = "FORMAT",
     .choices = "table,json",
     .help = "How to print the list (default: table)."},
    {.name = "catalogue",
     .type = OPTION_STRING,
     .offset = offsetof(struct catalogue_options, catalogue),
     .value = "DIR",
     .help = CLI_CATALOGUE_HELP},
    {.name = NULL},
};

static const char *const model_examples[] = {
    "Which models there are",
    "kerf models",
    "What kerf understands of a published model",
    "kerf models DeepSeek-V3/config.json",
    "Start a model of your own from one",
    "kerf models gpt3 --source > mine.json",
    NULL,
};

static const char *const system_examples[] = {
    "Which systems there are",       "kerf systems", "Start a system of your own from one",
    "kerf systems a100 > mine.json", NULL,
};

static const struct command models_table = {
    .name = "models",
    .summary = "what kerf understands of a model",
    .arguments = "[NAME|FILE]",
    .description =
        "Without a name, lists the models that have one. With a name, or a Hugging Face config.json, prints what kerf "
        "understands of it: parameters, kinds of layers, FLOP a token. Keys that kerf does not know are named on "
        "standard "
        "error.\n\n"
        "A file NAME.json in kerf/models of $XDG_DATA_HOME (without it ~/.local/share), in models of --catalogue, of "
        "$KERF_DATA_DIR or of share/kerf of the place where kerf is installed adds NAME. It cannot replace a model "
        "that is "
        "built in: copy one to a name of its own to change it.",
    .options = model_options,
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
        "A file NAME.json in kerf/systems of $XDG_DATA_HOME (without it ~/.local/share), in systems of --catalogue, of "
        "$KERF_DATA_DIR or of share/kerf of the place where kerf is installed adds NAME. It cannot replace a system "
        "that is "
        "built in: copy one to a name of its own to change it.",
    .options = system_options,
    .examples = system_examples,
    .arguments_offset = offsetof(struct catalogue_options, names),
};

static void models_list(struct kerf_text *out, const struct kerf_catalogue *catalogue) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 1}, {1, 2},
                                                                   {1, 0}, {1, 4}, {1, 3}, {1, 5}};
    struct kerf_text cells = {0};
    kerf_text_add(&cells, "model\tparameters\tactive\thidden_size\tlayers\theads\tvocabulary\tsequence_length\n");
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct kerf_catalogue_entry *entry = &catalogue->entries[i];
        struct kerf_model model;
        struct kerf_model_counts counts;
        if (kerf_model_parse(entry->json, entry->length, entry->name, &model, NULL) != KERF_OK) continue;
        kerf_model_count(&model, &counts);
        kerf_text_printf(&cells, "%s\t%.4g B\t%.4g B\t%lld\t%lld\t%lld\t%lld\t%lld\n", entry->name,
                         (double)counts.parameters / 1e9, (double)counts.active_parameters / 1e9,
                         (long long)model.hidden_size, (long long)model.num_hidden_layers,
                         (long long)model.num_attention_heads, (long long)model.vocab_size,
                         (long long)model.max_position_embeddings);
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
        kerf_text_printf(&cells, "%s\t%.0f TFLOP/s\t%.0f GB\t%.0f GB/s\t%lld\t%.0f GB/s\t%g x %g GB/s\n", entry->name,
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

/* What kerf understands of the model. */
static int32_t print_model(struct kerf_text *out, const char *name, const struct catalogue_options *options,
                           struct kerf_error *err) {
    struct kerf_model model;
    int32_t code = kerf_model_load(name, &model, err);
    if (code != KERF_OK) return code;
    int64_t seq_length = options->seq_length ? options->seq_length : model.max_position_embeddings;
    model_notes(&model, NULL);
    if (strcmp(options->format, "json") != 0) {
        model_table(out, &model, seq_length);
        return KERF_OK;
    }
    struct kerf_json json;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_model_json(&json, "model", &model, seq_length);
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
    return KERF_OK;
}

static int show(const struct cli_command *command, int argc, char **argv,
                void (*list)(struct kerf_text *, const struct kerf_catalogue *)) {
    struct catalogue_options values = {.format = "table"};
    const char *kind = command->table->name;
    int status = cli_parse(command, argc, argv, &values);
    if (status >= 0) return status;
    cli_use_catalogue(values.catalogue);
    struct kerf_text out = {0};
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_catalogue *catalogue = NULL;
    int is_understood = command == &models_cli && !values.source;
    if (values.names.count > 1)
        kerf_error_set(&err, KERF_EINVALID, "one name at a time, not '%.64s' too", values.names.items[1]);
    else if (values.names.count > 0 && is_understood)
        print_model(&out, values.names.items[0], &values, &err);
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
