/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements of a shell script. They are followed while they are read: what a condition rules out is read and passed over.
 * A condition that depends on what is not known counts as false and is listed. `while` is passed over, `exit` and `return`
 * are ignored, for what comes behind them still tells of the launch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "launch/shell.h"

/* What a command ends with. */
enum truth { IS_TRUE, IS_FALSE, IS_UNKNOWN };

struct shell_heredoc {
    const char *end; /* the line that ends it */
    int32_t command; /* index of its command; -1: of none that is reached */
    int8_t is_plain, has_tabs;
    const char *file; /* that its text goes to */
};
enum { HEREDOCS_MAX = 16 };

static void unset(struct shell *shell, const char *name) {
    struct shell_variable *variable = shell_variable(shell, name, strlen(name));
    if (variable && shell->is_reached) *variable = shell->variables[--shell->num_variables];
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static enum truth list(struct shell *shell, struct shell_cursor *cursor, const char *ends);

static void heredoc_file(struct shell *shell, const char *name, const char *text, size_t length, int32_t line) {
    if (shell->num_files == SHELL_TEXTS_MAX) {
        shell_fail(shell, line, "the script writes more than %d files", SHELL_TEXTS_MAX);
        return;
    }
    shell->files[shell->num_files++] = (struct shell_text){name, text, length, line};
}

/* The bodies of the here-documents that this line has begun. */
static void heredoc_bodies(struct shell *shell, struct shell_cursor *cursor) {
    for (int32_t i = 0; i < shell->num_heredocs && shell->code == KERF_OK; i++) {
        const struct shell_heredoc *doc = &shell->heredocs[i];
        struct kerf_text body = {0};
        int32_t line = cursor->line;
        int is_ended = 0;
        while (cursor->text < cursor->end && !is_ended) {
            const char *stop = memchr(cursor->text, '\n', (size_t)(cursor->end - cursor->text));
            if (stop == NULL) stop = cursor->end;
            const char *start = cursor->text;
            if (doc->has_tabs)
                while (start < stop && *start == '\t') start++;
            size_t length = (size_t)(stop - start);
            size_t bare = length && start[length - 1] == '\r' ? length - 1 : length;
            is_ended = bare == strlen(doc->end) && strncmp(start, doc->end, bare) == 0;
            if (!is_ended) {
                kerf_text_write(&body, start, length);
                kerf_text_add(&body, "\n");
            }
            cursor->text = stop < cursor->end ? stop + 1 : stop;
            cursor->line++;
        }
        const char *text = body.data ? body.data : "";
        if (doc->file && shell->is_reached) {
            const char *kept = doc->is_plain ? arena_copy(shell->arena, text, body.length)
                                             : shell_expand(shell, text, body.length, line);
            if (kept) heredoc_file(shell, doc->file, kept, strlen(kept), line);
        }
        kerf_text_free(&body);
    }
    shell->num_heredocs = 0;
}

static void newline(struct shell *shell, struct shell_cursor *cursor) {
    cursor->text++, cursor->line++;
    if (shell->num_heredocs) heredoc_bodies(shell, cursor);
}

/* Past blanks, comments and, where over_lines, line ends and ';'. */
static void skip(struct shell *shell, struct shell_cursor *cursor, int over_lines) {
    while (cursor->text < cursor->end && shell->code == KERF_OK) {
        char c = *cursor->text;
        if (c == ' ' || c == '\t' || c == '\r') {
            cursor->text++;
        } else if (c == '\\' && cursor->text + 1 < cursor->end &&
                   (cursor->text[1] == '\n' || (cursor->text[1] == '\r' && cursor->text + 2 < cursor->end))) {
            cursor->text += cursor->text[1] == '\r' ? 3 : 2;
            cursor->line++;
        } else if (c == '#') {
            while (cursor->text < cursor->end && *cursor->text != '\n') cursor->text++;
        } else if (over_lines && c == '\n') {
            newline(shell, cursor);
        } else if (over_lines && c == ';' && !(cursor->text + 1 < cursor->end && cursor->text[1] == ';')) {
            cursor->text++;
        } else {
            return;
        }
    }
}

/* Whether this word stands here, ended by something that ends words. */
static int is_word(const struct shell_cursor *cursor, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(cursor->end - cursor->text) < length || strncmp(cursor->text, word, length) != 0) return 0;
    return cursor->text + length == cursor->end || strchr(" \t\r\n;&|()<>", cursor->text[length]) != NULL;
}

static int take_word(struct shell_cursor *cursor, const char *word) {
    if (!is_word(cursor, word)) return 0;
    cursor->text += strlen(word);
    return 1;
}

/* Whether one of the words between blanks stands here. */
static int is_end(const struct shell_cursor *cursor, const char *ends) {
    char word[16];
    while (*ends) {
        size_t length = strcspn(ends, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, ends);
        if (strcmp(word, ";;") == 0 ? cursor->end - cursor->text >= 2 && strncmp(cursor->text, ";;", 2) == 0
            : strchr(")}", word[0]) ? cursor->text < cursor->end && *cursor->text == word[0]
                                    : is_word(cursor, word))
            return 1;
        ends += length;
        while (*ends == ' ') ends++;
    }
    return 0;
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

/* value without the marks of what is not set; NULL: it depends on a command. */
static const char *known(struct shell *shell, const char *value) {
    if (strchr(value, LAUNCH_NOT_RUN)) return NULL;
    if (!strchr(value, LAUNCH_UNSET)) return value;
    char *copy = arena_strdup(shell->arena, value), *out = copy;
    if (copy == NULL) return NULL;
    for (const char *c = value; *c; c++) {
        if (*c == LAUNCH_UNSET) {
            const char *end = strchr(c + 1, LAUNCH_UNSET);
            if (end == NULL) break;
            c = end;
        } else {
            *out++ = *c;
        }
    }
    *out = 0;
    return copy;
}

static enum truth truth_of(int value) { return value ? IS_TRUE : IS_FALSE; }

static enum truth compare(struct shell *shell, const char *left, const char *operator, const char * right,
                          int32_t line) {
    const char *a = known(shell, left), *b = known(shell, right);
    if (a == NULL || b == NULL) return IS_UNKNOWN;
    if (strcmp(operator, "=") == 0 || strcmp(operator, "==") == 0) return truth_of(shell_matches(b, a));
    if (strcmp(operator, "!=") == 0) return truth_of(!shell_matches(b, a));
    if (operator[0] != '-') return IS_UNKNOWN;
    int64_t x = 0, y = 0;
    if (a[0] == 0 || b[0] == 0 || !shell_arithmetic(shell, a, line, &x) || !shell_arithmetic(shell, b, line, &y))
        return IS_UNKNOWN;
    static const char names[][4] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
    int results[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
    for (int i = 0; i < 6; i++)
        if (strcmp(operator, names[i]) == 0) return truth_of(results[i]);
    return IS_UNKNOWN;
}

static enum truth both(enum truth a, enum truth b) {
    return a == IS_FALSE || b == IS_FALSE ? IS_FALSE : a == IS_TRUE && b == IS_TRUE ? IS_TRUE : IS_UNKNOWN;
}
static enum truth not(enum truth a) { return a == IS_UNKNOWN ? a : a == IS_TRUE ? IS_FALSE : IS_TRUE; }

/* The words of [ ] or [[ ]], from *at on; || binds less than &&. */
static enum truth test(struct shell *shell, const char *const *words, int32_t count, int32_t *at, int32_t line) {
    enum truth any = IS_FALSE, all = IS_TRUE;
    while (*at < count) {
        enum truth one = IS_UNKNOWN;
        int is_not = 0;
        while (*at < count && strcmp(words[*at], "!") == 0) is_not = !is_not, ++*at;
        if (*at >= count) break;
        const char *word = words[*at];
        int32_t left = count - *at;
        if (strcmp(word, "(") == 0 && shell_enter(shell, line)) {
            ++*at;
            one = test(shell, words, count, at, line);
            shell_leave(shell);
            if (*at < count) ++*at;
        } else if (left >= 3 &&
                   (strcmp(words[*at + 1], "=~") == 0 || words[*at + 1][0] == '=' ||
                    strcmp(words[*at + 1], "!=") == 0 || (words[*at + 1][0] == '-' && strlen(words[*at + 1]) == 3))) {
            one = compare(shell, word, words[*at + 1], words[*at + 2], line);
            *at += 3;
        } else if (left >= 2 && word[0] == '-' && word[1] && word[2] == 0) {
            const char *value = known(shell, words[*at + 1]);
            if (value && word[1] == 'z') one = truth_of(value[0] == 0);
            if (value && word[1] == 'n') one = truth_of(value[0] != 0);
            if (word[1] == 'v') {
                const struct shell_variable *variable = shell_variable(shell, words[*at + 1], strlen(words[*at + 1]));
                one = truth_of(variable != NULL);
            }
            *at += 2;
        } else {
            const char *value = known(shell, word);
            if (value) one = truth_of(value[0] != 0);
            ++*at;
        }
        all = both(all, is_not ? not(one) : one);
        if (*at >= count || strcmp(words[*at], ")") == 0) break;
        const char *next = words[(*at)++];
        if (strcmp(next, "||") == 0 || strcmp(next, "-o") == 0)
            any = not(both(not(any), not(all))), all = IS_TRUE;
        else if (strcmp(next, "&&") != 0 && strcmp(next, "-a") != 0)
            return IS_UNKNOWN;
    }
    return not(both(not(any), not(all)));
}

/* [[ ... ]], from behind the opening. */
static enum truth double_brackets(struct shell *shell, struct shell_cursor *cursor) {
    struct shell_fields words = {.count = 0};
    int32_t line = cursor->line;
    for (;;) {
        skip(shell, cursor, 1);
        if (shell->code != KERF_OK) break;
        if (cursor->text >= cursor->end) {
            shell_fail(shell, line, "']]' is missing: what it would close begins here");
            break;
        }
        if (take_word(cursor, "]]")) break;
        char c = *cursor->text;
        if (strchr("()<>&|", c)) {
            size_t length = (c == '&' || c == '|') && cursor->text + 1 < cursor->end && cursor->text[1] == c ? 2 : 1;
            kerf_text_write(&words.now, cursor->text, length);
            words.has_now = 1;
            shell_field_end(shell, &words);
            cursor->text += length;
        } else {
            words.has_now = 1; /* an empty word counts */
            shell_word(shell, cursor, &words, 0);
        }
    }
    int32_t at = 0;
    enum truth truth = test(shell, words.items, words.count, &at, line);
    shell_fields_free(&words);
    return truth;
}

/* Whether a branch is followed; says so where that cannot be known. */
static int is_taken(struct shell *shell, enum truth truth, int32_t line) {
    if (truth == IS_TRUE) return 1;
    if (truth == IS_FALSE || !shell->is_reached) return 0;
    const char *value = arena_printf(shell->arena, "false (line %d: it depends on the machine)", line);
    if (value) launch_add(shell->assumed, "condition", &value, 1, line);
    return 0;
}

/* ---- Compound commands ------------------------------------------------------------------------------------------- */

/* A list that is followed only where it is reached. */
static void body(struct shell *shell, struct shell_cursor *cursor, const char *ends, int is_reached) {
    int before = shell->is_reached;
    shell->is_reached = before && is_reached;
    list(shell, cursor, ends);
    shell->is_reached = before;
}

static void expect(struct shell *shell, struct shell_cursor *cursor, const char *word, int32_t line) {
    skip(shell, cursor, 1);
    if (shell->code == KERF_OK && !take_word(cursor, word))
        shell_fail(shell, line, "'%s' is missing: what it belongs to begins here", word);
}

static void follow_if(struct shell *shell, struct shell_cursor *cursor) {
    int32_t line = cursor->line;
    int is_done = 0;
    for (;;) {
        int32_t at = cursor->line, before = shell->is_reached;
        shell->is_reached = before && !is_done;
        enum truth truth = list(shell, cursor, "then");
        int taken = !is_done && is_taken(shell, truth, at);
        shell->is_reached = before;
        expect(shell, cursor, "then", line);
        body(shell, cursor, "elif else fi", taken);
        is_done |= taken;
        skip(shell, cursor, 1);
        if (shell->code != KERF_OK || !take_word(cursor, "elif")) break;
    }
    if (take_word(cursor, "else")) body(shell, cursor, "fi", !is_done);
    expect(shell, cursor, "fi", line);
}

static void follow_while(struct shell *shell, struct shell_cursor *cursor) {
    int32_t line = cursor->line;
    body(shell, cursor, "do", 0);
    expect(shell, cursor, "do", line);
    body(shell, cursor, "done", 0);
    expect(shell, cursor, "done", line);
}

static void follow_for(struct shell *shell, struct shell_cursor *cursor) {
    int32_t line = cursor->line;
    struct shell_fields items = {.count = 0};
    skip(shell, cursor, 0);
    const char *name = NULL;
    if (cursor->end - cursor->text >= 2 && cursor->text[0] == '(' && cursor->text[1] == '(') {
        while (cursor->text < cursor->end && *cursor->text != '\n' && *cursor->text != '{' && !is_word(cursor, "do"))
            cursor->text++; /* the loop's numbers are not followed: its body is read once */
        items.has_now = 1;
        shell_field_end(shell, &items);
    } else {
        name = shell_one_word(shell, cursor);
        skip(shell, cursor, 1);
        if (take_word(cursor, "in"))
            for (;;) {
                skip(shell, cursor, 0);
                if (shell->code != KERF_OK || cursor->text >= cursor->end || strchr("\n;&|<>()", *cursor->text)) break;
                shell_word(shell, cursor, &items, 1);
            }
    }
    expect(shell, cursor, "do", line);
    struct shell_cursor start = *cursor;
    for (int32_t i = 0; i < items.count && i < 256 && shell->is_reached && shell->code == KERF_OK; i++) {
        *cursor = start;
        if (name) shell_set(shell, name, strlen(name), &items.items[i], 1, 0);
        list(shell, cursor, "done");
    }
    if (items.count == 0 || !shell->is_reached) body(shell, cursor, "done", 0);
    expect(shell, cursor, "done", line);
    shell_fields_free(&items);
}

static void follow_case(struct shell *shell, struct shell_cursor *cursor) {
    int32_t line = cursor->line;
    skip(shell, cursor, 0);
    const char *value = known(shell, shell_one_word(shell, cursor));
    int is_done = 0;
    if (value == NULL) is_taken(shell, IS_UNKNOWN, line);
    expect(shell, cursor, "in", line);
    while (shell->code == KERF_OK) {
        int matches = 0;
        skip(shell, cursor, 1);
        if (cursor->text >= cursor->end || is_word(cursor, "esac")) break;
        if (*cursor->text == '(') cursor->text++;
        while (shell->code == KERF_OK && cursor->text < cursor->end && *cursor->text != ')') {
            skip(shell, cursor, 0);
            const char *before = cursor->text, *pattern = shell_one_word(shell, cursor);
            if (value && shell_matches(pattern, value)) matches = 1;
            skip(shell, cursor, 0);
            if (cursor->text < cursor->end && *cursor->text == '|') cursor->text++;
            if (cursor->text == before) shell_fail(shell, cursor->line, "a pattern of case needs ')'");
        }
        if (cursor->text < cursor->end) cursor->text++;
        body(shell, cursor, ";; esac", matches && !is_done);
        is_done |= matches;
        if (cursor->end - cursor->text >= 2 && strncmp(cursor->text, ";;", 2) == 0) cursor->text += 2;
        if (cursor->text < cursor->end && *cursor->text == '&') cursor->text++;
    }
    expect(shell, cursor, "esac", line);
}

/* ( ... ) or { ... }, from behind the opening. */
static void follow_group(struct shell *shell, struct shell_cursor *cursor, char close) {
    int32_t line = cursor->line;
    list(shell, cursor, close == ')' ? ")" : "}");
    skip(shell, cursor, 1);
    if (shell->code != KERF_OK) return;
    if (cursor->text >= cursor->end || *cursor->text != close)
        shell_fail(shell, line, "'%c' is missing: what it would close begins here", close);
    else
        cursor->text++;
}

/* NAME() { ... }, from behind "()". */
static void follow_function(struct shell *shell, struct shell_cursor *cursor, const char *name) {
    skip(shell, cursor, 1);
    if (cursor->text >= cursor->end || *cursor->text != '{') {
        shell_fail(shell, cursor->line, "a function needs '{'");
        return;
    }
    cursor->text++;
    struct shell_cursor start = *cursor;
    int before = shell->is_reached;
    shell->is_reached = 0;
    follow_group(shell, cursor, '}');
    shell->is_reached = before;
    if (shell->code != KERF_OK || !before) return;
    if (shell->num_functions == SHELL_TEXTS_MAX)
        shell_fail(shell, start.line, "the script has more than %d functions", SHELL_TEXTS_MAX);
    else
        shell->functions[shell->num_functions++] =
            (struct shell_text){name, start.text, (size_t)(cursor->text - 1 - start.text), start.line};
}

/* ---- Simple commands --------------------------------------------------------------------------------------------- */

/* The list of an array, from behind "(". */
static void array_items(struct shell *shell, struct shell_cursor *cursor, struct shell_fields *items) {
    int32_t line = cursor->line;
    for (;;) {
        skip(shell, cursor, 1);
        if (shell->code != KERF_OK) return;
        if (cursor->text >= cursor->end) {
            shell_fail(shell, line, "')' is missing: what it would close begins here");
            return;
        }
        if (*cursor->text == ')') break;
        const char *before = cursor->text;
        shell_word(shell, cursor, items, 1);
        if (cursor->text == before) shell_fail(shell, cursor->line, "'%c' does not belong in an array", *before);
    }
    cursor->text++;
}

/* NAME=VALUE, NAME+=VALUE, NAME=(...) or NAME[I]=VALUE, if that stands here. Returns the text NAME=VALUE of a plain one in
 * ret_setting where that is not NULL, and sets the variable else. */
static int assignment(struct shell *shell, struct shell_cursor *cursor, const char **ret_setting) {
    const char *name = cursor->text, *c = name, *end = cursor->end;
    if (c >= end || !shell_is_name(*c, 1)) return 0;
    while (c < end && shell_is_name(*c, 0)) c++;
    size_t length = (size_t)(c - name);
    int64_t index = -1;
    if (c < end && *c == '[') {
        const char *close = memchr(c, ']', (size_t)(end - c));
        if (close == NULL || close - c > 256 || close + 1 >= end || (close[1] != '=' && close[1] != '+')) return 0;
        const char *inside = shell_expand(shell, c + 1, (size_t)(close - c - 1), cursor->line);
        if (!shell_arithmetic(shell, inside, cursor->line, &index)) index = -2;
        c = close + 1;
    }
    int is_more = c < end && *c == '+';
    if (is_more) c++;
    if (c >= end || *c != '=') return 0;
    cursor->text = c + 1;
    const struct shell_variable *old = shell_variable(shell, name, length);
    struct shell_fields items = {.count = 0};
    int is_array = cursor->text < end && *cursor->text == '(';
    if (is_array) {
        cursor->text++;
        for (int32_t i = 0; is_more && old && i < old->count; i++) {
            kerf_text_add(&items.now, old->items[i]);
            items.has_now = 1;
            shell_field_end(shell, &items);
        }
        array_items(shell, cursor, &items);
    } else {
        const char *value = shell_one_word(shell, cursor);
        if (is_more && old && old->count && index < 0) value = arena_printf(shell->arena, "%s%s", old->items[0], value);
        if (value == NULL || strlen(value) > LAUNCH_VALUE_BYTES_MAX) {
            shell_fail(shell, cursor->line, "a value has more than 1 MiB");
            return 1;
        }
        if (ret_setting) *ret_setting = arena_printf(shell->arena, "%.*s=%s", (int)length, name, value);
        for (int32_t i = 0; index >= 0 && i < (old && old->count > index ? old->count : index) && i < 4096; i++) {
            kerf_text_add(&items.now, i == index ? value : old && i < old->count ? old->items[i] : "");
            items.has_now = 1;
            shell_field_end(shell, &items);
        }
        if (index < 0 || index == items.count) {
            kerf_text_add(&items.now, value);
            items.has_now = 1;
            shell_field_end(shell, &items);
        }
        is_array = index >= 0;
    }
    if (ret_setting == NULL && index > -2) shell_set(shell, name, length, items.items, items.count, is_array);
    shell_fields_free(&items);
    return 1;
}

static void follow_text(struct shell *shell, const char *text, size_t length, int32_t line) {
    if (!shell_enter(shell, line)) return;
    struct shell_cursor cursor = {text, text + length, line};
    list(shell, &cursor, "");
    shell_leave(shell);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int is_shell_name(const char *word) {
    const char *name = base_name(word);
    return strcmp(name, "bash") == 0 || strcmp(name, "sh") == 0 || strcmp(name, "zsh") == 0;
}

/* Follows what a command would have another shell run. */
static void follow_inner(struct shell *shell, const struct shell_command *command) {
    for (int32_t i = 0; i < command->num_words; i++) {
        const char *word = command->words[i];
        if (i == 0 && strcmp(word, "eval") == 0) {
            struct kerf_text all = {0};
            for (int32_t j = 1; j < command->num_words; j++) kerf_text_printf(&all, "%s ", command->words[j]);
            const char *text = all.data && !all.failed ? arena_copy(shell->arena, all.data, all.length) : "";
            kerf_text_free(&all);
            if (text) follow_text(shell, text, strlen(text), command->line);
            return;
        }
        if (!is_shell_name(word)) continue;
        for (int32_t j = i + 1; j + 1 < command->num_words && command->words[j][0] == '-'; j++) {
            const char *flags = command->words[j];
            if (flags[1] == '-' || !strchr(flags, 'c')) continue;
            follow_text(shell, command->words[j + 1], strlen(command->words[j + 1]), command->line);
            return;
        }
    }
}

static void call(struct shell *shell, const struct shell_text *function, const struct shell_command *command) {
    const char **arguments = shell->arguments;
    int32_t num_arguments = shell->num_arguments;
    shell->arguments = command->words + 1;
    shell->num_arguments = command->num_words - 1;
    follow_text(shell, function->text, function->length, function->line);
    shell->arguments = arguments;
    shell->num_arguments = num_arguments;
}

static enum truth perform(struct shell *shell, struct shell_command *command, const char *output) {
    const char *word = command->words[0];
    if (strcmp(word, "[") == 0 || strcmp(word, "test") == 0) {
        int32_t at = 1, count = command->num_words - (word[0] == '[' && command->num_words > 1);
        return test(shell, command->words, count, &at, command->line);
    }
    if (strcmp(word, "true") == 0 || strcmp(word, ":") == 0) return IS_TRUE;
    if (strcmp(word, "false") == 0) return IS_FALSE;
    if (!shell->is_reached) return IS_TRUE;
    for (int32_t i = shell->num_functions; i-- > 0;)
        if (strcmp(shell->functions[i].name, word) == 0) {
            call(shell, &shell->functions[i], command);
            return IS_TRUE;
        }
    if (strcmp(word, "unset") == 0)
        for (int32_t i = 1; i < command->num_words; i++) unset(shell, command->words[i]);
    if (strcmp(word, "shift") == 0 && shell->num_arguments > 0) shell->arguments++, shell->num_arguments--;
    if (strcmp(word, "set") == 0 && command->num_words > 1 && strcmp(command->words[1], "--") == 0)
        shell->arguments = command->words + 2, shell->num_arguments = command->num_words - 2;
    int64_t value = 0;
    for (int32_t i = 1; strcmp(word, "let") == 0 && i < command->num_words; i++)
        shell_arithmetic(shell, command->words[i], command->line, &value);
    if ((strcmp(word, "echo") == 0 || strcmp(word, "printf") == 0) && output && command->num_words == 2)
        heredoc_file(shell, output, command->words[1], strlen(command->words[1]), command->line);
    if (strcmp(word, "grep") == 0 || strcmp(word, "which") == 0 || strcmp(word, "command") == 0) return IS_UNKNOWN;
    if (shell->num_commands == SHELL_COMMANDS_MAX) {
        shell_fail(shell, command->line, "the script has more than %d commands", SHELL_COMMANDS_MAX);
        return IS_UNKNOWN;
    }
    shell->commands[shell->num_commands++] = *command;
    follow_inner(shell, command);
    return IS_TRUE;
}

/* A redirection at the cursor; a file that is written to goes to ret_output. */
static void redirection(struct shell *shell, struct shell_cursor *cursor, const char **ret_output) {
    int32_t line = cursor->line;
    char kind = *cursor->text++;
    int doubled = cursor->text < cursor->end && *cursor->text == kind;
    if (kind == '<' && doubled) {
        cursor->text++;
        if (cursor->text < cursor->end && *cursor->text == '<') { /* <<< word */
            cursor->text++;
            skip(shell, cursor, 0);
            shell_one_word(shell, cursor);
            return;
        }
        if (shell->num_heredocs == HEREDOCS_MAX) {
            shell_fail(shell, line, "a line begins more than %d here-documents", HEREDOCS_MAX);
            return;
        }
        struct shell_heredoc *doc = &shell->heredocs[shell->num_heredocs++];
        *doc = (struct shell_heredoc){.command = -1};
        if (cursor->text < cursor->end && *cursor->text == '-') doc->has_tabs = 1, cursor->text++;
        skip(shell, cursor, 0);
        doc->is_plain = cursor->text < cursor->end && strchr("'\"\\", *cursor->text) != NULL;
        doc->end = shell_one_word(shell, cursor);
        return;
    }
    if (doubled) cursor->text++;
    if (cursor->text < cursor->end && strchr("&|", *cursor->text)) cursor->text++;
    skip(shell, cursor, 0);
    const char *file = shell_one_word(shell, cursor);
    if (kind == '>') *ret_output = file;
}

/* Whether a word begins assignments that follow it. */
static int is_declaration(const char *word) {
    static const char *const names[] = {"export", "declare", "local", "readonly", "typeset", "env"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0) return 1;
    return 0;
}

static enum truth simple(struct shell *shell, struct shell_cursor *cursor) {
    struct shell_fields words = {.count = 0}, settings = {.count = 0};
    struct shell_command command = {.line = cursor->line};
    const char *output = NULL, *first = cursor->text;
    int32_t first_doc = shell->num_heredocs;
    int is_declared = 0, has_array = 0;
    while (shell->code == KERF_OK) {
        skip(shell, cursor, 0);
        if (cursor->text >= cursor->end) break;
        char c = *cursor->text;
        if (strchr("\n;|)", c)) break;
        if (c == '&') {
            if (cursor->text + 1 < cursor->end && cursor->text[1] == '>') { /* &> file */
                cursor->text++;
                continue;
            }
            break;
        }
        if (c == '(') {
            if (words.count == 1 && cursor->text + 1 < cursor->end && cursor->text[1] == ')') {
                cursor->text += 2;
                follow_function(shell, cursor, words.items[0]);
            } else {
                shell_fail(shell, cursor->line, "'(' does not belong here");
            }
            shell_fields_free(&words);
            shell_fields_free(&settings);
            return IS_TRUE;
        }
        if ((c == '<' || c == '>') && !(cursor->text + 1 < cursor->end && cursor->text[1] == '(')) {
            redirection(shell, cursor, &output);
            continue;
        }
        const char *setting = NULL;
        if ((words.count == 0 || is_declared) && assignment(shell, cursor, &setting)) {
            has_array |= setting == NULL; /* it is set below, by reading it again */
            if (setting == NULL) continue;
            kerf_text_add(&settings.now, setting);
            settings.has_now = 1;
            shell_field_end(shell, &settings);
            continue;
        }
        const char *start = cursor->text;
        int32_t before = words.count;
        shell_word(shell, cursor, &words, 1);
        /* the number before a redirection, as in 2>&1 */
        if (cursor->text == start + 1 && *start >= '0' && *start <= '9' && cursor->text < cursor->end &&
            (*cursor->text == '>' || *cursor->text == '<'))
            words.count = before;
        if (before == 0 && words.count > 0) is_declared = is_declaration(words.items[0]);
        if (cursor->text == start) shell_fail(shell, cursor->line, "'%c' does not belong here", *start);
    }
    for (int32_t i = first_doc; i < shell->num_heredocs; i++) shell->heredocs[i].file = output;
    int is_only_setting = words.count == 0 || is_declared;
    enum truth truth = IS_TRUE;
    if (is_only_setting && (has_array || settings.count + words.count > 0) && shell->code == KERF_OK) {
        /* once more, this time to set the variables, each seeing the ones before it */
        struct shell_cursor again = {first, cursor->text, command.line};
        int32_t docs = shell->num_heredocs;
        while (again.text < again.end && shell->code == KERF_OK) {
            skip(shell, &again, 0);
            if (again.text >= again.end) break;
            const char *start = again.text;
            struct shell_fields passed = {.count = 0};
            if (!assignment(shell, &again, NULL)) shell_word(shell, &again, &passed, 1);
            shell_fields_free(&passed);
            if (again.text == start) again.text++; /* of a redirection */
        }
        shell->num_heredocs = docs;
    }
    command.words = words.items;
    command.num_words = words.count;
    command.settings = settings.items;
    command.num_settings = settings.count;
    shell_fields_free(&words);
    shell_fields_free(&settings);
    if (shell->code == KERF_OK && words.count > 0 && !(is_declared && strcmp(words.items[0], "env") != 0))
        truth = perform(shell, &command, output);
    return truth;
}

static enum truth command(struct shell *shell, struct shell_cursor *cursor) {
    skip(shell, cursor, 0);
    if (++shell->steps > SHELL_STEPS_MAX)
        shell_fail(shell, cursor->line, "the script takes more than %d steps", SHELL_STEPS_MAX);
    if (cursor->text >= cursor->end || !shell_enter(shell, cursor->line)) return IS_UNKNOWN;
    enum truth truth = IS_TRUE;
    int is_compound = 1;
    if (take_word(cursor, "!"))
        truth = not(command(shell, cursor)), is_compound = 0;
    else if (take_word(cursor, "if"))
        follow_if(shell, cursor);
    else if (take_word(cursor, "while") || take_word(cursor, "until"))
        follow_while(shell, cursor);
    else if (take_word(cursor, "for") || take_word(cursor, "select"))
        follow_for(shell, cursor);
    else if (take_word(cursor, "case"))
        follow_case(shell, cursor);
    else if (take_word(cursor, "[["))
        truth = double_brackets(shell, cursor);
    else if (take_word(cursor, "{"))
        follow_group(shell, cursor, '}');
    else if (take_word(cursor, "function")) {
        skip(shell, cursor, 0);
        const char *name = shell_one_word(shell, cursor);
        skip(shell, cursor, 0);
        if (cursor->end - cursor->text >= 2 && cursor->text[0] == '(' && cursor->text[1] == ')') cursor->text += 2;
        follow_function(shell, cursor, name);
    } else if (cursor->end - cursor->text >= 2 && cursor->text[0] == '(' && cursor->text[1] == '(') {
        const char *start = cursor->text + 2, *end = memmem(start, (size_t)(cursor->end - start), "))", 2);
        int64_t value = 0;
        if (end == NULL) {
            shell_fail(shell, cursor->line, "'))' is missing: what it would close begins here");
        } else {
            const char *inside = shell_expand(shell, start, (size_t)(end - start), cursor->line);
            truth = shell_arithmetic(shell, inside, cursor->line, &value) ? truth_of(value != 0) : IS_UNKNOWN;
            for (const char *c = cursor->text; c < end; c++) cursor->line += *c == '\n';
            cursor->text = end + 2;
        }
    } else if (*cursor->text == '(') {
        cursor->text++;
        follow_group(shell, cursor, ')');
    } else {
        truth = simple(shell, cursor);
        is_compound = 0;
    }
    while (is_compound && shell->code == KERF_OK) { /* redirections of all of it */
        const char *output = NULL;
        skip(shell, cursor, 0);
        if (cursor->text < cursor->end && *cursor->text >= '0' && *cursor->text <= '9') cursor->text++;
        if (cursor->text >= cursor->end || !strchr("<>", *cursor->text)) break;
        redirection(shell, cursor, &output);
    }
    shell_leave(shell);
    return truth;
}

/* Commands up to one of the words, which stays; the truth of the last one. */
static enum truth list(struct shell *shell, struct shell_cursor *cursor, const char *ends) {
    enum truth truth = IS_TRUE;
    int before = shell->is_reached;
    while (shell->code == KERF_OK) {
        skip(shell, cursor, 1);
        if (cursor->text >= cursor->end || is_end(cursor, ends)) break;
        const char *start = cursor->text;
        truth = command(shell, cursor);
        for (;;) { /* a && b, a || b, a | b: what is not known to be false follows &&, what is not true follows || */
            skip(shell, cursor, 0);
            if (shell->code != KERF_OK || cursor->end - cursor->text < 1) break;
            char c = *cursor->text;
            int is_double = cursor->end - cursor->text >= 2 && cursor->text[1] == c;
            if (c == '|' && !is_double) {
                cursor->text++;
                if (cursor->text < cursor->end && *cursor->text == '&') cursor->text++;
                skip(shell, cursor, 1);
                truth = command(shell, cursor);
            } else if ((c == '&' || c == '|') && is_double) {
                cursor->text += 2;
                skip(shell, cursor, 1);
                int is_done = c == '&' ? truth == IS_TRUE : truth == IS_FALSE;
                if (truth == IS_UNKNOWN) is_taken(shell, truth, cursor->line);
                shell->is_reached = before && is_done;
                enum truth other = command(shell, cursor);
                shell->is_reached = before;
                truth = is_done ? other : truth;
            } else {
                break;
            }
        }
        if (cursor->text < cursor->end && *cursor->text == '&') cursor->text++;
        if (cursor->text < cursor->end && cursor->text == start)
            shell_fail(shell, cursor->line, "'%c' does not belong here", *start);
    }
    return truth;
}

int32_t shell_follow(struct shell *shell, const char *text, size_t length) {
    struct shell_heredoc docs[HEREDOCS_MAX];
    struct shell_cursor cursor = {text, text + length, 1};
    shell->heredocs = docs;
    shell->num_heredocs = 0;
    shell->is_reached = 1;
    list(shell, &cursor, "");
    shell->heredocs = NULL;
    return shell->code;
}
