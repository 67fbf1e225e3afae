/* SPDX-License-Identifier: Apache-2.0 */
/* What the completion scripts of all shells offer, out of the option tables: the uses of a command, the options of a use,
 * and what a value or an argument can be, by the word that the manual calls it: names that `kerf` lists (SYSTEM), a file
 * (FILE), a folder (DIR), or nothing that can be offered (TIME). */
#ifndef KERF_BASE_COMPLETION_H
#define KERF_BASE_COMPLETION_H

#include "base/option.h"

struct completion_value {
    const char *names;   /* what the script's function for names is asked: "models"; NULL: no names */
    const char *choices; /* "table,json"; NULL: none */
    int is_list;         /* several, with commas between them */
    int takes_files, takes_folders;
};

/** What can stand for an option's value. */
struct completion_value completion_of_option(const struct option *option);

/** What can stand behind the name of the use (NULL: no use was typed). */
struct completion_value completion_of_arguments(const struct command *command, const struct command_use *use);

/** Whether a use is typed as it is called: "show", not "SCHEDULE" or "--list". */
int completion_is_typed(const struct command_use *use);

/** Whether the command has uses that are typed. */
int completion_has_uses(const struct command *command);

/** Whether another program's command line follows "--" in this use: "run JOB -- SCRIPT...". */
int completion_runs_a_program(const struct command *command, const struct command_use *use);

/** Whether the option is offered behind a use; NULL: no use was typed. */
int completion_offers(const struct command *command, const struct option *option, const struct command_use *use);

/** Writes a space and the text as one word of bash or zsh. */
void completion_word(struct kerf_text *out, const char *text, size_t length);

/** The length of the first sentence of a text, without its full stop. */
size_t completion_sentence(const char *text);

#endif
