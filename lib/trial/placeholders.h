/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a command with a setting filled in. {name} stands for the parameter's text, {setting} for all of them as
 * JSON, {{ for a brace. A word that is only a flag's placeholder becomes as many words as the flag has, perhaps none.
 */
#ifndef KERF_TRIAL_PLACEHOLDERS_H
#define KERF_TRIAL_PLACEHOLDERS_H

#include "base/arena.h"
#include "kerf/trial.h"

/* KERF_EINVALID where a placeholder is not a parameter or, unless may_leave_out, a parameter is not used. */
int32_t placeholders_check(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                           int may_leave_out, struct kerf_error *err);

/* Whether the words depend on the setting. */
int placeholders_any(const struct kerf_trial_command *command);

/* The launcher's words and then the command's, with a NULL behind them. NULL: not enough memory. */
char **placeholders_fill(const struct kerf_tune_space *space, const struct kerf_trial_command *command, int32_t setting,
                         struct arena *arena);

#endif
