/* SPDX-License-Identifier: Apache-2.0 */
/* kerf VERB ...: finds the command and hands over. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "cli/command.h"
#include "cli/output.h"
#include "cli/terminal.h"

const struct cli_command *const cli_commands[] = {&plan_cli,  &estimate_cli, &schedule_cli, &tune_cli,
                                                  &bub_cli,   &studies_cli,  &serve_cli,    &jobs_cli,
                                                  &token_cli, &models_cli,   &systems_cli,  &help_cli};
const size_t num_cli_commands = sizeof cli_commands / sizeof *cli_commands;

const struct cli_command *cli_find(const char *name) {
    for (size_t i = 0; i < num_cli_commands; i++)
        if (strcmp(cli_commands[i]->table->name, name) == 0) return cli_commands[i];
    return NULL;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, void *values) {
    struct kerf_error err;
    int32_t help = 0;
    if (options_parse(command->table, argc, argv, values, &help, &err) != KERF_OK) {
        options_free(command->table, values);
        return cli_fail(&err);
    }
    if (!help) return -1;
    options_free(command->table, values);
    struct kerf_text text = {0};
    command_help(&text, command->table, terminal_columns(), terminal_colour());
    return output_print(&text);
}

int32_t cli_set(struct kerf_model *model, struct kerf_system *system, const struct string_list *sets,
                struct kerf_error *err) {
    struct kerf_text all = {0};
    struct kerf_error why;
    if (sets->count == 0) return KERF_OK;
    for (int32_t i = 0; i < sets->count; i++) kerf_text_printf(&all, "%s%s", i ? "," : "", sets->items[i]);
    int32_t code = all.failed ? kerf_error_set(&why, KERF_ENOMEM, "not enough memory")
                              : kerf_problem_set(model, system, all.data ? all.data : "", &why);
    kerf_text_free(&all);
    return code == KERF_OK ? KERF_OK : kerf_error_set(err, code, "--set: %s", why.message);
}

int cli_unknown(const char *name) {
    enum { MOST = 16, OPTIONS = 2 };
    const char *names[MOST] = {"--version", "--help"};
    size_t count = name[0] == '-' ? OPTIONS : 0;
    if (count == 0)
        for (; count < num_cli_commands; count++) names[count] = cli_commands[count]->table->name;
    const char *nearest = kerf_text_nearest(name, names, count);
    struct kerf_error err;
    if (nearest)
        kerf_error_set(&err, KERF_EUNKNOWN, "no command '%.64s'; did you mean %s?", name, nearest);
    else
        kerf_error_set(&err, KERF_EUNKNOWN, "no command '%.64s'; `kerf help` lists those there are", name);
    return cli_fail(&err);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN); /* a reader who has seen enough is told by write(2), */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that has reached its limit */
    if (argc < 2) {
        help_cli.run(0, argv);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        struct kerf_text text = {0};
        kerf_text_printf(&text, "kerf %s\n", kerf_version());
        return output_print(&text);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help_cli.run(argc - 2, argv + 2);
    const struct cli_command *command = cli_find(argv[1]);
    return command ? command->run(argc - 2, argv + 2) : cli_unknown(argv[1]);
}
