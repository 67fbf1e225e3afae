/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shell script that is followed without being executed. Assignments, arrays, parameter expansion, arithmetic,
 * conditions, loops over lists, functions and here-documents are followed; a command is only written down. What cannot be
 * known stands in a value as a mark: LAUNCH_UNSET NAME LAUNCH_UNSET for a variable that nothing sets, LAUNCH_NOT_RUN TEXT
 * LAUNCH_NOT_RUN for a command substitution. Every recursion and every loop is bounded.
 */
#ifndef KERF_LAUNCH_SHELL_H
#define KERF_LAUNCH_SHELL_H

#include "launch/launch_table.h"

/* Where the shell reads: a script, a function's body, the text of `bash -c`. */
struct shell_cursor {
    const char *text, *end;
    int32_t line;
};

struct shell_variable {
    const char *name;
    const char **items; /* [count]; a plain variable has one */
    int32_t count;
    int8_t is_array;
};

struct shell_command {
    const char **words;
    int32_t num_words, line;
    const char **settings; /* NAME=VALUE before the words */
    int32_t num_settings;
};

struct shell_text { /* a function's body or a here-document's file */
    const char *name, *text;
    size_t length;
    int32_t line;
};

enum { SHELL_VARIABLES_MAX = 1024, SHELL_TEXTS_MAX = 256, SHELL_COMMANDS_MAX = 4096, SHELL_STEPS_MAX = 50000 };

struct shell {
    struct arena *arena;
    const char *name; /* of the script, for errors */
    struct kerf_error *err;
    int32_t code; /* the first error; all stops there */
    int64_t steps, bytes;
    int32_t depth; /* of functions, groups, quotes */
    struct shell_variable variables[SHELL_VARIABLES_MAX];
    struct shell_text functions[SHELL_TEXTS_MAX], files[SHELL_TEXTS_MAX];
    struct shell_command commands[SHELL_COMMANDS_MAX];
    int32_t num_variables, num_functions, num_files, num_commands;
    const char **arguments; /* "$1" and so on, of a function */
    int32_t num_arguments;
    struct launch_table *assumed; /* conditions that could not be known */
    struct shell_heredoc *heredocs;
    int32_t num_heredocs;
    int32_t is_reached; /* 0: what is read is passed over */
};

/* Follows the script. The commands, files and variables are in the shell then. */
int32_t shell_follow(struct shell *shell, const char *text, size_t length);

/* ---- Between the files of the shell ------------------------------------------------------------------------------ */

/* Words that an expansion makes. */
struct shell_fields {
    const char **items;
    int32_t count, capacity;
    struct kerf_text now;
    int has_now;
    int is_void; /* an array or the arguments stood in the quotes and held nothing */
};

int32_t shell_fail(struct shell *shell, int32_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));
int shell_enter(struct shell *shell, int32_t line); /* 0: too deep, an error; else shell_leave follows */
void shell_leave(struct shell *shell);
struct shell_variable *shell_variable(struct shell *shell, const char *name, size_t length);
void shell_set(struct shell *shell, const char *name, size_t length, const char *const *items, int32_t count,
               int is_array);
void shell_field_end(struct shell *shell, struct shell_fields *fields);
void shell_fields_free(struct shell_fields *fields);
/* Reads one word and adds its fields; is_split 0: one field, as in an assignment. */
void shell_word(struct shell *shell, struct shell_cursor *cursor, struct shell_fields *fields, int is_split);
/* The same as one string, "" where there is none. */
const char *shell_one_word(struct shell *shell, struct shell_cursor *cursor);
/* Expands the whole text as between double quotes. */
const char *shell_expand(struct shell *shell, const char *text, size_t length, int32_t line);
/* A pattern of the shell's. */
int shell_matches(const char *pattern, const char *text);
/* Arithmetic; 0 where the value cannot be known. */
int shell_arithmetic(struct shell *shell, const char *text, int32_t line, int64_t *ret_value);
int shell_is_name(char c, int is_first);

#endif
