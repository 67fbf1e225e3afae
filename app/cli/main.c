/* SPDX-License-Identifier: Apache-2.0 */
/* kerf VERB ...: finds the command and hands over. kerf help [VERB] is here too, as it is about all commands: help, the
 * manual pages and shell completion, all out of the option tables. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "base/characters.h"
#include "cli/command.h"
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
     .choices = "bash,zsh,fish",
     .help = "Print a completion script: source it, or put it into the shell's folder for completions."},
    {.name = NULL},
};

static const char *const examples[] = {
    "How to search for layouts",
    "kerf help plan",
    "Completion in this shell",
    "source <(kerf help --completion bash)",
    "Completion in every fish",
    "kerf help --completion fish > ~/.config/fish/completions/kerf.fish",
    NULL,
};

static const struct command table = {
    .name = "help",
    .summary = "what the commands do, and their options",
    .arguments = "[VERB]",
    .description = "Without VERB it lists the commands.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct help_options, verbs),
};

static const struct cli_command help_cli = {&table, NULL}; /* help_run takes its place */

/* In the order in which help lists them. */
static const struct cli_command *const commands[] = {
    &plan_cli,   &estimate_cli, &schedule_cli,  &tune_cli,    &bub_cli,     &studies_cli,
    &serve_cli,  &open_cli,     &jobs_cli,      &token_cli,     &models_cli,  &systems_cli, &stacks_cli,
    &launch_cli, &score_cli,    &calibrate_cli, &explain_cli, &help_cli};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* The command of this name, or NULL. */
static const struct cli_command *command_find(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->table->name, name) == 0) return commands[i];
    return NULL;
}

/* Says that there is no such command, and the nearest; returns the exit status. */
static int command_unknown(const char *name) {
    enum { OPTIONS = 2 };
    const char *names[COMMANDS] = {"--version", "--help"};
    size_t count = name[0] == '-' ? OPTIONS : 0;
    if (count == 0)
        for (; count < COMMANDS; count++) names[count] = commands[count]->table->name;
    const char *nearest = nearest_name(name, names, count);
    struct kerf_error err;
    if (nearest)
        kerf_error_set(&err, KERF_EUNKNOWN, "no command '%.64s'; did you mean %s?", name, nearest);
    else
        kerf_error_set(&err, KERF_EUNKNOWN, "no command '%.64s'; `kerf help` lists the commands", name);
    return cli_fail(&err);
}

static void overview(struct kerf_text *out, int bold) {
    const char *on = bold ? "\033[1m" : "", *off = bold ? "\033[0m" : "";
    kerf_text_printf(out,
                     "%skerf%s finds the way to cut a large-model job - batch, micro-batches, shards,\n"
                     "pipeline stages - that wastes the least on the machines you have.\n\n",
                     on, off);
    for (size_t i = 0; i < COMMANDS; i++)
        kerf_text_printf(out, "  %s%-9s%s %s\n", on, commands[i]->table->name, off, commands[i]->table->summary);
    kerf_text_printf(out,
                     "\n%sTry%s  kerf plan gpt3_1t -s a100 -n 1024 -b 4096\n"
                     "`kerf help VERB` shows a command's options; `kerf --version` shows the version.\n",
                     on, off);
}

static int help_run(int argc, char **argv) {
    struct help_options values = {0};
    int status = cli_parse(&help_cli, argc, argv, &values);
    if (status >= 0) return status;
    struct kerf_text out = {0};
    const char *verb = values.verbs.count ? values.verbs.items[0] : NULL;
    const struct cli_command *command = verb ? command_find(verb) : NULL;
    struct kerf_error err = {.code = KERF_OK};
    if (values.verbs.count > 1)
        kerf_error_set(&err, KERF_EINVALID, "give one command, not also '%.64s'", values.verbs.items[1]);
    options_free(&table, &values);
    if (err.code != KERF_OK) return cli_fail(&err);
    if (verb && command == NULL) return command_unknown(verb);
    const struct command *tables[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++) tables[i] = commands[i]->table;
    if (values.completion) {
        (strcmp(values.completion, "zsh") == 0    ? commands_zsh
         : strcmp(values.completion, "fish") == 0 ? commands_fish
                                                  : commands_bash)(&out, tables, COMMANDS);
    } else if (command && values.mdoc) {
        command_mdoc(&out, command->table, KERF_VERSION_DATE);
    } else if (values.mdoc) {
        commands_mdoc(&out, tables, COMMANDS, KERF_VERSION_DATE);
    } else if (command) {
        command_help(&out, command->table, terminal_columns(), terminal_colour());
    } else {
        overview(&out, terminal_colour());
    }
    return output_print(&out);
}

/* The next file that is opened would take the number of a closed standard stream. So a closed stream is replaced by
 * /dev/null, opened the wrong way round: reading from it, or writing to it, is then an error. */
static void hold_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
        if (open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY) != fd) _exit(EXIT_FAILED);
    }
}

int main(int argc, char **argv) {
    hold_standard_streams();
    signal(SIGPIPE, SIG_IGN); /* a reader who has seen enough is told by write(2), */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that has reached its limit */
    if (argc < 2) {
        help_run(0, argv);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        struct kerf_text text = {0};
        kerf_text_printf(&text, "kerf %s\n", kerf_version());
        return output_print(&text);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help_run(argc - 2, argv + 2);
    const struct cli_command *command = command_find(argv[1]);
    if (command == &help_cli) return help_run(argc - 2, argv + 2);
    return command ? command->run(argc - 2, argv + 2) : command_unknown(argv[1]);
}
