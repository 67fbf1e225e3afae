/* SPDX-License-Identifier: Apache-2.0 */
#include "call/schedule_question.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/characters.h"
#include "base/clock.h"
#include "base/error_fill.h"
#include "base/input.h"
#include "base/json_read.h"
#include "base/number.h"
#include "base/quantity.h"

static int is(const char *value, const char *choice) { return strcmp(value, choice) == 0; }

static int32_t missing(const char *what, const char *example, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID, "%s is missing, such as %s; `kerf help schedule` tells more", what,
                          example);
}

/* ---- Memory caps ------------------------------------------------------------------------------------------ */

struct caps {
    struct memory_cap *items;
    int32_t count;
};

static int32_t add_cap(struct caps *caps, double value, int32_t in_bytes, struct kerf_error *err) {
    struct memory_cap *more = realloc(caps->items, ((size_t)caps->count + 1) * sizeof *more);
    if (more == NULL) return error_no_memory(err, "--memory-cap");
    caps->items = more;
    caps->items[caps->count++] = (struct memory_cap){value, in_bytes};
    return KERF_OK;
}

/* A number of micro-batches, a range of them, or bytes. */
static int32_t read_cap(void *context, const char *word, struct kerf_error *err) {
    struct caps *caps = context;
    struct kerf_error why;
    if (strstr(word, "..")) {
        struct range range;
        int32_t code = range_parse(word, "--memory-cap", 1, 1000000000, &range, err);
        for (int32_t i = 0; code == KERF_OK && i < range.count; i++)
            code = add_cap(caps, (double)range.values[i], 0, err);
        if (code == KERF_OK) range_free(&range);
        return code;
    }
    double value;
    int plain = quantity_parse(word, "", &value, &why) == KERF_OK;
    if (!plain && quantity_parse(word, "B", &value, &why) != KERF_OK)
        return kerf_error_set(err, KERF_EINVALID,
                              "--memory-cap '%.64s' must be micro-batches, such as 8, 7.5 or 4..16, or bytes, such as "
                              "40GB",
                              word);
    if (!(value > 0)) return kerf_error_set(err, KERF_EINVALID, "--memory-cap must be above 0, not %.64s", word);
    return add_cap(caps, value, !plain, err);
}

static int32_t read_caps(const char *text, struct memory_cap **ret_caps, int32_t *ret_count, struct kerf_error *err) {
    struct caps caps = {NULL, 0};
    int32_t code = text ? words_each(text, "--memory-cap", read_cap, &caps, err) : add_cap(&caps, NAN, 0, err);
    if (code != KERF_OK) {
        free(caps.items);
        return code;
    }
    *ret_caps = caps.items;
    *ret_count = caps.count;
    return KERF_OK;
}

/* ---- Names ------------------------------------------------------------------------------------------------ */

int schedule_is_rule(const char *name) {
    const struct kerf_schedule_rule *rule;
    for (size_t i = 0; (rule = kerf_schedule_rule_at(i)); i++)
        if (strcmp(rule->name, name) == 0) return 1;
    return 0;
}

static const char *nearest_rule(const char *name) {
    enum { RULES_MAX = 64 };
    const char *names[RULES_MAX];
    const struct kerf_schedule_rule *rule;
    size_t count = 0;
    while (count < RULES_MAX && (rule = kerf_schedule_rule_at(count))) names[count++] = rule->name;
    return nearest_name(name, names, count);
}

/* Whether a name is that of a schedule, or of a file that is there ("-": standard input); else err says so. */
static int32_t check_name(const struct schedule_values *values, const char *name, int32_t *ret_is_file,
                          struct kerf_error *err) {
    if (schedule_is_rule(name)) {
        *ret_is_file = 0;
        return KERF_OK;
    }
    const int rules_only = values->sources.catalogue_only;
    if (call_file_find(&values->sources, name)) {
        *ret_is_file = 1;
        return KERF_OK;
    }
    if (!rules_only && (strcmp(name, "-") == 0 || access(name, F_OK) == 0)) {
        *ret_is_file = 1;
        return KERF_OK;
    }
    if (!rules_only && strpbrk(name, "./")) { /* rules have neither in their names */
        kerf_error_set(err, KERF_EIO, "no such file");
        error_set_file(err, name);
        return KERF_EIO;
    }
    const char *nearest = nearest_rule(name);
    return kerf_error_set(err, KERF_EUNKNOWN, "%s is called '%.64s'%s%s%s",
                          rules_only ? "no schedule" : "no schedule and no file", name,
                          nearest ? "; did you mean " : "; `kerf schedule --list` shows the schedules",
                          nearest ? nearest : "", nearest ? "?" : "");
}

/* ---- Plans ------------------------------------------------------------------------------------------------ */

enum { PLAN_BYTES_MAX = 256 << 20 };

static int32_t read_plan(const struct schedule_values *values, struct schedule_question *question,
                         struct kerf_error *err) {
    const struct call_file *came = call_file_find(&values->sources, values->plan);
    const char *name = strcmp(values->plan, "-") == 0 ? "standard input" : values->plan;
    struct kerf_text text = {0};
    int32_t code = came ? KERF_OK : input_read(values->plan, PLAN_BYTES_MAX, &text, err);
    const char *data = came ? came->text : text.data ? text.data : "";
    if (code == KERF_OK)
        code = kerf_pipeline_parse(data, came ? came->length : text.length, name, (int32_t)values->rank,
                                   &question->own.pipeline, err);
    kerf_text_free(&text);
    return code;
}

/* What --times would read: each schedule of a comparison sums or splits it for its own stages. */
static int32_t write_times(struct schedule_question *question, struct kerf_error *err) {
    const struct kerf_pipeline *pipeline = question->own.pipeline;
    const struct kerf_schedule_times times = {.forward_s = pipeline->forward_s,
                                              .backward_input_s = pipeline->backward_input_s,
                                              .backward_weight_s = pipeline->backward_weight_s,
                                              .activation_bytes = pipeline->activation_bytes,
                                              .p2p_s = pipeline->p2p_s};
    struct kerf_json json;
    kerf_json_begin(&json, &question->own.times);
    kerf_json_open(&json, NULL, '{');
    kerf_schedule_times_json(&json, &times, pipeline->devices, pipeline->num_stages);
    kerf_json_close(&json, '}');
    return question->own.times.failed ? error_no_memory(err, "the times of the plan") : KERF_OK;
}

/* The plan's schedule first, then the words between commas. */
static int32_t list_names(const struct schedule_values *values, struct schedule_question *question, int32_t *ret_count,
                          struct kerf_error *err) {
    const char *compare = values->compare;
    int32_t count = 1, code = KERF_OK;
    size_t room = 2;
    for (const char *c = compare; c && *c; c++) room += *c == ',';
    question->own.names = calloc(room, sizeof *question->own.names);
    question->own.words = strdup(compare ? compare : "");
    if (question->own.names == NULL || question->own.words == NULL) return error_no_memory(err, "the schedules");
    question->own.names[0] = question->own.pipeline->schedule;
    for (char *word = question->own.words, *next; compare && word && code == KERF_OK; word = next) {
        int32_t is_file;
        next = strchr(word, ',');
        if (next) *next++ = 0;
        code = *word ? check_name(values, word, &is_file, err)
                     : kerf_error_set(err, KERF_EINVALID,
                                      "--compare takes schedules with commas between, such as "
                                      "zb_h1,zb_v");
        question->own.names[count++] = word;
    }
    *ret_count = count;
    return code;
}

/* ---- Times, searches and noise ---------------------------------------------------------------------------- */

/* The file is read once, however many schedules it is for: standard input cannot be read twice. */
static int32_t read_times_file(const struct schedule_values *values, struct schedule_question *question,
                               struct kerf_error *err) {
    enum { BYTES_MAX = 64 << 20 };
    const char *path = values->times;
    const struct call_file *came = call_file_find(&values->sources, path);
    int32_t code = came ? KERF_OK : input_read(path, BYTES_MAX, &question->own.times, err);
    if (came) kerf_text_write(&question->own.times, came->text, came->length);
    if (question->own.times.failed) code = error_no_memory(err, "the times");
    if (code != KERF_OK) return code;
    question->times.file = is(path, "-") ? "standard input" : path;
    question->times.file_text = question->own.times.data ? question->own.times.data : "";
    question->times_are_users = 1;
    struct json_document document; /* all of it: later readers stop at a byte 0 */
    struct json_object root;
    code = json_document_parse(&document, question->own.times.data, question->own.times.length, question->times.file,
                               &root, err);
    json_document_free(&document);
    return code;
}

/* Whether a file that came along is of the trace: the file of its name, or one of the folder. */
static int is_of_trace(const struct schedule_values *values, const char *name) {
    const size_t length = values->trace ? strlen(values->trace) : 0;
    return values->trace && strncmp(name, values->trace, length) == 0 && (name[length] == 0 || name[length] == '/');
}

static int32_t count_trace_files(const struct schedule_values *values, struct kerf_trace_text *ret_texts) {
    int32_t count = 0;
    for (int32_t i = 0; i < values->sources.num_files; i++) {
        const struct call_file *file = &values->sources.files[i];
        if (!is_of_trace(values, file->name)) continue;
        if (ret_texts) ret_texts[count] = (struct kerf_trace_text){file->name, file->text, file->length};
        count++;
    }
    return count;
}

static int32_t load_trace(const struct schedule_values *values, struct kerf_trace **ret_trace, struct kerf_error *err) {
    const int32_t count = count_trace_files(values, NULL), step = (int32_t)values->trace_step;
    const char *path = values->sources.trace && is(values->trace, "-") ? values->sources.trace : values->trace;
    if (count == 0) return kerf_trace_load(path, step, ret_trace, err);
    struct kerf_trace_text *texts = calloc((size_t)count, sizeof *texts);
    if (texts == NULL) return error_no_memory(err, "the trace");
    count_trace_files(values, texts);
    int32_t code = kerf_trace_parse(texts, (size_t)count, values->trace, step, ret_trace, err);
    free(texts);
    return code;
}

/* A trace, and what it says of times; these stand in for a file of times unless there is one. */
static int32_t read_trace(const struct schedule_values *values, struct schedule_question *question,
                          struct kerf_error *err) {
    int32_t code = load_trace(values, &question->own.trace, err);
    if (code == KERF_OK) code = kerf_trace_fit_make(question->own.trace, &question->own.trace_fit, err);
    if (code != KERF_OK) return code;
    question->trace = question->own.trace;
    if (values->times) return KERF_OK;
    schedule_fit_json(&question->own.times, question->own.trace_fit, NULL);
    if (question->own.times.failed) return error_no_memory(err, "the times of the trace");
    question->times.file = values->trace;
    question->times.file_text = question->own.times.data;
    return KERF_OK;
}

/* "50%" or "0.5", or several. */
static int32_t read_share(void *context, const char *word, struct kerf_error *err) {
    struct share_list *list = context;
    char *end = NULL;
    double share = number_read(word, &end);
    if (end != word && is(end, "%")) share /= 100, end++;
    if (end == word || *end != '\0' || !(share >= 0 && share <= 1))
        return kerf_error_set(err, KERF_EINVALID, "'%.64s' must be a share from 0 to 1, such as 50%% or 0.5", word);
    if (list->count == SHARES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "at most %d shares make a sweep", SHARES_MAX);
    list->values[list->count++] = share;
    return KERF_OK;
}

static int32_t read_shares(const char *text, const char *option, struct share_list *ret, struct kerf_error *err) {
    struct kerf_error why = {0};
    if (text == NULL) {
        ret->values[ret->count++] = NAN;
        return KERF_OK;
    }
    int32_t code = words_each(text, option, read_share, ret, &why);
    if (code == KERF_OK) return code;
    return strncmp(why.message, option, strlen(option)) == 0 ? kerf_error_set(err, code, "%s", why.message)
                                                             : kerf_error_set(err, code, "%s: %s", option, why.message);
}

/* Whether any of the schedules may have slices: files may. */
static int any_slices(const struct schedule_question *question) {
    for (int32_t i = 0; i < question->num_names; i++)
        if (!schedule_is_rule(question->names[i]) || kerf_schedule_takes_slices(question->names[i])) return 1;
    return 0;
}

static int32_t read_slices(const struct schedule_values *values, struct schedule_question *question,
                           struct kerf_error *err) {
    const char *option = values->attention ? "--attention" : "--slice-cut";
    struct share_list list = {.count = 0};
    question->attention = NAN;
    question->slice_cut = values->slice_cut == NULL           ? KERF_SLICE_CUT_OWN
                          : is(values->slice_cut, "balanced") ? KERF_SLICE_CUT_BALANCED
                          : is(values->slice_cut, "equal")    ? KERF_SLICE_CUT_EQUAL
                                                              : KERF_SLICE_CUT_EXCHANGED;
    if (values->attention == NULL && values->slice_cut == NULL) return KERF_OK;
    if (!any_slices(question))
        return kerf_error_set(err, KERF_EINVALID,
                              "%s is for schedules that cut micro-batches into slices, such as seq1f1b", option);
    if (values->attention == NULL)
        return kerf_error_set(err, KERF_EINVALID, "--slice-cut needs --attention: without it the cut changes nothing");
    int32_t code = read_shares(values->attention, option, &list, err);
    if (code == KERF_OK && list.count != 1)
        return kerf_error_set(err, KERF_EINVALID, "--attention takes one share, not %d", list.count);
    question->attention = list.values[0];
    return code;
}

static void read_times(const struct schedule_values *values, struct kerf_schedule_times_request *times) {
    *times = (struct kerf_schedule_times_request){.forward_s = values->forward,
                                                  .backward_s = values->backward,
                                                  .backward_input_s = values->backward_input,
                                                  .backward_weight_s = values->backward_weight,
                                                  .fused_s = values->fused,
                                                  .p2p_s = values->p2p,
                                                  .overhead_s = values->overhead,
                                                  .optimizer_s = values->optimizer,
                                                  .recompute = NAN,
                                                  .recompute_s = values->recompute_time,
                                                  .offload = NAN,
                                                  .offload_s = values->offload_time,
                                                  .host_link_shared = is(values->host_link, "shared"),
                                                  .file = values->times,
                                                  .blocking = is(values->send, "blocking"),
                                                  .shared_link = is(values->link, "shared"),
                                                  .free_at_input = is(values->free_at, "b"),
                                                  .unsynchronised = is(values->optimizer_step, "unsynchronised")};
}

static double search_clock(void *unused) {
    (void)unused;
    return clock_ticks_s();
}

/* The search's limit: steps where they are given, else time, and both where both are. */
static void read_limits(const struct schedule_values *values, struct kerf_schedule_request *request) {
    request->search_steps = values->search_steps;
    if (values->search_steps && values->search_time == 0) return;
    request->clock = search_clock;
    request->search_time_s = values->search_time > 0 ? values->search_time : 1;
}

/* "5%", "0.05", or "trace". */
static int32_t read_noise(const struct schedule_values *values, struct schedule_question *question,
                          struct kerf_error *err) {
    char *end = NULL;
    question->jitter = NAN;
    question->stragglers = values->stragglers;
    question->slow_links = values->slow_links;
    question->measured_jitter = values->jitter && is(values->jitter, "trace");
    question->rank_by_p95 = values->rank_by && is(values->rank_by, "p95");
    if (question->measured_jitter && values->trace == NULL)
        return kerf_error_set(err, KERF_EINVALID, "--jitter trace needs --trace, whose operations it takes");
    if (question->rank_by_p95 && !values->jitter && !values->stragglers.count && !values->slow_links.count)
        return kerf_error_set(err, KERF_EINVALID, "--rank-by p95 needs --jitter, --straggler or --slow-link");
    if (values->jitter == NULL || question->measured_jitter) return KERF_OK;
    question->jitter = number_read(values->jitter, &end);
    if (end != values->jitter && is(end, "%")) question->jitter /= 100, end++;
    if (end == values->jitter || *end != '\0' || !(question->jitter >= 0 && question->jitter <= 1))
        return kerf_error_set(err, KERF_EINVALID,
                              "--jitter '%.64s' must be a share from 0 to 100%%, such as 5%% or 0.05, or trace",
                              values->jitter);
    return KERF_OK;
}

/* What single rules and the search take. */
static void read_rules(const struct schedule_values *values, int compare, struct kerf_schedule_request *request) {
    const char *placement = values->placement                     ? values->placement
                            : compare && !values->memory_frontier ? "any"
                                                                  : "loop";
    request->objective = is(values->objective, "span")       ? KERF_OBJECTIVE_SPAN
                         : is(values->objective, "makespan") ? KERF_OBJECTIVE_MAKESPAN
                                                             : KERF_OBJECTIVE_STEP;
    request->placement = is(placement, "any")    ? KERF_PLACE_ANY
                         : is(placement, "v")    ? KERF_PLACE_V
                         : is(placement, "both") ? KERF_PLACE_BOTH
                                                 : KERF_PLACE_LOOP;
    request->certificate = values->wants_certificate;
    request->group = (int32_t)values->group;
    request->slices = (int32_t)values->slices;
    request->replicas = (int32_t)values->replicas;
    read_limits(values, request);
}

int32_t schedule_times_keys(const struct schedule_question *question, const char *const *keys, int32_t count,
                            uint32_t *ret_there, struct kerf_error *err) {
    const char *text = question->times.file_text;
    struct json_document document;
    struct json_object root;
    *ret_there = 0;
    if (text == NULL) return KERF_OK;
    int32_t code = json_document_parse(&document, text, strlen(text), question->times.file, &root, err);
    for (int32_t k = 0; code == KERF_OK && k < count; k++) *ret_there |= (uint32_t)json_has(&root, keys[k]) << k;
    json_document_free(&document);
    return code;
}

/* Refuses noise with what is not simulated under it. */
static int32_t check_noise(const struct schedule_values *values, const struct schedule_question *question,
                           struct kerf_error *err) {
    const char *noise = values->jitter             ? "--jitter"
                        : values->stragglers.count ? "--straggler"
                        : values->slow_links.count ? "--slow-link"
                                                   : NULL;
    int offloads = 0;
    for (int32_t i = 0; i < question->offload.count; i++) offloads |= question->offload.values[i] > 0;
    const char *other = question->times.blocking      ? "--send blocking"
                        : question->times.shared_link ? "--link shared"
                        : offloads                    ? "--offload"
                                                      : NULL;
    if (noise == NULL || other == NULL) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s is not simulated with %s: leave out one of them", noise, other);
}

/* Refuses an option that nothing asked for uses, which would be ignored. */
static int32_t check_used(const struct schedule_values *values, const struct schedule_question *question,
                          struct kerf_error *err) {
    enum { RECOMPUTE, OFFLOAD, CAP, KEYS };
    static const char *const keys[KEYS] = {"recompute", "offload", "memory_cap"};
    uint32_t there;
    int files = 0, chunks = 0;
    int32_t code = schedule_times_keys(question, keys, KEYS, &there, err);
    if (code == KERF_OK) code = check_noise(values, question, err);
    if (code != KERF_OK) return code;
    for (int32_t i = 0; i < question->num_names; i++) {
        files |= !schedule_is_rule(question->names[i]); /* which may have R and O of their own */
        chunks |= kerf_schedule_takes_chunks(question->names[i]);
    }
    const int in_recompute = there >> RECOMPUTE & 1, in_offload = there >> OFFLOAD & 1;
    const int recomputes = files || values->recompute || in_recompute;
    const int offloads = files || values->offload || in_offload;
    if (!isnan(values->recompute_time) && !recomputes)
        return kerf_error_set(err, KERF_EINVALID, "--recompute-time needs --recompute, the share that it is of");
    if (!isnan(values->offload_time) && !offloads)
        return kerf_error_set(err, KERF_EINVALID, "--offload-time needs --offload, the share that it is of");
    if (question->times.host_link_shared && !offloads)
        return kerf_error_set(err, KERF_EINVALID, "--host-link needs --offload, whose copies it is for");
    const char *of_schedules = values->devices > 0                 ? "--devices"
                               : values->microbatches              ? "--microbatches"
                               : values->chunks > 0                ? "--chunks"
                               : values->recompute || in_recompute ? "--recompute"
                               : values->offload || in_offload     ? "--offload"
                                                                   : NULL;
    if (values->trace && values->names.count == 0 && of_schedules)
        return kerf_error_set(err, KERF_EINVALID,
                              "%s is of a schedule, and a trace has its own: name one, such as `kerf schedule 1f1b "
                              "--trace DIR`",
                              of_schedules);
    if (question->frontier && values->memory_cap == NULL && question->request.devices < 1)
        return kerf_error_set(err, KERF_EINVALID,
                              "--memory-frontier needs --memory-cap, or --devices, of which its caps are 1 to twice as "
                              "many micro-batches");
    if (values->trace_step >= 0 && values->trace == NULL)
        return kerf_error_set(err, KERF_EINVALID, "--trace-step needs --trace, whose steps it chooses from");
    if (values->chunks > 0 && question->compare && !chunks)
        return kerf_error_set(err, KERF_EINVALID,
                              "--chunks is for schedules that take any number of stages on a device, such as "
                              "interleaved_1f1b; none of these does");
    if (question->frontier && values->memory_cap == NULL && there >> CAP & 1)
        return kerf_error_set(
            err, KERF_EINVALID,
            "--memory-frontier asks for one cap after the other, of all devices: leave \"memory_cap\" "
            "out of the file of times, or give --memory-cap, which takes precedence");
    return KERF_OK;
}

/* The question of a plan's pipeline: all that is asked is in its file. */
static int32_t read_plan_question(const struct schedule_values *values, struct schedule_question *question,
                                  struct kerf_error *err) {
    char microbatches[16];
    if (values->names.count > 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--plan has a schedule of its own, not '%.64s' too; --compare takes others",
                              values->names.items[0]);
    int32_t count = 0, code = read_plan(values, question, err);
    if (code == KERF_OK) code = write_times(question, err);
    if (code == KERF_OK) code = list_names(values, question, &count, err);
    if (code != KERF_OK) return code;
    const struct kerf_pipeline *pipeline = question->pipeline = question->own.pipeline;
    question->names = question->own.names;
    question->num_names = count;
    question->compare = values->compare != NULL;
    question->request.devices = pipeline->devices;
    question->request.chunks = pipeline->chunks > 1 ? pipeline->chunks : 0;
    question->times.file = values->plan;
    question->times.file_text = question->own.times.data;
    snprintf(microbatches, sizeof microbatches, "%d", pipeline->microbatches);
    read_rules(values, question->compare, &question->request);
    question->threads = (int32_t)values->threads;
    code = range_parse(microbatches, "the plan", 1, 1048576, &question->microbatches, err);
    if (code == KERF_OK) code = read_caps(NULL, &question->caps, &question->num_caps, err);
    return code;
}

static const char *const only_best[] = {"best"};

/* What a frontier is of has to be one thing, whose bounds hold together. */
static int32_t read_frontier(const struct schedule_values *values, struct schedule_question *question,
                             struct kerf_error *err) {
    question->frontier = values->memory_frontier;
    if (!values->memory_frontier) return KERF_OK;
    if (values->placement && is(values->placement, "any"))
        return kerf_error_set(err, KERF_EINVALID,
                              "--memory-frontier needs one placement, loop, v or both: what is proved of one says "
                              "nothing of the others");
    if (values->jitter || values->stragglers.count || values->slow_links.count || values->rank_by)
        return kerf_error_set(err, KERF_EINVALID,
                              "--memory-frontier is of steps without noise; leave --jitter, --straggler, --slow-link "
                              "and --rank-by out");
    return KERF_OK;
}

static int32_t read_question(const struct schedule_values *values, struct schedule_question *question,
                             struct kerf_error *err) {
    const struct string_list *names = &values->names;
    question->compare = names->count > 0 && is(names->items[0], "compare");
    question->names = names->items + question->compare;
    question->num_names = names->count - question->compare;
    if (values->memory_frontier && question->compare && question->num_names == 0) {
        question->names = only_best;
        question->num_names = 1;
    }
    read_times(values, &question->times);
    int32_t code = read_shares(values->recompute, "--recompute", &question->recompute, err);
    if (code == KERF_OK) code = read_shares(values->offload, "--offload", &question->offload, err);
    if (code == KERF_OK) code = read_frontier(values, question, err);
    if (code == KERF_OK) code = read_noise(values, question, err);
    if (code == KERF_OK) code = read_slices(values, question, err);
    if (code == KERF_OK && values->plan) return read_plan_question(values, question, err);
    if (code == KERF_OK && values->trace) code = read_trace(values, question, err);
    question->trace_fit = question->own.trace_fit;
    if (code != KERF_OK) return code;
    if (question->num_names < 1 && (values->trace == NULL || question->compare))
        return missing("a schedule", "1f1b", err);
    if (question->num_names > 1 && !question->compare)
        return kerf_error_set(err, KERF_EINVALID,
                              "give one schedule, not also '%.64s'; `kerf schedule compare` takes several",
                              question->names[1]);
    int32_t rules = 0; /* files have devices and micro-batches of their own */
    for (int32_t i = 0; i < question->num_names && code == KERF_OK; i++) {
        int32_t is_file = 0;
        code = check_name(values, question->names[i], &is_file, err);
        rules += !is_file;
    }
    if (code != KERF_OK) return code;
    if (question->trace) rules = 0; /* and so has a trace */
    if (values->devices == 0 && rules) return missing("--devices", "--devices 8", err);
    if (values->microbatches == NULL && rules) return missing("--microbatches", "--microbatches 32", err);
    question->request = (struct kerf_schedule_request){
        .devices = values->devices || !question->trace ? (int32_t)values->devices : question->trace->schedule->devices,
        .chunks = (int32_t)values->chunks};
    read_rules(values, question->compare, &question->request);
    question->threads = (int32_t)values->threads;
    if (values->times) code = read_times_file(values, question, err);
    if (code == KERF_OK) code = check_used(values, question, err);
    if (code != KERF_OK) return code;
    code = values->microbatches
               ? range_parse(values->microbatches, "--microbatches", 1, 1048576, &question->microbatches, err)
               : range_parse("0", "--microbatches", 0, 0, &question->microbatches, err); /* the file's own */
    char all_caps[32];
    snprintf(all_caps, sizeof all_caps, "1..%d", 2 * question->request.devices);
    const char *caps = values->memory_cap ? values->memory_cap : question->frontier ? all_caps : NULL;
    if (code == KERF_OK) code = read_caps(caps, &question->caps, &question->num_caps, err);
    return code;
}

/* What only a file says: one that came along, or the trace that is allowed as "-". */
static int32_t check_files(const struct schedule_values *values, struct kerf_error *err) {
    const char *const files[][2] = {{"times", values->times}, {"plan", values->plan}};
    if (!values->sources.catalogue_only) return KERF_OK;
    if (values->trace && !(values->sources.trace && is(values->trace, "-")) && count_trace_files(values, NULL) == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--trace reads files, and files are not read here but those in \"files\"");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i][1] && call_file_find(&values->sources, files[i][1]) == NULL)
            return kerf_error_set(err, KERF_EINVALID,
                                  "--%s reads a file, and files are not read here but those in \"files\"", files[i][0]);
    return KERF_OK;
}

/* A file that came along, and that nothing in the request names, would be ignored. */
static int32_t check_named(const struct schedule_values *values, const struct schedule_question *question,
                           struct kerf_error *err) {
    for (int32_t i = 0; i < values->sources.num_files; i++) {
        const char *name = values->sources.files[i].name;
        int named = is_of_trace(values, name) || (values->times && is(values->times, name)) ||
                    (values->plan && is(values->plan, name));
        for (int32_t k = 0; k < question->num_names; k++)
            named |= !schedule_is_rule(name) && is(question->names[k], name);
        if (!named)
            return kerf_error_set(err, KERF_EINVALID,
                                  "\"files\" has '%.64s', which no schedule, \"times\", \"plan\" or \"trace\" of the "
                                  "request names",
                                  name);
    }
    return KERF_OK;
}

int32_t schedule_question_read(const struct schedule_values *values, struct schedule_question *ret_question,
                               struct kerf_error *err) {
    memset(ret_question, 0, sizeof *ret_question);
    ret_question->sources = &values->sources;
    int32_t code = check_files(values, err);
    if (code == KERF_OK) code = read_question(values, ret_question, err);
    if (code == KERF_OK) code = check_named(values, ret_question, err);
    if (code != KERF_OK) schedule_question_free(ret_question);
    return code;
}

void schedule_question_free(struct schedule_question *question) {
    range_free(&question->microbatches);
    free(question->caps);
    kerf_trace_fit_free(question->own.trace_fit);
    kerf_trace_free(question->own.trace);
    kerf_pipeline_free(question->own.pipeline);
    kerf_text_free(&question->own.times);
    free(question->own.words);
    free(question->own.names);
    memset(question, 0, sizeof *question);
}

static void spread_json(struct kerf_json *json, const char *key, const struct kerf_trace_spread *spread) {
    if (spread->count == 0) {
        kerf_json_null(json, key);
        return;
    }
    kerf_json_open(json, key, '{');
    kerf_json_integer(json, "count", spread->count);
    kerf_json_number(json, "low_s", spread->low_s);
    kerf_json_number(json, "median_s", spread->median_s);
    kerf_json_number(json, "high_s", spread->high_s);
    kerf_json_close(json, '}');
}

static void spreads_json(struct kerf_json *json, const char *key, const struct kerf_trace_spread *spreads,
                         int32_t stages) {
    int32_t count = 0;
    for (int32_t k = 0; k < stages; k++) count += spreads[k].count;
    if (count == 0) return;
    kerf_json_open(json, key, '[');
    for (int32_t k = 0; k < stages; k++) spread_json(json, NULL, &spreads[k]);
    kerf_json_close(json, ']');
}

/* What the times rest on, and what they do not explain. */
static void measured_json(struct kerf_json *json, const struct kerf_trace_fit *fit, const struct kerf_trace *trace) {
    static const char *const keys[KERF_OP_MEASURED] = {"forward", "backward", "backward_input", "backward_weight",
                                                       "fused"};
    kerf_json_open(json, "measured", '{');
    kerf_json_string(json, "source", trace->source);
    kerf_json_integer(json, "step", trace->step + 1);
    kerf_json_integer(json, "steps", trace->steps);
    kerf_json_number(json, "makespan_s", fit->measured_s);
    if (!isnan(fit->simulated_s)) kerf_json_number(json, "simulated_s", fit->simulated_s);
    if (!isnan(fit->residual)) kerf_json_number(json, "residual", fit->residual);
    kerf_json_number(json, "overhead_s", fit->times->overhead_s);
    for (int kind = 0; kind < KERF_OP_MEASURED; kind++) spreads_json(json, keys[kind], fit->of_kind[kind], fit->stages);
    spread_json(json, "p2p", &fit->p2p);
    struct kerf_text line = {0};
    kerf_json_open(json, "notes", '[');
    for (const char *note = trace->notes; *note; note += strcspn(note, "\n") + 1) { /* each ends with one */
        kerf_text_clear(&line);
        kerf_text_write(&line, note, strcspn(note, "\n"));
        kerf_json_string(json, NULL, line.data);
    }
    kerf_json_close(json, ']');
    kerf_text_free(&line);
    kerf_json_close(json, '}');
}

void schedule_fit_json(struct kerf_text *out, const struct kerf_trace_fit *fit, const struct kerf_trace *trace) {
    struct kerf_json json;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_schedule_times_json(&json, fit->times, fit->devices, fit->stages);
    if (trace) measured_json(&json, fit, trace);
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}

int schedule_question_is_several(const struct schedule_question *question) {
    return question->compare || question->microbatches.count > 1 || question->num_caps > 1 ||
           question->recompute.count > 1 || question->offload.count > 1;
}

int32_t schedule_question_check_format(const struct schedule_question *question, const char *format, int is_torch,
                                       struct kerf_error *err) {
    if (schedule_question_is_several(question))
        return kerf_error_set(err, KERF_EINVALID, "the format %s holds one schedule, not a comparison or a sweep",
                              format);
    if (is_torch && (question->recompute.values[0] > 0 || question->offload.values[0] > 0))
        return kerf_error_set(err, KERF_EINVALID,
                              "the format %s has no recomputation and no offload: leave --recompute and --offload out, "
                              "and let the stages recompute (torch.utils.checkpoint)",
                              format);
    if (is_torch && question->request.placement == KERF_PLACE_BOTH)
        return kerf_error_set(
            err, KERF_EINVALID,
            "the format %s has each stage on one device, and --placement both has it on two: give loop or v", format);
    if (is_torch && question->request.placement == KERF_PLACE_ANY)
        return kerf_error_set(
            err, KERF_EINVALID,
            "the format %s has each stage on one device, and --placement any may come to be both: give loop or v",
            format);
    return KERF_OK;
}

/* ---- Uses ------------------------------------------------------------------------------------------------- */

int schedule_question_is_use(const void *context, const char *use) {
    const struct schedule_values *values = context;
    const struct string_list *names = &values->names;
    const char *first = values->plan ? "--plan" : names->count ? names->items[0] : "";
    if (values->memory_frontier && names->count == 1 && is(use, "best")) return 1;
    if (is(use, "SCHEDULE")) return !values->plan && !is(first, "compare");
    if (values->plan && list_has(values->compare, use)) return 1;
    for (int32_t i = 0; i < names->count; i++)
        if (is(names->items[i], use)) return 1;
    return is(first, use);
}
