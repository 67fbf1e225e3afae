/* SPDX-License-Identifier: Apache-2.0 */
/* What every command is: an option table, and a function that does what the options say. */
#ifndef KERF_CLI_COMMAND_H
#define KERF_CLI_COMMAND_H

#include "base/option.h"
#include "cli/status.h"
#include "kerf/kerf.h"

struct cli_command {
    const struct command *table;
    int (*run)(int argc, char **argv); /* arguments after the command's name; returns an exit_status */
};

/* Names are also looked for in models/ and systems/ of the folder (NULL: of none). */
void cli_use_catalogue(const char *folder);
#define CLI_CATALOGUE_HELP                                                                                             \
    "Also find names in DIR/models and DIR/systems (default: $KERF_CATALOGUE). $XDG_DATA_HOME/kerf is always "         \
    "searched."

extern const struct cli_command plan_cli, estimate_cli, schedule_cli, serve_cli, jobs_cli, token_cli, models_cli,
    systems_cli, tune_cli, studies_cli, bub_cli;

/* Parses the options. Returns -1 to go on; else the command is over (help was printed, or an error) and this is its
 * exit status. */
int cli_parse(const struct cli_command *command, int argc, char **argv, void *values);

/* Applies all --set assignments together, so that fields which depend on each other can be set in any order. */
int32_t cli_set(struct kerf_model *model, struct kerf_system *system, const struct string_list *sets,
                struct kerf_error *err);

#endif
