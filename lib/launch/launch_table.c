/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what a launch says, and the flow collections that TOML, YAML and JSON have in common. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"
#include "launch/launch_table.h"

int32_t launch_fail(struct kerf_error *err, const char *name, int32_t line, int32_t code, const char *format, ...) {
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    for (char *c = message; *c; c++)
        if (*c == LAUNCH_UNSET || *c == LAUNCH_NOT_RUN || *c == '\n') *c = ' ';
    utf8_clean(message);
    kerf_error_set(err, code, "%s", message);
    if (err == NULL) return code;
    error_set_file(err, name);
    err->line = line;
    err->column = line > 0 ? 1 : 0;
    return code;
}

int launch_key_equal(const char *a, const char *b) {
    for (;; a++, b++) {
        char x = *a == '_' ? '-' : *a, y = *b == '_' ? '-' : *b;
        if (x != y) return 0;
        if (x == 0) return 1;
    }
}

struct launch_entry *launch_add(struct launch_table *table, const char *key, const char *const *values,
                                int32_t num_values, int32_t line) {
    if (table->count == LAUNCH_ENTRIES_MAX) return NULL;
    if (table->count == table->capacity) {
        int32_t capacity = table->capacity ? 2 * table->capacity : 64;
        struct launch_entry *grown = arena_alloc(table->arena, (size_t)capacity, sizeof *grown);
        if (grown == NULL) return NULL;
        if (table->count) memcpy(grown, table->entries, (size_t)table->count * sizeof *grown);
        table->entries = grown;
        table->capacity = capacity;
    }
    struct launch_entry *entry = &table->entries[table->count];
    entry->key = arena_strdup(table->arena, key);
    entry->values = arena_alloc(table->arena, (size_t)num_values + 1, sizeof *entry->values);
    if (entry->key == NULL || entry->values == NULL) return NULL;
    for (int32_t i = 0; i < num_values; i++)
        if ((entry->values[i] = arena_strdup(table->arena, values[i])) == NULL) return NULL;
    entry->num_values = num_values;
    entry->line = line;
    table->count++;
    return entry;
}

struct launch_entry *launch_find(struct launch_table *table, const char *key) {
    struct launch_entry *found = NULL;
    for (int32_t i = 0; i < table->count; i++)
        if (launch_key_equal(table->entries[i].key, key)) found = &table->entries[i], found->is_used = 1;
    return found;
}

/* ---- Flow collections -------------------------------------------------------------------------------------------- */

void launch_flow_skip(struct launch_flow *flow, int over_lines) {
    while (flow->text < flow->end) {
        char c = *flow->text;
        if (c == '#') {
            while (flow->text < flow->end && *flow->text != '\n') flow->text++;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            flow->text++;
        } else if (c == '\n' && over_lines) {
            flow->text++, flow->line++;
        } else {
            return;
        }
    }
}

static int32_t fail(const struct launch_flow *flow, const char *message) {
    return launch_fail(flow->err, flow->name, flow->line, KERF_ESYNTAX, "%s", message);
}

static int32_t out_of_memory(const struct launch_flow *flow) {
    if (flow->table->count == LAUNCH_ENTRIES_MAX) return fail(flow, "there are more than 20000 keys");
    return error_no_memory(flow->err, "a launch");
}

/* The UTF-8 of a code point; how many bytes it has. */
static size_t utf8_put(char *out, uint32_t code) {
    if (code < 0x80) return out[0] = (char)code, 1;
    if (code < 0x800) return out[0] = (char)(0xc0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
    out[0] = (char)(0xe0 | code >> 12), out[1] = (char)(0x80 | (code >> 6 & 63)), out[2] = (char)(0x80 | (code & 63));
    return 3;
}

int32_t launch_flow_quoted(struct launch_flow *flow, const char **ret_value) {
    char quote = *flow->text++;
    const char *start = flow->text;
    if (flow->end - start >= 2 && start[0] == quote && start[1] == quote && flow->colon == '=')
        return fail(flow, "strings of several lines are not read: write it in one line");
    size_t most = 0;
    for (const char *c = start; c < flow->end && *c != '\n'; c++) most++;
    char *value = arena_take(flow->table->arena, most + 4, 1);
    if (value == NULL) return out_of_memory(flow);
    size_t length = 0;
    for (;; flow->text++) {
        if (flow->text >= flow->end || *flow->text == '\n') return fail(flow, "a string has no closing quote");
        char c = *flow->text;
        if (c == quote) {
            if (quote == '\'' && flow->is_plain && flow->text + 1 < flow->end && flow->text[1] == '\'')
                flow->text++; /* '' is ' in YAML */
            else
                break;
        } else if (c == '\\' && quote == '"') {
            if (++flow->text >= flow->end || *flow->text == '\n') return fail(flow, "a string has no closing quote");
            c = *flow->text;
            if (c == 'u' || c == 'x') {
                int digits = c == 'u' ? 4 : 2;
                uint32_t code = 0;
                for (int i = 0; i < digits; i++) {
                    int digit = ++flow->text < flow->end ? hex_value(*flow->text) : -1;
                    if (digit < 0) return fail(flow, "an escape needs hexadecimal digits");
                    code = code * 16 + (uint32_t)digit;
                }
                if (code < 3) return fail(flow, "a string holds a control character");
                length += utf8_put(value + length, code);
                continue;
            }
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
        value[length++] = c;
    }
    flow->text++;
    value[length] = 0;
    *ret_value = value;
    return KERF_OK;
}

/* A word without quotes, up to what ends it in a flow collection. */
static int32_t plain_word(struct launch_flow *flow, const char **ret_value) {
    const char *start = flow->text;
    while (flow->text < flow->end && !strchr(",]}\n#", *flow->text) &&
           !(*flow->text == flow->colon && flow->colon == ':' &&
             (flow->text + 1 == flow->end || strchr(" \t\n", flow->text[1]) || !flow->is_plain)) &&
           !(flow->colon == '=' && *flow->text == '='))
        flow->text++;
    const char *end = flow->text;
    while (end > start && strchr(" \t\r", end[-1])) end--;
    if (end == start) return fail(flow, "a value is missing");
    *ret_value = arena_copy(flow->table->arena, start, (size_t)(end - start));
    return *ret_value ? KERF_OK : out_of_memory(flow);
}

static int32_t scalar(struct launch_flow *flow, const char **ret_value) {
    if (flow->text >= flow->end) return fail(flow, "a value is missing");
    if (*flow->text == '"' || *flow->text == '\'') return launch_flow_quoted(flow, ret_value);
    return plain_word(flow, ret_value);
}

static int32_t flow_list(struct launch_flow *flow, const char *key, int32_t depth) {
    enum { MOST = 4096 };
    const char **values = NULL;
    int32_t count = 0, capacity = 0, line = flow->line, index = 0;
    flow->text++;
    for (;;) {
        launch_flow_skip(flow, 1);
        if (flow->text >= flow->end) return fail(flow, "a list has no closing bracket");
        if (*flow->text == ']') break;
        if (*flow->text == '{' || *flow->text == '[') {
            const char *inner = arena_printf(flow->table->arena, "%s.%d", key, index);
            int32_t code = inner ? launch_flow_value(flow, inner, depth + 1) : out_of_memory(flow);
            if (code != KERF_OK) return code;
        } else {
            if (count == capacity) {
                capacity = capacity ? 2 * capacity : 16;
                const char **grown = arena_alloc(flow->table->arena, (size_t)capacity, sizeof *grown);
                if (grown == NULL) return out_of_memory(flow);
                if (count) memcpy(grown, values, (size_t)count * sizeof *grown);
                values = grown;
            }
            int32_t code = scalar(flow, &values[count]);
            if (code != KERF_OK) return code;
            if (++count > MOST) return fail(flow, "a list has more than 4096 values");
        }
        index++;
        launch_flow_skip(flow, 1);
        if (flow->text < flow->end && *flow->text == ',')
            flow->text++;
        else if (flow->text >= flow->end || *flow->text != ']')
            return fail(flow, "a list needs a comma or ']' here");
    }
    flow->text++;
    if (index > count) return KERF_OK;
    return launch_add(flow->table, key, values, count, line) ? KERF_OK : out_of_memory(flow);
}

static int32_t flow_map(struct launch_flow *flow, const char *key, int32_t depth) {
    flow->text++;
    for (;;) {
        launch_flow_skip(flow, 1);
        if (flow->text >= flow->end) return fail(flow, "an object has no closing brace");
        if (*flow->text == '}') break;
        const char *name = NULL;
        int32_t code = scalar(flow, &name);
        if (code != KERF_OK) return code;
        launch_flow_skip(flow, 1);
        if (flow->text >= flow->end || *flow->text != flow->colon)
            return fail(flow, flow->colon == ':' ? "a key needs ':' behind it" : "a key needs '=' behind it");
        flow->text++;
        const char *whole = key[0] ? arena_printf(flow->table->arena, "%s.%s", key, name) : name;
        launch_flow_skip(flow, 1);
        code = whole ? launch_flow_value(flow, whole, depth + 1) : out_of_memory(flow);
        if (code != KERF_OK) return code;
        launch_flow_skip(flow, 1);
        if (flow->text < flow->end && *flow->text == ',')
            flow->text++;
        else if (flow->text >= flow->end || *flow->text != '}')
            return fail(flow, "an object needs a comma or '}' here");
    }
    flow->text++;
    return KERF_OK;
}

int32_t launch_flow_value(struct launch_flow *flow, const char *key, int32_t depth) {
    if (depth > LAUNCH_DEPTH_MAX) return fail(flow, "objects and lists are nested more than 48 deep");
    if (flow->text < flow->end && *flow->text == '{') return flow_map(flow, key, depth);
    if (flow->text < flow->end && *flow->text == '[') return flow_list(flow, key, depth);
    const char *value = NULL;
    int32_t line = flow->line, code = scalar(flow, &value);
    if (code != KERF_OK) return code;
    return launch_add(flow->table, key, &value, 1, line) ? KERF_OK : out_of_memory(flow);
}

int32_t launch_json(struct launch_table *table, const char *text, size_t length, const char *name,
                    struct kerf_error *err) {
    struct launch_flow flow = {table, text, text + length, name, 1, ':', 0, err};
    launch_flow_skip(&flow, 1);
    if (flow.text >= flow.end || *flow.text != '{') return fail(&flow, "a JSON object must begin with '{'");
    int32_t code = launch_flow_value(&flow, "", 0);
    if (code != KERF_OK) return code;
    launch_flow_skip(&flow, 1);
    return flow.text == flow.end ? KERF_OK : fail(&flow, "there is text behind the JSON object");
}
