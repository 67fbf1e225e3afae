/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a parameter and its values. */
#include "tune/param.h"

#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

enum { NAME_MAX = 64 };

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

int param_is_name(const char *text, size_t length) {
    if (length == 0 || length > NAME_MAX || !is_letter(text[0])) return 0;
    for (size_t i = 1; i < length; i++)
        if (!is_letter(text[i]) && !is_digit(text[i]) && text[i] != '.' && text[i] != '-') return 0;
    return 1;
}

int param_read_integer(const char *text, size_t length, int64_t *ret_value) {
    size_t at = length > 0 && text[0] == '-';
    int64_t value = 0;
    if (at == length) return 0;
    for (size_t i = at; i < length; i++) {
        if (!is_digit(text[i]) || __builtin_mul_overflow(value, 10, &value)) return 0;
        if (__builtin_add_overflow(value, at ? -(text[i] - '0') : text[i] - '0', &value)) return 0;
    }
    *ret_value = value;
    return 1;
}

/* ---- Ranges ------------------------------------------------------------------------------------------------ */

struct range {
    int64_t first, last, step;
    int times; /* 1: each value is `step` times the one before */
};

static int next_value(const struct range *range, int64_t value, int64_t *ret_value) {
    int over = range->times ? __builtin_mul_overflow(value, range->step, ret_value)
                            : __builtin_add_overflow(value, range->step, ret_value);
    return !over && *ret_value <= range->last;
}

/* Whether the word begins as a range does, with a number and "..", unlike a path such as "1../a", or ends as one, with
 * ":log9": then it is a range with a mistake. */
static int is_like_range(const char *text) {
    const char *dots = strstr(text, ".."), *rest = dots ? strchr(dots, ':') : NULL;
    int digits = 0;
    if (dots == NULL || dots[2] == '/') return 0;
    if (rest && (strncmp(rest, ":log", 4) == 0 || strncmp(rest, ":lin", 4) == 0) && is_digit(rest[4])) return 1;
    for (const char *c = text; c < dots; c++) {
        digits |= is_digit(*c);
        if (!is_digit(*c) && (*c == 0 || strchr("-+^. eE", *c) == NULL)) return 0;
    }
    return digits || (dots == text && is_digit(dots[2]));
}

/* "16..2048:x2", "1..16", "0..32:+8" */
static int read_range(const char *text, struct range *ret_range) {
    const char *dots = strstr(text, ".."), *colon = strchr(text, ':');
    struct range range = {.step = 1};
    if (dots == NULL || !param_read_integer(text, (size_t)(dots - text), &range.first)) return 0;
    const char *last = dots + 2, *end = colon ? colon : last + strlen(last);
    if (end < last || !param_read_integer(last, (size_t)(end - last), &range.last)) return 0;
    if (colon) {
        range.times = colon[1] == 'x';
        if (colon[1] != 'x' && colon[1] != '+') return 0;
        if (!param_read_integer(colon + 2, strlen(colon + 2), &range.step)) return 0;
    }
    *ret_range = range;
    return 1;
}

/* The text is a parameter with a range, whose ends are told as they were written. */
static int32_t empty_range(const char *text, struct kerf_error *err) {
    const char *first = strchr(text, '=') + 1, *last = strstr(first, "..") + 2;
    return kerf_error_set(err, KERF_EINVALID, "'%s': the range is empty, as %.*s is more than %.*s", text,
                          (int)(last - 2 - first), first, (int)strcspn(last, ":"), last);
}

static int32_t check_range(const char *text, const struct range *range, struct kerf_error *err) {
    if (range->last < range->first) return empty_range(text, err);
    if (range->times && (range->first < 1 || range->step < 2))
        return kerf_error_set(err, KERF_EINVALID,
                              "'%s': a range with 'x' must begin at 1 or more and multiply by 2 or more", text);
    if (range->step < 1) return kerf_error_set(err, KERF_EINVALID, "'%s': a range must ascend by 1 or more", text);
    return KERF_OK;
}

static int32_t fill_range(const char *text, const struct range *range, struct arena *arena,
                          struct kerf_tune_param *param, struct kerf_error *err) {
    int64_t value = range->first, count = 1;
    int32_t code = check_range(text, range, err);
    if (code != KERF_OK) return code;
    for (int64_t at = value; count <= TUNE_SETTINGS_MAX && next_value(range, at, &at);) count++;
    if (count > TUNE_SETTINGS_MAX)
        return kerf_error_set(err, KERF_EINVALID, "'%s': more than %d values", text, TUNE_SETTINGS_MAX);
    int64_t *integers = arena_take(arena, (size_t)count, sizeof *integers);
    if (integers == NULL) return error_no_memory(err, "a space");
    for (int64_t i = 0; i < count; i++) {
        integers[i] = value;
        next_value(range, value, &value);
    }
    param->kind = KERF_TUNE_INTEGER;
    param->integers = integers;
    param->num_values = (int32_t)count;
    return KERF_OK;
}

static int32_t check_words(const char *text, const char *const *words, int32_t count, struct kerf_error *err) {
    enum { WORDS_MAX = 1000 };
    if (count > WORDS_MAX) return kerf_error_set(err, KERF_EINVALID, "'%.200s': more than %d choices", text, WORDS_MAX);
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < i; j++)
            if (strcmp(words[i], words[j]) == 0)
                return kerf_error_set(err, KERF_EINVALID, "'%.200s': '%.100s' appears twice", text, words[i]);
    return KERF_OK;
}

/* ---- Numbers with decimals --------------------------------------------------------------------------------------- */

int param_read_decimal(const char *text, size_t length, double *ret_value) {
    char copy[64], *end;
    size_t sign = length > 0 && text[0] == '-', dot = sign < length && text[sign] == '.';
    if (length >= sizeof copy || sign + dot >= length || !is_digit(text[sign + dot])) return 0;
    for (size_t i = 0; i < length; i++)
        if (!is_digit(text[i]) && !strchr("+-.eE", text[i])) return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    *ret_value = strtod(copy, &end);
    return *end == 0 && isfinite(*ret_value);
}

enum { DECIMALS_MAX = 1000, DIGITS_MOST = 15 };

/* The ends of "1e-5..1e-1:x10", and what follows its colon. */
static int read_ends(const char *values, double *ret_first, double *ret_last, const char **ret_rest) {
    const char *dots = strstr(values, ".."), *colon = strchr(values, ':');
    if (!dots || !colon || colon < dots + 2) return 0;
    *ret_rest = colon + 1;
    return param_read_decimal(values, (size_t)(dots - values), ret_first) &&
           param_read_decimal(dots + 2, (size_t)(colon - dots - 2), ret_last);
}

enum { NUMBER_SIZE = 40 };
static const double PLAIN_MOST = 1e15;

/* 200000 rather than 2e+05, which a program that reads an integer takes for 2. */
static void write_number(double value, int digits, char text[NUMBER_SIZE]) {
    (void)snprintf(text, NUMBER_SIZE, "%.*g", digits, value);
    double rounded = strtod(text, NULL);
    if (strstr(text, "e+") && fabs(rounded) < PLAIN_MOST) (void)snprintf(text, NUMBER_SIZE, "%.0f", rounded);
}

/* The fewest digits, from `digits` on, with which each value is off by no more than its error, and none is like the one before. */
static int digits_that_tell(const double *values, const double *errors, int32_t count, int digits) {
    char before[NUMBER_SIZE] = "", text[NUMBER_SIZE];
    for (; digits < DIGITS_MOST; digits++) {
        int enough = 1;
        for (int32_t i = 0; i < count && enough; i++) {
            write_number(values[i], digits, text);
            enough = fabs(strtod(text, NULL) - values[i]) <= errors[i] && (i == 0 || strcmp(before, text) != 0);
            memcpy(before, text, sizeof before);
        }
        if (enough) return digits;
    }
    return DIGITS_MOST;
}

/* The values as texts, which the command gets, and as the numbers that those texts are. */
static int32_t fill_numbers(const double *values, int32_t count, int digits, struct arena *arena,
                            struct kerf_tune_param *param, struct kerf_error *err) {
    const char **texts = arena_take(arena, (size_t)count, sizeof *texts);
    double *numbers = arena_take(arena, (size_t)count, sizeof *numbers);
    for (int32_t i = 0; texts && numbers && i < count; i++) {
        char text[NUMBER_SIZE];
        write_number(values[i], digits, text);
        if ((texts[i] = arena_strdup(arena, text)) == NULL) texts = NULL;
        if (texts) numbers[i] = strtod(texts[i], NULL);
    }
    if (texts == NULL || numbers == NULL) return error_no_memory(err, "a space");
    *param = (struct kerf_tune_param){param->name, KERF_TUNE_CHOICE, count, NULL, texts, numbers};
    return KERF_OK;
}

/* "0.1..0.9:+0.2", "1e-5..1e-1:x10". 1: done; 0: it is not such a range; or an error. */
static int32_t fill_decimals(const char *text, const char *values, struct arena *arena, struct kerf_tune_param *param,
                             struct kerf_error *err) {
    const char *rest;
    double first, last, step, numbers[DECIMALS_MAX], errors[DECIMALS_MAX];
    if (!read_ends(values, &first, &last, &rest) || (*rest != 'x' && *rest != '+') ||
        !param_read_decimal(rest + 1, strlen(rest + 1), &step))
        return 0;
    int times = *rest == 'x';
    if (last < first) return empty_range(text, err);
    if (times ? !(first > 0 && step > 1) : !(step > 0))
        return kerf_error_set(err, KERF_EINVALID,
                              times ? "'%s': a range with 'x' begins above 0 and multiplies by more than 1"
                                    : "'%s': a range ascends by more than 0",
                              text);
    double steps = floor((times ? log(last / first) / log(step) : (last - first) / step) + 1e-6);
    if (steps >= DECIMALS_MAX)
        return kerf_error_set(err, KERF_EINVALID, "'%s': more than %d values", text, DECIMALS_MAX);
    int32_t count = (int32_t)steps + 1;
    for (int32_t i = 0; i < count; i++) {
        numbers[i] = times ? first * pow(step, i) : first + step * i;
        errors[i] = times ? 1e-8 * numbers[i] : 1e-6 * step;
    }
    int32_t code = fill_numbers(numbers, count, digits_that_tell(numbers, errors, count, 9), arena, param, err);
    if (code == KERF_OK) code = check_words(text, param->texts, count, err);
    return code == KERF_OK ? 1 : code;
}

/* ---- Numbers of points ------------------------------------------------------------------------------------------- */

/* Points between whole ends are whole, and each is there once. */
static int32_t fill_whole_points(const double *values, int32_t count, struct arena *arena,
                                 struct kerf_tune_param *param, struct kerf_error *err) {
    int64_t *integers = arena_take(arena, (size_t)count, sizeof *integers);
    int32_t kept = 0;
    if (integers == NULL) return error_no_memory(err, "a space");
    for (int32_t i = 0; i < count; i++) {
        int64_t value = llround(values[i]);
        if (kept == 0 || value > integers[kept - 1]) integers[kept++] = value;
    }
    param->kind = KERF_TUNE_INTEGER;
    param->integers = integers;
    param->num_values = kept;
    return KERF_OK;
}

/* "1e-5..1e-1:log9", "64..4096:log7", "0..1:lin5": so many values with both ends, each as many times the one before, or
 * as much above it. 1: done; 0: it is not such a range; or an error. */
static int32_t fill_points(const char *text, const char *values, struct arena *arena, struct kerf_tune_param *param,
                           struct kerf_error *err) {
    const double whole_most = 9007199254740992.0; /* 2^53: beyond, doubles skip integers */
    const char *rest;
    double first, last, points[DECIMALS_MAX], errors[DECIMALS_MAX];
    int64_t count, whole;
    if (!read_ends(values, &first, &last, &rest) || (strncmp(rest, "log", 3) != 0 && strncmp(rest, "lin", 3) != 0))
        return 0;
    int is_log = rest[1] == 'o';
    if (!param_read_integer(rest + 3, strlen(rest + 3), &count) || count < 2 || count > DECIMALS_MAX)
        return kerf_error_set(err, KERF_EINVALID, "'%s': %.3s is followed by a number of values from 2 to %d, as %.3s9",
                              text, rest, DECIMALS_MAX, rest);
    if (last < first) return empty_range(text, err);
    if (last == first)
        return kerf_error_set(err, KERF_EINVALID, "'%s': both ends are the same; for one value write %.*s", text,
                              (int)(strstr(text, "..") - text), text);
    if (is_log && !(first > 0))
        return kerf_error_set(err, KERF_EINVALID, "'%s': a range with 'log' begins above 0", text);
    if (!isfinite(is_log ? last / first : last - first))
        return kerf_error_set(err, KERF_EINVALID, "'%s': the ends are too far apart for numbers of 64 bits", text);
    for (int64_t i = 0; i < count; i++) {
        double share = (double)i / (double)(count - 1);
        points[i] = is_log ? first * pow(last / first, share) : first + (last - first) * share;
        errors[i] = INFINITY;
    }
    points[count - 1] = last;
    errors[0] = errors[count - 1] = 0; /* the ends are what was written */
    const char *dots = strstr(values, "..");
    int are_whole = param_read_integer(values, (size_t)(dots - values), &whole) &&
                    param_read_integer(dots + 2, (size_t)(rest - 1 - dots - 2), &whole);
    if (are_whole && !(fabs(first) <= whole_most && fabs(last) <= whole_most))
        return kerf_error_set(err, KERF_EINVALID, "'%s': the ends of such a range are at most 2^53", text);
    are_whole &= is_log || last - first >= (double)(count - 1);
    int32_t code = are_whole ? fill_whole_points(points, (int32_t)count, arena, param, err)
                             : fill_numbers(points, (int32_t)count, digits_that_tell(points, errors, (int32_t)count, 3),
                                            arena, param, err);
    if (code == KERF_OK && !are_whole) code = check_words(text, param->texts, param->num_values, err);
    return code == KERF_OK ? 1 : code;
}

/* Where all words are numbers, and ascend, they are ordered. */
static int32_t order_words(const char *text, struct kerf_tune_param *param, struct arena *arena,
                           struct kerf_error *err) {
    double *numbers = arena_take(arena, (size_t)param->num_values, sizeof *numbers);
    int ascend = 1;
    if (numbers == NULL) return error_no_memory(err, "a space");
    for (int32_t i = 0; i < param->num_values; i++)
        if (!param_read_decimal(param->texts[i], strlen(param->texts[i]), &numbers[i])) return KERF_OK;
    for (int32_t i = 0; i < param->num_values; i++) {
        ascend &= i == 0 || numbers[i] > numbers[i - 1];
        for (int32_t j = 0; j < i; j++)
            if (numbers[i] == numbers[j])
                return kerf_error_set(err, KERF_EINVALID, "'%.200s': %.50s is the same number as %.50s", text,
                                      param->texts[i], param->texts[j]);
    }
    if (!ascend) return KERF_OK;
    param->numbers = numbers;
    return KERF_OK;
}

/* ---- Lists ------------------------------------------------------------------------------------------------- */

static int32_t split(const char *text, const char *values, struct arena *arena, const char ***ret_words,
                     int32_t *ret_count, struct kerf_error *err) {
    int64_t count = 1;
    for (const char *at = values; *at; at++) count += *at == ',';
    if (count > TUNE_SETTINGS_MAX) return kerf_error_set(err, KERF_EINVALID, "more than %d values", TUNE_SETTINGS_MAX);
    const char **words = arena_take(arena, (size_t)count, sizeof *words);
    char *copy = arena_strdup(arena, values);
    if (words == NULL || copy == NULL) return error_no_memory(err, "a space");
    for (int64_t i = 0; i < count; i++) {
        char *comma = strchr(copy, ',');
        if (comma) *comma = 0;
        while (*copy == ' ') copy++;
        for (char *end = copy + strlen(copy); end > copy && end[-1] == ' ';) *--end = 0;
        if (*copy == 0) return kerf_error_set(err, KERF_ESYNTAX, "'%.200s': a value is missing", text);
        words[i] = copy;
        if (comma) copy = comma + 1;
    }
    *ret_words = words;
    *ret_count = (int32_t)count;
    return KERF_OK;
}

static int32_t check_integers(const char *text, const int64_t *integers, int32_t count, struct kerf_error *err) {
    for (int32_t i = 1; i < count; i++)
        if (integers[i] <= integers[i - 1])
            return kerf_error_set(err, KERF_EINVALID,
                                  "'%.200s': integers must ascend, and %" PRId64 " comes after %" PRId64, text,
                                  integers[i], integers[i - 1]);
    return KERF_OK;
}

/* "0.1..0.9", without what follows the colon. */
static int is_range_without_step(const char *word) {
    const char *dots = strstr(word, ".."), *last = dots ? dots + 2 : NULL;
    double end;
    return dots && *last != '.' && (memchr(word, '.', (size_t)(dots - word)) || strpbrk(last, ".eE")) &&
           param_read_decimal(word, (size_t)(dots - word), &end) && param_read_decimal(last, strlen(last), &end);
}

static int32_t not_a_range(const char *text, const char *word, int32_t count, struct kerf_error *err) {
    if (count == 1 && is_range_without_step(word))
        return kerf_error_set(err, KERF_ESYNTAX,
                              "'%.200s': a range of decimals ends with a step, such as :+0.1 or :x2, or with a number "
                              "of values, such as :lin9 or :log9",
                              text);
    return kerf_error_set(
        err, KERF_ESYNTAX,
        "'%.200s': %.100s is not a range; a range is like 1..16, 0..32:+8, 16..2048:x2 or 1e-5..0.1:log9, has "
        "integers up to 9223372036854775807, and is the only value",
        text, word);
}

/* 8, but not 08: a program that is given "08" may not be given "8". */
static int is_written_as_integer(const char *word) {
    const char *digits = word + (*word == '-');
    return digits[0] != '0' || (digits[1] == 0 && digits == word);
}

static int32_t fill_list(const char *text, const char *values, struct arena *arena, struct kerf_tune_param *param,
                         struct kerf_error *err) {
    const char **words = NULL;
    int32_t code = split(text, values, arena, &words, &param->num_values, err), all = 1;
    if (code != KERF_OK) return code;
    int64_t *integers = arena_take(arena, (size_t)param->num_values, sizeof *integers);
    if (integers == NULL) return error_no_memory(err, "a space");
    for (int32_t i = 0; i < param->num_values; i++)
        if (is_like_range(words[i])) return not_a_range(text, words[i], param->num_values, err);
    for (int32_t i = 0; i < param->num_values && all; i++)
        all = is_written_as_integer(words[i]) && param_read_integer(words[i], strlen(words[i]), &integers[i]);
    param->kind = all ? KERF_TUNE_INTEGER : KERF_TUNE_CHOICE;
    if (all) {
        param->integers = integers;
        return check_integers(text, integers, param->num_values, err);
    }
    param->texts = words;
    int32_t bad = check_words(text, words, param->num_values, err);
    return bad != KERF_OK ? bad : order_words(text, param, arena, err);
}

/* ---- One parameter ----------------------------------------------------------------------------------------- */

static int32_t write_texts(struct kerf_tune_param *param, struct arena *arena, struct kerf_error *err) {
    const char **texts = arena_take(arena, (size_t)param->num_values, sizeof *texts);
    for (int32_t i = 0; texts && i < param->num_values; i++)
        if ((texts[i] = arena_printf(arena, "%" PRId64, param->integers[i])) == NULL) texts = NULL;
    if (texts == NULL) return error_no_memory(err, "a space");
    param->texts = texts;
    return KERF_OK;
}

static int32_t fill_flag(const char *text, const char *word, struct arena *arena, struct kerf_tune_param *param,
                         struct kerf_error *err) {
    if (*word == 0)
        return kerf_error_set(err, KERF_ESYNTAX, "'%.200s': a flag needs its words, as in map?=--no-mmap", text);
    const char **texts = arena_take(arena, 2, sizeof *texts);
    char *copy = arena_strdup(arena, word);
    if (texts == NULL || copy == NULL) return error_no_memory(err, "a space");
    texts[0] = "";
    texts[1] = copy;
    *param = (struct kerf_tune_param){param->name, KERF_TUNE_FLAG, 2, NULL, texts, NULL};
    return KERF_OK;
}

/* "draft=4,8 when spec": the values without the condition, and that. */
static int32_t split_condition(const char *text, struct arena *arena, const char **ret_text, const char **ret_condition,
                               struct kerf_error *err) {
    static const char word[] = " when ";
    const char *when = strstr(text, word);
    size_t length = strlen(text), dangling = sizeof word - 2;
    *ret_text = text;
    *ret_condition = NULL;
    if (length >= dangling && memcmp(text + length - dangling, word, dangling) == 0)
        return kerf_error_set(err, KERF_ESYNTAX,
                              "'%.200s': a condition is missing after 'when', as in 'draft=4,8 when spec'", text);
    if (when == NULL) return KERF_OK;
    *ret_condition = arena_strdup(arena, when + sizeof word - 1);
    while (when > text && when[-1] == ' ') when--;
    *ret_text = arena_copy(arena, text, (size_t)(when - text));
    return *ret_text && *ret_condition ? KERF_OK : error_no_memory(err, "a space");
}

static int32_t read_plain(const char *text, struct arena *arena, struct kerf_tune_param *ret_param,
                          struct kerf_error *err) {
    const char *equals = strchr(text, '=');
    if (equals == NULL)
        return kerf_error_set(err, KERF_ESYNTAX,
                              "'%.200s' is not a parameter; write it like batch=16..2048:x2 or kv=f16,q8_0", text);
    size_t length = (size_t)(equals - text);
    int is_flag = length > 0 && text[length - 1] == '?';
    struct kerf_tune_param param = {.kind = KERF_TUNE_CHOICE};
    struct range range;
    length -= (size_t)is_flag;
    if (!param_is_name(text, length))
        return kerf_error_set(err, KERF_ESYNTAX,
                              "'%.*s' cannot be a parameter's name: a letter comes first, then letters, digits, _ . -",
                              (int)(length < 200 ? length : 200), text);
    if (length == 7 && memcmp(text, "setting", length) == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "no parameter can be called 'setting', as {setting} in a command stands for all of them");
    param.name = arena_printf(arena, "%.*s", (int)length, text);
    if (param.name == NULL) return error_no_memory(err, "a space");
    int32_t code = KERF_OK;
    if (is_flag)
        code = fill_flag(text, equals + 1, arena, &param, err);
    else if (read_range(equals + 1, &range))
        code = fill_range(text, &range, arena, &param, err);
    else if ((code = fill_decimals(text, equals + 1, arena, &param, err)) == 0 &&
             (code = fill_points(text, equals + 1, arena, &param, err)) == 0)
        code = fill_list(text, equals + 1, arena, &param, err);
    if (code == 1) code = KERF_OK;
    if (code == KERF_OK && param.texts == NULL) code = write_texts(&param, arena, err);
    if (code == KERF_OK) *ret_param = param;
    return code;
}

int32_t param_read(const char *text, struct arena *arena, struct kerf_tune_param *ret_param, const char **ret_condition,
                   struct kerf_error *err) {
    const char *plain;
    int32_t code = split_condition(text, arena, &plain, ret_condition, err);
    return code == KERF_OK ? read_plain(plain, arena, ret_param, err) : code;
}
