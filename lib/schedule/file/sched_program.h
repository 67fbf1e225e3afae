/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text form of schedules as a tree, between its reader (sched_parse.c) and its evaluation (sched_run.c). The
 * language is described in docs/schedule-files.md.
 */
#ifndef KERF_SCHEDULE_FILE_SCHED_PROGRAM_H
#define KERF_SCHEDULE_FILE_SCHED_PROGRAM_H

#include "base/arena.h"
#include "kerf/schedule.h"

struct place {
    int32_t line, column;
};

enum builtin { VALUE_P, VALUE_M, VALUE_V, VALUE_S, VALUE_I, BUILTINS };

enum expr_kind {
    EXPR_NUMBER,  /* value */
    EXPR_BUILTIN, /* value: enum builtin */
    EXPR_LOCAL,   /* value: its slot in the frame */
    EXPR_CALL,    /* of function, with arguments */
    EXPR_COUNT,   /* operations of a kind and chunk so far */
    EXPR_WAITING, /* I operations whose W is still to come */
    EXPR_MIN,
    EXPR_MAX,
    EXPR_NOT,
    EXPR_NEGATE,
    EXPR_OR, /* from here on: left and right */
    EXPR_AND,
    EXPR_EQUAL,
    EXPR_UNEQUAL,
    EXPR_LESS,
    EXPR_AT_MOST,
    EXPR_GREATER,
    EXPR_AT_LEAST,
    EXPR_ADD,
    EXPR_SUBTRACT,
    EXPR_MULTIPLY,
    EXPR_DIVIDE,
    EXPR_REMAINDER
};

struct expr {
    enum expr_kind kind;
    int32_t depth; /* of evaluations within evaluations, those of its functions with it */
    struct place place;
    int64_t value;
    struct expr *first; /* operands or arguments */
    struct expr *next;  /* in the list that this one is in */
    const struct function *function;
    struct op_name *op; /* of count and waiting */
};

/* F, F1, F[c], F[*] */
struct op_name {
    enum kerf_op_kind kind;
    struct place place;
    int any_chunk;
    int32_t number;     /* of the chunk, */
    struct expr *chunk; /* or where not NULL its value */
};

/* let NAME(a, b) = EXPR outside of any device: evaluated where it is used */
struct function {
    const char *name;
    int32_t num_parameters;
    struct expr *body;
    const struct function *next; /* the one before it in the file */
};

/* One operation, or one part of a fused one. */
struct part {
    struct op_name name;
    struct expr *microbatch, *slice; /* behind @ and .; NULL: the next */
    int optional;                    /* ? */
};

enum statement_kind { STATEMENT_OP, STATEMENT_LET, STATEMENT_REPEAT, STATEMENT_WHILE, STATEMENT_IF };

struct statement {
    enum statement_kind kind;
    struct place place;
    struct statement *next;
    struct expr *value;                 /* of let; the count; the condition */
    int32_t slot;                       /* of let, of repeat ... as; -1: none */
    struct statement *body, *otherwise; /* of repeat, while and if */
    struct part *part, *second;         /* of op; second: the backward that runs together with part, or NULL */
};

/* device FIRST .. LAST { BODY } */
struct device_block {
    struct place place;
    struct expr *first, *last; /* last NULL: first alone */
    struct statement *body;
    struct device_block *next;
};

struct requirement {
    struct expr *condition;
    const char *text; /* as it stands in the file */
    struct requirement *next;
};

enum { SLOTS_MAX = 64 }; /* names in scope at once */

struct program {
    struct arena *arena;
    const char *file;
    const char *name;                              /* NULL: the file's */
    int32_t devices, microbatches, chunks, slices; /* 0: not said */
    enum kerf_placement placement;
    int32_t replicas; /* 0: no placement is said */
    struct place placement_place;
    int32_t *device_of; /* [replicas * stages] as listed; NULL: by the placement */
    int32_t stages;     /* of a list */
    struct requirement *requirements;
    struct device_block *blocks;
};

int32_t sched_parse(struct program *ret_program, struct arena *arena, const char *text, size_t length, const char *file,
                    struct kerf_error *err);

int32_t sched_run(const struct program *program, const struct kerf_schedule_file_request *request,
                  struct kerf_schedule **ret_schedule, struct kerf_error *err);

/* ---- Words (sched_lexer.c) --------------------------------------------------------------------------------------- */

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
