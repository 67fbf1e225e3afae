/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a shell script: quotes, and the expansion of parameters, arithmetic and braces of ${...}. Commands in $(...)
 * and `...` are passed over and leave a mark. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "launch/shell.h"

int shell_matches(const char *pattern, const char *text) {
    /* patterns with many stars take long; those of scripts have few */
    int stars = 0;
    for (const char *c = pattern; *c; c++) stars += *c == '*';
    if (stars > 4 || strlen(text) > 4096 || strlen(pattern) > 4096) return strcmp(pattern, text) == 0;
    return fnmatch(pattern, text, 0) == 0;
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

void shell_field_end(struct shell *shell, struct shell_fields *fields) {
    if (!fields->has_now) return;
    fields->has_now = 0;
    if (fields->count == fields->capacity) {
        int32_t capacity = fields->capacity ? 2 * fields->capacity : 16;
        const char **grown = arena_alloc(shell->arena, (size_t)capacity, sizeof *grown);
        if (grown && fields->count) memcpy(grown, fields->items, (size_t)fields->count * sizeof *grown);
        if (grown) fields->items = grown, fields->capacity = capacity;
    }
    const char *item = fields->now.failed
                           ? NULL
                           : arena_copy(shell->arena, fields->now.length ? fields->now.data : "", fields->now.length);
    if (item == NULL || fields->count == fields->capacity) {
        if (shell->code == KERF_OK) shell->code = error_no_memory(shell->err, "a script");
        return;
    }
    shell->bytes += (int64_t)fields->now.length + (int64_t)sizeof *fields->items;
    if (shell->bytes > 4 * (int64_t)LAUNCH_BYTES_MAX) shell_fail(shell, 0, "the script's values take more than 64 MiB");
    kerf_text_clear(&fields->now);
    fields->items[fields->count++] = item;
}

void shell_fields_free(struct shell_fields *fields) { kerf_text_free(&fields->now); }

static void put(struct shell *shell, struct shell_fields *fields, const char *bytes, size_t length) {
    if (fields->now.length + length > LAUNCH_VALUE_BYTES_MAX) {
        shell_fail(shell, 0, "a value has more than 1 MiB");
        return;
    }
    kerf_text_write(&fields->now, bytes, length);
    fields->has_now = 1;
}

/* A value that stands without quotes is split at white space. */
static void put_value(struct shell *shell, struct shell_fields *fields, const char *value, int is_split) {
    if (!is_split) {
        put(shell, fields, value, strlen(value));
        return;
    }
    for (const char *c = value; *c && shell->code == KERF_OK;) {
        if (isspace((unsigned char)*c)) {
            shell_field_end(shell, fields);
            c++;
            continue;
        }
        const char *start = c;
        while (*c && !isspace((unsigned char)*c)) {
            if (*c == LAUNCH_NOT_RUN || *c == LAUNCH_UNSET) { /* a mark is one word */
                const char *end = strchr(c + 1, *c);
                if (end) c = end;
            }
            c++;
        }
        put(shell, fields, start, (size_t)(c - start));
    }
}

static void put_mark(struct shell *shell, struct shell_fields *fields, char mark, const char *text, size_t length) {
    put(shell, fields, &mark, 1);
    put(shell, fields, text, length > 64 ? 64 : length);
    put(shell, fields, &mark, 1);
}

/* ---- Passing over ------------------------------------------------------------------------------------------------ */

/* Past the text up to the closing character, quotes and what nests in it included. */
static void pass_to(struct shell *shell, struct shell_cursor *cursor, char open, char close) {
    int32_t depth = 1, line = cursor->line;
    char quote = 0;
    for (; cursor->text < cursor->end; cursor->text++) {
        char c = *cursor->text;
        if (c == '\n') cursor->line++;
        if (c == '\\' && quote != '\'') {
            if (cursor->text + 1 < cursor->end && *++cursor->text == '\n') cursor->line++;
        } else if (quote) {
            if (c == quote) quote = 0;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == close && --depth == 0) {
            cursor->text++;
            return;
        } else if (c == open && open != close) {
            depth++;
        }
    }
    shell_fail(shell, line, "'%c' is missing: what it would close begins here", close);
}

/* The text between backquotes, which do not nest. */
static void pass_backquotes(struct shell *shell, struct shell_cursor *cursor) {
    int32_t line = cursor->line;
    for (; cursor->text < cursor->end; cursor->text++) {
        if (*cursor->text == '\n') cursor->line++;
        if (*cursor->text == '\\' && cursor->text + 1 < cursor->end)
            cursor->text++;
        else if (*cursor->text == '`') {
            cursor->text++;
            return;
        }
    }
    shell_fail(shell, line, "'`' is missing: what it would close begins here");
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static void in_double_quotes(struct shell *shell, struct shell_cursor *cursor, struct shell_fields *fields);
static void expand(struct shell *shell, struct shell_cursor *cursor, struct shell_fields *fields, int is_split);

/* A word inside ${...}, up to its closing brace (not past it) or to one of the other characters. */
static const char *word_in_braces(struct shell *shell, struct shell_cursor *cursor, const char *ends) {
    struct shell_fields inner = {.has_now = 1};
    while (cursor->text < cursor->end && shell->code == KERF_OK && !strchr(ends, *cursor->text)) {
        char c = *cursor->text;
        if (c == '$') {
            expand(shell, cursor, &inner, 0);
        } else if (c == '`') {
            expand(shell, cursor, &inner, 0);
        } else if (c == '"') {
            cursor->text++;
            in_double_quotes(shell, cursor, &inner);
        } else if (c == '\'') {
            const char *start = ++cursor->text;
            while (cursor->text < cursor->end && *cursor->text != '\'') cursor->text++;
            put(shell, &inner, start, (size_t)(cursor->text - start));
            if (cursor->text < cursor->end) cursor->text++;
        } else {
            if (c == '\\' && cursor->text + 1 < cursor->end) cursor->text++;
            if (*cursor->text == '\n') cursor->line++;
            put(shell, &inner, cursor->text++, 1);
        }
    }
    shell_field_end(shell, &inner);
    shell_fields_free(&inner);
    return inner.count ? inner.items[0] : "";
}

/* What the parameter of this name holds; NULL: nothing. */
static const char *parameter(struct shell *shell, const char *name, size_t length, int32_t index, char number[32]) {
    if (length == 1 && strchr("#?$!@*0-", *name)) {
        snprintf(number, 32, "%d", *name == '#' ? shell->num_arguments : 0);
        return *name == '#' || *name == '?' ? number : NULL;
    }
    if (isdigit((unsigned char)*name)) {
        int32_t which = 0;
        for (size_t i = 0; i < length && isdigit((unsigned char)name[i]) && which < 1 << 20; i++)
            which = which * 10 + (name[i] - '0');
        return which >= 1 && which <= shell->num_arguments ? shell->arguments[which - 1] : NULL;
    }
    const struct shell_variable *variable = shell_variable(shell, name, length);
    if (variable == NULL || index < 0 || index >= variable->count) return NULL;
    return variable->items[index];
}

static int is_empty(const char *value) {
    while (value && *value == LAUNCH_UNSET) { /* only a mark of what is not set */
        const char *end = strchr(value + 1, LAUNCH_UNSET);
        if (end == NULL) return 0;
        value = end + 1;
    }
    return value == NULL || *value == 0;
}

/* value without the shortest or longest prefix or suffix that matches. */
static const char *strip(struct shell *shell, const char *value, const char *pattern, char where, int is_longest) {
    size_t length = strlen(value);
    if (length > 4096) return value;
    char *part = arena_strdup(shell->arena, value);
    for (size_t i = 0; part && i <= length; i++) {
        size_t at = (where == '#') == !is_longest ? i : length - i; /* where the prefix ends or the suffix begins */
        char kept = part[at];
        if (where == '#') {
            part[at] = 0;
            int found = shell_matches(pattern, part);
            part[at] = kept;
            if (found) return value + at;
        } else if (shell_matches(pattern, part + at)) {
            part[at] = 0;
            return part;
        }
    }
    return value;
}

static const char *replace(struct shell *shell, const char *value, const char *what, const char *with, int is_all) {
    struct kerf_text out = {0};
    size_t length = strlen(what);
    const char *c = value, *found;
    while (length && (found = strstr(c, what)) && out.length < LAUNCH_VALUE_BYTES_MAX) {
        kerf_text_write(&out, c, (size_t)(found - c));
        kerf_text_add(&out, with);
        c = found + length;
        if (!is_all) break;
    }
    kerf_text_add(&out, c);
    const char *copy = out.failed || out.data == NULL ? value : arena_copy(shell->arena, out.data, out.length);
    kerf_text_free(&out);
    return copy ? copy : value;
}

/* All items of an array, or the arguments: each its own field where the expansion is split or "${A[@]}". */
static void put_all(struct shell *shell, struct shell_fields *fields, const char *const *items, int32_t count,
                    int is_split, int is_joined) {
    fields->is_void |= count == 0 && !is_joined;
    for (int32_t i = 0; i < count && shell->code == KERF_OK; i++) {
        if (i && (is_split || !is_joined))
            shell_field_end(shell, fields);
        else if (i)
            put(shell, fields, " ", 1);
        put_value(shell, fields, items[i], is_split);
        if (!is_split) fields->has_now = 1;
    }
}

/* ${...}, from behind the opening brace. */
static void expand_braces(struct shell *shell, struct shell_cursor *cursor, struct shell_fields *fields, int is_split) {
    int32_t line = cursor->line;
    char number[32], mark = 0;
    int is_length = 0, is_indirect = 0, all = 0;
    const char *end = cursor->end, *value = NULL;
    if (cursor->text + 1 < end && *cursor->text == '#' && cursor->text[1] != '}') is_length = 1, cursor->text++;
    if (cursor->text + 1 < end && *cursor->text == '!') is_indirect = 1, cursor->text++;
    const char *name = cursor->text;
    if (name < end && shell_is_name(*name, 1))
        while (cursor->text < end && shell_is_name(*cursor->text, 0)) cursor->text++;
    else if (name < end && isdigit((unsigned char)*name))
        while (cursor->text < end && isdigit((unsigned char)*cursor->text)) cursor->text++;
    else if (name < end)
        cursor->text++;
    size_t length = (size_t)(cursor->text - name);
    int32_t index = 0;
    if (length == 1 && (*name == '@' || *name == '*')) all = *name;
    if (cursor->text < end && *cursor->text == '[') {
        cursor->text++;
        if (cursor->text + 1 < end && (*cursor->text == '@' || *cursor->text == '*') && cursor->text[1] == ']') {
            all = *cursor->text++;
        } else {
            const char *inside = word_in_braces(shell, cursor, "]");
            int64_t at = -1;
            if (!shell_arithmetic(shell, inside, line, &at)) at = -1;
            const struct shell_variable *variable = shell_variable(shell, name, length);
            if (at < 0 && variable) at += variable->count;
            index = at < 0 || at > INT32_MAX ? -1 : (int32_t)at;
        }
        if (cursor->text < end && *cursor->text == ']') cursor->text++;
    }
    if (is_indirect && length) {
        const char *other = parameter(shell, name, length, 0, number);
        name = other ? other : "", length = strlen(name);
        for (size_t i = 0; i < length; i++)
            if (!shell_is_name(name[i], i == 0)) length = 0;
    }
    const struct shell_variable *variable =
        length && shell_is_name(*name, 1) ? shell_variable(shell, name, length) : NULL;
    int is_arguments = all && length == 1 && (*name == '@' || *name == '*');
    int32_t count = is_arguments ? shell->num_arguments : variable ? variable->count : 0;
    const char *const *items = is_arguments ? shell->arguments : variable ? variable->items : NULL;
    if (!all && length) value = parameter(shell, name, length, index, number);
    if (is_length) {
        snprintf(number, sizeof number, "%lld", all ? (long long)count : value ? (long long)strlen(value) : 0);
        value = number, all = 0;
    }
    if (cursor->text < end && *cursor->text != '}') {
        char operator= * cursor->text;
        int has_colon = operator== ':' && cursor->text + 1<end && strchr("-=+?", cursor->text[1]);
        if (has_colon) operator= * ++ cursor->text;
        int is_missing = all ? count == 0 : has_colon ? is_empty(value) : value == NULL;
        cursor->text++;
        if (strchr("-=+?", operator)) {
            const char *word = word_in_braces(shell, cursor, "}");
            if (operator== '+') {
                value = is_missing ? "" : word, all = 0;
            } else if (is_missing && operator!= '?') {
                value = word, all = 0;
                if (operator== '=' && length && shell_is_name(*name, 1)) shell_set(shell, name, length, &word, 1, 0);
            }
        } else if (operator== '#' || operator== '%') {
            int is_longest = cursor->text < end && *cursor->text == operator;
            cursor->text += is_longest;
            const char *word = word_in_braces(shell, cursor, "}");
            if (value) value = strip(shell, value, word, operator, is_longest);
        } else if (operator== '/') {
            int is_all = cursor->text < end && *cursor->text == '/';
            cursor->text += is_all;
            const char *what = word_in_braces(shell, cursor, "/}"), *with = "";
            if (cursor->text < end && *cursor->text == '/') cursor->text++, with = word_in_braces(shell, cursor, "}");
            if (value) value = replace(shell, value, what, with, is_all);
        } else if (operator== '^' || operator== ',') {
            if (cursor->text < end && *cursor->text == operator) cursor->text++;
            char *copy = value ? arena_strdup(shell->arena, value) : NULL;
            for (char *c = copy; c && *c; c++) *c = (char)(operator== '^' ? toupper(*c) : tolower(*c));
            if (copy) value = copy;
        } else {
            word_in_braces(shell, cursor, "}");
            mark = LAUNCH_NOT_RUN; /* ${A:1:2} and the like are not followed */
        }
    }
    if (cursor->text >= end || *cursor->text != '}') {
        shell_fail(shell, line, "'}' is missing: what it would close begins here");
        return;
    }
    cursor->text++;
    if (mark)
        put_mark(shell, fields, mark, name, length);
    else if (all)
        put_all(shell, fields, items, count, is_split, all == '*');
    else if (value)
        put_value(shell, fields, value, is_split);
    else
        put_mark(shell, fields, LAUNCH_UNSET, name, length);
}

/* What follows "$((", up to its end. */
static void expand_arithmetic(struct shell *shell, struct shell_cursor *cursor, struct shell_fields *fields) {
    struct shell_cursor inner = *cursor;
    pass_to(shell, cursor, '(', ')');
    const char *end = cursor->text - 1;
    if (cursor->text < cursor->end && *cursor->text == ')') cursor->text++;
    if (shell->code != KERF_OK) return;
    const char *text = shell_expand(shell, inner.text, (size_t)(end - inner.text), inner.line);
    int64_t value = 0;
    char number[32];
    if (shell_arithmetic(shell, text, inner.line, &value)) {
        snprintf(number, sizeof number, "%lld", (long long)value);
        put(shell, fields, number, strlen(number));
    } else {
        put_mark(shell, fields, LAUNCH_NOT_RUN, inner.text, (size_t)(end - inner.text));
    }
}

/* $... or `...` at the cursor. */
static void expand(struct shell *shell, struct shell_cursor *cursor, struct shell_fields *fields, int is_split) {
    if (!shell_enter(shell, cursor->line)) return;
    const char *start = cursor->text++;
    char c = cursor->text < cursor->end ? *cursor->text : 0, number[32];
    if (*start == '`') {
        pass_backquotes(shell, cursor);
        if (shell->code == KERF_OK)
            put_mark(shell, fields, LAUNCH_NOT_RUN, start + 1, (size_t)(cursor->text - start) - 2);
    } else if (c == '{') {
        cursor->text++;
        expand_braces(shell, cursor, fields, is_split);
    } else if (c == '(' && cursor->text + 1 < cursor->end && cursor->text[1] == '(') {
        cursor->text += 2;
        expand_arithmetic(shell, cursor, fields);
    } else if (c == '(') {
        cursor->text++;
        pass_to(shell, cursor, '(', ')');
        if (shell->code == KERF_OK) put_mark(shell, fields, LAUNCH_NOT_RUN, start, (size_t)(cursor->text - start));
    } else if (c == '\'' && is_split) { /* $'...' */
        const char *text = ++cursor->text;
        while (cursor->text < cursor->end && *cursor->text != '\'') cursor->text++;
        put(shell, fields, text, (size_t)(cursor->text - text));
        if (cursor->text < cursor->end) cursor->text++;
    } else if (c && (shell_is_name(c, 0) || strchr("#?$!@*-", c))) {
        const char *name = cursor->text++;
        if (shell_is_name(c, 1))
            while (cursor->text < cursor->end && shell_is_name(*cursor->text, 0)) cursor->text++;
        size_t length = (size_t)(cursor->text - name);
        const char *value = parameter(shell, name, length, 0, number);
        if (c == '@' || c == '*')
            put_all(shell, fields, shell->arguments, shell->num_arguments, is_split, c == '*');
        else if (value)
            put_value(shell, fields, value, is_split);
        else
            put_mark(shell, fields, LAUNCH_UNSET, name, length);
    } else {
        put(shell, fields, "$", 1);
    }
    shell_leave(shell);
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Past the closing quote. */
static void in_double_quotes(struct shell *shell, struct shell_cursor *cursor, struct shell_fields *fields) {
    int32_t line = cursor->line, count = fields->count;
    int had = fields->has_now;
    size_t length = fields->now.length;
    const char *start = cursor->text;
    fields->has_now = 1;
    fields->is_void = 0;
    while (cursor->text < cursor->end && shell->code == KERF_OK) {
        char c = *cursor->text;
        if (c == '"') { /* "$@" of nothing is no word, "" is an empty one */
            if (fields->is_void && fields->count == count && fields->now.length == length && cursor->text > start)
                fields->has_now = had;
            cursor->text++;
            return;
        }
        if (c == '$' || c == '`') {
            expand(shell, cursor, fields, 0);
        } else if (c == '\\' && cursor->text + 1 < cursor->end) {
            char next = *++cursor->text;
            if (next == '\n')
                cursor->line++;
            else if (strchr("$`\"\\", next))
                put(shell, fields, &next, 1);
            else
                put(shell, fields, cursor->text - 1, 2);
            cursor->text++;
        } else {
            if (c == '\n') cursor->line++;
            put(shell, fields, cursor->text++, 1);
        }
    }
    if (shell->code == KERF_OK) shell_fail(shell, line, "'\"' is missing: what it would close begins here");
}

void shell_word(struct shell *shell, struct shell_cursor *cursor, struct shell_fields *fields, int is_split) {
    int32_t line = cursor->line;
    while (cursor->text < cursor->end && shell->code == KERF_OK) {
        char c = *cursor->text;
        if (strchr(" \t\r\n;&|<>()", c)) {
            if ((c == '<' || c == '>') && cursor->text + 1 < cursor->end && cursor->text[1] == '(' &&
                !fields->has_now) {
                const char *start = cursor->text;
                cursor->text += 2;
                pass_to(shell, cursor, '(', ')');
                if (shell->code == KERF_OK)
                    put_mark(shell, fields, LAUNCH_NOT_RUN, start, (size_t)(cursor->text - start));
                continue;
            }
            break;
        }
        if (c == '\'') {
            const char *start = ++cursor->text;
            while (cursor->text < cursor->end && *cursor->text != '\'') {
                if (*cursor->text == '\n') cursor->line++;
                cursor->text++;
            }
            if (cursor->text >= cursor->end) {
                shell_fail(shell, line, "\"'\" is missing: what it would close begins here");
                return;
            }
            put(shell, fields, start, (size_t)(cursor->text - start));
            cursor->text++;
        } else if (c == '"') {
            cursor->text++;
            in_double_quotes(shell, cursor, fields);
        } else if (c == '$' || c == '`') {
            expand(shell, cursor, fields, is_split);
        } else if (c == '\\') {
            if (++cursor->text >= cursor->end) break;
            if (*cursor->text == '\n') {
                cursor->line++;
            } else if (*cursor->text == '\r' && cursor->text + 1 < cursor->end && cursor->text[1] == '\n') {
                cursor->text++, cursor->line++;
            } else {
                put(shell, fields, cursor->text, 1);
            }
            cursor->text++;
        } else {
            const char *start = cursor->text;
            while (cursor->text < cursor->end && !strchr(" \t\r\n;&|<>()'\"$`\\", *cursor->text)) cursor->text++;
            put(shell, fields, start, (size_t)(cursor->text - start));
        }
    }
    shell_field_end(shell, fields);
}

const char *shell_one_word(struct shell *shell, struct shell_cursor *cursor) {
    struct shell_fields fields = {.count = 0};
    shell_word(shell, cursor, &fields, 0);
    shell_fields_free(&fields);
    return fields.count ? fields.items[0] : "";
}

const char *shell_expand(struct shell *shell, const char *text, size_t length, int32_t line) {
    struct shell_cursor cursor = {text, text + length, line};
    struct shell_fields fields = {.has_now = 1};
    while (cursor.text < cursor.end && shell->code == KERF_OK) {
        char c = *cursor.text;
        if (c == '$' || c == '`') {
            expand(shell, &cursor, &fields, 0);
        } else if (c == '\\' && cursor.text + 1 < cursor.end && strchr("$`\\\n", cursor.text[1])) {
            if (cursor.text[1] != '\n') put(shell, &fields, cursor.text + 1, 1);
            cursor.text += 2;
        } else {
            put(shell, &fields, cursor.text++, 1);
        }
    }
    shell_field_end(shell, &fields);
    shell_fields_free(&fields);
    return fields.count ? fields.items[0] : "";
}
