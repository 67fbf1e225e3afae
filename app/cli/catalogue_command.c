/* SPDX-License-Identifier: Apache-2.0 */
/* kerf models, kerf systems, kerf stacks: the models, systems and software stacks that have names, what kerf understands of a model, and the text of
 * a file to start one of one's own from. */
#include <math.h>
#include <string.h>
#include "base/characters.h"
#include "base/json_read.h"
#include "cli/cells.h"
#include "cli/command.h"
#include "cli/plan_print.h"
#include "cli/terminal.h"

struct catalogue_options {
    const char *format, *catalogue, *system, *precision;
    int64_t seq_length, tp, ep, etp, micro_batch; /* 0: not given */
    int32_t source;
    struct string_list names;
};

#define AT(field) .offset = offsetof(struct catalogue_options, field)
/* A number that says how the model is sharded. */
#define SHARD(option_name, field, most, words)                                                                         \
    {                                                                                                                  \
        .name = option_name, .type = OPTION_INTEGER, AT(field), .value = "N", .minimum = 1, .maximum = most,           \
        .help = words                                                                                                  \
    }

static const struct option model_options[] = {
    {.name = "format",
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json",
     .help = "How to print the list or the model (default: table)."},
    {.name = "seq-length",
     .type = OPTION_INTEGER,
     AT(seq_length),
     .value = "TOKENS",
     .minimum = 1,
     .maximum = KERF_COUNT_MAX,
     .help = "Tokens in a sample, for the FLOP of a token (default: the model's max_position_embeddings)."},
    {.name = "system",
     .letter = 's',
     .type = OPTION_STRING,
     AT(system),
     .value = "SYSTEM",
     .help = "Say what the model's sizes cost on this hardware - alignment, padding, small products - and which "
             "nearest ones would be faster: a name from `kerf systems` or a file."},
    SHARD("tp", tp, 1 << 20, "With --system: accelerators that layers are spread over (default: 1)."),
    SHARD("ep", ep, 1 << 20, "With --system: accelerators that experts are spread over (default: 1)."),
    SHARD("etp", etp, 1 << 20, "With --system: accelerators that each expert is spread over (default: 1)."),
    SHARD("micro-batch", micro_batch, KERF_COUNT_MAX, "With --system: samples of a micro-batch (default: 1)."),
    {.name = "precision",
     .type = OPTION_CHOICE,
     AT(precision),
     .value = "NAME",
     .choices = "bf16,fp16,fp8",
     .help = "With --system: what matrix products are computed in (default: bf16)."},
    {.name = "source", .type = OPTION_FLAG, AT(source), .help = "Print the file of NAME as it is."},
    {.name = "catalogue", .type = OPTION_STRING, AT(catalogue), .value = "DIR", .help = CLI_CATALOGUE_HELP},
    {.name = NULL},
};

static const struct option system_options[] = {
    {.name = "format",
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json",
     .help = "How to print the list (default: table)."},
    {.name = "catalogue", .type = OPTION_STRING, AT(catalogue), .value = "DIR", .help = CLI_CATALOGUE_HELP},
    {.name = NULL},
};

static const char *const model_examples[] = {
    "All models",
    "kerf models",
    "What kerf reads from a published model's file",
    "kerf models DeepSeek-V3/config.json",
    "A file to start your own model from",
    "kerf models gpt3 --source > mine.json",
    NULL,
};

static const char *const system_examples[] = {
    "All systems", "kerf systems", "A file to start your own system from", "kerf systems a100 > mine.json", NULL,
};

static const struct command models_table = {
    .name = "models",
    .summary = "what kerf reads from a model's file",
    .arguments = "[MODEL|FILE]",
    .description =
        "Without a name, lists the models that kerf knows by name. With a name, or a Hugging Face config.json, prints "
        "what kerf reads from it: parameters, kinds of layers, FLOP a token. Keys that kerf does not know are named on "
        "standard error.\n\n"
        "To add a model, save it as NAME.json in $XDG_DATA_HOME/kerf/models (default: ~/.local/share/kerf/models), or "
        "in the folder models of --catalogue, of $KERF_DATA_DIR, or of share/kerf below kerf's installation. It cannot "
        "replace a built-in model: copy it to a new name to change it.",
    .options = model_options,
    .examples = model_examples,
    .arguments_offset = offsetof(struct catalogue_options, names),
};

static const struct command systems_table = {
    .name = "systems",
    .summary = "the systems that kerf knows by name",
    .arguments = "[SYSTEM]",
    .description =
        "Without a name, lists the systems. With a name, prints that system's file; every command also takes a file in "
        "place of a name. Quantities are plain numbers in SI units or text such as \"312 TFLOP/s\". A measured figure "
        "takes the place of others: in a copy with another scale_up.bandwidth_bytes_per_s also change "
        "scale_up.bus_bytes_per_s, or leave it out; --set scales it by itself.\n\n"
        "To add a system, save it as NAME.json in $XDG_DATA_HOME/kerf/systems (default: ~/.local/share/kerf/systems), "
        "or in the folder systems of --catalogue, of $KERF_DATA_DIR, or of share/kerf below kerf's installation. It "
        "cannot replace a built-in system: copy it to a new name to change it.",
    .options = system_options,
    .examples = system_examples,
    .arguments_offset = offsetof(struct catalogue_options, names),
};

static const char *const stack_examples[] = {
    "All stacks", "kerf stacks", "Constants of one, and what they rest on", "kerf stacks nemo", NULL,
};

static const struct command stacks_table = {
    .name = "stacks",
    .summary = "the software stacks that kerf knows by name",
    .arguments = "[STACK]",
    .description =
        "Without a name, lists the stacks: what a framework costs beside arithmetic and messages, of the cost model "
        "\"analytic\". With a name, prints that stack's file: each constant, how many published runs it was fitted on, "
        "and how far off runs of the stack were. docs/cost-model.md says what each constant is.",
    .options = system_options,
    .examples = stack_examples,
    .arguments_offset = offsetof(struct catalogue_options, names),
};

/* Runs and the widest 90 % of a stack's file. */
static void stacks_list(struct kerf_text *out, const struct kerf_catalogue *catalogue) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 0}, {0, TABLE_CUT}};
    struct kerf_text cells = {0};
    kerf_text_add(&cells, "stack\tmeasured runs\t90 % within\twhat it is\n");
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct kerf_catalogue_entry *entry = &catalogue->entries[i];
        struct kerf_stack *stack = NULL;
        if (kerf_stack_load(entry->name, &stack, NULL) != KERF_OK) continue;
        double width = kerf_stack_half_width(stack);
        kerf_text_printf(&cells, "%s\t%d\t", entry->name, kerf_stack_runs(stack));
        if (width > 0) kerf_text_printf(&cells, "%.0f %%", 100 * expm1(width));
        kerf_text_printf(&cells, "\t%s\n", kerf_stack_summary(stack));
        kerf_stack_free(stack);
    }
    terminal_table(out, &cells, columns, terminal_columns(), terminal_colour(), -1);
    kerf_text_free(&cells);
}

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

/* "summary" of a system's file: kerf_system has no room for it. */
static void summary_cell(struct kerf_text *cells, const struct kerf_catalogue_entry *entry) {
    struct json_document document;
    struct json_object root;
    const char *summary = "";
    if (json_document_parse(&document, entry->json, entry->length, entry->name, &root, NULL) == KERF_OK)
        json_get_string(&root, "summary", JSON_OPTIONAL, &summary, NULL);
    kerf_text_printf(cells, "\t%.*s\n", (int)strcspn(summary, "\t\n"), summary);
    json_document_free(&document);
}

static void systems_list(struct kerf_text *out, const struct kerf_catalogue *catalogue) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 0}, {1, 5},
                                                                   {1, 1}, {1, 3}, {1, 4}, {0, 2}};
    struct kerf_text cells = {0};
    kerf_text_add(&cells, "system\tmatrix\tmemory\tbandwidth\tdomain\tscale-up\tscale-out\twhat it is\n");
    for (size_t i = 0; i < catalogue->count; i++) {
        const struct kerf_catalogue_entry *entry = &catalogue->entries[i];
        struct kerf_system system;
        if (kerf_system_parse(entry->json, entry->length, entry->name, &system, NULL) != KERF_OK) continue;
        kerf_text_printf(&cells, "%s\t%.0f TFLOP/s\t%.0f GB\t%.0f GB/s\t%lld\t%.0f GB/s\t%g x %g GB/s", entry->name,
                         system.matrix_flops_per_s / 1e12, system.memory_capacity_bytes / 1e9,
                         system.memory_bandwidth_bytes_per_s / 1e9, (long long)system.scale_up.size,
                         system.scale_up.bandwidth_bytes_per_s / 1e9, system.scale_out.nics_per_device,
                         system.scale_out.bandwidth_bytes_per_s / 1e9);
        summary_cell(&cells, entry);
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

static int64_t or_one(int64_t value) { return value ? value : 1; }

/* What its sizes cost at a shard. */
static int32_t find_advice(const struct kerf_model *model, const struct catalogue_options *options,
                           struct kerf_problem *problem, struct kerf_layout *layout, struct kerf_advice *ret_advice,
                           struct kerf_error *err) {
    problem->model = *model;
    problem->seq_length = options->seq_length ? options->seq_length : model->max_position_embeddings;
    if (problem->seq_length == 0)
        return kerf_error_set(err, KERF_EINVALID, "%s has no max_position_embeddings: give --seq-length", model->name);
    layout->tp1 = or_one(options->tp);
    layout->tp2 = layout->pp = layout->dp = layout->cp = layout->vpp = 1;
    layout->ep = (int32_t)or_one(options->ep);
    layout->etp = (int32_t)or_one(options->etp);
    layout->micro_batch = or_one(options->micro_batch);
    int32_t code = kerf_system_load(options->system, &problem->system, err);
    if (code == KERF_OK && options->precision)
        code = kerf_precision_parse(options->precision, &problem->precision, err);
    problem->gpus = layout->tp1 * layout->ep * layout->etp;
    return code == KERF_OK ? kerf_model_advise(problem, layout, ret_advice, err) : code;
}

/* An option that would be ignored is a mistake. */
static int32_t check_options(const struct catalogue_options *options, struct kerf_error *err) {
    const char *given = options->tp            ? "--tp"
                        : options->ep          ? "--ep"
                        : options->etp         ? "--etp"
                        : options->micro_batch ? "--micro-batch"
                        : options->precision   ? "--precision"
                                               : NULL;
    if (given && options->system == NULL)
        return kerf_error_set(err, KERF_EINVALID,
                              "%s is for what the model's sizes cost on a system: also give --system", given);
    if (options->source && options->names.count == 0)
        return kerf_error_set(err, KERF_EINVALID, "--source prints the file of a model: name the model");
    if (!options->system && !options->seq_length) return KERF_OK;
    if (options->source || options->names.count == 0)
        return kerf_error_set(err, KERF_EINVALID, "%s: %s",
                              options->system ? "--system says what a model's sizes cost"
                                              : "--seq-length says of how many tokens a model's FLOP are",
                              options->source ? "leave out --source" : "name the model");
    return KERF_OK;
}

/* What kerf understands of the model. */
static int32_t print_model(struct kerf_text *out, const char *name, const struct catalogue_options *options,
                           struct kerf_error *err) {
    struct kerf_model model;
    int32_t code = kerf_model_load(name, &model, err);
    if (code != KERF_OK) return code;
    int64_t seq_length = options->seq_length ? options->seq_length : model.max_position_embeddings;
    struct kerf_problem problem = {.gpus = 0};
    struct kerf_layout layout = {.dp = 0};
    struct kerf_advice advice;
    if (options->system) code = find_advice(&model, options, &problem, &layout, &advice, err);
    if (code != KERF_OK) return code;
    model_notes(&model, NULL);
    if (strcmp(options->format, "json") != 0) {
        if (options->system)
            size_table(out, &problem, &layout, &advice);
        else
            model_table(out, &model, seq_length);
        return KERF_OK;
    }
    struct kerf_json json;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_model_json(&json, "model", &model, seq_length);
    if (options->system) {
        kerf_json_string(&json, "system", problem.system.name);
        kerf_json_string(&json, "precision", kerf_precision_name(problem.precision));
        kerf_layout_json(&json, "layout", &layout);
        kerf_advice_json(&json, "advice", &advice);
    }
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
    struct kerf_text out = {0};
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_catalogue *catalogue = NULL;
    int is_understood = command == &models_cli && !values.source;
    if (cli_use_catalogue(values.catalogue, &err) != KERF_OK || check_options(&values, &err) != KERF_OK)
        ; /* err says why */
    else if (values.names.count > 1)
        kerf_error_set(&err, KERF_EINVALID, "give one name, not also '%.64s'", values.names.items[1]);
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
static int run_stacks(int argc, char **argv) { return show(&stacks_cli, argc, argv, stacks_list); }
static int run_systems(int argc, char **argv) { return show(&systems_cli, argc, argv, systems_list); }

const struct cli_command models_cli = {&models_table, run_models};
const struct cli_command stacks_cli = {&stacks_table, run_stacks};
const struct cli_command systems_cli = {&systems_table, run_systems};
