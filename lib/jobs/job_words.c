/* SPDX-License-Identifier: Apache-2.0 */
/* The names of stages, types and statuses, and why a batch size was picked, as one line for people. */
#include <inttypes.h>
#include <math.h>
#include "base/quantity.h"
#include "kerf/jobs.h"

/* ---- Names --------------------------------------------------------------------------------------------------- */

static const char *name_at(const char *const *names, int32_t count, int32_t index) {
    return index >= 0 && index < count ? names[index] : "?";
}

const char *kerf_job_stage_name(int32_t stage) {
    static const char *const names[] = {"Pruning", "MAB"};
    return name_at(names, KERF_JOB_STAGES, stage);
}

const char *kerf_trial_type_name(int32_t type) {
    static const char *const names[] = {"Exploration", "Concurrent", "MAB"};
    return name_at(names, KERF_TRIAL_TYPES, type);
}

const char *kerf_trial_status_name(int32_t status) {
    static const char *const names[] = {"Dispatched", "Succeeded", "Failed"};
    return name_at(names, KERF_TRIAL_STATUSES, status);
}

/* ---- Reasons ------------------------------------------------------------------------------------------------- */

static void say_round(const struct kerf_job_reason *reason, struct kerf_text *out) {
    kerf_text_printf(out, "exploring %" PRId64 ": ", reason->batch_size);
    if (reason->num_rounds > 1)
        kerf_text_printf(out, "round %" PRId64 " of %" PRId64 ", ", reason->round, reason->num_rounds);
}

/* In joules: a reward is minus the cost, or minus its logarithm. */
static void say_cost(const struct kerf_job_reason *reason, double reward, struct kerf_text *out) {
    quantity_joules(out, reason->log_scale ? exp(-reward) : -reward, 6);
}

static void say_sample(const struct kerf_job_reason *reason, struct kerf_text *out) {
    kerf_text_printf(out, "exploiting %" PRId64 ": of %d arm%s it drew the lowest cost ", reason->batch_size,
                     (int)reason->num_arms, reason->num_arms == 1 ? "" : "s");
    say_cost(reason, reason->sample, out);
    kerf_text_add(out, " (mean ");
    say_cost(reason, reason->mean, out);
    kerf_text_printf(out, " over %" PRId64 " run%s)", reason->observations, reason->observations == 1 ? "" : "s");
    if (reason->second_size == 0) return;
    kerf_text_printf(out, ", next is %" PRId64 " with ", reason->second_size);
    say_cost(reason, reason->second_sample, out);
}

void kerf_job_reason_text(const struct kerf_job_reason *reason, struct kerf_text *out) {
    switch (reason->why) {
    case KERF_WHY_EXPLORE_DEFAULT:
        say_round(reason, out);
        kerf_text_add(out, reason->round > 1 ? "the cheapest size of the round before" : "the default");
        return;
    case KERF_WHY_EXPLORE_DOWN:
        say_round(reason, out);
        kerf_text_printf(out, "down from %" PRId64 ", which converged", reason->from);
        return;
    case KERF_WHY_EXPLORE_UP:
        say_round(reason, out);
        kerf_text_printf(out, "up from %" PRId64, reason->from);
        return;
    case KERF_WHY_CONCURRENT:
        kerf_text_printf(out,
                         "running %" PRId64 ", the cheapest size so far, while trial %" PRId64 " explores %" PRId64,
                         reason->batch_size, reason->waiting_for, reason->waiting_size);
        return;
    case KERF_WHY_TOO_FEW:
        kerf_text_printf(out, "exploiting %" PRId64 ": it has %" PRId64 " of %" PRId64 " observations",
                         reason->batch_size, reason->observations, reason->wanted);
        return;
    default: say_sample(reason, out);
    }
}
