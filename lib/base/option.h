/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option tables: one table per command feeds the parser, --help, the manual page and shell completion, so that all of
 * them agree.
 *
 * A command keeps its values in a struct of its own; each option says where in it (offsetof) its value
 * goes. The caller fills the struct with the defaults before parsing; lists start as all zeros. Strings
 * point into argv.
 */
#ifndef KERF_BASE_OPTION_H
#define KERF_BASE_OPTION_H

#include "kerf/text.h"

enum option_type {
    OPTION_FLAG,     /* int32_t set to 1; takes no value */
    OPTION_STRING,   /* const char * */
    OPTION_ONE,      /* const char * that no second one replaces: a command or list, of which one would be lost */
    OPTION_INTEGER,  /* int64_t within [minimum, maximum]; decimal digits, no "+", no "1e3" */
    OPTION_NUMBER,   /* double within [minimum, maximum]; finite, decimal: "0.5", "1e-3" */
    OPTION_DURATION, /* double, seconds within [minimum, maximum]: "1.5", "5ms", "10m", "1h30m", "90d" */
    OPTION_CHOICE,   /* const char *, one of `choices` */
    OPTION_STRINGS   /* struct string_list; may be given several times */
};

enum { OPTIONS_MAX = 64 }; /* of one command */

struct string_list {
    const char **items; /* allocated by the parser, given back with options_free */
    int32_t count;
};

struct option {
    const char *name; /* long name without dashes, "scale-up-size" */
    char letter;      /* 'o' for -o, 0 for none; means the same option in every command */
    enum option_type type;
    size_t offset;     /* of the value in the command's struct */
    const char *value; /* what help calls the value: "N", "FILE"; NULL for a flag */
    /* OPTION_CHOICE: "table,json,csv", all there are; OPTION_STRING: what shells offer; else NULL */
    const char *choices;
    double minimum, maximum; /* for numbers; both 0: any; infinite: no bound; minimum DBL_MIN: above 0 */
    const char *help;        /* one or two sentences; says the default; choices and bounds are added to it */
    const char *uses;        /* which uses of the command take it, "show,export"; NULL: all */
};

/* One of several uses of a command, which its first argument chooses: `kerf studies show STUDY`. */
struct command_use {
    const char *name;      /* that argument, "show"; in capitals where it is the user's own word: "SCHEDULE" */
    const char *arguments; /* all of them for the synopsis: "show STUDY" */
};

struct command_exit {
    const char *status;  /* "10" */
    const char *meaning; /* lower case, no full stop */
};

struct command {
    const char *name;               /* "plan" */
    const char *summary;            /* one line, lower case, no full stop: "the best layouts of a model" */
    const char *arguments;          /* positional ones, for the synopsis: "MODEL[,MODEL...]"; NULL: none, or by use */
    const char *description;        /* paragraphs separated by a blank line */
    const struct option *options;   /* ended by an entry whose name is NULL */
    const char *const *examples;    /* pairs: what it answers, the command line; ended by NULL */
    size_t arguments_offset;        /* of a struct string_list for the positional arguments */
    const struct command_use *uses; /* ended by an entry whose name is NULL; the first one is meant where there is no
                                       argument. NULL: one use */
    /* Whether the values ask for this use (a name from uses, or from an option's uses). NULL: the first argument is
     * the use's name, or, where that is in capitals, a word that is not the name of another use. */
    int (*is_use)(const void *values, const char *use);
    const struct command_exit *exits; /* ended by an entry whose status is NULL; NULL: the usual ones */
};

/**
 * Reads argv[0..argc-1] (without the program's and the command's name) into values.
 *
 * Accepts --name VALUE, --name=VALUE, -o VALUE, -oVALUE, -o=VALUE, and `--` before positional arguments that begin
 * with a dash ("-" alone is positional). A later value replaces an earlier one, as where a script adds to a command
 * line, but for OPTION_ONE; OPTION_STRINGS and positional arguments add up, in the order given. Any number of positional
 * arguments is accepted; the command checks how many there must be.
 *
 * KERF_EUNKNOWN: an option that is not in the table (the message names the nearest one), or a choice that is not
 * offered. KERF_EINVALID: a missing value, the empty name of a file (FILE, DIR, STORE or DATABASE), a value for a flag, a
 * second one for OPTION_ONE, a number that is not one or lies outside its bounds, an argument where the command takes none,
 * an option that this use of the command does not take. `--`, and the long name of an option of this command, are never taken for the value of the option
 * before them: `--gpus --top 5` lacks a value, --gpus=--top has one.
 *
 * --help (-h) is no entry of the table: it ends the reading, whatever follows, and sets *ret_help to 1 (to 0
 * where it is not given). After an error the lists in values are empty and the rest of it means nothing.
 */
int32_t options_parse(const struct command *command, int argc, char **argv, void *values, int32_t *ret_help,
                      struct kerf_error *err);

/** KERF_EUNKNOWN: the argument, such as --gpu, is no option; names the nearest one. */
int32_t option_unknown(const struct command *command, const char *argument, struct kerf_error *err);

/** Gives back what the parser allocated inside values, and empties the lists. */
void options_free(const struct command *command, void *values);

/** What a value must be, as the error and the manual say it: "a whole number between 1 and 1000", "one of
 * table, json or csv"; nothing where every text will do. */
void option_rule(struct kerf_text *out, const struct option *option);

/* Help and manual show options in groups: those of the same uses, in the order of each group's first. */
int option_is_for(const struct option *option, const char *uses);
int option_begins_group(const struct command *command, const struct option *option);

/** The group's title: "Options of show and list"; "Options", or "Other options" behind others, where all take them. */
void options_title(struct kerf_text *out, const struct command *command, const struct option *first);

/** Help for a terminal of `columns` columns (0: 80; the lines stay within 100); `bold` is 1 where escape
 * sequences may be used. */
void command_help(struct kerf_text *out, const struct command *command, int32_t columns, int32_t bold);

/** The command's manual page in mdoc(7), "kerf-plan(1)"; passes `mandoc -T lint -W warning` without a word.
 * `date` is the release's, as mdoc writes dates: "November 1, 2026". */
void command_mdoc(struct kerf_text *out, const struct command *command, const char *date);

/** The page kerf(1), which lists the commands, in the same form. */
void commands_mdoc(struct kerf_text *out, const struct command *const *commands, size_t count, const char *date);

/* Completion scripts for `kerf` with these commands: names of commands, uses and options, choices, names that kerf lists
 * (models, systems, schedules, studies, jobs), and files where files belong. */

/** Needs bash alone, without the bash-completion package. */
void commands_bash(struct kerf_text *out, const struct command *const *commands, size_t count);

/** For zsh: the file _kerf of a folder in $fpath. */
void commands_zsh(struct kerf_text *out, const struct command *const *commands, size_t count);

/** For fish: kerf.fish of a folder for completions. */
void commands_fish(struct kerf_text *out, const struct command *const *commands, size_t count);

#endif
