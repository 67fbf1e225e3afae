/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules in words: one with its figures and its timeline, several as a table, and the list of rules; as JSON and
 * CSV; and what a trace says of times. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/quantity.h"
#include "cli/cells.h"
#include "cli/schedule_print.h"

/* ---- The rules -------------------------------------------------------------------------------------------- */

enum { INDENT = 18, LIST_INDENT = 11 }; /* columns of the labels */

/* Words behind a label, or without one; they are taken back. */
static void line(struct kerf_text *out, const char *label, struct kerf_text *words, int32_t columns) {
    terminal_words(out, label, words, label[0] ? INDENT : 0, columns);
    kerf_text_clear(words);
}

static void list_line(struct kerf_text *out, const char *label, const char *text, int32_t columns) {
    struct kerf_text words = {0};
    if (text == NULL) return;
    kerf_text_add(&words, text);
    terminal_words(out, label, &words, label[0] ? LIST_INDENT : 0, columns);
    kerf_text_free(&words);
}

void print_schedule_list(struct kerf_text *out, int32_t columns) {
    const struct kerf_schedule_rule *rule;
    struct kerf_text words = {0};
    for (size_t i = 0; (rule = kerf_schedule_rule_at(i)); i++) {
        if (i) kerf_text_add(out, "\n");
        kerf_text_printf(&words, "%s: %s", rule->name, rule->summary);
        line(out, "", &words, columns);
        list_line(out, "  needs", rule->constraint, columns);
        if (rule->elsewhere) kerf_text_printf(&words, "by %s", rule->elsewhere);
        list_line(out, "  refused", rule->elsewhere ? words.data : NULL, columns);
        kerf_text_clear(&words);
        list_line(out, "  bubble", rule->bubble, columns);
        list_line(out, "  memory", rule->memory, columns);
        list_line(out, "  source", rule->source, columns);
    }
    kerf_text_free(&words);
    kerf_text_add(out, "\n");
    list_line(
        out, "",
        "p devices, m micro-batches, v chunks, k slices. F, B, W are times of a device: forward, backward of the "
        "input and of the weights; B_full = B + W, s = F + B + W; FB: a forward and a backward together, at least "
        "F and at least B_full.",
        columns);
    list_line(out, "",
              "Bubble: idle time within the makespan, unless it says otherwise, where stages are alike, slices are "
              "alike, and messages take no time.",
              columns);
    list_line(out, "", "Memory: micro-batches through all chunks of the fullest device, never more than m.", columns);
}

void print_schedule_list_json(struct kerf_text *out) {
    const struct kerf_schedule_rule *rule;
    struct kerf_json json;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_open(&json, "schedules", '[');
    for (size_t i = 0; (rule = kerf_schedule_rule_at(i)); i++) {
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "schedule", rule->name);
        kerf_json_string(&json, "summary", rule->summary);
        kerf_json_string(&json, "needs", rule->constraint);
        kerf_json_string(&json, "refused_elsewhere", rule->elsewhere);
        kerf_json_string(&json, "bubble", rule->bubble);
        kerf_json_string(&json, "memory", rule->memory);
        kerf_json_string(&json, "source", rule->source);
        kerf_json_boolean(&json, "takes_chunks", kerf_schedule_takes_chunks(rule->name));
        kerf_json_boolean(&json, "takes_slices", kerf_schedule_takes_slices(rule->name));
        kerf_json_close(&json, '}');
    }
    kerf_json_close(&json, ']');
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}

/* ---- One schedule ----------------------------------------------------------------------------------------- */

/* How far above what any order could do. */
static void words_gap(struct kerf_text *out, const struct schedule_answer *answer) {
    const double gap = answer_gap(answer);
    const char *within = answer_is_bound_freely(answer) ? "" : " within this memory";
    if (answer->timeline->over_cap >= 0) {
        kerf_text_add(out, "of any order of these operations within the cap, which this one exceeds");
    } else if (isnan(gap)) {
        kerf_text_add(out, "not known");
    } else if (gap <= 0) {
        kerf_text_printf(out, "no order of these operations%s is shorter", within);
    } else {
        kerf_text_add(out, "at most ");
        quantity_at_most(out, gap, 1);
        kerf_text_printf(out, " above any order of these operations%s", within);
    }
}

enum { SHOWN = 16 }; /* numbers of a line */

static void words_of_shares(struct kerf_text *words, const double *shares, int32_t count, const char *what) {
    for (int32_t j = 0; j < count && j < SHOWN; j++) kerf_text_printf(words, "%.3g ", 100 * shares[j]);
    kerf_text_printf(words, "%s%% of %s", count > SHOWN ? "... " : "", what);
}

/* Unequal slices: what they have of the sequence, and what they take. */
static void print_slices(struct kerf_text *out, const struct schedule_answer *answer, struct kerf_text *words,
                         int32_t columns) {
    const struct kerf_schedule_slices *slices = answer->timeline->slices;
    if (slices == NULL) return;
    words_of_shares(words, slices->tokens, slices->count, "the sequence; ");
    words_of_shares(words, slices->forward, slices->count, "a forward pass");
    line(out, "  slices", words, columns);
}

static void print_memory(struct kerf_text *out, const struct schedule_answer *answer, struct kerf_text *words,
                         int32_t columns) {
    const struct kerf_schedule *schedule = answer->schedule;
    words_microbatches(words, answer_peak(answer), 4);
    kerf_text_add(words, " on the fullest device:");
    for (int32_t i = 0; i < schedule->devices && i < SHOWN; i++)
        kerf_text_printf(words, " %.4g", answer->timeline->peak_activations[i]);
    kerf_text_add(words, schedule->devices > SHOWN ? " ..." : "");
    line(out, "  activations", words, columns);
    if (answer->timeline->peak_bytes) {
        quantity_bytes(words, answer_peak_bytes(answer));
        kerf_text_add(words, " of activations on the fullest device");
        line(out, "  memory", words, columns);
    }
    if (schedule->replicas == 1) return;
    kerf_text_printf(words, "%d copies on every device", schedule->replicas);
    line(out, "  parameters", words, columns);
}

/* The bound that the step follows: of the makespan, or of the span. */
static void print_bound(struct kerf_text *out, const struct schedule_answer *answer, struct kerf_text *words,
                        int32_t columns) {
    if (answer->times->unsynchronised)
        kerf_text_printf(words, "%.6g s of the span: ", answer->bound.span_s);
    else
        kerf_text_printf(words, "%.6g s: ", answer->bound.makespan_s);
    words_gap(words, answer);
    line(out, "  lower bound", words, columns);
}

/* A part of a step, or a step of other sizes, is no measure of the simulation. */
static void print_measured(struct kerf_text *out, const struct schedule_answer *answer, const struct kerf_trace *trace,
                           struct kerf_text *words, int32_t columns) {
    const double measured_s = trace->timeline->makespan_s;
    const int same = trace->schedule->devices == answer->schedule->devices &&
                     trace->schedule->microbatches == answer->schedule->microbatches;
    kerf_text_printf(words, "%.6g s", measured_s);
    if (trace->microbatches_complete < trace->schedule->microbatches) {
        kerf_text_printf(words, ", with %d of %d micro-batches complete", trace->microbatches_complete,
                         trace->schedule->microbatches);
    } else if (!same) {
        kerf_text_add(words, ", of ");
        words_size(words, trace->schedule);
    } else if (measured_s > 0) {
        kerf_text_add(words, "; the simulation differs by ");
        words_percent(words, answer->timeline->makespan_s / measured_s - 1, 1, 1);
    }
    line(out, "  measured", words, columns);
}

static void print_times(struct kerf_text *out, const struct schedule_answer *answer, const struct kerf_trace *trace,
                        struct kerf_text *words, int32_t columns) {
    const struct kerf_timeline *timeline = answer->timeline;
    struct kerf_bubble bubble = kerf_timeline_bubble(timeline);
    if (trace) print_measured(out, answer, trace, words, columns);
    kerf_text_printf(words, "%.6g s, from the first operation to the last", timeline->makespan_s);
    line(out, "  makespan", words, columns);
    kerf_text_printf(words, "%.6g s, the longest time from the first to the last operation of a device",
                     timeline->span_s);
    line(out, "  span", words, columns);
    if (answer->times->optimizer_s > 0 || answer->times->unsynchronised) {
        kerf_text_printf(words, "%.6g s, with the optimizer, %s", timeline->step_s,
                         answer->times->unsynchronised ? "each device by itself" : "all devices together");
        line(out, "  step", words, columns);
    }
    kerf_text_printf(words, "%.6g s on average, %.6g s on the busiest device", timeline->busy_mean_s,
                     timeline->busy_max_s);
    line(out, "  busy", words, columns);
    words_percent(words, bubble.of_makespan, 2, 0);
    kerf_text_add(words, " of the makespan; ");
    words_percent(words, bubble.of_ideal, 2, 0);
    kerf_text_add(words, " of the busy time; ");
    words_percent(words, bubble.of_span, 2, 0);
    kerf_text_add(words, " of the span");
    line(out, "  idle", words, columns);
    print_bound(out, answer, words, columns);
    if (answer->noisy.samples == 0) return;
    kerf_text_printf(
        words, "step %.6g s in the mean of %d; %.6g s or less in half of them, %.6g s in 95 %%, %.6g s in 99 %%",
        answer->noisy.mean_s, answer->noisy.samples, answer->noisy.p50_s, answer->noisy.p95_s, answer->noisy.p99_s);
    line(out, "  with noise", words, columns);
}

static void print_one(struct kerf_text *out, const struct schedule_answers *answers, const struct render_style *style) {
    const struct schedule_answer *answer = &answers->items[0];
    const struct kerf_schedule *schedule = answer->schedule;
    struct kerf_text words = {0};
    kerf_text_printf(&words, "%s: ", schedule->name);
    words_size(&words, schedule);
    line(out, "", &words, style->columns);
    kerf_text_add(out, "\n");
    print_times(out, answer, answers->trace, &words, style->columns);
    print_slices(out, answer, &words, style->columns);
    print_memory(out, answer, &words, style->columns);
    if (answer->warning) {
        kerf_text_printf(&words, "refused by %s", answer->warning);
        line(out, "  note", &words, style->columns);
    }
    if (answers->interrupted) {
        kerf_text_add(&words, "interrupted: the search was cut short");
        line(out, "  note", &words, style->columns);
    }
    kerf_text_free(&words);
    if (!answers->with_ops) return;
    kerf_text_add(out, "\n");
    schedule_timeline(out, answers, answer, style->columns, style->colour);
}

/* ---- Several ---------------------------------------------------------------------------------------------- */

/* What is common to all goes into the heading, what differs into columns. */
struct common {
    int32_t microbatches; /* 0: they differ */
    int cap, bytes;
    int recompute, offload; /* 1: the same share everywhere */
    int32_t noise;          /* 1: steps under noise are known */
    int32_t over_cap;       /* how many hold more than their cap */
};

static const char OVER_CAP[] = " > cap"; /* behind activations */
#define ABOVE_OPTIMUM "above optimum"

static int same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static struct common look(const struct schedule_answers *answers) {
    struct common common = {.cap = 1, .recompute = 1, .offload = 1};
    int differ = 0;
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i], *first = &answers->items[0];
        differ |= common.microbatches && answer->microbatches && answer->microbatches != common.microbatches;
        if (answer->microbatches) common.microbatches = answer->microbatches; /* of a refused file they are not known */
        common.cap &= same_number(answer->cap, first->cap);
        common.recompute &= same_number(answer->recompute, first->recompute);
        common.offload &= same_number(answer->offload, first->offload);
        common.noise |= answer->noisy.samples > 0;
        common.bytes |= answer->timeline && answer->timeline->peak_bytes;
        common.over_cap += answer->timeline && answer->timeline->over_cap >= 0;
    }
    if (differ) common.microbatches = 0;
    return common;
}

static void add_row(struct kerf_text *cells, const struct schedule_answer *answer, const struct common *common) {
    const struct kerf_timeline *timeline = answer->timeline;
    struct kerf_bubble bubble = kerf_timeline_bubble(timeline);
    kerf_text_printf(cells, "%s", answer->schedule->name);
    if (!common->microbatches) kerf_text_printf(cells, "\t%d", answer->microbatches);
    if (!common->cap) {
        kerf_text_add(cells, "\t");
        if (answer->cap_in_bytes)
            quantity_bytes(cells, answer->cap);
        else
            kerf_text_printf(cells, "%.6g", answer->cap);
    }
    if (!common->recompute) kerf_text_printf(cells, "\t%.4g %%", 100 * answer->recompute);
    if (!common->offload) kerf_text_printf(cells, "\t%.4g %%", 100 * answer->offload);
    kerf_text_printf(cells, "\t%.6g s\t", timeline->step_s);
    if (common->noise) kerf_text_printf(cells, "%.6g s\t", answer->noisy.p95_s);
    words_percent(cells, bubble.of_makespan, 2, 0);
    kerf_text_printf(cells, "\t%.6g s\t%.4g%s", timeline->span_s, answer_peak(answer),
                     timeline->over_cap >= 0 ? OVER_CAP : "");
    if (common->bytes) {
        kerf_text_add(cells, "\t");
        quantity_bytes(cells, answer_peak_bytes(answer));
    }
    kerf_text_printf(cells, "\t%d\t", answer->schedule->replicas);
    quantity_count(cells, timeline->messages);
    const double gap = answer_gap(answer);
    kerf_text_add(cells, timeline->over_cap >= 0 || isnan(gap) ? "\t-" : gap <= 0 ? "\toptimal" : "\t<= ");
    if (timeline->over_cap < 0 && gap > 0) quantity_at_most(cells, gap, 1);
    kerf_text_add(cells, "\n");
}

/* The row of the shortest step of all that keep their cap; -1 where there is none. */
static int32_t best_row(const struct schedule_answers *answers) {
    int32_t row = 0, best = -1;
    double least = INFINITY;
    for (int32_t i = 0; i < answers->count; i++) {
        const struct kerf_timeline *timeline = answers->items[i].timeline;
        if (timeline == NULL) continue;
        row++;
        const struct kerf_schedule_steps *noisy = &answers->items[i].noisy;
        double each = (noisy->samples > 0 ? noisy->p95_s : timeline->step_s) / answers->items[i].microbatches;
        if (timeline->over_cap < 0 && each < least) least = each, best = row;
    }
    return best;
}

static void print_heading(struct kerf_text *out, const struct schedule_answers *answers, const struct common *common,
                          int32_t columns) {
    const struct schedule_answer *first = &answers->items[0];
    int32_t least = INT32_MAX, most = 0; /* files have devices of their own */
    struct kerf_text words = {0};
    for (int32_t i = 0; i < answers->count; i++) {
        if (answers->items[i].schedule == NULL) continue;
        const int32_t devices = answers->items[i].schedule->devices;
        if (devices < least) least = devices;
        if (devices > most) most = devices;
    }
    if (least < most) kerf_text_printf(&words, "%d to ", least);
    kerf_text_printf(&words, "%d device%s", most, most == 1 ? "" : "s");
    if (common->microbatches) {
        kerf_text_add(&words, ", ");
        words_microbatches(&words, common->microbatches, 7);
    }
    if (common->cap && !isnan(first->cap)) {
        kerf_text_add(&words, ", at most ");
        words_cap(&words, first);
        kerf_text_add(&words, " on a device");
    }
    line(out, "", &words, columns);
    kerf_text_add(out, "\n");
    kerf_text_free(&words);
}

static void print_rows(struct kerf_text *out, const struct schedule_answers *answers, const struct common *common,
                       const struct render_style *style) {
    struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}};
    struct kerf_text cells = {0};
    int32_t at = 1;
    kerf_text_printf(&cells,
                     "schedule%s%s%s%s\tstep%s\tidle\tspan\tactivations%s\tcopies\tmessages\t" ABOVE_OPTIMUM "\n",
                     common->microbatches ? "" : "\tmicro-batches", common->cap ? "" : "\tcap",
                     common->recompute ? "" : "\trecompute", common->offload ? "" : "\toffload",
                     common->noise ? "\tstep in 95 %" : "", common->bytes ? "\tmemory" : "");
    for (; at < TABLE_COLUMNS_MAX; at++) columns[at] = (struct table_column){1, 0};
    at = 1 + !common->microbatches + !common->cap + !common->recompute + !common->offload +
         common->noise; /* of the step; the last to stay */
    columns[at + 1].leave_out = 2;
    columns[at + 2].leave_out = 4; /* span */
    columns[at + 3].leave_out = 1; /* activations */
    columns[at + 4 + common->bytes].leave_out = 5;
    columns[at + 5 + common->bytes].leave_out = 6;
    columns[at + 6 + common->bytes].leave_out = 3;
    for (int32_t i = 0; i < answers->count; i++)
        if (answers->items[i].timeline) add_row(&cells, &answers->items[i], common);
    const size_t begin = out->length;
    terminal_table(out, &cells, columns, style->columns, style->colour, best_row(answers));
    if (common->over_cap && out->data && strstr(out->data + begin, OVER_CAP) == NULL) {
        kerf_text_clear(&cells);
        kerf_text_printf(&cells, "%d of these hold%s more than the cap: a wider terminal or --format csv shows which",
                         common->over_cap, common->over_cap == 1 ? "s" : "");
        line(out, "", &cells, style->columns);
    }
    out->failed |= cells.failed;
    kerf_text_free(&cells);
}

/* A schedule that other programs refuse is named once, with the numbers of micro-batches that they refuse. */
static void print_warnings(struct kerf_text *out, const struct schedule_answers *answers, const struct common *common,
                           struct kerf_text *words, int32_t columns) {
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        int32_t first = 0, last = -1; /* micro-batches already told */
        if (answer->warning == NULL) continue;
        while (first < i && !(answers->items[first].warning && strcmp(answers->items[first].name, answer->name) == 0))
            first++;
        if (first < i) continue;
        kerf_text_add(words, answer->name);
        for (int32_t k = i; k < answers->count && !common->microbatches; k++) {
            const struct schedule_answer *other = &answers->items[k];
            if (other->warning == NULL || strcmp(other->name, answer->name) != 0 || other->microbatches == last)
                continue;
            kerf_text_printf(words, last < 0 ? " with %d" : ", %d", other->microbatches);
            last = other->microbatches;
        }
        if (last >= 0) kerf_text_printf(words, " micro-batch%s", last == 1 ? "" : "es");
        kerf_text_printf(words, " is refused by %s", answer->warning);
        line(out, "", words, columns);
    }
}

static void print_refusals(struct kerf_text *out, const struct schedule_answers *answers, const struct common *common,
                           struct kerf_text *words, int32_t columns) {
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        if (answer->timeline) continue;
        kerf_text_add(words, answer->name);
        if (!common->microbatches && answer->microbatches) {
            kerf_text_add(words, ", ");
            words_microbatches(words, answer->microbatches, 7);
        }
        if (!common->cap) {
            kerf_text_add(words, ", cap of ");
            words_cap(words, answer);
        }
        if (!common->recompute) kerf_text_printf(words, ", recompute %.4g %%", 100 * answer->recompute);
        if (!common->offload) kerf_text_printf(words, ", offload %.4g %%", 100 * answer->offload);
        kerf_text_printf(words, ": %s", answer->error.message);
        line(out, "", words, columns);
    }
}

/* Whether the table that begins at this byte has the column: a narrow one leaves some out. */
static int has_title(const struct kerf_text *out, size_t begin, const char *title) {
    const char *titles = out->length > begin ? out->data + begin : "";
    return memmem(titles, strcspn(titles, "\n"), title, strlen(title)) != NULL;
}

static void print_several(struct kerf_text *out, const struct schedule_answers *answers,
                          const struct render_style *style) {
    const struct common common = look(answers);
    struct kerf_text words = {0}, notes = {0};
    print_heading(out, answers, &common, style->columns);
    const size_t begin = out->length;
    print_rows(out, answers, &common, style);
    if (has_title(out, begin, ABOVE_OPTIMUM)) {
        kerf_text_add(&words, ABOVE_OPTIMUM ": how much longer the step is, at most, than the shortest possible step "
                                            "with the same operations and memory");
        line(&notes, "", &words, style->columns);
    }
    print_warnings(&notes, answers, &common, &words, style->columns);
    print_refusals(&notes, answers, &common, &words, style->columns);
    if (answers->interrupted) kerf_text_add(&words, "Interrupted: the last search was cut short");
    if (answers->interrupted && answers->not_begun > 0)
        kerf_text_printf(&words, "; %d more %s not begun", answers->not_begun,
                         answers->not_begun == 1 ? "was" : "were");
    if (answers->interrupted) {
        kerf_text_add(&words, ".");
        line(&notes, "", &words, style->columns);
    }
    if (notes.length) kerf_text_printf(out, "\n%s", notes.data);
    out->failed |= notes.failed;
    kerf_text_free(&words);
    kerf_text_free(&notes);
}

void print_schedule_table(struct kerf_text *out, const struct schedule_answers *answers,
                          const struct render_style *style) {
    if (answers->several)
        print_several(out, answers, style);
    else
        print_one(out, answers, style);
}

/* ---- CSV: a row for each operation or, of several schedules, for each -------------------------------------------- */

static void ops_csv(struct kerf_text *out, const struct kerf_schedule *schedule, const struct kerf_timeline *timeline) {
    static const char *const kinds[KERF_OP_KINDS] = {"F", "B", "I", "W", "FB", "R", "O", "L"};
    int sliced = schedule->slices > 1;
    kerf_text_printf(out, "device,kind,stage,microbatch,%swith_stage,with_microbatch,start_s,end_s\n",
                     sliced ? "slice," : "");
    for (int32_t i = 0; i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            const struct kerf_op *op = &schedule->ops[i][k];
            kerf_text_printf(out, "%d,%s,%d,%d,", i, kinds[op->kind], op->stage, op->microbatch);
            if (sliced) kerf_text_printf(out, "%d,", op->slice);
            if (op->kind == KERF_OP_FB)
                kerf_text_printf(out, "%d,%d", op->with_stage, op->with_microbatch);
            else
                kerf_text_add(out, ",");
            csv_number(out, timeline->start_s[i][k]);
            csv_number(out, timeline->end_s[i][k]);
            kerf_text_add(out, "\n");
        }
}

/* The columns of a comparison; those that nothing has are left out. */
struct csv_columns {
    int shares, noise, refused;
};

static struct csv_columns look_for_columns(const struct schedule_answers *answers) {
    struct csv_columns columns = {0};
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        columns.shares |= !isnan(answer->recompute) || !isnan(answer->offload);
        columns.noise |= answer->noisy.samples > 0;
        columns.refused |= answer->timeline == NULL;
    }
    return columns;
}

static void csv_caps(struct kerf_text *out, const struct schedule_answer *answer) {
    csv_number(out, answer->cap_in_bytes ? NAN : answer->cap);
    csv_number(out, answer->cap_in_bytes ? answer->cap : NAN);
}

static void csv_figures(struct kerf_text *out, const struct schedule_answer *answer) {
    const struct kerf_timeline *timeline = answer->timeline;
    const struct kerf_bubble bubble = kerf_timeline_bubble(timeline);
    const double values[] = {timeline->makespan_s,    timeline->span_s, timeline->step_s,    bubble.of_makespan,
                             bubble.of_span,          bubble.of_ideal,  answer_peak(answer), answer_peak_bytes(answer),
                             answer->bound.makespan_s};
    csv_text(out, answer->schedule->name);
    kerf_text_printf(out, ",%d,%d,%d", answer->schedule->devices, answer->schedule->stages,
                     answer->schedule->microbatches);
    csv_caps(out, answer);
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) csv_number(out, values[k]);
    kerf_text_printf(out, ",%lld,%d", (long long)timeline->messages, answer->schedule->replicas);
    csv_number(out, answer->bound.span_s);
    kerf_text_printf(out, ",%s,", answer->times->cap == NULL ? "" : timeline->over_cap < 0 ? "true" : "false");
    csv_text(out, answer->warning ? answer->warning : "");
}

/* What was asked, where there is no answer. */
static void csv_refused(struct kerf_text *out, const struct schedule_answer *answer) {
    csv_text(out, answer->name);
    kerf_text_add(out, ",,");
    csv_number(out, answer->microbatches ? answer->microbatches : NAN);
    csv_caps(out, answer);
    kerf_text_repeat(out, ",", 14); /* from makespan_s to refused_elsewhere */
}

static void answers_csv(struct kerf_text *out, const struct schedule_answers *answers) {
    const struct csv_columns columns = look_for_columns(answers);
    kerf_text_printf(out,
                     "schedule,devices,stages,microbatches,memory_cap,memory_cap_bytes,makespan_s,span_s,step_s,"
                     "bubble_of_makespan,bubble_of_span,bubble_of_ideal,peak_activations,peak_bytes,lower_bound_s,"
                     "messages,parameter_copies,span_lower_bound_s,within_cap,refused_elsewhere%s%s%s\n",
                     columns.shares ? ",recompute,offload" : "",
                     columns.noise ? ",noise_samples,noise_mean_s,noise_p50_s,noise_p95_s,noise_p99_s,noise_most_s"
                                   : "",
                     columns.refused ? ",why" : "");
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        const struct kerf_schedule_steps *noisy = &answer->noisy;
        const double steps[] = {noisy->mean_s, noisy->p50_s, noisy->p95_s, noisy->p99_s, noisy->most_s};
        if (answer->timeline)
            csv_figures(out, answer);
        else
            csv_refused(out, answer);
        if (columns.shares) {
            csv_number(out, answer->recompute);
            csv_number(out, answer->offload);
        }
        if (columns.noise) csv_number(out, noisy->samples > 0 ? noisy->samples : NAN);
        for (size_t k = 0; columns.noise && k < sizeof steps / sizeof *steps; k++)
            csv_number(out, noisy->samples > 0 ? steps[k] : NAN);
        if (columns.refused) {
            kerf_text_add(out, ",");
            csv_text(out, answer->timeline ? "" : answer->error.message);
        }
        kerf_text_add(out, "\n");
    }
}

void print_schedule_csv(struct kerf_text *out, const struct schedule_answers *answers) {
    if (answers->several)
        answers_csv(out, answers);
    else
        ops_csv(out, answers->items[0].schedule, answers->items[0].timeline);
}

/* ---- What a measured run says of the times of its stages ------------------------------------------------------- */

/* "12.1 ms (11.9 ms to 12.6 ms)": the median and the quartiles. */
static void words_spread(struct kerf_text *out, const struct kerf_trace_spread *spread, int with_quartiles) {
    if (spread->count == 0) {
        kerf_text_add(out, "-");
        return;
    }
    quantity_seconds(out, spread->median_s);
    if (!with_quartiles || spread->low_s == spread->high_s) return;
    kerf_text_add(out, " (");
    quantity_seconds(out, spread->low_s);
    kerf_text_add(out, " to ");
    quantity_seconds(out, spread->high_s);
    kerf_text_add(out, ")");
}

/* A row for each stage; with the quartiles where there is room for them. */
static void stage_cells(struct kerf_text *cells, const struct kerf_trace_fit *fit, int with_quartiles) {
    static const char *const names[KERF_OP_MEASURED] = {"forward", "backward", "input", "weights", "fused"};
    int there[KERF_OP_MEASURED] = {0};
    kerf_text_clear(cells);
    for (int kind = 0; kind < KERF_OP_MEASURED; kind++)
        for (int32_t k = 0; k < fit->stages; k++) there[kind] |= fit->of_kind[kind][k].count > 0;
    kerf_text_add(cells, "stage");
    for (int kind = 0; kind < KERF_OP_MEASURED; kind++)
        if (there[kind]) kerf_text_printf(cells, "\t%s", names[kind]);
    kerf_text_add(cells, "\n");
    for (int32_t k = 0; k < fit->stages; k++) {
        kerf_text_printf(cells, "%d", k);
        for (int kind = 0; kind < KERF_OP_MEASURED; kind++) {
            if (!there[kind]) continue;
            kerf_text_add(cells, "\t");
            words_spread(cells, &fit->of_kind[kind][k], with_quartiles);
        }
        kerf_text_add(cells, "\n");
    }
}

static void print_stages(struct kerf_text *out, const struct kerf_trace_fit *fit, const struct render_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}};
    struct kerf_text cells = {0};
    stage_cells(&cells, fit, 1);
    const int fits = terminal_table_width(&cells) <= style->columns;
    if (!fits) stage_cells(&cells, fit, 0);
    terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    if (!fits) kerf_text_add(out, "not shown, for lack of room: quartiles\n");
    out->failed |= cells.failed;
    kerf_text_free(&cells);
}

void print_fit_table(struct kerf_text *out, const struct kerf_trace *trace, const struct kerf_trace_fit *fit,
                     const struct render_style *style) {
    struct kerf_text words = {0};
    kerf_text_printf(&words, "%s: ", trace->source);
    words_size(&words, trace->schedule);
    kerf_text_printf(&words, ", step %d of %d", trace->step + 1, trace->steps);
    line(out, "", &words, style->columns);
    kerf_text_add(out, "\n");
    print_stages(out, fit, style);
    kerf_text_add(out, "\n");
    if (fit->p2p.count)
        words_spread(&words, &fit->p2p, 1);
    else
        kerf_text_add(&words, "no device ever waited for a message: at most what is in the file");
    line(out, "  latency", &words, style->columns);
    quantity_seconds(&words, fit->times->overhead_s);
    kerf_text_add(&words, " between operations, in the median");
    line(out, "  pauses", &words, style->columns);
    quantity_seconds(&words, fit->measured_s);
    line(out, "  measured", &words, style->columns);
    if (!isnan(fit->simulated_s)) {
        quantity_seconds(&words, fit->simulated_s);
        kerf_text_add(&words, ", the trace's own order with these times");
        if (!isnan(fit->residual)) {
            kerf_text_add(&words, ": ");
            words_percent(&words, fit->residual, 1, 1);
        }
        line(out, "  simulated", &words, style->columns);
    }
    if (trace->notes[0]) kerf_text_add(out, "\n");
    for (const char *note = trace->notes; *note; note += strcspn(note, "\n"), note += *note == '\n') {
        kerf_text_write(&words, note, strcspn(note, "\n"));
        line(out, "", &words, style->columns);
    }
    kerf_text_free(&words);
}

void print_verdict_table(struct kerf_text *out, const struct kerf_schedule_verdict *verdict, int32_t columns) {
    const struct kerf_schedule size = {
        .microbatches = verdict->microbatches, .stages = verdict->stages, .devices = verdict->devices, .slices = 1};
    struct kerf_text words = {0};
    kerf_text_add(&words, "verified: ");
    words_size(&words, &size);
    line(out, "", &words, columns);
    kerf_text_add(out, "\n");
    quantity_seconds(&words, verdict->bound_s);
    kerf_text_printf(&words, ": no order of these operations within the memory caps has a shorter %s",
                     verdict->objective == KERF_OBJECTIVE_SPAN ? "span" : "makespan");
    line(out, "  lower bound", &words, columns);
    if (!isnan(verdict->takes_s)) {
        quantity_seconds(&words, verdict->takes_s);
        kerf_text_add(&words, verdict->optimal ? ": optimal" : ": at most ");
        if (!verdict->optimal) {
            quantity_at_most(&words, verdict->takes_s / verdict->bound_s - 1, 2);
            kerf_text_add(&words, " above the optimum");
        }
        line(out, "  order", &words, columns);
    }
    kerf_text_printf(&words, "%lld step%s", (long long)verdict->steps, verdict->steps == 1 ? "" : "s");
    line(out, "  proof", &words, columns);
    kerf_text_free(&words);
}
