/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kerf jobs backup and import, which need no server. A backup is a copy of the store itself.
 *
 * import: what `kerf jobs export` printed goes into a store, whichever database either is in. Each job is one
 * transaction: its spec and state, its arms, its random generator between the same two draws, its trials with their
 * numbers, and the costs of trials that were removed. So the next decision is the one that the first server would have
 * made. Jobs that the store already has stay unchanged, so that an import can be repeated.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error_fill.h"
#include "cli/command.h"
#include "cli/jobs_request.h"
#include "cli/terminal.h"
#include "store/store.h"

/* ---- backup ---------------------------------------------------------------------------------------------------- */

static int32_t check(const struct jobs_options *options, struct kerf_error *err) {
    if (options->words.count < 2)
        return kerf_error_set(err, KERF_EINVALID, "the file is missing, such as `kerf jobs backup kerf.backup.db`");
    if (options->outputs.count)
        return kerf_error_set(err, KERF_EINVALID, "`kerf jobs backup FILE` writes FILE; leave out --output");
    if (strstr(options->store, "://") == NULL && access(options->store, F_OK) != 0)
        return kerf_error_set(err, KERF_EINVALID, "there is no store %.200s; name the server's store with --store",
                              options->store);
    return KERF_OK;
}

int jobs_backup(struct jobs_request *request) {
    const struct jobs_options *options = request->options;
    struct kerf_error err = {.code = KERF_OK};
    struct terminal_progress progress = {.what = "copying"};
    struct kerf_text out = {0};
    struct stat made = {0};
    int32_t code = check(options, &err);
    if (code == KERF_OK) {
        const char *to = options->words.items[1];
        interrupt_catch();
        code = store_backup(options->store, to, options->force, terminal_progress, &progress, &err);
        terminal_progress_end(&progress);
        if (code == KERF_OK && stat(to, &made) == 0)
            kerf_text_printf(&out, "%s: %" PRId64 " bytes\n", to, (int64_t)made.st_size);
    }
    if (code == KERF_EINTERRUPTED) return EXIT_INTERRUPTED;
    return code == KERF_OK ? output_print(&out) : jobs_fail(&err);
}

/* ---- import: lists that grow ----------------------------------------------------------------------------------- */

struct list {
    void *items;
    int64_t count, room;
};

/* Room for one more at the end; NULL: no memory. */
static void *list_add(struct list *list, size_t size) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : 64;
        void *items = realloc(list->items, (size_t)room * size);
        if (items == NULL) return NULL;
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + size * (size_t)list->count++;
}

/* ---- One job ------------------------------------------------------------------------------------------------- */

struct import {
    struct store *to;
    FILE *from;
    const char *path;
    int64_t line, job_line;
    json_t *job;                    /* at hand, whose trials are read; NULL: none */
    json_t *reasons;                /* the texts that `why` points at */
    struct list trials, why, costs; /* struct kerf_trial, const char *, struct store_cost */
    struct kerf_text out;
};

static int32_t wrong(const struct import *import, struct kerf_error *err, const char *what) {
    kerf_error_set(err, KERF_EINVALID, "%s", what);
    error_set_file(err, import->path);
    err->line = (int32_t)import->line;
    err->column = 1;
    return KERF_EINVALID;
}

static int find_name(const char *(*name)(int32_t), int32_t count, const char *text) {
    for (int32_t i = 0; i < count; i++)
        if (strcmp(name(i), text) == 0) return i;
    return -1;
}

static struct kerf_job_spec read_spec(const json_t *job, int64_t *sizes) {
    const json_t *spec = json_object_get(job, "spec"), *list = json_object_get(spec, "batch_sizes"), *size;
    double beta = jobs_real(spec, "beta_knob"), lease_s = jobs_real(spec, "lease_s");
    size_t i;
    json_array_foreach(list, i, size) sizes[i] = json_integer_value(size);
    return (struct kerf_job_spec){
        .job_id = jobs_text(job, "job_id"),
        .job_id_prefix = jobs_text(spec, "job_id_prefix"),
        .gpu_model = jobs_text(spec, "gpu_model"),
        .batch_sizes = sizes,
        .num_batch_sizes = (int32_t)json_array_size(list),
        .has_beta_knob = !isnan(beta),
        .higher_is_better_metric = json_is_true(json_object_get(spec, "higher_is_better_metric")),
        .has_mab_seed = json_is_integer(json_object_get(spec, "mab_seed")),
        .default_batch_size = jobs_integer(spec, "default_batch_size"),
        .number_of_gpus = jobs_integer(spec, "number_of_gpus"),
        .max_epochs = jobs_integer(spec, "max_epochs"),
        .num_pruning_rounds = jobs_integer(spec, "num_pruning_rounds"),
        .window_size = jobs_integer(spec, "window_size"),
        .mab_num_explorations = jobs_integer(spec, "mab_num_explorations"),
        .mab_seed = jobs_integer(spec, "mab_seed"),
        .max_power = jobs_real(spec, "max_power"),
        .eta_knob = jobs_real(spec, "eta_knob"),
        .beta_knob = isnan(beta) ? 0 : beta,
        .target_metric = jobs_real(spec, "target_metric"),
        .mab_prior_mean = jobs_real(spec, "mab_prior_mean"),
        .mab_prior_precision = jobs_real(spec, "mab_prior_precision"),
        .policy = jobs_text(spec, "policy"),
        .lease_s = isnan(lease_s) ? 0 : lease_s,
    };
}

static int32_t read_state(const json_t *job, struct kerf_job_row *ret_state, struct kerf_error *err) {
    double min_cost = jobs_real(job, "min_cost");
    const char *random = json_string_value(json_object_get(job, "random"));
    *ret_state = (struct kerf_job_row){
        .stage = find_name(kerf_job_stage_name, KERF_JOB_STAGES, jobs_text(job, "stage")),
        .has_min_cost = !isnan(min_cost),
        .min_cost = isnan(min_cost) ? 0 : min_cost,
        .min_cost_batch_size = jobs_integer(job, "min_cost_batch_size"),
        .last_trial_number = jobs_integer(job, "last_trial_number"),
        .trials_ended = jobs_integer(job, "trials_ended"),
        .longest_gap_s = jobs_real(job, "longest_gap_s"),
        .has_random = random != NULL,
    };
    return random ? kerf_job_random_read(random, &ret_state->random, err) : KERF_OK;
}

static int32_t restore_arms(const json_t *job, struct kerf_job *to, struct kerf_error *err) {
    const json_t *arm;
    size_t i;
    int32_t code = KERF_OK;
    json_array_foreach(json_object_get(job, "arms"), i, arm) {
        const struct kerf_arm one = {.batch_size = jobs_integer(arm, "batch_size"),
                                     .param_mean = jobs_real(arm, "param_mean"),
                                     .param_precision = jobs_real(arm, "param_precision"),
                                     .reward_precision = jobs_real(arm, "reward_precision"),
                                     .num_observations = jobs_integer(arm, "num_observations")};
        if (code == KERF_OK) code = kerf_job_restore_arm(to, &one, err);
    }
    return code;
}

/* A job without a name of one follows the first. */
static int32_t check_policy(const char *name, struct kerf_error *err) {
    const struct kerf_job_policy *policy;
    for (size_t i = 0; (policy = kerf_job_policy_at(i)) != NULL; i++)
        if (name == NULL || *name == 0 || strcmp(policy->name, name) == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "this kerf has no policy '%.32s'", name);
}

static int is_kind(const json_t *value, json_type kind) {
    const char *text = json_string_value(value);
    if (kind == JSON_REAL) return json_is_number(value) || (text && (!strcmp(text, "inf") || !strcmp(text, "-inf")));
    return kind == JSON_TRUE ? json_is_boolean(value) : value && json_typeof(value) == kind;
}

/* A member that is missing or of another kind would be read as 0. */
static int32_t check_members(const json_t *job, struct kerf_error *err) {
    static const struct {
        const char *name;
        json_type kind;
        int of_spec;
    } members[] = {{"last_trial_number", JSON_INTEGER, 0},
                   {"trials_ended", JSON_INTEGER, 0},
                   {"min_cost_batch_size", JSON_INTEGER, 0},
                   {"arms", JSON_ARRAY, 0},
                   {"max_power", JSON_REAL, 1},
                   {"number_of_gpus", JSON_INTEGER, 1},
                   {"gpu_model", JSON_STRING, 1},
                   {"job_id_prefix", JSON_STRING, 1},
                   {"batch_sizes", JSON_ARRAY, 1},
                   {"default_batch_size", JSON_INTEGER, 1},
                   {"eta_knob", JSON_REAL, 1},
                   {"target_metric", JSON_REAL, 1},
                   {"higher_is_better_metric", JSON_TRUE, 1},
                   {"max_epochs", JSON_INTEGER, 1},
                   {"num_pruning_rounds", JSON_INTEGER, 1},
                   {"window_size", JSON_INTEGER, 1},
                   {"mab_prior_mean", JSON_REAL, 1},
                   {"mab_prior_precision", JSON_REAL, 1},
                   {"mab_num_explorations", JSON_INTEGER, 1}};
    const json_t *spec = json_object_get(job, "spec");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!is_kind(json_object_get(members[i].of_spec ? spec : job, members[i].name), members[i].kind))
            return kerf_error_set(err, KERF_EINVALID, "%s%s is missing or of the wrong type",
                                  members[i].of_spec ? "spec." : "", members[i].name);
    return KERF_OK;
}

/* The job in memory, with its arms; NULL with err set. */
static struct kerf_job *make_job(const struct import *import, struct kerf_error *err) {
    size_t count = json_array_size(json_object_get(json_object_get(import->job, "spec"), "batch_sizes"));
    int64_t *sizes = calloc(count + 1, sizeof *sizes);
    struct kerf_job_row state;
    struct kerf_job *job = NULL;
    if (sizes == NULL) {
        error_no_memory(err, "a job");
        return NULL;
    }
    const struct kerf_job_spec spec = read_spec(import->job, sizes);
    int32_t code = check_members(import->job, err);
    if (code == KERF_OK) code = read_state(import->job, &state, err);
    if (code == KERF_OK && isnan(state.longest_gap_s))
        code = kerf_error_set(err, KERF_EINVALID, "an older kerf exported this; it lacks data that decisions need");
    if (code == KERF_OK && import->trials.count > 0) {
        const struct kerf_trial *last = (struct kerf_trial *)import->trials.items + import->trials.count - 1;
        if (last->number > state.last_trial_number)
            code = kerf_error_set(err, KERF_EINVALID, "a trial began while the job was exported: export it again");
    }
    if (code == KERF_OK) code = check_policy(spec.policy, err);
    if (code == KERF_OK) code = kerf_job_restore(&spec, &state, 0, &job, err);
    if (code == KERF_OK) code = restore_arms(import->job, job, err);
    free(sizes);
    return code == KERF_OK ? job : kerf_job_free(job);
}

static void forget_job(struct import *import) {
    json_decref(import->job);
    json_decref(import->reasons);
    import->job = import->reasons = NULL;
    import->trials.count = import->why.count = import->costs.count = 0;
}

static int32_t write_job(struct import *import, struct kerf_error *err) {
    const char *job_id = jobs_text(import->job, "job_id");
    struct store_turn found;
    struct kerf_error why = {.code = KERF_OK};
    int32_t code = store_find_job(import->to, job_id, &found, NULL, &why);
    if (code == KERF_OK) {
        kerf_text_printf(&import->out, "%s exists already and stays unchanged\n", job_id);
        return KERF_OK;
    }
    struct kerf_job *job = code == KERF_EUNKNOWN ? make_job(import, &why) : NULL;
    if (job == NULL && why.code == KERF_EINVALID) import->line = import->job_line;
    if (job == NULL) return why.code == KERF_EINVALID ? wrong(import, err, why.message) : (*err = why, why.code);
    const struct store_history history = {import->trials.items, import->why.items, import->trials.count,
                                          import->costs.items, import->costs.count};
    struct store_write write = {.kind = STORE_IMPORT,
                                .version = 1,
                                .of = job,
                                .history = &history,
                                .now_s = jobs_real(import->job, "created_s")};
    code = store_write_now(import->to, &write, err);
    if (code == KERF_OK) {
        const struct kerf_trial *trials = import->trials.items;
        int64_t last = import->trials.count ? trials[import->trials.count - 1].number : 0;
        int64_t all = jobs_integer(import->job, "last_trial_number");
        kerf_text_printf(&import->out, "%s is imported with %" PRId64 " trial%s", job_id, import->trials.count,
                         import->trials.count == 1 ? "" : "s");
        if (last < all)
            kerf_text_printf(&import->out,
                             ", without trial %" PRId64 " to %" PRId64 ": the file is cut, or its store had "
                             "removed them",
                             last + 1, all);
        kerf_text_add(&import->out, "\n");
    }
    kerf_job_free(job);
    return code;
}

/* ---- Lines --------------------------------------------------------------------------------------------------- */

static int32_t take_job(struct import *import, json_t *job, struct kerf_error *err) {
    int32_t code = import->job ? write_job(import, err) : KERF_OK;
    forget_job(import);
    import->job = json_incref(job);
    import->job_line = import->line;
    import->reasons = json_array();
    if (code == KERF_OK && import->reasons == NULL) return error_no_memory(err, "an import");
    if (code == KERF_OK && jobs_text(job, "job_id")[0] == 0) return wrong(import, err, "a job has no job_id");
    return code;
}

static int32_t take_trial(struct import *import, const json_t *json, struct kerf_error *err) {
    const struct kerf_trial *before = import->trials.items;
    json_t *reason = json_object_get(json, "reason"), *converged = json_object_get(json, "converged");
    double time_s = jobs_real(json, "time_s"), energy_j = jobs_real(json, "energy_j");
    int64_t last = import->trials.count ? before[import->trials.count - 1].number : 0;
    const struct kerf_trial trial = {
        .number = jobs_integer(json, "trial_number"),
        .batch_size = jobs_integer(json, "batch_size"),
        .type = find_name(kerf_trial_type_name, KERF_TRIAL_TYPES, jobs_text(json, "type")),
        .status = find_name(kerf_trial_status_name, KERF_TRIAL_STATUSES, jobs_text(json, "status")),
        .converged = json_is_boolean(converged) ? json_is_true(converged) : -1,
        .lease_ended = json_is_true(json_object_get(json, "lease_ended")),
        .time_s = isnan(time_s) ? 0 : time_s,
        .energy_j = isnan(energy_j) ? 0 : energy_j,
        .dispatched_s = jobs_real(json, "dispatched_s"),
        .seen_s = jobs_real(json, "seen_s"),
    };
    if (trial.number <= last) return wrong(import, err, "trial_number must go up from line to line");
    if (trial.type < 0) return wrong(import, err, "type must be Exploration, Concurrent or MAB");
    if (trial.status < 0) return wrong(import, err, "status must be Dispatched, Succeeded or Failed");
    if (trial.time_s < 0 || trial.energy_j < 0) return wrong(import, err, "time_s and energy_j must be 0 or more");
    if (isnan(trial.dispatched_s) || isnan(trial.seen_s))
        return wrong(import, err, "dispatched_s and seen_s must be numbers");
    struct kerf_trial *to = list_add(&import->trials, sizeof *to);
    const char **why = list_add(&import->why, sizeof *why);
    if (to == NULL || why == NULL || (reason && json_array_append(import->reasons, reason) != 0))
        return error_no_memory(err, "an import");
    *to = trial;
    *why = json_string_value(reason);
    return KERF_OK;
}

static int32_t take_cost(struct import *import, const json_t *json, struct kerf_error *err) {
    struct store_cost *cost = list_add(&import->costs, sizeof *cost);
    if (cost == NULL) return error_no_memory(err, "an import");
    *cost = (struct store_cost){jobs_integer(json, "trial_number"), jobs_integer(json, "batch_size"),
                                jobs_real(json, "energy_j"), jobs_real(json, "time_s")};
    return cost->number > 0 ? KERF_OK : wrong(import, err, "trial_number must be above 0");
}

static int32_t take_line(struct import *import, const char *line, size_t length, struct kerf_error *err) {
    json_error_t why;
    json_t *json = json_loadb(line, length, JSON_REJECT_DUPLICATES, &why);
    if (json == NULL) {
        wrong(import, err, why.text);
        if (why.column > 0) err->column = why.column;
        return err->code;
    }
    json_t *job = json_object_get(json, "job"), *trial = json_object_get(json, "trial"),
           *cost = json_object_get(json, "cost");
    int is_of_job = import->job && strcmp(jobs_text(json, "job_id"), jobs_text(import->job, "job_id")) == 0;
    int32_t code = job               ? take_job(import, job, err)
                   : !trial && !cost ? wrong(import, err, "a line must be a job, a trial or a cost")
                   : !is_of_job      ? wrong(import, err, "this job_id must be that of the job before it")
                   : trial           ? take_trial(import, trial, err)
                                     : take_cost(import, cost, err);
    json_decref(json);
    return code;
}

static int32_t read_lines(struct import *import, struct kerf_error *err) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int32_t code = KERF_OK;
    while (code == KERF_OK && (length = getline(&line, &room, import->from)) > 0) {
        import->line++;
        if (length > 1) code = take_line(import, line, (size_t)length, err);
    }
    free(line);
    if (code == KERF_OK && ferror(import->from)) code = wrong(import, err, "the file cannot be read");
    return code == KERF_OK && import->job ? write_job(import, err) : code;
}

int jobs_import(struct jobs_request *request) {
    const struct jobs_options *options = request->options;
    struct kerf_error err = {.code = KERF_OK};
    struct import import = {.line = 0};
    int32_t code = KERF_OK;
    if (options->words.count < 2) {
        kerf_error_set(&err, KERF_EINVALID, "the file is missing, such as `kerf jobs import jobs.jsonl`");
        return jobs_fail(&err);
    }
    int is_stdin = strcmp(options->words.items[1], "-") == 0;
    import.path = is_stdin ? "standard input" : options->words.items[1];
    import.from = is_stdin ? stdin : fopen(import.path, "re");
    if (import.from == NULL) code = kerf_error_set(&err, KERF_EINVALID, "%.200s: %m", import.path);
    const int32_t flags = STORE_SERVE | (options->create ? STORE_MAY_CREATE : 0);
    if (code == KERF_OK) code = store_open(options->store, flags, &import.to, &err);
    if (code == KERF_OK) code = read_lines(&import, &err);
    if (import.from && !is_stdin) fclose(import.from);
    forget_job(&import);
    free(import.trials.items);
    free(import.why.items);
    free(import.costs.items);
    store_close(import.to);
    int status = output_print(&import.out); /* also what was imported before an error */
    return code == KERF_OK ? status : jobs_fail(&err);
}
