/* SPDX-License-Identifier: Apache-2.0 */
/* The models of Zeus's routes (zeus/optimizer/batch_size/common.py) as tables, and what kerf adds to them. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "zeus/python_repr.h"
#include "zeus/model_fields.h"
#include "zeus/request_input.h"

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
    if (!(run->flags & REQUEST_MENDED) || value->text.length <= (size_t)most) return;
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
    {"mab_prior_precision", FIELD_FLOAT, FIELD_MENDED_FINITE, NULL, JOB(mab_prior_precision), 0},
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
    const struct python_value *object;
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
