/* SPDX-License-Identifier: Apache-2.0 */
/* What the completion scripts of all shells offer. */
#include "base/characters.h"
#include "base/completion.h"

#include <string.h>

/* The words of values and arguments that something can be offered for. A name that is not in the list may be a file's
 * where the command takes one. */
static const struct {
    const char *word;
    struct completion_value value;
} nouns[] = {
    {"MODEL", {.names = "models", .takes_files = 1}},
    {"SYSTEM", {.names = "systems", .takes_files = 1}},
    {"STACK", {.names = "stacks", .takes_files = 1}},
    {"SCHEDULE", {.names = "schedules"}},
    {"STUDY", {.names = "studies", .takes_files = 1}},
    {"JOB", {.names = "jobs"}},
    {"VERB", {.names = "commands"}},
    {"FRAMEWORK", {.choices = "megatron,deepspeed,torchtitan,nanotron,megatron-bridge"}},
    {"FILE", {.takes_files = 1}},
    {"STORE", {.takes_files = 1}},
    {"DATABASE", {.takes_files = 1}},
    {"DIR", {.takes_folders = 1}},
};

/* Reads "SCHEDULE|FILE...", "SYSTEM[,...]" or "JOB -- SCRIPT...", whose end is another program's. */
static struct completion_value value_of_words(const char *words) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct completion_value all = {0};
    const char *end = strstr(words, "-- ");
    if (end == NULL) end = words + strlen(words);
    for (const char *c = words; c < end;) {
        size_t length = strspn(c, letters);
        if (strncmp(c, ",...", 4) == 0 || strncmp(c, "[,", 2) == 0 || (length == 4 && strncmp(c, "LIST", 4) == 0))
            all.is_list = 1;
        for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++) {
            if (strlen(nouns[i].word) != length || memcmp(nouns[i].word, c, length) != 0) continue;
            if (nouns[i].value.names) all.names = nouns[i].value.names;
            if (nouns[i].value.choices) all.choices = nouns[i].value.choices;
            all.takes_files |= nouns[i].value.takes_files || strncmp(c + length, ".gguf", 5) == 0;
            all.takes_folders |= nouns[i].value.takes_folders;
            if (strncmp(c + length, ".gguf", 5) == 0) all.names = NULL;
        }
        c += length ? length : 1;
    }
    return all;
}

struct completion_value completion_of_option(const struct option *option) {
    if (option->type == OPTION_CHOICE) return (struct completion_value){.choices = option->choices};
    if (option->type != OPTION_STRING && option->type != OPTION_ONE && option->type != OPTION_STRINGS)
        return (struct completion_value){0};
    struct completion_value value = value_of_words(option->value);
    if (option->choices) value.choices = option->choices;
    return value;
}

/* The use that is meant where none was typed: one that is the user's own word, else none. */
static const struct command_use *untyped_use(const struct command *command) {
    for (const struct command_use *use = command->uses; use && use->name; use++)
        if (!completion_is_typed(use) && use->name[0] != '-') return use;
    return NULL;
}

struct completion_value completion_of_arguments(const struct command *command, const struct command_use *use) {
    if (use == NULL) use = untyped_use(command);
    const char *words = use ? use->arguments : command->arguments;
    return words ? value_of_words(words) : (struct completion_value){0};
}

int completion_is_typed(const struct command_use *use) { return use->name[0] >= 'a' && use->name[0] <= 'z'; }

int completion_has_uses(const struct command *command) {
    for (const struct command_use *use = command->uses; use && use->name; use++)
        if (completion_is_typed(use)) return 1;
    return 0;
}

int completion_runs_a_program(const struct command *command, const struct command_use *use) {
    if (use == NULL) use = untyped_use(command);
    return use && strstr(use->arguments, "-- ") != NULL;
}

/* An option whose uses are not in the table belongs to the user's own word, such as a schedule, and is offered
 * everywhere. */
int completion_offers(const struct command *command, const struct option *option, const struct command_use *use) {
    int is_known = 0, is_behind_none = 0;
    if (option->uses == NULL) return 1;
    if (use && list_has(option->uses, use->name)) return 1;
    for (const struct command_use *other = command->uses; other && other->name; other++) {
        int takes = list_has(option->uses, other->name);
        is_known |= takes;
        is_behind_none |= takes && !completion_is_typed(other);
    }
    return !is_known || (use == NULL && is_behind_none);
}

void completion_word(struct kerf_text *out, const char *text, size_t length) {
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.:/";
    kerf_text_add(out, " ");
    if (strspn(text, safe) >= length) {
        kerf_text_write(out, text, length);
        return;
    }
    kerf_text_add(out, "'");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            kerf_text_add(out, "'\\''");
        else
            kerf_text_write(out, text + i, 1);
    }
    kerf_text_add(out, "'");
}

size_t completion_sentence(const char *text) {
    size_t length = 0;
    while (text[length] && !(text[length] == '.' && (text[length + 1] == '\0' || text[length + 1] == ' '))) length++;
    return length;
}
