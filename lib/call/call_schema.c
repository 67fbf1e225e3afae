/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON schema of a verb's request, from the table of its options. */
#include "kerf/call.h"

#include <assert.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"
#include "call/call_verb.h"

static void choices_json(struct kerf_json *json, const char *choices) {
    kerf_json_open(json, "enum", '[');
    for (const char *choice = choices; *choice;) {
        size_t length = strcspn(choice, ",");
        char word[64] = {0};
        assert(length < sizeof word);
        memcpy(word, choice, length);
        kerf_json_string(json, NULL, word);
        choice += length + (choice[length] == ',');
    }
    kerf_json_close(json, ']');
}

static void types_json(struct kerf_json *json, const char *const *types) {
    kerf_json_open(json, "type", '[');
    for (; *types; types++) kerf_json_string(json, NULL, *types);
    kerf_json_close(json, ']');
}

static void option_json(struct kerf_json *json, const struct call_form *form, const struct option *option) {
    static const char *const texts[] = {"string", "number", "array", NULL}, *const times[] = {"number", "string", NULL},
                             *const descriptions[] = {"string", "object", "array", NULL};
    char key[64];
    assert(strlen(option->name) < sizeof key);
    strcpy(key, option->name);
    for (char *c = key; *c; c++)
        if (*c == '-') *c = '_';
    kerf_json_open(json, key, '{');
    switch (option->type) {
    case OPTION_FLAG: kerf_json_string(json, "type", "boolean"); break;
    case OPTION_INTEGER: kerf_json_string(json, "type", "integer"); break;
    case OPTION_NUMBER: kerf_json_string(json, "type", "number"); break;
    case OPTION_DURATION: types_json(json, times); break;
    case OPTION_CHOICE: choices_json(json, option->choices); break;
    case OPTION_STRING:
    case OPTION_ONE:
    case OPTION_STRINGS: types_json(json, list_has(form->objects, key) ? descriptions : texts); break;
    }
    if (option->type == OPTION_INTEGER && (option->minimum != 0 || option->maximum != 0)) {
        kerf_json_number(json, "minimum", option->minimum);
        kerf_json_number(json, "maximum", option->maximum);
    }
    kerf_json_string(json, "description", option->help);
    kerf_json_close(json, '}');
}

static void argument_json(struct kerf_json *json, const struct call_argument *argument) {
    kerf_json_open(json, argument->name, '{');
    types_json(json, argument->types);
    kerf_json_string(json, "description", argument->description);
    kerf_json_close(json, '}');
}

int32_t kerf_call_schema(const char *name, char **ret_schema, struct kerf_error *err) {
    const struct call_verb *verb = call_verb_find(name, err);
    const struct call_form *form = verb ? &verb->form : NULL;
    struct kerf_text out = {0};
    struct kerf_json json;
    if (form == NULL) return KERF_EUNKNOWN;
    kerf_json_begin(&json, &out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "type", "object");
    kerf_json_boolean(&json, "additionalProperties", 0);
    kerf_json_open(&json, "required", '[');
    if (form->argument.is_required) kerf_json_string(&json, NULL, form->argument.name);
    kerf_json_close(&json, ']');
    kerf_json_open(&json, "properties", '{');
    argument_json(&json, &form->argument);
    if (form->takes_files) {
        kerf_json_open(&json, "files", '{');
        kerf_json_string(&json, "type", "object");
        kerf_json_string(&json, "description",
                         "The text of each file that \"schedule\", \"plan\", \"times\" or \"trace\" name.");
        kerf_json_close(&json, '}');
    }
    for (const struct option *option = form->command.options; option->name; option++) option_json(&json, form, option);
    kerf_json_close(&json, '}');
    kerf_json_close(&json, '}');
    if (out.failed) {
        kerf_text_free(&out);
        return error_no_memory(err, "the schema");
    }
    *ret_schema = out.data;
    return KERF_OK;
}
