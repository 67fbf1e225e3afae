/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the text form of schedules into a tree: header lines, requirements, functions and device blocks. A parser by
 * recursive descent; nothing is evaluated here. The grammar is in docs/schedule-files.md.
 *
 * Expressions of the text form of schedules, by precedence:
 *
 *     or   and   not   == != < <= > >= (one)   + -   * / %   - (of one)   atom
 *
 * Names are resolved here. A function sees those before it alone, so that evaluation cannot go round in circles; how
 * deep it goes is known, and bounded, here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/characters.h"
#include "schedule/build.h"
#include "schedule/file/read_schedule.h"
#include "schedule/file/sched_program.h"

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

/* ---- Tokens ----------------------------------------------------------------------------------------------- */

static void advance(struct parser *parser) {
    parser->last_end = parser->token.end;
    if (parser->code == KERF_OK) parser->code = lexer_next(&parser->lexer, &parser->token);
    if (parser->code != KERF_OK) parser->token.kind = TOKEN_END;
}

__attribute__((format(printf, 3, 4))) static void fail(struct parser *parser, struct place place, const char *format,
                                                       ...) {
    char message[sizeof parser->err->message];
    va_list args;
    if (parser->code != KERF_OK) return; /* the first error counts */
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    parser->code = file_fail(parser->err, KERF_ESYNTAX, parser->program->file, place.line, place.column, "%s", message);
    parser->token.kind = TOKEN_END;
}

/* "'}' belongs here, not 'F'" */
static void expected(struct parser *parser, const char *what) {
    enum { SHOWN = 24 };
    const struct token *token = &parser->token;
    size_t length = (size_t)(token->end - token->start);
    if (token->kind == TOKEN_END)
        fail(parser, token->place, "the file ends where %s is expected", what);
    else
        fail(parser, token->place, "%s is expected here, not '%.*s%s'", what, (int)(length < SHOWN ? length : SHOWN),
             token->start, length > SHOWN ? "..." : "");
}

static int is_symbol(const struct parser *parser, int32_t symbol) {
    return parser->token.kind == TOKEN_SYMBOL && parser->token.symbol == symbol;
}

static int is_word(const struct parser *parser, const char *word) {
    const struct token *token = &parser->token;
    size_t length = (size_t)(token->end - token->start);
    return token->kind == TOKEN_NAME && strlen(word) == length && memcmp(word, token->start, length) == 0;
}

static int take_symbol(struct parser *parser, int32_t symbol) {
    if (!is_symbol(parser, symbol)) return 0;
    advance(parser);
    return 1;
}

static int take_word(struct parser *parser, const char *word) {
    if (!is_word(parser, word)) return 0;
    advance(parser);
    return 1;
}

static void need_symbol(struct parser *parser, int32_t symbol, const char *shown) {
    if (!take_symbol(parser, symbol)) expected(parser, shown);
}

/* Zeroed; NULL once anything failed. */
static void *alloc(struct parser *parser, size_t size) {
    void *memory = parser->code == KERF_OK ? arena_alloc(parser->program->arena, 1, size) : NULL;
    if (memory == NULL && parser->code == KERF_OK)
        parser->code = file_fail(parser->err, KERF_ENOMEM, parser->program->file, 0, 0, "not enough memory to read it");
    return memory;
}

static char *copy_text(struct parser *parser, const char *start, const char *end) {
    char *copy = alloc(parser, (size_t)(end - start) + 1);
    if (copy) memcpy(copy, start, (size_t)(end - start));
    return copy;
}

/* A new name, which is no word of the language and not in use; NULL after an error. */
static const char *new_name(struct parser *parser) {
    static const char *const words[] = {"p",     "m",       "v",    "i",     "slices", "min",    "max",
                                        "count", "waiting", "let",  "and",   "or",     "not",    "repeat",
                                        "as",    "if",      "else", "while", "device", "require"};
    const struct token token = parser->token;
    if (token.kind != TOKEN_NAME) {
        expected(parser, "a name of small letters");
        return NULL;
    }
    const char *name = copy_text(parser, token.start, token.end);
    for (size_t k = 0; name && k < sizeof words / sizeof *words; k++)
        if (strcmp(words[k], name) == 0) fail(parser, token.place, "'%s' is a reserved word", name);
    for (int32_t k = 0; name && k < parser->num_names; k++)
        if (strcmp(parser->names[k], name) == 0) fail(parser, token.place, "'%s' has a value already", name);
    for (const struct function *f = parser->functions; name && f; f = f->next)
        if (strcmp(f->name, name) == 0) fail(parser, token.place, "'%s' has a value already", name);
    advance(parser);
    return parser->code == KERF_OK ? name : NULL;
}

/* Puts a name into scope; its slot. */
static int32_t enter(struct parser *parser, const char *name, struct place place) {
    if (parser->num_names == SLOTS_MAX)
        fail(parser, place, "more than %d names in scope", SLOTS_MAX);
    else
        parser->names[parser->num_names++] = name;
    return parser->num_names - 1;
}

/* ---- Expressions ------------------------------------------------------------------------------------------ */

static struct expr *parse_expr(struct parser *parser); /* NULL after an error */

static struct expr *new_expr(struct parser *parser, enum expr_kind kind, struct place place) {
    struct expr *expr = alloc(parser, sizeof *expr);
    if (expr == NULL) return NULL;
    expr->kind = kind;
    expr->place = place;
    expr->depth = 1;
    return expr;
}

static void check_depth(struct parser *parser, const struct expr *expr) {
    if (expr->depth > DEPTH_MAX)
        fail(parser, expr->place, "the expression, with those of its functions, is more than %d levels deep; split it",
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

static int parse_op_name(struct parser *parser, struct op_name *ret_name) {
    struct token token = parser->token;
    if (token.kind != TOKEN_OP) {
        expected(parser, "an operation, such as F or B1,");
        return 0;
    }
    *ret_name = (struct op_name){.kind = (enum kerf_op_kind)token.value, .place = token.place};
    advance(parser);
    if (token.chunk >= 0) {
        ret_name->number = token.chunk;
    } else if (take_symbol(parser, '[')) {
        if (take_symbol(parser, '*'))
            ret_name->any_chunk = 1;
        else
            ret_name->chunk = parse_expr(parser);
        need_symbol(parser, ']', "']'");
    }
    return parser->code == KERF_OK;
}

/* count(F1), waiting(W[*]): behind the word */
static struct expr *parse_counter(struct parser *parser, enum expr_kind kind, struct place place) {
    struct expr *expr = new_expr(parser, kind, place);
    struct op_name *op = alloc(parser, sizeof *op);
    need_symbol(parser, '(', "'('");
    if (expr == NULL || op == NULL || !parse_op_name(parser, op)) return NULL;
    if (kind == EXPR_WAITING && op->kind != KERF_OP_W)
        fail(parser, op->place, "waiting is only for W: waiting(W1), or waiting(W[*]) for all chunks");
    expr->op = op;
    if (op->chunk && op->chunk->depth >= expr->depth) expr->depth = op->chunk->depth + 1;
    check_depth(parser, expr);
    need_symbol(parser, ')', "')'");
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
    need_symbol(parser, '(', "'('");
    do {
        add_operand(parser, expr, &last, parse_expr(parser));
        count++;
    } while (take_symbol(parser, ','));
    need_symbol(parser, ')', "')' or ','");
    if (parser->code == KERF_OK && count != function->num_parameters)
        fail(parser, place, "%s takes %d value%s, not %d", function->name, function->num_parameters,
             function->num_parameters == 1 ? "" : "s", count);
    return expr;
}

/* min(a, b, ...) or max: behind the word */
static struct expr *parse_least(struct parser *parser, enum expr_kind kind, struct place place) {
    struct expr *expr = new_expr(parser, kind, place), *last = NULL;
    need_symbol(parser, '(', "'('");
    do add_operand(parser, expr, &last, parse_expr(parser));
    while (take_symbol(parser, ','));
    need_symbol(parser, ')', "')' or ','");
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
    const char *nearest = nearest_name(name, names, count);
    for (const struct function *f = parser->functions; f && nearest == NULL; f = f->next)
        nearest = nearest_name(name, &f->name, 1);
    fail(parser, token->place, "no value is called '%s'%s%s%s", name, nearest ? "; did you mean " : "",
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
    advance(parser);
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

/* A number, a name, a call, or something in parentheses. */
static struct expr *parse_atom(struct parser *parser) {
    struct token token = parser->token;
    struct expr *expr = NULL;
    if (token.kind == TOKEN_NUMBER) {
        advance(parser);
        if ((expr = new_expr(parser, EXPR_NUMBER, token.place))) expr->value = token.value;
    } else if (token.kind == TOKEN_NAME) {
        expr = parse_name(parser);
    } else if (take_symbol(parser, '(')) {
        expr = parse_expr(parser);
        need_symbol(parser, ')', "')'");
    } else {
        expected(parser, "a value, such as 2, m or (p - 1),");
    }
    return parser->code == KERF_OK ? expr : NULL;
}

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
        if (operators[k].word ? !is_word(parser, operators[k].word) : !is_symbol(parser, operators[k].symbol)) continue;
        *ret_kind = operators[k].kind;
        return 1;
    }
    return 0;
}

static struct expr *parse_level(struct parser *parser, int level);

/* not, before a comparison; -, before an atom */
static struct expr *parse_prefix(struct parser *parser, enum expr_kind kind, int level) {
    struct expr *expr = new_expr(parser, kind, parser->token.place), *last = NULL;
    advance(parser);
    if (++parser->depth > DEPTH_MAX) fail(parser, parser->token.place, "more than %d levels deep", DEPTH_MAX);
    add_operand(parser, expr, &last, parse_level(parser, level));
    parser->depth--;
    return parser->code == KERF_OK ? expr : NULL;
}

static struct expr *parse_level(struct parser *parser, int level) {
    enum expr_kind kind;
    if (level == LEVELS) return is_symbol(parser, '-') ? parse_prefix(parser, EXPR_NEGATE, LEVELS) : parse_atom(parser);
    if (level == LEVEL_COMPARE && is_word(parser, "not")) return parse_prefix(parser, EXPR_NOT, LEVEL_COMPARE);
    struct expr *left = parse_level(parser, level + 1);
    while (parser->code == KERF_OK && is_operator(parser, level, &kind)) {
        struct expr *expr = new_expr(parser, kind, parser->token.place), *last = NULL;
        advance(parser);
        add_operand(parser, expr, &last, left);
        add_operand(parser, expr, &last, parse_level(parser, level + 1));
        left = expr;
        if (level == LEVEL_COMPARE && is_operator(parser, level, &kind))
            fail(parser, parser->token.place, "comparisons cannot be chained; write a < b and b < c");
    }
    return parser->code == KERF_OK ? left : NULL;
}

static struct expr *parse_expr(struct parser *parser) {
    struct expr *expr = NULL;
    if (++parser->depth > DEPTH_MAX)
        fail(parser, parser->token.place, "more than %d levels deep", DEPTH_MAX);
    else
        expr = parse_level(parser, LEVEL_OR);
    parser->depth--;
    return expr;
}

/* ---- Statements ------------------------------------------------------------------------------------------- */

static struct statement *parse_body(struct parser *parser);

static struct part *parse_part(struct parser *parser) {
    struct part *part = alloc(parser, sizeof *part);
    if (part == NULL || !parse_op_name(parser, &part->name)) return NULL;
    if (part->name.any_chunk && part->name.kind != KERF_OP_W)
        fail(parser, part->name.place, "[*] (the chunk that has waited longest) is only for W");
    if (take_symbol(parser, '@')) {
        part->microbatch = parse_atom(parser);
        if (part->name.any_chunk)
            fail(parser, part->name.place, "W[*] takes the micro-batch that waits; it cannot have an @");
        if (take_symbol(parser, '.')) part->slice = parse_atom(parser);
    }
    part->optional = take_symbol(parser, '?');
    return part;
}

static void parse_op(struct parser *parser, struct statement *statement) {
    statement->part = parse_part(parser);
    if (!take_symbol(parser, '+')) return;
    statement->second = parse_part(parser);
    if (parser->code != KERF_OK) return;
    int kinds = 1 << statement->part->name.kind | 1 << statement->second->name.kind;
    if (kinds != (1 << KERF_OP_F | 1 << KERF_OP_B))
        fail(parser, statement->place, "only an F and a B can run together: F+B, F0+B1");
    if (statement->part->name.kind == KERF_OP_F) return;
    struct part *backward = statement->part;
    statement->part = statement->second;
    statement->second = backward;
}

static void parse_let(struct parser *parser, struct statement *statement) {
    struct place place = parser->token.place;
    const char *name = new_name(parser);
    need_symbol(parser, '=', "'='");
    statement->value = parse_expr(parser);
    statement->slot = enter(parser, name, place);
}

static void parse_repeat(struct parser *parser, struct statement *statement) {
    int32_t outer = parser->num_names;
    statement->value = parse_expr(parser);
    statement->slot = -1;
    if (take_word(parser, "as")) {
        struct place place = parser->token.place;
        statement->slot = enter(parser, new_name(parser), place);
    }
    statement->body = parse_body(parser);
    parser->num_names = outer;
}

static void parse_if(struct parser *parser, struct statement *statement) {
    statement->value = parse_expr(parser);
    statement->body = parse_body(parser);
    if (!take_word(parser, "else")) return;
    if (!is_word(parser, "if")) {
        statement->otherwise = parse_body(parser);
        return;
    }
    struct statement *again = alloc(parser, sizeof *again);
    if (again == NULL) return;
    again->kind = STATEMENT_IF;
    again->place = parser->token.place;
    advance(parser);
    if (++parser->blocks > BLOCKS_MAX)
        fail(parser, again->place, "blocks nest more than %d deep", BLOCKS_MAX);
    else
        parse_if(parser, again);
    parser->blocks--;
    statement->otherwise = again;
}

static struct statement *parse_statement(struct parser *parser) {
    struct statement *statement = alloc(parser, sizeof *statement);
    if (statement == NULL) return NULL;
    statement->place = parser->token.place;
    if (parser->token.kind == TOKEN_OP) {
        parse_op(parser, statement);
    } else if (take_word(parser, "let")) {
        statement->kind = STATEMENT_LET;
        parse_let(parser, statement);
    } else if (take_word(parser, "repeat")) {
        statement->kind = STATEMENT_REPEAT;
        parse_repeat(parser, statement);
    } else if (take_word(parser, "while")) {
        statement->kind = STATEMENT_WHILE;
        statement->value = parse_expr(parser);
        statement->body = parse_body(parser);
    } else if (take_word(parser, "if")) {
        statement->kind = STATEMENT_IF;
        parse_if(parser, statement);
    } else {
        expected(parser, "F, B, I, W, let, repeat, while, if or '}'");
    }
    return statement;
}

/* { ... }; NULL also when it is empty */
static struct statement *parse_body(struct parser *parser) {
    struct statement *first = NULL, **end = &first;
    int32_t outer = parser->num_names;
    if (++parser->blocks > BLOCKS_MAX) fail(parser, parser->token.place, "blocks nest more than %d deep", BLOCKS_MAX);
    need_symbol(parser, '{', "'{'");
    while (parser->code == KERF_OK && !take_symbol(parser, '}')) {
        *end = parse_statement(parser);
        if (*end) end = &(*end)->next;
    }
    parser->blocks--;
    parser->num_names = outer;
    return first;
}

/* ---- The file --------------------------------------------------------------------------------------------- */

static void parse_schedule(struct parser *parser) {
    /* the word behind `schedule`, which may begin with a digit: from the text, before it becomes a token */
    struct token word = {0};
    if (parser->program->name) fail(parser, parser->token.place, "the schedule already has a name");
    if (parser->code != KERF_OK) return;
    parser->code = lexer_word(&parser->lexer, &word);
    parser->program->name = word.start ? copy_text(parser, word.start, word.end) : NULL;
    advance(parser);
}

static void parse_size(struct parser *parser, int32_t *size, int32_t most, const char *what) {
    struct token token;
    if (*size) fail(parser, parser->token.place, "%s are given twice", what);
    advance(parser);
    token = parser->token;
    if (token.kind != TOKEN_NUMBER)
        expected(parser, "a number");
    else if (token.value < 1 || token.value > most)
        fail(parser, token.place, "%s must lie between 1 and %d, not %lld", what, most, (long long)token.value);
    else
        *size = (int32_t)token.value;
    advance(parser);
}

/* The stages of a replica in a list of devices. */
static void parse_devices(struct parser *parser, int32_t *num_listed, int32_t *capacity) {
    struct program *program = parser->program;
    while (parser->token.kind == TOKEN_NUMBER && parser->code == KERF_OK) {
        if (*num_listed == HOMES_MAX || parser->token.value >= DEVICES_MAX) {
            fail(parser, parser->token.place, "there may be at most %d stages of all replicas, on devices 0 to %d",
                 HOMES_MAX, DEVICES_MAX - 1);
            return;
        }
        if (*num_listed == *capacity) {
            *capacity = *capacity ? 2 * *capacity : 64;
            int32_t *grown = alloc(parser, (size_t)*capacity * sizeof *grown);
            if (grown == NULL) return;
            if (program->device_of) memcpy(grown, program->device_of, (size_t)*num_listed * sizeof *grown);
            program->device_of = grown;
        }
        program->device_of[(*num_listed)++] = (int32_t)parser->token.value;
        advance(parser);
    }
}

/* placement 0 1 2 3 3 2 1 0, or with replicas 0 1 / 1 0 */
static void parse_lists(struct parser *parser) {
    int32_t capacity = 0, listed = 0, before = 0;
    struct program *program = parser->program;
    do {
        const struct place place = parser->token.place;
        parse_devices(parser, &listed, &capacity);
        if (program->replicas == 0) program->stages = listed;
        if (program->stages > STAGES_MAX)
            fail(parser, place, "there may be at most %d stages of a replica", STAGES_MAX);
        if (listed - before != program->stages)
            fail(parser, place, "this replica has %d stage%s, the first one %d", listed - before,
                 listed - before == 1 ? "" : "s", program->stages);
        before = listed;
        program->replicas++;
    } while (parser->code == KERF_OK && take_symbol(parser, '/'));
}

/* placement v, placement ring 4 */
static void parse_replicas(struct parser *parser, const struct placement *place) {
    const int64_t replicas = parser->token.value;
    if (place->replicas > 1 && replicas != place->replicas)
        fail(parser, parser->token.place, "the placement %s has %d replicas, not %lld; %s has any even number",
             place->word, place->replicas, (long long)replicas, place->zigzag ? "v" : "loop");
    else if (replicas < 1 || replicas > 2 * DEVICES_MAX || (replicas % 2 == 1 && (replicas > 1 || !place->replicas)))
        fail(parser, parser->token.place, "replicas go in pairs, at most %d of them: not %lld", 2 * DEVICES_MAX,
             (long long)replicas);
    parser->program->replicas = (int32_t)replicas;
    advance(parser);
}

static void parse_placement(struct parser *parser) {
    struct program *program = parser->program;
    if (program->placement_place.line) fail(parser, parser->token.place, "the placement is given twice");
    program->placement_place = parser->token.place;
    advance(parser);
    for (int32_t k = 0; k < KERF_PLACEMENTS; k++) {
        if (placements[k].word == NULL || !take_word(parser, placements[k].word)) continue;
        program->placement = (enum kerf_placement)k;
        program->replicas = placement_replicas(program->placement, 0);
        if (parser->token.kind == TOKEN_NUMBER) parse_replicas(parser, &placements[k]);
        return;
    }
    if (parser->token.kind == TOKEN_NUMBER)
        parse_lists(parser);
    else
        expected(parser, "loop, v, both, both_v, ring, or the device of each stage, such as 0 1 1 0,");
}

static void parse_requirement(struct parser *parser, struct requirement ***end) {
    struct requirement *requirement = alloc(parser, sizeof *requirement);
    advance(parser);
    const char *start = parser->token.start;
    struct expr *condition = parse_expr(parser);
    if (requirement == NULL || condition == NULL || start == NULL) return;
    requirement->condition = condition;
    requirement->text = copy_text(parser, start, parser->last_end);
    **end = requirement;
    *end = &requirement->next;
}

static void parse_function(struct parser *parser) {
    struct function *function = alloc(parser, sizeof *function);
    advance(parser);
    const char *name = new_name(parser);
    if (function == NULL || name == NULL) return;
    function->name = name;
    if (take_symbol(parser, '(')) {
        do {
            struct place place = parser->token.place;
            enter(parser, new_name(parser), place);
            function->num_parameters++;
        } while (parser->code == KERF_OK && take_symbol(parser, ','));
        need_symbol(parser, ')', "')' or ','");
    }
    need_symbol(parser, '=', "'='");
    function->body = parse_expr(parser);
    parser->num_names = 0;
    function->next = parser->functions;
    if (parser->code == KERF_OK) parser->functions = function;
}

static void parse_device(struct parser *parser, struct device_block ***end) {
    struct device_block *block = alloc(parser, sizeof *block);
    if (block == NULL) return;
    if (++parser->num_blocks > DEVICES_MAX)
        fail(parser, parser->token.place, "more than %d device blocks", DEVICES_MAX);
    block->place = parser->token.place;
    advance(parser);
    block->first = parse_expr(parser);
    if (take_symbol(parser, SYMBOL_RANGE)) block->last = parse_expr(parser);
    block->body = parse_body(parser);
    **end = block;
    *end = &block->next;
}

static void parse_file(struct parser *parser) {
    struct program *program = parser->program;
    struct requirement **requirements = &program->requirements;
    struct device_block **blocks = &program->blocks;
    while (parser->code == KERF_OK && parser->token.kind != TOKEN_END) {
        if (is_word(parser, "schedule"))
            parse_schedule(parser);
        else if (is_word(parser, "devices"))
            parse_size(parser, &program->devices, DEVICES_MAX, "devices");
        else if (is_word(parser, "microbatches"))
            parse_size(parser, &program->microbatches, MICROBATCHES_MAX, "microbatches");
        else if (is_word(parser, "chunks"))
            parse_size(parser, &program->chunks, STAGES_MAX, "chunks");
        else if (is_word(parser, "slices"))
            parse_size(parser, &program->slices, SLICES_MAX, "slices");
        else if (is_word(parser, "placement"))
            parse_placement(parser);
        else if (is_word(parser, "require"))
            parse_requirement(parser, &requirements);
        else if (is_word(parser, "let"))
            parse_function(parser);
        else if (is_word(parser, "device"))
            parse_device(parser, &blocks);
        else
            expected(parser, "schedule, devices, microbatches, chunks, slices, placement, require, let or device");
    }
    if (program->blocks == NULL)
        fail(parser, parser->token.place, "no device has operations; `device i { ... }` gives those of all devices");
}

int32_t sched_parse(struct program *ret_program, struct arena *arena, const char *text, size_t length, const char *file,
                    struct kerf_error *err) {
    *ret_program = (struct program){.arena = arena, .file = file};
    struct parser parser = {.program = ret_program, .err = err};
    lexer_begin(&parser.lexer, text, length, file, err);
    advance(&parser);
    parse_file(&parser);
    return parser.code;
}
