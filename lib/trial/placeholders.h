/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a command with a setting in them. {name} is the parameter's text, {setting} all of them as JSON, {{ a
 * brace. A word that is but a flag's placeholder becomes as many words as the flag has, which may be none.
 */
#ifndef KERF_TRIAL_PLACEHOLDERS_H
#define KERF_TRIAL_PLACEHOLDERS_H

#include "base/arena.h"
#include "kerf/trial.h"

/* Every placeholder is a parameter and, unless may_leave_out, every parameter is used. */
int32_t placeholders_check(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                           int may_leave_out, struct kerf_error *err);

/* Whether the words depend on the setting. */
int placeholders_any(const struct kerf_trial_command *command);

/* The launcher's words and the command's, ended by NULL. NULL: not enough memory. */
char **placeholders_fill(const struct kerf_tune_space *space, const struct kerf_trial_command *command, int32_t setting,
                         struct arena *arena);

#endif
