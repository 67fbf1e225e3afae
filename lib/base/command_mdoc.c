/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a command's manual page in mdoc(7) from its option table. Text goes out filled to LINE columns,
 * each sentence on a line of its own, as mdoc wants it; everything that roff would take for its own is
 * escaped, and what is not ASCII is written as \[uXXXX], so that a page reads the same in every locale. */
#include "base/option.h"

#include <ctype.h>
#include <string.h>

enum { LINE = 76 };

/* The code point at text, *ret_length bytes long; bytes that are not UTF-8 count as U+FFFD. */
static uint32_t code_point(const char *text, size_t *ret_length) {
    const unsigned char *byte = (const unsigned char *)text;
    size_t length = byte[0] >= 0xF0 ? 4 : byte[0] >= 0xE0 ? 3 : byte[0] >= 0xC0 ? 2 : 1;
    uint32_t point = length == 1 ? byte[0] : byte[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xC0) != 0x80) { /* the NUL at the end included */
            *ret_length = i;
            return 0xFFFD;
        }
        point = point << 6 | (byte[i] & 0x3Fu);
    }
    *ret_length = length;
    return length == 1 && point >= 0x80 ? 0xFFFD : point;
}

/* One word or line. `prose`: apostrophes and the hyphens inside words stay what they are; everything else
 * is to be typed as printed. */
static void escaped(struct kerf_text *out, const char *text, size_t length, int prose) {
    static const struct {
        char plain;
        const char *escape;
    } specials[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"}, {'"', "\\(dq"},
                    {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
    for (size_t i = 0, bytes; i < length; i += bytes) {
        uint32_t point = code_point(text + i, &bytes);
        const char *escape = NULL;
        for (size_t s = 0; s < sizeof specials / sizeof *specials; s++)
            if (point == (uint32_t)specials[s].plain) escape = specials[s].escape;
        int inside =
            i > 0 && i + 1 < length && isalnum((unsigned char)text[i - 1]) && isalnum((unsigned char)text[i + 1]);
        if (prose && inside && text[0] != '-' && (point == '-' || point == '\'')) escape = NULL;
        if (point >= 0x80)
            kerf_text_printf(out, "\\[u%04X]", (unsigned)point);
        else if (escape)
            kerf_text_add(out, escape);
        else
            kerf_text_write(out, text + i, 1);
    }
}

/* Would roff take the word, at the end of a line, for the end of a sentence? */
static int seems_last(const char *word, size_t length) {
    while (length > 0 && strchr(")]\"'", word[length - 1])) length--;
    return length > 0 && strchr(".!?", word[length - 1]) != NULL;
}

static int ends_sentence(const char *word, size_t length, const char *next) {
    static const char *const abbreviations[] = {"e.g.", "i.e.", "cf.", "vs."};
    if (!seems_last(word, length) || islower((unsigned char)*next)) return 0;
    for (size_t i = 0; i < sizeof abbreviations / sizeof *abbreviations; i++) {
        size_t tail = strlen(abbreviations[i]);
        if (length >= tail && memcmp(word + length - tail, abbreviations[i], tail) == 0) return 0;
    }
    return 1;
}

/* Text lines; a blank line in the text begins a new paragraph. */
static void prose(struct kerf_text *out, const char *text) {
    struct kerf_text word = {0};
    size_t column = 0; /* in the line of the source */
    text += strspn(text, " \t\n");
    while (*text) {
        size_t length = strcspn(text, " \t\n"), space = strspn(text + length, " \t\n");
        const char *next = text + length + space;
        const char *newline = memchr(text + length, '\n', space);
        int new_paragraph = *next && newline && newline[1] == '\n';
        int sentence = *next == 0 || new_paragraph || ends_sentence(text, length, next);

        kerf_text_clear(&word);
        escaped(&word, text, length, 1);
        if (!sentence && seems_last(text, length)) kerf_text_add(&word, "\\&");
        if (column > 0) kerf_text_add(out, column + 1 + word.length > LINE ? "\n" : " ");
        column = column > 0 && column + 1 + word.length <= LINE ? column + 1 : 0;
        if (column == 0 && *text == '.') kerf_text_add(out, "\\&"); /* no macro */
        if (word.data) kerf_text_add(out, word.data);
        column += word.length;
        if (sentence) kerf_text_add(out, "\n"), column = 0;
        if (new_paragraph) kerf_text_add(out, ".Pp\n");
        text = next;
    }
    out->failed |= word.failed;
    kerf_text_free(&word);
}

/* Words as arguments of a macro: \& keeps "Ar" or "," from being taken for a macro or for punctuation. */
static void macro_arguments(struct kerf_text *out, const char *text) {
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        int first = (unsigned char)text[0], last = (unsigned char)text[length - 1];
        int special = (isupper(first) && islower(last) && length <= 3) || (ispunct(first) && length == 1);
        kerf_text_add(out, special ? " \\&" : " ");
        escaped(out, text, length, 0);
        text += length;
    }
}

/* "Fl o , Fl Fl output Ar FILE" */
static void option_macros(struct kerf_text *out, const struct option *option, const char *between) {
    if (option->letter) kerf_text_printf(out, " Fl %c%s", option->letter, between);
    kerf_text_add(out, " Fl Fl");
    macro_arguments(out, option->name);
    if (option->type == OPTION_FLAG) return;
    kerf_text_add(out, " Ar");
    macro_arguments(out, option->value ? option->value : "VALUE");
}

/* One line of the synopsis; "--" and lower-case words are typed as they stand, capitals are the user's. */
static void synopsis_of_use(struct kerf_text *out, const char *name, const char *arguments) {
    int options_first = strstr(arguments, "-- ") != NULL;
    kerf_text_add(out, ".Nm kerf");
    macro_arguments(out, name);
    if (options_first) kerf_text_add(out, "\n.Op Ar options");
    for (const char *word = arguments; *word; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        int optional = word[0] == '[' && word[length - 1] == ']', typed = islower((unsigned char)word[optional]);
        struct kerf_text plain = {0};
        kerf_text_write(&plain, word + optional, length - 2 * (size_t)optional);
        int option = plain.data && strncmp(plain.data, "--", 2) == 0;
        kerf_text_add(out, optional ? "\n.Op" : "\n.");
        if (optional) kerf_text_add(out, " ");
        kerf_text_add(out, option ? "Fl" : typed ? "Cm" : "Ar");
        if (plain.data) macro_arguments(out, option ? plain.data + 1 : plain.data);
        out->failed |= plain.failed;
        kerf_text_free(&plain);
        word += length;
    }
    kerf_text_add(out, options_first ? "\n" : "\n.Op Ar options\n");
}

static void synopsis(struct kerf_text *out, const struct command *command) {
    kerf_text_add(out, ".Sh SYNOPSIS\n");
    for (const struct command_use *use = command->uses; use && use->name; use++)
        synopsis_of_use(out, command->name, use->arguments);
    if (command->uses) return;
    kerf_text_add(out, ".Nm kerf");
    macro_arguments(out, command->name);
    if (command->arguments) {
        kerf_text_add(out, "\n.Ar");
        macro_arguments(out, command->arguments);
    }
    for (const struct option *option = command->options; option && option->name; option++) {
        kerf_text_add(out, "\n.Op");
        option_macros(out, option, " |");
    }
    kerf_text_add(out, "\n");
}

/* The help of the option and, as one more sentence, what its value must be. */
static void option_text(struct kerf_text *out, const struct option *option) {
    struct kerf_text text = {0};
    kerf_text_add(&text, option->help);
    if (text.length > 0 && text.data[text.length - 1] != '.') kerf_text_add(&text, ".");
    kerf_text_add(&text, " ");
    size_t begin = text.length;
    option_rule(&text, option);
    if (text.length > begin) {
        text.data[begin] = (char)toupper((unsigned char)text.data[begin]);
        kerf_text_add(&text, ".");
    }
    if (text.data) prose(out, text.data);
    out->failed |= text.failed;
    kerf_text_free(&text);
}

static void option_group(struct kerf_text *out, const struct command *command, const char *uses) {
    kerf_text_add(out, ".Bl -tag -width Ds\n");
    for (const struct option *option = command->options; option && option->name; option++) {
        if (!option_is_for(option, uses)) continue;
        kerf_text_add(out, ".It");
        option_macros(out, option, " ,");
        kerf_text_add(out, "\n");
        option_text(out, option);
    }
    kerf_text_add(out, uses ? ".El\n" : ".It Fl h , Fl Fl help\nPrint this help.\n.El\n");
}

static void options(struct kerf_text *out, const struct command *command) {
    int has_general = 0;
    kerf_text_add(out, ".Sh OPTIONS\n");
    for (const struct option *option = command->options; option && option->name; option++) {
        if (!option_begins_group(command, option)) continue;
        if (option->uses || option > command->options) {
            kerf_text_add(out, ".Ss ");
            options_title(out, command, option);
            kerf_text_add(out, "\n");
        }
        option_group(out, command, option->uses);
        has_general |= option->uses == NULL;
    }
    if (has_general) return;
    if (command->options && command->options->name) kerf_text_add(out, ".Ss Other options\n");
    option_group(out, command, NULL);
}

static void exits(struct kerf_text *out, const struct command *command) {
    static const struct command_exit usual[] = {{"0", "answered"},
                                                {"1", "no feasible answer"},
                                                {"2", "bad usage or input"},
                                                {"3", "failed while running"},
                                                {"130", "interrupted with Ctrl-C"},
                                                {NULL, NULL}};
    kerf_text_add(out, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
    for (const struct command_exit *line = command->exits ? command->exits : usual; line->status; line++) {
        kerf_text_printf(out, ".It %s\n", line->status);
        prose(out, line->meaning);
    }
    kerf_text_add(out, ".El\n");
}

static void examples(struct kerf_text *out, const char *const *pairs) {
    if (pairs == NULL || pairs[0] == NULL) return;
    kerf_text_add(out, ".Sh EXAMPLES\n");
    for (size_t i = 0; pairs[i]; i += 2) {
        if (i > 0) kerf_text_add(out, ".Pp\n");
        prose(out, pairs[i]);
        kerf_text_add(out, ".Bd -literal -offset indent\n");
        if (strchr(".'", pairs[i + 1][0])) kerf_text_add(out, "\\&");
        escaped(out, pairs[i + 1], strlen(pairs[i + 1]), 0);
        kerf_text_add(out, "\n.Ed\n");
    }
}

void command_mdoc(struct kerf_text *out, const struct command *command, const char *date) {
    kerf_text_printf(out, ".Dd %s\n.Dt KERF-", date);
    for (const char *c = command->name; *c; c++) kerf_text_printf(out, "%c", toupper((unsigned char)*c));
    kerf_text_printf(out, " 1\n.Os kerf " KERF_VERSION_TEXT "\n.Sh NAME\n.Nm kerf-%s\n.Nd", command->name);
    macro_arguments(out, command->summary);
    kerf_text_add(out, "\n");
    synopsis(out, command);
    kerf_text_add(out, ".Sh DESCRIPTION\n");
    prose(out, command->description ? command->description : command->summary);
    options(out, command);
    exits(out, command);
    examples(out, command->examples);
    kerf_text_add(out, ".Sh SEE ALSO\n.Xr kerf 1\n");
}

void commands_mdoc(struct kerf_text *out, const struct command *const *commands, size_t count, const char *date) {
    kerf_text_printf(out, ".Dd %s\n.Dt KERF 1\n.Os kerf " KERF_VERSION_TEXT "\n", date);
    kerf_text_add(out, ".Sh NAME\n.Nm kerf\n.Nd find the way to cut a large-model job that wastes the least\n"
                       ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar options\n.Nm\n.Fl Fl version\n"
                       ".Sh DESCRIPTION\nEach command has its own page, and\n.Nm kerf help Ar command\n"
                       "prints its options.\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < count; i++) {
        kerf_text_add(out, ".It Nm kerf");
        macro_arguments(out, commands[i]->name);
        kerf_text_add(out, "\n");
        prose(out, commands[i]->summary);
    }
    kerf_text_add(out, ".El\n.Sh ENVIRONMENT\n.Bl -tag -width Ds\n"
                       ".It Ev NO_COLOR\nIf it is set and not empty, output is not coloured.\n"
                       ".It Ev COLUMNS\nThe width of tables if standard output is not a terminal (default: 100).\n"
                       ".El\n.Sh SEE ALSO\n");
    /* by name, as mandoc wants references */
    const char *last = "";
    for (;;) {
        const char *next = NULL;
        for (size_t i = 0; i < count; i++) {
            const char *name = commands[i]->name;
            if (strcmp(name, "help") != 0 && strcmp(name, last) > 0 && (next == NULL || strcmp(name, next) < 0))
                next = name;
        }
        if (next == NULL) break;
        kerf_text_printf(out, "%s.Xr kerf-%s 1", last[0] ? " ,\n" : "", next);
        last = next;
    }
    kerf_text_add(out, "\n");
}
