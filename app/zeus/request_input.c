/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What FastAPI does with a body before its fields count: no Content-Type, application/json and application/...+json are
 * read as JSON, others stay bytes, which are no dictionary. Of a list dict() makes a dictionary when all of its items
 * are pairs: [["job_id","x"]], but also ["ab"], which is {"a":"b"}.
 *
 * And what Starlette makes of a query: urllib.parse.parse_qsl on Latin-1; of a name that is there twice the last. What
 * a run of ASCII spells in %XX is UTF-8, with U+FFFD for what is not.
 */
#include "zeus/request_input.h"

#include <assert.h>
#include <string.h>
#include <strings.h>
#include "base/hex.h"

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

static int32_t dict_of_list(const struct python_value *list, struct arena *arena,
                            const struct python_value **ret_object, struct request_refusal *refusal) {
    struct python_value *object = arena_take(arena, 1, sizeof *object);
    struct pair *pairs = arena_take(arena, list->length, sizeof *pairs);
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

static int32_t dict_of(const struct python_value *value, struct arena *arena, const struct python_value **ret_object,
                       struct request_refusal *refusal) {
    static const struct python_value empty = {.kind = PYTHON_OBJECT};
    if (value->kind == PYTHON_LIST) return dict_of_list(value, arena, ret_object, refusal);
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

int32_t request_read_body(const struct request_body *body, struct arena *arena, const struct python_value **ret_object,
                          struct request_refusal *refusal) {
    const struct python_value *value;
    struct python_json_error error;
    if (body->length == 0) return refuse_with(refusal, 422, missing);
    if (!is_json(body->content_type)) return refuse_with(refusal, 422, no_dict);
    switch (python_json_read(body->bytes, body->length, arena, &value, &error)) {
    case KERF_OK: return dict_of(value, arena, ret_object, refusal);
    case KERF_ESYNTAX: return refuse_syntax(refusal, &error);
    case KERF_EINVALID: return refuse_with(refusal, 400, no_text);
    default: return refuse_no_memory(refusal);
    }
}

/* ---- job_id of a query --------------------------------------------------------------------------------------- */

static const char no_job_id[] =
    "{\"detail\":[{\"loc\":[\"query\",\"job_id\"],\"msg\":\"field required\",\"type\":\"value_error.missing\"}]}";

/* %XX and + of the ASCII from query to end; at most as many bytes. */
static size_t unescape(const char *query, const char *end, unsigned char *to) {
    unsigned char *start = to;
    for (const char *c = query; c < end; c++) {
        int high = *c == '%' && end - c > 2 ? hex_value(c[1]) : -1, low = high >= 0 ? hex_value(c[2]) : -1;
        *to++ = low >= 0 ? (unsigned char)(high << 4 | low) : *c == '+' ? ' ' : (unsigned char)*c;
        if (low >= 0) c += 2;
    }
    return (size_t)(to - start);
}

/* Bytes of the code point at c, or of what one U+FFFD stands for, which is then in *ret_bad. */
static size_t utf8_piece(const unsigned char *c, size_t left, int *ret_bad) {
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
    unsigned char least = c[0] == 0xE0 ? 0xA0 : c[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char most = c[0] == 0xED ? 0x9F : c[0] == 0xF4 ? 0x8F : 0xBF;
    size_t good = 1;
    for (; good < length && good < left && c[good] >= least && c[good] <= most; good++) least = 0x80, most = 0xBF;
    *ret_bad = good != length;
    return good;
}

static size_t decode(const unsigned char *bytes, size_t length, char *to) {
    char *start = to;
    for (size_t at = 0, size; at < length; at += size) {
        int bad;
        size = utf8_piece(bytes + at, length - at, &bad);
        if (bad) {
            to += python_text_put(to, 0xFFFD);
        } else {
            memcpy(to, bytes + at, size);
            to += size;
        }
    }
    return (size_t)(to - start);
}

static int is_ascii(char c) { return (unsigned char)c < 0x80; }

/* A byte takes three bytes at most, when it is replaced. */
static int32_t unquote(const char *query, const char *end, struct arena *arena, struct python_text *ret_text) {
    size_t length = (size_t)(end - query), used = 0;
    unsigned char *bytes = arena_take(arena, length + 1, 1);
    char *text = arena_take(arena, length + 1, 3);
    if (bytes == NULL || text == NULL) return KERF_ENOMEM;
    while (query < end) {
        const char *run = query;
        while (query < end && is_ascii(*query)) query++;
        used += decode(bytes, unescape(run, query, bytes), text + used);
        for (; query < end && !is_ascii(*query); query++) used += python_text_put(text + used, (unsigned char)*query);
    }
    assert(used <= 3 * length);
    *ret_text = (struct python_text){text, used};
    return KERF_OK;
}

static const char *find_byte(const char *at, const char *end, char c) {
    const char *found = at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

int32_t request_parse_query(const char *query, size_t length, struct arena *arena, const char **ret_job_id,
                            struct request_refusal *refusal) {
    const char *end = query ? query + length : NULL, *next;
    struct python_text name, value;
    int found = 0;
    for (const char *at = query; at < end; at = next + 1) {
        next = find_byte(at, end, '&');
        const char *equals = find_byte(at, next, '=');
        if (at == next) continue;
        if (unquote(at, equals, arena, &name) != KERF_OK) return refuse_no_memory(refusal);
        if (name.length != 6 || memcmp(name.bytes, "job_id", 6) != 0) continue;
        if (unquote(equals < next ? equals + 1 : next, next, arena, &value) != KERF_OK)
            return refuse_no_memory(refusal);
        found = 1;
    }
    if (!found) return refuse_with(refusal, 422, no_job_id);
    const char *job_id = python_text_string(&value, arena);
    if (job_id == NULL) return refuse_no_memory(refusal);
    *ret_job_id = job_id;
    return KERF_OK;
}
