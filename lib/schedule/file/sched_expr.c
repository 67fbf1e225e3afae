/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of the text form of schedules, by precedence:
 *
 *     or   and   not   == != < <= > >= (one)   + -   * / %   - (of one)   atom
 *
 * Names are resolved here. A function sees those before it alone, so that evaluation cannot go round in circles; how
 * deep it goes is known, and bounded, here.
 */
#include <stdio.h>
#include <string.h>
#include "schedule/file/sched_parser.h"

static struct expr *new_expr(struct parser *parser, enum expr_kind kind, struct place place) {
    struct expr *expr = parser_alloc(parser, sizeof *expr);
    if (expr == NULL) return NULL;
    expr->kind = kind;
    expr->place = place;
    expr->depth = 1;
    return expr;
}

static void check_depth(struct parser *parser, const struct expr *expr) {
    if (expr->depth > DEPTH_MAX)
        parser_fail(parser, expr->place, "an expression, with those of its functions, may be %d deep; split it",
                    DEPTH_MAX);
}

/* Adds an operand behind the ones that are there (ret_last: the last of them). */
static void add_operand(struct parser *parser, struct expr *expr, struct expr **last, struct expr *operand) {
    if (expr == NULL || operand == NULL) return;
    if (*last)
        (*last)->next = operand;
    else
        expr->first = operand;
    *last = operand;
    if (operand->depth >= expr->depth) expr->depth = operand->depth + 1;
    check_depth(parser, expr);
}

/* ---- Atoms ------------------------------------------------------------------------------------------------ */

int parse_op_name(struct parser *parser, struct op_name *ret_name) {
    struct token token = parser->token;
    if (token.kind != TOKEN_OP) {
        parser_expected(parser, "an operation, such as F or B1,");
        return 0;
    }
    *ret_name = (struct op_name){.kind = (enum kerf_op_kind)token.value, .place = token.place};
    parser_advance(parser);
    if (token.chunk >= 0) {
        ret_name->number = token.chunk;
    } else if (parser_take_symbol(parser, '[')) {
        if (parser_take_symbol(parser, '*'))
            ret_name->any_chunk = 1;
        else
            ret_name->chunk = parse_expr(parser);
        parser_need_symbol(parser, ']', "']'");
    }
    return parser->code == KERF_OK;
}

/* count(F1), waiting(W[*]): behind the word */
static struct expr *parse_counter(struct parser *parser, enum expr_kind kind, struct place place) {
    struct expr *expr = new_expr(parser, kind, place);
    struct op_name *op = parser_alloc(parser, sizeof *op);
    parser_need_symbol(parser, '(', "'('");
    if (expr == NULL || op == NULL || !parse_op_name(parser, op)) return NULL;
    if (kind == EXPR_WAITING && op->kind != KERF_OP_W)
        parser_fail(parser, op->place, "only W waits: waiting(W1), or waiting(W[*]) for all chunks");
    expr->op = op;
    if (op->chunk && op->chunk->depth >= expr->depth) expr->depth = op->chunk->depth + 1;
    check_depth(parser, expr);
    parser_need_symbol(parser, ')', "')'");
    return expr;
}

/* (a, b): behind the function's name */
static struct expr *parse_call(struct parser *parser, const struct function *function, struct place place) {
    struct expr *expr = new_expr(parser, EXPR_CALL, place), *last = NULL;
    int32_t count = 0;
    if (expr == NULL) return NULL;
    expr->function = function;
    expr->depth = function->body->depth + 1;
    check_depth(parser, expr);
    if (function->num_parameters == 0) return expr;
    parser_need_symbol(parser, '(', "'('");
    do {
        add_operand(parser, expr, &last, parse_expr(parser));
        count++;
    } while (parser_take_symbol(parser, ','));
    parser_need_symbol(parser, ')', "')' or ','");
    if (parser->code == KERF_OK && count != function->num_parameters)
        parser_fail(parser, place, "%s takes %d value%s, not %d", function->name, function->num_parameters,
                    function->num_parameters == 1 ? "" : "s", count);
    return expr;
}

/* min(a, b, ...) or max: behind the word */
static struct expr *parse_least(struct parser *parser, enum expr_kind kind, struct place place) {
    struct expr *expr = new_expr(parser, kind, place), *last = NULL;
    parser_need_symbol(parser, '(', "'('");
    do add_operand(parser, expr, &last, parse_expr(parser));
    while (parser_take_symbol(parser, ','));
    parser_need_symbol(parser, ')', "')' or ','");
    return expr;
}

static void unknown_name(struct parser *parser, const struct token *token) {
    static const char *const known[] = {"p", "m", "v", "i", "slices", "min", "max", "count", "waiting"};
    const char *names[sizeof known / sizeof *known + SLOTS_MAX];
    char name[48];
    size_t count = 0;
    for (; count < sizeof known / sizeof *known; count++) names[count] = known[count];
    for (int32_t k = 0; k < parser->num_names; k++) names[count++] = parser->names[k];
    snprintf(name, sizeof name, "%.*s", (int)(token->end - token->start), token->start);
    const char *nearest = kerf_text_nearest(name, names, count);
    for (const struct function *f = parser->functions; f && nearest == NULL; f = f->next)
        nearest = kerf_text_nearest(name, &f->name, 1);
    parser_fail(parser, token->place, "no value is called '%s'%s%s%s", name, nearest ? "; did you mean " : "",
                nearest ? nearest : "; `let` gives one a name", nearest ? "?" : "");
}

static int says(const struct token *token, const char *name) {
    size_t length = (size_t)(token->end - token->start);
    return strlen(name) == length && memcmp(name, token->start, length) == 0;
}

static struct expr *parse_name(struct parser *parser) {
    static const char *const values[BUILTINS] = {"p", "m", "v", "slices", "i"};
    struct token token = parser->token;
    struct expr *expr = NULL;
    parser_advance(parser);
    if (says(&token, "min")) return parse_least(parser, EXPR_MIN, token.place);
    if (says(&token, "max")) return parse_least(parser, EXPR_MAX, token.place);
    if (says(&token, "count")) return parse_counter(parser, EXPR_COUNT, token.place);
    if (says(&token, "waiting")) return parse_counter(parser, EXPR_WAITING, token.place);
    for (int k = 0; k < BUILTINS; k++)
        if (says(&token, values[k])) {
            if ((expr = new_expr(parser, EXPR_BUILTIN, token.place))) expr->value = k;
            return expr;
        }
    for (int32_t k = parser->num_names; k-- > 0;)
        if (says(&token, parser->names[k])) {
            if ((expr = new_expr(parser, EXPR_LOCAL, token.place))) expr->value = k;
            return expr;
        }
    for (const struct function *f = parser->functions; f; f = f->next)
        if (says(&token, f->name)) return parse_call(parser, f, token.place);
    unknown_name(parser, &token);
    return NULL;
}

struct expr *parse_atom(struct parser *parser) {
    struct token token = parser->token;
    struct expr *expr = NULL;
    if (token.kind == TOKEN_NUMBER) {
        parser_advance(parser);
        if ((expr = new_expr(parser, EXPR_NUMBER, token.place))) expr->value = token.value;
    } else if (token.kind == TOKEN_NAME) {
        expr = parse_name(parser);
    } else if (parser_take_symbol(parser, '(')) {
        expr = parse_expr(parser);
        parser_need_symbol(parser, ')', "')'");
    } else {
        parser_expected(parser, "a value, such as 2, m or (p - 1),");
    }
    return parser->code == KERF_OK ? expr : NULL;
}

/* ---- Operators -------------------------------------------------------------------------------------------- */

enum { LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVELS };

static const struct {
    int level;
    int32_t symbol;   /* or */
    const char *word; /* this one */
    enum expr_kind kind;
} operators[] = {
    {LEVEL_OR, 0, "or", EXPR_OR},
    {LEVEL_AND, 0, "and", EXPR_AND},
    {LEVEL_COMPARE, SYMBOL_EQUAL, NULL, EXPR_EQUAL},
    {LEVEL_COMPARE, SYMBOL_UNEQUAL, NULL, EXPR_UNEQUAL},
    {LEVEL_COMPARE, '<', NULL, EXPR_LESS},
    {LEVEL_COMPARE, SYMBOL_AT_MOST, NULL, EXPR_AT_MOST},
    {LEVEL_COMPARE, '>', NULL, EXPR_GREATER},
    {LEVEL_COMPARE, SYMBOL_AT_LEAST, NULL, EXPR_AT_LEAST},
    {LEVEL_SUM, '+', NULL, EXPR_ADD},
    {LEVEL_SUM, '-', NULL, EXPR_SUBTRACT},
    {LEVEL_PRODUCT, '*', NULL, EXPR_MULTIPLY},
    {LEVEL_PRODUCT, '/', NULL, EXPR_DIVIDE},
    {LEVEL_PRODUCT, '%', NULL, EXPR_REMAINDER},
};
enum { OPERATORS = sizeof operators / sizeof *operators };

/* Whether the token is an operator of the level; ret_kind says which. */
static int is_operator(const struct parser *parser, int level, enum expr_kind *ret_kind) {
    for (size_t k = 0; k < OPERATORS; k++) {
        if (operators[k].level != level) continue;
        if (operators[k].word ? !parser_is_word(parser, operators[k].word)
                              : !parser_is_symbol(parser, operators[k].symbol))
            continue;
        *ret_kind = operators[k].kind;
        return 1;
    }
    return 0;
}

static struct expr *parse_level(struct parser *parser, int level);

/* not, before a comparison; -, before an atom */
static struct expr *parse_prefix(struct parser *parser, enum expr_kind kind, int level) {
    struct expr *expr = new_expr(parser, kind, parser->token.place), *last = NULL;
    parser_advance(parser);
    if (++parser->depth > DEPTH_MAX) parser_fail(parser, parser->token.place, "more than %d levels deep", DEPTH_MAX);
    add_operand(parser, expr, &last, parse_level(parser, level));
    parser->depth--;
    return parser->code == KERF_OK ? expr : NULL;
}

static struct expr *parse_level(struct parser *parser, int level) {
    enum expr_kind kind;
    if (level == LEVELS)
        return parser_is_symbol(parser, '-') ? parse_prefix(parser, EXPR_NEGATE, LEVELS) : parse_atom(parser);
    if (level == LEVEL_COMPARE && parser_is_word(parser, "not")) return parse_prefix(parser, EXPR_NOT, LEVEL_COMPARE);
    struct expr *left = parse_level(parser, level + 1);
    while (parser->code == KERF_OK && is_operator(parser, level, &kind)) {
        struct expr *expr = new_expr(parser, kind, parser->token.place), *last = NULL;
        parser_advance(parser);
        add_operand(parser, expr, &last, left);
        add_operand(parser, expr, &last, parse_level(parser, level + 1));
        left = expr;
        if (level == LEVEL_COMPARE && is_operator(parser, level, &kind))
            parser_fail(parser, parser->token.place, "comparisons cannot be chained; write a < b and b < c");
    }
    return parser->code == KERF_OK ? left : NULL;
}

struct expr *parse_expr(struct parser *parser) {
    struct expr *expr = NULL;
    if (++parser->depth > DEPTH_MAX)
        parser_fail(parser, parser->token.place, "more than %d levels deep", DEPTH_MAX);
    else
        expr = parse_level(parser, LEVEL_OR);
    parser->depth--;
    return expr;
}
