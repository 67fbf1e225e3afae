/* SPDX-License-Identifier: Apache-2.0 */
/* Prints --help from an option table: usage, description, options in two columns, examples. A terminal too
 * narrow for two columns gets the text of an option below its name. */
#include "base/characters.h"
#include "base/option.h"

#include <string.h>

enum {
    DEFAULT_WIDTH = 80,
    WIDEST = 100, /* longer lines are hard to read */
    NARROWEST = 20,
    TWO_COLUMNS = 60,  /* from this width on the text of an option stands beside its name */
    LONGEST_LABEL = 28 /* a longer one does not push the text of all the others to the right */
};

static const char help_label[] = "-h, --help", help_text[] = "Print this help.";

struct page {
    struct kerf_text *out;
    int32_t width;
    const char *bold, *plain; /* escape sequences, or "" */
};

/* Where the next word of a paragraph goes. */
struct fill {
    const struct page *page;
    int32_t indent; /* where lines begin */
    int32_t column; /* where the cursor is; equal to indent: the line is empty */
};

static int32_t columns_of(const char *text, size_t length) {
    int32_t columns = 0;
    for (size_t i = 0; i < length; i++) columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

static void begin_line(struct fill *fill, int32_t indent) {
    kerf_text_repeat(fill->page->out, " ", indent);
    fill->indent = fill->column = indent;
}

static void fill_words(struct fill *fill, const char *text, size_t length) {
    struct kerf_text *out = fill->page->out;
    const char *end = text + length;
    while (text < end) {
        size_t space = strspn(text, " \t\n");
        text += space < (size_t)(end - text) ? space : (size_t)(end - text);
        size_t word = strcspn(text, " \t\n");
        if (word > (size_t)(end - text)) word = (size_t)(end - text);
        if (word == 0) break;
        int32_t columns = columns_of(text, word);
        if (fill->column > fill->indent && fill->column + 1 + columns > fill->page->width) {
            kerf_text_add(out, "\n");
            begin_line(fill, fill->indent);
        }
        if (fill->column > fill->indent) {
            kerf_text_add(out, " ");
            fill->column++;
        }
        kerf_text_write(out, text, word);
        fill->column += columns;
        text += word;
    }
}

static void paragraph(const struct page *page, int32_t indent, const char *text, size_t length) {
    struct fill fill = {.page = page};
    begin_line(&fill, indent);
    fill_words(&fill, text, length);
    kerf_text_add(page->out, "\n");
}

static void heading(const struct page *page, const char *title) {
    kerf_text_printf(page->out, "\n%s%s%s\n", page->bold, title, page->plain);
}

static void description(const struct page *page, const char *text) {
    while (text && *text) {
        const char *blank = strstr(text, "\n\n");
        size_t length = blank ? (size_t)(blank - text) : strlen(text);
        kerf_text_add(page->out, "\n");
        paragraph(page, 0, text, length);
        text += length;
        text += strspn(text, "\n");
    }
}

static const char *value_of(const struct option *option) {
    if (option->type == OPTION_FLAG) return "";
    return option->value ? option->value : "VALUE";
}

/* Columns of "-o, --output FILE", the letter's place included where there is no letter. */
static int32_t label_columns(const struct option *option) {
    const char *value = value_of(option);
    return 6 + utf8_columns(option->name) + (*value != 0) + utf8_columns(value);
}

static void label(const struct page *page, const struct option *option) {
    const char *value = value_of(option);
    if (option->letter)
        kerf_text_printf(page->out, "  %s-%c, --%s%s", page->bold, option->letter, option->name, page->plain);
    else
        kerf_text_printf(page->out, "      %s--%s%s", page->bold, option->name, page->plain);
    kerf_text_printf(page->out, "%s%s", *value ? " " : "", value);
}

/* Moves from the end of a label, so many columns wide, to where its text begins. */
static struct fill to_text(const struct page *page, int32_t label_width, int32_t text_column) {
    struct fill fill = {.page = page, .indent = text_column, .column = text_column};
    if (2 + label_width + 2 <= text_column) {
        kerf_text_repeat(page->out, " ", text_column - 2 - label_width);
    } else {
        kerf_text_add(page->out, "\n");
        begin_line(&fill, text_column);
    }
    return fill;
}

static void option_text(struct fill *fill, const struct option *option) {
    fill_words(fill, option->help, strlen(option->help));
    if (option->type != OPTION_CHOICE) return;
    struct kerf_text choices = {0};
    kerf_text_add(&choices, "[");
    option_rule(&choices, option);
    kerf_text_add(&choices, "]");
    if (choices.data) fill_words(fill, choices.data, choices.length);
    fill->page->out->failed |= choices.failed;
    kerf_text_free(&choices);
}

/* The options that the same uses take, and, among those that all take, --help. */
static void option_group(const struct page *page, const struct command *command, const char *uses,
                         int32_t text_column) {
    for (const struct option *option = command->options; option && option->name; option++) {
        if (!option_is_for(option, uses)) continue;
        label(page, option);
        struct fill fill = to_text(page, label_columns(option), text_column);
        option_text(&fill, option);
        kerf_text_add(page->out, "\n");
    }
    if (uses) return;
    kerf_text_printf(page->out, "  %s%s%s", page->bold, help_label, page->plain);
    struct fill fill = to_text(page, (int32_t)sizeof help_label - 1, text_column);
    fill_words(&fill, help_text, sizeof help_text - 1);
    kerf_text_add(page->out, "\n");
}

static void options(const struct page *page, const struct command *command) {
    int32_t widest = (int32_t)sizeof help_label - 1;
    for (const struct option *option = command->options; option && option->name; option++) {
        int32_t columns = label_columns(option);
        if (columns > widest && columns <= LONGEST_LABEL) widest = columns;
    }
    int32_t text_column = page->width < TWO_COLUMNS ? 8 : 2 + widest + 2;
    int has_general = 0;
    struct kerf_text title = {0};
    for (const struct option *option = command->options; option && option->name; option++) {
        if (!option_begins_group(command, option)) continue;
        kerf_text_clear(&title);
        options_title(&title, command, option);
        heading(page, title.data ? title.data : "");
        option_group(page, command, option->uses, text_column);
        has_general |= option->uses == NULL;
    }
    if (!has_general) {
        heading(page, command->options && command->options->name ? "Other options" : "Options");
        option_group(page, command, NULL, text_column);
    }
    page->out->failed |= title.failed;
    kerf_text_free(&title);
}

/* Length of the word that a shell would read at line: up to a blank that no quote or backslash protects. */
static size_t shell_word(const char *line) {
    char open = 0;
    const char *c = line;
    for (; *c && (open || *c != ' '); c++) {
        if (*c == '\\' && open != '\'' && c[1])
            c++;
        else if (open ? *c == open : *c == '"' || *c == '\'')
            open = open ? 0 : *c;
    }
    return (size_t)(c - line);
}

/* A command line that stays one when it is copied: broken between words, an option kept with its value, by a
 * backslash at the end of the line. */
static void command_line(const struct page *page, int32_t indent, const char *line) {
    struct fill fill = {.page = page};
    begin_line(&fill, indent);
    while (*line) {
        size_t length = shell_word(line);
        const char *next = line + length + strspn(line + length, " ");
        if (*line == '-' && *next && *next != '-') length = (size_t)(next - line) + shell_word(next);
        int32_t columns = columns_of(line, length);
        if (fill.column > fill.indent && fill.column + 1 + columns + 2 > page->width) {
            kerf_text_add(page->out, " \\\n");
            begin_line(&fill, indent + 4);
        } else if (fill.column > fill.indent) {
            kerf_text_add(page->out, " ");
            fill.column++;
        }
        kerf_text_write(page->out, line, length);
        fill.column += columns;
        line += length;
        line += strspn(line, " ");
    }
    kerf_text_add(page->out, "\n");
}

/* A line of the synopsis. kerf does not read what follows --, so that options stand before it. */
static void usage(const struct page *page, const char *name, const char *arguments) {
    struct fill fill = {.page = page};
    int options_first = arguments && strstr(arguments, "-- ");
    begin_line(&fill, 2);
    kerf_text_printf(page->out, "kerf %s", name);
    fill.column += 5 + utf8_columns(name);
    if (options_first) fill_words(&fill, "[options]", 9);
    if (arguments) fill_words(&fill, arguments, strlen(arguments));
    if (!options_first) fill_words(&fill, "[options]", 9);
    kerf_text_add(page->out, "\n");
}

void command_help(struct kerf_text *out, const struct command *command, int32_t columns, int32_t bold) {
    int32_t width = columns <= 0 ? DEFAULT_WIDTH : columns > WIDEST ? WIDEST : columns;
    if (width < NARROWEST) width = NARROWEST;
    struct page page = {out, width, bold ? "\033[1m" : "", bold ? "\033[0m" : ""};

    struct fill title = {.page = &page};
    kerf_text_printf(out, "%skerf %s%s", page.bold, command->name, page.plain);
    title.column = 5 + utf8_columns(command->name);
    fill_words(&title, "-", 1);
    fill_words(&title, command->summary, strlen(command->summary));
    kerf_text_add(out, "\n");

    heading(&page, "Usage");
    if (command->uses == NULL) usage(&page, command->name, command->arguments);
    for (const struct command_use *use = command->uses; use && use->name; use++)
        usage(&page, command->name, use->arguments);

    description(&page, command->description);
    options(&page, command);
    if (command->examples && command->examples[0]) heading(&page, "Examples");
    for (size_t i = 0; command->examples && command->examples[i]; i += 2) {
        if (i > 0) kerf_text_add(out, "\n");
        paragraph(&page, 2, command->examples[i], strlen(command->examples[i]));
        command_line(&page, 4, command->examples[i + 1]);
    }
}
