/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: an option table and a function that does what the options say; where the answer goes and how a command
 * ends. */
#ifndef KERF_CLI_COMMAND_H
#define KERF_CLI_COMMAND_H

#include "base/option.h"
#include "kerf/error.h"
#include "kerf/kerf.h"
#include "kerf/text.h"

enum exit_status {
    EXIT_ANSWERED = 0,
    EXIT_NO_ANSWER = 1, /* no feasible answer; the nearest miss is explained */
    EXIT_USAGE = 2,     /* bad usage or input */
    EXIT_FAILED = 3,    /* failed while running */
    EXIT_INTERRUPTED = 130
};

/* Prints "kerf: ..." on standard error and returns the status: usage for what the user gave, failed for the rest. */
int cli_fail(const struct kerf_error *err);

struct cli_command {
    const struct command *table;
    int (*run)(int argc, char **argv); /* arguments after the command's name; returns an exit_status */
};

/* Names are also looked for in models/ and systems/ of the folder (NULL: of none). */
int32_t cli_use_catalogue(const char *folder, struct kerf_error *err);
#define CLI_CATALOGUE_HELP                                                                                             \
    "Also find names in DIR/models and DIR/systems (default: $KERF_CATALOGUE). $XDG_DATA_HOME/kerf is always "         \
    "searched."

extern const struct cli_command plan_cli, estimate_cli, schedule_cli, serve_cli, open_cli, jobs_cli, token_cli, models_cli,
    systems_cli, stacks_cli, tune_cli, studies_cli, bub_cli, launch_cli, score_cli, calibrate_cli, explain_cli;

/* Parses the options. Returns -1 to go on; else the command is over (help was printed, or an error) and this is its
 * exit status. */
int cli_parse(const struct cli_command *command, int argc, char **argv, void *values);

/* ---- Where answers go -------------------------------------------------------------------------------------------- */

/* Writes the text to standard output, frees it and returns the exit status. A closed pipe is not a failure. */
int output_print(struct kerf_text *text);

/* Writes to standard output; KERF_EINTERRUPTED when its reader has closed it. */
int32_t output_stream(const struct kerf_text *text, struct kerf_error *err);

/* Writes the file whole or not at all: a new file takes the old one's place only when every byte is on the disk, and
 * keeps its permissions. "-" and "/dev/stdout" are standard output. */
int32_t output_file(const char *path, const struct kerf_text *text, struct kerf_error *err);

/* Fails where the file cannot be written: the user should know before the work, not after it. */
int32_t output_check(const char *path, struct kerf_error *err);

int output_is_stdout(const char *path);

/* Whether the path is standard output and that is a terminal, where binary formats are refused. */
int output_is_terminal(const char *path);

/* Whether the path names a device, a pipe or standard output: the name of such says nothing about a format. */
int output_is_special(const char *path);

/* What follows the last dot of the file's name, "json"; "" where there is no dot. */
const char *output_ending(const char *path);

#endif
