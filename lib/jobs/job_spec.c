/* SPDX-License-Identifier: Apache-2.0 */
/* What a job is: its policy, and defaults, equality and limits of its spec, after zeus/optimizer/batch_size/common.py
 * (JobSpec). */
#include <math.h>
#include <string.h>
#include "jobs/job_state.h"

/* ---- The policies ---------------------------------------------------------------------------------------------- */

/* Each is a file of its own; the first is the default. */
static const struct policy *const policies[] = {&policy_zeus, &policy_kerf};
enum { POLICIES = sizeof policies / sizeof policies[0] };

const struct policy *policy_find(const char *name) {
    if (name == NULL) return policies[0];
    for (int i = 0; i < POLICIES; i++)
        if (strcmp(policies[i]->about.name, name) == 0) return policies[i];
    return NULL;
}

const struct kerf_job_policy *kerf_job_policy_at(size_t index) {
    return index < POLICIES ? &policies[index]->about : NULL;
}

/* ---- The spec -------------------------------------------------------------------------------------------------- */

void kerf_job_spec_defaults(struct kerf_job_spec *ret_spec) {
    *ret_spec = (struct kerf_job_spec){.has_beta_knob = 1,
                                       .higher_is_better_metric = 1,
                                       .max_epochs = 100,
                                       .num_pruning_rounds = 2,
                                       .mab_num_explorations = 2,
                                       .eta_knob = 0.5,
                                       .beta_knob = 2,
                                       .target_metric = 0.5};
}

static int same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

static int same_sizes(const struct kerf_job_spec *a, const struct kerf_job_spec *b) {
    return a->num_batch_sizes == b->num_batch_sizes &&
           memcmp(a->batch_sizes, b->batch_sizes, (size_t)a->num_batch_sizes * sizeof *a->batch_sizes) == 0;
}

static int same_optional(const struct kerf_job_spec *a, const struct kerf_job_spec *b) {
    return !a->has_beta_knob == !b->has_beta_knob && (!a->has_beta_knob || a->beta_knob == b->beta_knob) &&
           !a->has_mab_seed == !b->has_mab_seed && (!a->has_mab_seed || a->mab_seed == b->mab_seed);
}

/* What kerf adds counts only where it is said. */
static int same_additions(const struct kerf_job_spec *known, const struct kerf_job_spec *again) {
    const struct policy *policy = policy_find(known->policy);
    return (again->policy == NULL || (policy && policy == policy_find(again->policy))) &&
           (again->lease_s == 0 || again->lease_s == known->lease_s);
}

int32_t kerf_job_spec_same(const struct kerf_job_spec *known, const struct kerf_job_spec *again) {
    return known->max_power == again->max_power && known->number_of_gpus == again->number_of_gpus &&
           same_text(known->gpu_model, again->gpu_model) && same_text(known->job_id, again->job_id) &&
           same_text(known->job_id_prefix, again->job_id_prefix) && same_sizes(known, again) &&
           known->default_batch_size == again->default_batch_size && known->eta_knob == again->eta_knob &&
           known->target_metric == again->target_metric &&
           !known->higher_is_better_metric == !again->higher_is_better_metric &&
           known->max_epochs == again->max_epochs && known->num_pruning_rounds == again->num_pruning_rounds &&
           known->window_size == again->window_size && known->mab_prior_mean == again->mab_prior_mean &&
           known->mab_prior_precision == again->mab_prior_precision &&
           known->mab_num_explorations == again->mab_num_explorations && same_optional(known, again) &&
           same_additions(known, again);
}

struct rule {
    int holds;
    const char *field, *must;
};

static int sizes_ascend(const struct kerf_job_spec *spec) {
    for (int32_t i = 0; i < spec->num_batch_sizes; i++)
        if (spec->batch_sizes[i] < 1 || (i > 0 && spec->batch_sizes[i] <= spec->batch_sizes[i - 1])) return 0;
    return spec->num_batch_sizes > 0;
}

static int has_default(const struct kerf_job_spec *spec) {
    for (int32_t i = 0; i < spec->num_batch_sizes; i++)
        if (spec->batch_sizes[i] == spec->default_batch_size) return 1;
    return 0;
}

static int has_prefix(const struct kerf_job_spec *spec) {
    const char *prefix = spec->job_id_prefix ? spec->job_id_prefix : "";
    return spec->job_id == NULL || strncmp(spec->job_id, prefix, strlen(prefix)) == 0;
}

int32_t kerf_job_spec_check(const struct kerf_job_spec *spec, const char **ret_field, struct kerf_error *err) {
    const struct rule rules[] = {
        {isfinite(spec->max_power) && spec->max_power > 0, "max_power", "be finite and above 0"},
        {spec->number_of_gpus > 0, "number_of_gpus", "be above 0"},
        {spec->gpu_model && spec->gpu_model[0], "gpu_model", "not be empty"},
        {has_prefix(spec), "job_id", "begin with job_id_prefix"},
        {sizes_ascend(spec), "batch_sizes", "be above 0 and ascending, without duplicates"},
        {has_default(spec), "default_batch_size", "be one of batch_sizes"},
        {spec->eta_knob >= 0 && spec->eta_knob <= 1, "eta_knob", "be from 0 to 1"},
        {!spec->has_beta_knob || (isfinite(spec->beta_knob) && spec->beta_knob > 0), "beta_knob",
         "be finite and above 0"},
        {isfinite(spec->target_metric), "target_metric", "be finite"},
        {spec->max_epochs > 0, "max_epochs", "be above 0"},
        {spec->num_pruning_rounds >= 0, "num_pruning_rounds", "not be negative"},
        {isfinite(spec->mab_prior_mean), "mab_prior_mean", "be finite"},
        {isfinite(spec->mab_prior_precision) && spec->mab_prior_precision >= 0, "mab_prior_precision",
         "be finite and not negative"},
        {spec->mab_num_explorations >= 0, "mab_num_explorations", "not be negative"},
        {!spec->has_mab_seed || spec->mab_seed >= 0, "mab_seed", "not be negative"},
        {policy_find(spec->policy) != NULL, "policy", "be one of: zeus, kerf"},
        {isfinite(spec->lease_s) && spec->lease_s >= 0, "lease_s", "be finite and above 0"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].holds) continue;
        if (ret_field) *ret_field = rules[i].field;
        return kerf_error_set(err, KERF_EINVALID, "%s must %s", rules[i].field, rules[i].must);
    }
    return KERF_OK;
}

double kerf_job_cost(const struct kerf_job_spec *spec, double energy_j, double time_s) {
    return spec->eta_knob * energy_j + (1 - spec->eta_knob) * spec->max_power * time_s;
}
