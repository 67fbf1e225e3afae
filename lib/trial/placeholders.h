/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a command with a setting filled in. {name} stands for the parameter's text, {setting} for all of them as
 * JSON, {port} for a server's port, {{ for a brace. A word that is only a flag's placeholder becomes as many words as the flag has, perhaps none.
 */
#ifndef KERF_TRIAL_PLACEHOLDERS_H
#define KERF_TRIAL_PLACEHOLDERS_H

#include "base/arena.h"
#include "kerf/trial.h"

/* Some of a command's words: one of its programs. */
struct command_part {
    int32_t from, to;
    int32_t has_port; /* {port} is a placeholder, unless a parameter has that name */
    int32_t port;     /* 0: not chosen yet, {port} stays as it is */
};

/* KERF_EINVALID where a placeholder is not a parameter or, unless may_leave_out, a parameter is used neither there nor by
 * `prepare`. */
int32_t placeholders_check(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                           int may_leave_out, int has_port, struct kerf_error *err);

/* Whether the words depend on the setting. */
int placeholders_any(const struct kerf_trial_command *command);

/* The launcher's words and then the part's, with a NULL behind them. NULL: not enough memory. */
char **placeholders_fill(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                         const struct command_part *part, int32_t setting, struct arena *arena);

/* `prepare` or `cleanup`, where only {name} of a parameter and {setting} are replaced: other braces are the shell's. NULL:
 * not enough memory. */
char *placeholders_fill_shell(const struct kerf_tune_space *space, const char *text, int32_t setting,
                              struct arena *arena);

#endif
