/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What FastAPI does with a body before its fields count: no Content-Type, application/json and application/...+json are
 * read as JSON, others stay bytes, which are no dictionary. Of a list dict() makes a dictionary when all of its items
 * are pairs: [["job_id","x"]], but also ["ab"], which is {"a":"b"}.
 */
#include "zeus/request_body.h"

#include <string.h>
#include <strings.h>

#define BODY_ERROR(message, type) "{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"" message "\",\"type\":\"" type "\"}]}"

static const char missing[] = BODY_ERROR("field required", "value_error.missing");
static const char no_dict[] = BODY_ERROR("value is not a valid dict", "type_error.dict");
static const char no_keywords[] = BODY_ERROR("keywords must be strings", "type_error");
static const char no_text[] = "{\"detail\":\"There was an error parsing the body\"}";

/* ---- Content-Type ----------------------------------------------------------------------------------------- */

/* As str.strip takes them away, of Latin-1. */
static int is_space(char at) {
    unsigned char c = (unsigned char)at;
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F) || c == 0x85 || c == 0xA0;
}

static int ends_in(const char *bytes, size_t length, const char *end) {
    size_t size = strlen(end);
    return length >= size && strncasecmp(bytes + length - size, end, size) == 0;
}

static int is_json(const char *type) {
    static const char application[] = "application/";
    if (type == NULL || type[0] == 0) return 1;
    size_t length = strcspn(type, ";");
    for (; length > 0 && is_space(type[0]); length--) type++;
    while (length > 0 && is_space(type[length - 1])) length--;
    size_t prefix = sizeof application - 1;
    if (length < prefix || strncasecmp(type, application, prefix) != 0) return 0;
    type += prefix;
    length -= prefix;
    if (memchr(type, '/', length)) return 0;
    return (length == 4 && ends_in(type, length, "json")) || ends_in(type, length, "+json");
}

/* ---- dict() ----------------------------------------------------------------------------------------------- */

struct pair {
    struct python_value key, value;
};

static struct python_value piece(const char *bytes, size_t length) {
    return (struct python_value){.bytes = bytes, .length = (uint32_t)length, .kind = PYTHON_STRING};
}

static int same_string(const struct python_value *a, const struct python_value *b) {
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* The two characters of a string. */
static int pair_of_string(const struct python_value *item, struct pair *ret_pair) {
    if (python_text_count(item->bytes, item->length) != 2) return 0;
    size_t first;
    python_text_code(item->bytes, &first);
    *ret_pair = (struct pair){piece(item->bytes, first), piece(item->bytes + first, item->length - first)};
    return 1;
}

/* The two keys of an object. */
static int pair_of_object(const struct python_value *item, struct pair *ret_pair) {
    const struct python_value *one = item->first, *two = NULL;
    for (const struct python_value *key = one; key; key = key->next->next) {
        if (same_string(key, one) || (two && same_string(key, two))) continue;
        if (two) return 0;
        two = key;
    }
    if (two == NULL) return 0;
    *ret_pair = (struct pair){*one, *two};
    return 1;
}

static int pair_of(const struct python_value *item, struct pair *ret_pair) {
    switch (item->kind) {
    case PYTHON_STRING: return pair_of_string(item, ret_pair);
    case PYTHON_OBJECT: return pair_of_object(item, ret_pair);
    case PYTHON_LIST:
        if (item->length != 2) return 0;
        *ret_pair = (struct pair){*item->first, *item->first->next};
        return ret_pair->key.kind != PYTHON_LIST && ret_pair->key.kind != PYTHON_OBJECT; /* these have no hash */
    default: return 0;
    }
}

static int32_t dict_of_list(const struct python_value *list, struct pool *pool, const struct python_value **ret_object,
                            struct request_refusal *refusal) {
    struct python_value *object = pool_take(pool, 1, sizeof *object);
    struct pair *pairs = pool_take(pool, list->length, sizeof *pairs);
    if (object == NULL || pairs == NULL) return refuse_no_memory(refusal);
    const struct python_value **last = &object->first;
    int strings = 1;
    *object = (struct python_value){.kind = PYTHON_OBJECT, .length = list->length};
    for (const struct python_value *item = list->first; item; item = item->next, pairs++) {
        if (!pair_of(item, pairs)) return refuse_with(refusal, 422, no_dict);
        strings &= pairs->key.kind == PYTHON_STRING;
        *last = &pairs->key;
        pairs->key.next = &pairs->value;
        pairs->value.next = NULL;
        last = &pairs->value.next;
    }
    *ret_object = object;
    return strings ? KERF_OK : refuse_with(refusal, 422, no_keywords);
}

static int32_t dict_of(const struct python_value *value, struct pool *pool, const struct python_value **ret_object,
                       struct request_refusal *refusal) {
    static const struct python_value empty = {.kind = PYTHON_OBJECT};
    if (value->kind == PYTHON_LIST) return dict_of_list(value, pool, ret_object, refusal);
    int is_empty_string = value->kind == PYTHON_STRING && value->length == 0;
    if (value->kind == PYTHON_NULL) return refuse_with(refusal, 422, missing);
    if (value->kind != PYTHON_OBJECT && !is_empty_string) return refuse_with(refusal, 422, no_dict);
    *ret_object = is_empty_string ? &empty : value;
    return KERF_OK;
}

/* ---- The body --------------------------------------------------------------------------------------------- */

static int32_t refuse_syntax(struct request_refusal *refusal, const struct python_json_error *error) {
    refuse_with(refusal, 422, "");
    kerf_text_printf(&refusal->document,
                     "{\"detail\":[{\"type\":\"json_invalid\",\"loc\":[\"body\",%zu],\"msg\":\"JSON decode error\","
                     "\"input\":{},\"ctx\":{\"error\":",
                     error->position);
    python_string_quote(error->message, &refusal->document);
    kerf_text_add(&refusal->document, "}}]}");
    return refusal->document.failed ? refuse_no_memory(refusal) : KERF_EINVALID;
}

int32_t request_read_body(const struct request_body *body, struct pool *pool, const struct python_value **ret_object,
                          struct request_refusal *refusal) {
    const struct python_value *value;
    struct python_json_error error;
    if (body->length == 0) return refuse_with(refusal, 422, missing);
    if (!is_json(body->content_type)) return refuse_with(refusal, 422, no_dict);
    switch (python_json_read(body->bytes, body->length, pool, &value, &error)) {
    case KERF_OK: return dict_of(value, pool, ret_object, refusal);
    case KERF_ESYNTAX: return refuse_syntax(refusal, &error);
    case KERF_EINVALID: return refuse_with(refusal, 400, no_text);
    default: return refuse_no_memory(refusal);
    }
}
