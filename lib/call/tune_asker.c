/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study of kerf/tune.h for programs in other languages: the question, what to measure, and what was measured are JSON.
 * Whoever asks runs the program, so that there is no clock here: observations lie one unit of time apart.
 */
#include "kerf/call.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/output_limit.h"
#include "base/arena.h"
#include "base/error_fill.h"
#include "base/json_read.h"
#include "kerf/tune.h"
#include "tune/param.h"
#include "tune/tune_policy.h"

enum { PARAMS_MAX = 32 /* of a space */, VALUES_MAX = 4096, PENDING_MAX = 64 };

/* Numbers of JSON are read as doubles: beyond, one whole number could come back as another. */
static const int64_t WHOLE_MAX = ((int64_t)1 << 53) - 1;

/* The values of a parameter as they were given, in the order of the space; none where a range was given. */
struct given {
    const json_t **of; /* [count] */
    size_t count;
};

struct kerf_asker {
    struct arena arena;
    struct json_document document; /* of the request, whose values the answers repeat */
    char *request;
    struct kerf_tune_space *space;
    struct kerf_tune_study *study;
    struct given *given; /* [num_params] */
    struct output_limit limits[OUTPUT_LIMITS_MAX];
    int32_t num_limits, told;
    char second[OUTPUT_NAME_SIZE]; /* the output that is the second objective; "": there is one */
    char *is_asked; /* [capacity of the space]: asked for and not told since; it counts as being measured */
    char *is_told;  /* likewise */
};

/* ---- The question ----------------------------------------------------------------------------------------- */

/* Texts that a command line would read as this one value; others get names of their own. */
static int is_safe(const char *text) {
    if (strstr(text, "..") || text[0] == 0 || strchr("0123456789.+-", text[0])) return 0;
    return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-/")] == 0;
}

static int by_number(const void *a, const void *b) {
    double x = json_number_value(*(const json_t *const *)a), y = json_number_value(*(const json_t *const *)b);
    return (x > y) - (x < y);
}

static void add_value(struct kerf_text *out, const json_t *value, size_t index, int is_plain) {
    struct kerf_json json;
    kerf_json_begin(&json, out);
    if (index > 0) kerf_text_add(out, ",");
    if (!is_plain)
        kerf_text_printf(out, "v%zu", index);
    else if (json_is_number(value))
        kerf_json_number(&json, NULL, json_number_value(value));
    else
        kerf_text_add(out, json_is_string(value) ? json_string_value(value) : json_is_true(value) ? "true" : "false");
}

static int32_t beyond_whole(const struct json_object *params, const char *name, struct kerf_error *err) {
    return json_fail(params, name, KERF_EINVALID, err,
                     "numbers of \"%s\" must lie between %lld and %lld; give others as texts", name,
                     (long long)-WHOLE_MAX, (long long)WHOLE_MAX);
}

/* "batch=128,256": a list of numbers is sorted, because near ones are alike. */
static int32_t read_values(struct kerf_asker *asker, const struct json_object *params, const char *name,
                           const json_t *values, struct given *given, struct kerf_text *out, struct kerf_error *err) {
    int are_numbers = 1, is_plain = 1;
    const json_t *value;
    size_t i;
    if (json_is_string(values)) {
        kerf_text_printf(out, "%s=%s", name, json_string_value(values));
        return KERF_OK;
    }
    if (!json_is_array(values) || json_array_size(values) == 0 || json_array_size(values) > VALUES_MAX)
        return json_fail(params, name, KERF_EINVALID, err,
                         "\"%s\" must be an array of 1 to %d values, or a range such as \"16..2048:x2\"", name,
                         VALUES_MAX);
    given->count = json_array_size(values);
    given->of = arena_take(&asker->arena, given->count, sizeof *given->of);
    if (given->of == NULL) return error_no_memory(err, "the question");
    json_array_foreach(values, i, value) {
        if (!json_is_number(value) && !json_is_string(value) && !json_is_boolean(value))
            return json_fail(params, name, KERF_EINVALID, err, "values of \"%s\" must be numbers, texts, true or false",
                             name);
        if (fabs(json_number_value(value)) > (double)WHOLE_MAX) return beyond_whole(params, name, err);
        given->of[i] = value;
        are_numbers &= json_is_number(value);
        is_plain &= !json_is_string(value) || is_safe(json_string_value(value));
        for (size_t k = 0; k < i; k++)
            if (json_equal(given->of[k], value))
                return json_fail(params, name, KERF_EINVALID, err, "a value of \"%s\" is there twice", name);
    }
    if (are_numbers) qsort(given->of, given->count, sizeof *given->of, by_number);
    kerf_text_printf(out, "%s=", name);
    for (i = 0; i < given->count; i++) add_value(out, given->of[i], i, is_plain);
    return KERF_OK;
}

static int32_t read_default(const struct kerf_asker *asker, const struct json_object *root, struct kerf_error *err);

/* "when":{"draft":"spec"}: the conditions under which parameters have an effect. *ret_when NULL: there is none. */
static int32_t read_when(const struct json_object *root, const struct json_object *params, const json_t **ret_when,
                         struct kerf_error *err) {
    const json_t *when = json_object_get(root->json, "when"), *condition;
    const char *name;
    *ret_when = NULL;
    if (when == NULL || json_is_null(when)) return KERF_OK;
    if (!json_is_object(when))
        return json_fail(root, "when", KERF_EINVALID, err, "\"when\" must name parameters, each with a condition");
    json_object_foreach((json_t *)(void *)when, name, condition) {
        if (!json_has(params, name))
            return json_fail(root, "when", KERF_EUNKNOWN, err, "\"when\" names \"%.64s\", which is no parameter", name);
        if (!json_is_string(condition))
            return json_fail(root, "when", KERF_EINVALID, err, "the condition of \"%.64s\" must be a text", name);
    }
    *ret_when = when;
    return KERF_OK;
}

static int32_t make_space(struct kerf_asker *asker, const struct json_object *root, struct kerf_error *err) {
    struct json_object params;
    int32_t code = json_get_object(root, "params", JSON_REQUIRED, &params, err);
    if (code != KERF_OK) return code;
    size_t count = json_object_size(params.json), at = 0, num_wheres = 0;
    const json_t *where = json_object_get(root->json, "where"), *values;
    if (json_is_array(where)) num_wheres = json_array_size(where);
    if (where && !json_is_null(where) && !json_is_array(where))
        return json_fail(root, "where", KERF_EINVALID, err, "\"where\" must be an array of constraints, as texts");
    const char **texts = arena_alloc(&asker->arena, count + 1, sizeof *texts);
    const char **wheres = arena_alloc(&asker->arena, num_wheres + 1, sizeof *wheres);
    asker->given = arena_alloc(&asker->arena, count + 1, sizeof *asker->given);
    if (!texts || !wheres || !asker->given) return error_no_memory(err, "the question");
    for (size_t i = 0; i < num_wheres; i++) {
        wheres[i] = json_string_value(json_array_get(where, i));
        if (wheres[i] == NULL) return json_fail(root, "where", KERF_EINVALID, err, "constraints are texts");
    }
    const json_t *when = NULL;
    if (code == KERF_OK) code = read_when(root, &params, &when, err);
    if (code != KERF_OK) return code;
    const char *name;
    json_object_foreach(params.json, name, values) {
        struct kerf_text text = {0};
        code = read_values(asker, &params, name, values, &asker->given[at], &text, err);
        const char *condition = when ? json_string_value(json_object_get(when, name)) : NULL;
        if (condition) kerf_text_printf(&text, " when %s", condition);
        if (code == KERF_OK && (text.failed || !(texts[at] = arena_copy(&asker->arena, text.data, text.length))))
            code = error_no_memory(err, "the question");
        kerf_text_free(&text);
        if (code != KERF_OK) return code;
        at++;
    }
    code = kerf_tune_space_create(texts, (int32_t)count, wheres, (int32_t)num_wheres, NULL, &asker->space, err);
    if (code != KERF_OK) return code;
    for (size_t i = 0; i < count; i++) {
        const struct kerf_tune_param *param = &asker->space->params[i];
        assert(asker->given[i].count == 0 || asker->given[i].count == (size_t)param->num_values);
        if (param->kind == KERF_TUNE_INTEGER && /* ascending */
            (param->integers[0] < -WHOLE_MAX || param->integers[param->num_values - 1] > WHOLE_MAX))
            return beyond_whole(&params, param->name, err);
    }
    return read_default(asker, root, err);
}

static int32_t read_limits(struct kerf_asker *asker, const struct json_object *root, struct kerf_error *err) {
    const json_t *limits = json_object_get(root->json, "subject_to"), *limit;
    size_t i;
    struct kerf_error why;
    if (limits == NULL || json_is_null(limits)) return KERF_OK;
    if (!json_is_array(limits) || json_array_size(limits) > OUTPUT_LIMITS_MAX)
        return json_fail(root, "subject_to", KERF_EINVALID, err,
                         "\"subject_to\" must be an array of at most %d limits, such as \"p99_ms <= 50\"",
                         OUTPUT_LIMITS_MAX);
    json_array_foreach(limits, i, limit) {
        if (!json_is_string(limit))
            return json_fail(root, "subject_to", KERF_EINVALID, err, "limits are texts, such as \"p99_ms <= 50\"");
        if (output_limit_read(json_string_value(limit), &asker->limits[i], &why) != KERF_OK)
            return json_fail(root, "subject_to", KERF_EINVALID, err, "%s", why.message);
        asker->num_limits++;
    }
    return KERF_OK;
}

/* "p99_ms", or "more tokens_per_s". */
static int32_t read_pareto(struct kerf_asker *asker, const struct json_object *root, int32_t *ret_maximize,
                           struct kerf_error *err) {
    const char *text = NULL;
    int32_t code = json_get_string(root, "pareto", JSON_OPTIONAL, &text, err);
    if (code != KERF_OK || text == NULL) return code;
    struct kerf_error why;
    if (output_objective_read(text, asker->second, ret_maximize, &why) == KERF_OK) return KERF_OK;
    return json_fail(root, "pareto", KERF_EINVALID, err, "\"pareto\": %s", why.message);
}

static int32_t read_question(struct kerf_asker *asker, const struct json_object *root, struct kerf_error *err) {
    static const char *const names[] = {"params",   "where",      "default",    "policy", "prefer",
                                        "within",   "margin",     "maximize",   "time",   "seed",
                                        "max_runs", "confidence", "subject_to", "when",   "pareto"};
    struct kerf_tune_question question;
    kerf_tune_question_defaults(&question);
    int64_t runs = 0;
    int32_t maximize_second = 0;
    int32_t code = json_check_keys(root, names, sizeof names / sizeof *names, err);
    const struct {
        const char *name;
        double *value;
    } shares[] = {{"within", &question.within}, {"margin", &question.margin}, {"confidence", &question.confidence}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares && code == KERF_OK; i++) {
        const json_t *share = json_object_get(root->json, shares[i].name);
        if (share == NULL || json_is_null(share)) continue;
        if (json_is_number(share))
            *shares[i].value = json_number_value(share);
        else
            code = json_fail(root, shares[i].name, KERF_EINVALID, err, "\"%s\" must be a number", shares[i].name);
    }
    if (code == KERF_OK) code = json_get_string(root, "policy", JSON_OPTIONAL, &question.policy, err);
    if (code == KERF_OK) code = json_get_string(root, "prefer", JSON_OPTIONAL, &question.prefer, err);
    if (code == KERF_OK) code = json_get_boolean(root, "maximize", JSON_OPTIONAL, &question.maximize, err);
    if (code == KERF_OK) code = json_get_boolean(root, "time", JSON_OPTIONAL, &question.is_time, err);
    if (code == KERF_OK) code = json_get_integer(root, "seed", JSON_OPTIONAL, 0, WHOLE_MAX, &question.seed, err);
    if (code == KERF_OK) code = json_get_integer(root, "max_runs", JSON_OPTIONAL, 1, INT32_MAX, &runs, err);
    question.max_observations = (int32_t)runs;
    if (code == KERF_OK) code = read_limits(asker, root, err);
    if (code == KERF_OK) code = read_pareto(asker, root, &maximize_second, err);
    if (code == KERF_OK) code = make_space(asker, root, err);
    question.space = asker->space;
    if (code != KERF_OK) return code;
    asker->is_asked = arena_alloc(&asker->arena, (size_t)kerf_tune_space_capacity(asker->space), 1);
    asker->is_told = arena_alloc(&asker->arena, (size_t)kerf_tune_space_capacity(asker->space), 1);
    if (!asker->is_asked || !asker->is_told) return error_no_memory(err, "the question");
    code = kerf_tune_study_create(&question, &asker->study, err);
    return code == KERF_OK && asker->second[0] ? kerf_tune_study_trade(asker->study, maximize_second, err) : code;
}

struct kerf_asker *kerf_asker_free(struct kerf_asker *asker) {
    if (asker == NULL) return NULL;
    kerf_tune_study_free(asker->study);
    kerf_tune_space_free(asker->space);
    json_document_free(&asker->document);
    free(asker->request);
    arena_free(&asker->arena);
    free(asker);
    return NULL;
}

int32_t kerf_asker_create(const char *request, size_t length, struct kerf_asker **ret_asker, struct kerf_error *err) {
    struct json_object root;
    assert(request && ret_asker);
    struct kerf_asker *asker = calloc(1, sizeof *asker);
    if (asker == NULL || length == SIZE_MAX || (asker->request = malloc(length + 1)) == NULL) {
        free(asker);
        return error_no_memory(err, "the question");
    }
    memcpy(asker->request, request, length);
    asker->request[length] = 0;
    int32_t code = json_document_parse(&asker->document, asker->request, length, "request", &root, err);
    if (code == KERF_OK) code = read_question(asker, &root, err);
    if (code == KERF_OK)
        *ret_asker = asker;
    else
        kerf_asker_free(asker);
    return code;
}

/* ---- Settings --------------------------------------------------------------------------------------------- */

static int is_value(const struct kerf_tune_param *param, const struct given *given, int32_t index,
                    const json_t *value) {
    if (given->count > 0) return json_equal(given->of[index], value);
    if (param->kind == KERF_TUNE_INTEGER && json_is_number(value))
        return json_number_value(value) == (double)param->integers[index];
    if (param->numbers && json_is_number(value)) return json_number_value(value) == param->numbers[index];
    return json_is_string(value) && strcmp(json_string_value(value), kerf_tune_value_word(param, index)) == 0;
}

/* The setting that the object names whole. */
static int32_t find_setting(const struct kerf_asker *asker, const struct json_object *object, int32_t *ret_setting,
                            struct kerf_error *err) {
    const struct kerf_tune_space *space = asker->space;
    int32_t values[PARAMS_MAX];
    const char *names[PARAMS_MAX];
    assert(space->num_params <= PARAMS_MAX);
    for (int32_t k = 0; k < space->num_params; k++) names[k] = space->params[k].name;
    int32_t code = json_check_keys(object, names, (size_t)space->num_params, err);
    for (int32_t k = 0; k < space->num_params && code == KERF_OK; k++) {
        const struct kerf_tune_param *param = &space->params[k];
        const json_t *value = json_object_get(object->json, param->name);
        if (value == NULL && !space->has_unused)
            return json_fail(object, NULL, KERF_EINVALID, err, "\"%s\" is missing", param->name);
        values[k] = -1;
        if (value == NULL) continue;
        for (values[k] = 0; values[k] < param->num_values; values[k]++)
            if (is_value(param, &asker->given[k], values[k], value)) break;
        if (values[k] == param->num_values)
            return json_fail(object, param->name, KERF_EUNKNOWN, err, "this is not a value of \"%s\"", param->name);
    }
    if (code != KERF_OK) return code;
    *ret_setting = tune_space_complete(space, values);
    for (int32_t k = 0; k < space->num_params && *ret_setting < 0; k++)
        if (values[k] < 0)
            return json_fail(object, NULL, KERF_EINVALID, err, "\"%s\" is missing", space->params[k].name);
    if (*ret_setting < 0) return json_fail(object, NULL, KERF_EUNKNOWN, err, "the constraints forbid this setting");
    return KERF_OK;
}

static int32_t read_default(const struct kerf_asker *asker, const struct json_object *root, struct kerf_error *err) {
    struct json_object object;
    if (!json_has(root, "default")) return KERF_OK;
    int32_t code = json_get_object(root, "default", JSON_REQUIRED, &object, err);
    return code == KERF_OK ? find_setting(asker, &object, &asker->space->default_setting, err) : code;
}

static void value_json(struct kerf_json *json, const struct kerf_tune_param *param, const struct given *given,
                       int32_t index) {
    const json_t *value = given->count > 0 ? given->of[index] : NULL;
    if (json_is_number(value))
        kerf_json_number(json, param->name, json_number_value(value));
    else if (json_is_boolean(value))
        kerf_json_boolean(json, param->name, json_is_true(value));
    else if (value)
        kerf_json_string(json, param->name, json_string_value(value));
    else if (param->kind == KERF_TUNE_INTEGER)
        kerf_json_integer(json, param->name, param->integers[index]);
    else if (param->numbers)
        kerf_json_number(json, param->name, param->numbers[index]);
    else
        kerf_json_string(json, param->name, kerf_tune_value_word(param, index));
}

static void setting_json(struct kerf_json *json, const char *key, const struct kerf_asker *asker, int32_t setting) {
    const struct kerf_tune_space *space = asker->space;
    if (setting < 0) {
        kerf_json_null(json, key);
        return;
    }
    kerf_json_open(json, key, '{');
    for (int32_t k = 0; k < space->num_params; k++)
        if (kerf_tune_setting_uses(space, setting, k))
            value_json(json, &space->params[k], &asker->given[k],
                       space->values[(size_t)setting * (size_t)space->num_params + (size_t)k]);
    kerf_json_close(json, '}');
}

static int32_t hand_over(struct kerf_text *out, char **ret_answer, struct kerf_error *err) {
    kerf_text_write(out, "", 0);
    if (out->failed) {
        kerf_text_free(out);
        return error_no_memory(err, "the answer");
    }
    *ret_answer = out->data;
    return KERF_OK;
}

/* ---- Asking and telling ----------------------------------------------------------------------------------- */

static int is_fresh(const struct kerf_asker *asker, int32_t setting) {
    return !asker->is_told[setting] && !asker->is_asked[setting];
}

/* Of the settings that nobody measured or measures the one of which most is expected; -1: there is none. */
static int32_t best_fresh(const struct kerf_asker *asker, const struct kerf_tune_answer *answer) {
    int32_t best = -1, is_known = 0;
    for (int32_t i = 0; i < asker->space->num_settings; i++) {
        const struct kerf_tune_estimate *estimate = &answer->settings[i];
        if (!is_fresh(asker, i)) continue;
        int knows = isfinite(estimate->probability_within);
        if (best < 0 || (knows && !is_known) ||
            (knows && estimate->probability_within > answer->settings[best].probability_within))
            best = i, is_known = knows;
    }
    return best;
}

/* What the policy decides while the others are measured; a fresh setting goes before a repeat. */
static int32_t decide(struct kerf_asker *asker, struct kerf_tune_decision *ret_decision, struct kerf_error *err) {
    int32_t pending[PENDING_MAX], num_pending = 0, num_fresh = 0, num_runs = asker->told;
    struct kerf_tune_answer answer;
    for (int32_t i = 0; i < asker->space->num_settings; i++) {
        if (asker->is_asked[i] && num_pending < PENDING_MAX) pending[num_pending++] = i;
        num_runs += asker->is_asked[i];
        num_fresh += is_fresh(asker, i);
    }
    int32_t code = kerf_tune_study_next(asker->study, pending, num_pending, 0, ret_decision, err);
    if (code != KERF_OK || ret_decision->action == KERF_TUNE_STOP) return code;
    if (num_runs >= kerf_tune_study_max_observations(asker->study)) {
        policy_stop(ret_decision, KERF_TUNE_TOO_NOISY, "%d runs, with those that have not been told", (int)num_runs);
        return KERF_OK;
    }
    if (num_fresh == 0 || is_fresh(asker, ret_decision->setting)) return KERF_OK;
    code = kerf_tune_study_answer(asker->study, &answer, err); /* which may take milliseconds */
    if (code != KERF_OK) return code;
    ret_decision->setting = best_fresh(asker, &answer);
    assert(ret_decision->setting >= 0);
    strcpy(ret_decision->reason, "not measured yet");
    return KERF_OK;
}

int32_t kerf_asker_ask(struct kerf_asker *asker, char **ret_answer, struct kerf_error *err) {
    static const char *const stops[] = {
        [KERF_TUNE_CONFIDENT] = "confident", [KERF_TUNE_TOO_NOISY] = "too noisy", [KERF_TUNE_NOTHING_LEFT] = "done"};
    struct kerf_tune_decision decision;
    struct kerf_text out = {0};
    struct kerf_json json;
    int32_t code = decide(asker, &decision, err);
    if (code != KERF_OK) return code;
    int stops_now = decision.action == KERF_TUNE_STOP;
    if (!stops_now) asker->is_asked[decision.setting] = 1;
    kerf_json_begin(&json, &out);
    kerf_json_open(&json, NULL, '{');
    setting_json(&json, "setting", asker, stops_now ? -1 : decision.setting);
    kerf_json_string(&json, "reason", decision.reason);
    kerf_json_string(&json, "stop", stops_now ? stops[decision.stop] : NULL);
    kerf_json_close(&json, '}');
    return hand_over(&out, ret_answer, err);
}

static const struct output_limit *limit_of(const struct kerf_asker *asker, const char *name) {
    for (int32_t i = 0; i < asker->num_limits; i++)
        if (strcmp(asker->limits[i].name, name) == 0) return &asker->limits[i];
    return NULL;
}

/* Whether a measured setting keeps the limits, by the outputs that were told with it: each that has a limit or is the second
 * objective, no other. */
static int32_t read_outputs(const struct kerf_asker *asker, const struct json_object *root, int *ret_kept,
                            double *ret_second, struct kerf_error *err) {
    json_t *outputs = json_object_get(root->json, "outputs"), *value;
    const json_t *second = json_object_get(outputs, asker->second);
    const char *name;
    *ret_kept = 1;
    *ret_second = json_number_value(second);
    if (outputs && !json_is_null(outputs) && !json_is_object(outputs))
        return json_fail(root, "outputs", KERF_EINVALID, err, "\"outputs\" must be an object of numbers");
    json_object_foreach(outputs, name, value) {
        if (limit_of(asker, name) == NULL && (name[0] == 0 || strcmp(name, asker->second) != 0))
            return json_fail(root, "outputs", KERF_EINVALID, err, "no limit in \"subject_to\" is of \"%.64s\"", name);
        if (!json_is_number(value))
            return json_fail(root, "outputs", KERF_EINVALID, err, "\"%.64s\" in \"outputs\" must be a number", name);
    }
    if (asker->second[0] && second == NULL)
        return json_fail(root, "outputs", KERF_EINVALID, err,
                         "\"outputs\" must have \"%s\", which is the second objective", asker->second);
    for (int32_t i = 0; i < asker->num_limits; i++) {
        const json_t *told = json_object_get(outputs, asker->limits[i].name);
        if (told == NULL)
            return json_fail(root, "outputs", KERF_EINVALID, err,
                             "\"outputs\" must have \"%s\", which \"subject_to\" limits", asker->limits[i].name);
        *ret_kept &= output_limit_holds(&asker->limits[i], json_number_value(told));
    }
    return KERF_OK;
}

int32_t kerf_asker_tell(struct kerf_asker *asker, const char *observation, size_t length, struct kerf_error *err) {
    static const char *const names[] = {"setting", "value", "failed", "outputs"};
    struct json_document document;
    struct json_object root, setting;
    struct kerf_tune_observation told = {.start_s = asker->told, .end_s = asker->told + 1};
    int32_t code = json_document_parse(&document, observation, length, "observation", &root, err);
    if (code == KERF_OK) code = json_check_keys(&root, names, sizeof names / sizeof *names, err);
    if (code == KERF_OK) code = json_get_object(&root, "setting", JSON_REQUIRED, &setting, err);
    if (code == KERF_OK) code = find_setting(asker, &setting, &told.setting, err);
    int32_t failed = 0;
    if (code == KERF_OK && json_has(&root, "failed"))
        code = json_get_boolean(&root, "failed", JSON_REQUIRED, &failed, err);
    if (code == KERF_OK) {
        const json_t *value = json_object_get(root.json, "value");
        told.value = json_number_value(value);
        told.outcome = failed ? KERF_TUNE_FAILED : KERF_TUNE_VALUE;
        told.failure = failed ? KERF_TUNE_FAILURE_OTHER : KERF_TUNE_FAILURE_NONE;
        if (failed ? value && !json_is_null(value) : !json_is_number(value))
            code = json_fail(&root, "value", KERF_EINVALID, err,
                             "an observation has a number as \"value\", or \"failed\":true");
        else if (failed && json_has(&root, "outputs"))
            code = json_fail(&root, "outputs", KERF_EINVALID, err, "a setting that failed has no \"outputs\"");
    }
    int kept = 1;
    double second = NAN;
    if (code == KERF_OK && told.outcome == KERF_TUNE_VALUE) code = read_outputs(asker, &root, &kept, &second, err);
    if (!kept) {
        told.outcome = KERF_TUNE_FAILED;
        told.failure = KERF_TUNE_FAILURE_LIMIT;
    }
    if (code == KERF_OK)
        code = asker->second[0] ? kerf_tune_study_observe_both(asker->study, &told, second, err)
                                : kerf_tune_study_observe(asker->study, &told, err);
    if (code == KERF_OK) {
        asker->told++;
        asker->is_asked[told.setting] = 0;
        asker->is_told[told.setting] = 1;
    }
    json_document_free(&document);
    return code;
}

/* "front" and "probability": null where there is one objective. */
static void front_json(struct kerf_json *json, const struct kerf_asker *asker, const struct kerf_tune_answer *answer,
                       const struct kerf_tune_front *front) {
    if (asker->second[0] == 0) {
        kerf_json_null(json, "front");
        kerf_json_null(json, "probability");
        return;
    }
    kerf_json_open(json, "front", '[');
    for (int32_t m = 0; m < front->num; m++) {
        int32_t setting = front->settings[m];
        kerf_json_open(json, NULL, '{');
        setting_json(json, "setting", asker, setting);
        kerf_json_number(json, "mean", answer->settings[setting].mean);
        kerf_json_number(json, "second", front->second[setting].mean);
        kerf_json_number(json, "unbeaten", front->unbeaten[m]);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    kerf_json_number(json, "probability", front->probability);
}

int32_t kerf_asker_answer(struct kerf_asker *asker, char **ret_answer, struct kerf_error *err) {
    struct kerf_tune_answer answer;
    struct kerf_text out = {0};
    struct kerf_json json;
    struct kerf_tune_front front = {.size = sizeof front};
    int32_t code = kerf_tune_study_answer(asker->study, &answer, err);
    if (code == KERF_OK && asker->second[0]) code = kerf_tune_study_front(asker->study, &front, err);
    if (code != KERF_OK) return code;
    kerf_json_begin(&json, &out);
    kerf_json_open(&json, NULL, '{');
    setting_json(&json, "best", asker, answer.best);
    setting_json(&json, "recommended", asker, answer.recommended);
    kerf_json_string(&json, "reason", answer.reason);
    kerf_json_integer(&json, "observations", answer.observations);
    kerf_json_integer(&json, "failed", answer.failed);
    kerf_json_number(&json, "noise", answer.noise);
    front_json(&json, asker, &answer, &front);
    kerf_json_open(&json, "settings", '[');
    for (int32_t i = 0; i < asker->space->num_settings; i++) {
        const struct kerf_tune_estimate *estimate = &answer.settings[i];
        if (estimate->status == KERF_TUNE_NOT_MEASURED) continue;
        kerf_json_open(&json, NULL, '{');
        setting_json(&json, "setting", asker, i);
        kerf_json_string(&json, "status", kerf_tune_status_word(estimate->status));
        kerf_json_integer(&json, "observations", estimate->observations);
        kerf_json_number(&json, "mean", estimate->mean);
        kerf_json_number(&json, "observed_mean", estimate->observed_mean);
        kerf_json_number(&json, "low", estimate->interval[0]);
        kerf_json_number(&json, "high", estimate->interval[1]);
        kerf_json_number(&json, "probability_within", estimate->probability_within);
        if (asker->second[0]) kerf_json_number(&json, "second", front.second[i].mean);
        kerf_json_close(&json, '}');
    }
    kerf_json_close(&json, ']');
    kerf_json_close(&json, '}');
    return hand_over(&out, ret_answer, err);
}

int32_t kerf_asker_importance(struct kerf_asker *asker, char **ret_answer, struct kerf_error *err) {
    struct kerf_tune_importance importance = {.size = sizeof importance};
    struct kerf_text out = {0};
    struct kerf_json json;
    int32_t code = kerf_tune_study_importance(asker->study, &importance, err);
    if (code != KERF_OK) return code;
    kerf_json_begin(&json, &out);
    kerf_json_open(&json, NULL, '{');
    kerf_tune_importance_write(&importance, asker->space, &json);
    kerf_json_close(&json, '}');
    return hand_over(&out, ret_answer, err);
}
