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

void print_schedule_list(struct kerf_text *out) {
    const struct kerf_schedule_rule *rule;
    for (size_t i = 0; (rule = kerf_schedule_rule_at(i)); i++) {
        kerf_text_printf(out, "%s%s: %s\n", i ? "\n" : "", rule->name, rule->summary);
        if (rule->constraint) kerf_text_printf(out, "  needs    %s\n", rule->constraint);
        if (rule->elsewhere) kerf_text_printf(out, "  refused  by %s\n", rule->elsewhere);
        kerf_text_printf(out, "  bubble   %s\n  memory   %s\n  source   %s\n", rule->bubble, rule->memory,
                         rule->source);
    }
    kerf_text_add(out, "\np devices, m micro-batches, v chunks, k slices. F, B, W are times of a device: forward, "
                       "backward of the input and of the weights; B_full = B + W, s = F + B + W; FB: a forward and a "
                       "backward together, at least F and at least B_full.\n"
                       "Bubble: idle time within the makespan, unless it says otherwise, where stages are alike, "
                       "slices are alike, and messages take no time.\n"
                       "Memory: micro-batches through all chunks of the fullest device, never more than m.\n");
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
        words_percent(out, gap, 1, 0);
        kerf_text_printf(out, " above any order of these operations%s", within);
    }
}

enum { SHOWN = 16 }; /* numbers of a line */

static void print_shares(struct kerf_text *out, const double *shares, int32_t count, const char *what) {
    for (int32_t j = 0; j < count && j < SHOWN; j++) kerf_text_printf(out, "%.3g ", 100 * shares[j]);
    kerf_text_printf(out, "%s%% of %s", count > SHOWN ? "... " : "", what);
}

/* Unequal slices: what they have of the sequence, and what they take. */
static void print_slices(struct kerf_text *out, const struct schedule_answer *answer) {
    const struct kerf_schedule_slices *slices = answer->timeline->slices;
    if (slices == NULL) return;
    kerf_text_add(out, "  slices          ");
    print_shares(out, slices->tokens, slices->count, "the sequence; ");
    print_shares(out, slices->forward, slices->count, "a forward pass\n");
}

static void print_memory(struct kerf_text *out, const struct schedule_answer *answer) {
    const struct kerf_schedule *schedule = answer->schedule;
    kerf_text_add(out, "  activations     ");
    words_microbatches(out, answer_peak(answer), 4);
    kerf_text_add(out, " on the fullest device:");
    for (int32_t i = 0; i < schedule->devices && i < SHOWN; i++)
        kerf_text_printf(out, " %.4g", answer->timeline->peak_activations[i]);
    kerf_text_add(out, schedule->devices > SHOWN ? " ...\n" : "\n");
    if (answer->timeline->peak_bytes) {
        kerf_text_add(out, "  memory          ");
        quantity_bytes(out, answer_peak_bytes(answer));
        kerf_text_add(out, " of activations on the fullest device\n");
    }
    if (schedule->replicas > 1)
        kerf_text_printf(out, "  parameters      %d copies on every device\n", schedule->replicas);
}

/* The bound that the step follows: of the makespan, or of the span. */
static void print_bound(struct kerf_text *out, const struct schedule_answer *answer) {
    if (answer->times->unsynchronised)
        kerf_text_printf(out, "  lower bound     %.6g s of the span: ", answer->bound.span_s);
    else
        kerf_text_printf(out, "  lower bound     %.6g s: ", answer->bound.makespan_s);
    words_gap(out, answer);
    kerf_text_add(out, "\n");
}

static void print_times(struct kerf_text *out, const struct schedule_answer *answer, const struct kerf_trace *trace) {
    const struct kerf_timeline *timeline = answer->timeline;
    struct kerf_bubble bubble = kerf_timeline_bubble(timeline);
    if (trace) {
        kerf_text_printf(out, "  measured        %.6g s; the simulation differs by ", trace->timeline->makespan_s);
        words_percent(out, timeline->makespan_s / trace->timeline->makespan_s - 1, 1, 1);
        kerf_text_add(out, "\n");
    }
    kerf_text_printf(out, "  makespan        %.6g s, from the first operation to the last\n", timeline->makespan_s);
    kerf_text_printf(out,
                     "  span            %.6g s, the longest time from the first to the last operation of a device\n",
                     timeline->span_s);
    if (answer->times->optimizer_s > 0 || answer->times->unsynchronised)
        kerf_text_printf(out, "  step            %.6g s, with the optimizer, %s\n", timeline->step_s,
                         answer->times->unsynchronised ? "each device by itself" : "all devices together");
    kerf_text_printf(out, "  busy            %.6g s on average, %.6g s on the busiest device\n  idle            ",
                     timeline->busy_mean_s, timeline->busy_max_s);
    words_percent(out, bubble.of_makespan, 2, 0);
    kerf_text_add(out, " of the makespan; ");
    words_percent(out, bubble.of_ideal, 2, 0);
    kerf_text_add(out, " of the busy time; ");
    words_percent(out, bubble.of_span, 2, 0);
    kerf_text_add(out, " of the span\n");
    print_bound(out, answer);
    if (answer->noisy.samples > 0)
        kerf_text_printf(
            out,
            "  with noise      step %.6g s in the mean of %d; %.6g s or less in half of them, %.6g s in 95 %%, "
            "%.6g s in 99 %%\n",
            answer->noisy.mean_s, answer->noisy.samples, answer->noisy.p50_s, answer->noisy.p95_s, answer->noisy.p99_s);
}

static void print_one(struct kerf_text *out, const struct schedule_answers *answers, const struct render_style *style) {
    const struct schedule_answer *answer = &answers->items[0];
    const struct kerf_schedule *schedule = answer->schedule;
    kerf_text_printf(out, "%s: ", schedule->name);
    words_size(out, schedule);
    kerf_text_add(out, "\n\n");
    print_times(out, answer, answers->trace);
    print_slices(out, answer);
    print_memory(out, answer);
    if (answer->warning) kerf_text_printf(out, "  note            refused by %s\n", answer->warning);
    if (!answers->with_ops) return;
    kerf_text_add(out, "\n");
    schedule_timeline(out, answers, answer, style->columns, style->colour);
}

/* ---- Several ---------------------------------------------------------------------------------------------- */

/* What is common to all goes into the heading, what differs into columns. */
struct common {
    int microbatches, cap, bytes;
    int recompute, offload; /* 1: the same share everywhere */
    int32_t noise;          /* 1: steps under noise are known */
};

static int same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static struct common look(const struct schedule_answers *answers) {
    struct common common = {.microbatches = 1, .cap = 1, .recompute = 1, .offload = 1};
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i], *first = &answers->items[0];
        common.microbatches &= answer->microbatches == first->microbatches;
        common.cap &= same_number(answer->cap, first->cap);
        common.recompute &= same_number(answer->recompute, first->recompute);
        common.offload &= same_number(answer->offload, first->offload);
        common.noise |= answer->noisy.samples > 0;
        common.bytes |= answer->timeline && answer->timeline->peak_bytes;
    }
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
                     timeline->over_cap >= 0 ? " > cap" : "");
    if (common->bytes) {
        kerf_text_add(cells, "\t");
        quantity_bytes(cells, answer_peak_bytes(answer));
    }
    kerf_text_printf(cells, "\t%d\t", answer->schedule->replicas);
    quantity_count(cells, timeline->messages);
    const double gap = answer_gap(answer);
    kerf_text_add(cells, timeline->over_cap >= 0 || isnan(gap) ? "\t-" : gap <= 0 ? "\toptimal" : "\t<= ");
    if (timeline->over_cap < 0 && gap > 0) words_percent(cells, gap, 1, 0);
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

static void print_heading(struct kerf_text *out, const struct schedule_answers *answers, const struct common *common) {
    const struct schedule_answer *first = &answers->items[0];
    int32_t devices = 0;
    for (int32_t i = 0; i < answers->count; i++)
        if (answers->items[i].schedule) devices = answers->items[i].schedule->devices;
    kerf_text_printf(out, "%d device%s", devices, devices == 1 ? "" : "s");
    if (common->microbatches) {
        kerf_text_add(out, ", ");
        words_microbatches(out, first->microbatches, 7);
    }
    if (common->cap && !isnan(first->cap)) {
        kerf_text_add(out, ", at most ");
        words_cap(out, first);
        kerf_text_add(out, " on a device");
    }
    kerf_text_add(out, "\n\n");
}

static void print_rows(struct kerf_text *out, const struct schedule_answers *answers, const struct common *common,
                       const struct render_style *style) {
    struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}};
    struct kerf_text cells = {0};
    int32_t at = 1;
    kerf_text_printf(&cells, "schedule%s%s%s%s\tstep%s\tidle\tspan\tactivations%s\tcopies\tmessages\tabove optimum\n",
                     common->microbatches ? "" : "\tmicro-batches", common->cap ? "" : "\tcap",
                     common->recompute ? "" : "\trecompute", common->offload ? "" : "\toffload",
                     common->noise ? "\tstep in 95 %" : "", common->bytes ? "\tmemory" : "");
    for (; at < TABLE_COLUMNS_MAX; at++) columns[at] = (struct table_column){1, 0};
    at = 1 + !common->microbatches + !common->cap + !common->recompute + !common->offload +
         common->noise; /* of the step; the last to stay */
    columns[at + 1].leave_out = 1;
    columns[at + 2].leave_out = 3; /* span */
    columns[at + 4 + common->bytes].leave_out = 4;
    columns[at + 5 + common->bytes].leave_out = 5;
    columns[at + 6 + common->bytes].leave_out = 2;
    for (int32_t i = 0; i < answers->count; i++)
        if (answers->items[i].timeline) add_row(&cells, &answers->items[i], common);
    terminal_table(out, &cells, columns, style->columns, style->colour, best_row(answers));
    out->failed |= cells.failed;
    kerf_text_free(&cells);
}

/* A schedule that other programs refuse is named once, with the numbers of micro-batches that they refuse. */
static void print_warnings(struct kerf_text *out, const struct schedule_answers *answers, const struct common *common) {
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        int32_t first = 0, last = -1; /* micro-batches already told */
        if (answer->warning == NULL) continue;
        while (first < i && !(answers->items[first].warning && strcmp(answers->items[first].name, answer->name) == 0))
            first++;
        if (first < i) continue;
        kerf_text_add(out, answer->name);
        for (int32_t k = i; k < answers->count && !common->microbatches; k++) {
            const struct schedule_answer *other = &answers->items[k];
            if (other->warning == NULL || strcmp(other->name, answer->name) != 0 || other->microbatches == last)
                continue;
            kerf_text_printf(out, last < 0 ? " with %d" : ", %d", other->microbatches);
            last = other->microbatches;
        }
        if (last >= 0) kerf_text_printf(out, " micro-batch%s", last == 1 ? "" : "es");
        kerf_text_printf(out, " is refused by %s\n", answer->warning);
    }
}

static void print_refusals(struct kerf_text *out, const struct schedule_answers *answers, const struct common *common) {
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        if (answer->timeline) continue;
        kerf_text_add(out, answer->name);
        if (!common->microbatches) {
            kerf_text_add(out, ", ");
            words_microbatches(out, answer->microbatches, 7);
        }
        if (!common->cap) {
            kerf_text_add(out, ", cap of ");
            words_cap(out, answer);
        }
        if (!common->recompute) kerf_text_printf(out, ", recompute %.4g %%", 100 * answer->recompute);
        if (!common->offload) kerf_text_printf(out, ", offload %.4g %%", 100 * answer->offload);
        kerf_text_printf(out, ": %s\n", answer->error.message);
    }
}

static void print_several(struct kerf_text *out, const struct schedule_answers *answers,
                          const struct render_style *style) {
    const struct common common = look(answers);
    print_heading(out, answers, &common);
    print_rows(out, answers, &common, style);
    kerf_text_add(out, "\nabove optimum: how much longer the step is, at most, than the shortest possible step with "
                       "the same operations and memory\n");
    print_warnings(out, answers, &common);
    print_refusals(out, answers, &common);
    if (answers->interrupted)
        kerf_text_printf(out, "Interrupted: the last search was cut short; %d more %s not begun.\n", answers->not_begun,
                         answers->not_begun == 1 ? "was" : "were");
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
    kerf_text_printf(out, ",,,%d", answer->microbatches);
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
static void words_spread(struct kerf_text *out, const struct kerf_trace_spread *spread) {
    if (spread->count == 0) {
        kerf_text_add(out, "-");
        return;
    }
    quantity_seconds(out, spread->median_s);
    if (spread->low_s == spread->high_s) return;
    kerf_text_add(out, " (");
    quantity_seconds(out, spread->low_s);
    kerf_text_add(out, " to ");
    quantity_seconds(out, spread->high_s);
    kerf_text_add(out, ")");
}

static void print_stages(struct kerf_text *out, const struct kerf_trace_fit *fit, const struct render_style *style) {
    static const char *const names[KERF_OP_MEASURED] = {"forward", "backward", "input", "weights", "fused"};
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}};
    struct kerf_text cells = {0};
    int there[KERF_OP_MEASURED] = {0};
    for (int kind = 0; kind < KERF_OP_MEASURED; kind++)
        for (int32_t k = 0; k < fit->stages; k++) there[kind] |= fit->of_kind[kind][k].count > 0;
    kerf_text_add(&cells, "stage");
    for (int kind = 0; kind < KERF_OP_MEASURED; kind++)
        if (there[kind]) kerf_text_printf(&cells, "\t%s", names[kind]);
    kerf_text_add(&cells, "\n");
    for (int32_t k = 0; k < fit->stages; k++) {
        kerf_text_printf(&cells, "%d", k);
        for (int kind = 0; kind < KERF_OP_MEASURED; kind++) {
            if (!there[kind]) continue;
            kerf_text_add(&cells, "\t");
            words_spread(&cells, &fit->of_kind[kind][k]);
        }
        kerf_text_add(&cells, "\n");
    }
    terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    out->failed |= cells.failed;
    kerf_text_free(&cells);
}

void print_fit_table(struct kerf_text *out, const struct kerf_trace *trace, const struct kerf_trace_fit *fit,
                     const struct render_style *style) {
    kerf_text_printf(out, "%s: ", trace->source);
    words_size(out, trace->schedule);
    kerf_text_printf(out, ", step %d of %d\n\n", trace->step + 1, trace->steps);
    print_stages(out, fit, style);
    kerf_text_add(out, "\n  latency         ");
    if (fit->p2p.count)
        words_spread(out, &fit->p2p);
    else
        kerf_text_add(out, "no device ever waited for a message: at most what is in the file");
    kerf_text_add(out, "\n  pauses          ");
    quantity_seconds(out, fit->times->overhead_s);
    kerf_text_add(out, " between operations, in the median\n  measured        ");
    quantity_seconds(out, fit->measured_s);
    if (!isnan(fit->simulated_s)) {
        kerf_text_add(out, "\n  simulated       ");
        quantity_seconds(out, fit->simulated_s);
        kerf_text_add(out, ", the trace's own order with these times: ");
        words_percent(out, fit->residual, 1, 1);
    }
    kerf_text_add(out, "\n");
    if (trace->notes[0]) kerf_text_printf(out, "\n%s", trace->notes);
}
