/* SPDX-License-Identifier: Apache-2.0 */
/* kerf launch: what the launch scripts of training frameworks say, and such scripts for plans. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include "base/input.h"
#include "cli/command.h"
#include "cli/launch_file.h"

struct launch_options {
    struct string_list words; /* the action, then the file or the framework */
    const char *framework, *version, *format, *plan, *output;
    int64_t gpus, rank;
};

#define AT(field) .offset = offsetof(struct launch_options, field)
static const struct option options[] = {
    {.name = "framework",
     .type = OPTION_STRING,
     .uses = "read",
     AT(framework),
     .value = "NAME",
     .choices = "megatron,megatron-deepspeed,torchtitan,nanotron,deepspeed-hf,mlperf-nemo,megatron-bridge",
     .help = "megatron, megatron-deepspeed (or deepspeed), torchtitan, nanotron, deepspeed-hf, mlperf-nemo or "
             "megatron-bridge (default: recognised)."},
    {.name = "framework-version",
     .type = OPTION_STRING,
     AT(version),
     .value = "V",
     .help = "The release of the framework, such as 0.15.0 (Megatron-Core), 0.2.2 (torchtitan) or main. A flag that it "
             "does not have is refused, as it would (default: the newest that is known, and reading checks none)."},
    {.name = "gpus",
     .letter = 'n',
     .type = OPTION_INTEGER,
     .uses = "read",
     AT(gpus),
     .value = "N",
     .minimum = 1,
     .maximum = KERF_COUNT_MAX,
     .help = "Accelerators of the job (default: as the launch says)."},
    {.name = "format",
     .letter = 'f',
     .type = OPTION_CHOICE,
     .uses = "read",
     AT(format),
     .value = "FORM",
     .choices = "table,json",
     .help = "What is printed (default: table)."},
    {.name = "plan",
     .type = OPTION_STRING,
     .uses = "write",
     AT(plan),
     .value = "FILE",
     .help = "The plan: what `kerf plan --format json` or `kerf estimate --format json` has written; - is standard "
             "input."},
    {.name = "rank",
     .type = OPTION_INTEGER,
     .uses = "write",
     AT(rank),
     .value = "N",
     .minimum = 1,
     .maximum = KERF_TOP_MAX,
     .help = "Which of its layouts (default: 1, the best)."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRING,
     .uses = "write",
     AT(output),
     .value = "FILE",
     .help = "Write to FILE instead of standard output."},
    {.name = NULL},
};

static const char *const examples[] = {
    "What a script says of model, layout and batch",
    "kerf launch read pretrain.sh",
    "The same as JSON, where the number of nodes comes from the environment",
    "kerf launch read pretrain.sh --gpus 64 --format json",
    "A script of Megatron-LM for the best layout of a plan",
    "kerf launch write megatron --plan plan.json -o train.sh",
    "torchtitan's config for the third one",
    "kerf launch write torchtitan --plan plan.json --rank 3",
    NULL,
};

static const struct command_use uses[] = {{"read", "read FILE|-"}, {"write", "write FRAMEWORK"}, {NULL, NULL}};

static const struct command table = {
    .name = "launch",
    .summary = "launch scripts: what they say, and new ones for plans",
    .uses = uses,
    .description =
        "read: what the launch of a training job asks for. The launch is a shell or Slurm script, a line of arguments, "
        "TOML, YAML or JSON, of Megatron-LM, Megatron-DeepSpeed, torchtitan, nanotron, DeepSpeed around a Hugging Face "
        "model, MLPerf's NeMo or Megatron-Bridge. A script is never executed: variables, defaults, arrays, conditions "
        "and arithmetic are followed, and what would need a command to be run is an error that names it.\n\n"
        "write: the launch of a layout that `kerf plan` or `kerf estimate` has answered with: a script of megatron or "
        "deepspeed, the TOML of torchtitan, the YAML of nanotron or megatron-bridge. What the framework cannot do is "
        "an "
        "error that names it and the nearest layout that it can; `kerf plan --for FRAMEWORK` searches those alone.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct launch_options, words),
};

/* ---- Printing ------------------------------------------------------------------------------------------------------ */

static void row(struct kerf_text *out, const char *name, int64_t value) {
    if (value > 0) kerf_text_printf(out, "  %-16s %" PRId64 "\n", name, value);
}

static void part(struct kerf_text *out, const char *name, const struct kerf_layout *layout, const char *key) {
    kerf_text_printf(out, "  %-16s ", name);
    kerf_layout_value(out, layout, key);
    kerf_text_add(out, "\n");
}

static void print_layout(struct kerf_text *out, const struct kerf_launch *launch) {
    static const char *const parts[] = {"tp", "cp", "pp", "vpp", "ep", "etp"};
    const struct kerf_layout *layout = &launch->layout;
    kerf_text_add(out, "\nlayout\n");
    row(out, "dp", layout->dp);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) part(out, parts[i], layout, parts[i]);
    if (launch->ulysses > 1) row(out, "ulysses, of cp", launch->ulysses);
    if (layout->cp > 1) part(out, "cp by", layout, "cp_comm");
    if (layout->zero >= 0) part(out, "zero", layout, "zero");
    row(out, "micro-batch", layout->micro_batch);
    if (layout->recompute >= 0) part(out, "recompute", layout, "recompute");
    if (layout->pp > 1) part(out, "schedule", layout, "schedule");
    if (layout->stage_layers) part(out, "stage layers", layout, "stage_layers");
    if (layout->order) part(out, "order", layout, "order");
}

static void print_table(struct kerf_text *out, const struct kerf_launch *launch) {
    const struct kerf_launch_model *m = &launch->config;
    kerf_text_printf(out, "%s on %" PRId64 " accelerator%s\n\nmodel\n",
                     kerf_framework_name((enum kerf_framework)launch->framework), launch->gpus,
                     launch->gpus == 1 ? "" : "s");
    row(out, "layers", m->num_hidden_layers);
    row(out, "hidden size", m->hidden_size);
    row(out, "ffn size", m->intermediate_size);
    row(out, "heads", m->num_attention_heads);
    row(out, "kv heads", m->num_key_value_heads);
    row(out, "vocabulary", m->vocab_size);
    row(out, "experts", m->num_experts);
    row(out, "top k", m->num_experts_per_tok);
    row(out, "expert size", m->moe_intermediate_size);
    row(out, "shared size", m->shared_expert_intermediate_size);
    row(out, "dense layers", m->num_experts > 0 ? m->first_dense_layers : 0);
    row(out, "mtp layers", m->mtp_layers);
    row(out, "window", m->sliding_window);
    print_layout(out, launch);
    kerf_text_add(out, "\nwork\n");
    row(out, "global batch", launch->global_batch);
    row(out, "sequence", launch->seq_length);
    kerf_text_printf(out, "  %-16s %s\n", "precision", launch->precision);
    kerf_text_printf(out, "  %-16s %s\n", "gradients", launch->gradients);
    if (launch->num_assumed) kerf_text_add(out, "\nassumed\n");
    for (int32_t i = 0; i < launch->num_assumed; i++)
        kerf_text_printf(out, "  %-16s %s\n", launch->assumed[i].key, launch->assumed[i].value);
    if (launch->num_invalid) kerf_text_add(out, "\ninvalid: the framework would refuse this\n");
    for (int32_t i = 0; i < launch->num_invalid; i++) kerf_text_printf(out, "  %s\n", launch->invalid[i]);
    if (launch->num_ignored)
        kerf_text_add(out, "\nignored: they change neither layout nor shape, or kerf does not know them\n");
    for (int32_t i = 0; i < launch->num_ignored; i++) kerf_text_printf(out, "  %s\n", launch->ignored[i]);
}

static int print(const struct launch_options *values, const struct kerf_launch *launch) {
    struct kerf_text out = {0};
    struct kerf_json json;
    if (values->format == NULL || strcmp(values->format, "json") != 0) {
        print_table(&out, launch);
        return output_print(&out);
    }
    kerf_json_begin(&json, &out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_launch_json(&json, launch);
    kerf_json_close(&json, '}');
    kerf_text_add(&out, "\n");
    return output_print(&out);
}

/* ---- The command ---------------------------------------------------------------------------------------------------- */

static int32_t check_words(const struct string_list *words, struct kerf_error *err) {
    if (words->count == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "the action is missing: `kerf launch read FILE` or `kerf launch write FRAMEWORK`");
    int is_write = strcmp(words->items[0], "write") == 0;
    if (!is_write && strcmp(words->items[0], "read") != 0)
        return kerf_error_set(err, KERF_EUNKNOWN, "kerf launch does not know '%.64s'; write read or write",
                              words->items[0]);
    if (words->count == 1)
        return kerf_error_set(err, KERF_EINVALID,
                              is_write ? "the framework is missing: `kerf launch write megatron --plan plan.json`"
                                       : "the file is missing: `kerf launch read FILE`");
    if (words->count > 2)
        return kerf_error_set(err, KERF_EINVALID, "`kerf launch %s` takes one %s, not '%.64s' too", words->items[0],
                              is_write ? "framework" : "file", words->items[2]);
    return KERF_OK;
}

static int act_read(const struct launch_options *values, const char *file) {
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_launch *launch = NULL;
    int32_t code = launch_file_read(file, values->framework, values->version, values->gpus, &launch, &err);
    int status = code == KERF_OK ? print(values, launch) : cli_fail(&err);
    kerf_launch_free(launch);
    return status;
}

static int act_write(const struct launch_options *values, const char *framework_name) {
    enum { PLAN_BYTES_MAX = 256 << 20 };
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_text plan = {0}, out = {0};
    struct kerf_problem problem;
    struct kerf_layout layout = {.stage_layers = NULL};
    enum kerf_framework framework = KERF_FRAMEWORK_MEGATRON;
    int32_t code = kerf_framework_parse(framework_name, &framework, &err);
    if (code == KERF_OK && values->plan == NULL)
        code = kerf_error_set(&err, KERF_EINVALID, "--plan is missing: `kerf plan ... -o plan.json` writes one");
    if (code == KERF_OK && values->output) code = output_check(values->output, &err);
    if (code == KERF_OK && values->output) code = launch_file_check(framework, values->output, &err);
    if (code == KERF_OK) code = input_read(values->plan, PLAN_BYTES_MAX, &plan, &err);
    if (code == KERF_OK)
        code = kerf_launch_plan_parse(plan.data ? plan.data : "", plan.length, values->plan, (int32_t)values->rank,
                                      &problem, &layout, &err);
    if (code == KERF_OK) code = kerf_launch_write(framework, values->version, &problem, &layout, &out, &err);
    if (code == KERF_OK) code = output_file(values->output ? values->output : "-", &out, &err);
    kerf_layout_release(&layout);
    kerf_text_free(&plan);
    kerf_text_free(&out);
    return code == KERF_OK ? EXIT_ANSWERED : cli_fail(&err);
}

static int act(const struct launch_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    if (check_words(&values->words, &err) != KERF_OK) return cli_fail(&err);
    int is_write = strcmp(values->words.items[0], "write") == 0;
    return is_write ? act_write(values, values->words.items[1]) : act_read(values, values->words.items[1]);
}

static int run(int argc, char **argv) {
    struct launch_options values = {.format = "table", .rank = 1};
    int status = cli_parse(&launch_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = act(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command launch_cli = {&table, run};
