/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a command line by its option table. One pass from left to right; errors quote at most the first 60
 * bytes of what they complain about, so that the part which says what would be right is never cut off. */
#include "base/option.h"

#include "base/characters.h"
#include "base/error_fill.h"
#include "base/number.h"
#include "base/quantity.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef __clang__ /* gcc -fanalyzer loses sight of a pointer that is stored at a computed offset */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

static const struct option help_option = {.name = "help", .letter = 'h', .type = OPTION_FLAG};

struct quote {
    char text[68];
};

/* The first length bytes of text, shortened to whole UTF-8 code points. */
static struct quote quote(const char *text, size_t length) {
    enum { MOST = 60 };
    struct quote quote = {{0}};
    size_t keep = length;
    if (length > MOST) {
        keep = MOST;
        while (keep > 0 && ((unsigned char)text[keep] & 0xC0) == 0x80) keep--;
        memcpy(quote.text + keep, "...", 3);
    }
    memcpy(quote.text, text, keep);
    return quote;
}

static const struct option *find_name(const struct command *command, const char *name, size_t length) {
    for (const struct option *option = command->options; option && option->name; option++)
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0) return option;
    return length == 4 && memcmp(name, help_option.name, 4) == 0 ? &help_option : NULL;
}

static const struct option *find_letter(const struct command *command, char letter) {
    for (const struct option *option = command->options; option && option->name; option++)
        if (option->letter == letter) return option;
    return letter == help_option.letter ? &help_option : NULL;
}

/* An argument that is never the value of the option before it: "--" or the long name of an option of this command. */
static int is_option(const struct command *command, const char *argument) {
    if (argument[0] != '-' || argument[1] != '-') return 0;
    return argument[2] == 0 || find_name(command, argument + 2, strcspn(argument + 2, "=")) != NULL;
}

/* nearest_name over the names of the table, two at a time, which needs no memory for a list. */
static const char *nearest_option(const struct command *command, const char *word) {
    const char *nearest = nearest_name(word, &help_option.name, 1);
    for (const struct option *option = command->options; option && option->name; option++) {
        const char *const pair[] = {option->name, nearest};
        nearest = nearest_name(word, pair, nearest ? 2 : 1);
    }
    return nearest;
}

int32_t option_unknown(const struct command *command, const char *argument, struct kerf_error *err) {
    const char *word = argument + strspn(argument, "-");
    size_t length = strcspn(word, "=");
    const char *nearest = nearest_option(command, quote(word, length).text);
    struct quote given = quote(argument, length ? (size_t)(word - argument) + length : strlen(argument));
    if (nearest)
        return kerf_error_set(err, KERF_EUNKNOWN, "unknown option %s; did you mean --%s?", given.text, nearest);
    return kerf_error_set(err, KERF_EUNKNOWN, "unknown option %s; kerf %s --help lists the options", given.text,
                          command->name);
}

static int32_t no_memory(struct kerf_error *err) { return error_no_memory(err, "the command line"); }

static int32_t append(struct string_list *list, const char *string, struct kerf_error *err) {
    if ((list->count & (list->count - 1)) == 0) { /* 0, 1, 2, 4, ...: as many as there is room for */
        size_t room = list->count ? (size_t)list->count * 2 : 1;
        const char **items = realloc(list->items, room * sizeof *items);
        if (items == NULL) return no_memory(err);
        list->items = items;
    }
    list->items[list->count++] = string;
    return KERF_OK;
}

struct bounds {
    double least, most; /* infinite: none */
};

static struct bounds bounds_of(const struct option *option) {
    struct bounds bounds = {option->minimum, option->maximum};
    if (bounds.least == 0 && bounds.most == 0) bounds = (struct bounds){-INFINITY, INFINITY};
    if (option->type == OPTION_DURATION && bounds.least <= 0) bounds.least = -INFINITY; /* there are none below 0 */
    if (option->type == OPTION_INTEGER) { /* a bound that every int64_t keeps need not be named */
        if (bounds.least <= -0x1p63) bounds.least = -INFINITY;
        if (bounds.most >= 0x1p63) bounds.most = INFINITY;
    }
    return bounds;
}

static void bound(struct kerf_text *out, const struct option *option, const char *words, double value) {
    kerf_text_add(out, words);
    if (option->type == OPTION_DURATION)
        duration_write(out, value);
    else
        kerf_text_number(out, value);
}

static void rule_of_number(struct kerf_text *out, const struct option *option) {
    struct bounds bounds = bounds_of(option);
    enum { FOR_EVER_S = 1000000000 }; /* a bound that no user comes near need not be named */
    int has_least = isfinite(bounds.least);
    int has_most = isfinite(bounds.most) && !(option->type == OPTION_DURATION && bounds.most >= FOR_EVER_S);
    int above_0 = bounds.least > 0 && bounds.least <= DBL_MIN;
    kerf_text_add(out, option->type == OPTION_INTEGER    ? "a whole number"
                       : option->type == OPTION_DURATION ? "a time"
                                                         : "a number");
    if (above_0)
        kerf_text_add(out, " above 0");
    else if (has_least)
        bound(out, option, has_most ? " between " : " of at least ", bounds.least);
    if (has_most) bound(out, option, above_0 ? " and at most " : has_least ? " and " : " of at most ", bounds.most);
    if (option->type == OPTION_DURATION)
        kerf_text_add(out, has_least || has_most ? ", such as 500ms, 90s or 1h30m (a plain number is seconds)"
                                                 : " such as 500ms, 90s or 1h30m (a plain number is seconds)");
}

void option_rule(struct kerf_text *out, const struct option *option) {
    if (option->type == OPTION_INTEGER || option->type == OPTION_NUMBER || option->type == OPTION_DURATION)
        rule_of_number(out, option);
    if (option->type != OPTION_CHOICE) return;
    kerf_text_add(out, "one of ");
    for (const char *choice = option->choices; *choice;) {
        size_t length = strcspn(choice, ",");
        const char *next = choice + length + (choice[length] == ',');
        kerf_text_write(out, choice, length);
        if (*next) kerf_text_add(out, strchr(next, ',') ? ", " : " or ");
        choice = next;
    }
}

/* given: the option as it was typed, "--top" or "-n"; value: NULL where there is none. */
static int32_t against_rule(const struct option *option, struct quote given, const char *value, int32_t code,
                            struct kerf_error *err) {
    struct kerf_text rule = {0};
    option_rule(&rule, option);
    if (rule.failed)
        code = no_memory(err);
    else if (value)
        kerf_error_set(err, code, "%s must be %s, not '%s'", given.text, rule.data, quote(value, strlen(value)).text);
    else if (rule.data || option->value)
        kerf_error_set(err, code, "%s needs a value: %s", given.text, rule.data ? rule.data : option->value);
    else
        kerf_error_set(err, code, "%s needs a value", given.text);
    kerf_text_free(&rule);
    return code;
}

/* All of text as -?[0-9]+: 1, or 0 when it is not an integer. Sets *ret_overflow when no int64_t holds it. */
static int read_integer(const char *text, int64_t *ret_value, int *ret_overflow) {
    int negative = *text == '-';
    const char *digits = text + negative;
    if (*digits == 0 || digits[strspn(digits, "0123456789")] != 0) return 0;
    int64_t value = 0;
    for (; *digits; digits++) {
        int digit = *digits - '0';
        *ret_overflow |= __builtin_mul_overflow(value, 10, &value);
        *ret_overflow |= __builtin_add_overflow(value, negative ? -digit : digit, &value);
    }
    *ret_value = value;
    return 1;
}

/* All of text as a finite decimal number. strtod alone would take " 5", "+5", "0x10" and "nan" as well. */
static int read_number(const char *text, double *ret_value) {
    if (*text == '+' || text[strspn(text, "0123456789.eE+-")] != 0) return 0;
    char *end;
    double value = number_read(text, &end);
    if (end == text || *end != 0 || !isfinite(value)) return 0;
    *ret_value = value;
    return 1;
}

static int32_t store_integer(const struct option *option, struct quote given, const char *value, int64_t *place,
                             struct kerf_error *err) {
    struct bounds bounds = bounds_of(option);
    int64_t integer = 0;
    int overflow = 0, is_integer = read_integer(value, &integer, &overflow);
    if (overflow && isinf(*value == '-' ? bounds.least : bounds.most))
        return kerf_error_set(err, KERF_EINVALID, "%s must be a whole number that fits 64 bits, not '%s'", given.text,
                              quote(value, strlen(value)).text);
    /* long double holds every int64_t, so that 2^53 + 1 is not taken for 2^53 */
    if (!is_integer || overflow || (long double)integer < bounds.least || (long double)integer > bounds.most)
        return against_rule(option, given, value, KERF_EINVALID, err);
    *place = integer;
    return KERF_OK;
}

static int32_t store_number(const struct option *option, struct quote given, const char *value, double *place,
                            struct kerf_error *err) {
    struct bounds bounds = bounds_of(option);
    double number;
    int is_read = option->type == OPTION_DURATION ? duration_read(value, &number) : read_number(value, &number);
    if (!is_read || number < bounds.least || number > bounds.most)
        return against_rule(option, given, value, KERF_EINVALID, err);
    *place = number;
    return KERF_OK;
}

/* The same text again loses nothing. */
static int32_t check_again(const struct option *option, struct quote given, const char *value, const char *before,
                           struct kerf_error *err) {
    if (option->letter == 'o')
        return kerf_error_set(err, KERF_EINVALID, "%s is given twice; this command writes one file", given.text);
    if (option->type != OPTION_ONE || strcmp(before, value) == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s is given twice, as '%s' and as '%s'; it takes one value", given.text,
                          quote(before, strlen(before)).text, quote(value, strlen(value)).text);
}

static int32_t store(const struct option *option, struct quote given, const char *value, void *values, int is_again,
                     struct kerf_error *err) {
    void *place = (char *)values + option->offset;
    int32_t code = KERF_OK;
    switch (option->type) {
    case OPTION_FLAG: *(int32_t *)place = 1; return KERF_OK;
    case OPTION_INTEGER: return store_integer(option, given, value, place, err);
    case OPTION_NUMBER:
    case OPTION_DURATION: return store_number(option, given, value, place, err);
    case OPTION_STRINGS: return append(place, value, err);
    case OPTION_STRING:
    case OPTION_ONE: code = is_again ? check_again(option, given, value, *(const char **)place, err) : KERF_OK; break;
    case OPTION_CHOICE:
        if (!list_has(option->choices, value)) code = against_rule(option, given, value, KERF_EUNKNOWN, err);
    }
    if (code == KERF_OK) *(const char **)place = value;
    return code;
}

/* Reads the option at argv[*index] and moves *index to the last argument that it used. */
static int32_t read_option(const struct command *command, int argc, char **argv, int *index, void *values,
                           unsigned char *given_options, int32_t *help, struct kerf_error *err) {
    const char *argument = argv[*index];
    int is_long = argument[1] == '-';
    size_t length = is_long ? strcspn(argument, "=") : 2; /* of the option without a value attached to it */
    const char *value = argument[length] ? argument + length + (argument[length] == '=') : NULL;
    struct quote given = quote(argument, length);

    const struct option *option =
        is_long ? find_name(command, argument + 2, length - 2) : find_letter(command, argument[1]);
    if (option == NULL) return option_unknown(command, argument, err);
    if (option->type == OPTION_FLAG && value) {
        if (!is_long && nearest_option(command, argument + 1)) /* "-verbose" */
            return option_unknown(command, argument, err);
        return kerf_error_set(err, KERF_EINVALID, "%s takes no value, but was given '%s'", given.text,
                              quote(value, strlen(value)).text);
    }
    if (option == &help_option) return *help = 1, KERF_OK;
    if (option->type != OPTION_FLAG && value == NULL) {
        if (*index + 1 == argc || is_option(command, argv[*index + 1]))
            return against_rule(option, given, NULL, KERF_EINVALID, err);
        value = argv[++*index];
    }
    if (option->value && *value == 0 && list_has("FILE,DIR,STORE,DATABASE", option->value)) /* such as "$UNSET" */
        return against_rule(option, given, NULL, KERF_EINVALID, err);
    unsigned char *seen = &given_options[option - command->options];
    int is_again = *seen;
    *seen = 1;
    return store(option, given, value, values, is_again, err);
}

static int32_t read_argument(const struct command *command, const char *argument, void *values,
                             struct kerf_error *err) {
    void *place = (char *)values + command->arguments_offset;
    if (command->arguments || command->uses) return append(place, argument, err);
    return kerf_error_set(err, KERF_EINVALID, "kerf %s takes only options, and '%s' is not one", command->name,
                          quote(argument, strlen(argument)).text);
}

/* ---- Which use of the command takes which option ---------------------------------------------------------- */

static int is_capital(const char *name) { return name[0] >= 'A' && name[0] <= 'Z'; }

static int is_use(const struct command *command, const void *values, const char *name) {
    if (command->is_use) return command->is_use(values, name);
    const struct string_list *arguments = (const void *)((const char *)values + command->arguments_offset);
    const char *first = arguments->count ? arguments->items[0] : command->uses[0].name;
    if (!is_capital(name)) return strcmp(first, name) == 0;
    for (const struct command_use *use = command->uses; use->name; use++)
        if (!is_capital(use->name) && strcmp(first, use->name) == 0) return 0;
    return 1;
}

/* Whether the values ask for one of these uses, "show,export". */
static int any_use(const struct command *command, const void *values, const char *uses) {
    char name[64];
    for (const char *c = uses; *c;) {
        size_t length = strcspn(c, ",");
        assert(length < sizeof name);
        memcpy(name, c, length);
        name[length] = 0;
        if (is_use(command, values, name)) return 1;
        c += length + (c[length] == ',');
    }
    return 0;
}

/* The uses that take the option: "show, list and export" with " and " before the last; nothing where all do. */
static void option_uses(struct kerf_text *out, const struct option *option, const char *last_join) {
    for (const char *use = option->uses; use && *use;) {
        size_t length = strcspn(use, ",");
        const char *next = use + length + (use[length] == ',');
        kerf_text_write(out, use, length);
        if (*next) kerf_text_add(out, strchr(next, ',') ? ", " : last_join);
        use = next;
    }
}

int option_is_for(const struct option *option, const char *uses) {
    return uses == NULL || option->uses == NULL ? uses == option->uses : strcmp(uses, option->uses) == 0;
}

int option_begins_group(const struct command *command, const struct option *option) {
    for (const struct option *before = command->options; before < option; before++)
        if (option_is_for(before, option->uses)) return 0;
    return 1;
}

void options_title(struct kerf_text *out, const struct command *command, const struct option *first) {
    kerf_text_add(out, first->uses ? "Options of " : first == command->options ? "Options" : "Other options");
    option_uses(out, first, " and ");
}

/* `kerf studies list` takes no --policy; replay does */
static int32_t not_taken(const struct command *command, const void *values, const struct option *option,
                         struct kerf_error *err) {
    const struct string_list *arguments = (const void *)((const char *)values + command->arguments_offset);
    const char *called = arguments->count ? arguments->items[0] : NULL;
    for (const struct command_use *use = command->uses; use->name; use++)
        if ((called == NULL || use->name[0] == '-') && is_use(command, values, use->name)) called = use->name;
    struct kerf_text takers = {0};
    option_uses(&takers, option, " and ");
    int32_t code = takers.failed ? no_memory(err)
                                 : kerf_error_set(err, KERF_EINVALID, "`kerf %s %s` takes no --%s; %s %s",
                                                  command->name, called ? quote(called, strlen(called)).text : "",
                                                  option->name, takers.data, strchr(option->uses, ',') ? "do" : "does");
    kerf_text_free(&takers);
    return code;
}

/* The command refuses a first argument that is not a use, before any option. */
static int32_t check_uses(const struct command *command, const void *values, const unsigned char *given,
                          struct kerf_error *err) {
    int is_known = 0;
    for (const struct command_use *use = command->uses; use && use->name; use++)
        is_known |= is_use(command, values, use->name);
    if (!is_known) return KERF_OK;
    for (const struct option *option = command->options; option && option->name; option++)
        if (given[option - command->options] && option->uses && !any_use(command, values, option->uses))
            return not_taken(command, values, option, err);
    return KERF_OK;
}

/* ---- All of a command line -------------------------------------------------------------------------------- */

/* Checks of a table: not too many options, each name and letter once, choices for each OPTION_CHOICE. */
__attribute__((unused)) /* where asserts are off */
static int
is_table(const struct command *command) {
    for (const struct option *option = command->options; option && option->name; option++) {
        if (option - command->options >= OPTIONS_MAX || (option->type == OPTION_CHOICE && option->choices == NULL))
            return 0;
        if (option->uses && command->uses == NULL) return 0;
        for (const struct option *before = command->options; before < option; before++)
            if (strcmp(before->name, option->name) == 0 || (option->letter && before->letter == option->letter))
                return 0;
    }
    return 1;
}

int32_t options_parse(const struct command *command, int argc, char **argv, void *values, int32_t *ret_help,
                      struct kerf_error *err) {
    unsigned char given[OPTIONS_MAX] = {0};
    assert(command && values && ret_help && argc >= 0 && is_table(command));
    int32_t help = 0, code = KERF_OK;
    int only_arguments = 0; /* after "--" */
    for (int i = 0; i < argc && !help && code == KERF_OK; i++) {
        if (only_arguments || argv[i][0] != '-' || argv[i][1] == 0)
            code = read_argument(command, argv[i], values, err);
        else if (strcmp(argv[i], "--") == 0)
            only_arguments = 1;
        else
            code = read_option(command, argc, argv, &i, values, given, &help, err);
    }
    if (code == KERF_OK && !help) code = check_uses(command, values, given, err);
    if (code == KERF_OK)
        *ret_help = help;
    else
        options_free(command, values);
    return code;
}

static void free_list(void *place) {
    struct string_list *list = place;
    free(list->items);
    *list = (struct string_list){0};
}

void options_free(const struct command *command, void *values) {
    for (const struct option *option = command->options; option && option->name; option++)
        if (option->type == OPTION_STRINGS) free_list((char *)values + option->offset);
    if (command->arguments || command->uses) free_list((char *)values + command->arguments_offset);
}
