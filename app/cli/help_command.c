/* SPDX-License-Identifier: Apache-2.0 */
/* kerf help [VERB]: help, the manual pages and shell completion, all out of the option tables. */
#include "cli/help_command.h"

#include <assert.h>
#include <string.h>
#include "base/nearest.h"
#include "cli/output.h"
#include "cli/terminal.h"

struct help_options {
    int32_t mdoc;
    const char *completion;
    struct string_list verbs;
};

static const struct option options[] = {
    {.name = "mdoc",
     .type = OPTION_FLAG,
     .offset = offsetof(struct help_options, mdoc),
     .help = "Print the source of the manual page, in mdoc."},
    {.name = "completion",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct help_options, completion),
     .value = "SHELL",
     .choices = "bash",
     .help = "Print a completion script: source it, or put it where the shell looks."},
    {.name = NULL},
};

static const char *const examples[] = {
    "How to search for layouts",
    "kerf help plan",
    "Completion in this shell",
    "source <(kerf help --completion bash)",
    NULL,
};

static const struct command table = {
    .name = "help",
    .summary = "what the commands do, and their options",
    .arguments = "[VERB]",
    .description = "Without a command's name, lists the commands.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct help_options, verbs),
};

enum { COMMANDS_MAX = 16 };

const struct cli_command *command_find(const struct command_list *commands, const char *name) {
    for (size_t i = 0; i < commands->count; i++)
        if (strcmp(commands->items[i]->table->name, name) == 0) return commands->items[i];
    return NULL;
}

int command_unknown(const struct command_list *commands, const char *name) {
    enum { OPTIONS = 2 };
    const char *names[COMMANDS_MAX] = {"--version", "--help"};
    size_t count = name[0] == '-' ? OPTIONS : 0;
    if (count == 0)
        for (; count < commands->count; count++) names[count] = commands->items[count]->table->name;
    const char *nearest = nearest_name(name, names, count);
    struct kerf_error err;
    if (nearest)
        kerf_error_set(&err, KERF_EUNKNOWN, "no command '%.64s'; did you mean %s?", name, nearest);
    else
        kerf_error_set(&err, KERF_EUNKNOWN, "no command '%.64s'; `kerf help` lists those there are", name);
    return cli_fail(&err);
}

static void overview(struct kerf_text *out, const struct command_list *commands, int bold) {
    const char *on = bold ? "\033[1m" : "", *off = bold ? "\033[0m" : "";
    kerf_text_printf(out,
                     "%skerf%s finds how to cut a large-model job - batch, micro-batches, shards,\n"
                     "pipeline stages - so that the least is wasted on the machines at hand.\n\n",
                     on, off);
    for (size_t i = 0; i < commands->count; i++)
        kerf_text_printf(out, "  %s%-9s%s %s\n", on, commands->items[i]->table->name, off,
                         commands->items[i]->table->summary);
    kerf_text_printf(out,
                     "\n%sTry%s  kerf plan gpt3_1t -s a100 -n 1024 -b 4096\n"
                     "`kerf help VERB` tells a command's options; `kerf --version` the version.\n",
                     on, off);
}

int help_run(const struct command_list *commands, int argc, char **argv) {
    struct help_options values = {0};
    int status = cli_parse(&help_cli, argc, argv, &values);
    if (status >= 0) return status;
    struct kerf_text out = {0};
    const char *verb = values.verbs.count ? values.verbs.items[0] : NULL;
    const struct cli_command *command = verb ? command_find(commands, verb) : NULL;
    struct kerf_error err = {.code = KERF_OK};
    if (values.verbs.count > 1)
        kerf_error_set(&err, KERF_EINVALID, "one command at a time, not '%.64s' too", values.verbs.items[1]);
    options_free(&table, &values);
    if (err.code != KERF_OK) return cli_fail(&err);
    if (verb && command == NULL) return command_unknown(commands, verb);
    const struct command *tables[COMMANDS_MAX];
    assert(commands->count <= COMMANDS_MAX);
    for (size_t i = 0; i < commands->count; i++) tables[i] = commands->items[i]->table;
    if (values.completion) {
        commands_bash(&out, tables, commands->count);
    } else if (command && values.mdoc) {
        command_mdoc(&out, command->table, KERF_VERSION_DATE);
    } else if (values.mdoc) {
        commands_mdoc(&out, tables, commands->count, KERF_VERSION_DATE);
    } else if (command) {
        command_help(&out, command->table, terminal_columns(), terminal_colour());
    } else {
        overview(&out, commands, terminal_colour());
    }
    return output_print(&out);
}

const struct cli_command help_cli = {&table, NULL};
