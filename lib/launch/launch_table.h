/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch says, whatever its form: keys with their values, in the order in which they are written. The flags of a
 * command, the keys of TOML, YAML and JSON ("parallelism.tp") and variables all come to this. */
#ifndef KERF_LAUNCH_TABLE_H
#define KERF_LAUNCH_TABLE_H

#include "base/arena.h"
#include "kerf/error.h"

enum {
    LAUNCH_DEPTH_MAX = 48,           /* of whatever nests: quotes, groups, objects, functions, files */
    LAUNCH_ENTRIES_MAX = 20000,      /* keys of one table */
    LAUNCH_BYTES_MAX = 16 << 20,     /* of a text */
    LAUNCH_VALUE_BYTES_MAX = 1 << 20 /* of one word */
};

/* Around the name of a variable that has no value, and around a command that would have to be run. Text never holds
 * them otherwise. */
#define LAUNCH_UNSET   '\1'
#define LAUNCH_NOT_RUN '\2'

struct launch_entry {
    const char *key;
    const char **values;
    int32_t num_values, line;
    int8_t is_used;
};

struct launch_table {
    struct arena *arena;
    struct launch_entry *entries;
    int32_t count, capacity;
};

/* Adds a key; the values are copied. NULL when memory ran out or there are too many. */
struct launch_entry *launch_add(struct launch_table *table, const char *key, const char *const *values,
                                int32_t num_values, int32_t line);

/* The last entry of this key, for the last one counts; '-' and '_' are the same in keys. NULL: none. All of them are then
 * used. */
struct launch_entry *launch_find(struct launch_table *table, const char *key);

int launch_key_equal(const char *a, const char *b);

/* Fills err with the file and the line. */
int32_t launch_fail(struct kerf_error *err, const char *name, int32_t line, int32_t code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- Forms: each adds what a text holds to the table ------------------------------------------------------------- */

/* TOML but for dates, multi-line strings and arrays of tables; keys become "table.key". */
int32_t launch_toml(struct launch_table *table, const char *text, size_t length, const char *name,
                    struct kerf_error *err);
/* Block mappings and sequences, flow collections, plain and quoted scalars; no anchors, tags or block scalars. */
int32_t launch_yaml(struct launch_table *table, const char *text, size_t length, const char *name,
                    struct kerf_error *err);
int32_t launch_json(struct launch_table *table, const char *text, size_t length, const char *name,
                    struct kerf_error *err);

/* A flow collection or a scalar, as all three forms have it: {a: 1, "b" = [1, 2]}. */
struct launch_flow {
    struct launch_table *table;
    const char *text, *end, *name;
    int32_t line;
    char colon;      /* between a key and its value: ':' or '=' */
    int8_t is_plain; /* 1: words without quotes may stand for strings, as in YAML */
    struct kerf_error *err;
};
int32_t launch_flow_value(struct launch_flow *flow, const char *key, int32_t depth);
void launch_flow_skip(struct launch_flow *flow, int over_lines); /* white space and comments */
/* A quoted string at flow->text, unescaped. */
int32_t launch_flow_quoted(struct launch_flow *flow, const char **ret_value);

#endif
