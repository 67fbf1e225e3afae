/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kerf jobs run: asks for the batch size, runs the script, and reports time, energy and metric of every line with a
 * metric; when the server says stop, the script is asked to end. A run that ends without is given up (PATCH /trials),
 * so that the job goes on exploring at once.
 */
#include <inttypes.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "base/number.h"
#include "cli/jobs_request.h"
#include "client/energy.h"
#include "client/script.h"

/* ---- Numbers in the script's output ---------------------------------------------------------------------------- */

/* By extended regular expressions: what the first group matches, else all of it. */
struct metric_pattern {
    regex_t regex;
    int is_there;
    const char *option;
    int was_unread; /* it matched something that is no number, which was said */
};

/* text NULL: a pattern that matches nothing. option: "--metric-regex". */
static int32_t metric_compile(const char *text, const char *option, struct metric_pattern *ret_pattern,
                              struct kerf_error *err) {
    char why[128];
    if (text == NULL) return KERF_OK;
    int status = regcomp(&ret_pattern->regex, text, REG_EXTENDED | REG_NEWLINE);
    if (status == 0) {
        ret_pattern->is_there = 1;
        ret_pattern->option = option;
        return KERF_OK;
    }
    regerror(status, &ret_pattern->regex, why, sizeof why);
    return kerf_error_set(err, KERF_EINVALID, "%s '%.100s': %s; write for example 'accuracy: ([0-9.]+)'", option, text,
                          why);
}

static void metric_free(struct metric_pattern *pattern) {
    if (pattern->is_there) regfree(&pattern->regex);
    pattern->is_there = 0;
}

/* The whole match has to be a number. */
static int read_number(const char *begin, size_t length, double *ret_number) {
    char text[64], *end;
    while (length > 0 && begin[length - 1] == '.') length--; /* of "[0-9.]+" at the end of a sentence */
    if (length == 0 || length >= sizeof text) return 0;
    memcpy(text, begin, length);
    text[length] = 0;
    double number = number_read(text, &end);
    if (*end != 0 || !isfinite(number)) return 0;
    *ret_number = number;
    return 1;
}

/* Such as the nan of a run that diverged: the line reports nothing. */
static void tell_unread(struct metric_pattern *pattern, const char *begin, int length) {
    if (pattern->was_unread) return;
    pattern->was_unread = 1;
    fprintf(stderr, "kerf: %s matched '%.*s', which is not a number: such matches are ignored\n", pattern->option,
            length < 64 ? length : 64, begin);
}

/* 1 and the last number of the line; 0: there is none. */
static int metric_find(struct metric_pattern *pattern, const char *line, double *ret_number) {
    regmatch_t match[2];
    const char *unread = NULL;
    int found = 0, flags = 0, length = 0;
    while (pattern->is_there && regexec(&pattern->regex, line, 2, match, flags) == 0) {
        const regmatch_t *number = pattern->regex.re_nsub > 0 && match[1].rm_so >= 0 ? &match[1] : &match[0];
        length = number->rm_eo - number->rm_so;
        if (read_number(line + number->rm_so, (size_t)length, ret_number))
            found = 1;
        else
            unread = line + number->rm_so;
        if (match[0].rm_eo == 0 && line[0] == 0) break;
        line += match[0].rm_eo > 0 ? match[0].rm_eo : 1;
        flags = REG_NOTBOL;
    }
    if (unread && !found) tell_unread(pattern, unread, length);
    return found;
}

/* ---- The run --------------------------------------------------------------------------------------------------- */

enum { NOT_FOUND = 127, NOT_STARTED = 126, ENDED_BY_TERM = 128 + 15, ENDED_BY_KILL = 128 + 9, RETRY_S = 60 };

struct run {
    struct jobs_request *request;
    const char *job_id;
    struct service_trial trial;
    struct energy_meter *meter;
    struct script *script;
    struct metric_pattern metric, epoch;
    double began_s, began_j;
    int64_t epochs;               /* as the epoch's pattern says, or metrics seen */
    struct service_report report; /* the latest */
    int has_report, is_unsent;    /* unsent: the server has not answered it */
    int is_unmeasured;            /* the energy of the latest metric could not be read */
    int is_refused, has_complained;
    struct service_verdict verdict;
};

/* ---- Reports ------------------------------------------------------------------------------------------------ */

static void complain(struct run *run, const struct kerf_error *err) {
    if (!run->has_complained) cli_fail(err);
    run->has_complained = 1;
}

/* Totals since the run began, so that a report which does not get through is made up for by the next. */
static void send_report(struct run *run) {
    struct kerf_error err = {.code = KERF_OK};
    int32_t code =
        service_report(run->request->client, run->job_id, &run->report, &run->request->answer, &run->verdict, &err);
    run->is_unsent = code == KERF_EIO;
    if (code == KERF_OK) run->has_complained = 0;
    if (code != KERF_OK) complain(run, &err);
    if (code == KERF_EINVALID || code == KERF_EUNKNOWN) run->is_refused = 1;
}

static void on_line(void *context, const char *line) {
    struct run *run = context;
    double epoch, metric;
    if (run->verdict.stop || run->is_refused) return;
    if (metric_find(&run->epoch, line, &epoch)) run->epochs = (int64_t)fmin(fmax(epoch, -0x1p62), 0x1p62);
    if (!metric_find(&run->metric, line, &metric)) return;
    if (!run->epoch.is_there) run->epochs++;
    double now_s = clock_ticks_s(), energy_j = energy_read_j(run->meter, now_s) - run->began_j;
    run->is_unmeasured = isnan(energy_j);
    if (run->is_unmeasured) {
        struct kerf_error err;
        kerf_error_set(&err, KERF_EIO, "the energy cannot be read now; the next report will include it");
        complain(run, &err);
        return;
    }
    run->report = (struct service_report){.trial = run->trial,
                                          .time_s = now_s - run->began_s,
                                          .energy_j = energy_j,
                                          .metric = metric,
                                          .epoch = run->epochs};
    run->has_report = 1;
    send_report(run);
    if (run->verdict.stop) script_stop(run->script);
}

static void on_tick(void *context) {
    struct run *run = context;
    energy_read_j(run->meter, clock_ticks_s());
}

/* The last report has to arrive, even if the server is away for a moment. */
static void insist(struct run *run) {
    double until_s = clock_ticks_s() + RETRY_S;
    for (int wait_s = 1; run->is_unsent && clock_ticks_s() < until_s; wait_s = wait_s < 8 ? 2 * wait_s : 8) {
        script_pause(run->script, wait_s);
        if (script_is_interrupted(run->script)) return;
        send_report(run);
    }
}

static void give_up(struct run *run, const char *why) {
    struct kerf_error err = {.code = KERF_OK};
    int32_t code = service_end(run->request->client, run->job_id, &run->trial, &err);
    fprintf(stderr, "kerf: trial %" PRId64 " is given up: %s\n", run->trial.number, why);
    if (code == KERF_OK) return;
    cli_fail(&err);
    fputs("kerf: it counts as failed once its lease has ended\n", stderr);
}

/* ---- The script's words ------------------------------------------------------------------------------------- */

/* A word with its {names} replaced; NULL: no memory. */
static char *fill_in(const char *word, const struct service_trial *trial) {
    static const char size_mark[] = "{batch_size}", number_mark[] = "{trial_number}";
    struct kerf_text out = {0};
    while (*word) {
        if (strncmp(word, size_mark, sizeof size_mark - 1) == 0) {
            kerf_text_printf(&out, "%" PRId64, trial->batch_size);
            word += sizeof size_mark - 1;
        } else if (strncmp(word, number_mark, sizeof number_mark - 1) == 0) {
            kerf_text_printf(&out, "%" PRId64, trial->number);
            word += sizeof number_mark - 1;
        } else {
            kerf_text_write(&out, word++, 1);
        }
    }
    kerf_text_write(&out, "", 1); /* so that an empty word is there, too */
    if (!out.failed) return out.data;
    kerf_text_free(&out);
    return NULL;
}

static void free_words(char **words) {
    for (char **word = words; words && *word; word++) free(*word);
    free(words);
}

static char **make_words(const struct string_list *words, const struct service_trial *trial) {
    enum { FIRST = 2 };
    char **made = calloc((size_t)(words->count - FIRST) + 1, sizeof *made);
    for (int32_t i = 0; made && i < words->count - FIRST; i++) {
        made[i] = fill_in(words->items[FIRST + i], trial);
        if (made[i]) continue;
        free_words(made);
        return NULL;
    }
    return made;
}

static void export_trial(const struct run *run) {
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, run->trial.batch_size);
    setenv("KERF_BATCH_SIZE", number, 1);
    snprintf(number, sizeof number, "%" PRId64, run->trial.number);
    setenv("KERF_TRIAL_NUMBER", number, 1);
}

/* ---- The run ------------------------------------------------------------------------------------------------ */

static int conclude(struct run *run) {
    int status = script_status(run->script);
    if (!run->verdict.stop && run->has_report && run->is_unsent && status == 0) insist(run);
    if (run->verdict.stop) {
        int is_ours = status == ENDED_BY_TERM || status == ENDED_BY_KILL;
        fprintf(stderr, "kerf: %s: %s\n", run->verdict.converged ? "stop, converged" : "stop", run->verdict.message);
        return is_ours && !script_is_interrupted(run->script) ? EXIT_ANSWERED : status;
    }
    if (script_is_interrupted(run->script))
        give_up(run, "interrupted");
    else if (status != 0)
        give_up(run, "the script failed");
    else if (run->is_unmeasured)
        give_up(run, "the energy could not be read");
    else if (!run->has_report)
        give_up(run, run->metric.was_unread ? "--metric-regex matches no number in the output"
                                            : "--metric-regex matches nothing in the output");
    else if (run->is_unsent || run->is_refused)
        give_up(run, "its last report did not arrive");
    else
        give_up(run, "the script ended before the service said stop");
    int is_told = run->has_report && !run->is_unmeasured && !run->is_unsent && !run->is_refused;
    return status == 0 && !is_told ? EXIT_FAILED : status;
}

static int run_script(struct run *run) {
    const struct jobs_options *options = run->request->options;
    const struct script_watcher watcher = {on_line, on_tick, run, options->grace_s};
    struct kerf_error err = {.code = KERF_OK};
    char **words = make_words(&options->words, &run->trial);
    int32_t code = words ? KERF_OK : error_no_memory(&err, "the script");
    export_trial(run);
    fprintf(stderr, "kerf: batch size %" PRId64 ", trial %" PRId64 "; energy: %s\n", run->trial.batch_size,
            run->trial.number, energy_words(run->meter));
    run->began_s = clock_ticks_s();
    run->began_j = energy_read_j(run->meter, run->began_s);
    if (code == KERF_OK) code = script_start(run->script, words, &err);
    free_words(words);
    if (code != KERF_OK) {
        cli_fail(&err);
        give_up(run, "the script did not start");
        return code == KERF_EUNKNOWN ? NOT_FOUND : NOT_STARTED;
    }
    script_wait(run->script, &watcher);
    return conclude(run);
}

/* Whether energy is no part of the job's cost. 0 also where the server does not say. */
static int costs_no_energy(struct run *run) {
    struct kerf_text target = {0};
    json_t *job = NULL;
    jobs_target(&target, run->job_id, "");
    int32_t code = target.failed
                       ? KERF_ENOMEM
                       : service_ask(run->request->client, "GET", target.data, NULL, &run->request->answer, &job, NULL);
    int is_so = code == KERF_OK && jobs_real(json_object_get(job, "spec"), "eta_knob") == 0;
    json_decref(job);
    kerf_text_free(&target);
    return is_so;
}

/* A meter that was not named may be missing where the job's cost is time alone. */
static int32_t open_meter(struct run *run, struct kerf_error *err) {
    const struct jobs_options *options = run->request->options;
    struct energy_options energy = {.source = strcmp(options->meter, "nvml") == 0   ? ENERGY_NVML
                                              : strcmp(options->meter, "rapl") == 0 ? ENERGY_RAPL
                                                                                    : ENERGY_AUTO,
                                    .gpus = options->gpus,
                                    .power_w = isnan(options->power_w) ? 0 : options->power_w};
    int32_t code = energy_open(&energy, &run->meter, err);
    int may_do_without = energy.source == ENERGY_AUTO && energy.gpus == NULL;
    if (code == KERF_OK || !may_do_without || !costs_no_energy(run)) return code;
    energy.source = ENERGY_NONE;
    return energy_open(&energy, &run->meter, err);
}

static int32_t prepare(struct run *run, struct kerf_error *err) {
    const struct jobs_options *options = run->request->options;
    run->job_id = jobs_name(run->request, err);
    if (run->job_id == NULL) return err->code;
    if (options->words.count < 3)
        return kerf_error_set(err, KERF_EINVALID,
                              "the script is missing, such as `kerf jobs run %.100s -- ./train.sh {batch_size}`",
                              run->job_id);
    if (options->metric_regex == NULL)
        return kerf_error_set(err, KERF_EINVALID,
                              "--metric-regex is missing, such as --metric-regex 'accuracy: ([0-9.]+)'");
    int32_t code = metric_compile(options->metric_regex, "--metric-regex", &run->metric, err);
    if (code == KERF_OK) code = metric_compile(options->epoch_regex, "--epoch-regex", &run->epoch, err);
    if (code == KERF_OK) code = open_meter(run, err);
    if (code == KERF_OK) code = script_signals(&run->script, err);
    return code;
}

int jobs_run(struct jobs_request *request) {
    struct run run = {.request = request};
    struct kerf_error err = {.code = KERF_OK};
    int32_t code = prepare(&run, &err);
    if (code == KERF_OK) code = service_next(request->client, run.job_id, &request->answer, &run.trial, &err);
    int status = code == KERF_OK ? run_script(&run) : jobs_fail(&err);
    script_free(run.script);
    energy_close(run.meter);
    metric_free(&run.metric);
    metric_free(&run.epoch);
    return status;
}
