/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the text form of schedules: numbers, names, operations, symbols; # begins a comment. Line ends count as
 * blanks. */
#include "schedule/file/sched_program.h"

#include <string.h>
#include "schedule/build.h"
#include "schedule/file/read_schedule.h"

void lexer_begin(struct lexer *lexer, const char *text, size_t length, const char *file, struct kerf_error *err) {
    *lexer = (struct lexer){file, text, text + length, text, 1, err};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) lexer->at += 3;
}

static struct place here(const struct lexer *lexer) {
    return (struct place){lexer->line, (int32_t)(lexer->at - lexer->line_start) + 1};
}

static void skip_blanks(struct lexer *lexer) {
    for (; lexer->at < lexer->end; lexer->at++) {
        char c = *lexer->at;
        if (c == '#') {
            const char *newline = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
            lexer->at = newline ? newline : lexer->end;
            if (newline == NULL) return;
            c = '\n';
        }
        if (c == '\n') {
            lexer->line++;
            lexer->line_start = lexer->at + 1;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_lower(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
static int is_upper(char c) { return c >= 'A' && c <= 'Z'; }

static int32_t fail(const struct lexer *lexer, const struct token *token, const char *why) {
    enum { SHOWN = 24 };
    size_t length = (size_t)(token->end - token->start);
    return file_fail(lexer->err, KERF_ESYNTAX, lexer->file, token->place.line, token->place.column, "'%.*s%s' %s",
                     (int)(length < SHOWN ? length : SHOWN), token->start, length > SHOWN ? "..." : "", why);
}

/* Digits from c on; -1 when they are more than an operand may be. */
static int64_t digits(const struct lexer *lexer, const char **c) {
    int64_t value = 0;
    for (; *c < lexer->end && is_digit(**c); ++*c)
        if (value >= 0) value = value * 10 + (**c - '0') > INT32_MAX ? -1 : value * 10 + (**c - '0');
    return value;
}

static int32_t read_op(struct lexer *lexer, struct token *token) {
    static const char letters[] = {[KERF_OP_F] = 'F', [KERF_OP_B] = 'B', [KERF_OP_I] = 'I', [KERF_OP_W] = 'W',
                                   [KERF_OP_R] = 'R', [KERF_OP_O] = 'O', [KERF_OP_L] = 'L'};
    const char *c = token->start + 1;
    const char *letter = memchr(letters, *token->start, sizeof letters);
    int64_t chunk = c < lexer->end && is_digit(*c) ? digits(lexer, &c) : -2;
    while (c < lexer->end && (is_digit(*c) || is_lower(*c) || is_upper(*c))) c++, letter = NULL;
    token->end = c;
    if (letter == NULL)
        return fail(lexer, token,
                    "is not an operation; operations are F, B, I, W, R, O and L, of chunk 1: F1, B1, I1, ...");
    if (chunk == -1 || chunk >= STAGES_MAX) return fail(lexer, token, "is not of a chunk; chunks are 0 to 32766");
    token->kind = TOKEN_OP;
    token->value = letter - letters;
    token->chunk = chunk < 0 ? -1 : (int32_t)chunk;
    return KERF_OK;
}

static int32_t read_symbol(const struct lexer *lexer, struct token *token) {
    static const struct {
        char text[3];
        enum symbol symbol;
    } pairs[] = {{"<=", SYMBOL_AT_MOST},
                 {">=", SYMBOL_AT_LEAST},
                 {"==", SYMBOL_EQUAL},
                 {"!=", SYMBOL_UNEQUAL},
                 {"..", SYMBOL_RANGE}};
    token->kind = TOKEN_SYMBOL;
    token->end = token->start + 1;
    token->symbol = (unsigned char)*token->start;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (lexer->end - token->start >= 2 && memcmp(token->start, pairs[i].text, 2) == 0) {
            token->end++;
            token->symbol = pairs[i].symbol;
            return KERF_OK;
        }
    if (token->symbol && strchr("(){}[],@?*/%+-.<>=", token->symbol)) return KERF_OK;
    return fail(lexer, token, "means nothing here");
}

int32_t lexer_next(struct lexer *lexer, struct token *ret_token) {
    int32_t code = KERF_OK;
    skip_blanks(lexer);
    *ret_token = (struct token){.start = lexer->at, .end = lexer->at, .place = here(lexer)};
    if (lexer->at == lexer->end) return KERF_OK;
    const char *c = lexer->at;
    if (is_digit(*c)) {
        ret_token->kind = TOKEN_NUMBER;
        ret_token->value = digits(lexer, &c);
        ret_token->end = c;
        if (ret_token->value < 0) code = fail(lexer, ret_token, "is too large; numbers go up to 2147483647");
        if (c < lexer->end && (is_lower(*c) || is_upper(*c))) {
            ret_token->end++;
            code = fail(lexer, ret_token, "is not a number and not a name; a name begins with a letter");
        }
    } else if (is_lower(*c)) {
        ret_token->kind = TOKEN_NAME;
        while (c < lexer->end && (is_lower(*c) || is_digit(*c))) c++;
        ret_token->end = c;
    } else if (is_upper(*c)) {
        code = read_op(lexer, ret_token);
    } else {
        code = read_symbol(lexer, ret_token);
    }
    lexer->at = ret_token->end;
    return code;
}

int32_t lexer_word(struct lexer *lexer, struct token *ret_token) {
    skip_blanks(lexer);
    *ret_token = (struct token){.kind = TOKEN_NAME, .start = lexer->at, .place = here(lexer)};
    while (lexer->at < lexer->end &&
           (is_digit(*lexer->at) || is_lower(*lexer->at) || is_upper(*lexer->at) || strchr("-+.", *lexer->at)) &&
           *lexer->at)
        lexer->at++;
    ret_token->end = lexer->at;
    if (ret_token->end == ret_token->start)
        return file_fail(lexer->err, KERF_ESYNTAX, lexer->file, ret_token->place.line, ret_token->place.column,
                         "a name is expected here, of letters, digits, _ - + and .");
    return KERF_OK;
}
