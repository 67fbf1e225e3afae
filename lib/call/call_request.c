/* SPDX-License-Identifier: Apache-2.0 */
#include "call/call_request.h"

#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/characters.h"

static int32_t add_argument(struct call_request *request, char *argument, struct kerf_error *err) {
    if (argument == NULL) return error_no_memory(err, "the request");
    if (request->num_arguments == request->room) {
        int room = request->room ? 2 * request->room : 32;
        char **arguments = realloc(request->arguments, (size_t)room * sizeof *arguments);
        if (arguments == NULL) return error_no_memory(err, "the request");
        request->arguments = arguments;
        request->room = room;
    }
    request->arguments[request->num_arguments++] = argument;
    return KERF_OK;
}

/* A number, a text or a truth value as an option has it; 0: it is none of these. */
static int write_value(struct kerf_text *out, const json_t *value) {
    if (json_is_string(value))
        kerf_text_add(out, json_string_value(value));
    else if (json_is_integer(value))
        kerf_text_printf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        kerf_text_number(out, json_real_value(value));
    else
        return 0;
    return 1;
}

/* "seq_length" of a request is --seq-length. */
static char *option_text(struct call_request *request, const char *key, const char *value) {
    char *text = arena_printf(&request->arena, value ? "--%s=%s" : "--%s", key, value);
    for (char *c = text; c && *c && *c != '='; c++)
        if (*c == '_') *c = '-';
    return text;
}

/* NULL: there is none. */
static const struct option *find_option(const struct command *command, const char *key) {
    for (const struct option *option = command->options; option->name; option++) {
        size_t length = strlen(key), i = 0;
        while (i < length && option->name[i] == (key[i] == '_' ? '-' : key[i])) i++;
        if (i == length && option->name[i] == 0) return option;
    }
    return NULL;
}

static int32_t add_list(struct call_request *request, const struct json_object *root, const struct option *option,
                        const char *key, const json_t *list, struct kerf_error *err) {
    struct kerf_text text = {0};
    const json_t *item;
    size_t i;
    int repeats = option->type == OPTION_STRINGS;
    int32_t code = KERF_OK;
    json_array_foreach((json_t *)list, i, item) {
        if (i > 0 && !repeats) kerf_text_add(&text, ",");
        if (!write_value(&text, item))
            code = json_fail(root, key, KERF_EINVALID, err, "\"%s\" must be a list of numbers or texts", key);
        if (code == KERF_OK && repeats)
            code = add_argument(request, option_text(request, key, text.data ? text.data : ""), err);
        if (code != KERF_OK) break;
        if (repeats) kerf_text_clear(&text);
    }
    if (code == KERF_OK && !repeats)
        code = add_argument(request, option_text(request, key, text.data ? text.data : ""), err);
    kerf_text_free(&text);
    return code;
}

static int32_t add_option(struct call_request *request, const struct json_object *root, const struct command *command,
                          const char *key, const json_t *value, struct kerf_error *err) {
    struct kerf_text text = {0};
    const struct option *option = find_option(command, key);
    if (option == NULL) {
        const char *unknown = option_text(request, key, NULL);
        return unknown ? option_unknown(command, unknown, err) : error_no_memory(err, "the request");
    }
    if (json_is_array(value)) return add_list(request, root, option, key, value, err);
    if (json_is_false(value) && option->type == OPTION_FLAG) return KERF_OK;
    if (json_is_boolean(value) && option->type != OPTION_FLAG)
        return json_fail(root, key, KERF_EINVALID, err, "\"%s\" must be a number, a text or a list of them, not %s",
                         key, json_is_true(value) ? "true" : "false");
    if (json_is_boolean(value)) return add_argument(request, option_text(request, key, NULL), err);
    if (!write_value(&text, value))
        return json_fail(root, key, KERF_EINVALID, err, "\"%s\" must be a number, a text, true or a list of them", key);
    int32_t code = text.failed ? error_no_memory(err, "the request")
                               : add_argument(request, option_text(request, key, text.data ? text.data : ""), err);
    kerf_text_free(&text);
    return code;
}

/* A description in the request itself: of a model or a system beside the arguments, as "-" says; else the option's text. */
static int32_t add_object(struct call_request *request, const struct call_form *form, const char *key,
                          const json_t *value, struct kerf_error *err) {
    const char **source = strcmp(key, "model") == 0    ? &request->sources.model_json
                          : strcmp(key, "system") == 0 ? &request->sources.system_json
                                                       : NULL;
    char *json = json_dumps(value, JSON_REAL_PRECISION(17) | JSON_COMPACT);
    char *kept = json ? arena_copy(&request->arena, json, strlen(json)) : NULL;
    free(json);
    if (kept == NULL) return error_no_memory(err, "the request");
    if (source) *source = kept;
    if (strcmp(key, form->argument.name) == 0) return KERF_OK; /* add_names adds the "-" */
    return add_argument(request, option_text(request, key, source ? "-" : kept), err);
}

/* {"mine.txt":"...", ...} */
static int32_t add_files(struct call_request *request, const struct json_object *root, json_t *value,
                         struct kerf_error *err) {
    const char *name;
    json_t *text;
    size_t count = json_object_size(value);
    if (!json_is_object(value))
        return json_fail(root, "files", KERF_EINVALID, err, "\"files\" must be an object with the text of each file");
    struct call_file *files = arena_alloc(&request->arena, count + 1, sizeof *files);
    if (files == NULL) return error_no_memory(err, "the request");
    request->sources.files = files;
    json_object_foreach(value, name, text) {
        struct call_file *file = &files[request->sources.num_files++];
        if (!json_is_string(text))
            return json_fail(root, "files", KERF_EINVALID, err, "\"files\": '%.64s' must be the text of the file",
                             name);
        file->name = arena_copy(&request->arena, name, strlen(name));
        file->length = json_string_length(text);
        file->text = arena_copy(&request->arena, json_string_value(text), file->length);
        if (file->name == NULL || file->text == NULL) return error_no_memory(err, "the request");
    }
    return KERF_OK;
}

/* What stands for the command's argument, or several for a list: behind "--", which ends the options. */
static int32_t add_names(struct call_request *request, const struct call_form *form, const struct json_object *root,
                         struct kerf_error *err) {
    const struct call_argument *argument = &form->argument;
    json_t *value = json_object_get(root->json, argument->name), *item;
    size_t i;
    if (value == NULL || json_is_null(value)) return KERF_OK;
    int32_t code = add_argument(request, arena_printf(&request->arena, "--"), err);
    if (json_is_array(value) && argument->before_list && code == KERF_OK)
        code = add_argument(request, arena_printf(&request->arena, "%s", argument->before_list), err);
    if (code == KERF_OK && json_is_object(value) && list_has(form->objects, argument->name))
        return add_argument(request, arena_printf(&request->arena, "-"), err);
    if (code == KERF_OK && json_is_string(value))
        return add_argument(request, arena_printf(&request->arena, "%s", json_string_value(value)), err);
    if (code == KERF_OK && !json_is_array(value))
        return json_fail(root, argument->name, KERF_EINVALID, err, "\"%s\" must be a %s", argument->name,
                         argument->wants);
    json_array_foreach(value, i, item) {
        if (code == KERF_OK && !json_is_string(item))
            code =
                json_fail(root, argument->name, KERF_EINVALID, err, "\"%s\" must be a list of names", argument->name);
        if (code == KERF_OK)
            code = add_argument(request, arena_printf(&request->arena, "%s", json_string_value(item)), err);
    }
    return code;
}

int32_t call_request_read(struct call_request *request, const struct call_form *form, const struct json_object *root,
                          struct kerf_error *err) {
    const char *key;
    json_t *value;
    int32_t code = KERF_OK;
    json_object_foreach(root->json, key, value) {
        if (code != KERF_OK) return code;
        if (json_is_null(value)) continue;
        if (strcmp(key, "files") == 0 && form->takes_files)
            code = add_files(request, root, value, err);
        else if (json_is_object(value) && list_has(form->objects, key))
            code = add_object(request, form, key, value, err);
        else if (strcmp(key, form->argument.name) != 0)
            code = add_option(request, root, &form->command, key, value, err);
    }
    return code == KERF_OK ? add_names(request, form, root, err) : code;
}

void call_request_free(struct call_request *request) {
    arena_free(&request->arena);
    free(request->arguments);
}
