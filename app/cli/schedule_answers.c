/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/schedule_answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli/interrupt.h"
#include "cli/terminal.h"

/* ---- Memory caps ------------------------------------------------------------------------------------------ */

struct caps {
    struct memory_cap *items;
    int32_t count;
};

static int32_t add_cap(struct caps *caps, double value, int32_t in_bytes, struct kerf_error *err) {
    struct memory_cap *more = realloc(caps->items, ((size_t)caps->count + 1) * sizeof *more);
    if (more == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for --memory-cap");
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
    int plain = kerf_quantity_parse(word, "", &value, &why) == KERF_OK;
    if (!plain && kerf_quantity_parse(word, "B", &value, &why) != KERF_OK)
        return kerf_error_set(err, KERF_EINVALID,
                              "--memory-cap '%.64s' must be micro-batches, such as 8, 7.5 or 4..16, or bytes, such as "
                              "40GB",
                              word);
    if (!(value > 0)) return kerf_error_set(err, KERF_EINVALID, "--memory-cap must be above 0, not %.64s", word);
    return add_cap(caps, value, !plain, err);
}

int32_t schedule_caps_parse(const char *text, struct memory_cap **ret_caps, int32_t *ret_count,
                            struct kerf_error *err) {
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

/* ---- Answers ---------------------------------------------------------------------------------------------- */

/* How far all of it is: answers that are done, and the share of the one at hand. */
struct overall {
    struct terminal_progress terminal;
    int32_t done, all, stopped;
};

static int32_t tell(void *context, double share) {
    struct overall *overall = context;
    overall->stopped |= terminal_progress(&overall->terminal, (overall->done + share) / overall->all);
    return overall->stopped;
}

int schedule_is_file(const char *name) { return strpbrk(name, "./") != NULL || strcmp(name, "-") == 0; }

static int32_t make_times(const struct schedule_question *question, struct schedule_answer *answer, int32_t devices,
                          int32_t stages) {
    struct kerf_schedule_times_request times = question->times;
    times.cap = answer->cap;
    times.cap_in_bytes = answer->cap_in_bytes;
    times.per_device = question->compare;
    int32_t code = kerf_schedule_times_make(devices, stages, &times, &answer->own.times, &answer->error);
    answer->times = answer->own.times;
    return code;
}

/* The order that a run had, simulated. */
static int32_t take_run(const struct schedule_question *question, struct schedule_answer *answer) {
    answer->schedule = question->run->schedule;
    answer->microbatches = answer->schedule->microbatches;
    return make_times(question, answer, answer->schedule->devices, answer->schedule->stages);
}

static int32_t load_file(const struct schedule_question *question, struct schedule_answer *answer) {
    const struct kerf_schedule_file_request request = {.path = answer->name,
                                                       .devices = question->request.devices,
                                                       .microbatches = answer->microbatches,
                                                       .chunks = question->compare ? 0 : question->request.chunks};
    int32_t code = kerf_schedule_load(&request, &answer->own.schedule, &answer->error);
    if (code != KERF_OK) return code;
    answer->schedule = answer->own.schedule;
    answer->microbatches = answer->schedule->microbatches;
    return make_times(question, answer, answer->schedule->devices, answer->schedule->stages);
}

static int32_t make_by_rule(const struct schedule_question *question, struct schedule_answer *answer,
                            struct overall *overall) {
    struct kerf_schedule_request request = question->request;
    int32_t stages;
    request.rule = answer->name;
    if (answer->microbatches == 0 && question->run) answer->microbatches = question->run->schedule->microbatches;
    request.microbatches = answer->microbatches;
    request.progress = tell;
    request.progress_context = overall;
    if (question->compare && !kerf_schedule_takes_chunks(answer->name)) request.chunks = 0; /* it is for the others */
    if (question->compare && !kerf_schedule_takes_slices(answer->name)) request.slices = 0;
    int32_t code = kerf_schedule_stages(&request, &stages, &answer->error);
    if (code == KERF_OK) code = make_times(question, answer, request.devices, stages);
    request.times = answer->times;
    if (code == KERF_OK) code = kerf_schedule_make(&request, &answer->own.schedule, &answer->error);
    if (code != KERF_OK) return code;
    answer->schedule = answer->own.schedule;
    answer->warning = kerf_schedule_warning(&request);
    return code;
}

/* Where there is no answer, error says why. */
static void answer_one(const struct schedule_question *question, struct schedule_answer *answer,
                       struct overall *overall) {
    int32_t code = answer->name == NULL             ? take_run(question, answer)
                   : schedule_is_file(answer->name) ? load_file(question, answer)
                                                    : make_by_rule(question, answer, overall);
    if (code == KERF_OK)
        code = kerf_schedule_simulate(answer->schedule, answer->times, &answer->own.timeline, &answer->error);
    if (code != KERF_OK) return;
    answer->timeline = answer->own.timeline;
    answer->lower_bound_s = kerf_schedule_lower_bound(answer->schedule, answer->times, answer->timeline);
    answer->error.code = KERF_OK;
}

static int32_t list_answers(const struct schedule_question *question, struct schedule_answers *answers,
                            struct kerf_error *err) {
    static const char *const nothing[] = {NULL}; /* the run's own order */
    const char *const *names = question->num_names ? question->names : nothing;
    int32_t num_names = question->num_names ? question->num_names : 1;
    size_t count = (size_t)question->microbatches->count * (size_t)question->num_caps * (size_t)num_names;
    answers->items = calloc(count, sizeof *answers->items);
    if (answers->items == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the answers");
    for (int32_t m = 0; m < question->microbatches->count; m++)
        for (int32_t c = 0; c < question->num_caps; c++)
            for (int32_t n = 0; n < num_names; n++)
                answers->items[answers->count++] =
                    (struct schedule_answer){.name = names[n],
                                             .microbatches = (int32_t)question->microbatches->values[m],
                                             .cap = question->caps[c].value,
                                             .cap_in_bytes = question->caps[c].in_bytes};
    answers->several = question->compare || count > 1;
    return KERF_OK;
}

/* An error that no other micro-batches or cap would mend ends all of it. */
static int is_hopeless(const struct schedule_question *question, const struct schedule_answer *answer) {
    int32_t code = answer->error.code;
    return code == KERF_ENOMEM || code == KERF_EUNKNOWN || code == KERF_EIO || code == KERF_ESYNTAX ||
           (question->times.file && strcmp(answer->error.file, question->times.file) == 0);
}

int32_t schedule_answers_make(const struct schedule_question *question, struct schedule_answers *answers,
                              int32_t *ret_complete, struct kerf_error *err) {
    struct overall overall = {.terminal = {.what = "simulating"}};
    int32_t code = list_answers(question, answers, err), found = 0;
    if (code != KERF_OK) return code;
    overall.all = answers->count;
    interrupt_catch();
    for (int32_t i = 0; i < answers->count && code == KERF_OK; i++) {
        struct schedule_answer *answer = &answers->items[i];
        overall.done = i;
        if (i > 0 && tell(&overall, 0)) {
            answers->count = i;
            break;
        }
        answer_one(question, answer, &overall);
        found += answer->timeline != NULL;
        if (answer->timeline == NULL && (!answers->several || is_hopeless(question, answer)))
            *err = answer->error, code = err->code;
    }
    terminal_progress_end(&overall.terminal);
    *ret_complete = !overall.stopped;
    if (code == KERF_OK && found == 0) *err = answers->items[0].error, code = err->code;
    return code;
}

void schedule_answers_free(struct schedule_answers *answers) {
    for (int32_t i = 0; i < answers->count; i++) {
        kerf_timeline_free(answers->items[i].own.timeline);
        kerf_schedule_times_free(answers->items[i].own.times);
        kerf_schedule_free(answers->items[i].own.schedule);
    }
    free(answers->items);
    *answers = (struct schedule_answers){0};
}
