/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the parser of schedules as text: expressions (sched_expr.c), and the rest (sched_parse.c). */
#ifndef KERF_SCHEDULE_FILE_SCHED_PARSER_H
#define KERF_SCHEDULE_FILE_SCHED_PARSER_H

#include "schedule/file/sched_lexer.h"

enum { DEPTH_MAX = 200, BLOCKS_MAX = 32 };

/* After the first error `code` is set, and the token at hand stays the end. */
struct parser {
    struct program *program;
    struct lexer lexer;
    struct token token;
    const char *last_end; /* of the token before */
    int32_t code;
    const char *names[SLOTS_MAX]; /* in scope, by slot */
    int32_t num_names;
    const struct function *functions; /* the latest first */
    int32_t depth, blocks;            /* of parentheses, of braces */
    int32_t num_blocks;               /* of devices */
    struct kerf_error *err;
};

void parser_advance(struct parser *parser);
void parser_fail(struct parser *parser, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "'}' belongs here, not 'F'" */
void parser_expected(struct parser *parser, const char *what);

int parser_is_symbol(const struct parser *parser, int32_t symbol);
int parser_is_word(const struct parser *parser, const char *word);
int parser_take_symbol(struct parser *parser, int32_t symbol); /* if it is there; whether it was */
int parser_take_word(struct parser *parser, const char *word);
void parser_need_symbol(struct parser *parser, int32_t symbol, const char *shown);

void *parser_alloc(struct parser *parser, size_t size); /* zeroed; NULL once anything failed */
/* A new name, which is no word of the language and not in use; NULL after an error. */
const char *parser_new_name(struct parser *parser);

struct expr *parse_expr(struct parser *parser); /* NULL after an error */
struct expr *parse_atom(struct parser *parser); /* a number, a name, a call, or something in parentheses */
int parse_op_name(struct parser *parser, struct op_name *ret_name);

#endif
