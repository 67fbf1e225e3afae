/* SPDX-License-Identifier: Apache-2.0 */
/* What Zeus's routes are asked: a body or a query as the dictionary that a model is made of, and the models themselves
 * (zeus/optimizer/batch_size/common.py) as tables, with what kerf adds to them. */
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/characters.h"
#include "zeus/model_fields.h"
#include "zeus/python_values.h"

/* ---- Bodies ---------------------------------------------------------------------------------------------------- */

/*
 * What FastAPI does with a body before its fields count: without a Content-Type, with application/json and with
 * application/...+json it is read as JSON; others stay bytes, which are not a dictionary. dict() makes a dictionary
 * of a list when all of its items are pairs: [["job_id","x"]], but also ["ab"], which is {"a":"b"}.
 *
 * And what Starlette makes of a query: urllib.parse.parse_qsl on Latin-1; of a name that is there twice the last. What
 * a run of ASCII spells in %XX is UTF-8, with U+FFFD for what is not.
 */

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

/* *ret_object is a PYTHON_OBJECT, as long as the arena and the body live. */
static int32_t request_read_body(const struct request_body *body, struct arena *arena,
                                 const struct python_value **ret_object, struct request_refusal *refusal) {
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

/* ---- POST /jobs ------------------------------------------------------------------------------------------- */

static int compare_sizes(const void *a, const void *b) { return python_integer_compare(a, b); }

static void check_sizes(struct model_run *run, const struct field *field, const struct field_value *value) {
    for (size_t i = 0; i < value->count; i++) {
        if (python_integer_sign(&value->items[i]) > 0) continue;
        kerf_text_add(&run->message, "ensure this value is greater than 0");
        model_fail(run, field->name, (int64_t)i, "value_error.number.not_gt", "{\"limit_value\":0}");
    }
}

static void sort_sizes(struct model_run *run, const struct field *field, struct field_value *value) {
    int32_t errors = run->num_errors;
    if (value->count == 0) {
        kerf_text_add(&run->message, "Batch Sizes = [] is empty");
        model_fail(run, field->name, -1, "value_error", NULL);
        return;
    }
    int mended = run->flags & REQUEST_MENDED;
    if (mended) check_sizes(run, field, value);
    qsort(value->items, value->count, sizeof *value->items, compare_sizes);
    for (size_t i = 1; mended && run->num_errors == errors && i < value->count; i++) {
        if (python_integer_compare(&value->items[i - 1], &value->items[i]) != 0) continue;
        kerf_text_add(&run->message, "the list has duplicated items");
        model_fail(run, field->name, -1, "value_error.list.unique_items", NULL);
    }
}

static void check_eta(struct model_run *run, const struct field *field, struct field_value *value) {
    if (!(value->number < 0 || value->number > 1)) return; /* not a number passes */
    kerf_text_add(&run->message, "eta_knob should be in range [0,1]");
    model_fail(run, field->name, -1, "value_error", NULL);
}

static void check_beta(struct model_run *run, const struct field *field, struct field_value *value) {
    if (value->number > 0) return;
    kerf_text_add(&run->message, "Invalid beta_knob(");
    python_float_repr(value->number, &run->message);
    kerf_text_add(&run->message, "). To disable early stop, set beta_knob = None to disable or positive value.");
    model_fail(run, field->name, -1, "value_error", NULL);
}

static void check_gpu_model(struct model_run *run, const struct field *field, struct field_value *value) {
    if (value->text.length > 0) return;
    kerf_text_add(&run->message, "Invalid gpu_model(). Shouldn't be empty.");
    model_fail(run, field->name, -1, "value_error", NULL);
}

/* As pydantic has it for a Literal. */
static void check_policy(struct model_run *run, const struct field *field, struct field_value *value) {
    const struct kerf_job_policy *policy;
    struct kerf_text context = {0};
    kerf_text_add(&run->message, "unexpected value; permitted: ");
    kerf_text_add(&context, "{\"given\":");
    python_text_quote(&value->text, &context);
    kerf_text_add(&context, ",\"permitted\":[");
    for (size_t i = 0; (policy = kerf_job_policy_at(i)) != NULL; i++) {
        if (strlen(policy->name) == value->text.length &&
            memcmp(policy->name, value->text.bytes, value->text.length) == 0)
            break;
        kerf_text_printf(&run->message, "%s'%s'", i ? ", " : "", policy->name);
        kerf_text_printf(&context, "%s\"%s\"", i ? "," : "", policy->name);
    }
    kerf_text_add(&context, "]}");
    if (policy)
        kerf_text_clear(&run->message);
    else if (context.failed)
        run->failure = KERF_ENOMEM;
    else
        model_fail(run, field->name, -1, "value_error.const", context.data);
    kerf_text_free(&context);
}

/* Longer ones than a database can index. A job_id that the server chooses is the prefix and JOB_ID_SUFFIX bytes. */
static void check_length(struct model_run *run, const struct field *field, struct field_value *value) {
    enum { JOB_ID_SUFFIX = 9 }; /* "-1a2b3c4d" */
    int is_prefix = field->offset == offsetof(struct kerf_job_spec, job_id_prefix);
    int most = REQUEST_JOB_ID_MAX - (is_prefix ? JOB_ID_SUFFIX : 0);
    char context[32];
    if (!(run->flags & REQUEST_MENDED)) return;
    if (!is_prefix && value->text.length == 0) { /* no list and no route would have it */
        kerf_text_add(&run->message, "ensure this value has at least 1 characters");
        model_fail(run, field->name, -1, "value_error.any_str.min_length", "{\"limit_value\":1}");
        return;
    }
    if (value->text.length <= (size_t)most) return;
    snprintf(context, sizeof context, "{\"limit_value\":%d}", most);
    kerf_text_printf(&run->message, "ensure this value has at most %d bytes", most);
    model_fail(run, field->name, -1, "value_error.any_str.max_length", context);
}

enum job_fields { MAX_POWER, NUMBER_OF_GPUS, GPU_MODEL, JOB_ID, JOB_ID_PREFIX, BATCH_SIZES, DEFAULT_BATCH_SIZE };

#define JOB(field) offsetof(struct kerf_job_spec, field)

static const struct field job_fields[] = {
    [MAX_POWER] = {"max_power", FIELD_FLOAT, FIELD_REQUIRED | FIELD_ABOVE_0 | FIELD_MENDED_FINITE, NULL, JOB(max_power),
                   0},
    [NUMBER_OF_GPUS] = {"number_of_gpus", FIELD_INTEGER, FIELD_REQUIRED | FIELD_ABOVE_0, NULL, JOB(number_of_gpus), 0},
    [GPU_MODEL] = {"gpu_model", FIELD_STRING, FIELD_REQUIRED | FIELD_MENDED_STORED, check_gpu_model, JOB(gpu_model), 0},
    [JOB_ID] = {"job_id", FIELD_STRING, FIELD_NULLABLE | FIELD_MENDED_STORED, check_length, JOB(job_id), 0},
    [JOB_ID_PREFIX] = {"job_id_prefix", FIELD_STRING, FIELD_REQUIRED | FIELD_MENDED_STORED, check_length,
                       JOB(job_id_prefix), 0},
    [BATCH_SIZES] = {"batch_sizes", FIELD_INTEGERS, FIELD_REQUIRED, sort_sizes, JOB(batch_sizes), JOB(num_batch_sizes)},
    [DEFAULT_BATCH_SIZE] = {"default_batch_size", FIELD_INTEGER, FIELD_REQUIRED | FIELD_ABOVE_0, NULL,
                            JOB(default_batch_size), 0},
    {"eta_knob", FIELD_FLOAT, FIELD_MENDED_FINITE, check_eta, JOB(eta_knob), 0},
    {"beta_knob", FIELD_FLOAT, FIELD_NULLABLE | FIELD_MENDED_FINITE, check_beta, JOB(beta_knob), JOB(has_beta_knob)},
    {"target_metric", FIELD_FLOAT, FIELD_MENDED_FINITE, NULL, JOB(target_metric), 0},
    {"higher_is_better_metric", FIELD_BOOLEAN, 0, NULL, JOB(higher_is_better_metric), 0},
    {"max_epochs", FIELD_INTEGER, FIELD_ABOVE_0, NULL, JOB(max_epochs), 0},
    {"num_pruning_rounds", FIELD_INTEGER, FIELD_FROM_0, NULL, JOB(num_pruning_rounds), 0},
    {"window_size", FIELD_INTEGER, 0, NULL, JOB(window_size), 0},
    {"mab_prior_mean", FIELD_FLOAT, FIELD_MENDED_FINITE, NULL, JOB(mab_prior_mean), 0},
    {"mab_prior_precision", FIELD_FLOAT, FIELD_MENDED_FINITE | FIELD_MENDED_FROM_0, NULL, JOB(mab_prior_precision), 0},
    {"mab_num_explorations", FIELD_INTEGER, FIELD_FROM_0, NULL, JOB(mab_num_explorations), 0},
    {"mab_seed", FIELD_INTEGER, FIELD_NULLABLE | FIELD_MENDED_FROM_0, NULL, JOB(mab_seed), JOB(has_mab_seed)},
    {"policy", FIELD_STRING, FIELD_NULLABLE | FIELD_IS_MENDED, check_policy, JOB(policy), 0},
    {"lease_s", FIELD_FLOAT, FIELD_NULLABLE | FIELD_IS_MENDED | FIELD_MENDED_FINITE | FIELD_MENDED_ABOVE_0, NULL,
     JOB(lease_s), 0},
};

_Static_assert(sizeof job_fields / sizeof job_fields[0] <= MODEL_FIELDS_MAX, "the largest model");

static int has_default(const struct field_value *sizes, const struct python_integer *size) {
    for (size_t i = 0; i < sizes->count; i++)
        if (python_integer_compare(&sizes->items[i], size) == 0) return 1;
    return 0;
}

static void fail_default(struct model_run *run, const struct field_value *sizes, const struct python_integer *size) {
    kerf_text_add(&run->message, "Default BS(");
    python_integer_write(size, &run->message);
    kerf_text_add(&run->message, ") not in batch_sizes([");
    for (size_t i = 0; i < sizes->count; i++) {
        kerf_text_add(&run->message, i ? ", " : "");
        python_integer_write(&sizes->items[i], &run->message);
    }
    kerf_text_add(&run->message, "]).");
    model_fail(run, "__root__", -1, "value_error", NULL);
}

static void check_job(struct model_run *run, const struct field_value *values) {
    const struct field_value *id = &values[JOB_ID];
    const struct python_text *prefix = &values[JOB_ID_PREFIX].text;
    const struct python_integer *size = &values[DEFAULT_BATCH_SIZE].integer;
    if (!has_default(&values[BATCH_SIZES], size)) {
        fail_default(run, &values[BATCH_SIZES], size);
        return;
    }
    if (!id->is_set ||
        (id->text.length >= prefix->length && memcmp(id->text.bytes, prefix->bytes, prefix->length) == 0))
        return;
    kerf_text_add(&run->message, "Job_id(");
    kerf_text_write(&run->message, id->text.bytes, id->text.length);
    kerf_text_add(&run->message, ") does not start with prefix(");
    kerf_text_write(&run->message, prefix->bytes, prefix->length);
    kerf_text_add(&run->message, ").");
    model_fail(run, "__root__", -1, "value_error", NULL);
}

/* ---- POST /report, PATCH /trials -------------------------------------------------------------------------- */

#define REPORT(field) offsetof(struct request_report, field)
#define TRIAL(field)  offsetof(struct request_trial, field)

enum { SPENT = FIELD_REQUIRED | FIELD_MENDED_FINITE | FIELD_MENDED_FROM_0 };

static const struct field report_fields[] = {
    {"job_id", FIELD_STRING, FIELD_REQUIRED, NULL, REPORT(job_id), 0},
    {"batch_size", FIELD_INTEGER, FIELD_REQUIRED, NULL, REPORT(report.batch_size), 0},
    {"trial_number", FIELD_INTEGER, FIELD_REQUIRED, NULL, REPORT(report.trial_number), 0},
    {"time", FIELD_FLOAT, SPENT, NULL, REPORT(report.time_s), 0},
    {"energy", FIELD_FLOAT, SPENT, NULL, REPORT(report.energy_j), 0},
    {"metric", FIELD_FLOAT, FIELD_REQUIRED | FIELD_MENDED_FINITE, NULL, REPORT(report.metric), 0},
    {"current_epoch", FIELD_INTEGER, FIELD_REQUIRED | FIELD_NOT_STORED, NULL, REPORT(report.current_epoch), 0},
};

static const struct field trial_fields[] = {
    {"job_id", FIELD_STRING, FIELD_REQUIRED, NULL, TRIAL(job_id), 0},
    {"batch_size", FIELD_INTEGER, FIELD_REQUIRED, NULL, TRIAL(batch_size), 0},
    {"trial_number", FIELD_INTEGER, FIELD_REQUIRED, NULL, TRIAL(trial_number), 0},
};

/* ---- All three -------------------------------------------------------------------------------------------- */

#define MODEL(table, check)                                                                                            \
    { (table), sizeof(table) / sizeof((table)[0]), (check) }

static const struct model job_model = MODEL(job_fields, check_job);
static const struct model report_model = MODEL(report_fields, NULL);
static const struct model trial_model = MODEL(trial_fields, NULL);

static int32_t parse(const struct model *model, const struct request_body *body, int32_t flags, struct arena *arena,
                     void *structure, struct request_refusal *refusal) {
    const struct python_value *object = NULL;
    int32_t code = request_read_body(body, arena, &object, refusal);
    return code == KERF_OK ? model_fields_read(model, object, flags, arena, structure, refusal) : code;
}

int32_t request_parse_job(const struct request_body *body, int32_t flags, struct arena *arena,
                          struct kerf_job_spec *ret_spec, struct request_refusal *refusal) {
    struct kerf_job_spec spec;
    kerf_job_spec_defaults(&spec);
    int32_t code = parse(&job_model, body, flags, arena, &spec, refusal);
    if (code == KERF_OK) *ret_spec = spec;
    return code;
}

int32_t request_parse_report(const struct request_body *body, int32_t flags, struct arena *arena,
                             struct request_report *ret_report, struct request_refusal *refusal) {
    struct request_report report = {.job_id = NULL};
    int32_t code = parse(&report_model, body, flags, arena, &report, refusal);
    if (code == KERF_OK) *ret_report = report;
    return code;
}

int32_t request_parse_trial(const struct request_body *body, int32_t flags, struct arena *arena,
                            struct request_trial *ret_trial, struct request_refusal *refusal) {
    struct request_trial trial = {.job_id = NULL};
    int32_t code = parse(&trial_model, body, flags, arena, &trial, refusal);
    if (code == KERF_OK) *ret_trial = trial;
    return code;
}
