/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the text form of schedules. */
#ifndef KERF_SCHEDULE_FILE_SCHED_LEXER_H
#define KERF_SCHEDULE_FILE_SCHED_LEXER_H

#include "schedule/file/sched_program.h"

enum token_kind {
    TOKEN_END,
    TOKEN_NUMBER, /* value */
    TOKEN_NAME,   /* lower-case: a variable, a function, a keyword */
    TOKEN_OP,     /* F, B, I, W: value is the enum kerf_op_kind, chunk the number behind it or -1 */
    TOKEN_SYMBOL  /* symbol: one of  ( ) { } [ ] , @ ? * / % + - . < > =  or of enum symbol */
};

enum symbol { SYMBOL_AT_MOST = 256, SYMBOL_AT_LEAST, SYMBOL_EQUAL, SYMBOL_UNEQUAL, SYMBOL_RANGE };

struct token {
    enum token_kind kind;
    const char *start, *end;
    struct place place;
    int64_t value;
    int32_t symbol, chunk;
};

struct lexer {
    const char *file, *at, *end, *line_start;
    int32_t line;
    struct kerf_error *err;
};

void lexer_begin(struct lexer *lexer, const char *text, size_t length, const char *file, struct kerf_error *err);
int32_t lexer_next(struct lexer *lexer, struct token *ret_token);

/* What stands up to the next blank, as a schedule's name: letters, digits, _ - + . */
int32_t lexer_word(struct lexer *lexer, struct token *ret_token);

#endif
