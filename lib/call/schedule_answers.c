/* SPDX-License-Identifier: Apache-2.0 */
#include "call/schedule_answers.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/number.h"
#include "base/quantity.h"
#include "schedule/lower_bound.h"
#include "schedule/search_how.h"

/* ---- Answers ---------------------------------------------------------------------------------------------- */

/* How far all of it is: answers that are done, and the share of the one at hand. */
struct overall {
    struct call_progress progress;
    int32_t done, all, stopped;
};

static int32_t tell(void *context, double share) {
    struct overall *overall = context;
    const struct call_progress *progress = &overall->progress;
    if (progress->tell) overall->stopped |= progress->tell(progress->context, (overall->done + share) / overall->all);
    return overall->stopped;
}

static void found(void *context, double found_s, double bound_s) {
    const struct call_progress *progress = &((struct overall *)context)->progress;
    progress->found(progress->context, found_s, bound_s);
}

/* Numbers are of all stages of a device together, so that schedules with other stages can be compared. */
static int is_per_device(const struct schedule_question *question) {
    return question->compare || question->request.placement == KERF_PLACE_ANY;
}

/* The plan's own schedule, whose stages the times are those of. */
static int is_of_plan(const struct schedule_question *question, const struct schedule_answer *answer) {
    return question->pipeline && answer->name == question->names[0];
}

static struct kerf_schedule_times_request times_of(const struct schedule_question *question,
                                                   const struct schedule_answer *answer) {
    struct kerf_schedule_times_request times = question->times;
    times.cap = answer->cap;
    times.recompute = answer->recompute;
    times.offload = answer->offload;
    times.cap_in_bytes = answer->cap_in_bytes;
    times.per_device = is_per_device(question) && !is_of_plan(question, answer);
    return times;
}

/* The times of a trace or a plan are not in a file that has such lines. */
static int32_t without_place(const struct schedule_question *question, struct kerf_error *err, int32_t code) {
    if (code == KERF_OK || question->times.file == NULL || strcmp(err->file, question->times.file) != 0) return code;
    if (question->trace) err->line = err->column = 0;
    if (question->pipeline) /* the only possible mistake that is left */
        kerf_error_set(err, code, "its stages are no multiple and no part of the plan's %d",
                       question->pipeline->num_stages);
    return code;
}

static int32_t make_times(const struct schedule_question *question, struct schedule_answer *answer, int32_t devices,
                          int32_t stages) {
    const struct kerf_schedule_times_request times = times_of(question, answer);
    int32_t code = kerf_schedule_times_make(devices, stages, &times, &answer->own.times, &answer->error);
    answer->times = answer->own.times;
    return without_place(question, &answer->error, code);
}

/* The order that a trace has, simulated. */
static int32_t take_trace(const struct schedule_question *question, struct schedule_answer *answer) {
    answer->schedule = question->trace->schedule;
    answer->microbatches = answer->schedule->microbatches;
    return make_times(question, answer, answer->schedule->devices, answer->schedule->stages);
}

/* Shares are for schedules without moves, or are all that the file's own moves are of. */
static int32_t check_moves(const struct schedule_answer *answer, struct kerf_error *err) {
    int recomputes = 0, offloads = 0;
    for (int32_t d = 0; d < answer->schedule->devices; d++)
        for (int32_t k = 0; k < answer->schedule->num_ops[d]; k++) {
            recomputes |= answer->schedule->ops[d][k].kind == KERF_OP_R;
            offloads |= answer->schedule->ops[d][k].kind == KERF_OP_O || answer->schedule->ops[d][k].kind == KERF_OP_L;
        }
    if (offloads && !recomputes && answer->recompute > 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--recompute: %.64s has O and L, but no R; write R into it, or leave all three to kerf",
                              answer->name);
    if (recomputes && !offloads && answer->offload > 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--offload: %.64s has R, but no O and L; write them into it, or leave all three to kerf",
                              answer->name);
    return KERF_OK;
}

/* Puts recomputation and offload into the order of a file, where they are asked for and it has none. */
static int32_t move_file(struct schedule_answer *answer) {
    struct kerf_schedule *moved = NULL;
    if (check_moves(answer, &answer->error) != KERF_OK) return answer->error.code;
    const int32_t code = kerf_schedule_move(answer->schedule, answer->times, &moved, &answer->error);
    if (code != KERF_OK) return code;
    kerf_schedule_free(answer->own.schedule);
    answer->schedule = answer->own.schedule = moved;
    return KERF_OK;
}

static int32_t load_file(const struct schedule_question *question, struct schedule_answer *answer) {
    const struct kerf_schedule_file_request request = {.path = answer->name,
                                                       .devices = question->request.devices,
                                                       .microbatches = answer->microbatches,
                                                       .chunks = question->compare ? 0 : question->request.chunks};
    const struct call_file *came = call_file_find(question->sources, answer->name);
    int32_t code = came ? kerf_schedule_parse(came->text, came->length, came->name, &request, &answer->own.schedule,
                                              &answer->error)
                        : kerf_schedule_load(&request, &answer->own.schedule, &answer->error);
    if (code != KERF_OK) return code;
    answer->schedule = answer->own.schedule;
    answer->microbatches = answer->schedule->microbatches;
    code = make_times(question, answer, answer->schedule->devices, answer->schedule->stages);
    return code == KERF_OK ? move_file(answer) : code;
}

/* A plan's own schedule is made as the plan has made it. */
static void ask_as_plan(const struct kerf_pipeline *pipeline, struct kerf_schedule_request *request) {
    *request = (struct kerf_schedule_request){.rule = pipeline->schedule,
                                              .devices = pipeline->devices,
                                              .microbatches = pipeline->microbatches,
                                              .chunks = pipeline->chunks,
                                              .search_steps = KERF_PIPELINE_STEPS,
                                              .progress = request->progress,
                                              .progress_context = request->progress_context};
}

static int32_t make_by_rule(const struct schedule_question *question, struct schedule_answer *answer,
                            struct overall *overall) {
    struct kerf_schedule_request request = question->request;
    const struct kerf_schedule_times_request times = times_of(question, answer);
    request.rule = answer->name;
    if (answer->microbatches == 0 && question->trace) answer->microbatches = question->trace->schedule->microbatches;
    request.microbatches = answer->microbatches;
    request.progress = tell;
    request.progress_context = overall;
    if (question->compare && !kerf_schedule_takes_chunks(answer->name)) request.chunks = 0; /* it is for the others */
    if (question->compare && !kerf_schedule_takes_slices(answer->name)) request.slices = 0;
    if (is_of_plan(question, answer)) ask_as_plan(question->pipeline, &request);
    if (question->compare && strcmp(answer->name, "chimera") != 0) request.replicas = 0;
    const int watched = overall->progress.found && overall->all == 1;
    const struct search_how how = {.threads = question->threads, .tell = watched ? found : NULL, .context = overall};
    int32_t code = schedule_make_how(&request, &times, &how, &answer->own.schedule, &answer->own.times, &answer->error);
    if (code != KERF_OK) return without_place(question, &answer->error, code);
    answer->schedule = answer->own.schedule;
    answer->times = answer->own.times;
    answer->warning = kerf_schedule_warning(&request);
    return KERF_OK;
}

/* How micro-batches are cut, where anything says so; *ret_slices NULL: in equal slices. */
static int32_t cut_slices(const struct schedule_question *question, struct schedule_answer *answer,
                          struct kerf_schedule_slices **ret_slices) {
    const int asked = !isnan(question->attention) || question->slice_cut != KERF_SLICE_CUT_OWN;
    const struct kerf_schedule_slices_request request = {.rule = answer->name,
                                                         .cut = question->slice_cut,
                                                         .attention =
                                                             isnan(question->attention) ? 0 : question->attention,
                                                         .file = question->times.file,
                                                         .file_text = question->times.file_text};
    if (answer->schedule->slices == 1 && (!asked || question->compare)) return KERF_OK; /* it is for the others */
    return kerf_schedule_slices_make(answer->schedule, answer->times, &request, ret_slices, &answer->error);
}

/* Where there is no answer, error says why. */
static void answer_one(const struct schedule_question *question, struct schedule_answer *answer,
                       struct overall *overall) {
    int32_t code = answer->name == NULL             ? take_trace(question, answer)
                   : schedule_is_rule(answer->name) ? make_by_rule(question, answer, overall)
                                                    : load_file(question, answer);
    struct kerf_schedule_slices *slices = NULL;
    if (code == KERF_OK) code = cut_slices(question, answer, &slices);
    if (code == KERF_OK)
        code = kerf_schedule_simulate_slices(answer->schedule, answer->times, slices, &answer->own.timeline,
                                             &answer->error);
    kerf_schedule_slices_free(slices);
    if (code != KERF_OK) return;
    answer->timeline = answer->own.timeline;
    answer->error.code = KERF_OK;
}

/* ---- Noise ------------------------------------------------------------------------------------------------ */

/* "3:1.5": a device and a factor, of factors that are 1. */
static int32_t read_slow(const char *text, const char *option, int32_t devices, double *factors,
                         struct kerf_error *err) {
    char *end = NULL;
    const long device = strtol(text, &end, 10);
    const double factor = end != text && *end == ':' ? number_read(end + 1, &end) : NAN;
    if (isnan(factor) || *end != '\0' || !(factor > 0) || factor > 1e6)
        return kerf_error_set(err, KERF_EINVALID,
                              "%s '%.64s' must be a device and a factor above 0, at most 1e6, such as 3:1.5", option,
                              text);
    if (device < 0 || device >= devices)
        return kerf_error_set(err, KERF_EINVALID, "%s: there are the devices 0 to %d, not %ld", option, devices - 1,
                              device);
    if (factors[device] != 1)
        return kerf_error_set(err, KERF_EINVALID, "%s: device %ld is given twice", option, device);
    factors[device] = factor;
    return KERF_OK;
}

/* Factors of devices that are not named stay 1. */
static int32_t read_all_slow(const struct string_list *list, const char *option, int32_t devices, double *factors,
                             struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (int32_t i = 0; code == KERF_OK && i < list->count; i++)
        code = read_slow(list->items[i], option, devices, factors, err);
    return code;
}

/* What the operations of the trace took, over the median of their stage and kind; how many. */
static int64_t measured_factors(const struct schedule_question *question, double *factors) {
    const struct kerf_trace *trace = question->trace;
    int64_t count = 0;
    for (int32_t d = 0; d < trace->schedule->devices; d++)
        for (int32_t k = 0; k < trace->schedule->num_ops[d]; k++) {
            const struct kerf_op *op = &trace->schedule->ops[d][k];
            const double took = trace->timeline->end_s[d][k] - trace->timeline->start_s[d][k];
            const struct kerf_trace_spread *spread = &question->trace_fit->of_kind[op->kind][op->stage];
            if (spread->count > 0 && spread->median_s > 0 && took > 0) factors[count++] = took / spread->median_s;
        }
    return count;
}

/* The factors of the trace are of medians, and noise scales them to a mean of 1: their mean, which a few slow operations
 * raise, is made a part of what every device takes. */
static void use_measured(const struct schedule_question *question, int32_t devices, double *slow, double *factors,
                         struct kerf_schedule_noise *noise) {
    double sum = 0;
    noise->num_factors = measured_factors(question, factors);
    if (noise->num_factors == 0) return;
    for (int64_t k = 0; k < noise->num_factors; k++) sum += factors[k];
    for (int32_t d = 0; d < devices; d++) slow[d] *= sum / (double)noise->num_factors;
    noise->factors = factors;
    noise->slow = slow;
}

static int has_latency(const struct kerf_schedule_times *times, int32_t devices) {
    int has = times->p2p_s > 0;
    for (int32_t i = 0; times->p2p_of_s && i < devices * devices; i++) has |= times->p2p_of_s[i] > 0;
    return has;
}

static int32_t add_noise(const struct schedule_question *question, struct schedule_answer *answer,
                         struct kerf_error *err) {
    const int32_t devices = answer->schedule->devices;
    struct kerf_schedule_noise noise = {.relative = isnan(question->jitter) ? 0 : question->jitter, .seed = 1};
    int64_t ops = 0;
    int32_t code = KERF_OK;
    if (isnan(question->jitter) && !question->measured_jitter && !question->stragglers.count &&
        !question->slow_links.count)
        return code;
    for (int32_t d = 0; question->measured_jitter && d < question->trace->schedule->devices; d++)
        ops += question->trace->schedule->num_ops[d];
    double *slow = malloc(2 * (size_t)devices * sizeof *slow), *factors = malloc(((size_t)ops + 1) * sizeof *factors);
    if (slow == NULL || factors == NULL) code = error_no_memory(err, "the noise");
    for (int32_t d = 0; code == KERF_OK && d < 2 * devices; d++) slow[d] = 1;
    if (code == KERF_OK && question->stragglers.count) {
        code = read_all_slow(&question->stragglers, "--straggler", devices, slow, err);
        noise.slow = slow;
    }
    if (code == KERF_OK && question->slow_links.count && !has_latency(answer->times, devices))
        code = kerf_error_set(err, KERF_EINVALID,
                              "--slow-link needs messages that take time: give --p2p, or a file of "
                              "times with latencies");
    if (code == KERF_OK && question->slow_links.count) {
        code = read_all_slow(&question->slow_links, "--slow-link", devices, slow + devices, err);
        noise.slow_link = slow + devices;
    }
    if (code == KERF_OK && question->measured_jitter) use_measured(question, devices, slow, factors, &noise);
    if (code == KERF_OK)
        code =
            kerf_schedule_under_noise(answer->schedule, answer->times, answer->timeline, &noise, &answer->noisy, err);
    if (code == KERF_EUNSUPPORTED) err->code = code = KERF_EINVALID; /* offload in a file: the input is wrong */
    free(slow);
    free(factors);
    return code;
}

/* What cannot run comes behind what can: 0 runs, 1 holds more than its cap, 2 there is no schedule. */
static int hindrance(const struct schedule_answer *answer) {
    return answer->timeline == NULL ? 2 : answer->timeline->over_cap >= 0;
}

static int by_p95(const void *left, const void *right) {
    const struct schedule_answer *a = left, *b = right;
    if (hindrance(a) != hindrance(b)) return hindrance(a) - hindrance(b);
    return a->noisy.p95_s < b->noisy.p95_s ? -1 : a->noisy.p95_s > b->noisy.p95_s;
}

/* What is known of one schedule holds for every other of the same problem. */
static int32_t find_bounds(struct schedule_answers *answers, struct kerf_error *err) {
    const size_t room = (size_t)answers->count + 1;
    struct kerf_schedule_run *runs = calloc(room, sizeof *runs);
    struct kerf_schedule_bound *bounds = calloc(room, sizeof *bounds);
    size_t count = 0, at = 0;
    for (int32_t i = 0; runs && bounds && i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        if (answer->timeline)
            runs[count++] = (struct kerf_schedule_run){answer->schedule, answer->times, answer->timeline};
    }
    if (runs && bounds) kerf_schedule_lower_bounds(runs, count, bounds);
    for (int32_t i = 0; runs && bounds && i < answers->count; i++)
        if (answers->items[i].timeline) answers->items[i].bound = bounds[at++];
    assert(bounds == NULL || runs == NULL || at == count);
    int32_t code = runs && bounds ? KERF_OK : error_no_memory(err, "the answers");
    free(runs);
    free(bounds);
    return code;
}

static int32_t list_answers(const struct schedule_question *question, struct schedule_answers *answers,
                            struct kerf_error *err) {
    static const char *const nothing[] = {NULL}; /* the trace's own order */
    const char *const *names = question->num_names ? question->names : nothing;
    int32_t num_names = question->num_names ? question->num_names : 1;
    const int32_t shares = question->recompute.count * question->offload.count;
    size_t count =
        (size_t)question->microbatches.count * (size_t)question->num_caps * (size_t)num_names * (size_t)shares;
    answers->items = calloc(count, sizeof *answers->items);
    if (answers->items == NULL) return error_no_memory(err, "the answers");
    for (int32_t m = 0; m < question->microbatches.count; m++)
        for (int32_t c = 0; c < question->num_caps; c++)
            for (int32_t n = 0; n < num_names * shares; n++)
                answers->items[answers->count++] = (struct schedule_answer){
                    .name = names[n / shares],
                    .recompute = question->recompute.values[n % shares / question->offload.count],
                    .offload = question->offload.values[n % shares % question->offload.count],
                    .microbatches = (int32_t)question->microbatches.values[m],
                    .cap = question->caps[c].value,
                    .cap_in_bytes = question->caps[c].in_bytes};
    answers->several = schedule_question_is_several(question);
    answers->frontier = question->frontier;
    answers->of_plan = question->pipeline != NULL;
    return KERF_OK;
}

/* An error that every other answer would have too ends all of it. */
static int is_hopeless(const struct schedule_question *question, const struct schedule_answer *answer) {
    int32_t code = answer->error.code;
    return code == KERF_ENOMEM || code == KERF_EUNKNOWN || code == KERF_EIO || code == KERF_ESYNTAX ||
           is_of_plan(question, answer) ||
           (question->times.file && strcmp(answer->error.file, question->times.file) == 0);
}

/* Whether operations of these kinds, bits 1 << kind, may be there: best may have looked at an order that has some. */
static int has_kinds(const struct schedule_answers *answers, int kinds) {
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        if (answer->timeline == NULL || (answer->name && strcmp(answer->name, "best") == 0)) return 1;
        for (int32_t d = 0; d < answer->schedule->devices; d++)
            for (int32_t k = 0; k < answer->schedule->num_ops[d]; k++)
                if (kinds >> answer->schedule->ops[d][k].kind & 1) return 1;
    }
    return 0;
}

/* Whether an answer recomputes or offloads, if only a share of 0. */
struct moved {
    int recomputes, offloads;
};

static struct moved find_moved(const struct schedule_answers *answers) {
    struct moved moved = {0};
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        if (answer->timeline == NULL) continue;
        moved.recomputes |= answer->times->recompute_share != NULL;
        moved.offloads |= answer->times->offload_share != NULL;
        for (int32_t d = 0; answer->schedule->moves && d < answer->schedule->devices; d++)
            for (int32_t k = 0; k < answer->schedule->num_ops[d]; k++) {
                const int kind = answer->schedule->ops[d][k].kind;
                moved.recomputes |= kind == KERF_OP_R;
                moved.offloads |= kind == KERF_OP_O || kind == KERF_OP_L;
            }
    }
    return moved;
}

/* Refuses times of recomputation and offload where a file, which may have them, has none. */
static int32_t check_moved(const struct kerf_schedule_times_request *times, const struct schedule_answers *answers,
                           struct kerf_error *err) {
    const struct moved moved = find_moved(answers);
    if (!isnan(times->recompute_s) && !moved.recomputes)
        return kerf_error_set(err, KERF_EINVALID,
                              "--recompute-time needs --recompute, the share that it is of, or R in the schedule");
    const char *of_offload = !isnan(times->offload_s)  ? "--offload-time"
                             : times->host_link_shared ? "--host-link"
                                                       : NULL;
    if (of_offload && !moved.offloads)
        return kerf_error_set(err, KERF_EINVALID,
                              "%s needs --offload, whose copies it is of, or O and L in the schedule", of_offload);
    return KERF_OK;
}

/* Refuses times that no operation takes. */
static int32_t check_times(const struct schedule_question *question, const struct schedule_answers *answers,
                           struct kerf_error *err) {
    const struct kerf_schedule_times_request *times = &question->times;
    const int fused = 1 << KERF_OP_FB, whole = 1 << KERF_OP_B | fused, parts = 1 << KERF_OP_I | 1 << KERF_OP_W;
    const int has_input = !isnan(times->backward_input_s), has_weight = !isnan(times->backward_weight_s);
    if (!isnan(times->fused_s) && !has_kinds(answers, fused))
        return kerf_error_set(err, KERF_EINVALID,
                              "--fused is for schedules that run a forward and a backward together, such as dualpipe");
    int32_t code = check_moved(times, answers, err);
    if (code != KERF_OK || isnan(times->backward_s) || !(has_input || has_weight)) return code;
    if (!has_kinds(answers, parts))
        return kerf_error_set(
            err, KERF_EINVALID,
            "%s beside --backward is for schedules that split the backward pass, such as zb_h1: leave "
            "one of them out",
            has_input ? "--backward-input" : "--backward-weight");
    if (has_input && has_weight && !has_kinds(answers, whole))
        return kerf_error_set(
            err, KERF_EINVALID,
            "--backward beside both of its parts is for schedules with whole backward passes, such as "
            "1f1b: leave one of them out");
    return KERF_OK;
}

/* Whether the backward pass of every answer is the sum of its parts. */
static int are_sums(const struct schedule_answers *answers) {
    int sums = 1;
    for (int32_t i = 0; i < answers->count; i++) {
        const struct kerf_schedule_times *times = answers->items[i].times;
        if (answers->items[i].timeline == NULL) continue;
        for (int32_t k = 0; k < answers->items[i].schedule->stages; k++)
            sums &= fabs(times->backward_s[k] - times->backward_input_s[k] - times->backward_weight_s[k]) <=
                    1e-9 * times->backward_s[k];
    }
    return sums;
}

/* Keys of the file of times that no answer uses: the file may be for other schedules too, so that they are told, not
 * refused. A backward pass and both of its parts are one thing where they agree. */
static int32_t find_ignored(const struct schedule_question *question, struct schedule_answers *answers,
                            struct kerf_error *err) {
    enum { FUSED, SLICES, RECOMPUTE, OFFLOAD, LOAD, WHOLE, INPUT, WEIGHT };
    static const char *const keys[SCHEDULE_IGNORED_MAX] = {"fused",          "slices",         "recompute_time",
                                                           "offload_time",   "load_time",      "backward",
                                                           "backward_input", "backward_weight"};
    uint32_t there = 0;
    int slices = 0;
    int32_t code =
        question->times_are_users ? schedule_times_keys(question, keys, SCHEDULE_IGNORED_MAX, &there, err) : KERF_OK;
    for (int32_t i = 0; i < answers->count; i++)
        slices |= answers->items[i].timeline && answers->items[i].schedule->slices > 1;
    const struct moved moved = find_moved(answers);
    const int fused = has_kinds(answers, 1 << KERF_OP_FB), both = there >> INPUT & there >> WEIGHT & 1;
    const int agree = (both && are_sums(answers)) || !(there >> WHOLE & 1);
    const int whole = agree || !both || fused || has_kinds(answers, 1 << KERF_OP_B);
    const int parts = agree || has_kinds(answers, 1 << KERF_OP_I | 1 << KERF_OP_W);
    const int used[SCHEDULE_IGNORED_MAX] = {fused, slices, moved.recomputes, moved.offloads, moved.offloads, whole,
                                            parts, parts};
    for (size_t k = 0; k < SCHEDULE_IGNORED_MAX; k++)
        if (there >> k & 1 && !used[k]) answers->ignored[answers->num_ignored++] = keys[k];
    return code;
}

int32_t schedule_answers_make(const struct schedule_question *question, struct call_progress progress,
                              struct schedule_answers *answers, struct kerf_error *err) {
    struct overall overall = {.progress = progress};
    int32_t code = list_answers(question, answers, err), found = 0;
    if (code != KERF_OK) return code;
    overall.all = answers->count;
    for (int32_t i = 0; i < answers->count && code == KERF_OK; i++) {
        struct schedule_answer *answer = &answers->items[i];
        overall.done = i;
        if (i > 0 && tell(&overall, 0)) {
            answers->not_begun = answers->count - i;
            answers->count = i;
            break;
        }
        answer_one(question, answer, &overall);
        found += answer->timeline != NULL;
        if (answer->timeline == NULL && (!answers->several || is_hopeless(question, answer)))
            *err = answer->error, code = err->code;
    }
    answers->interrupted = overall.stopped;
    if (code == KERF_OK && found == 0) *err = answers->items[0].error, code = err->code;
    if (code == KERF_OK) code = check_times(question, answers, err);
    if (code == KERF_OK) code = find_ignored(question, answers, err);
    if (code == KERF_OK) code = find_bounds(answers, err);
    for (int32_t i = 0; code == KERF_OK && i < answers->count; i++)
        if (answers->items[i].timeline) code = add_noise(question, &answers->items[i], err);
    if (code == KERF_OK && question->rank_by_p95)
        qsort(answers->items, (size_t)answers->count, sizeof *answers->items, by_p95);
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

/* ---- Their figures ------------------------------------------------------------------------------- */

double answer_peak(const struct schedule_answer *answer) {
    double peak = 0;
    for (int32_t i = 0; i < answer->schedule->devices; i++) peak = fmax(peak, answer->timeline->peak_activations[i]);
    return peak;
}

double answer_peak_bytes(const struct schedule_answer *answer) {
    double peak = NAN;
    for (int32_t i = 0; answer->timeline->peak_bytes && i < answer->schedule->devices; i++)
        peak = fmax(peak, answer->timeline->peak_bytes[i]);
    return peak;
}

int answer_is_bound_freely(const struct schedule_answer *answer) {
    return lower_bound_is_of_any_memory(answer->schedule, answer->times);
}

double answer_gap(const struct schedule_answer *answer) {
    const double step = answer->timeline->step_s, bound = answer->bound.step_s;
    return step <= bound * (1 + 1e-12) ? 0 : step / bound - 1;
}

/* ---- JSON (docs/json.md) ---------------------------------------------------------------------------------- */

/* What distinguishes an answer from others of its schedule and micro-batches. */
static void asked_json(struct kerf_json *json, const struct schedule_answer *answer) {
    if (!isnan(answer->cap))
        kerf_json_number(json, answer->cap_in_bytes ? "memory_cap_bytes" : "memory_cap", answer->cap);
    if (!isnan(answer->recompute)) kerf_json_number(json, "recompute", answer->recompute);
    if (!isnan(answer->offload)) kerf_json_number(json, "offload", answer->offload);
}

static void answer_json(struct kerf_json *json, const struct schedule_answers *answers,
                        const struct schedule_answer *answer) {
    kerf_schedule_json(json, answer->schedule, answer->timeline, &answer->bound, answers->with_ops);
    if (answer->noisy.samples > 0) {
        kerf_json_open(json, "noise", '{');
        kerf_json_integer(json, "samples", answer->noisy.samples);
        kerf_json_number(json, "mean_s", answer->noisy.mean_s);
        kerf_json_number(json, "p50_s", answer->noisy.p50_s);
        kerf_json_number(json, "p95_s", answer->noisy.p95_s);
        kerf_json_number(json, "p99_s", answer->noisy.p99_s);
        kerf_json_number(json, "most_s", answer->noisy.most_s);
        kerf_json_close(json, '}');
    }
    asked_json(json, answer);
    if (answer->times->cap) kerf_json_boolean(json, "within_cap", answer->timeline->over_cap < 0);
    if (answer->warning) kerf_json_string(json, "refused_elsewhere", answer->warning);
}

static void refusals_json(struct kerf_json *json, const struct schedule_answers *answers) {
    int32_t refused = 0;
    for (int32_t i = 0; i < answers->count; i++) refused += answers->items[i].timeline == NULL;
    if (refused == 0) return;
    kerf_json_open(json, "refused", '[');
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        if (answer->timeline) continue;
        kerf_json_open(json, NULL, '{');
        kerf_json_string(json, "schedule", answer->name);
        if (answer->microbatches) kerf_json_integer(json, "microbatches", answer->microbatches);
        asked_json(json, answer);
        kerf_json_string(json, "why", answer->error.message);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
}

/* Those from `first` on, and what has no answer. */
static void answers_json(struct kerf_json *json, const char *key, const struct schedule_answers *answers,
                         int32_t first) {
    kerf_json_open(json, key, '[');
    for (int32_t i = first; i < answers->count; i++) {
        if (answers->items[i].timeline == NULL) continue;
        kerf_json_open(json, NULL, '{');
        answer_json(json, answers, &answers->items[i]);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    refusals_json(json, answers);
}

/* The run that stands above the simulation. */
static void measured_json(struct kerf_json *json, const struct kerf_trace *trace) {
    struct kerf_text one = {0};
    if (trace == NULL) return;
    kerf_json_open(json, "measured", '{');
    kerf_json_string(json, "source", trace->source);
    kerf_json_integer(json, "devices", trace->schedule->devices);
    kerf_json_integer(json, "stages", trace->schedule->stages);
    kerf_json_integer(json, "microbatches", trace->schedule->microbatches);
    kerf_json_integer(json, "microbatches_complete", trace->microbatches_complete);
    kerf_json_number(json, "makespan_s", trace->timeline->makespan_s);
    kerf_json_open(json, "notes", '[');
    for (const char *note = trace->notes; *note; note += strcspn(note, "\n") + 1) {
        kerf_text_clear(&one);
        kerf_text_write(&one, note, strcspn(note, "\n"));
        kerf_json_string(json, NULL, one.failed ? NULL : one.data);
    }
    kerf_json_close(json, ']');
    kerf_json_close(json, '}');
    json->out->failed |= one.failed;
    kerf_text_free(&one);
}

void schedule_answers_json(struct kerf_text *out, const struct schedule_answers *answers) {
    struct kerf_json json;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    if (answers->interrupted) kerf_json_boolean(&json, "complete", 0);
    if (answers->not_begun) kerf_json_integer(&json, "not_begun", answers->not_begun);
    measured_json(&json, answers->trace);
    if (answers->num_ignored) {
        kerf_json_open(&json, "ignored", '[');
        for (int32_t i = 0; i < answers->num_ignored; i++) kerf_json_string(&json, NULL, answers->ignored[i]);
        kerf_json_close(&json, ']');
    }
    if (!answers->several || answers->of_plan) answer_json(&json, answers, &answers->items[0]);
    if (answers->several) answers_json(&json, answers->of_plan ? "compared" : "schedules", answers, answers->of_plan);
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}

/* ---- In words --------------------------------------------------------------------------------------------- */

void words_microbatches(struct kerf_text *out, double count, int digits) {
    kerf_text_printf(out, "%.*g micro-batch%s", digits, count, count == 1 ? "" : "es");
}

void words_percent(struct kerf_text *out, double share, int digits, int with_sign) {
    const double unit = pow(10, -digits), percent = fabs(100 * share) < unit / 2 ? 0 : 100 * share;
    kerf_text_printf(out, with_sign ? "%+.*f %%" : "%.*f %%", digits, percent);
}

void words_cap(struct kerf_text *out, const struct schedule_answer *answer) {
    if (answer->cap_in_bytes)
        quantity_bytes(out, answer->cap);
    else
        words_microbatches(out, answer->cap, 6);
}

void words_size(struct kerf_text *out, const struct kerf_schedule *schedule) {
    words_microbatches(out, schedule->microbatches, 7);
    if (schedule->slices > 1) kerf_text_printf(out, " of %d slices", schedule->slices);
    kerf_text_printf(out, " through %d stage%s on %d device%s", schedule->stages, schedule->stages == 1 ? "" : "s",
                     schedule->devices, schedule->devices == 1 ? "" : "s");
}
