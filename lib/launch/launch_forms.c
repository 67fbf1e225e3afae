/* SPDX-License-Identifier: Apache-2.0 */
/* How keys and values are printed: arrays of a script, TOML, YAML, JSON. */
#include <string.h>
#include "launch/launch_writing.h"

static int is_of(const struct launch_key *key, const char *group) {
    return group == NULL ? key->group == NULL : key->group != NULL && strcmp(key->group, group) == 0;
}

void launch_print_head(const struct launch_writing *writing, struct kerf_text *out, const char *const *lines) {
    const struct kerf_problem *problem = writing->problem;
    static const char *const parts[] = {"dp", "tp", "cp", "pp", "vpp", "ep", "etp", "zero", "micro_batch", "recompute"};
    kerf_text_printf(out, "# %s on %lld GPUs, written by kerf %s.\n#", problem->model.name, (long long)problem->gpus,
                     kerf_version());
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        kerf_text_printf(out, "%s%s ", i ? ", " : " ", parts[i]);
        kerf_layout_value(out, writing->layout, parts[i]);
    }
    kerf_text_add(out, "\n");
    for (; *lines; lines++) kerf_text_printf(out, "# %s\n", *lines);
}

/* ---- Scripts ------------------------------------------------------------------------------------------------------- */

/* A word that a shell would take apart stands in single quotes; a value with '$' is meant for the shell, in double ones. */
static void shell_word(struct kerf_text *out, const char *word) {
    if (strchr(word, '$'))
        kerf_text_printf(out, "\"%s\"", word);
    else if (word[strcspn(word, " \t,|*?()[]{}<>&;'\"\\#~!")] || word[0] == 0)
        kerf_text_printf(out, "'%s'", word); /* no value that is written holds a single quote */
    else
        kerf_text_add(out, word);
}

void launch_print_array(const struct launch_writing *writing, struct kerf_text *out, const char *group) {
    kerf_text_printf(out, "%s=(\n", group);
    for (int32_t i = 0; i < writing->count; i++) {
        const struct launch_key *key = &writing->keys[i];
        if (!is_of(key, group)) continue;
        kerf_text_printf(out, "    --%s", key->key);
        if (key->value) kerf_text_add(out, " "), shell_word(out, key->value);
        kerf_text_add(out, "\n");
    }
    kerf_text_add(out, ")\n");
}

/* ---- Config files -------------------------------------------------------------------------------------------------- */

static void value(struct kerf_text *out, const struct launch_key *key) {
    if (key->is_text)
        kerf_text_printf(out, "\"%s\"", key->value); /* words without quotes or backslashes */
    else
        kerf_text_add(out, key->value ? key->value : "true");
}

/* Whether the dotted keys a and b have the part from `from` on up to the next dot in common. */
static int same_part(const char *a, const char *b, size_t from) {
    size_t length = strcspn(a + from, ".");
    return strncmp(a, b, from) == 0 && strcspn(b + from, ".") == length && a[from + length] == '.' &&
           b[from + length] == '.' && strncmp(a + from, b + from, length) == 0;
}

void launch_print_toml(const struct launch_writing *writing, struct kerf_text *out) {
    const char *before = NULL;
    for (int32_t i = 0; i < writing->count; i++) {
        const struct launch_key *key = &writing->keys[i];
        const char *dot = strrchr(key->key, '.');
        size_t length = dot ? (size_t)(dot - key->key) : 0;
        if (before == NULL || strncmp(before, key->key, length + 1) != 0)
            kerf_text_printf(out, "\n[%.*s]\n", (int)length, key->key);
        before = key->key;
        kerf_text_printf(out, "%s = ", dot ? dot + 1 : key->key);
        value(out, key);
        kerf_text_add(out, "\n");
    }
}

void launch_print_yaml(const struct launch_writing *writing, struct kerf_text *out) {
    const char *before = "";
    for (int32_t i = 0; i < writing->count; i++) {
        const struct launch_key *key = &writing->keys[i];
        size_t at = 0;
        int depth = 0, is_new = 0;
        for (const char *dot; (dot = strchr(key->key + at, '.')) != NULL; depth++) {
            is_new |= !same_part(key->key, before, at);
            if (is_new)
                kerf_text_printf(out, "%*s%.*s:\n", 2 * depth, "", (int)(dot - key->key - (ptrdiff_t)at),
                                 key->key + at);
            at = (size_t)(dot - key->key) + 1;
        }
        kerf_text_printf(out, "%*s%s: ", 2 * depth, "", key->key + at);
        value(out, key);
        kerf_text_add(out, "\n");
        before = key->key;
    }
}

/* Objects one in another, from keys that stand together. */
static int32_t json_object(const struct launch_writing *writing, struct kerf_text *out, const char *group, int32_t from,
                           size_t at, int depth) {
    const char *first = writing->keys[from].key;
    int32_t i = from;
    kerf_text_add(out, "{\n");
    while (i < writing->count && is_of(&writing->keys[i], group)) {
        const struct launch_key *key = &writing->keys[i];
        if (strncmp(key->key, first, at) != 0) break;
        const char *dot = strchr(key->key + at, '.');
        if (i > from) kerf_text_add(out, ",\n");
        kerf_text_printf(out, "%*s\"%.*s\": ", 2 * (depth + 1), "",
                         dot ? (int)(dot - key->key - (ptrdiff_t)at) : (int)strlen(key->key + at), key->key + at);
        if (dot) {
            i = json_object(writing, out, group, i, (size_t)(dot - key->key) + 1, depth + 1);
        } else {
            value(out, key);
            i++;
        }
    }
    kerf_text_printf(out, "\n%*s}", 2 * depth, "");
    return i;
}

void launch_print_json(const struct launch_writing *writing, struct kerf_text *out, const char *group) {
    int32_t from = 0;
    while (from < writing->count && !is_of(&writing->keys[from], group)) from++;
    if (from < writing->count) json_object(writing, out, group, from, 0, 0);
    kerf_text_add(out, "\n");
}
