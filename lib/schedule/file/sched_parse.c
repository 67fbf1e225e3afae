/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the text form of schedules into a tree: header lines, requirements, functions and device blocks. A parser by
 * recursive descent; nothing is evaluated here. The grammar is in docs/schedule-files.md.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "schedule/build.h"
#include "schedule/file/schedule_file.h"
#include "schedule/file/sched_parser.h"

/* ---- Tokens ----------------------------------------------------------------------------------------------- */

void parser_advance(struct parser *parser) {
    parser->last_end = parser->token.end;
    if (parser->code == KERF_OK) parser->code = lexer_next(&parser->lexer, &parser->token);
    if (parser->code != KERF_OK) parser->token.kind = TOKEN_END;
}

void parser_fail(struct parser *parser, struct place place, const char *format, ...) {
    char message[sizeof parser->err->message];
    va_list args;
    if (parser->code != KERF_OK) return; /* the first error counts */
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    parser->code = file_fail(parser->err, KERF_ESYNTAX, parser->program->file, place.line, place.column, "%s", message);
    parser->token.kind = TOKEN_END;
}

void parser_expected(struct parser *parser, const char *what) {
    enum { SHOWN = 24 };
    const struct token *token = &parser->token;
    size_t length = (size_t)(token->end - token->start);
    if (token->kind == TOKEN_END)
        parser_fail(parser, token->place, "%s belongs here, where the file ends", what);
    else
        parser_fail(parser, token->place, "%s belongs here, not '%.*s%s'", what, (int)(length < SHOWN ? length : SHOWN),
                    token->start, length > SHOWN ? "..." : "");
}

int parser_is_symbol(const struct parser *parser, int32_t symbol) {
    return parser->token.kind == TOKEN_SYMBOL && parser->token.symbol == symbol;
}

int parser_is_word(const struct parser *parser, const char *word) {
    const struct token *token = &parser->token;
    size_t length = (size_t)(token->end - token->start);
    return token->kind == TOKEN_NAME && strlen(word) == length && memcmp(word, token->start, length) == 0;
}

int parser_take_symbol(struct parser *parser, int32_t symbol) {
    if (!parser_is_symbol(parser, symbol)) return 0;
    parser_advance(parser);
    return 1;
}

int parser_take_word(struct parser *parser, const char *word) {
    if (!parser_is_word(parser, word)) return 0;
    parser_advance(parser);
    return 1;
}

void parser_need_symbol(struct parser *parser, int32_t symbol, const char *shown) {
    if (!parser_take_symbol(parser, symbol)) parser_expected(parser, shown);
}

void *parser_alloc(struct parser *parser, size_t size) {
    void *memory = parser->code == KERF_OK ? arena_alloc(parser->program->arena, 1, size) : NULL;
    if (memory == NULL && parser->code == KERF_OK)
        parser->code = file_fail(parser->err, KERF_ENOMEM, parser->program->file, 0, 0, "not enough memory to read it");
    return memory;
}

static char *copy_text(struct parser *parser, const char *start, const char *end) {
    char *copy = parser_alloc(parser, (size_t)(end - start) + 1);
    if (copy) memcpy(copy, start, (size_t)(end - start));
    return copy;
}

const char *parser_new_name(struct parser *parser) {
    static const char *const words[] = {"p",     "m",       "v",    "i",     "slices", "min",    "max",
                                        "count", "waiting", "let",  "and",   "or",     "not",    "repeat",
                                        "as",    "if",      "else", "while", "device", "require"};
    const struct token token = parser->token;
    if (token.kind != TOKEN_NAME) {
        parser_expected(parser, "a name of small letters");
        return NULL;
    }
    const char *name = copy_text(parser, token.start, token.end);
    for (size_t k = 0; name && k < sizeof words / sizeof *words; k++)
        if (strcmp(words[k], name) == 0) parser_fail(parser, token.place, "'%s' is a word of the language", name);
    for (int32_t k = 0; name && k < parser->num_names; k++)
        if (strcmp(parser->names[k], name) == 0) parser_fail(parser, token.place, "'%s' has a value already", name);
    for (const struct function *f = parser->functions; name && f; f = f->next)
        if (strcmp(f->name, name) == 0) parser_fail(parser, token.place, "'%s' has a value already", name);
    parser_advance(parser);
    return parser->code == KERF_OK ? name : NULL;
}

/* Puts a name into scope; its slot. */
static int32_t enter(struct parser *parser, const char *name, struct place place) {
    if (parser->num_names == SLOTS_MAX)
        parser_fail(parser, place, "more than %d names at once", SLOTS_MAX);
    else
        parser->names[parser->num_names++] = name;
    return parser->num_names - 1;
}

/* ---- Statements ------------------------------------------------------------------------------------------- */

static struct statement *parse_body(struct parser *parser);

static struct part *parse_part(struct parser *parser) {
    struct part *part = parser_alloc(parser, sizeof *part);
    if (part == NULL || !parse_op_name(parser, &part->name)) return NULL;
    if (part->name.any_chunk && part->name.kind != KERF_OP_W)
        parser_fail(parser, part->name.place, "[*], the chunk that has waited longest, is for W alone");
    if (parser_take_symbol(parser, '@')) {
        part->microbatch = parse_atom(parser);
        if (part->name.any_chunk) parser_fail(parser, part->name.place, "W[*] takes what waits; no @ belongs to it");
        if (parser_take_symbol(parser, '.')) part->slice = parse_atom(parser);
    }
    part->optional = parser_take_symbol(parser, '?');
    return part;
}

static void parse_op(struct parser *parser, struct statement *statement) {
    statement->part = parse_part(parser);
    if (!parser_take_symbol(parser, '+')) return;
    statement->second = parse_part(parser);
    if (parser->code != KERF_OK) return;
    int kinds = 1 << statement->part->name.kind | 1 << statement->second->name.kind;
    if (kinds != (1 << KERF_OP_F | 1 << KERF_OP_B))
        parser_fail(parser, statement->place, "only F and B run together: F+B, F0+B1");
    if (statement->part->name.kind == KERF_OP_F) return;
    struct part *backward = statement->part;
    statement->part = statement->second;
    statement->second = backward;
}

static void parse_let(struct parser *parser, struct statement *statement) {
    struct place place = parser->token.place;
    const char *name = parser_new_name(parser);
    parser_need_symbol(parser, '=', "'='");
    statement->value = parse_expr(parser);
    statement->slot = enter(parser, name, place);
}

static void parse_repeat(struct parser *parser, struct statement *statement) {
    int32_t outer = parser->num_names;
    statement->value = parse_expr(parser);
    statement->slot = -1;
    if (parser_take_word(parser, "as")) {
        struct place place = parser->token.place;
        statement->slot = enter(parser, parser_new_name(parser), place);
    }
    statement->body = parse_body(parser);
    parser->num_names = outer;
}

static void parse_if(struct parser *parser, struct statement *statement) {
    statement->value = parse_expr(parser);
    statement->body = parse_body(parser);
    if (!parser_take_word(parser, "else")) return;
    if (!parser_is_word(parser, "if")) {
        statement->otherwise = parse_body(parser);
        return;
    }
    struct statement *again = parser_alloc(parser, sizeof *again);
    if (again == NULL) return;
    again->kind = STATEMENT_IF;
    again->place = parser->token.place;
    parser_advance(parser);
    if (++parser->blocks > BLOCKS_MAX)
        parser_fail(parser, again->place, "more than %d blocks within each other", BLOCKS_MAX);
    else
        parse_if(parser, again);
    parser->blocks--;
    statement->otherwise = again;
}

static struct statement *parse_statement(struct parser *parser) {
    struct statement *statement = parser_alloc(parser, sizeof *statement);
    if (statement == NULL) return NULL;
    statement->place = parser->token.place;
    if (parser->token.kind == TOKEN_OP) {
        parse_op(parser, statement);
    } else if (parser_take_word(parser, "let")) {
        statement->kind = STATEMENT_LET;
        parse_let(parser, statement);
    } else if (parser_take_word(parser, "repeat")) {
        statement->kind = STATEMENT_REPEAT;
        parse_repeat(parser, statement);
    } else if (parser_take_word(parser, "while")) {
        statement->kind = STATEMENT_WHILE;
        statement->value = parse_expr(parser);
        statement->body = parse_body(parser);
    } else if (parser_take_word(parser, "if")) {
        statement->kind = STATEMENT_IF;
        parse_if(parser, statement);
    } else {
        parser_expected(parser, "F, B, I, W, let, repeat, while, if or '}'");
    }
    return statement;
}

/* { ... }; NULL also when it is empty */
static struct statement *parse_body(struct parser *parser) {
    struct statement *first = NULL, **end = &first;
    int32_t outer = parser->num_names;
    if (++parser->blocks > BLOCKS_MAX)
        parser_fail(parser, parser->token.place, "more than %d blocks within each other", BLOCKS_MAX);
    parser_need_symbol(parser, '{', "'{'");
    while (parser->code == KERF_OK && !parser_take_symbol(parser, '}')) {
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
    if (parser->program->name) parser_fail(parser, parser->token.place, "the schedule has a name already");
    if (parser->code != KERF_OK) return;
    parser->code = lexer_word(&parser->lexer, &word);
    parser->program->name = word.start ? copy_text(parser, word.start, word.end) : NULL;
    parser_advance(parser);
}

static void parse_size(struct parser *parser, int32_t *size, int32_t most, const char *what) {
    struct token token;
    if (*size) parser_fail(parser, parser->token.place, "%s are said already", what);
    parser_advance(parser);
    token = parser->token;
    if (token.kind != TOKEN_NUMBER)
        parser_expected(parser, "a number");
    else if (token.value < 1 || token.value > most)
        parser_fail(parser, token.place, "%s must lie between 1 and %d, not %lld", what, most, (long long)token.value);
    else
        *size = (int32_t)token.value;
    parser_advance(parser);
}

/* placement 0 1 2 3 3 2 1 0 */
static void parse_device_list(struct parser *parser) {
    int32_t capacity = 0, *list = NULL;
    struct program *program = parser->program;
    while (parser->token.kind == TOKEN_NUMBER && parser->code == KERF_OK) {
        if (program->stages == STAGES_MAX || parser->token.value >= DEVICES_MAX) {
            parser_fail(parser, parser->token.place, "there may be %d stages, on devices 0 to %d", STAGES_MAX,
                        DEVICES_MAX - 1);
            return;
        }
        if (program->stages == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            int32_t *grown = parser_alloc(parser, (size_t)capacity * sizeof *grown);
            if (grown == NULL) return;
            if (list) memcpy(grown, list, (size_t)program->stages * sizeof *grown);
            list = grown;
        }
        list[program->stages++] = (int32_t)parser->token.value;
        parser_advance(parser);
    }
    program->device_of = list;
}

static void parse_placement(struct parser *parser) {
    struct program *program = parser->program;
    if (program->placement_place.line) parser_fail(parser, parser->token.place, "the placement is said already");
    program->placement_place = parser->token.place;
    parser_advance(parser);
    if (parser_take_word(parser, "loop")) {
        program->placement = SCHED_LOOP;
    } else if (parser_take_word(parser, "v")) {
        program->placement = SCHED_V;
    } else if (parser_take_word(parser, "both")) {
        program->placement = SCHED_BOTH;
    } else if (parser->token.kind == TOKEN_NUMBER) {
        program->placement = SCHED_LIST;
        parse_device_list(parser);
    } else {
        parser_expected(parser, "loop, v, both, or the device of each stage, such as 0 1 1 0,");
    }
}

static void parse_requirement(struct parser *parser, struct requirement ***end) {
    struct requirement *requirement = parser_alloc(parser, sizeof *requirement);
    parser_advance(parser);
    const char *start = parser->token.start;
    struct expr *condition = parse_expr(parser);
    if (requirement == NULL || condition == NULL || start == NULL) return;
    requirement->condition = condition;
    requirement->text = copy_text(parser, start, parser->last_end);
    **end = requirement;
    *end = &requirement->next;
}

static void parse_function(struct parser *parser) {
    struct function *function = parser_alloc(parser, sizeof *function);
    parser_advance(parser);
    const char *name = parser_new_name(parser);
    if (function == NULL || name == NULL) return;
    function->name = name;
    if (parser_take_symbol(parser, '(')) {
        do {
            struct place place = parser->token.place;
            enter(parser, parser_new_name(parser), place);
            function->num_parameters++;
        } while (parser->code == KERF_OK && parser_take_symbol(parser, ','));
        parser_need_symbol(parser, ')', "')' or ','");
    }
    parser_need_symbol(parser, '=', "'='");
    function->body = parse_expr(parser);
    parser->num_names = 0;
    function->next = parser->functions;
    if (parser->code == KERF_OK) parser->functions = function;
}

static void parse_device(struct parser *parser, struct device_block ***end) {
    struct device_block *block = parser_alloc(parser, sizeof *block);
    if (block == NULL) return;
    if (++parser->num_blocks > DEVICES_MAX)
        parser_fail(parser, parser->token.place, "more than %d device blocks", DEVICES_MAX);
    block->place = parser->token.place;
    parser_advance(parser);
    block->first = parse_expr(parser);
    if (parser_take_symbol(parser, SYMBOL_RANGE)) block->last = parse_expr(parser);
    block->body = parse_body(parser);
    **end = block;
    *end = &block->next;
}

static void parse_file(struct parser *parser) {
    struct program *program = parser->program;
    struct requirement **requirements = &program->requirements;
    struct device_block **blocks = &program->blocks;
    while (parser->code == KERF_OK && parser->token.kind != TOKEN_END) {
        if (parser_is_word(parser, "schedule"))
            parse_schedule(parser);
        else if (parser_is_word(parser, "devices"))
            parse_size(parser, &program->devices, DEVICES_MAX, "devices");
        else if (parser_is_word(parser, "microbatches"))
            parse_size(parser, &program->microbatches, MICROBATCHES_MAX, "microbatches");
        else if (parser_is_word(parser, "chunks"))
            parse_size(parser, &program->chunks, STAGES_MAX, "chunks");
        else if (parser_is_word(parser, "slices"))
            parse_size(parser, &program->slices, SLICES_MAX, "slices");
        else if (parser_is_word(parser, "placement"))
            parse_placement(parser);
        else if (parser_is_word(parser, "require"))
            parse_requirement(parser, &requirements);
        else if (parser_is_word(parser, "let"))
            parse_function(parser);
        else if (parser_is_word(parser, "device"))
            parse_device(parser, &blocks);
        else
            parser_expected(parser,
                            "schedule, devices, microbatches, chunks, slices, placement, require, let or device");
    }
    if (program->blocks == NULL)
        parser_fail(parser, parser->token.place, "no device has operations; `device i { ... }` says those of all");
}

int32_t sched_parse(struct program *ret_program, struct arena *arena, const char *text, size_t length, const char *file,
                    struct kerf_error *err) {
    *ret_program = (struct program){.arena = arena, .file = file};
    struct parser parser = {.program = ret_program, .err = err};
    lexer_begin(&parser.lexer, text, length, file, err);
    parser_advance(&parser);
    parse_file(&parser);
    return parser.code;
}
