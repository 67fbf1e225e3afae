/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions as in C, by levels from the loosest: ||, &&, == != < <= > >=, + -, * / %, ! and -, and at the bottom
 * integers, words in quotes, parameters and parentheses. Integers are of 64 bits; one that does not fit, and a division
 * by 0, is a fault of the whole constraint. && and || skip the right side when the left side decides. A flag is 0 or 1; 0 is false.
 *
 * A word may be compared with == and != to a choice or to another word, and nothing else. Decimals, and parameters that
 * have such, may be compared with each other and with integers, by their values.
 */
#include <stdio.h>
#include <string.h>
#include "base/characters.h"
#include "tune/param.h"

enum { DEPTH_MAX = 100 };

enum kind {
    NUMBER,
    DECIMAL,
    WORD,
    PARAMETER,
    NEGATE,
    NOT,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REMAINDER,
    EQUAL,
    UNEQUAL,
    LESS,
    AT_MOST,
    GREATER,
    AT_LEAST,
    AND,
    OR
};

struct constraint {
    enum kind kind;
    int is_word;
    int is_decimal;        /* DECIMAL, or PARAMETER of numbers, which are words too */
    int compares_decimals; /* left and right by their values */
    int64_t number;        /* of NUMBER; the index of PARAMETER */
    double decimal;        /* of DECIMAL */
    const char *word;
    struct constraint *left, *right;
};

struct reader {
    const char *text, *at;
    const struct kerf_tune_param *params;
    int32_t num_params;
    struct arena *arena;
    struct kerf_error *err;
    int32_t code, depth;
};

/* ---- Reading ----------------------------------------------------------------------------------------------- */

static void fail(struct reader *reader, const char *at, int32_t code, const char *what) {
    enum { SHOWN = 60, BEFORE = 40 };
    if (reader->code != KERF_OK) return;
    size_t length = strlen(reader->text), from = (size_t)(at - reader->text);
    from = length <= SHOWN || from <= BEFORE ? 0 : from - BEFORE;
    reader->code = kerf_error_set(reader->err, code, "'%s%.*s%s': %s", from ? "..." : "", SHOWN, reader->text + from,
                                  length > from + SHOWN ? "..." : "", what);
    if (reader->err) reader->err->column = (int32_t)(at - reader->text) + 1;
}

static struct constraint *make(struct reader *reader, enum kind kind) {
    struct constraint *constraint = reader->code == KERF_OK ? arena_alloc(reader->arena, 1, sizeof *constraint) : NULL;
    if (constraint)
        constraint->kind = kind;
    else
        fail(reader, reader->at, KERF_ENOMEM, "not enough memory");
    return constraint;
}

static void skip_blanks(struct reader *reader) {
    while (*reader->at == ' ' || *reader->at == '\t') reader->at++;
}

static int takes(struct reader *reader, const char *symbol) {
    skip_blanks(reader);
    size_t length = strlen(symbol);
    if (strncmp(reader->at, symbol, length) != 0) return 0;
    reader->at += length;
    return 1;
}

static struct constraint *read_level(struct reader *reader, int level);

static size_t digits(const char *text) { return strspn(text, "0123456789"); }

/* How long the decimal is that begins here, as 0.5, .5 or 1e-3; 0: it is an integer. */
static size_t decimal_length(const char *text) {
    size_t length = digits(text), whole = length;
    if (text[length] == '.') length += 1 + digits(text + length + 1);
    if (text[length] == 'e' || text[length] == 'E') {
        size_t sign = text[length + 1] == '-' || text[length + 1] == '+', power = digits(text + length + 1 + sign);
        if (power > 0) length += 1 + sign + power;
    }
    return length > whole ? length : 0;
}

static struct constraint *read_decimal(struct reader *reader, size_t length) {
    struct constraint *constraint = make(reader, DECIMAL);
    if (constraint == NULL) return NULL;
    constraint->is_decimal = 1;
    if (!param_read_decimal(reader->at, length, &constraint->decimal))
        fail(reader, reader->at, KERF_EINVALID, "this is no decimal number");
    reader->at += length;
    return constraint;
}

static struct constraint *read_number(struct reader *reader) {
    const char *start = reader->at;
    size_t length = decimal_length(start);
    if (length > 0) return read_decimal(reader, length);
    struct constraint *constraint = make(reader, NUMBER);
    reader->at += digits(start);
    if (constraint && !param_read_integer(start, (size_t)(reader->at - start), &constraint->number))
        fail(reader, start, KERF_EINVALID, "an integer does not fit into 64 bits");
    return constraint;
}

static struct constraint *read_word(struct reader *reader) {
    const char *start = reader->at + 1, *end = strchr(start, *reader->at);
    struct constraint *constraint = make(reader, WORD);
    if (end == NULL) {
        fail(reader, reader->at, KERF_ESYNTAX, "a word in quotes does not end");
        return NULL;
    }
    if (constraint == NULL) return NULL;
    constraint->is_word = 1;
    constraint->word = arena_printf(reader->arena, "%.*s", (int)(end - start), start);
    reader->at = end + 1;
    return constraint;
}

static void unknown(struct reader *reader, const char *name, size_t length) {
    char word[80], message[200];
    const char *names[64], *nearest;
    size_t count = 0;
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (int32_t k = 0; k < reader->num_params && count < 64; k++) names[count++] = reader->params[k].name;
    nearest = nearest_name(word, names, count);
    snprintf(message, sizeof message, "no parameter is called '%s'%s%s%s", word, nearest ? "; did you mean '" : "",
             nearest ? nearest : "", nearest ? "'?" : "");
    fail(reader, name, KERF_EUNKNOWN, message);
}

/* A name goes on with letters, digits, _ and '.', and with a - only where the whole is a parameter, as "a-b" may be
 * one. */
static struct constraint *read_name(struct reader *reader) {
    const char *start = reader->at;
    size_t length = 0, shortest = 0;
    while (param_is_name(start, length + 1)) {
        length++;
        if (shortest == 0 && start[length] == '-') shortest = length;
    }
    for (size_t take = length; take > 0; take--)
        for (int32_t k = 0; k < reader->num_params; k++) {
            const struct kerf_tune_param *param = &reader->params[k];
            if (strlen(param->name) != take || memcmp(param->name, start, take) != 0) continue;
            if (take < length && start[take] != '-') continue;
            struct constraint *constraint = make(reader, PARAMETER);
            if (constraint == NULL) return NULL;
            constraint->number = k;
            constraint->is_word = param->kind == KERF_TUNE_CHOICE;
            constraint->is_decimal = param->numbers != NULL;
            reader->at = start + take;
            return constraint;
        }
    unknown(reader, start, shortest ? shortest : length);
    return NULL;
}

static struct constraint *read_inner(struct reader *reader) {
    struct constraint *constraint = NULL;
    if (++reader->depth > DEPTH_MAX)
        fail(reader, reader->at, KERF_ESYNTAX, "parentheses too deep");
    else
        constraint = read_level(reader, 0);
    if (constraint && !takes(reader, ")")) fail(reader, reader->at, KERF_ESYNTAX, "')' is missing");
    reader->depth--;
    return constraint;
}

static struct constraint *read_atom(struct reader *reader) {
    skip_blanks(reader);
    char c = *reader->at;
    if (digits(reader->at + (c == '.')) > 0) return read_number(reader);
    if (c == '"' || c == '\'') return read_word(reader);
    if (param_is_name(&c, 1)) return read_name(reader);
    if (takes(reader, "(")) return read_inner(reader);
    fail(reader, reader->at, KERF_ESYNTAX,
         c ? "a parameter, a number, a word in quotes or '(' is needed here" : "it ends too early");
    return NULL;
}

static const char only_compared[] = "a decimal can be compared, and not computed with";

static struct constraint *need_integer(struct reader *reader, struct constraint *constraint, const char *at) {
    if (constraint && constraint->is_decimal)
        fail(reader, at, KERF_EINVALID, only_compared);
    else if (constraint && constraint->is_word)
        fail(reader, at, KERF_EINVALID, "a word has no value; compare it with == or !=");
    return reader->code == KERF_OK ? constraint : NULL;
}

static struct constraint *read_unary(struct reader *reader) {
    skip_blanks(reader);
    int negate = *reader->at == '-', not = *reader->at == '!' && reader->at[1] != '=';
    if (!negate && !not ) return read_atom(reader);
    const char *at = ++reader->at;
    if (negate && (*at == '.' || digits(at) > 0) && decimal_length(at) > 0) {
        struct constraint *decimal = read_number(reader);
        if (decimal) decimal->decimal = -decimal->decimal;
        return decimal;
    }
    struct constraint *constraint = make(reader, negate ? NEGATE : NOT);
    if (++reader->depth > DEPTH_MAX) fail(reader, at, KERF_ESYNTAX, "too many signs");
    if (constraint && reader->code == KERF_OK) constraint->left = need_integer(reader, read_unary(reader), at);
    reader->depth--;
    return constraint;
}

enum { LEVELS = 5 };
static const struct {
    int level;
    const char *symbol; /* those that begin as another come first */
    enum kind kind;
} operators[] = {{0, "||", OR},       {1, "&&", AND},   {2, "==", EQUAL},   {2, "!=", UNEQUAL}, {2, "<=", AT_MOST},
                 {2, ">=", AT_LEAST}, {2, "<", LESS},   {2, ">", GREATER},  {3, "+", ADD},      {3, "-", SUBTRACT},
                 {4, "*", MULTIPLY},  {4, "/", DIVIDE}, {4, "%", REMAINDER}};
enum { OPERATORS = sizeof operators / sizeof operators[0] };

static int take_operator(struct reader *reader, int level, enum kind *ret_kind) {
    for (int i = 0; i < OPERATORS; i++)
        if (operators[i].level == level && takes(reader, operators[i].symbol)) {
            *ret_kind = operators[i].kind;
            return 1;
        }
    return 0;
}

static struct constraint *join(struct reader *reader, enum kind kind, struct constraint *left, struct constraint *right,
                               const char *at) {
    struct constraint *constraint = make(reader, kind);
    if (constraint == NULL || right == NULL) return NULL;
    int words = left->is_word + right->is_word, has_decimal = left->is_decimal || right->is_decimal;
    int are_numbers = (!left->is_word || left->is_decimal) && (!right->is_word || right->is_decimal);
    constraint->left = left;
    constraint->right = right;
    constraint->compares_decimals = has_decimal && are_numbers && kind >= EQUAL && kind <= AT_LEAST;
    if (constraint->compares_decimals) return constraint;
    if (has_decimal && are_numbers) fail(reader, at, KERF_EINVALID, only_compared);
    if (words == 2 && kind != EQUAL && kind != UNEQUAL)
        fail(reader, at, KERF_EINVALID, "words can only be compared with == or !=");
    if (words == 1) fail(reader, at, KERF_EINVALID, "a word and a number cannot be compared");
    return constraint;
}

static struct constraint *read_level(struct reader *reader, int level) {
    enum kind kind;
    if (level == LEVELS) return read_unary(reader);
    struct constraint *constraint = read_level(reader, level + 1);
    const char *at = reader->at;
    int count = 0;
    while (constraint && reader->code == KERF_OK && take_operator(reader, level, &kind)) {
        if (level == 2 && count++ > 0) fail(reader, at, KERF_ESYNTAX, "join comparisons with &&");
        if (++reader->depth > DEPTH_MAX * DEPTH_MAX) fail(reader, at, KERF_ESYNTAX, "it is too long");
        constraint = join(reader, kind, constraint, read_level(reader, level + 1), at);
        at = reader->at;
    }
    return constraint;
}

int32_t constraint_read(const char *text, const struct kerf_tune_param *params, int32_t num_params, struct arena *arena,
                        struct constraint **ret_constraint, struct kerf_error *err) {
    struct reader reader = {text, text, params, num_params, arena, err, KERF_OK, 0};
    struct constraint *constraint = need_integer(&reader, read_level(&reader, 0), text);
    skip_blanks(&reader);
    if (reader.code == KERF_OK && *reader.at) fail(&reader, reader.at, KERF_ESYNTAX, "an operator is needed here");
    if (reader.code == KERF_OK) *ret_constraint = constraint;
    return reader.code;
}

/* ---- Its value --------------------------------------------------------------------------------------------- */

struct values {
    const struct kerf_tune_param *params;
    const int32_t *indexes;
    const char *fault; /* why the constraint cannot be computed; NULL */
};

static const char *word_of(const struct constraint *constraint, const struct values *values) {
    if (constraint->kind == WORD) return constraint->word;
    return values->params[constraint->number].texts[values->indexes[constraint->number]];
}

static int64_t parameter_of(const struct constraint *constraint, const struct values *values) {
    const struct kerf_tune_param *param = &values->params[constraint->number];
    int32_t index = values->indexes[constraint->number];
    return param->kind == KERF_TUNE_INTEGER ? param->integers[index] : index;
}

static const char too_large[] = "needs an integer of more than 64 bits";

static int64_t divide(enum kind kind, int64_t a, int64_t b, struct values *values) {
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        values->fault = b == 0 ? "divides by 0" : too_large;
        return 0;
    }
    return kind == DIVIDE ? a / b : a % b;
}

static int64_t arithmetic(enum kind kind, int64_t a, int64_t b, struct values *values) {
    int64_t result = 0;
    int over = 0;
    switch (kind) {
    case ADD: over = __builtin_add_overflow(a, b, &result); break;
    case SUBTRACT: over = __builtin_sub_overflow(a, b, &result); break;
    case MULTIPLY: over = __builtin_mul_overflow(a, b, &result); break;
    default: return divide(kind, a, b, values);
    }
    if (over) values->fault = too_large;
    return result;
}

static int compares(enum kind kind, int order) {
    switch (kind) {
    case EQUAL: return order == 0;
    case UNEQUAL: return order != 0;
    case LESS: return order < 0;
    case AT_MOST: return order <= 0;
    case GREATER: return order > 0;
    default: return order >= 0;
    }
}

static int64_t value_of(const struct constraint *constraint, struct values *values);

static double decimal_of(const struct constraint *constraint, struct values *values) {
    if (constraint->kind == DECIMAL) return constraint->decimal;
    if (constraint->is_decimal) return values->params[constraint->number].numbers[values->indexes[constraint->number]];
    return (double)value_of(constraint, values);
}

static int64_t value_of(const struct constraint *constraint, struct values *values) {
    if (constraint->kind == NUMBER) return constraint->number;
    if (constraint->kind == PARAMETER) return parameter_of(constraint, values);
    if (constraint->compares_decimals) {
        double left = decimal_of(constraint->left, values), right = decimal_of(constraint->right, values);
        return compares(constraint->kind, (left > right) - (left < right));
    }
    if (constraint->left->is_word)
        return compares(constraint->kind,
                        strcmp(word_of(constraint->left, values), word_of(constraint->right, values)));
    int64_t left = value_of(constraint->left, values);
    if (constraint->kind == NOT) return !left;
    if (constraint->kind == NEGATE) return arithmetic(SUBTRACT, 0, left, values);
    if (constraint->kind == AND && !left) return 0;
    if (constraint->kind == OR && left) return 1;
    int64_t right = value_of(constraint->right, values);
    if (constraint->kind == AND || constraint->kind == OR) return right != 0;
    if (constraint->kind >= EQUAL) return compares(constraint->kind, (left > right) - (left < right));
    return arithmetic(constraint->kind, left, right, values);
}

int constraint_names(const struct constraint *constraint, int32_t param) {
    if (constraint == NULL) return 0;
    if (constraint->kind == PARAMETER && constraint->number == param) return 1;
    return constraint_names(constraint->left, param) || constraint_names(constraint->right, param);
}

int constraint_holds(const struct constraint *constraint, const struct kerf_tune_param *params, const int32_t *values,
                     const char **ret_fault) {
    struct values all = {params, values, NULL};
    int64_t value = value_of(constraint, &all);
    *ret_fault = all.fault;
    return value != 0 && all.fault == NULL;
}
