/* SPDX-License-Identifier: Apache-2.0 */
/* A program beside kerf with one option table: the table "llama-worker" is of kerf-llama-worker. */
#ifndef KERF_LLAMA_OWN_PROGRAM_H
#define KERF_LLAMA_OWN_PROGRAM_H

#include "base/option.h"

/* Says why on standard error, and returns the status. */
int own_program_refuse(const struct command *table, int status, const char *message);

/* Prints its help, in which it is called as itself and not as a command of kerf's. */
void own_program_help(const struct command *table);

#endif
