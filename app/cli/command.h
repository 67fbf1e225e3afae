/* SPDX-License-Identifier: Apache-2.0 */
/* What every command is: an option table, and a function that does what the options say. */
#ifndef KERF_CLI_COMMAND_H
#define KERF_CLI_COMMAND_H

#include "base/option.h"
#include "kerf/kerf.h"

/* How the program ends. */
enum exit_status {
    EXIT_ANSWERED = 0,
    EXIT_NO_ANSWER = 1, /* no feasible answer; the nearest miss is explained */
    EXIT_USAGE = 2,     /* bad usage or input */
    EXIT_FAILED = 3,    /* failed while running */
    EXIT_INTERRUPTED = 130
};

struct cli_command {
    const struct command *table;
    int (*run)(int argc, char **argv); /* arguments after the command's name; returns an exit_status */
};

/* Applies all --set assignments together, so that fields which depend on each other can be set in any order. */
int32_t cli_set(struct kerf_model *model, struct kerf_system *system, const struct string_list *sets,
                struct kerf_error *err);

extern const struct cli_command plan_cli, estimate_cli, schedule_cli, serve_cli, jobs_cli, token_cli, models_cli,
    systems_cli, tune_cli, studies_cli, bub_cli, help_cli;

/* All commands in the order in which help lists them. */
extern const struct cli_command *const cli_commands[];
extern const size_t num_cli_commands;

/* The command of this name, or NULL. */
const struct cli_command *cli_find(const char *name);

/* Says that there is no such command, and the nearest; returns the exit status. */
int cli_unknown(const char *name);

/* Prints "kerf: ..." on standard error and returns the status: usage for what the user gave, failed for the rest. */
int cli_fail(const struct kerf_error *err);

/* Parses the options. Returns -1 to go on; else the command is over (help was printed, or an error) and this is its
 * exit status. */
int cli_parse(const struct cli_command *command, int argc, char **argv, void *values);

#endif
