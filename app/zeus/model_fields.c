/* SPDX-License-Identifier: Apache-2.0 */
/* pydantic 1.10's fields.py and main.py for the kinds of field that Zeus's models have. */
#include "zeus/model_fields.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define ABOVE_0        "ensure this value is greater than 0"
#define FROM_0         "ensure this value is greater than or equal to 0"
#define NOT_FINITE     "ensure this value is a finite number"
#define LIMIT_0        "{\"limit_value\":0}"
#define INT64_MIN_TEXT "-9223372036854775808"
#define INT64_MAX_TEXT "9223372036854775807"
#define TOO_LARGE      "Python int too large to convert to SQLite INTEGER"
#define LIMIT(value)   "{\"limit_value\":" value "}"

/* ---- Errors ----------------------------------------------------------------------------------------------- */

void model_fail(struct model_run *run, const char *field, int64_t index, const char *type, const char *context) {
    struct kerf_text *out = run->errors;
    struct python_text message = {run->message.data, run->message.length};
    if (run->message.failed) {
        run->failure = KERF_ENOMEM;
        return;
    }
    kerf_text_add(out, run->num_errors++ ? ",{\"loc\":[\"body\"" : "{\"detail\":[{\"loc\":[\"body\"");
    if (field) kerf_text_printf(out, ",\"%s\"", field);
    if (index >= 0) kerf_text_printf(out, ",%lld", (long long)index);
    kerf_text_add(out, "],\"msg\":");
    python_text_quote(&message, out);
    kerf_text_printf(out, ",\"type\":\"%s\"", type);
    if (context) {
        kerf_text_add(out, ",\"ctx\":");
        kerf_text_add(out, context);
    }
    kerf_text_add(out, "}");
    /* Zeus's server cannot encode such an answer */
    if (python_text_has_surrogate(&message) && !(run->flags & REQUEST_MENDED)) run->failure = KERF_EINVALID;
    kerf_text_clear(&run->message);
}

static void fail(struct model_run *run, const struct field *field, int64_t index, const char *message, const char *type,
                 const char *context) {
    kerf_text_add(&run->message, message);
    model_fail(run, field->name, index, type, context);
}

static void fail_null(struct model_run *run, const struct field *field, int64_t index) {
    fail(run, field, index, "none is not an allowed value", "type_error.none.not_allowed", NULL);
}

/* ---- One value -------------------------------------------------------------------------------------------- */

static void fail_kind(struct model_run *run, const struct field *field, int64_t index) {
    static const struct {
        const char *message, *type;
    } kinds[] = {[FIELD_INTEGER] = {"value is not a valid integer", "type_error.integer"},
                 [FIELD_FLOAT] = {"value is not a valid float", "type_error.float"},
                 [FIELD_STRING] = {"str type expected", "type_error.str"},
                 [FIELD_BOOLEAN] = {"value could not be parsed to a boolean", "type_error.bool"},
                 [FIELD_INTEGERS] = {"value is not a valid list", "type_error.list"}};
    int32_t kind = field->kind == FIELD_INTEGERS && index >= 0 ? FIELD_INTEGER : field->kind;
    fail(run, field, index, kinds[kind].message, kinds[kind].type, NULL);
}

/* Zeus's server lets an integer pass that is too large for a float or a database, and then ends in a 500. */
static int settle(struct model_run *run, const struct field *field, int64_t index, enum python_outcome outcome) {
    switch (outcome) {
    case PYTHON_DONE: return 1;
    case PYTHON_NO_VALUE: fail_kind(run, field, index); return 0;
    case PYTHON_NO_MEMORY: run->failure = KERF_ENOMEM; return 0;
    case PYTHON_OVERFLOW: break;
    }
    if (run->flags & REQUEST_MENDED)
        fail(run, field, index, NOT_FINITE, "value_error.number.not_finite_number", NULL);
    else
        run->failure = KERF_EINVALID;
    return 0;
}

static int fits(struct model_run *run, const struct field *field, int64_t index, const struct python_integer *integer) {
    if (integer->digits == NULL || !(run->flags & REQUEST_MENDED)) return 1;
    if (integer->digits[0] == '-')
        fail(run, field, index, "ensure this value is greater than or equal to " INT64_MIN_TEXT,
             "value_error.number.not_ge", LIMIT(INT64_MIN_TEXT));
    else
        fail(run, field, index, "ensure this value is less than or equal to " INT64_MAX_TEXT,
             "value_error.number.not_le", LIMIT(INT64_MAX_TEXT));
    return 0;
}

static int coerce_item(struct model_run *run, const struct field *field, int64_t index, const struct python_value *item,
                       struct python_integer *ret_integer) {
    if (item->kind == PYTHON_NULL) {
        fail_null(run, field, index);
        return 0;
    }
    return settle(run, field, index, python_integer_of(item, run->arena, ret_integer)) &&
           fits(run, field, index, ret_integer);
}

static int coerce_list(struct model_run *run, const struct field *field, const struct python_value *value,
                       struct field_value *ret) {
    if (value->kind != PYTHON_LIST) {
        fail_kind(run, field, -1);
        return 0;
    }
    int good = 1;
    ret->items = arena_take(run->arena, value->length, sizeof *ret->items);
    ret->count = 0;
    if (ret->items == NULL) {
        run->failure = KERF_ENOMEM;
        return 0;
    }
    for (const struct python_value *item = value->first; item; item = item->next, ret->count++)
        good &= coerce_item(run, field, (int64_t)ret->count, item, &ret->items[ret->count]);
    return good;
}

static int coerce(struct model_run *run, const struct field *field, const struct python_value *value,
                  struct field_value *ret) {
    switch (field->kind) {
    case FIELD_INTEGER:
        return settle(run, field, -1, python_integer_of(value, run->arena, &ret->integer)) &&
               fits(run, field, -1, &ret->integer);
    case FIELD_FLOAT: return settle(run, field, -1, python_float_of(value, run->arena, &ret->number));
    case FIELD_STRING: return settle(run, field, -1, python_string_of(value, run->arena, &ret->text));
    case FIELD_BOOLEAN: return settle(run, field, -1, python_boolean_of(value, &ret->boolean));
    default: return coerce_list(run, field, value, ret);
    }
}

/* ---- Bounds ----------------------------------------------------------------------------------------------- */

static double number_of(const struct field *field, const struct field_value *value) {
    return field->kind == FIELD_INTEGER ? python_integer_sign(&value->integer) : value->number;
}

static int is_in(struct model_run *run, const struct field *field, const struct field_value *value, int above,
                 int from) {
    if (above && !(number_of(field, value) > 0)) {
        fail(run, field, -1, ABOVE_0, "value_error.number.not_gt", LIMIT_0);
        return 0;
    }
    if (from && !(number_of(field, value) >= 0)) {
        fail(run, field, -1, FROM_0, "value_error.number.not_ge", LIMIT_0);
        return 0;
    }
    return 1;
}

/* What Zeus's server takes and kerf does not. */
static void check_mended(struct model_run *run, const struct field *field, const struct field_value *value) {
    if ((field->rules & FIELD_MENDED_STORED) &&
        (python_text_has_nul(&value->text) || python_text_has_surrogate(&value->text)))
        fail(run, field, -1, "ensure this value has neither NUL nor lone surrogates", "value_error", NULL);
    else if ((field->rules & FIELD_MENDED_FINITE) && !isfinite(value->number))
        fail(run, field, -1, NOT_FINITE, "value_error.number.not_finite_number", NULL);
    else
        is_in(run, field, value, field->rules & FIELD_MENDED_ABOVE_0, field->rules & FIELD_MENDED_FROM_0);
}

static void read_field(struct model_run *run, const struct field *field, const struct python_value *value,
                       struct field_value *ret) {
    if (value == NULL) {
        if (field->rules & FIELD_REQUIRED) fail(run, field, -1, "field required", "value_error.missing", NULL);
        return;
    }
    if (value->kind == PYTHON_NULL) {
        if (!(field->rules & FIELD_NULLABLE)) fail_null(run, field, -1);
        return;
    }
    int32_t errors = run->num_errors;
    if (!coerce(run, field, value, ret)) return;
    if (!is_in(run, field, ret, field->rules & FIELD_ABOVE_0, field->rules & FIELD_FROM_0)) return;
    if (field->validate) field->validate(run, field, ret);
    if (run->num_errors == errors && (run->flags & REQUEST_MENDED)) check_mended(run, field, ret);
    ret->is_set = run->num_errors == errors;
}

/* ---- Keeping what was read -------------------------------------------------------------------------------- */

static int64_t nearest(const struct python_integer *integer) {
    return integer->digits == NULL ? integer->value : integer->digits[0] == '-' ? INT64_MIN : INT64_MAX;
}

static int32_t keep_list(struct arena *arena, const struct field *field, const struct field_value *value, char *at) {
    int64_t *items = arena_take(arena, value->count, sizeof *items);
    if (items == NULL) return KERF_ENOMEM;
    for (size_t i = 0; i < value->count; i++) items[i] = nearest(&value->items[i]);
    int32_t count = (int32_t)value->count;
    memcpy(at + field->offset, &items, sizeof items);
    memcpy(at + field->has_offset, &count, sizeof count);
    return KERF_OK;
}

static int32_t keep(struct arena *arena, const struct field *field, const struct field_value *value, char *at) {
    const char *string;
    int64_t integer;
    switch (field->kind) {
    case FIELD_INTEGER:
        integer = nearest(&value->integer);
        memcpy(at + field->offset, &integer, sizeof integer);
        break;
    case FIELD_FLOAT: memcpy(at + field->offset, &value->number, sizeof(double)); break;
    case FIELD_BOOLEAN: memcpy(at + field->offset, &value->boolean, sizeof(int32_t)); break;
    case FIELD_STRING:
        string = python_text_string(&value->text, arena);
        if (string == NULL) return KERF_ENOMEM;
        memcpy(at + field->offset, &string, sizeof string);
        break;
    default: return keep_list(arena, field, value, at);
    }
    return KERF_OK;
}

/* Whether a nullable field is there: its default may be that it is, null takes it away. */
static void keep_has(const struct field *field, const struct python_value *sent, char *at) {
    int32_t has = sent && sent->kind != PYTHON_NULL;
    if (field->kind != FIELD_INTEGERS && field->has_offset && sent) memcpy(at + field->has_offset, &has, sizeof has);
}

static int is_too_large(const struct field *field, const struct field_value *value) {
    if (field->kind == FIELD_INTEGER) return value->integer.digits != NULL && !(field->rules & FIELD_NOT_STORED);
    for (size_t i = 0; field->kind == FIELD_INTEGERS && i < value->count; i++)
        if (value->items[i].digits) return 1;
    return 0;
}

/* The error that Zeus's database has for integers and texts that pass pydantic; NULL: none. Jobs and trials are first
 * looked up by job_id, so that an error about it comes at once. */
static int32_t find_unstorable(const struct model *model, const struct field_value *values, struct arena *arena,
                               struct request_refusal *refusal) {
    for (size_t i = 0; i < model->count && refusal->late == NULL; i++) {
        const struct field *field = &model->fields[i];
        const struct field_value *value = &values[i];
        if (!value->is_set) continue;
        if (is_too_large(field, value)) refusal->late = TOO_LARGE;
        if (field->kind != FIELD_STRING || !python_text_has_surrogate(&value->text)) continue;
        struct kerf_text message = {0};
        python_text_encode_error(&value->text, &message);
        refusal->late = message.failed ? NULL : arena_copy(arena, message.data, message.length);
        kerf_text_free(&message);
        if (refusal->late == NULL) return refuse_no_memory(refusal);
        if (strcmp(field->name, "job_id") == 0) return refuse_message(refusal, refusal->late);
    }
    return KERF_OK;
}

/* ---- The whole -------------------------------------------------------------------------------------------- */

/* Which values the fields have; of a key that is there twice the last counts. */
static void find_values(const struct model *model, const struct python_value *object, int32_t flags,
                        const struct python_value **ret_found) {
    for (const struct python_value *key = object->first; key; key = key->next->next)
        for (size_t i = 0; i < model->count; i++) {
            const struct field *field = &model->fields[i];
            if ((field->rules & FIELD_IS_MENDED) && !(flags & REQUEST_MENDED)) continue;
            if (strlen(field->name) == key->length && memcmp(field->name, key->bytes, key->length) == 0)
                ret_found[i] = key->next;
        }
}

static int32_t end_run(struct model_run *run, struct request_refusal *refusal) {
    kerf_text_free(&run->message);
    if (run->failure == KERF_ENOMEM || run->errors->failed) return refuse_no_memory(refusal);
    if (run->failure) return refuse_internal_error(refusal);
    if (run->num_errors == 0) return KERF_OK;
    kerf_text_add(run->errors, "]}");
    if (run->errors->failed) return refuse_no_memory(refusal);
    refusal->status = 422;
    refusal->plain = 0;
    return KERF_EINVALID;
}

int32_t model_fields_read(const struct model *model, const struct python_value *value, int32_t flags,
                          struct arena *arena, void *structure, struct request_refusal *refusal) {
    const struct python_value *found[MODEL_FIELDS_MAX] = {NULL};
    struct field_value values[MODEL_FIELDS_MAX];
    struct model_run run = {.arena = arena, .flags = flags, .errors = &refusal->document};
    assert(model->count <= MODEL_FIELDS_MAX);
    memset(values, 0, sizeof values);
    kerf_text_clear(&refusal->document);
    refusal->late = NULL;
    find_values(model, value, flags, found);
    for (size_t i = 0; i < model->count && run.failure == KERF_OK; i++)
        read_field(&run, &model->fields[i], found[i], &values[i]);
    if (model->validate && run.num_errors == 0 && run.failure == KERF_OK) model->validate(&run, values);
    int32_t code = end_run(&run, refusal);
    if (code == KERF_OK && !(flags & REQUEST_MENDED)) code = find_unstorable(model, values, arena, refusal);
    for (size_t i = 0; i < model->count && code == KERF_OK; i++) {
        keep_has(&model->fields[i], found[i], structure);
        if (values[i].is_set && keep(arena, &model->fields[i], &values[i], structure) != KERF_OK)
            code = refuse_no_memory(refusal);
    }
    return code;
}
