/* SPDX-License-Identifier: Apache-2.0 */
/* The routes of Zeus's server and their objects, and the import of its database. */
#include "zeus/zeus_api.h"

#include <inttypes.h>
#include "server/log.h"
#include "server/route.h"
#include "zeus/import.h"
#include "zeus/zeus_routes.h"

/* ---- Objects ------------------------------------------------------------------------------------------------ */

static const struct schema_field job[] = {{"max_power", "number", SCHEMA_REQUIRED, NULL},
                                          {"number_of_gpus", "integer", SCHEMA_REQUIRED, NULL},
                                          {"gpu_model", "string", SCHEMA_REQUIRED, NULL},
                                          {"job_id", "string", SCHEMA_NULL, NULL},
                                          {"job_id_prefix", "string", SCHEMA_REQUIRED, NULL},
                                          {"batch_sizes", "[integer]", SCHEMA_REQUIRED, NULL},
                                          {"default_batch_size", "integer", SCHEMA_REQUIRED, NULL},
                                          {"eta_knob", "number", 0, NULL},
                                          {"beta_knob", "number", SCHEMA_NULL, NULL},
                                          {"target_metric", "number", 0, NULL},
                                          {"higher_is_better_metric", "boolean", 0, NULL},
                                          {"max_epochs", "integer", 0, NULL},
                                          {"num_pruning_rounds", "integer", 0, NULL},
                                          {"window_size", "integer", 0, NULL},
                                          {"mab_prior_mean", "number", 0, NULL},
                                          {"mab_prior_precision", "number", 0, NULL},
                                          {"mab_num_explorations", "integer", 0, NULL},
                                          {"mab_seed", "integer", SCHEMA_NULL, NULL},
                                          {"policy", "string", 0, "zeus,kerf"},
                                          {"lease_s", "number", 0, NULL},
                                          {0}};
static const struct schema_field trial_id[] = {{"job_id", "string", SCHEMA_REQUIRED, NULL},
                                               {"batch_size", "integer", SCHEMA_REQUIRED, NULL},
                                               {"trial_number", "integer", SCHEMA_REQUIRED, NULL},
                                               {0}};
static const struct schema_field report[] = {
    {"job_id", "string", SCHEMA_REQUIRED, NULL},         {"batch_size", "integer", SCHEMA_REQUIRED, NULL},
    {"trial_number", "integer", SCHEMA_REQUIRED, NULL},  {"time", "number", SCHEMA_REQUIRED, NULL},
    {"energy", "number", SCHEMA_REQUIRED, NULL},         {"metric", "number", SCHEMA_REQUIRED, NULL},
    {"current_epoch", "integer", SCHEMA_REQUIRED, NULL}, {0}};
static const struct schema_field verdict[] = {{"stop_train", "boolean", SCHEMA_REQUIRED, NULL},
                                              {"converged", "boolean", SCHEMA_REQUIRED, NULL},
                                              {"message", "string", SCHEMA_REQUIRED, NULL},
                                              {0}};
static const struct schema_field mistake[] = {{"loc", "[any]", SCHEMA_REQUIRED, NULL},
                                              {"msg", "string", SCHEMA_REQUIRED, NULL},
                                              {"type", "string", SCHEMA_REQUIRED, NULL},
                                              {"ctx", "any", 0, NULL},
                                              {"input", "any", 0, NULL},
                                              {0}};
static const struct schema_field mistakes[] = {{"detail", "[Mistake]", SCHEMA_REQUIRED, NULL}, {0}};
static const struct schema_field ask_job[] = {{"job_id", "string", SCHEMA_REQUIRED, NULL}, {0}};

static const struct schema schemas[] = {{"Job", job},         {"TrialId", trial_id}, {"Report", report},
                                        {"Verdict", verdict}, {"Mistake", mistake},  {"Mistakes", mistakes}};

/* ---- Routes ------------------------------------------------------------------------------------------------- */

#define BODY "413 Detail,422 Mistakes"

/* In the order in which Zeus's server has them. */
static const struct route routes[] = {
    {.method = "POST",
     .pattern = "/jobs",
     .step = zeus_register,
     .needs = TOKEN_WRITE,
     .summary = "Register a job, or find it registered",
     .body = "Job",
     .answer = "Job",
     .statuses = "201 Job,400 Detail,409 Message," BODY},
    {.method = "DELETE",
     .pattern = "/jobs",
     .step = zeus_delete,
     .needs = TOKEN_ADMIN,
     .summary = "Delete a job with all its trials",
     .query = ask_job,
     .answer = "null",
     .statuses = "404 Message,422 Mistakes"},
    {.method = "GET",
     .pattern = "/jobs/batch_size",
     .step = zeus_predict,
     .needs = TOKEN_WRITE,
     .summary = "The batch size for the job's next run",
     .query = ask_job,
     .answer = "TrialId",
     .statuses = "400 Message,422 Mistakes"},
    {.method = "POST",
     .pattern = "/report",
     .step = zeus_report,
     .needs = TOKEN_WRITE,
     .summary = "Report time, energy and metric of a run so far, and learn whether it goes on",
     .body = "Report",
     .answer = "Verdict",
     .statuses = "400 Message|Detail," BODY},
    {.method = "PATCH",
     .pattern = "/trials",
     .step = zeus_end,
     .needs = TOKEN_WRITE,
     .summary = "Give a run up",
     .body = "TrialId",
     .answer = "null",
     .statuses = "400 Detail,404 Message," BODY},
};

static const struct api api = API(routes, schemas);

/* ---- Its database ------------------------------------------------------------------------------------------- */

struct taking_over {
    const struct log *log;
    int64_t counts[IMPORT_OUTCOMES];
};

static void note(void *context, enum import_outcome outcome, const char *job_id, int64_t trials, const char *why) {
    struct taking_over *all = context;
    all->counts[outcome]++;
    if (outcome == IMPORT_TAKEN)
        log_info(all->log, "imported", "job %s with %" PRId64 " trials", job_id, trials);
    else if (outcome == IMPORT_KNOWN)
        log_info(all->log, "imported", "job %s exists already, and stays as it is", job_id);
    else
        log_error(all->log, "import", "job %s is left out: %s", job_id, why);
}

static int32_t take_over(const char *where, struct store *to, int32_t job_flags, const struct log *log,
                         struct kerf_error *err) {
    struct taking_over all = {.log = log};
    int32_t code = import_zeus(where, to, job_flags, note, &all, err);
    if (code == KERF_OK)
        log_info(log, "imported", "%" PRId64 " jobs taken over, %" PRId64 " existed already, %" PRId64 " left out",
                 all.counts[IMPORT_TAKEN], all.counts[IMPORT_KNOWN], all.counts[IMPORT_REFUSED]);
    return code;
}

const struct server_addition zeus_api = {.api = &api, .import = take_over};
