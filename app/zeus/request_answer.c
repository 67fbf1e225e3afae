/* SPDX-License-Identifier: Apache-2.0 */
/* Whole answers: refusals, messages, and the job that POST /jobs understood, its keys in the order of Zeus's model and
 * its numbers as Python's json.dumps writes them. */
#include "zeus/request.h"

#include <math.h>
#include "zeus/python_values.h"

/* ---- Refusals and messages ----------------------------------------------------------------------------------- */

int32_t refuse_no_memory(struct request_refusal *refusal) {
    kerf_text_clear(&refusal->document);
    kerf_text_add(&refusal->document, "Internal Server Error");
    refusal->status = 500;
    refusal->plain = 1;
    return KERF_ENOMEM;
}

int32_t refuse_internal_error(struct request_refusal *refusal) {
    refuse_no_memory(refusal);
    return KERF_EINVALID;
}

int32_t refuse_with(struct request_refusal *refusal, int32_t status, const char *document) {
    kerf_text_clear(&refusal->document);
    kerf_text_add(&refusal->document, document);
    if (refusal->document.failed) return refuse_no_memory(refusal);
    refusal->status = status;
    refusal->plain = 0;
    return KERF_EINVALID;
}

int32_t refuse_message(struct request_refusal *refusal, const char *message) {
    kerf_text_clear(&refusal->document);
    request_write_message(message, &refusal->document);
    if (refusal->document.failed) return refuse_no_memory(refusal);
    refusal->status = 500;
    refusal->plain = 0;
    return KERF_EINVALID;
}

void request_write_message(const char *message, struct kerf_text *out) {
    kerf_text_add(out, "{\"message\":");
    python_string_quote(message, out);
    kerf_text_add(out, "}");
}

void request_refusal_free(struct request_refusal *refusal) { kerf_text_free(&refusal->document); }

/* ---- The job ------------------------------------------------------------------------------------------------- */

static void begin(struct kerf_text *out, const char *key) {
    kerf_text_printf(out, "%s\"%s\":", out->data && out->length && out->data[out->length - 1] == '{' ? "" : ",", key);
}

static void string(struct kerf_text *out, const char *key, const char *value) {
    begin(out, key);
    if (value)
        python_string_quote(value, out);
    else
        kerf_text_add(out, "null");
}

static void number(struct kerf_text *out, const char *key, double value) {
    begin(out, key);
    python_float_repr(value, out);
}

static void integer(struct kerf_text *out, const char *key, int64_t value) {
    begin(out, key);
    kerf_text_printf(out, "%lld", (long long)value);
}

static void null(struct kerf_text *out, const char *key) { string(out, key, NULL); }

static void sizes(struct kerf_text *out, const struct kerf_job_spec *spec) {
    begin(out, "batch_sizes");
    kerf_text_add(out, "[");
    for (int32_t i = 0; i < spec->num_batch_sizes; i++)
        kerf_text_printf(out, "%s%lld", i ? "," : "", (long long)spec->batch_sizes[i]);
    kerf_text_add(out, "]");
}

static int is_finite(const struct kerf_job_spec *spec) {
    return isfinite(spec->max_power) && isfinite(spec->eta_knob) &&
           (!spec->has_beta_knob || isfinite(spec->beta_knob)) && isfinite(spec->target_metric) &&
           isfinite(spec->mab_prior_mean) && isfinite(spec->mab_prior_precision) && isfinite(spec->lease_s);
}

static void write_additions(const struct kerf_job_spec *spec, struct kerf_text *out) {
    if (spec->policy) string(out, "policy", spec->policy);
    if (spec->lease_s != 0) number(out, "lease_s", spec->lease_s);
}

int32_t request_write_job(const struct kerf_job_spec *spec, struct kerf_text *out) {
    if (!is_finite(spec)) return KERF_EINVALID;
    kerf_text_add(out, "{");
    number(out, "max_power", spec->max_power);
    integer(out, "number_of_gpus", spec->number_of_gpus);
    string(out, "gpu_model", spec->gpu_model);
    string(out, "job_id", spec->job_id);
    string(out, "job_id_prefix", spec->job_id_prefix);
    sizes(out, spec);
    integer(out, "default_batch_size", spec->default_batch_size);
    number(out, "eta_knob", spec->eta_knob);
    if (spec->has_beta_knob)
        number(out, "beta_knob", spec->beta_knob);
    else
        null(out, "beta_knob");
    number(out, "target_metric", spec->target_metric);
    begin(out, "higher_is_better_metric");
    kerf_text_add(out, spec->higher_is_better_metric ? "true" : "false");
    integer(out, "max_epochs", spec->max_epochs);
    integer(out, "num_pruning_rounds", spec->num_pruning_rounds);
    integer(out, "window_size", spec->window_size);
    number(out, "mab_prior_mean", spec->mab_prior_mean);
    number(out, "mab_prior_precision", spec->mab_prior_precision);
    integer(out, "mab_num_explorations", spec->mab_num_explorations);
    if (spec->has_mab_seed)
        integer(out, "mab_seed", spec->mab_seed);
    else
        null(out, "mab_seed");
    write_additions(spec, out);
    kerf_text_add(out, "}");
    return out->failed ? KERF_ENOMEM : KERF_OK;
}
