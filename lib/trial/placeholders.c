/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/placeholders.h"

#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"

enum { SETTING = -1, PORT = -2, UNKNOWN = -3 };

/* ---- Reading a word ------------------------------------------------------------------------------------------ */

/* A piece of a word: text or a placeholder. */
struct piece {
    const char *text; /* or the name of a placeholder */
    size_t length;
    int is_placeholder;
};

/* Takes the next piece off *word; 0 at its end. A { without a } is text. */
static int next_piece(const char **word, struct piece *ret_piece) {
    const char *c = *word, *close;
    if (*c == 0) return 0;
    if (c[0] == '{' && c[1] == '{') {
        *ret_piece = (struct piece){c, 1, 0};
        *word = c + 2;
    } else if (c[0] == '{' && (close = strchr(c, '}'))) {
        *ret_piece = (struct piece){c + 1, (size_t)(close - c - 1), 1};
        *word = close + 1;
    } else {
        size_t length = 1 + strcspn(c + 1, "{");
        *ret_piece = (struct piece){c, length, 0};
        *word = c + length;
    }
    return 1;
}

static int is_named(const struct piece *piece, const char *name) {
    return strlen(name) == piece->length && memcmp(piece->text, name, piece->length) == 0;
}

/* The parameter that a placeholder names, SETTING, PORT or UNKNOWN. */
static int32_t find_param(const struct kerf_tune_space *space, const struct piece *piece, int has_port) {
    for (int32_t i = 0; i < space->num_params; i++)
        if (is_named(piece, space->params[i].name)) return i;
    if (is_named(piece, "setting")) return SETTING;
    return has_port && is_named(piece, "port") ? PORT : UNKNOWN;
}

/* ---- Shell commands ------------------------------------------------------------------------------------------- */

/* Takes the next piece off *text, which begins at `start`; 0 at its end. ${n} and other braces are the shell's. */
static int next_shell_piece(const struct kerf_tune_space *space, const char *start, const char **text,
                            struct piece *ret_piece, int32_t *ret_param) {
    const char *c = *text, *close = strchr(c, '}');
    if (*c == 0) return 0;
    *ret_piece = (struct piece){c, 1, 0};
    *ret_param = UNKNOWN;
    if (*c == '{' && close && (c == start || c[-1] != '$')) {
        struct piece name = {c + 1, (size_t)(close - c - 1), 1};
        *ret_param = find_param(space, &name, 0);
        if (*ret_param != UNKNOWN) *ret_piece = name;
    }
    *text = ret_piece->is_placeholder ? close + 1 : c + 1;
    return 1;
}

static void mark_used_in_shell(const struct kerf_tune_space *space, const char *text, char *used) {
    struct piece piece;
    int32_t param;
    for (const char *rest = text; next_shell_piece(space, text, &rest, &piece, &param);) {
        if (param >= 0) used[param] = 1;
        if (param == SETTING) memset(used, 1, (size_t)space->num_params);
    }
}

/* ---- Checking ------------------------------------------------------------------------------------------------ */

static int32_t unknown_placeholder(const struct kerf_tune_space *space, const struct piece *piece,
                                   struct kerf_error *err) {
    const char **names = malloc((size_t)(space->num_params + 1) * sizeof *names);
    char *word = strndup(piece->text, piece->length);
    const char *nearest = NULL;
    for (int32_t i = 0; names && i < space->num_params; i++) names[i] = space->params[i].name;
    if (names && word) nearest = nearest_name(word, names, (size_t)space->num_params);
    if (nearest)
        kerf_error_set(err, KERF_EINVALID, "{%.64s} in the command is not a parameter; did you mean {%s}?", word,
                       nearest);
    else
        kerf_error_set(err, KERF_EINVALID, "{%.64s} in the command is not a parameter; write {{ for a brace",
                       word ? word : "");
    free(names);
    free(word);
    return KERF_EINVALID;
}

int32_t placeholders_check(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                           int may_leave_out, int has_port, struct kerf_error *err) {
    int32_t code = KERF_OK;
    char *used = calloc((size_t)space->num_params + 1, 1);
    if (used == NULL) return error_no_memory(err, "the command");
    for (int32_t i = 0; i < command->num_words && code == KERF_OK; i++) {
        const char *word = command->words[i];
        for (struct piece piece; code == KERF_OK && next_piece(&word, &piece);) {
            int32_t param = piece.is_placeholder ? find_param(space, &piece, has_port) : UNKNOWN;
            if (param >= 0) used[param] = 1;
            if (param == SETTING) memset(used, 1, (size_t)space->num_params);
            if (param == UNKNOWN && piece.is_placeholder) code = unknown_placeholder(space, &piece, err);
        }
    }
    if (command->prepare) mark_used_in_shell(space, command->prepare, used);
    for (int32_t i = 0; i < space->num_params && code == KERF_OK && !may_leave_out; i++)
        if (!used[i])
            code = kerf_error_set(err, KERF_EINVALID,
                                  "the command does not use the parameter %.64s; write {%.64s} where its value goes",
                                  space->params[i].name, space->params[i].name);
    free(used);
    return code;
}

int placeholders_any(const struct kerf_trial_command *command) {
    struct piece piece;
    for (int32_t i = 0; i < command->num_words; i++)
        for (const char *word = command->words[i]; next_piece(&word, &piece);)
            if (piece.is_placeholder) return 1;
    return 0;
}

/* ---- Filling ------------------------------------------------------------------------------------------------- */

struct words {
    char **list; /* with a NULL behind the last */
    size_t count, capacity;
    struct arena *arena;
    int failed;
};

static void add_word(struct words *words, const char *text) {
    if (words->count + 1 >= words->capacity) {
        size_t capacity = words->capacity ? 2 * words->capacity : 32;
        char **list = arena_alloc(words->arena, capacity, sizeof *list);
        if (list && words->count > 0) memcpy(list, words->list, words->count * sizeof *list);
        words->list = list;
        words->capacity = list ? capacity : 0;
        if (list == NULL) words->count = 0;
    }
    char *copy = words->list ? arena_strdup(words->arena, text) : NULL;
    if (copy)
        words->list[words->count++] = copy;
    else
        words->failed = 1;
}

/* Splits at blanks; quotes and backslashes work as in a shell. */
static void add_split(struct words *words, const char *text) {
    struct kerf_text word = {0};
    for (const char *c = text; *c;) {
        char quote = 0;
        while (*c == ' ' || *c == '\t' || *c == '\n') c++;
        if (*c == 0) break;
        kerf_text_clear(&word);
        for (; *c && (quote || !strchr(" \t\n", *c)); c++) {
            if (quote ? *c == quote : *c == '\'' || *c == '"') {
                quote = quote ? 0 : *c;
            } else {
                if (*c == '\\' && c[1] && quote != '\'') c++;
                kerf_text_write(&word, c, 1);
            }
        }
        add_word(words, word.length > 0 ? word.data : "");
    }
    if (word.failed) words->failed = 1;
    kerf_text_free(&word);
}

static const char *text_of(const struct kerf_tune_space *space, int32_t setting, int32_t param) {
    int32_t value = space->values[(size_t)setting * (size_t)space->num_params + (size_t)param];
    return space->params[param].texts[value];
}

/* Of a parameter or SETTING. */
static void write_value(struct kerf_text *text, const struct kerf_tune_space *space, int32_t param, int32_t setting) {
    struct kerf_json json;
    kerf_json_begin(&json, text);
    if (param >= 0)
        kerf_text_add(text, text_of(space, setting, param));
    else
        kerf_tune_setting_json(&json, NULL, space, setting);
}

static void add_filled(struct words *words, const struct kerf_tune_space *space, const struct command_part *part,
                       int32_t setting, const char *word) {
    struct kerf_text text = {0};
    struct piece piece;
    const char *rest = word;
    if (next_piece(&rest, &piece) && piece.is_placeholder && *rest == 0) {
        int32_t param = find_param(space, &piece, part->has_port);
        if (param >= 0 && space->params[param].kind == KERF_TUNE_FLAG) {
            add_split(words, text_of(space, setting, param));
            return;
        }
    }
    for (rest = word; next_piece(&rest, &piece);) {
        int32_t param = piece.is_placeholder ? find_param(space, &piece, part->has_port) : UNKNOWN;
        if (param >= 0 || param == SETTING)
            write_value(&text, space, param, setting);
        else if (param == PORT && part->port > 0)
            kerf_text_printf(&text, "%d", (int)part->port);
        else if (param == PORT)
            kerf_text_add(&text, "{port}");
        else
            kerf_text_write(&text, piece.text, piece.length);
    }
    add_word(words, text.length > 0 ? text.data : "");
    if (text.failed) words->failed = 1;
    kerf_text_free(&text);
}

char **placeholders_fill(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                         const struct command_part *part, int32_t setting, struct arena *arena) {
    struct words words = {.arena = arena};
    if (command->launcher) add_split(&words, command->launcher);
    for (int32_t i = part->from; i < part->to; i++) add_filled(&words, space, part, setting, command->words[i]);
    return words.failed || words.count == 0 ? NULL : words.list;
}

char *placeholders_fill_shell(const struct kerf_tune_space *space, const char *text, int32_t setting,
                              struct arena *arena) {
    struct kerf_text filled = {0};
    struct piece piece;
    int32_t param;
    for (const char *rest = text; next_shell_piece(space, text, &rest, &piece, &param);) {
        if (piece.is_placeholder)
            write_value(&filled, space, param, setting);
        else
            kerf_text_write(&filled, piece.text, piece.length);
    }
    char *copy = filled.failed ? NULL : arena_strdup(arena, filled.length > 0 ? filled.data : "");
    kerf_text_free(&filled);
    return copy;
}

/* ---- As text ---------------------------------------------------------------------------------------------- */

static void write_quoted(const char *word, struct kerf_text *out) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-";
    if (*word && strspn(word, plain) == strlen(word)) {
        kerf_text_add(out, word);
        return;
    }
    kerf_text_add(out, "'");
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            kerf_text_add(out, "'\\''");
        else
            kerf_text_write(out, c, 1);
    }
    kerf_text_add(out, "'");
}

void kerf_trial_command_write(const struct kerf_tune_space *space, const struct kerf_trial_command *command,
                              int32_t setting, struct kerf_text *out) {
    struct arena arena = {0};
    const int has_port = command->protocol && strcmp(command->protocol, "bench") == 0;
    const struct command_part whole = {.to = command->num_words, .has_port = has_port};
    char **words = placeholders_fill(space, command, &whole, setting, &arena);
    if (words == NULL && command->num_words > 0) out->failed = 1;
    for (size_t i = 0; words && words[i]; i++) {
        if (i > 0) kerf_text_add(out, " ");
        write_quoted(words[i], out);
    }
    arena_free(&arena);
}
