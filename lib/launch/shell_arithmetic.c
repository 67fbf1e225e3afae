/* SPDX-License-Identifier: Apache-2.0 */
/* The shell's arithmetic on 64-bit integers, by precedence; assignments change variables. A value that is not known, one
 * that overflows and a division by zero make the result unknown. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launch/shell.h"

struct sum {
    struct shell *shell;
    const char *at;
    int32_t line;
    int is_known;
};

static int64_t ternary(struct sum *sum);

static void skip(struct sum *sum) {
    while (isspace((unsigned char)*sum->at)) sum->at++;
}

static int64_t unknown(struct sum *sum) {
    sum->is_known = 0;
    return 0;
}

static int64_t variable_value(struct sum *sum, const char *name, size_t length) {
    const struct shell_variable *variable = shell_variable(sum->shell, name, length);
    if (variable == NULL || variable->count == 0) return unknown(sum);
    int64_t value = 0;
    /* its text may be arithmetic too; recursion ends with the depth of the shell */
    if (variable->items[0][0] == 0) return 0;
    if (!shell_arithmetic(sum->shell, variable->items[0], sum->line, &value)) return unknown(sum);
    return value;
}

static int64_t name_or_assignment(struct sum *sum) {
    const char *name = sum->at;
    while (shell_is_name(*sum->at, 0)) sum->at++;
    size_t length = (size_t)(sum->at - name);
    skip(sum);
    const char *c = sum->at;
    if (strncmp(c, "++", 2) == 0 || strncmp(c, "--", 2) == 0 || (*c == '=' && c[1] != '=') ||
        (*c && strchr("+-*/", *c) && c[1] == '=')) {
        int is_step = c[0] == c[1], known = sum->is_known;
        int64_t before = *c == '=' ? 0 : variable_value(sum, name, length);
        sum->at += *c == '=' ? 1 : 2;
        int64_t by = is_step ? 1 : ternary(sum), after = by;
        int is_bad = *c == '+'   ? __builtin_add_overflow(before, by, &after)
                     : *c == '-' ? __builtin_sub_overflow(before, by, &after)
                     : *c == '*' ? __builtin_mul_overflow(before, by, &after)
                     : *c == '/' ? by == 0 || (after = by == -1 ? -before : before / by, 0)
                                 : 0;
        if (is_bad) return unknown(sum);
        if (known && !sum->is_known) return 0;
        char digits[32];
        const char *item = digits;
        snprintf(digits, sizeof digits, "%lld", (long long)after);
        shell_set(sum->shell, name, length, &item, 1, 0);
        return is_step ? before : after;
    }
    return variable_value(sum, name, length);
}

static int64_t primary(struct sum *sum) {
    skip(sum);
    char c = *sum->at;
    if (!shell_enter(sum->shell, sum->line)) return unknown(sum);
    int64_t value = 0;
    if (c == '(') {
        sum->at++;
        value = ternary(sum);
        skip(sum);
        if (*sum->at == ')')
            sum->at++;
        else
            unknown(sum);
    } else if (c == '-') {
        sum->at++;
        value = primary(sum);
        if (__builtin_sub_overflow((int64_t)0, value, &value)) unknown(sum);
    } else if (c == '+') {
        sum->at++;
        value = primary(sum);
    } else if (c == '!') {
        sum->at++;
        value = !primary(sum);
    } else if (isdigit((unsigned char)c)) {
        char *end = NULL;
        unsigned long long number = strtoull(sum->at, &end, 0);
        if (number > INT64_MAX || shell_is_name(*end, 0)) unknown(sum);
        value = number > INT64_MAX ? 0 : (int64_t)number;
        sum->at = end;
    } else if (shell_is_name(c, 1)) {
        value = name_or_assignment(sum);
    } else {
        unknown(sum);
    }
    shell_leave(sum->shell);
    return value;
}

static int64_t power(struct sum *sum) {
    int64_t base = primary(sum);
    skip(sum);
    if (strncmp(sum->at, "**", 2) != 0) return base;
    sum->at += 2;
    int64_t times = primary(sum), value = 1;
    if (times < 0 || times > 64) return unknown(sum);
    while (times-- > 0)
        if (__builtin_mul_overflow(value, base, &value)) return unknown(sum);
    return value;
}

/* Operators by how tightly they bind, the tightest last. */
static const char *const operators[][4] = {{"||"},     {"&&"},         {"==", "!="}, {"<=", ">=", "<", ">"},
                                           {"+", "-"}, {"*", "/", "%"}};
enum { LEVELS = sizeof operators / sizeof *operators };

static const char *operator_at(const struct sum *sum, int level) {
    for (int i = 0; i < 4 && operators[level][i]; i++)
        if (strncmp(sum->at, operators[level][i], strlen(operators[level][i])) == 0) return operators[level][i];
    return NULL;
}

static int64_t apply(struct sum *sum, const char *name, int64_t a, int64_t b) {
    int64_t value = 0;
    int is_bad = 0;
    switch (name[0]) {
    case '+': is_bad = __builtin_add_overflow(a, b, &value); break;
    case '-': is_bad = __builtin_sub_overflow(a, b, &value); break;
    case '*': is_bad = __builtin_mul_overflow(a, b, &value); break;
    case '/':
    case '%':
        if (b == 0 || (b == -1 && a == INT64_MIN)) return unknown(sum);
        value = name[0] == '/' ? a / b : a % b;
        break;
    case '<': value = name[1] ? a <= b : a < b; break;
    case '>': value = name[1] ? a >= b : a > b; break;
    case '=': value = a == b; break;
    case '!': value = a != b; break;
    case '&': value = a && b; break;
    case '|': value = a || b; break;
    default: is_bad = 1;
    }
    return is_bad ? unknown(sum) : value;
}

static int64_t binary(struct sum *sum, int level) {
    int64_t value = level + 1 == LEVELS ? power(sum) : binary(sum, level + 1);
    for (;;) {
        skip(sum);
        const char *name = operator_at(sum, level);
        if (name == NULL || (name[1] == 0 && sum->at[1] == '=' && strchr("+-*/%", name[0]))) return value;
        sum->at += strlen(name);
        int64_t other = level + 1 == LEVELS ? power(sum) : binary(sum, level + 1);
        value = apply(sum, name, value, other);
    }
}

static int64_t ternary(struct sum *sum) {
    if (!shell_enter(sum->shell, sum->line)) return unknown(sum);
    int64_t value = binary(sum, 0);
    skip(sum);
    if (*sum->at == '?') {
        sum->at++;
        int64_t yes = ternary(sum);
        skip(sum);
        if (*sum->at == ':')
            sum->at++;
        else
            unknown(sum);
        int64_t no = ternary(sum);
        value = value ? yes : no;
    }
    shell_leave(sum->shell);
    return value;
}

int shell_arithmetic(struct shell *shell, const char *text, int32_t line, int64_t *ret_value) {
    if (!shell_enter(shell, line)) return 0;
    struct sum sum = {shell, text, line, 1};
    skip(&sum);
    int64_t value = *sum.at ? ternary(&sum) : 0;
    skip(&sum);
    while (*sum.at == ',' && sum.is_known) {
        sum.at++;
        value = ternary(&sum);
        skip(&sum);
    }
    shell_leave(shell);
    if (!sum.is_known || *sum.at || shell->code != KERF_OK) return 0;
    *ret_value = value;
    return 1;
}
