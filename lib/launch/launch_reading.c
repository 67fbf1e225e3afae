/* SPDX-License-Identifier: Apache-2.0 */
/* Getting facts out of a launch's table, and noting what is ignored, assumed and refused. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/error_fill.h"
#include "launch/launch_reading.h"
#include "launch/shell.h"

const char *kerf_framework_name(enum kerf_framework framework) {
    static const char *const names[] = {
#define NAME(constant, word) word,
        KERF_FRAMEWORKS(NAME)
#undef NAME
    };
    assert((uint32_t)framework < KERF_FRAMEWORK_COUNT);
    return names[framework];
}

int32_t kerf_framework_parse(const char *name, enum kerf_framework *ret, struct kerf_error *err) {
    for (int32_t i = 0; i < KERF_FRAMEWORK_COUNT; i++)
        if (strcmp(kerf_framework_name((enum kerf_framework)i), name) == 0) {
            *ret = (enum kerf_framework)i;
            return KERF_OK;
        }
    if (strcmp(name, "deepspeed") == 0) {
        *ret = KERF_FRAMEWORK_MEGATRON_DEEPSPEED;
        return KERF_OK;
    }
#define LISTED(constant, word) word ", "
    return kerf_error_set(err, KERF_EUNKNOWN,
                          "no framework '%.40s'; there are " KERF_FRAMEWORKS(LISTED) "and deepspeed", name);
#undef LISTED
}

/* ---- Notes ------------------------------------------------------------------------------------------------------- */

void reading_refuse_gpus(struct launch_reading *reading, const char *rule, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (reading->options->gpus)
        reading_assume(reading, "gpus", "%lld, as told; but %.200s (%s)", (long long)reading->options->gpus, text,
                       rule);
    else
        reading_refuse(reading, rule, "%s", text);
}

int32_t reading_fail(struct launch_reading *reading, int32_t line, const char *format, ...) {
    char message[400];
    va_list args;
    if (reading->code != KERF_OK) return reading->code;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return reading->code = launch_fail(reading->err, reading->name, line, KERF_EINVALID, "%s", message);
}

static void no_memory(struct launch_reading *reading) {
    if (reading->code == KERF_OK) reading->code = error_no_memory(reading->err, "a launch");
}

/* A line that holds nothing but what can be printed. */
static void note(struct launch_reading *reading, struct launch_notes *notes, char *text) {
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    if (notes->count == notes->capacity) {
        int32_t capacity = notes->capacity ? 2 * notes->capacity : 32;
        const char **grown = arena_alloc(reading->arena, (size_t)capacity, sizeof *grown);
        if (grown == NULL) {
            no_memory(reading);
            return;
        }
        if (notes->count) memcpy(grown, notes->items, (size_t)notes->count * sizeof *grown);
        notes->items = grown;
        notes->capacity = capacity;
    }
    const char *copy = arena_strdup(reading->arena, text);
    if (copy)
        notes->items[notes->count++] = copy;
    else
        no_memory(reading);
}

void reading_ignore(struct launch_reading *reading, const char *key) {
    char text[160];
    snprintf(text, sizeof text, "%.150s", key);
    for (int32_t i = 0; i < reading->ignored.count; i++)
        if (strcmp(reading->ignored.items[i], text) == 0) return;
    note(reading, &reading->ignored, text);
}

void reading_assume(struct launch_reading *reading, const char *key, const char *format, ...) {
    char text[200];
    const char *value = text;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (launch_add(&reading->assumed, key, &value, 1, 0) == NULL) no_memory(reading);
}

void reading_refuse(struct launch_reading *reading, const char *rule, const char *format, ...) {
    char words[300], text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%s (%s)", words, rule);
    note(reading, &reading->invalid, text);
}

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

int launch_is_known(const char *text) { return !strchr(text, LAUNCH_UNSET) && !strchr(text, LAUNCH_NOT_RUN); }

int launch_whole_number(const char *text, int64_t *ret_value) {
    int64_t value = 0;
    int is_negative = *text == '-', digits = 0;
    for (const char *c = text + is_negative; *c; c++) {
        if (*c == '_' && digits) continue;
        if (*c < '0' || *c > '9') return 0;
        if (value > (INT64_MAX - 9) / 10) return 0;
        value = value * 10 + (*c - '0');
        digits++;
    }
    if (digits == 0) return 0;
    *ret_value = is_negative ? -value : value;
    return 1;
}

static int is_null(const char *value) {
    return strcmp(value, "null") == 0 || strcmp(value, "None") == 0 || strcmp(value, "~") == 0 || value[0] == 0;
}

int reading_has(struct launch_reading *reading, const char *key) {
    const struct launch_entry *entry = launch_find(&reading->table, key);
    return entry && !(entry->num_values == 1 && is_null(entry->values[0]));
}

/* How the key is written, for errors. */
static const char *prefix(const struct launch_reading *reading) { return reading->form == LAUNCH_SCRIPT ? "--" : ""; }

static void unknown(struct launch_reading *reading, const struct launch_entry *entry, const char *value) {
    char text[80];
    const char *mark = strpbrk(value, "\1\2");
    size_t length = strcspn(mark + 1, "\1\2\n");
    snprintf(text, sizeof text, "%.*s", (int)(length > 60 ? 60 : length), mark + 1);
    if (*mark == LAUNCH_UNSET)
        reading_fail(reading, entry->line,
                     "%s%s comes from $%s, which nothing in the launch sets: set it in a line before it",
                     prefix(reading), entry->key, text);
    else
        reading_fail(reading, entry->line,
                     "%s%s comes from %s, which is not followed and never run: write its value instead",
                     prefix(reading), entry->key, text);
}

const char *reading_word_if_known(struct launch_reading *reading, const char *key) {
    const struct launch_entry *entry = launch_find(&reading->table, key);
    if (entry == NULL || entry->num_values == 0 || is_null(entry->values[0])) return NULL;
    return launch_is_known(entry->values[0]) ? entry->values[0] : NULL;
}

const char *reading_word(struct launch_reading *reading, const char *key) {
    const struct launch_entry *entry = launch_find(&reading->table, key);
    if (entry == NULL || entry->num_values == 0 || is_null(entry->values[0])) return NULL;
    if (!launch_is_known(entry->values[0])) {
        unknown(reading, entry, entry->values[0]);
        return NULL;
    }
    return entry->values[0];
}

int64_t reading_integer(struct launch_reading *reading, const char *key, int64_t otherwise) {
    const struct launch_entry *entry = launch_find(&reading->table, key);
    if (entry && entry->num_values == 0) {
        reading_fail(reading, entry->line, "%s%s needs a value", prefix(reading), entry->key);
        return otherwise;
    }
    const char *word = reading_word(reading, key);
    int64_t value = 0;
    if (word == NULL) return otherwise;
    if (launch_whole_number(word, &value) && value >= -1 && value <= KERF_COUNT_MAX) return value;
    reading_fail(reading, entry->line, "%s%s must be a whole number, not '%.40s'", prefix(reading), entry->key, word);
    return otherwise;
}

static int is_true(const char *word) {
    static const char *const words[] = {"true", "True", "TRUE", "1", "yes", "on"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) return 1;
    return 0;
}

int reading_flag(struct launch_reading *reading, const char *key) {
    const struct launch_entry *entry = launch_find(&reading->table, key);
    if (entry == NULL) return 0;
    if (entry->num_values == 0) return reading->form == LAUNCH_SCRIPT;
    return is_true(entry->values[0]);
}

const char *reading_variable_word(struct launch_reading *reading, const char *name) {
    const struct launch_entry *entry = launch_find(&reading->variables, name);
    return entry && entry->num_values && entry->values[0][0] && launch_is_known(entry->values[0]) ? entry->values[0]
                                                                                                  : NULL;
}

int64_t reading_variable(struct launch_reading *reading, const char *name, int64_t otherwise) {
    const struct launch_entry *entry = launch_find(&reading->variables, name);
    int64_t value = 0;
    if (entry == NULL || entry->num_values == 0 || entry->values[0][0] == 0) return otherwise;
    const char *word = entry->values[0];
    if (!launch_is_known(word))
        reading_fail(reading, entry->line, "%s comes from what the launch does not say: set it to a number", name);
    else if (launch_whole_number(word, &value) && value >= -1 && value <= KERF_COUNT_MAX)
        return value;
    else
        reading_fail(reading, entry->line, "%s must be a whole number, not '%.40s'", name, word);
    return otherwise;
}

/* ---- What frameworks share ---------------------------------------------------------------------------------------- */

int reading_file(struct launch_reading *reading, const char *file, enum launch_form form, const char *add_prefix,
                 struct launch_table *table) {
    struct kerf_text text = {0};
    const char *found = NULL;
    size_t length = 0;
    int32_t line_of = 0;
    for (int32_t i = reading->num_files; i-- > 0 && found == NULL;)
        if (strcmp(reading->files[i].name, file) == 0)
            found = reading->files[i].text, length = reading->files[i].length, line_of = reading->files[i].line;
    if (found == NULL && launch_is_known(file) && reading->options->file) {
        struct kerf_error err;
        if (reading->options->file(reading->options->context, file, &text, &err) == KERF_OK && !text.failed)
            found = text.data ? text.data : "", length = text.length;
    }
    int is_read = 0;
    if (found && length <= LAUNCH_BYTES_MAX && memchr(found, 0, length) == NULL) {
        struct launch_table inner = {.arena = reading->arena};
        int32_t (*const parse[])(struct launch_table *, const char *, size_t, const char *, struct kerf_error *) = {
            [LAUNCH_TOML] = launch_toml, [LAUNCH_YAML] = launch_yaml, [LAUNCH_JSON] = launch_json};
        const char *name = line_of ? reading->name : file;
        int32_t code = parse[form](&inner, found, length, name, reading->err);
        if (code != KERF_OK && reading->code == KERF_OK) {
            if (reading->err && line_of) reading->err->line += line_of - 1;
            reading->code = code;
        }
        is_read = code == KERF_OK;
        for (int32_t i = 0; code == KERF_OK && i < inner.count; i++) {
            const struct launch_entry *entry = &inner.entries[i];
            const char *key =
                add_prefix[0] ? arena_printf(reading->arena, "%s.%s", add_prefix, entry->key) : entry->key;
            if (key == NULL || launch_add(table, key, entry->values, entry->num_values, entry->line) == NULL)
                no_memory(reading);
        }
    }
    kerf_text_free(&text);
    return is_read;
}

int64_t launch_window(struct launch_reading *reading, const char *key) {
    const char *text = reading_word(reading, key);
    if (text == NULL) return 0;
    const struct launch_entry *entry = launch_find(&reading->table, key);
    char left[16];
    int64_t before = 0;
    const char *start = text + (*text == '(');
    size_t length = strcspn(start, ",");
    snprintf(left, sizeof left, "%.*s", (int)(length < sizeof left ? length : 0), start);
    int is_pair = start[length] == ',' || entry->num_values == 2;
    if (is_pair && launch_whole_number(left, &before) && before >= -1 && before < KERF_COUNT_MAX) return before + 1;
    reading_fail(reading, entry->line,
                 "%s%s must be the tokens before and behind that are seen, as in 4095,0, not '%.40s'", prefix(reading),
                 key, text);
    return 0;
}

int64_t launch_product(int64_t a, int64_t b, int64_t c, int64_t d) {
    int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product) ||
        __builtin_mul_overflow(product, d, &product))
        return 0;
    return product;
}

void launch_batch_rule(struct launch_reading *reading, const char *rule) {
    const struct kerf_launch *launch = reading->launch;
    int64_t part = 0;
    if (launch->global_batch == 0 || launch->layout.micro_batch <= 0 || launch->layout.dp <= 0) return;
    if (__builtin_mul_overflow(launch->layout.micro_batch, launch->layout.dp, &part)) return;
    if (launch->global_batch % part == 0) return;
    reading_refuse(reading, rule, "global batch %lld is not divisible by micro-batch %lld x dp %lld",
                   (long long)launch->global_batch, (long long)launch->layout.micro_batch,
                   (long long)launch->layout.dp);
}

void launch_stage_layers(struct launch_reading *reading, const int32_t *layers, int32_t stages) {
    struct kerf_layout *layout = &reading->launch->layout;
    if (stages != layout->pp * layout->vpp || stages > KERF_STAGES_MAX || stages <= 1) return;
    int64_t sum = 0;
    for (int32_t i = 0; i < stages; i++) {
        if (layers[i] < 1) {
            reading_assume(reading, "stage_layers", "the best split: kerf has no stages without a decoder layer");
            return;
        }
        sum += layers[i];
    }
    int is_even = 1;
    for (int32_t i = 1; i < stages; i++) is_even &= layers[i] == layers[0];
    if (reading->launch->config.num_hidden_layers && sum != reading->launch->config.num_hidden_layers) return;
    int32_t *copy = arena_alloc(reading->arena, (size_t)stages, sizeof *copy);
    if (copy == NULL) {
        no_memory(reading);
        return;
    }
    memcpy(copy, layers, (size_t)stages * sizeof *copy);
    reading->launch->split = copy;
    if (!is_even) layout->stage_layers = copy;
}
