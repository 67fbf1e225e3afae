/* SPDX-License-Identifier: Apache-2.0 */
/* kerf help: it is about the other commands, which it is given. */
#ifndef KERF_CLI_HELP_COMMAND_H
#define KERF_CLI_HELP_COMMAND_H

#include "cli/command.h"

/* All commands, in the order in which help lists them; help itself is the last. */
struct command_list {
    const struct cli_command *const *items;
    size_t count;
};

extern const struct cli_command help_cli; /* its run is NULL: help_run takes its place */
int help_run(const struct command_list *commands, int argc, char **argv);

/* The command of this name, or NULL. */
const struct cli_command *command_find(const struct command_list *commands, const char *name);

/* Says that there is no such command, and the nearest; returns the exit status. */
int command_unknown(const struct command_list *commands, const char *name);

#endif
