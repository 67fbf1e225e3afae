/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option tables: one table per command feeds the parser, --help, the manual page and shell completion, so
 * that none of them can say something that another does not.
 *
 * A command keeps its values in a struct of its own; each option says where in it (offsetof) its value
 * goes. The caller fills the struct with the defaults before parsing; lists start as all zeros. Strings
 * point into argv.
 */
#ifndef KERF_BASE_OPTION_H
#define KERF_BASE_OPTION_H

#include "kerf/text.h"

enum option_type {
    OPTION_FLAG,    /* int32_t set to 1; takes no value */
    OPTION_STRING,  /* const char * */
    OPTION_INTEGER, /* int64_t within [minimum, maximum]; decimal digits, no "+", no "1e3" */
    OPTION_NUMBER,  /* double within [minimum, maximum]; finite, decimal: "0.5", "1e-3" */
    OPTION_CHOICE,  /* const char *, one of `choices` */
    OPTION_STRINGS  /* struct string_list; may be given several times */
};

struct string_list {
    const char **items; /* allocated by the parser, given back with options_free */
    int32_t count;
};

struct option {
    const char *name; /* long name without dashes, "scale-up-size" */
    char letter;      /* 'o' for -o, 0 for none */
    enum option_type type;
    size_t offset;           /* of the value in the command's struct */
    const char *value;       /* what help calls the value: "N", "FILE"; NULL for a flag */
    const char *choices;     /* OPTION_CHOICE: "table,json,csv"; else NULL */
    double minimum, maximum; /* for numbers; both 0: any; infinite: no bound; minimum DBL_MIN: above 0 */
    const char *help;        /* one or two sentences; says the default; choices and bounds are added to it */
};

struct command {
    const char *name;                  /* "plan" */
    const char *summary;               /* one line, lower case, no full stop: "the best layouts of a model" */
    const char *arguments;             /* positional ones, for the synopsis: "MODEL[,MODEL...]"; NULL: none */
    const char *description;           /* paragraphs separated by a blank line */
    const struct option *options; /* ended by an entry whose name is NULL */
    const char *const *examples;       /* pairs: what it answers, the command line; ended by NULL */
    size_t arguments_offset;           /* of a struct string_list for the positional arguments */
};

/**
 * Reads argv[0..argc-1] (without the program's and the command's name) into values.
 *
 * Accepts --name VALUE, --name=VALUE, -o VALUE, -oVALUE, -o=VALUE, and `--` before positional arguments that
 * begin with a dash ("-" alone is positional). A later value replaces an earlier one; OPTION_STRINGS and
 * positional arguments add up, in the order given. Every positional argument is taken: how many there must
 * be is the command's to say.
 *
 * KERF_EUNKNOWN: an option that is not in the table, which the message follows with the nearest one, or a
 * choice that is not offered. KERF_EINVALID: a missing value, a value for a flag, a number that is not one or
 * lies outside its bounds, an argument where the command takes none. `--`, and the long name of an option of
 * this command, are never taken for the value of the option before them: `--gpus --top 5` lacks a value,
 * --gpus=--top has one.
 *
 * --help (-h) is no entry of the table: it ends the reading, whatever follows, and sets *ret_help to 1 (to 0
 * where it is not given). After an error the lists in values are empty and the rest of it means nothing.
 */
int32_t options_parse(const struct command *command, int argc, char **argv, void *values,
                                    int32_t *ret_help, struct kerf_error *err);

/** Gives back what the parser allocated inside values, and empties the lists. */
void options_free(const struct command *command, void *values);

/** What a value must be, as the error and the manual say it: "a whole number between 1 and 1000", "one of
 * table, json or csv"; nothing where every text will do. */
void option_rule(struct kerf_text *out, const struct option *option);

/** Help for a terminal of `columns` columns (0: 80; the lines stay within 100); `bold` is 1 where escape
 * sequences may be used. */
void command_help(struct kerf_text *out, const struct command *command, int32_t columns,
                                int32_t bold);

/** The command's manual page in mdoc(7), "kerf-plan(1)"; passes `mandoc -T lint -W warning` without a word.
 * `date` is the release's, as mdoc writes dates: "November 1, 2026". */
void command_mdoc(struct kerf_text *out, const struct command *command, const char *date);

/** The page kerf(1), which lists the commands, in the same form. */
void commands_mdoc(struct kerf_text *out, const struct command *const *commands, size_t count,
                                 const char *date);

/** A bash completion script for `kerf` with these commands: names of commands and options, choices, and
 * files everywhere else. Needs bash alone, without the bash-completion package. */
void commands_bash(struct kerf_text *out, const struct command *const *commands, size_t count);

#endif
