/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_read.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"

/* ---- Places: where in a text, which jansson accepted, a value stands ---------------------------------- */

static const char *skip_space(const char *c, const char *end) {
    while (c < end && strchr(" \t\r\n", *c)) c++;
    return c;
}

static const char *skip_string(const char *c, const char *end) {
    for (c++; c < end && *c != '"'; c++)
        if (*c == '\\') c++;
    return c < end ? c + 1 : end;
}

static const char *skip_value(const char *c, const char *end) {
    int depth = 0;
    do {
        c = skip_space(c, end);
        if (c >= end) return end;
        if (*c == '"') {
            c = skip_string(c, end);
        } else if (strchr("[{", *c)) {
            depth++, c++;
        } else if (strchr("]}", *c)) {
            depth--, c++;
        } else if (strchr(",:", *c)) {
            c++;
        } else {
            while (c < end && !strchr(" \t\r\n,]}", *c)) c++;
        }
    } while (depth > 0 && c < end);
    return c;
}

/* The value of key in the object that begins at c, or the key itself; NULL when it is not there. */
static const char *find_member(const char *c, const char *end, const char *key, int of_key) {
    size_t length = strlen(key);
    if (c >= end || *c != '{') return NULL;
    for (c++; c < end;) {
        c = skip_space(c, end);
        if (c >= end || *c != '"') return NULL;
        const char *name = c;
        c = skip_string(c, end);
        int found = (size_t)(c - name) == length + 2 && memcmp(name + 1, key, length) == 0;
        if (found && of_key) return name;
        c = skip_space(c, end);
        if (c < end) c++; /* the colon */
        c = skip_space(c, end);
        if (found) return c;
        c = skip_space(skip_value(c, end), end);
        if (c < end && *c == ',') c++;
    }
    return NULL;
}

/* The element of the array that begins at c; NULL when it is not there. */
static const char *find_element(const char *c, const char *end, size_t index) {
    if (c >= end || *c != '[') return NULL;
    for (c = skip_space(c + 1, end); index > 0 && c < end; index--) {
        c = skip_space(skip_value(c, end), end);
        if (c < end && *c == ',') c = skip_space(c + 1, end);
    }
    return c < end && *c != ']' ? c : NULL;
}

static const char *find_object(const struct json_object *object) {
    const struct json_document *document = object->document;
    const char *end = document->text + document->length;
    if (object->parent == NULL) return skip_space(document->text, end);
    const char *parent = find_object(object->parent);
    const char *found = parent ? find_member(parent, end, object->key, 0) : NULL;
    if (found && object->element > 0) found = find_element(found, end, object->element - 1);
    return found ? found : parent;
}

/* Tells the file, line and column (in bytes) of a place in the text. */
static void tell_place(const struct json_document *document, const char *place, struct kerf_error *err) {
    err->line = 1, err->column = 1;
    for (const char *c = document->text; c < place; c++) {
        if (*c == '\n')
            err->line++, err->column = 1;
        else
            err->column++;
    }
    error_set_file(err, document->source);
}

static void set_place(const struct json_object *object, const char *key, int of_key, struct kerf_error *err) {
    const char *end = object->document->text + object->document->length;
    const char *place = find_object(object), *member = NULL;
    if (place && key) member = find_member(place, end, key, of_key);
    tell_place(object->document, member ? member : place ? place : object->document->text, err);
}

int32_t json_fail(const struct json_object *object, const char *key, int32_t code, struct kerf_error *err,
                  const char *format, ...) {
    if (err == NULL) return code;
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    kerf_error_set(err, code, "%s", message);
    set_place(object, key, 0, err);
    return code;
}

/* ---- Documents ---------------------------------------------------------------------------------------- */

/* The token that jansson quotes ("... near 'x'"); *ret_length is 0 where it quotes none. */
static const char *quoted_token(const json_error_t *error, size_t *ret_length) {
    const char *near = strstr(error->text, " near '"), *token = near ? near + 7 : "", *end = strrchr(token, '\'');
    *ret_length = end ? (size_t)(end - token) : 0;
    return token;
}

/* Where the text begins that jansson could not read; jansson only reports its end, and columns in code points. */
static const char *error_place(const struct json_document *document, const json_error_t *error) {
    size_t length, at = error->position > 0 ? (size_t)error->position : 0;
    const char *text = document->text, *token = quoted_token(error, &length), *nul = memchr(text, 0, document->length);
    if (nul) return nul;
    if (at > document->length) at = document->length;
    if (length > 0 && length <= at && memcmp(text + at - length, token, length) == 0) return text + at - length;
    if (json_error_code(error) == json_error_numeric_overflow)
        while (at > 0 && strchr("+-.0123456789eE", text[at - 1])) at--;
    while (at > 0 && at < document->length && (text[at] & 0xC0) == 0x80) at--;
    return text + at;
}

static int begins(const char *text, const char *word) { return strncmp(text, word, strlen(word)) == 0; }

/* How to mend it. */
static const char *hint(const struct json_document *document, const json_error_t *error, const char *place) {
    size_t length;
    const char *token = quoted_token(error, &length), *end = document->text + document->length;
    const char *first = skip_space(document->text, end), *before = place;
    while (before > document->text && strchr(" \t\r\n", before[-1])) before--;
    switch (json_error_code(error)) {
    case json_error_premature_end_of_input:
        return document->length == 0 ? "; the input is empty" : "; the end is missing";
    case json_error_duplicate_key: return "; give each key once";
    case json_error_stack_overflow: return "; it nests too deeply";
    case json_error_numeric_overflow: return "; the number is too large";
    case json_error_invalid_utf8: return "; save it as UTF-8";
    case json_error_invalid_syntax:
        if (first < end && *first != '{') return "; a JSON object {...} is expected";
        if (begins(token, "NaN") || begins(token, "Infinity") || begins(token, "-")) return "; a number must be finite";
        if (begins(token, "'")) return "; text takes double quotes";
        if ((*token == ']' || *token == '}') && before > document->text && before[-1] == ',')
            return "; there is a comma too many before it";
        if (*token == '"' && strstr(error->text, "}' expected")) return "; is a comma missing before it?";
        return "";
    default: return "";
    }
}

static int32_t syntax_error(const struct json_document *document, const json_error_t *error, struct kerf_error *err) {
    const char *place = error_place(document, error), *end = document->text + document->length;
    if (err == NULL) return KERF_ESYNTAX;
    if (place < end && *place == 0)
        kerf_error_set(err, KERF_ESYNTAX, "not valid JSON: a NUL byte; is it the right file, and saved as UTF-8?");
    else if (json_error_code(error) == json_error_null_character)
        kerf_error_set(err, KERF_ESYNTAX, "not valid JSON here: the character \\u0000; leave it out");
    else
        kerf_error_set(err, KERF_ESYNTAX, "not valid JSON: %s%s", error->text, hint(document, error, place));
    tell_place(document, place, err);
    return KERF_ESYNTAX;
}

int32_t json_document_parse(struct json_document *ret_document, const char *text, size_t length, const char *source,
                            struct json_object *ret_root, struct kerf_error *err) {
    json_error_t error;
    if (text && length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3, length -= 3; /* Windows' mark of UTF-8 */
    *ret_document = (struct json_document){.text = text ? text : "", .length = length, .source = source};
    /* numbers as reals: a key that kerf does not read may hold a number with any number of digits */
    ret_document->root = json_loadb(ret_document->text, length,
                                    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &error);
    *ret_root = (struct json_object){.document = ret_document, .json = ret_document->root};
    if (ret_document->root == NULL) return syntax_error(ret_document, &error, err);
    if (!json_is_object(ret_document->root))
        return json_fail(ret_root, NULL, KERF_EINVALID, err, "a JSON object {...} is expected here");
    return KERF_OK;
}

void json_document_free(struct json_document *document) {
    json_decref(document->root);
    document->root = NULL;
}

int32_t json_check_keys(const struct json_object *object, const char *const *names, size_t count,
                        struct kerf_error *err) {
    const char *key;
    json_t *value;
    json_object_foreach(object->json, key, value) {
        size_t i = 0;
        while (i < count && strcmp(key, names[i]) != 0) i++;
        if (i < count) continue;
        const char *nearest = nearest_name(key, names, count);
        if (nearest)
            json_fail(object, key, KERF_EUNKNOWN, err, "unknown key \"%.64s\"; did you mean \"%s\"?", key, nearest);
        else {
            struct kerf_text known = {0};
            for (i = 0; i < count; i++) kerf_text_printf(&known, "%s%s", i ? ", " : "", names[i]);
            json_fail(object, key, KERF_EUNKNOWN, err, "unknown key \"%.64s\"; the keys here are %s", key,
                      known.failed ? "others" : known.data);
            kerf_text_free(&known);
        }
        if (err) set_place(object, key, 1, err);
        return KERF_EUNKNOWN;
    }
    return KERF_OK;
}

/* ---- Getters ------------------------------------------------------------------------------------------ */

int json_has(const struct json_object *object, const char *key) {
    const json_t *value = json_object_get(object->json, key);
    return value != NULL && !json_is_null(value);
}

static int32_t missing(const struct json_object *object, const char *key, enum json_presence presence,
                       struct kerf_error *err) {
    if (presence == JSON_OPTIONAL) return KERF_OK;
    return json_fail(object, NULL, KERF_EINVALID, err, "\"%s\" is missing", key);
}

static const char *kind_of(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "text";
    case JSON_TRUE:
    case JSON_FALSE: return "true or false";
    case JSON_NULL: return "null";
    default: return "a number";
    }
}

int32_t json_get_integer(const struct json_object *object, const char *key, enum json_presence presence, int64_t least,
                         int64_t most, int64_t *ret_value, struct kerf_error *err) {
    const json_t *json = json_object_get(object->json, key);
    if (json == NULL) return missing(object, key, presence, err);
    double real = json_number_value(json);
    if (!json_is_number(json))
        return json_fail(object, key, KERF_EINVALID, err, "\"%s\" must be a whole number between %lld and %lld, not %s",
                         key, (long long)least, (long long)most, kind_of(json));
    if (real != floor(real))
        return json_fail(object, key, KERF_EINVALID, err, "\"%s\" must be a whole number, not %g", key, real);
    if (real < (double)least || real > (double)most)
        return json_fail(object, key, KERF_EINVALID, err, "\"%s\" must lie between %lld and %lld, not %.17g", key,
                         (long long)least, (long long)most, real);
    *ret_value = (int64_t)real; /* exact: no bound here is above 2^53 */
    return KERF_OK;
}

int32_t json_get_string(const struct json_object *object, const char *key, enum json_presence presence,
                        const char **ret_value, struct kerf_error *err) {
    const json_t *json = json_object_get(object->json, key);
    if (json == NULL) return missing(object, key, presence, err);
    if (!json_is_string(json))
        return json_fail(object, key, KERF_EINVALID, err, "\"%s\" must be text, not %s", key, kind_of(json));
    *ret_value = json_string_value(json);
    return KERF_OK;
}

int32_t json_get_boolean(const struct json_object *object, const char *key, enum json_presence presence,
                         int32_t *ret_value, struct kerf_error *err) {
    const json_t *json = json_object_get(object->json, key);
    if (json == NULL) return missing(object, key, presence, err);
    if (!json_is_boolean(json))
        return json_fail(object, key, KERF_EINVALID, err, "\"%s\" must be true or false, not %s", key, kind_of(json));
    *ret_value = json_is_true(json);
    return KERF_OK;
}

int32_t json_get_object(const struct json_object *object, const char *key, enum json_presence presence,
                        struct json_object *ret_value, struct kerf_error *err) {
    json_t *json = json_object_get(object->json, key);
    if (json == NULL) return missing(object, key, presence, err);
    if (!json_is_object(json))
        return json_fail(object, key, KERF_EINVALID, err, "\"%s\" must be an object {...}, not %s", key, kind_of(json));
    *ret_value = (struct json_object){.document = object->document, .parent = object, .key = key, .json = json};
    return KERF_OK;
}

int32_t json_get_element(const struct json_object *object, const char *key, size_t index, struct json_object *ret_value,
                         struct kerf_error *err) {
    json_t *json = json_array_get(json_object_get(object->json, key), index);
    struct json_object element = {
        .document = object->document, .parent = object, .key = key, .element = index + 1, .json = json};
    assert(json);
    if (!json_is_object(json))
        return json_fail(&element, NULL, KERF_EINVALID, err, "\"%s\"[%zu] must be an object {...}, not %s", key, index,
                         kind_of(json));
    *ret_value = element;
    return KERF_OK;
}
