/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of TOML and YAML that config files of frameworks are written in, read line by line; docs/launch.md says which.
 * Whatever lies outside is an error with its line, never passed over. */
#include <string.h>
#include "base/error_fill.h"
#include "launch/launch_table.h"

static int32_t fail(const struct launch_flow *flow, const char *message) {
    return launch_fail(flow->err, flow->name, flow->line, KERF_ESYNTAX, "%s", message);
}

/* Past the end of the line, where nothing but a comment may stand. */
static int32_t end_line(struct launch_flow *flow) {
    launch_flow_skip(flow, 0);
    if (flow->text >= flow->end) return KERF_OK;
    if (*flow->text != '\n') return fail(flow, "there is text behind the value");
    flow->text++, flow->line++;
    return KERF_OK;
}

/* ---- TOML -------------------------------------------------------------------------------------------------------- */

/* A key, perhaps of several parts: a."b c".d; prefix stands before it. */
static int32_t toml_key(struct launch_flow *flow, const char *prefix, const char **ret_key) {
    const char *key = prefix;
    for (;;) {
        launch_flow_skip(flow, 0);
        const char *part = NULL;
        if (flow->text < flow->end && (*flow->text == '"' || *flow->text == '\'')) {
            int32_t code = launch_flow_quoted(flow, &part);
            if (code != KERF_OK) return code;
        } else {
            const char *start = flow->text;
            while (flow->text < flow->end &&
                   strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *flow->text))
                flow->text++;
            if (flow->text == start) return fail(flow, "a key is missing: a line is KEY = VALUE or [TABLE]");
            part = arena_copy(flow->table->arena, start, (size_t)(flow->text - start));
        }
        key = part == NULL ? NULL : key[0] ? arena_printf(flow->table->arena, "%s.%s", key, part) : part;
        if (key == NULL) return error_no_memory(flow->err, "a launch");
        if (strlen(key) > 1024) return fail(flow, "a key has more than 1024 bytes");
        launch_flow_skip(flow, 0);
        if (flow->text >= flow->end || *flow->text != '.') break;
        flow->text++;
    }
    *ret_key = key;
    return KERF_OK;
}

int32_t launch_toml(struct launch_table *table, const char *text, size_t length, const char *name,
                    struct kerf_error *err) {
    struct launch_flow flow = {table, text, text + length, name, 1, '=', 0, err};
    const char *prefix = "", *key = "";
    for (;;) {
        launch_flow_skip(&flow, 1);
        if (flow.text >= flow.end) return KERF_OK;
        int32_t code;
        if (*flow.text == '[') {
            flow.text++;
            if (flow.text < flow.end && *flow.text == '[') return fail(&flow, "arrays of tables are not read");
            code = toml_key(&flow, "", &prefix);
            if (code != KERF_OK) return code;
            if (flow.text >= flow.end || *flow.text != ']') return fail(&flow, "a table needs ']' behind its name");
            flow.text++;
        } else {
            code = toml_key(&flow, prefix, &key);
            if (code != KERF_OK) return code;
            if (flow.text >= flow.end || *flow.text != '=') return fail(&flow, "a key needs '=' behind it");
            flow.text++;
            launch_flow_skip(&flow, 0);
            code = launch_flow_value(&flow, key, 0);
            if (code != KERF_OK) return code;
        }
        code = end_line(&flow);
        if (code != KERF_OK) return code;
    }
}

/* ---- YAML -------------------------------------------------------------------------------------------------------- */

struct yaml_level {
    int32_t indent;
    const char *key;
    const char **items; /* of a sequence of scalars */
    int32_t num_items, capacity, line, index;
};

struct yaml {
    struct launch_flow flow;
    struct yaml_level levels[LAUNCH_DEPTH_MAX];
    int32_t depth; /* levels that are open */
};

static int32_t yaml_close(struct yaml *yaml) {
    struct yaml_level *level = &yaml->levels[--yaml->depth];
    if (level->num_items == 0) return KERF_OK;
    if (launch_add(yaml->flow.table, level->key, level->items, level->num_items, level->line)) return KERF_OK;
    return error_no_memory(yaml->flow.err, "a launch");
}

static int32_t yaml_open(struct yaml *yaml, int32_t indent, const char *key) {
    if (yaml->depth == LAUNCH_DEPTH_MAX) return fail(&yaml->flow, "mappings are nested more than 48 deep");
    yaml->levels[yaml->depth++] = (struct yaml_level){.indent = indent, .key = key, .line = yaml->flow.line};
    return KERF_OK;
}

static int32_t yaml_item(struct yaml *yaml, struct yaml_level *level, const char *value) {
    if (level->num_items == 4096) return fail(&yaml->flow, "a list has more than 4096 values");
    if (level->num_items == level->capacity) {
        int32_t capacity = level->capacity ? 2 * level->capacity : 16;
        const char **grown = arena_alloc(yaml->flow.table->arena, (size_t)capacity, sizeof *grown);
        if (grown == NULL) return error_no_memory(yaml->flow.err, "a launch");
        if (level->num_items) memcpy(grown, level->items, (size_t)level->num_items * sizeof *grown);
        level->items = grown;
        level->capacity = capacity;
    }
    level->items[level->num_items++] = value;
    return KERF_OK;
}

/* The end of a plain scalar: of the line, or before " #". */
static const char *plain_end(const char *c, const char *end) {
    const char *start = c;
    while (c < end && *c != '\n' && !(*c == '#' && (c == start || c[-1] == ' ' || c[-1] == '\t'))) c++;
    while (c > start && strchr(" \t\r", c[-1])) c--;
    return c;
}

/* A value that begins in this line, up to the line's end. */
static int32_t yaml_value(struct yaml *yaml, const char **ret_scalar, const char *key, int32_t depth) {
    struct launch_flow *flow = &yaml->flow;
    *ret_scalar = NULL;
    char c = *flow->text;
    if (strchr("&*!|>%@`", c))
        return fail(flow, "anchors, tags and block scalars are not read: write the value itself");
    if (c == '{' || c == '[') return launch_flow_value(flow, key, depth);
    if (c == '"' || c == '\'') return launch_flow_quoted(flow, ret_scalar);
    const char *end = plain_end(flow->text, flow->end);
    *ret_scalar = arena_copy(flow->table->arena, flow->text, (size_t)(end - flow->text));
    flow->text = end;
    return *ret_scalar ? KERF_OK : error_no_memory(flow->err, "a launch");
}

/* Where the colon is that makes this line KEY: VALUE; NULL: it has none. */
static const char *find_colon(const char *c, const char *end) {
    char quote = 0;
    for (const char *start = c; c < end && *c != '\n'; c++) {
        if (quote) {
            if (*c == quote) quote = 0;
        } else if ((*c == '"' || *c == '\'') && c == start) {
            quote = *c;
        } else if (*c == '#' && c > start && c[-1] == ' ') {
            return NULL;
        } else if (*c == ':' && (c + 1 == end || strchr(" \t\r\n", c[1]))) {
            return c;
        }
    }
    return NULL;
}

/* KEY: or KEY: VALUE at this column, below the levels that are open. */
static int32_t yaml_pair(struct yaml *yaml, int32_t column, const char *colon) {
    struct launch_flow *flow = &yaml->flow;
    const char *key = NULL;
    int32_t code = KERF_OK;
    if (*flow->text == '"' || *flow->text == '\'') {
        code = launch_flow_quoted(flow, &key);
        if (code != KERF_OK) return code;
    } else {
        key = arena_copy(flow->table->arena, flow->text, (size_t)(colon - flow->text));
    }
    const char *parent = yaml->depth ? yaml->levels[yaml->depth - 1].key : "";
    if (key && parent[0]) key = arena_printf(flow->table->arena, "%s.%s", parent, key);
    if (key == NULL) return error_no_memory(flow->err, "a launch");
    if (strlen(key) > 1024) return fail(flow, "a key has more than 1024 bytes");
    flow->text = colon + 1;
    launch_flow_skip(flow, 0);
    if (flow->text >= flow->end || *flow->text == '\n') return yaml_open(yaml, column, key);
    const char *value = NULL;
    int32_t line = flow->line;
    code = yaml_value(yaml, &value, key, 0);
    if (code == KERF_OK && value && launch_add(flow->table, key, &value, 1, line) == NULL)
        code = error_no_memory(flow->err, "a launch");
    return code;
}

static int32_t yaml_line(struct yaml *yaml, int32_t column) {
    struct launch_flow *flow = &yaml->flow;
    int is_item = *flow->text == '-' && (flow->text + 1 == flow->end || strchr(" \t\r\n", flow->text[1]));
    while (yaml->depth > 0) { /* a list may stand at the column of its key */
        int32_t indent = yaml->levels[yaml->depth - 1].indent;
        if (indent < column || (is_item && indent == column)) break;
        int32_t code = yaml_close(yaml);
        if (code != KERF_OK) return code;
    }
    if (is_item) {
        if (yaml->depth == 0) return fail(flow, "a list needs a key before it");
        struct yaml_level *level = &yaml->levels[yaml->depth - 1];
        flow->text++, column++;
        while (flow->text < flow->end && *flow->text == ' ') flow->text++, column++;
        const char *key = arena_printf(flow->table->arena, "%s.%d", level->key, level->index++);
        if (key == NULL) return error_no_memory(flow->err, "a launch");
        if (flow->text >= flow->end || *flow->text == '\n') return yaml_open(yaml, column - 1, key);
        const char *colon = strchr("{[", *flow->text) ? NULL : find_colon(flow->text, flow->end);
        if (colon) {
            int32_t code = yaml_open(yaml, column - 1, key);
            return code == KERF_OK ? yaml_pair(yaml, column, colon) : code;
        }
        const char *value = NULL;
        int32_t code = yaml_value(yaml, &value, key, 0);
        return code == KERF_OK && value ? yaml_item(yaml, level, value) : code;
    }
    const char *colon = find_colon(flow->text, flow->end);
    if (colon == NULL) return fail(flow, "a line must be KEY: VALUE or - VALUE");
    return yaml_pair(yaml, column, colon);
}

int32_t launch_yaml(struct launch_table *table, const char *text, size_t length, const char *name,
                    struct kerf_error *err) {
    struct yaml yaml = {.flow = {table, text, text + length, name, 1, ':', 1, err}};
    struct launch_flow *flow = &yaml.flow;
    while (flow->text < flow->end) {
        int32_t column = 0;
        while (flow->text < flow->end && *flow->text == ' ') flow->text++, column++;
        if (flow->text < flow->end && *flow->text == '\t')
            return fail(flow, "a line is indented with a tab: use spaces");
        int is_document = column == 0 && flow->end - flow->text >= 3 &&
                          (strncmp(flow->text, "---", 3) == 0 || strncmp(flow->text, "...", 3) == 0);
        if (is_document) flow->text += 3;
        launch_flow_skip(flow, 0);
        int32_t code = KERF_OK;
        if (flow->text < flow->end && *flow->text != '\n') {
            code = is_document ? fail(flow, "there is text behind the mark of a document") : yaml_line(&yaml, column);
            if (code != KERF_OK) return code;
        }
        code = end_line(flow);
        if (code != KERF_OK) return code;
    }
    while (yaml.depth > 0) {
        int32_t code = yaml_close(&yaml);
        if (code != KERF_OK) return code;
    }
    return KERF_OK;
}
